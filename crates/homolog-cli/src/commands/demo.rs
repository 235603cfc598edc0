//! `homolog demo`: the whole story in seconds, on the built-in sequence.

use super::experiment::{columns, label_study};
use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::report::{self, Results};
use crate::study::{Approach, Frames, Options, run_baseline};
use crate::{Ending, files};
use anyhow::Result;
use std::path::PathBuf;

/// Learns to match a built-in sequence of pictures and writes a report
#[derive(clap::Args)]
#[command(after_help = "Example:\n  homolog demo --out homolog-demo")]
pub(crate) struct Arguments {
    /// Where report.html and its figures go
    #[arg(long, value_name = "DIR", default_value = "homolog-demo")]
    out: PathBuf,
    /// No line of progress
    #[arg(short, long)]
    quiet: bool,
}

/// Frames between the two pictures of a pair: the last is what the table is about.
const BASELINES: [usize; 4] = [0, 30, 60, 90];

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let input = Input::turntable()?;
    let frames = Frames::new(&input)?;
    let watch = Watch::new(None, arguments.quiet);
    let options = Options::default();
    let approaches = [Approach::Linear, Approach::LinearLearned, Approach::Quadratic, Approach::QuadraticLearned];
    let mut baselines = Vec::new();
    for baseline in BASELINES {
        // Learning with edges takes a second or two from few pairs and longer from many: the largest baseline has fewest.
        let count = if baseline == BASELINES[3] { approaches.len() } else { approaches.len() - 1 };
        match run_baseline(&frames, baseline, &approaches[..count], &options, &watch) {
            Err(_) if stop_is_wanted() => return Ok(Ending::Stopped),
            result => baselines.push(result?),
        }
    }
    let by_pairs = label_study(&frames, BASELINES[3], &[Approach::LinearLearned], &options, &watch)?;
    watch.end();
    let last = &baselines[baselines.len() - 1];
    let loss = |approach: Approach| {
        let method = last.methods.iter().find(|method| method.name == approach.name());
        method.map_or(String::new(), |method| format!("{:.3} ± {:.3}", method.test_loss, method.test_stderr))
    };
    let row = |name: &str, before, after| vec![name.to_string(), loss(before), loss(after)];
    let rows = [
        vec![String::new(), "before learning".to_string(), "after learning".to_string()],
        row("linear assignment", Approach::Linear, Approach::LinearLearned),
        row("with edges", Approach::Quadratic, Approach::QuadraticLearned),
    ];
    let text = format!(
        "A toy building on a turntable: {} pictures, {} landmarks, matched {} pictures apart.\n\
         Learned from {} labelled pairs; share of wrong matches on {} others:\n\n{}\n",
        frames.linear.frame_count(),
        input.data.graphs()[0].graph.node_count(),
        last.baseline,
        last.train,
        last.test,
        columns(&rows)
    );
    let results = Results {
        title: "Homolog demo".to_string(),
        introduction: format!(
            "A toy building turns before a camera over {} frames, with {} landmarks whose labels are off by a pixel or so, as a hand's are. The further apart two frames are, \
             the less alike they look. Homolog learns from a few labelled pairs how to match them.",
            frames.linear.frame_count(),
            input.data.graphs()[0].graph.node_count()
        ),
        input: &input,
        frames: &frames,
        approaches: approaches.to_vec(),
        baselines,
        by_pairs,
    };
    report::write(&results, &arguments.out)?;
    files::print(format!("{text}Open {}.\n", arguments.out.join("report.html").display()).as_bytes())?;
    Ok(Ending::Done)
}

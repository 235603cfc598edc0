//! `homolog demo`: the whole story in seconds, on the built-in sequence.

use super::experiment::{columns, label_study};
use crate::inputs::Input;
use crate::product::{self, Product};
use crate::progress::{Watch, stop_is_wanted};
use crate::report::{self, Askew, Results};
use crate::study::{BaselineResult, Options, frames, run_baseline};
use crate::{Ending, files};
use anyhow::{Context, Result};
use homolog::experiment::{Frames, SequenceMethod};
use std::path::PathBuf;

/// Learns to match a built-in sequence of pictures and writes a report
#[derive(clap::Args)]
#[command(after_help = "Example:\n  homolog demo --out homolog-demo")]
pub(crate) struct Arguments {
    /// Folder for report.html and its figures
    #[arg(long, value_name = "DIR", default_value = "homolog-demo")]
    out: PathBuf,
}

/// Frames between the two pictures of a pair: the last is what the sentence on top is about.
const BASELINES: [usize; 3] = [30, 60, 90];
/// Labelled pairs that are learned from at each of them.
const LABELLED: usize = 5;
/// Parts of the work: training twice, each baseline, and the paper's learner from fewer pairs.
const STEPS: usize = 2 + BASELINES.len() + 1;
/// Labelled pairs of rotated pictures.
const FEW: usize = 3;
const APPROACHES: [SequenceMethod; 4] = [
    SequenceMethod::Linear,
    SequenceMethod::LinearLearned,
    SequenceMethod::Quadratic,
    SequenceMethod::QuadraticLearned,
];

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let input = Input::turntable()?;
    let frames = frames(&input)?;
    let watch = Watch::new(None);
    let options = Options { train_pairs: Some(LABELLED), quick: true, ..Options::default() };
    let rotated = Input::askew()?;
    let (askew, product, baselines) = match learn([&input, &rotated], &frames, &options, &watch) {
        Err(_) if stop_is_wanted() => {
            watch.end();
            eprintln!("Stopped by Ctrl-C before the demonstration was done: nothing is written.");
            return Ok(Ending::Stopped);
        }
        learned => learned?,
    };
    let last = baselines.last().context("no baselines")?;
    let part = watch.part(STEPS - 1, STEPS);
    let by_pairs = label_study(&frames, last, &[(SequenceMethod::LinearLearned, &[1, 3])], &options, &part)?;
    watch.end();
    let (pictures, points) = (frames.linear.frame_count(), input.data.graphs()[0].graph.node_count());
    let text = text([&product, &askew], last, pictures, points);
    let results = Results {
        data: format!(
            "The pictures show a toy building that turns in front of a camera: {pictures} of them, with the same {points} points \
             (landmarks) marked in each, off by a pixel or so, as marks set by hand are."
        ),
        input: &input,
        frames: &frames,
        approaches: APPROACHES.to_vec(),
        baselines,
        by_pairs,
        product: Some(product),
        askew: Some(Askew { input: &rotated, pairs: FEW, product: askew }),
        absent: vec![format!(
            "This demonstration is kept short. Learning with edges (quadratic-learned) is run at the largest baseline alone, tries one λ and \
             takes the first of what its search finds; everything is learned from {LABELLED} labelled pairs at most. `homolog experiment sequence --out DIR` takes minutes, \
             learns from all pairs, and draws every method at ten baselines."
        )],
    };
    report::write(&results, &arguments.out)?;
    let page = arguments.out.join("report.html");
    files::print(format!("{text}\nWhat the numbers mean, with pictures: {}\n", page.display()).as_bytes())?;
    Ok(Ending::Done)
}

/// What `homolog train` makes of a few pairs of rotated pictures and of all pairs of upright ones, and the paper's methods at each baseline.
fn learn(
    [upright, rotated]: [&Input; 2],
    frames: &Frames,
    options: &Options,
    watch: &Watch,
) -> Result<(Product, Product, Vec<BaselineResult>)> {
    let mut baselines = Vec::new();
    let largest = BASELINES[BASELINES.len() - 1];
    let askew = product::run(rotated, frames, largest, FEW, &watch.part(0, STEPS))?;
    let product = product::run(upright, frames, largest, LABELLED, &watch.part(1, STEPS))?;
    for (at, baseline) in BASELINES.into_iter().enumerate() {
        let part = watch.part(2 + at, STEPS);
        let approaches = if baseline == largest { &APPROACHES[..] } else { &APPROACHES[..3] };
        baselines.push(run_baseline(frames, baseline, approaches, options, &part)?);
    }
    Ok((askew, product, baselines))
}

/// The story in a few lines.
fn text([product, askew]: [&Product; 2], last: &BaselineResult, pictures: usize, points: usize) -> String {
    let cell = |approach| last.method(approach).map_or(String::new(), report::share);
    let row = |name: &str, before, after| vec![name.to_string(), cell(before), cell(after)];
    let rows = [
        vec![String::new(), "before learning".to_string(), "after learning".to_string()],
        vec!["homolog train".to_string(), report::share(&product.before), report::share(&product.after)],
        row("the paper, surroundings of each point", SequenceMethod::Linear, SequenceMethod::LinearLearned),
        row("the paper, neighbours too", SequenceMethod::Quadratic, SequenceMethod::QuadraticLearned),
    ];
    let (before, after) = (&askew.before, &askew.after);
    format!(
        "A toy building turns in front of a camera: {pictures} pictures, {points} points marked in each.\n\
         The task: two pictures {} frames apart, which point is which?\n\n\
         Pictures from a camera in the hand, each rotated by up to 25 degrees: without a model\n\
         Homolog matches {} of {} points wrongly. `homolog train` learned from {FEW} pairs that were\n\
         solved by hand; with its model {} of {} are wrong in {} other pairs.\n\n\
         The same without rotation, learned from {} pairs, beside the methods of the paper. Share of\n\
         points that are matched wrongly, with its uncertainty:\n\n{}",
        last.baseline,
        before.wrong,
        before.of,
        after.wrong,
        after.of,
        last.test,
        last.train,
        columns(&rows)
    )
}

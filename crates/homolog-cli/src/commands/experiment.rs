//! `homolog experiment`: the paper's experiments on anybody's data.

use crate::inputs::{BUILT_IN, Input};
use crate::progress::{Watch, stop_is_wanted};
use crate::report::{self, ByPairs, Results};
use crate::study::{BaselineResult, Options, frames, run_baseline, run_method};
use crate::{Ending, files};
use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use homolog::experiment::{Frames, SequenceMethod};
use std::path::PathBuf;

/// Runs an experiment of the paper on a data set
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(clap::Subcommand)]
enum Experiment {
    Sequence(SequenceArguments),
    Scene(super::scene::Arguments),
    Atlas(super::atlas::Arguments),
}

/// Matches the landmarks of frames further and further apart
#[derive(clap::Args)]
#[command(after_help = "\
For each baseline B all pairs of frames (i, i + B): every third is learned from, every third chooses λ, every third is tested on.

Examples:
  homolog experiment sequence
  homolog experiment sequence landmarks.csv --baselines 0,10,20 --out report
  homolog experiment sequence house --out report -o house.json")]
struct SequenceArguments {
    /// A landmark table (.csv), a data set whose graphs are the frames, the authors' house folder, or the built-in sequence
    #[arg(default_value = BUILT_IN)]
    data: PathBuf,
    /// Numbers of frames between the two frames of a pair
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30,40,50,60,70,80,90")]
    baselines: Vec<usize>,
    /// The methods
    #[arg(
        long,
        value_parser = methods(),
        value_delimiter = ',',
        default_value = "linear,linear-learned,quadratic,quadratic-exact,quadratic-learned,bistochastic,soft,soft-learned"
    )]
    methods: Vec<SequenceMethod>,
    /// Learn from the first N training pairs only
    #[arg(long, value_name = "N")]
    train_pairs: Option<usize>,
    /// The λ to choose from [default: 10 to 1e-4; with edges 1, 0.1, 0.01]
    #[arg(long, value_delimiter = ',')]
    lambdas: Vec<f64>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Write the results to a file as JSON
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write report.html and its figures into a folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

fn methods() -> impl TypedValueParser<Value = SequenceMethod> {
    let value = |method: SequenceMethod| PossibleValue::new(method.name()).help(method.summary());
    PossibleValuesParser::new(SequenceMethod::ALL.map(value))
        .try_map(|name| SequenceMethod::named(&name).ok_or("no such method"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    match &arguments.experiment {
        Experiment::Sequence(arguments) => sequence(arguments),
        Experiment::Scene(arguments) => super::scene::run(arguments),
        Experiment::Atlas(arguments) => super::atlas::run(arguments),
    }
}

fn sequence(arguments: &SequenceArguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    if arguments.train_pairs == Some(0) {
        bail!("--train-pairs 0: must be at least 1");
    }
    let input = Input::load(&arguments.data)?;
    let frames = frames(&input)?;
    let watch = Watch::new(None);
    let options =
        Options { train_pairs: arguments.train_pairs, lambdas: arguments.lambdas.clone(), ..Options::default() };
    let mut baselines: Vec<BaselineResult> = Vec::new();
    // With a report the curve of labelled pairs comes on top, about as much again as all baselines.
    let parts = arguments.baselines.len() * if arguments.out.is_some() { 2 } else { 1 };
    for (at, &baseline) in arguments.baselines.iter().enumerate() {
        if stop_is_wanted() {
            break;
        }
        match run_baseline(&frames, baseline, &arguments.methods, &options, &watch.part(at, parts)) {
            Err(_) if stop_is_wanted() => break,
            result => baselines.push(result?),
        }
    }
    let mut absent = Vec::new();
    let by_pairs = match (&arguments.out, baselines.last()) {
        (Some(_), Some(last)) if !stop_is_wanted() => {
            let wanted = |method: &SequenceMethod| method.is_learned() && *method != SequenceMethod::QuadraticCertified;
            let learned: Vec<(SequenceMethod, &[usize])> =
                arguments.methods.iter().copied().filter(wanted).map(|method| (method, &LABELS[..])).collect();
            if arguments.methods.contains(&SequenceMethod::QuadraticCertified) {
                absent.push(
                    "The curve over the number of labelled pairs is without quadratic-certified: its training takes minutes for each \
                     point, and what it learns is much the same as quadratic-learned."
                        .to_string(),
                );
            }
            label_study(&frames, last, &learned, &options, &watch.part(1, 2))?
        }
        _ => Vec::new(),
    };
    let left_out = arguments.baselines.len() - baselines.len();
    if left_out > 0 && !baselines.is_empty() {
        let words = format!("Stopped by Ctrl-C: {left_out} of {} baselines were left out.", arguments.baselines.len());
        eprintln!("{words}");
        absent.push(words);
    }
    watch.end();
    if baselines.is_empty() {
        eprintln!("Stopped by Ctrl-C before the first baseline was done: nothing is written.");
        return Ok(Ending::Stopped);
    }
    // What is asked for as a file is written before anything is printed: who prints may be gone.
    let table = text(&arguments.methods, &baselines);
    let value = serde_json::to_string_pretty(&serde_json::json!({ "baselines": baselines }))? + "\n";
    if let Some(path) = &arguments.output {
        files::write(path, value.as_bytes())?;
    }
    if let Some(folder) = &arguments.out {
        let results = Results {
            data: format!(
                "The data are {} frames with {} points (landmarks) each; a pair of frames so many apart (the baseline) is learned from, \
                 chosen by or tested on by turns.",
                frames.linear.frame_count(),
                input.data.graphs()[0].graph.node_count()
            ),
            input: &input,
            frames: &frames,
            approaches: arguments.methods.clone(),
            baselines,
            by_pairs,
            product: None,
            askew: None,
            absent,
        };
        report::write(&results, folder)?;
    }
    if arguments.json {
        files::print_data(value.as_bytes())?;
    } else {
        files::print(table.as_bytes())?;
        if let Some(folder) = &arguments.out {
            files::print(format!("Wrote {}.\n", folder.join("report.html").display()).as_bytes())?;
        }
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// Numbers of labelled pairs that a learning curve is drawn through, besides all there are.
const LABELS: [usize; 4] = [1, 2, 3, 5];

/// The learned methods from some numbers of training pairs and from all of them, which is what was run already.
pub(super) fn label_study(
    frames: &Frames,
    all: &BaselineResult,
    approaches: &[(SequenceMethod, &[usize])],
    options: &Options,
    watch: &Watch,
) -> Result<Vec<ByPairs>> {
    let mut study = Vec::new();
    for (at, &(approach, counts)) in approaches.iter().enumerate() {
        let mut results = Vec::new();
        for (number, &count) in counts.iter().enumerate().filter(|&(_, &count)| count < all.train) {
            let options = Options { train_pairs: Some(count), ..options.clone() };
            let part = watch.part(at * counts.len() + number, approaches.len() * counts.len());
            if stop_is_wanted() {
                return Ok(study);
            }
            results.push((count, run_method(frames, all.baseline, approach, &options, &part)?));
        }
        results.extend(all.method(approach).map(|method| (all.train, method.clone())));
        study.push(ByPairs { approach, results });
    }
    Ok(study)
}

/// The table of losses.
fn text(approaches: &[SequenceMethod], baselines: &[BaselineResult]) -> String {
    let mut rows = vec![vec!["baseline".to_string()]];
    rows[0].extend(approaches.iter().map(|approach| approach.name().to_string()));
    for result in baselines {
        let cell = |&approach: &SequenceMethod| result.method(approach).map_or("-".to_string(), report::share);
        rows.push([result.baseline.to_string()].into_iter().chain(approaches.iter().map(cell)).collect());
    }
    let all = || baselines.iter().flat_map(|result| &result.methods);
    let brackets = if all().any(|method| method.test_interval.is_some()) {
        "; in brackets the 95 % interval if all pairs had the same loss"
    } else {
        ""
    };
    format!("Test loss ± standard error{brackets}\n{}", columns(&rows))
}

/// Rows of text cells in columns, flush right but for the first.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let pad = |(column, (cell, &width)): (usize, (&String, &usize))| {
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        };
        let cells: Vec<String> = row.iter().zip(&widths).enumerate().map(pad).collect();
        text.push_str(&cells.join("  "));
        text.push('\n');
    }
    text
}

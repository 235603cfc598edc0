//! Whether learning ever hurts: every set of features on every data set, from 1, 3 and 10 labelled pairs, five times each, measured on
//! pairs of specimens that training never saw, before and after learning.

mod data;

use crate::{files, house};
use anyhow::Result;
use cpu_time::ProcessTime;
pub(crate) use data::{Data, all as all_data, bikes, table};
use homolog::Control;
use homolog::features::FeatureSet;
use homolog::learn::{LabelledPairs, Trainer, TrainingSet, evaluate};
use homolog::loss::LossKind;
use homolog::matching::{FrankWolfe, Linear, Method};
use serde::Serialize;
use std::path::PathBuf;

/// Learned beside unlearned on every data set, feature set and number of labelled pairs
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// One subset instead of five, no ten pairs, fewer test pairs
    #[arg(long)]
    quick: bool,
    /// Write all cells to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The folder with the data
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only these sets of features
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// Only data whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// How many pairs are learned from [default: 1, 3 and 10]
    #[arg(long, value_delimiter = ',')]
    pairs: Vec<usize>,
    /// Training stops after so many seconds of processor time
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Further tables of landmarks
    tables: Vec<PathBuf>,
}

/// All cells, as they are written.
#[derive(Serialize)]
struct Report {
    cells: Vec<Cell>,
}

/// One training.
#[derive(Serialize)]
struct Cell {
    data: String,
    features: &'static str,
    /// Which learner produced the chosen weights.
    learner: &'static str,
    pairs: usize,
    subset: usize,
    /// The mean error on the test pairs before learning.
    unlearned: f64,
    /// After.
    learned: f64,
    /// Of the mean of the paired differences.
    standard_error: f64,
    seconds: f64,
}

impl Cell {
    fn difference(&self) -> f64 {
        self.learned - self.unlearned
    }

    /// By more than 0.02 and two standard errors.
    fn is_worse(&self) -> bool {
        self.difference() > 0.02 && self.difference() > 2.0 * self.standard_error
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.data.clone().unwrap_or_else(|| house::default_directory().join(".."));
    let mut sets = all_data(&folder)?;
    for path in &arguments.tables {
        sets.push(table(path, &path.file_stem().unwrap_or_default().to_string_lossy())?);
    }
    sets.retain(|data| arguments.only.as_ref().is_none_or(|part| data.name.contains(part)));
    let (subsets, counts, test_count) = if arguments.quick { (1, &[1, 3][..], 20) } else { (5, &[1, 3, 10][..], 40) };
    let counts = if arguments.pairs.is_empty() { counts } else { &arguments.pairs[..] };
    let mut cells = Vec::new();
    println!(
        "{:26} {:16} {:>5}  {:>9} {:>9} {:>8}  cells",
        "data", "features", "pairs", "unlearned", "learned", "s.e."
    );
    for data in &sets {
        let test = data.pairs(test_count, true, 1000)?;
        for set in FeatureSet::ALL {
            let is_wanted = arguments.features.is_empty() || arguments.features.iter().any(|name| name == set.name());
            let fits = set.features(data.specimens.iter().map(|graph| &**graph)).is_ok();
            if !(is_wanted && fits) {
                continue;
            }
            for &count in counts {
                let at = cells.len();
                for subset in 0..subsets {
                    let training = data.pairs(count, false, 10 * count as u64 + subset as u64)?;
                    cells.push(cell(arguments, data, set, (count, subset), &training, &test)?);
                }
                print(&cells[at..]);
            }
        }
    }
    summary(&cells);
    if let Some(path) = &arguments.json {
        files::write_json(path, &Report { cells })?;
    }
    Ok(())
}

fn cell(
    arguments: &Arguments,
    data: &Data,
    set: FeatureSet,
    (pairs, subset): (usize, usize),
    training: &LabelledPairs,
    test: &LabelledPairs,
) -> Result<Cell> {
    let loss = LossKind::default();
    let map = set.features(data.specimens.iter().map(|graph| &**graph))?;
    let matcher = match &map.edge[..] {
        [] => Method::Linear(Linear::default()),
        _ => Method::FrankWolfe(FrankWolfe::default()),
    };
    let examples = TrainingSet::new(&map, &loss, training, &LabelledPairs::new())?;
    let trainer = Trainer { matcher: Some(matcher.clone()), ..Trainer::default() };
    // Of the process: what others do on the machine must not decide what is learned.
    let (start, limit) = (ProcessTime::now(), arguments.seconds);
    let control = Control::new().interrupted_by(move || start.elapsed().as_secs_f64() > limit);
    let trained = trainer.train(&examples, &control)?;
    let seconds = start.elapsed().as_secs_f64();
    let held_out = test.examples(&examples.features, loss.loss())?;
    let losses = |weights: &[f64]| evaluate(&held_out, matcher.matcher(), weights, &Control::new());
    let (before, after) = (losses(&examples.unlearned)?, losses(trained.weights())?);
    let differences: Vec<f64> = after.losses.iter().zip(&before.losses).map(|(after, before)| after - before).collect();
    Ok(Cell {
        data: data.name.clone(),
        features: set.name(),
        learner: trained.best().learner.name(),
        pairs,
        subset,
        unlearned: before.mean(),
        learned: after.mean(),
        standard_error: standard_error(&differences),
        seconds,
    })
}

pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if n < 2.0 { 0.0 } else { (square / (n - 1.0) / n).sqrt() }
}

/// A row for the cells that differ only in their subset.
fn print(cells: &[Cell]) {
    let Some(first) = cells.first() else { return };
    let mean = |value: fn(&Cell) -> f64| cells.iter().map(value).sum::<f64>() / cells.len() as f64;
    let each: Vec<String> =
        cells.iter().map(|cell| format!("{:+.3} {}", cell.difference(), &cell.learner[..1])).collect();
    println!(
        "{:26} {:16} {:5}  {:9.4} {:9.4} {:8.4}  {}",
        first.data,
        first.features,
        first.pairs,
        mean(|cell| cell.unlearned),
        mean(|cell| cell.learned),
        mean(|cell| cell.standard_error),
        each.join(", ")
    );
}

fn summary(cells: &[Cell]) {
    let count = |which: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| which(cell)).count();
    let mean = cells.iter().map(Cell::difference).sum::<f64>() / cells.len().max(1) as f64;
    println!(
        "{} cells: {} better, {} equal, {} worse ({} by more than 0.02 and two standard errors); mean difference {mean:+.4}",
        cells.len(),
        count(&|cell| cell.difference() < 0.0),
        count(&|cell| cell.difference() == 0.0),
        count(&|cell| cell.difference() > 0.0),
        count(&Cell::is_worse)
    );
}

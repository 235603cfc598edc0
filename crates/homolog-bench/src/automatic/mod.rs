//! Whether the choice that `homolog train` makes without options is as good as the best single set of features: on every data set the
//! automatic choice (60 s) beside every set trained by name, with and without a price where nodes lack partners, and an atlas. All learn from the
//! same pairs of even-numbered specimens and are measured on the same pairs of odd-numbered ones.
//!
//! Time is processor time of the process: on a shared machine run with one thread (`RAYON_NUM_THREADS=1`), and limits mean what they would
//! on a machine of one's own.

mod models;

use crate::never_worse::{Data, all_data, standard_error, table};
use crate::{files, house};
use anyhow::Result;
use models::{Made, Measured, measure};
use serde::Serialize;
use std::path::PathBuf;

/// The automatic choice of features beside every single set
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Ten training pairs only, fewer test pairs
    #[arg(long)]
    quick: bool,
    /// Write all rows to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The folder with the data
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only data whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// How many pairs are learned from, one choice for each; 0: all, as from a table of landmarks [default: 10 and 0]
    #[arg(long, value_delimiter = ',')]
    pairs: Vec<usize>,
    /// Which of the random subsets of pairs, where not all are taken
    #[arg(long, default_value_t = 0)]
    subset: u64,
    /// The automatic choice stops after so many seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// The training of a single set stops after so many seconds
    #[arg(long, default_value_t = 60.0)]
    single_seconds: f64,
    /// A test pair is broken off after so many seconds, with the best matching by then
    #[arg(long, default_value_t = 10.0)]
    match_seconds: f64,
    /// No single sets: only what is chosen, and how it does
    #[arg(long)]
    alone: bool,
    /// Further tables of landmarks
    tables: Vec<PathBuf>,
}

/// All rows, as they are written.
#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
}

/// One model on one data set.
#[derive(Serialize)]
struct Row {
    data: String,
    /// How many pairs were learned from.
    pairs: usize,
    /// `automatic`, or the set and whether it has a price.
    name: String,
    /// What the automatic choice took, and what it had seen of every candidate.
    chosen: Option<String>,
    /// The mean error on the test pairs; matching a node that has no partner is one.
    error: f64,
    /// The mean error of the nodes that have a partner.
    error_of_partnered: f64,
    /// How much more wrong than the best single set (in what is printed on the way: than the automatic choice), and the standard error of that.
    above: f64,
    standard_error: f64,
    /// Of training.
    seconds: f64,
    /// Of a match.
    match_seconds: f64,
    /// Test pairs that were proven, and that were broken off.
    proven: usize,
    broken_off: usize,
}

/// A model by its name.
type Named = (String, Measured);

/// The most pairs that are learned from, as in the program.
const MOST: usize = 2000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.data.clone().unwrap_or_else(|| house::default_directory().join(".."));
    let mut sets = if arguments.tables.is_empty() { all_data(&folder)? } else { Vec::new() };
    for path in &arguments.tables {
        sets.push(table(path, &path.file_stem().unwrap_or_default().to_string_lossy())?);
    }
    sets.retain(|data| arguments.only.as_ref().is_none_or(|part| data.name.contains(part)));
    let counts = match (&arguments.pairs[..], arguments.quick) {
        ([], true) => vec![10],
        ([], false) => vec![10, 0],
        (given, _) => given.to_vec(),
    };
    let test_count = if arguments.quick { 20 } else { 40 };
    println!(
        "{:24} {:>5} {:30} {:>7} {:>10} {:>8} {:>7} {:>8} {:>9}  proven, broken off",
        "data", "pairs", "features", "error", "partnered", "above", "s.e.", "seconds", "a match"
    );
    let (mut report, mut verdicts) = (Report { rows: Vec::new() }, Vec::new());
    for data in &sets {
        for &count in &counts {
            let of_one = one(arguments, data, count, test_count)?;
            verdicts.extend(verdict(&of_one));
            report.rows.extend(of_one);
            // It is long: what is done by now is kept.
            if let Some(path) = &arguments.json {
                files::write_json(path, &report)?;
            }
        }
    }
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
    Ok(())
}

/// All models from the same pairs of a data set.
fn one(arguments: &Arguments, data: &Data, count: usize, test_count: usize) -> Result<Vec<Row>> {
    let test = data.pairs(test_count, true, 1000)?;
    let seed = 10 * count as u64 + arguments.subset;
    let training = data.pairs(if count == 0 { MOST } else { count }, false, seed)?;
    let automatic = measure(Made::choose(&training, arguments.seconds)?, &test, arguments.match_seconds)?;
    automatic.log.iter().for_each(|line| println!("    {line}"));
    let mut measured = vec![("automatic".to_string(), automatic)];
    print(&row(data, training.len(), &measured[0], None));
    if !arguments.alone {
        for (name, model) in models::single(&training, arguments.single_seconds) {
            let one = (name, measure(model?, &test, arguments.match_seconds)?);
            print(&row(data, training.len(), &one, Some(&measured[0])));
            measured.push(one);
        }
    }
    let singles = measured.get(1..).unwrap_or_default();
    let best = singles.iter().min_by(|a, b| mean(&a.1.losses).total_cmp(&mean(&b.1.losses)));
    Ok(measured.iter().map(|one| row(data, training.len(), one, best)).collect())
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// A model beside another.
fn row(data: &Data, pairs: usize, (name, model): &Named, other: Option<&Named>) -> Row {
    let other = other.map_or(&model.losses, |(_, other)| &other.losses);
    let above: Vec<f64> = model.losses.iter().zip(other).map(|(own, other)| own - other).collect();
    Row {
        data: data.name.clone(),
        pairs,
        name: name.clone(),
        chosen: model.chosen.clone(),
        error: mean(&model.losses),
        error_of_partnered: mean(&model.partnered),
        above: mean(&above),
        standard_error: standard_error(&above),
        seconds: model.seconds,
        match_seconds: model.match_seconds,
        proven: model.proven,
        broken_off: model.broken_off,
    }
}

fn print(row: &Row) {
    let name = row.chosen.as_ref().map_or(row.name.clone(), |chosen| format!("-> {chosen}"));
    println!(
        "{:24} {:5} {name:30} {:7.4} {:10.4} {:+8.4} {:7.4} {:8.1} {:7.1} ms  {}, {}",
        row.data,
        row.pairs,
        row.error,
        row.error_of_partnered,
        row.above,
        row.standard_error,
        row.seconds,
        1e3 * row.match_seconds,
        row.proven,
        row.broken_off
    );
}

/// How the automatic choice stands beside the best single set.
fn verdict(rows: &[Row]) -> Option<String> {
    let (automatic, singles) = rows.split_first()?;
    let best = singles.iter().min_by(|a, b| a.error.total_cmp(&b.error))?;
    let word = match automatic.above {
        above if above <= 0.0 => "as good or better",
        above if above <= automatic.standard_error => "within one standard error",
        _ => "WORSE",
    };
    Some(format!(
        "{}, {} pairs: {} {:.4}, best {} {:.4}, {:+.4} ± {:.4}: {word}; {:.1} s",
        automatic.data,
        automatic.pairs,
        automatic.chosen.as_deref().unwrap_or_default(),
        automatic.error,
        best.name,
        best.error,
        automatic.above,
        automatic.standard_error,
        automatic.seconds
    ))
}

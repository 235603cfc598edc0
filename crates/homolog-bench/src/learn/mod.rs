//! Training, timed: the paper's house problem and a path of λ.
//!
//! All training is max-margin learning of linear assignment to a relative gap of 1e-3, and every run must end certified. Runs on one
//! and two threads take turns and must give the same fit, bit for bit. Figures of other programs were measured elsewhere, on a
//! machine like the one in docs/benchmarks.md; nothing here runs them.

mod baseline;
mod frames;
mod measure;

use crate::files::write_json;
use anyhow::Result;
use frames::Frames;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `homolog-bench learn`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer rounds.
    #[arg(long)]
    quick: bool,
    /// The house data: landmarks.csv.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only this part; may be repeated.
    #[arg(long)]
    part: Vec<Part>,
}

/// The parts of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    House,
    Path,
}

#[derive(Serialize)]
struct Report {
    quick: bool,
    /// The mean number of running processes in the last minute, at the start, as the machine reports it.
    load: Option<String>,
    house: Option<baseline::Single>,
    path: Option<baseline::Path>,
}

/// Prints the tables, part by part.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let frames = Frames::load(&arguments.data.clone().unwrap_or_else(crate::house::default_directory))?;
    let wanted = |part: Part| arguments.part.is_empty() || arguments.part.contains(&part);
    let quick = arguments.quick;
    let load = std::fs::read_to_string("/proc/loadavg").ok().and_then(|text| Some(text.split(' ').next()?.to_owned()));
    println!("load of the machine at the start: {}\n", load.as_deref().unwrap_or("unknown"));
    let house = wanted(Part::House).then(|| baseline::single(&frames, if quick { 9 } else { 51 })).transpose()?;
    let path = wanted(Part::Path).then(|| baseline::path(&frames)).transpose()?;
    let report = Report { quick, load, house, path };
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

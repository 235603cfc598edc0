//! Training, timed: the paper's house problem, a path of λ, random problems, many examples, and the bundle method alone.
//!
//! All training is max-margin learning of linear assignment to a relative gap of 1e-3, and every run must end certified. Runs on one
//! and two threads take turns and must give the same fit, bit for bit. Figures of other programs were measured elsewhere, on a
//! machine like the one in docs/benchmarks.md; nothing here runs them.

mod baseline;
mod frames;
mod measure;
mod random;
mod rounds;
mod scale;

pub(crate) use scale::{OneArguments, peak_bytes, run_one};

use crate::files::write_json;
use anyhow::Result;
use frames::Frames;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `homolog-bench learn`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer rounds, fewer examples.
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
    /// Only random problems of this many pairs.
    #[arg(long)]
    pairs: Option<usize>,
    /// Random problems at this λ; otherwise the middle of the grid derived from the data, and the next smaller.
    #[arg(long)]
    lambda: Option<f64>,
}

/// The parts of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    House,
    Path,
    Random,
    Scale,
    /// The bundle method without the risk.
    Rounds,
}

#[derive(Serialize)]
struct Report {
    quick: bool,
    /// The mean number of running processes in the last minute, at the start, as the machine reports it.
    load: Option<String>,
    house: Option<baseline::Single>,
    path: Option<baseline::Path>,
    random: Option<Vec<random::Row>>,
    scale: Option<Vec<scale::Row>>,
    rounds: Option<Vec<rounds::Row>>,
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
    let mut random_sizes = if quick { random::SIZES[..2].to_vec() } else { random::SIZES.to_vec() };
    if let Some(only) = arguments.pairs {
        random_sizes = random::SIZES.into_iter().filter(|&pairs| pairs == only).collect();
    }
    let rounds = if quick { 3 } else { 9 };
    let random = wanted(Part::Random).then(|| random::run(&random_sizes, arguments.lambda, rounds)).transpose()?;
    let scale_sizes: &[_] =
        if quick { &[(100, 3), (1000, 3)] } else { &[(100, 3), (1000, 3), (10_000, 3), (10_000, 30)] };
    let scale = wanted(Part::Scale).then(|| scale::run(arguments.data.as_deref(), scale_sizes)).transpose()?;
    let rounds = wanted(Part::Rounds).then(|| rounds::run(&[(32, 61), (32, 261)])).transpose()?;
    let report = Report { quick, load, house, path, random, scale, rounds };
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

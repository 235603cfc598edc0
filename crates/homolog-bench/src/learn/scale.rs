//! Time and memory against the number of examples: pairs of jittered frames of a sequence, each graph shared by many pairs.
//!
//! Each row is measured in its own process, since the peak of memory is one number for the life of a process. The program starts
//! itself with a hidden subcommand, which answers in JSON.

use super::frames::Frames;
use super::measure::{Outcome, fit, pool};
use super::random::normal;
use crate::clock::Elapsed;
use crate::house;
use crate::linear::duration;
use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::learn::Example;
use homolog::loss::Hamming;
use homolog::matching::Matching;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const LAMBDA: f64 = 0.01;
/// Standard deviation of the jitter, in pixels.
const JITTER: f64 = 1.0;
/// The greatest distance of the two frames of a pair.
const FARTHEST: usize = 90;

/// Arguments of `homolog-bench learn-scale`, the process that measures one row.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct OneArguments {
    #[arg(long)]
    data: Option<PathBuf>,
    #[arg(long, default_value_t = 1000)]
    examples: usize,
    /// How many jittered copies of the sequence there are.
    #[arg(long, default_value_t = 3)]
    copies: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// One number of examples on one number of threads.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    examples: usize,
    graphs: usize,
    threads: usize,
    outcome: Outcome,
    /// Describing the graphs and building the examples.
    building: Elapsed,
    training: Elapsed,
    /// The most memory the process had when the examples were built and at its end, in bytes; 0 if the system does not tell.
    built_bytes: u64,
    peak_bytes: u64,
}

/// Measures one row and prints it as JSON.
pub(crate) fn run_one(arguments: &OneArguments) -> Result<()> {
    let frames = Frames::load(&arguments.data.clone().unwrap_or_else(house::default_directory))?;
    let row = pool(arguments.threads)?.install(|| measure(&frames, arguments))?;
    println!("{}", serde_json::to_string(&row)?);
    Ok(())
}

fn measure(frames: &Frames, arguments: &OneArguments) -> Result<Row> {
    let watch = || (Instant::now(), ProcessTime::now());
    let stop = |(wall, cpu): (Instant, ProcessTime)| Elapsed {
        cpu: cpu.elapsed().as_secs_f64(),
        wall: wall.elapsed().as_secs_f64(),
    };
    let building = watch();
    let examples = examples(frames, arguments.examples, arguments.copies)?;
    let building = stop(building);
    let built_bytes = peak_bytes();
    let training = watch();
    let trained = fit(&examples, LAMBDA)?;
    let training = stop(training);
    Ok(Row {
        examples: examples.len(),
        graphs: arguments.copies * frames.points.len(),
        threads: arguments.threads,
        outcome: Outcome::of(&trained)?,
        building,
        training,
        built_bytes,
        peak_bytes: peak_bytes(),
    })
}

/// Random pairs of jittered frames, at most 90 frames apart.
fn examples(frames: &Frames, count: usize, copies: usize) -> Result<Vec<Example>> {
    let map = FeatureMap::paper_linear();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut graphs = Vec::new();
    for points in (0..copies).flat_map(|_| &frames.points) {
        let graph: Arc<Graph> = Arc::new(Graph::from_points(points.mapv(|x| x + JITTER * normal(&mut rng)))?);
        let described = Arc::new(map.describe(&graph)?);
        graphs.push((graph, described));
    }
    let length = frames.points.len();
    ensure!(length > FARTHEST && copies > 0, "the sequence is too short");
    let mut examples = Vec::with_capacity(count);
    for number in 0..count {
        let first = rng.random_range(0..length);
        let second = rng.random_range(first.saturating_sub(FARTHEST)..length.min(first + FARTHEST + 1));
        let [left, right] = [first, second].map(|frame| &graphs[rng.random_range(0..copies) * length + frame]);
        let pair = Pair::new(Arc::clone(&left.0), Arc::clone(&right.0));
        let truth = Matching::identity(pair.left.node_count());
        let instance = map.instance(&left.1, &right.1)?;
        examples.push(Example::new(instance, &pair, truth, &Hamming::default(), number as u64)?);
    }
    Ok(examples)
}

/// The peak of resident memory so far, if the system reports it as Linux does.
pub(crate) fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Every (number of examples, copies of the sequence), each on one and two threads.
pub(crate) fn run(data: Option<&Path>, sizes: &[(usize, usize)]) -> Result<Vec<Row>> {
    println!("### Scale: pairs of jittered frames, λ = {LAMBDA}\n");
    println!(
        "| examples | graphs | threads | evaluations | building | training, wall | training, processor | peak when built | peak |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for &(examples, copies) in sizes {
        for threads in [1, 2] {
            let row = in_own_process(data, examples, copies, threads)?;
            println!(
                "| {} | {} | {} | {} | {} | {} | {} | {:.1} MB | {:.1} MB |",
                row.examples,
                row.graphs,
                row.threads,
                row.outcome.evaluations,
                duration(row.building.wall),
                duration(row.training.wall),
                duration(row.training.cpu),
                row.built_bytes as f64 / 1e6,
                row.peak_bytes as f64 / 1e6
            );
            rows.push(row);
        }
    }
    println!();
    Ok(rows)
}

fn in_own_process(data: Option<&Path>, examples: usize, copies: usize, threads: usize) -> Result<Row> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("learn-scale");
    for (name, number) in [("--examples", examples), ("--copies", copies), ("--threads", threads)] {
        command.arg(name).arg(number.to_string());
    }
    if let Some(data) = data {
        command.arg("--data").arg(data);
    }
    let output = command.output().context("starting a process for the measurement")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

//! Sparse linear assignment compared with `lapmod` of lapx and `min_weight_full_bipartite_matching` of scipy.
//!
//! n nodes on both sides, each left node with 10 random right nodes (one of them by a random permutation, so that a full matching exists),
//! costs uniform in [0, 1). Totals must agree. Ours is `Linear` on a list: score, dual values and copying the scores are part of the
//! time. The peers time themselves in a Python process. The figure is the median over problems of the median over rounds.

use crate::clock::{Stopwatch, median};
use crate::linear::{duration, python};
use anyhow::{Context, Result, ensure};
use homolog::matching::{Linear, Matcher, Sense, Sparse, Workspace};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = include_str!("../python/sparse_peers.py");
/// How many right nodes each left node may go to.
const EACH: usize = 10;

/// Arguments of `homolog-bench sparse`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only so many nodes on a side; may be repeated [default: 1000, 5000, 100000]
    #[arg(long)]
    size: Vec<usize>,
    /// Without the Python peers.
    #[arg(long)]
    alone: bool,
}

/// A problem as compressed rows.
struct Problem {
    start: Vec<usize>,
    columns: Vec<usize>,
    costs: Vec<f64>,
}

impl Problem {
    fn random(n: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut places: Vec<usize> = (0..n).collect();
        places.shuffle(&mut rng);
        let (mut start, mut columns) = (vec![0], Vec::with_capacity(EACH * n));
        for place in places {
            let mut row: Vec<usize> = (1..EACH).map(|_| rng.random_range(0..n)).chain([place]).collect();
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            start.push(columns.len());
        }
        let costs = columns.iter().map(|_| rng.random()).collect();
        Self { start, columns, costs }
    }
}

#[derive(Deserialize)]
struct Peer {
    total: f64,
    seconds: Vec<f64>,
}

/// Prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sizes = if arguments.size.is_empty() { vec![1000, 5000, 100_000] } else { arguments.size.clone() };
    let mut peers = match (!arguments.alone).then(Peers::start) {
        Some(Err(error)) => {
            eprintln!("without lapmod and scipy: {error:#}");
            None
        }
        peers => peers.transpose()?,
    };
    println!(
        "|   nodes |    homolog |     lapmod |      scipy | ratio |\n| ------: | ---------: | ---------: | ---------: | ----: |"
    );
    for n in sizes {
        let (problems, rounds) = if n <= 10_000 { (5, 5) } else { (1, 1) };
        let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for seed in 0..problems {
            let problem = Problem::random(n, seed);
            let (total, seconds) = ours(&problem, n, rounds)?;
            times.entry("homolog").or_default().extend(median(&seconds));
            for (name, peer) in
                peers.as_mut().map(|peers| peers.solve(&problem, n, rounds)).transpose()?.unwrap_or_default()
            {
                let same = (peer.total - total).abs() <= 1e-9 * total.abs();
                ensure!(same, "{n} nodes, problem {seed}: homolog finds {total}, {name} {}", peer.total);
                times
                    .entry(if name == "lapmod" { "lapmod" } else { "scipy" })
                    .or_default()
                    .extend(median(&peer.seconds));
            }
        }
        let time = |name: &str| times.get(name).and_then(|times| median(times));
        let text = |name: &str| time(name).map_or_else(|| "-".to_string(), duration);
        let fastest = time("lapmod").into_iter().chain(time("scipy")).reduce(f64::min);
        let ratio =
            fastest.zip(time("homolog")).map_or_else(|| "-".to_string(), |(peer, ours)| format!("{:.2}", peer / ours));
        println!("| {n:7} | {:>10} | {:>10} | {:>10} | {ratio:>5} |", text("homolog"), text("lapmod"), text("scipy"));
    }
    Ok(())
}

fn ours(problem: &Problem, n: usize, rounds: usize) -> Result<(f64, Vec<f64>)> {
    let Problem { start, columns, costs } = problem;
    let sparse = Sparse::from_rows(n, start, columns, costs, Sense::Minimize)?;
    let mut work = Workspace::new();
    let (mut total, mut seconds) = (0.0, Vec::new());
    for _ in 0..rounds {
        let stopwatch = Stopwatch::start();
        let solution = Linear::default().solve_with(black_box(&sparse), &mut work)?;
        seconds.push(stopwatch.stop().cpu);
        total = -solution.score;
    }
    Ok((total, seconds))
}

/// The Python process.
struct Peers {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Peers {
    fn start() -> Result<Self> {
        let mut command = Command::new(python::environment()?);
        let mut child = command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = child.stdout.take().map(BufReader::new).context("no pipe from Python")?;
        let mut peers = Self { child, answers };
        eprintln!("peers: {}", peers.line()?.trim());
        Ok(peers)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the Python process ended");
        Ok(line)
    }

    fn solve(&mut self, problem: &Problem, n: usize, rounds: usize) -> Result<BTreeMap<String, Peer>> {
        let stdin = self.child.stdin.as_mut().context("no pipe to Python")?;
        let pairs = problem.columns.len();
        writeln!(stdin, "{}", serde_json::json!({ "nodes": n, "pairs": pairs, "rounds": rounds }))?;
        let mut bytes = Vec::with_capacity(4 * (n + 1) + 12 * pairs);
        for &index in problem.start.iter().chain(&problem.columns) {
            bytes.extend(i32::try_from(index)?.to_ne_bytes());
        }
        bytes.extend(problem.costs.iter().flat_map(|cost| cost.to_ne_bytes()));
        stdin.write_all(&bytes)?;
        stdin.flush()?;
        Ok(serde_json::from_str(&self.line()?)?)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // Without its pipe the process ends by itself; how it ended no longer matters.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

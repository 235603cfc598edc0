//! Our quadratic matchers side by side, on rotated and jittered point sets (`problems`) of several sizes.
//!
//! Every solver gets the same problems with its default settings (`plain`: without local search, as published). Reported per solver:
//! the median of the processor time of a solve, all threads; the peak memory of the process so far, so that one solver and size per run say
//! most about it; the mean score, and the mean of (score - worst) / (best - worst) with best and worst taken over
//! the solvers and the truth on each problem; the share of nodes matched as in truth; and the mean of (bound - score) / |score|.

pub(crate) mod problems;

use crate::clock::median;
use crate::files::write_json;
use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use homolog::matching::{
    Bistochastic, FrankWolfe, GraduatedAssignment, Method, Rrwm, Solution, Spectral, TabuSearch, Workspace,
};
use problems::{Kind, Problem};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `homolog-bench quadratic`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Sizes up to 100, fewer problems.
    #[arg(long)]
    quick: bool,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only this kind of problem; may be repeated.
    #[arg(long)]
    kind: Vec<Kind>,
    /// Only this number of nodes (30, 100, 200, 1000, 3000, 10000); may be repeated.
    #[arg(long)]
    size: Vec<usize>,
    /// Solve small problems on lists of candidate pairs too, as large ones are; only solvers that can.
    #[arg(long)]
    lists: bool,
    /// Only this solver; may be repeated.
    #[arg(long)]
    solver: Vec<String>,
}

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    size: usize,
    problems: usize,
    solver: String,
    /// Median processor time of a solve, in seconds.
    seconds: f64,
    peak_bytes: u64,
    score: f64,
    relative_score: f64,
    accuracy: f64,
    bound_gap: f64,
}

/// Node counts, and how many problems of each; the last two only if asked for.
const SIZES: [(usize, usize); 6] = [(30, 20), (100, 5), (200, 3), (1000, 1), (3000, 1), (10_000, 1)];
const LARGEST_UNASKED: usize = 1000;

/// Listing all pairs of edges takes gigabytes beyond this many nodes.
const LARGEST_LISTED: usize = 300;

/// Tabu search examines all swaps in every step: too many beyond this many nodes.
const LARGEST_HEAVY: usize = 300;

/// Most solvers hold several tables of all pairs: too much memory beyond this many nodes.
const LARGEST_DENSE: usize = 3000;

/// Prints the table block by block as results arrive.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let kinds = if arguments.kind.is_empty() { Kind::ALL.to_vec() } else { arguments.kind.clone() };
    let mut rows = Vec::new();
    println!(
        "{:8} {:>5}  {:28} {:>14} {:>9} {:>12} {:>9} {:>9} {:>10}",
        "kind", "nodes", "solver", "time", "peak", "score", "relative", "accuracy", "bound gap"
    );
    for kind in kinds {
        for (size, count) in SIZES {
            let usual = arguments.size.is_empty() && size <= LARGEST_UNASKED;
            let wanted = usual || arguments.size.contains(&size);
            let feasible = kind != Kind::Length || size <= LARGEST_LISTED;
            if wanted && feasible && !(arguments.quick && size > 100) {
                let count = if arguments.quick { count.min(3) } else { count };
                let block = measure(kind, size, count, arguments).with_context(|| format!("{} {size}", kind.name()))?;
                for row in &block {
                    println!("{}", line(row));
                }
                rows.extend(block);
            }
        }
    }
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &rows))
}

fn line(row: &Row) -> String {
    let Row { kind, size, solver, score, relative_score, accuracy, bound_gap, .. } = row;
    let (time, peak) = (format!("{:.3} ms", 1e3 * row.seconds), format!("{:.0} MB", row.peak_bytes as f64 / 1e6));
    format!(
        "{kind:8} {size:>5}  {solver:28} {time:>14} {peak:>9} {score:>12.4} {relative_score:>9.4} {accuracy:>9.3} {bound_gap:>10.3}"
    )
}

/// The solvers for a size, with the names of the table.
fn solvers(size: usize, only: &[String]) -> Vec<(String, Method)> {
    let plain = GraduatedAssignment { polish: false, ..GraduatedAssignment::default() };
    let mut solvers = vec![
        ("graduated-assignment plain".to_owned(), Method::GraduatedAssignment(plain)),
        (
            "bistochastic plain".to_owned(),
            Method::Bistochastic(Bistochastic { assignment: plain, ..Bistochastic::default() }),
        ),
        ("spectral plain".to_owned(), Method::Spectral(Spectral { polish: false, ..Spectral::default() })),
        ("rrwm plain".to_owned(), Method::Rrwm(Rrwm { polish: false, ..Rrwm::default() })),
    ];
    let defaults = [
        Method::GraduatedAssignment(GraduatedAssignment::default()),
        Method::Bistochastic(Bistochastic::default()),
        Method::Spectral(Spectral::default()),
        Method::Rrwm(Rrwm::default()),
    ];
    solvers.extend(defaults.map(|method| (method.name().to_owned(), method)));
    solvers.push(("frank-wolfe".to_owned(), Method::FrankWolfe(FrankWolfe::default())));
    if size <= LARGEST_HEAVY {
        solvers.push(("tabu-search".to_owned(), Method::TabuSearch(TabuSearch::default())));
    }
    solvers.retain(|(name, method)| {
        let is_possible = size <= LARGEST_DENSE || method.takes_rows();
        is_possible && (only.is_empty() || only.contains(name))
    });
    solvers
}

fn measure(kind: Kind, size: usize, count: usize, arguments: &Arguments) -> Result<Vec<Row>> {
    let mut solvers = solvers(size, &arguments.solver);
    solvers.retain(|(_, method)| !arguments.lists || method.takes_rows());
    let mut times = vec![Vec::new(); solvers.len()];
    let mut totals = vec![[0.0; 4]; solvers.len()];
    let mut peaks = vec![0; solvers.len()];
    for number in 0..count as u64 {
        let problem = problems::make(kind, size, number)?;
        let mut answers = Vec::new();
        for (((_, method), times), peak) in solvers.iter().zip(&mut times).zip(&mut peaks) {
            let (answer, seconds) = solve(method, &problem, size, arguments.lists)?;
            times.push(seconds);
            answers.push(answer);
            *peak = crate::clock::peak_bytes();
        }
        let truth = problem.score_of_truth()?;
        let scores = || answers.iter().map(|answer| answer.score).chain([truth]);
        let (worst, best) = (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        for (answer, totals) in answers.iter().zip(&mut totals) {
            let right = |(i, &k): (usize, &usize)| answer.matching.right_of(i) == Some(k);
            let correct = problem.truth.iter().enumerate().filter(|&pair| right(pair)).count();
            totals[0] += if best > worst { (answer.score - worst) / (best - worst) } else { 1.0 };
            totals[1] += correct as f64 / size as f64;
            totals[2] += (answer.bound - answer.score) / answer.score.abs();
            totals[3] += answer.score;
        }
    }
    let mut rows = Vec::new();
    for ((((solver, _), times), totals), peak_bytes) in solvers.into_iter().zip(times).zip(totals).zip(peaks) {
        let [relative_score, accuracy, bound_gap, score] = totals.map(|total| total / count as f64);
        let seconds = median(&times).unwrap_or(f64::NAN);
        let (kind, problems) = (kind.name(), count);
        rows.push(Row {
            kind,
            size,
            problems,
            solver,
            seconds,
            peak_bytes,
            score,
            relative_score,
            accuracy,
            bound_gap,
        });
    }
    Ok(rows)
}

/// The answer, and the best time of a few solves of a small problem (the first warms up).
fn solve(method: &Method, problem: &Problem, size: usize, lists: bool) -> Result<(Solution, f64)> {
    let mut work = Workspace::new();
    let repetitions = if size <= 100 { 3 } else { 1 };
    let mut fastest = f64::INFINITY;
    let mut answer = None;
    for _ in 0..repetitions {
        let begin = ProcessTime::now();
        answer = Some(problem.solve(method, lists, &mut work)?);
        fastest = fastest.min(begin.elapsed().as_secs_f64());
    }
    Ok((answer.context("a solve was asked for")?, fastest))
}

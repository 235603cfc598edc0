//! The exact quadratic matcher: how long until the best matching is found, how long until it is proven, and the bound over time.
//!
//! Right graphs of the house problems are renumbered at random, so that a solver that falls back on the identity is not rewarded.
//! Processor time of the one thread counts. The time limit is an interrupt of the solver.

mod learned;
mod problems;

use crate::clock::median;
use crate::files::write_json;
use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::matching::{Compatibility, Exact, Status, Workspace};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Arguments of `homolog-bench exact`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this part; may be repeated.
    #[arg(long)]
    part: Vec<Part>,
    /// Also the harder QAPLIB problems with 15 to 20 nodes, each up to two minutes.
    #[arg(long)]
    long: bool,
    /// All QAPLIB problems, with this limit in seconds for each.
    #[arg(long, value_name = "SECONDS")]
    each: Option<f64>,
    /// Where the data is; else the folder that HOMOLOG_DATA names, or ../shared/data.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Also write all runs, with the bounds over time, to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The 105 published house-sparse problems.
    HouseSparse,
    /// motor1 and opengm1.
    Dd,
    /// Koopmans-Beckmann problems.
    Qaplib,
    /// House test problems at baseline 90 under learned weights.
    HouseLearned,
}

/// A problem with what is known about it.
pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) problem: Compatibility,
    /// The published optimum, or the best known score.
    pub(crate) known: Option<f64>,
}

/// One solve.
#[derive(Serialize)]
struct Run {
    name: String,
    nodes: usize,
    proven: bool,
    score: f64,
    bound: f64,
    known: Option<f64>,
    /// Seconds of processor time until the best matching was found, and in all.
    found_after: f64,
    seconds: f64,
    iterations: usize,
    branches: usize,
    /// (seconds, score, bound) at each look.
    trace: Vec<(f64, f64, f64)>,
}

impl Run {
    /// Whether it has the known score, to the precision of published values.
    fn agrees(&self) -> Option<bool> {
        self.known.map(|known| (self.score - known).abs() <= 1e-4 * known.abs().min(1.0).max(1e-4 * known.abs()))
    }
}

/// Prints the tables, part by part.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let wanted = |part: Part| arguments.part.is_empty() || arguments.part.contains(&part);
    let named = || std::env::var_os("HOMOLOG_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let data = &arguments.data.clone().unwrap_or_else(named);
    let mut runs = Vec::new();
    if wanted(Part::HouseSparse) {
        println!("## House-sparse: 105 problems, limit 10 s each\n");
        let solved: Vec<Run> = problems::house_sparse(data)?.iter().map(|p| solve(p, 10.0)).collect();
        summarise(&solved);
        runs.extend(solved);
    }
    if wanted(Part::Dd) {
        println!("## Published .dd problems: bound over time\n");
        for problem in problems::dd(data)? {
            let run = solve(&problem, 60.0);
            print_trace(&run);
            runs.push(run);
        }
    }
    if wanted(Part::Qaplib) {
        println!("## QAPLIB\n\n{HEAD}");
        let mut solved = Vec::new();
        for (problem, seconds) in problems::qaplib(data, arguments.long, arguments.each)? {
            let run = solve(&problem, seconds);
            print_line(&run);
            solved.push(run);
        }
        println!();
        summarise(&solved);
        runs.extend(solved);
    }
    if wanted(Part::HouseLearned) {
        let learned = learned::learn(data, 90)?;
        println!("## House, baseline 90, learned weights (lambda {}, {})\n\n{HEAD}", learned.lambda, learned.remark);
        let solved: Vec<Run> = learned.problems.iter().map(|p| solve(p, 60.0)).collect();
        solved.iter().for_each(print_line);
        println!();
        summarise(&solved);
        runs.extend(solved);
    }
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &runs))
}

fn solve(problem: &Problem, limit: f64) -> Run {
    let start = ProcessTime::now();
    let mut work = Workspace::with_control(
        &Control::new().timed(true).interrupted_by(move || start.elapsed().as_secs_f64() > limit),
    );
    let (mut trace, mut branches) = (Vec::new(), 0);
    let mut found = (f64::NEG_INFINITY, 0.0);
    let answer = Exact::default().solve_observed(&problem.problem, &mut work, &mut |now| {
        let seconds = start.elapsed().as_secs_f64();
        // Later improvements within rounding errors do not count.
        if now.score > found.0 + 1e-9 * now.score.abs() {
            found = (now.score, seconds);
        }
        branches = now.branches;
        trace.push((seconds, now.score, now.bound));
        ControlFlow::Continue(())
    });
    let answer = answer.expect("the problems of the benchmark are in order");
    Run {
        name: problem.name.clone(),
        nodes: problem.problem.left_count(),
        proven: answer.status == Status::Optimal,
        score: answer.score,
        bound: answer.bound,
        known: problem.known,
        found_after: found.1,
        seconds: start.elapsed().as_secs_f64(),
        iterations: answer.iterations,
        branches,
        trace,
    }
}

const HEAD: &str = "\
| problem      |  n |         score |         bound |         known | off known | proven | found after |    in all |  steps | branches |
| ------------ | -: | ------------: | ------------: | ------------: | --------: | ------ | ----------: | --------: | -----: | -------: |";

fn print_line(run: &Run) {
    let known = run.known.map_or("-".into(), |known| format!("{known:.3}"));
    let off = run.known.map_or("-".into(), |known| format!("{:.2} %", 100.0 * (known - run.score) / known.abs()));
    println!(
        "| {:12} | {:2} | {:13.3} | {:13.3} | {known:>13} | {off:>9} | {:6} | {:8.1} ms | {:6.0} ms | {:6} | {:8} |",
        run.name,
        run.nodes,
        run.score,
        run.bound,
        if run.proven { "yes" } else { "no" },
        1e3 * run.found_after,
        1e3 * run.seconds,
        run.iterations,
        run.branches
    );
}

fn summarise(runs: &[Run]) {
    let count = |test: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| test(run)).count();
    let times = |time: &dyn Fn(&Run) -> f64| {
        let times: Vec<f64> = runs.iter().map(time).collect();
        let most = times.iter().copied().fold(0.0, f64::max);
        format!("median {:.1} ms, most {:.1} ms", 1e3 * median(&times).unwrap_or(0.0), 1e3 * most)
    };
    println!("problems            {}", runs.len());
    println!("known score reached {}", count(&|run| run.agrees() == Some(true)));
    println!("proven              {}", count(&|run| run.proven));
    println!("without branching   {}", count(&|run| run.proven && run.branches == 1));
    println!("best found after    {}", times(&|run| run.found_after));
    println!("proven after        {}\n", times(&|run| run.seconds));
}

fn print_trace(run: &Run) {
    println!("{}: cost {:.5}, known {:?}, proven: {}", run.name, -run.score, run.known.map(|known| -known), run.proven);
    println!("| {:>9} | {:>11} | {:>11} | {:>9} |", "time", "cost", "bound", "gap");
    println!("| --------: | ----------: | ----------: | --------: |");
    let mut next = 0.0;
    for (at, &(seconds, score, bound)) in run.trace.iter().enumerate() {
        if seconds >= next || at + 1 == run.trace.len() {
            next = seconds + 0.2 * seconds.max(0.002);
            let gap = 100.0 * (bound - score) / score.abs();
            println!("| {:6.1} ms | {:11.5} | {:11.5} | {gap:7.3} % |", 1e3 * seconds, -score, -bound);
        }
    }
    println!("| {:6.1} ms | {:11.5} | {:11.5} | proven: {} |\n", 1e3 * run.seconds, -run.score, -run.bound, run.proven);
}

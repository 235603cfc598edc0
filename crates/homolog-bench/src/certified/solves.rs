//! How long the relaxations of house problems take: to within 1 % of the bound, from scratch and from a solve under slightly
//! different weights, on one thread.

use super::Arguments;
use super::house::trial;
use crate::clock::{Stopwatch, median};
use anyhow::Result;
use homolog::Control;
use homolog::learn::Example;
use homolog::matching::{Compatibility, Exact, LpRelaxation, Matching, RightOrder, WarmStart, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How much weights differ between the solve that a warm start comes from and the one that is timed.
const CHANGE: f64 = 0.05;
/// Every solve is repeated this often; the fastest counts, since the machine is shared.
const REPEATS: usize = 5;

/// Solves of one kind: seconds and steps.
#[derive(Default)]
pub(super) struct Timing {
    pub(super) seconds: Vec<f64>,
    pub(super) steps: Vec<f64>,
    /// How many were within the gap.
    pub(super) close: usize,
}

impl Timing {
    /// Times a solve, best of a few, on the thread's own clock.
    pub(super) fn add(&mut self, solver: &LpRelaxation, problem: &Compatibility, warm: &WarmStart) -> Result<()> {
        let (mut best, mut steps) = (f64::INFINITY, 0);
        let mut work = Workspace::new();
        for _ in 0..REPEATS {
            let mut warm = warm.clone();
            let watch = Stopwatch::start();
            let relaxed = solver.solve_from(problem, &mut warm, &mut work)?;
            best = best.min(watch.stop().cpu);
            steps = relaxed.iterations;
            self.close += usize::from(relaxed.bound - relaxed.value <= solver.gap * relaxed.bound.abs());
        }
        self.seconds.push(best);
        self.steps.push(steps as f64);
        Ok(())
    }

    pub(super) fn cell(&self) -> String {
        let milliseconds = |seconds: f64| 1e3 * seconds;
        let most = self.seconds.iter().copied().fold(0.0, f64::max);
        let [time, steps] = [&self.seconds, &self.steps].map(|values| median(values).unwrap_or(0.0));
        format!("{:.1} ms (most {:.1}), {steps:.0} steps", milliseconds(time), milliseconds(most))
    }
}

pub(super) fn report(arguments: &Arguments) -> Result<()> {
    let [train, _, test] = trial(arguments, 90)?.splits;
    let fit = arguments.learner(0.1).fit(&train, &Exact::default(), &Control::new())?;
    println!("## Relaxations of the house problems at baseline 90 to within 1 %: median and most, one thread\n");
    println!("| weights | problems | from scratch | warm |\n| :------ | :------- | -----------: | ---: |");
    let learned = fit.minimum.weights;
    for (name, weights) in [("learned", learned), ("all ones", vec![1.0; 61])] {
        for (kind, set, losses) in [("test", &test, false), ("training, with losses", &train, true)] {
            let (mut cold, mut warm) = (Timing::default(), Timing::default());
            for (number, example) in set.iter().enumerate() {
                let problem = problem(example, &weights, losses, number as u64)?;
                let solver = LpRelaxation { gap: 0.01, ..LpRelaxation::default() };
                cold.add(&solver, &problem, &WarmStart::default())?;
                let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
                let near: Vec<f64> =
                    weights.iter().map(|weight| weight * (1.0 + CHANGE * rng.random_range(-1.0..1.0))).collect();
                let mut start = WarmStart::default();
                let before = self::problem(example, &near, losses, number as u64)?;
                solver.solve_from(&before, &mut start, &mut Workspace::new())?;
                warm.add(&solver, &problem, &start)?;
            }
            println!("| {name} | {kind} | {} | {} |", cold.cell(), warm.cell());
        }
    }
    println!();
    Ok(())
}

/// The problem with its right nodes shuffled; with the losses of training, if wanted.
fn problem(example: &Example, weights: &[f64], losses: bool, seed: u64) -> Result<Compatibility> {
    let mut problem = example.instance().compatibility(weights)?;
    if losses {
        let (n, m) = problem.node.dim();
        let empty = example.loss(&Matching::empty(n, m));
        for (i, k) in example.truth().pairs() {
            let mut single = vec![None; n];
            single[i] = Some(k);
            let single = Matching::new(single, m, homolog::matching::Constraint::OneToOne)?;
            problem.node[[i, k]] += example.loss(&single) - empty;
        }
    }
    let mut shuffled = problem.clone();
    RightOrder::random(problem.right_count(), seed).shuffle_into(&problem, &mut shuffled)?;
    Ok(shuffled)
}

//! The bundle method's own part of a round: what happens between two evaluations of the risk, here with a risk that costs nothing, and
//! cannot be distributed over machines. The risk is a mean over examples of a maximum over classes, with weights that are hard to find:
//! nearly as many planes are in use as there are weights.

use crate::linear::duration;
use anyhow::{Result, ensure};
use cpu_time::ThreadTime;
use homolog::optimize::{Bundle, Plane, Progress, Risk, State, StopReason};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// Examples of each part, and the wrong classes of each.
const EXAMPLES: usize = 60;
const CLASSES: usize = 9;
/// Every third feature is larger in the true class by this much; all are off by up to 1.
const SIGNAL: f64 = 0.15;
const LAMBDA: f64 = 1e-3;
const GAP: f64 = 1e-4;

/// One number of weights.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    parts: usize,
    weights: usize,
    rounds: usize,
    objective: f64,
    gap: f64,
    /// Processor time of a round without that of the risk, in seconds.
    mean: f64,
    most: f64,
}

/// R(w) = mean over examples of max(0, max over classes of loss + w·(features of the class - those of the true one)).
struct Classes {
    parts: usize,
    dim: usize,
    planes: Vec<Plane>,
    spent: f64,
}

impl Classes {
    fn new(parts: usize, dim: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let examples = parts * EXAMPLES;
        let share = 1.0 / examples as f64;
        let mut planes = Vec::with_capacity(examples * CLASSES);
        for _ in 0..examples {
            let signal = |j: usize| if j.is_multiple_of(3) { SIGNAL } else { 0.0 };
            let truth: Vec<f64> = (0..dim).map(|j| rng.random_range(-1.0..1.0) + signal(j)).collect();
            for _ in 0..CLASSES {
                let slope = truth.iter().map(|truth| share * (rng.random_range(-1.0..1.0) - truth)).collect();
                planes.push(Plane { slope, offset: share * rng.random_range(0.0..1.0) });
            }
        }
        Self { parts, dim, planes, spent: 0.0 }
    }
}

impl Risk for Classes {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> homolog::Result<f64> {
        let clock = ThreadTime::now();
        let mut risk = 0.0;
        for (number, classes) in self.planes.chunks(CLASSES).enumerate() {
            let worst = classes.iter().map(|plane| (plane.at(weights), plane)).max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((value, worst)) = worst.filter(|worst| worst.0 > 0.0) else { continue };
            risk += value;
            let sum = &mut planes[number / EXAMPLES];
            sum.offset += worst.offset;
            sum.slope.iter_mut().zip(&worst.slope).for_each(|(sum, slope)| *sum += slope);
        }
        self.spent += clock.elapsed().as_secs_f64();
        Ok(risk)
    }
}

/// Every (parts, weights).
pub(crate) fn run(sizes: &[(usize, usize)]) -> Result<Vec<Row>> {
    println!("### The bundle method's own part of a round, λ = {LAMBDA}, gap {GAP}, one thread\n");
    println!("| parts | weights | rounds | objective | a round, mean | most |");
    println!("|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for &(parts, weights) in sizes {
        let row = measure(parts, weights)?;
        println!(
            "| {parts} | {weights} | {} | {:.6} | {} | {} |",
            row.rounds,
            row.objective,
            duration(row.mean),
            duration(row.most)
        );
        rows.push(row);
    }
    println!();
    Ok(rows)
}

fn measure(parts: usize, weights: usize) -> Result<Row> {
    let mut risk = Classes::new(parts, weights);
    let bundle = Bundle { lambda: LAMBDA, gap_tolerance: GAP, ..Bundle::default() };
    let mut state = State::new(&risk, &[], None)?;
    let mut own = Vec::new();
    let mut last = None;
    loop {
        let (clock, before) = (ThreadTime::now(), risk.spent);
        match bundle.step(&mut state, &mut risk)? {
            Progress::Stepped(step) => last = Some(step),
            Progress::Ended(stop) => {
                ensure!(stop == StopReason::Converged, "ended for another reason: {stop:?}");
                break;
            }
        }
        own.push(clock.elapsed().as_secs_f64() - (risk.spent - before));
    }
    let (objective, gap) = last.map_or((f64::NAN, f64::NAN), |step| (step.objective, step.gap));
    let most = own.iter().copied().fold(0.0, f64::max);
    let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
    Ok(Row { parts, weights, rounds: own.len(), objective, gap, mean, most })
}

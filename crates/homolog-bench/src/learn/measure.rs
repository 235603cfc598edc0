//! Training on a given number of threads, timed.

use crate::clock::{Elapsed, median};
use anyhow::{Context, Result, ensure};
use cpu_time::ThreadTime;
use homolog::Control;
use homolog::learn::{Example, Fit, MaxMargin};
use homolog::matching::Linear;
use homolog::optimize::{Bundle, Minimum, StopReason};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How long training on a number of threads took, and its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub(crate) threads: usize,
    pub(crate) rounds: usize,
    /// Medians over the rounds; processor time is that of all threads together.
    #[serde(flatten)]
    pub(crate) seconds: Elapsed,
    /// Processor time of the busiest thread, in the round where it was least: what the wall clock would show on an idle machine.
    pub(crate) busiest: f64,
    /// The shortest round by wall time: the one least disturbed by others on the machine.
    pub(crate) least_wall: f64,
}

/// What every round found, on any number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) lambda: f64,
    pub(crate) evaluations: usize,
    pub(crate) objective: f64,
    pub(crate) bound: f64,
    pub(crate) gap: f64,
}

impl Outcome {
    pub(crate) fn of(fit: &Fit) -> Result<Self> {
        ensure!(
            fit.certified && fit.minimum.stop == StopReason::Converged,
            "λ = {}: {}",
            fit.minimum.lambda,
            fit.note()
        );
        let Minimum { lambda, objective, bound, gap, .. } = fit.minimum;
        Ok(Self { lambda, evaluations: fit.minimum.history.len(), objective, bound, gap })
    }
}

/// Max-margin learning at a λ, to a gap of 1e-3.
pub(crate) fn fit(examples: &[Example], lambda: f64) -> Result<Fit> {
    let bundle = Bundle { lambda, gap_tolerance: 1e-3, ..Bundle::default() };
    let learner = MaxMargin { bundle, ..MaxMargin::default() };
    Ok(learner.fit(examples, &Linear::default(), &Control::new())?)
}

pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Runs `train` on each number of threads in turn, round after round, and checks that all give the same weights, bit for bit.
pub(crate) fn time(
    threads: &[usize],
    rounds: usize,
    train: impl Fn() -> Result<Fit> + Sync,
) -> Result<(Fit, Vec<Timing>)> {
    let pools = threads.iter().map(|&threads| pool(threads)).collect::<Result<Vec<_>>>()?;
    let mut first: Option<Fit> = None;
    let mut rounds_of = vec![Vec::new(); threads.len()];
    for _ in 0..rounds.max(1) {
        for (pool, rounds) in pools.iter().zip(&mut rounds_of) {
            let clocks = || pool.broadcast(|_| ThreadTime::now().as_duration().as_secs_f64());
            let (before, wall) = (clocks(), Instant::now());
            let fit = pool.install(&train)?;
            let wall = wall.elapsed().as_secs_f64();
            let cpu = clocks().iter().zip(&before).map(|(after, before)| after - before).collect();
            rounds.push(Round { wall, cpu });
            let expected = first.get_or_insert_with(|| fit.clone());
            ensure!(fit == *expected, "training on {} threads gave another fit", pool.current_num_threads());
        }
    }
    let timings = threads.iter().zip(&rounds_of).map(|(&threads, rounds)| summary(threads, rounds)).collect();
    Ok((first.context("nothing was trained")?, timings))
}

/// One training run: its wall time and the processor time of each thread.
#[derive(Clone)]
struct Round {
    wall: f64,
    cpu: Vec<f64>,
}

fn summary(threads: usize, rounds: &[Round]) -> Timing {
    let wall: Vec<f64> = rounds.iter().map(|round| round.wall).collect();
    let cpu: Vec<f64> = rounds.iter().map(|round| round.cpu.iter().sum()).collect();
    let busiest = rounds.iter().map(|round| round.cpu.iter().copied().fold(0.0, f64::max));
    Timing {
        threads,
        rounds: rounds.len(),
        seconds: Elapsed { cpu: median(&cpu).unwrap_or(f64::NAN), wall: median(&wall).unwrap_or(f64::NAN) },
        busiest: busiest.fold(f64::INFINITY, f64::min),
        least_wall: wall.into_iter().fold(f64::INFINITY, f64::min),
    }
}

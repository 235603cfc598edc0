//! Whether what `homolog train` takes without options is as good as the best single set of features, and whether the error it promises comes
//! true: from 3, 5, 10 and 20 specimens of every data set, drawn at random, measured on pairs of specimens that were not drawn.
//!
//! Regret is the error of what was taken minus that of the best single set on the same test pairs; some of it is noise of the test pairs, and so
//! the regret of a choice by one half of the test pairs, measured on the other half, is reported beside it. Time is processor time of the process.

pub(crate) mod columns;
mod models;

use crate::asked::Asked;
use crate::never_worse::{Data, given_data};
use anyhow::Result;
use homolog::Control;
use homolog::graph::Graph;
use models::{Made, Test};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What `train` takes without options beside every single set of features
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// From how many specimens [default: 3, 5, 10 and 20]
    #[arg(long, value_delimiter = ',')]
    specimens: Vec<usize>,
    /// How many random draws of each number of specimens [default: 5]
    #[arg(long)]
    draws: Option<usize>,
    /// The choice stops after so many seconds [default: 60]
    #[arg(long)]
    seconds: Option<f64>,
    /// The training of a single set stops after so many seconds [default: 20]
    #[arg(long)]
    single_seconds: Option<f64>,
}

/// One draw of specimens.
#[derive(Serialize)]
struct Cell {
    data: String,
    specimens: usize,
    draw: usize,
    /// What was taken.
    chosen: String,
    /// Its error on the test pairs.
    error: f64,
    /// The best single set on the test pairs, and its error.
    best: String,
    best_error: f64,
    /// What was printed: the interval for the error on new specimens.
    interval: [f64; 2],
    /// What was measured on held-out pairs.
    held_out: f64,
    /// The error of every single set on the test pairs.
    single: BTreeMap<String, f64>,
    /// The regret of choosing by one half of the test pairs, measured on the other, both ways round.
    by_half: [f64; 2],
    /// Of the choice, in processor time.
    seconds: f64,
}

impl Cell {
    fn regret(&self) -> f64 {
        self.error - self.best_error
    }

    fn holds(&self) -> bool {
        let [low, high] = self.interval;
        (low - 1e-9..=high + 1e-9).contains(&self.error)
    }
}

/// A regret above this counts as a mistake.
const MISTAKE: f64 = 0.02;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sets = arguments.asked.sets(given_data)?;
    let (sizes, draws, tests, limits) = if arguments.asked.quick {
        (vec![3, 5, 10], 1, 20, (10.0, 1.0))
    } else {
        (vec![3, 5, 10, 20], 5, 40, (60.0, 20.0))
    };
    let sizes = if arguments.specimens.is_empty() { sizes } else { arguments.specimens.clone() };
    let limits = (arguments.seconds.unwrap_or(limits.0), arguments.single_seconds.unwrap_or(limits.1));
    println!(
        "{:20} {:>9} {:>4}  {:28} {:>6} {:>15}  {:28} {:>6} {:>7} {:>8}",
        "data", "specimens", "draw", "taken", "error", "promised", "best single set", "error", "regret", "seconds"
    );
    let (mut cells, budget) = (Vec::new(), arguments.asked.budget());
    arguments.asked.write(&cells)?;
    for &specimens in &sizes {
        for draw in 0..arguments.draws.unwrap_or(draws) {
            for data in &sets {
                if budget.is_spent() {
                    continue;
                }
                let cell = cell(data, (specimens, draw), tests, limits, &budget.control());
                let Some(cell) = budget.in_time(cell)?.flatten() else { continue };
                print(&cell);
                cells.push(cell);
                // It is long: what is done by now is kept.
                arguments.asked.write(&cells)?;
            }
        }
    }
    summary(&cells);
    Ok(())
}

/// One draw; `None` if too few specimens are left to test with.
fn cell(
    data: &Data,
    (specimens, draw): (usize, usize),
    tests: usize,
    (seconds, single_seconds): (f64, f64),
    control: &Control,
) -> Result<Option<Cell>> {
    let Some((drawn, pairs)) = self::draw(data, (specimens, draw), tests) else { return Ok(None) };
    let matched = data.matched(&pairs)?;
    if matched.is_empty() {
        return Ok(None);
    }
    let test = Test::new(matched)?;
    let chosen = Made::new("auto", &drawn, seconds, control)?;
    let losses = test.losses(&chosen, control)?;
    let mut single = BTreeMap::new();
    for name in models::single(&drawn) {
        // A set whose description takes longer than the limit has no answer.
        let Some(made) = Made::in_time(&name, &drawn, single_seconds, control)? else { continue };
        let losses = if made.model == chosen.model { losses.clone() } else { test.losses(&made, control)? };
        single.insert(name, losses);
    }
    let error = mean(&losses);
    let Some((best, best_error)) =
        single.iter().map(|(name, losses)| (name.clone(), mean(losses))).min_by(|a, b| a.1.total_cmp(&b.1))
    else {
        return Ok(None);
    };
    let half =
        |parity: usize, losses: &[f64]| mean(&losses.iter().copied().skip(parity).step_by(2).collect::<Vec<_>>());
    let by_half = [0, 1].map(|parity| {
        let taken = single.values().min_by(|a, b| half(parity, a).total_cmp(&half(parity, b)));
        let least = single.values().map(|own| half(1 - parity, own)).fold(f64::INFINITY, f64::min);
        taken.map_or(0.0, |taken| half(1 - parity, taken) - least)
    });
    Ok(Some(Cell {
        data: data.name.clone(),
        specimens,
        draw,
        chosen: chosen.name,
        error,
        // What was learned in more time may be better than all single sets.
        best_error,
        best,
        interval: chosen.interval.unwrap_or([0.0, 1.0]),
        held_out: chosen.held_out.unwrap_or(f64::NAN),
        single: single.iter().map(|(name, losses)| (name.clone(), mean(losses))).collect(),
        by_half,
        seconds: chosen.seconds,
    }))
}

/// Specimens to learn from, and pairs of others.
type Draw = (Vec<Arc<Graph>>, Vec<(usize, usize)>);

/// A random draw; `None` if too few are left to test with.
fn draw(data: &Data, (specimens, number): (usize, usize), tests: usize) -> Option<Draw> {
    let mut rng = ChaCha8Rng::seed_from_u64(1000 * specimens as u64 + number as u64);
    let mut order: Vec<usize> = (0..data.specimens.len()).collect();
    order.shuffle(&mut rng);
    if order.len() < specimens + 3 {
        return None;
    }
    let (drawn, left) = order.split_at(specimens);
    let drawn = drawn.iter().map(|&at| data.specimens[at].clone()).collect();
    let mut pairs: Vec<(usize, usize)> = (0..left.len()).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    pairs.shuffle(&mut rng);
    pairs.truncate(tests);
    Some((drawn, pairs.into_iter().map(|(a, b)| (left[a], left[b])).collect()))
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

fn print(cell: &Cell) {
    let [low, high] = cell.interval;
    println!(
        "{:20} {:9} {:4}  {:28} {:6.3} {:>15}  {:28} {:6.3} {:+7.3} {:8.1}",
        cell.data,
        cell.specimens,
        cell.draw,
        cell.chosen,
        cell.error,
        format!("{low:.2} to {high:.2}{}", if cell.holds() { "" } else { " !" }),
        cell.best,
        cell.best_error,
        cell.regret(),
        cell.seconds
    );
}

/// The figures that the choice is judged by.
fn summary(cells: &[Cell]) {
    let part = |name: &str, which: &dyn Fn(&&Cell) -> bool| {
        let own: Vec<&Cell> = cells.iter().filter(which).collect();
        if own.is_empty() {
            return;
        }
        let count = own.len() as f64;
        let mean = |value: &dyn Fn(&Cell) -> f64| own.iter().map(|cell| value(cell)).sum::<f64>() / count;
        let share = |is: &dyn Fn(&Cell) -> bool| own.iter().filter(|cell| is(cell)).count() as f64 / count;
        let always = own.iter().filter_map(|cell| cell.single.get("atlas").map(|error| error - cell.best_error));
        let always: Vec<f64> = always.collect();
        println!(
            "{name:16} {:4} cells: mean regret {:.4} (always the atlas {:.4}, by half of the test pairs {:.4}); above {MISTAKE} in {:.2} (by half {:.2}); interval held {:.2}",
            own.len(),
            mean(&Cell::regret),
            always.iter().sum::<f64>() / always.len().max(1) as f64,
            mean(&|cell| 0.5 * (cell.by_half[0] + cell.by_half[1])),
            share(&|cell| cell.regret() > MISTAKE),
            mean(&|cell| 0.5 * cell.by_half.iter().filter(|&&regret| regret > MISTAKE).count() as f64),
            share(&Cell::holds),
        );
    };
    println!();
    for specimens in [3, 5, 10, 20] {
        part(&format!("{specimens} specimens"), &|cell| cell.specimens == specimens);
    }
    part("10 or more", &|cell| cell.specimens >= 10);
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.data.as_str()).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    for name in names {
        part(name, &|cell| cell.data == name);
    }
    part("all", &|_| true);
}

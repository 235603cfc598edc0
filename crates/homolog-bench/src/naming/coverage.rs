//! How often the lists of names hold the true one, and how long they are: atlases of a few complete specimens name others, over many random
//! splits.

use super::sets::{Set, sets};
use crate::asked::Asked;
use crate::clock::Budget;
use anyhow::Result;
use homolog::atlas::{AtlasSettings, Search};
use homolog::experiment::{Spoiling, Truth, split};
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::model::Model;
use rayon::prelude::*;
use serde::Serialize;

/// How often lists of names hold the true one, and how long they are
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// How many specimens the atlas is learned from
    #[arg(long, value_delimiter = ',', default_value = "5,10,20")]
    specimens: Vec<usize>,
    /// How many random splits
    #[arg(long, default_value_t = 50)]
    splits: u64,
    /// The most specimens that are named in each split
    #[arg(long, default_value_t = 20)]
    tests: usize,
}

const LEVELS: [f64; 4] = [0.8, 0.9, 0.95, 0.98];

/// One number of specimens and one level.
#[derive(Serialize)]
struct Cell {
    data: String,
    specimens: usize,
    nominal: f64,
    coverage: f64,
    size: f64,
    /// What is guaranteed for specimens like the training ones, on average over the splits.
    guaranteed: f64,
    points: usize,
}

/// Sums over points.
#[derive(Clone, Copy, Default)]
struct Sums {
    points: f64,
    covered: f64,
    size: f64,
    guaranteed: f64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            points: self.points + other.points,
            covered: self.covered + other.covered,
            size: self.size + other.size,
            guaranteed: self.guaranteed + other.guaranteed,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (splits, tests) = if arguments.asked.quick { (2, 6) } else { (arguments.splits, arguments.tests) };
    let (mut cells, budget) = (Vec::new(), arguments.asked.budget());
    arguments.asked.write(&cells)?;
    println!("data           S   nominal  coverage  names per point  guaranteed   points");
    for set in sets(&arguments.asked)? {
        for &specimens in &arguments.specimens {
            if set.specimens.len() < specimens + 2 {
                eprintln!("{}: only {} complete specimens", set.name, set.specimens.len());
                continue;
            }
            if budget.is_spent() {
                continue;
            }
            let one = |seed: u64| measure(&set, specimens, tests, seed, &budget);
            let all = budget.in_time((0..splits).into_par_iter().map(one).collect::<Result<Vec<_>>>())?;
            let Some(all) = all else { continue };
            for (at, nominal) in LEVELS.into_iter().enumerate() {
                let sums = all.iter().fold(Sums::default(), |sums, own| sums.plus(own[at]));
                let share = |sum: f64| sum / sums.points.max(1.0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
                let cell = Cell {
                    data: set.name.clone(),
                    specimens,
                    nominal,
                    coverage: share(sums.covered),
                    size: share(sums.size),
                    guaranteed: share(sums.guaranteed),
                    points: sums.points as usize,
                };
                println!(
                    "{:13} {:>2}    {:.2}     {:.3}       {:>6.2}          {:.3}    {:>6}",
                    cell.data, specimens, nominal, cell.coverage, cell.size, cell.guaranteed, cell.points
                );
                cells.push(cell);
            }
            arguments.asked.write(&cells)?;
        }
    }
    let short: Vec<f64> = cells.iter().map(|cell| cell.nominal - cell.coverage).collect();
    println!(
        "Below nominal by at most {:.3}; by more than .02 in {} of {} cells",
        short.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        short.iter().filter(|short| **short > 0.02).count(),
        cells.len()
    );
    Ok(())
}

/// One split.
fn measure(set: &Set, specimens: usize, tests: usize, seed: u64, budget: &Budget) -> Result<[Sums; 4]> {
    let (training, test) = split(set.specimens.len(), specimens, tests, seed);
    let training: Vec<&Graph> = training.iter().map(|&at| &*set.specimens[at]).collect();
    let (model, _) = Model::fit_atlas(&training, &AtlasSettings::default(), &budget.control())?;
    let mut sums = [Sums::default(); 4];
    let Some(atlas) = model.atlas() else { return Ok(sums) };
    for at in test {
        budget.stop()?;
        let bare = Spoiling::default().spoil(&set.specimens[at], 0)?;
        let naming = atlas.name_with(&bare.graph, &model.weights(), Search::Quick, &mut Workspace::new())?;
        for (sums, level) in sums.iter_mut().zip(LEVELS) {
            let found = atlas.name_sets(&naming, level)?;
            for (set, truth) in found.sets.iter().zip(&bare.truth) {
                let Truth::Name(name) = truth else { continue };
                let is_covered = set.names.iter().any(|&landmark| atlas.landmarks[landmark].name == *name);
                let covered = f64::from(u8::from(is_covered));
                let own = Sums { points: 1.0, covered, size: set.len() as f64, guaranteed: found.guaranteed };
                *sums = sums.plus(own);
            }
        }
    }
    Ok(sums)
}

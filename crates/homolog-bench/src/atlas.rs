//! How long an atlas takes: to learn, and to name a specimen, with and without proof.
//!
//! Specimens are generated: random points in a square or a long box, each moved a little in every specimen. Time is processor
//! time of one thread, the median of rounds.

use crate::clock::{Stopwatch, median};
use anyhow::{Context, Result};
use homolog::atlas::{Atlas, AtlasSettings, Pose, Presence, Search};
use homolog::graph::Graph;
use homolog::matching::{Status, Workspace};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

/// Arguments of `homolog-bench atlas`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many specimens are named, and how often learning is timed.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

/// What is generated and how it is named.
struct Case {
    name: &'static str,
    dimension: usize,
    landmarks: usize,
    /// Points of a specimen beyond the landmarks.
    foreign: usize,
    pose: Pose,
    presence: Presence,
    /// How much points are moved, in sides of the box.
    noise: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let plane = Case {
        name: "50 points in the plane, as given",
        dimension: 2,
        landmarks: 50,
        foreign: 0,
        pose: Pose::AsGiven,
        presence: Presence::Complete,
        noise: 0.015,
    };
    let turned = Case { name: "50 points in the plane, turned", pose: Pose::Rotated, ..plane };
    let space = Case {
        name: "120 points in space, 97 known, turned",
        dimension: 3,
        landmarks: 97,
        foreign: 23,
        pose: Pose::Rotated,
        presence: Presence::Partial,
        noise: 0.015,
    };
    println!("made specimens                           learn 20   name     right   with proof  proven");
    for case in [plane, turned, space] {
        measure(&case, arguments.rounds)?;
    }
    Ok(())
}

fn measure(case: &Case, rounds: usize) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let side = |column: usize| if case.dimension == 3 && column == 0 { 3.0 } else { 1.0 };
    let shape =
        Array2::from_shape_fn((case.landmarks, case.dimension), |(_, p)| side(p) * random.random_range(0.0..1.0));
    let mut specimen = |foreign: usize| -> Result<Graph> {
        let mut points = Array2::from_shape_fn((case.landmarks + foreign, case.dimension), |(_, p)| {
            side(p) * random.random_range(0.0..1.0)
        });
        for ((row, p), place) in shape.indexed_iter() {
            points[[row, p]] = place + case.noise * random.random_range(-1.0..1.0);
        }
        Ok(Graph::from_points(points)?)
    };
    let names: Vec<String> = (0..case.landmarks).map(|at| format!("p{at}")).collect();
    let training = (0..20).map(|_| Ok(specimen(0)?.with_names(names.clone())?)).collect::<Result<Vec<_>>>()?;
    let training: Vec<&Graph> = training.iter().collect();
    let settings = AtlasSettings { pose: Some(case.pose), presence: Some(case.presence), ..AtlasSettings::default() };
    let mut learning = Vec::new();
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        black_box(Atlas::learn(&training, &settings)?);
        learning.push(watch.stop().cpu);
    }
    let atlas = Atlas::learn(&training, &settings)?;
    let weights = atlas.start_weights();
    let (mut quick, mut proof, mut right, mut proven) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..rounds {
        let graph = specimen(case.foreign)?;
        let mut work = Workspace::new();
        let watch = Stopwatch::start();
        let naming = atlas.name_with(&graph, &weights, Search::Quick, &mut work)?;
        quick.push(watch.stop().cpu);
        right += naming.matching.pairs().filter(|&(landmark, point)| landmark == point).count();
        let watch = Stopwatch::start();
        let naming = atlas.name_with(&graph, &weights, Search::Proof, &mut work)?;
        proof.push(watch.stop().cpu);
        proven += usize::from(naming.status == Status::Optimal);
    }
    let time = |values: &[f64]| median(values).map(|seconds| 1e3 * seconds).context("no rounds");
    println!(
        "{:38} {:>7.1} ms {:>7.1} ms {:>6.3} {:>8.1} ms {:>4} of {rounds}",
        case.name,
        time(&learning)?,
        time(&quick)?,
        right as f64 / (case.landmarks * rounds) as f64,
        time(&proof)?,
        proven
    );
    Ok(())
}

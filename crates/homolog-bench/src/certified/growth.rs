//! How the cost grows: relaxations and training on point sets that are rotated and jittered, of growing size.

use super::Arguments;
use super::solves::Timing;
use crate::quadratic::problems::{Kind, Scores, make};
use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::evaluate;
use homolog::loss::Hamming;
use homolog::matching::{Exact, LpRelaxation, WarmStart, Workspace};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Instant;

/// Problems of each kind and size.
const PROBLEMS: u64 = 5;
/// Scores change by this fraction between the solve that a warm start comes from and the one that is timed.
const CHANGE: f64 = 0.05;
/// Frames of a sequence to learn from: five pairs to train on.
const FRAMES: usize = 16;
/// The frames are turned by up to this many radians and every coordinate is moved by up to this much; there is one point per unit
/// of area.
const TURN: f64 = 0.3;
const JITTER: f64 = 0.08;

pub(super) fn report(arguments: &Arguments) -> Result<()> {
    println!("## Point sets, rotated and jittered: relaxations to within 1 %, median and most, one thread\n");
    println!("| scores | n | left edges × right edges | from scratch | warm | within 1 % |");
    println!("| :----- | -: | ----------------------: | -----------: | ---: | ---------: |");
    for kind in Kind::ALL {
        for &size in &arguments.sizes {
            relaxations(kind, size)?;
        }
    }
    println!(
        "\n## Point sets: training on five pairs to a gap of {} at λ = 0.1, {} threads\n",
        arguments.gap,
        rayon::current_num_threads()
    );
    println!(
        "| n | objective | proven above | training loss at most | tight in training | test loss | proven at the root | evaluations | wall | processor |"
    );
    println!(
        "| -: | -------: | -----------: | --------------------: | ----------------: | --------: | -----------------: | ----------: | ---: | --------: |"
    );
    for &size in &arguments.sizes {
        training(arguments, size)?;
    }
    println!();
    Ok(())
}

fn relaxations(kind: Kind, size: usize) -> Result<()> {
    let (mut cold, mut warm, mut entries) = (Timing::default(), Timing::default(), 0);
    for number in 0..PROBLEMS {
        let Scores::Table(problem) = make(kind, size, number)?.scores else { continue };
        let edge = problem.edge.as_ref();
        entries += edge.map_or(0, |edge| edge.left_edges().len() / 2 * edge.right_edges().len());
        let solver = LpRelaxation { gap: 0.01, max_iterations: 5_000, ..LpRelaxation::default() };
        cold.add(&solver, &problem, &WarmStart::default())?;
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let mut before = problem.clone();
        before.node.mapv_inplace(|score| score * (1.0 + CHANGE * rng.random_range(-1.0..1.0)));
        let mut start = WarmStart::default();
        solver.solve_from(&before, &mut start, &mut Workspace::new())?;
        warm.add(&solver, &problem, &start)?;
    }
    let close = 100 * cold.close / (cold.seconds.len() * 5);
    println!(
        "| {} | {size} | {} | {} | {} | {close} % |",
        kind.name(),
        entries / usize::try_from(PROBLEMS)?,
        cold.cell(),
        warm.cell()
    );
    Ok(())
}

fn training(arguments: &Arguments, size: usize) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(size as u64);
    let side = (size as f64).sqrt();
    let points = Array2::from_shape_simple_fn((size, 2), || side * rng.random::<f64>());
    let mut frames = Vec::new();
    for _ in 0..FRAMES {
        let (sin, cos) = (TURN * rng.random_range(-1.0..1.0_f64)).sin_cos();
        let turned = points.dot(&ndarray::array![[cos, sin], [-sin, cos]]);
        let frame = turned.mapv(|x| x + JITTER * rng.random_range(-1.0..1.0));
        frames.push(Arc::new(Graph::from_points(frame)?));
    }
    let sequence = Sequence::new(FeatureMap::paper_quadratic(), frames)?;
    let [train, test] = [Split::Train, Split::Test].map(|split| sequence.examples(1, split, &Hamming::default()));
    let (train, test) = (train?, test?);
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let steps = arguments.steps;
    let control = Control::new().observed_by(move |step| {
        let seconds = cpu.elapsed().as_secs_f64();
        match (step.bound, step.value) {
            _ if !steps => {}
            (Some(bound), Some(value)) => {
                eprintln!("{size} nodes, {}: {bound:.6} to {value:.6}, {seconds:.1} s", step.done);
            }
            _ => eprintln!("{size} nodes, {} {}, {seconds:.1} s", step.stage, step.done),
        }
    });
    let fit = arguments.learner(0.1).fit(&train, &Exact::default(), &control)?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let root = Exact { max_branches: 1, ..Exact::default() };
    let tested = evaluate(&test, &root, &fit.minimum.weights, &Control::new())?;
    println!(
        "| {size} | {:.5} | {:.5} | {:.5} | {} of {} | {:.3} | {} of {} | {} | {wall:.1} s | {cpu:.1} s |",
        fit.minimum.objective,
        fit.minimum.bound,
        fit.minimum.risk,
        fit.relaxed.and_then(|proof| proof.tight).unwrap_or(0),
        train.len(),
        tested.mean(),
        tested.proven,
        test.len(),
        fit.minimum.history.len()
    );
    Ok(())
}

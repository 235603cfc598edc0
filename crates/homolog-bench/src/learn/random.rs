//! Random problems of 30 nodes with 60 attributes each, with any number of pairs.
//!
//! A left node has 60 numbers from N(0, 1). Its true partner has the same numbers plus noise N(0, s_r²) with s_r = 2 in the first
//! twenty coordinates and 4 in the next; the last twenty are drawn afresh, so they carry no information. The feature of coordinate
//! r is the library's default, -(a_r - b_r)² / 30; right nodes are shuffled before every solve.

use super::measure::{Outcome, Timing, fit, time};
use crate::linear::duration;
use anyhow::Result;
use homolog::Control;
use homolog::features::{Comparison, Descriptor, FeatureMap, NodeAttributes, NodeFeature};
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{Example, MaxMargin, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{Linear, Matching};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::sync::Arc;

const NODES: usize = 30;
const FEATURES: usize = 60;

/// One number of pairs.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pairs: usize,
    outcome: Outcome,
    unlearned_loss: f64,
    training_loss: f64,
    /// On as many new pairs, at least 100.
    test_loss: f64,
    timings: Vec<Timing>,
    /// Time on one thread divided by time on two, in the least disturbed rounds: wall time, and processor time of the
    /// busiest thread.
    wall_gain: f64,
    busiest_gain: f64,
}

/// How many pairs.
pub(crate) const SIZES: [usize; 3] = [20, 100, 500];

pub(crate) fn run(sizes: &[usize], lambda: Option<f64>, rounds: usize) -> Result<Vec<Row>> {
    println!("### Random problems, {NODES} × {NODES} nodes, {FEATURES} features\n");
    println!(
        "| pairs | λ | evaluations | loss unlearned / training / test | processor time | least wall, 1 thread | 2 threads | gain | least busiest thread of 2 | gain |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for &pairs in sizes {
        let training = examples(pairs, 1)?;
        let grid = MaxMargin::default().lambdas(&training, &Linear::default(), &Control::new())?;
        let lambdas =
            lambda.map_or_else(|| vec![grid[grid.len() / 2], grid[grid.len() / 2 + 1]], |lambda| vec![lambda]);
        for lambda in lambdas {
            let row = measure(&training, lambda, rounds)?;
            println!("{}", row.line());
            rows.push(row);
        }
    }
    println!();
    Ok(rows)
}

impl Row {
    fn line(&self) -> String {
        let [one, two] = [&self.timings[0], &self.timings[1]];
        format!(
            "| {} | {:.0e} | {} | {:.3} / {:.3} / {:.3} | {} | {} | {} | {:.2} | {} | {:.2} |",
            self.pairs,
            self.outcome.lambda,
            self.outcome.evaluations,
            self.unlearned_loss,
            self.training_loss,
            self.test_loss,
            duration(one.seconds.cpu),
            duration(one.least_wall),
            duration(two.least_wall),
            self.wall_gain,
            duration(two.busiest),
            self.busiest_gain
        )
    }
}

fn measure(training: &[Example], lambda: f64, rounds: usize) -> Result<Row> {
    let pairs = training.len();
    let test = examples(pairs.max(100), 2)?;
    let matcher = Linear::default();
    let (trained, timings) = time(&[1, 2], rounds, || fit(training, lambda))?;
    let loss = |examples: &[Example], weights: &[f64]| {
        evaluate(examples, &matcher, weights, &Control::new()).map(|all| all.mean())
    };
    Ok(Row {
        pairs,
        outcome: Outcome::of(&trained)?,
        unlearned_loss: loss(training, &[1.0; FEATURES])?,
        training_loss: loss(training, &trained.minimum.weights)?,
        test_loss: loss(&test, &trained.minimum.weights)?,
        wall_gain: timings[0].least_wall / timings[1].least_wall,
        busiest_gain: timings[0].busiest / timings[1].busiest,
        timings,
    })
}

fn examples(pairs: usize, seed: u64) -> Result<Vec<Example>> {
    let map = FeatureMap {
        node: vec![NodeFeature {
            descriptor: Descriptor::Attributes(NodeAttributes {
                columns: (0..FEATURES).map(|column| column.to_string()).collect(),
            }),
            comparison: Comparison::default(),
        }],
        ..FeatureMap::paper_linear()
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut examples = Vec::with_capacity(pairs);
    for number in 0..pairs {
        let left = Array2::from_shape_simple_fn((NODES, FEATURES), || normal(&mut rng));
        let mut right = left.clone();
        for ((_, column), value) in right.indexed_iter_mut() {
            let noise = normal(&mut rng);
            *value = match column {
                0..20 => *value + 2.0 * noise,
                20..40 => *value + 4.0 * noise,
                _ => noise,
            };
        }
        let graph = |values: Array2<f64>| Graph::new(NODES).with_node_attributes(Attributes::numbered(values)?);
        let pair = Pair::new(Arc::new(graph(left)?), Arc::new(graph(right)?));
        let [left, right] = [&pair.left, &pair.right].map(|graph| map.describe(graph).map(Arc::new));
        let instance = map.instance(&left?, &right?)?;
        examples.push(Example::new(instance, &pair, Matching::identity(NODES), &Hamming::default(), number as u64)?);
    }
    Ok(examples)
}

/// From N(0, 1), by Box and Muller's method.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random_range(0.0..1.0_f64)).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random_range(0.0..1.0_f64)).cos()
}

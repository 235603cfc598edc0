//! Thousands of points matched by linear assignment, with and without a table of all pairs.
//!
//! `features`: 60 normal numbers per node, the right ones with an error of half their spread, renumbered. `shape`: the paper's shape
//! contexts of points in a square that are jittered and renumbered. Time is that of the whole process and of the wall clock, from described
//! graphs to the matching; describing them is separate. Peak memory is that of the process so far, so one row per run says most.

use anyhow::{Result, ensure};
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::features::{Comparison, Descriptor, FeatureMap, NodeAttributes, NodeFeature};
use homolog::graph::{Attributes, Graph};
use homolog::matching::{Linear, Matcher, Method, Restrictions, Solution, Status, Workspace};
use homolog::model::Model;
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Instant;

/// Arguments of `homolog-bench streamed`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many points on each side; may be repeated [default: 10000]
    #[arg(long)]
    size: Vec<usize>,
    /// Only this kind of data; may be repeated.
    #[arg(long)]
    kind: Vec<Kind>,
    /// Make the table of all pairs, as smaller problems do.
    #[arg(long)]
    table: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Features,
    Shape,
}

/// How many numbers a node has.
const NUMBERS: usize = 60;
/// The error of a number, in units of its spread.
const FEATURE_ERROR: f64 = 0.5;
/// The error of a coordinate; points are one per unit of area.
const JITTER: f64 = 0.07;

/// Prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sizes = if arguments.size.is_empty() { vec![10_000] } else { arguments.size.clone() };
    let kinds = if arguments.kind.is_empty() { vec![Kind::Features, Kind::Shape] } else { arguments.kind.clone() };
    println!(
        "| data     | nodes | describing | matching, processor | matching, wall | peak memory | rightly matched |"
    );
    println!(
        "| -------- | ----: | ---------: | ------------------: | -------------: | ----------: | --------------: |"
    );
    for kind in kinds {
        for &size in &sizes {
            row(kind, size, arguments.table)?;
        }
    }
    Ok(())
}

fn row(kind: Kind, size: usize, table: bool) -> Result<()> {
    let (map, left, right, truth) = data(kind, size)?;
    let weights = map.unlearned_weights();
    let model = Model::new(map, Method::Linear(Linear::default()), &weights, None)?;
    let begin = ProcessTime::now();
    let graphs = model.prepare(&[Arc::new(left), Arc::new(right)], &Control::new())?;
    let describing = begin.elapsed().as_secs_f64();
    let (begin, wall) = (ProcessTime::now(), Instant::now());
    let solution: Solution = if table {
        let problem = model.problem_of(&graphs[0], &graphs[1], &Restrictions::default(), &mut Workspace::new())?;
        Linear::default().solve(&problem)?
    } else {
        model.match_prepared(&graphs[0], &graphs[1], &Restrictions::default(), &mut Workspace::new())?.solution
    };
    let (processor, wall) = (begin.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    ensure!(solution.status == Status::Optimal, "not proven");
    let right_ones = truth.iter().enumerate().filter(|&(i, &k)| solution.matching.right_of(i) == Some(k)).count();
    let name = format!("{kind:?}").to_lowercase();
    println!(
        "| {name:8} | {size:5} | {describing:8.2} s | {processor:17.2} s | {wall:12.2} s | {:8.0} MB | {:15.3} |",
        crate::clock::peak_bytes() as f64 / 1e6,
        right_ones as f64 / size as f64
    );
    Ok(())
}

type Data = (FeatureMap, Graph, Graph, Vec<usize>);

/// A feature map, two graphs, and the right node of each left node.
fn data(kind: Kind, size: usize) -> Result<Data> {
    let mut random = ChaCha8Rng::seed_from_u64(size as u64);
    let mut truth: Vec<usize> = (0..size).collect();
    truth.shuffle(&mut random);
    let mut left_of = vec![0; size];
    truth.iter().enumerate().for_each(|(i, &k)| left_of[k] = i);
    match kind {
        Kind::Features => {
            let left = Array2::from_shape_simple_fn((size, NUMBERS), || normal(&mut random));
            let right = left.select(Axis(0), &left_of).mapv(|x| x + FEATURE_ERROR * normal(&mut random));
            let [left, right] = [left, right].map(|values| -> Result<Graph> {
                Ok(Graph::new(size).with_node_attributes(Attributes::numbered(values)?)?)
            });
            let (left, right) = (left?, right?);
            let columns = left.node_attributes().map(|own| own.names().to_vec()).unwrap_or_default();
            let descriptor = Descriptor::Attributes(NodeAttributes { columns });
            let node = vec![NodeFeature { descriptor, comparison: Comparison::default() }];
            Ok((FeatureMap { node, ..FeatureMap::paper_linear() }, left, right, truth))
        }
        Kind::Shape => {
            let side = (size as f64).sqrt();
            let left = Array2::from_shape_simple_fn((size, 2), || side * random.random::<f64>());
            let right = left.select(Axis(0), &left_of).mapv(|x| x + JITTER * normal(&mut random));
            Ok((FeatureMap::paper_linear(), Graph::from_points(left)?, Graph::from_points(right)?, truth))
        }
    }
}

/// Twelve uniform numbers add up to a variance of 1.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

//! All 660 problems of the house data, built from the landmarks and scored once for given weights, compared with the plain way: an
//! n·m·60 tensor of features per pair, multiplied by the weights.
//!
//! Both ways describe each of the 111 frames once, with the same code; the plain way then keeps what it has computed for a pair, as
//! ours keeps its instances. A third row computes the tensor at every use and keeps nothing. All ways must give the same
//! scores. Time is processor time of one thread, the median of alternating rounds; memory is the most that is allocated at once.

use crate::clock::{Stopwatch, median};
use crate::files::write_json;
use crate::house;
use anyhow::{Result, ensure};
use homolog::features::{Described, FeatureMap, Instance, NodeDescriptor, ShapeContext};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Matching};
use ndarray::{Array2, Array3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `homolog-bench features`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The house data: landmarks.csv and pairs.csv.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How often each way is timed.
    #[arg(long, default_value_t = 31)]
    rounds: usize,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The landmarks of the frames, and the pairs of frames (from 0).
struct House {
    frames: Vec<Array2<f64>>,
    pairs: Vec<[usize; 2]>,
}

#[derive(Serialize)]
struct Row {
    way: &'static str,
    seconds: f64,
    peak_bytes: u64,
}

#[derive(Serialize)]
struct Step {
    step: &'static str,
    microseconds: f64,
}

#[derive(Serialize)]
struct Report {
    pairs: usize,
    frames: usize,
    rows: Vec<Row>,
    steps: Vec<Step>,
}

/// Prints both tables.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let house = House::read(&arguments.data.clone().unwrap_or_else(house::default_directory))?;
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let weights: Vec<f64> = (0..60).map(|_| rng.random_range(0.0..1.0)).collect();
    let ways: [(&'static str, Way); 3] =
        [("homolog", homolog), ("tensor per pair, kept", tensors), ("tensor per pair, afresh", tensors_afresh)];

    let expected = homolog(&house, &weights)?;
    let mut rows = Vec::new();
    for (name, way) in ways {
        let found = way(&house, &weights)?;
        ensure!((found / expected - 1.0).abs() < 1e-12, "{name}: the scores differ: {found} and {expected}");
        let peak = allocation_counter::measure(|| {
            black_box(way(&house, &weights).ok());
        });
        rows.push(Row { way: name, seconds: 0.0, peak_bytes: peak.bytes_max });
    }
    let mut seconds = vec![Vec::new(); ways.len()];
    for _ in 0..arguments.rounds.max(1) {
        for ((_, way), seconds) in ways.iter().zip(&mut seconds) {
            let watch = Stopwatch::start();
            black_box(way(&house, &weights)?);
            seconds.push(watch.stop().cpu);
        }
    }
    println!("| {} problems of {} frames | ms | peak MB | time | memory |", house.pairs.len(), house.frames.len());
    println!("|---|---|---|---|---|");
    for (row, seconds) in rows.iter_mut().zip(&seconds) {
        row.seconds = median(seconds).unwrap_or(f64::NAN);
    }
    for row in &rows {
        println!(
            "| {} | {:.2} | {:.2} | {:.1} × | {:.1} × |",
            row.way,
            1e3 * row.seconds,
            row.peak_bytes as f64 / 1e6,
            row.seconds / rows[0].seconds,
            row.peak_bytes as f64 / rows[0].peak_bytes as f64
        );
    }
    let steps = steps(&house, arguments.rounds)?;
    println!("\n| step | µs |\n|---|---|");
    for step in &steps {
        println!("| {} | {:.2} |", step.step, step.microseconds);
    }
    let report = Report { pairs: house.pairs.len(), frames: house.frames.len(), rows, steps };
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

/// Builds all problems, keeps them, scores each once, and gives the sum of all scores.
type Way = fn(&House, &[f64]) -> Result<f64>;

fn homolog(house: &House, weights: &[f64]) -> Result<f64> {
    let (map, instances) = instances(house, FeatureMap::paper_linear())?;
    debug_assert_eq!(map.dim(), weights.len());
    let mut problem = Compatibility::linear(Array2::zeros((0, 0)));
    let mut total = 0.0;
    for instance in &instances {
        instance.compatibility_into(weights, &mut problem)?;
        total += problem.node.sum();
    }
    Ok(total)
}

fn instances(house: &House, map: FeatureMap) -> Result<(FeatureMap, Vec<Instance>)> {
    let mut described: Vec<Arc<Described>> = Vec::with_capacity(house.frames.len());
    for points in &house.frames {
        described.push(Arc::new(map.describe(&Graph::from_points(points.clone())?)?));
    }
    let instances = house.pairs.iter().map(|&[i, j]| map.instance(&described[i], &described[j]));
    let instances = instances.collect::<homolog::Result<Vec<_>>>()?;
    Ok((map, instances))
}

fn tensors(house: &House, weights: &[f64]) -> Result<f64> {
    let described = shape_contexts(house)?;
    let problems: Vec<Array3<f64>> = house.pairs.iter().map(|&[i, j]| tensor(&described[i], &described[j])).collect();
    Ok(problems.iter().map(|tensor| scores(tensor, weights).sum()).sum())
}

fn tensors_afresh(house: &House, weights: &[f64]) -> Result<f64> {
    let described = shape_contexts(house)?;
    Ok(house.pairs.iter().map(|&[i, j]| scores(&tensor(&described[i], &described[j]), weights).sum()).sum())
}

fn shape_contexts(house: &House) -> Result<Vec<Array2<f64>>> {
    let describe = |points: &Array2<f64>| ShapeContext::paper().describe(&Graph::from_points(points.clone())?);
    Ok(house.frames.iter().map(describe).collect::<homolog::Result<Vec<_>>>()?)
}

/// phi_1 for every pair of nodes: -(a_r - b_r)² / n.
fn tensor(left: &Array2<f64>, right: &Array2<f64>) -> Array3<f64> {
    let (n, m, d) = (left.nrows(), right.nrows(), left.ncols());
    let scale = -1.0 / n as f64;
    let mut phi = Vec::with_capacity(n * m * d);
    for a in left.rows() {
        for b in right.rows() {
            phi.extend(a.iter().zip(b).map(|(a, b)| scale * (a - b) * (a - b)));
        }
    }
    Array3::from_shape_vec((n, m, d), phi).unwrap_or_default()
}

/// <phi_1, w> for every pair of nodes.
fn scores(tensor: &Array3<f64>, weights: &[f64]) -> Array2<f64> {
    let weights = ndarray::ArrayView1::from(weights);
    let (n, m, _) = tensor.dim();
    Array2::from_shape_fn((n, m), |(i, k)| {
        let row = tensor.index_axis(ndarray::Axis(0), i);
        row.row(k).dot(&weights)
    })
}

/// What each of our steps takes, per graph or per pair.
fn steps(house: &House, rounds: usize) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let truth = Matching::identity(30);
    let graphs: Vec<Graph> =
        house.frames.iter().map(|points| Graph::from_points(points.clone())).collect::<homolog::Result<_>>()?;
    for (map, names) in [
        (FeatureMap::paper_linear(), ["describe a frame", "scores of a pair", "joint features of a pair"]),
        (
            FeatureMap::paper_quadratic(),
            [
                "describe a frame, with Delaunay edges",
                "scores of a pair, with edges",
                "joint features of a pair, with edges",
            ],
        ),
    ] {
        let (map, instances) = instances(house, map)?;
        let weights = map.unlearned_weights();
        let per_frame = time(rounds, graphs.len(), || {
            graphs.iter().try_for_each(|graph| map.describe(graph).map(|described| drop(black_box(described))))
        })?;
        let mut problem = Compatibility::linear(Array2::zeros((0, 0)));
        let per_scores = time(rounds, instances.len(), || {
            instances.iter().try_for_each(|instance| {
                instance.compatibility_into(&weights, &mut problem)?;
                black_box(&problem);
                Ok(())
            })
        })?;
        let mut phi = vec![0.0; map.dim()];
        let per_features = time(rounds, instances.len(), || {
            instances.iter().try_for_each(|instance| {
                phi.fill(0.0);
                instance.add_joint_features(&truth, 1.0, &mut phi)?;
                black_box(&phi);
                Ok(())
            })
        })?;
        for (step, microseconds) in names.into_iter().zip([per_frame, per_scores, per_features]) {
            steps.push(Step { step, microseconds });
        }
    }
    Ok(steps)
}

/// Microseconds for one of `count` similar items, the median over rounds.
fn time(rounds: usize, count: usize, mut all: impl FnMut() -> homolog::Result<()>) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..rounds.max(1) {
        let watch = Stopwatch::start();
        all()?;
        seconds.push(watch.stop().cpu);
    }
    Ok(1e6 * median(&seconds).unwrap_or(f64::NAN) / count as f64)
}

impl House {
    fn read(directory: &Path) -> Result<Self> {
        let frames = house::landmarks(directory)?;
        let mut pairs = Vec::new();
        for fields in house::rows(&directory.join("pairs.csv"))? {
            pairs.push([fields[2].parse::<usize>()? - 1, fields[3].parse::<usize>()? - 1]);
        }
        ensure!(pairs.iter().flatten().all(|&frame| frame < frames.len()), "a pair names a frame that is not there");
        Ok(Self { frames, pairs })
    }
}

//! The benchmark problems, rebuilt from the data.

use super::Problem;
use crate::house;
use anyhow::{Context, Result, ensure};
use homolog::data;
use homolog::features::{Difference, EdgeKind, FeatureMap, LengthUnit, Lengths};
use homolog::geometry::{Delaunay, EdgeRule};
use homolog::graph::Graph;
use ndarray::Array2;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// The landmarks of the 111 house frames.
pub(super) fn frames(data: &Path) -> Result<Vec<Array2<f64>>> {
    let frames = house::landmarks(&data.join("house"))?;
    ensure!(
        frames.len() == 111 && frames.iter().all(|frame| frame.nrows() == 30),
        "house/landmarks.csv should have 111 frames of 30 landmarks"
    );
    Ok(frames)
}

/// A random order of the 30 landmarks, the same in every run.
pub(super) fn order(seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..30).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

/// Delaunay edges scored by exp(-(difference of lengths)² / 2500), each counted once; no node scores.
pub(super) fn house_sparse(data: &Path) -> Result<Vec<Problem>> {
    let lengths = Lengths { unit: LengthUnit::Coordinates, difference: Difference::Decay { width: 50.0 } };
    let map = FeatureMap {
        node: Vec::new(),
        edge_rule: Some(EdgeRule::Delaunay(Delaunay {})),
        edge: vec![EdgeKind::Lengths(lengths)],
        ..FeatureMap::default()
    };
    let frames = frames(data)?;
    let mut problems = Vec::new();
    for (at, line) in read(&data.join("benchmarks/house_sparse.csv"))?.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let graph = |field: usize| -> Result<Graph> {
            let frame: usize = fields[field].parse()?;
            Ok(Graph::from_points(frames.get(frame - 1).context("no such frame")?.clone())?)
        };
        let left = Arc::new(map.describe(&graph(1)?)?);
        let right = Arc::new(map.describe(&graph(2)?.renumbered(&order(at as u64))?)?);
        // Our sums run over both directions of an edge, the published costs over one.
        let problem = map.instance(&left, &right)?.compatibility(&[0.5])?;
        let known = Some(-fields[3].parse::<f64>()?);
        problems.push(Problem { name: fields[0].to_owned(), problem, known });
    }
    Ok(problems)
}

/// The published `.dd` problems.
pub(super) fn dd(data: &Path) -> Result<Vec<Problem>> {
    let load = |(name, cost): (&str, f64)| -> Result<Problem> {
        let problem = data::dd::read(&read(&data.join(format!("benchmarks/dd/{name}.dd")))?)?;
        Ok(Problem { name: name.to_owned(), problem, known: Some(-cost) })
    };
    [("motor1", -94.18), ("opengm1", -170.64)].map(load).into_iter().collect()
}

/// QAPLIB problems with their limits in seconds: 12 nodes to prove, 30 nodes to come close to; or the same for all.
pub(super) fn qaplib(data: &Path, long: bool, each: Option<f64>) -> Result<Vec<(Problem, f64)>> {
    let folder = data.join("benchmarks/qaplib");
    let mut problems = Vec::new();
    for line in read(&folder.join("best_known.csv"))?.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let seconds = match fields[1].parse::<usize>()? {
            _ if each.is_some() => each.unwrap_or_default(),
            ..=12 => 60.0,
            30.. => 5.0,
            _ if long => 120.0,
            _ => continue,
        };
        let problem = data::qaplib::read(&read(&folder.join(format!("{}.dat", fields[0])))?)?;
        let known = Some(-fields[2].parse::<f64>()?);
        problems.push((Problem { name: fields[0].to_owned(), problem, known }, seconds));
    }
    Ok(problems)
}

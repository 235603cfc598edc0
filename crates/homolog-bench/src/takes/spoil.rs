//! A labelled take made as a camera system delivers it: points in no order, markers missing in stretches, ghosts.

use anyhow::{Context, Result};
use homolog::graph::Graph;
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Markers are missing for this many frames at a time.
const STRETCH: std::ops::RangeInclusive<usize> = 5..=60;
/// A ghost that stays does so for this many frames.
const STAY: std::ops::Range<usize> = 3..40;

/// A frame as delivered, and the true name of each point, empty for ghosts.
pub(super) struct Frame {
    pub(super) graph: Graph,
    pub(super) truth: Vec<String>,
}

/// Spoils a take. Half of the ghosts are elsewhere in every frame, the others stay and drift for 3 to 39 frames; all lie in the box around
/// the markers.
pub(super) fn spoil(frames: &[&Graph], missing: f64, ghosts: usize, seed: u64) -> Result<Vec<Frame>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut names: Vec<&String> = frames.iter().filter_map(|frame| frame.names()).flatten().collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    let mut gone = vec![vec![false; names.len()]; frames.len()];
    let goal = (missing * (frames.len() * names.len()) as f64).round();
    let mut count = 0.0;
    while count < goal {
        let (marker, length) = (random.random_range(0..names.len()), random.random_range(STRETCH));
        let end = random.random_range(0..frames.len() + length);
        for frame in gone.iter_mut().take(end).skip(end.saturating_sub(length)) {
            if !frame[marker] && count < goal {
                frame[marker] = true;
                count += 1.0;
            }
        }
    }
    let mut staying: Vec<(usize, [f64; 3], [f64; 3])> = vec![(0, [0.0; 3], [0.0; 3]); ghosts];
    let mut spoiled = Vec::with_capacity(frames.len());
    for (at, frame) in frames.iter().enumerate() {
        let points = frame.points().context("a frame has no points")?;
        let own = frame.names().context("a frame has no names")?;
        let mut rows: Vec<(Vec<f64>, String)> = Vec::new();
        for (row, name) in own.iter().enumerate() {
            if names.binary_search(&name).is_ok_and(|marker| !gone[at][marker]) {
                rows.push((points.row(row).to_vec(), name.clone()));
            }
        }
        let extent =
            |axis: usize, of: fn(f64, f64) -> f64, from: f64| points.column(axis).iter().copied().fold(from, of);
        let axes = 0..points.ncols();
        let low: Vec<f64> = axes.clone().map(|axis| extent(axis, f64::min, f64::INFINITY)).collect();
        let high: Vec<f64> = axes.clone().map(|axis| extent(axis, f64::max, f64::NEG_INFINITY)).collect();
        for (number, (left, place, drift)) in staying.iter_mut().enumerate() {
            if *left == 0 || number % 2 == 0 {
                *left = random.random_range(STAY);
                for axis in axes.clone() {
                    let size = high[axis] - low[axis];
                    place[axis] = low[axis] + size * random.random_range(0.0..1.0);
                    drift[axis] = 0.002 * size * random.random_range(-1.0..1.0);
                }
            } else {
                *left -= 1;
                axes.clone().for_each(|axis| place[axis] += drift[axis]);
            }
            rows.push((place[..points.ncols()].to_vec(), String::new()));
        }
        rows.shuffle(&mut random);
        let places = Array2::from_shape_fn((rows.len(), points.ncols()), |(row, axis)| rows[row].0[axis]);
        let graph = Graph::from_points(places)?.with_time(frame.time().unwrap_or(at as f64))?;
        spoiled.push(Frame { graph, truth: rows.into_iter().map(|(_, name)| name).collect() });
    }
    Ok(spoiled)
}

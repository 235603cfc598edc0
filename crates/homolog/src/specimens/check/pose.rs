//! Specimens of another size or orientation than the others: units that differ by a factor, pictures that were rotated.
//!
//! Sizes are compared as logarithms: one is odd if it is more than six deviations (by the median deviation) and a factor of 2.5 from the
//! median. Orientations are compared only if three quarters of the specimens lie within 30 degrees of a usual one: one is odd if it is
//! more than 45 degrees from there, and more than three times as far as three quarters of the others.

use super::frame::Placed;
use super::robust::{median, weighted_quantile};
use crate::atlas::angle;

const SIZE_DEVIATIONS: f64 = 6.0;
const LEAST_FACTOR: f64 = 2.5;
const ALIKE: f64 = 30.0;
const LEAST_ANGLE: f64 = 45.0;
const FURTHER: f64 = 3.0;
/// From the median deviation to the standard deviation of a normal distribution.
const DEVIATION: f64 = 1.4826;
/// At most so many specimens are tried as the usual one.
const STARTS: usize = 100;

/// By which factor each specimen is larger than usual, if that is odd.
pub(super) fn odd_sizes(placed: &[Placed]) -> Vec<Option<f64>> {
    let sizes: Vec<f64> = placed.iter().map(|placed| -placed.similarity.scale.max(f64::MIN_POSITIVE).ln()).collect();
    let middle = median(sizes.clone());
    let deviation = DEVIATION * median(sizes.iter().map(|size| (size - middle).abs()).collect());
    let most = (SIZE_DEVIATIONS * deviation).max(LEAST_FACTOR.ln());
    sizes.iter().map(|size| ((size - middle).abs() > most).then(|| (size - middle).exp())).collect()
}

/// The specimen that lies as most do, and by how many degrees each is rotated from there.
pub(super) fn orientations(placed: &[Placed]) -> (usize, Vec<f64>) {
    let from = |usual: &Placed| -> Vec<f64> {
        let turn = |one: &Placed| usual.similarity.rotation.t().dot(&one.similarity.rotation);
        placed.iter().map(|one| angle(&turn(one)).to_degrees()).collect()
    };
    let mut best: Option<(f64, usize, Vec<f64>)> = None;
    for at in (0..placed.len()).step_by(placed.len().div_ceil(STARTS).max(1)) {
        let angles = from(&placed[at]);
        let middle = median(angles.clone());
        if best.as_ref().is_none_or(|(least, ..)| middle < *least) {
            best = Some((middle, at, angles));
        }
    }
    best.map_or((0, Vec::new()), |(_, at, angles)| (at, angles))
}

/// By how many degrees each specimen is rotated, if that is odd.
pub(super) fn odd_orientations(angles: &[f64]) -> Vec<Option<f64>> {
    let most_are = weighted_quantile(angles.iter().map(|&angle| (angle, 1.0)).collect(), 0.75);
    let most = LEAST_ANGLE.max(FURTHER * most_are);
    angles.iter().map(|&angle| (most_are < ALIKE && angle > most).then_some(angle)).collect()
}

//! The points at which the risk is known, without those that are not the best for any lambda.
//!
//! J(w) = lambda/2 |w|² + R(w) is linear in lambda for a fixed w, so only the points on the lower convex hull of (|w|²/2, R(w)) can be
//! the best for any lambda; the others are forgotten.

use super::vector::dot;
use serde::{Deserialize, Serialize};

/// A point and its risk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Point {
    pub(super) weights: Vec<f64>,
    /// |w|²/2.
    pub(super) half_square: f64,
    /// An upper bound on R(w).
    pub(super) risk: f64,
}

impl Point {
    pub(super) fn new(weights: Vec<f64>, risk: f64) -> Self {
        let half_square = 0.5 * dot(&weights, &weights);
        Self { weights, half_square, risk }
    }

    pub(super) fn objective(&self, lambda: f64) -> f64 {
        lambda * self.half_square + self.risk
    }
}

/// Adds a point and keeps the hull, ordered by increasing |w| and therefore by falling risk.
pub(super) fn add(points: &mut Vec<Point>, new: Point) {
    let at = points.partition_point(|point| point.half_square < new.half_square);
    points.insert(at, new);
    let mut hull: Vec<Point> = Vec::with_capacity(points.len());
    for point in points.drain(..) {
        if hull.last().is_some_and(|last| last.risk <= point.risk) {
            continue;
        }
        while hull.last().is_some_and(|last| last.half_square == point.half_square) || is_above_chord(&hull, &point) {
            hull.pop();
        }
        hull.push(point);
    }
    *points = hull;
}

/// Whether the last point of the hull lies on or above the line from the one before it to `next`.
fn is_above_chord(hull: &[Point], next: &Point) -> bool {
    let [.., first, middle] = hull else { return false };
    let along = (middle.half_square - first.half_square) / (next.half_square - first.half_square);
    middle.risk >= first.risk + along * (next.risk - first.risk)
}

/// The best point for a lambda, the shorter on ties; `None` if there are no points.
pub(super) fn best(points: &[Point], lambda: f64) -> Option<usize> {
    let objective = |&i: &usize| points[i].objective(lambda);
    (0..points.len()).min_by(|i, j| objective(i).total_cmp(&objective(j)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn keeps_the_best_point_for_every_lambda() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut all, mut hull) = (Vec::new(), Vec::new());
        for _ in 0..60 {
            let weights = vec![f64::from(rng.random_range(0..20)) / 4.0];
            let point = Point::new(weights, f64::from(rng.random_range(0..50)) / 10.0);
            all.push(point.clone());
            add(&mut hull, point);
            for exponent in -12..12 {
                let lambda = 2.0_f64.powi(exponent);
                let kept = hull[best(&hull, lambda).unwrap()].objective(lambda);
                let wanted = all[best(&all, lambda).unwrap()].objective(lambda);
                assert!((kept - wanted).abs() < 1e-12, "{kept} is not {wanted}");
            }
        }
        assert!(hull.len() < 12, "{} points are kept", hull.len());
    }
}

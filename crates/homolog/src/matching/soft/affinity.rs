//! The problem as a symmetric table of non-negative affinities between candidate pairs, as the spectral methods and random walks
//! require. It is never formed: only its products with vectors are.
//!
//! A candidate is an allowed pair (i, k), or node i staying unmatched where it can. With gains as in `problem`,
//!
//!   M_(ik)(ik) = gain_ik - least gain of row i,    M_(ik)(jl) = ½ [d(ij, kl) + d(ji, lk)] + lift   for i ≠ j and k ≠ l,
//!
//! where lift is 0, or minus the smallest d if that is negative. Each left node takes exactly one of its candidates, so subtracting
//! a number from a row changes the scores of all matchings alike; the lift adds the same to all matchings of the same size.

use super::objective::Objective;
use super::pairs::AllPairs;
use super::problem::SoftProblem;
use super::sinkhorn::Soft;
use ndarray::{Array2, Axis};

/// The diagonal of the table, and what else its products need.
pub(super) struct Affinity {
    diagonal: Soft,
    lift: f64,
    /// 1 for allowed pairs and for left nodes that can stay unmatched, else 0.
    pub(super) candidates: Soft,
}

impl Affinity {
    pub(super) fn new(relaxed: &SoftProblem<'_>) -> Self {
        let objective = &relaxed.objective;
        let pairs = AllPairs::of(&objective.gain);
        let (mut diagonal, mut candidates) = (Soft::zeros(&pairs), Soft::zeros(&pairs));
        for (i, row) in objective.gain.rows().into_iter().enumerate() {
            let allowed = |gain: f64| gain > f64::NEG_INFINITY;
            let start = if relaxed.slack.left[i] { 0.0 } else { f64::INFINITY };
            let least = row.iter().copied().filter(|&gain| allowed(gain)).fold(start, f64::min);
            for (k, &gain) in row.iter().enumerate().filter(|&(_, &gain)| allowed(gain)) {
                diagonal.pair[[i, k]] = gain - least;
                candidates.pair[[i, k]] = 1.0;
            }
            if relaxed.slack.left[i] {
                diagonal.rest[i] = -least;
                candidates.rest[i] = 1.0;
            }
        }
        // Finite even where the smallest d is out of range.
        let lift = (-objective.edge.smallest()).clamp(0.0, f64::MAX) * objective.weight;
        Self { diagonal, lift, candidates }
    }

    /// out = M x.
    pub(super) fn product(&self, relaxed: &mut SoftProblem<'_>, x: &Soft, out: &mut Soft) {
        relaxed.objective.edge_gradient(&x.pair, &mut out.pair);
        let share = !relaxed.slack.many_to_one;
        let rows = x.pair.sum_axis(Axis(1));
        let columns = x.pair.sum_axis(Axis(0));
        let total = rows.sum();
        for ((i, k), out) in out.pair.indexed_iter_mut() {
            // The pairs with another left node and another right node; left nodes may share a right node when many-to-one.
            let others = total - rows[i] - if share { columns[k] - x.pair[[i, k]] } else { 0.0 };
            let value = 0.5 * *out + self.lift * others + self.diagonal.pair[[i, k]] * x.pair[[i, k]];
            // Rounding must not make it negative.
            *out = (value * self.candidates.pair[[i, k]]).max(0.0);
        }
        for (i, out) in out.rest.iter_mut().enumerate() {
            *out = self.diagonal.rest[i] * x.rest[i];
        }
    }
}

/// Divides a vector by its largest entry and returns that entry; leaves a zero vector alone.
pub(super) fn divide_by_largest(x: &mut Soft) -> f64 {
    let largest = x.pair.iter().chain(&x.rest).copied().fold(0.0, f64::max);
    if largest > 0.0 {
        divide(x, largest);
    }
    largest
}

/// x /= divisor, which may be so small that its inverse is out of range.
pub(super) fn divide(x: &mut Soft, divisor: f64) {
    x.pair /= divisor;
    x.rest.iter_mut().for_each(|value| *value /= divisor);
}

/// The sum of f(x_c, y_c) over all candidates.
pub(super) fn sum_over(x: &Soft, y: &Soft, f: impl Fn(f64, f64) -> f64) -> f64 {
    let pairs = |x: &Array2<f64>, y: &Array2<f64>| x.iter().zip(y).map(|(&x, &y)| f(x, y)).sum::<f64>();
    pairs(&x.pair, &y.pair) + x.rest.iter().zip(&y.rest).map(|(&x, &y)| f(x, y)).sum::<f64>()
}

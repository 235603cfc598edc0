//! Lists read row by row, and quick ways to see that [`verify`](crate::matching::verify) would find little or nothing.

use super::Sparse;
use crate::Result;
use crate::matching::problem::{ByRow, Differences, Proof};
use crate::matching::{Certificate, Matching};

/// How far the bound that a certificate proves is above the score of the matching; 0 where it is not above.
pub(super) fn excess(problem: &Sparse, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    problem.score(matching)?;
    // Values out of range prove nothing.
    if !certificate.left.iter().chain(&certificate.right).all(|value| value.is_finite()) {
        return Ok(f64::INFINITY);
    }
    Proof::new(problem, matching, certificate)?.excess()
}

impl ByRow for Sparse {
    fn sizes(&self) -> (usize, usize) {
        (self.left_count(), self.right_count())
    }

    fn row(&self, left: usize) -> impl Iterator<Item = (usize, f64)> {
        self.row(left)
    }

    fn pair_score(&self, left: usize, right: usize) -> Option<f64> {
        self.pair_score(left, right)
    }

    fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched_score(left)
    }

    fn right_unmatched_score(&self, right: usize) -> f64 {
        self.right_unmatched_score(right)
    }

    fn has_right_prices(&self) -> bool {
        self.right_unmatched.is_some()
    }
}

/// How much less the rows have than the best of each, as far as that is certain: [`excess`] with dual values of zero, or a little less. It is zero only
/// where every row has its best.
pub(super) fn given_up(problem: &Sparse, matching: &Matching, zero: &Certificate) -> Result<f64> {
    if zero.crowd.is_some() || problem.right_unmatched.is_some() {
        return excess(problem, matching, zero);
    }
    let (mut sum, chosen) = (0.0, matching.left_to_right());
    for (i, right) in chosen.iter().enumerate() {
        let floor = problem.unmatched_score(i);
        let (mut best, mut own) = (floor, if right.is_none() { floor } else { f64::NAN });
        for (k, score) in problem.row(i) {
            best = best.max(score);
            if *right == Some(k) {
                own = score;
            }
        }
        // Exact where they are equal, else off by rounding.
        sum += best - own;
    }
    // Out of range, or not a matching of the problem: by the careful way.
    if sum.is_finite() { Ok(sum * (1.0 - ROUNDING)) } else { excess(problem, matching, zero) }
}

/// The usual difference between the choices of left nodes at the certificate's right values.
pub(super) fn usual_difference(problem: &Sparse, certificate: &Certificate) -> f64 {
    let mut differences = Differences::default();
    for i in Differences::rows(problem.left_count()) {
        let gain = |(k, score)| score - problem.right_unmatched_score(k) - certificate.right[k];
        let gains: Vec<f64> = problem.row(i).map(gain).chain([problem.unmatched_score(i)]).collect();
        differences.add(gains.into_iter());
    }
    differences.usual()
}

/// Whether the excess is at most this much whatever ordinary numbers lose by rounding: then it need not be known more precisely. `false` says nothing.
pub(super) fn is_surely_within(
    tolerance: f64,
    problem: &Sparse,
    matching: &Matching,
    certificate: &Certificate,
) -> bool {
    let (m, dual) = (problem.right_count(), &certificate.right);
    if certificate.crowd.is_some() || problem.right_unmatched.is_some() || dual.len() != m {
        return false;
    }
    let (mut sum, chosen) = (0.0, matching.left_to_right());
    for (i, right) in chosen.iter().enumerate() {
        let floor = problem.unmatched_score(i);
        let (mut best, mut own) = (floor, if right.is_none() { floor } else { f64::NAN });
        let mut size = if floor.is_finite() { floor.abs() } else { 0.0 };
        for (k, score) in problem.row(i) {
            let dual = dual[k].max(0.0);
            let gain = score - dual;
            best = best.max(gain);
            size = size.max(score.abs() + dual);
            if *right == Some(k) {
                own = gain;
            }
        }
        // Both are off by half a unit in the last place, and so is their difference.
        sum += best - own + 2.0 * f64::EPSILON * size;
    }
    sum += matching.unmatched_right().map(|k| dual[k].max(0.0)).sum::<f64>();
    // Not for NaN.
    sum * (1.0 + ROUNDING) <= tolerance
}

/// More than sums of two billion numbers lose by rounding, as a part of the sum.
const ROUNDING: f64 = 1e-6;

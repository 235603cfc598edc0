//! A problem without a table read row by row, each computed when it is asked for: for scores and proofs, not for solvers.

use super::Streamed;
use crate::matching::EdgeTerm;
use crate::matching::problem::ByRow;
use crate::{Error, Result};
use ndarray::Array2;
use std::ops::Range;

impl Streamed<'_> {
    /// Writes the scores of some rows.
    pub(in crate::matching) fn write(&self, rows: Range<usize>, scores: &mut Array2<f64>) {
        (self.write_rows)(rows, scores);
    }

    fn scores_of(&self, left: usize) -> Vec<f64> {
        let mut scores = Array2::zeros((1, self.right_count));
        self.write(left..left + 1, &mut scores);
        scores.into_raw_vec_and_offset().0
    }

    /// Refuses NaN and plus infinity.
    pub(in crate::matching) fn check_scores(&self) -> Result<()> {
        let bad = |value: f64| value.is_nan() || value == f64::INFINITY;
        for row in 0..self.left_count {
            if let Some((column, value)) = self.scores_of(row).into_iter().enumerate().find(|&(_, value)| bad(value)) {
                return Err(Error::BadCell { what: "node scores", row, column, value });
            }
        }
        Ok(())
    }
}

impl ByRow for Streamed<'_> {
    fn sizes(&self) -> (usize, usize) {
        self.dim()
    }

    fn row(&self, left: usize) -> impl Iterator<Item = (usize, f64)> {
        self.scores_of(left).into_iter().enumerate().filter(|&(_, score)| score > f64::NEG_INFINITY)
    }

    fn pair_score(&self, left: usize, right: usize) -> Option<f64> {
        Some(self.scores_of(left)[right]).filter(|&score| score > f64::NEG_INFINITY)
    }

    fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched_score(left)
    }

    fn right_unmatched_score(&self, right: usize) -> f64 {
        self.right_unmatched.as_ref().map_or(0.0, |prices| prices[right])
    }

    fn has_right_prices(&self) -> bool {
        self.has_right_prices()
    }

    fn edge(&self) -> Option<&EdgeTerm> {
        self.edge()
    }
}

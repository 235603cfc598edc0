//! Column reduction (Jonker and Volgenant), for square tables in which columns differ as a whole: a column that every row wants starts
//! with a price, instead of rising to it bid by bid.
//!
//!   right_k = max_i score_ik - min_l max_i score_il >= 0
//!
//! If every column is taken in the end, any prices are valid. It costs one more pass over the table, so that a few rows are
//! examined first. With d_ik = score_ik - score_i,k+1, which no price of a row changes, and its mean d_k over the sampled rows, the share
//! Σ_k d_k² / mean_i Σ_k d_ik² is one in the number of rows if columns differ by chance alone, and 1 if rows differ in nothing else.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::core::Scores;
use super::scan::{LANES, raise};
use std::array::from_fn;

/// How many rows are examined, ...
const ROWS: usize = 8;
/// ... and how many columns of each, at most.
const MOST_COLUMNS: usize = 256;
/// The share from which on columns are reduced.
const LEAST_SHARE: f64 = 0.4;

/// Starts the right values with the prices of columns that differ as a whole.
pub(super) struct ReduceColumns<'a> {
    pub(super) problem: &'a Scores<'a>,
    /// Of the columns that are not forbidden to all rows; all zero.
    pub(super) right: &'a mut [f64],
}

impl pulp::WithSimd for ReduceColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { problem, right } = self;
        let share = share(problem, right.len());
        // Not a number if a sampled cell is forbidden.
        if share.is_nan() || share < LEAST_SHARE {
            return;
        }
        right.fill(f64::NEG_INFINITY);
        for row in 0..problem.rows {
            raise(problem.row(row), problem.sign, right);
        }
        let (least, most) = right
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &best| (best.min(least), best.max(most)));
        let is_usable = least.is_finite() && (most - least).is_finite();
        right.iter_mut().for_each(|price| *price = if is_usable { *price - least } else { 0.0 });
    }
}

/// How much of the differences between neighbouring columns is the same in all sampled rows.
#[inline(always)]
fn share(problem: &Scores<'_>, width: usize) -> f64 {
    let sampled: [&[f64]; ROWS] = from_fn(|at| problem.row(at * problem.rows / ROWS));
    let (mut common, mut all) = ([0.0; LANES], [0.0; LANES]);
    let mut start = 0;
    while start + LANES < width.min(MOST_COLUMNS) {
        let mut sum = [0.0; LANES];
        for row in sampled {
            let (here, next) = (&row[start..start + LANES], &row[start + 1..=start + LANES]);
            let difference: [f64; LANES] = from_fn(|lane| here[lane] - next[lane]);
            sum = from_fn(|lane| sum[lane] + difference[lane]);
            all = from_fn(|lane| all[lane] + difference[lane] * difference[lane]);
        }
        common = from_fn(|lane| common[lane] + sum[lane] * sum[lane]);
        start += LANES;
    }
    common.iter().sum::<f64>() / (ROWS as f64 * all.iter().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::super::buffers::LinearBuffers;
    use super::super::given::Given;
    use super::super::scan::Facts;
    use super::*;
    use crate::matching::{Compatibility, Linear, Matcher, Sense, verify};
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The right values before the first bid.
    fn reduced(scores: &Array2<f64>) -> Vec<f64> {
        let n = scores.nrows();
        let problem = Scores { rows: n, columns: n, values: scores.as_slice().unwrap(), sign: 1.0, unmatched: None };
        let mut right = vec![0.0; n];
        pulp::Arch::new().dispatch(ReduceColumns { problem: &problem, right: &mut right });
        right
    }

    #[test]
    fn short_rows_that_are_filled_up_are_reduced_too() {
        for n in 24..70 {
            let scores = Array2::from_shape_fn((n, n), |(i, k)| ((i * k) % 5 + 50 * (k % 7)) as f64);
            let mut buffers = LinearBuffers::default();
            let given = Given { node: scores.view(), sense: Sense::Maximize, prices: None, control: None };
            buffers.copy_scores(&given, 1.0, n.next_multiple_of(8));
            let columns = n.next_multiple_of(8);
            let filled = Scores { rows: n, columns, values: &buffers.scores, sign: 1.0, unmatched: None };
            buffers.cores.begin(&filled, n, &mut Facts::new(1.0));
            // Without prices to start with, the bids of n rows for the columns that all of them like best would raise these alone.
            let raised = buffers.cores.core.right.iter().filter(|&&right| right >= 50.0).count();
            assert!(2 * raised > n, "{n}: {:?}", buffers.cores.core.right);
        }
    }

    #[test]
    fn columns_that_differ_as_a_whole_are_reduced_and_the_answer_is_proven() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for n in [64, 90, 200] {
            let mut whole = |most: i32| f64::from(rng.random_range(0..most));
            let noise = Array2::from_shape_simple_fn((n, n), || whole(100));
            assert!(reduced(&noise).iter().all(|&right| right == 0.0));
            let (rows, columns): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (whole(100), whole(100))).unzip();
            let scores = Array2::from_shape_fn((n, n), |(i, k)| -noise[[i, k]] - rows[i] - columns[k]);
            let right = reduced(&scores);
            assert!(right.iter().all(|&right| right >= 0.0) && right.iter().any(|&right| right > 50.0));
            let problem = Compatibility::linear(scores);
            let answer = Linear::default().solve(&problem).unwrap();
            let bound = verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap()).unwrap();
            assert_eq!(bound, answer.score);
            // What every matching pays does not matter.
            let plain = Linear::default().solve(&Compatibility::linear(-noise)).unwrap();
            assert_eq!(plain.score - rows.iter().chain(&columns).sum::<f64>(), answer.score);
        }
    }

    #[test]
    fn a_column_without_an_allowed_cell_is_not_reduced() {
        let mut scores = Array2::from_shape_fn((64, 64), |(i, k)| (i % 3 + 50 * (k % 7)) as f64);
        assert!(reduced(&scores).contains(&300.0));
        scores.column_mut(1).fill(f64::NEG_INFINITY);
        assert!(reduced(&scores).iter().all(|&right| right == 0.0));
    }
}

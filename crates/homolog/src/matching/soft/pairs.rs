//! The pairs of nodes that a soft matching has values for: all of them, or a list. The searches are written once over [`Pairs`]; values are
//! stored row by row ([`Values`]), as a table or as a list, and everything that a table does faster than a list is a method here.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use crate::matching::Matching;
use ndarray::Array2;
use std::ops::Range;

/// One value per pair, row by row.
pub(super) trait Values: Clone {
    fn cells(&self) -> &[f64];
    fn cells_mut(&mut self) -> &mut [f64];

    /// A function of each value, called in order.
    fn mapped(&self, mut function: impl FnMut(f64) -> f64) -> Self {
        let mut values = self.clone();
        values.cells_mut().iter_mut().for_each(|value| *value = function(*value));
        values
    }
}

impl Values for Vec<f64> {
    #[inline(always)]
    fn cells(&self) -> &[f64] {
        self
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> &mut [f64] {
        self
    }
}

/// The soft searches make their tables themselves, row by row, so that there always is a slice.
impl Values for Array2<f64> {
    #[inline(always)]
    fn cells(&self) -> &[f64] {
        debug_assert!(self.is_standard_layout(), "a table is stored row by row");
        self.as_slice().unwrap_or_default()
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> &mut [f64] {
        debug_assert!(self.is_standard_layout(), "a table is stored row by row");
        self.as_slice_mut().unwrap_or_default()
    }
}

/// Pairs of a left and a right node, row by row, columns increasing.
pub(super) trait Pairs {
    type Values: Values;

    fn left_count(&self) -> usize;
    fn right_count(&self) -> usize;

    /// Zero for every pair.
    fn zeros(&self) -> Self::Values;

    /// Where the pairs of a left node are stored.
    fn of_node(&self, left: usize) -> Range<usize>;

    /// Where a pair is stored, if it is one of these.
    fn find(&self, left: usize, right: usize) -> Option<usize>;

    /// One value per right node as seen by the pairs of a left node.
    fn by_pair<'a>(&'a self, left: usize, of_right: &'a [f64]) -> impl Iterator<Item = f64> + 'a;

    /// Σ row_c of_right_k(c) over the pairs of a left node.
    fn dot(&self, left: usize, row: &[f64], of_right: &[f64]) -> f64;

    /// of_right_k(c) += factor · row_c over the pairs of a left node.
    fn add_scaled(&self, left: usize, factor: f64, row: &[f64], of_right: &mut [f64]);

    /// The left nodes of those pairs of a matching that are among these, and where the pairs are stored.
    fn of_matching<'a>(&'a self, matching: &'a Matching) -> impl Iterator<Item = (usize, usize)> + 'a {
        matching.pairs().filter_map(|(i, k)| Some((i, self.find(i, k)?)))
    }
}

/// All pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct AllPairs {
    pub(super) left_count: usize,
    pub(super) right_count: usize,
}

impl AllPairs {
    pub(super) fn of(table: &Array2<f64>) -> Self {
        let (left_count, right_count) = table.dim();
        Self { left_count, right_count }
    }
}

impl Pairs for AllPairs {
    type Values = Array2<f64>;

    #[inline(always)]
    fn left_count(&self) -> usize {
        self.left_count
    }

    #[inline(always)]
    fn right_count(&self) -> usize {
        self.right_count
    }

    fn zeros(&self) -> Array2<f64> {
        Array2::zeros((self.left_count, self.right_count))
    }

    #[inline(always)]
    fn of_node(&self, left: usize) -> Range<usize> {
        left * self.right_count..(left + 1) * self.right_count
    }

    #[inline(always)]
    fn find(&self, left: usize, right: usize) -> Option<usize> {
        Some(left * self.right_count + right)
    }

    #[inline(always)]
    fn by_pair<'a>(&'a self, _: usize, of_right: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        of_right.iter().copied()
    }

    #[inline(always)]
    fn dot(&self, _: usize, row: &[f64], of_right: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let (a, b) = (row.chunks_exact(LANES), of_right.chunks_exact(LANES));
        let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in a.zip(b) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
    }

    #[inline(always)]
    fn add_scaled(&self, _: usize, factor: f64, row: &[f64], of_right: &mut [f64]) {
        for (sum, &value) in of_right.iter_mut().zip(row) {
            *sum += factor * value;
        }
    }
}

/// Running results side by side, which the compiler can keep in vector registers.
pub(super) const LANES: usize = 4;

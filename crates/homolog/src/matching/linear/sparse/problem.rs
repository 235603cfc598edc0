//! [`Sparse`]: a linear problem as a list of the allowed pairs. Memory is linear in their number; no table of n m cells exists.
//!
//!   maximise  Σ_ik score_ik y_ik  +  Σ_(i unmatched) unmatched_i  +  Σ_(k unmatched) right_unmatched_k
//!
//! over one-to-one matchings y of the listed pairs. What is feasible is as in [`Compatibility`]: of the left nodes without a price for
//! staying unmatched, as many as possible are matched. Right nodes may always stay unmatched; their price is 0 unless given.

use crate::matching::problem::score_of;
use crate::matching::{Compatibility, Matching, Sense};
use crate::{Error, Result};
use ndarray::{Array1, Array2};

/// Scores of the allowed pairs, and prices for staying unmatched on both sides.
///
/// ```
/// use homolog::matching::{Linear, Matcher, Sense, Sparse};
/// let costs = vec![(0, 0, 3.0), (0, 1, 1.0), (1, 1, 2.0), (2, 0, 4.0), (2, 2, 9.0)];
/// let problem = Sparse::from_pairs(3, 3, costs, Sense::Minimize)?;
/// let solution = Linear::default().solve(&problem)?;
/// assert_eq!(solution.matching.left_to_right(), [Some(0), Some(1), Some(2)]);
/// assert_eq!(solution.score, -14.0);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// Pairs of left node i: `start[i]..start[i + 1]`.
    pub(super) start: Vec<usize>,
    /// Increasing within a row.
    pub(super) columns: Vec<u32>,
    pub(super) scores: Vec<f64>,
    pub(super) right_count: usize,
    pub(super) unmatched: Option<Vec<f64>>,
    pub(super) right_unmatched: Option<Vec<f64>>,
}

/// The most nodes on a side: their numbers have 32 bits, with one to spare.
const MOST_NODES: usize = (1 << 31) - 1;

impl Sparse {
    /// From a list of pairs (left, right, cost or score), in any order. A pair with the infinity that forbids counts as not listed.
    ///
    /// # Errors
    /// A node out of range, a pair given twice, NaN, or the infinity that would be taken at any price.
    pub fn from_pairs(
        left_count: usize,
        right_count: usize,
        mut pairs: Vec<(usize, usize, f64)>,
        sense: Sense,
    ) -> Result<Self> {
        check_count("left nodes", left_count)?;
        check_count("right nodes", right_count)?;
        for &(i, k, value) in &pairs {
            for (what, index, count) in [("left nodes", i, left_count), ("right nodes", k, right_count)] {
                if index >= count {
                    return Err(Error::OutOfRange { what, index, count });
                }
            }
            if value.is_nan() || value == -sense.forbidden() {
                return Err(Error::BadCell { what: "scores of pairs", row: i, column: k, value });
            }
        }
        if !pairs.is_sorted_by_key(|&(i, k, _)| (i, k)) {
            pairs.sort_unstable_by_key(|&(i, k, _)| (i, k));
        }
        if let Some(twice) = pairs.windows(2).find(|two| (two[0].0, two[0].1) == (two[1].0, two[1].1)) {
            let name = format!("left {}, right {}", twice[0].0, twice[0].1);
            return Err(Error::Repeated { what: "pairs", name });
        }
        let mut start = vec![0; left_count + 1];
        let (mut columns, mut scores) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for (i, k, value) in pairs.into_iter().filter(|&(.., value)| value != sense.forbidden()) {
            start[i + 1] += 1;
            columns.push(narrow(k));
            scores.push(sense.turn(value));
        }
        (0..left_count).for_each(|i| start[i + 1] += start[i]);
        Ok(Self { start, columns, scores, right_count, unmatched: None, right_unmatched: None })
    }

    /// From compressed rows: the pairs of left node i are at `start[i]..start[i + 1]` of `columns` and `values`, as in scipy's CSR
    /// matrices. The columns of a row may be in any order.
    ///
    /// # Errors
    /// As [`Self::from_pairs`]; starts that decrease, or do not end at the number of pairs.
    pub fn from_rows(
        right_count: usize,
        start: &[usize],
        columns: &[usize],
        values: &[f64],
        sense: Sense,
    ) -> Result<Self> {
        let ends = [
            ("starts of rows", 0, start.first().copied().unwrap_or(0)),
            ("end of the last row", columns.len(), start.last().copied().unwrap_or(0)),
            ("values of pairs", columns.len(), values.len()),
        ];
        for (what, expected, found) in ends {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let mut pairs = Vec::with_capacity(columns.len());
        for (row, ends) in start.windows(2).enumerate() {
            if ends[0] > ends[1] || ends[1] > columns.len() {
                return Err(Error::OutOfRange { what: "pairs of a row", index: ends[1], count: columns.len() });
            }
            let range = ends[0]..ends[1];
            pairs.extend(columns[range.clone()].iter().zip(&values[range]).map(|(&k, &value)| (row, k, value)));
        }
        Self::from_pairs(start.len().saturating_sub(1), right_count, pairs, sense)
    }

    /// From rows that are in order and finite.
    pub(in crate::matching) fn of_rows(
        right_count: usize,
        start: Vec<usize>,
        columns: Vec<u32>,
        scores: Vec<f64>,
        unmatched: Option<Vec<f64>>,
    ) -> Self {
        Self { start, columns, scores, right_count, unmatched, right_unmatched: None }
    }

    /// The same with a score for leaving each left node unmatched; minus infinity means it must be matched if it can be.
    ///
    /// # Errors
    /// The number of scores is not the number of left nodes; NaN or plus infinity.
    pub fn with_unmatched(mut self, scores: Vec<f64>) -> Result<Self> {
        check_prices("unmatched scores", &scores, self.left_count(), |score| score == f64::NEG_INFINITY)?;
        self.unmatched = Some(scores);
        Ok(self)
    }

    /// The same with a score for leaving each right node unmatched.
    ///
    /// # Errors
    /// The number of scores is not the number of right nodes; a score that is not finite.
    pub fn with_right_unmatched(mut self, scores: Vec<f64>) -> Result<Self> {
        check_prices("unmatched scores of right nodes", &scores, self.right_count, |_| false)?;
        self.right_unmatched = Some(scores);
        Ok(self)
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.start.len() - 1
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.right_count
    }

    /// How many pairs are allowed.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.columns.len()
    }

    /// The right nodes that a left node may go to, in order, with the scores.
    pub fn row(&self, left: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[left]..self.start[left + 1];
        self.columns[range.clone()].iter().zip(&self.scores[range]).map(|(&k, &score)| (k as usize, score))
    }

    /// The score of a pair, if it is allowed.
    #[must_use]
    pub fn pair_score(&self, left: usize, right: usize) -> Option<f64> {
        let range = *self.start.get(left)?..*self.start.get(left + 1)?;
        let found = self.columns[range.clone()].binary_search(&u32::try_from(right).ok()?).ok()?;
        Some(self.scores[range.start + found])
    }

    /// The score of leaving a left node unmatched: minus infinity where it must be matched.
    #[must_use]
    pub fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched.as_ref().map_or(f64::NEG_INFINITY, |scores| scores[left])
    }

    /// The score of leaving a right node unmatched.
    #[must_use]
    pub fn right_unmatched_score(&self, right: usize) -> f64 {
        self.right_unmatched.as_ref().map_or(0.0, |scores| scores[right])
    }

    /// The total score of a matching.
    ///
    /// # Errors
    /// The matching has other sizes, or uses a pair that is not allowed.
    pub fn score(&self, matching: &Matching) -> Result<f64> {
        score_of(self, matching)
    }

    /// The same problem as a table.
    #[must_use]
    pub fn to_dense(&self) -> Compatibility {
        let mut node = Array2::from_elem((self.left_count(), self.right_count), f64::NEG_INFINITY);
        for i in 0..self.left_count() {
            for (k, score) in self.row(i) {
                node[[i, k]] = score;
            }
        }
        let [unmatched, right_unmatched] =
            [&self.unmatched, &self.right_unmatched].map(|prices| prices.clone().map(Array1::from_vec));
        Compatibility { unmatched, right_unmatched, ..Compatibility::linear(node) }
    }
}

fn check_count(what: &'static str, count: usize) -> Result<()> {
    if count > MOST_NODES { Err(Error::TooLarge { what, limit: MOST_NODES, found: count }) } else { Ok(()) }
}

fn check_prices(what: &'static str, scores: &[f64], expected: usize, allowed: impl Fn(f64) -> bool) -> Result<()> {
    if scores.len() != expected {
        return Err(Error::Size { what, expected, found: scores.len() });
    }
    match scores.iter().enumerate().find(|&(_, &score)| !score.is_finite() && !allowed(score)) {
        Some((index, &value)) => Err(Error::BadEntry { what, index, value }),
        None => Ok(()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be below 2^31")]
pub(in crate::matching::linear) fn narrow(index: usize) -> u32 {
    index as u32
}

//! A problem in place in the caller's memory: costs or scores, in any memory order, checked.

use super::few::ORDINARY;
use super::scan::Facts;
use crate::matching::Sense;
use crate::{Control, Error, Result};
use ndarray::{ArrayView1, ArrayView2};

/// A one-to-one problem in place in the caller's memory.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) node: ArrayView2<'a, f64>,
    pub(super) sense: Sense,
    /// Scores for staying unmatched.
    pub(super) prices: Option<ArrayView1<'a, f64>>,
    pub(super) control: Option<&'a Control>,
}

impl Given<'_> {
    pub(super) fn sign(&self) -> f64 {
        match self.sense {
            Sense::Minimize => -1.0,
            Sense::Maximize => 1.0,
        }
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.control.is_some_and(Control::interrupted)
    }

    /// Refuses NaN and the infinity that would be taken at any price, saying where it is.
    pub(super) fn check(&self) -> Result<()> {
        let unwanted = 0.0 - self.sense.forbidden();
        let bad = |value: f64| value.is_nan() || value == unwanted;
        let what = match self.sense {
            Sense::Minimize => "costs",
            Sense::Maximize => "node scores",
        };
        match self.node.indexed_iter().find(|&(_, &value)| bad(value)) {
            Some(((row, column), &value)) => Err(Error::BadCell { what, row, column, value }),
            None => Ok(()),
        }
    }

    /// A power of two by which to multiply the scores; an error if one of them has no meaning.
    pub(super) fn checked_scale(&self, facts: &Facts) -> Result<f64> {
        let finite = |scores: &mut dyn Iterator<Item = &f64>| {
            scores.filter(|score| score.is_finite()).fold(0.0, |largest: f64, score| largest.max(score.abs()))
        };
        let prices = finite(&mut self.prices.iter().flatten());
        if facts.is_ordinary() && (prices == 0.0 || ORDINARY.contains(&prices)) {
            return Ok(1.0);
        }
        self.check()?;
        let largest = finite(&mut self.node.iter()).max(prices);
        if largest > MOST_SUMMED {
            self.check_sums()?;
        }
        Ok(safe_scale(largest))
    }

    /// Whether some score is not the same after it was multiplied by a power of two and back.
    pub(super) fn loses_by(&self, scale: f64) -> bool {
        let changes = |score: &f64| score.is_finite() && score * scale / scale != *score;
        scale < 1.0 && (self.node.iter().any(changes) || self.prices.iter().flatten().any(changes))
    }

    /// Whether every matching's score is in range, with room for differences.
    fn check_sums(&self) -> Result<()> {
        let most = |most: f64, &value: &f64| if value.is_finite() { most.max(value.abs()) } else { most };
        let price = |i: usize| self.prices.map_or(f64::NEG_INFINITY, |prices| prices[i]);
        let rows = self.node.rows().into_iter().enumerate();
        let rows: Vec<f64> = rows.map(|(i, row)| row.iter().fold(most(0.0, &price(i)), most)).collect();
        if (4.0 * rows.iter().sum::<f64>()).is_finite() {
            return Ok(());
        }
        Err(Error::Overflow { what: "node scores", largest: rows.iter().copied().fold(0.0, f64::max) })
    }
}

/// What a score may lose when it is multiplied by a power of two so small that it falls under the smallest number there is, and back.
pub(super) fn lost_by(scale: f64) -> f64 {
    f64::from_bits(1) / scale
}

/// Sums of scores up to this size are in range, however many there are.
const MOST_SUMMED: f64 = 1e290;

/// A power of two that brings scores of this largest magnitude to where sums neither overflow nor lose bits to denormals; 1 for
/// all ordinary scores.
pub(super) fn safe_scale(largest: f64) -> f64 {
    // Room at the top for sums of 2^60 terms; below 2^-900 differences may fall under the smallest normal number, 2^-1022.
    if largest > 2.0_f64.powi(960) {
        2.0_f64.powi(-128)
    } else if largest > 0.0 && largest < 2.0_f64.powi(-900) {
        2.0_f64.powi(512)
    } else {
        1.0
    }
}

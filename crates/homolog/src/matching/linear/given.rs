//! A problem where it stands in the caller's memory: costs or scores, in any order of memory, checked.

use super::scan::Facts;
use crate::matching::Sense;
use crate::{Control, Error, Result};
use ndarray::{ArrayView1, ArrayView2};

/// A one-to-one problem where it stands in the caller's memory.
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

    /// Refuses NaN and the infinity that would be taken at any price, with their place.
    fn check(&self) -> Result<()> {
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

    /// What a pass over the whole matrix finds.
    pub(super) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        match self.node.as_slice_memory_order() {
            Some(scores) => facts.add(scores),
            None => self.node.iter().for_each(|&score| facts.add(&[score])),
        }
        facts
    }

    /// A power of two by which scores are to be multiplied; an error if one of them has no meaning.
    pub(super) fn checked_scale(&self, facts: &Facts) -> Result<f64> {
        Ok(safe_scale(self.checked_magnitude(facts)?))
    }

    /// The largest magnitude of all scores, prices included; an error if there is a NaN or plus infinity.
    fn checked_magnitude(&self, facts: &Facts) -> Result<f64> {
        let finite = |scores: &mut dyn Iterator<Item = &f64>| {
            scores.filter(|score| score.is_finite()).fold(0.0, |largest: f64, score| largest.max(score.abs()))
        };
        let prices = finite(&mut self.prices.iter().flatten());
        if facts.is_odd() {
            self.check()?;
            return Ok(finite(&mut self.node.iter()).max(prices));
        }
        Ok(facts.largest().max(prices))
    }
}

/// A power of two that brings scores of this largest magnitude to where sums neither overflow nor lose bits to denormals; 1 for
/// all ordinary scores.
fn safe_scale(largest: f64) -> f64 {
    // Room at the top for sums of 2^60 terms; below 2^-900 differences may fall under the smallest normal number, 2^-1022.
    if largest > 2.0_f64.powi(960) {
        2.0_f64.powi(-128)
    } else if largest > 0.0 && largest < 2.0_f64.powi(-900) {
        2.0_f64.powi(512)
    } else {
        1.0
    }
}

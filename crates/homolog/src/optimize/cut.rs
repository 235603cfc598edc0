//! A [`Cut`]: one plane of the model, or one constraint on the weights.

use super::vector::{dot, length, products};
use serde::{Deserialize, Serialize};

/// b + v·w, a lower bound on one part of the risk, or on zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cut {
    pub(super) slope: Vec<f64>,
    pub(super) offset: f64,
    /// |slope|.
    pub(super) length: f64,
    /// `None` for the constraint b + v·w <= 0.
    pub(super) part: Option<usize>,
    /// How many solves ago its x was last above zero.
    pub(super) idle: usize,
    /// Never dropped.
    pub(super) lasting: bool,
}

impl Cut {
    pub(super) fn new(slope: Vec<f64>, offset: f64, part: Option<usize>) -> Self {
        let length = length(&slope);
        Self { slope, offset, length, part, idle: 0, lasting: false }
    }

    pub(super) fn value(&self, weights: &[f64]) -> f64 {
        self.offset + dot(&self.slope, weights)
    }
}

/// The values of some cuts.
pub(super) fn values(cuts: &[Cut], some: &[usize], weights: &[f64]) -> Vec<f64> {
    let slopes: Vec<&[f64]> = some.iter().map(|&i| cuts[i].slope.as_slice()).collect();
    let mut values = products(&slopes, weights);
    values.iter_mut().zip(some).for_each(|(value, &i)| *value += cuts[i].offset);
    values
}

//! [`WeightRule`]: weights that are free, held at a value, or kept from being negative.

use serde::{Deserialize, Serialize};

/// What a weight may be.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    /// Anything.
    #[default]
    Free,
    /// Zero or more.
    NonNegative,
    /// This value and no other.
    Fixed(f64),
}

impl WeightRule {
    pub(super) fn apply(self, weight: f64) -> f64 {
        match self {
            Self::Free => weight,
            Self::NonNegative => weight.max(0.0),
            Self::Fixed(value) => value,
        }
    }
}

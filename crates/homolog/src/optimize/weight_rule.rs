//! [`WeightRule`]: weights that are free, fixed at a value, or bounded below.

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
    /// At least this.
    AtLeast(f64),
    /// Exactly this.
    Fixed(f64),
}

impl WeightRule {
    /// The smallest value it may have.
    pub(super) fn least(self) -> Option<f64> {
        match self {
            Self::NonNegative => Some(0.0),
            Self::AtLeast(least) => Some(least),
            Self::Free | Self::Fixed(_) => None,
        }
    }

    /// The same rule for the weight minus `centre`.
    pub(super) fn moved(self, centre: f64) -> Self {
        match self {
            Self::Free => Self::Free,
            Self::NonNegative => Self::AtLeast(-centre),
            Self::AtLeast(least) => Self::AtLeast(least - centre),
            Self::Fixed(value) => Self::Fixed(value - centre),
        }
    }

    /// The nearest allowed weight.
    #[must_use]
    pub fn apply(self, weight: f64) -> f64 {
        match self {
            Self::Free => weight,
            Self::NonNegative => weight.max(0.0),
            Self::AtLeast(least) => weight.max(least),
            Self::Fixed(value) => value,
        }
    }
}

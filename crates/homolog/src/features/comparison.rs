//! [`Comparison`]: how the descriptors a of a left node and b of a right node become features phi_1.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A comparison of two descriptors of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Comparison {
    /// -(a_r - b_r)² for each coordinate r, as in the paper.
    NegativeSquare(NegativeSquare),
    /// exp(-((a_r - b_r) / width)²) for each coordinate r, as in the paper's predecessor.
    Decay(Decay),
    /// exp(-(|a - b| / width)²), a single feature: matching without learning.
    WholeDecay(WholeDecay),
    /// Σ_r a_r b_r, a single feature: for descriptors designed to be multiplied, such as the likelihoods of an atlas.
    InnerProduct(InnerProduct),
}

/// Σ_r a_r b_r.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InnerProduct {}

impl Default for Comparison {
    fn default() -> Self {
        Self::NegativeSquare(NegativeSquare::default())
    }
}

/// -(a_r - b_r)², which the paper found to learn much better than a decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NegativeSquare {
    /// Divide by the number of left nodes.
    pub per_node: bool,
}

impl Default for NegativeSquare {
    /// Divided, as in the authors' experiments.
    fn default() -> Self {
        Self { per_node: true }
    }
}

/// exp(-((a_r - b_r) / width)²).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Decay {
    /// The difference at which the feature has fallen to 1/e.
    pub width: f64,
}

impl Default for Decay {
    /// The paper's exp(-|a_r - b_r|²).
    fn default() -> Self {
        Self { width: 1.0 }
    }
}

/// exp(-(|a - b| / width)²).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WholeDecay {
    /// The distance at which the feature has fallen to 1/e.
    pub width: f64,
}

impl Default for WholeDecay {
    /// The paper's exp(-|a - b|²).
    fn default() -> Self {
        Self { width: 1.0 }
    }
}

impl Comparison {
    /// All comparisons with their default settings.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::NegativeSquare(NegativeSquare::default()),
            Self::Decay(Decay::default()),
            Self::WholeDecay(WholeDecay::default()),
            Self::InnerProduct(InnerProduct::default()),
        ]
    }

    /// How many features a descriptor of this many numbers gives.
    #[must_use]
    pub fn feature_count(&self, numbers: usize) -> usize {
        match self {
            Self::NegativeSquare(_) | Self::Decay(_) => numbers,
            Self::WholeDecay(_) | Self::InnerProduct(_) => 1,
        }
    }

    /// Whether many are matrix products.
    pub(super) fn is_cheap(self) -> bool {
        matches!(self, Self::NegativeSquare(_) | Self::InnerProduct(_))
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Decay(Decay { width }) | Self::WholeDecay(WholeDecay { width }) => {
                Error::unless_positive("width", width)
            }
            _ => Ok(()),
        }
    }
}

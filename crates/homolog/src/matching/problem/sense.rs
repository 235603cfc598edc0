//! [`Sense`]: costs or scores. Everything inside is maximised; data from outside says which it is.

use serde::{Deserialize, Serialize};

/// Whether small or large totals are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// Costs.
    #[default]
    Minimize,
    /// Scores.
    Maximize,
}

impl Sense {
    /// The value that stands for a forbidden pair.
    #[must_use]
    pub fn forbidden(self) -> f64 {
        match self {
            Self::Minimize => f64::INFINITY,
            Self::Maximize => f64::NEG_INFINITY,
        }
    }

    /// Turns a score into a value in this sense, or the other way round.
    #[must_use]
    pub fn turn(self, value: f64) -> f64 {
        match self {
            // 0 - 0 is 0, where -0 would be minus zero.
            Self::Minimize => 0.0 - value,
            Self::Maximize => value,
        }
    }
}

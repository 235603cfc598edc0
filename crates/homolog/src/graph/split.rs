//! [`Split`]: what a pair is for.

use serde::{Deserialize, Serialize};

/// What a pair is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// To learn from.
    Train,
    /// To choose λ by.
    Validation,
    /// To report results on.
    Test,
}

impl Split {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Train, Self::Validation, Self::Test];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }

    /// The split of the pair that starts at a frame, counted from 0.
    #[must_use]
    pub fn of_frame(frame: usize) -> Self {
        Self::ALL[frame % 3]
    }
}

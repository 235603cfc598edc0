//! How wrong a matching is, in a form that a matcher can maximise along with the score.
//!
//! A [`Loss`] turns the true matching of a pair into [`LossTerms`]: a constant and a number for every cell (i, k), with
//!
//!   loss(y) = constant + Σ_(i matched to k in y) cells_ik
//!
//! so the search for the most violated constraint, max_y loss(y) + score(y), is the same problem with the cells added to the
//! node scores. The constant is the loss of the empty matching: each cell is how much choosing it changes the loss.
//!
//! A left node that has no partner in the truth has **no label**: nothing is known about it and it contributes nothing, whatever it is
//! matched to ([`Hamming`] has a setting for truths in which "no partner" is information).

mod endpoint;
mod hamming;

pub use endpoint::Endpoint;
pub use hamming::Hamming;

use crate::graph::Pair;
use crate::matching::Matching;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A measure of how far a matching is from the truth.
pub trait Loss: Send + Sync {
    /// The loss of every matching of this pair, given the true one.
    ///
    /// # Errors
    /// The sizes of the truth and the pair differ; something the loss needs from the graphs is missing; a setting is out of range.
    fn terms(&self, pair: &Pair, truth: &Matching) -> Result<LossTerms>;
}

/// loss(y) = constant + the sum of the cells that y uses.
#[derive(Debug, Clone, PartialEq)]
pub struct LossTerms {
    /// The loss of the empty matching.
    pub constant: f64,
    /// What matching left node i to right node k adds.
    pub cells: Array2<f64>,
}

impl LossTerms {
    /// The loss of a matching.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn loss(&self, matching: &Matching) -> Result<f64> {
        check_sizes(self.cells.dim(), matching)?;
        Ok(self.constant + matching.pairs().map(|pair| self.cells[pair]).sum::<f64>())
    }
}

/// Every loss, by name, with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossKind {
    /// Fraction of labelled nodes that are wrong.
    Hamming(Hamming),
    /// Mean distance between the chosen and the true point.
    Endpoint(Endpoint),
}

impl Default for LossKind {
    /// The paper's first loss.
    fn default() -> Self {
        Self::Hamming(Hamming::default())
    }
}

impl LossKind {
    /// All losses with their default settings.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![Self::Hamming(Hamming::default()), Self::Endpoint(Endpoint::default())]
    }

    /// The name in settings files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hamming(_) => "hamming",
            Self::Endpoint(_) => "endpoint",
        }
    }

    /// The loss.
    #[must_use]
    pub fn loss(&self) -> &dyn Loss {
        match self {
            Self::Hamming(loss) => loss,
            Self::Endpoint(loss) => loss,
        }
    }
}

/// Refuses a matching between different numbers of nodes.
fn check_sizes((left, right): (usize, usize), matching: &Matching) -> Result<()> {
    let sizes = [
        ("left nodes of the matching", left, matching.left_count()),
        ("right nodes of the matching", right, matching.right_count()),
    ];
    for (what, expected, found) in sizes {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    Ok(())
}

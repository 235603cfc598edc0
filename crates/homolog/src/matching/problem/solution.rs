//! What solvers answer: [`Solution`], its [`Status`], and the [`Certificate`] of a linear one.

use super::Matching;
use serde::{Deserialize, Serialize};

/// What a solver found and what it proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Solution {
    /// The matching.
    pub matching: Matching,
    /// Its total score.
    pub score: f64,
    /// No feasible matching scores more than this; plus infinity where the solver proves nothing.
    pub bound: f64,
    /// Whether the matching is proven optimal.
    pub status: Status,
    /// How many steps it took; what a step is depends on the solver.
    pub iterations: usize,
    /// Dual values that prove a linear answer optimal (see [`verify`](super::verify)); `None` from other solvers.
    pub certificate: Option<Certificate>,
    /// Why fewer left nodes are matched than there could be without forbidden pairs; `None` if that is not the case.
    pub shortage: Option<Shortage>,
    /// How much another matching may score more although the status is `Optimal`, if no certificate shows it; 0 if that is negligible.
    #[serde(skip)]
    pub(crate) allowed: f64,
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// Proven: no feasible matching scores more, and bound and score agree.
    ///
    /// Precisely: no feasible matching's score, added up without rounding, exceeds this one's by more than a tolerance τ. To find τ,
    /// subtract from all scores of a left node (its price of staying unmatched included) the largest of them, which changes no
    /// comparison of matchings; where left nodes compete for too few right nodes, the same with the right nodes they fill. Then
    ///
    /// * linear assignment: τ = 1e-9 · the sum of what the answer's scores now fall short of 0, which is 0 if every left node has its best;
    ///   and if scores or dual values are of very different sizes, or so large that rounding hides most differences, no more than 1e-12 · n · q
    ///   for n left nodes and the usual difference q between their choices (the lower quartile, of up to 16 nodes the least, dual values subtracted).
    /// * [`Exact`](crate::matching::Exact): τ = 1e-12 · the largest of: what the answer now scores; an edge score or a node score that
    ///   a best matching could still use. If all scores are whole numbers, there is nothing better at all; otherwise τ is below a tenth of
    ///   the usual difference between scores and of what nearly every exchange of partners changes the score by, as far as a score can show
    ///   it; and with up to 7 left and 8 right nodes below a thousandth of the least difference. If it is not, all matchings are tried if
    ///   there are few, and if there are many the status is [`Status::Converged`].
    /// * [`BruteForce`](crate::matching::BruteForce): the rounding of the scores it adds up.
    ///
    /// With prices of right nodes, "node scores" means the scores minus the right node's price, rounded, which may hide as much again. If
    /// rounding could hide more, the status is not `Optimal`. Scores so large that sums overflow are refused as [`Error::Overflow`](crate::Error::Overflow).
    Optimal,
    /// Ran to completion, which for this solver is not a proof.
    Converged,
    /// Stopped by a limit or by the caller; matching and bound are still valid.
    Limit,
}

/// Dual values of a linear problem: left_i + right_k >= node_ik wherever the pair counts, with equality on matched pairs.
/// [`verify`](super::verify) gives the exact conditions and says why they prove the answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// One value per left node.
    pub left: Vec<f64>,
    /// One value per right node.
    pub right: Vec<f64>,
    /// If not every left node can be matched: the left nodes that compete, and every right node they may go to.
    pub crowd: Option<Shortage>,
}

/// Left nodes that together may go to fewer right nodes than there are of them (Hall's condition fails).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Shortage {
    /// The left nodes, in order.
    pub left: Vec<usize>,
    /// Every right node that any of them may go to, in order.
    pub right: Vec<usize>,
}

impl Certificate {
    /// Dual values, and the crowd if there is one.
    #[must_use]
    pub fn new(left: Vec<f64>, right: Vec<f64>, crowd: Option<Shortage>) -> Self {
        Self { left, right, crowd }
    }
}

impl Shortage {
    /// Left nodes and the right nodes that they may go to.
    #[must_use]
    pub fn new(left: Vec<usize>, right: Vec<usize>) -> Self {
        Self { left, right }
    }
}

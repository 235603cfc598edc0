//! [`Compatibility`]: the problem every matcher solves, equation 1 of the paper.
//!
//! maximise  Σ_ik node_ik y_ik  +  Σ_(ij)(kl) d_(ij)(kl) y_ik y_jl  +  Σ_(i unmatched) unmatched_i
//!
//! over matchings y. `node_ik = -inf` forbids the pair (i, k). `unmatched_i = -inf`, or no `unmatched` at all, means that left
//! node i must be matched as far as that is possible. What is feasible then is settled by the forbidden cells alone:
//!
//! * of the left nodes that must be matched, as many as possible are (all of them, or as many as there are right nodes, or fewer
//!   where forbidden pairs leave no more); such a node that stays over contributes nothing;
//! * among those matchings the largest total score wins.
//!
//! So a rectangular problem with more left than right nodes simply leaves some left nodes over, and there is no big number
//! standing for "forbidden" anywhere.

use super::{Constraint, EdgeTerm, Matching};
use crate::{Error, Result};
use ndarray::{Array1, Array2};

/// Scores of pairs of nodes, of pairs of edges, and of staying unmatched; to be maximised.
#[derive(Debug, Clone, PartialEq)]
pub struct Compatibility {
    /// c: one row per left node, one column per right node. Minus infinity forbids the pair.
    pub node: Array2<f64>,
    /// d: scores for pairs of edges, where the problem has them.
    pub edge: Option<EdgeTerm>,
    /// Score of leaving each left node unmatched; minus infinity (or `None` for all): it must be matched if it can be.
    pub unmatched: Option<Array1<f64>>,
    /// How often a right node may be used.
    pub constraint: Constraint,
}

impl Compatibility {
    /// A linear one-to-one problem in which every left node is to be matched.
    #[must_use]
    pub fn linear(node: Array2<f64>) -> Self {
        Self { node, edge: None, unmatched: None, constraint: Constraint::OneToOne }
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.node.nrows()
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.node.ncols()
    }

    /// The score of leaving a left node unmatched: minus infinity where it must be matched.
    #[must_use]
    pub fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched.as_ref().map_or(f64::NEG_INFINITY, |scores| scores[left])
    }

    /// Refuses NaN and plus infinity, with their place, and parts whose sizes disagree.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self) -> Result<()> {
        let bad = |value: f64| value.is_nan() || value == f64::INFINITY;
        if let Some(((row, column), &value)) = self.node.indexed_iter().find(|&(_, &value)| bad(value)) {
            return Err(Error::BadCell { what: "node scores", row, column, value });
        }
        self.check_rest()
    }

    /// [`Self::check`] without the node scores, for solvers that check those while reading them.
    pub(crate) fn check_rest(&self) -> Result<()> {
        if let Some(scores) = &self.unmatched {
            if scores.len() != self.left_count() {
                return Err(Error::Size { what: "unmatched scores", expected: self.left_count(), found: scores.len() });
            }
            let bad = |value: f64| value.is_nan() || value == f64::INFINITY;
            if let Some((index, &value)) = scores.iter().enumerate().find(|&(_, &value)| bad(value)) {
                return Err(Error::BadEntry { what: "unmatched scores", index, value });
            }
        }
        if let Some(edge) = &self.edge {
            let sizes = [
                ("left nodes of the edge term", self.left_count(), edge.left_count()),
                ("right nodes of the edge term", self.right_count(), edge.right_count()),
            ];
            for (what, expected, found) in sizes {
                if expected != found {
                    return Err(Error::Size { what, expected, found });
                }
            }
        }
        Ok(())
    }

    /// The total score of a matching: node scores, then unmatched scores (nothing for a node that had to be matched), then edges.
    ///
    /// # Errors
    /// The matching has other sizes, or uses a forbidden pair.
    pub fn score(&self, matching: &Matching) -> Result<f64> {
        let sizes = [
            ("left nodes of the matching", self.left_count(), matching.left_count()),
            ("right nodes of the matching", self.right_count(), matching.right_count()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let mut total = 0.0;
        for (left, right) in matching.left_to_right().iter().enumerate() {
            let score = match *right {
                Some(right) if self.node[[left, right]] == f64::NEG_INFINITY => {
                    return Err(Error::ForbiddenPair { left, right });
                }
                Some(right) => self.node[[left, right]],
                None => self.unmatched_score(left),
            };
            if score > f64::NEG_INFINITY {
                total += score;
            }
        }
        Ok(total + self.edge.as_ref().map_or(0.0, |edge| edge.score(matching)))
    }
}

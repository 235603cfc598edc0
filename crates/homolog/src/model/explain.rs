//! Why a match is as it is: for each matched pair its own part of the score, how much the total falls if the pair is
//! forbidden (the margin), what the left node would do then (the runner-up), and which features make the difference.
//!
//! With y the match and y' the best match without the pair (i, k), both from [`margins`](crate::matching::margins):
//!
//!   margin_ik = score(y) - score(y') = Σ_f w_f (Φ_f(y) - Φ_f(y'))
//!
//! so the contributions of the features add up to the margin.

use super::prepared::Problem;
use super::{Matched, Model};
use crate::features::Instance;
use crate::graph::Pair;
use crate::matching::{Compatibility, Margin, Matching, Solution, Workspace};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use serde::Serialize;

/// A match with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The match.
    pub solution: Solution,
    /// One for each matched pair, in order of left node.
    pub matches: Vec<Reasons>,
    /// What the proof of the match is true up to, if that is not negligible ([`Solution::tolerance`]).
    pub tolerance: Option<f64>,
}

/// Why two nodes are matched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reasons {
    /// The left node.
    pub left: usize,
    /// The right node it is matched to.
    pub right: usize,
    /// This pair's own part of the total score: its node score and half of each edge score it takes part in.
    pub share: f64,
    /// What happens without the pair; `None` if no match without it has as many nodes.
    pub alternative: Option<Alternative>,
}

/// The best match without a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// The right node that the left node gets instead; `None` if it stays unmatched.
    pub right: Option<usize>,
    /// How much less the alternative scores in total.
    pub margin: f64,
    /// Whether that is exact; otherwise the margin is at most this large.
    pub proven: bool,
    /// What each feature contributes to the margin, in the order of the weights.
    pub contributions: Vec<f64>,
    /// What each left node contributes to the margin; an edge to a node that stays where it is counts for the one that stays.
    pub nodes: Vec<f64>,
}

impl Model {
    /// Matches two graphs and says why. If interrupted, the match is the best so far, and margins not yet found are bounds.
    ///
    /// # Errors
    /// As [`Self::match_pair`]; a model that names ([`Self::explain_naming`]).
    pub fn explain(&self, pair: &Pair, control: &Control) -> Result<Explanation> {
        self.match_pair(pair, &mut Workspace::with_control(control))?.explain(control)
    }

    /// Why a solution has these margins.
    pub(super) fn reasons(
        &self,
        (instance, problem): (&Instance, &Compatibility),
        solution: Solution,
        margins: &[Margin],
    ) -> Result<Explanation> {
        let features = instance.joint_features(&solution.matching)?;
        let shares = problem.shares(&solution.matching)?;
        let weights = self.weights();
        let explain = |margin: &Margin| -> Result<Reasons> {
            let other = margin.alternative(&solution.matching)?;
            let alternative = |other: Matching| -> Result<Alternative> {
                let instead = instance.joint_features(&other)?;
                let difference = weights.iter().zip(features.iter().zip(&instead));
                Ok(Alternative {
                    right: margin.runner_up,
                    margin: margin.margin,
                    proven: margin.proven,
                    contributions: difference.map(|(weight, (with, without))| weight * (with - without)).collect(),
                    nodes: decided_by(problem, &solution.matching, &other),
                })
            };
            let alternative = other.map(alternative).transpose()?;
            Ok(Reasons { left: margin.left, right: margin.right, share: shares[margin.left], alternative })
        };
        let matches = margins.par_iter().map(explain).collect::<Result<_>>()?;
        Ok(Explanation { tolerance: solution.tolerance(problem), solution, matches })
    }
}

impl Matched<'_> {
    /// Why the match is as it is. If interrupted, margins not yet found are bounds.
    ///
    /// # Errors
    /// As [`Self::margins`]; a match by names.
    pub fn explain(&self, control: &Control) -> Result<Explanation> {
        let Problem::Graphs(instance, _) = &self.problem else {
            return Err(Error::Unsupported { solver: "naming by an atlas", what: "reasons for a pair" });
        };
        let margins = self.margins(control)?;
        self.model.reasons((instance, &*self.table(control)?), self.solution.clone(), &margins)
    }
}

/// Which left nodes decide that one matching scores more than another; the parts add up to the difference. A node that goes elsewhere
/// has the difference of its own scores. An edge between it and a node that stays belongs to the one that stays: its
/// place speaks for or against the move. An edge between two nodes that both go elsewhere belongs half to each.
fn decided_by(problem: &Compatibility, matching: &Matching, other: &Matching) -> Vec<f64> {
    let moves = |i: usize| matching.right_of(i) != other.right_of(i);
    let own = |matching: &Matching, i: usize| match matching.right_of(i) {
        Some(k) => problem.node[[i, k]],
        None => problem.unmatched.as_ref().map_or(0.0, |scores| scores[i]),
    };
    let difference = |i: usize| if moves(i) { own(matching, i) - own(other, i) } else { 0.0 };
    let mut parts: Vec<f64> = (0..matching.left_count()).map(difference).collect();
    let Some(edges) = &problem.edge else { return parts };
    for (number, &[i, j]) in edges.left_edges().ends().iter().enumerate() {
        let value = |matching: &Matching| {
            let ends = matching.right_of(i).zip(matching.right_of(j));
            ends.and_then(|(k, l)| edges.right_edges().find(k, l)).map_or(0.0, |at| edges.value(number, at))
        };
        let shares = match (moves(i), moves(j)) {
            (false, false) => continue,
            (true, true) => [0.5, 0.5],
            (true, false) => [0.0, 1.0],
            (false, true) => [1.0, 0.0],
        };
        let difference = value(matching) - value(other);
        parts[i] += shares[0] * difference;
        parts[j] += shares[1] * difference;
    }
    parts
}

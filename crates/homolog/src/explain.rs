//! Why a match is as it is: for each matched pair its own part of the score, how much the total falls if the pair is
//! forbidden (the margin), what the left node would do then (the runner-up), and which features make the difference.
//!
//! With y the match and y' the best match without the pair (i, k):
//!
//!   margin_ik = score(y) - score(y') = Σ_f w_f (Φ_f(y) - Φ_f(y'))
//!
//! so the contributions of the features add up to the margin. If both are proven optimal the margin is exact; otherwise it is what
//! the solver's best gives, and is marked as such. One problem is solved for each matched pair.

use crate::features::Instance;
use crate::graph::Pair;
use crate::matching::{Compatibility, Matching, Solution, Status, Workspace};
use crate::model::Model;
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A match with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The match.
    pub solution: Solution,
    /// One for each matched pair, in order of left node.
    pub matches: Vec<Reasons>,
    /// How many matched pairs are not in that list because it was interrupted.
    pub missing: usize,
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
    /// Where the left node goes instead; `None` if it stays unmatched.
    pub right: Option<usize>,
    /// How much less the alternative scores in total.
    pub margin: f64,
    /// Whether match and alternative are proven best, which makes the margin exact.
    pub proven: bool,
    /// What each feature contributes to the margin, in the order of the weights.
    pub contributions: Vec<f64>,
    /// What each left node contributes to the margin; an edge to a node that stays where it is counts for the one that stays.
    pub nodes: Vec<f64>,
}

impl Model {
    /// [`Self::solve`], and what each left node adds to the score ([`shares`]). Large problems are solved without a table of all pairs.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_in_parts(&self, pair: &Pair, work: &mut Workspace) -> Result<(Solution, Vec<f64>)> {
        if self.atlas().is_some() {
            return self.join_by_name(pair, work);
        }
        let instance = self.instance(pair, work.control())?;
        let (solution, problem) = self.solve_instance(&instance, work)?;
        let shares = match &problem {
            Some(problem) => shares(problem, &solution.matching)?,
            None => instance.shares(&self.weights(), &solution.matching)?,
        };
        Ok((solution, shares))
    }

    /// Matches two graphs and says why. If interrupted, the match is the best so far and the reasons not yet
    /// found are missing.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn explain(&self, pair: &Pair, control: &Control) -> Result<Explanation> {
        let (instance, problem) = self.problem(pair)?;
        let solution = self.solve_shuffled(&problem, &mut Workspace::with_control(control))?;
        let without = |(left, right): (usize, usize), work: &mut Workspace| {
            let mut without = problem.clone();
            without.node[[left, right]] = f64::NEG_INFINITY;
            self.solve_shuffled(&without, work)
        };
        self.explain_solution((&instance, &problem), solution, without, control)
    }

    /// Why a solution is as it is, given a way to find the best one without a pair.
    pub(crate) fn explain_solution(
        &self,
        (instance, problem): (&Instance, &Compatibility),
        solution: Solution,
        without: impl Fn((usize, usize), &mut Workspace) -> Result<Solution> + Sync,
        control: &Control,
    ) -> Result<Explanation> {
        let features = instance.joint_features(&solution.matching)?;
        let shares = shares(problem, &solution.matching)?;
        let weights = self.weights();
        let pairs: Vec<(usize, usize)> = solution.matching.pairs().collect();
        let count = pairs.len();
        let done = AtomicUsize::new(0);
        let explain = |work: &mut Workspace, (left, right): (usize, usize)| -> Result<Option<Reasons>> {
            if control.interrupted() {
                return Ok(None);
            }
            let other = without((left, right), work)?;
            let comparable =
                other.matching.matched_count() == solution.matching.matched_count() || problem.unmatched.is_some();
            let alternative = if comparable {
                let instead = instance.joint_features(&other.matching)?;
                let difference = weights.iter().zip(features.iter().zip(&instead));
                Some(Alternative {
                    right: other.matching.right_of(left),
                    margin: solution.score - other.score,
                    proven: solution.status == Status::Optimal && other.status == Status::Optimal,
                    contributions: difference.map(|(weight, (with, without))| weight * (with - without)).collect(),
                    nodes: decided_by(problem, &solution.matching, &other.matching),
                })
            } else {
                None
            };
            // If the solver was interrupted, its alternative is not the best there is.
            if control.interrupted() {
                return Ok(None);
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            control.report(&Report::new("finding reasons", done, Some(count)));
            Ok(Some(Reasons { left, right, share: shares[left], alternative }))
        };
        let found: Vec<Option<Reasons>> =
            pairs.into_par_iter().map_init(|| Workspace::with_control(control), explain).collect::<Result<_>>()?;
        let missing = found.iter().filter(|reasons| reasons.is_none()).count();
        Ok(Explanation { solution, matches: found.into_iter().flatten().collect(), missing })
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

/// Each left node's part in the score of a matching; the parts add up to the score. An edge score belongs half to each end.
///
/// ```
/// use homolog::{explain::shares, matching::{Compatibility, Matching}};
/// let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [0.0, 2.0]]);
/// assert_eq!(shares(&problem, &Matching::identity(2))?, [3.0, 2.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
///
/// # Errors
/// The sizes of the matching and the problem differ.
pub fn shares(problem: &Compatibility, matching: &Matching) -> Result<Vec<f64>> {
    let (expected, found) = (problem.left_count(), matching.left_count());
    if expected != found {
        return Err(Error::Size { what: "left nodes of the matching", expected, found });
    }
    let (expected, found) = (problem.right_count(), matching.right_count());
    if expected != found {
        return Err(Error::Size { what: "right nodes of the matching", expected, found });
    }
    let own = |i: usize| match matching.right_of(i) {
        Some(k) => problem.node[[i, k]],
        None => problem.unmatched.as_ref().map_or(0.0, |scores| scores[i]),
    };
    let mut shares: Vec<f64> = (0..problem.left_count()).map(own).collect();
    if let Some(edges) = &problem.edge {
        edges.add_shares(matching, &mut shares);
    }
    Ok(shares)
}

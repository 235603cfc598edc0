//! How much a naming's score falls if one name is forbidden.
//!
//! Solving the whole problem again for each name would be exact and slow. Instead the score is linearised at the naming (`climb`). With
//! the pair of landmark i forbidden, the best assignment for these values is another naming, whose true score is compared. The margin is
//! therefore an upper bound on the exact one: some naming without the pair scores score - margin.

use super::climb::{linear, marginal_values};
use super::naming::Call;
use crate::Result;
use crate::matching::{Compatibility, Linear, Matching, Solution, Status, Workspace};

/// The naming that defines the margin of a pair.
pub(crate) fn naming_without(
    problem: &Compatibility,
    matching: &Matching,
    pair: (usize, usize),
    work: &mut Workspace,
) -> Result<Solution> {
    let mut linear = linear(problem, marginal_values(problem, matching));
    linear.node[[pair.0, pair.1]] = f64::NEG_INFINITY;
    let other = Linear::default().solve_through(&linear, work)?;
    let score = problem.score(&other.matching)?;
    Ok(Solution { score, bound: f64::INFINITY, status: Status::Converged, certificate: None, ..other })
}

/// One for each matched landmark, in order.
pub(super) fn margins(problem: &Compatibility, solution: &Solution, work: &mut Workspace) -> Result<Vec<Call>> {
    let mut linear = linear(problem, marginal_values(problem, &solution.matching));
    let most = solution.matching.matched_count();
    let mut calls = Vec::with_capacity(most);
    for (landmark, point) in solution.matching.pairs() {
        let value = std::mem::replace(&mut linear.node[[landmark, point]], f64::NEG_INFINITY);
        let other = Linear::default().solve_through(&linear, work)?.matching;
        linear.node[[landmark, point]] = value;
        let comparable = problem.unmatched.is_some() || other.matched_count() == most;
        let margin = if comparable { solution.score - problem.score(&other)? } else { f64::INFINITY };
        // The marginal value counts each edge in full, at both of its ends.
        let share = 0.5 * (problem.node[[landmark, point]] + value);
        calls.push(Call { landmark, point, share, margin, runner_up: other.left_of(point), confidence: None });
    }
    Ok(calls)
}

//! A quick search for the best naming in a pose, starting from the naming by positions alone: the score is linearised at the current
//! naming, and the best assignment for that is the next one, as long as the score rises; then local search with a few shakes.
//! O(n · degree · m) per step, a handful of steps. Proves nothing.

use crate::Result;
use crate::matching::{
    Compatibility, Kicks, Linear, Matcher, Matching, Solution, Status, Workspace, linearised, polish,
};

/// Steps of linearising; three or four are usual.
const STEPS: usize = 20;
/// Shakes of the local search.
const KICKS: Kicks = Kicks { count: 20, seed: 0 };

/// The best naming found from a start.
pub(super) fn climb(problem: &Compatibility, start: &Matching, work: &mut Workspace) -> Result<Solution> {
    let Some(edge) = &problem.edge else { return Linear::default().solve_with(problem, work) };
    let mut found = Linear::default().solve_with(&problem.without_edges(), work)?;
    found.score = problem.score(&found.matching)?;
    // The start may come from wider Gaussians or another pose, and match fewer landmarks than it must.
    if start.matched_count() >= found.matching.matched_count() || problem.unmatched.is_some() {
        let score = problem.score(start)?;
        if score > found.score {
            (found.matching, found.score) = (start.clone(), score);
        }
    }
    for _ in 0..STEPS {
        let next = Linear::default().solve_with(&linearised(problem, &found.matching), work)?.matching;
        let score = problem.score(&next)?;
        if score <= found.score || work.interrupted() {
            break;
        }
        (found.matching, found.score) = (next, score);
    }
    let matching = polish(problem, edge, &found.matching, KICKS, work)?;
    Ok(Solution {
        score: problem.score(&matching)?,
        matching,
        bound: f64::INFINITY,
        status: if work.interrupted() { Status::Limit } else { Status::Converged },
        certificate: None,
        ..found
    })
}

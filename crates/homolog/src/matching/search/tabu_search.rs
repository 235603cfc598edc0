//! [`TabuSearch`]: robust tabu search with restarts (`tabu`) as a matcher. The strongest heuristic where graphs are dense, as in the
//! quadratic assignment problem, and where node scores say little.

use super::Growth;
use super::tabu::Tabu;
use crate::matching::soft::{Found, SoftProblem, Steps, solve_softly};
use crate::matching::{Matcher, Matching, Problem, Solution, Workspace};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Robust tabu search with restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TabuSearch {
    /// How often to shake the best matching and search again.
    pub restarts: usize,
    /// Do so after this many steps without a better matching, times the number of left nodes.
    pub patience: usize,
    /// The most changes to examine in total; a step examines about n²/2 of them.
    pub max_looks: u64,
    /// Seed of the random choices.
    pub seed: u64,
}

impl Default for TabuSearch {
    /// About a tenth of a second for 30 nodes, dense; a few seconds where `max_looks` ends it.
    fn default() -> Self {
        Self { restarts: 5, patience: 200, max_looks: 1 << 31, seed: 0 }
    }
}

impl Matcher for TabuSearch {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        Error::unless_counted("patience", self.patience)?;
        solve_softly(problem, None, work, |soft, work| self.search(soft, work))
    }
}

impl TabuSearch {
    fn search(&self, soft: &mut SoftProblem<'_>, work: &mut Workspace) -> Result<Found> {
        let grown = soft.grown(work)?;
        let starts = [soft.linear.clone(), grown];
        let (problem, objective) = (soft.problem, &soft.objective);
        let (n, m) = problem.node.dim();
        let may_rest = (0..n).map(|i| problem.unmatched_score(i) > f64::NEG_INFINITY).collect();
        let growth = Growth {
            gain: &objective.gain,
            edge: &objective.edge,
            weight: objective.weight,
            constraint: problem.constraint,
        };
        let mut tabu = Tabu::new(&growth, may_rest, self.seed);
        starts.iter().for_each(|start| tabu.jump(start.left_to_right()));
        let looks = (n * n / 2 + n * m.saturating_sub(n)).max(1) as u64;
        let mut left = usize::try_from(self.max_looks / looks).unwrap_or(usize::MAX).max(1);
        let mut steps = 0;
        for restart in 0..=self.restarts {
            let made = tabu.search(self.patience * n, left, || work.interrupted());
            (steps, left) = (steps + made, left.saturating_sub(made));
            if left == 0 || work.interrupted() || restart == self.restarts {
                break;
            }
            tabu.restart();
        }
        let best = Matching::new(tabu.best(), m, problem.constraint)?;
        Ok((vec![best], Steps { count: steps, interrupted: work.interrupted() }))
    }
}

//! Frank–Wolfe ascent from several starts (Leordeanu, Hebert & Sukthankar's IPFP 2009; Vogelstein et al.'s FAQ 2015), then local
//! search: a strong heuristic for any quadratic problem.
//!
//! From a soft matching y, the score is linearised, the best matching z of the linearised score is found exactly, and y moves
//! towards z by the step t in [0, 1] that maximises the score, which along the way is the parabola  f(y) + t slope + t² bend. It
//! stops if no matching promises more. Of all matchings z met along the way, and y rounded, the best is kept.
//!
//! Starts, in order: the flat soft matching; the best matching of the node scores alone; the soft matching that graduated
//! assignment ends with; then means of the flat one and random ones. Cost of a step: one linear assignment and one gradient.
//! Large problems have a third of the starts. They, and networks without node scores, have no more once two starts end at the same height or
//! one keeps most edges, or fits given pairs that would be found without being given. Large problems whose node scores tell nodes apart are narrowed to lists of candidate pairs (`listed`).
//!
//! If nodes score by staying unmatched, as in networks with a price, leaving all of them out is a local maximum, to which soft matchings lead
//! that keep edges by chance only. Then the best matching of as many nodes as possible, found without those scores, is a start as well.

use super::ascent::{ANNEALED, Confirms, Plan};
use super::listed::{self, Listed};
use super::networks;
use super::pairs::AllPairs;
use super::problem::{Found, SoftProblem, solve_softly};
use super::sinkhorn::Soft;
use crate::matching::search::Kicks;
use crate::matching::{Compatibility, Form, Matcher, Matching, Problem, Solution, Workspace};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Frank–Wolfe ascent from several starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrankWolfe {
    /// How many starts; a third of them if there are millions of pairs of edges. One start is FAQ; beside it, only networks without node
    /// scores are also matched by their edges alone.
    pub starts: usize,
    /// At most this many steps from each.
    pub max_steps: usize,
    /// Stop when no matching promises to add more than this fraction of the score's size.
    pub tolerance: f64,
    /// Seed of the random starts.
    pub seed: u64,
    /// Improve the result of each start by local search.
    pub polish: bool,
    /// How often local search shakes each result and tries again.
    pub kicks: usize,
    /// Stop when a step is shorter than this: the root of the mean, over left nodes, of what their row changes, squared and added up.
    #[serde(skip_serializing_if = "is_zero")]
    pub min_step: f64,
}

impl Default for FrankWolfe {
    /// 30 steps as in FAQ; as many starts and kicks as proved worth their time on house and QAPLIB problems.
    fn default() -> Self {
        Self { starts: 8, max_steps: 30, tolerance: 1e-6, seed: 0, polish: true, kicks: 50, min_step: 0.0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// This many results of large problems are improved by local search.
const MOST_POLISHED: usize = 2;
/// There is no more to find in networks of which this share of all edges is kept.
const ENOUGH: f64 = 0.9;

/// So many given pairs, of which this share fits what was found for all other nodes, confirm it.
const FEWEST_SEEDS: usize = 5;
const CONFIRMED: f64 = 0.9;

/// Whether given pairs would be found if they were not given: to the first order, no exchange with another pair of the matching is better.
fn fits_seeds(seeds: &[(usize, usize)], matching: &Matching, gradient: &Array2<f64>) -> bool {
    let fits = |&&(i, k): &&(usize, usize)| {
        matching.pairs().all(|(j, l)| gradient[[i, k]] + gradient[[j, l]] >= gradient[[i, l]] + gradient[[j, k]])
    };
    seeds.iter().filter(fits).count() as f64 >= CONFIRMED * seeds.len() as f64
}

impl Matcher for FrankWolfe {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let found = self.solve_as_given(problem, work)?;
        match problem.form() {
            Form::Table(table) if may_collapse(table) && !work.control().interrupted() => {
                let full = self.solve_as_given(&Compatibility { unmatched: None, ..table.clone() }, work)?;
                let mut start = Array2::zeros(table.node.dim());
                full.matching.pairs().for_each(|pair| start[pair] = 1.0);
                let other = self.solve_from(table, &start, work)?;
                Ok(if other.score > found.score { other } else { found })
            }
            _ => Ok(found),
        }
    }
}

/// Whether leaving nodes out scores, beside edges that do.
fn may_collapse(problem: &Compatibility) -> bool {
    problem.edge.as_ref().is_some_and(|edge| !edge.is_empty())
        && problem.unmatched.iter().flatten().any(|&price| price > 0.0)
}

impl FrankWolfe {
    fn solve_as_given(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        let improve = self.polish.then_some(Kicks { count: self.kicks, seed: self.seed });
        let on_lists = |listed: &mut Listed<'_>, work: &mut Workspace| self.climb_listed(listed, work);
        if let Some(solution) = listed::solve(problem, self, improve, work, on_lists)? {
            return Ok(solution);
        }
        solve_softly(problem, improve, work, |relaxed, work| self.climb_table(None, relaxed, work))
    }

    /// Solves from a soft matching in place of the flat one: a row per left node, a column per right node, no row or column above 1.
    ///
    /// # Errors
    /// As [`Matcher::solve`]; a start of another size, or with entries that are not between 0 and 1.
    pub fn solve_from(&self, problem: &Compatibility, start: &Array2<f64>, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let sizes = [
            ("rows of the start", problem.left_count(), start.nrows()),
            ("columns of the start", problem.right_count(), start.ncols()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let in_range = |value: f64| (0.0..=1.0 + 1e-6).contains(&value);
        if let Some(((row, column), &value)) = start.indexed_iter().find(|&(_, &value)| !in_range(value)) {
            return Err(Error::BadCell { what: "start", row, column, value });
        }
        let improve = self.polish.then_some(Kicks { count: self.kicks, seed: self.seed });
        solve_softly(problem, improve, work, |relaxed, work| {
            let mut soft = Soft::zeros(&AllPairs::of(start));
            soft.set(start, &relaxed.objective.gain);
            self.climb_table(Some(&soft), relaxed, work)
        })
    }

    /// The matchings found from all starts on a table, where large problems and networks have their own order and end.
    fn climb_table(&self, given: Option<&Soft>, relaxed: &mut SoftProblem<'_>, work: &mut Workspace) -> Result<Found> {
        relaxed.is_alone = self.starts == 1;
        // For networks without node scores: what edges alone say is the best start; in place of the best matching without edges.
        let by_edges = if given.is_none() { relaxed.matched_by_edges(work)? } else { None };
        let is_network = by_edges.is_some();
        let is_large = relaxed.is_large();
        let (count, order) = match (self.starts, is_network) {
            (1, _) => (1 + usize::from(is_network), [0, 1, ANNEALED]),
            (starts, _) if is_large => {
                (starts.div_ceil(3), if is_network { [1, ANNEALED, 0] } else { [0, ANNEALED, 1] })
            }
            (starts, true) => (starts, [1, ANNEALED, 0]),
            (starts, false) => (starts, [0, 1, ANNEALED]),
        };
        let most = if is_network {
            networks::most_of_edges(&relaxed.objective.edge) * relaxed.objective.weight
        } else {
            f64::INFINITY
        };
        let ends_early = is_large || is_network;
        // Sparse networks may fit near their seeds and nowhere else.
        let seeds = relaxed.seeds();
        let confirms = |matching: &Matching, gradient: &Array2<f64>| fits_seeds(&seeds, matching, gradient);
        let confirms: Option<&Confirms<'_, Array2<f64>>> =
            if seeds.len() >= FEWEST_SEEDS && !is_network { Some(&confirms) } else { None };
        let plan = Plan { count, order, given, by_edges, ends_early, enough: ENOUGH * most, confirms };
        let ((mut found, steps), has_enough) = self.climb_from_all(&plan, relaxed, work)?;
        relaxed.is_alone |= has_enough;
        found.truncate(if is_large { MOST_POLISHED } else { found.len() }.min(self.starts));
        Ok((found, steps))
    }

    /// The matchings found from all starts on a list of candidate pairs.
    pub(super) fn climb_listed(&self, listed: &mut Listed<'_>, work: &mut Workspace) -> Result<Found> {
        Ok(self.climb_from_all(&Plan::all(self.starts), listed, work)?.0)
    }

    fn check(&self) -> Result<()> {
        Error::unless_counted("starts", self.starts)?;
        Error::unless_counted("max_steps", self.max_steps)?;
        Error::unless_at_least_0("tolerance", self.tolerance)?;
        Error::unless_at_least_0("min_step", self.min_step)
    }
}

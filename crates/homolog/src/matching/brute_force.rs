//! Tries every matching: the reference for small problems, edges included. Not for use beyond about eight nodes a side.
//!
//! Matchings are tried in order of left node, right nodes from small to large and "unmatched" last; the first of several equally
//! good ones is kept, so ties go to the lexicographically smallest map. Scores are added up with twice the digits, so that large scores
//! do not hide the small ones that decide.

use super::problem::Precise;
use super::{Compatibility, Constraint, Linear, Matcher, Matching, Problem, Solution, Status, Workspace};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Exhaustive search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BruteForce {
    /// Refuse problems with more matchings than this.
    pub max_matchings: usize,
}

impl Default for BruteForce {
    /// Ten million: a second or so; enough for 8 by 8, partial matchings included.
    fn default() -> Self {
        Self { max_matchings: 10_000_000 }
    }
}

impl Matcher for BruteForce {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        let problem = &*problem.table()?;
        problem.check()?;
        let count = matching_count(problem, self.max_matchings);
        if count > self.max_matchings {
            return Err(Error::TooLarge { what: "matchings to try", limit: self.max_matchings, found: count });
        }
        let (n, m) = problem.node.dim();
        let mut search = Enumeration {
            problem,
            earlier: edges_to_earlier_nodes(problem),
            map: vec![None; n],
            users: vec![0; m],
            placed: 0,
            best: None,
            tried: 0,
            work,
            stopped: false,
        };
        search.visit(0, Precise::default());
        let Enumeration { best, tried, stopped, .. } = search;
        // Leaving everything unmatched is always tried, so there is a best one; the default only keeps this total.
        let (placed, _, map) = best.unwrap_or_else(|| (0, Precise::default(), vec![None; n]));
        let mut matching = Matching::new(map, m, problem.constraint)?;
        if stopped {
            // The best found so far may match fewer nodes than it must.
            let linear = Linear::default().solve_through(&problem.without_edges(), work)?.matching;
            let forced = |&(i, _): &(usize, usize)| problem.unmatched_score(i) == f64::NEG_INFINITY;
            if linear.pairs().filter(forced).count() > placed {
                matching = linear;
            }
        }
        let score = problem.score(&matching)?;
        Ok(Solution {
            matching,
            score,
            bound: if stopped { f64::INFINITY } else { score },
            status: if stopped { Status::Limit } else { Status::Optimal },
            iterations: tried,
            certificate: None,
            shortage: None,
            allowed: 0.0,
        })
    }
}

/// How many maps there are, stopping the count just past `limit`.
pub(super) fn matching_count(problem: &Compatibility, limit: usize) -> usize {
    let (n, m) = problem.node.dim();
    // ways[s]: partial maps of the left nodes so far that use s right nodes.
    let mut ways = vec![0_usize; n.min(m) + 1];
    ways[0] = 1;
    for _ in 0..n {
        for s in (0..ways.len()).rev() {
            let free = if problem.constraint == Constraint::ManyToOne { m } else { m - s };
            if problem.constraint == Constraint::ManyToOne {
                ways[s] = ways[s].saturating_mul(free + 1);
            } else if s + 1 < ways.len() {
                ways[s + 1] = ways[s + 1].saturating_add(ways[s].saturating_mul(free));
            }
        }
        if ways.iter().fold(0_usize, |sum, &w| sum.saturating_add(w)) > limit {
            return ways.iter().fold(0_usize, |sum, &w| sum.saturating_add(w));
        }
    }
    ways.iter().sum()
}

/// For each left node, the edges between it and nodes before it.
fn edges_to_earlier_nodes(problem: &Compatibility) -> Vec<Vec<usize>> {
    let mut earlier = vec![Vec::new(); problem.left_count()];
    if let Some(edge) = &problem.edge {
        edge.left_edges().ends().iter().enumerate().for_each(|(e, &[i, j])| earlier[i.max(j)].push(e));
    }
    earlier
}

struct Enumeration<'a> {
    problem: &'a Compatibility,
    earlier: Vec<Vec<usize>>,
    map: Vec<Option<usize>>,
    /// How many left nodes each right node has.
    users: Vec<usize>,
    /// How many of the nodes that must be matched are matched.
    placed: usize,
    /// The same for the best matching, its score, and the matching.
    best: Option<(usize, Precise, Vec<Option<usize>>)>,
    tried: usize,
    work: &'a Workspace,
    stopped: bool,
}

/// Matchings between two checks for an interrupt.
const MATCHINGS_PER_LOOK: usize = 1024;

impl Enumeration<'_> {
    /// Tries everything for this left node and those after it; `score` is that of the nodes before.
    fn visit(&mut self, left: usize, score: Precise) {
        if self.stopped {
            return;
        }
        if left == self.map.len() {
            return self.leaf(score);
        }
        let price = self.problem.unmatched_score(left);
        let forced = price == f64::NEG_INFINITY;
        for right in 0..self.users.len() {
            let pair = self.problem.node[[left, right]];
            if pair == f64::NEG_INFINITY || self.users[right] > 0 && self.problem.constraint == Constraint::OneToOne {
                continue;
            }
            self.users[right] += 1;
            self.placed += usize::from(forced);
            self.map[left] = Some(right);
            self.visit(left + 1, score.plus(Precise::new(pair)).plus(self.edges_of(left)));
            self.users[right] -= 1;
            self.placed -= usize::from(forced);
        }
        self.map[left] = None;
        self.visit(left + 1, if forced { score } else { score.plus(Precise::new(price)) });
    }

    /// The scores of the edges between a left node and those before it.
    fn edges_of(&self, left: usize) -> Precise {
        let Some(edge) = &self.problem.edge else { return Precise::default() };
        let score = |&e: &usize| {
            let [i, j] = edge.left_edges().ends()[e];
            let f = edge.right_edges().find(self.map[i]?, self.map[j]?)?;
            Some(Precise::new(edge.value(e, f)))
        };
        self.earlier[left].iter().filter_map(score).sum()
    }

    fn leaf(&mut self, nodes: Precise) {
        self.tried += 1;
        self.stopped = self.tried.is_multiple_of(MATCHINGS_PER_LOOK) && self.work.interrupted();
        if self.best.as_ref().is_some_and(|best| self.placed < best.0) {
            return;
        }
        let mut score = nodes;
        for (prices, &users) in self.problem.right_unmatched.iter().flatten().zip(&self.users) {
            if users == 0 {
                score = score.plus(Precise::new(*prices));
            }
        }
        let better = |best: &(usize, Precise, _)| self.placed > best.0 || score.minus(best.1).value() > 0.0;
        if self.best.as_ref().is_none_or(better) {
            self.best = Some((self.placed, score, self.map.clone()));
        }
    }
}

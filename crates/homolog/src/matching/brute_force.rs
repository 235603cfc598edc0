//! Tries every matching: the oracle for small problems, edges and all. Not for use beyond about eight nodes a side.
//!
//! Matchings are tried in order of left node, right nodes from small to large and "unmatched" last; the first of several equally
//! good ones is kept, so ties go to the lexicographically smallest map.

use super::{Compatibility, Constraint, Matcher, Matching, Solution, Status, Workspace};
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
    fn solve(&self, problem: &Compatibility, _work: &mut Workspace) -> Result<Solution> {
        problem.check()?;
        let count = matching_count(problem, self.max_matchings);
        if count > self.max_matchings {
            return Err(Error::TooLarge { what: "matchings to try", limit: self.max_matchings, found: count });
        }
        let (n, m) = problem.node.dim();
        let mut search = Search { problem, map: vec![None; n], taken: vec![false; m], best: None, tried: 0 };
        search.visit(0)?;
        let Search { best, tried, .. } = search;
        // Leaving everything unmatched is always tried, so there is a best one; a default keeps this total.
        let (_, score, matching) = best.unwrap_or((0, 0.0, Matching::empty(n, m)));
        Ok(Solution {
            matching,
            score,
            bound: score,
            status: Status::Optimal,
            iterations: tried,
            certificate: None,
            shortage: None,
        })
    }
}

/// How many maps there are, stopping the count just past `limit`.
fn matching_count(problem: &Compatibility, limit: usize) -> usize {
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

struct Search<'a> {
    problem: &'a Compatibility,
    map: Vec<Option<usize>>,
    taken: Vec<bool>,
    /// How many of the nodes that must be matched are, the score, the matching.
    best: Option<(usize, f64, Matching)>,
    tried: usize,
}

impl Search<'_> {
    fn visit(&mut self, left: usize) -> Result<()> {
        if left == self.map.len() {
            return self.leaf();
        }
        for right in 0..self.taken.len() {
            if self.taken[right] || self.problem.node[[left, right]] == f64::NEG_INFINITY {
                continue;
            }
            self.taken[right] = self.problem.constraint == Constraint::OneToOne;
            self.map[left] = Some(right);
            self.visit(left + 1)?;
            self.taken[right] = false;
        }
        self.map[left] = None;
        self.visit(left + 1)
    }

    fn leaf(&mut self) -> Result<()> {
        self.tried += 1;
        let forced = |left: usize| self.problem.unmatched_score(left) == f64::NEG_INFINITY;
        let placed = (0..self.map.len()).filter(|&left| self.map[left].is_some() && forced(left)).count();
        if self.best.as_ref().is_some_and(|best| placed < best.0) {
            return Ok(());
        }
        let matching = Matching::new(self.map.clone(), self.taken.len(), self.problem.constraint)?;
        let score = self.problem.score(&matching)?;
        if self.best.as_ref().is_none_or(|best| placed > best.0 || score > best.1) {
            self.best = Some((placed, score, matching));
        }
        Ok(())
    }
}

//! Scores with what all matchings have in common taken off: so proofs look only at what matchings differ in.
//!
//! Outside the crowd every left node takes exactly one of its choices (a right node, or staying unmatched at its price), so the best of them
//! is subtracted from all. Inside the crowd every right node is taken, by exactly one left node: there it is the best score of each
//! right node. Then every score is at most 0, and small where it matters, however large the numbers were. All matchings' scores fall by
//! the same total.

use crate::matching::problem::Precise;
use crate::matching::{Compatibility, Matching, Shortage};

/// What is subtracted from each row and column, and in total.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shifts {
    rows: Vec<f64>,
    columns: Vec<f64>,
    in_crowd: Vec<bool>,
    crowded: Vec<bool>,
    total: Precise,
}

impl Shifts {
    pub(crate) fn of(problem: &Compatibility, crowd: Option<&Shortage>) -> Self {
        let (n, m) = problem.node.dim();
        let (mut in_crowd, mut crowded) = (vec![false; n], vec![false; m]);
        if let Some(crowd) = crowd {
            crowd.left.iter().for_each(|&i| in_crowd[i] = true);
            crowd.right.iter().for_each(|&k| crowded[k] = true);
        }
        let (mut rows, mut columns) = (vec![f64::NEG_INFINITY; n], vec![f64::NEG_INFINITY; m]);
        for ((i, k), &score) in problem.node.indexed_iter() {
            match (in_crowd[i], crowded[k]) {
                (false, false) => rows[i] = rows[i].max(score),
                (true, true) => columns[k] = columns[k].max(score),
                // No feasible matching has such a pair.
                _ => {}
            }
        }
        for (i, row) in rows.iter_mut().enumerate().filter(|&(i, _)| !in_crowd[i]) {
            *row = row.max(problem.unmatched_score(i));
        }
        for shift in rows.iter_mut().chain(&mut columns).filter(|shift| **shift == f64::NEG_INFINITY) {
            *shift = 0.0;
        }
        let total = rows.iter().chain(&columns).map(|&shift| Precise::new(shift)).sum();
        Self { rows, columns, in_crowd, crowded, total }
    }

    /// Whether a feasible matching can have this pair.
    pub(crate) fn is_open(&self, problem: &Compatibility, i: usize, k: usize) -> bool {
        // Every largest matching fills the crowd's right nodes from the crowd: nobody else may have them.
        self.in_crowd[i] == self.crowded[k] && problem.node[[i, k]] > f64::NEG_INFINITY
    }

    pub(crate) fn is_crowded_left(&self, i: usize) -> bool {
        self.in_crowd[i]
    }

    pub(crate) fn is_crowded_right(&self, k: usize) -> bool {
        self.crowded[k]
    }

    /// The score of a pair that is open, at most 0.
    pub(crate) fn pair(&self, problem: &Compatibility, i: usize, k: usize) -> f64 {
        problem.node[[i, k]] - if self.in_crowd[i] { self.columns[k] } else { self.rows[i] }
    }

    /// The score of staying unmatched, where a node may: 0 in the crowd.
    pub(crate) fn rest(&self, problem: &Compatibility, i: usize) -> Option<f64> {
        let price = problem.unmatched_score(i);
        if self.in_crowd[i] { Some(0.0) } else { (price > f64::NEG_INFINITY).then(|| price - self.rows[i]) }
    }

    /// The node scores of a feasible matching, shifted; at most 0.
    pub(crate) fn node_score(&self, problem: &Compatibility, matching: &Matching) -> f64 {
        let node = |(i, right): (usize, &Option<usize>)| match *right {
            Some(k) => self.pair(problem, i, k),
            None => self.rest(problem, i).unwrap_or(0.0),
        };
        matching.left_to_right().iter().enumerate().map(node).sum()
    }

    /// The score of a feasible matching, shifted.
    pub(crate) fn score(&self, problem: &Compatibility, matching: &Matching) -> f64 {
        self.node_score(problem, matching) + problem.edge.as_ref().map_or(0.0, |edge| edge.score(matching))
    }

    /// A shifted bound as a bound on the problem's own scores.
    pub(crate) fn unshifted_bound(&self, bound: f64) -> f64 {
        self.total.plus(Precise::new(bound)).rounded_up()
    }

    /// A shifted score as one of the problem's own.
    pub(crate) fn unshifted(&self, score: f64) -> f64 {
        self.total.plus(Precise::new(score)).value()
    }
}

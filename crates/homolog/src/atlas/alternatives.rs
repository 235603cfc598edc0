//! What every other name of every point would cost: how much the score falls if a landmark takes a point and whoever had the point takes
//! the landmark's place, or goes without; and if a point goes without a name.
//!
//!   fall_ik = score(y) - score(y with i at k),   the better of exchanging places and, if landmarks may be missing, of giving up
//!
//! Exact for these moves, edges included (a margin that is linearised is not, if two neighbours change places); longer chains of moves may
//! cost less. The bottom row is for no name. O(n · m · degree).

use crate::matching::{Compatibility, EdgeTerm, Matching};
use ndarray::Array2;

/// A move: where some landmarks go.
type Moves = [(usize, Option<usize>)];

/// The score of what a move changes.
struct Local<'a> {
    problem: &'a Compatibility,
    now: &'a [Option<usize>],
    /// The right edge from one point to another.
    between: Vec<usize>,
}

impl<'a> Local<'a> {
    fn new(problem: &'a Compatibility, matching: &'a Matching) -> Self {
        let m = problem.right_count();
        let mut between = Vec::new();
        if let Some(edge) = &problem.edge {
            between = vec![usize::MAX; m * m];
            for (at, &[from, to]) in edge.right_edges().ends().iter().enumerate() {
                between[from * m + to] = at;
            }
        }
        Self { problem, now: matching.left_to_right(), between }
    }

    /// How much the score falls.
    fn fall(&self, moves: &Moves) -> f64 {
        let stay: Vec<(usize, Option<usize>)> =
            moves.iter().map(|&(landmark, _)| (landmark, self.now[landmark])).collect();
        self.terms(&stay) - self.terms(moves)
    }

    /// All terms in which these landmarks take part.
    fn terms(&self, moves: &Moves) -> f64 {
        let place = |landmark: usize| {
            moves.iter().find(|(other, _)| *other == landmark).map_or(self.now[landmark], |&(_, point)| point)
        };
        let is_moved = |landmark: usize| moves.iter().any(|&(other, _)| other == landmark);
        let mut sum = 0.0;
        for &(landmark, point) in moves {
            let Some(point) = point else {
                sum += self.problem.unmatched_score(landmark);
                continue;
            };
            sum += self.problem.node[[landmark, point]];
            let Some(edge) = &self.problem.edge else { continue };
            let list = edge.left_edges();
            for at in list.from_node(landmark) {
                sum += place(list.ends()[at][1]).map_or(0.0, |other| self.edge(edge, at, (point, other)));
            }
            for &at in list.into_node(landmark) {
                let from = list.ends()[at][0];
                if !is_moved(from) {
                    sum += place(from).map_or(0.0, |other| self.edge(edge, at, (other, point)));
                }
            }
        }
        sum
    }

    fn edge(&self, edge: &EdgeTerm, at: usize, (from, to): (usize, usize)) -> f64 {
        match self.between[from * self.problem.right_count() + to] {
            usize::MAX => 0.0,
            right => edge.value(at, right),
        }
    }
}

/// How much the score falls if a landmark (row) has a point (column); the last row is for no landmark. 0 for what is, infinite for what
/// these moves cannot reach.
pub(super) fn falls(problem: &Compatibility, matching: &Matching) -> Array2<f64> {
    let (n, m) = (problem.left_count(), problem.right_count());
    let local = Local::new(problem, matching);
    let may_miss = problem.unmatched.is_some();
    let mut falls = Array2::from_elem((n + 1, m), f64::INFINITY);
    for point in 0..m {
        let owner = matching.left_of(point);
        for landmark in 0..n {
            let own = matching.right_of(landmark);
            falls[[landmark, point]] = match owner {
                Some(owner) if owner == landmark => 0.0,
                None => local.fall(&[(landmark, Some(point))]),
                Some(owner) => {
                    let exchange = if own.is_some() || may_miss {
                        local.fall(&[(landmark, Some(point)), (owner, own)])
                    } else {
                        f64::INFINITY
                    };
                    let given_up = if own.is_some() && may_miss {
                        local.fall(&[(landmark, Some(point)), (owner, None)])
                    } else {
                        f64::INFINITY
                    };
                    exchange.min(given_up)
                }
            };
        }
        falls[[n, point]] = match owner {
            None => 0.0,
            Some(owner) if may_miss => local.fall(&[(owner, None)]),
            Some(_) => f64::INFINITY,
        };
    }
    falls
}

//! Shortest augmenting paths by whole rows, for problems with few columns: each step is one pass over a row that the compiler turns
//! into vector instructions, with no list, heap or predecessor array to keep. O(n² m).
//!
//! Dijkstra from the row to be placed, over the slack left_i + right_k - score_ik >= 0. The row that reached a column is not recorded but
//! found again at the end, by recomputing the same sums for the few rows in the tree.

use super::core::{Core, NONE, Scores};
use super::scan::{relax, settle_all_at};

/// Scratch memory of one search.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Distance of each open column; plus infinity once settled.
    distance: Vec<f64>,
    /// Dual value of each open column; plus infinity once settled, which keeps it out of every minimum.
    open_right: Vec<f64>,
    /// The rows of the tree: row, its length + left value, its length.
    tree: Vec<(usize, f64, f64)>,
    /// Settled columns and their distances; the column settled s-th leads to the row tree[s + 1].
    settled: Vec<(usize, f64)>,
}

/// How a search ended.
enum End {
    Column(usize),
    /// The row at this position of the tree stays unmatched.
    Exit(usize),
}

impl Dense {
    /// Places every row that is not placed yet; `false` if some row has no place, or if `goes_on` says no.
    pub(super) fn solve(&mut self, problem: &Scores<'_>, core: &mut Core, goes_on: &dyn Fn() -> bool) -> bool {
        (0..problem.rows).all(|row| core.is_placed(row) || (goes_on() && self.place(problem, core, row)))
    }

    /// Places one row along a shortest augmenting path.
    pub(super) fn place(&mut self, problem: &Scores<'_>, core: &mut Core, new_row: usize) -> bool {
        if core.left[new_row] == f64::NEG_INFINITY {
            return false;
        }
        super::reset(&mut self.distance, problem.columns, f64::INFINITY);
        self.open_right.clear();
        self.open_right.extend_from_slice(&core.right);
        self.tree.clear();
        self.settled.clear();
        let Some((end, length)) = pulp::Arch::new().dispatch(PathTree { scratch: self, problem, core, new_row }) else {
            return false;
        };
        self.augment(problem, core, &end);
        for &(row, _, reached) in &self.tree {
            core.left[row] -= length - reached;
        }
        for &(column, reached) in &self.settled {
            core.right[column] += (length - reached).max(0.0);
        }
        true
    }

    /// Hands each column on the path back to the row that reached it. Uses the dual values from before the search.
    fn augment(&self, problem: &Scores<'_>, core: &mut Core, end: &End) {
        let (mut position, mut column) = match *end {
            End::Exit(position) => (position, NONE),
            End::Column(column) => {
                (self.reached_from(problem, core, column, self.distance[column], self.tree.len()), column)
            }
        };
        loop {
            let row = self.tree[position].0;
            if column == NONE {
                core.leave_unmatched(row);
            } else {
                core.assign(row, column);
            }
            if position == 0 {
                return;
            }
            let (freed, distance) = self.settled[position - 1];
            column = freed;
            position = self.reached_from(problem, core, column, distance, position);
        }
    }

    /// The first row of the tree, among those scanned before position `before`, that gave a column its distance: the same sum gives the
    /// same bits.
    fn reached_from(&self, problem: &Scores<'_>, core: &Core, column: usize, distance: f64, before: usize) -> usize {
        let through = |&(row, base, _): &(usize, f64, f64)| base + (core.right[column] - problem.score(row, column));
        self.tree[..before].iter().position(|row| through(row) == distance).unwrap_or(0)
    }
}

/// Grows the tree until it reaches an end; returns the end and its length.
struct PathTree<'a> {
    scratch: &'a mut Dense,
    problem: &'a Scores<'a>,
    core: &'a Core,
    new_row: usize,
}

impl pulp::WithSimd for PathTree<'_> {
    type Output = Option<(End, f64)>;

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        let Self { scratch, problem, core, new_row } = self;
        let (mut row, mut length) = (new_row, 0.0_f64);
        let mut exit = (f64::INFINITY, 0);
        let mut scanned = 0;
        loop {
            let base = length + core.left[row];
            if let Some(unmatched) = problem.unmatched
                && base - unmatched[row] < exit.0
            {
                exit = (base - unmatched[row], scratch.tree.len());
            }
            scratch.tree.push((row, base, length));
            let nearest = relax(base, problem.row(row), problem.sign, &scratch.open_right, &mut scratch.distance);
            // Settled columns whose rows are still to be scanned are at the current length.
            let is_next = scanned == scratch.settled.len() || nearest <= length;
            if exit.0 <= if is_next { nearest } else { length } {
                return (exit.0 < f64::INFINITY).then_some((End::Exit(exit.1), exit.0));
            }
            if is_next {
                // Rounding may put a distance a hair below the length so far.
                length = nearest.max(length);
                let is_free = |column: usize| core.row_of[column] == NONE;
                let (distance, open_right) = (&mut scratch.distance, &mut scratch.open_right);
                if let Some(column) = settle_all_at(nearest, distance, open_right, &mut scratch.settled, is_free) {
                    return Some((End::Column(column), length));
                }
            }
            row = core.row_of[scratch.settled[scanned].0];
            scanned += 1;
        }
    }
}

//! Shortest augmenting paths by whole rows, for problems of few columns: each step is one pass over a row that the compiler turns
//! into vector instructions, with no list, heap or predecessor array to keep. O(n² m).
//!
//! Dijkstra from the row to be placed, over the slack left_i + right_k - score_ik >= 0. Who reached a column is not recorded but
//! found again at the end, by recomputing the same sums for the few rows in the tree.

use super::core::{Core, NONE, Scores};
use super::scan::Facts;

/// Scratch of one search.
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

/// Reads every row once; left values become the best score of each row, or its price.
pub(super) fn prepare(problem: &Scores<'_>, core: &mut Core) -> Facts {
    let mut facts = Facts::default();
    for row in 0..problem.rows {
        core.left[row] = facts.add_row(problem.row(row)).max(problem.floor(row));
    }
    facts
}

/// How a search ended.
enum End {
    Column(usize),
    /// The row of the tree at this position stays unmatched.
    Exit(usize),
}

impl Dense {
    /// Places every row that is not placed yet; `false` if some row has no place.
    pub(super) fn solve(&mut self, problem: &Scores<'_>, core: &mut Core) -> bool {
        take_best_if_free(problem, core);
        super::reset(&mut self.distance, problem.columns, f64::INFINITY);
        (0..problem.rows).all(|row| core.is_placed(row) || self.place(problem, core, row))
    }

    fn place(&mut self, problem: &Scores<'_>, core: &mut Core, new_row: usize) -> bool {
        if core.left[new_row] == f64::NEG_INFINITY {
            return false;
        }
        self.distance.fill(f64::INFINITY);
        self.open_right.clear();
        self.open_right.extend_from_slice(&core.right);
        self.tree.clear();
        self.settled.clear();
        let (mut row, mut length) = (new_row, 0.0);
        let mut exit = (f64::INFINITY, 0);
        let end = loop {
            let base = length + core.left[row];
            if let Some(unmatched) = problem.unmatched
                && base - unmatched[row] < exit.0
            {
                exit = (base - unmatched[row], self.tree.len());
            }
            self.tree.push((row, base, length));
            let nearest = relax(base, problem.row(row), &self.open_right, &mut self.distance);
            if exit.0 <= nearest {
                if exit.0 == f64::INFINITY {
                    return false;
                }
                length = exit.0;
                break End::Exit(exit.1);
            }
            // Rounding may put a distance a hair below the length so far.
            length = nearest.max(length);
            let column = first_at(nearest, &self.distance, &core.row_of);
            if core.row_of[column] == NONE {
                break End::Column(column);
            }
            self.settled.push((column, nearest));
            self.distance[column] = f64::INFINITY;
            self.open_right[column] = f64::INFINITY;
            row = core.row_of[column];
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

    /// Hands each column on the path back to the row that reached it. Uses the duals of before the search.
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
        let through = |&(row, base, _): &(usize, f64, f64)| base + (core.right[column] - problem.row(row)[column]);
        self.tree[..before].iter().position(|row| through(row) == distance).unwrap_or(0)
    }
}

/// Every row takes its best column if that is free, the smallest on ties.
fn take_best_if_free(problem: &Scores<'_>, core: &mut Core) {
    for row in 0..problem.rows {
        let scores = problem.row(row);
        let best = core.left[row];
        if best == f64::NEG_INFINITY {
            continue;
        }
        if problem.unmatched.is_some_and(|unmatched| unmatched[row] >= best) {
            core.leave_unmatched(row);
        } else if let Some(column) = (0..scores.len()).find(|&k| scores[k] == best && core.row_of[k] == NONE) {
            core.assign(row, column);
        }
    }
}

/// Lowers each distance to `base + (right - score)` where that is less; the smallest distance of all.
fn relax(base: f64, scores: &[f64], right: &[f64], distance: &mut [f64]) -> f64 {
    const LANES: usize = 4;
    let mut least = [f64::INFINITY; LANES];
    let (mut s, mut r, mut d) =
        (scores.chunks_exact(LANES), right.chunks_exact(LANES), distance.chunks_exact_mut(LANES));
    for ((s, r), d) in (&mut s).zip(&mut r).zip(&mut d) {
        for lane in 0..LANES {
            let through = base + (r[lane] - s[lane]);
            let shorter = if through < d[lane] { through } else { d[lane] };
            d[lane] = shorter;
            least[lane] = if shorter < least[lane] { shorter } else { least[lane] };
        }
    }
    let mut nearest = least.into_iter().fold(f64::INFINITY, f64::min);
    for ((s, r), d) in s.remainder().iter().zip(r.remainder()).zip(d.into_remainder()) {
        *d = d.min(base + (r - s));
        nearest = nearest.min(*d);
    }
    nearest
}

/// The first free column at a distance, or else the first column at it.
fn first_at(wanted: f64, distance: &[f64], row_of: &[usize]) -> usize {
    let mut first = NONE;
    for (column, &reach) in distance.iter().enumerate() {
        if reach == wanted {
            if row_of[column] == NONE {
                return column;
            }
            first = first.min(column);
        }
    }
    first
}

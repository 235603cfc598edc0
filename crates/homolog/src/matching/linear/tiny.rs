//! Tables of at most twelve columns, on the stack: shortest augmenting paths from the best column of each row, without the set-up that pays off
//! only for larger ones. O(n² m).
//!
//! Rows are sets of lanes, and each step is a few vector instructions: the best of a row, then the first free column that has it, or else the first.
//!
//! Takes ordinary numbers alone, of which some may be forbidden: no prices, no sums out of range, nothing that rounding could hide, and a place for
//! every row. All else is left to the general solver.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::buffers::LinearBuffers;
use super::careful::Answer;
use super::few::ORDINARY;
use super::given::Given;
use super::scan::larger;
use std::array::from_fn;

/// The most columns.
pub(super) const MOST: usize = 12;
/// The rank of a column is this number, whose last binary digits are zero, less its index, ...
const FIRST: f64 = -((1_u64 << 52) as f64);
/// ... and less this if it is taken: the highest rank is that of the first free one.
const TAKEN: u64 = 64;

impl LinearBuffers {
    /// Solves a table of at most twelve columns and no more rows; `false` if it is not ordinary.
    pub(super) fn assign_tiny(&mut self, problem: &Given<'_>) -> bool {
        let Some(values) = problem.node.as_slice() else {
            // The same answer in any memory order.
            let node = problem.node.as_standard_layout();
            return node.is_standard_layout() && self.assign_tiny(&Given { node: node.view(), ..*problem });
        };
        let (shape, sign) = (problem.node.dim(), problem.sign());
        let arch = pulp::Arch::new();
        match shape.1 {
            0 => false,
            1..=2 => arch.dispatch(Solve::<2> { buffers: self, values, shape, sign }),
            3..=4 => arch.dispatch(Solve::<4> { buffers: self, values, shape, sign }),
            5..=8 => arch.dispatch(Solve::<8> { buffers: self, values, shape, sign }),
            _ => arch.dispatch(Solve::<MOST> { buffers: self, values, shape, sign }),
        }
    }
}

/// A table of at most `W` columns, and where the answer goes.
struct Solve<'a, const W: usize> {
    buffers: &'a mut LinearBuffers,
    values: &'a [f64],
    shape: (usize, usize),
    sign: f64,
}

impl<const W: usize> pulp::WithSimd for Solve<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> bool {
        let Self { buffers, values, shape: (n, m), sign } = self;
        let mut tiny = Tiny::<W>::default();
        let Some(waiting) = tiny.read(values, (n, m), sign) else { return false };
        if !(0..n).filter(|row| waiting >> row & 1 == 1).all(|row| tiny.search(row)) {
            return false;
        }
        let own: [f64; W] = from_fn(|row| if row < n { tiny.scores[row][tiny.column_of[row]] } else { 0.0 });
        let loss: f64 = (0..n).map(|row| tiny.best[row] - own[row]).sum();
        let (mut left, right) = (tiny.best, if loss == 0.0 { [0.0; W] } else { tiny.right });
        // If every row has its best, dual values of zero prove it.
        if loss != 0.0 {
            left = from_fn(|row| if row < n { own[row] - right[tiny.column_of[row]] } else { 0.0 });
            let (column, row) = (|row: usize| tiny.column_of[row], |row: usize| &tiny.scores[row][..]);
            if !(Answer { own: &own[..n], left: &left, right: &right, column, row, sign: 1.0 }).is_precise(loss) {
                return false;
            }
        }
        for (to, from) in [(&mut buffers.left, &left[..n]), (&mut buffers.right, &right[..m])] {
            to.clear();
            to.extend_from_slice(from);
        }
        buffers.right_of.clear();
        buffers.right_of.extend(tiny.column_of[..n].iter().map(|&column| Some(column)));
        true
    }
}

/// The scores with the matching and the right values; columns that do not exist are forbidden.
struct Tiny<const W: usize> {
    scores: [[f64; W]; W],
    /// The best score of each row.
    best: [f64; W],
    right: [f64; W],
    /// Whether a column is taken, and which it is.
    rank: [f64; W],
    row_of: [usize; W],
    column_of: [usize; W],
}

impl<const W: usize> Default for Tiny<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            scores: [[f64::NEG_INFINITY; W]; W],
            best: [0.0; W],
            right: [0.0; W],
            rank: from_fn(|k| f64::from_bits(FIRST.to_bits() | k as u64)),
            row_of: [0; W],
            column_of: [0; W],
        }
    }
}

impl<const W: usize> Tiny<W> {
    /// Reads the table, and places rows whose best column is free; the others as bits, or `None` if something is neither ordinary nor forbidden, or a row has no
    /// place.
    #[inline(always)]
    fn read(&mut self, values: &[f64], (n, m): (usize, usize), sign: f64) -> Option<u32> {
        let mut sum = [0.0; W];
        let mut waiting = 0;
        for row in 0..n {
            // What is read beyond the row's end is not used; the last row ends where the table does.
            let scores: [f64; W] = match values[row * m..].first_chunk::<W>() {
                Some(own) => from_fn(|k| if k < m { sign * own[k] } else { f64::NEG_INFINITY }),
                None => from_fn(|k| if k < m { sign * values[row * m + k] } else { f64::NEG_INFINITY }),
            };
            // A sum that has met NaN or an infinity remains one.
            sum = from_fn(|k| sum[k] + if scores[k] == f64::NEG_INFINITY { 0.0 } else { scores[k].abs() });
            let best = most(scores);
            (self.scores[row], self.best[row]) = (scores, best);
            let rank = self.first_at(best, &scores);
            if is_taken(rank) {
                waiting |= 1 << row;
            } else {
                self.take(rank);
                self.row_of[column(rank)] = row;
                self.column_of[row] = column(rank);
            }
        }
        let sum: f64 = sum.iter().sum();
        let has_places = self.best.iter().all(|&best| best > f64::NEG_INFINITY);
        (has_places && (sum == 0.0 || ORDINARY.contains(&sum))).then_some(waiting)
    }

    /// The rank of the first free column that has this value, or of the first.
    #[inline(always)]
    fn first_at(&self, value: f64, values: &[f64; W]) -> f64 {
        most::<W>(from_fn(|k| if values[k] == value { self.rank[k] } else { f64::NEG_INFINITY }))
    }

    /// The column of this rank is taken from now on.
    #[inline(always)]
    fn take(&mut self, rank: f64) {
        self.rank = from_fn(|k| if self.rank[k] == rank { rank - TAKEN as f64 } else { self.rank[k] });
    }

    /// Places a row by Dijkstra's search over the slack left_i + right_k - score_ik to the nearest free column; `false` if it has no place.
    #[inline(always)]
    fn search(&mut self, new_row: usize) -> bool {
        let left = most::<W>(from_fn(|k| self.scores[new_row][k] - self.right[k]));
        if left == f64::NEG_INFINITY {
            return false;
        }
        // Distances with their signs changed. Both are infinite for columns that are settled; those have a length at which they were reached.
        let (mut near, mut open_right) = ([f64::NEG_INFINITY; W], self.right);
        let mut reached = [f64::INFINITY; W];
        let mut from = [new_row as u64; W];
        let (mut row, mut left, mut length) = (new_row, left, 0.0_f64);
        let end = loop {
            let base = length + left;
            let through: [f64; W] = from_fn(|k| (self.scores[row][k] - open_right[k]) - base);
            from = from_fn(|k| if through[k] > near[k] { row as u64 } else { from[k] });
            near = from_fn(|k| larger(through[k], near[k]));
            let nearest = most(near);
            if nearest == f64::NEG_INFINITY {
                return false;
            }
            // Rounding may put a distance a hair below the length so far.
            length = larger(-nearest, length);
            let rank = self.first_at(nearest, &near);
            if !is_taken(rank) {
                break rank;
            }
            near = from_fn(|k| if self.rank[k] == rank { f64::NEG_INFINITY } else { near[k] });
            open_right = from_fn(|k| if self.rank[k] == rank { f64::INFINITY } else { open_right[k] });
            reached = from_fn(|k| if self.rank[k] == rank { length } else { reached[k] });
            row = self.row_of[column(rank)];
            left = self.scores[row][column(rank)] - self.right[column(rank)];
        };
        self.right = from_fn(|k| self.right[k] + larger(length - reached[k], 0.0));
        self.take(end);
        let mut column = column(end);
        loop {
            let row = from[column] as usize;
            self.row_of[column] = row;
            column = std::mem::replace(&mut self.column_of[row], column);
            if row == new_row {
                return true;
            }
        }
    }
}

#[inline(always)]
fn is_taken(rank: f64) -> bool {
    rank.to_bits() & TAKEN != 0
}

/// The column that has this rank.
#[inline(always)]
fn column(rank: f64) -> usize {
    (rank.to_bits() & (TAKEN - 1)) as usize
}

/// The largest lane.
#[inline(always)]
fn most<const W: usize>(lanes: [f64; W]) -> f64 {
    let four: [f64; 4] = from_fn(|lane| (lane..W).step_by(4).fold(f64::NEG_INFINITY, |most, k| larger(lanes[k], most)));
    let two: [f64; 2] = from_fn(|lane| larger(four[lane], four[lane + 2]));
    larger(two[0], two[1])
}

#[cfg(test)]
mod tests {
    use super::super::LinearBuffers;
    use super::*;
    use crate::matching::Sense;
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The best total over all assignments of the rows from `row` on to columns that are not taken.
    fn best_total(costs: &Array2<f64>, row: usize, taken: usize) -> f64 {
        if row == costs.nrows() {
            return 0.0;
        }
        let free = (0..costs.ncols()).filter(|k| taken >> k & 1 == 0);
        free.map(|k| costs[[row, k]] + best_total(costs, row + 1, taken | 1 << k)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn tiny_tables_are_solved_as_by_trying_all() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut buffers = LinearBuffers::default();
        let mut taken = 0;
        for step in 0..3000 {
            let m = if step % 100 == 0 { rng.random_range(6..=MOST) } else { rng.random_range(1..6) };
            let n = rng.random_range(1..=m.min(5));
            let forbidden = [0.0, 0.2, 0.7][step / 4 % 3];
            let mut costs = Array2::from_shape_simple_fn((n, m), || match step % 4 {
                0 => f64::from(rng.random_range(0..3)),
                1 => f64::from(rng.random_range(-50..50)),
                2 => 1.0 - rng.random::<f64>() * f64::from(u8::from(rng.random_range(0..4) == 0)),
                _ => rng.random(),
            });
            costs.mapv_inplace(|cost| if rng.random_bool(forbidden) { f64::INFINITY } else { cost });
            let given = Given { node: costs.view(), sense: Sense::Minimize, prices: None, control: None };
            buffers.begin((n, m));
            buffers.unmatched.clear();
            let best = best_total(&costs, 0, 0);
            // What gives up next to nothing is left to the general solver, and so is what leaves a row without a place.
            if !buffers.assign_tiny(&given) {
                continue;
            }
            taken += 1;
            let chosen = |row: usize| buffers.right_of[row].map_or(f64::NAN, |column| costs[[row, column]]);
            let total: f64 = (0..n).map(chosen).sum();
            assert!((total - best).abs() < 1e-9, "step {step}: {costs}");
            let slack = |i: usize, k: usize| buffers.left[i] + buffers.right[k] + costs[[i, k]];
            assert!((0..n).all(|i| (0..m).all(|k| slack(i, k) > -1e-12)), "step {step}");
            let bound = buffers.left.iter().chain(&buffers.right).sum::<f64>();
            assert!((bound + total).abs() < 1e-9 && buffers.right.iter().all(|&right| right >= 0.0), "step {step}");
        }
        assert!(taken > 2000, "{taken}");
    }

    #[test]
    fn what_is_not_ordinary_is_left_to_others() {
        let mut buffers = LinearBuffers::default();
        let mut is_taken = |costs: Array2<f64>| {
            buffers.begin((2, 2));
            buffers.assign_tiny(&Given { node: costs.view(), sense: Sense::Minimize, prices: None, control: None })
        };
        for odd in [f64::NAN, f64::NEG_INFINITY, 1e300] {
            assert!(!is_taken(ndarray::array![[1.0, odd], [2.0, 3.0]]), "{odd}");
        }
        // Forbidden pairs are ordinary if every row has a place.
        let never = f64::INFINITY;
        assert!(is_taken(ndarray::array![[1.0, never], [2.0, 3.0]]));
        assert!(!is_taken(ndarray::array![[1.0, never], [2.0, never]]));
        assert!(!is_taken(ndarray::array![[never, never], [2.0, 3.0]]));
    }
}

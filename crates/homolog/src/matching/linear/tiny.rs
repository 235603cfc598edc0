//! Tables of at most twelve columns, on the stack: shortest augmenting paths from the best column of each row, without the set-up that pays off
//! only for larger ones. O(n² m).
//!
//! Takes ordinary numbers alone: no forbidden pairs, no prices, no sums out of range, nothing that rounding could hide. All else is left to
//! the general solver.

use super::buffers::LinearBuffers;
use super::careful::is_precise;
use super::few::ORDINARY;
use super::given::Given;

/// The most columns.
pub(super) const MOST: usize = 12;
/// "No row".
const FREE: usize = usize::MAX;

impl LinearBuffers {
    /// Solves a table of at most twelve columns and no more rows; `false` if it is not ordinary.
    pub(super) fn assign_tiny(&mut self, problem: &Given<'_>) -> bool {
        let Some(values) = problem.node.as_slice() else {
            // The same answer in any memory order.
            let node = problem.node.as_standard_layout();
            return node.is_standard_layout() && self.assign_tiny(&Given { node: node.view(), ..*problem });
        };
        match problem.node.ncols() {
            0 => false,
            1..=4 => self.assign_within::<4>(problem, values),
            5..=8 => self.assign_within::<8>(problem, values),
            _ => self.assign_within::<MOST>(problem, values),
        }
    }

    /// With at most `W` columns.
    fn assign_within<const W: usize>(&mut self, problem: &Given<'_>, values: &[f64]) -> bool {
        let ((n, m), sign) = (problem.node.dim(), problem.sign());
        let mut tiny = Tiny::<W>::default();
        let (mut largest, mut is_ordinary, mut best) = (0.0_f64, true, [f64::NEG_INFINITY; W]);
        for ((scores, row), best) in tiny.scores.iter_mut().zip(values.chunks_exact(m)).zip(&mut best) {
            for (score, &value) in scores.iter_mut().zip(row) {
                *score = sign * value;
                *best = if *score > *best { *score } else { *best };
                largest = if value.abs() > largest { value.abs() } else { largest };
                // False for NaN.
                is_ordinary &= value.abs() <= *ORDINARY.end();
            }
        }
        if !is_ordinary || (largest != 0.0 && largest < *ORDINARY.start()) {
            return false;
        }
        (0..n).for_each(|row| tiny.place(row));
        let own = |row: usize| tiny.scores[row][tiny.column_of[row]];
        let loss: f64 = (0..n).map(|row| best[row] - own(row)).sum();
        if loss == 0.0 {
            // Every row has its best, and dual values of zero prove it.
            (tiny.left, tiny.right) = (best, [0.0; W]);
        } else if !is_precise(
            &tiny.left[..n],
            &tiny.right[..m],
            |row| tiny.column_of[row],
            |row| tiny.scores[row].iter().copied(),
            loss,
        ) {
            return false;
        }
        self.left.copy_from_slice(&tiny.left[..n]);
        self.right.copy_from_slice(&tiny.right[..m]);
        for (right, &column) in self.right_of.iter_mut().zip(&tiny.column_of) {
            *right = Some(column);
        }
        true
    }
}

/// The scores with the matching and the dual values; columns that do not exist are forbidden.
struct Tiny<const W: usize> {
    scores: [[f64; W]; W],
    left: [f64; W],
    right: [f64; W],
    row_of: [usize; W],
    column_of: [usize; W],
}

impl<const W: usize> Default for Tiny<W> {
    fn default() -> Self {
        Self {
            scores: [[f64::NEG_INFINITY; W]; W],
            left: [0.0; W],
            right: [0.0; W],
            row_of: [FREE; W],
            column_of: [0; W],
        }
    }
}

impl<const W: usize> Tiny<W> {
    /// Places a row, in its best column if that is free.
    fn place(&mut self, row: usize) {
        let scores = &self.scores[row];
        let (mut best, mut column) = (f64::NEG_INFINITY, 0);
        // No branches: which value is larger cannot be predicted.
        for k in 0..W {
            let value = scores[k] - self.right[k];
            column = if value > best { k } else { column };
            best = if value > best { value } else { best };
        }
        self.left[row] = best;
        if self.row_of[column] == FREE {
            self.row_of[column] = row;
            self.column_of[row] = column;
        } else {
            self.search(row);
        }
    }

    /// Dijkstra's search over the slack left_i + right_k - score_ik to the nearest free column.
    fn search(&mut self, new_row: usize) {
        // Both infinite for columns that are settled.
        let (mut distance, mut open_right) = ([f64::INFINITY; W], self.right);
        let mut from = [new_row; W];
        let (mut settled, mut count) = ([(0, 0.0); W], 0);
        let (mut row, mut length) = (new_row, 0.0_f64);
        let end = loop {
            let base = length + self.left[row];
            let (mut nearest, mut column) = (f64::INFINITY, 0);
            for k in 0..W {
                let through = base + (open_right[k] - self.scores[row][k]);
                from[k] = if through < distance[k] { row } else { from[k] };
                distance[k] = if through < distance[k] { through } else { distance[k] };
                column = if distance[k] < nearest { k } else { column };
                nearest = if distance[k] < nearest { distance[k] } else { nearest };
            }
            // Rounding may put a distance a hair below the length so far.
            length = nearest.max(length);
            if self.row_of[column] == FREE {
                break column;
            }
            settled[count] = (column, length);
            count += 1;
            distance[column] = f64::INFINITY;
            open_right[column] = f64::INFINITY;
            row = self.row_of[column];
        };
        for &(column, reached) in &settled[..count] {
            self.right[column] += length - reached;
            self.left[self.row_of[column]] -= length - reached;
        }
        self.left[new_row] -= length;
        let mut column = end;
        loop {
            let row = from[column];
            self.row_of[column] = row;
            column = std::mem::replace(&mut self.column_of[row], column);
            if row == new_row {
                return;
            }
        }
    }
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
        for step in 0..3000 {
            let m = if step % 100 == 0 { rng.random_range(6..9) } else { rng.random_range(1..6) };
            let n = rng.random_range(1..=m.min(5));
            let costs = Array2::from_shape_simple_fn((n, m), || match step % 4 {
                0 => f64::from(rng.random_range(0..3)),
                1 => f64::from(rng.random_range(-50..50)),
                2 => 1.0 - rng.random::<f64>() * f64::from(u8::from(rng.random_range(0..4) == 0)),
                _ => rng.random(),
            });
            let given = Given { node: costs.view(), sense: Sense::Minimize, prices: None, control: None };
            buffers.begin((n, m));
            buffers.unmatched.clear();
            // What gives up next to nothing is left to the general solver.
            if !buffers.assign_tiny(&given) {
                continue;
            }
            let chosen = |row: usize| buffers.right_of[row].map_or(f64::NAN, |column| costs[[row, column]]);
            let total: f64 = (0..n).map(chosen).sum();
            assert!((total - best_total(&costs, 0, 0)).abs() < 1e-9, "step {step}: {costs}");
            let slack = |i: usize, k: usize| buffers.left[i] + buffers.right[k] + costs[[i, k]];
            assert!((0..n).all(|i| (0..m).all(|k| slack(i, k) > -1e-12)), "step {step}");
            let bound = buffers.left.iter().chain(&buffers.right).sum::<f64>();
            assert!((bound + total).abs() < 1e-9 && buffers.right.iter().all(|&right| right >= 0.0), "step {step}");
        }
    }

    #[test]
    fn what_is_not_ordinary_is_left_to_others() {
        let mut buffers = LinearBuffers::default();
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            let costs = ndarray::array![[1.0, odd], [2.0, 3.0]];
            buffers.begin((2, 2));
            let given = Given { node: costs.view(), sense: Sense::Minimize, prices: None, control: None };
            assert!(!buffers.assign_tiny(&given), "{odd}");
        }
    }
}

//! Linear assignment that leaves a reduced table behind: from all costs of row i and column k, u_i + v_k is subtracted so that none is below 0 and
//! those of a best assignment are 0; Σ u + Σ v is the cost of that assignment.
//!
//! For thousands of small tables that are nearly reduced already: rows and columns first, then shortest paths for the rows that are left over.
//! Infinite costs are forbidden. With whole numbers below 2^53 nothing is rounded. O(size³) at worst, size² for a reduced table.

/// "No row", "no column".
const NONE: usize = usize::MAX;

#[derive(Default)]
pub(super) struct Reduction {
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    u: Vec<f64>,
    v: Vec<f64>,
    distance: Vec<f64>,
    from: Vec<usize>,
    is_done: Vec<bool>,
}

impl Reduction {
    /// Reduces a square table and returns the cost of the best assignment; infinity if there is none, and then the table is of no use.
    pub(super) fn reduce(&mut self, cost: &mut [f64], size: usize) -> f64 {
        refill(&mut self.v, size, f64::INFINITY);
        let mut total = 0.0;
        for row in cost.chunks_exact_mut(size) {
            let least = row.iter().fold(f64::INFINITY, |least, &c| if c < least { c } else { least });
            if least == f64::INFINITY {
                return least;
            }
            total += least;
            for (c, v) in row.iter_mut().zip(&mut self.v) {
                *c -= least;
                *v = if *c < *v { *c } else { *v };
            }
        }
        let raised: f64 = self.v.iter().sum();
        if raised > 0.0 && raised < f64::INFINITY {
            for row in cost.chunks_exact_mut(size) {
                row.iter_mut().zip(&self.v).for_each(|(c, v)| *c -= v);
            }
        }
        if raised == f64::INFINITY { raised } else { total + raised + self.augment(cost, size) }
    }

    /// The same for a table with a 0 in every row and column.
    fn augment(&mut self, cost: &mut [f64], size: usize) -> f64 {
        refill(&mut self.row_of, size, NONE);
        refill(&mut self.column_of, size, NONE);
        let mut is_full = true;
        for (i, row) in cost.chunks_exact(size).enumerate() {
            match row.iter().zip(&self.row_of).position(|(&c, &owner)| c == 0.0 && owner == NONE) {
                Some(k) => (self.row_of[k], self.column_of[i]) = (i, k),
                None => is_full = false,
            }
        }
        if is_full {
            return 0.0;
        }
        refill(&mut self.u, size, 0.0);
        refill(&mut self.v, size, 0.0);
        let mut total = 0.0;
        for start in 0..size {
            if self.column_of[start] == NONE {
                let Some(raised) = self.find_path(start, cost, size) else { return f64::INFINITY };
                total += raised;
            }
        }
        for (row, u) in cost.chunks_exact_mut(size).zip(&self.u) {
            row.iter_mut().zip(&self.v).for_each(|(c, v)| *c -= u + v);
        }
        total
    }

    /// Gives a row a column by the shortest path to a free one; returns its length, or `None` if there is no path.
    fn find_path(&mut self, start: usize, cost: &[f64], size: usize) -> Option<f64> {
        refill(&mut self.is_done, size, false);
        refill(&mut self.from, size, start);
        self.distance.clear();
        let u = self.u[start];
        self.distance.extend(cost[start * size..][..size].iter().zip(&self.v).map(|(c, v)| c - u - v));
        let (end, length) = loop {
            let (mut at, mut least) = (NONE, f64::INFINITY);
            for (k, (&distance, &is_done)) in self.distance.iter().zip(&self.is_done).enumerate() {
                if distance < least && !is_done {
                    (at, least) = (k, distance);
                }
            }
            if at == NONE {
                return None;
            }
            self.is_done[at] = true;
            let i = self.row_of[at];
            if i == NONE {
                break (at, least);
            }
            let base = least - self.u[i];
            for (k, c) in cost[i * size..][..size].iter().enumerate() {
                let distance = base + c - self.v[k];
                if distance < self.distance[k] && !self.is_done[k] {
                    self.distance[k] = distance;
                    self.from[k] = i;
                }
            }
        };
        for k in (0..size).filter(|&k| self.is_done[k] && k != end) {
            let more = length - self.distance[k];
            self.v[k] -= more;
            self.u[self.row_of[k]] += more;
        }
        self.u[start] += length;
        let mut k = end;
        loop {
            let i = self.from[k];
            let next = self.column_of[i];
            (self.row_of[k], self.column_of[i]) = (i, k);
            if i == start {
                return Some(length);
            }
            k = next;
        }
    }
}

fn refill<T: Clone>(list: &mut Vec<T>, size: usize, value: T) {
    list.clear();
    list.resize(size, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Compatibility, Linear, Matcher};
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn what_is_subtracted_is_the_cost_of_the_best_assignment() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut reduction = Reduction::default();
        for round in 0..3000 {
            let size = random.random_range(1..9);
            let most = [2, 5, 1000][round % 3];
            let mut cell = || match random.random_range(0..6) {
                0 => f64::INFINITY,
                _ => f64::from(random.random_range(0..most)),
            };
            let cost: Vec<f64> = (0..size * size).map(|_| cell()).collect();
            let mut reduced = cost.clone();
            let total = reduction.reduce(&mut reduced, size);
            let scores = Array2::from_shape_fn((size, size), |(i, k)| -cost[i * size + k]);
            let answer = Linear::default().solve(&Compatibility::linear(scores)).expect("a small problem");
            if answer.matching.pairs().count() < size {
                assert_eq!(total, f64::INFINITY, "{cost:?}");
                continue;
            }
            assert_eq!(total, -answer.score, "{cost:?}");
            assert!(reduced.iter().all(|&c| c >= 0.0), "{reduced:?}");
            // What is left is what was subtracted from rows and columns: the same for every assignment, so also for this one.
            assert_eq!(answer.matching.pairs().map(|(i, k)| reduced[i * size + k]).sum::<f64>(), 0.0);
            let is_closed = cost.iter().zip(&reduced).all(|(cost, reduced)| cost.is_finite() == reduced.is_finite());
            assert!(is_closed);
        }
    }
}

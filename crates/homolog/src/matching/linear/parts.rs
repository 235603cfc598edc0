//! If not every node has a place: the crowd and the rest are solved apart. And what is answered when the caller will not wait.

use super::buffers::{LinearBuffers, some_if_any};
use super::core::Scores;
use super::crowd;
use super::given::Given;

impl LinearBuffers {
    /// Finds the crowd and solves it (transposed: its right nodes choose) and the rest apart.
    pub(super) fn solve_split(&mut self, problem: &Given<'_>) {
        if !self.solve_parts(problem) {
            self.stop(problem);
        }
    }

    /// `false`: the caller will not wait.
    fn solve_parts(&mut self, problem: &Given<'_>) -> bool {
        let (n, m) = problem.node.dim();
        let goes_on = || problem.goes_on();
        let unmatched = some_if_any(&self.unmatched);
        let whole = Scores { rows: n, columns: m, values: &self.scores, sign: 1.0, unmatched };
        let Some(crowd) = crowd::find(&whole, &goes_on) else { return false };
        self.crowd = crowd;
        self.part.clear();
        for &k in &self.crowd.right {
            self.part.extend(self.crowd.left.iter().map(|&i| self.scores[i * m + k]));
        }
        let (rows, columns) = (self.crowd.right.len(), self.crowd.left.len());
        let inside = Scores { rows, columns, values: &self.part, sign: 1.0, unmatched: None };
        let placed = self.cores.solve(&inside, &goes_on);
        debug_assert!(placed || !goes_on(), "a crowd fills its right nodes");
        if !placed {
            return false;
        }
        self.take_crowd();

        let rest_left: Vec<usize> = (0..n).filter(|i| self.crowd.left.binary_search(i).is_err()).collect();
        let rest_right: Vec<usize> = (0..m).filter(|k| self.crowd.right.binary_search(k).is_err()).collect();
        self.part.clear();
        for &i in &rest_left {
            self.part.extend(rest_right.iter().map(|&k| self.scores[i * m + k]));
        }
        let prices = self.unmatched.get(..n);
        let prices: Option<Vec<f64>> = prices.map(|prices| rest_left.iter().map(|&i| prices[i]).collect());
        let (rows, columns) = (rest_left.len(), rest_right.len());
        let outside = Scores { rows, columns, values: &self.part, sign: 1.0, unmatched: prices.as_deref() };
        let placed = self.cores.solve(&outside, &goes_on);
        debug_assert!(placed || !goes_on(), "outside the crowd everybody has a place");
        if !placed {
            return false;
        }
        self.gap += self.cores.gap;
        let core = &self.cores.core;
        for (row, &i) in rest_left.iter().enumerate() {
            self.left[i] = core.left[row];
            self.right_of[i] = rest_right.get(core.column_of[row]).copied();
        }
        for (column, &k) in rest_right.iter().enumerate() {
            self.right[k] = core.right[column];
        }
        true
    }

    /// Takes over a transposed answer for the crowd.
    pub(super) fn take_crowd(&mut self) {
        self.gap += self.cores.gap;
        let core = &self.cores.core;
        for (row, &k) in self.crowd.right.iter().enumerate() {
            self.right[k] = core.left[row];
            if let Some(&i) = self.crowd.left.get(core.column_of[row]) {
                self.right_of[i] = Some(k);
            }
        }
        for (column, &i) in self.crowd.left.iter().enumerate() {
            self.left[i] = core.right[column];
        }
    }

    /// The caller will not wait: nodes without a place that must have one take any that is free and allowed.
    pub(super) fn stop(&mut self, problem: &Given<'_>) {
        let mut is_free = vec![true; problem.node.ncols()];
        self.right_of.iter().flatten().for_each(|&k| is_free[k] = false);
        // Taken from the end.
        let mut free: Vec<usize> = (0..is_free.len()).rev().filter(|&k| is_free[k]).collect();
        for (i, right) in self.right_of.iter_mut().enumerate().filter(|(_, right)| right.is_none()) {
            let must = self.unmatched.get(i).is_none_or(|&price| price == f64::NEG_INFINITY);
            let allowed = |&k: &usize| problem.node[[i, k]] != problem.sense.forbidden();
            if must && let Some(at) = free.iter().rposition(allowed) {
                *right = Some(free.remove(at));
            }
        }
        self.stopped = true;
    }
}

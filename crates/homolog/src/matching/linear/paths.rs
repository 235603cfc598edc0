//! The core of linear assignment: left nodes are placed one at a time, each along a shortest augmenting path (Dijkstra over the
//! dual slack left_i + right_k - score_ik >= 0, which only path ends and their duals change).
//!
//! Invariants after each row: slack >= 0 everywhere and = 0 on placed pairs; right_k >= 0, and = 0 on free columns;
//! left_i >= unmatched_i, with equality where i stays unmatched. They are the certificate.

/// "No column" and "no row".
pub(super) const NONE: usize = usize::MAX;

/// A problem in which every row is to be placed: in a column, or (where `unmatched` has a finite score for it) nowhere.
pub(super) struct Scores<'a> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row by row; minus infinity forbids. Neither NaN nor plus infinity.
    pub(super) values: &'a [f64],
    /// Score for staying unmatched; minus infinity, or `None` for all: must be placed.
    pub(super) unmatched: Option<&'a [f64]>,
}

/// The answer of the last solve, and scratch.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) column_of: Vec<usize>,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
    row_of: Vec<usize>,
    distance: Vec<f64>,
    /// The row from which a column was reached.
    from: Vec<usize>,
    /// Columns not yet settled, and after them (towards the end) the settled ones.
    open: Vec<usize>,
}

impl Buffers {
    /// Places every row; `false` if some row has no place, and then the rest of the answer means nothing.
    pub(super) fn solve(&mut self, problem: &Scores<'_>) -> bool {
        let (n, m) = (problem.rows, problem.columns);
        super::reset(&mut self.column_of, n, NONE);
        super::reset(&mut self.row_of, m, NONE);
        super::reset(&mut self.left, n, 0.0);
        super::reset(&mut self.right, m, 0.0);
        (0..n).all(|row| self.place(problem, row))
    }

    fn place(&mut self, problem: &Scores<'_>, new_row: usize) -> bool {
        let m = problem.columns;
        super::reset(&mut self.distance, m, f64::INFINITY);
        super::reset(&mut self.from, m, NONE);
        self.open.clear();
        self.open.extend(0..m);
        let (mut row, mut length) = (new_row, 0.0);
        // The best way to end by leaving a row of the tree unmatched: (length, row).
        let mut exit = (f64::INFINITY, NONE);
        let scores = &problem.values[new_row * m..][..m];
        self.left[new_row] =
            scores.iter().zip(&self.right).map(|(score, right)| score - right).fold(f64::NEG_INFINITY, f64::max);
        if let Some(unmatched) = problem.unmatched {
            self.left[new_row] = self.left[new_row].max(unmatched[new_row]);
        }
        if self.left[new_row] == f64::NEG_INFINITY {
            return false;
        }
        let mut settled = Vec::new();
        let end = loop {
            if let Some(unmatched) = problem.unmatched {
                let through = length + (self.left[row] - unmatched[row]);
                if through < exit.0 {
                    exit = (through, row);
                }
            }
            let scores = &problem.values[row * m..][..m];
            let mut nearest = (f64::INFINITY, NONE);
            for (at, &column) in self.open.iter().enumerate() {
                let through = length + (self.left[row] + self.right[column] - scores[column]);
                if through < self.distance[column] {
                    self.distance[column] = through;
                    self.from[column] = row;
                }
                let reach = self.distance[column];
                if reach < nearest.0
                    || reach == nearest.0
                        && reach < f64::INFINITY
                        && self.row_of[column] == NONE
                        && self.row_of[self.open[nearest.1]] != NONE
                {
                    nearest = (reach, at);
                }
            }
            if nearest.1 == NONE || exit.0 <= nearest.0 {
                if exit.1 == NONE {
                    return false;
                }
                length = exit.0;
                break NONE;
            }
            let column = self.open.remove(nearest.1);
            length = nearest.0;
            if self.row_of[column] == NONE {
                break column;
            }
            settled.push(column);
            row = self.row_of[column];
        };
        self.left[new_row] -= length;
        for &column in &settled {
            let shift = length - self.distance[column];
            self.left[self.row_of[column]] -= shift;
            self.right[column] += shift;
        }
        // Walk back, handing each column to the row it was reached from.
        let (mut row, mut column) = if end == NONE { (exit.1, NONE) } else { (self.from[end], end) };
        loop {
            let freed = std::mem::replace(&mut self.column_of[row], column);
            if column != NONE {
                self.row_of[column] = row;
            }
            if row == new_row {
                return true;
            }
            column = freed;
            row = self.from[column];
        }
    }
}

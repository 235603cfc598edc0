//! Which left nodes compete in vain: the part of the Dulmage–Mendelsohn decomposition that has too many rows.
//!
//! A maximum matching of the allowed pairs is found by augmenting paths (O(n · cells)). From the rows it leaves over, alternating
//! paths reach rows L and columns R; L may go nowhere but R, R is full, and every maximum matching fills R from L alone. Rows that
//! may stay unmatched at a price count as placed: they end any path.

use super::core::{NONE, Scores};
use crate::matching::Shortage;

/// The rows that compete and all the columns they may go to. Empty if every row has a place; `None` if `goes_on` says no.
pub(super) fn find(problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> Option<Shortage> {
    let (n, m) = (problem.rows, problem.columns);
    let mut row_of = vec![NONE; m];
    let mut left_over = Vec::new();
    let mut search = CrowdSearch { problem, from: vec![NONE; m], reached: Vec::new() };
    for row in 0..n {
        if !goes_on() {
            return None;
        }
        if !search.place(row, &mut row_of) {
            left_over.push(row);
        }
    }
    let mut left = Vec::new();
    let mut seen = vec![false; m];
    let mut queue = left_over;
    while let Some(row) = queue.pop() {
        left.push(row);
        for column in 0..m {
            if !seen[column] && problem.values[row * m + column] > f64::NEG_INFINITY {
                seen[column] = true;
                // A free column here would have been an augmenting path.
                if row_of[column] != NONE {
                    queue.push(row_of[column]);
                }
            }
        }
    }
    left.sort_unstable();
    Some(Shortage { left, right: (0..m).filter(|&column| seen[column]).collect() })
}

struct CrowdSearch<'a> {
    problem: &'a Scores<'a>,
    /// The row a column was reached from; `NONE` if it was not reached.
    from: Vec<usize>,
    reached: Vec<usize>,
}

impl CrowdSearch<'_> {
    /// Places a row by a breadth-first augmenting path.
    fn place(&mut self, new_row: usize, row_of: &mut [usize]) -> bool {
        let m = self.problem.columns;
        self.from.fill(NONE);
        self.reached.clear();
        let mut row = new_row;
        let mut next = 0;
        let mut column_of_row = NONE;
        loop {
            // A row that may stay unmatched gives up its column.
            if self.problem.unmatched.is_some_and(|unmatched| unmatched[row] > f64::NEG_INFINITY) {
                return self.hand_over(row, column_of_row, new_row, row_of);
            }
            for column in 0..m {
                if self.from[column] == NONE && self.problem.values[row * m + column] > f64::NEG_INFINITY {
                    self.from[column] = row;
                    if row_of[column] == NONE {
                        return self.augment(column, new_row, row_of);
                    }
                    self.reached.push(column);
                }
            }
            let Some(&column) = self.reached.get(next) else { return false };
            next += 1;
            column_of_row = column;
            row = row_of[column];
        }
    }

    fn hand_over(&self, row: usize, column: usize, new_row: usize, row_of: &mut [usize]) -> bool {
        if row != new_row {
            row_of[column] = NONE;
            return self.augment(column, new_row, row_of);
        }
        true
    }

    /// Hands each column on the path back to the row it was reached from.
    fn augment(&self, end: usize, new_row: usize, row_of: &mut [usize]) -> bool {
        let mut column = end;
        loop {
            let row = self.from[column];
            if row == new_row {
                row_of[column] = row;
                return true;
            }
            let freed = row_of.iter().position(|&owner| owner == row).unwrap_or(NONE);
            row_of[column] = row;
            column = freed;
        }
    }
}

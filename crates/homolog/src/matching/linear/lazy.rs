//! Shortest augmenting paths on a short list of columns for each row, yet exact: for problems with many columns.
//!
//! Each row keeps a list of columns and a threshold for the others (`lists`). In Dijkstra's search a row reached at length L enters
//! its listed columns at once, and a promise into the heap: its unlisted columns are no nearer than L + left - threshold. Only if
//! the search gets that far is the whole row read and its list rebuilt.

use super::core::{Core, NONE, Scores};
use super::dense::Dense;
use super::lists::{Lists, NEXT_TARGET, narrow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Once this share of the rows had to be read as a whole (many equal scores cause that), lists do not pay off.
const WHOLE_ROWS_SHARE: usize = 16;

/// The scratch memory of a search.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    /// How often a whole row was relaxed because lists did not suffice.
    whole_rows: usize,
    search: PathSearch,
}

#[derive(Debug, Default)]
struct PathSearch {
    distance: Vec<f64>,
    from: Vec<usize>,
    settled: Vec<bool>,
    touched: Vec<usize>,
    /// (distance as ordered bits, promise of a tree row, or column).
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Rows of the tree: row, length, how often its list was rebuilt in this search.
    tree: Vec<(usize, f64, u8)>,
    settled_columns: Vec<usize>,
    /// The nearest end: distance, and either a free column or (column `NONE`) a row to leave unmatched.
    end: (f64, usize, usize),
}

impl Lazy {
    /// Places every row; `false` if some row has no place, or if `goes_on` says no.
    pub(super) fn solve(
        &mut self,
        problem: &Scores<'_>,
        core: &mut Core,
        lists: &mut Lists,
        dense: &mut Dense,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        let (n, m) = (problem.rows, problem.columns);
        super::reset(&mut self.search.distance, m, f64::INFINITY);
        super::reset(&mut self.search.from, m, NONE);
        super::reset(&mut self.search.settled, m, false);
        self.whole_rows = 0;
        for row in 0..n {
            if core.is_placed(row) {
                continue;
            }
            let worn_out = self.whole_rows > n / WHOLE_ROWS_SHARE;
            let placed = goes_on()
                && if worn_out { dense.place(problem, core, row) } else { self.place(problem, core, lists, row) };
            if !placed {
                return false;
            }
        }
        true
    }

    /// Places one row along a shortest augmenting path.
    fn place(&mut self, problem: &Scores<'_>, core: &mut Core, lists: &mut Lists, new_row: usize) -> bool {
        if core.left[new_row] == f64::NEG_INFINITY {
            return false;
        }
        self.search.tree.clear();
        self.search.settled_columns.clear();
        self.search.heap.clear();
        self.search.end = (f64::INFINITY, NONE, NONE);
        self.reach(problem, core, lists, new_row, 0.0);
        let mut length = 0.0_f64;
        while let Some(Reverse((bits, what))) = self.search.heap.pop() {
            let distance = f64::from_bits(bits);
            if distance >= self.search.end.0 {
                break;
            }
            // Rounding may put a distance a hair below the length so far.
            length = length.max(distance);
            if what < COLUMNS_FROM {
                self.keep_promise(problem, core, lists, what as usize);
                continue;
            }
            let column = (what - COLUMNS_FROM) as usize;
            if !self.search.settled[column] {
                self.search.settled[column] = true;
                self.search.settled_columns.push(column);
                self.reach(problem, core, lists, core.row_of[column], length);
            }
        }
        let found = self.search.end.0 < f64::INFINITY;
        if found {
            self.search.finish(core, new_row);
        }
        for &column in &self.search.touched {
            self.search.distance[column] = f64::INFINITY;
            self.search.settled[column] = false;
        }
        self.search.touched.clear();
        found
    }

    /// Takes a row into the tree.
    fn reach(&mut self, problem: &Scores<'_>, core: &Core, lists: &mut Lists, row: usize, length: f64) {
        let position = self.search.tree.len();
        self.search.tree.push((row, length, 0));
        if let Some(unmatched) = problem.unmatched {
            let through = length + (core.left[row] - unmatched[row]);
            if through < self.search.end.0 {
                self.search.end = (through, NONE, row);
            }
        }
        if !lists.is_listed(row) {
            lists.list_anew(problem, &core.right, row);
        }
        self.relax_list(core, lists, position);
    }

    fn relax_list(&mut self, core: &Core, lists: &Lists, position: usize) {
        let (row, length, _) = self.search.tree[position];
        let base = length + core.left[row];
        for (column, score) in lists.cells(row) {
            self.search.relax(core, row, column, base + (core.right[column] - score));
        }
        let threshold = lists.threshold(row);
        if threshold > f64::NEG_INFINITY {
            let promised = length + (core.left[row] - threshold).max(0.0);
            if promised < self.search.end.0 {
                self.search.heap.push(Reverse((promised.to_bits(), narrow(position))));
            }
        }
    }

    /// The search has come as far as a row's unlisted columns might be: rebuilds the list, and the second time reads the whole row.
    fn keep_promise(&mut self, problem: &Scores<'_>, core: &Core, lists: &mut Lists, position: usize) {
        let (row, length, times) = self.search.tree[position];
        let scores = problem.row(row);
        self.search.tree[position].2 += 1;
        if times == 0 {
            lists.list_best(problem, &core.right, row, NEXT_TARGET);
            self.relax_list(core, lists, position);
        } else {
            self.whole_rows += 1;
            let base = length + core.left[row];
            for (column, &value) in scores.iter().enumerate() {
                self.search.relax(core, row, column, base + (core.right[column] - problem.sign * value));
            }
        }
    }
}

/// Heap entries below this are promises of tree rows, from here on they are columns: at equal distance promises come first.
const COLUMNS_FROM: u32 = 1 << 31;

impl PathSearch {
    fn relax(&mut self, core: &Core, row: usize, column: usize, through: f64) {
        if through >= self.end.0 {
            return;
        }
        if core.row_of[column] == NONE {
            self.end = (through, column, row);
        } else if through < self.distance[column] && !self.settled[column] {
            if self.distance[column] == f64::INFINITY {
                self.touched.push(column);
            }
            self.distance[column] = through;
            self.from[column] = row;
            self.heap.push(Reverse((through.max(0.0).to_bits(), COLUMNS_FROM + narrow(column))));
        }
    }

    /// Changes the dual values and hands each column on the path back to the row that reached it.
    fn finish(&mut self, core: &mut Core, new_row: usize) {
        let (length, mut column, mut row) = self.end;
        for &(row, reached, _) in &self.tree {
            core.left[row] -= (length - reached).max(0.0);
        }
        for &column in &self.settled_columns {
            core.right[column] += (length - self.distance[column]).max(0.0);
        }
        loop {
            let freed = core.column_of[row];
            if column == NONE {
                core.leave_unmatched(row);
            } else {
                core.assign(row, column);
            }
            if row == new_row {
                return;
            }
            column = freed;
            row = self.from[column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The total of an answer, or `None` where a row has no place.
    fn total(problem: &Scores<'_>, is_lazy: bool) -> Option<f64> {
        let (mut core, mut dense, mut lazy, mut lists) =
            (Core::default(), Dense::default(), Lazy::default(), Lists::default());
        lists.begin(problem.rows, problem.columns);
        core.clear(problem.rows, problem.columns);
        core.left.fill(1e3);
        let placed = if is_lazy {
            lazy.solve(problem, &mut core, &mut lists, &mut dense, &|| true)
        } else {
            dense.solve(problem, &mut core, &|| true)
        };
        placed.then(|| {
            let score = |row: usize| match core.column_of[row] {
                NONE => problem.floor(row),
                column => problem.score(row, column),
            };
            (0..problem.rows).map(score).sum()
        })
    }

    #[test]
    fn lists_and_whole_rows_agree() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for step in 0..3000 {
            let (n, m) = (rng.random_range(1..40), rng.random_range(40..90));
            let ties = step % 3 == 0;
            let forbidden = [0.0, 0.3, 0.97][step % 5 % 3];
            let mut score = || if ties { f64::from(rng.random_range(0..3)) } else { rng.random() };
            let mut values: Vec<f64> = (0..n * m).map(|_| score()).collect();
            let prices: Vec<f64> = (0..n).map(|_| score() - 0.1).collect();
            for value in &mut values {
                if rng.random_bool(forbidden) {
                    *value = f64::NEG_INFINITY;
                }
            }
            for unmatched in [None, Some(&prices[..])] {
                let problem = Scores { rows: n, columns: m, values: &values, sign: 1.0, unmatched };
                match (total(&problem, true), total(&problem, false)) {
                    (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{a} and {b}"),
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
    }
}

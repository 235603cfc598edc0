//! Shortest augmenting paths on a short list of columns for each row, yet exact: for problems with many columns.
//!
//! Each row keeps the columns of its largest reduced scores (score - right) and a threshold that none of the others exceeds. Right
//! values never fall, so the threshold stays valid for the rest of the solve. In Dijkstra's search a row reached at length L enters
//! its listed columns at once, and a promise into the heap: its unlisted columns are no nearer than L + left - threshold. Only if
//! the search gets that far is the whole row read and its list rebuilt. Most rows are read two or three times in all.

use super::core::{Core, NONE, Scores};
use super::dense::Dense;
use super::scan::{reduce, strided_maxima};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Problems with fewer columns than this are better read by whole rows.
pub(super) const FEWEST_COLUMNS: usize = 800;
/// A first list holds the columns that beat this many strides' maxima: at least this many columns, usually a few more.
const FIRST_TARGET: usize = 10;
/// The same for a row whose first list did not suffice.
const NEXT_TARGET: usize = 40;
/// The most columns a list holds.
const LIST_CAPACITY: usize = 64;
/// How many columns share a stride's maximum.
const STRIDE_SHARE: usize = 16;
/// Once this share of the rows had to be read as a whole (many equal scores cause that), lists do not pay off.
const WHOLE_ROWS_SHARE: usize = 16;

/// The lists, and the scratch memory of one search.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    /// `LIST_CAPACITY` places for each row.
    columns: Vec<u32>,
    scores: Vec<f64>,
    counts: Vec<usize>,
    /// No unlisted column of a row has a larger score - right.
    threshold: Vec<f64>,
    reduced: Vec<f64>,
    maxima: Vec<f64>,
    /// How often a whole row was relaxed because lists did not suffice.
    whole_rows: usize,
    order: Vec<f64>,
    gathered: Vec<(u32, f64)>,
    search: Search,
}

#[derive(Debug, Default)]
struct Search {
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
        dense: &mut Dense,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        let (n, m) = (problem.rows, problem.columns);
        if self.columns.len() < n * LIST_CAPACITY {
            super::reset(&mut self.columns, n * LIST_CAPACITY, 0);
            super::reset(&mut self.scores, n * LIST_CAPACITY, 0.0);
        }
        super::reset(&mut self.counts, n, NONE);
        super::reset(&mut self.threshold, n, f64::INFINITY);
        super::reset(&mut self.reduced, m, 0.0);
        super::reset(&mut self.maxima, m.div_ceil(STRIDE_SHARE), 0.0);
        super::reset(&mut self.gathered, m, (0, 0.0));
        super::reset(&mut self.search.distance, m, f64::INFINITY);
        super::reset(&mut self.search.from, m, NONE);
        super::reset(&mut self.search.settled, m, false);
        self.whole_rows = 0;
        for row in 0..n {
            if core.is_placed(row) {
                continue;
            }
            let worn_out = self.whole_rows > n / WHOLE_ROWS_SHARE;
            let placed =
                goes_on() && if worn_out { dense.place(problem, core, row) } else { self.place(problem, core, row) };
            if !placed {
                return false;
            }
        }
        true
    }

    /// Builds the list of a row from its current reduced scores.
    fn list_anew(&mut self, problem: &Scores<'_>, core: &Core, row: usize, target: usize) {
        let scores = problem.row(row);
        let sign = problem.sign;
        let (mut count, cut) =
            pulp::Arch::new().dispatch(Gather { lists: self, scores, sign, right: &core.right, target });
        self.threshold[row] = cut;
        if count > LIST_CAPACITY {
            let by_value = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
            self.gathered[..count].select_nth_unstable_by(LIST_CAPACITY, by_value);
            self.threshold[row] = self.gathered[LIST_CAPACITY].1;
            count = LIST_CAPACITY;
        }
        self.counts[row] = count;
        let start = row * LIST_CAPACITY;
        for (place, &(column, _)) in self.gathered[..count].iter().enumerate() {
            self.columns[start + place] = column;
            self.scores[start + place] = sign * scores[column as usize];
        }
    }

    /// Places one row along a shortest augmenting path.
    fn place(&mut self, problem: &Scores<'_>, core: &mut Core, new_row: usize) -> bool {
        if core.left[new_row] == f64::NEG_INFINITY {
            return false;
        }
        self.search.tree.clear();
        self.search.settled_columns.clear();
        self.search.heap.clear();
        self.search.end = (f64::INFINITY, NONE, NONE);
        self.reach(problem, core, new_row, 0.0);
        let mut length = 0.0_f64;
        while let Some(Reverse((bits, what))) = self.search.heap.pop() {
            let distance = f64::from_bits(bits);
            if distance >= self.search.end.0 {
                break;
            }
            // Rounding may put a distance a hair below the length so far.
            length = length.max(distance);
            if what < COLUMNS_FROM {
                self.keep_promise(problem, core, what as usize);
                continue;
            }
            let column = (what - COLUMNS_FROM) as usize;
            if !self.search.settled[column] {
                self.search.settled[column] = true;
                self.search.settled_columns.push(column);
                self.reach(problem, core, core.row_of[column], length);
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
    fn reach(&mut self, problem: &Scores<'_>, core: &Core, row: usize, length: f64) {
        let position = self.search.tree.len();
        self.search.tree.push((row, length, 0));
        if let Some(unmatched) = problem.unmatched {
            let through = length + (core.left[row] - unmatched[row]);
            if through < self.search.end.0 {
                self.search.end = (through, NONE, row);
            }
        }
        if self.counts[row] == NONE {
            self.list_anew(problem, core, row, FIRST_TARGET);
        }
        self.relax_list(core, position);
    }

    fn relax_list(&mut self, core: &Core, position: usize) {
        let (row, length, _) = self.search.tree[position];
        let base = length + core.left[row];
        let range = row * LIST_CAPACITY..row * LIST_CAPACITY + self.counts[row];
        for (&column, &score) in self.columns[range.clone()].iter().zip(&self.scores[range]) {
            self.search.relax(core, row, column as usize, base + (core.right[column as usize] - score));
        }
        if self.threshold[row] > f64::NEG_INFINITY {
            let promised = length + (core.left[row] - self.threshold[row]).max(0.0);
            if promised < self.search.end.0 {
                self.search.heap.push(Reverse((promised.to_bits(), narrow(position))));
            }
        }
    }

    /// The search has come as far as a row's unlisted columns might be: rebuilds the list, and the second time reads the whole row.
    fn keep_promise(&mut self, problem: &Scores<'_>, core: &Core, position: usize) {
        let (row, length, times) = self.search.tree[position];
        let scores = problem.row(row);
        self.search.tree[position].2 += 1;
        if times == 0 {
            self.list_anew(problem, core, row, NEXT_TARGET);
            self.relax_list(core, position);
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

impl Search {
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

#[expect(clippy::cast_possible_truncation, reason = "this core is given at most 2^31 rows and columns")]
fn narrow(index: usize) -> u32 {
    index as u32
}

/// Collects the columns with the largest reduced scores: how many, and a value that the others do not reach.
struct Gather<'a> {
    lists: &'a mut Lazy,
    scores: &'a [f64],
    sign: f64,
    right: &'a [f64],
    target: usize,
}

impl pulp::WithSimd for Gather<'_> {
    type Output = (usize, f64);

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        let Self { lists, scores, sign, right, target } = self;
        reduce(scores, sign, right, &mut lists.reduced);
        let m = scores.len();
        let stride = lists.maxima.len();
        strided_maxima(&lists.reduced, &mut lists.maxima);
        lists.order.clear();
        lists.order.extend_from_slice(&lists.maxima);
        let (_, &mut cut, _) = lists.order.select_nth_unstable_by(target.min(stride) - 1, |a, b| b.total_cmp(a));
        // Forbidden cells are never listed.
        let floor = cut.max(f64::MIN);
        let mut count = 0;
        for offset in (0..stride).filter(|&offset| lists.maxima[offset] >= floor) {
            for column in (offset..m).step_by(stride) {
                // Always written, kept only if it counts: no branch to mispredict.
                let value = lists.reduced[column];
                lists.gathered[count] = (narrow(column), value);
                count += usize::from(value >= floor);
            }
        }
        (count, cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The total of an answer, or `None` where a row has no place.
    fn total(problem: &Scores<'_>, is_lazy: bool) -> Option<f64> {
        let (mut core, mut dense, mut lazy) = (Core::default(), Dense::default(), Lazy::default());
        core.clear(problem.rows, problem.columns);
        core.left.fill(1e3);
        let placed = if is_lazy {
            lazy.solve(problem, &mut core, &mut dense, &|| true)
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

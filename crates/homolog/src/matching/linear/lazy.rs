//! Shortest augmenting paths on a short list of columns for each row, exact all the same: for problems of many columns.
//!
//! Each row keeps the columns of its largest reduced scores (score - right) and a threshold that none of the others exceeds. Right
//! values never fall, so the threshold stays true for the rest of the solve. In Dijkstra's search a row reached at length L enters
//! its listed columns at once, and a promise into the heap: its unlisted columns are no nearer than L + left - threshold. Only if
//! the search gets that far is the whole row read and its list made anew. Most rows are read two or three times in all.

use super::core::{Core, NONE, Offer, Scores};
use super::dense::Dense;
use super::scan::{reduce, strided_maxima};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Problems with fewer columns than this are better read row by row as a whole.
pub(super) const FEWEST_COLUMNS: usize = 300;
/// A first list holds the columns that beat this many strides' maxima: at least so many columns, usually a few more.
const FIRST_TARGET: usize = 10;
/// The same for a row whose first list did not suffice.
const NEXT_TARGET: usize = 40;
/// The most columns a list holds.
const LIST_CAPACITY: usize = 64;
/// How many columns share a stride's maximum.
const STRIDE_SHARE: usize = 16;
/// Once this share of the rows had to be read as a whole (many equal scores do that), lists do not pay.
const WHOLE_ROWS_SHARE: usize = 16;

/// The lists, and the scratch of one search.
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
    /// (distance as ordered bits, promise of tree row or column).
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Rows of the tree: row, length, how often its list was made anew in this search.
    tree: Vec<(usize, f64, u8)>,
    settled_columns: Vec<usize>,
    /// The nearest end: distance, and either a free column or (column `NONE`) a row to leave unmatched.
    end: (f64, usize, usize),
}

impl Lazy {
    /// Places every row; `false` if some row has no place.
    pub(super) fn solve(&mut self, problem: &Scores<'_>, core: &mut Core, dense: &mut Dense) -> bool {
        let (n, m) = (problem.rows, problem.columns);
        super::reset(&mut self.columns, n * LIST_CAPACITY, 0);
        super::reset(&mut self.scores, n * LIST_CAPACITY, 0.0);
        super::reset(&mut self.counts, n, NONE);
        super::reset(&mut self.threshold, n, f64::INFINITY);
        super::reset(&mut self.reduced, m, 0.0);
        super::reset(&mut self.maxima, m.div_ceil(STRIDE_SHARE), 0.0);
        super::reset(&mut self.gathered, m, (0, 0.0));
        super::reset(&mut self.search.distance, m, f64::INFINITY);
        super::reset(&mut self.search.from, m, NONE);
        super::reset(&mut self.search.settled, m, false);
        self.whole_rows = 0;
        core.bid_in_turn(problem, |core, row| {
            if self.counts[row] == NONE {
                self.list_anew(problem, core, row, FIRST_TARGET);
            }
            self.offer(core, row)
        });
        for row in 0..n {
            let worn_out = self.whole_rows > n / WHOLE_ROWS_SHARE;
            let placed = core.is_placed(row)
                || if worn_out { dense.place(problem, core, row) } else { self.place(problem, core, row) };
            if !placed {
                return false;
            }
        }
        true
    }

    /// Makes the list of a row from its reduced scores of now.
    fn list_anew(&mut self, problem: &Scores<'_>, core: &Core, row: usize, target: usize) {
        let scores = problem.row(row);
        reduce(scores, &core.right, &mut self.reduced);
        let m = scores.len();
        let stride = self.maxima.len();
        strided_maxima(&self.reduced, &mut self.maxima);
        self.order.clear();
        self.order.extend_from_slice(&self.maxima);
        let (_, &mut cut, _) = self.order.select_nth_unstable_by(target.min(stride) - 1, |a, b| b.total_cmp(a));
        // Forbidden cells are never listed.
        let floor = cut.max(f64::MIN);
        let mut count = 0;
        for offset in (0..stride).filter(|&offset| self.maxima[offset] >= floor) {
            for column in (offset..m).step_by(stride) {
                // Written always, kept if it counts: no branch to guess wrong.
                let value = self.reduced[column];
                self.gathered[count] = (narrow(column), value);
                count += usize::from(value >= floor);
            }
        }
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
            self.scores[start + place] = scores[column as usize];
        }
    }

    /// The listed columns of a row with their scores.
    fn list(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = row * LIST_CAPACITY..row * LIST_CAPACITY + self.counts[row];
        self.columns[range.clone()].iter().zip(&self.scores[range]).map(|(&column, &score)| (column as usize, score))
    }

    /// The best listed column of a row; the unlisted ones count for the second best.
    fn offer(&self, core: &Core, row: usize) -> Offer {
        let mut offer = Offer { column: NONE, best: f64::NEG_INFINITY, second: self.threshold[row] };
        let mut is_free = false;
        for (column, score) in self.list(row) {
            let value = score - core.right[column];
            let free = core.row_of[column] == NONE;
            if value > offer.best || value == offer.best && free && !is_free {
                offer.second = offer.second.max(offer.best);
                (offer.best, offer.column, is_free) = (value, column, free);
            } else {
                offer.second = offer.second.max(value);
            }
        }
        offer
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

    /// The search has come as far as a row's unlisted columns may be: lists anew, and the second time reads the whole row.
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
            for (column, &score) in scores.iter().enumerate() {
                self.search.relax(core, row, column, base + (core.right[column] - score));
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

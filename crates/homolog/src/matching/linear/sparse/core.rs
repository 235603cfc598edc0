//! Shortest augmenting paths on rows that list their columns: the core of sparse linear assignment.
//!
//! Where all columns will be taken, `auction` finds prices first. Rows then bid for columns (augmenting row reduction of Jonker and
//! Volgenant); each row left over is then placed by Dijkstra's search
//! over the slack left_i + right_k - score_ik >= 0, which ends at the nearest free column or at a row that may stay unmatched at its
//! price. Columns at the current length are taken from a list and need no heap. The invariants are those of the dense cores
//! (`linear/core.rs`); memory is linear in the cells. With c cells per row and n rows, about n c log n steps on random problems.
//!
//! A row whose search finds no end has no place: its tree is a set of rows that together may go to fewer columns than there are of
//! them, and it remains one whatever is placed later. Those columns are closed to later rows, and the search goes on.

use super::auction::Auction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// "No column" and "no row".
pub(super) const NONE: u32 = u32::MAX;

/// The cells of each row, columns increasing.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Cells of row i: `start[i]..start[i + 1]`.
    pub(super) start: &'a [usize],
    pub(super) columns: &'a [u32],
    /// Finite.
    pub(super) scores: &'a [f64],
    pub(super) column_count: usize,
    /// Score for staying unmatched; minus infinity, or `None` for all, means the row must be placed.
    pub(super) unmatched: Option<&'a [f64]>,
}

impl Rows<'_> {
    pub(super) fn count(&self) -> usize {
        self.start.len() - 1
    }

    /// Bids between two questions whether to go on.
    pub(super) fn bids_at_once(&self) -> usize {
        CELLS_AT_ONCE / (self.scores.len() / self.count().max(1) + CELLS_OF_BID)
    }

    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.start[row]..self.start[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.scores[range].iter().copied())
    }

    fn floor(&self, row: usize) -> f64 {
        self.unmatched.map_or(f64::NEG_INFINITY, |unmatched| unmatched[row])
    }
}

/// What a search knows about a column besides its dual value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// From the row being placed, if reached in this search.
    distance: f64,
    /// The row it is placed with.
    pub(super) row: u32,
    /// The row it was reached from.
    from: u32,
    /// The last search that reached it.
    reached: u32,
    /// The last search that settled it; `CLOSED` forever where rows compete for it in vain.
    settled: u32,
}

const CLOSED: u32 = u32::MAX;

impl Column {
    /// Whether rows compete for it in vain.
    pub(super) fn is_closed(&self) -> bool {
        self.settled == CLOSED
    }
}

/// The matching, the dual values, and the scratch memory of a search.
#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) columns: Vec<Column>,
    pub(super) right: Vec<f64>,
    pub(super) column_of: Vec<u32>,
    pub(super) left: Vec<f64>,
    /// Rows that compete for too few columns, in the order found, with all rows that hold those columns.
    pub(super) crowd: Vec<u32>,
    /// Rows that are placed, or stay unmatched at their price.
    is_placed: Vec<bool>,
    auction: Auction,
    search: u32,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Columns at the current length, still to be settled.
    near: Vec<u32>,
    /// Rows of the tree and their lengths.
    tree: Vec<(u32, f64)>,
    settled: Vec<u32>,
}

/// The nearest end of a search: a free column, or (column `NONE`) a row to leave unmatched.
struct End {
    distance: f64,
    column: u32,
    row: u32,
}

/// Bids per row, on average, before the searches take over.
const BIDS_PER_ROW: usize = 3;
/// The caller is asked whether to go on after bids on this many cells: every few milliseconds.
const CELLS_AT_ONCE: usize = 1 << 22;
/// A bid takes as long as looking at so many cells, beside those of its row.
const CELLS_OF_BID: usize = 256;

impl Core {
    /// Places every row that has a place; the others are in `crowd`. `false` if `goes_on` says no.
    pub(super) fn solve(&mut self, problem: &Rows<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        self.clear(problem);
        // An auction may leave prices on columns that stay free, and then they prove nothing; if every column is taken in the
        // end, any prices will do.
        if problem.count() == problem.column_count && problem.unmatched.is_none() {
            let done = self.auction.find_prices(problem, &mut self.right, goes_on) && self.place_all(problem, goes_on);
            if !done || self.crowd.is_empty() {
                return done;
            }
            self.clear(problem);
        }
        self.place_all(problem, goes_on)
    }

    /// Nothing placed, dual values zero.
    fn clear(&mut self, problem: &Rows<'_>) {
        let empty = Column { distance: 0.0, row: NONE, from: NONE, reached: 0, settled: 0 };
        reset(&mut self.columns, problem.column_count, empty);
        reset(&mut self.right, problem.column_count, 0.0);
        reset(&mut self.column_of, problem.count(), NONE);
        reset(&mut self.left, problem.count(), 0.0);
        reset(&mut self.is_placed, problem.count(), false);
        self.crowd.clear();
        self.search = 0;
    }

    fn place_all(&mut self, problem: &Rows<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        if !self.bid_all(problem, goes_on) {
            return false;
        }
        for row in 0..problem.count() {
            if !self.is_placed[row] {
                if !goes_on() {
                    return false;
                }
                self.place(problem, row);
            }
        }
        true
    }

    fn bid_all(&mut self, problem: &Rows<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        let (most, at_once) = (BIDS_PER_ROW * problem.count(), problem.bids_at_once());
        let mut bids = 0;
        for first in 0..problem.count() {
            let mut bidder = Some(first);
            while let Some(row) = bidder
                && bids < most
            {
                if bids.is_multiple_of(at_once) && !goes_on() {
                    return false;
                }
                bidder = self.bid(problem, row);
                bids += 1;
            }
        }
        true
    }

    /// A row takes its best column and raises the right value until its second best is as good. Returns the row it displaces; where a
    /// bid would settle nothing, none is made.
    fn bid(&mut self, problem: &Rows<'_>, row: usize) -> Option<usize> {
        let floor = problem.floor(row);
        let (mut best, mut second, mut column) = (f64::NEG_INFINITY, floor, NONE);
        for (at, score) in problem.cells(row) {
            let value = score - self.right[at as usize];
            // A free column is preferred among equals, or else the first.
            if value > best {
                second = second.max(best);
                (best, column) = (value, at);
            } else if value > second {
                second = value;
            }
        }
        if best == second && column != NONE {
            column = self.free_among_best(problem, row, best).unwrap_or(column);
        }
        if column == NONE || best < second {
            // Staying unmatched is best, or there are no cells at all.
            if floor > f64::NEG_INFINITY {
                self.left[row] = floor;
                self.is_placed[row] = true;
            }
            return None;
        }
        let holder = self.columns[column as usize].row;
        if holder != NONE && (best == second || second == f64::NEG_INFINITY) {
            return None;
        }
        self.left[row] = if second > f64::NEG_INFINITY { second } else { best };
        self.right[column as usize] += best - self.left[row];
        self.assign(row, column);
        if holder == NONE {
            return None;
        }
        self.column_of[holder as usize] = NONE;
        self.is_placed[holder as usize] = false;
        Some(holder as usize)
    }

    fn free_among_best(&self, problem: &Rows<'_>, row: usize, best: f64) -> Option<u32> {
        let free = |&(at, score): &(u32, f64)| {
            score - self.right[at as usize] == best && self.columns[at as usize].row == NONE
        };
        problem.cells(row).find(free).map(|(at, _)| at)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
    fn assign(&mut self, row: usize, column: u32) {
        self.column_of[row] = column;
        self.is_placed[row] = true;
        self.columns[column as usize].row = row as u32;
    }

    /// Places a row along a shortest augmenting path, or adds its tree to the crowd.
    #[expect(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
    fn place(&mut self, problem: &Rows<'_>, new_row: usize) {
        self.search += 1;
        self.heap.clear();
        self.near.clear();
        self.tree.clear();
        self.settled.clear();
        let reduced = |(at, score): (u32, f64)| score - self.right[at as usize];
        self.left[new_row] = problem.cells(new_row).map(reduced).fold(problem.floor(new_row), f64::max);
        let mut end = End { distance: f64::INFINITY, column: NONE, row: NONE };
        let mut length = 0.0_f64;
        self.reach(problem, new_row as u32, length, &mut end);
        loop {
            let column = if let Some(column) = self.near.pop() {
                if end.distance <= length {
                    break;
                }
                column
            } else {
                let Some(Reverse((bits, column))) = self.heap.pop() else { break };
                let distance = f64::from_bits(bits);
                if distance >= end.distance {
                    break;
                }
                if distance > self.columns[column as usize].distance {
                    continue;
                }
                length = length.max(distance);
                column
            };
            let known = &mut self.columns[column as usize];
            if known.settled != self.search {
                known.settled = self.search;
                self.settled.push(column);
                let row = known.row;
                self.reach(problem, row, length, &mut end);
            }
        }
        if end.distance < f64::INFINITY {
            self.finish(&end, new_row as u32);
        } else {
            self.close();
        }
    }

    /// Takes a row into the tree and goes through its cells.
    fn reach(&mut self, problem: &Rows<'_>, row: u32, length: f64, end: &mut End) {
        self.tree.push((row, length));
        let base = length + self.left[row as usize];
        if let Some(unmatched) = problem.unmatched
            && base - unmatched[row as usize] < end.distance
        {
            *end = End { distance: base - unmatched[row as usize], column: NONE, row };
        }
        for (at, score) in problem.cells(row as usize) {
            let through = base + (self.right[at as usize] - score);
            if through >= end.distance {
                continue;
            }
            let known = &mut self.columns[at as usize];
            if known.settled >= self.search {
                continue;
            }
            if known.row == NONE {
                *end = End { distance: through, column: at, row };
            } else if known.reached != self.search || through < known.distance {
                known.reached = self.search;
                known.distance = through.max(length);
                known.from = row;
                if through <= length {
                    self.near.push(at);
                } else {
                    self.heap.push(Reverse((through.to_bits(), at)));
                }
            }
        }
    }

    /// Changes the dual values and hands each column on the path back to the row that reached it.
    fn finish(&mut self, end: &End, new_row: u32) {
        for &(row, length) in &self.tree {
            self.left[row as usize] -= (end.distance - length).max(0.0);
        }
        for &column in &self.settled {
            let reached = self.columns[column as usize].distance;
            self.right[column as usize] += (end.distance - reached).max(0.0);
        }
        let (mut row, mut column) = (end.row, end.column);
        loop {
            let freed = self.column_of[row as usize];
            if column == NONE {
                self.column_of[row as usize] = NONE;
                self.is_placed[row as usize] = true;
            } else {
                self.assign(row as usize, column);
            }
            if row == new_row {
                return;
            }
            column = freed;
            row = self.columns[column as usize].from;
        }
    }

    /// Nothing was found: the tree goes to the crowd, its columns are closed.
    fn close(&mut self) {
        for &column in &self.settled {
            self.columns[column as usize].settled = CLOSED;
        }
        self.crowd.extend(self.tree.iter().map(|&(row, _)| row));
    }
}

pub(super) fn reset<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

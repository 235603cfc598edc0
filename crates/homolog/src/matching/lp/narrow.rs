//! The relaxation on some of its cells, and back: what is proven of the few is turned into multipliers for all.
//!
//! [`Factors::narrow`] keeps some cells, and of the entries those between them; rows and columns stay. A point of the narrow problem is a
//! point of the whole one, with nothing at the other cells. Its multipliers become such of the whole problem by [`lift`], which chooses
//! those of the other cells' slots: for each pair of rows, with M the best of what it can do at the kept cells and c the least multiplier
//! of a kept slot of the side,
//!
//!   a_ij(k) = max(c, max_l [d_ij(kl) - a_ji(l) - w_ikl - w_jlk - M])        for k that is not kept, first on one side, then on the other
//!
//! the least with which no entry there, and no rest, adds more than the pair does anyway. So the pairs' part of the bound is that of the
//! narrow problem, the kept cells' scores in its assignment are, and the bound is too unless the assignment wants another cell: then that is
//! one to take in.

use super::factors::{Factors, Origin};
use super::halpern::Point;

impl Factors {
    /// The same problem with only the cells kept. Every row has to keep one, and all that it has without a column.
    pub(super) fn narrow(&self, keep: &[bool]) -> (Self, Origin) {
        let mut small = Self {
            lefts: self.lefts.clone(),
            crowded: self.crowded.clone(),
            rights: self.rights.clone(),
            must: self.must.clone(),
            many_to_one: self.many_to_one,
            constant: self.constant,
            fixed: self.fixed.clone(),
            scale: self.scale,
            cell_start: vec![0],
            ..Self::default()
        };
        let all_rows: Vec<usize> = (0..self.row_count()).collect();
        let mut origin = Origin { columns: (0..self.rights.len()).collect(), ..Origin::default() };
        let mut new_cell = vec![usize::MAX; self.cell_count()];
        for row in 0..self.row_count() {
            for cell in self.cells(row).filter(|&cell| keep[cell]) {
                new_cell[cell] = origin.cells.len();
                origin.cells.push(cell);
                small.cell_column.push(self.cell_column[cell]);
                small.cell_score.push(self.cell_score[cell]);
            }
            small.cell_start.push(origin.cells.len());
        }
        let no_row_is_settled = vec![usize::MAX; self.row_count()];
        self.restrict_pairs(&no_row_is_settled, &all_rows, &new_cell, &mut small, &mut origin);
        origin.rows = all_rows;
        (small, origin)
    }
}

/// Numbers of the narrow problem where they belong among so many of the whole one, and zero elsewhere.
pub(super) fn spread(narrow: &[f64], from: &[usize], count: usize) -> Vec<f64> {
    let mut whole = vec![0.0; count];
    narrow.iter().zip(from).for_each(|(&value, &at)| whole[at] = value);
    whole
}

/// Puts a point of the narrow problem into one of the whole problem, whose multipliers at other cells it goes by.
pub(super) fn lift(factors: &Factors, keep: &[bool], origin: &Origin, narrow: &Point, whole: &mut Point) {
    whole.cells = spread(&narrow.cells, &origin.cells, factors.cell_count());
    whole.entries = spread(&narrow.entries, &origin.entries, factors.entry_count());
    whole.rows.copy_from_slice(&narrow.rows);
    whole.columns.copy_from_slice(&narrow.columns);
    narrow.slots.iter().zip(&origin.slots).for_each(|(&value, &at)| whole.slots[at] = value);
    // What is not in the narrow problem must not raise the score of a cell that is.
    let groups = whole.groups.iter_mut().zip(&factors.group_cell);
    groups.filter(|(_, cell)| keep[**cell as usize]).for_each(|(value, _)| *value = 0.0);
    narrow.groups.iter().zip(&origin.groups).for_each(|(&value, &at)| whole.groups[at] = value);
    let mut needed = vec![0.0; factors.slot_count()];
    for pair in 0..factors.pairs.len() {
        settle_slots(factors, keep, pair, whole, &mut needed);
    }
}

/// The multipliers of a pair's slots at cells that are not kept.
fn settle_slots(factors: &Factors, keep: &[bool], pair: usize, point: &mut Point, needed: &mut [f64]) {
    let rows = factors.pairs[pair].rows;
    let kept = [0, 1].map(|side| &keep[factors.cells(rows[side])]);
    let least = [0, 1].map(|side| {
        let slots = point.slots[factors.slots(pair, side)].iter().zip(kept[side]);
        slots.filter(|(_, keep)| **keep).fold(f64::INFINITY, |least, (&a, _)| least.min(a))
    });
    let second_start = factors.side_start[2 * pair + 1];
    let gain = |point: &Point, entry: usize| {
        let [near, far] = factors.entry_groups[entry].map(|group| point.groups[group as usize]);
        factors.entry_score[entry] - near - far
    };
    let mut most = -least[0] - least[1];
    for (slot, _) in factors.slots(pair, 0).zip(kept[0]).filter(|(_, keep)| **keep) {
        for entry in factors.entries(slot) {
            let second = factors.entry_slot[entry] as usize;
            if kept[1][second - second_start] {
                most = most.max(gain(point, entry) - point.slots[slot] - point.slots[second]);
            }
        }
    }
    for (slot, _) in factors.slots(pair, 0).zip(kept[0]).filter(|(_, keep)| !**keep) {
        let entries = factors.entries(slot);
        let need = entries.map(|entry| gain(point, entry) - point.slots[factors.entry_slot[entry] as usize] - most);
        point.slots[slot] = need.fold(least[0], f64::max);
    }
    let others = factors.slots(pair, 1);
    needed[others.clone()].fill(least[1]);
    for slot in factors.slots(pair, 0) {
        for entry in factors.entries(slot) {
            let second = factors.entry_slot[entry] as usize;
            needed[second] = needed[second].max(gain(point, entry) - point.slots[slot] - most);
        }
    }
    for (slot, _) in others.zip(kept[1]).filter(|(_, keep)| !**keep) {
        point.slots[slot] = needed[slot];
    }
}

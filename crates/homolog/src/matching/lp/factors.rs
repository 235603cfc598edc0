//! [`Factors`]: the linear relaxation of one matching problem as plain arrays, and its restriction to fewer pairs.
//!
//! * A **row** is a left node that is still open, a **column** a right node that is still open. A row's **cells** are the right
//!   nodes it may go to, in order, and last, where it may stay unmatched, a cell without a column.
//! * A **pair** is two rows with an edge between them, in either direction. Each of its two **sides** has one **slot** per cell of
//!   its row: the place of the multiplier that ties the pair's marginals to the row's.
//! * An **entry** is a pair of cells of a pair of rows, with its score d(ij, kl) + d(ji, lk). A pair whose scores are all at least
//!   zero lists only those above zero; everything else is lumped together as its *rest*, which scores zero. A pair with a score below
//!   zero lists all its combinations of cells.
//! * A **star group** holds the entries that send neighbours of i to the same right node l while i goes to k: at most one of them
//!   can hold. Group 0 means "none".
//!
//! Scores are multiplied by a power of two, which is exact. A row with one cell left is fixed: its scores move into the scores of its
//! neighbours' cells, and the row is gone.

/// "No column": the cell of staying unmatched.
pub(super) const NONE: u32 = u32::MAX;

/// Two rows with an edge between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) rows: [usize; 2],
    /// Whether combinations that are not listed exist and score zero.
    pub(crate) rest: bool,
}

/// The relaxation as arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Factors {
    /// The left node of each row.
    pub(crate) lefts: Vec<usize>,
    /// Whether the row competes for too few right nodes: it may be left over, which scores nothing.
    pub(crate) crowded: Vec<bool>,
    /// Cells of row r are at `cell_start[r]..cell_start[r + 1]`.
    pub(crate) cell_start: Vec<usize>,
    /// Position of the cell's right node in `rights`, or `NONE`.
    pub(crate) cell_column: Vec<u32>,
    pub(crate) cell_score: Vec<f64>,
    /// The right node of each column.
    pub(crate) rights: Vec<usize>,
    /// Whether the column has to be used.
    pub(crate) must: Vec<bool>,
    /// Whether rows may share a column.
    pub(crate) many_to_one: bool,
    pub(crate) pairs: Vec<Pair>,
    /// Slots of side s of pair q are at `side_start[2 q + s]..side_start[2 q + s + 1]`, one per cell of the row.
    pub(crate) side_start: Vec<usize>,
    /// Entries of a slot of a first side are at `entry_start[slot]..entry_start[slot + 1]`, sorted by second slot.
    pub(crate) entry_start: Vec<usize>,
    /// The slot on the second side.
    pub(crate) entry_slot: Vec<u32>,
    pub(crate) entry_score: Vec<f64>,
    /// The star groups of the first and the second side's cell.
    pub(crate) entry_groups: Vec<[u32; 2]>,
    /// The cell of each group.
    pub(crate) group_cell: Vec<u32>,
    /// The score of what is fixed, scaled.
    pub(crate) constant: f64,
    /// Left nodes that are settled, with their right node.
    pub(crate) fixed: Vec<(usize, Option<usize>)>,
    /// What scores were multiplied by.
    pub(crate) scale: f64,
}

/// Where the parts of a restricted problem come from in the one it was made of.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    pub(crate) cells: Vec<usize>,
    pub(crate) slots: Vec<usize>,
    pub(crate) entries: Vec<usize>,
    pub(crate) groups: Vec<usize>,
}

impl Factors {
    pub(crate) fn row_count(&self) -> usize {
        self.lefts.len()
    }

    pub(crate) fn cell_count(&self) -> usize {
        self.cell_column.len()
    }

    pub(crate) fn slot_count(&self) -> usize {
        self.side_start.last().copied().unwrap_or(0)
    }

    pub(crate) fn entry_count(&self) -> usize {
        self.entry_slot.len()
    }

    /// The cells of a row.
    pub(crate) fn cells(&self, row: usize) -> std::ops::Range<usize> {
        self.cell_start[row]..self.cell_start[row + 1]
    }

    /// The slots of a side of a pair.
    pub(crate) fn slots(&self, pair: usize, side: usize) -> std::ops::Range<usize> {
        self.side_start[2 * pair + side]..self.side_start[2 * pair + side + 1]
    }

    /// The entries of a slot of a first side.
    pub(crate) fn entries(&self, slot: usize) -> std::ops::Range<usize> {
        self.entry_start[slot]..self.entry_start[slot + 1]
    }

    /// The right node of a cell; `None` for staying unmatched.
    pub(crate) fn right(&self, cell: usize) -> Option<usize> {
        (self.cell_column[cell] != NONE).then(|| self.rights[self.cell_column[cell] as usize])
    }

    /// Whether the last cell of a row is that of staying unmatched.
    pub(crate) fn may_rest(&self, row: usize) -> bool {
        self.cell_column[self.cell_start[row + 1] - 1] == NONE
    }

    /// Draws the simple consequences of which cells are kept: a row with one cell takes its column from all others. `false` if some
    /// row has no cell left.
    pub(crate) fn propagate(&self, keep: &mut [bool]) -> bool {
        let mut settled = vec![false; self.row_count()];
        loop {
            let mut changed = false;
            for row in 0..self.row_count() {
                let mut kept = self.cells(row).filter(|&cell| keep[cell]);
                let Some(only) = kept.next() else { return false };
                if kept.next().is_some() || settled[row] {
                    continue;
                }
                settled[row] = true;
                let column = self.cell_column[only];
                if column == NONE || self.many_to_one {
                    continue;
                }
                for cell in (0..self.cell_count()).filter(|&cell| cell != only && self.cell_column[cell] == column) {
                    changed |= std::mem::replace(&mut keep[cell], false);
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// The same problem with only the cells kept; rows with one cell are fixed and folded away. `keep` must be closed under
    /// [`Self::propagate`].
    pub(crate) fn restrict(&self, keep: &[bool]) -> (Self, Origin) {
        let mut small = Self { many_to_one: self.many_to_one, scale: self.scale, ..Self::default() };
        small.constant = self.constant;
        small.fixed.clone_from(&self.fixed);
        let mut origin = Origin::default();
        // The cell a settled row is fixed to.
        let mut only = vec![usize::MAX; self.row_count()];
        let mut new_row = vec![usize::MAX; self.row_count()];
        let mut taken = vec![false; self.rights.len()];
        let mut wanted = vec![false; self.rights.len()];
        for row in 0..self.row_count() {
            let mut kept = self.cells(row).filter(|&cell| keep[cell]);
            let first = kept.next().unwrap_or(self.cell_start[row]);
            if kept.next().is_none() {
                only[row] = first;
                small.constant += self.cell_score[first];
                small.fixed.push((self.lefts[row], self.right(first)));
                if self.cell_column[first] != NONE {
                    taken[self.cell_column[first] as usize] = true;
                }
            } else {
                new_row[row] = origin.rows.len();
                origin.rows.push(row);
                for cell in self.cells(row).filter(|&cell| keep[cell] && self.cell_column[cell] != NONE) {
                    wanted[self.cell_column[cell] as usize] = true;
                }
            }
        }
        let mut new_column = vec![NONE; self.rights.len()];
        for column in 0..self.rights.len() {
            if wanted[column] || self.must[column] && !taken[column] {
                new_column[column] = index(origin.columns.len());
                origin.columns.push(column);
                small.rights.push(self.rights[column]);
                small.must.push(self.must[column]);
            }
        }
        small.cell_start.push(0);
        let mut new_cell = vec![usize::MAX; self.cell_count()];
        for &row in &origin.rows {
            small.lefts.push(self.lefts[row]);
            small.crowded.push(self.crowded[row]);
            for cell in self.cells(row).filter(|&cell| keep[cell]) {
                new_cell[cell] = origin.cells.len();
                origin.cells.push(cell);
                let column = self.cell_column[cell];
                small.cell_column.push(if column == NONE { NONE } else { new_column[column as usize] });
                small.cell_score.push(self.cell_score[cell]);
            }
            small.cell_start.push(origin.cells.len());
        }
        self.restrict_pairs(&only, &new_row, &new_cell, &mut small, &mut origin);
        (small, origin)
    }

    pub(super) fn restrict_pairs(
        &self,
        only: &[usize],
        new_row: &[usize],
        new_cell: &[usize],
        small: &mut Self,
        origin: &mut Origin,
    ) {
        let mut new_group = vec![0; self.group_cell.len()];
        origin.groups.push(0);
        small.group_cell.push(0);
        small.side_start.push(0);
        small.entry_start.push(0);
        for (q, pair) in self.pairs.iter().enumerate() {
            let [a, b] = pair.rows;
            if only[a] != usize::MAX || only[b] != usize::MAX {
                self.fold(q, only, new_cell, small);
                continue;
            }
            small.pairs.push(Pair { rows: [new_row[a], new_row[b]], rest: pair.rest });
            let first_slot = origin.slots.len();
            let kept = |side: usize, row: usize| {
                self.slots(q, side).zip(self.cells(row)).filter(|&(_, cell)| new_cell[cell] != usize::MAX)
            };
            origin.slots.extend(kept(0, a).map(|(slot, _)| slot));
            small.side_start.push(origin.slots.len());
            origin.slots.extend(kept(1, b).map(|(slot, _)| slot));
            small.side_start.push(origin.slots.len());
            let second_slot = small.side_start[small.side_start.len() - 2];
            // Position of the second side's slots among those kept.
            let shift = |cell: usize| new_cell[cell] - small.cell_start[new_row[b]];
            let [old_first, old_second] = [self.side_start[2 * q], self.side_start[2 * q + 1]];
            for new_slot in first_slot..second_slot {
                let slot = origin.slots[new_slot];
                debug_assert!(slot >= old_first, "slots of the first side come first");
                for entry in self.entries(slot) {
                    let cell = self.cell_start[b] + (self.entry_slot[entry] as usize - old_second);
                    if new_cell[cell] == usize::MAX {
                        continue;
                    }
                    origin.entries.push(entry);
                    small.entry_slot.push(index(second_slot + shift(cell)));
                    small.entry_score.push(self.entry_score[entry]);
                    let groups = self.entry_groups[entry].map(|group| {
                        let group = group as usize;
                        if group != 0 && new_group[group] == 0 {
                            new_group[group] = index(origin.groups.len());
                            origin.groups.push(group);
                            small.group_cell.push(index(new_cell[self.group_cell[group] as usize]));
                        }
                        new_group[group]
                    });
                    small.entry_groups.push(groups);
                }
                small.entry_start.push(origin.entries.len());
            }
            small.entry_start.resize(origin.slots.len() + 1, origin.entries.len());
        }
    }

    /// A pair with a settled row: its scores belong to the other row's cells, or to the constant.
    fn fold(&self, pair: usize, only: &[usize], new_cell: &[usize], small: &mut Self) {
        let [a, b] = self.pairs[pair].rows;
        for (slot, first) in self.slots(pair, 0).zip(self.cells(a)) {
            if only[a] != usize::MAX && only[a] != first {
                continue;
            }
            for entry in self.entries(slot) {
                let second = self.cell_start[b] + (self.entry_slot[entry] as usize - self.side_start[2 * pair + 1]);
                if only[b] != usize::MAX && only[b] != second {
                    continue;
                }
                let score = self.entry_score[entry];
                match (only[a] == first, only[b] == second) {
                    (true, true) => small.constant += score,
                    (true, false) if new_cell[second] != usize::MAX => small.cell_score[new_cell[second]] += score,
                    (false, true) if new_cell[first] != usize::MAX => small.cell_score[new_cell[first]] += score,
                    _ => {}
                }
            }
        }
    }
}

/// An index as it is stored; the size limit of the relaxation keeps it in range.
pub(super) fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(NONE)
}

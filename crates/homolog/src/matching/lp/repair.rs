//! From an iterate that nearly satisfies the constraints to a point that satisfies them all, so that its value is a lower bound on
//! the relaxed maximum.
//!
//! The cells are a transport of one unit from each left node: rows and columns with too much are scaled down, what is then missing
//! is filled in along augmenting paths. Where left nodes compete for too few right nodes, it is the right nodes that send a unit.
//! Entries only have upper limits, all of them cells: each is scaled by the worst of its four.

use super::factors::{Factors, NONE};
use super::halpern::Point;

/// Missing less than this much of a unit is rounding.
const NOTHING: f64 = 1e-15;

/// Cells that satisfy rows and columns exactly; `None` if filling them in takes suspiciously long.
pub(super) fn feasible_cells(factors: &Factors, soft: &[f64]) -> Option<Vec<f64>> {
    let mut cells = soft.to_vec();
    scale_down(factors, &mut cells);
    if factors.must.contains(&true) {
        let ends = |cell: usize, row: usize| (factors.cell_column[cell] as usize, row);
        let mut crowd = Transport::new(factors, true, ends);
        crowd.fill(&mut cells)?;
    }
    let ends = |cell: usize, row: usize| (row, factors.cell_column[cell] as usize);
    let mut rest = Transport::new(factors, false, ends);
    if factors.many_to_one {
        rest.room.fill(f64::INFINITY);
    }
    rest.fill(&mut cells)?;
    for row in (0..factors.row_count()).filter(|&row| factors.crowded[row]) {
        let rest = factors.cells(row).end - 1;
        cells[rest] = (1.0 - cells[factors.cells(row).start..rest].iter().sum::<f64>()).max(0.0);
    }
    Some(cells)
}

/// No row and no column above one; nothing at the exits of the crowd, which take what is left.
fn scale_down(factors: &Factors, cells: &mut [f64]) {
    for row in 0..factors.row_count() {
        let cells = &mut cells[factors.cells(row)];
        if factors.crowded[row]
            && let Some(rest) = cells.last_mut()
        {
            *rest = 0.0;
        }
        let sum: f64 = cells.iter().sum();
        if sum > 1.0 {
            cells.iter_mut().for_each(|cell| *cell /= sum);
        }
    }
    if factors.many_to_one {
        return;
    }
    let mut sums = vec![0.0; factors.rights.len()];
    for (&column, cell) in factors.cell_column.iter().zip(&*cells).filter(|&(&column, _)| column != NONE) {
        sums[column as usize] += cell;
    }
    for (&column, cell) in factors.cell_column.iter().zip(cells).filter(|&(&column, _)| column != NONE) {
        *cell /= sums[column as usize].max(1.0);
    }
}

/// Senders of one unit each, takers with room for one each, and the cells between them.
struct Transport {
    /// For each sender its cells as (taker, cell), and its cell of staying unmatched.
    senders: Vec<Vec<(usize, usize)>>,
    exits: Vec<Option<usize>>,
    /// For each taker its cells as (sender, cell).
    takers: Vec<Vec<(usize, usize)>>,
    /// What each sender still has, and each taker can still take.
    left: Vec<f64>,
    room: Vec<f64>,
}

impl Transport {
    /// The crowd (its columns send), or all the rest (rows send).
    fn new(factors: &Factors, crowd: bool, ends: impl Fn(usize, usize) -> (usize, usize)) -> Self {
        let (rows, columns) = (factors.row_count(), factors.rights.len());
        let (sending, taking) = if crowd { (columns, rows) } else { (rows, columns) };
        let mut transport = Self {
            senders: vec![Vec::new(); sending],
            exits: vec![None; sending],
            takers: vec![Vec::new(); taking],
            left: vec![0.0; sending],
            room: vec![1.0; taking],
        };
        for row in (0..rows).filter(|&row| factors.crowded[row] == crowd) {
            for cell in factors.cells(row) {
                if factors.cell_column[cell] == NONE {
                    // The crowd's rows take: what they do not take is left over.
                    if !crowd {
                        transport.exits[row] = Some(cell);
                    }
                    continue;
                }
                let (sender, taker) = ends(cell, row);
                transport.senders[sender].push((taker, cell));
                transport.takers[taker].push((sender, cell));
            }
        }
        transport
    }

    fn fill(&mut self, cells: &mut [f64]) -> Option<()> {
        for (sender, own) in self.senders.iter().enumerate() {
            let used: f64 = own.iter().map(|&(_, cell)| cells[cell]).sum();
            let exit = self.exits[sender].map_or(0.0, |exit| cells[exit]);
            self.left[sender] = if own.is_empty() && self.exits[sender].is_none() { 0.0 } else { 1.0 - used - exit };
        }
        for (room, own) in self.room.iter_mut().zip(&self.takers) {
            *room -= own.iter().map(|&(_, cell)| cells[cell]).sum::<f64>();
        }
        for sender in 0..self.senders.len() {
            if let Some(exit) = self.exits[sender] {
                cells[exit] += self.left[sender].max(0.0);
                continue;
            }
            for &(taker, cell) in &self.senders[sender] {
                let amount = self.left[sender].min(self.room[taker]).max(0.0);
                cells[cell] += amount;
                self.left[sender] -= amount;
                self.room[taker] -= amount;
            }
            let mut rounds = 0;
            while self.left[sender] > NOTHING {
                rounds += 1;
                if rounds > 4 * (self.senders.len() + self.takers.len()) || !self.augment(sender, cells) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Sends something along a shortest path that may take back what others have sent; whether there is one.
    fn augment(&mut self, start: usize, cells: &mut [f64]) -> bool {
        // How a taker was reached: (sender, cell); how a sender was: (taker, cell).
        let mut to_taker = vec![None; self.takers.len()];
        let mut to_sender = vec![None; self.senders.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(sender) = queue.pop_front() {
            for &(taker, cell) in &self.senders[sender] {
                if to_taker[taker].is_some() {
                    continue;
                }
                to_taker[taker] = Some((sender, cell));
                if self.room[taker] > NOTHING {
                    end = Some((taker, None));
                    break 'search;
                }
                for &(other, taken) in &self.takers[taker] {
                    if other != start && to_sender[other].is_none() && cells[taken] > NOTHING {
                        to_sender[other] = Some((taker, taken));
                        if let Some(exit) = self.exits[other] {
                            end = Some((taker, Some((other, exit))));
                            break 'search;
                        }
                        queue.push_back(other);
                    }
                }
            }
        }
        let Some((mut taker, exit)) = end else { return false };
        // The path backwards: cells to add to, cells to take from.
        let (mut more, mut less) = (Vec::new(), Vec::new());
        let mut amount = self.left[start];
        if let Some((other, exit)) = exit {
            more.push(exit);
            less.extend(to_sender[other].map(|(_, cell)| cell));
        } else {
            amount = amount.min(self.room[taker]);
        }
        let last = taker;
        while let Some((sender, cell)) = to_taker[taker] {
            more.push(cell);
            if sender == start {
                break;
            }
            let Some((before, taken)) = to_sender[sender] else { return false };
            less.push(taken);
            taker = before;
        }
        amount = less.iter().fold(amount, |amount, &cell| amount.min(cells[cell]));
        more.iter().for_each(|&cell| cells[cell] += amount);
        less.iter().for_each(|&cell| cells[cell] -= amount);
        self.left[start] -= amount;
        if exit.is_none() {
            self.room[last] -= amount;
        }
        true
    }
}

/// Entries of the point, scaled down so that no slot and no group has more than its cell.
pub(super) fn feasible_entries(factors: &Factors, point: &Point, cells: &[f64]) -> Vec<f64> {
    let mut slots = vec![0.0; factors.slot_count()];
    let mut groups = vec![0.0; factors.group_cell.len()];
    for q in 0..factors.pairs.len() {
        for slot in factors.slots(q, 0) {
            for entry in factors.entries(slot) {
                let amount = point.entries[entry];
                slots[slot] += amount;
                slots[factors.entry_slot[entry] as usize] += amount;
                for group in factors.entry_groups[entry] {
                    groups[group as usize] += amount;
                }
            }
        }
    }
    // From sums to factors.
    let factor = |limit: f64, sum: f64| if sum > limit { limit / sum } else { 1.0 };
    for (q, pair) in factors.pairs.iter().enumerate() {
        for (side, &row) in pair.rows.iter().enumerate() {
            for (slot, cell) in factors.slots(q, side).zip(factors.cells(row)) {
                slots[slot] = factor(cells[cell], slots[slot]);
            }
        }
    }
    // Group 0 is none.
    for (sum, &cell) in groups.iter_mut().zip(&factors.group_cell).skip(1) {
        *sum = factor(cells[cell as usize], *sum);
    }
    groups[0] = 1.0;
    let mut entries = point.entries.clone();
    for q in 0..factors.pairs.len() {
        for slot in factors.slots(q, 0) {
            for entry in factors.entries(slot) {
                let [near, far] = factors.entry_groups[entry].map(|group| groups[group as usize]);
                let second = slots[factors.entry_slot[entry] as usize];
                entries[entry] *= slots[slot].min(second).min(near).min(far);
            }
        }
    }
    entries
}

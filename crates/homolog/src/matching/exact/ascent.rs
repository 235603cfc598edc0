//! Lower bounds on the cost of quadratic assignment by dual ascent (Hahn & Grant 1998): the first level of the reformulation-linearisation technique.
//!
//! A cell a = (i, k) has a cost of its own, and two cells without a common row or column have one if both are chosen. A round
//!
//! 1. divides the cost of each cell among its pairs: every other row has one chosen cell, so each row gets the same share;
//! 2. lets each cell in turn take from its pairs what the best assignment of the other rows costs at least, given the cell;
//! 3. takes from the cells what their best assignment costs at least: that much is added to the bound.
//!
//! Each step leaves the cost of every assignment as it is, and no cost below 0, so what was taken in the end is a lower bound. All numbers are whole
//! (shares are rounded down, the rest stays with the cell), so nothing is lost to rounding: the bound is exact. The order of the cells changes from
//! round to round; always the same order ends far lower (nug12: 470 instead of 505).
//!
//! Costs that no assignment better than the best known can pay are closed (infinite) after each round, so numbers do not grow: an open one is at most
//! what the best known assignment costs. A reduced table holds at most (1 + size) times its largest number, a pair is in two tables per round, and
//! cells add up a table: within a round no number exceeds that cost by a factor of more than 4 · size³.
//!
//! Memory size⁴ numbers; a round size² small linear assignments, about size⁴ operations when little changes.

use super::reduction::Reduction;

/// The share of a cell that has had its turn.
const TAKEN: f64 = -1.0;

/// A problem of which some rows and columns are fixed.
pub(super) struct Rest {
    pub(super) size: usize,
    /// The cost of what is fixed, and of what rounds have shown to be unavoidable.
    pub(super) least: f64,
    /// The cost of each cell.
    pub(super) own: Vec<f64>,
    /// The cost of each pair of cells, at (a, b) and (b, a); 0 at (a, a), infinite for cells of the same row or column.
    pub(super) pair: Vec<f64>,
    pub(super) lefts: Vec<usize>,
    pub(super) rights: Vec<usize>,
    pub(super) fixed: Vec<(usize, usize)>,
}

impl Rest {
    /// What is left once a cell is chosen.
    pub(super) fn with(&self, cell: usize) -> Self {
        let (size, cells) = (self.size, self.size * self.size);
        let (i, k) = (cell / size, cell % size);
        let kept: Vec<usize> = (0..cells).filter(|&other| other / size != i && other % size != k).collect();
        let costs = &self.pair[cell * cells..][..cells];
        let mut pair = Vec::with_capacity(kept.len() * kept.len());
        for &a in &kept {
            let row = &self.pair[a * cells..][..cells];
            pair.extend(kept.iter().map(|&b| row[b]));
        }
        let without = |list: &[usize], at: usize| [&list[..at], &list[at + 1..]].concat();
        Self {
            size: size - 1,
            least: self.least + self.own[cell],
            own: kept.iter().map(|&other| self.own[other] + costs[other]).collect(),
            pair,
            lefts: without(&self.lefts, i),
            rights: without(&self.rights, k),
            fixed: self.fixed.iter().copied().chain([(self.lefts[i], self.rights[k])]).collect(),
        }
    }

    /// Closes what no assignment with a cost of at most `most` can pay.
    fn close(&mut self, most: f64) {
        let (cells, room) = (self.own.len(), most - self.least);
        self.own.iter_mut().filter(|own| **own > room).for_each(|own| *own = f64::INFINITY);
        for (a, &own) in self.own.iter().enumerate().filter(|(_, own)| **own < f64::INFINITY) {
            let row = &mut self.pair[a * cells..][..cells];
            for (cost, other) in row.iter_mut().zip(&self.own) {
                *cost = if own + other + *cost > room { f64::INFINITY } else { *cost };
            }
            row[a] = 0.0;
        }
    }
}

#[derive(Default)]
pub(super) struct Ascent {
    reduction: Reduction,
    table: Vec<f64>,
    /// What each cell has set aside for each row of its pairs; `TAKEN` once it has had its turn, infinite if it is closed.
    share: Vec<f64>,
    pub(super) rounds: usize,
}

impl Ascent {
    /// One round; `false` if it shows that no assignment costs `most` or less.
    pub(super) fn round(&mut self, rest: &mut Rest, most: f64) -> bool {
        let (size, cells) = (rest.size, rest.own.len());
        self.rounds += 1;
        self.share.clear();
        let parts = (size - 1) as f64;
        for own in &mut rest.own {
            let share = if parts > 0.0 { (*own / parts).floor() } else { 0.0 };
            if *own < f64::INFINITY {
                *own -= share * parts;
            }
            self.share.push(share);
        }
        self.table.resize(cells, 0.0);
        for turn in 0..cells {
            let a = (turn * size + turn / size + self.rounds) % cells;
            if rest.own[a] == f64::INFINITY {
                continue;
            }
            rest.own[a] += self.take(rest, a);
        }
        let value = self.reduction.reduce(&mut rest.own, size);
        rest.least += value;
        if rest.least > most {
            return false;
        }
        rest.close(most);
        true
    }

    /// Takes from the pairs of a cell what they cost at least.
    fn take(&mut self, rest: &mut Rest, a: usize) -> f64 {
        let (cells, own) = (rest.own.len(), self.share[a]);
        let row = &mut rest.pair[a * cells..][..cells];
        for ((table, &cost), &share) in self.table.iter_mut().zip(&*row).zip(&self.share) {
            // Shares of both cells went to the one that had its turn first.
            *table = cost + if share == TAKEN { 0.0 } else { own + share };
        }
        self.table[a] = 0.0;
        let value = self.reduction.reduce(&mut self.table, rest.size);
        if value == f64::INFINITY {
            self.share[a] = value;
            return value;
        }
        self.share[a] = TAKEN;
        row.copy_from_slice(&self.table);
        for (b, &cost) in self.table.iter().enumerate() {
            rest.pair[b * cells + a] = cost;
        }
        value
    }
}

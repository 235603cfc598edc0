//! Tabu search over matchings: always the best change that does not go back to a place left a short while ago, downhill too.
//!
//! A change sends a row to a free column, or unmatched, or lets two rows swap. With the value of every cell given all other
//! rows, v(cell) = score + Σ_neighbours of the entry with the neighbour's cell, kept up to date, a change of one row is worth
//! v(new) - v(old) and a swap needs a correction only between neighbours. A step costs n·m to look and deg·deg' to move. How
//! long a place stays closed follows Taillard's robust tabu search (about n steps, varied); it is varied by the fractions of the
//! golden ratio, so the search needs no random numbers and is the same every time.

use crate::matching::lp::Factors;

/// "No cell", "no row".
const NONE: usize = usize::MAX;

pub(super) struct Tabu<'a> {
    factors: &'a Factors,
    /// Row and column of each cell.
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    /// The cell of (row, column), or `NONE`.
    cell_of: Vec<usize>,
    /// The pair of two rows and whether the first of them is its second side, or `NONE`.
    pair_of: Vec<usize>,
    /// For each cell the entries it is in: (other cell, score).
    partner_start: Vec<usize>,
    partners: Vec<(usize, f64)>,
    /// The matching: the cell of each row, the row of each column.
    pub(super) at: Vec<usize>,
    owner: Vec<usize>,
    value: Vec<f64>,
    score: f64,
    /// A cell is closed before this step.
    closed: Vec<usize>,
    step: usize,
    pub(super) best: Vec<usize>,
    pub(super) best_score: f64,
}

#[derive(Clone, Copy)]
struct Change {
    gain: f64,
    cell: usize,
    other: usize,
}

impl<'a> Tabu<'a> {
    pub(super) fn new(factors: &'a Factors) -> Self {
        let (rows, columns, cells) = (factors.row_count(), factors.rights.len(), factors.cell_count());
        let mut row_of = vec![0; cells];
        let mut column_of = vec![NONE; cells];
        let mut cell_of = vec![NONE; rows * columns];
        for row in 0..rows {
            for cell in factors.cells(row) {
                row_of[cell] = row;
                if factors.right(cell).is_some() {
                    column_of[cell] = factors.cell_column[cell] as usize;
                    cell_of[row * columns + column_of[cell]] = cell;
                }
            }
        }
        let mut pair_of = vec![NONE; rows * rows];
        for (q, pair) in factors.pairs.iter().enumerate() {
            pair_of[pair.rows[0] * rows + pair.rows[1]] = 2 * q;
            pair_of[pair.rows[1] * rows + pair.rows[0]] = 2 * q + 1;
        }
        let (partner_start, partners) = partners(factors);
        Self {
            factors,
            row_of,
            column_of,
            cell_of,
            pair_of,
            partner_start,
            partners,
            at: vec![NONE; rows],
            owner: vec![NONE; columns],
            value: factors.cell_score.clone(),
            score: f64::NEG_INFINITY,
            closed: vec![0; cells],
            step: 0,
            best: Vec::new(),
            best_score: f64::NEG_INFINITY,
        }
    }

    /// Goes on from another matching, given as the right node of each row.
    pub(super) fn jump(&mut self, rights: &[Option<usize>]) {
        self.owner.fill(NONE);
        self.value.copy_from_slice(&self.factors.cell_score);
        self.score = self.factors.constant;
        for (row, right) in rights.iter().enumerate() {
            let cell = match *right {
                Some(right) => self.cell_of[row * self.owner.len() + right],
                None => self.factors.cells(row).end - 1,
            };
            debug_assert!(cell != NONE, "a feasible matching uses open cells");
            self.score += self.value[cell];
            self.enter(cell);
        }
        self.note_best();
    }

    /// Makes up to `steps` changes; stops early when told to.
    pub(super) fn run(&mut self, steps: usize, mut stop: impl FnMut() -> bool) {
        for _ in 0..steps {
            if stop() {
                return;
            }
            let Some(change) = self.best_change() else { return };
            self.apply(change);
            self.note_best();
        }
    }

    fn note_best(&mut self) {
        if self.score <= self.best_score {
            return;
        }
        // The running score has gathered rounding errors; only a score added up afresh counts.
        self.score = self.fresh_score();
        if self.score > self.best_score {
            self.best_score = self.score;
            self.best.clone_from(&self.at);
        }
    }

    fn fresh_score(&self) -> f64 {
        let mut score = self.factors.constant;
        for &cell in &self.at {
            score += self.factors.cell_score[cell];
            for &(other, entry) in self.partners_of(cell) {
                if other > cell && self.at[self.row_of[other]] == other {
                    score += entry;
                }
            }
        }
        score
    }

    fn partners_of(&self, cell: usize) -> &[(usize, f64)] {
        &self.partners[self.partner_start[cell]..self.partner_start[cell + 1]]
    }

    fn best_change(&self) -> Option<Change> {
        let mut best: Option<Change> = None;
        let mut oldest: Option<(usize, Change)> = None;
        let mut consider = |change: Change, closed: usize| {
            let open = closed <= self.step || self.score + change.gain > self.best_score;
            if open && best.is_none_or(|best| change.gain > best.gain) {
                best = Some(change);
            }
            if oldest.is_none_or(|(since, _)| closed < since) {
                oldest = Some((closed, change));
            }
        };
        for row in 0..self.at.len() {
            let now = self.at[row];
            for cell in self.factors.cells(row).filter(|&cell| cell != now) {
                let column = self.column_of[cell];
                let owner = if column == NONE || self.factors.many_to_one { NONE } else { self.owner[column] };
                if column == NONE && self.factors.crowded[row] {
                    continue;
                }
                if owner == NONE {
                    consider(Change { gain: self.value[cell] - self.value[now], cell, other: NONE }, self.closed[cell]);
                } else if let Some(change) = self.swap(cell, row, owner) {
                    consider(change, self.closed[cell].min(self.closed[change.other]));
                }
            }
        }
        best.or(oldest.map(|(_, change)| change))
    }

    /// `row` takes `cell` from `owner`, which gets what `row` had; each swap is looked at from one side only.
    fn swap(&self, cell: usize, row: usize, owner: usize) -> Option<Change> {
        let (now, then) = (self.at[row], self.at[owner]);
        let column = self.column_of[now];
        let other = if column == NONE {
            if !self.factors.may_rest(owner) {
                return None;
            }
            self.factors.cells(owner).end - 1
        } else if row < owner {
            self.cell_of[owner * self.owner.len() + column]
        } else {
            return None;
        };
        if other == NONE {
            return None;
        }
        let mut gain = self.value[cell] - self.value[now] + self.value[other] - self.value[then];
        let pair = self.pair_of[row * self.at.len() + owner];
        if pair != NONE {
            // Each one's value counts the other where it is now: the old entry was taken off twice, the new one never added.
            gain += self.between(pair, cell, other) + self.between(pair, now, then);
        }
        Some(Change { gain, cell, other })
    }

    /// The score of an entry, by its cells in the order of `pair_of`.
    fn between(&self, pair: usize, first: usize, second: usize) -> f64 {
        let (first, second) = if pair.is_multiple_of(2) { (first, second) } else { (second, first) };
        let factors = self.factors;
        let [a, b] = factors.pairs[pair / 2].rows;
        let slot = factors.slots(pair / 2, 0).start + (first - factors.cell_start[a]);
        let target = factors.slots(pair / 2, 1).start + (second - factors.cell_start[b]);
        let (range, from) = (factors.entries(slot), factors.slots(pair / 2, 1).start);
        let entries = &factors.entry_slot[range.clone()];
        // Where everything is listed an entry stands at its own position, or one earlier, past the column it cannot share.
        let guess = (target - from).min(entries.len().saturating_sub(1));
        let near = [guess, guess.saturating_sub(1)]
            .into_iter()
            .find(|&at| entries.get(at).is_some_and(|&slot| slot as usize == target));
        let found = near.or_else(|| entries.binary_search_by(|&at| (at as usize).cmp(&target)).ok());
        found.map_or(0.0, |at| factors.entry_score[range.start + at])
    }

    fn apply(&mut self, change: Change) {
        self.step += 1;
        self.score += change.gain;
        // Around n, between 0.9 n and 1.1 n, but at least 2.
        let part = (self.step as f64 * 0.618_033_988_749_895).fract();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let tenure = ((0.9 + 0.2 * part) * self.at.len() as f64) as usize + 2;
        let cells = [change.cell, change.other];
        for cell in cells.into_iter().filter(|&cell| cell != NONE) {
            let row = self.row_of[cell];
            self.closed[self.at[row]] = self.step + tenure;
            self.leave(row);
        }
        for cell in cells.into_iter().filter(|&cell| cell != NONE) {
            self.enter(cell);
        }
    }

    fn leave(&mut self, row: usize) {
        let cell = std::mem::replace(&mut self.at[row], NONE);
        if self.column_of[cell] != NONE {
            self.owner[self.column_of[cell]] = NONE;
        }
        for &(other, score) in &self.partners[self.partner_start[cell]..self.partner_start[cell + 1]] {
            self.value[other] -= score;
        }
    }

    fn enter(&mut self, cell: usize) {
        let row = self.row_of[cell];
        self.at[row] = cell;
        if self.column_of[cell] != NONE {
            self.owner[self.column_of[cell]] = row;
        }
        for &(other, score) in &self.partners[self.partner_start[cell]..self.partner_start[cell + 1]] {
            self.value[other] += score;
        }
    }
}

/// The entries of each cell, from both sides.
fn partners(factors: &Factors) -> (Vec<usize>, Vec<(usize, f64)>) {
    let mut start = vec![0; factors.cell_count() + 1];
    let visit = |see: &mut dyn FnMut(usize, usize, f64)| {
        for (q, pair) in factors.pairs.iter().enumerate() {
            let [a, b] = pair.rows.map(|row| factors.cell_start[row]);
            for (position, slot) in factors.slots(q, 0).enumerate() {
                for entry in factors.entries(slot) {
                    let second = b + (factors.entry_slot[entry] as usize - factors.side_start[2 * q + 1]);
                    see(a + position, second, factors.entry_score[entry]);
                }
            }
        }
    };
    visit(&mut |first, second, _| {
        start[first + 1] += 1;
        start[second + 1] += 1;
    });
    for cell in 0..factors.cell_count() {
        start[cell + 1] += start[cell];
    }
    let mut next = start.clone();
    let mut partners = vec![(0, 0.0); start[factors.cell_count()]];
    visit(&mut |first, second, score| {
        for (cell, other) in [(first, second), (second, first)] {
            partners[next[cell]] = (other, score);
            next[cell] += 1;
        }
    });
    (start, partners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::lp::laws::{all_matchings, factors_of, random_problem};
    use rand::SeedableRng;

    #[test]
    fn the_best_found_is_feasible_and_scores_what_it_says() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(31);
        let mut optimal = 0;
        for _ in 0..300 {
            let problem = random_problem(&mut rng);
            let factors = factors_of(&problem);
            let matchings = all_matchings(&problem);
            let mut tabu = Tabu::new(&factors);
            tabu.jump(matchings[matchings.len() / 2].0.left_to_right());
            tabu.run(50, || false);
            let rights: Vec<_> = tabu.best.iter().map(|&cell| factors.right(cell)).collect();
            let found = matchings.iter().find(|(matching, _)| matching.left_to_right() == rights);
            let score = found.expect("a feasible matching").1 * factors.scale;
            assert!((score - tabu.best_score).abs() < 1e-12, "{score} and {}", tabu.best_score);
            let drift = tabu.fresh_score() - tabu.score;
            assert!(drift.abs() < 1e-12, "the running score is off by {drift}");
            let best = matchings.iter().map(|&(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
            optimal += usize::from(score >= best * factors.scale - 1e-12);
        }
        assert!(optimal > 280, "on such small problems it hardly ever misses the best: {optimal} of 300");
    }
}

//! The method: restarted Halpern iteration on the primal-dual hybrid gradient, a first-order method for linear programs that
//! converges linearly and ends at exact solutions.
//!
//! The program is  max_(x >= 0) min_λ  score·x + λ·(b - A x)  with x = (cells y, entries p) and one multiplier λ per constraint:
//! rows and columns of the assignment, slots (marginals of a pair = marginals of a row), star groups. One step T(x, λ):
//!
//!   x' = max(0, x + τ (score - λ A)),    λ' = λ - σ (b - A (2 x' - x)), kept >= 0 where the constraint is an inequality
//!
//! with steps τ = 1 / (ω · column count), σ = ω / row count of A (Pock and Chambolle 2011), which need no norm of A. Around it
//! Halpern's scheme  z_(t+1) = (t+1)/(t+2) · (2 T(z_t) - z_t) + 1/(t+2) · z_0  with restarts at T(z_t) whenever the residual
//! ‖z - T(z)‖ has fallen enough (Lu and Yang 2024). The weight ω follows the ratio of how far multipliers and variables moved
//! between restarts. A step costs a handful of operations per entry and allocates nothing.

use super::factors::{Factors, NONE, Origin};
use super::pace::Pace;

/// The weight at the start, as measured to be best on graph matching problems, whose scores are scaled to about one.
pub(crate) const START_WEIGHT: f64 = 4.0;
/// How much of the way, in logarithms, the weight goes to its new value at a restart (PDLP).
const WEIGHT_STEP: f64 = 0.5;

/// Variables and multipliers, scaled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    pub(crate) cells: Vec<f64>,
    pub(crate) entries: Vec<f64>,
    pub(crate) rows: Vec<f64>,
    pub(crate) columns: Vec<f64>,
    pub(crate) slots: Vec<f64>,
    pub(crate) groups: Vec<f64>,
}

impl Point {
    /// Nothing chosen; the row multipliers just large enough for the row's own scores.
    pub(crate) fn start(factors: &Factors) -> Self {
        let best =
            |row: usize| factors.cell_score[factors.cells(row)].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            cells: vec![0.0; factors.cell_count()],
            entries: vec![0.0; factors.entry_count()],
            rows: (0..factors.row_count()).map(best).collect(),
            columns: vec![0.0; factors.rights.len()],
            slots: vec![0.0; factors.slot_count()],
            groups: vec![0.0; factors.group_cell.len()],
        }
    }

    /// The part of it that belongs to a restricted problem.
    pub(crate) fn restrict(&self, origin: &Origin) -> Self {
        let pick = |values: &[f64], from: &[usize]| from.iter().map(|&at| values[at]).collect();
        Self {
            cells: pick(&self.cells, &origin.cells),
            entries: pick(&self.entries, &origin.entries),
            rows: pick(&self.rows, &origin.rows),
            columns: pick(&self.columns, &origin.columns),
            slots: pick(&self.slots, &origin.slots),
            groups: pick(&self.groups, &origin.groups),
        }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        self.variables().iter().chain(&self.multipliers()).map(|part| part.len()).sum()
    }

    fn variables(&self) -> [&Vec<f64>; 2] {
        [&self.cells, &self.entries]
    }

    fn multipliers(&self) -> [&Vec<f64>; 4] {
        [&self.rows, &self.columns, &self.slots, &self.groups]
    }

    /// Variables first, then multipliers.
    pub(super) fn parts_mut(&mut self) -> [&mut Vec<f64>; 6] {
        [&mut self.cells, &mut self.entries, &mut self.rows, &mut self.columns, &mut self.slots, &mut self.groups]
    }

    pub(super) fn parts(&self) -> [&Vec<f64>; 6] {
        [&self.cells, &self.entries, &self.rows, &self.columns, &self.slots, &self.groups]
    }

    fn copy_from(&mut self, other: &Self) {
        for (to, from) in self.parts_mut().into_iter().zip(other.parts()) {
            to.copy_from_slice(from);
        }
    }
}

fn square_distance(a: &[&Vec<f64>], b: &[&Vec<f64>]) -> f64 {
    let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    a.iter().zip(b).map(|(a, b)| squares(a, b)).sum()
}

/// The iteration on one problem.
pub(crate) struct Halpern {
    current: Point,
    /// T(current): the answer so far.
    pub(crate) image: Point,
    anchor: Point,
    /// 1 / how many constraints a cell is in, and 1 / how many variables a constraint has.
    cell_steps: Vec<f64>,
    slot_steps: Vec<f64>,
    group_steps: Vec<f64>,
    row_steps: Vec<f64>,
    column_steps: Vec<f64>,
    /// Scratch: score - λ A of each cell, then 2 x' - x.
    cells: Vec<f64>,
    pub(crate) weight: f64,
    entry_step: f64,
    pace: Pace,
}

/// Halpern's average of the reflected step and the anchor.
#[derive(Clone, Copy)]
pub(crate) struct Average {
    pub(crate) ahead: f64,
}

impl Average {
    /// After so many steps since the last restart.
    pub(crate) fn after(steps: f64) -> Self {
        Self { ahead: (steps + 1.0) / (steps + 2.0) }
    }

    /// Moves one number; answers with the square of the difference between it and its image.
    pub(crate) fn advance(self, current: &mut f64, image: f64, anchor: f64) -> f64 {
        let step = image - *current;
        *current = self.ahead * (image + step) + (1.0 - self.ahead) * anchor;
        step * step
    }
}

/// How many constraints an entry is in: two slots, two groups.
const ENTRY_STEP: f64 = 0.25;

impl Halpern {
    pub(crate) fn new(factors: &Factors, start: Point, weight: f64) -> Self {
        let mut cell_steps = vec![if factors.many_to_one { 1.0 } else { 2.0 }; factors.cell_count()];
        let mut slot_steps = vec![1.0; factors.slot_count()];
        let mut group_steps = vec![1.0; factors.group_cell.len()];
        for (q, pair) in factors.pairs.iter().enumerate() {
            for row in pair.rows {
                cell_steps[factors.cells(row)].iter_mut().for_each(|count| *count += 1.0);
            }
            for slot in factors.slots(q, 0) {
                for entry in factors.entries(slot) {
                    slot_steps[slot] += 1.0;
                    slot_steps[factors.entry_slot[entry] as usize] += 1.0;
                    factors.entry_groups[entry].iter().for_each(|&group| group_steps[group as usize] += 1.0);
                }
            }
        }
        for &cell in &factors.group_cell[1..] {
            cell_steps[cell as usize] += 1.0;
        }
        let row_steps: Vec<f64> = (0..factors.row_count()).map(|row| factors.cells(row).len() as f64).collect();
        let mut column_steps = vec![0.0_f64; factors.rights.len()];
        for &column in factors.cell_column.iter().filter(|&&column| column != NONE) {
            column_steps[column as usize] += 1.0;
        }
        let invert = |counts: Vec<f64>| counts.into_iter().map(|count| 1.0 / count.max(1.0)).collect();
        Self {
            image: start.clone(),
            anchor: start.clone(),
            current: start,
            cell_steps: invert(cell_steps),
            slot_steps: invert(slot_steps),
            group_steps: invert(group_steps),
            row_steps: invert(row_steps),
            column_steps: invert(column_steps),
            cells: vec![0.0; factors.cell_count()],
            weight,
            entry_step: ENTRY_STEP,
            pace: Pace::new(),
        }
    }

    /// One step.
    pub(crate) fn step(&mut self, factors: &Factors) {
        let moved = self.advance(factors, Average::after(self.pace.since_restart));
        if self.pace.is_restart_due(self.residual(moved)) {
            self.restart();
        }
    }

    /// Moves variables and multipliers; answers with the squares of how far.
    pub(crate) fn advance(&mut self, factors: &Factors, average: Average) -> [f64; 2] {
        let variables = self.move_cells(factors, average) + self.move_entries(factors, average);
        [variables, self.move_multipliers(factors, average)]
    }

    /// ‖z - T(z)‖ of a step, from what [`Self::advance`] answers with.
    pub(crate) fn residual(&self, [variables, multipliers]: [f64; 2]) -> f64 {
        (self.weight * variables / ENTRY_STEP + multipliers / self.weight).sqrt()
    }

    /// Shorter steps of the variables: they are part of something larger.
    pub(crate) fn shorten_steps(&mut self, share: f64) {
        self.cell_steps.iter_mut().for_each(|step| *step *= share);
        self.entry_step *= share;
    }

    /// τ of the cells and of each entry, but for the weight.
    pub(crate) fn cell_steps(&self) -> &[f64] {
        &self.cell_steps
    }

    pub(crate) fn entry_step(&self) -> f64 {
        self.entry_step
    }

    /// 2 x' - x of the cells in the last step.
    pub(crate) fn reflected_cells(&self) -> &[f64] {
        &self.cells
    }

    pub(crate) fn current_entries(&self) -> &[f64] {
        &self.current.entries
    }

    /// x' = max(0, x + τ (score - λ A)) for the cells; leaves 2 x' - x in the scratch. Answers with Σ (x' - x)².
    fn move_cells(&mut self, factors: &Factors, average: Average) -> f64 {
        let now = &mut self.current;
        for row in 0..factors.row_count() {
            for cell in factors.cells(row) {
                let column = factors.cell_column[cell];
                let price = if column == NONE { 0.0 } else { now.columns[column as usize] };
                self.cells[cell] = factors.cell_score[cell] - now.rows[row] - price;
            }
        }
        for (q, pair) in factors.pairs.iter().enumerate() {
            for (side, &row) in pair.rows.iter().enumerate() {
                let multipliers = &now.slots[factors.slots(q, side)];
                for (pull, multiplier) in self.cells[factors.cells(row)].iter_mut().zip(multipliers) {
                    *pull += multiplier;
                }
            }
        }
        for (&cell, multiplier) in factors.group_cell.iter().zip(&now.groups).skip(1) {
            self.cells[cell as usize] += multiplier;
        }
        let mut moved = 0.0;
        let image = self.image.cells.iter_mut().zip(&self.cell_steps).zip(&self.anchor.cells);
        for ((scratch, current), ((new, step), &anchor)) in self.cells.iter_mut().zip(&mut now.cells).zip(image) {
            let old = *current;
            *new = (old + *scratch * step / self.weight).max(0.0);
            *scratch = 2.0 * *new - old;
            moved += average.advance(current, *new, anchor);
        }
        moved
    }

    /// The same for the entries; adds up 2 x' - x of each slot and group in the image's multipliers.
    fn move_entries(&mut self, factors: &Factors, average: Average) -> f64 {
        let step = self.entry_step / self.weight;
        self.image.slots.fill(0.0);
        self.image.groups.fill(0.0);
        let Point { entries: current, slots, groups, .. } = &mut self.current;
        let Point { entries: image, slots: slot_sums, groups: group_sums, .. } = &mut self.image;
        let mut moved = 0.0;
        for q in 0..factors.pairs.len() {
            for first in factors.slots(q, 0) {
                let range = factors.entries(first);
                let price = slots[first];
                let mut sum = 0.0;
                let points = current[range.clone()].iter_mut().zip(&mut image[range.clone()]);
                let points = points.zip(&self.anchor.entries[range.clone()]);
                let places = factors.entry_slot[range.clone()].iter().zip(&factors.entry_groups[range.clone()]);
                for ((((current, new), &anchor), (&second, groups_of)), score) in
                    points.zip(places).zip(&factors.entry_score[range])
                {
                    let [second, near, far] = [second as usize, groups_of[0] as usize, groups_of[1] as usize];
                    let old = *current;
                    let gain = (score - price - slots[second]) - (groups[near] + groups[far]);
                    *new = (old + step * gain).max(0.0);
                    let twice = 2.0 * *new - old;
                    sum += twice;
                    slot_sums[second] += twice;
                    group_sums[near] += twice;
                    group_sums[far] += twice;
                    moved += average.advance(current, *new, anchor);
                }
                slot_sums[first] = sum;
            }
        }
        group_sums[0] = 0.0;
        moved
    }

    /// λ' = λ - σ (b - A (2 x' - x)), where the image's slots and groups hold their part of A (2 x' - x). Answers with Σ (λ' - λ)².
    fn move_multipliers(&mut self, factors: &Factors, average: Average) -> f64 {
        let (now, image, anchor, weight) = (&mut self.current, &mut self.image, &self.anchor, self.weight);
        let mut moved = 0.0;
        for (q, pair) in factors.pairs.iter().enumerate() {
            // With a rest the pair's marginals may be smaller than the row's: an inequality.
            let least = if pair.rest { 0.0 } else { f64::NEG_INFINITY };
            for (side, &row) in pair.rows.iter().enumerate() {
                let slots = factors.slots(q, side);
                let steps = self.slot_steps[slots.clone()].iter().zip(&self.cells[factors.cells(row)]);
                let points = image.slots[slots.clone()].iter_mut().zip(&mut now.slots[slots.clone()]);
                for (((new, current), &anchor), (step, cell)) in points.zip(&anchor.slots[slots]).zip(steps) {
                    *new = (*current - weight * step * (cell - *new)).max(least);
                    moved += average.advance(current, *new, anchor);
                }
            }
        }
        let points = image.groups.iter_mut().zip(&mut now.groups).zip(&anchor.groups);
        for (((new, current), &anchor), (step, &cell)) in
            points.zip(self.group_steps.iter().zip(&factors.group_cell)).skip(1)
        {
            *new = (*current - weight * step * (self.cells[cell as usize] - *new)).max(0.0);
            moved += average.advance(current, *new, anchor);
        }
        image.columns.fill(0.0);
        for row in 0..factors.row_count() {
            let mut sum = 0.0;
            for cell in factors.cells(row) {
                sum += self.cells[cell];
                if factors.cell_column[cell] != NONE {
                    image.columns[factors.cell_column[cell] as usize] += self.cells[cell];
                }
            }
            image.rows[row] = now.rows[row] - weight * self.row_steps[row] * (1.0 - sum);
            moved += average.advance(&mut now.rows[row], image.rows[row], anchor.rows[row]);
        }
        if factors.many_to_one {
            image.columns.fill(0.0);
            return moved;
        }
        for (column, new) in image.columns.iter_mut().enumerate() {
            let free = now.columns[column] - weight * self.column_steps[column] * (1.0 - *new);
            *new = if factors.must[column] { free } else { free.max(0.0) };
            moved += average.advance(&mut now.columns[column], *new, anchor.columns[column]);
        }
        moved
    }

    fn restart(&mut self) {
        let variables = square_distance(&self.anchor.variables(), &self.image.variables());
        let multipliers = square_distance(&self.anchor.multipliers(), &self.image.multipliers());
        // Nothing to learn from a side that has stopped moving.
        if variables > 1e-20 && multipliers > 1e-20 {
            let ratio = (multipliers / variables).sqrt();
            self.weight = (WEIGHT_STEP * ratio.ln() + (1.0 - WEIGHT_STEP) * self.weight.ln()).exp();
        }
        self.begin_at_image(self.weight);
    }

    /// Begins afresh at the image, which may have been changed.
    pub(super) fn begin_at_image(&mut self, weight: f64) {
        self.weight = weight;
        self.anchor.copy_from(&self.image);
        self.current.copy_from(&self.image);
        self.pace.begin();
    }
}

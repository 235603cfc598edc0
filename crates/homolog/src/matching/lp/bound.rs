//! The bound that any multipliers prove, and what each single choice could still reach.
//!
//! With slot multipliers a and star multipliers w >= 0, every feasible matching scores at most
//!
//!   L(a, w) = max over matchings of Σ_ik (node_ik + Σ_j a_ij(k) + Σ_l w_ikl) y_ik
//!           + Σ_pairs max_(kl) [d_ij(kl) - a_ij(k) - a_ji(l) - w_ikl - w_jlk]
//!
//! because the added terms cancel on a matching, but for w_ikl (1 - how many neighbours of i go to l) >= 0 where i goes to k. The
//! first maximum is a linear assignment, solved exactly; the second looks at listed entries and the rest. So no bound here
//! depends on how far the multipliers are from the best ones, and none is ever wrong (rounding apart).
//!
//! If i goes to k, the assignment loses at least its dual slack there, and each pair of i at least the difference between its
//! maximum and its best entry with k: that is what the choice can reach.

use super::factors::{Factors, NONE};
use super::halpern::Point;
use crate::Result;
use crate::matching::{Compatibility, Constraint, Linear, Solution, Workspace};
use ndarray::{Array1, Array2};

/// What multipliers prove, scaled as the factors are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outlook {
    /// No matching of the cells of this problem scores more; minus infinity if there is none.
    pub(crate) bound: f64,
    /// No matching that uses the cell scores more.
    pub(crate) reach: Vec<f64>,
    /// More than rounding can have changed the sum by: multipliers may be much larger than scores, and then hide them.
    pub(crate) rounding: f64,
    /// The best entry with each slot.
    best: Vec<f64>,
}

impl Outlook {
    /// Evaluates the multipliers of a point.
    pub(crate) fn evaluate(&mut self, factors: &Factors, point: &Point, work: &mut Workspace) -> Result<()> {
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let terms = 8.0 * f64::EPSILON * (factors.pairs.len() + factors.row_count()) as f64;
        self.rounding = terms * (largest(&point.slots) + largest(&point.groups));
        self.reach.clear();
        self.reach.extend_from_slice(&factors.cell_score);
        for (&cell, multiplier) in factors.group_cell.iter().zip(&point.groups).skip(1) {
            self.reach[cell as usize] += multiplier;
        }
        self.bound = factors.constant + self.best_entries(factors, point);
        let linear = linear_problem(factors, &self.reach);
        let answer = Linear::default().solve_through(&linear, work)?;
        if self.bound == f64::NEG_INFINITY || !fills_all_places(factors, &linear, &answer) {
            self.bound = f64::NEG_INFINITY;
            self.reach.fill(f64::NEG_INFINITY);
            return Ok(());
        }
        // Not the score: where rounding hides what is best, its bound is larger.
        self.bound += answer.bound;
        self.spread(factors, &answer);
        Ok(())
    }

    /// Σ_pairs max; the slots' best entries; and the slot multipliers added to `reach`, shifted so that those of staying
    /// unmatched are zero (a shift of a whole side changes nothing in the sum).
    fn best_entries(&mut self, factors: &Factors, point: &Point) -> f64 {
        self.best.clear();
        self.best.resize(factors.slot_count(), f64::NEG_INFINITY);
        let mut total = 0.0;
        for (q, pair) in factors.pairs.iter().enumerate() {
            if pair.rest {
                let most = |side: usize| {
                    point.slots[factors.slots(q, side)].iter().fold(f64::NEG_INFINITY, |most, a| most.max(-a))
                };
                let most = [most(0), most(1)];
                for side in 0..2 {
                    for slot in factors.slots(q, side) {
                        self.best[slot] = most[1 - side] - point.slots[slot];
                    }
                }
            }
            for first in factors.slots(q, 0) {
                let mut best = self.best[first];
                for entry in factors.entries(first) {
                    let second = factors.entry_slot[entry] as usize;
                    let [near, far] = factors.entry_groups[entry].map(|group| point.groups[group as usize]);
                    let gain = factors.entry_score[entry] - point.slots[first] - point.slots[second] - near - far;
                    best = best.max(gain);
                    self.best[second] = self.best[second].max(gain);
                }
                self.best[first] = best;
            }
            total += self.best[factors.slots(q, 0)].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (side, &row) in pair.rows.iter().enumerate() {
                let slots = factors.slots(q, side);
                let shift = if factors.may_rest(row) { point.slots[slots.end - 1] } else { 0.0 };
                total += shift;
                for (score, a) in self.reach[factors.cells(row)].iter_mut().zip(&point.slots[slots]) {
                    *score += a - shift;
                }
            }
        }
        total
    }

    /// From the assignment's scores in `reach` to what each cell can reach.
    fn spread(&mut self, factors: &Factors, answer: &Solution) {
        let Some(duals) = &answer.certificate else { return };
        let crowd = duals.crowd.as_ref();
        for row in 0..factors.row_count() {
            let inside = crowd.is_some_and(|crowd| crowd.left.binary_search(&row).is_ok());
            for cell in factors.cells(row) {
                let column = factors.cell_column[cell] as usize;
                let possible = if factors.cell_column[cell] == NONE {
                    inside || !factors.crowded[row]
                } else {
                    inside || crowd.is_none_or(|crowd| crowd.right.binary_search(&column).is_err())
                };
                let price = if factors.cell_column[cell] == NONE { 0.0 } else { duals.right[column] };
                let loss = (duals.left[row] + price - self.reach[cell]).max(0.0);
                self.reach[cell] = if possible { self.bound - loss } else { f64::NEG_INFINITY };
            }
        }
        for (q, pair) in factors.pairs.iter().enumerate() {
            let most = self.best[factors.slots(q, 0)].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (side, &row) in pair.rows.iter().enumerate() {
                for (reach, best) in self.reach[factors.cells(row)].iter_mut().zip(&self.best[factors.slots(q, side)]) {
                    *reach -= (most - best).max(0.0);
                }
            }
        }
    }
}

/// The assignment of rows to columns with the given score per cell. A row without a cell of staying unmatched, or in a crowd, is
/// to be matched as far as possible.
pub(crate) fn linear_problem(factors: &Factors, scores: &[f64]) -> Compatibility {
    let mut node = Array2::from_elem((factors.row_count(), factors.rights.len()), f64::NEG_INFINITY);
    let mut unmatched = Array1::from_elem(factors.row_count(), f64::NEG_INFINITY);
    for row in 0..factors.row_count() {
        for cell in factors.cells(row) {
            if factors.cell_column[cell] != NONE {
                node[[row, factors.cell_column[cell] as usize]] = scores[cell];
            } else if !factors.crowded[row] {
                unmatched[row] = scores[cell];
            }
        }
    }
    let constraint = if factors.many_to_one { Constraint::ManyToOne } else { Constraint::OneToOne };
    Compatibility::linear(node).with_unmatched(unmatched).with_constraint(constraint)
}

/// Whether all rows that have to be matched are: those outside the crowd that may not rest, and as many of the crowd as there are
/// columns for it. If the best assignment fails this, every one does.
pub(crate) fn fills_all_places(factors: &Factors, linear: &Compatibility, answer: &Solution) -> bool {
    let rows = 0..factors.row_count();
    let forced = |row: usize| linear.unmatched_score(row) == f64::NEG_INFINITY;
    let placed = rows.clone().filter(|&row| forced(row) && answer.matching.right_of(row).is_some()).count();
    let outside = rows.filter(|&row| forced(row) && !factors.crowded[row]).count();
    placed == outside + factors.must.iter().filter(|&&must| must).count()
}

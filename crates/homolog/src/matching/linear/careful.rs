//! When rounding could have misled the fast solver, the problem is solved again, carefully.
//!
//! Bids and dual values are as large as the scores, or as the differences between a row's best and second best, even where the matchings
//! themselves differ by much less: a row of scores near 1e12, a cost of 1e20 that stands for "never". Rounding then hides what matters.
//! With c_i the best that row i can have, the loss of an answer is L = Σ_i (c_i - what row i has), and dual values should be right
//! to a small fraction of L. If they are too large for that:
//!
//! 1. c_i is subtracted from all scores of row i. Now all are at most 0, and small ones are precise.
//! 2. Shortest augmenting paths start from dual values 0: no bids, so no value exceeds the length of a path.
//! 3. The bound that the dual values prove is computed with twice the digits. If it is not within the tolerance, the answer is not called
//!    proven.

use super::core::{Core, NONE, Scores};
use super::dense::Dense;
use crate::matching::problem::Precise;

/// What an optimal answer promises: nothing is better by more than this fraction of L.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Solves again where necessary. Returns how far the proven bound is above the score: 0 where that is within the tolerance; `None` if
/// `goes_on` says no.
pub(super) fn refine(
    problem: &Scores<'_>,
    core: &mut Core,
    dense: &mut Dense,
    goes_on: &dyn Fn() -> bool,
) -> Option<f64> {
    let size = core.left.iter().chain(&core.right).fold(0.0_f64, |size, value| size.max(value.abs()));
    // Each row that is placed may change a dual value once more, and round it; errors of random sign add up like a square root.
    let noise = 4.0 * f64::EPSILON * (problem.rows as f64).sqrt() * size;
    if noise <= TOLERANCE * estimated_loss(problem, core) {
        return Some(0.0);
    }
    // Right values never fall: if all are zero now they always were, and what rows bid for first is exactly their best.
    let is_plain = core.right.iter().all(|&right| right == 0.0);
    let loss = if is_plain { estimated_loss(problem, core) } else { loss(problem, core) };
    if noise <= TOLERANCE * loss {
        return Some(0.0);
    }
    if loss == 0.0 {
        // Every row has its best: nothing is better, and dual values of zero prove it.
        let largest = (0..problem.rows).fold(0.0_f64, |most, row| most.max(chosen(problem, core, row).abs()));
        if noise > TOLERANCE * largest {
            (0..problem.rows).for_each(|row| core.left[row] = chosen(problem, core, row));
            core.right.fill(0.0);
        }
        return Some(0.0);
    }
    let best: Vec<f64> = (0..problem.rows).map(|row| best_of(problem, row)).collect();
    if !solve_again(problem, core, dense, &best, goes_on) {
        return None;
    }
    let gap = gap(problem, core, &best);
    for (left, best) in core.left.iter_mut().zip(&best) {
        *left += best;
    }
    let loss = self::loss(problem, core);
    Some(if gap <= TOLERANCE * loss { 0.0 } else { gap })
}

/// What a row has in the answer.
fn chosen(problem: &Scores<'_>, core: &Core, row: usize) -> f64 {
    match core.column_of[row] {
        NONE => problem.floor(row),
        column => problem.score(row, column),
    }
}

/// L estimated from what rows first bid for: no more than L, up to rounding.
fn estimated_loss(problem: &Scores<'_>, core: &Core) -> f64 {
    (0..problem.rows).map(|row| (core.wish[row] - chosen(problem, core, row)).max(0.0)).sum()
}

fn best_of(problem: &Scores<'_>, row: usize) -> f64 {
    let larger = |best: f64, &value: &f64| if problem.sign * value > best { problem.sign * value } else { best };
    problem.row(row).iter().fold(problem.floor(row), larger)
}

fn loss(problem: &Scores<'_>, core: &Core) -> f64 {
    (0..problem.rows).map(|row| best_of(problem, row) - chosen(problem, core, row)).sum()
}

fn solve_again(
    problem: &Scores<'_>,
    core: &mut Core,
    dense: &mut Dense,
    best: &[f64],
    goes_on: &dyn Fn() -> bool,
) -> bool {
    let mut values = problem.values.to_vec();
    for (row, best) in best.iter().enumerate() {
        for value in &mut values[row * problem.columns..][..problem.columns] {
            *value = problem.sign * *value - best;
        }
    }
    let unmatched: Option<Vec<f64>> =
        problem.unmatched.map(|prices| prices.iter().zip(best).map(|(price, best)| price - best).collect());
    core.clear(problem.rows, problem.columns);
    let shifted = Scores { values: &values, sign: 1.0, unmatched: unmatched.as_deref(), ..*problem };
    let placed = dense.solve(&shifted, core, goes_on);
    debug_assert!(placed || !goes_on(), "every row was placed before");
    placed
}

/// Bound minus score, from the right values; `core.left` is not used.
fn gap(problem: &Scores<'_>, core: &Core, best: &[f64]) -> f64 {
    let mut total: Precise = core.right.iter().map(|&right| Precise::new(right)).sum();
    for (row, &best) in best.iter().enumerate() {
        let rest = Some(problem.floor(row)).filter(|floor| floor.is_finite());
        let mut most = rest.map(|floor| Precise::difference(floor, best));
        for (&value, &right) in problem.row(row).iter().zip(&core.right) {
            let score = problem.sign * value;
            if score > f64::NEG_INFINITY {
                let value = Precise::difference(score, best).minus(Precise::new(right));
                most = Some(most.map_or(value, |most| most.max(value)));
            }
        }
        let chosen = Precise::difference(chosen(problem, core, row), best);
        total = total.plus(most.unwrap_or_default()).minus(chosen);
    }
    total.rounded_up().max(0.0)
}

//! When rounding could have misled the fast solver, the problem is solved again, carefully.
//!
//! Bids and dual values are as large as the scores, or as the differences between a row's best and second best, even where the matchings
//! themselves differ by much less: a row or a column of scores near 1e12, a cost of 1e20 that stands for "never". Rounding then hides what
//! matters. With c_i the best that row i can have, the loss of an answer is L = Σ_i (c_i - what row i has), and with n rows and the usual
//! difference q between choices ([`Differences`]) dual values should be right to a small fraction of L and of n q. If they are too large for that:
//!
//! 1. c_i is subtracted from all scores of row i. Now all are at most 0, and small ones are precise.
//! 2. Shortest augmenting paths start from dual values 0: no bids, so no value exceeds the length of a path.
//! 3. The bound that the dual values prove is computed with twice the digits. If it is not within the tolerance, the right values are
//!    subtracted too, and it starts again: what columns have in common is gone then, and the values that are found are corrections.
//!    If that does not help either, the answer is not called proven.

use super::core::{Core, NONE, Scores};
use super::dense::Dense;
use super::scan::best_score;
use crate::matching::problem::{Differences, PART, Precise, is_sum_positive};

/// What an optimal answer promises: nothing is better by more than this fraction of L, nor by more than the smaller one `PART` of n q.
pub(super) const TOLERANCE: f64 = 1e-9;

/// What is smaller than this part of the numbers that it was computed from is what rounding made of nothing.
const NOTHING: f64 = 1.0 / (1_u128 << 90) as f64;

/// How often it is solved again: once less the best of each row, then less the right values found before.
const ROUNDS: usize = 4;

/// With no more rows than this a few large scores can be most of them.
const FEW_ROWS: usize = 8;

/// What is so many times as large as rounding can be told from it.
pub(super) const HIDDEN: f64 = 100.0;

/// Columns that a quick look takes from a row.
const MOST_COLUMNS: usize = 64;

/// Solves again where necessary, by a quick look unless it has to be `sure`. Returns how far the proven bound is above the score: 0 where that is
/// within the tolerance; `None` if `goes_on` says no.
pub(super) fn refine(
    problem: &Scores<'_>,
    core: &mut Core,
    dense: &mut Dense,
    sure: bool,
    goes_on: &dyn Fn() -> bool,
) -> Option<f64> {
    let noise = noise(&core.left, &core.right);
    let own = (0..problem.rows).map(|row| chosen(problem, core, row));
    let looks = looks(problem.rows, problem.columns).map(|(row, start)| {
        let end = problem.columns.min(start + MOST_COLUMNS);
        let scores = problem.row(row)[start..end].iter().map(|value| problem.sign * value);
        let chosen = core.column_of[row].wrapping_sub(start);
        Look { left: core.left[row], right: &core.right[start..end], scores, chosen }
    });
    let is_even = !sure && is_even(noise, &core.left, &core.right, own) && tells_apart(noise, problem.rows, looks);
    if is_even && noise <= TOLERANCE * estimated_loss(problem, core) {
        return Some(0.0);
    }
    // Right values never fall: if all are zero now they always were, and what rows bid for first is exactly their best.
    let is_plain = core.right.iter().all(|&right| right == 0.0);
    let loss = if is_plain { estimated_loss(problem, core) } else { loss(problem, core) };
    if is_even && noise <= TOLERANCE * loss {
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
    let right: Vec<Precise> = core.right.iter().map(|&right| Precise::new(right)).collect();
    if noise <= tolerance(problem, &right, loss) {
        return Some(0.0);
    }
    // If nothing is proven in the end, the answer that is proven to be the least behind is kept: a column that is worth something
    // may stay free when its value is subtracted.
    let mut best = (self::gap(problem, core, &right), core.clone());
    let mut before = vec![Precise::default(); problem.columns];
    for _ in 0..ROUNDS {
        if !solve_again(problem, core, dense, &before, goes_on) {
            return None;
        }
        before
            .iter_mut()
            .zip(&core.right)
            .for_each(|(before, &since)| *before = before.plus(Precise::new(since)).taken());
        let gap = self::gap(problem, core, &before);
        core.right.iter_mut().zip(&before).for_each(|(right, before)| *right = before.value());
        for row in 0..problem.rows {
            core.left[row] = match core.column_of[row] {
                NONE => problem.floor(row),
                column => problem.score(row, column) - core.right[column],
            };
        }
        if gap <= tolerance(problem, &before, self::loss(problem, core)) {
            return Some(0.0);
        }
        if gap < best.0 {
            best = (gap, core.clone());
        }
        // What a column that no row takes is worth is part of the gap.
        let not_taken = before.iter_mut().zip(&core.row_of).filter(|(_, row)| **row == NONE);
        not_taken.for_each(|(before, _)| *before = Precise::default());
    }
    *core = best.1;
    Some(best.0)
}

/// Whether this much is nothing next to most dual values and scores of the answer that are not zero, or to all of them in a small problem: a
/// quick look, without a pass over the scores.
fn is_even(noise: f64, left: &[f64], right: &[f64], own: impl Iterator<Item = f64>) -> bool {
    let (least, mut below, mut all) = (noise / (PART * left.len() as f64), 0_usize, 0_usize);
    for value in left.iter().chain(right).copied().chain(own) {
        all += usize::from(value != 0.0);
        below += usize::from(value != 0.0 && value.abs() < least);
    }
    if left.len() <= FEW_ROWS { below == 0 } else { 4 * below <= all }
}

/// Whether rounding of this size hides most of what pairs that are not chosen fall short by: a quick look at a few rows. In a small problem
/// everything counts that is not a tie; in others what is hardly more than the last digit is what rounding made of one. If all are ties, those that
/// are chosen must not fall short by anything.
fn tells_apart<'a, I: Iterator<Item = f64>>(
    noise: f64,
    count: usize,
    looks: impl Iterator<Item = Look<'a, I>>,
) -> bool {
    let least = HIDDEN * noise;
    let nothing = if count <= FEW_ROWS { 0.0 } else { noise / (count as f64).sqrt() };
    let (mut all, mut below, mut is_exact) = (0_u32, 0_u32, true);
    for Look { left, right, scores, chosen } in looks {
        let mut own = 0.0;
        for (column, (right, score)) in right.iter().zip(scores).enumerate() {
            let short = (left + right - score).abs();
            own = if column == chosen { short } else { own };
            all += u32::from(short > nothing && short < f64::INFINITY);
            below += u32::from(short > nothing && short < least);
        }
        all -= u32::from(own > nothing);
        below -= u32::from(own > nothing && own < least);
        is_exact &= own == 0.0;
    }
    2 * below <= all && (all > 0 || is_exact || count > FEW_ROWS)
}

/// Some columns of a row, their scores for it, and the chosen one among them, if it is.
struct Look<'a, I> {
    left: f64,
    right: &'a [f64],
    scores: I,
    chosen: usize,
}

/// Which rows a quick look takes, and where in each it begins.
fn looks(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = rows / FEW_ROWS + 1;
    let room = columns - columns.min(MOST_COLUMNS);
    (0..rows).step_by(step).map(move |row| (row, room * row / rows))
}

/// What an answer may be behind the best.
fn tolerance(problem: &Scores<'_>, right: &[Precise], loss: f64) -> f64 {
    let mut differences = Differences::default();
    for row in Differences::rows(problem.rows) {
        let best = most(gains(problem, row, right));
        let sizes = right.iter().map(|right| right.value()).chain([0.0]);
        // What rounding of the right values makes of nothing is not a difference.
        let behind = gains(problem, row, right).zip(sizes).filter_map(|(gain, right)| {
            let (gain, rounding) = (gain?, NOTHING * (gain?.value().abs() + right.abs()));
            let behind = gain.minus(best).value();
            Some(if behind < -rounding { behind } else { 0.0 })
        });
        differences.add(behind);
    }
    (TOLERANCE * loss).min(PART * problem.rows as f64 * differences.usual_of_exact())
}

/// How far rounding may have moved the dual values of an answer.
pub(super) fn noise(left: &[f64], right: &[f64]) -> f64 {
    let size = left.iter().chain(right).fold(0.0_f64, |size, value| size.max(value.abs()));
    // Each row that is placed may change a dual value once more, and round it; errors of random sign add up like a square root.
    4.0 * f64::EPSILON * (left.len() as f64).sqrt() * size
}

/// Whether rounding can be neglected next to what an answer gives up, by a quick look at its dual values; if not, [`refine`] looks closer.
/// `columns` has the column of each row, `NONE` if it has none, and `scores` the scores of a row.
pub(super) fn is_precise<I: Iterator<Item = f64>>(
    left: &[f64],
    right: &[f64],
    columns: impl Fn(usize) -> usize,
    scores: impl Fn(usize) -> I,
    loss: f64,
) -> bool {
    let noise = noise(left, right);
    let score = |(row, column): (usize, usize)| scores(row).nth(column);
    let own = (0..left.len()).map(|row| (row, columns(row))).filter(|&(_, column)| column != NONE).filter_map(score);
    let looks = looks(left.len(), right.len()).map(|(row, start)| {
        let end = right.len().min(start + MOST_COLUMNS);
        let chosen = columns(row).wrapping_sub(start);
        Look { left: left[row], right: &right[start..end], scores: scores(row).skip(start), chosen }
    });
    noise <= TOLERANCE * loss && is_even(noise, left, right, own) && tells_apart(noise, left.len(), looks)
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
    best_score(problem.row(row), problem.sign).max(problem.floor(row))
}

fn loss(problem: &Scores<'_>, core: &Core) -> f64 {
    (0..problem.rows).map(|row| best_of(problem, row) - chosen(problem, core, row)).sum()
}

/// What each choice of a row is worth at these right values; last that of staying unmatched.
fn gains<'a>(
    problem: &'a Scores<'_>,
    row: usize,
    right: &'a [Precise],
) -> impl Iterator<Item = Option<Precise>> + Clone + 'a {
    let pairs = problem.row(row).iter().zip(right).map(|(&value, &right)| {
        let score = problem.sign * value;
        (score > f64::NEG_INFINITY).then(|| Precise::new(score).minus(right))
    });
    pairs.chain([Some(problem.floor(row)).filter(|floor| floor.is_finite()).map(Precise::new)])
}

/// The numbers whose sum a choice is worth.
fn terms(problem: &Scores<'_>, row: usize, choice: usize, right: &[Precise]) -> [f64; 3] {
    right.get(choice).map_or([problem.floor(row), 0.0, 0.0], |right| {
        let [high, low] = right.parts();
        [problem.score(row, choice), -high, -low]
    })
}

fn most(gains: impl Iterator<Item = Option<Precise>>) -> Precise {
    gains.flatten().reduce(Precise::max).unwrap_or_default()
}

/// Solves with the right values and then the best of each row subtracted.
fn solve_again(
    problem: &Scores<'_>,
    core: &mut Core,
    dense: &mut Dense,
    right: &[Precise],
    goes_on: &dyn Fn() -> bool,
) -> bool {
    let mut values = Vec::with_capacity(problem.values.len());
    let mut unmatched = Vec::with_capacity(problem.rows);
    for row in 0..problem.rows {
        let gains = || gains(problem, row, right);
        let best = most(gains());
        values.extend(gains().map(|gain| gain.map_or(f64::NEG_INFINITY, |gain| gain.minus(best).value())));
        unmatched.extend(values.pop());
    }
    core.clear(problem.rows, problem.columns);
    let unmatched = problem.unmatched.map(|_| &unmatched[..]);
    let placed = dense.solve(&Scores { values: &values, sign: 1.0, unmatched, ..*problem }, core, goes_on);
    debug_assert!(placed || !goes_on(), "every row was placed before");
    placed
}

/// Bound minus score at these right values; `core.left` and `core.right` are not used.
fn gap(problem: &Scores<'_>, core: &Core, right: &[Precise]) -> f64 {
    let not_taken = right.iter().zip(&core.row_of).filter(|(_, row)| **row == NONE);
    let mut total: Precise = not_taken.map(|(&right, _)| right).sum();
    for row in 0..problem.rows {
        let at = if core.column_of[row] == NONE { problem.columns } else { core.column_of[row] };
        let own = gains(problem, row, right).nth(at).flatten().unwrap_or_default();
        let others = gains(problem, row, right).enumerate().filter(|&(choice, _)| choice != at);
        let more = others.filter_map(|(choice, gain)| {
            let more = gain?.minus(own);
            let is_more = more.is_positive().unwrap_or_else(|| {
                let [[a, b, c], [d, e, f]] = [choice, at].map(|choice| terms(problem, row, choice, right));
                is_sum_positive([a, b, c, -d, -e, -f])
            });
            is_more.then(|| more.rounded_up().max(f64::from_bits(1)))
        });
        total = total.plus(Precise::new(more.fold(0.0, f64::max)));
    }
    total.rounded_up().max(0.0)
}

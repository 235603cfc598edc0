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
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::core::{Core, NONE, Scores};
use super::dense::Dense;
use super::scan::{best_score, largest};
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
    let task = QuickLook { problem, core };
    let Seen { noise, loss, is_precise } = pulp::Arch::new().dispatch(task);
    if is_precise && !sure {
        return Some(0.0);
    }
    if loss == 0.0 {
        // Every row has its best: nothing is better, and dual values of zero prove it.
        if noise > TOLERANCE * largest(&core.own) {
            core.left.copy_from_slice(&core.own);
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

/// Looks at an answer of the cores, and writes what each row has.
struct QuickLook<'a> {
    problem: &'a Scores<'a>,
    core: &'a mut Core,
}

/// What a quick look sees.
struct Seen {
    noise: f64,
    /// L.
    loss: f64,
    is_precise: bool,
}

impl pulp::WithSimd for QuickLook<'_> {
    type Output = Seen;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Seen {
        let Self { problem, core } = self;
        core.own.clear();
        let columns = core.column_of.iter().enumerate();
        core.own.extend(columns.map(|(row, &column)| match column {
            NONE => problem.floor(row),
            column => problem.score(row, column),
        }));
        let loss = core.top.iter().zip(&core.own).map(|(top, own)| top - own).sum();
        let (left, right, own) = (&core.left[..], &core.right[..], &core.own[..]);
        let (column, row) = (|row: usize| core.column_of[row], |row: usize| problem.row(row));
        let answer = Answer { own, left, right, column, row, sign: problem.sign };
        Seen { noise: noise(left, right), loss, is_precise: answer.is_precise(loss) }
    }
}

/// Whether this much is nothing next to most dual values and scores of the answer that are not zero, or to all of them in a small problem: a
/// quick look, without a pass over the scores.
#[inline(always)]
fn is_even(noise: f64, own: &[f64], left: &[f64], right: &[f64]) -> bool {
    let least = noise / (PART * own.len() as f64);
    // How many are not zero, but smaller than this.
    let below = |most: f64| -> u64 {
        let is_below = |value: f64| u64::from((value != 0.0) & (value.abs() < most));
        [own, left, right].map(|values| values.iter().map(|&value| is_below(value)).sum::<u64>()).iter().sum()
    };
    if own.len() <= FEW_ROWS { below(least) == 0 } else { 4 * below(least) <= below(f64::INFINITY) }
}

/// Whether rounding of this size hides most of what pairs that are not chosen fall short by: a quick look at a few rows. In a small problem
/// everything counts that is not a tie; in others what is hardly more than the last digit is what rounding made of one. If all are ties, those that
/// are chosen must not fall short by anything.
#[inline(always)]
fn tells_apart<'a>(noise: f64, count: usize, looks: impl Iterator<Item = Look<'a>> + Clone) -> bool {
    let least = HIDDEN * noise;
    let nothing = if count <= FEW_ROWS { 0.0 } else { noise / (count as f64).sqrt() };
    let (mut all, mut below) = (0_u64, 0_u64);
    // Without a branch, so that the compiler makes vectors of it.
    let counts = |short: f64| u64::from((short > nothing) & (short < f64::INFINITY));
    let is_below = |short: f64| u64::from((short > nothing) & (short < least));
    for look in looks.clone() {
        let end = look.scores.len().min(look.start + MOST_COLUMNS);
        for (right, value) in look.right[look.start..end].iter().zip(&look.scores[look.start..end]) {
            let short = (look.left + right - look.sign * value).abs();
            all += counts(short);
            below += is_below(short);
        }
        if (look.start..end).contains(&look.chosen) {
            let own = look.own().abs();
            all -= counts(own);
            below -= is_below(own);
        }
    }
    let is_exact = |look: Look<'_>| look.chosen >= look.scores.len() || look.own() == 0.0;
    2 * below <= all && (all > 0 || count > FEW_ROWS || { looks }.all(is_exact))
}

/// Some columns of a row, from `start` on: the dual values, the scores (`sign` times the values), and the column that the row has.
struct Look<'a> {
    left: f64,
    right: &'a [f64],
    scores: &'a [f64],
    sign: f64,
    chosen: usize,
    start: usize,
}

impl Look<'_> {
    /// What the chosen column falls short by.
    #[inline(always)]
    fn own(&self) -> f64 {
        self.left + self.right[self.chosen] - self.sign * self.scores[self.chosen]
    }
}

/// Which rows a quick look takes, and where in each it begins.
#[inline(always)]
fn looks(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
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
#[inline(always)]
pub(super) fn noise(left: &[f64], right: &[f64]) -> f64 {
    noise_of(left.len(), left, right)
}

/// The same, where zeros may follow the dual values of `count` rows.
#[inline(always)]
fn noise_of(count: usize, left: &[f64], right: &[f64]) -> f64 {
    let size = largest(left).max(largest(right));
    // Each row that is placed may change a dual value once more, and round it; errors of random sign add up like a square root.
    4.0 * f64::EPSILON * (count as f64).sqrt() * size
}

/// An answer as a quick look needs it. Zeros may follow the dual values of the rows, and forbidden columns those that there are.
pub(super) struct Answer<'a, C, R> {
    /// What each row has: its score, or its price.
    pub(super) own: &'a [f64],
    pub(super) left: &'a [f64],
    pub(super) right: &'a [f64],
    /// The column of each row, `NONE` if it has none.
    pub(super) column: C,
    /// The values of each row, whose scores are `sign` times that.
    pub(super) row: R,
    pub(super) sign: f64,
}

impl<'a, C: Fn(usize) -> usize, R: Fn(usize) -> &'a [f64]> Answer<'a, C, R> {
    /// Whether rounding can be neglected next to what the answer gives up, by a quick look at its dual values; if not, [`refine`] looks closer.
    #[inline(always)]
    pub(super) fn is_precise(&self, loss: f64) -> bool {
        let Self { own, left, right, sign, .. } = *self;
        let noise = noise_of(own.len(), left, right);
        let looks = looks(own.len(), right.len()).map(|(row, start)| Look {
            left: left[row],
            right,
            scores: (self.row)(row),
            sign,
            chosen: (self.column)(row),
            start,
        });
        noise <= TOLERANCE * loss && is_even(noise, own, left, right) && tells_apart(noise, own.len(), looks)
    }
}

/// What a row has in the answer.
fn chosen(problem: &Scores<'_>, core: &Core, row: usize) -> f64 {
    match core.column_of[row] {
        NONE => problem.floor(row),
        column => problem.score(row, column),
    }
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

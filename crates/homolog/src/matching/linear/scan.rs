//! Passes over rows of scores, written so that the compiler turns them into vector instructions: fixed numbers of lanes, plain
//! comparisons, no early exit. `pulp` runs them with the widest vectors this processor has; the results are the same to the bit on
//! any of them.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch a column, and branches keep loops scalar"
)]

use super::core::{NONE, Offer};
use super::few::ORDINARY;
use std::array::from_fn;

/// How many columns a pass takes at a time.
pub(super) const LANES: usize = 8;
type Lanes = [f64; LANES];

/// What the first pass over scores also finds out: whether all are ordinary numbers, and the best of each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    sign: f64,
    /// Of magnitudes; forbidden cells count as zeros. A sum that has met NaN or an infinity remains one.
    sum: Lanes,
    /// The largest scores since they were last asked for.
    best: Lanes,
}

impl Facts {
    /// For values that, times `sign`, are scores.
    pub(super) fn new(sign: f64) -> Self {
        Self { sign, sum: [0.0; LANES], best: [f64::NEG_INFINITY; LANES] }
    }

    /// Whether nothing is NaN or the infinity that would be taken at any price, and sums neither overflow nor lose digits.
    pub(super) fn is_ordinary(&self) -> bool {
        let sum = fold(self.sum, |a, b| a + b);
        sum == 0.0 || ORDINARY.contains(&sum)
    }

    /// The largest score since this was last asked.
    #[inline(always)]
    fn take_best(&mut self) -> f64 {
        fold(std::mem::replace(&mut self.best, [f64::NEG_INFINITY; LANES]), larger)
    }

    #[inline(always)]
    fn add(&mut self, values: &Lanes) {
        let scores: Lanes = from_fn(|lane| self.sign * values[lane]);
        self.sum =
            from_fn(|lane| self.sum[lane] + if scores[lane] == f64::NEG_INFINITY { 0.0 } else { scores[lane].abs() });
        self.best = from_fn(|lane| larger(scores[lane], self.best[lane]));
    }
}

/// The best column of a row by score - right (on ties the first free one, or else the first), and the second best value. The scores are
/// `sign` times the values. Adds the facts of the row along the way, if asked, and finds its best score: a long row is read from memory only once.
#[inline(always)]
pub(super) fn best_offer(
    scores: &[f64],
    sign: f64,
    right: &[f64],
    row_of: &[usize],
    mut facts: Option<&mut Facts>,
) -> Offer {
    let ((chunks, rest), (right_chunks, right_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut top = TopTwo::default();
    let mut place = 0;
    for (at, (scores, right)) in chunks.chunks(BLOCK).zip(right_chunks.chunks(BLOCK)).enumerate() {
        let mut lanes = TopTwo::default();
        if let Some(facts) = &mut facts {
            let mut own = **facts;
            for (scores, right) in scores.iter().zip(right) {
                own.add(scores);
                lanes.add(scores, sign, right);
            }
            **facts = own;
        } else {
            for (scores, right) in scores.iter().zip(right) {
                lanes.add(scores, sign, right);
            }
        }
        if top.merge(lanes) {
            place = at;
        }
    }
    if !rest.is_empty() {
        let rest = padded(rest, sign * f64::NEG_INFINITY);
        if let Some(facts) = &mut facts {
            facts.add(&rest);
        }
        let mut lanes = TopTwo::default();
        lanes.add(&rest, sign, &padded(right_rest, 0.0));
        if top.merge(lanes) {
            place = chunks.len() / BLOCK;
        }
    }
    let (best, second) = (top.best[0], top.second[0]);
    let mut column = NONE;
    if best > second {
        // If there is a single best one, it is in the block where it was met.
        column = first_at(best, scores, sign, right, place * BLOCK * LANES);
    } else if best > f64::NEG_INFINITY {
        column = first_free_at(best, scores, sign, right, row_of);
        if column == NONE {
            column = first_at(best, scores, sign, right, 0);
        }
    }
    Offer { column, best, second, top: facts.map_or(f64::NEG_INFINITY, Facts::take_best) }
}

/// How many sets of lanes make up a block, in which a single best column is searched for again.
const BLOCK: usize = 32;

/// The largest and second largest values seen, lane by lane.
struct TopTwo {
    best: Lanes,
    second: Lanes,
}

impl Default for TopTwo {
    #[inline(always)]
    fn default() -> Self {
        Self { best: [f64::NEG_INFINITY; LANES], second: [f64::NEG_INFINITY; LANES] }
    }
}

impl TopTwo {
    #[inline(always)]
    fn add(&mut self, scores: &Lanes, sign: f64, right: &Lanes) {
        // In steps of whole lanes, which is what makes them vectors.
        let values: Lanes = from_fn(|lane| sign * scores[lane] - right[lane]);
        let lower: Lanes = from_fn(|lane| smaller(values[lane], self.best[lane]));
        self.second = from_fn(|lane| larger(lower[lane], self.second[lane]));
        self.best = from_fn(|lane| larger(values[lane], self.best[lane]));
    }

    /// Merges the top two of another set of lanes into lane 0; whether the best is now the other's.
    #[inline(always)]
    fn merge(&mut self, mut other: Self) -> bool {
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            for lane in 0..width {
                let (a, b) = (other.best[lane], other.best[lane + width]);
                other.second[lane] = larger(larger(other.second[lane], other.second[lane + width]), smaller(a, b));
                other.best[lane] = larger(a, b);
            }
        }
        let (a, b) = (self.best[0], other.best[0]);
        self.second[0] = larger(larger(self.second[0], other.second[0]), smaller(a, b));
        self.best[0] = larger(b, a);
        b > a
    }
}

/// The largest score - right of a row.
#[inline(always)]
pub(super) fn best_reduced(scores: &[f64], sign: f64, right: &[f64]) -> f64 {
    let ((chunks, rest), (right_chunks, right_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut best = [f64::NEG_INFINITY; LANES];
    for (scores, right) in chunks.iter().zip(right_chunks) {
        best = from_fn(|lane| larger(sign * scores[lane] - right[lane], best[lane]));
    }
    let rest = rest.iter().zip(right_rest);
    rest.fold(fold(best, larger), |best, (score, right)| larger(sign * score - right, best))
}

/// The largest score of a row.
pub(super) fn best_score(scores: &[f64], sign: f64) -> f64 {
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let best = chunks
        .iter()
        .fold([f64::NEG_INFINITY; LANES], |best, scores| from_fn(|lane| larger(sign * scores[lane], best[lane])));
    rest.iter().fold(fold(best, larger), |best, score| larger(sign * score, best))
}

/// The largest magnitude.
#[inline(always)]
pub(super) fn largest(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<4>();
    let most = chunks.iter().fold([0.0; 4], |most, values| from_fn(|lane| larger(values[lane].abs(), most[lane])));
    let [a, b, c, d] = most;
    rest.iter().fold(larger(larger(a, b), larger(c, d)), |most, value| larger(value.abs(), most))
}

/// Raises each of `most` to the score of its column, which is `sign` times the value.
#[inline(always)]
pub(super) fn raise(scores: &[f64], sign: f64, most: &mut [f64]) {
    for (most, score) in most.iter_mut().zip(scores) {
        *most = larger(sign * score, *most);
    }
}

/// Whether any lane has a reduced score of at least `cut`.
#[inline(always)]
pub(super) fn any_reaches(scores: &Lanes, sign: f64, right: &Lanes, cut: f64) -> bool {
    scores.iter().zip(right).fold(false, |hit, (score, right)| hit | (sign * score - right >= cut))
}

/// Lowers each distance to `base + (right - score)` where that is less; the smallest distance of all. The scores are `sign` times the
/// values.
#[inline(always)]
pub(super) fn relax(base: f64, scores: &[f64], sign: f64, right: &[f64], distance: &mut [f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    let ((s, s_rest), (r, r_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let (d, d_rest) = distance.as_chunks_mut::<LANES>();
    for ((scores, right), distance) in s.iter().zip(r).zip(d) {
        // In steps of whole lanes, which is what makes them vectors.
        let through: Lanes = from_fn(|lane| base + (right[lane] - sign * scores[lane]));
        *distance = from_fn(|lane| smaller(through[lane], distance[lane]));
        least = from_fn(|lane| smaller(distance[lane], least[lane]));
    }
    let mut nearest = fold(least, smaller);
    for ((score, right), distance) in s_rest.iter().zip(r_rest).zip(d_rest) {
        *distance = smaller(base + (right - sign * score), *distance);
        nearest = smaller(*distance, nearest);
    }
    nearest
}

/// Removes every column at a given distance from the open ones and appends it to `settled`, or stops at the first free one.
#[inline(always)]
pub(super) fn settle_all_at(
    value: f64,
    distance: &mut [f64],
    open_right: &mut [f64],
    settled: &mut Vec<(usize, f64)>,
    is_free: impl Fn(usize) -> bool,
) -> Option<usize> {
    let full = distance.len() / LANES;
    for at in 0..distance.len().div_ceil(LANES) {
        // First asks whether a whole chunk has any: hits are rare, and that question needs no branch per column.
        if at < full && !distance.as_chunks::<LANES>().0[at].iter().fold(false, |hit, &reach| hit | (reach == value)) {
            continue;
        }
        for column in at * LANES..distance.len().min((at + 1) * LANES) {
            if distance[column] == value {
                if is_free(column) {
                    return Some(column);
                }
                settled.push((column, value));
                distance[column] = f64::INFINITY;
                open_right[column] = f64::INFINITY;
            }
        }
    }
    None
}

/// The first column from `start` on, a whole number of lanes, with this reduced score.
#[inline(always)]
fn first_at(value: f64, scores: &[f64], sign: f64, right: &[f64], start: usize) -> usize {
    let ((chunks, rest), (right_chunks, right_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for at in start / LANES..chunks.len() {
        // First asks whether a whole chunk has any: that question needs no branch per column.
        let both = || chunks[at].iter().zip(&right_chunks[at]);
        if both().fold(false, |any, (score, right)| any | (sign * score - right == value)) {
            let lane = both().position(|(score, right)| sign * score - right == value);
            return at * LANES + lane.unwrap_or(0);
        }
    }
    let hit = rest.iter().zip(right_rest).position(|(score, right)| sign * score - right == value);
    hit.map_or(NONE, |at| chunks.len() * LANES + at)
}

/// The first free column with this reduced score.
#[inline(always)]
fn first_free_at(value: f64, scores: &[f64], sign: f64, right: &[f64], row_of: &[usize]) -> usize {
    let ((chunks, rest), (right_chunks, right_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let (row_chunks, row_rest) = row_of.as_chunks::<LANES>();
    for (at, ((scores, right), rows)) in chunks.iter().zip(right_chunks).zip(row_chunks).enumerate() {
        let is_hit: [bool; LANES] = from_fn(|lane| (sign * scores[lane] - right[lane] == value) & (rows[lane] == NONE));
        if is_hit.iter().fold(false, |any, hit| any | hit) {
            // The first lane that is true: a byte each, without a branch.
            return at * LANES + u64::from_le_bytes(is_hit.map(u8::from)).trailing_zeros() as usize / 8;
        }
    }
    let mut columns = rest.iter().zip(right_rest).zip(row_rest);
    let hit = columns.position(|((score, right), row)| sign * score - right == value && *row == NONE);
    hit.map_or(NONE, |at| chunks.len() * LANES + at)
}

/// Writes score - right for a whole row, the scores being `sign` times the values.
#[inline(always)]
pub(super) fn reduce(scores: &[f64], sign: f64, right: &[f64], reduced: &mut [f64]) {
    for ((value, score), price) in reduced.iter_mut().zip(scores).zip(right) {
        *value = sign * score - price;
    }
}

/// Maxima over a row cut into strides: `maxima[j]` is the largest of `row[j]`, `row[j + stride]`, `row[j + 2 stride]`, ...
/// where stride is the length of `maxima`.
#[inline(always)]
pub(super) fn strided_maxima(row: &[f64], maxima: &mut [f64]) {
    maxima.fill(f64::NEG_INFINITY);
    for segment in row.chunks(maxima.len()) {
        for (top, &value) in maxima.iter_mut().zip(segment) {
            *top = larger(value, *top);
        }
    }
}

/// The larger of two; the second if the first is NaN. One instruction, unlike `f64::max`.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two; the second if the first is NaN.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn padded(rest: &[f64], filler: f64) -> Lanes {
    let mut lanes = [filler; LANES];
    lanes[..rest.len()].copy_from_slice(rest);
    lanes
}

#[inline(always)]
fn fold(mut lanes: Lanes, combine: impl Fn(f64, f64) -> f64) -> f64 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
    }
    lanes[0]
}

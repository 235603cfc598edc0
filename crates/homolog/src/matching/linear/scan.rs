//! Passes over rows of scores, written so that the compiler turns them into vector instructions: fixed numbers of lanes, plain
//! comparisons, no early way out.
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch a column, which keeps loops from being vectorised"
)]

use super::core::{NONE, Offer};

/// How many columns a pass takes at a time.
pub(super) const LANES: usize = 8;
type Lanes = [f64; LANES];

/// What a pass over scores finds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// The largest magnitude of a finite score.
    pub(super) largest: f64,
    /// Whether anything is not finite: NaN, or an infinity of either sign.
    pub(super) odd: bool,
}

impl Facts {
    /// Adds the facts of these scores.
    pub(super) fn add(&mut self, scores: &[f64]) {
        let mut largest = [0.0; LANES];
        // Zero times a finite number is zero; times anything else it is NaN, and stays.
        let mut poison = [0.0; LANES];
        let (chunks, rest) = scores.as_chunks::<LANES>();
        for chunk in chunks {
            add_facts(chunk, &mut largest, &mut poison);
        }
        let mut size = fold(largest, larger);
        let mut sum = fold(poison, |a, b| a + b);
        for score in rest {
            size = larger(score.abs(), size);
            sum += score * 0.0;
        }
        if sum.is_nan() {
            self.odd = true;
            size = scores.iter().filter(|score| score.is_finite()).fold(0.0, |size, score| size.max(score.abs()));
        }
        self.largest = self.largest.max(size);
    }
}

fn add_facts(scores: &Lanes, largest: &mut Lanes, poison: &mut Lanes) {
    for lane in 0..LANES {
        largest[lane] = larger(scores[lane].abs(), largest[lane]);
        poison[lane] += scores[lane] * 0.0;
    }
}

/// The best column of a row by score - right, the first free one on ties, or else the first; and the second best value.
pub(super) fn best_offer(scores: &[f64], right: &[f64], row_of: &[usize]) -> Offer {
    let mut best = [f64::NEG_INFINITY; LANES];
    let mut second = [f64::NEG_INFINITY; LANES];
    let ((chunks, rest), (right_chunks, right_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (scores, right) in chunks.iter().zip(right_chunks) {
        add_offers(scores, right, &mut best, &mut second);
    }
    if !rest.is_empty() {
        add_offers(&padded(rest, f64::NEG_INFINITY), &padded(right_rest, 0.0), &mut best, &mut second);
    }
    // The second best of all is the best of the seconds and of the lanes' bests but one.
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            let (a, b) = (best[lane], best[lane + width]);
            second[lane] = larger(larger(second[lane], second[lane + width]), smaller(a, b));
            best[lane] = larger(a, b);
        }
    }
    let mut column = NONE;
    if best[0] > f64::NEG_INFINITY {
        let has_hit = |at: usize| {
            let both = chunks[at].iter().zip(&right_chunks[at]);
            both.fold(false, |hit, (score, right)| hit | (score - right == best[0]))
        };
        let is_hit = |column: usize| scores[column] - right[column] == best[0];
        column = first_wanted(chunks.len(), scores.len(), has_hit, is_hit, |column| row_of[column] == NONE);
    }
    Offer { column, best: best[0], second: second[0] }
}

fn add_offers(scores: &Lanes, right: &Lanes, best: &mut Lanes, second: &mut Lanes) {
    for lane in 0..LANES {
        let value = scores[lane] - right[lane];
        second[lane] = larger(smaller(value, best[lane]), second[lane]);
        best[lane] = larger(value, best[lane]);
    }
}

/// Lowers each distance to `base + (right - score)` where that is less; the smallest distance of all.
pub(super) fn relax(base: f64, scores: &[f64], right: &[f64], distance: &mut [f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    let ((s, s_rest), (r, r_rest)) = (scores.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let (d, d_rest) = distance.as_chunks_mut::<LANES>();
    for ((scores, right), distance) in s.iter().zip(r).zip(d) {
        for lane in 0..LANES {
            distance[lane] = smaller(base + (right[lane] - scores[lane]), distance[lane]);
            least[lane] = smaller(distance[lane], least[lane]);
        }
    }
    let mut nearest = fold(least, smaller);
    for ((score, right), distance) in s_rest.iter().zip(r_rest).zip(d_rest) {
        *distance = smaller(base + (right - score), *distance);
        nearest = smaller(*distance, nearest);
    }
    nearest
}

/// The first wanted column at a distance, or else the first column at it.
pub(super) fn find_distance(distance: &[f64], value: f64, is_wanted: impl Fn(usize) -> bool) -> usize {
    let (chunks, _) = distance.as_chunks::<LANES>();
    let has_hit = |at: usize| chunks[at].iter().fold(false, |hit, &distance| hit | (distance == value));
    first_wanted(chunks.len(), distance.len(), has_hit, |column| distance[column] == value, is_wanted)
}

/// The first hit that is wanted, or else the first hit. Whole chunks are asked first whether they have any: hits are rare, and
/// that question takes no branch a column.
fn first_wanted(
    chunks: usize,
    count: usize,
    has_hit: impl Fn(usize) -> bool,
    is_hit: impl Fn(usize) -> bool,
    is_wanted: impl Fn(usize) -> bool,
) -> usize {
    let mut first = NONE;
    for at in 0..count.div_ceil(LANES) {
        if at < chunks && !has_hit(at) {
            continue;
        }
        for column in at * LANES..count.min((at + 1) * LANES) {
            if is_hit(column) {
                if is_wanted(column) {
                    return column;
                }
                first = first.min(column);
            }
        }
    }
    first
}

/// Writes score - right for a whole row.
pub(super) fn reduce(scores: &[f64], right: &[f64], reduced: &mut [f64]) {
    for ((value, score), price) in reduced.iter_mut().zip(scores).zip(right) {
        *value = score - price;
    }
}

/// Maxima over a row cut into strides: `maxima[j]` is the largest of `row[j]`, `row[j + stride]`, `row[j + 2 stride]`, ...
/// where stride is the length of `maxima`.
pub(super) fn strided_maxima(row: &[f64], maxima: &mut [f64]) {
    maxima.fill(f64::NEG_INFINITY);
    for segment in row.chunks(maxima.len()) {
        for (top, &value) in maxima.iter_mut().zip(segment) {
            *top = larger(value, *top);
        }
    }
}

/// The larger of two; the second if the first is NaN. One instruction, unlike `f64::max`.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two; the second if the first is NaN.
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn padded(rest: &[f64], filler: f64) -> Lanes {
    let mut lanes = [filler; LANES];
    lanes[..rest.len()].copy_from_slice(rest);
    lanes
}

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

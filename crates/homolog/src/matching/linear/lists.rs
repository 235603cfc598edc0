//! A short list of columns for each row, for problems with many columns.
//!
//! A row's list has the columns of its largest reduced scores (score - right), and a threshold that none of the others exceeds. Right
//! values never fall, so the threshold stays valid for the rest of the solve; a bid or a search that gets as far as the threshold has the
//! list made again. First lists are made while a row is read for its first bid: all columns within `reach` of the best, where `reach`
//! follows what the rows before needed.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::core::{NONE, Offer, Scores};
use super::scan::{LANES, any_reaches, best_reduced, reduce, strided_maxima};

/// The most columns a list holds.
const CAPACITY: usize = 64;
/// A list of fewer columns within reach does not do: the best columns are listed, however far they are.
const FEWEST: usize = 4;
/// The reach is lengthened where a list is shorter than this, and shortened where it is longer.
const WANTED: std::ops::RangeInclusive<usize> = 10..=18;
/// `list_best` with this target lists the columns that beat this many strides' maxima: at least so many, usually a few more.
const FIRST_TARGET: usize = 10;
/// The same for a row whose list did not suffice in a search.
pub(super) const NEXT_TARGET: usize = 40;
/// How many columns share a stride's maximum.
const STRIDE_SHARE: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// `CAPACITY` places for each row.
    columns: Vec<u32>,
    scores: Vec<f64>,
    /// `NONE` where a row has no list yet.
    counts: Vec<usize>,
    /// No unlisted column of a row has a larger score - right.
    threshold: Vec<f64>,
    /// How far below the best of a row its list goes; 0 before the first.
    reach: f64,
    /// How far the best column of each row was ahead of the second when it was listed.
    leads: Vec<f64>,
    reduced: Vec<f64>,
    maxima: Vec<f64>,
    order: Vec<f64>,
    gathered: Vec<(u32, f64)>,
}

impl Lists {
    /// No lists yet.
    pub(super) fn begin(&mut self, rows: usize, columns: usize) {
        if self.columns.len() < rows * CAPACITY {
            super::reset(&mut self.columns, rows * CAPACITY, 0);
            super::reset(&mut self.scores, rows * CAPACITY, 0.0);
        }
        super::reset(&mut self.counts, rows, NONE);
        super::reset(&mut self.threshold, rows, f64::INFINITY);
        super::reset(&mut self.reduced, columns, 0.0);
        super::reset(&mut self.maxima, columns.div_ceil(STRIDE_SHARE), 0.0);
        super::reset(&mut self.gathered, columns, (0, 0.0));
        self.reach = 0.0;
        self.leads.clear();
    }

    /// How far the best column of a row is ahead of the second, in the median: the scale on which rows compete.
    pub(super) fn median_lead(&mut self) -> Option<f64> {
        let middle = self.leads.len().checked_sub(1)? / 2;
        let (_, &mut lead, _) = self.leads.select_nth_unstable_by(middle, f64::total_cmp);
        Some(lead).filter(|lead| *lead > 0.0 && lead.is_finite())
    }

    pub(super) fn is_listed(&self, row: usize) -> bool {
        self.counts[row] != NONE
    }

    pub(super) fn threshold(&self, row: usize) -> f64 {
        self.threshold[row]
    }

    /// The listed columns of a row and their scores.
    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = row * CAPACITY..row * CAPACITY + self.counts[row];
        self.columns[range.clone()].iter().map(|&column| column as usize).zip(self.scores[range].iter().copied())
    }

    /// The first list of a row whose best reduced score is known.
    pub(super) fn list_first(&mut self, problem: &Scores<'_>, right: &[f64], row: usize, offer: &Offer) {
        self.leads.push(offer.best - offer.second);
        pulp::Arch::new().dispatch(WithinReach { lists: self, problem, right, row, best: Some(offer.best) });
    }

    /// Makes the list of a row anew from its current reduced scores.
    pub(super) fn list_anew(&mut self, problem: &Scores<'_>, right: &[f64], row: usize) {
        pulp::Arch::new().dispatch(WithinReach { lists: self, problem, right, row, best: None });
    }

    /// After a row that needed another reach: no single row moves it far.
    fn adapt_reach(&mut self, count: usize, needed: f64) {
        if self.reach == 0.0 {
            self.reach = needed;
        } else if count > CAPACITY {
            self.reach *= 0.5;
        } else if needed > self.reach {
            self.reach *= 1.5;
        }
    }

    /// The threshold, or the lowest reduced score listed where nothing else is allowed.
    fn lowest(&self, row: usize, right: &[f64]) -> f64 {
        let threshold = self.threshold[row];
        if threshold > f64::NEG_INFINITY {
            return threshold;
        }
        self.cells(row).map(|(column, score)| score - right[column]).fold(f64::INFINITY, f64::min)
    }

    /// What a row may bid, as far as its list tells: the threshold stands for all that is not listed.
    pub(super) fn offer(&self, right: &[f64], row: usize) -> Offer {
        let (mut best, mut second, mut column) = (f64::NEG_INFINITY, self.threshold[row], NONE);
        for (at, score) in self.cells(row) {
            // No branches: which value is larger cannot be predicted.
            let value = score - right[at];
            let lower = if value < best { value } else { best };
            second = if lower > second { lower } else { second };
            column = if value > best { at } else { column };
            best = if value > best { value } else { best };
        }
        Offer { column, best, second, top: f64::NEG_INFINITY }
    }

    /// Lists the columns of the largest reduced scores of a row, however far they reach.
    pub(super) fn list_best(&mut self, problem: &Scores<'_>, right: &[f64], row: usize, target: usize) {
        let (scores, sign) = (problem.row(row), problem.sign);
        let (mut count, cut) = pulp::Arch::new().dispatch(Gather { lists: self, scores, sign, right, target });
        self.threshold[row] = cut;
        if count > CAPACITY {
            let by_value = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
            self.gathered[..count].select_nth_unstable_by(CAPACITY, by_value);
            self.threshold[row] = self.gathered[CAPACITY].1;
            count = CAPACITY;
        }
        self.counts[row] = count;
        let start = row * CAPACITY;
        for (place, &(column, _)) in self.gathered[..count].iter().enumerate() {
            self.columns[start + place] = column;
            self.scores[start + place] = sign * scores[column as usize];
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "lists are made of at most 2^31 rows and columns")]
pub(super) fn narrow(index: usize) -> u32 {
    index as u32
}

/// Lists all columns of a row within reach of its best.
struct WithinReach<'a> {
    lists: &'a mut Lists,
    problem: &'a Scores<'a>,
    right: &'a [f64],
    row: usize,
    /// The best reduced score, if it is known.
    best: Option<f64>,
}

impl pulp::WithSimd for WithinReach<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { lists, problem, right, row, best } = self;
        let (scores, sign) = (problem.row(row), problem.sign);
        let best = best.unwrap_or_else(|| best_reduced(scores, sign, right));
        // Forbidden cells are below any number.
        let cut = (best - lists.reach).max(f64::MIN);
        let mut found = [0; CAPACITY + LANES];
        let mut count = 0;
        let (chunks, rest) = scores.as_chunks::<LANES>();
        let (right_chunks, right_rest) = right.as_chunks::<LANES>();
        for (at, (scores, right)) in chunks.iter().zip(right_chunks).enumerate() {
            if any_reaches(scores, sign, right, cut) {
                for lane in 0..LANES {
                    // Always written, kept only if it counts: no branch to mispredict.
                    found[count] = narrow(at * LANES + lane);
                    count += usize::from(sign * scores[lane] - right[lane] >= cut);
                }
                if count > CAPACITY {
                    break;
                }
            }
        }
        for (at, (score, right)) in rest.iter().zip(right_rest).enumerate() {
            if sign * score - right >= cut && count <= CAPACITY {
                found[count] = narrow(chunks.len() * LANES + at);
                count += 1;
            }
        }
        if !(FEWEST..=CAPACITY).contains(&count) {
            lists.list_best(problem, right, row, FIRST_TARGET);
            lists.adapt_reach(count, best - lists.lowest(row, right));
            return;
        }
        let start = row * CAPACITY;
        lists.counts[row] = count;
        lists.threshold[row] = cut;
        for (place, &column) in found[..count].iter().enumerate() {
            lists.columns[start + place] = column;
            lists.scores[start + place] = sign * scores[column as usize];
        }
        if count < *WANTED.start() {
            lists.reach *= 1.1;
        } else if count > *WANTED.end() {
            lists.reach *= 0.9;
        }
    }
}

/// Collects the columns with the largest reduced scores: how many, and a value that the others do not reach.
struct Gather<'a> {
    lists: &'a mut Lists,
    scores: &'a [f64],
    sign: f64,
    right: &'a [f64],
    target: usize,
}

impl pulp::WithSimd for Gather<'_> {
    type Output = (usize, f64);

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        let Self { lists, scores, sign, right, target } = self;
        reduce(scores, sign, right, &mut lists.reduced);
        let m = scores.len();
        let stride = lists.maxima.len();
        strided_maxima(&lists.reduced, &mut lists.maxima);
        lists.order.clear();
        lists.order.extend_from_slice(&lists.maxima);
        let (_, &mut cut, _) = lists.order.select_nth_unstable_by(target.min(stride) - 1, |a, b| b.total_cmp(a));
        // Forbidden cells are never listed.
        let floor = cut.max(f64::MIN);
        let mut count = 0;
        for offset in (0..stride).filter(|&offset| lists.maxima[offset] >= floor) {
            for column in (offset..m).step_by(stride) {
                // Always written, kept only if it counts: no branch to mispredict.
                let value = lists.reduced[column];
                lists.gathered[count] = (narrow(column), value);
                count += usize::from(value >= floor);
            }
        }
        (count, cut)
    }
}

//! Scores that no better matching can use, made small: [`Factors::clamped`].
//!
//! If a matching is known that falls short of the best choice of every row and of every pair of rows together by `room`, no better one uses a
//! cell or an entry that falls short of its own best by more. Such scores may be raised to twice that shortfall: what uses them stays worse
//! than the known matching, and every bound on the raised problem holds for the given one. A large negative number that stands for
//! "forbidden" then no longer hides the small differences that decide.

use super::{Factors, common_step};

impl Factors {
    /// The most that a pair of rows can add, at least 0 if it need not use an entry.
    pub(crate) fn best_entry(&self, pair: usize) -> f64 {
        let entries = self.slots(pair, 0).flat_map(|slot| self.entries(slot));
        let start = if self.pairs[pair].rest { 0.0 } else { f64::NEG_INFINITY };
        entries.map(|entry| self.entry_score[entry]).fold(start, f64::max)
    }

    /// The same problem with raised scores, scaled anew; `None` if the largest score is not much smaller then.
    pub(crate) fn clamped(&self, room: f64) -> Option<Self> {
        let largest = |factors: &Self| {
            let scores = factors.cell_score.iter().chain(&factors.entry_score).chain([&factors.constant]);
            scores.fold(0.0_f64, |largest, score| largest.max(score.abs()))
        };
        let scores = self.cell_score.iter().chain(&self.entry_score);
        let step = common_step(scores.map(|score| score / self.scale)) * self.scale;
        // Whole numbers stay whole.
        let least = if step > 0.0 { (2.0 * room / step).ceil() * step } else { 2.0 * room };
        let raise = |score: &mut f64, best: f64| {
            if best - *score > room {
                *score = score.max(best - least);
            }
        };
        let mut clamped = self.clone();
        for row in 0..self.row_count() {
            let best = self.cell_score[self.cells(row)].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            clamped.cell_score[self.cells(row)].iter_mut().for_each(|score| raise(score, best));
        }
        for pair in 0..self.pairs.len() {
            let best = self.best_entry(pair);
            for entry in self.slots(pair, 0).flat_map(|slot| self.entries(slot)) {
                raise(&mut clamped.entry_score[entry], best);
            }
        }
        let (before, after) = (largest(self), largest(&clamped));
        if !(after > 0.0 && 2.0 * after < before) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "an exponent between -1100 and 1100")]
        let exponent = -(after.log2().floor() as i32);
        let factor = 2.0_f64.powi(exponent.clamp(-1000, 1000));
        clamped.cell_score.iter_mut().chain(&mut clamped.entry_score).for_each(|score| *score *= factor);
        (clamped.constant, clamped.scale) = (clamped.constant * factor, clamped.scale * factor);
        Some(clamped)
    }
}

//! The best few of a row of scores, each minus a price: the loop where every pass over all pairs spends its time.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::narrow;

/// Columns processed together.
const LANES: usize = 16;

/// The best entries offered so far, up to a limit, all above a floor. Among equals the first stays.
#[derive(Debug)]
pub(in crate::matching) struct Best {
    limit: usize,
    /// What an entry has to exceed.
    pub(in crate::matching) to_beat: f64,
    /// (value, column), in no order.
    pub(in crate::matching) entries: Vec<(f64, u32)>,
    least_at: usize,
}

impl Best {
    pub(in crate::matching) fn new(limit: usize) -> Self {
        Self { limit, to_beat: f64::NEG_INFINITY, entries: Vec::with_capacity(limit), least_at: 0 }
    }

    /// Forgets all entries; later ones have to exceed this floor.
    pub(in crate::matching) fn begin(&mut self, floor: f64) {
        self.entries.clear();
        self.to_beat = if self.limit == 0 { f64::INFINITY } else { floor };
    }

    fn offer(&mut self, value: f64, column: u32) {
        if self.entries.len() < self.limit {
            self.entries.push((value, column));
        } else {
            self.entries[self.least_at] = (value, column);
        }
        if self.entries.len() == self.limit {
            let mut least = f64::INFINITY;
            for (at, &(value, _)) in self.entries.iter().enumerate() {
                if value < least {
                    (least, self.least_at) = (value, at);
                }
            }
            self.to_beat = least;
        }
    }

    /// Offers score_k - price_k for all columns k, beginning with column `first` and wrapping around, so that different rows prefer
    /// different columns among equals. Returns the largest of them, and whether any score is NaN or plus infinity.
    pub(in crate::matching) fn scan(&mut self, scores: &[f64], prices: &[f64], first: usize) -> (f64, bool) {
        pulp::Arch::new().dispatch(Scan { best: self, scores, prices, first })
    }

    #[inline(always)]
    fn scan_part(&mut self, scores: &[f64], prices: &[f64], first: usize) -> (f64, bool) {
        let (mut most, mut is_odd) = ([f64::NEG_INFINITY; LANES], false);
        let chunks = scores.chunks_exact(LANES).zip(prices.chunks_exact(LANES));
        for (number, (scores, prices)) in chunks.enumerate() {
            let mut values = [0.0; LANES];
            let mut beats = false;
            for lane in 0..LANES {
                values[lane] = scores[lane] - prices[lane];
                beats |= values[lane] > self.to_beat;
                is_odd |= scores[lane].is_nan();
                is_odd |= scores[lane] == f64::INFINITY;
                most[lane] = if values[lane] > most[lane] { values[lane] } else { most[lane] };
            }
            if beats {
                for (lane, &value) in values.iter().enumerate() {
                    if value > self.to_beat {
                        self.offer(value, narrow(first + number * LANES + lane));
                    }
                }
            }
        }
        let mut most = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let done = scores.len() - scores.len() % LANES;
        for (at, (score, price)) in scores.iter().zip(prices).enumerate().skip(done) {
            let value = score - price;
            is_odd |= score.is_nan() || *score == f64::INFINITY;
            most = most.max(value);
            if value > self.to_beat {
                self.offer(value, narrow(first + at));
            }
        }
        (most, is_odd)
    }
}

struct Scan<'a> {
    best: &'a mut Best,
    scores: &'a [f64],
    prices: &'a [f64],
    first: usize,
}

impl pulp::WithSimd for Scan<'_> {
    type Output = (f64, bool);

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> (f64, bool) {
        let Self { best, scores, prices, first } = self;
        let later = best.scan_part(&scores[first..], &prices[first..], first);
        let earlier = best.scan_part(&scores[..first], &prices[..first], 0);
        (later.0.max(earlier.0), later.1 | earlier.1)
    }
}

/// Raises each of `most` to score - less where that is larger.
pub(in crate::matching) fn raise(most: &mut [f64], scores: &[f64], less: f64) {
    pulp::Arch::new().dispatch(|| {
        for (most, &score) in most.iter_mut().zip(scores) {
            let value = score - less;
            *most = if value > *most { value } else { *most };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_sorted_list() {
        for (count, limit, first) in [(1, 1, 0), (7, 3, 2), (16, 4, 0), (50, 5, 49), (100, 200, 33), (64, 0, 5)] {
            let scores: Vec<f64> = (0..count).map(|k| f64::from((k * 37 + 11) % 101)).collect();
            let prices: Vec<f64> = (0..count).map(|k| f64::from((k * 13) % 7)).collect();
            let mut expected: Vec<f64> = scores.iter().zip(&prices).map(|(score, price)| score - price).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let mut best = Best::new(limit);
            best.begin(10.0);
            let (most, is_odd) = best.scan(&scores, &prices, first);
            assert_eq!((most, is_odd), (expected[0], false));
            let mut found: Vec<f64> = best.entries.iter().map(|entry| entry.0).collect();
            found.sort_by(|a, b| b.total_cmp(a));
            expected.retain(|&value| value > 10.0);
            expected.truncate(limit);
            assert_eq!(found, expected);
            assert!(best.entries.iter().all(|&(value, k)| value == scores[k as usize] - prices[k as usize]));
        }
    }

    #[test]
    fn equals_are_taken_from_the_first_column_on_and_odd_scores_are_seen() {
        let mut best = Best::new(3);
        best.begin(f64::NEG_INFINITY);
        let mut scores = vec![1.0; 40];
        assert_eq!(best.scan(&scores, &vec![0.0; 40], 38), (1.0, false));
        assert_eq!(best.entries.iter().map(|entry| entry.1).collect::<Vec<_>>(), [38, 39, 0]);
        for odd in [f64::NAN, f64::INFINITY] {
            for place in [3, 39] {
                scores[place] = odd;
                assert!(best.scan(&scores, &vec![0.0; 40], 7).1);
                scores[place] = f64::NEG_INFINITY;
            }
        }
        assert!(!best.scan(&scores, &vec![0.0; 40], 7).1);
    }
}

//! How odd a good specimen can be: the threshold, and how many good specimens would look as odd as one that was found.
//!
//! The oddness M of a specimen is that of its oddest landmark. Above the median m of all specimens, excesses of good ones fall off about
//! exponentially, with mean g. Mistakes are among the largest, so g is learned from the M below T = m + 1.8 alone: the mean of k
//! exponential excesses that are cut off at τ = T - m is g - τ/(e^(τ/g) - 1). A prior of 10 excesses with mean 0.5 (what eight sets of
//! specimens have in common) steadies small sets. With A = 10 + k excesses behind it, the chance of a larger M than m + x is
//!
//!   p(x) = ½ (1 + x/(A g))^-A,
//!
//! the predictive distribution of an exponential law whose mean is known from A values. The threshold is where p is 1 in 200, kept
//! between 3.3 and 3.7: over eight sets of specimens with none, a twentieth and a fifth of them wrong, these bounds keep false alarms
//! at about 1 in 100 good specimens of 40 or more (they were chosen on these sets) and still find landmarks displaced by five spreads (`homolog-bench check`).

use super::robust::median;

const CUT_OFF: f64 = 1.8;
const PRIOR_COUNT: f64 = 10.0;
const PRIOR_MEAN: f64 = 0.5;
/// p at the threshold: half of the rate that is stated.
const CHANCE: f64 = 0.005;
const THRESHOLDS: [f64; 2] = [3.3, 3.7];

/// The distribution of the oddness of good specimens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tail {
    middle: f64,
    /// A and A g.
    count: f64,
    sum: f64,
    pub(super) threshold: f64,
}

impl Tail {
    /// From the oddness of specimens, some of which have mistakes.
    pub(super) fn new(odd: Vec<f64>) -> Self {
        let last = median(odd.clone()) + CUT_OFF;
        let kept: Vec<f64> = odd.into_iter().filter(|&odd| odd <= last).collect();
        let middle = median(kept.clone());
        let excesses: Vec<f64> = kept.iter().map(|odd| odd - middle).filter(|&excess| excess > 0.0).collect();
        let (own, seen) = (excesses.len() as f64, excesses.iter().sum::<f64>());
        let count = PRIOR_COUNT + own;
        let (cut_off, mut mean) = (last - middle, PRIOR_MEAN);
        for _ in 0..50 {
            let beyond = own * cut_off / (cut_off / mean).exp_m1();
            mean = (PRIOR_COUNT * PRIOR_MEAN + seen + beyond) / count;
        }
        let mut tail = Self { middle, count, sum: count * mean, threshold: 0.0 };
        tail.threshold = (middle + tail.excess(CHANCE)).clamp(THRESHOLDS[0], THRESHOLDS[1]);
        tail
    }

    /// The excess that is exceeded with this chance.
    fn excess(&self, chance: f64) -> f64 {
        self.sum * ((0.5 / chance).powf(1.0 / self.count) - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponential excesses by inversion, evenly spread.
    fn sample(count: usize, mean: f64) -> Vec<f64> {
        (0..count).map(|k| 1.5 - mean * (2.0 * (1.0 - (k as f64 + 0.5) / count as f64)).min(1.999).ln()).collect()
    }

    #[test]
    fn finds_the_tail_behind_mistakes() {
        let good = Tail::new(sample(400, 0.6));
        assert!((good.sum / good.count - 0.6).abs() < 0.05, "{good:?}");
        let mut spoiled = sample(320, 0.6);
        spoiled.extend(vec![9.0; 80]);
        let spoiled = Tail::new(spoiled);
        assert!((spoiled.sum / spoiled.count - 0.6).abs() < 0.2, "{spoiled:?} {good:?}");
    }

    #[test]
    fn thresholds_are_bounded() {
        for odd in [vec![], vec![1.0; 5], sample(60, 0.1), sample(60, 3.0)] {
            assert!((THRESHOLDS[0]..=THRESHOLDS[1]).contains(&Tail::new(odd).threshold));
        }
    }
}

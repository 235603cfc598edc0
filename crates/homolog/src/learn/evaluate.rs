//! How well weights predict: the loss on each example, the mean and its standard error; precision and recall of the matches.
//!
//! Pairs that share a specimen err together, so a hundred pairs of fifteen specimens say less than a hundred pairs of two hundred. The variance of
//! a sum of d_p over pairs p is estimated by Σ d_p d_q over all p and q that share a specimen (p = q among them), and never by less than Σ d_p²,
//! which is what it comes to if no specimen is in two pairs.

use super::Example;
use super::expected::expected_error;
use super::most_violated::solve_shuffled;
use super::parts::Scratch;
use crate::matching::{Matcher, Matching, Status};
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Losses of predictions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The loss on each predicted example, in order.
    pub losses: Vec<f64>,
    /// How many of the predictions were proven to be the best matching under the weights.
    pub proven: usize,
    /// Which examples were predicted: all of them, unless it was interrupted.
    pub examples: Vec<usize>,
    /// Totals of the matches found and the true matches.
    pub matches: MatchCounts,
    /// The two specimens of each predicted example, where they are known; shorter than `losses` if none are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specimens: Vec<Option<[usize; 2]>>,
}

/// Matches of the nodes for which it is known which partner they have, or that they have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchCounts {
    /// Matches that were made.
    pub made: usize,
    /// How many of them are true.
    pub right: usize,
    /// How many true matches there are.
    pub there_are: usize,
}

impl MatchCounts {
    /// The counts of one prediction.
    fn of(example: &Example, matching: &Matching) -> Self {
        let truth = example.whole_truth();
        let is_known = |i: usize| !example.unknown().contains(&i);
        let made: Vec<(usize, usize)> = matching.pairs().filter(|&(i, _)| is_known(i)).collect();
        let right = made.iter().filter(|&&(i, k)| truth.right_of(i) == Some(k)).count();
        Self { made: made.len(), right, there_are: truth.matched_count() }
    }

    /// True matches that were not made.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.there_are - self.right
    }

    /// How many of the matches made are true; 1 if none was made.
    #[must_use]
    pub fn precision(&self) -> f64 {
        if self.made == 0 { 1.0 } else { self.right as f64 / self.made as f64 }
    }

    /// How many of the true matches were made; 1 if there are none.
    #[must_use]
    pub fn recall(&self) -> f64 {
        if self.there_are == 0 { 1.0 } else { self.right as f64 / self.there_are as f64 }
    }

    /// The harmonic mean of precision and recall; 1 if there was nothing to find and nothing was made.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let all = self.made + self.there_are;
        if all == 0 { 1.0 } else { 2.0 * self.right as f64 / all as f64 }
    }
}

impl Evaluation {
    /// From losses alone.
    #[must_use]
    pub fn of_losses(losses: Vec<f64>) -> Self {
        Self { examples: (0..losses.len()).collect(), losses, ..Self::default() }
    }

    /// From predictions: for all examples that are wanted and were predicted.
    #[must_use]
    pub fn of(examples: &[Example], answers: &[Option<Prediction>], is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut evaluation = Self::default();
        for ((n, example), answer) in examples.iter().enumerate().zip(answers) {
            let Some((matching, status)) = answer.as_ref().filter(|_| is_wanted(n)) else { continue };
            let counts = MatchCounts::of(example, matching);
            let one = Self {
                losses: vec![example.whole_loss(matching)],
                proven: usize::from(*status == Status::Optimal),
                examples: vec![0],
                matches: counts,
                specimens: vec![example.specimens()],
            };
            evaluation.extend(n, &one);
        }
        evaluation
    }

    /// The 95 % interval for the share of wrong matches ([`wilson`]) where losses do not differ from pair to pair, which a standard error
    /// would take for certainty; `None` where they do differ, or where the loss is not that share.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        let first = self.losses.first()?;
        let MatchCounts { there_are, .. } = self.matches;
        let share = self.matches.missed() as f64 / there_are.max(1) as f64;
        let is_share = there_are > 0 && (share - first).abs() < 1e-12;
        let alike = self.losses.iter().all(|loss| loss == first);
        // Pairs of few specimens count as no more than these could make without repeating each other.
        let count = match self.specimen_count() {
            0 => there_are,
            specimens => there_are * (specimens - 1).clamp(1, self.losses.len()) / self.losses.len(),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let missed = (share * count as f64).round() as usize;
        (is_share && alike).then(|| wilson(missed, count))
    }

    /// The mean loss of each specimen over the pairs that contain it, in the order in which specimens turn up. If there are fewer pairs than
    /// specimens, or specimens are not known, each pair is a unit of its own.
    #[must_use]
    pub fn by_specimen(&self) -> Vec<f64> {
        let known: Option<Vec<[usize; 2]>> = self.specimens.iter().copied().collect();
        let Some(known) = known.filter(|known| known.len() == self.losses.len()) else { return self.losses.clone() };
        let (mut places, mut sums) = (BTreeMap::new(), Vec::<(f64, f64)>::new());
        for (loss, &[a, b]) in self.losses.iter().zip(&known) {
            for specimen in [Some(a), Some(b).filter(|&b| b != a)].into_iter().flatten() {
                let at = *places.entry(specimen).or_insert(sums.len());
                sums.resize(sums.len().max(at + 1), (0.0, 0.0));
                sums[at] = (sums[at].0 + loss, sums[at].1 + 1.0);
            }
        }
        if sums.len() > self.losses.len() {
            return self.losses.clone();
        }
        sums.into_iter().map(|(sum, count)| sum / count).collect()
    }

    /// The interval that holds the error on new specimens nine times in ten (`learn/expected.rs`); `None` if nothing was predicted, or if
    /// the loss is not a share.
    #[must_use]
    pub fn expected(&self) -> Option<[f64; 2]> {
        expected_error(&self.by_specimen())
    }

    /// Whether there are at least as many pairs as specimens: then some are in several pairs, which err together.
    pub(super) fn shares_specimens(&self) -> bool {
        (1..=self.losses.len()).contains(&self.specimen_count())
    }

    /// How many specimens the examples are about; 0 where some are not known.
    fn specimen_count(&self) -> usize {
        let known: Option<Vec<[usize; 2]>> = self.specimens.iter().copied().collect();
        let known = known.filter(|known| known.len() == self.losses.len()).unwrap_or_default();
        known.into_iter().flatten().collect::<BTreeSet<_>>().len()
    }

    /// The mean and how certain it is: with its interval if there is one, otherwise its standard error, or neither if all losses are equal.
    #[must_use]
    pub fn summary(&self) -> String {
        summary(self.mean(), self.standard_error(), self.interval())
    }

    /// Adds the losses of further examples, which are numbered from `first`.
    pub fn extend(&mut self, first: usize, other: &Self) {
        self.examples.extend(other.examples.iter().map(|n| first + n));
        self.losses.extend(&other.losses);
        self.specimens.extend(&other.specimens);
        self.proven += other.proven;
        self.matches.made += other.matches.made;
        self.matches.right += other.matches.right;
        self.matches.there_are += other.matches.there_are;
    }

    /// The mean loss; 0 if there are none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.losses.is_empty() { 0.0 } else { self.losses.iter().sum::<f64>() / self.losses.len() as f64 }
    }

    /// The standard error of the mean, from the sample variance, pairs that share a specimen taken together; 0 for fewer than two examples.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        let count = self.losses.len() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = self.mean();
        let differences: Vec<f64> = self.losses.iter().map(|loss| loss - mean).collect();
        (variance_of_sum(&differences, &self.specimens) / (count - 1.0) / count).sqrt()
    }
}

/// The variance of the sum of differences whose expectation is zero: see the head of this file.
fn variance_of_sum(differences: &[f64], specimens: &[Option<[usize; 2]>]) -> f64 {
    let independent: f64 = differences.iter().map(|d| d * d).sum();
    // In the order in which specimens turn up, whatever their numbers are.
    let (mut places, mut sums, mut own) = (BTreeMap::new(), Vec::<f64>::new(), 0.0);
    for (d, &[a, b]) in differences.iter().zip(specimens).filter_map(|(d, ends)| Some((d, ends.as_ref()?))) {
        let ends = [Some(a), Some(b).filter(|&b| b != a)];
        for specimen in ends.into_iter().flatten() {
            let at = *places.entry(specimen).or_insert(sums.len());
            sums.resize(sums.len().max(at + 1), 0.0);
            sums[at] += d;
        }
        // It is in the sums of both, and counts once.
        own += if a == b { 0.0 } else { d * d };
    }
    let unknown: f64 = differences.iter().zip(specimens).filter(|(_, ends)| ends.is_none()).map(|(d, _)| d * d).sum();
    let together = unknown + sums.iter().map(|sum| sum * sum).sum::<f64>() - own;
    if specimens.len() == differences.len() { independent.max(together) } else { independent }
}

/// Predicts every example with these weights and compares with the truth. Right nodes are shuffled before each solve. If
/// interrupted, the examples not yet predicted are missing.
///
/// # Errors
/// Weights that do not fit the features, or a problem the matcher does not take.
pub fn evaluate(examples: &[Example], matcher: &dyn Matcher, weights: &[f64], control: &Control) -> Result<Evaluation> {
    Ok(Evaluation::of(examples, &predict(examples, matcher, weights, control)?, |_| true))
}

/// A predicted matching, and whether it is proven to be the best under the weights.
pub type Prediction = (Matching, Status);

/// A mean with its interval, or its standard error, or neither.
pub(super) fn summary(mean: f64, standard_error: f64, interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!("{mean:.4} ({low:.4} to {high:.4})"),
        None if standard_error > 0.0 => format!("{mean:.4} ± {standard_error:.4}"),
        None => format!("{mean:.4}"),
    }
}

/// Wilson's (1927) 95 % interval for a share, given `hits` out of `of` independent cases: never empty and never beyond 0 and 1,
/// even without a single hit. The whole of 0 to 1 if there are no cases.
///
/// ```
/// let [low, high] = homolog::learn::wilson(0, 210);
/// assert!(low == 0.0 && (high - 0.018).abs() < 0.0005);
/// ```
#[must_use]
pub fn wilson(hits: usize, of: usize) -> [f64; 2] {
    if of == 0 {
        return [0.0, 1.0];
    }
    // The square of the normal distribution's 97.5 % point.
    let z2 = 1.959_963_984_540_054_f64.powi(2);
    let (n, p) = (of as f64, hits as f64 / of as f64);
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    // At 0 and 1 the interval ends exactly there, which rounding must not change.
    let low = if hits == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if hits >= of { 1.0 } else { (middle + half).min(1.0) };
    [low, high]
}

/// The matching that these weights predict for each example, and whether it is proven best; `None` where it was interrupted.
///
/// # Errors
/// As [`evaluate`].
pub fn predict(
    examples: &[Example],
    matcher: &dyn Matcher,
    weights: &[f64],
    control: &Control,
) -> Result<Vec<Option<Prediction>>> {
    let done = AtomicUsize::new(0);
    let predict = |scratch: &mut Scratch, example: &Example| {
        if control.interrupted() {
            return Ok(None);
        }
        match example.predicted_problem(weights, &mut scratch.problem, &mut scratch.work) {
            Err(Error::Interrupted) => return Ok(None),
            other => other?,
        }
        let answer = solve_shuffled(&example.order, matcher, scratch)?;
        // An interrupted solver answers with what it has, not with what it would have found.
        if control.interrupted() {
            return Ok(None);
        }
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        control.report(&Report::new("matching pairs", done, Some(examples.len())));
        Ok(Some(answer))
    };
    examples.par_iter().map_init(|| Scratch::new(control), predict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn pairs_that_share_a_specimen_are_taken_together() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for _ in 0..1000 {
            let (count, specimens) = (rng.random_range(1..20), rng.random_range(2..12));
            let d: Vec<f64> = (0..count).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut all: Vec<[usize; 2]> = (0..specimens).flat_map(|a| (0..a).map(move |b| [a, b])).collect();
            let ends: Vec<_> =
                (0..count.min(all.len())).map(|_| Some(all.swap_remove(rng.random_range(0..all.len())))).collect();
            let d = &d[..ends.len()];
            let shares = |p: usize, q: usize| {
                ends[p].iter().flatten().any(|end| ends[q].iter().flatten().any(|other| end == other))
            };
            let by_definition: f64 = (0..d.len())
                .flat_map(|p| (0..d.len()).map(move |q| (p, q)))
                .filter(|&(p, q)| shares(p, q))
                .map(|(p, q)| d[p] * d[q])
                .sum();
            let independent: f64 = d.iter().map(|d| d * d).sum();
            assert!((variance_of_sum(d, &ends) - by_definition.max(independent)).abs() < 1e-9);
            assert_eq!(variance_of_sum(d, &[]), independent);
            assert!((variance_of_sum(d, &vec![None; d.len()]) - independent).abs() < 1e-12);
        }
    }

    #[test]
    fn a_specimen_that_is_in_every_pair_makes_them_one() {
        let of = |specimens: Vec<Option<[usize; 2]>>| Evaluation {
            specimens,
            ..Evaluation::of_losses(vec![0.2, 0.4, 0.2, 0.4])
        };
        let apart = of((0..4).map(|n| Some([2 * n, 2 * n + 1])).collect());
        let in_pairs = of(vec![Some([0, 1]), Some([2, 3]), Some([0, 4]), Some([2, 5])]);
        assert!((apart.standard_error() - of(Vec::new()).standard_error()).abs() < 1e-15);
        assert!(in_pairs.standard_error() > 1.3 * apart.standard_error());
    }
}

//! Which candidate to choose: the most regularised one that is as good as the best, as far as the held-out pairs can tell.
//!
//! Candidates are compared on the same held-out items. With d_s = e_s(candidate) - e_s(best), e_s the mean loss of the pairs that contain
//! specimen s (or of the pair, if pairs share no specimen), a candidate is as good as the best if mean d is at most one standard error of it,
//! sqrt(Σ d_s²) / S: the error if there were no difference, which unlike the usual one is not zero if few specimens happen to agree. One
//! specimen alone shows nothing. Factors of groups are more regularised than weights that are all free, and a larger λ is more regularised than a
//! smaller one. The model without learning is the most regularised of all, and its replacement must pass a stricter test, since some of many
//! candidates always look better: 1.28 standard errors, which chance alone reaches one time in ten, on three specimens or more. If pairs share
//! specimens, each counts in two e_s, and the standard error is larger than it seems by up to √2: weights that are all free have to be better by
//! that much more; a handful of factors does not mislead so easily. What was learned must also beat guessing: if labels are noise, some candidate always looks better than another.

use super::{Evaluation, LearnerName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The most regularised within one standard error of the best; the model without learning is one of them.
    #[default]
    OneStandardError,
    /// The lowest loss, the larger λ on ties, never the model without learning: the paper's choice.
    Least,
}

/// What is known about a candidate when one is chosen.
pub(super) struct Entry<'a> {
    pub(super) learner: LearnerName,
    /// 0 is the most regularised of its learner.
    pub(super) rank: usize,
    pub(super) validation: &'a Evaluation,
}

/// What was learned has to be better than no learning by this many standard errors,
const CLEARLY: f64 = 1.28;
/// and by this many if all weights are free and pairs share specimens,
const FREELY: f64 = 1.28 * std::f64::consts::SQRT_2;
/// on at least this many items.
pub(super) const FEWEST: usize = 3;
/// Means of the same losses may differ by rounding: that is still a tie.
const ROUNDING: f64 = 1e-12;

impl Choice {
    /// The position of the one to choose; `None` if there is none. `chance` is what guessing loses on each item. Only beside the weights before
    /// learning has what was learned anything to prove.
    pub(super) fn of(self, entries: &[Entry<'_>], chance: &[f64]) -> Option<usize> {
        let beats_chance = |entry: &Entry<'_>| {
            let gains: Vec<f64> = chance.iter().zip(&entry.validation.losses).map(|(other, own)| other - own).collect();
            average(&gains) > null_error(&gains)
        };
        let unlearned = entries.iter().find(|entry| entry.learner == LearnerName::Unlearned);
        let is_open = |&at: &usize| {
            let entry = &entries[at];
            let is_clear = |before: &Entry<'_>| {
                let gains = gains(before.validation, entry.validation);
                let is_free = entry.learner != LearnerName::Groups && gains.shares_specimens();
                let (gains, errors) = (gains.by_specimen(), if is_free { FREELY } else { CLEARLY });
                gains.len() >= FEWEST && average(&gains) > errors * null_error(&gains)
            };
            self == Self::Least
                || entry.learner == LearnerName::Unlearned
                || unlearned.is_none_or(|before| beats_chance(entry) && is_clear(before))
        };
        let open: Vec<usize> = (0..entries.len()).filter(is_open).collect();
        let mean = |at: usize| entries[at].validation.mean();
        let best = open.iter().copied().min_by(|&a, &b| mean(a).total_cmp(&mean(b)))?;
        let is_as_good = |&at: &usize| {
            let differences = gains(entries[at].validation, entries[best].validation).by_specimen();
            let tolerance = match self {
                Self::OneStandardError => null_error(&differences),
                Self::Least => 0.0,
            };
            mean(at) - mean(best) <= tolerance + ROUNDING
        };
        // A few factors of groups are more regularised than weights that are all free, whatever the λ.
        let freedom = |at: usize| match entries[at].learner {
            LearnerName::Unlearned => 0,
            LearnerName::Groups => 1,
            _ => 2,
        };
        let order = |at: usize| (freedom(at), entries[at].rank);
        let as_good = open.iter().copied().filter(is_as_good);
        as_good.min_by(|&a, &b| order(a).cmp(&order(b)).then(mean(a).total_cmp(&mean(b))))
    }
}

/// A set of features that is better by no more than this is not worth leaving the atlas for,
pub(super) const WORTH: f64 = 0.01;
/// nor one that is better by fewer standard errors than this: Student's 97.5 % quantiles for 3 to 10 specimens; 2 for many.
const CLEARLY_BETTER: [f64; 8] = [4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26];

/// The one with the lowest error; of those that the items cannot tell apart, the first. Each may have been measured on some of the items only:
/// two are compared on those that they share.
pub(super) fn lowest(measured: &[&Evaluation]) -> Option<usize> {
    let mut best = 0;
    for at in 1..measured.len() {
        if gains(measured[best], measured[at]).mean() > ROUNDING {
            best = at;
        }
    }
    (best < measured.len()).then_some(best)
}

/// The one to take instead of the atlas: with g_s = e_s(atlas) - e_s(other), e_s the mean error of the pairs that contain specimen s, it has
/// the largest mean g_s among those whose mean is above 0.01 and above two standard errors, sd(g_s) / √S (more of few specimens). `None`: none is
/// clearly better.
///
/// If all specimens share their names an atlas is usually the best, and the errors of few specimens do not tell: over 216 draws of 3 to 20
/// specimens two standard errors lost less than the lowest error did, and less than always the atlas.
pub(super) fn clearly_better(atlas: &Evaluation, others: &[&Evaluation]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, other) in others.iter().enumerate() {
        let gains = gains(atlas, other).by_specimen();
        let (count, mean) = (gains.len() as f64, average(&gains));
        let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let errors = CLEARLY_BETTER.get(gains.len().saturating_sub(FEWEST)).copied().unwrap_or(2.0 + 2.0 / count);
        let is_clear = gains.len() >= FEWEST && mean > WORTH.max(errors * (variance / count).sqrt());
        if is_clear && best.is_none_or(|(_, most)| mean > most + ROUNDING) {
            best = Some((at, mean));
        }
    }
    best.map(|(at, _)| at)
}

/// How much more each item loses with the first than with the second, for the items that both were measured on.
fn gains(first: &Evaluation, second: &Evaluation) -> Evaluation {
    let known: BTreeMap<usize, f64> = second.examples.iter().copied().zip(second.losses.iter().copied()).collect();
    let mut gains = Evaluation::default();
    for (at, (item, loss)) in first.examples.iter().zip(&first.losses).enumerate() {
        if let Some(other) = known.get(item) {
            gains.losses.push(loss - other);
            gains.examples.push(*item);
            gains.specimens.extend(first.specimens.get(at));
        }
    }
    gains
}

/// Whether even weights that make no mistakes would not be chosen over weights that do this well.
pub(super) fn is_hopeless(before: &Evaluation) -> bool {
    let errors = before.by_specimen();
    errors.len() < FEWEST || average(&errors) <= CLEARLY * null_error(&errors) + ROUNDING
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard error of the mean of differences whose expectation is zero.
fn null_error(differences: &[f64]) -> f64 {
    let squares: f64 = differences.iter().map(|d| d * d).sum();
    squares.sqrt() / differences.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(choice: Choice, candidates: &[(LearnerName, usize, &[f64])]) -> Option<usize> {
        let evaluations: Vec<Evaluation> =
            candidates.iter().map(|(.., losses)| Evaluation::of_losses(losses.to_vec())).collect();
        let entries: Vec<Entry<'_>> = candidates
            .iter()
            .zip(&evaluations)
            .map(|(&(learner, rank, _), validation)| Entry { learner, rank, validation })
            .collect();
        choice.of(&entries, &[1.0; 3])
    }

    #[test]
    fn unlearned_wins_unless_the_held_out_pairs_speak_against_it() {
        use LearnerName::{Likelihood, MaxMargin, Unlearned};
        let rule = Choice::OneStandardError;
        let before = (Unlearned, 0, &[0.2, 0.2, 0.2][..]);
        // One pair of three is better: not enough.
        assert_eq!(choose(rule, &[before, (MaxMargin, 3, &[0.1, 0.2, 0.2])]), Some(0));
        // Both of two are better: not enough.
        assert_eq!(choose(rule, &[(Unlearned, 0, &[0.2, 0.2]), (MaxMargin, 3, &[0.1, 0.1])]), Some(0));
        // All three are: enough.
        assert_eq!(choose(rule, &[before, (MaxMargin, 3, &[0.1, 0.1, 0.1])]), Some(1));
        // A larger λ that is nearly as good is preferred to a smaller one, whichever learner it came from.
        let near = [before, (MaxMargin, 3, &[0.1, 0.1, 0.1][..]), (Likelihood, 1, &[0.1, 0.1, 0.12])];
        assert_eq!(choose(rule, &near), Some(2));
        // One item alone shows nothing.
        assert_eq!(choose(rule, &[(Unlearned, 0, &[0.9]), (MaxMargin, 0, &[0.0])]), Some(0));
        // Better than before, but not better than guessing.
        let bad = (Unlearned, 0, &[1.2, 1.2, 1.2][..]);
        assert_eq!(choose(rule, &[bad, (MaxMargin, 0, &[0.9, 1.1, 0.9])]), Some(0));
        assert_eq!(choose(Choice::Least, &near), Some(1));
        assert_eq!(choose(rule, &[]), None);
        // Without the weights before learning there is no way back to them.
        assert_eq!(choose(rule, &[(MaxMargin, 0, &[0.9, 1.1, 0.9]), (MaxMargin, 1, &[1.2, 1.2, 1.2])]), Some(0));
    }

    #[test]
    fn among_sets_the_lowest_is_taken_and_instead_of_an_atlas_only_what_is_clearly_better() {
        let evaluation = |losses: &[f64]| Evaluation::of_losses(losses.to_vec());
        let least = |losses: &[&[f64]]| {
            let measured: Vec<Evaluation> = losses.iter().map(|own| evaluation(own)).collect();
            lowest(&measured.iter().collect::<Vec<_>>())
        };
        assert_eq!(least(&[&[0.2, 0.1, 0.3], &[0.1, 0.2, 0.25], &[0.1, 0.25, 0.2]]), Some(1));
        assert_eq!((least(&[&[0.2], &[0.2]]), least(&[])), (Some(0), None));
        let instead = |atlas: &[f64], other: &[f64]| clearly_better(&evaluation(atlas), &[&evaluation(other)]);
        // Better everywhere, by too little, in one place only, in too few places.
        assert_eq!(instead(&[0.2, 0.25, 0.2, 0.2], &[0.1, 0.1, 0.1, 0.1]), Some(0));
        assert_eq!(instead(&[0.2, 0.2, 0.2, 0.2], &[0.195, 0.195, 0.195, 0.195]), None);
        assert_eq!(instead(&[0.9, 0.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(instead(&[0.9, 0.9], &[0.0, 0.0]), None);
        // Pairs of four specimens, all of one that the atlas gets wrong: the specimen is the unit.
        let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let of = |losses: [f64; 6]| Evaluation { specimens: ends.map(Some).to_vec(), ..evaluation(&losses) };
        let (atlas, other) = (of([0.6, 0.6, 0.6, 0.0, 0.0, 0.0]), of([0.0; 6]));
        assert!(
            gains(&atlas, &other).by_specimen().iter().zip([0.6, 0.2, 0.2, 0.2]).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        assert_eq!(clearly_better(&atlas, &[&other, &of([0.0; 6])]), None);
        let everywhere = of([0.3, 0.2, 0.3, 0.2, 0.3, 0.2]);
        assert_eq!(clearly_better(&everywhere, &[&other, &of([0.0; 6])]), Some(0));
        // What was measured on the easier items only is not better for it.
        let all = Evaluation::of_losses(vec![0.1, 0.1, 0.1, 0.9, 0.9]);
        let of_some = |losses: &[f64], examples: &[usize]| Evaluation {
            examples: examples.to_vec(),
            ..Evaluation::of_losses(losses.to_vec())
        };
        assert_eq!(lowest(&[&all, &of_some(&[0.2, 0.2, 0.2], &[0, 1, 2])]), Some(0));
        assert_eq!(lowest(&[&all, &of_some(&[0.3, 0.0, 0.4], &[4, 1, 3])]), Some(1));
        assert_eq!(lowest(&[&all, &of_some(&[], &[])]), Some(0));
    }
}

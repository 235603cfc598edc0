//! Which runs of learning there are, and what each holds out: validation pairs, or folds over specimens. A single pair only measures the
//! weights before learning: what is learned from some of its nodes suits its other nodes, and says nothing about other pairs.

use super::candidate::ValidatedBy;
use super::examples::{Examples, HeldOut, Here};
use super::folds::{Fold, by_specimen};
use super::{Example, LabelledPairs, TrainingSet};
use crate::Result;
use crate::features::FeatureMap;
use crate::loss::Hamming;
use crate::matching::Matcher;
use std::borrow::Cow;

/// Examples to learn from, and what is held out.
pub(super) struct Run<'a> {
    pub(super) examples: Box<dyn Examples + 'a>,
    /// Which of all examples these are.
    pub(super) positions: Vec<usize>,
    /// Its name in progress messages.
    name: String,
}

/// The runs, the first on all examples, and what they are validated by.
pub(super) fn runs<'a>(
    set: &'a TrainingSet,
    folds: usize,
    (search, matcher): (&'a dyn Matcher, &'a dyn Matcher),
) -> (Vec<Run<'a>>, ValidatedBy) {
    let here = |examples, held_out| Here::holding_out(examples, held_out, search, matcher);
    let all = |held_out| Run::on_all(here(Cow::Borrowed(&set.training), held_out));
    if !set.validation.is_empty() {
        let by = ValidatedBy::Pairs { pairs: set.validation.len() };
        return (vec![all(HeldOut::Pairs(set.validation.clone()))], by);
    }
    let cuts = if folds < 2 { Vec::new() } else { cuts(&set.training, folds) };
    if let ([pair], 2..) = (&set.training[..], folds) {
        return (vec![all(HeldOut::Nodes(Box::new(pair.clone())))], ValidatedBy::OnePair);
    }
    // Examples are shared, not copied.
    let pick = |numbers: &[usize]| numbers.iter().map(|&n| set.training[n].clone()).collect::<Vec<_>>();
    let count = cuts.len();
    let mut runs = vec![all(HeldOut::Nothing)];
    for (number, fold) in cuts.into_iter().enumerate() {
        let examples = here(Cow::Owned(pick(&fold.learned)), HeldOut::Pairs(pick(&fold.held_out)));
        let name = format!("without part {} of {count} ", number + 1);
        runs.push(Run { examples: Box::new(examples), positions: fold.learned, name });
    }
    (runs, if count > 0 { ValidatedBy::Specimens { folds: count } } else { ValidatedBy::Nothing })
}

/// How examples are cut for cross-validation.
pub(super) fn cuts(examples: &[Example], folds: usize) -> Vec<Fold> {
    // Examples whose specimens were not given each count as their own.
    let unknown = usize::MAX / 2;
    let specimens =
        |(n, example): (usize, &Example)| example.specimens().unwrap_or([unknown + 2 * n, unknown + 2 * n + 1]);
    let pairs: Vec<[usize; 2]> = examples.iter().enumerate().map(specimens).collect();
    by_specimen(&pairs, folds)
}

/// The pairs that every set is measured on, by position, and what they are: validation pairs, folds over specimens, or an only pair.
pub(super) fn held_out_pairs(
    training: &LabelledPairs,
    validation: &LabelledPairs,
    folds: usize,
) -> Result<(Vec<usize>, ValidatedBy)> {
    if !validation.is_empty() {
        return Ok(((0..validation.len()).collect(), ValidatedBy::Pairs { pairs: validation.len() }));
    }
    if training.len() == 1 && folds >= 2 {
        return Ok((Vec::new(), ValidatedBy::OnePair));
    }
    // Only the specimens are of interest, and they need no features.
    let cuts = cuts(&training.examples(&FeatureMap::nothing(), &Hamming::default())?, folds);
    let by = if cuts.is_empty() { ValidatedBy::Nothing } else { ValidatedBy::Specimens { folds: cuts.len() } };
    Ok((cuts.into_iter().flat_map(|fold| fold.held_out).collect(), by))
}

impl<'a> Run<'a> {
    /// The run that learns from all examples.
    pub(super) fn on_all(examples: impl Examples + 'a) -> Self {
        Self { positions: (0..examples.count()).collect(), examples: Box::new(examples), name: String::new() }
    }

    /// What progress messages say while it learns at a λ.
    pub(super) fn stage(&self, lambda: f64) -> String {
        format!("learning {}at λ {lambda:.1e}", self.name)
    }
}

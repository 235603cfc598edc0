//! Which runs of learning there are, and what each holds out: validation pairs, or folds over specimens. A single pair only measures the
//! weights before learning: what is learned from some of its nodes suits its other nodes, and says nothing about other pairs.

use super::candidate::ValidatedBy;
use super::evaluate::predict;
use super::folds::{Fold, by_specimen};
use super::{Evaluation, Example, TrainingSet, evaluate};
use crate::matching::Matcher;
use crate::{Control, Result};

/// Examples to learn from, and what is held out.
pub(super) struct Run {
    pub(super) examples: Vec<Example>,
    /// Which of all examples these are.
    pub(super) positions: Vec<usize>,
    held_out: HeldOut,
    /// Its name in progress messages.
    name: String,
}

enum HeldOut {
    Nothing,
    Pairs(Vec<Example>),
    /// The nodes of the only pair, for weights that were not learned from it.
    Nodes(Box<Example>),
}

/// The runs, the first on all examples, and what they are validated by.
pub(super) fn runs(set: &TrainingSet, folds: usize) -> (Vec<Run>, ValidatedBy) {
    let pick = |numbers: &[usize]| numbers.iter().map(|&n| set.training[n].clone()).collect::<Vec<_>>();
    let run =
        |positions: Vec<usize>, held_out, name: String| Run { examples: pick(&positions), positions, held_out, name };
    let all = |held_out| run((0..set.training.len()).collect(), held_out, String::new());
    if !set.validation.is_empty() {
        let by = ValidatedBy::Pairs { pairs: set.validation.len() };
        return (vec![all(HeldOut::Pairs(set.validation.clone()))], by);
    }
    let mut runs = vec![all(HeldOut::Nothing)];
    if folds < 2 {
        return (runs, ValidatedBy::Nothing);
    }
    let cuts = cuts(&set.training, folds);
    let count = cuts.len();
    for (number, fold) in cuts.iter().enumerate() {
        let name = format!("without part {} of {count} ", number + 1);
        runs.push(run(fold.learned.clone(), HeldOut::Pairs(pick(&fold.held_out)), name));
    }
    if count > 0 {
        return (runs, ValidatedBy::Specimens { folds: count });
    }
    match &set.training[..] {
        [pair] => (vec![all(HeldOut::Nodes(Box::new(pair.clone())))], ValidatedBy::OnePair),
        _ => (runs, ValidatedBy::Nothing),
    }
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

impl Run {
    /// What progress messages say while it learns at a λ.
    pub(super) fn stage(&self, lambda: f64) -> String {
        format!("learning {}at λ {lambda:.1e}", self.name)
    }

    /// What a model with no opinion would lose on each held-out item.
    pub(super) fn chance(&self) -> Vec<f64> {
        match &self.held_out {
            HeldOut::Nothing => Vec::new(),
            HeldOut::Pairs(examples) => examples.iter().map(Example::loss_by_chance).collect(),
            HeldOut::Nodes(pair) => {
                vec![1.0 - 1.0 / pair.truth().right_count().max(1) as f64; pair.truth().left_count()]
            }
        }
    }

    /// How many items are held out.
    pub(super) fn held_out(&self) -> usize {
        match &self.held_out {
            HeldOut::Nothing => 0,
            HeldOut::Pairs(examples) => examples.len(),
            HeldOut::Nodes(pair) => pair.truth().left_count(),
        }
    }

    /// How weights do on the held-out data; `None` if there is none. Where the control says stop, on some of it.
    pub(super) fn validate(
        &self,
        matcher: &dyn Matcher,
        weights: &[f64],
        control: &Control,
    ) -> Result<Option<Evaluation>> {
        match &self.held_out {
            HeldOut::Nothing => Ok(None),
            HeldOut::Pairs(examples) => evaluate(examples, matcher, weights, control).map(Some),
            HeldOut::Nodes(pair) => {
                let answer =
                    predict(std::slice::from_ref(&**pair), matcher, weights, control)?.into_iter().flatten().next();
                let Some((matching, _)) = answer else { return Ok(None) };
                let truth = pair.whole_truth();
                let is_wrong = |node: usize| f64::from(u8::from(matching.right_of(node) != truth.right_of(node)));
                let nodes = (0..pair.truth().left_count()).map(|position| pair.whole_node(position));
                Ok(Some(Evaluation::of_losses(nodes.map(is_wrong).collect())))
            }
        }
    }
}

//! An atlas as a candidate beside sets of features: learned from the specimens of the pairs that are learned from, it names both
//! specimens of a pair that is held out, and the points of the same name are matched. The folds are those of every other candidate.

use super::runs::cuts;
use super::{Evaluation, Example, LabelledPairs, Trainer};
use crate::atlas::{Atlas, AtlasSettings, Naming, Search};
use crate::features::FeatureMap;
use crate::graph::Graph;
use crate::matching::{Constraint, Workspace};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Whether an atlas can be learned from the specimens of these pairs.
pub(super) fn suits(pairs: &LabelledPairs) -> bool {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    Atlas::suits(&specimens) && Atlas::learn(&specimens, &AtlasSettings::default()).is_ok()
}

/// The atlas of all specimens.
pub(super) fn learn(pairs: &LabelledPairs, control: &Control) -> Result<Atlas> {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    let settings = AtlasSettings::default();
    Atlas::learn(&specimens, &settings)?.calibrated(&specimens, &settings, control)
}

/// How an atlas does on what is held out; `None` where nothing is, or where the control said stop.
pub(super) fn measure(
    training: &LabelledPairs,
    validation: &LabelledPairs,
    trainer: &Trainer,
    control: &Control,
) -> Result<Option<Evaluation>> {
    // The loss alone is of interest, and that needs no features.
    let bare = FeatureMap { node: Vec::new(), constraint: Constraint::OneToOne, ..FeatureMap::paper_linear() };
    let examples = |pairs: &LabelledPairs| pairs.examples(&bare, trainer.loss.loss());
    let mut losses = Vec::new();
    if validation.is_empty() {
        let examples = examples(training)?;
        for fold in cuts(&examples, trainer.folds) {
            let held_out = specimens(training, &fold.held_out);
            let mut learned = specimens(training, &fold.learned);
            learned.retain(|at| !held_out.contains(at));
            let learned: Vec<&Graph> = learned.into_iter().map(|at| training.graph(at)).collect();
            losses.extend(named(&learned, training, &fold.held_out, &examples, control)?);
        }
    } else {
        let known = specimens(training, &all(training));
        let learned: Vec<&Graph> = known.into_iter().map(|at| training.graph(at)).collect();
        losses = named(&learned, validation, &all(validation), &examples(validation)?, control)?;
    }
    Ok((!losses.is_empty() && !control.interrupted()).then(|| Evaluation::of_losses(losses)))
}

/// The losses of some pairs, matched by the names that an atlas of other specimens gives.
fn named(
    learned: &[&Graph],
    pairs: &LabelledPairs,
    held_out: &[usize],
    examples: &[Example],
    control: &Control,
) -> Result<Vec<f64>> {
    if learned.is_empty() {
        return Ok(Vec::new());
    }
    let atlas = Atlas::learn(learned, &AtlasSettings::default())?;
    let weights = atlas.start_weights();
    let name = |&at: &usize| -> Result<(usize, Naming)> {
        let work = &mut Workspace::with_control(control);
        Ok((at, atlas.name_with(pairs.graph(at), &weights, Search::Quick, work)?))
    };
    let specimens: Vec<usize> = specimens(pairs, held_out).into_iter().collect();
    let namings: BTreeMap<usize, Naming> = specimens.par_iter().map(name).collect::<Result<_>>()?;
    let loss = |&number: &usize| {
        let [left, right] = pairs.ends(number).map(|end| namings.get(&end).ok_or(Error::NoExamples));
        Ok(examples[number].whole_loss(&left?.join(right?)?))
    };
    held_out.iter().map(loss).collect()
}

fn all(pairs: &LabelledPairs) -> Vec<usize> {
    (0..pairs.len()).collect()
}

/// The graphs of some pairs, by position.
fn specimens(pairs: &LabelledPairs, numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().flat_map(|&number| pairs.ends(number)).collect()
}

//! An atlas as a candidate alongside sets of features: learned from the specimens of the training pairs, it names both
//! specimens of a held-out pair, and points with the same name are matched. The folds are the same as for every other candidate.

use crate::atlas::{Atlas, AtlasSettings, Naming, Search};
use crate::features::FeatureMap;
use crate::graph::Graph;
use crate::learn::runs::cuts;
use crate::learn::{Evaluation, Evidence, Example, LabelledPairs, Trainer};
use crate::matching::Workspace;
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Whether an atlas can be learned from the specimens of these pairs.
pub(super) fn suits(pairs: &LabelledPairs, settings: &AtlasSettings) -> bool {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    Atlas::suits(&specimens) && Atlas::learn(&specimens, settings).is_ok()
}

/// The atlas of all specimens, and how much each kind of evidence counts.
pub(super) fn learn(pairs: &LabelledPairs, settings: &AtlasSettings, control: &Control) -> Result<(Atlas, Vec<f64>)> {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    let atlas = Atlas::learn(&specimens, settings)?;
    let weights = Evidence::learn(&atlas, &specimens, settings, control)?.weights;
    Ok((atlas.calibrated(&specimens, settings, &weights, control)?, weights))
}

/// How an atlas does on what is held out; `None` if nothing is, or if it was interrupted.
pub(super) fn measure(
    training: &LabelledPairs,
    validation: &LabelledPairs,
    (trainer, settings): (&Trainer, &AtlasSettings),
    control: &Control,
) -> Result<Option<Evaluation>> {
    // Only the loss is of interest, and that needs no features.
    let bare = FeatureMap::nothing();
    let examples = |pairs: &LabelledPairs| pairs.examples(&bare, trainer.loss.loss());
    let mut losses = Vec::new();
    if validation.is_empty() {
        let examples = examples(training)?;
        for fold in cuts(&examples, trainer.folds) {
            let held_out = specimens(training, &fold.held_out);
            let mut learned = specimens(training, &fold.learned);
            learned.retain(|at| !held_out.contains(at));
            let learned: Vec<&Graph> = learned.into_iter().map(|at| training.graph(at)).collect();
            let namer = Namer { learned, settings };
            losses.extend(namer.losses(training, &fold.held_out, &examples, control)?);
        }
    } else {
        let known = specimens(training, &all(training));
        let learned: Vec<&Graph> = known.into_iter().map(|at| training.graph(at)).collect();
        let namer = Namer { learned, settings };
        losses = namer.losses(validation, &all(validation), &examples(validation)?, control)?;
    }
    Ok((!losses.is_empty() && !control.interrupted()).then(|| Evaluation::of_losses(losses)))
}

/// The specimens that an atlas is learned from, and how.
struct Namer<'a> {
    learned: Vec<&'a Graph>,
    settings: &'a AtlasSettings,
}

impl Namer<'_> {
    /// The losses of some pairs, matched by the names the atlas gives.
    fn losses(
        &self,
        pairs: &LabelledPairs,
        held_out: &[usize],
        examples: &[Example],
        control: &Control,
    ) -> Result<Vec<f64>> {
        if self.learned.is_empty() {
            return Ok(Vec::new());
        }
        let atlas = Atlas::learn(&self.learned, self.settings)?;
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
}

fn all(pairs: &LabelledPairs) -> Vec<usize> {
    (0..pairs.len()).collect()
}

/// The graphs of some pairs, by position.
fn specimens(pairs: &LabelledPairs, numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().flat_map(|&number| pairs.ends(number)).collect()
}

//! An atlas as a candidate alongside sets of features: learned from the specimens of the training pairs, it names both
//! specimens of a held-out pair, and points with the same name are matched. The folds are the same as for every other candidate.

use crate::atlas::{Atlas, AtlasSettings, Naming, Search};
use crate::features::FeatureMap;
use crate::graph::Graph;
use crate::learn::runs::cuts;
use crate::learn::{Evaluation, Evidence, Example, LabelledPairs, Trainer};
use crate::matching::Workspace;
use crate::{Control, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Of so many specimens each held-out pair is named by an atlas of all the others; of more, by one for each fold.
const FEW_SPECIMENS: usize = 12;

/// Whether an atlas can be learned from the specimens of these pairs.
pub(super) fn suits(pairs: &LabelledPairs, settings: &AtlasSettings) -> bool {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    Atlas::suits(&specimens) && Atlas::learn(&specimens, settings).is_ok()
}

/// The atlas of all specimens, and how much each kind of evidence counts. Where the control says stop, all count alike and there are no confidences.
pub(super) fn learn(pairs: &LabelledPairs, settings: &AtlasSettings, control: &Control) -> Result<(Atlas, Vec<f64>)> {
    let specimens: Vec<&Graph> = specimens(pairs, &all(pairs)).into_iter().map(|at| pairs.graph(at)).collect();
    let atlas = Atlas::learn(&specimens, settings)?;
    let weights = Evidence::learn(&atlas, &specimens, settings, control)?.weights;
    Ok((atlas.calibrated(&specimens, settings, &weights, control)?, weights))
}

/// How an atlas does on what is held out, as far as the control lets it, and how many items are held out.
pub(super) fn measure(
    training: &LabelledPairs,
    validation: &LabelledPairs,
    (trainer, settings): (&Trainer, &AtlasSettings),
    control: &Control,
) -> Result<(Evaluation, usize)> {
    // Only the loss is of interest, and that needs no features.
    let bare = FeatureMap::nothing();
    let examples = |pairs: &LabelledPairs| pairs.examples(&bare, trainer.loss.loss());
    let (mut measured, mut count) = (Evaluation::default(), 0);
    if validation.is_empty() {
        let examples = examples(training)?;
        let everybody = specimens(training, &all(training));
        for fold in cuts(&examples, trainer.folds) {
            // Of few specimens an atlas of a part is much worse than one of all: as many as can be are left in.
            let is_few = everybody.len() <= FEW_SPECIMENS;
            let together = if is_few { 1 } else { fold.held_out.len() };
            let known = if is_few { everybody.clone() } else { specimens(training, &fold.learned) };
            for held_out in fold.held_out.chunks(together.max(1)) {
                let named = specimens(training, held_out);
                let learned = known.difference(&named).map(|&at| training.graph(at)).collect();
                let namer = Namer { learned, settings };
                measured.extend(count, &namer.measure(training, held_out, &examples, control)?);
                count += held_out.len();
            }
        }
    } else {
        let known = specimens(training, &all(training));
        let learned: Vec<&Graph> = known.into_iter().map(|at| training.graph(at)).collect();
        let namer = Namer { learned, settings };
        count = validation.len();
        measured = namer.measure(validation, &all(validation), &examples(validation)?, control)?;
    }
    Ok((measured, count))
}

/// The specimens that an atlas is learned from, and how.
struct Namer<'a> {
    learned: Vec<&'a Graph>,
    settings: &'a AtlasSettings,
}

impl Namer<'_> {
    /// The losses of some pairs, matched by the names the atlas gives, as far as the control lets it.
    fn measure(
        &self,
        pairs: &LabelledPairs,
        held_out: &[usize],
        examples: &[Example],
        control: &Control,
    ) -> Result<Evaluation> {
        if self.learned.is_empty() || control.interrupted() {
            return Ok(Evaluation::default());
        }
        let atlas = Atlas::learn(&self.learned, self.settings)?;
        losses(&atlas, &atlas.start_weights(), (pairs, held_out, examples), control)
    }
}

/// The losses of some pairs of which each specimen is named once, as far as the control lets it.
pub(crate) fn losses(
    atlas: &Atlas,
    weights: &[f64],
    (pairs, numbers, examples): (&LabelledPairs, &[usize], &[Example]),
    control: &Control,
) -> Result<Evaluation> {
    let name = |&at: &usize| -> Result<Option<(usize, Naming)>> {
        if control.interrupted() {
            return Ok(None);
        }
        let work = &mut Workspace::with_control(control);
        let naming = atlas.name_with(pairs.graph(at), weights, Search::Quick, work)?;
        // What was found in a hurry is not what it would have found.
        Ok((!control.interrupted()).then_some((at, naming)))
    };
    let specimens: Vec<usize> = specimens(pairs, numbers).into_iter().collect();
    let namings = specimens.par_iter().map(name).collect::<Result<Vec<_>>>()?;
    let namings: BTreeMap<usize, Naming> = namings.into_iter().flatten().collect();
    let mut measured = Evaluation::default();
    for (item, &number) in numbers.iter().enumerate() {
        let [Some(left), Some(right)] = pairs.ends(number).map(|end| namings.get(&end)) else { continue };
        measured.losses.push(examples[number].whole_loss(&left.join(right)?));
        measured.specimens.push(examples[number].specimens());
        measured.examples.push(item);
    }
    Ok(measured)
}

fn all(pairs: &LabelledPairs) -> Vec<usize> {
    (0..pairs.len()).collect()
}

/// The graphs of some pairs, by position.
fn specimens(pairs: &LabelledPairs, numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().flat_map(|&number| pairs.ends(number)).collect()
}

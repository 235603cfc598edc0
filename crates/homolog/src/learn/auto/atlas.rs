//! An atlas as a candidate alongside sets of features: learned from the specimens of the training pairs, it names both
//! specimens of a held-out pair, and points with the same name are matched. The held-out pairs are the same as for every other candidate.

use crate::atlas::{Atlas, AtlasSettings, Naming, Search};
use crate::features::FeatureMap;
use crate::graph::Graph;
use crate::learn::runs::held_out_pairs;
use crate::learn::{Evaluation, Evidence, Example, LabelledPairs, Trainer};
use crate::matching::Workspace;
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Of so many specimens each held-out pair is named by an atlas of all the others,
const FEW_SPECIMENS: usize = 12;
/// of more, by one of all but two of this many blocks.
const MOST_BLOCKS: usize = 10;

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

/// How an atlas does on what is held out, as far as the control lets it, and how many items are held out. Both specimens of a pair are left out of
/// the atlas that names them: each of few specimens by itself, of many a block of them at a time.
pub(super) fn measure(
    training: &LabelledPairs,
    validation: &LabelledPairs,
    (trainer, settings): (&Trainer, &AtlasSettings),
    control: &Control,
) -> Result<(Evaluation, usize)> {
    // Only the loss is of interest, and that needs no features.
    let bare = FeatureMap::nothing();
    let examples = |pairs: &LabelledPairs| pairs.examples(&bare, trainer.loss.loss());
    let everybody: Vec<usize> = specimens(training, &all(training)).into_iter().collect();
    if !validation.is_empty() {
        let learned: Vec<&Graph> = everybody.iter().map(|&at| training.graph(at)).collect();
        let measured =
            Namer { learned, settings }.measure(validation, &all(validation), &examples(validation)?, control)?;
        return Ok((measured, validation.len()));
    }
    let (examples, (held_out, _)) = (examples(training)?, held_out_pairs(training, validation, trainer.folds)?);
    let blocks = if everybody.len() <= FEW_SPECIMENS { everybody.len() } else { MOST_BLOCKS };
    let block: BTreeMap<usize, usize> =
        everybody.iter().enumerate().map(|(number, &at)| (at, number * blocks / everybody.len())).collect();
    let mut together: BTreeMap<(usize, usize, usize), Vec<usize>> = BTreeMap::new();
    for &number in &held_out {
        let [a, b] = training.ends(number).map(|end| block[&end]);
        let (low, high) = (a.min(b), a.max(b));
        // Neighbours last: if time is up, every specimen was in about as many pairs.
        together.entry(((low + high) % blocks.max(1), low, high)).or_default().push(number);
    }
    let mut measured = Evaluation::default();
    for ((_, low, high), pairs) in &together {
        let is_left = |at: &&usize| block[*at] != *low && block[*at] != *high;
        let learned = everybody.iter().filter(is_left).map(|&at| training.graph(at)).collect();
        let part = Namer { learned, settings }.measure(training, pairs, &examples, control)?;
        measured.extend(0, &Evaluation { examples: part.examples.iter().map(|&at| pairs[at]).collect(), ..part });
    }
    Ok((measured, held_out.len()))
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
        // Too few of them may have a name in common.
        let Ok(atlas) = Atlas::learn_watched(&self.learned, self.settings, control) else {
            return Ok(Evaluation::default());
        };
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
        let naming = match atlas.name_with(pairs.graph(at), weights, Search::Quick, work) {
            Err(Error::Interrupted) => return Ok(None),
            naming => naming?,
        };
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

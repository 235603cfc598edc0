//! Frames of unlabelled takes as specimens to learn from: a take is named as a whole, and a few frames that differ most teach the atlas
//! with the names that are sure.
//!
//! Names that are wrong throughout a take agree with each other, so they are compared with the labelled specimens (the gate): an atlas of
//! these frames alone names the labelled specimens, and wrong names may be at most a tenth, or no more than without the takes.

use super::told::{Margin, Told};
use crate::atlas::{Atlas, AtlasSettings, Spoiling, Unnamed};
use crate::graph::Graph;
use crate::model::Model;
use crate::takes::differing_frames;
use crate::{Control, Result};

/// Frames of all takes together that teach.
const FRAMES: usize = 20;
/// A name teaches if it is at least so sure.
const SURE: f64 = 0.9;
/// So large a share of the labelled points may be named differently.
const WRONG: f64 = 0.1;

/// What takes without labels brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakesBrought {
    /// How many frames the takes have.
    pub frames: usize,
    /// How many of them were chosen to learn from.
    pub chosen: usize,
    /// Points of labelled specimens that these frames alone name, and how many of the names are wrong.
    pub named: [usize; 2],
    /// Whether the model learned from them.
    pub kept: bool,
}

impl TakesBrought {
    /// In words.
    pub(super) fn sentence(&self) -> String {
        let [names, wrong] = self.named;
        let kept = if self.kept { "Learned also from" } else { "Did not learn from" };
        format!(
            "{kept} {} of {} unlabelled frames, which were named as a take: by these alone {} of {names} labelled points are named right.",
            self.chosen,
            self.frames,
            names - wrong
        )
    }
}

/// The graphs apart: takes (graphs one after the other with increasing times, at least two), and single specimens.
pub(super) fn takes_among<'a>(graphs: &[&'a Graph]) -> (Vec<Vec<&'a Graph>>, Vec<&'a Graph>) {
    let mut runs: Vec<Vec<&Graph>> = Vec::new();
    for &graph in graphs {
        let follows = |run: &Vec<&Graph>| {
            let last = run.last().and_then(|last| last.time());
            last.zip(graph.time()).is_some_and(|(last, own)| last < own)
        };
        match runs.last_mut().filter(|run| follows(run)) {
            Some(run) => run.push(graph),
            None => runs.push(vec![graph]),
        }
    }
    let (takes, single): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.len() > 1);
    (takes, single.into_iter().flatten().collect())
}

/// Frames of the takes with the names that are sure, and whether they should teach.
pub(super) fn teaching_frames(
    model: &Model,
    takes: &[Vec<&Graph>],
    labelled: &[&Graph],
    settings: &AtlasSettings,
    control: &Control,
) -> Result<(Vec<Graph>, TakesBrought)> {
    let mut brought = TakesBrought { frames: takes.iter().map(Vec::len).sum(), chosen: 0, named: [0, 0], kept: false };
    let mut teachers = Vec::new();
    for take in takes {
        let frames = named(model, take, control)?;
        let chosen = differing_frames(&frames.iter().collect::<Vec<_>>(), FRAMES.div_ceil(takes.len()).max(2));
        teachers.extend(chosen.into_iter().map(|at| frames[at].clone()));
    }
    brought.chosen = teachers.len();
    if teachers.is_empty() || control.interrupted() {
        return Ok((Vec::new(), brought));
    }
    let alone = Atlas::learn(&teachers.iter().collect::<Vec<_>>(), settings)?;
    let told = |atlas: &Atlas, specimen: &Unnamed| Ok::<_, crate::Error>(Told::of(atlas, specimen, control)?.margins);
    let wrong = |told: &[Margin]| told.iter().filter(|(_, right)| !right).count();
    let mut without = 0;
    for (at, specimen) in labelled.iter().enumerate() {
        let specimen = Spoiling::default().spoil(specimen, 0)?;
        let named = told(&alone, &specimen)?;
        brought.named = [brought.named[0] + named.len(), brought.named[1] + wrong(&named)];
        if labelled.len() > 1 {
            let others = labelled.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, graph)| *graph);
            let others = Atlas::learn(&others.collect::<Vec<_>>(), settings)?;
            without += wrong(&told(&others, &specimen)?);
        }
    }
    let few = (WRONG * brought.named[0] as f64).max(without as f64);
    brought.kept = brought.named[0] > 0 && brought.named[1] as f64 <= few && !control.interrupted();
    Ok((teachers, brought))
}

/// The frames of a take with the names that are sure.
fn named(model: &Model, take: &[&Graph], control: &Control) -> Result<Vec<Graph>> {
    let Some(atlas) = model.atlas() else { return Ok(Vec::new()) };
    let naming = model.name_take(take, control)?;
    let name = |(graph, calls): (&&Graph, &Vec<Option<crate::takes::TakeCall>>)| {
        let sure = calls.iter().map(|call| call.as_ref().filter(|call| call.confidence >= SURE));
        let names = sure.map(|call| call.map_or_else(String::new, |call| atlas.landmarks[call.marker].name.clone()));
        (*graph).clone().with_names(names.collect())
    };
    take.iter().zip(&naming.frames).map(name).collect()
}

//! [`learn_names`]: a model from labelled specimens, for naming the points of others outside the labelling page.

use super::proposer::{only_named, spread};
use crate::atlas::{Atlas, AtlasSettings, Landmark, Pose};
use crate::graph::Graph;
use crate::model::Model;
use crate::{Control, Error, Result};

/// A model that names points, and what it knows about each.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LearnedNames {
    /// The model: an atlas with calibrated confidences.
    pub model: Model,
    /// How far each named point strays from its mean position, as a share of the specimen's radius, those that stray most first.
    pub strays: Vec<(String, f64)>,
    /// What it is, in a sentence.
    pub sentence: String,
}

/// Learns an atlas from all labelled specimens. From at most 40, it is the one of [`Model::fit_atlas`], as `homolog train --features atlas` makes
/// it; of more, the kinds of evidence count as their likelihood says, and confidences come from 40 of them.
///
/// # Errors
/// No labelled specimen; otherwise as [`Proposer::learn`](super::Proposer::learn).
pub fn learn_names(labelled: &[Graph], control: &Control) -> Result<LearnedNames> {
    let named = labelled.iter().filter_map(|graph| only_named(graph).transpose()).collect::<Result<Vec<_>>>()?;
    let settings = AtlasSettings::default();
    let all: Vec<&Graph> = named.iter().collect();
    let some = spread(&named);
    let model = if some.len() == all.len() {
        Model::fit_atlas(&all, &settings, control)?.0
    } else {
        let atlas = Atlas::learn(&all, &settings)?;
        let weights = atlas.start_weights();
        Model::of_atlas(atlas.calibrated(&some, &settings, &weights, control)?, &weights)?
    };
    let atlas = model.atlas().ok_or(Error::NoExamples)?;
    let stray = |landmark: &Landmark| landmark.position.covariance().diag().mean().unwrap_or(0.0).sqrt();
    let mut strays: Vec<(String, f64)> =
        atlas.landmarks.iter().map(|landmark| (landmark.name.clone(), stray(landmark))).collect();
    strays.sort_by(|a, b| b.1.total_cmp(&a.1));
    let lie = if atlas.pose == Pose::AsGiven { "are oriented alike" } else { "may be rotated" };
    let some = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let sentence = format!(
        "An atlas of {} from {} that {lie}.",
        some(atlas.landmarks.len(), "point"),
        some(atlas.specimens, "specimen")
    );
    Ok(LearnedNames { model, strays, sentence })
}

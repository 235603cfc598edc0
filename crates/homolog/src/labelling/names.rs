//! [`learn_names`]: a model from labelled specimens, for naming the points of others outside the labelling page.

use crate::atlas::{Landmark, Pose};
use crate::data::dataset::{DataSet, NamedGraph};
use crate::graph::Graph;
use crate::model::Model;
use crate::task::{Features, Settings, Task};
use crate::{Control, Error, Result};
use std::sync::Arc;

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

/// Learns an atlas from all labelled specimens: the [`Task`] of `homolog train --features atlas`.
///
/// # Errors
/// No labelled specimen; otherwise as [`Task::run`].
pub fn learn_names(labelled: &[Graph], control: &Control) -> Result<LearnedNames> {
    let named = |(at, graph): (usize, &Graph)| {
        graph.need_points("a labelled specimen")?;
        Ok(NamedGraph { id: at.to_string(), graph: Arc::new(graph.clone()), image: None })
    };
    let graphs = labelled.iter().enumerate().map(named).collect::<Result<_>>()?;
    let settings = Settings { features: Features::Named("atlas".to_string()), ..Settings::default() };
    let model = Task { data: DataSet::new(graphs, Vec::new())?, settings }.run(control, None)?.model;
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

//! [`learn`]: a model from the labelled pairs of a data set, with its error on pairs it has not seen; [`review`]: which pair to label
//! next, and which labels to check again.

use super::{Known, suggest_prepared};
use crate::data::dataset::DataSet;
use crate::features::FeatureMap;
use crate::graph::{Graph, Pair};
use crate::learn::{Evaluation, LabelledPairs, Trainer, TrainingSet, default_matcher};
use crate::matching::{FrankWolfe, Method};
use crate::model::Model;
use crate::{Control, Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the model compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sight {
    /// Nodes alone: suggestions at once.
    Linear,
    /// Nodes and edges: better suggestions a moment later.
    Edges,
}

impl Sight {
    fn features(self, data: &DataSet) -> Result<FeatureMap> {
        let name = match self {
            Self::Linear => "linear",
            Self::Edges => "quadratic",
        };
        FeatureMap::named(name, data.graphs().iter().map(|named| named.graph.as_ref()))
    }

    /// With edges, a search that proves nothing: a person is waiting.
    fn matcher(self, features: &FeatureMap) -> Method {
        match self {
            Self::Linear => default_matcher(features),
            Self::Edges => Method::FrankWolfe(FrankWolfe::default()),
        }
    }
}

/// A model and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Learned {
    /// The model.
    pub model: Model,
    /// Its mean error on what was held out from training; `None` if nothing was.
    pub error: Option<f64>,
    /// The error without learning, on the same data.
    pub unlearned_error: Option<f64>,
    /// How many labelled pairs there were.
    pub pairs: usize,
    /// What learning achieved, in a sentence.
    pub sentence: String,
}

/// Learns from the labelled pairs of a data set, including partly labelled ones; the others only show how much features vary. Without
/// any labelled pair the weights are those of matching without learning.
///
/// # Errors
/// A data set without points; otherwise as training.
pub fn learn(data: &DataSet, sight: Sight, control: &Control) -> Result<Learned> {
    let features = sight.features(data)?;
    let (labelled, positions) = data.labelled(|_| true)?;
    if positions.is_empty() {
        let pairs = (0..data.pairs().len()).map(|number| data.pair(number)).collect::<Result<Vec<Pair>>>()?;
        let features = features.with_spread_of(&pairs)?;
        let matcher = sight.matcher(&features);
        let model = Model::unlearned(features, matcher)?;
        let sentence = "Nothing is learned yet: no pair is labelled.".to_string();
        return Ok(Learned { model, error: None, unlearned_error: None, pairs: 0, sentence });
    }
    let trainer = Trainer { matcher: Some(sight.matcher(&features)), ..Trainer::default() };
    let set = TrainingSet::new(&features, &trainer.loss, &labelled, &LabelledPairs::new())?;
    let trained = trainer.train(&set, control)?;
    Ok(Learned {
        model: Model::trained(&set, &trainer, &trained)?,
        error: trained.after().map(Evaluation::mean),
        unlearned_error: trained.before().map(Evaluation::mean),
        pairs: positions.len(),
        sentence: trained.sentence(),
    })
}

/// A pair of graphs and what a person has said about it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledPart {
    /// The position of the left graph.
    pub left: usize,
    /// The position of the right graph.
    pub right: usize,
    /// The labels.
    pub known: Vec<Known>,
}

/// What the model says about a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Review {
    /// The mean margin of what is not labelled: the smaller, the more a label would teach. `None` if everything is labelled.
    pub mean_margin: Option<f64>,
    /// Left nodes whose label the model would not give.
    pub disputed: Vec<usize>,
}

/// Examines many pairs: how certain the model is about what is not labelled, and which labels it disputes.
///
/// # Errors
/// A pair of graphs that do not exist; `control` stopped it; otherwise as [`suggest`](super::suggest).
pub fn review(model: &Model, graphs: &[Arc<Graph>], pairs: &[LabelledPart], control: &Control) -> Result<Vec<Review>> {
    let mut places = vec![None; graphs.len()];
    let mut used = Vec::new();
    for index in pairs.iter().flat_map(|part| [part.left, part.right]) {
        let count = graphs.len();
        let place = places.get_mut(index).ok_or(Error::OutOfRange { what: "graphs of a pair", index, count })?;
        if place.is_none() {
            *place = Some(used.len());
            used.push(Arc::clone(&graphs[index]));
        }
    }
    let prepared = model.prepare(&used, control)?;
    let review = |part: &LabelledPart| {
        if control.interrupted() {
            return Err(Error::Interrupted);
        }
        let ends = [part.left, part.right].map(|index| &prepared[places[index].unwrap_or_default()]);
        let suggestion = suggest_prepared(model, ends, &part.known)?;
        Ok(Review { mean_margin: suggestion.mean_margin, disputed: suggestion.disputed })
    };
    pairs.par_iter().map(review).collect()
}

//! [`learn`]: a model from the labelled pairs of a data set, with its error on pairs it has not seen; [`review`]: which pair to label
//! next, and which labels to check again.

use super::Known;
use super::suggestion::{Depth, suggest_prepared};
use crate::data::dataset::DataSet;
use crate::graph::Pair;
use crate::matching::{FrankWolfe, Method};
use crate::model::{Model, Prepared};
use crate::task::{Features, Outcome, Settings, Task};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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
    /// With edges, a search that proves nothing: a person is waiting.
    fn settings(self) -> Settings {
        let (name, matcher) = match self {
            Self::Linear => ("linear", None),
            Self::Edges => ("quadratic", Some(Method::FrankWolfe(FrankWolfe::default()))),
        };
        Settings { features: Features::Named(name.to_string()), matcher, ..Settings::default() }
    }
}

/// A model and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Learned {
    /// The model.
    pub model: Model,
    /// Its mean error on held-out pairs from training; `None` if nothing was.
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
    let settings = sight.settings();
    let labelled = data.pairs().iter().filter(|pair| pair.truth.is_some()).count();
    if labelled == 0 {
        let features = settings.features(&data.common()?)?;
        let pairs = (0..data.pairs().len()).map(|number| data.pair(number)).collect::<Result<Vec<Pair>>>()?;
        let model = Model::unlearned_for(features, settings.matcher, None, &pairs)?;
        let sentence = "Nothing is learned yet: no pair is labelled.".to_string();
        return Ok(Learned { model, error: None, unlearned_error: None, pairs: 0, sentence });
    }
    let Outcome { model, report } = Task { data: data.clone(), settings }.run(control, None)?;
    let tried = report.tried.first();
    Ok(Learned {
        model,
        error: tried.and_then(|tried| tried.error),
        unlearned_error: tried.and_then(|tried| tried.unlearned_error),
        pairs: labelled,
        sentence: report.sentence,
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

/// Examines many pairs of prepared graphs: how certain the model is about what is not labelled, with edges by bounds, and which labels it disputes.
///
/// # Errors
/// A pair of graphs that do not exist; `control` stopped it; otherwise as [`suggest`](super::suggest).
pub fn review(model: &Model, graphs: &[Prepared], pairs: &[LabelledPart], control: &Control) -> Result<Vec<Review>> {
    let count = graphs.len();
    let graph = |index: usize| graphs.get(index).ok_or(Error::OutOfRange { what: "graphs of a pair", index, count });
    let review = |part: &LabelledPart| {
        let ends = [graph(part.left)?, graph(part.right)?];
        let suggestion = suggest_prepared(model, ends, &part.known, Depth::Bound, control)?;
        Ok(Review { mean_margin: suggestion.mean_margin, disputed: suggestion.disputed })
    };
    pairs.par_iter().map(review).collect()
}

//! [`Model`]: features, matcher and weights, and how they were learned. A model file is JSON that a person can read and compare:
//! data, never code. Numbers come back bit for bit. `record` says how the weights came about; graphs are `prepared` once, and matched,
//! explained (`explain`), named (`naming`), found in pictures (`finding`) and rotated (`rotation`) from that; `stream` matches any number of pairs.

mod explain;
mod finding;
mod naming;
mod prepared;
mod record;
mod rotation;
mod stream;

pub use explain::{Explanation, Reasons};
pub use prepared::{Matched, Prepared};
pub use record::TrainingRecord;
pub use stream::{PairOf, in_order};

use crate::appearance::Appearance;
use crate::atlas::Atlas;
use crate::features::{FeatureMap, Instance};
use crate::graph::Pair;
use crate::learn::{Chosen, LabelledPairs, Selected, Trained, Trainer, TrainingSet, default_matcher};
use crate::matching::Method;
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of the file format that this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
/// No model file is longer than this, in bytes; a longer text is refused unread.
pub(crate) const MAX_FILE_SIZE: usize = 64 << 20;

/// Everything that is needed to match new graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: Format,
    /// The library that wrote the file; empty in older ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    library: String,
    /// What is compared.
    pub features: FeatureMap,
    /// How problems are solved.
    pub matcher: Method,
    /// One per feature, with its name beside it.
    weights: Vec<NamedWeight>,
    /// How the weights came about; `None` for a model without learning.
    pub training: Option<TrainingRecord>,
    /// Where each named point belongs, for a model that names points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) atlas: Option<Atlas>,
    /// What the named points look like, for a model that finds them in pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appearance: Option<Appearance>,
}

/// The first lines of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Format {
    kind: String,
    version: u32,
}

/// Just enough of a file to tell what it is before the rest is understood.
#[derive(Deserialize)]
struct Head {
    format: Format,
}

const KIND: &str = "homolog-model";
/// What a file says about who wrote it.
const LIBRARY: &str = concat!("homolog ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedWeight {
    name: String,
    weight: f64,
}

/// The weights before learning; in networks the seeds of the pairs choose what counts about weights of edges.
fn unlearned_weights(features: &FeatureMap, price: Option<f64>, pairs: &[Pair]) -> Result<Vec<f64>> {
    let seeded: Vec<&Pair> = pairs.iter().filter(|pair| !pair.given.seeds.is_empty()).collect();
    if !features.is_weighted_network() {
        return Ok(features.unlearned_weights_with(price));
    }
    let instance = |pair: &&Pair| -> Result<Instance> {
        let [left, right] = [&pair.left, &pair.right].map(|graph| features.describe(graph).map(Arc::new));
        features.instance_with(&left?, &right?, pair.features.as_ref())
    };
    let instances: Vec<Instance> = seeded.iter().map(instance).collect::<Result<_>>()?;
    let known = instances.iter().zip(&seeded).map(|(instance, pair)| (instance, pair.given.seeds.clone()));
    features.unlearned_weights_by(price, &known.collect::<Vec<_>>())
}

impl Model {
    /// Puts a model together.
    ///
    /// # Errors
    /// Weights too many, too few or not finite; features that make no sense.
    pub fn new(
        features: FeatureMap,
        matcher: Method,
        weights: &[f64],
        training: Option<TrainingRecord>,
    ) -> Result<Self> {
        let names = features.names();
        if names.len() != weights.len() {
            return Err(Error::Size { what: "weights of the model", expected: names.len(), found: weights.len() });
        }
        let weights = names.into_iter().zip(weights).map(|(name, &weight)| NamedWeight { name, weight }).collect();
        let format = Format { kind: KIND.to_string(), version: FORMAT_VERSION };
        let model = Self {
            format,
            library: LIBRARY.to_string(),
            features,
            matcher,
            weights,
            training,
            atlas: None,
            appearance: None,
        };
        model.check()?;
        Ok(model)
    }

    /// Learns from labelled pairs how to match: the usual case in one call.
    ///
    /// ```
    /// use homolog::features::FeatureMap;
    /// use homolog::graph::Graph;
    /// use homolog::learn::{LabelledPairs, Trainer};
    /// use homolog::matching::Matching;
    /// use homolog::model::Model;
    /// use std::sync::Arc;
    ///
    /// let wing = |x: f64| Graph::from_points(ndarray::array![[0.0, 0.0], [4.0 + x, 0.5], [3.0, 2.0 - x], [1.0, 2.0]]).map(Arc::new);
    /// let (left, right) = (wing(0.0)?, wing(0.3)?);
    /// let mut pairs = LabelledPairs::new();
    /// pairs.add(&left, &right, Matching::identity(4))?;
    /// let model = Model::fit(&FeatureMap::paper_linear(), &pairs, &Trainer::default())?;
    /// let pair = homolog::graph::Pair::new(left, wing(0.1)?);
    /// let solution = model.solve(&pair)?;
    /// assert_eq!(solution.matching.matched_count(), 4);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// No pairs; a graph without the parts that features or loss need; a setting out of range.
    pub fn fit(features: &FeatureMap, pairs: &LabelledPairs, trainer: &Trainer) -> Result<Self> {
        let set = TrainingSet::new(features, &trainer.loss, pairs, &LabelledPairs::new())?;
        let trained = trainer.train(&set, &Control::new())?;
        Self::trained(&set, trainer, &trained)
    }

    /// The model that a run of training came to.
    ///
    /// # Errors
    /// Weights that are not those of the set's features.
    pub fn trained(set: &TrainingSet, trainer: &Trainer, trained: &Trained) -> Result<Self> {
        let record = TrainingRecord::new(trained, trainer.loss);
        Self::new(set.features.clone(), trainer.matcher_for(set), trained.weights(), Some(record))
    }

    /// The model that was selected among sets of features, with a record of what was tried.
    ///
    /// # Errors
    /// As [`Self::trained`].
    pub fn selected(selected: &Selected) -> Result<Self> {
        match &selected.outcome {
            Chosen::Weights { set, trainer, trained } => {
                let mut model = Self::trained(set, trainer, trained)?;
                if let Some(training) = &mut model.training {
                    training.tried = selected.record();
                }
                Ok(model)
            }
            Chosen::Atlas { atlas, weights } => {
                let mut model = Self::of_atlas((**atlas).clone(), weights)?;
                model.training = Some(TrainingRecord::of_choice(atlas.specimens, selected.record()));
                Ok(model)
            }
        }
    }

    /// Matching without learning: weights that give every feature its share, 1 for most.
    ///
    /// # Errors
    /// Features that make no sense.
    pub fn unlearned(features: FeatureMap, matcher: Method) -> Result<Self> {
        let weights = features.unlearned_weights();
        Self::new(features, matcher, &weights, None)
    }

    /// Matching without learning, every feature in units of its spread between these pairs; without a matcher, the exact one for the
    /// features. With a price, left nodes may stay unmatched at it ([`FeatureMap::unlearned_weights_with`]).
    ///
    /// # Errors
    /// Features that make no sense or that the graphs lack; pairs that are too large for the matcher; a price that is not finite.
    pub fn unlearned_for(
        features: FeatureMap,
        matcher: Option<Method>,
        price: Option<f64>,
        pairs: &[Pair],
    ) -> Result<Self> {
        let features = if features.unmatched || price.is_some() { features.with_unmatched() } else { features };
        let matcher = matcher.unwrap_or_else(|| default_matcher(&features));
        let model = Self::unlearned(features, matcher)?;
        // Before spreads are measured, which takes a while for large graphs.
        pairs.iter().try_for_each(|pair| model.check_size(pair))?;
        let features = model.features.with_spread_of(pairs)?;
        let weights = unlearned_weights(&features, price, pairs)?;
        Self::new(features, model.matcher, &weights, None)
    }

    /// The library that made the model, with its version; empty where its file does not say.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// The weights, in the order of the features.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.weights.iter().map(|entry| entry.weight).collect()
    }

    /// The names of the weights.
    pub fn weight_names(&self) -> impl Iterator<Item = &str> {
        self.weights.iter().map(|entry| entry.name.as_str())
    }

    /// The model as a file: indented JSON with a line feed at the end.
    ///
    /// # Errors
    /// None in practice: every model can be written.
    pub fn to_json(&self) -> Result<String> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| Error::ModelFile { reason: error.to_string() })?;
        Ok(text + "\n")
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// A text that is too long, not JSON, of another kind or a newer version, with fields this version does not know, or whose weights do
    /// not belong to its features; with line and column where that makes sense.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |reason: String| Error::ModelFile { reason };
        if text.len() > MAX_FILE_SIZE {
            return Err(bad(format!("{} bytes are more than the {MAX_FILE_SIZE} a model file may have", text.len())));
        }
        let head: Head = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if head.format.kind != KIND {
            return Err(bad(format!("this is a \"{}\" file, not a \"{KIND}\" file", head.format.kind)));
        }
        if head.format.version == 0 || head.format.version > FORMAT_VERSION {
            let version = head.format.version;
            return Err(bad(format!(
                "format version {version} is not known; this program reads up to {FORMAT_VERSION}"
            )));
        }
        let model: Self = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<()> {
        self.features.check()?;
        self.check_atlas()?;
        self.appearance.as_ref().map_or(Ok(()), Appearance::check)?;
        let names = self.features.names();
        if names.len() != self.weights.len() {
            let (expected, found) = (names.len(), self.weights.len());
            return Err(Error::Size { what: "weights of the model", expected, found });
        }
        for (index, (entry, name)) in self.weights.iter().zip(names).enumerate() {
            if entry.name != name {
                let reason = format!("weight {index} is called \"{}\" but the features call it \"{name}\"", entry.name);
                return Err(Error::ModelFile { reason });
            }
            if !entry.weight.is_finite() {
                return Err(Error::BadEntry { what: "weights", index, value: entry.weight });
            }
        }
        Ok(())
    }
}

//! [`Model`]: features, matcher and weights, and how they were learned. A model file is JSON that a person can read and compare:
//! data, never code. Numbers come back bit for bit.

use crate::features::FeatureMap;
use crate::graph::Pair;
use crate::learn::{Fit, RelaxedProof};
use crate::loss::LossKind;
use crate::matching::{Method, Solution, Workspace};
use crate::optimize::StopReason;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The version of the file format that this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
/// No model file is longer than this, in bytes; a longer text is refused unread.
pub const MAX_FILE_SIZE: usize = 64 << 20;

/// Everything that is needed to match new graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: Format,
    /// What is compared.
    pub features: FeatureMap,
    /// How problems are solved.
    pub matcher: Method,
    /// One per feature, with its name beside it.
    weights: Vec<NamedWeight>,
    /// How the weights came about; `None` for a model without learning.
    pub training: Option<TrainingRecord>,
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedWeight {
    name: String,
    weight: f64,
}

/// How weights were learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecord {
    /// The regularisation.
    pub lambda: f64,
    /// The loss that was trained against.
    pub loss: LossKind,
    /// How many examples there were.
    pub examples: usize,
    /// λ/2 |w|² + risk.
    pub objective: f64,
    /// The mean slack.
    pub risk: f64,
    /// A lower bound on the objective of any weights, if certified.
    pub bound: f64,
    /// (objective - bound) / objective.
    pub gap: f64,
    /// Whether bound and gap are proven.
    pub certified: bool,
    /// Why training ended.
    pub stop: StopReason,
    /// Evaluations of the risk at this λ.
    pub evaluations: usize,
    /// Problems solved, up to this λ on the path.
    pub solves: usize,
    /// What is proven besides, if it was trained against the linear relaxation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedProof>,
    /// The version of the library.
    pub version: String,
}

impl TrainingRecord {
    /// What is worth keeping of a fit.
    #[must_use]
    pub fn new(fit: &Fit, loss: LossKind, examples: usize) -> Self {
        Self {
            lambda: fit.lambda,
            loss,
            examples,
            objective: fit.objective,
            risk: fit.risk,
            bound: fit.bound,
            gap: fit.gap,
            certified: fit.certified,
            stop: fit.stop,
            evaluations: fit.history.len(),
            solves: fit.solves,
            relaxed: fit.relaxed,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
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
        let model = Self { format, features, matcher, weights, training };
        model.check()?;
        Ok(model)
    }

    /// Matching without learning: every weight is 1.
    ///
    /// # Errors
    /// Features that make no sense.
    pub fn unlearned(features: FeatureMap, matcher: Method) -> Result<Self> {
        let weights = features.unlearned_weights();
        Self::new(features, matcher, &weights, None)
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

    /// Matches two graphs. The right nodes are solved in a shuffled order, always the same, so that ties are not broken towards equal
    /// numbers.
    ///
    /// # Errors
    /// A graph without the parts that the features need.
    pub fn solve(&self, pair: &Pair, work: &mut Workspace) -> Result<Solution> {
        let (_, problem) = self.problem(pair)?;
        self.solve_shuffled(&problem, work)
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

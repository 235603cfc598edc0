//! What is asked of a shard and what it answers, as texts.

use super::Shard;
use crate::features::FeatureMap;
use crate::learn::parts::{Answer, Question};
use crate::learn::{Evaluation, LeftOut, Oracle};
use crate::loss::LossKind;
use crate::matching::Method;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What all orders of a run have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    /// The features.
    pub(super) features: FeatureMap,
    /// The loss to minimise.
    pub(super) loss: LossKind,
    /// How the worst violator is found.
    pub(super) oracle: Oracle,
    /// The search, if that is the oracle.
    pub(super) search: Method,
    /// How the model matches.
    pub(super) matcher: Method,
    /// How many examples there are to learn from, in all shards.
    pub(super) examples: usize,
}

/// What was asked of the risk in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::learn) struct Asked {
    /// The weights.
    pub(super) weights: Vec<f64>,
    /// How many rounds there were before.
    pub(super) round: usize,
    /// As [`Question::closeness`].
    pub(super) closeness: Option<f64>,
    /// As [`Question::sketch`].
    #[serde(default)]
    pub(super) sketch: bool,
}

impl Asked {
    pub(super) fn question(&self) -> Question<'_> {
        Question { weights: &self.weights, round: self.round, closeness: self.closeness, sketch: self.sketch }
    }
}

/// What is asked of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Request {
    /// How far apart the numbers are in a sample of pairs.
    Spreads {
        /// The step between sampled pairs, out of all pairs to learn from.
        step: usize,
    },
    /// Which pairs are rotated too far to be learned from.
    Turned {},
    /// What has to be known about the examples before learning.
    Facts {
        /// The weights before learning.
        weights: Vec<f64>,
        /// The step between the examples that are asked how large they should be.
        step: usize,
    },
    /// The risk in the last of these rounds; the earlier ones are what is remembered.
    Risk {
        /// One for each round.
        rounds: Vec<Asked>,
    },
    /// The losses of predictions.
    Losses {
        /// The weights.
        weights: Vec<f64>,
    },
    /// How many problems the relaxation solves with proof.
    Tight {
        /// The weights.
        weights: Vec<f64>,
    },
}

/// A question to a shard, complete in itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    /// What the run is about.
    pub(super) job: Job,
    /// Which shard is asked.
    pub(super) shard: Shard,
    /// What is asked.
    pub(super) request: Request,
}

/// What a shard answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Reply {
    /// For each sampled pair and each unit: the sum of differences, and how many there are.
    Spreads(Vec<Vec<(f64, f64)>>),
    /// Pairs that are not learned from, counted within the shard.
    Turned(Vec<usize>),
    /// What is known about the examples.
    Facts(Facts),
    /// One for each piece of the shard.
    Risk(Vec<Answer>),
    /// The losses of predictions.
    Losses(Evaluation),
    /// How many problems the relaxation solves with proof.
    Tight(usize),
}

/// What is known about the examples of a shard, or of all shards, before learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::learn) struct Facts {
    /// What swaps of two nodes say about the size of the weights.
    pub(super) ratios: Vec<f64>,
    /// What guessing loses on each example.
    pub(super) chance: Vec<f64>,
    /// How many of them the paper's lemma does not apply to.
    pub(super) without_lemma: usize,
    /// What is not learned from.
    #[serde(default)]
    pub(super) left_out: LeftOut,
}

/// An order or a reply as text.
pub(super) fn to_text(message: &impl Serialize) -> Result<String> {
    serde_json::to_string(message).map_err(unreadable)
}

/// An order or a reply from text.
pub(super) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Unreadable { format: "message between the driver and a worker", reason: error.to_string() }
}

//! Training on examples in many places: what is asked of whom, and what comes back.
//!
//! A [`Shard`] is a file of pairs. [`ShardTrainer`] asks every shard the same questions in the same order; an [`Order`] is one such question
//! to one shard, a [`Reply`] its answer, and both are plain data that travel as text. A [`Worker`] answers orders. How orders get to
//! workers and replies back is up to the caller: a loop in one process, threads, Dask, MPI.
//!
//! A reply depends only on its order and the shard's file, and replies are added up in the order of the shards. So what is learned is
//! identical to the byte however many workers there are, and whether or not some of them died: an order can be given to another worker, any
//! number of times. Searches remember what they found in recent rounds ([`PartMemory`](super::PartMemory)): an order for the risk carries the
//! questions of these rounds, at most [`ROUNDS_REMEMBERED`], from which a worker without that memory can recompute it.

mod driver;
mod risk;
mod worker;

pub use driver::{KeepShards, ShardCheckpoint, ShardTrainer};
pub use worker::{Load, Worker};

use super::{Answer, Evaluation, Oracle, Piece, Question};
use crate::features::FeatureMap;
use crate::loss::LossKind;
use crate::matching::Method;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// After this many rounds everything that a search remembers is forgotten, so that a worker taking over a shard has no more to repeat. More
/// make training against the relaxation a little faster and the loss of a worker more expensive.
pub const ROUNDS_REMEMBERED: usize = 8;

/// What the pairs of a shard are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To learn from.
    Train,
    /// To choose λ by.
    Validation,
    /// To measure on afterwards; training does not use them.
    Test,
}

/// A file of pairs, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The name of the file.
    pub file: String,
    /// Of the file's bytes, in hexadecimal.
    pub sha256: String,
    /// What its pairs are for.
    pub purpose: Purpose,
    /// How many there are.
    pub pairs: usize,
    /// Where they were in the data set that was split: (first, how many) for each run.
    pub positions: Vec<[usize; 2]>,
    /// For pairs to learn from: which of the planes they contribute to. This alone decides what is summed with what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

impl Shard {
    fn refused(&self, reason: String) -> Error {
        Error::Shard { file: self.file.clone(), reason }
    }

    /// The number of its first example among those to learn from.
    fn first(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.examples.start)
    }
}

/// How many examples and planes there are in all.
///
/// # Errors
/// [`Error::Shard`] naming the file after which something is missing, or that does not agree with itself.
pub fn check_shards(shards: &[Shard]) -> Result<(usize, usize)> {
    let (mut examples, mut planes) = (0, 0);
    for shard in shards {
        let plain = !shard.file.is_empty() && !shard.file.contains(['/', '\\']) && shard.file != "..";
        if !plain {
            return Err(shard.refused("this is not the name of a file in the folder of the manifest".to_string()));
        }
        if shard.sha256.len() != 64 || !shard.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(shard.refused(format!("{:?} is not a sha256 of 64 hexadecimal digits", shard.sha256)));
        }
        let placed = shard.positions.iter().try_fold(0_usize, |sum, run| sum.checked_add(run[1]));
        if shard.pairs == 0 || placed != Some(shard.pairs) {
            return Err(shard.refused(format!("it should have {} pairs, but the positions of others", shard.pairs)));
        }
        let before = examples;
        for piece in &shard.pieces {
            let next = if planes == 0 { 0..1 } else { planes - 1..planes + 1 };
            let follows =
                piece.examples.start == examples && piece.examples.end > examples && next.contains(&piece.part);
            if !follows {
                let reason = format!(
                    "the pairs from {} on, for plane {}, do not follow the {examples} pairs and {planes} planes of the shards before: a shard is missing, or they stand in another order",
                    piece.examples.start, piece.part
                );
                return Err(shard.refused(reason));
            }
            (examples, planes) = (piece.examples.end, piece.part + 1);
        }
        let expected = if shard.purpose == Purpose::Train { shard.pairs } else { 0 };
        if examples - before != expected {
            return Err(
                shard.refused(format!("{expected} of its pairs should make planes, and {} do", examples - before))
            );
        }
    }
    Ok((examples, planes))
}

/// What all orders of a run have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The features.
    pub features: FeatureMap,
    /// The loss to minimise.
    pub loss: LossKind,
    /// How the worst violator is found.
    pub oracle: Oracle,
    /// The search, if that is the oracle.
    pub search: Method,
    /// How the model matches.
    pub matcher: Method,
    /// How many examples there are to learn from, in all shards.
    pub examples: usize,
}

/// What was asked of the risk in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The weights.
    pub weights: Vec<f64>,
    /// How many rounds there were before.
    pub round: usize,
    /// As [`Question::closeness`].
    pub closeness: Option<f64>,
    /// As [`Question::sketch`].
    #[serde(default)]
    pub sketch: bool,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question { weights: &self.weights, round: self.round, closeness: self.closeness, sketch: self.sketch }
    }
}

/// What is asked of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How far apart the numbers are in a sample of pairs.
    Spreads {
        /// The step between sampled pairs, out of all pairs to learn from.
        step: usize,
    },
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
pub struct Order {
    /// What the run is about.
    pub job: Job,
    /// Which shard is asked.
    pub shard: Shard,
    /// What is asked.
    pub request: Request,
}

/// What a shard answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// For each sampled pair and each unit: the sum of differences, and how many there are.
    Spreads(Vec<Vec<(f64, f64)>>),
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
pub struct Facts {
    /// What swaps of two nodes say about the size of the weights.
    pub ratios: Vec<f64>,
    /// What guessing loses on each example.
    pub chance: Vec<f64>,
    /// How many of them the paper's lemma does not apply to.
    pub without_lemma: usize,
}

impl Order {
    /// As text.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| self.shard.refused(format!("the order cannot be written: {error}")))
    }

    /// From text.
    ///
    /// # Errors
    /// A text that is not an order.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused =
            |error: serde_json::Error| Error::Unreadable { format: "order to a worker", reason: error.to_string() };
        serde_json::from_str(text).map_err(refused)
    }
}

impl Reply {
    /// As text.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String> {
        let refused =
            |error: serde_json::Error| Error::Unreadable { format: "reply of a worker", reason: error.to_string() };
        serde_json::to_string(self).map_err(refused)
    }

    /// From text.
    ///
    /// # Errors
    /// A text that is not a reply.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused =
            |error: serde_json::Error| Error::Unreadable { format: "reply of a worker", reason: error.to_string() };
        serde_json::from_str(text).map_err(refused)
    }
}

/// Carries orders to workers; the replies come back in the order of the orders.
pub type Carry<'a> = &'a mut dyn FnMut(&[Order]) -> Result<Vec<Reply>>;

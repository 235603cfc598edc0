//! Training on examples that are in many places: what is asked of whom, and what comes back.
//!
//! A [`Shard`] is a file of pairs. [`ShardTrainer`] asks every shard the same things in the same order; an [`Order`] is one such question to
//! one shard, a [`Reply`] its answer, and both are plain data that travel as text. A [`Worker`] answers orders. Who carries orders to
//! workers and replies back is the caller's business: a loop in one process, threads, Dask, MPI.
//!
//! A reply is a function of its order and of the shard's file, and replies are added up in the order of the shards. So what is learned has
//! the same bytes however many workers there are, and whether or not some of them died: an order can be carried to another worker, and
//! again. Searches remember what they found in the last rounds ([`PartMemory`](super::PartMemory)): an order for the risk has the questions of
//! these rounds with it, at most [`ROUNDS_REMEMBERED`], from which whoever does not remember finds the same again.

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

/// After so many rounds everything that a search remembers is forgotten, so that whoever takes over a shard has no more to repeat. More
/// make training against the relaxation a little quicker and the loss of a worker dearer.
pub const ROUNDS_REMEMBERED: usize = 8;

/// What the pairs of a shard are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To learn from.
    Train,
    /// To choose λ by.
    Validation,
    /// To measure on, by whoever wants to; training does not look at them.
    Test,
}

/// A file of pairs, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The name of the file.
    pub file: String,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
    /// What its pairs are for.
    pub purpose: Purpose,
    /// How many there are.
    pub pairs: usize,
    /// Where they stood in the data set that was cut up: first and how many, again and again.
    pub positions: Vec<[usize; 2]>,
    /// Of pairs to learn from: which of the planes they contribute to. What is summed with what is written here and nowhere else.
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
    /// What is to be small.
    pub loss: LossKind,
    /// What is asked for the worst violator.
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
    /// How far apart the numbers are in every so many-th pair.
    Spreads {
        /// Of all pairs to learn from.
        step: usize,
    },
    /// What has to be known of the examples before learning.
    Facts {
        /// The weights before learning.
        weights: Vec<f64>,
        /// Every so many-th example says how large they should be.
        step: usize,
    },
    /// The risk in the last of these rounds; those before are what is remembered.
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

/// A question to a shard, whole in itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What the run is about.
    pub job: Job,
    /// Who is asked.
    pub shard: Shard,
    /// What is asked.
    pub request: Request,
}

/// What a shard answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// For each pair that was looked at and each unit: the sum of differences, and how many there are.
    Spreads(Vec<Vec<(f64, f64)>>),
    /// What is known of the examples.
    Facts(Facts),
    /// One for each piece of the shard.
    Risk(Vec<Answer>),
    /// The losses of predictions.
    Losses(Evaluation),
    /// How many problems the relaxation solves with proof.
    Tight(usize),
}

/// What is known of the examples of a shard before learning, or of all of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// What swaps of two nodes say about the size of the weights.
    pub ratios: Vec<f64>,
    /// What guessing loses on each example.
    pub chance: Vec<f64>,
    /// To how many of them the paper's lemma does not apply.
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
    /// A text that is no order.
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
    /// A text that is no reply.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused =
            |error: serde_json::Error| Error::Unreadable { format: "reply of a worker", reason: error.to_string() };
        serde_json::from_str(text).map_err(refused)
    }
}

/// Carries orders to workers; the replies come back in the order of the orders.
pub type Carry<'a> = &'a mut dyn FnMut(&[Order]) -> Result<Vec<Reply>>;

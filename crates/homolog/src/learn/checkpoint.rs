//! [`Checkpoint`]: the progress of a training run, in a form that can be saved and continued with identical results to the byte.

use super::max_margin::Training;
use super::shards::Facts;
use super::{Evaluation, Fit, LearnerName};
use crate::features::FeatureMap;
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// Everything a training run remembers. What is already done is read from here; the rest is computed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Checkpoint {
    /// What the run is about, in the caller's words: a different run does not continue from it.
    pub fingerprint: String,
    /// The features with the spreads that shards reported, and what else they reported before learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) features: Option<Box<FeatureMap>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<Box<Facts>>,
    /// Which pairs of each shard are not learned from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turned: Option<Vec<Vec<usize>>>,
    /// How the weights before learning do on the held-out data.
    pub(super) unlearned: Option<Evaluation>,
    /// One for each learner that was started.
    pub(super) learners: Vec<LearnerRun>,
}

impl Checkpoint {
    /// A run that has not started, of the task with this fingerprint.
    #[must_use]
    pub fn new(fingerprint: String) -> Self {
        Self { fingerprint, ..Self::default() }
    }
}

/// A checkpoint as read: runs on shards once had a form of their own, with one learner, its path of λ and its run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    fingerprint: String,
    #[serde(default)]
    features: Option<Box<FeatureMap>>,
    #[serde(default)]
    facts: Option<Box<Facts>>,
    #[serde(default)]
    turned: Option<Vec<Vec<usize>>>,
    unlearned: Option<Evaluation>,
    #[serde(default)]
    learners: Vec<LearnerRun>,
    #[serde(default)]
    path: Option<(Vec<f64>, Vec<f64>)>,
    #[serde(default)]
    done: Vec<(Fit, Option<Evaluation>)>,
    #[serde(default)]
    run: Option<Training>,
}

impl From<Stored> for Checkpoint {
    fn from(stored: Stored) -> Self {
        let Stored { fingerprint, features, facts, turned, unlearned, mut learners, path, done, run } = stored;
        if let Some((centre, lambdas)) = path {
            let last = done.last().map(|(fit, _)| fit.minimum.weights.clone()).into_iter().collect();
            let of = |(fit, validation)| Done { fit: Some(fit), validation, weights: None };
            let done = done.into_iter().map(of).collect();
            let (learner, training) = (LearnerName::MaxMargin, run.into_iter().collect());
            learners.push(LearnerRun { learner, centre, centres: Vec::new(), lambdas, done, training, last });
        }
        Self { fingerprint, features, facts, turned, unlearned, learners }
    }
}

/// A learner's run on all examples (the first) and on all but one fold each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnerRun {
    pub(super) learner: LearnerName,
    /// The weights that λ pulls towards.
    pub(super) centre: Vec<f64>,
    /// For each run, if they differ: what groups learned from its examples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) centres: Vec<Vec<f64>>,
    pub(super) lambdas: Vec<f64>,
    /// λ by λ, and at each run by run.
    pub(super) done: Vec<Done>,
    /// The progress of each max-margin run.
    pub(super) training: Vec<Training>,
    /// Where each likelihood run ended last.
    pub(super) last: Vec<Vec<f64>>,
}

impl LearnerRun {
    /// What λ pulls the weights of a run towards.
    pub(super) fn centre_of(&self, number: usize) -> &[f64] {
        self.centres.get(number).unwrap_or(&self.centre)
    }
}

/// The result of a run at one λ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    /// From the run on all examples.
    pub(super) fit: Option<Fit>,
    /// On what was held out from it.
    pub(super) validation: Option<Evaluation>,
    /// What groups learned: other learners may start from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weights: Option<Vec<f64>>,
}

/// Where checkpoints go.
pub trait Keeper {
    /// Whether it is time for one. Asked after every evaluation.
    fn is_due(&self) -> bool;

    /// Saves one. Errors there are not training's concern: a full disk must not cost the model.
    fn keep(&mut self, checkpoint: &Checkpoint);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeeper;

impl Keeper for NoKeeper {
    fn is_due(&self) -> bool {
        false
    }

    fn keep(&mut self, _checkpoint: &Checkpoint) {}
}

/// Tells one run from another by the texts of its settings and data (FNV-1a, 64 bits); not a defence against deliberate collisions.
pub(crate) fn fingerprint(texts: &[&str], control: &Control) -> Result<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for bytes in text.as_bytes().chunks(BYTES_AT_A_TIME).chain([&[0][..]]) {
            Error::if_interrupted(control)?;
            hash = bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
    }
    Ok(format!("{hash:016x}"))
}

/// Bytes between two questions to the control.
const BYTES_AT_A_TIME: usize = 1 << 22;

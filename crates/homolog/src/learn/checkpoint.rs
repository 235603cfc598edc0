//! [`Checkpoint`]: the progress of a training run, in a form that can be saved and continued with identical results to the byte.

use super::max_margin::Training;
use super::{Evaluation, Fit, LearnerName};
use serde::{Deserialize, Serialize};

/// Everything a training run remembers. What is already done is read from here; the rest is computed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// What the run is about, in the caller's words: a different run does not continue from it.
    pub fingerprint: String,
    /// How the weights before learning do on the held-out data.
    pub(super) unlearned: Option<Evaluation>,
    /// One for each learner that was started.
    pub(super) learners: Vec<LearnerRun>,
}

impl Checkpoint {
    /// A run that has not started. [`fingerprint`] makes a short text from settings and data.
    #[must_use]
    pub fn new(fingerprint: String) -> Self {
        Self { fingerprint, ..Self::default() }
    }
}

/// A learner's run on all examples (the first) and on all but one fold each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnerRun {
    pub(super) learner: LearnerName,
    /// The weights that λ pulls towards.
    pub(super) centre: Vec<f64>,
    pub(super) lambdas: Vec<f64>,
    /// λ by λ, and at each run by run.
    pub(super) done: Vec<Done>,
    /// The progress of each max-margin run.
    pub(super) training: Vec<Training>,
    /// Where each likelihood run ended last.
    pub(super) last: Vec<Vec<f64>>,
}

/// The result of a run at one λ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    /// From the run on all examples.
    pub(super) fit: Option<Fit>,
    /// On what was held out from it.
    pub(super) validation: Option<Evaluation>,
}

/// Where checkpoints go.
pub trait Keeper {
    /// Whether it is time for one. Asked after every evaluation.
    fn is_due(&self) -> bool;

    /// Saves one. Errors there are not training's concern: a full disk must not cost the model.
    fn keep(&mut self, checkpoint: &Checkpoint);
}

/// Keeps nothing.
pub(super) struct NoKeeper;

impl Keeper for NoKeeper {
    fn is_due(&self) -> bool {
        false
    }

    fn keep(&mut self, _checkpoint: &Checkpoint) {}
}

/// Tells one run from another by the texts of its settings and data (FNV-1a, 64 bits); not a defence against deliberate collisions.
#[must_use]
pub fn fingerprint(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

//! [`Checkpoint`]: how far a run of training is, in a form that can be written down and continued with the same bytes.

use super::max_margin::Training;
use super::{Evaluation, Fit, LearnerName};
use serde::{Deserialize, Serialize};

/// Everything that a run of training remembers. What is done is taken from here, what is not is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// What the run is about, in the caller's words: another run does not go on from it.
    pub fingerprint: String,
    /// How the weights before learning do on what is held out.
    pub(super) unlearned: Option<Evaluation>,
    /// One for each learner that was begun.
    pub(super) learners: Vec<LearnerRun>,
}

impl Checkpoint {
    /// A run that has not begun. [`fingerprint`] makes a short text of settings and data.
    #[must_use]
    pub fn new(fingerprint: String) -> Self {
        Self { fingerprint, ..Self::default() }
    }
}

/// A learner on all examples (the first run) and on all but one fold each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnerRun {
    pub(super) learner: LearnerName,
    /// The weights that λ draws towards.
    pub(super) centre: Vec<f64>,
    pub(super) lambdas: Vec<f64>,
    /// λ by λ, and at each run by run.
    pub(super) done: Vec<Done>,
    /// How far each run of max-margin learning is.
    pub(super) training: Vec<Training>,
    /// Where each run of likelihood learning ended last.
    pub(super) last: Vec<Vec<f64>>,
}

/// What a run came to at a λ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    /// Of the run on all examples.
    pub(super) fit: Option<Fit>,
    /// On what was held out of it.
    pub(super) validation: Option<Evaluation>,
}

/// Where checkpoints go.
pub trait Keeper {
    /// Whether it is time for one. Asked after every evaluation.
    fn is_due(&self) -> bool;

    /// Takes one. What goes wrong there is not for training to know: a full disk must not cost the model.
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

/// Tells one run from another by the texts of its settings and data (FNV-1a, 64 bits); no defence against ill will.
#[must_use]
pub fn fingerprint(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

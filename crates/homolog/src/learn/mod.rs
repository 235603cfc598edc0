//! Learning from matched examples (the paper's sections "The Optimization Problem" and "The Algorithm").
//!
//! [`LabelledPairs`] are graphs with true matchings; with a feature map and a loss they become [`Example`]s, which together form a
//! [`TrainingSet`]. A [`Trainer`] turns it into weights: it chooses the learner, λ, and whether to learn at all, by how the weights do on
//! pairs they were not learned from. [`Model::fit`](crate::model::Model::fit) does all of this in one call.
//!
//! The learners can be used on their own. [`MaxMargin`], the paper's, finds the weights that minimise
//!
//!   λ/2 |w - centre|² + mean_n max_y [loss(y, truth_n) + <w, Phi(y) - Phi(truth_n)>]
//!
//! by the bundle method of [`optimize`](crate::optimize); the second term is an upper bound on the mean loss of the predictions
//! (the paper's lemma). With edges the search for the maximum is hard; using the linear relaxation as [`Oracle`] instead makes every
//! step of training, and its result, provable. [`Likelihood`] needs no search. The result is a [`Fit`], which says what is proven
//! about it. [`evaluate`] measures weights on examples. [`shards`] learns from examples on many machines.

mod auto;
mod candidate;
mod checkpoint;
mod choice;
mod confusions;
mod evaluate;
mod evidence;
mod example;
mod examples;
mod expected;
mod fit;
mod folds;
mod joint;
mod left_out;
mod likelihood;
mod max_margin;
mod most_violated;
mod oracle;
mod pairs;
mod parts;
mod risk;
mod rules;
mod runs;
mod scale;
pub mod shards;
mod soft;
mod trainer;
mod training_run;
mod training_set;

pub use auto::{AutoTrainer, Chosen, Clock, Selected, SkipReason};
pub(crate) use auto::{Skipped, Tried, atlas_losses};
pub(crate) use candidate::Candidate;
pub use candidate::{Trained, ValidatedBy};
pub(crate) use checkpoint::fingerprint;
pub use checkpoint::{Checkpoint, Keeper, NoKeeper};
pub use choice::Choice;
pub use confusions::{ConfusionCounts, Confusions};
pub use evaluate::{Evaluation, MatchCounts, Prediction, evaluate, predict, wilson};
pub use evidence::Evidence;
pub use example::Example;
pub(crate) use expected::expected_error;
pub use fit::Fit;
pub(crate) use fit::RelaxedProof;
pub(crate) use left_out::LeftOut;
pub use likelihood::Likelihood;
pub use max_margin::{MaxMargin, Training};
pub use oracle::Oracle;
pub use pairs::LabelledPairs;
pub(crate) use parts::Parts;
pub use rules::weight_rules;
pub use trainer::{Centre, Trainer};
pub(crate) use training_set::TEACHING_TURN;
pub use training_set::{TrainingSet, default_matcher};

use serde::{Deserialize, Serialize};

/// Which learner produced some weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LearnerName {
    /// None: they are as before learning.
    Unlearned,
    /// [`MaxMargin`].
    #[default]
    MaxMargin,
    /// [`Likelihood`].
    Likelihood,
    /// One factor for each group of weights (the rings of a shape context, each attribute, each kind of edge), by likelihood.
    Groups,
}

/// Which learner to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LearnerKind {
    /// Every learner; the one that does best on held-out pairs is chosen.
    #[default]
    Auto,
    /// [`MaxMargin`] alone.
    MaxMargin,
    /// [`Likelihood`] alone.
    Likelihood,
    /// Factors for groups of weights alone: for few labelled specimens.
    Groups,
}

impl LearnerName {
    /// The name in settings files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unlearned => "unlearned",
            Self::MaxMargin => "max-margin",
            Self::Likelihood => "likelihood",
            Self::Groups => "groups",
        }
    }
}

impl LearnerKind {
    fn names(self) -> &'static [LearnerName] {
        match self {
            // The fast ones first: a time limit may not leave time for all. Groups are what the others start from, if they help.
            Self::Auto => &[LearnerName::Groups, LearnerName::Likelihood, LearnerName::MaxMargin],
            Self::MaxMargin => &[LearnerName::MaxMargin],
            Self::Likelihood => &[LearnerName::Likelihood],
            Self::Groups => &[LearnerName::Groups],
        }
    }
}

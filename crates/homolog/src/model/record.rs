//! [`TrainingRecord`]: what a model file says about how its weights came about.

use crate::learn::{Evaluation, LearnerName, RelaxedProof, Trained, Tried, ValidatedBy};
use crate::loss::LossKind;
use crate::optimize::StopReason;
use serde::{Deserialize, Serialize};

/// How weights came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecord {
    /// Who learned them; `unlearned`: learning did not help, and they are as before.
    #[serde(default)]
    pub learner: LearnerName,
    /// The loss that was trained against.
    pub loss: LossKind,
    /// How many examples there were.
    pub examples: usize,
    /// How weights before and after learning did on what was held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationRecord>,
    /// The regularisation.
    pub lambda: Option<f64>,
    /// λ/2 |w - centre|² + risk.
    pub objective: Option<f64>,
    /// The mean slack, or the mean of -log of the truth's share.
    pub risk: Option<f64>,
    /// A lower bound on the objective of any weights, if certified.
    pub bound: Option<f64>,
    /// (objective - bound) / objective.
    pub gap: Option<f64>,
    /// Whether bound and gap are proven.
    pub certified: bool,
    /// Why training ended.
    pub stop: Option<StopReason>,
    /// Evaluations of the risk at this λ.
    pub evaluations: usize,
    /// Problems solved, up to this λ on the path.
    pub solves: usize,
    /// What is proven besides, if it was trained against the linear relaxation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedProof>,
    /// The sets of features that were tried, where the features were not given; without times, which differ from run to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// The version of the library.
    pub version: String,
}

/// Errors on what was held out of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidationRecord {
    /// What was held out.
    pub by: ValidatedBy,
    /// The mean loss before learning, and its standard error.
    pub before: Option<[f64; 2]>,
    /// The mean loss with the weights taken, and its standard error.
    pub after: [f64; 2],
}

impl TrainingRecord {
    /// Of an atlas that was chosen among others: it has no weights that were learned.
    pub(super) fn of_choice(specimens: usize, tried: Vec<Tried>) -> Self {
        Self {
            learner: LearnerName::Unlearned,
            loss: LossKind::default(),
            examples: specimens,
            validation: None,
            lambda: None,
            objective: None,
            risk: None,
            bound: None,
            gap: None,
            certified: false,
            stop: None,
            evaluations: 0,
            solves: 0,
            relaxed: None,
            tried,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }

    /// What is worth keeping of a run of training.
    #[must_use]
    pub fn new(trained: &Trained, loss: LossKind) -> Self {
        let numbers = |evaluation: &Evaluation| [evaluation.mean(), evaluation.standard_error()];
        let fit = trained.fit();
        let minimum = fit.map(|fit| &fit.minimum);
        Self {
            learner: trained.best().learner,
            loss,
            examples: trained.examples,
            validation: trained.after().map(|after| ValidationRecord {
                by: trained.by,
                before: trained.before().map(numbers),
                after: numbers(after),
            }),
            lambda: minimum.map(|minimum| minimum.lambda),
            objective: minimum.map(|minimum| minimum.objective),
            risk: minimum.map(|minimum| minimum.risk),
            bound: minimum.map(|minimum| minimum.bound),
            gap: minimum.map(|minimum| minimum.gap),
            certified: fit.is_some_and(|fit| fit.certified),
            stop: minimum.map(|minimum| minimum.stop),
            evaluations: minimum.map_or(0, |minimum| minimum.history.len()),
            solves: fit.map_or(0, |fit| fit.solves),
            relaxed: fit.and_then(|fit| fit.relaxed),
            tried: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

//! [`Fit`]: learned weights, and what is known about them.

use super::LearnerName;
use crate::optimize::{Minimum, StopReason};
use serde::{Deserialize, Serialize};

/// Learned weights, and what is known about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fit {
    /// Which learner produced them.
    pub learner: LearnerName,
    /// The weights, their λ, objective λ/2 |w - centre|² + risk, and, if certified, a lower bound on the objective of any weights.
    pub minimum: Minimum,
    /// Objective, bound and gap are facts: every answer of the matcher was proven optimal, or none was needed.
    pub certified: bool,
    /// Certified, and `minimum.risk` is an upper bound on the mean loss of exact predictions on the training examples (the paper's lemma).
    pub bounds_loss: bool,
    /// How many problems were solved up to this point of the path.
    pub solves: usize,
    /// How many of the answers were proven optimal.
    pub proven: usize,
    /// What else is proven if the oracle was the relaxation; objective, risk and bound are then those of soft matchings.
    pub relaxed: Option<RelaxedProof>,
}

/// What training against the relaxation proves about the weights besides objective and bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaxedProof {
    /// The mean loss of exact predictions on the training examples is at most this. `None` if the truth of some example is
    /// not an answer to its problem (a node without a partner where all have to be matched, a right node used twice where that is not
    /// allowed), because a prediction may then score less than the truth.
    pub loss: Option<f64>,
    /// How many training problems there are.
    pub problems: usize,
    /// How many of them the relaxation solves with proof under these weights, without branching. `None` if training was interrupted.
    pub tight: Option<usize>,
}

impl Fit {
    /// The result of learning by likelihood: it needs no matcher, and proves its bounds itself.
    pub(super) fn by_likelihood(learner: LearnerName, minimum: Minimum) -> Self {
        let (solves, proven) = (0, 0);
        Self { learner, minimum, certified: true, bounds_loss: false, solves, proven, relaxed: None }
    }

    /// What is proven, in words.
    #[must_use]
    pub fn note(&self) -> String {
        let Minimum { objective, bound, gap, stop, .. } = &self.minimum;
        let ending = match stop {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "did not converge within the limit of evaluations",
            StopReason::Interrupted => "was stopped before it converged",
            StopReason::Stalled => "came to a halt before the gap closed",
        };
        if let Some(proof) = &self.relaxed {
            self.relaxed_note(ending, proof)
        } else if self.certified {
            format!(
                "Training {ending}: the objective is {objective:.6} and no weights have less than {bound:.6} (proven)."
            )
        } else {
            format!(
                "Training {ending}. The search proved {} of {} answers optimal, so the gap of {gap:.2e} is an estimate, not a proof.",
                self.proven, self.solves
            )
        }
    }

    fn relaxed_note(&self, ending: &str, proof: &RelaxedProof) -> String {
        let Minimum { objective, bound, .. } = &self.minimum;
        let loss = proof
            .loss
            .map(|loss| format!(" The mean training loss of exact predictions is at most {loss:.6} (proven)."));
        let tight = proof.tight.map(|tight| {
            format!(" The relaxation alone solves and proves {tight} of {} training problems.", proof.problems)
        });
        let sentences = [
            format!(
                "Training {ending}: the relaxed objective is at most {objective:.6} and no weights have less than {bound:.6} (proven)."
            ),
            loss.unwrap_or_default(),
            tight.unwrap_or_default(),
        ];
        sentences.concat()
    }
}

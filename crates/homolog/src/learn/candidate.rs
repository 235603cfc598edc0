//! [`Candidate`]: weights that may be taken; [`Trained`]: all of them and the one that was.

use super::choice::FEWEST;
use super::{Evaluation, Fit, LearnerName};
use serde::{Deserialize, Serialize};

/// Weights that may be taken, and how they do on what they were not learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Who learned them.
    pub learner: LearnerName,
    /// How many larger λ of the same learner there are.
    pub rank: usize,
    /// The weights.
    pub weights: Vec<f64>,
    /// What is known of them; `None` for those before learning.
    pub fit: Option<Fit>,
    /// On what was held out; `None` if nothing was.
    pub validation: Option<Evaluation>,
}

/// What candidates were compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ValidatedBy {
    /// Given validation pairs.
    Pairs {
        /// How many.
        pairs: usize,
    },
    /// Cross-validation over specimens.
    Specimens {
        /// In how many parts.
        folds: usize,
    },
    /// The only pair, which measures weights that were not learned from it.
    OnePair,
    /// Nothing.
    Nothing,
}

/// What training came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trained {
    /// The weights before learning first, unless they were not asked about; then by learner, from large λ to small.
    pub candidates: Vec<Candidate>,
    /// Which was taken.
    pub chosen: usize,
    /// What they were compared by.
    pub by: ValidatedBy,
    /// Whether all was done that was to be done; `false` where the control said stop.
    pub complete: bool,
    /// How many examples were learned from.
    pub examples: usize,
}

impl Candidate {
    pub(super) fn unlearned(weights: Vec<f64>, validation: Option<Evaluation>) -> Self {
        Self { learner: LearnerName::Unlearned, rank: 0, weights, fit: None, validation }
    }

    pub(super) fn learned(fit: Fit, rank: usize, validation: Option<Evaluation>) -> Self {
        Self { learner: fit.learner, rank, weights: fit.minimum.weights.clone(), fit: Some(fit), validation }
    }

    /// Weights that are all zero say nothing, however well proven they are.
    pub(super) fn is_usable(&self) -> bool {
        self.learner == LearnerName::Unlearned || self.weights.iter().any(|&weight| weight != 0.0)
    }

    pub(super) fn is_perfect(&self) -> bool {
        let validation = self.validation.as_ref();
        self.is_usable() && validation.is_some_and(|losses| !losses.losses.is_empty() && losses.mean() == 0.0)
    }

    /// Its λ; `None` before learning.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        self.fit.as_ref().map(|fit| fit.minimum.lambda)
    }
}

impl Trained {
    /// The candidate that was taken.
    #[must_use]
    pub fn best(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// Its weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.best().weights
    }

    /// Its fit; `None` where the weights are as before learning.
    #[must_use]
    pub fn fit(&self) -> Option<&Fit> {
        self.best().fit.as_ref()
    }

    /// How the weights before learning do on what was held out, if they were asked about and something was.
    #[must_use]
    pub fn before(&self) -> Option<&Evaluation> {
        self.candidates.iter().find(|candidate| candidate.learner == LearnerName::Unlearned)?.validation.as_ref()
    }

    /// How the weights taken do on what was held out.
    #[must_use]
    pub fn after(&self) -> Option<&Evaluation> {
        self.best().validation.as_ref()
    }

    /// What learning brought, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.by == ValidatedBy::OnePair && self.best().learner == LearnerName::Unlearned {
            return "One pair does not show whether learning would help on others; the weights are as before. Label another pair or more."
                .to_string();
        }
        let is_few = self.before().is_some_and(|before| before.losses.len() < FEWEST && before.mean() > 0.0);
        if is_few && self.best().learner == LearnerName::Unlearned {
            return format!(
                "Fewer than {FEWEST} pairs could be held out, which does not show whether learning helps; the weights are as before."
            );
        }
        let is_unlearned = self.best().learner == LearnerName::Unlearned;
        match (self.before(), self.after()) {
            (Some(before), _) if is_unlearned && before.mean() == 0.0 => {
                "Nothing to learn: the pairs held out were all right without; the weights are as before.".to_string()
            }
            (Some(before), _) if is_unlearned && (self.candidates.len() > 1 || self.complete) => format!(
                "Learning did not help: the error on pairs it had not seen is {:.4} without it; the weights are as before.",
                before.mean()
            ),
            _ if is_unlearned && !self.complete => {
                "Learning was stopped before anything was learned; the weights are as before.".to_string()
            }
            _ if is_unlearned => {
                "Learning did not help: there was nothing to tell by; the weights are as before.".to_string()
            }
            (Some(before), Some(after)) => format!(
                "Learning lowered the error from {:.4} to {:.4} on pairs it had not seen.",
                before.mean(),
                after.mean()
            ),
            (None, Some(after)) => {
                format!("The error on pairs that were not learned from is {:.4}.", after.mean())
            }
            (_, None) => "There was nothing to measure by what learning brought.".to_string(),
        }
    }
}

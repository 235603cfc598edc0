//! [`Candidate`]: weights that training may choose; [`Trained`]: all of them and the one it chose.

use super::choice::FEWEST;
use super::{Evaluation, Fit, LearnerName};
use serde::{Deserialize, Serialize};

/// Weights that training may choose, and how they do on data they were not learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Which learner produced them.
    pub learner: LearnerName,
    /// How many larger λ of the same learner there are.
    pub rank: usize,
    /// The weights.
    pub weights: Vec<f64>,
    /// What is known about them; `None` for the weights before learning.
    pub fit: Option<Fit>,
    /// On the held-out data; `None` if nothing was held out.
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
    /// The only pair, which measures the weights that were not learned from it.
    OnePair,
    /// Nothing.
    Nothing,
}

/// The result of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trained {
    /// First the weights before learning, unless they were not considered; then by learner, from large λ to small.
    pub candidates: Vec<Candidate>,
    /// Which one was chosen.
    pub chosen: usize,
    /// What they were compared by.
    pub by: ValidatedBy,
    /// Whether everything was completed; `false` if it was interrupted.
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

    /// Its λ; `None` for the weights before learning.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        self.fit.as_ref().map(|fit| fit.minimum.lambda)
    }
}

impl Trained {
    /// The candidate that was chosen.
    #[must_use]
    pub fn best(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// Its weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.best().weights
    }

    /// Its fit; `None` if these are the weights before learning.
    #[must_use]
    pub fn fit(&self) -> Option<&Fit> {
        self.best().fit.as_ref()
    }

    /// How the weights before learning do on the held-out data, if they were considered and anything was held out.
    #[must_use]
    pub fn before(&self) -> Option<&Evaluation> {
        self.candidates.iter().find(|candidate| candidate.learner == LearnerName::Unlearned)?.validation.as_ref()
    }

    /// How the chosen weights do on the held-out data.
    #[must_use]
    pub fn after(&self) -> Option<&Evaluation> {
        self.best().validation.as_ref()
    }

    /// What learning achieved, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.best().learner == LearnerName::Unlearned {
            return self.why_unlearned();
        }
        let sentence = match (self.before(), self.after()) {
            (Some(before), Some(after)) => {
                let (before, after) = (before.mean(), after.mean());
                if after < before {
                    format!("Learning lowered the error from {before:.4} to {after:.4} on held-out pairs.")
                } else {
                    format!(
                        "Learned because λ was given: the error on held-out pairs is {after:.4}, and {before:.4} without learning."
                    )
                }
            }
            (None, Some(after)) => {
                format!("The error on pairs that were not learned from is {:.4}.", after.mean())
            }
            (_, None) => "No held-out data to measure the effect of learning.".to_string(),
        };
        if self.is_at_the_end() {
            return format!("{sentence} The smallest λ was chosen: a smaller one may do better.");
        }
        sentence
    }

    /// Whether the smallest of several λ was chosen by held-out data on which errors are left: a smaller one may do better.
    fn is_at_the_end(&self) -> bool {
        let best = self.best();
        let ranks = self.candidates.iter().filter(|other| other.learner == best.learner).map(|other| other.rank);
        let is_last = self.complete && best.rank > 0 && ranks.max() == Some(best.rank);
        is_last && best.validation.as_ref().is_some_and(|validation| validation.mean() > 0.0)
    }

    /// Why the weights are as before, in a sentence.
    fn why_unlearned(&self) -> String {
        let (before, is_begun) = (self.before(), self.candidates.len() > 1);
        let reason = match before {
            _ if self.examples == 0 => "No pair to learn from".to_string(),
            _ if self.by == ValidatedBy::OnePair => {
                return "One pair cannot show whether learning helps on others; weights unchanged. Label at least one more pair."
                    .to_string();
            }
            Some(before) if before.mean() == 0.0 => {
                "No learning needed: all held-out pairs were already matched correctly".to_string()
            }
            Some(before) if before.losses.len() < FEWEST => {
                format!("Fewer than {FEWEST} pairs could be held out, which does not show whether learning helps")
            }
            _ if !self.complete && !is_begun => "Learning was stopped before anything was learned".to_string(),
            Some(before) => {
                let error = format!("the error on held-out pairs is {:.4} without it", before.mean());
                match (is_begun, self.complete) {
                    (false, _) => format!(
                        "Too few mistakes on held-out pairs to show whether learning helps: the error is {:.4}",
                        before.mean()
                    ),
                    (true, true) => format!("Learning did not help: {error}"),
                    (true, false) => format!("Learning did not help before it was stopped: {error}"),
                }
            }
            None => "No held-out data to measure the effect of learning".to_string(),
        };
        format!("{reason}; weights unchanged.")
    }
}

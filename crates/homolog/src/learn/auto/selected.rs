//! What the choice among sets of features comes to: everything that was tried, what was taken, and what to say about it.

use super::ATLAS;
use crate::atlas::Atlas;
use crate::learn::evaluate::summary;
use crate::learn::{Evaluation, Trained, Trainer, TrainingSet, ValidatedBy};
use serde::{Deserialize, Serialize};

/// A set of features that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tried {
    /// The set, and whether it has a price.
    pub name: String,
    /// The error on what was held out, learned or not, as it was taken; `None`: nothing was held out, or time was up.
    pub error: Option<f64>,
    /// Of that error.
    pub standard_error: Option<f64>,
    /// The 95 % interval of the error where no two pairs differ, which a standard error takes for certainty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// How many of the held-out pairs it is the error of, and how many there are, where time was up before all were matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<[usize; 2]>,
    /// The error without learning.
    pub unlearned_error: Option<f64>,
    /// Seconds for a match; `None` in files, which are the same each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_seconds: Option<f64>,
    /// Every prediction on training pairs that were looked at was proven to be the best under its weights.
    pub proven: bool,
}

impl Tried {
    /// A set of which nothing is known yet.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_string(),
            error: None,
            standard_error: None,
            interval: None,
            pairs: None,
            unlearned_error: None,
            match_seconds: None,
            proven: false,
        }
    }

    /// Takes down how it does on what was held out, `of` items in all.
    pub(super) fn measured(&mut self, evaluation: &Evaluation, of: usize) {
        let done = evaluation.losses.len();
        self.pairs = (done < of).then_some([done, of]);
        self.error = Some(evaluation.mean());
        self.standard_error = Some(evaluation.standard_error());
        self.interval = evaluation.interval();
    }

    /// A set that was named: nothing was tried besides.
    pub(crate) fn of(name: &str, before: Option<&Evaluation>, after: Option<&Evaluation>) -> Self {
        let mut tried = Self::named(name);
        if let Some(after) = after {
            tried.measured(after, after.losses.len());
        }
        tried.unlearned_error = before.map(Evaluation::mean);
        tried
    }

    /// The error with how certain it is.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        Some(summary(self.error?, self.standard_error.unwrap_or(0.0), self.interval))
    }
}

/// What came of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Selected {
    /// Everything that was tried, the simplest first.
    pub tried: Vec<Tried>,
    /// Which was taken.
    pub chosen: usize,
    /// What came of it.
    pub outcome: Outcome,
    /// What they were compared by.
    pub by: ValidatedBy,
    /// Sets that were not tried.
    pub skipped: Vec<Skipped>,
}

/// What a model is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// Features and weights.
    Weights {
        /// The examples and features.
        set: Box<TrainingSet>,
        /// How they were trained.
        trainer: Box<Trainer>,
        /// What came of that.
        trained: Box<Trained>,
    },
    /// Where each named point belongs.
    Atlas {
        /// The atlas.
        atlas: Box<Atlas>,
        /// How much each kind of its evidence counts.
        weights: Vec<f64>,
    },
}

/// A set of features that was not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Skipped {
    /// The set, and whether it has a price.
    pub name: String,
    /// Why not.
    pub reason: SkipReason,
}

/// Why a set of features was not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SkipReason {
    /// Time was up, or the control said stop.
    NoTime,
    /// A simpler set makes no mistake on what was held out.
    NothingToGain,
}

impl Selected {
    /// What training came to, where weights were taken.
    #[must_use]
    pub fn trained(&self) -> Option<&Trained> {
        match &self.outcome {
            Outcome::Weights { trained, .. } => Some(trained),
            Outcome::Atlas { .. } => None,
        }
    }

    /// Whether nothing that was begun was broken off.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.trained().is_none_or(|trained| trained.complete)
    }

    /// Whether an atlas was possible and something else was taken.
    #[must_use]
    pub fn passed_over_an_atlas(&self) -> bool {
        let names = self.tried.iter().map(|tried| &tried.name).chain(self.skipped.iter().map(|skipped| &skipped.name));
        self.trained().is_some() && names.into_iter().any(|name| name.starts_with(ATLAS))
    }

    /// What was chosen, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = &self.tried[self.chosen].name;
        let by = match self.by {
            ValidatedBy::Nothing => return format!("Took {name}: there was nothing to choose by."),
            ValidatedBy::OnePair => "on the only pair, without learning",
            _ => "on pairs held out",
        };
        let others = self.tried.len() - 1;
        match (self.tried[self.chosen].error, others) {
            (Some(error), 0) => format!("Took {name}: error {error:.4} {by}."),
            (Some(error), _) => {
                let unmeasured = self.tried[..self.chosen].iter().filter(|tried| tried.error.is_none());
                let unmeasured: Vec<&str> = unmeasured.map(|tried| tried.name.as_str()).collect();
                let simpler = match &unmeasured[..] {
                    [] if self.chosen == 0 => "it is the simplest".to_string(),
                    [] => "no simpler one is as good".to_string(),
                    names => format!("there was no time to measure {}", names.join(", ")),
                };
                format!("Took {name}: error {error:.4} {by}; {simpler}, and none is clearly better.")
            }
            (None, _) => format!("Took {name}: it was stopped before anything was measured."),
        }
    }

    /// What learning brought to it, in a sentence.
    #[must_use]
    pub fn learning(&self) -> String {
        match &self.outcome {
            Outcome::Weights { trained, .. } => trained.sentence(),
            Outcome::Atlas { atlas, .. } => format!(
                "The atlas knows {} landmarks from {} specimens; two specimens are matched by naming both.",
                atlas.landmarks.len(),
                atlas.specimens
            ),
        }
    }

    /// What was tried, as a model file keeps it: without times, which differ from run to run.
    #[must_use]
    pub fn record(&self) -> Vec<Tried> {
        self.tried.iter().map(|tried| Tried { match_seconds: None, ..tried.clone() }).collect()
    }
}

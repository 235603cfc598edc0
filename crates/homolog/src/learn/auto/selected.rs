//! What the choice among sets of features comes to: everything that was tried, what was taken, and what to say about it.

use super::ATLAS;
use crate::atlas::Atlas;
use crate::counted;
use crate::learn::{Evaluation, Trained, Trainer, TrainingSet, ValidatedBy};
use serde::{Deserialize, Serialize};

/// A set of features that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tried {
    /// The set, and whether it has a price.
    pub name: String,
    /// The error on held-out pairs, learned or not, as it was taken; `None`: nothing was held out, or time was up.
    pub error: Option<f64>,
    /// Of that error.
    pub standard_error: Option<f64>,
    /// The interval that holds the error on new specimens nine times in ten (`learn/expected.rs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// How many of the held-out pairs it is the error of, and how many there are: fewer if time was up before all were matched.
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
        self.pairs = Some([done, of]);
        self.error = Some(evaluation.mean());
        self.standard_error = Some(evaluation.standard_error());
        self.interval = evaluation.expected();
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

    /// The error with what to expect of new specimens, and the number of pairs behind it.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        self.summary_with("")
    }

    /// The same with a word before the interval.
    pub(crate) fn summary_with(&self, before: &str) -> Option<String> {
        let error = self.error?;
        let interval = self.interval.map(|[low, high]| format!("{before}{low:.2} to {high:.2}"));
        let pairs = self.pairs.map(|[done, _]| counted(done, "pair"));
        let known: Vec<String> = interval.into_iter().chain(pairs).collect();
        Some(if known.is_empty() { format!("{error:.3}") } else { format!("{error:.3} ({})", known.join(", ")) })
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
    pub outcome: Chosen,
    /// What they were compared by.
    pub by: ValidatedBy,
    /// Sets that were not tried.
    pub skipped: Vec<Skipped>,
}

/// What a model is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Chosen {
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
            Chosen::Weights { trained, .. } => Some(trained),
            Chosen::Atlas { .. } => None,
        }
    }

    /// Whether nothing that was begun was broken off.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.trained().is_none_or(|trained| trained.complete)
    }

    /// What was chosen, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let chosen = &self.tried[self.chosen];
        let name = &chosen.name;
        let Some(summary) = chosen.summary() else {
            return match self.by {
                ValidatedBy::Nothing => format!("Chose {name}: there are no held-out pairs to choose by."),
                _ => format!("Chose {name}: stopped before anything was measured."),
            };
        };
        let error = match (self.by, chosen.error) {
            (ValidatedBy::OnePair, Some(error)) => format!("error {error:.3} on the only pair, without learning"),
            _ => format!("held-out error {summary}"),
        };
        let atlas = self.tried.iter().find(|tried| tried.name.starts_with(ATLAS) && tried.error.is_some());
        let others = self.tried.iter().filter(|tried| tried.name != *name && tried.error.is_some());
        let others: Vec<f64> = others.filter_map(|tried| tried.error).collect();
        let reason = match (atlas, chosen.error) {
            _ if others.is_empty()
                && self.skipped.iter().any(|skipped| skipped.reason == SkipReason::NothingToGain) =>
            {
                "no other set could be better by more than 0.01"
            }
            _ if others.is_empty() => return format!("Chose {name}: {error}."),
            (Some(atlas), _) if atlas.name == *name => {
                "the specimens share their names, and no other set is clearly better"
            }
            (Some(_), _) => "clearly better than an atlas",
            (None, Some(own)) if others.iter().any(|&other| other <= own) => {
                "the simplest of those with the lowest error"
            }
            _ => "the lowest error of all sets that were measured",
        };
        format!("Chose {name}: {error}; {reason}.")
    }

    /// What learning brought to it, in a sentence.
    #[must_use]
    pub fn learning(&self) -> String {
        match &self.outcome {
            Chosen::Weights { trained, .. } => trained.sentence(),
            Chosen::Atlas { atlas, .. } => format!(
                "The atlas knows {} from {}; two specimens are matched by naming both.",
                counted(atlas.landmarks.len(), "landmark"),
                counted(atlas.specimens, "specimen")
            ),
        }
    }

    /// What was tried, as a model file keeps it: without times, which differ from run to run.
    #[must_use]
    pub fn record(&self) -> Vec<Tried> {
        self.tried.iter().map(|tried| Tried { match_seconds: None, ..tried.clone() }).collect()
    }
}

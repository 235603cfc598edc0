//! [`AutoTrainer`]: the best model without choosing. Sets of features that fit the data are tried, the simplest first, and measured on
//! pairs that they were not learned from; of all that are as good as the best, the simplest is taken.
//!
//! All are measured on the same held-out pairs: the folds depend on the specimens alone. As good as the best means within one standard
//! error of the paired difference, as in the choice of λ ([`Choice`]). Where left nodes have no partner, every set is tried without
//! and with a price for staying unmatched, and matching a node that has no partner counts as a mistake.
//! How far graphs may be turned against each other is read off the true matchings; held-out pairs have to be turned back by the score alone.
//! Where all specimens share their names an [`Atlas`] is tried as well: it matches two specimens by naming both.
//!
//! The library has no clock: the caller brings one, and with a time limit no set takes more than twice its share of what is left.

use super::auto_atlas;
use super::choice::Entry;
use super::evaluate::summary;
use super::{
    Choice, Evaluation, LabelledPairs, LearnerName, Trained, Trainer, TrainingSet, ValidatedBy, default_matcher,
    evaluate,
};
use crate::atlas::{Atlas, AtlasSettings};
use crate::features::{FAR_TURN, FeatureMap, FeatureSet, ImageDescriptor, Pose, Turns, lies_within, turn_of};
use crate::loss::LossKind;
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Seconds since some moment.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How the best model is looked for.
#[derive(Clone)]
pub struct AutoTrainer {
    /// How each set of features is trained. Its loss is made to count nodes without a partner where there are some.
    pub trainer: Trainer,
    /// Whether left nodes may stay unmatched at a learned price; `None`: both are tried where nodes lack partners.
    pub unmatched: Option<bool>,
    /// How graphs may be turned against each other; `None`: as far as the true matchings show.
    pub pose: Option<Pose>,
    /// Whether an atlas may be taken; where there are pictures it looks at them too.
    pub atlas: bool,
    /// How pictures are looked at, where the graphs have these numbers among their attributes: every set is tried without and with them.
    pub images: Vec<ImageDescriptor>,
    /// Seconds; `None`: as long as it takes.
    pub time_limit: Option<f64>,
    /// What tells the time.
    pub clock: Clock,
}

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
    /// The error without learning.
    pub unlearned_error: Option<f64>,
    /// Seconds for a match; `None` in files, which are the same each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_seconds: Option<f64>,
    /// Every prediction on training pairs that were looked at was proven to be the best under its weights.
    pub proven: bool,
}

impl Tried {
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

/// What is to be tried.
enum Plan {
    Features(Box<FeatureMap>),
    Atlas,
}

/// A set with what it gave.
struct Attempt {
    tried: Tried,
    /// On what was held out.
    evaluation: Option<Evaluation>,
    outcome: Outcome,
}

/// From the simplest to the most expensive.
const ORDER: [FeatureSet; 5] =
    [FeatureSet::Attributes, FeatureSet::Linear, FeatureSet::Graph, FeatureSet::Quadratic, FeatureSet::Robust];
/// Graphs that are turned by more degrees than this may be turned any way.
const TILTED: f64 = 45.0;
/// What an atlas is called among them.
const ATLAS: &str = "atlas";
/// What is added to the name of what looks at pictures.
const WITH_PICTURES: &str = " with pictures";
/// How many training pairs are matched to see how long a match takes.
const TIMED: usize = 8;

impl AutoTrainer {
    /// Tries what fits the data and takes the simplest of the best. Where the control says stop, the best of what is done by then.
    ///
    /// # Errors
    /// No pairs; graphs that no set of features fits; a problem that a matcher does not take.
    pub fn train(&self, training: &LabelledPairs, validation: &LabelledPairs, control: &Control) -> Result<Selected> {
        if training.is_empty() {
            return Err(Error::NoExamples);
        }
        let lacks_partners = has_partnerless(training) || has_partnerless(validation);
        let candidates = self.candidates(training, lacks_partners)?;
        let mut trainer = self.trainer.clone();
        if let (LossKind::Hamming(hamming), true) = (&mut trainer.loss, lacks_partners) {
            hamming.unmatched_is_label = true;
        }
        let end = self.time_limit.map(|limit| (self.clock)() + limit);
        let (mut attempts, mut skipped): (Vec<Attempt>, Vec<Skipped>) = (Vec::new(), Vec::new());
        let mut by = ValidatedBy::Nothing;
        for (number, (name, plan)) in candidates.iter().enumerate() {
            let is_over = control.interrupted() || end.is_some_and(|end| (self.clock)() >= end);
            let is_perfect = attempts.iter().any(|attempt| attempt.tried.error == Some(0.0));
            let reason = match (is_perfect, is_over) {
                (true, _) => Some(SkipReason::NothingToGain),
                // There is always an answer: the first set is begun whatever the time, and has its weights before learning at least.
                (_, true) if !attempts.is_empty() => Some(SkipReason::NoTime),
                _ => None,
            };
            if let Some(reason) = reason {
                skipped.push(Skipped { name: name.clone(), reason });
                continue;
            }
            let share = self.share(control, end, candidates.len() - number).part(number, candidates.len());
            match plan {
                Plan::Features(features) => {
                    let attempt = self.attempt(name, features, &trainer, (training, validation), &share)?;
                    if let Outcome::Weights { trained, .. } = &attempt.outcome {
                        by = trained.by;
                    }
                    attempts.push(attempt);
                }
                Plan::Atlas => match self.attempt_atlas(name, &trainer, (training, validation), &share)? {
                    Some(attempt) => attempts.push(attempt),
                    None => skipped.push(Skipped { name: name.clone(), reason: SkipReason::NoTime }),
                },
            }
        }
        let chosen = choose(&attempts);
        let tried = attempts.iter().map(|attempt| attempt.tried.clone()).collect();
        let Attempt { outcome, .. } = attempts.swap_remove(chosen);
        Ok(Selected { tried, chosen, outcome, by, skipped })
    }

    /// Names and features of all sets that fit.
    fn candidates(&self, pairs: &LabelledPairs, lacks_partners: bool) -> Result<Vec<(String, Plan)>> {
        let mut candidates = Vec::new();
        let mut reason = None;
        let pose = self.pose.map_or_else(|| pose_of(pairs), Ok)?;
        let numbers: Vec<String> = self.images.iter().flat_map(ImageDescriptor::names).collect();
        for set in ORDER {
            // Named in milliseconds: before what takes a search.
            if set == FeatureSet::Quadratic && self.atlas && auto_atlas::suits(pairs, &self.atlas_settings()) {
                let seen = if self.images.is_empty() { "" } else { WITH_PICTURES };
                candidates.push((format!("{ATLAS}{seen}"), Plan::Atlas));
            }
            let features = match set.features(pairs.graphs()).and_then(|map| map.without_columns(&numbers, set.name()))
            {
                Ok(features) => features,
                Err(error) => {
                    reason.get_or_insert(error);
                    continue;
                }
            };
            let prices: &[bool] = match self.unmatched {
                Some(true) => &[true],
                None if lacks_partners => &[false, true],
                _ => &[false],
            };
            let pictured = |map: &FeatureMap| self.images.iter().fold(map.clone(), |map, &of| map.with_image(of));
            let maps = [(features.clone(), ""), (pictured(&features), WITH_PICTURES)];
            let maps = &maps[..if self.images.is_empty() { 1 } else { 2 }];
            for ((map, seen), &unmatched) in maps.iter().flat_map(|map| prices.iter().map(move |price| (map, price))) {
                let name = format!("{}{seen}{}", set.name(), if unmatched { " with a price" } else { "" });
                candidates.push((name, Plan::Features(Box::new(FeatureMap { unmatched, pose, ..map.clone() }))));
            }
        }
        match reason {
            Some(error) if candidates.is_empty() => Err(error),
            _ => Ok(candidates),
        }
    }

    /// The caller's control, ended also when the time for the next set is up: twice its share of what is left.
    fn share(&self, control: &Control, end: Option<f64>, sets_left: usize) -> Control {
        let Some(end) = end else { return control.clone() };
        let now = (self.clock)();
        let until = now + (end - now) * (2.0 / sets_left as f64).min(1.0);
        let clock = Arc::clone(&self.clock);
        control.clone().interrupted_by(move || clock() >= until)
    }

    fn attempt(
        &self,
        name: &str,
        features: &FeatureMap,
        trainer: &Trainer,
        (training, validation): (&LabelledPairs, &LabelledPairs),
        control: &Control,
    ) -> Result<Attempt> {
        let set = TrainingSet::new(features, &trainer.loss, training, validation)?;
        let trained = trainer.train(&set, control)?;
        let matcher = trainer.matcher.clone().unwrap_or_else(|| default_matcher(&set.features));
        let timed = &set.training[..set.training.len().min(TIMED)];
        let before = (self.clock)();
        let matched = evaluate(timed, matcher.matcher(), trained.weights(), control)?;
        let took = (self.clock)() - before;
        let count = matched.losses.len();
        let tried = Tried {
            name: name.to_string(),
            error: trained.after().map(Evaluation::mean),
            standard_error: trained.after().map(Evaluation::standard_error),
            interval: trained.after().and_then(Evaluation::interval),
            unlearned_error: trained.before().map(Evaluation::mean),
            match_seconds: (count > 0).then(|| took / count as f64),
            proven: count > 0 && matched.proven == count,
        };
        let evaluation = trained.after().cloned();
        let outcome =
            Outcome::Weights { set: Box::new(set), trainer: Box::new(trainer.clone()), trained: Box::new(trained) };
        Ok(Attempt { tried, evaluation, outcome })
    }

    fn atlas_settings(&self) -> AtlasSettings {
        AtlasSettings { images: self.images.clone(), ..AtlasSettings::default() }
    }

    /// `None` where time was up, or nothing could be held out.
    fn attempt_atlas(
        &self,
        name: &str,
        trainer: &Trainer,
        (training, validation): (&LabelledPairs, &LabelledPairs),
        control: &Control,
    ) -> Result<Option<Attempt>> {
        let before = (self.clock)();
        let settings = self.atlas_settings();
        let evaluation = auto_atlas::measure(training, validation, (trainer, &settings), control)?;
        let Some(evaluation) = evaluation else { return Ok(None) };
        let took = (self.clock)() - before;
        let (atlas, weights) = auto_atlas::learn(training, &settings, control)?;
        let tried = Tried {
            name: name.to_string(),
            error: Some(evaluation.mean()),
            standard_error: Some(evaluation.standard_error()),
            interval: evaluation.interval(),
            unlearned_error: None,
            match_seconds: Some(took / evaluation.losses.len().max(1) as f64),
            proven: false,
        };
        let outcome = Outcome::Atlas { atlas: Box::new(atlas), weights };
        Ok(Some(Attempt { tried, evaluation: Some(evaluation), outcome }))
    }
}

/// The simplest that is as good as the best on the same held-out items; the first where nothing was held out.
fn choose(attempts: &[Attempt]) -> usize {
    let measured: Vec<(usize, &Evaluation)> =
        attempts.iter().enumerate().filter_map(|(at, attempt)| Some((at, attempt.evaluation.as_ref()?))).collect();
    let most = measured.iter().map(|(_, evaluation)| evaluation.losses.len()).max().unwrap_or(0);
    let complete: Vec<(usize, &Evaluation)> =
        measured.into_iter().filter(|(_, evaluation)| evaluation.losses.len() == most).collect();
    // All alike to the rule but for their rank: the simplest comes first.
    let entry = |&(rank, validation): &(usize, _)| Entry { learner: LearnerName::Unlearned, rank, validation };
    let entries: Vec<Entry<'_>> = complete.iter().map(entry).collect();
    Choice::OneStandardError.of(&entries, &[]).map_or(0, |at| complete[at].0)
}

/// The least turns that the true matchings show: as given, tilted, or any.
fn pose_of(pairs: &LabelledPairs) -> Result<Pose> {
    let mut farthest = 0.0_f64;
    for (pair, truth, _) in pairs.iter() {
        if !lies_within(FAR_TURN, &pair, truth)? {
            farthest = farthest.max(turn_of(&pair, truth)?.unwrap_or(0.0));
        }
    }
    let turns = match farthest {
        0.0 => Turns::AsGiven,
        turn if turn <= TILTED => Turns::Tilted,
        _ => Turns::Any,
    };
    Ok(Pose { turns, mirror: false })
}

/// Whether the partner of some left node is known not to be there.
fn has_partnerless(pairs: &LabelledPairs) -> bool {
    pairs.iter().any(|(_, truth, unknown)| {
        (0..truth.left_count()).any(|i| truth.right_of(i).is_none() && !unknown.contains(&i))
    })
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
                format!("Took {name}: error {error:.4} {by}; no simpler one is as good, and none is clearly better.")
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

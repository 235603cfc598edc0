//! [`AutoTrainer`]: the best model without choosing. Sets of features that fit the data are tried and measured on pairs that they were not
//! learned from; of all that are as good as the best, the simplest is taken.
//!
//! All are measured on the same held-out pairs: the folds depend on the specimens alone. As good as the best means within one standard
//! error of the paired difference. Where left nodes have no partner, every set is tried without
//! and with a price for staying unmatched, and matching a node that has no partner counts as a mistake.
//! How far graphs may be turned against each other is read off the true matchings, and whether trying turns is better than taking graphs as given is
//! measured; held-out pairs have to be turned back by the score alone.
//! Where all specimens share their names an [`Atlas`](crate::atlas::Atlas) is tried as well: it matches two specimens by naming both.
//!
//! First every set is measured as it is before learning, which takes little; then those learn that have something to gain, the best before
//! learning first. So a time limit costs some learning, and no set goes without being looked at because a simpler one took its time learning.
//! Where there is no time to measure a set on all held-out pairs, it is measured on some, does not learn, and two sets are compared on
//! the pairs that both were measured on.
//! Held-out pairs are matched by the quick search of training: proofs would take most of the time, and change few matches. The model itself
//! matches exactly, unless a trial shows that this takes too long.
//!
//! The library has no clock: the caller brings one. Half of the time limit is for measuring, and no set takes more than twice its share.

mod atlas;
mod plans;
mod selected;

pub(crate) use atlas::losses as atlas_losses;
pub use selected::{Outcome, Selected, SkipReason, Skipped, Tried};

use super::checkpoint::NoKeeper;
use super::choice::first_as_good;
use super::{
    Checkpoint, Evaluation, LabelledPairs, Trained, Trainer, TrainingSet, ValidatedBy, default_matcher, evaluate,
};
use crate::atlas::AtlasSettings;
use crate::features::{FeatureMap, ImageDescriptor, Pose};
use crate::loss::LossKind;
use crate::matching::Method;
use crate::{Control, Error, Result};
use plans::{Plan, has_partnerless};
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

/// A set with what is known of it.
struct Attempt {
    tried: Tried,
    /// On what was held out, or as much of it as there was time for.
    evaluation: Evaluation,
    /// How many items are held out.
    held_out: usize,
    made: Made,
}

enum Made {
    Features { set: Box<TrainingSet>, trainer: Box<Trainer>, run: Checkpoint, trained: Option<Box<Trained>> },
    Atlas { learned: Option<Outcome> },
}

/// What an atlas is called among them.
const ATLAS: &str = "atlas";
/// The share of the time limit for measuring all sets before any learns.
const MEASURING: f64 = 0.5;
/// What was measured on fewer held-out pairs than this, of more, is not compared.
const ENOUGH: usize = 5;
/// How many training pairs are matched to see how long a match takes,
const TIMED: usize = 8;
/// in at most this share of the time limit.
const TRIAL: f64 = 0.05;
/// A model does not match exactly if that takes more seconds than this.
const TOO_LONG: f64 = 1.0;

/// The pairs to learn from and to choose by.
type Given<'a> = (&'a LabelledPairs, &'a LabelledPairs);

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
        let now = (self.clock)();
        let end = |share: f64| self.time_limit.map(|limit| now + share * limit);
        let count = candidates.len();
        let (mut attempts, mut skipped): (Vec<Attempt>, Vec<Skipped>) = (Vec::new(), Vec::new());
        for (number, (name, plan)) in candidates.into_iter().enumerate() {
            let is_over = control.interrupted() || end(1.0).is_some_and(|end| (self.clock)() >= end);
            let reason = match (attempts.iter().any(Attempt::is_perfect), is_over) {
                (true, _) => Some(SkipReason::NothingToGain),
                // There is always an answer: the first set is begun whatever the time, and has its weights before learning at least.
                (_, true) if !attempts.is_empty() => Some(SkipReason::NoTime),
                _ => None,
            };
            if let Some(reason) = reason {
                skipped.push(Skipped { name, reason });
                continue;
            }
            let share = self.share(control, end(MEASURING), count - number).part(number, 2 * count);
            attempts.push(match plan {
                Plan::Features(features) => self.measure(&name, &features, &trainer, (training, validation), &share)?,
                Plan::Atlas => self.measure_atlas(&name, &trainer, (training, validation), &share)?,
            });
        }
        let by = self.learn_all(&mut attempts, training, end(1.0), control)?;
        let chosen = choose(&attempts);
        let tried = attempts.iter().map(|attempt| attempt.tried.clone()).collect();
        let outcome = match attempts.swap_remove(chosen).made {
            Made::Atlas { learned: Some(outcome) } => outcome,
            Made::Features { set, trainer, trained: Some(trained), .. } => Outcome::Weights { set, trainer, trained },
            _ => return Err(Error::Interrupted),
        };
        Ok(Selected { tried, chosen, outcome, by, skipped })
    }

    /// Lets every set learn that has something to gain, the best before learning first; says what they were compared by.
    fn learn_all(
        &self,
        attempts: &mut [Attempt],
        training: &LabelledPairs,
        end: Option<f64>,
        control: &Control,
    ) -> Result<ValidatedBy> {
        let mut order: Vec<usize> = (0..attempts.len()).collect();
        let error = |at: usize| attempts[at].tried.error.unwrap_or(f64::INFINITY);
        order.sort_by(|&a, &b| error(a).total_cmp(&error(b)));
        // What is simpler and makes no mistakes will be taken whatever this one learns; what was measured on some pairs could not be compared.
        let learns = |at: usize| {
            let is_beaten = attempts[..at].iter().any(Attempt::is_perfect);
            !is_beaten && (attempts[at].is_complete() || matches!(attempts[at].made, Made::Atlas { .. }))
        };
        let learns: Vec<bool> = (0..attempts.len()).map(learns).collect();
        let (count, mut by) = (order.len(), ValidatedBy::Nothing);
        for (number, &at) in order.iter().enumerate() {
            let left = order[number..].iter().filter(|&&at| learns[at]).count();
            let mut share = self.share(control, end, left.max(1)).part(count + number, 2 * count);
            if !learns[at] {
                share = share.interrupted_by(|| true);
            }
            let Attempt { tried, evaluation, held_out, made } = &mut attempts[at];
            let (set, trainer, run, trained) = match made {
                Made::Features { set, trainer, run, trained } => (set, trainer, run, trained),
                Made::Atlas { learned } => {
                    let (atlas, weights) = atlas::learn(training, &self.atlas_settings(), &share)?;
                    *learned = Some(Outcome::Atlas { atlas: Box::new(atlas), weights });
                    continue;
                }
            };
            let quick = Trainer { matcher: Some(self.quick(set)), ..(**trainer).clone() };
            let learned = match unless_interrupted(quick.resume(set, run, &share, &mut NoKeeper))? {
                Some(learned) => learned,
                // What it knows by then, and nothing more is begun.
                None => quick.resume(set, run, &share.interrupted_by(|| true), &mut NoKeeper)?,
            };
            by = learned.by;
            if let Some(after) = learned.after() {
                tried.measured(after, *held_out);
                evaluation.clone_from(after);
            }
            if let Some(before) = learned.before() {
                tried.unlearned_error = Some(before.mean());
            }
            *trained = Some(Box::new(learned));
        }
        Ok(by)
    }

    /// The caller's control, ended also when the time for the next set is up: twice its share of what is left.
    fn share(&self, control: &Control, end: Option<f64>, sets_left: usize) -> Control {
        let Some(end) = end else { return control.clone() };
        let now = (self.clock)();
        self.until(control, now + (end - now) * (2.0 / sets_left as f64).min(1.0))
    }

    fn until(&self, control: &Control, end: f64) -> Control {
        let clock = Arc::clone(&self.clock);
        control.clone().interrupted_by(move || clock() >= end)
    }

    /// How held-out pairs are matched.
    fn quick(&self, set: &TrainingSet) -> Method {
        self.trainer.matcher.clone().unwrap_or_else(|| set.default_search())
    }

    /// A set as it is before learning, and how long it takes for a match.
    fn measure(
        &self,
        name: &str,
        features: &FeatureMap,
        trainer: &Trainer,
        (training, validation): Given<'_>,
        control: &Control,
    ) -> Result<Attempt> {
        let before = (self.clock)();
        let set = TrainingSet::new(features, &trainer.loss, training, validation)?;
        let (mut trainer, mut run, quick) = (trainer.clone(), Checkpoint::default(), self.quick(&set));
        let measuring = Trainer { matcher: Some(quick.clone()), ..trainer.clone() };
        let (evaluation, held_out) = measuring.measure(&set, &mut run, control)?;
        let (took, count) = ((self.clock)() - before, evaluation.losses.len());
        let mut tried = Tried::named(name);
        if count > 0 {
            tried.measured(&evaluation, held_out);
            tried.unlearned_error = tried.error;
        }
        let matcher = self.trainer.matcher.clone().unwrap_or_else(|| default_matcher(&set.features));
        if count < held_out && self.trainer.matcher.is_none() {
            // Proofs would take even longer.
            tried.match_seconds = (count > 0).then(|| took / count as f64);
            trainer.matcher = Some(quick);
        } else if self.try_out(&set, &matcher, &mut tried, control)? {
            self.try_out(&set, &quick, &mut tried, control)?;
            trainer.matcher = Some(quick);
        }
        let made = Made::Features { set: Box::new(set), trainer: Box::new(trainer), run, trained: None };
        Ok(Attempt { tried, evaluation, held_out, made })
    }

    /// Matches a few training pairs to see how long that takes; whether it takes too long.
    fn try_out(&self, set: &TrainingSet, matcher: &Method, tried: &mut Tried, control: &Control) -> Result<bool> {
        let timed = &set.training[..set.training.len().min(TIMED)];
        let before = (self.clock)();
        let limited = self.time_limit.map(|limit| self.until(control, before + TRIAL * limit));
        let matched = evaluate(timed, matcher.matcher(), &set.unlearned, limited.as_ref().unwrap_or(control))?;
        let (took, count) = ((self.clock)() - before, matched.losses.len());
        tried.match_seconds = (count > 0).then(|| took / count as f64);
        tried.proven = count > 0 && matched.proven == count;
        let is_cut_off = count < timed.len() && !control.interrupted();
        Ok(is_cut_off && took > TOO_LONG * count.max(1) as f64 && *matcher != self.quick(set))
    }

    fn atlas_settings(&self) -> AtlasSettings {
        AtlasSettings { images: self.images.clone(), ..AtlasSettings::default() }
    }

    fn measure_atlas(
        &self,
        name: &str,
        trainer: &Trainer,
        (training, validation): Given<'_>,
        control: &Control,
    ) -> Result<Attempt> {
        let before = (self.clock)();
        let settings = self.atlas_settings();
        let (evaluation, held_out) = atlas::measure(training, validation, (trainer, &settings), control)?;
        let mut tried = Tried::named(name);
        if !evaluation.losses.is_empty() {
            tried.measured(&evaluation, held_out);
            tried.match_seconds = Some(((self.clock)() - before) / evaluation.losses.len() as f64);
        }
        Ok(Attempt { tried, evaluation, held_out, made: Made::Atlas { learned: None } })
    }
}

impl Attempt {
    /// Whether it was measured on all that is held out, if anything is.
    fn is_complete(&self) -> bool {
        self.evaluation.losses.len() == self.held_out
    }

    fn is_perfect(&self) -> bool {
        self.is_complete() && self.tried.error == Some(0.0)
    }
}

/// `None` where the work was broken off: what is done by then counts all the same.
fn unless_interrupted<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The simplest that is as good as the best on the same held-out items; the first where nothing was held out.
fn choose(attempts: &[Attempt]) -> usize {
    let is_measured = |attempt: &Attempt| attempt.evaluation.losses.len() >= attempt.held_out.min(ENOUGH);
    // Where pairs were left out of one set, its items are not those of the others.
    let most = attempts.iter().map(|attempt| attempt.held_out).max().unwrap_or(0);
    let comparable = |&at: &usize| attempts[at].held_out == most && most > 0 && is_measured(&attempts[at]);
    let places: Vec<usize> = (0..attempts.len()).filter(comparable).collect();
    let measured: Vec<&Evaluation> = places.iter().map(|&at| &attempts[at].evaluation).collect();
    first_as_good(&measured).map_or(0, |at| places[at])
}

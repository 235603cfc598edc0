//! [`AutoTrainer`]: the best model without choosing. Sets of features that fit the data are tried and measured on pairs of specimens that they were
//! not learned from, all on the same pairs: the folds depend on the specimens alone (`folds`).
//!
//! If all specimens share their names, an [`Atlas`](crate::atlas::Atlas) can match two of them by naming both. It is taken unless another set is clearly
//! better ([`clearly_better`]); otherwise the set with the lowest error is taken, the simplest if errors are equal. The search ends early only if no
//! set could still be better by enough to be taken: the atlas errs on no more than 1 % of the held-out nodes, or without an atlas a set makes no error.
//!
//! If left nodes have no partner, every set is tried without and with a price for staying unmatched, and matching a node that has no
//! partner counts as a mistake. How far graphs may be rotated against each other is read off the true matchings, and whether trying rotations is
//! better than taking graphs as given is measured; held-out pairs have to be rotated back by the score alone.
//!
//! First every set is measured as it is before learning, which takes little; then those learn that have something to gain, the best before
//! learning first. So a time limit costs some learning, and no set goes without being looked at because a simpler one took its time learning.
//! If there is no time to measure a set on all held-out pairs, it is measured on some, does not learn, and two sets are compared on
//! the pairs that both were measured on.
//! Held-out pairs are matched by the quick search of training: proofs would take most of the time, and change few matches. The model itself
//! matches exactly, unless a trial shows that this takes too long.
//!
//! The library has no clock: the caller brings one. Half of the time limit is for measuring, and no set takes more than twice its share.

mod atlas;
mod plans;
mod selected;

pub(crate) use atlas::losses as atlas_losses;
pub use selected::{Chosen, Selected, SkipReason};
pub(crate) use selected::{Skipped, Tried};

use super::checkpoint::NoKeeper;
use super::choice::{WORTH, clearly_better, lowest};
use super::runs::{cuts, held_out_pairs};
use super::{Checkpoint, Evaluation, LabelledPairs, Trained, Trainer, TrainingSet, default_matcher, evaluate};
use crate::atlas::AtlasSettings;
use crate::features::{FeatureMap, ImageDescriptor, Rotation};
use crate::loss::LossKind;
use crate::matching::Method;
use crate::{Control, Error, ErrorKind, Result};
use plans::{Plan, has_partnerless};
use std::sync::Arc;

/// Seconds since some moment.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How the best model is found.
#[derive(Clone)]
pub struct AutoTrainer {
    /// How each set of features is trained. Its loss is made to count nodes without a partner if there are some.
    pub trainer: Trainer,
    /// Whether left nodes may stay unmatched at a learned price; `None`: both are tried where nodes lack partners.
    pub unmatched: Option<bool>,
    /// How graphs may be rotated against each other; `None`: as far as the true matchings show.
    pub pose: Option<Rotation>,
    /// How an atlas is learned, if there are pictures from them too; `None`: it may not be taken.
    pub atlas: Option<AtlasSettings>,
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
    /// On what was held out, or as much of it as there was time for; items are numbered as the pairs are.
    evaluation: Evaluation,
    /// How many items are held out.
    held_out: usize,
    made: Made,
}

enum Made {
    Features { set: Box<TrainingSet>, trainer: Box<Trainer>, run: Box<Checkpoint>, trained: Option<Box<Trained>> },
    Atlas,
}

/// What an atlas is called among them.
const ATLAS: &str = "atlas";
/// The share of the time limit for measuring all sets before any learns,
const MEASURING: f64 = 0.5;
/// and for that and the learning of sets of features; the rest is for what an atlas learns.
const LEARNING: f64 = 0.9;
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
    /// Tries what fits the data and takes the best ([`AutoTrainer`]). If the control says stop, the best of what is done by then.
    ///
    /// # Errors
    /// No pairs; graphs that no set of features fits; a problem that a matcher does not take.
    pub fn train(&self, training: &LabelledPairs, validation: &LabelledPairs, control: &Control) -> Result<Selected> {
        if training.is_empty() {
            return Err(Error::NoExamples);
        }
        // Before anything else: pairs are not looked at any more once time is up.
        let by = held_out_pairs(training, validation, self.trainer.folds)?.1;
        let lacks_partners = has_partnerless(training) || has_partnerless(validation);
        let candidates = self.candidates(training, lacks_partners)?;
        let mut trainer = self.trainer.clone();
        if let (LossKind::Hamming(hamming), true) = (&mut trainer.loss, lacks_partners) {
            hamming.unmatched_is_label = true;
        }
        let now = (self.clock)();
        let end = |share: f64| self.time_limit.map(|limit| now + share * limit);
        let count = candidates.len();
        // The atlas first: it may leave nothing to gain, and takes milliseconds.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&at| !matches!(candidates[at].1, Plan::Atlas));
        let mut attempts: Vec<(usize, Attempt)> = Vec::new();
        let mut skipped: Vec<(usize, SkipReason)> = Vec::new();
        for (number, &at) in order.iter().enumerate() {
            let (name, plan) = &candidates[at];
            let is_over = control.interrupted() || end(1.0).is_some_and(|end| (self.clock)() >= end);
            let reason = match (attempts.iter().any(|(_, own)| own.leaves_nothing_to_gain()), is_over) {
                (true, _) => Some(SkipReason::NothingToGain),
                // There is always an answer: the first set is begun whatever the time, and has its weights before learning at least.
                (_, true) if !attempts.is_empty() => Some(SkipReason::NoTime),
                _ => None,
            };
            if let Some(reason) = reason {
                skipped.push((at, reason));
                continue;
            }
            let share = self.share(control, end(MEASURING), count - number).part(number, 2 * count);
            let given = (training, validation);
            let measured = match plan {
                Plan::Features(features) => self.measure(name, features, &trainer, given, &share),
                Plan::Atlas => self.measure_atlas(name, &trainer, given, &share),
            };
            match unless_interrupted(measured)? {
                Some(attempt) => attempts.push((at, attempt)),
                None => skipped.push((at, SkipReason::NoTime)),
            }
        }
        if attempts.is_empty() {
            return Err(Error::Interrupted);
        }
        attempts.sort_by_key(|&(at, _)| at);
        skipped.sort_by_key(|&(at, _)| at);
        let skipped =
            skipped.into_iter().map(|(at, reason)| Skipped { name: candidates[at].0.clone(), reason }).collect();
        let mut attempts: Vec<Attempt> = attempts.into_iter().map(|(_, attempt)| attempt).collect();
        self.learn_all(&mut attempts, training, end(LEARNING), control)?;
        let chosen = choose(&attempts);
        let tried = attempts.iter().map(|attempt| attempt.tried.clone()).collect();
        let outcome = match attempts.swap_remove(chosen).made {
            Made::Atlas => {
                let control = end(1.0).map_or_else(|| control.clone(), |end| self.until(control, end));
                let settings = self.atlas.clone().unwrap_or_default();
                let (atlas, weights) = atlas::learn(training, &settings, &control)?;
                Chosen::Atlas { atlas: Box::new(atlas), weights }
            }
            Made::Features { set, trainer, trained: Some(trained), .. } => Chosen::Weights { set, trainer, trained },
            Made::Features { .. } => return Err(Error::Interrupted),
        };
        Ok(Selected { tried, chosen, outcome, by, skipped })
    }

    /// Lets every set learn that has something to gain, the best before learning first.
    fn learn_all(
        &self,
        attempts: &mut [Attempt],
        training: &LabelledPairs,
        end: Option<f64>,
        control: &Control,
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..attempts.len()).collect();
        let error = |at: usize| attempts[at].tried.error.unwrap_or(f64::INFINITY);
        order.sort_by(|&a, &b| error(a).total_cmp(&error(b)));
        let nothing_to_gain = attempts.iter().any(Attempt::leaves_nothing_to_gain);
        // What was measured on some pairs could not be compared.
        let has_to_gain = |own: &Attempt| !nothing_to_gain || own.leaves_nothing_to_gain();
        let learns: Vec<bool> = attempts.iter().map(|own| own.is_complete() && has_to_gain(own)).collect();
        let count = order.len();
        for (number, &at) in order.iter().enumerate() {
            let left = order[number..].iter().filter(|&&at| learns[at]).count();
            let mut share = self.share(control, end, left.max(1)).part(count + number, 2 * count);
            if !learns[at] {
                share = share.interrupted_by(|| true);
            }
            let Attempt { tried, evaluation, held_out, made } = &mut attempts[at];
            let Made::Features { set, trainer, run, trained } = made else { continue };
            let quick = Trainer { matcher: Some(self.quick(set)), ..(**trainer).clone() };
            let learned = match unless_interrupted(quick.resume(set, run, &share, &mut NoKeeper))? {
                Some(learned) => learned,
                // What it knows by then, and nothing more is begun.
                None => quick.resume(set, run, &share.interrupted_by(|| true), &mut NoKeeper)?,
            };
            if let Some(after) = learned.after() {
                tried.measured(after, *held_out);
                *evaluation = on_pairs(after, set, training, trainer.folds);
            }
            if let Some(before) = learned.before() {
                tried.unlearned_error = Some(before.mean());
            }
            *trained = Some(Box::new(learned));
        }
        Ok(())
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
        let evaluation = on_pairs(&evaluation, &set, training, trainer.folds);
        let made = Made::Features { set: Box::new(set), trainer: Box::new(trainer), run: Box::new(run), trained: None };
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

    fn measure_atlas(
        &self,
        name: &str,
        trainer: &Trainer,
        (training, validation): Given<'_>,
        control: &Control,
    ) -> Result<Attempt> {
        let before = (self.clock)();
        let settings = self.atlas.clone().unwrap_or_default();
        let (evaluation, held_out) = atlas::measure(training, validation, (trainer, &settings), control)?;
        let mut tried = Tried::named(name);
        if !evaluation.losses.is_empty() {
            tried.measured(&evaluation, held_out);
            tried.match_seconds = Some(((self.clock)() - before) / evaluation.losses.len() as f64);
        }
        Ok(Attempt { tried, evaluation, held_out, made: Made::Atlas })
    }
}

impl Attempt {
    /// Whether it was measured on all that is held out, if anything is.
    fn is_complete(&self) -> bool {
        self.evaluation.losses.len() == self.held_out
    }

    /// Whether no other set could be taken, however good: an atlas is left only for what is better by more than [`WORTH`], and without one a set
    /// that makes no mistake is not left for another that makes none.
    fn leaves_nothing_to_gain(&self) -> bool {
        let enough = if matches!(self.made, Made::Atlas) { WORTH } else { 0.0 };
        self.is_complete() && self.tried.error.is_some_and(|error| error <= enough)
    }
}

/// `None` where the work was broken off: what is done by then counts all the same.
fn unless_interrupted<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// What was measured with its items numbered as the given pairs are. Validation pairs are the same for all, and so are the nodes of an only pair.
fn on_pairs(evaluation: &Evaluation, set: &TrainingSet, given: &LabelledPairs, folds: usize) -> Evaluation {
    if !set.validation.is_empty() || set.training.len() < 2 {
        return evaluation.clone();
    }
    let kept: Vec<usize> = (0..given.len()).filter(|number| !set.turned.contains(number)).collect();
    let items: Vec<usize> = cuts(&set.training, folds).into_iter().flat_map(|fold| fold.held_out).collect();
    let examples = evaluation.examples.iter().filter_map(|&item| kept.get(*items.get(item)?).copied()).collect();
    Evaluation { examples, ..evaluation.clone() }
}

/// The atlas unless another set is clearly better, otherwise the set with the lowest error; the first if nothing was held out.
fn choose(attempts: &[Attempt]) -> usize {
    let is_measured = |&at: &usize| {
        let Attempt { evaluation, held_out, .. } = &attempts[at];
        *held_out > 0 && evaluation.losses.len() >= (*held_out).min(ENOUGH)
    };
    let measured: Vec<usize> = (0..attempts.len()).filter(is_measured).collect();
    // If there was no time to measure it, none is known to be better.
    let is_atlas = |&at: &usize| matches!(attempts[at].made, Made::Atlas) && attempts[at].held_out > 0;
    let atlas = (0..attempts.len()).find(is_atlas);
    let others: Vec<usize> = measured.into_iter().filter(|&at| Some(at) != atlas).collect();
    let evaluations: Vec<&Evaluation> = others.iter().map(|&at| &attempts[at].evaluation).collect();
    match atlas {
        Some(atlas) => clearly_better(&attempts[atlas].evaluation, &evaluations).map_or(atlas, |at| others[at]),
        None => lowest(&evaluations).map_or(0, |at| others[at]),
    }
}

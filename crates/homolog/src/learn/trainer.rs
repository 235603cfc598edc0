//! [`Trainer`]: from labelled pairs to weights. The one place where λ, the learner, and whether to learn at all are chosen.
//!
//! Candidates are the weights before learning and, for every learner and λ, weights learned near s times those
//! (λ/2 |w - s w₀|², s by a one-dimensional search), from large λ to small. Each is measured on pairs that it has not seen: the given
//! validation pairs, or else cross-validation over specimens. Nothing is learned from a single pair unless λ is given: on real data what one pair taught was worse elsewhere more often than better. The most regularised candidate that is as
//! good as the best is chosen ([`Choice`]), and learning ends early if nothing is left to gain. So learned weights replace the
//! earlier ones only if they do better on held-out pairs, and the result says which it is. If λ are given, they are obeyed: the weights
//! before learning are measured, and never chosen.
//!
//! Beside shape contexts and the like, an attribute that tells nothing about which nodes are partners gets no weight, before learning or after,
//! unless the caller says how to learn.

use super::candidate::Trained;
use super::checkpoint::{Checkpoint, Keeper, NoKeeper};
use super::likelihood::silent;
use super::runs::runs;
use super::training_run::TrainingRun;
use super::{Choice, Evaluation, LearnerKind, Likelihood, MaxMargin, Oracle, TrainingSet};
use crate::loss::LossKind;
use crate::matching::Method;
use crate::optimize::{Bundle, Lbfgs, WeightRule};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How training is done. The defaults suit the usual case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trainer {
    /// Which learner to use.
    pub learner: LearnerKind,
    /// What λ pulls the weights towards.
    pub centre: Centre,
    /// How a candidate is chosen.
    pub choice: Choice,
    /// The loss to minimise.
    pub loss: LossKind,
    /// How the model matches, also in validation; `None`: exactly, with the matcher its features need.
    pub matcher: Option<Method>,
    /// The search in max-margin learning; `None`: the one that suits the features.
    pub search: Option<Method>,
    /// What max-margin learning asks for the worst violator.
    pub oracle: Oracle,
    /// λ to choose from, and then something is learned; empty: some that suit the data, and the weights before learning.
    pub lambdas: Vec<f64>,
    /// The most folds of cross-validation, if there are no validation pairs; fewer than 2 means none. Attributes that tell nothing are left out by
    /// all pairs, before these are divided: in that, held-out errors have seen what is held out.
    pub folds: usize,
    /// What each weight may be; empty: anything.
    pub rules: Vec<WeightRule>,
    /// Gap and limits of max-margin learning; its λ is not used.
    pub bundle: Bundle,
    /// Settings of likelihood learning.
    pub likelihood: Likelihood,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            learner: LearnerKind::default(),
            centre: Centre::default(),
            choice: Choice::default(),
            loss: LossKind::default(),
            matcher: None,
            search: None,
            oracle: Oracle::default(),
            lambdas: Vec::new(),
            folds: 5,
            rules: Vec::new(),
            bundle: Bundle::default(),
            // Coming closer does not change what is chosen, and small λ take long.
            likelihood: Likelihood {
                optimizer: Lbfgs { gap_tolerance: 1e-3, max_iterations: 200, ..Lbfgs::default() },
            },
        }
    }
}

/// What λ pulls the weights towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centre {
    /// The weights before learning, at a scale that suits the data: a large λ means "as before".
    #[default]
    Unlearned,
    /// Zero, as in the paper.
    Zero,
}

impl Trainer {
    /// Learning as in the paper: max-margin, centred at zero, the λ with the lowest validation loss.
    #[must_use]
    pub fn paper() -> Self {
        Self { learner: LearnerKind::MaxMargin, centre: Centre::Zero, choice: Choice::Least, ..Self::default() }
    }

    /// Learns. If interrupted, the best of what is complete by then is chosen: at worst the weights as before.
    ///
    /// # Errors
    /// No examples, a problem that a matcher does not take, a setting out of range.
    pub fn train(&self, set: &TrainingSet, control: &Control) -> Result<Trained> {
        self.resume(set, &mut Checkpoint::default(), control, &mut NoKeeper)
    }

    /// [`Self::train`] continued from a checkpoint, with identical results to the byte.
    ///
    /// # Errors
    /// As [`Self::train`]; a checkpoint that does not fit.
    pub fn resume(
        &self,
        set: &TrainingSet,
        checkpoint: &mut Checkpoint,
        control: &Control,
        keeper: &mut dyn Keeper,
    ) -> Result<Trained> {
        self.with_run(set, checkpoint, control, keeper, |run| {
            let trained = run.train();
            run.keep();
            trained
        })
    }

    /// How the weights before learning do on what is held out, as far as the control lets it, and how many items are held out. What is
    /// complete the checkpoint then knows.
    pub(super) fn measure(
        &self,
        set: &TrainingSet,
        checkpoint: &mut Checkpoint,
        control: &Control,
    ) -> Result<(Evaluation, usize)> {
        self.with_run(set, checkpoint, control, &mut NoKeeper, |run| {
            let unlearned = run.trainer.ruled(&run.unlearned, 1.0)?;
            let measured = run.measure_so_far(&unlearned)?;
            Ok((measured.unwrap_or_default(), run.held_out()))
        })
    }

    /// Does something with a run on examples at hand.
    fn with_run<T>(
        &self,
        set: &TrainingSet,
        checkpoint: &mut Checkpoint,
        control: &Control,
        keeper: &mut dyn Keeper,
        what: impl FnOnce(&mut TrainingRun<'_>) -> Result<T>,
    ) -> Result<T> {
        if set.training.is_empty() && (set.turned.is_empty() || self.choice == Choice::Least) {
            return Err(Error::NoExamples);
        }
        let (matcher, search) = (self.matcher_for(set), self.search_for(set));
        let (runs, by) = runs(set, self.folds, (search.matcher(), matcher.matcher()));
        let groups = set.features.weight_groups();
        // Groups are learned near the weights before learning, at strengths of their own: not if the caller says otherwise.
        let is_free = self.lambdas.is_empty() && self.rules.is_empty() && self.centre == Centre::Unlearned;
        let silent =
            if is_free && self.learner == LearnerKind::Auto { silent(&groups, &set.training)? } else { vec![] };
        let (mut screened, mut unlearned) = (Cow::Borrowed(self), set.unlearned.clone());
        if !silent.is_empty() {
            let rule = |weight| if silent.contains(&weight) { WeightRule::Fixed(0.0) } else { WeightRule::Free };
            screened.to_mut().rules = (0..unlearned.len()).map(rule).collect();
            unlearned = screened.ruled(&unlearned, 1.0)?;
        }
        let groups = (is_free || self.learner == LearnerKind::Groups).then_some(groups);
        let (trainer, prepared) = (&*screened, None);
        what(&mut TrainingRun { trainer, unlearned, groups, runs, by, prepared, checkpoint, control, keeper })
    }

    /// Whether λ was given: then what is learned is taken.
    pub(super) fn is_asked_to_learn(&self) -> bool {
        !self.lambdas.is_empty()
    }

    pub(super) fn max_margin(&self, centre: Vec<f64>) -> MaxMargin {
        MaxMargin { bundle: self.bundle, rules: self.rules.clone(), oracle: self.oracle.clone(), centre }
    }

    /// s · weights, where the rules allow.
    pub(super) fn ruled(&self, weights: &[f64], s: f64) -> Result<Vec<f64>> {
        let (expected, found) = (weights.len(), self.rules.len());
        if found != 0 && found != expected {
            return Err(Error::Size { what: "rules for the weights", expected, found });
        }
        let rule = |j: usize| self.rules.get(j).copied().unwrap_or_default();
        Ok(weights.iter().enumerate().map(|(j, weight)| rule(j).apply(s * weight)).collect())
    }

    /// How the model matches.
    #[must_use]
    pub fn matcher_for(&self, set: &TrainingSet) -> Method {
        self.matcher.clone().unwrap_or_else(|| set.default_matcher())
    }

    pub(super) fn search_for(&self, set: &TrainingSet) -> Method {
        self.search.clone().unwrap_or_else(|| set.default_search())
    }
}

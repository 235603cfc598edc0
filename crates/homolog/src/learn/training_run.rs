//! [`TrainingRun`]: training from beginning to end, on examples at hand or elsewhere ([`Examples`](super::examples::Examples)). λ by λ, and
//! at each λ run by run (all examples, then all but one fold each), so that a candidate is complete as early as can be and a time limit
//! finds the best of those that are.

use super::candidate::{Candidate, Trained, ValidatedBy};
use super::checkpoint::{Checkpoint, Done, Keeper, LearnerRun};
use super::choice::{Entry, is_hopeless};
use super::likelihood::{Groups, Prepared, informed, strengths};
use super::runs::Run;
use super::scale::{centred_lambdas, smaller};
use super::trainer::{Centre, Trainer};
use super::{Choice, Evaluation, Fit, LearnerName, Likelihood, Training};
use crate::features::WeightGroups;
use crate::optimize::{Minimum, Regularization, StopReason, WeightRule};
use crate::{Control, Error, Result};

/// What training works with.
pub(super) struct TrainingRun<'a> {
    pub(super) trainer: &'a Trainer,
    /// The weights before learning.
    pub(super) unlearned: Vec<f64>,
    /// The group of each weight; `None` if groups are not to be learned.
    pub(super) groups: Option<WeightGroups>,
    pub(super) runs: Vec<Run<'a>>,
    pub(super) by: ValidatedBy,
    /// What the likelihood compares all examples with, once it is needed.
    pub(super) prepared: Option<Prepared>,
    pub(super) checkpoint: &'a mut Checkpoint,
    pub(super) control: &'a Control,
    pub(super) keeper: &'a mut dyn Keeper,
}

impl TrainingRun<'_> {
    pub(super) fn train(&mut self) -> Result<Trained> {
        let unlearned = self.trainer.ruled(&self.unlearned, 1.0)?;
        let examples = self.runs[0].examples.count();
        let mut candidates = Vec::new();
        if self.trainer.choice != Choice::Least {
            let measured = self.measure(&unlearned)?;
            candidates.push(Candidate::unlearned(unlearned, measured));
        }
        let before = candidates.first().and_then(|unlearned| unlearned.validation.as_ref());
        // If even perfect weights would not be chosen, there is nothing to gain.
        let is_hopeless = before.is_some_and(|before| self.by == ValidatedBy::OnePair || is_hopeless(before));
        let is_over = examples == 0 || is_hopeless && !self.trainer.is_asked_to_learn();
        let mut complete = !self.control.interrupted();
        let names = self.learners();
        for (at, &name) in names.iter().enumerate() {
            let is_done = |candidate: &Candidate| candidate.fit.is_some() && candidate.is_perfect();
            if !complete || is_over || candidates.iter().any(is_done) {
                break;
            }
            let part = self.control.part(at, names.len());
            complete = match self.begin(name, &candidates)? {
                Some(at) => self.path(at, &mut candidates, &part)?,
                None => false,
            };
        }
        let chosen = self.choose(&candidates)?;
        Ok(Trained { candidates, chosen, by: self.by, complete, examples })
    }

    /// How the weights before learning do on what is held out; `None` if nothing is, or if interrupted.
    fn measure(&mut self, unlearned: &[f64]) -> Result<Option<Evaluation>> {
        let all = self.held_out();
        Ok(self.measure_so_far(unlearned)?.filter(|measured| measured.losses.len() == all))
    }

    /// The same as far as the control lets it.
    pub(super) fn measure_so_far(&mut self, unlearned: &[f64]) -> Result<Option<Evaluation>> {
        if self.checkpoint.unlearned.is_some() {
            return Ok(self.checkpoint.unlearned.clone());
        }
        let (mut measured, mut first): (Option<Evaluation>, usize) = (None, 0);
        for run in &mut self.runs {
            if let Some(part) = run.examples.validate(unlearned, self.control)? {
                measured.get_or_insert_default().extend(first, &part);
            }
            first += run.examples.held_out();
        }
        if !self.control.interrupted() {
            self.checkpoint.unlearned.clone_from(&measured);
            self.keep_if_due();
        }
        Ok(measured)
    }

    /// How many items are held out.
    pub(super) fn held_out(&self) -> usize {
        self.runs.iter().map(|run| run.examples.held_out()).sum()
    }

    /// Saves what is done.
    pub(super) fn keep(&mut self) {
        self.keeper.keep(self.checkpoint);
    }

    /// Saves what is done, if that is due.
    fn keep_if_due(&mut self) {
        if self.keeper.is_due() {
            self.keep();
        }
    }

    /// Who learns, in order.
    fn learners(&self) -> Vec<LearnerName> {
        let names = self.trainer.learner.names().iter().copied();
        names.filter(|&name| name != LearnerName::Groups || self.groups.is_some()).collect()
    }

    /// Finds the centre of a learner and its λ, and its place in the checkpoint; `None` if interrupted.
    fn begin(&mut self, learner: LearnerName, candidates: &[Candidate]) -> Result<Option<usize>> {
        if let Some(at) = self.checkpoint.learners.iter().position(|run| run.learner == learner) {
            return Ok(Some(at));
        }
        let starts = match (learner, &self.groups) {
            (LearnerName::Groups, Some(groups)) => {
                let of = |run: &Run<'_>| {
                    let examples = run.examples.at_hand();
                    self.trainer.ruled(&informed(groups, &self.unlearned, examples, self.control)?, 1.0)
                };
                match self.runs.iter().map(of).collect() {
                    Err(Error::Interrupted) => return Ok(None),
                    starts => starts?,
                }
            }
            _ => self.starts(candidates)?,
        };
        let start = starts.first().unwrap_or(&self.unlearned).clone();
        match self.centre_and_lambdas(learner, &start) {
            Ok((centre, lambdas, s)) => {
                let (done, training, last) = (Vec::new(), Vec::new(), Vec::new());
                let centres = starts.iter().map(|start| self.trainer.ruled(start, s)).collect::<Result<_>>()?;
                self.checkpoint.learners.push(LearnerRun { learner, centre, centres, lambdas, done, training, last });
                self.keep_if_due();
                Ok(Some(self.checkpoint.learners.len() - 1))
            }
            Err(Error::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the likelihood compares the examples of a run with; `None` if interrupted.
    fn prepared(&mut self, number: usize) -> Result<Option<Prepared>> {
        if self.prepared.is_none() {
            self.prepared = Prepared::new(self.runs[0].examples.at_hand(), self.control)?;
        }
        Ok(self.prepared.as_ref().map(|all| all.pick(&self.runs[number].positions)))
    }

    /// What each run starts from, if factors of groups are the best so far: those that it learned itself, from its own examples.
    fn starts(&self, candidates: &[Candidate]) -> Result<Vec<Vec<f64>>> {
        let is_of_groups = |candidate: &Candidate| candidate.learner == LearnerName::Groups;
        let Some(groups) = self.checkpoint.learners.iter().find(|run| run.learner == LearnerName::Groups) else {
            return Ok(Vec::new());
        };
        let best = &candidates[self.choose(candidates)?];
        if !is_of_groups(best) {
            return Ok(Vec::new());
        }
        let own = groups.done.iter().skip(best.rank * self.runs.len()).take(self.runs.len());
        Ok(own.map(|done| done.weights.clone().unwrap_or_else(|| best.weights.clone())).collect())
    }

    /// The weights that λ pulls towards, the λ to try, and the scale s of the former.
    fn centre_and_lambdas(&mut self, learner: LearnerName, start: &[f64]) -> Result<(Vec<f64>, Vec<f64>, f64)> {
        let (trainer, control, unlearned) = (self.trainer, self.control, start);
        let prepared = if learner == LearnerName::MaxMargin { None } else { self.prepared(0)? };
        let examples = &mut *self.runs[0].examples;
        let plain = trainer.max_margin(Vec::new());
        // Weights that are held at a value say how large the others are to be.
        let is_held =
            |rule: &WeightRule| matches!(rule, WeightRule::Fixed(value) | WeightRule::AtLeast(value) if *value != 0.0);
        let s = match learner {
            _ if trainer.rules.iter().any(is_held) => 1.0,
            LearnerName::Likelihood | LearnerName::Groups => match prepared {
                Some(prepared) => Likelihood::scale_prepared((examples.at_hand(), prepared), unlearned, control)?,
                None => return Err(Error::Interrupted),
            },
            _ => plain.scale(unlearned, examples, control)?,
        };
        Error::if_interrupted(control)?;
        let scaled = trainer.ruled(unlearned, s)?;
        let mut lambdas = match (trainer.centre, learner) {
            _ if !trainer.lambdas.is_empty() => trainer.lambdas.clone(),
            (_, LearnerName::Groups) => strengths(),
            (Centre::Zero, LearnerName::MaxMargin) => plain.zero_lambdas(examples, control)?,
            _ => centred_lambdas(&scaled),
        };
        lambdas.sort_by(|a, b| b.total_cmp(a));
        let centre = match trainer.centre {
            Centre::Zero if learner != LearnerName::Groups => vec![0.0; scaled.len()],
            _ => scaled,
        };
        Ok((centre, lambdas, s))
    }

    /// All λ of a learner; `false` if interrupted.
    fn path(&mut self, at: usize, candidates: &mut Vec<Candidate>, control: &Control) -> Result<bool> {
        let per_lambda = self.runs.len();
        let own = candidates.len();
        let mut rank = 0;
        while let Some(&lambda) = self.checkpoint.learners[at].lambdas.get(rank) {
            let tasks = self.checkpoint.learners[at].lambdas.len() * per_lambda;
            let (mut validation, mut first): (Option<Evaluation>, usize) = (None, 0);
            for number in 0..per_lambda {
                let task = rank * per_lambda + number;
                if self.checkpoint.learners[at].done.len() <= task {
                    match self.task(at, lambda, number, &control.part(task, tasks))? {
                        Some(done) => {
                            self.checkpoint.learners[at].done.push(done);
                            self.keep_if_due();
                        }
                        None => return Ok(false),
                    }
                }
                if let Some(part) = &self.checkpoint.learners[at].done[task].validation {
                    validation.get_or_insert_default().extend(first, part);
                }
                first += self.runs[number].examples.held_out();
            }
            let Some(fit) = self.checkpoint.learners[at].done[rank * per_lambda].fit.clone() else {
                return Err(Error::Size { what: "fits in the checkpoint", expected: 1, found: 0 });
            };
            let candidate = Candidate::learned(fit, rank, validation);
            let is_perfect = candidate.is_perfect();
            candidates.push(candidate);
            // A smaller λ could only tie.
            if is_perfect {
                break;
            }
            rank += 1;
            let lambdas = &mut self.checkpoint.learners[at].lambdas;
            if rank == lambdas.len() && self.trainer.lambdas.is_empty() {
                lambdas.extend(smaller(lambda, &candidates[own..]));
            }
        }
        Ok(true)
    }

    /// One run at one λ, and what it makes of what it was not shown; `None` if interrupted.
    fn task(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Done>> {
        let fit = match self.checkpoint.learners[at].learner {
            LearnerName::Likelihood | LearnerName::Groups => self.learn_likelihood(at, lambda, number, control)?,
            _ => self.learn_max_margin(at, lambda, number, control)?,
        };
        let Some(fit) = fit.filter(|fit| fit.minimum.stop != StopReason::Interrupted) else { return Ok(None) };
        // Its reports would run from the start of the task again.
        let silent = control.clone().observed_by(|_| {});
        let validation = match self.by {
            ValidatedBy::OnePair => None,
            _ => self.runs[number].examples.validate(&fit.minimum.weights, &silent)?,
        };
        if control.interrupted() {
            return Ok(None);
        }
        // Only what is done is started from: the next λ begins at the same weights, interrupted or not.
        let last = &mut self.checkpoint.learners[at].last;
        last.resize(last.len().max(number + 1), Vec::new());
        last[number].clone_from(&fit.minimum.weights);
        let weights = (fit.learner == LearnerName::Groups).then(|| fit.minimum.weights.clone());
        Ok(Some(Done { fit: (number == 0).then_some(fit), validation, weights }))
    }

    /// Weights that make the truths of a run likely; `None` if interrupted.
    fn learn_likelihood(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Fit>> {
        let Some(prepared) = self.prepared(number)? else { return Ok(None) };
        let examples = self.runs[number].examples.at_hand();
        let LearnerRun { learner, last, .. } = &self.checkpoint.learners[at];
        let (centre, likelihood) = (self.checkpoint.learners[at].centre_of(number), &self.trainer.likelihood);
        let start = last.get(number).map(Vec::as_slice);
        let of_groups = self.groups.as_ref().filter(|_| *learner == LearnerName::Groups);
        let minimum = if let Some(groups) = of_groups {
            let groups = Groups::new(groups, centre, &self.trainer.rules);
            let minimum = groups.fit(likelihood, (examples, prepared), (lambda, start), control)?;
            // Rules are about single weights.
            let ruled = |minimum: Minimum| -> Result<Minimum> {
                Ok(Minimum { weights: self.trainer.ruled(&minimum.weights, 1.0)?, ..minimum })
            };
            minimum.map(ruled).transpose()?
        } else {
            let near = Regularization { lambda, centre, rules: &self.trainer.rules };
            likelihood.fit_prepared((examples, prepared), near, start, control)?
        };
        Ok(minimum.filter(|_| !control.interrupted()).map(|minimum| Fit::by_likelihood(*learner, minimum)))
    }

    /// Weights of large margin for the examples of a run.
    fn learn_max_margin(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Fit>> {
        let stage = self.runs[number].stage(lambda);
        let examples = &mut *self.runs[number].examples;
        let learner = self.trainer.max_margin(self.checkpoint.learners[at].centre_of(number).to_vec());
        let mut training = match self.checkpoint.learners[at].training.get(number) {
            Some(training) => training.clone(),
            None => learner.begin(examples, None)?,
        };
        let (checkpoint, keeper) = (&mut *self.checkpoint, &mut *self.keeper);
        let mut keep = |training: &Training| {
            if keeper.is_due() {
                put(checkpoint, at, number, training);
                keeper.keep(checkpoint);
            }
        };
        let fit = learner.advance_and_keep(&mut training, lambda, examples, (control, &stage), &mut keep);
        // As far as it came, also if it failed.
        put(self.checkpoint, at, number, &training);
        fit.map(Some)
    }

    /// The candidate to take.
    fn choose(&self, candidates: &[Candidate]) -> Result<usize> {
        let is_learned = |candidate: &Candidate| candidate.fit.is_some();
        // If λ was given, what was learned is taken, better or not.
        let only_learned = self.trainer.is_asked_to_learn() && candidates.iter().any(is_learned);
        let is_open = |candidate: &Candidate| candidate.is_usable() && (is_learned(candidate) || !only_learned);
        let open: Vec<usize> = (0..candidates.len()).filter(|&at| is_open(&candidates[at])).collect();
        let chance: Vec<f64> = self.runs.iter().flat_map(|run| run.examples.chance()).collect();
        let entry = |&at: &usize| {
            let Candidate { learner, rank, validation, .. } = &candidates[at];
            let entry = Entry { learner: *learner, rank: *rank, validation: validation.as_ref()? };
            Some((at, entry))
        };
        let (positions, entries): (Vec<usize>, Vec<Entry<'_>>) = open.iter().filter_map(entry).unzip();
        if let Some(chosen) = self.trainer.choice.of(&entries, &chance) {
            return Ok(positions[chosen]);
        }
        // Nothing was measured: the weights as before, or of those that were asked for the middle.
        match self.trainer.choice {
            Choice::OneStandardError if !only_learned => Ok(0),
            choice => {
                open.get(open.len() / 2).copied().or((choice != Choice::Least).then_some(0)).ok_or(Error::Interrupted)
            }
        }
    }
}

fn put(checkpoint: &mut Checkpoint, at: usize, number: usize, training: &Training) {
    let slots = &mut checkpoint.learners[at].training;
    match slots.get_mut(number) {
        Some(slot) => slot.clone_from(training),
        None => slots.push(training.clone()),
    }
}

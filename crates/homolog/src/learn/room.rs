//! [`Room`]: one run of training from beginning to end. λ by λ, and at each λ run by run (all examples, then all but one fold each), so
//! that a candidate is complete as early as can be and a time limit finds the best of those that are.

use super::candidate::{Candidate, Trained, ValidatedBy};
use super::checkpoint::{Checkpoint, Done, Keeper, LearnerRun};
use super::choice::{Entry, is_hopeless};
use super::likelihood::Prepared;
use super::runs::Run;
use super::scale::centred_lambdas;
use super::trainer::{Centre, Trainer};
use super::{Choice, Evaluation, Fit, LearnerName, Likelihood, Training, TrainingSet};
use crate::matching::Method;
use crate::optimize::{Regularization, StopReason, WeightRule};
use crate::{Control, Error, Result};

/// What a run of training works with.
pub(super) struct Room<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) set: &'a TrainingSet,
    pub(super) runs: Vec<Run>,
    pub(super) by: ValidatedBy,
    pub(super) matcher: Method,
    pub(super) search: Method,
    /// What the likelihood compares all examples with, once it is needed.
    pub(super) prepared: Option<Prepared>,
    pub(super) checkpoint: &'a mut Checkpoint,
    pub(super) control: &'a Control,
    pub(super) keeper: &'a mut dyn Keeper,
}

impl Room<'_> {
    pub(super) fn train(&mut self) -> Result<Trained> {
        let unlearned = self.trainer.ruled(&self.set.unlearned, 1.0)?;
        let mut candidates = Vec::new();
        if self.trainer.choice != Choice::Least {
            let measured = self.measure(&unlearned)?;
            candidates.push(Candidate::unlearned(unlearned, measured));
        }
        // Where not even weights that make no mistake would be taken, nothing is left to gain.
        let before = candidates.first().and_then(|unlearned| unlearned.validation.as_ref());
        let is_hopeless = before.is_some_and(is_hopeless);
        let is_alone = self.by == ValidatedBy::OnePair && before.is_some() && !self.is_asked_for();
        let is_hopeless = is_hopeless && self.by != ValidatedBy::OnePair || is_alone || self.set.training.is_empty();
        let mut complete = !self.control.interrupted();
        for (at, &name) in self.trainer.learner.names().iter().enumerate() {
            if !complete || is_hopeless || candidates.iter().any(Candidate::is_perfect) {
                break;
            }
            let part = self.control.part(at, self.trainer.learner.names().len());
            complete = self.begin(at, name)? && self.path(at, &mut candidates, &part)?;
        }
        let chosen = self.choose(&candidates)?;
        Ok(Trained { candidates, chosen, by: self.by, complete, examples: self.set.training.len() })
    }

    /// How the weights before learning do on what is held out; `None` where nothing is, or where the control said stop.
    fn measure(&mut self, unlearned: &[f64]) -> Result<Option<Evaluation>> {
        let all = self.held_out();
        Ok(self.measure_so_far(unlearned)?.filter(|measured| measured.losses.len() == all))
    }

    /// The same as far as the control lets it.
    pub(super) fn measure_so_far(&mut self, unlearned: &[f64]) -> Result<Option<Evaluation>> {
        if self.checkpoint.unlearned.is_some() {
            return Ok(self.checkpoint.unlearned.clone());
        }
        let measured = self.validate(unlearned)?;
        if !self.control.interrupted() {
            self.checkpoint.unlearned.clone_from(&measured);
            self.keep_if_due();
        }
        Ok(measured)
    }

    /// How many items are held out.
    pub(super) fn held_out(&self) -> usize {
        self.runs.iter().map(Run::held_out).sum()
    }

    /// Puts away what is done, if that is due.
    fn keep_if_due(&mut self) {
        if self.keeper.is_due() {
            self.keeper.keep(self.checkpoint);
        }
    }

    /// One λ of one learner, which is taken where nothing tells otherwise.
    fn is_asked_for(&self) -> bool {
        self.trainer.lambdas.len() == 1 && self.trainer.learner.names().len() == 1
    }

    /// Finds the centre of a learner and its λ; `false` where the control said stop.
    fn begin(&mut self, at: usize, learner: LearnerName) -> Result<bool> {
        if self.checkpoint.learners.len() > at {
            return Ok(true);
        }
        match self.centre_and_lambdas(learner) {
            Ok((centre, lambdas)) => {
                let (done, training, last) = (Vec::new(), Vec::new(), Vec::new());
                self.checkpoint.learners.push(LearnerRun { learner, centre, lambdas, done, training, last });
                Ok(true)
            }
            Err(Error::Interrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the likelihood compares the examples at these positions with; `None` where the control said stop.
    fn prepared(&mut self, positions: &[usize]) -> Result<Option<Prepared>> {
        if self.prepared.is_none() {
            self.prepared = Prepared::new(&self.set.training, self.control)?;
        }
        Ok(self.prepared.as_ref().map(|all| all.pick(positions)))
    }

    fn centre_and_lambdas(&mut self, learner: LearnerName) -> Result<(Vec<f64>, Vec<f64>)> {
        let (trainer, control, set) = (self.trainer, self.control, self.set);
        let prepared = match learner {
            LearnerName::Likelihood => self.prepared(&(0..set.training.len()).collect::<Vec<_>>())?,
            _ => None,
        };
        let (examples, search) = (&set.training, self.search.matcher());
        let plain = trainer.max_margin(Vec::new());
        // Weights that are held at a value say how large the others are to be.
        let is_held =
            |rule: &WeightRule| matches!(rule, WeightRule::Fixed(value) | WeightRule::AtLeast(value) if *value != 0.0);
        let s = match learner {
            _ if trainer.rules.iter().any(is_held) => 1.0,
            LearnerName::Likelihood => match prepared {
                Some(prepared) => Likelihood::scale_prepared((examples, prepared), &set.unlearned, control)?,
                None => return Err(Error::Interrupted),
            },
            _ => plain.scale(&set.unlearned, examples, search, control)?,
        };
        if control.interrupted() {
            return Err(Error::Interrupted);
        }
        let scaled = trainer.ruled(&set.unlearned, s)?;
        let mut lambdas = match (trainer.centre, learner) {
            _ if !trainer.lambdas.is_empty() => trainer.lambdas.clone(),
            (Centre::Zero, LearnerName::MaxMargin) => plain.lambdas(examples, search, control)?,
            _ => centred_lambdas(&scaled),
        };
        lambdas.sort_by(|a, b| b.total_cmp(a));
        let centre = match trainer.centre {
            Centre::Zero => vec![0.0; scaled.len()],
            Centre::Unlearned => scaled,
        };
        Ok((centre, lambdas))
    }

    /// All λ of a learner; `false` where the control said stop.
    fn path(&mut self, at: usize, candidates: &mut Vec<Candidate>, control: &Control) -> Result<bool> {
        let lambdas = self.checkpoint.learners[at].lambdas.clone();
        let per_lambda = self.runs.len();
        for (rank, &lambda) in lambdas.iter().enumerate() {
            let (mut validation, mut first): (Option<Evaluation>, usize) = (None, 0);
            for number in 0..per_lambda {
                let task = rank * per_lambda + number;
                if self.checkpoint.learners[at].done.len() <= task {
                    let part = control.part(task, lambdas.len() * per_lambda);
                    match self.task(at, lambda, number, &part)? {
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
                first += self.runs[number].held_out();
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
        }
        Ok(true)
    }

    /// One run at one λ, and what it makes of what it was not shown; `None` where the control said stop.
    fn task(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Done>> {
        let fit = match self.checkpoint.learners[at].learner {
            LearnerName::Likelihood => self.learn_likelihood(at, lambda, number, control)?,
            _ => self.learn_max_margin(at, lambda, number, control)?,
        };
        let Some(fit) = fit.filter(|fit| fit.minimum.stop != StopReason::Interrupted) else { return Ok(None) };
        let run = &self.runs[number];
        // Its reports would run from the start of the task again.
        let silent = control.clone().observed_by(|_| {});
        let is_alone = self.by == ValidatedBy::OnePair;
        let validate = || run.validate(self.matcher.matcher(), &fit.minimum.weights, &silent);
        let validation = if is_alone { None } else { validate()? };
        if control.interrupted() {
            return Ok(None);
        }
        // Only what is done is started from: the next λ begins at the same weights, interrupted or not.
        let last = &mut self.checkpoint.learners[at].last;
        last.resize(last.len().max(number + 1), Vec::new());
        last[number].clone_from(&fit.minimum.weights);
        Ok(Some(Done { fit: (number == 0).then_some(fit), validation }))
    }

    /// Weights that make the truths of a run likely; `None` where the control said stop.
    fn learn_likelihood(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Fit>> {
        let positions = self.runs[number].positions.clone();
        let Some(prepared) = self.prepared(&positions)? else { return Ok(None) };
        let run = &self.runs[number];
        let LearnerRun { centre, last, .. } = &self.checkpoint.learners[at];
        let near = Regularization { lambda, centre, rules: &self.trainer.rules };
        let start = last.get(number).map(Vec::as_slice);
        let minimum = self.trainer.likelihood.fit_prepared((&run.examples, prepared), near, start, control)?;
        Ok(minimum.filter(|_| !control.interrupted()).map(Fit::likelihood))
    }

    /// Weights of large margin for the examples of a run.
    fn learn_max_margin(&mut self, at: usize, lambda: f64, number: usize, control: &Control) -> Result<Option<Fit>> {
        let run = &self.runs[number];
        let learner = self.trainer.max_margin(self.checkpoint.learners[at].centre.clone());
        let mut training = match self.checkpoint.learners[at].training.get(number) {
            Some(training) => training.clone(),
            None => learner.start(&run.examples, None)?,
        };
        let (checkpoint, keeper) = (&mut *self.checkpoint, &mut *self.keeper);
        let fit = learner.advance_and_keep(
            &mut training,
            lambda,
            &run.examples,
            self.search.matcher(),
            (control, &run.stage(lambda)),
            &mut |training| {
                if keeper.is_due() {
                    put(checkpoint, at, number, training);
                    keeper.keep(checkpoint);
                }
            },
        )?;
        put(self.checkpoint, at, number, &training);
        Ok(Some(fit))
    }

    /// How weights that no run has changed do on what the runs hold out, as far as the control lets it; `None` where nothing is.
    fn validate(&self, weights: &[f64]) -> Result<Option<Evaluation>> {
        let (mut all, mut first): (Option<Evaluation>, usize) = (None, 0);
        for run in &self.runs {
            if let Some(part) = run.validate(self.matcher.matcher(), weights, self.control)? {
                all.get_or_insert_default().extend(first, &part);
            }
            first += run.held_out();
        }
        Ok(all)
    }

    /// The candidate to take.
    fn choose(&self, candidates: &[Candidate]) -> Result<usize> {
        let usable: Vec<usize> = (0..candidates.len()).filter(|&at| candidates[at].is_usable()).collect();
        // With nothing to validate by, what was asked for is taken: one λ of one learner.
        let nothing_tells = matches!(self.by, ValidatedBy::Nothing | ValidatedBy::OnePair);
        if let (true, true, Some(&last)) = (nothing_tells, self.is_asked_for(), usable.last()) {
            return Ok(last);
        }
        let chance: Vec<f64> = self.runs.iter().flat_map(Run::chance).collect();
        let entry = |&at: &usize| {
            let Candidate { learner, rank, validation, .. } = &candidates[at];
            let entry = Entry { learner: *learner, rank: *rank, validation: validation.as_ref()? };
            Some((at, entry))
        };
        let (positions, entries): (Vec<usize>, Vec<Entry<'_>>) = usable.iter().filter_map(entry).unzip();
        if let Some(chosen) = self.trainer.choice.of(&entries, &chance) {
            return Ok(positions[chosen]);
        }
        // Nothing was measured: the weights as before. The paper's rule does not know them and takes the middle.
        match self.trainer.choice {
            Choice::OneStandardError => Ok(0),
            Choice::Least => usable.get(usable.len() / 2).copied().ok_or(Error::Interrupted),
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

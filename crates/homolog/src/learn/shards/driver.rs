//! [`ShardTrainer`]: max-margin learning from shards. It learns from examples elsewhere as [`Trainer`] does from examples at hand: spreads,
//! the size of the weights before learning, λ by λ, and the choice by validation shards. It never sees a pair itself.

use super::super::candidate::{Candidate, Trained, ValidatedBy};
use super::super::choice::{Entry, is_hopeless};
use super::super::max_margin::{Known, SEARCH_GAP, SKETCH_GAP, first_search, report_planes};
use super::super::scale::{centred_lambdas, least_risk, step, typical, zero_lambdas};
use super::risk::{Rounds, ShardRisk, ask, misplaced};
use super::{Carry, Facts, Job, Purpose, Reply, Request, Shard, check_shards};
use crate::features::FeatureMap;
use crate::learn::{Centre, Choice, Evaluation, Fit, LearnerKind, MaxMargin, Oracle, Trainer, TrainingSet};
use crate::matching::Method;
use crate::optimize::{Centred, Progress, State, StopReason, WeightRule};
use crate::{Control, Error, Report, Result};
use serde::{Deserialize, Serialize};

/// How learning from shards is done.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardTrainer {
    /// The features; spreads are measured during training.
    pub features: FeatureMap,
    /// Everything else. Only max-margin learning can be distributed, without cross-validation: give one λ, or validation shards to choose by.
    pub trainer: Trainer,
}

/// Everything that a run remembers; saved and read back, it continues with identical results to the byte.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardCheckpoint {
    /// What the run is about, in the caller's words: a different run does not continue from it.
    pub fingerprint: String,
    features: Option<FeatureMap>,
    facts: Option<Facts>,
    unlearned: Option<Evaluation>,
    /// The weights that λ pulls towards, and the list of λ.
    path: Option<(Vec<f64>, Vec<f64>)>,
    done: Vec<(Fit, Option<Evaluation>)>,
    run: Option<Run>,
}

/// The progress of the bundle method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    state: State,
    rounds: Rounds,
}

/// Called after every evaluation with the current state of the run: the moment to save it.
pub type KeepShards<'a> = &'a mut dyn FnMut(&ShardCheckpoint);

/// What a run works with.
struct Field<'a> {
    trainer: &'a Trainer,
    job: Job,
    shards: &'a [Shard],
    parts: usize,
    carry: Carry<'a>,
    checkpoint: &'a mut ShardCheckpoint,
    control: &'a Control,
    keep: KeepShards<'a>,
}

impl ShardCheckpoint {
    /// A run that has not started.
    #[must_use]
    pub fn new(fingerprint: String) -> Self {
        Self { fingerprint, ..Self::default() }
    }
}

impl ShardTrainer {
    /// Learns. The set that comes back has the fitted features and no examples.
    ///
    /// # Errors
    /// Shards that do not belong together, settings that need the pairs at hand, an error of a worker, a checkpoint that does not fit.
    /// If interrupted, the best of what is complete by then is chosen.
    pub fn train(
        &self,
        shards: &[Shard],
        checkpoint: &mut ShardCheckpoint,
        carry: Carry<'_>,
        control: &Control,
        keep: KeepShards<'_>,
    ) -> Result<(TrainingSet, Trained)> {
        let (examples, parts) = check_shards(shards)?;
        self.check(shards, examples)?;
        let set = TrainingSet::of_examples(self.features.clone(), Vec::new(), Vec::new());
        let job = Job {
            features: self.features.clone(),
            loss: self.trainer.loss,
            oracle: self.trainer.oracle.clone(),
            search: self.trainer.search.clone().unwrap_or_else(|| set.default_search()),
            matcher: self.trainer.matcher_for(&set),
            examples,
        };
        let trainer = &self.trainer;
        let mut field = Field { trainer, job, shards, parts, carry, checkpoint, control, keep };
        let trained = field.train();
        (field.keep)(field.checkpoint);
        Ok((TrainingSet::of_examples(field.job.features, Vec::new(), Vec::new()), trained?))
    }

    fn check(&self, shards: &[Shard], examples: usize) -> Result<()> {
        let refused =
            |reason: &str| Err(Error::Shard { file: "training from shards".to_string(), reason: reason.to_string() });
        if examples == 0 {
            return Err(Error::NoExamples);
        }
        if self.trainer.learner == LearnerKind::Likelihood {
            return refused(
                "likelihood learning cannot be spread; take the learner max-margin, or train on one machine",
            );
        }
        let has_validation = shards.iter().any(|shard| shard.purpose == Purpose::Validation);
        if !has_validation && self.trainer.lambdas.len() != 1 {
            return refused(
                "there are no validation pairs to choose λ by: name one λ, or cut up a data set with pairs of the split \"validation\"",
            );
        }
        Ok(())
    }
}

impl Field<'_> {
    fn ask(&mut self, purpose: Purpose, request: &Request) -> Result<Vec<(&Shard, Reply)>> {
        let replies = ask(&self.job, self.shards, purpose, request, &mut *self.carry)?;
        Ok(self.shards.iter().filter(|shard| shard.purpose == purpose).zip(replies).collect())
    }

    fn train(&mut self) -> Result<Trained> {
        let by = match self.shards.iter().filter(|shard| shard.purpose == Purpose::Validation) {
            shards if shards.clone().count() == 0 => ValidatedBy::Nothing,
            shards => ValidatedBy::Pairs { pairs: shards.map(|shard| shard.pairs).sum() },
        };
        self.measure()?;
        let unlearned = self.trainer.ruled(&self.job.features.unlearned_weights(), 1.0)?;
        let facts = self.facts()?;
        let mut candidates = Vec::new();
        if self.trainer.choice != Choice::Least {
            if self.checkpoint.unlearned.is_none() && by != ValidatedBy::Nothing {
                self.checkpoint.unlearned = self.validate(&unlearned)?;
            }
            candidates.push(Candidate::unlearned(unlearned, self.checkpoint.unlearned.clone()));
        }
        let before = candidates.first().and_then(|unlearned| unlearned.validation.as_ref());
        let is_hopeless = before.is_some_and(is_hopeless);
        let complete = !self.control.interrupted() && (is_hopeless || self.path(&facts, &mut candidates)?);
        let chosen = self.choose(by, &facts, &candidates)?;
        Ok(Trained { candidates, chosen, by, complete, examples: self.job.examples })
    }

    /// Measures the spreads of the features, once.
    fn measure(&mut self) -> Result<()> {
        if self.checkpoint.features.is_none() {
            let step = FeatureMap::spread_step(self.job.examples);
            let mut all = Vec::new();
            for (shard, reply) in self.ask(Purpose::Train, &Request::Spreads { step })? {
                let Reply::Spreads(differences) = reply else { return Err(misplaced(shard)) };
                all.extend(differences);
            }
            self.checkpoint.features = Some(self.job.features.with_differences(&all));
        }
        if let Some(features) = &self.checkpoint.features {
            self.job.features = features.clone();
        }
        Ok(())
    }

    fn facts(&mut self) -> Result<Facts> {
        if let Some(facts) = &self.checkpoint.facts {
            return Ok(facts.clone());
        }
        let weights = self.job.features.unlearned_weights();
        let request = Request::Facts { weights, step: step(self.job.examples) };
        let mut facts = Facts::default();
        for purpose in [Purpose::Train, Purpose::Validation] {
            for (shard, reply) in self.ask(purpose, &request)? {
                let Reply::Facts(own) = reply else { return Err(misplaced(shard)) };
                facts.ratios.extend(own.ratios);
                facts.chance.extend(own.chance);
                facts.without_lemma += own.without_lemma;
            }
        }
        self.checkpoint.facts = Some(facts.clone());
        Ok(facts)
    }

    /// How weights do on the validation shards; `None` if there are none, or if it was interrupted.
    fn validate(&mut self, weights: &[f64]) -> Result<Option<Evaluation>> {
        let mut all: Option<Evaluation> = None;
        let request = Request::Losses { weights: weights.to_vec() };
        let replies = match self.ask(Purpose::Validation, &request) {
            Err(Error::Interrupted) => return Ok(None),
            replies => replies?,
        };
        for (shard, reply) in replies {
            let Reply::Losses(losses) = reply else { return Err(misplaced(shard)) };
            let all = all.get_or_insert_default();
            all.extend(all.losses.len(), &losses);
        }
        Ok(all.filter(|_| !self.control.interrupted()))
    }

    fn risk<'a>(&'a mut self, rounds: &'a mut Rounds) -> ShardRisk<'a> {
        let dim = self.job.features.dim();
        let (job, shards, parts) = (&self.job, self.shards, self.parts);
        ShardRisk { job, shards, parts, dim, carry: &mut *self.carry, rounds, closeness: None, sketch: false }
    }

    fn centre_and_lambdas(&mut self, facts: &Facts) -> Result<(Vec<f64>, Vec<f64>)> {
        let trainer = self.trainer;
        let unlearned = self.job.features.unlearned_weights();
        let is_held =
            |rule: &WeightRule| matches!(rule, WeightRule::Fixed(value) | WeightRule::AtLeast(value) if *value != 0.0);
        let mut rounds = Rounds::default();
        let mut risk = self.risk(&mut rounds);
        let s = if trainer.rules.iter().any(is_held) {
            1.0
        } else {
            let typical = typical(&unlearned, facts.ratios.clone());
            least_risk(&unlearned, typical, &mut |at| Ok(risk.at(at)?.1))?
        };
        let scaled = trainer.ruled(&unlearned, s)?;
        let mut lambdas = match trainer.centre {
            _ if !trainer.lambdas.is_empty() => trainer.lambdas.clone(),
            Centre::Zero => {
                let (value, slope) = risk.at(&vec![0.0; unlearned.len()])?;
                zero_lambdas(value, &slope)
            }
            Centre::Unlearned => centred_lambdas(&scaled),
        };
        lambdas.sort_by(|a, b| b.total_cmp(a));
        let centre = match trainer.centre {
            Centre::Zero => vec![0.0; scaled.len()],
            Centre::Unlearned => scaled,
        };
        Ok((centre, lambdas))
    }

    /// All λ; `false` if interrupted.
    fn path(&mut self, facts: &Facts, candidates: &mut Vec<Candidate>) -> Result<bool> {
        if self.checkpoint.path.is_none() {
            match self.centre_and_lambdas(facts) {
                Ok(path) => self.checkpoint.path = Some(path),
                Err(Error::Interrupted) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let Some((centre, lambdas)) = self.checkpoint.path.clone() else { return Ok(false) };
        let learner = self.trainer.max_margin(centre.clone());
        for (rank, &lambda) in lambdas.iter().enumerate() {
            if self.checkpoint.done.len() <= rank {
                let fit = match self.learn(&learner, &centre, lambda, facts) {
                    Err(Error::Interrupted) => return Ok(false),
                    fit => fit?,
                };
                if fit.minimum.stop == StopReason::Interrupted {
                    return Ok(false);
                }
                let validation = self.validate(&fit.minimum.weights)?;
                if self.control.interrupted() {
                    return Ok(false);
                }
                self.checkpoint.done.push((fit, validation));
            }
            let (fit, validation) = self.checkpoint.done[rank].clone();
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

    /// Max-margin weights at a λ, using everything learned at the others.
    fn learn(&mut self, learner: &MaxMargin, centre: &[f64], lambda: f64, facts: &Facts) -> Result<Fit> {
        let bundle = learner.bundle_at(lambda, self.job.examples);
        let (control, stage) = (self.control, format!("λ {lambda:.3e}"));
        loop {
            let mut run = match self.checkpoint.run.take() {
                Some(run) => run,
                None => self.start(learner, centre, lambda)?,
            };
            let mut risk = self.risk(&mut run.rounds);
            let mut risk = Centred::new(&mut risk, centre)?;
            let progress = if control.interrupted() {
                Ok(Progress::Ended(StopReason::Interrupted))
            } else {
                bundle.step(&mut run.state, &mut risk)
            };
            let minimum = bundle.so_far(&run.state, &risk);
            let known = Known {
                examples: self.job.examples,
                lemma: facts.without_lemma == 0,
                solves: run.rounds.solves,
                proven: run.rounds.proven,
            };
            self.checkpoint.run = Some(run);
            match progress? {
                Progress::Ended(_) => {
                    return learner.fit_of(minimum, centre, known, |_, weights| self.count_tight(weights));
                }
                Progress::Stepped(step) => {
                    control.report(&Report::new(&stage, step.iteration, None).with_value(step.objective, step.bound));
                    (self.keep)(self.checkpoint);
                }
            }
        }
    }

    fn start(&mut self, learner: &MaxMargin, centre: &[f64], lambda: f64) -> Result<Run> {
        let mut rounds = Rounds::default();
        let mut risk = self.risk(&mut rounds);
        let risk = Centred::new(&mut risk, centre)?;
        let rules = Centred::rules(&learner.rules_for(centre.len())?, centre);
        let mut run = Run { state: State::new(&risk, &rules, None)?, rounds: Rounds::default() };
        if matches!(learner.oracle, Oracle::Relaxation(_)) {
            let search = Method::FrankWolfe(first_search());
            let searching = Job { oracle: Oracle::Search, search, ..self.job.clone() };
            run.state = self.first_planes(learner, (centre, lambda), &run, (&searching, SEARCH_GAP))?.state;
            run = self.first_planes(learner, (centre, lambda), &run, (&self.job.clone(), SKETCH_GAP))?;
        }
        Ok(run)
    }

    /// Like [`MaxMargin::first_planes`], for shards: by a search, or by sketches of the relaxation. [`Error::Interrupted`] if
    /// interrupted: the run has not started then.
    fn first_planes(
        &mut self,
        learner: &MaxMargin,
        (centre, lambda): (&[f64], f64),
        run: &Run,
        (job, gap): (&Job, f64),
    ) -> Result<Run> {
        let sketch = job.oracle != Oracle::Search;
        let (dim, shards, parts, control) = (job.features.dim(), self.shards, self.parts, self.control);
        let mut rounds = run.rounds.clone();
        let state = learner.first_planes(&run.state, lambda, gap, |bundle, state| {
            if control.interrupted() {
                return Ok(Progress::Ended(StopReason::Interrupted));
            }
            let (carry, rounds) = (&mut *self.carry, &mut rounds);
            let mut risk = ShardRisk { job, shards, parts, dim, carry, rounds, closeness: None, sketch };
            let progress = bundle.step(state, &mut Centred::new(&mut risk, centre)?)?;
            let by = if sketch { "sketches" } else { "search" };
            report_planes(control, &format!("λ {lambda:.3e}"), by, &progress);
            Ok(progress)
        })?;
        state.map(|state| Run { state, rounds }).ok_or(Error::Interrupted)
    }

    fn count_tight(&mut self, weights: &[f64]) -> Result<Option<usize>> {
        let replies = match self.ask(Purpose::Train, &Request::Tight { weights: weights.to_vec() }) {
            Err(Error::Interrupted) => return Ok(None),
            replies => replies?,
        };
        let mut tight = 0;
        for (shard, reply) in replies {
            let Reply::Tight(own) = reply else { return Err(misplaced(shard)) };
            tight += own;
        }
        Ok(Some(tight))
    }

    /// The candidate to choose.
    fn choose(&self, by: ValidatedBy, facts: &Facts, candidates: &[Candidate]) -> Result<usize> {
        let usable: Vec<usize> = (0..candidates.len()).filter(|&at| candidates[at].is_usable()).collect();
        // With nothing to validate by, the one λ that was asked for is chosen.
        if let (ValidatedBy::Nothing, Some(&last)) = (by, usable.last()) {
            return Ok(last);
        }
        let entry = |&at: &usize| {
            let Candidate { learner, rank, validation, .. } = &candidates[at];
            Some((at, Entry { learner: *learner, rank: *rank, validation: validation.as_ref()? }))
        };
        let (positions, entries): (Vec<usize>, Vec<Entry<'_>>) = usable.iter().filter_map(entry).unzip();
        if let Some(chosen) = self.trainer.choice.of(&entries, &facts.chance) {
            return Ok(positions[chosen]);
        }
        match self.trainer.choice {
            Choice::OneStandardError => Ok(0),
            Choice::Least => usable.get(usable.len() / 2).copied().ok_or(Error::Interrupted),
        }
    }
}

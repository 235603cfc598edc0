//! Training from shards: the same run as on examples at hand ([`TrainingRun`]), which asks shards instead. It never sees a pair itself.
//! Before it, the spreads of the features and facts about the examples are asked for.

use super::protocol::{Facts, Job, Reply, Request};
use super::risk::{ShardRisk, ask, misplaced};
use super::{Purpose, Shard, check_shards};
use crate::features::FeatureMap;
use crate::learn::candidate::{Trained, ValidatedBy};
use crate::learn::examples::{Asking, Examples};
use crate::learn::max_margin::first_search;
use crate::learn::risk::Memory;
use crate::learn::runs::Run;
use crate::learn::scale::step;
use crate::learn::training_run::TrainingRun;
use crate::learn::training_set::may_leave_out;
use crate::learn::{Checkpoint, Choice, Evaluation, Example, Keeper, LearnerKind, Oracle, Parts, Trainer, TrainingSet};
use crate::matching::{LpRelaxation, Method};
use crate::optimize::Risk;
use crate::{Control, Error, Result};
use std::borrow::Cow;

/// Carries orders to workers: for each the name of the shard's file and a text. The replies come back in the order of the orders.
pub(crate) type Carry<'a> = &'a mut dyn FnMut(&[(String, String)]) -> Result<Vec<String>>;

/// Examples in shards.
struct Elsewhere<'a> {
    job: Job,
    shards: Vec<Shard>,
    parts: usize,
    facts: Facts,
    carry: Carry<'a>,
}

impl Trainer {
    /// Learns from shards; spreads of the features are measured first. The set that comes back has the fitted features and no examples.
    /// Only max-margin learning can be distributed, without cross-validation: give one λ, or validation shards to choose by.
    ///
    /// # Errors
    /// Shards that do not belong together, settings that need the pairs at hand, an error of a worker, a checkpoint that does not fit.
    /// If interrupted, the best of what is complete by then is chosen.
    pub fn train_from_shards(
        &self,
        features: &FeatureMap,
        shards: &[Shard],
        checkpoint: &mut Checkpoint,
        carry: Carry<'_>,
        control: &Control,
        keeper: &mut dyn Keeper,
    ) -> Result<(TrainingSet, Trained)> {
        let (examples, parts) = check_shards(shards)?;
        let validation = self.check(shards, examples)?;
        let trainer = &Self { learner: LearnerKind::MaxMargin, ..self.clone() };
        let set = TrainingSet::of_examples(features.clone(), Vec::new(), Vec::new());
        let job = Job {
            features: features.clone(),
            loss: self.loss,
            oracle: self.oracle.clone(),
            search: self.search_for(&set),
            matcher: self.matcher_for(&set),
            examples,
        };
        let mut elsewhere = Elsewhere { job, shards: shards.to_vec(), parts, facts: Facts::default(), carry };
        let turned = match elsewhere.prepare(checkpoint) {
            Ok(turned) => turned,
            Err(error) => {
                keeper.keep(checkpoint);
                return Err(error);
            }
        };
        let left_out = elsewhere.facts.left_out.clone();
        let set = TrainingSet::of_examples(elsewhere.job.features.clone(), Vec::new(), Vec::new());
        let set = TrainingSet { turned, left_out, ..set };
        if elsewhere.job.examples == 0 && self.choice == Choice::Least {
            return Err(Error::NoExamples);
        }
        let by = if validation == 0 { ValidatedBy::Nothing } else { ValidatedBy::Pairs { pairs: validation } };
        let (runs, unlearned) = (vec![Run::on_all(elsewhere)], set.unlearned.clone());
        let mut run =
            TrainingRun { trainer, unlearned, groups: None, runs, by, prepared: None, checkpoint, control, keeper };
        let trained = run.train();
        run.keep();
        Ok((set, trained?))
    }

    /// How many pairs there are to validate by.
    fn check(&self, shards: &[Shard], examples: usize) -> Result<usize> {
        let refused =
            |reason: &str| Err(Error::Shard { file: "training from shards".to_string(), reason: reason.to_string() });
        if examples == 0 {
            return Err(Error::NoExamples);
        }
        if self.learner == LearnerKind::Likelihood {
            return refused(
                "likelihood learning cannot be spread; take the learner max-margin, or train on one machine",
            );
        }
        let validation = shards.iter().filter(|shard| shard.purpose == Purpose::Validation);
        let validation = validation.map(|shard| shard.pairs).sum();
        if validation == 0 && self.lambdas.len() != 1 {
            return refused(
                "there are no validation pairs to choose λ by: name one λ, or cut up a data set with pairs of the split \"validation\"",
            );
        }
        Ok(validation)
    }
}

impl Elsewhere<'_> {
    fn ask(&mut self, purpose: Purpose, request: &Request) -> Result<Vec<(&Shard, Reply)>> {
        let replies = ask(&self.job, &self.shards, purpose, request, &mut *self.carry)?;
        Ok(self.shards.iter().filter(|shard| shard.purpose == purpose).zip(replies).collect())
    }

    /// Measures the spreads of the features, leaves out what is not learned from, and asks for facts, once in a run. Returns the pairs that were
    /// left out, by position among those to learn from.
    fn prepare(&mut self, checkpoint: &mut Checkpoint) -> Result<Vec<usize>> {
        if checkpoint.features.is_none() {
            let step = FeatureMap::spread_step(self.job.examples);
            let mut all = Vec::new();
            for (shard, reply) in self.ask(Purpose::Train, &Request::Spreads { step })? {
                let Reply::Spreads(differences) = reply else { return Err(misplaced(shard)) };
                all.extend(differences);
            }
            checkpoint.features = Some(Box::new(self.job.features.with_differences(&all)));
        }
        if let Some(features) = &checkpoint.features {
            self.job.features.clone_from(features);
        }
        // A run that began before pairs were left out goes on with all of them.
        if checkpoint.turned.is_none() && checkpoint.facts.is_none() && may_leave_out(&self.job.features) {
            let mut turned = Vec::new();
            for (shard, reply) in self.ask(Purpose::Train, &Request::Turned {})? {
                match reply {
                    Reply::Turned(own) if own.iter().all(|&at| at < shard.pairs) => turned.push(own),
                    _ => return Err(misplaced(shard)),
                }
            }
            checkpoint.turned = Some(turned);
        }
        let turned = self.leave_out(checkpoint.turned.as_deref().unwrap_or_default());
        if checkpoint.facts.is_none() {
            let weights = self.job.features.unlearned_weights();
            let request = Request::Facts { weights, step: step(self.job.examples) };
            let mut facts = Facts::default();
            for purpose in [Purpose::Train, Purpose::Validation] {
                for (shard, reply) in self.ask(purpose, &request)? {
                    let Reply::Facts(own) = reply else { return Err(misplaced(shard)) };
                    facts.ratios.extend(own.ratios);
                    facts.chance.extend(own.chance);
                    facts.without_lemma += own.without_lemma;
                    facts.left_out.add(&own.left_out);
                }
            }
            checkpoint.facts = Some(Box::new(facts));
        }
        self.facts = *checkpoint.facts.clone().unwrap_or_default();
        Ok(turned)
    }

    /// Numbers the examples without those that each shard leaves out: the same planes as without these pairs.
    fn leave_out(&mut self, turned: &[Vec<usize>]) -> Vec<usize> {
        let all: usize = turned.iter().map(Vec::len).sum();
        if all == 0 {
            return Vec::new();
        }
        let examples = self.job.examples - all;
        let parts = Parts::new(examples, examples as f64);
        let (mut first, mut before, mut positions) = (0, 0, Vec::with_capacity(all));
        let own = self.shards.iter_mut().filter(|shard| shard.purpose == Purpose::Train);
        for (shard, turned) in own.zip(turned) {
            let count = shard.pairs - turned.len();
            shard.pieces = parts.pieces(first..first + count);
            shard.left_out.clone_from(turned);
            positions.extend(turned.iter().map(|at| before + at));
            (first, before) = (first + count, before + shard.pairs);
        }
        (self.job.examples, self.parts) = (examples, parts.count());
        positions
    }
}

impl Examples for Elsewhere<'_> {
    fn count(&self) -> usize {
        self.job.examples
    }

    fn dim(&self) -> Result<usize> {
        Ok(self.job.features.dim())
    }

    fn risk<'a>(
        &'a mut self,
        _oracle: &'a Oracle,
        asking: Asking,
        memory: &'a mut Memory,
        _control: &'a Control,
    ) -> Result<Box<dyn Risk + 'a>> {
        let job = match asking {
            Asking::FirstSearch => {
                let search = Method::FrankWolfe(first_search());
                Cow::Owned(Job { oracle: Oracle::Search, search, ..self.job.clone() })
            }
            _ => Cow::Borrowed(&self.job),
        };
        let (shards, parts, dim) = (&self.shards[..], self.parts, self.job.features.dim());
        let (carry, sketch) = (&mut *self.carry, asking == Asking::Sketch);
        Ok(Box::new(ShardRisk { job, shards, parts, dim, carry, memory, closeness: None, sketch }))
    }

    /// As reported for the weights before learning, which are the ones that training asks about.
    fn swap_ratios(&self, _weights: &[f64]) -> Result<Vec<f64>> {
        Ok(self.facts.ratios.clone())
    }

    fn lemma_applies(&self) -> bool {
        self.facts.without_lemma == 0
    }

    fn count_tight(&mut self, _solver: &LpRelaxation, weights: &[f64], _control: &Control) -> Result<Option<usize>> {
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

    fn at_hand(&self) -> &[Example] {
        &[]
    }

    fn held_out(&self) -> usize {
        self.facts.chance.len()
    }

    fn chance(&self) -> Vec<f64> {
        self.facts.chance.clone()
    }

    fn validate(&mut self, weights: &[f64], _control: &Control) -> Result<Option<Evaluation>> {
        let mut all: Option<Evaluation> = None;
        let replies = match self.ask(Purpose::Validation, &Request::Losses { weights: weights.to_vec() }) {
            Err(Error::Interrupted) => return Ok(None),
            replies => replies?,
        };
        for (shard, reply) in replies {
            let Reply::Losses(losses) = reply else { return Err(misplaced(shard)) };
            let all = all.get_or_insert_default();
            all.extend(all.losses.len(), &losses);
        }
        Ok(all)
    }
}

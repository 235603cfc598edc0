//! [`Worker`]: answers orders, keeping examples and what searches remember for the next round, within a limit of memory.

use super::super::scale::swap_ratios;
use super::super::soft::count_tight;
use super::protocol::{Asked, Facts, Job, Order, Reply, Request, from_text, to_text};
use super::{Purpose, Shard};
use crate::learn::parts::{Answer, PartMemory, PartRisk, Parts};
use crate::learn::training_set::turned;
use crate::learn::{Example, LabelledPairs, LeftOut, Oracle, evaluate};
use crate::{Control, Error, Result};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Answers orders ([`answer`](crate::data::shards::answer)). It holds the examples of the shards it was asked about last; what it does not
/// hold it loads again.
#[derive(Debug)]
pub struct Worker {
    most_bytes: usize,
    held: Vec<Held>,
}

/// A shard that it was asked about.
#[derive(Debug)]
struct Held {
    job: Job,
    shard: Shard,
    /// `None` if they took too much memory.
    examples: Option<Vec<Example>>,
    /// How many bytes the examples take.
    size: usize,
    chain: Chain,
}

/// The rounds that are remembered, and what they left behind.
#[derive(Debug, Default)]
struct Chain {
    rounds: Vec<Asked>,
    memory: Vec<PartMemory>,
    answers: Vec<Answer>,
}

/// Reads the pairs of a shard, and checks that they are the right ones.
pub(crate) type Load<'a> = &'a mut dyn FnMut(&Shard) -> Result<LabelledPairs>;

impl Worker {
    /// Holds at most about this many bytes, but always the shard it works on.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, held: Vec::new() }
    }

    /// The reply to an order, both as text.
    pub(crate) fn answer(&mut self, order: &str, load: Load<'_>, control: &Control) -> Result<String> {
        to_text(&self.reply(&from_text(order)?, load, control)?)
    }

    fn reply(&mut self, order: &Order, load: Load<'_>, control: &Control) -> Result<Reply> {
        let file = &order.shard.file;
        let place = |error: Error| match error {
            Error::Interrupted | Error::Shard { .. } => error,
            error => Error::Shard { file: file.clone(), reason: error.to_string() },
        };
        let mut load = |shard: &Shard| {
            let pairs = load(shard)?;
            if pairs.len() != shard.pairs {
                return Err(shard.refused(format!("it should have {} pairs and has {}", shard.pairs, pairs.len())));
            }
            Ok(pairs)
        };
        if let Request::Spreads { step } = order.request {
            return spreads(order, &load(&order.shard).map_err(place)?, step).map_err(place);
        }
        if let Request::Turned {} = order.request {
            let pairs = load(&order.shard).map_err(place)?;
            return turned(&order.job.features, &pairs).map(Reply::Turned).map_err(place);
        }
        let at = self.held.iter().position(|held| held.shard == order.shard && held.job == order.job);
        // The one asked about most recently is last.
        let mut held = match at {
            Some(at) => self.held.remove(at),
            None => Held::new(order),
        };
        let reply = held.answer(&order.request, &mut load, control).map_err(place);
        self.held.push(held);
        self.keep_within_limit();
        reply
    }

    /// First forgets the examples of the shards asked about least recently, which can be loaded again; then all of them.
    fn keep_within_limit(&mut self) {
        let size = |held: &Held| held.size + held.chain.memory.iter().map(PartMemory::size).sum::<usize>();
        let mut total: usize = self.held.iter().map(size).sum();
        let before = self.held.len() - 1;
        for held in &mut self.held[..before] {
            if total > self.most_bytes {
                total -= held.size;
                (held.examples, held.size) = (None, 0);
            }
        }
        while total > self.most_bytes && self.held.len() > 1 {
            total -= size(&self.held.remove(0));
        }
    }
}

impl Held {
    fn new(order: &Order) -> Self {
        let (job, shard) = (order.job.clone(), order.shard.clone());
        Self { job, shard, examples: None, size: 0, chain: Chain::default() }
    }

    fn answer(&mut self, request: &Request, load: Load<'_>, control: &Control) -> Result<Reply> {
        let examples = if let Some(examples) = self.examples.take() {
            examples
        } else {
            let pairs = load(&self.shard)?.without(&self.shard.left_out).watched_by(control);
            let examples = pairs.posed_examples(&self.job.features, self.job.loss.loss())?;
            self.size = size_of(&examples);
            examples
        };
        let reply = self.answer_with(&examples, request, control);
        self.examples = Some(examples);
        reply
    }

    fn answer_with(&mut self, examples: &[Example], request: &Request, control: &Control) -> Result<Reply> {
        let reply = match request {
            Request::Spreads { .. } | Request::Turned {} => {
                return Err(self.shard.refused("spreads and rotations are asked of pairs".to_string()));
            }
            Request::Facts { weights, step } => Reply::Facts(facts(&self.shard, examples, weights, *step)?),
            Request::Risk { rounds } => Reply::Risk(self.risk(examples, rounds, control)?),
            Request::Losses { weights } => {
                Reply::Losses(evaluate(examples, self.job.matcher.matcher(), weights, control)?)
            }
            Request::Tight { weights } => match &self.job.oracle {
                Oracle::Search => Reply::Tight(0),
                Oracle::Relaxation(solver) => {
                    Reply::Tight(count_tight(examples, solver, weights, control)?.ok_or(Error::Interrupted)?)
                }
            },
        };
        if control.interrupted() { Err(Error::Interrupted) } else { Ok(reply) }
    }

    /// The risk in the last round. Remembered rounds are not asked again; if any other has to be, all are.
    fn risk(&mut self, examples: &[Example], rounds: &[Asked], control: &Control) -> Result<Vec<Answer>> {
        if !rounds.starts_with(&self.chain.rounds) || self.chain.rounds.is_empty() {
            let memory = vec![PartMemory::default(); self.shard.pieces.len()];
            self.chain = Chain { memory, ..Chain::default() };
        }
        let parts = Parts::new(self.job.examples, self.job.examples as f64);
        let risk = PartRisk { oracle: &self.job.oracle, matcher: self.job.search.matcher(), parts, control };
        for asked in &rounds[self.chain.rounds.len()..] {
            let question = asked.question();
            self.chain.answers = risk.evaluate(&self.shard.pieces, examples, &question, &mut self.chain.memory)?;
            self.chain.rounds.push(asked.clone());
        }
        Ok(self.chain.answers.clone())
    }
}

fn spreads(order: &Order, pairs: &LabelledPairs, step: usize) -> Result<Reply> {
    let first = order.shard.first();
    let looked_at = (first..).zip(pairs.iter()).filter(|(number, _)| number % step.max(1) == 0);
    let differences =
        looked_at.map(|(_, (pair, truth, _))| order.job.features.differences(&pair, Some(truth), pairs.control()));
    match differences.collect::<Result<_>>() {
        Ok(differences) => Ok(Reply::Spreads(differences)),
        // This error names the graph.
        Err(error) => Err(pairs.posed_examples(&order.job.features, order.job.loss.loss()).err().unwrap_or(error)),
    }
}

fn facts(shard: &Shard, examples: &[Example], weights: &[f64], step: usize) -> Result<Facts> {
    let mut facts = Facts::default();
    if shard.purpose == Purpose::Train {
        for (_, example) in (shard.first()..).zip(examples).filter(|(number, _)| number % step.max(1) == 0) {
            facts.ratios.extend(swap_ratios(weights, example)?);
        }
        facts.without_lemma = examples.iter().filter(|example| !example.lemma_applies()).count();
        facts.left_out = LeftOut::of(examples, shard.left_out.len());
    } else {
        facts.chance = examples.iter().map(Example::loss_by_chance).collect();
    }
    Ok(facts)
}

/// Roughly how many bytes examples take: mostly their graphs, which pairs share.
fn size_of(examples: &[Example]) -> usize {
    let mut seen = BTreeSet::new();
    let mut total = 0;
    for example in examples {
        for instance in [example.instance(), example.whole_instance()] {
            for described in [instance.left(), instance.right()] {
                if seen.insert(Arc::as_ptr(described).addr()) {
                    total += described.size();
                }
            }
        }
        let (left, right) = (example.truth().left_count(), example.truth().right_count());
        total += 500 + 8 * example.instance().dim() + 48 * (left + right);
    }
    total
}

//! The risk of examples in many places, R(w) = Σ_part R_part(w), as the bundle method asks for it: every piece answers for itself, and
//! answers are added up in the order of the shards.

use super::{Asked, Carry, Job, Order, Purpose, ROUNDS_REMEMBERED, Reply, Request, Shard};
use crate::learn::{Answer, Oracle};
use crate::optimize::{Plane, Risk};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a run remembers besides the optimiser's state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rounds {
    /// How many rounds there have been.
    round: usize,
    pub(super) solves: usize,
    pub(super) proven: usize,
    /// What was asked in the rounds that are remembered.
    asked: Vec<Asked>,
}

pub(super) struct ShardRisk<'a> {
    pub(super) job: &'a Job,
    pub(super) shards: &'a [Shard],
    pub(super) parts: usize,
    pub(super) dim: usize,
    pub(super) carry: Carry<'a>,
    pub(super) rounds: &'a mut Rounds,
    pub(super) closeness: Option<f64>,
    pub(super) sketch: bool,
}

/// Asks all shards with a given purpose the same question.
pub(super) fn ask(
    job: &Job,
    shards: &[Shard],
    purpose: Purpose,
    request: &Request,
    carry: Carry<'_>,
) -> Result<Vec<Reply>> {
    let asked = shards.iter().filter(|shard| shard.purpose == purpose);
    let orders: Vec<Order> =
        asked.map(|shard| Order { job: job.clone(), shard: shard.clone(), request: request.clone() }).collect();
    let replies = if orders.is_empty() { Vec::new() } else { carry(&orders)? };
    if replies.len() != orders.len() {
        return Err(Error::Size { what: "replies to the orders", expected: orders.len(), found: replies.len() });
    }
    Ok(replies)
}

/// The error for a reply to a different question.
pub(super) fn misplaced(shard: &Shard) -> Error {
    shard.refused("a worker answered something that was not asked".to_string())
}

impl ShardRisk<'_> {
    /// The risk at some weights and its slope, asked once, without any memory.
    pub(super) fn at(&mut self, weights: &[f64]) -> Result<(f64, Vec<f64>)> {
        *self.rounds = Rounds::default();
        let mut planes = vec![Plane { slope: vec![0.0; self.dim], offset: 0.0 }; self.parts];
        let value = self.evaluate(weights, &mut planes)?;
        let mut slope = vec![0.0; self.dim];
        for plane in &planes {
            slope.iter_mut().zip(&plane.slope).for_each(|(sum, slope)| *sum += slope);
        }
        Ok((value, slope))
    }
}

impl Risk for ShardRisk<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn aim(&mut self, closeness: f64) {
        self.closeness = Some(closeness);
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        let round = self.rounds.round;
        // A search that proves everything remembers nothing.
        let is_fresh = round.is_multiple_of(ROUNDS_REMEMBERED)
            || (self.job.oracle == Oracle::Search && self.rounds.proven == self.rounds.solves);
        let mut rounds = if is_fresh { Vec::new() } else { self.rounds.asked.clone() };
        rounds.push(Asked { weights: weights.to_vec(), round, closeness: self.closeness, sketch: self.sketch });
        let request = Request::Risk { rounds };
        let replies = ask(self.job, self.shards, Purpose::Train, &request, &mut *self.carry)?;
        let mut parts = vec![Answer::zero(self.dim); self.parts];
        let asked = self.shards.iter().filter(|shard| shard.purpose == Purpose::Train);
        for (shard, reply) in asked.zip(replies) {
            let Reply::Risk(answers) = reply else { return Err(misplaced(shard)) };
            if answers.len() != shard.pieces.len() {
                return Err(misplaced(shard));
            }
            for (piece, answer) in shard.pieces.iter().zip(&answers) {
                if answer.plane.slope.len() != self.dim || answer.solves != piece.examples.len() {
                    return Err(misplaced(shard));
                }
                parts[piece.part].add(answer);
            }
        }
        let mut value = 0.0;
        for (answer, plane) in parts.into_iter().zip(planes) {
            value += answer.value;
            // A sketch is not an answer.
            if !self.sketch {
                self.rounds.solves += answer.solves;
                self.rounds.proven += answer.proven;
            }
            *plane = answer.plane;
        }
        if let Request::Risk { rounds } = request {
            self.rounds.asked = rounds;
        }
        self.rounds.round += 1;
        Ok(value)
    }

    fn may_find_more(&self) -> bool {
        self.rounds.proven < self.rounds.solves
    }
}

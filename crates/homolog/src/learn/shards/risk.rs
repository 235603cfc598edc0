//! The risk of examples in many places, R(w) = Σ_part R_part(w), as the bundle method asks for it: every piece answers for itself, and
//! answers are added up in the order of the shards.

use super::driver::Carry;
use super::protocol::{Asked, Job, Order, Reply, Request, from_text, to_text};
use super::{Purpose, ROUNDS_REMEMBERED, Shard};
use crate::learn::Oracle;
use crate::learn::parts::Answer;
use crate::learn::risk::Memory;
use crate::optimize::{Plane, Risk};
use crate::{Error, Result};
use std::borrow::Cow;

pub(super) struct ShardRisk<'a> {
    pub(super) job: Cow<'a, Job>,
    pub(super) shards: &'a [Shard],
    pub(super) parts: usize,
    pub(super) dim: usize,
    pub(super) carry: Carry<'a>,
    pub(super) memory: &'a mut Memory,
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
    let order = |shard: &Shard| {
        let order = Order { job: job.clone(), shard: shard.clone(), request: request.clone() };
        Ok((shard.file.clone(), to_text(&order)?))
    };
    let orders: Vec<(String, String)> = asked.map(order).collect::<Result<_>>()?;
    let replies = if orders.is_empty() { Vec::new() } else { carry(&orders)? };
    if replies.len() != orders.len() {
        return Err(Error::Size { what: "replies to the orders", expected: orders.len(), found: replies.len() });
    }
    replies.iter().map(|reply| from_text(reply)).collect()
}

/// The error for a reply to a different question.
pub(super) fn misplaced(shard: &Shard) -> Error {
    shard.refused("a worker answered something that was not asked".to_string())
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
        let round = self.memory.round;
        // A search that proves everything remembers nothing.
        let is_fresh = round.is_multiple_of(ROUNDS_REMEMBERED)
            || (self.job.oracle == Oracle::Search && self.memory.proven == self.memory.solves);
        let mut rounds = if is_fresh { Vec::new() } else { self.memory.asked.clone() };
        rounds.push(Asked { weights: weights.to_vec(), round, closeness: self.closeness, sketch: self.sketch });
        let request = Request::Risk { rounds };
        let replies = ask(&self.job, self.shards, Purpose::Train, &request, &mut *self.carry)?;
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
                self.memory.solves += answer.solves;
                self.memory.proven += answer.proven;
            }
            *plane = answer.plane;
        }
        if let Request::Risk { rounds } = request {
            self.memory.asked = rounds;
        }
        self.memory.round += 1;
        Ok(value)
    }

    fn may_find_more(&self) -> bool {
        self.memory.proven < self.memory.solves
    }
}

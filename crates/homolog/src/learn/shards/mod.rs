//! Training on examples in many places, with the same result as on one machine.
//!
//! A [`Shard`] is a file of pairs. [`Trainer::train_from_shards`](super::Trainer::train_from_shards) asks every shard the same questions in the
//! same order. A question to a shard is an *order*, its answer a *reply*; both are texts, complete in themselves. A [`Worker`] answers a text
//! with a text. How orders get to workers and replies back is up to the caller: a loop in one process, threads, Dask, MPI.
//!
//! A reply depends only on its order and the shard's file, and replies are added up in the order of the shards. So what is learned is
//! identical to the byte however many workers there are, and whether or not some of them died: an order can be given to another worker, any
//! number of times. Searches remember what they found in recent rounds: an order for the risk carries the questions of these rounds, at most
//! `ROUNDS_REMEMBERED`, from which a worker without that memory can recompute it.

mod driver;
mod protocol;
mod risk;
mod worker;

pub(crate) use driver::Carry;
pub(super) use protocol::{Asked, Facts};
pub use worker::Worker;

use super::parts::Piece;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// After this many rounds everything that a search remembers is forgotten, so that a worker taking over a shard has no more to repeat. More
/// make training against the relaxation a little faster and the loss of a worker more expensive.
pub(crate) const ROUNDS_REMEMBERED: usize = 8;

/// What the pairs of a shard are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To learn from.
    Train,
    /// To choose λ by.
    Validation,
    /// To measure on afterwards; training does not use them.
    Test,
}

/// A file of pairs, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The name of the file.
    pub file: String,
    /// Of the file's bytes, in hexadecimal.
    pub sha256: String,
    /// What its pairs are for.
    pub purpose: Purpose,
    /// How many there are.
    pub pairs: usize,
    /// Where they were in the data set that was split: (first, how many) for each run.
    pub positions: Vec<[usize; 2]>,
    /// For pairs to learn from: which of the planes they contribute to. This alone decides what is summed with what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pieces: Vec<Piece>,
    /// Pairs that a run does not learn from, counted within the shard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<usize>,
}

impl Shard {
    fn refused(&self, reason: String) -> Error {
        Error::Shard { file: self.file.clone(), reason }
    }

    /// The number of its first example among those to learn from.
    fn first(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.examples.start)
    }
}

/// How many examples and planes there are in all; an error names the file after which something is missing, or that does not agree with itself.
pub(crate) fn check_shards(shards: &[Shard]) -> Result<(usize, usize)> {
    let (mut examples, mut planes) = (0, 0);
    for shard in shards {
        let plain = !shard.file.is_empty() && !shard.file.contains(['/', '\\']) && shard.file != "..";
        if !plain {
            return Err(shard.refused("this is not the name of a file in the folder of the manifest".to_string()));
        }
        if shard.sha256.len() != 64 || !shard.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(shard.refused(format!("{:?} is not a sha256 of 64 hexadecimal digits", shard.sha256)));
        }
        let placed = shard.positions.iter().try_fold(0_usize, |sum, run| sum.checked_add(run[1]));
        if shard.pairs == 0 || placed != Some(shard.pairs) {
            return Err(shard.refused(format!("it should have {} pairs, but the positions of others", shard.pairs)));
        }
        let before = examples;
        for piece in &shard.pieces {
            let next = if planes == 0 { 0..1 } else { planes - 1..planes + 1 };
            let follows =
                piece.examples.start == examples && piece.examples.end > examples && next.contains(&piece.part);
            if !follows {
                let reason = format!(
                    "the pairs from {} on, for plane {}, do not follow the {examples} pairs and {planes} planes of the shards before: a shard is missing, or they are in another order",
                    piece.examples.start, piece.part
                );
                return Err(shard.refused(reason));
            }
            (examples, planes) = (piece.examples.end, piece.part + 1);
        }
        let expected = if shard.purpose == Purpose::Train { shard.pairs } else { 0 };
        if examples - before != expected {
            return Err(
                shard.refused(format!("{expected} of its pairs should make planes, and {} do", examples - before))
            );
        }
    }
    Ok((examples, planes))
}

//! [`LeftOut`]: what is in the data and was not learned from. It is part of every report: a proof is about what was learned from.

use super::{Example, TEACHING_TURN};
use serde::{Deserialize, Serialize};

/// What was not learned from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LeftOut {
    /// Pairs whose graphs are rotated too far against each other, or mirrored, for features that take them as given.
    pub rotated_pairs: usize,
    /// Labelled training pairs, these included.
    pub pairs: usize,
    /// Left nodes without a partner, if nodes may not stay unmatched.
    pub partnerless_nodes: usize,
    /// Left nodes whose partner is not known.
    pub unknown_nodes: usize,
}

impl LeftOut {
    /// Of these examples, and of pairs that are not among them.
    pub(super) fn of(examples: &[Example], rotated_pairs: usize) -> Self {
        let sum = |count: fn(&Example) -> usize| examples.iter().map(count).sum::<usize>();
        let (all, unknown_nodes) = (sum(Example::left_out), sum(|example| example.unknown().len()));
        let pairs = rotated_pairs + examples.len();
        Self { rotated_pairs, pairs, partnerless_nodes: all.saturating_sub(unknown_nodes), unknown_nodes }
    }

    /// Of these and others together.
    pub(super) fn add(&mut self, other: &Self) {
        self.rotated_pairs += other.rotated_pairs;
        self.pairs += other.pairs;
        self.partnerless_nodes += other.partnerless_nodes;
        self.unknown_nodes += other.unknown_nodes;
    }

    /// One sentence for each kind.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.rotated_pairs > 0 {
            sentences.push(format!(
                "{} of {} pairs were not learned from: their graphs are rotated by more than {TEACHING_TURN}° against each other, or mirrored, and these features take graphs as given. Errors and proofs are about the other {}.",
                self.rotated_pairs,
                self.pairs,
                self.pairs - self.rotated_pairs
            ));
        }
        if self.partnerless_nodes > 0 {
            sentences.push(format!(
                "{} left nodes without a partner were not learned from: this model matches every node it can.",
                self.partnerless_nodes
            ));
        }
        if self.unknown_nodes > 0 {
            sentences
                .push(format!("{} left nodes whose partner is unknown were not learned from.", self.unknown_nodes));
        }
        sentences
    }
}

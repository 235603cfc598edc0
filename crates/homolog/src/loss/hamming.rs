//! The fraction of labelled left nodes that are not matched to their true partner (equation 8 of the paper, where every node has a
//! label: 1 - Σ y_ik truth_ik / |truth|²). A labelled node left unmatched is wrong. With N labelled nodes:
//!
//!   constant = 1,   cells = -1/N at the true pairs, 0 elsewhere
//!
//! The paper as printed adds the true cells to the problem instead of subtracting them; with that sign its own lemma fails.

use super::{Loss, LossTerms, check_sizes};
use crate::Result;
use crate::graph::Pair;
use crate::matching::Matching;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The fraction of labelled left nodes that are wrong; 0 if nothing is labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hamming {
    /// A left node without a partner in the truth is known to have none: it counts as labelled, and matching it to anything is
    /// wrong. Off by default: such a node is unlabelled and contributes nothing.
    pub unmatched_is_label: bool,
}

impl Loss for Hamming {
    fn terms(&self, pair: &Pair, truth: &Matching) -> Result<LossTerms> {
        let size = (pair.left.node_count(), pair.right.node_count());
        check_sizes(size, truth)?;
        let mut cells = Array2::zeros(size);
        let matched = truth.matched_count();
        let labelled = if self.unmatched_is_label { truth.left_count() } else { matched };
        if labelled == 0 {
            return Ok(LossTerms { constant: 0.0, cells });
        }
        let share = 1.0 / labelled as f64;
        for (i, k) in truth.pairs() {
            cells[[i, k]] = -share;
        }
        if self.unmatched_is_label {
            truth.unmatched_left().for_each(|i| cells.row_mut(i).fill(share));
        }
        Ok(LossTerms { constant: matched as f64 * share, cells })
    }
}

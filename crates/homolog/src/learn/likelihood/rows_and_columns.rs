//! Linear models: how likely the truth is in each row and in each column of the scores.
//!
//! Row of left node i with partner k: -log of the share exp(c_ik) / Σ_l exp(c_il), where "unmatched" is another column if it has a
//! price. Column of right node k with partner i: -log of exp(c_ik) / Σ_j exp(c_jk), if right nodes may be used only once. A left node
//! without a partner has a row if staying unmatched has a price, and is left out of everything if it has none.

use super::share::Shares;
use crate::matching::{Constraint, Matching};
use ndarray::Array2;

/// Which nodes count, and how.
pub(super) struct RowsAndColumns {
    /// Left nodes about which something is known.
    known: Vec<usize>,
    /// (left, right) of the columns that count.
    columns: Vec<(usize, usize)>,
    priced: bool,
}

impl RowsAndColumns {
    pub(super) fn new(truth: &Matching, constraint: Constraint, priced: bool) -> Self {
        let known = (0..truth.left_count()).filter(|&i| priced || truth.right_of(i).is_some()).collect();
        let columns = if constraint == Constraint::OneToOne { truth.pairs().collect() } else { Vec::new() };
        Self { known, columns, priced }
    }

    pub(super) fn group_count(&self) -> usize {
        self.known.len() + self.columns.len()
    }

    /// Adds up -log of the shares. Adds to `amounts` how much of each cell the others take, minus what the truth gives up; returns
    /// the value and the same amount for "unmatched".
    pub(super) fn add(
        &self,
        truth: &Matching,
        scores: &Array2<f64>,
        unmatched: f64,
        amounts: &mut Array2<f64>,
        shares: &mut Shares,
    ) -> (f64, f64) {
        let (mut value, mut unmatched_amount) = (0.0, 0.0);
        for &i in &self.known {
            let partner = truth.right_of(i);
            let own = partner.map_or(unmatched, |k| scores[[i, k]]);
            shares.clear();
            shares.extend(scores.row(i).iter().map(|score| score - own));
            if let Some(k) = partner {
                shares.set(k, 0.0);
            }
            if self.priced {
                shares.extend([unmatched - own]);
            }
            value += shares.normalize_among();
            for (amount, share) in amounts.row_mut(i).iter_mut().zip(shares.values()) {
                *amount += share;
            }
            if self.priced {
                unmatched_amount += shares.values()[scores.ncols()];
            }
            match partner {
                Some(k) => amounts[[i, k]] -= 1.0,
                None => unmatched_amount -= 1.0,
            }
        }
        for &(i, k) in &self.columns {
            let own = scores[[i, k]];
            shares.clear();
            shares.extend(self.known.iter().map(|&j| scores[[j, k]] - own));
            value += shares.normalize_among();
            for (&j, share) in self.known.iter().zip(shares.values()) {
                amounts[[j, k]] += share;
            }
            amounts[[i, k]] -= 1.0;
        }
        (value, unmatched_amount)
    }
}

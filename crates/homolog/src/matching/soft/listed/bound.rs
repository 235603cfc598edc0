//! An upper bound on every matching's score, over all pairs: each left edge counts as the best it could do, as in `soft/bound.rs`.
//!
//! With b_ik the most that the edges leaving i add at k (`reach`), no matching scores more than the best linear assignment of
//! node_ik + b_ik, and by weak duality (the formulas of `verify`), for any right values r >= 0, that is at most
//!
//!   Σ_i max(unmatched_i, max_k (node_ik + b_ik - price_k - r_k))  +  Σ_k r_k  +  Σ_k price_k.
//!
//! r comes from that linear problem on the candidates alone; the maxima are over all k, in one pass: b_ik is computed only where
//! node_ik + B_i could be a maximum, and where that is so for many k, B_i stands for b_ik with most of them. Left nodes that
//! compete for too few right nodes (the crowd of the linear part) are bounded the other way round, with left values, as in `verify`.

use super::super::pairs::Pairs;
use super::Listed;
use super::reach::worth_at;
use crate::Result;
use crate::matching::linear::{Best, Prices, raise};
use crate::matching::{Certificate, Linear, Matcher, Sparse, Workspace};

/// In each row b is computed for this many right nodes at most.
const LOOKS: usize = 64;

/// What a block of rows contributes.
#[derive(Default)]
struct Part {
    open: f64,
    /// The most that each right node of the crowd is worth to a left node of the crowd.
    worth: Vec<f64>,
}

impl Listed<'_> {
    /// The bound. Slightly above the exact value, so that rounding never makes it false; plus infinity where it is out of range, or where the
    /// caller will not wait for it.
    pub(super) fn bound(&self, work: &mut Workspace) -> Result<f64> {
        let cells = &self.cells;
        let mut scores = cells.scores.clone();
        for i in 0..cells.left_count() {
            for cell in cells.of_node(i) {
                let k = cells.columns[cell] as usize;
                scores[cell] += worth_at(self.edge, i, k) - self.right_prices[k];
            }
        }
        let prices = (!self.prices.is_empty()).then(|| self.prices.clone());
        let sparse =
            Sparse::of_rows(cells.right_count, cells.starts().to_vec(), cells.columns.clone(), scores.clone(), prices);
        let Some(found) = Linear::default().solve_with(&sparse, work)?.certificate else { return Ok(f64::INFINITY) };
        let certificate = Certificate {
            left: found.left.iter().map(|dual| dual.max(0.0)).collect(),
            right: found.right.iter().map(|dual| dual.max(0.0)).collect(),
            crowd: self.certificate.crowd.clone(),
        };
        let Some(total) = self.price_all(&certificate, &scores, work)? else { return Ok(f64::INFINITY) };
        let duals: f64 = certificate.left.iter().chain(&certificate.right).sum();
        // Each of the sums has fewer terms than this, each off by at most the last digit of the size of the whole.
        let terms = (cells.left_count() + cells.right_count + self.edge.left_edges().len() + 8) as f64;
        let bound = total + (self.size + duals) * terms * f64::EPSILON;
        Ok(if bound.is_nan() { f64::INFINITY } else { bound })
    }

    /// The sum above, given node + b - price of the candidates. `None` if the caller will not wait.
    fn price_all(&self, certificate: &Certificate, scores: &[f64], work: &Workspace) -> Result<Option<f64>> {
        let prices = Prices::new(self.problem, certificate);
        let m = self.cells.right_count;
        // A crowd's right nodes are worth this at least.
        let mut known = vec![f64::NEG_INFINITY; if certificate.crowd.is_some() { m } else { 0 }];
        for i in (0..self.cells.left_count()).filter(|&i| prices.in_crowd[i]) {
            for cell in self.cells.of_node(i) {
                let k = self.cells.columns[cell] as usize;
                known[k] = known[k].max(scores[cell] - certificate.left[i]);
            }
        }
        let parts = self.problem.each_block(work.control(), |block| {
            let mut part = Part { open: 0.0, worth: known.clone() };
            let mut best = Best::new(LOOKS);
            for (i, row) in block.rows() {
                if prices.in_crowd[i] {
                    self.look_at_crowded(i, row, &prices, certificate.left[i], &mut part.worth);
                } else {
                    part.open += self.best_open(i, row, &prices.open, scores, &mut best);
                }
            }
            Ok(part)
        })?;
        let Some(parts) = parts else { return Ok(None) };
        let mut total: f64 = self.right_prices.iter().sum();
        let mut worth = known;
        for part in &parts {
            total += part.open;
            raise(&mut worth, &part.worth, 0.0);
        }
        for (i, left) in certificate.left.iter().enumerate().filter(|&(i, _)| prices.in_crowd[i]) {
            debug_assert!(self.is_forced(i), "a crowd must be matched");
            total += left;
        }
        for k in 0..m {
            total += if prices.crowded[k] { worth[k] } else { certificate.right[k] };
        }
        Ok(Some(total))
    }

    /// max(unmatched_i, max_k (node_ik + b_ik - price_k - r_k)), or more; `prices` are price_k + r_k.
    fn best_open(&self, i: usize, row: &[f64], prices: &[f64], scores: &[f64], best: &mut Best) -> f64 {
        let mut most = self.problem.unmatched_score(i);
        for cell in self.cells.of_node(i) {
            let k = self.cells.columns[cell] as usize;
            most = most.max(scores[cell] - (prices[k] - self.right_prices[k]));
        }
        let reach = self.reach.most[i];
        best.begin(most - reach);
        best.scan(row, prices, 0);
        let is_cut = best.entries.len() == LOOKS;
        for &(value, k) in &best.entries {
            most = most.max(value + worth_at(self.edge, i, k as usize));
        }
        if is_cut { most.max(best.to_beat + reach) } else { most }
    }

    /// Raises `worth` of right nodes to node_ik + b_ik - price_k - l_i, or more.
    fn look_at_crowded(&self, i: usize, row: &[f64], prices: &Prices, left: f64, worth: &mut [f64]) {
        let (reach, mut looks) = (self.reach.most[i], 0);
        for (k, &score) in row.iter().enumerate() {
            if score == f64::NEG_INFINITY || !prices.crowded[k] {
                continue;
            }
            let value = score - self.right_prices[k] - left;
            if value + reach > worth[k] {
                looks += 1;
                let own = if looks > LOOKS { reach } else { worth_at(self.edge, i, k) };
                worth[k] = worth[k].max(value + own);
            }
        }
    }
}

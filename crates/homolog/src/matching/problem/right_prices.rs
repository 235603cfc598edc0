//! Prices of right nodes, folded into the node scores: every solver but brute force sees a problem without them.
//!
//!   Σ node_ik y_ik + Σ_(k unmatched) r_k  =  Σ_k r_k + Σ (node_ik - r_k) y_ik     for one-to-one matchings
//!
//! For a left node that has a price itself, its best choice is also subtracted from all of them, so that large scores do not swallow small
//! ones. Differences are rounded; how much that can change a matching's score is known, and a proof that it could overturn is not called one.

use super::{Certificate, Compatibility, Differences, Matching, PART, Precise, Solution, Status};
use crate::Result;
use std::borrow::Cow;

/// With no more nodes than this nothing may be hidden: the problem is quickly solved without folding.
const SMALL: usize = 16;

/// A problem without prices of right nodes, and what is needed to translate its answer back.
pub(crate) struct FoldedPrices<'a> {
    pub(crate) problem: Cow<'a, Compatibility>,
    /// What the folded scores leave out.
    constant: Precise,
    /// No matching's folded score is off by more than this.
    rounding: f64,
    /// Σ_k |r_k|.
    price_size: f64,
    /// The smallest size of a score or a price that is not zero.
    least: f64,
}

impl<'a> FoldedPrices<'a> {
    /// The problem itself where right nodes have no price.
    pub(crate) fn of(problem: &'a Compatibility) -> Self {
        let Some(prices) = &problem.right_unmatched else {
            let (constant, problem) = (Precise::default(), Cow::Borrowed(problem));
            return Self { problem, constant, rounding: 0.0, price_size: 0.0, least: 0.0 };
        };
        let mut folded = Compatibility { right_unmatched: None, ..problem.clone() };
        let mut constant: Precise = prices.iter().map(|&price| Precise::new(price)).sum();
        let mut rounding = 0.0;
        for (i, mut row) in folded.node.rows_mut().into_iter().enumerate() {
            // A node that must be matched scores 0 if it is left over: that choice could not be shifted.
            let own = problem.unmatched_score(i);
            let top = row.iter().zip(prices).map(|(score, price)| score - price).fold(own, f64::max);
            let shift = if own > f64::NEG_INFINITY { top } else { 0.0 };
            constant = constant.plus(Precise::new(shift));
            let round = |exact: Precise, rounded: &mut f64| {
                *rounded = exact.value();
                exact.minus(Precise::new(*rounded)).value().abs()
            };
            let mut most = 0.0_f64;
            for (score, &price) in row.iter_mut().zip(prices).filter(|(score, _)| score.is_finite()) {
                most = most.max(round(Precise::difference(*score, price).minus(Precise::new(shift)), score));
            }
            if let Some(own) = folded.unmatched.as_mut().map(|scores| &mut scores[i]).filter(|own| own.is_finite()) {
                most = most.max(round(Precise::difference(*own, shift), own));
            }
            rounding += most;
        }
        let price_size = prices.iter().map(|price| price.abs()).sum();
        let all = problem.node.iter().chain(prices).chain(problem.unmatched.iter().flatten());
        let least = all.map(|score| score.abs()).filter(|&size| size > 0.0).fold(f64::INFINITY, f64::min);
        Self { problem: Cow::Owned(folded), constant, rounding, price_size, least }
    }

    /// Whether nothing was folded.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.problem, Cow::Borrowed(_))
    }

    /// A score of the folded problem as a score of the given problem.
    pub(crate) fn unfolded(&self, score: f64) -> f64 {
        if self.is_plain() { score } else { self.constant.plus(Precise::new(score)).value() }
    }

    /// A bound on the folded scores as a bound on the given ones.
    pub(crate) fn unfolded_bound(&self, bound: f64) -> f64 {
        if self.is_plain() || !bound.is_finite() {
            return bound;
        }
        self.constant.plus(Precise::new(bound)).plus(Precise::new(self.rounding())).rounded_up()
    }

    /// How much the difference of two matchings' scores may be off.
    pub(crate) fn rounding(&self) -> f64 {
        2.0 * self.rounding
    }

    /// Turns the answer to the folded problem into one to the given problem. A proof that has no certificate has to allow for [`Self::rounding`]
    /// itself.
    pub(crate) fn carry_back(&self, given: &Compatibility, mut solution: Solution) -> Result<Solution> {
        if self.is_plain() {
            return Ok(solution);
        }
        solution.score = given.score(&solution.matching)?;
        let certificate = solution.certificate.as_ref();
        let is_kept = certificate.is_none_or(|certificate| self.keeps_proof(&solution.matching, certificate));
        if solution.status == Status::Optimal && !is_kept {
            solution.status = Status::Converged;
        }
        let bound = self.unfolded_bound(solution.bound);
        solution.bound = if solution.status == Status::Optimal { solution.score } else { bound.max(solution.score) };
        Ok(solution)
    }

    /// Whether a matching of node scores proven best for the folded scores is also best for the given ones: rounding changes scores by at
    /// most a small part of the prices plus what the answer falls short of everyone's best; and of all scores, or, if there are many, of the
    /// usual difference between choices. Where left nodes compete for too few right nodes, the right nodes choose.
    pub(crate) fn keeps_proof(&self, matching: &Matching, certificate: &Certificate) -> bool {
        if self.rounding == 0.0 {
            return true;
        }
        let problem = &self.problem;
        let (n, m) = problem.node.dim();
        if n + m <= SMALL {
            return false;
        }
        let (mut in_crowd, mut crowded) = (vec![false; n], vec![false; m]);
        if let Some(crowd) = &certificate.crowd {
            crowd.left.iter().for_each(|&i| in_crowd[i] = true);
            crowd.right.iter().for_each(|&k| crowded[k] = true);
        }
        let most = |scores: &mut dyn Iterator<Item = f64>| scores.fold(f64::NEG_INFINITY, f64::max);
        let (mut size, mut choosers, mut differences) = (self.price_size, 0, Differences::default());
        for i in (0..n).filter(|&i| !in_crowd[i]) {
            let row = problem.node.row(i);
            let own = matching.right_of(i).map_or(problem.unmatched_score(i), |k| row[k]);
            let top = most(&mut row.iter().copied().chain([problem.unmatched_score(i)]));
            size += if own.is_finite() { top - own } else { 0.0 };
            if choosers % Differences::step(n) == 0 {
                let gains = row.iter().zip(&certificate.right).map(|(score, right)| score - right);
                differences.add(gains.chain([problem.unmatched_score(i)]));
            }
            choosers += 1;
        }
        for k in (0..m).filter(|&k| crowded[k]) {
            let column = problem.node.column(k);
            size += matching.left_of(k).map_or(0.0, |i| most(&mut column.iter().copied()) - column[i]);
            differences.add(column.iter().zip(&certificate.left).map(|(score, left)| score - left));
            choosers += 1;
        }
        self.rounding() <= PART * size.min(choosers as f64 * self.least.max(differences.usual()))
    }
}

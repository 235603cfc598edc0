//! The inner problem of the bundle method, solved in its dual by an active-set method that starts from its last answer.
//!
//! Cuts i with slope v_i and offset b_i belong to parts; the model of the risk is Σ_part max_(i in part) (b_i + v_i·w).
//! Its regularised minimum and the dual of that are
//!
//!   min_w  lambda/2 |w|² + Σ_part max_(i in part) (b_i + v_i·w)
//!   = max_x  Σ_i x_i b_i - |Σ_i x_i v_i|² / (2 lambda),      x >= 0, Σ_(i in part) x_i = 1 for every part
//!
//! with w = -Σ_i x_i v_i / lambda. A cut without a part is the constraint b_i + v_i·w <= 0; its x_i has no sum to keep. Every feasible x
//! gives a lower bound, so the reported bound is the dual value of the x found, and holds however accurate x is.
//!
//! One cut of each part, its anchor, takes what the others leave of the sum; the other cuts in use (members) enter through the
//! differences u_i = v_i - v_anchor, which are kept linearly independent and factorised ([`Factor`]). A cut violated at w enters.
//! If its u is independent, x moves to the best for the larger set; if not, x moves along the one dependence, on which the bound
//! grows linearly. Either way a cut whose x reaches zero leaves. At most dim + parts cuts are in use; a change of one costs
//! O((dim + parts)·dim), a look at all n cuts O(n·dim).

mod in_use;
mod pricing;

use super::checks::check_size;
use super::cut::{Cut, values};
use super::factor::{Factor, Split};
use super::vector::{add_all, add_scaled, dot};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A cut is violated if it exceeds its level by more than this fraction of the bound's own terms: the bound is then exact to about that.
const TOLERANCE: f64 = 1e-13;
/// Lengths below this fraction of the vectors they are a difference of are rounding.
const INDEPENDENT: f64 = 1e-12;
/// What is left of the anchors' slopes is rounding if it is below this fraction of them.
const NO_PULL: f64 = 1e-14;
/// A cut shorter than this fraction of the anchor's length becomes the anchor itself.
const SHORT: f64 = 1e-2;
/// A share that shrinks more slowly than this fraction of the fastest does not shrink: that is rounding.
const STILL: f64 = 1e-13;
/// This many rounds without gain may be needed where many cuts meet in a point; more than that is rounding.
const PATIENCE: usize = 20;
/// Cuts enter after this many looks at all of them before x and w are computed afresh.
const LOOKS: usize = 20;
/// The factor is rebuilt after this many changes, before rounding errors add up.
const REBUILD: usize = 20_000;

/// The dual solution, and what makes the next solve fast.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SimplexQp {
    /// x, one per cut.
    pub(super) share: Vec<f64>,
    /// One cut per part.
    anchors: Vec<usize>,
    /// The other cuts in use, in the order of the factor.
    members: Vec<usize>,
    factor: Factor,
}

/// The minimum of the model.
pub(super) struct Inner {
    pub(super) weights: Vec<f64>,
    /// The dual value: a lower bound on the minimum of the model.
    pub(super) bound: f64,
}

/// What keeps shares from moving further.
enum Blocker {
    Member(usize),
    Anchor(usize),
}

impl SimplexQp {
    /// Minimises the model of all the cuts; every part must have one.
    pub(super) fn solve(&mut self, cuts: &[Cut], parts: usize, lambda: f64) -> Inner {
        self.share.resize(cuts.len(), 0.0);
        for part in self.anchors.len()..parts {
            if let Some(first) = cuts.iter().position(|cut| cut.part == Some(part)) {
                self.anchors.push(first);
                self.share[first] = 1.0;
            }
        }
        if self.factor.changes() > REBUILD {
            self.rebuild(cuts);
        }
        let mut inner = self.inner(cuts, lambda);
        let mut rounds_without_gain = 0;
        let most_rounds = 100 + 10 * (parts + inner.weights.len());
        // A round that gains never returns to an earlier choice of cuts, so this terminates. The limits guard against rounding.
        for _round in 0..most_rounds {
            let before = inner.bound;
            // The first time for what is new since the last solve; later against rounding.
            inner = self.settle(cuts, lambda, inner);
            let gained = inner.bound - before > TOLERANCE * before.abs();
            rounds_without_gain = if gained { 0 } else { rounds_without_gain + 1 };
            inner.weights = self.weights(cuts, lambda);
            let mut is_done = true;
            for _look in 0..LOOKS {
                let standing = self.look_at_all(cuts, &inner);
                if self.enter_furthest(cuts, standing, lambda, &mut inner) == 0 {
                    break;
                }
                is_done = false;
            }
            if is_done || rounds_without_gain > PATIENCE {
                break;
            }
            self.anchor_short(cuts);
            inner.weights = self.inner(cuts, lambda).weights;
        }
        self.normalise(cuts);
        Inner { bound: self.inner(cuts, lambda).bound, weights: self.weights(cuts, lambda) }
    }

    /// Every cut in use: anchors, then members.
    pub(super) fn in_use(&self) -> impl Iterator<Item = usize> + '_ {
        self.anchors.iter().chain(&self.members).copied()
    }

    /// The value of each part's model at a point where it was just minimised.
    pub(super) fn levels(&self, cuts: &[Cut], weights: &[f64]) -> Vec<f64> {
        values(cuts, &self.anchors, weights)
    }

    /// Whether it fits this many cuts, parts and weights.
    pub(super) fn check(&self, cuts: &[Cut], parts: usize, dim: usize) -> Result<()> {
        let count = cuts.len();
        let shares = self.share.len().checked_sub(1);
        if let Some(index) = self.in_use().chain(shares).max().filter(|&most| most >= count) {
            return Err(Error::OutOfRange { what: "planes in the state", index, count });
        }
        if let Some(index) = self.in_use().max().filter(|&most| most >= self.share.len()) {
            return Err(Error::OutOfRange { what: "shares in the state", index, count: self.share.len() });
        }
        if !self.anchors.is_empty() {
            check_size("anchors in the state", parts, self.anchors.len())?;
            for (part, &anchor) in self.anchors.iter().enumerate() {
                // A constraint has no part: the number one past the last stands for it.
                check_size("part of an anchor in the state", part, cuts[anchor].part.unwrap_or(parts))?;
            }
        }
        self.factor.check(self.members.len(), dim)
    }

    /// Renumbers after cuts were removed: `new[i]` is where cut i is now; every cut in use must still be there.
    pub(super) fn renumber(&mut self, new: &[Option<usize>]) {
        let mut old = 0;
        self.share.retain(|_| {
            old += 1;
            new[old - 1].is_some()
        });
        for index in self.anchors.iter_mut().chain(&mut self.members) {
            *index = new[*index].unwrap_or(*index);
        }
    }

    /// w and the bound of the current x.
    fn inner(&self, cuts: &[Cut], lambda: f64) -> Inner {
        let mut weights = vec![0.0; cuts.first().map_or(0, |cut| cut.slope.len())];
        let shares: Vec<f64> = self.in_use().map(|i| self.share[i]).collect();
        let slopes: Vec<&[f64]> = self.in_use().map(|i| cuts[i].slope.as_slice()).collect();
        add_all(&mut weights, &shares, &slopes);
        let mut bound: f64 = self.in_use().map(|i| self.share[i] * cuts[i].offset).sum();
        for weight in &mut weights {
            *weight /= -lambda;
        }
        bound -= 0.5 * lambda * dot(&weights, &weights);
        Inner { weights, bound }
    }

    /// The w at which all members are level with their anchors, and which the rest of the anchors' slopes pulls away from that as
    /// little as lambda allows: the same as -Σ x_i v_i / lambda once x has settled, but exact even if lambda is so small that the
    /// terms of that sum nearly cancel.
    fn weights(&self, cuts: &[Cut], lambda: f64) -> Vec<f64> {
        let offset = |i: usize| cuts[i].offset - cuts[i].part.map_or(0.0, |part| cuts[self.anchors[part]].offset);
        let mut pull = vec![0.0; cuts.first().map_or(0, |cut| cut.slope.len())];
        let mut scale = 0.0;
        for &anchor in &self.anchors {
            add_scaled(&mut pull, 1.0, &cuts[anchor].slope);
            scale += cuts[anchor].length;
        }
        let mut weights = self.factor.shortest(self.members.iter().map(|&i| -offset(i)).collect(), pull.len());
        let pull = self.factor.split(pull);
        if pull.rest_length > NO_PULL * scale {
            add_scaled(&mut weights, -1.0 / lambda, &self.factor.rest(pull));
        }
        weights
    }

    /// Moves x, whose answer is `inner`, to the best for the cuts in use; those that reach zero along the way leave.
    fn settle(&mut self, cuts: &[Cut], lambda: f64, mut inner: Inner) -> Inner {
        loop {
            let anchored = self.levels(cuts, &inner.weights);
            let mut step = values(cuts, &self.members, &inner.weights);
            for (by, &i) in step.iter_mut().zip(&self.members) {
                *by = lambda * (*by - cuts[i].part.map_or(0.0, |part| anchored[part]));
            }
            self.factor.solve_normal(&mut step);
            let (_, blocker) = self.advance(cuts, &step, None, 1.0);
            inner = self.inner(cuts, lambda);
            match blocker {
                Some(blocker) => self.leave(cuts, &blocker, None),
                None => return inner,
            }
        }
    }

    /// Moves the members by `step`, the entering cut by 1 and the anchors so that sums are kept, all times the largest number up to
    /// `limit` that keeps x >= 0; returns that number and what stopped it.
    fn advance(&mut self, cuts: &[Cut], step: &[f64], entering: Option<usize>, limit: f64) -> (f64, Option<Blocker>) {
        let mut anchor_step = vec![0.0; self.anchors.len()];
        for (&i, &by) in self.members.iter().zip(step) {
            if let Some(part) = cuts[i].part {
                anchor_step[part] -= by;
            }
        }
        if let Some(part) = entering.and_then(|i| cuts[i].part) {
            anchor_step[part] -= 1.0;
        }
        let fastest = step.iter().chain(&anchor_step).fold(0.0_f64, |most, by| most.max(-by));
        let (mut reach, mut blocker) = (limit, None);
        // Which shares shrink is as good as random, which of them block is not: so that is what is asked first.
        for (position, (&i, &by)) in self.members.iter().zip(step).enumerate() {
            if self.share[i] < -by * reach && by < -STILL * fastest {
                reach = self.share[i] / -by;
                blocker = Some(Blocker::Member(position));
            }
        }
        for (part, (&i, &by)) in self.anchors.iter().zip(&anchor_step).enumerate() {
            if self.share[i] < -by * reach && by < -STILL * fastest {
                reach = self.share[i] / -by;
                blocker = Some(Blocker::Anchor(part));
            }
        }
        if reach == f64::INFINITY {
            return (0.0, None);
        }
        for (&i, &by) in self.members.iter().chain(&self.anchors).zip(step.iter().chain(&anchor_step)) {
            self.share[i] = (self.share[i] + reach * by).max(0.0);
        }
        if let Some(entering) = entering {
            self.share[entering] += reach;
        }
        (reach, blocker)
    }

    /// Brings a cut that exceeds its level by `violation` into use and moves x to the best for the cuts in use, and `weights` with it.
    /// Before, x was the best for the others; so they are level with each other, and the residual is λ · violation at the entering cut and
    /// zero elsewhere, all the way: the weights move only along the last direction of the factor.
    fn enter(&mut self, cuts: &[Cut], entering: usize, mut violation: f64, lambda: f64, weights: &mut [f64]) {
        if let Err(dependent) = self.join(cuts, entering) {
            self.exchange(cuts, entering, &dependent);
        }
        while self.members.last() == Some(&entering) {
            let step = self.factor.solve_normal_last(lambda * violation);
            let (reach, blocker) = self.advance(cuts, &step, None, 1.0);
            if let Some((direction, length)) = self.factor.last() {
                add_scaled(weights, -reach * violation / length, direction);
            }
            let Some(blocker) = blocker else { return };
            violation *= 1.0 - reach;
            self.leave(cuts, &blocker, None);
        }
    }

    /// For a cut that depends on the others: moves x along the dependence, where the residual does not change, until one of
    /// them leaves; the cut then takes its place.
    fn exchange(&mut self, cuts: &[Cut], entering: usize, dependent: &Split) {
        let step: Vec<f64> = self.factor.coefficients(dependent).iter().map(|by| -by).collect();
        let (_, Some(blocker)) = self.advance(cuts, &step, Some(entering), f64::INFINITY) else { return };
        self.leave(cuts, &blocker, Some(entering));
        // If the cut depends on the others even without the one that left, there is nothing to gain but rounding.
        if !self.anchors.contains(&entering) && self.join(cuts, entering).is_err() {
            self.give_back(cuts, entering);
        }
    }

    /// Makes the sums exactly one again, as far as floating point allows.
    fn normalise(&mut self, cuts: &[Cut]) {
        let mut sums = vec![0.0; self.anchors.len()];
        for i in self.in_use() {
            if let Some(part) = cuts[i].part {
                sums[part] += self.share[i];
            }
        }
        for (share, cut) in self.share.iter_mut().zip(cuts) {
            if let Some(part) = cut.part {
                *share /= sums[part];
            }
        }
    }
}

#[cfg(test)]
mod tests;

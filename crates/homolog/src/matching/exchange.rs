//! What forbidding a pair of a best matching costs, for every pair, without solving again: [`Exchange`].
//!
//! Let y be a best matching of a linear problem. Any other matching differs from y by cycles in which each left node takes the place of the
//! next one. None of these raises the score, so the best matching without the pair (i, k) differs from y by one cycle alone, the cheapest
//! through that pair. Two more places close the cycles that end at unmatched nodes: "free" (a left node takes a free right node or stays
//! unmatched at its price; the right node at the other end is left free or goes to a left node that was unmatched) and "left over" (the
//! same among left nodes that must be matched if there are too few right nodes). With own_a the score of a in y,
//!
//!   e_ab = own_a - score of a at the place of b - v_a + v_b >= 0
//!
//! for the right prices v, which cancel along a cycle. All e_ab are non-negative, so the cheapest cycle is a shortest path: O(n²) for each
//! pair at most, and usually a few steps, because no path is followed beyond the best swap.
//!
//! **Digits.** The prices of the certificate are as large as the scores, and so is their rounding. e_ab is computed from differences with
//! their rounding errors added back; where it is negative all the same, the prices are raised (`settle`). Numbers that are not negative
//! add up without cancelling, so the cheapest cycle is found whatever constants rows and columns share, and its cost is added up from its own
//! terms with twice the digits.

use super::problem::{Precise, two_sum};
use super::{Compatibility, Matching, Solution};
use crate::Control;
use ndarray::Array2;

/// Prices are corrected this often at most; one round is enough unless they were far off.
const ROUNDS: usize = 4;

/// So many steps are taken between two questions whether to go on: some microseconds.
const BETWEEN_QUESTIONS: usize = 1 << 14;

/// The exchanges of places around a matching of a linear one-to-one problem.
pub(super) struct Exchange<'a> {
    problem: &'a Compatibility,
    /// The matched pairs; places beyond them are `free` and `left_over`.
    pairs: Vec<(usize, usize)>,
    free_right: Vec<usize>,
    /// Unmatched left nodes that have a price, and those that must be matched.
    staying: Vec<usize>,
    left_over: Vec<usize>,
    /// e_ab.
    excess: Array2<f64>,
    /// Whether it was told to stop: exchanges are missing or dearer than they are.
    pub(super) is_cut: bool,
}

/// The cheapest exchange through a pair: what it costs, and where left nodes go instead.
pub(super) struct Cheapest {
    pub(super) cost: f64,
    pub(super) changes: Vec<(usize, Option<usize>)>,
}

/// Memory for shortest paths, and whom to ask whether to go on.
pub(super) struct Paths {
    control: Control,
    /// Steps since the last question.
    steps: usize,
    is_stopped: bool,
    distance: Vec<f64>,
    before: Vec<usize>,
    is_done: Vec<bool>,
}

impl Paths {
    /// They end early once this control says so.
    pub(super) fn asking(control: &Control) -> Self {
        let (distance, before, is_done) = (Vec::new(), Vec::new(), Vec::new());
        Self { control: control.clone(), steps: BETWEEN_QUESTIONS, is_stopped: false, distance, before, is_done }
    }

    /// Whether they were told to stop: costs since then are at least what the cheapest exchange costs.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Counts steps, and asks now and then.
    fn goes_on(&mut self, steps: usize) -> bool {
        self.steps += steps;
        if self.steps >= BETWEEN_QUESTIONS {
            self.steps = 0;
            self.is_stopped |= self.control.interrupted();
        }
        !self.is_stopped
    }
}

/// A step of an exchange: what it costs, and where a left node goes.
type Step = (Precise, Option<(usize, Option<usize>)>);

impl<'a> Exchange<'a> {
    pub(super) fn around(problem: &'a Compatibility, solution: &Solution, control: &Control) -> Self {
        let matching = &solution.matching;
        let pairs: Vec<(usize, usize)> = matching.pairs().collect();
        let must = |&left: &usize| problem.unmatched_score(left) == f64::NEG_INFINITY;
        let (left_over, staying) = matching.unmatched_left().partition(must);
        let price = |k: usize| problem.right_unmatched.as_ref().map_or(0.0, |prices| prices[k]);
        let mut prices: Vec<f64> = match &solution.certificate {
            Some(certificate) => pairs.iter().map(|&(_, k)| certificate.right[k] + price(k)).collect(),
            None => vec![0.0; pairs.len()],
        };
        prices.extend([0.0; 2]);
        let size = prices.len();
        let free_right = matching.unmatched_right().collect();
        let excess = Array2::from_elem((size, size), f64::INFINITY);
        let mut exchange = Self { problem, pairs, free_right, staying, left_over, excess, is_cut: false };
        for _ in 0..ROUNDS {
            exchange.fill(&prices, control);
            if !exchange.settle(&mut prices, control) {
                break;
            }
        }
        // What is negative by now is rounding, or the matching is not the best.
        exchange.excess.mapv_inplace(|value| value.max(0.0));
        exchange
    }

    /// The place of all that is free, and of left nodes left over.
    fn places(&self) -> [usize; 2] {
        [self.pairs.len(), self.pairs.len() + 1]
    }

    /// Computes e_ab.
    fn fill(&mut self, prices: &[f64], control: &Control) {
        let count = self.pairs.len();
        for (a, &(i, own)) in self.pairs.iter().enumerate() {
            if a % asks_after(count) == 0 && control.interrupted() {
                self.is_cut = true;
                return;
            }
            let row = self.problem.node.row(i);
            let own = row[own];
            let mut entries = self.excess.row_mut(a);
            for ((entry, &(_, k)), price) in entries.iter_mut().zip(&self.pairs).zip(prices) {
                let score = row[k];
                let (loss, loss_error) = two_sum(own, -score);
                let (gain, gain_error) = two_sum(*price, -prices[a]);
                let excess = (loss + gain) + (loss_error + gain_error);
                *entry = if score > f64::NEG_INFINITY { excess } else { f64::INFINITY };
            }
        }
        for place in self.places() {
            for other in 0..count {
                for (a, b) in [(other, place), (place, other)] {
                    let step = self.step(a, b);
                    let excess = |(cost, _): Step| cost.plus(Precise::difference(prices[b], prices[a])).value();
                    self.excess[[a, b]] = step.map_or(f64::INFINITY, excess);
                }
            }
        }
    }

    /// Raises the prices until no e_ab is negative; whether there was any. A round for each place suffices around a best matching.
    fn settle(&mut self, prices: &mut [f64], control: &Control) -> bool {
        let mut raised = vec![0.0_f64; prices.len()];
        let mut is_changed = false;
        let size = prices.len();
        for _ in 0..size {
            let mut is_settled = true;
            for (a, row) in self.excess.rows().into_iter().enumerate() {
                if a % asks_after(size) == 0 && control.interrupted() {
                    self.is_cut = true;
                    return false;
                }
                let own = raised[a];
                for (b, &excess) in row.iter().enumerate() {
                    if own - excess > raised[b] && a != b {
                        raised[b] = own - excess;
                        is_settled = false;
                    }
                }
            }
            if is_settled {
                break;
            }
            is_changed = true;
        }
        prices.iter_mut().zip(&raised).for_each(|(price, more)| *price += more);
        is_changed
    }

    /// The cheapest way for a to take the place of b.
    fn step(&self, a: usize, b: usize) -> Option<Step> {
        let (problem, [free, left_over]) = (self.problem, self.places());
        let price = |k: usize| problem.right_unmatched.as_ref().map_or(0.0, |prices| prices[k]);
        let allowed = |i: usize, k: usize| Some(problem.node[[i, k]]).filter(|&score| score > f64::NEG_INFINITY);
        let own = |a: usize| self.pairs.get(a).map(|&(i, k)| (i, k, problem.node[[i, k]]));
        let cheapest = |steps: &mut dyn Iterator<Item = Step>| steps.min_by(|x, y| x.0.total_cmp(y.0));
        match (own(a), own(b)) {
            (Some((i, _, own)), Some((_, k, _))) => {
                allowed(i, k).map(|score| (Precise::difference(own, score), Some((i, Some(k)))))
            }
            (Some((i, _, own)), None) if b == free => {
                let stays = Some(problem.unmatched_score(i)).filter(|&score| score > f64::NEG_INFINITY);
                let stays = stays.map(|score| (Precise::difference(own, score), Some((i, None))));
                let to = |&k: &usize| {
                    let cost = Precise::difference(own, allowed(i, k)?).plus(Precise::new(price(k)));
                    Some((cost, Some((i, Some(k)))))
                };
                cheapest(&mut self.free_right.iter().filter_map(to).chain(stays))
            }
            (Some((i, _, own)), None) => {
                let must = problem.unmatched_score(i) == f64::NEG_INFINITY && !self.left_over.is_empty();
                must.then(|| (Precise::new(own), Some((i, None))))
            }
            (None, Some((_, k, _))) => {
                let takes = |&j: &usize| {
                    let before = Some(problem.unmatched_score(j)).filter(|score| score.is_finite()).unwrap_or(0.0);
                    Some((Precise::difference(before, allowed(j, k)?), Some((j, Some(k)))))
                };
                let (others, stays_free) = if a == left_over {
                    (&self.left_over, None)
                } else {
                    (&self.staying, Some((Precise::new(-price(k)), None)))
                };
                cheapest(&mut stays_free.into_iter().chain(others.iter().filter_map(takes)))
            }
            (None, None) => None,
        }
    }

    /// The cheapest exchange in which pair number `start` is given up; `None` if every feasible matching has the pair. Told to stop, the
    /// cheapest of those seen by then: at least those with one other place.
    pub(super) fn cheapest(&self, start: usize, paths: &mut Paths) -> Option<Cheapest> {
        let (excess, size) = (&self.excess, self.excess.nrows());
        let from = excess.row(start);
        paths.distance.clear();
        paths.distance.extend(from);
        paths.before.clear();
        paths.before.resize(size, start);
        paths.is_done.clear();
        paths.is_done.resize(size, false);
        paths.is_done[start] = true;
        let (mut best, mut last) = (f64::INFINITY, None);
        for b in (0..size).filter(|&b| b != start) {
            let cost = from[b] + excess[[b, start]];
            if cost < best {
                (best, last) = (cost, Some(b));
            }
        }
        loop {
            let mut nearest = (best, None);
            for (b, (&distance, &is_done)) in paths.distance.iter().zip(&paths.is_done).enumerate() {
                if distance < nearest.0 && !is_done {
                    nearest = (distance, Some(b));
                }
            }
            let (so_far, Some(at)) = nearest else { break };
            if !paths.goes_on(size) {
                break;
            }
            paths.is_done[at] = true;
            let row = excess.row(at);
            if so_far + row[start] < best {
                (best, last) = (so_far + row[start], Some(at));
            }
            for (b, &step) in row.iter().enumerate() {
                if so_far + step < paths.distance[b] && !paths.is_done[b] {
                    paths.distance[b] = so_far + step;
                    paths.before[b] = at;
                }
            }
        }
        let mut places = vec![start];
        let mut at = last?;
        while at != start {
            places.push(at);
            at = paths.before[at];
        }
        places.push(start);
        let steps = places.windows(2).rev().filter_map(|ends| self.step(ends[1], ends[0]));
        let (mut cost, mut changes) = (Precise::default(), Vec::with_capacity(places.len()));
        for (step, change) in steps {
            cost = cost.plus(step);
            changes.extend(change);
        }
        Some(Cheapest { cost: cost.value(), changes })
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
}

/// Of rows of this length, so many are computed between two questions.
fn asks_after(length: usize) -> usize {
    BETWEEN_QUESTIONS / length.max(1) + 1
}

/// A matching with some left nodes elsewhere.
pub(super) fn changed(matching: &Matching, changes: &[(usize, Option<usize>)]) -> crate::Result<Matching> {
    let mut map = matching.left_to_right().to_vec();
    changes.iter().for_each(|&(left, right)| map[left] = right);
    Matching::new(map, matching.right_count(), matching.constraint())
}

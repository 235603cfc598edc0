//! Robust tabu search (Taillard 1991) over matchings, with restarts: it always makes the best change that does not return to a place left
//! a short while ago, even downhill; a place not used for very long is forced; if nothing better turns up for long, the best is shaken.
//!
//! A change sends a node to a free right node, or leaves it unmatched where it may be, or lets two nodes swap. With the value of every
//! pair given all other nodes, v (`terms`), kept up to date, a change of one node is worth v(new) - v(old) and a swap needs a
//! correction only between neighbours. A step examines all changes, n²/2 swaps and n moves to each free right node, and making the change
//! costs as much again on dense graphs, deg·deg' on others.

use super::Growth;
use super::terms::{NONE, Terms};
use crate::matching::Constraint;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A pair not used for this many steps, times n m, is forced; Taillard recommends 2 to 5.
const FORGOTTEN: usize = 5;
/// The share of the nodes that are shuffled at successive restarts.
const SHAKES: [f64; 3] = [0.25, 0.5, 1.0];
/// A score has to be better by this fraction to count, above rounding errors.
const RELATIVE_GAIN: f64 = 1e-12;
/// What rounding adds up to between two refreshes, as a part of all scores together: a million steps at a few units of the last digit.
const DRIFT: f64 = 1e-9;

pub(in crate::matching) struct Tabu<'a> {
    gain: &'a Array2<f64>,
    terms: Terms<'a>,
    is_dense: bool,
    many_to_one: bool,
    /// Nodes that may choose to stay unmatched.
    may_rest: Vec<bool>,
    /// v.
    value: Array2<f64>,
    /// The matching, and the value of each node's place.
    right_of: Vec<usize>,
    owner: Vec<usize>,
    now: Vec<f64>,
    free: Vec<usize>,
    score: f64,
    /// A pair is closed until this step; the last column is staying unmatched.
    closed: Array2<usize>,
    step: usize,
    random: ChaCha8Rng,
    restarts: usize,
    /// The best score since the last restart, and the step when it was found.
    recent_best: f64,
    recent_step: usize,
    best: Vec<usize>,
    best_score: f64,
    /// A gain no larger than this may be rounding: the score is computed again before it counts.
    drift: f64,
}

/// `row` goes to `to`; `other`, if there is one, gets what `row` had.
#[derive(Clone, Copy)]
struct Change {
    gain: f64,
    row: usize,
    to: usize,
    other: usize,
}

/// The best changes of each kind seen so far.
#[derive(Default)]
struct Candidates {
    /// Unused for long: comes first.
    forced: Option<Change>,
    open: Option<Change>,
    /// Of the closed ones, the next to open: for when there is nothing else.
    oldest: Option<(usize, Change)>,
}

impl<'a> Tabu<'a> {
    /// Begins with nothing matched: `jump` comes next. `may_rest`: which nodes may choose to stay unmatched.
    pub(in crate::matching) fn new(growth: &Growth<'a>, may_rest: Vec<bool>, seed: u64) -> Self {
        let (n, m) = growth.gain.dim();
        let largest =
            growth.gain.iter().filter(|gain| gain.is_finite()).fold(0.0_f64, |largest, gain| largest.max(gain.abs()));
        let edges = growth.weight.abs() * growth.edge.magnitude() * growth.edge.left_edges().len() as f64;
        // Never used, in some order.
        let closed = Array2::from_shape_fn((n, m + 1), |(i, k)| i * (m + 1) + k);
        let terms = Terms::new(growth);
        Self {
            gain: growth.gain,
            is_dense: terms.are_dense(growth.edge),
            terms,
            many_to_one: growth.constraint == Constraint::ManyToOne,
            may_rest,
            value: growth.gain.clone(),
            right_of: vec![NONE; n],
            owner: vec![NONE; m],
            now: vec![0.0; n],
            free: Vec::new(),
            score: f64::NEG_INFINITY,
            step: closed.len() + 1,
            closed,
            random: ChaCha8Rng::seed_from_u64(seed),
            restarts: 0,
            recent_best: f64::NEG_INFINITY,
            recent_step: 0,
            best: Vec::new(),
            best_score: f64::NEG_INFINITY,
            drift: DRIFT * (largest * n as f64 + edges),
        }
    }

    /// The right node of each left node in the best matching so far.
    pub(in crate::matching) fn best(&self) -> Vec<Option<usize>> {
        self.best.iter().map(|&k| (k != NONE).then_some(k)).collect()
    }

    /// Whether a step is quick however many pairs of edges there are: only then is much searching worth its time.
    pub(in crate::matching) fn is_dense(&self) -> bool {
        self.is_dense
    }

    /// Steps since the last restart, or since the best matching after it was found.
    pub(in crate::matching) fn idle_steps(&self) -> usize {
        self.step - self.recent_step
    }

    /// Continues from a feasible matching.
    pub(in crate::matching) fn jump(&mut self, rights: &[Option<usize>]) {
        let places: Vec<usize> = rights.iter().map(|right| right.unwrap_or(NONE)).collect();
        self.take_up(&places);
    }

    fn take_up(&mut self, places: &[usize]) {
        self.right_of.copy_from_slice(places);
        self.owner.fill(NONE);
        for (i, &k) in places.iter().enumerate().filter(|&(_, &k)| k != NONE) {
            self.owner[k] = i;
        }
        self.refresh();
        (self.recent_best, self.recent_step) = (self.score, self.step);
        self.note_best();
    }

    /// Recomputes values and score: those kept up to date accumulate rounding errors.
    fn refresh(&mut self) {
        self.value.assign(self.gain);
        for (i, &k) in self.right_of.iter().enumerate().filter(|&(_, &k)| k != NONE) {
            self.terms.place(&mut self.value, i, NONE, k);
        }
        self.score = 0.0;
        for (i, &k) in self.right_of.iter().enumerate() {
            self.now[i] = if k == NONE { 0.0 } else { self.value[[i, k]] };
            if k != NONE {
                self.score += 0.5 * (self.gain[[i, k]] + self.now[i]);
            }
        }
        self.free.clear();
        self.free.extend((0..self.owner.len()).filter(|&k| self.many_to_one || self.owner[k] == NONE));
    }

    /// Makes up to `steps` changes; stops early when told to.
    pub(in crate::matching) fn run(&mut self, steps: usize, mut stop: impl FnMut() -> bool) {
        // Checking the clock costs as much as examining a hundred changes.
        let at_once = (1 << 14) / self.value.len().max(1) + 1;
        for at in 0..steps {
            if at % at_once == 0 && stop() {
                return;
            }
            let Some(change) = self.best_change() else { return };
            self.apply(change);
            if is_better(self.score, self.recent_best) && self.score - self.recent_best <= self.drift {
                self.refresh();
            }
            if is_better(self.score, self.recent_best) {
                (self.recent_best, self.recent_step) = (self.score, self.step);
                self.note_best();
            }
        }
    }

    /// Makes changes until nothing better has come for `patience` steps, at most `most` of them; returns how many.
    pub(in crate::matching) fn search(
        &mut self,
        patience: usize,
        most: usize,
        mut stop: impl FnMut() -> bool,
    ) -> usize {
        let start = self.step;
        while self.idle_steps() < patience && self.step - start < most {
            let before = self.step;
            self.run((patience - self.idle_steps()).min(most - (before - start)), &mut stop);
            if self.step == before || stop() {
                break;
            }
        }
        self.step - start
    }

    /// Shakes the best matching and continues from there.
    pub(in crate::matching) fn restart(&mut self) {
        let mut places = self.best.clone();
        let share = SHAKES[self.restarts % SHAKES.len()];
        self.restarts += 1;
        let n = places.len();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let count = (share * n as f64).ceil() as usize;
        for _ in 0..count.min(n) {
            let (i, j) = (self.random.random_range(0..n), self.random.random_range(0..n));
            let (k, l) = (places[i], places[j]);
            let is_open = |i: usize, k: usize| k == NONE || self.gain[[i, k]] > f64::NEG_INFINITY;
            // A node that may rest and one that must be matched swap only if both are matched.
            if is_open(i, l) && is_open(j, k) && (self.may_rest[i] == self.may_rest[j] || (k != NONE && l != NONE)) {
                places.swap(i, j);
            }
        }
        self.take_up(&places);
    }

    fn note_best(&mut self) {
        if !is_better(self.score, self.best_score) {
            return;
        }
        self.refresh();
        if is_better(self.score, self.best_score) {
            self.best_score = self.score;
            self.best.clone_from(&self.right_of);
        }
    }

    fn best_change(&self) -> Option<Change> {
        let mut candidates = Candidates::default();
        let rest = self.owner.len();
        for i in 0..self.right_of.len() {
            let a = self.right_of[i];
            for &k in &self.free {
                let there = self.value[[i, k]];
                if k != a && there > f64::NEG_INFINITY {
                    let closed = self.closed[[i, k]];
                    self.consider(
                        &mut candidates,
                        Change { gain: there - self.now[i], row: i, to: k, other: NONE },
                        [closed; 2],
                    );
                }
            }
            if a != NONE && self.may_rest[i] {
                let change = Change { gain: -self.now[i], row: i, to: NONE, other: NONE };
                self.consider(&mut candidates, change, [self.closed[[i, rest]]; 2]);
            }
            if !self.many_to_one {
                self.consider_swaps(&mut candidates, i, a);
            }
        }
        candidates.forced.or(candidates.open).or(candidates.oldest.map(|(_, change)| change))
    }

    #[inline]
    fn consider_swaps(&self, candidates: &mut Candidates, i: usize, a: usize) {
        let rest = self.owner.len();
        let column = |k: usize| if k == NONE { rest } else { k };
        for j in i + 1..self.right_of.len() {
            let b = self.right_of[j];
            if a == b {
                continue;
            }
            // No node that must be matched is left over for one that need not be.
            let (i_must, j_must) = (!self.may_rest[i], !self.may_rest[j]);
            if (a == NONE && j_must && !i_must) || (b == NONE && i_must && !j_must) {
                continue;
            }
            let there = if b == NONE { 0.0 } else { self.value[[i, b]] };
            let back = if a == NONE { 0.0 } else { self.value[[j, a]] };
            if there == f64::NEG_INFINITY || back == f64::NEG_INFINITY {
                continue;
            }
            // Each value counts the other node where it is now: the old term was subtracted twice, the new one never added.
            let correction = if a == NONE || b == NONE { 0.0 } else { self.terms.crossed(i, j, a, b) };
            let gain = there - self.now[i] + back - self.now[j] + correction;
            let closed = [self.closed[[i, column(b)]], self.closed[[j, column(a)]]];
            self.consider(candidates, Change { gain, row: i, to: b, other: j }, closed);
        }
    }

    #[inline]
    fn consider(&self, candidates: &mut Candidates, change: Change, closed: [usize; 2]) {
        let better = |best: Option<Change>| best.is_none_or(|best| change.gain > best.gain);
        let (first, last) = (closed[0].min(closed[1]), closed[0].max(closed[1]));
        if last + FORGOTTEN * self.value.len() < self.step {
            if better(candidates.forced) {
                candidates.forced = Some(change);
            }
        } else if first <= self.step || is_better(self.score + change.gain, self.best_score) {
            if better(candidates.open) {
                candidates.open = Some(change);
            }
        } else if candidates.open.is_none() && candidates.oldest.is_none_or(|(since, _)| first < since) {
            candidates.oldest = Some((first, change));
        }
    }

    fn apply(&mut self, change: Change) {
        let Change { gain, row, to, other } = change;
        self.step += 1;
        self.score += gain;
        let (from, rest) = (self.right_of[row], self.owner.len());
        let column = |k: usize| if k == NONE { rest } else { k };
        self.closed[[row, column(from)]] = self.step + self.tenure();
        if other != NONE {
            self.closed[[other, column(to)]] = self.step + self.tenure();
        }
        if other != NONE && from != NONE && to != NONE {
            self.terms.swap(&mut self.value, [row, from], [other, to]);
        } else {
            if other != NONE {
                self.terms.place(&mut self.value, other, to, from);
            }
            self.terms.place(&mut self.value, row, from, to);
        }
        self.right_of[row] = to;
        if other != NONE {
            self.right_of[other] = from;
        }
        if !self.many_to_one {
            for (k, holder) in [(to, row), (from, other)] {
                if k != NONE {
                    self.owner[k] = holder;
                }
            }
            if other == NONE {
                let owner = &self.owner;
                self.free.retain(|&k| owner[k] == NONE);
                if from != NONE {
                    self.free.push(from);
                    self.free.sort_unstable();
                }
            }
        }
        for (i, now) in self.now.iter_mut().enumerate() {
            let k = self.right_of[i];
            *now = if k == NONE { 0.0 } else { self.value[[i, k]] };
        }
    }

    /// How long a place stays closed: mostly short, now and then as long as 8 n (Taillard's later choice: the cube of a random number).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    fn tenure(&mut self) -> usize {
        let part = self.random.random::<f64>();
        (part * part * part * 8.0 * self.right_of.len() as f64) as usize + 2
    }
}

fn is_better(score: f64, than: f64) -> bool {
    score > than + RELATIVE_GAIN * than.abs().min(f64::MAX)
}

#[cfg(test)]
mod tests;

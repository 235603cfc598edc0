//! The steps of local search: which small change of a matching raises its score most, and making it. `polish` in `mod` is the whole search.
//!
//! With the marginal value of every pair, v_ik = node_ik + Σ_(j matched to l) [d(ij, kl) + d(ji, lk)], kept up to date, moving node i
//! from a to k is worth v_ik - v_ia; when two nodes change places at once, a correction is needed only where they are neighbours.
//! Looking for the best change of a node costs m, making it deg·deg'.
//!
//! Where all nodes on both sides are matched and stay so, every change is a swap: i takes k, whose node j takes i's old place a, worth
//! v_ik - v_ia + v_ja - v_jk. With v also stored transposed, v_ja is in a row, which is five times as fast for thousands of nodes.

use crate::matching::{Compatibility, Constraint, EdgeTerm, Matching, Workspace};
use ndarray::Array2;

/// Enough for any matching seen to settle; a limit for those that rounding would keep busy.
pub(in crate::matching) const MAX_ROUNDS: usize = 100;

/// A gain has to be at least this large relative to the values it is a difference of: above rounding errors, below anything else.
pub(in crate::matching) const RELATIVE_GAIN: f64 = 1e-11;

/// The table of right edges is built for up to this many right nodes per left node.
const TABLE_SHARE: usize = 16;

/// Stands for a right edge that does not exist. Edges are far fewer than this.
const NO_EDGE: u32 = u32::MAX;

/// Node `mover` goes to `to`; `other`, if any, makes room and goes to its own new right node. `None` is unmatched.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    gain: f64,
    mover: usize,
    to: Option<usize>,
    other: Option<(usize, Option<usize>)>,
}

/// A matching on the way up.
pub(super) struct MoveSearch<'a> {
    pub(super) problem: &'a Compatibility,
    edge: &'a EdgeTerm,
    /// v.
    value: Array2<f64>,
    pub(super) right_of: Vec<Option<usize>>,
    pub(super) left_of: Vec<Option<usize>>,
    /// Score gained since the start.
    pub(super) total: f64,
    /// Nodes that may have a change worth making.
    pub(super) active: Vec<bool>,
    free: Vec<usize>,
    /// Where each left node would best go among the free right nodes, as of the start of the round.
    best_free: Vec<Option<usize>>,
    /// The edges that lead from the mover to each node and back.
    near: Vec<[Option<usize>; 2]>,
    /// The right edge from k to l, at k m + l; [`NO_EDGE`] where there is none. Left empty where it would outgrow n·m by far.
    right_edge: Vec<u32>,
    swaps: Option<Swaps>,
}

/// Kept up to date where every change is a swap.
struct Swaps {
    /// v, one row per right node.
    turned: Array2<f64>,
    /// v_jk of the node j at each right node k.
    own: Vec<f64>,
}

impl<'a> MoveSearch<'a> {
    pub(super) fn new(problem: &'a Compatibility, edge: &'a EdgeTerm, matching: &Matching) -> Self {
        let (n, m) = problem.node.dim();
        let mut value = problem.node.clone();
        for (i, k) in matching.pairs() {
            edge.add_pair_gradient(i, k, 1.0, &mut value);
        }
        let mut right_edge = vec![NO_EDGE; if m <= TABLE_SHARE * n { m * m } else { 0 }];
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            if let Some(at) = right_edge.get_mut(k * m + l) {
                *at = u32::try_from(f).unwrap_or(NO_EDGE);
            }
        }
        let swaps = only_swaps(problem, matching).then(|| Swaps {
            turned: value.t().as_standard_layout().into_owned(),
            own: (0..m).map(|k| matching.left_of(k).map_or(0.0, |j| value[[j, k]])).collect(),
        });
        Self {
            swaps,
            problem,
            edge,
            value,
            right_of: matching.left_to_right().to_vec(),
            left_of: matching.right_to_left().to_vec(),
            total: 0.0,
            active: vec![true; n],
            free: Vec::with_capacity(m),
            best_free: vec![None; n],
            near: vec![[None; 2]; n],
            right_edge,
        }
    }

    /// Settles until no node has a change worth making, near the last changes or not.
    pub(super) fn settle_all(&mut self, work: &Workspace) {
        for _ in 0..MAX_ROUNDS {
            let before = self.total;
            self.active.fill(true);
            self.settle(work);
            if self.total == before || work.interrupted() {
                break;
            }
        }
    }

    /// Gives active nodes their turn until none are left.
    pub(super) fn settle(&mut self, work: &Workspace) {
        for _ in 0..MAX_ROUNDS {
            if work.interrupted() || !self.active.contains(&true) {
                break;
            }
            self.find_free();
            for i in 0..self.right_of.len() {
                if std::mem::take(&mut self.active[i])
                    && let Some(change) = self.best_change(i)
                {
                    self.apply(change);
                }
            }
        }
    }

    fn find_free(&mut self) {
        self.free.clear();
        self.free.extend((0..self.left_of.len()).filter(|&k| self.left_of[k].is_none()));
        if self.free.is_empty() {
            return self.best_free.fill(None);
        }
        for (i, best) in self.best_free.iter_mut().enumerate() {
            let row = self.value.row(i);
            let better = |best: Option<usize>, &k: &usize| {
                let least = best.map_or(f64::NEG_INFINITY, |best| row[best]);
                if row[k] > least { Some(k) } else { best }
            };
            *best = self.free.iter().fold(None, better);
        }
    }

    /// The marginal value of where a node is or would be; 0 for a node that must be matched and is not.
    pub(super) fn at(&self, i: usize, place: Option<usize>) -> f64 {
        match place {
            Some(k) => self.value[[i, k]],
            None if self.is_forced(i) => 0.0,
            None => self.problem.unmatched_score(i),
        }
    }

    fn is_forced(&self, i: usize) -> bool {
        self.problem.unmatched_score(i) == f64::NEG_INFINITY
    }

    fn best_change(&mut self, i: usize) -> Option<Change> {
        let old = self.right_of[i];
        if let (Some(old), true) = (old, self.swaps.is_some()) {
            return self.best_swap(i, old);
        }
        let now = self.at(i, old);
        let many = self.problem.constraint == Constraint::ManyToOne;
        self.mark_near(i, true);
        let mut best = Change { gain: 0.0, mover: i, to: old, other: None };
        for k in (0..self.left_of.len()).filter(|&k| old != Some(k)) {
            let there = self.value[[i, k]];
            if there == f64::NEG_INFINITY {
                continue;
            }
            match self.left_of[k].filter(|_| !many) {
                None => consider(&mut best, there - now, there.abs() + now.abs(), Some(k), None),
                Some(j) => self.consider_taking(&mut best, there - now, there.abs() + now.abs(), k, j),
            }
        }
        if old.is_some() && !self.is_forced(i) {
            let price = self.at(i, None);
            consider(&mut best, price - now, price.abs() + now.abs(), None, None);
        }
        self.mark_near(i, false);
        (best.gain > 0.0).then_some(best)
    }

    /// [`Self::best_change`] where every change is a swap.
    fn best_swap(&mut self, i: usize, old: usize) -> Option<Change> {
        self.mark_near(i, true);
        let mut best = Change { gain: 0.0, mover: i, to: Some(old), other: None };
        let now = self.value[[i, old]];
        if let (Some(Swaps { turned, own }), Some(there)) = (&self.swaps, self.value.row(i).to_slice()) {
            let back = turned.row(old);
            for (k, ((&there, &own), &left)) in there.iter().zip(own).zip(&self.left_of).enumerate() {
                let Some(j) = left else { continue };
                let gain = there - now + (back[j] - own);
                if gain > best.gain && j != i && self.near[j] == [None; 2] {
                    let size = there.abs() + now.abs() + own.abs() + back[j].abs();
                    consider(&mut best, gain, size, Some(k), Some((j, Some(old))));
                }
            }
        }
        // What neighbours are worth to each other changes as well.
        for j in self.edge.left_edges().neighbours(i) {
            let Some(k) = self.right_of[j] else { continue };
            let there = self.value[[i, k]];
            if there > f64::NEG_INFINITY {
                self.consider_taking(&mut best, there - now, there.abs() + now.abs(), k, j);
            }
        }
        self.mark_near(i, false);
        (best.gain > 0.0).then_some(best)
    }

    /// The mover takes k from j, which goes to the mover's old place, to its best free place, or nowhere.
    fn consider_taking(&self, best: &mut Change, gain: f64, size: f64, k: usize, j: usize) {
        let old = self.right_of[best.mover];
        let before = self.value[[j, k]];
        let free = self.best_free[j].filter(|&b| self.left_of[b].is_none());
        // Unmatched only if no node that must be matched loses its place to one that need not be.
        let may_rest = !self.is_forced(j) || (old.is_none() && self.is_forced(best.mover));
        let places = [old, free, None];
        for (which, &place) in places.iter().enumerate() {
            let skip = if which == 2 { !may_rest } else { place.is_none() };
            let after = self.at(j, place);
            if skip || after == f64::NEG_INFINITY {
                continue;
            }
            let correction = self.correction(j, old, k, place);
            let size = size + before.abs() + after.abs() + correction.abs();
            consider(best, gain + (after - before) + correction, size, Some(k), Some((j, place)));
        }
    }

    /// The part of the difference that two neighbours make together when the mover goes from `old` to k while j goes from k to `place`.
    fn correction(&self, j: usize, old: Option<usize>, k: usize, place: Option<usize>) -> f64 {
        if self.near[j] == [None; 2] {
            return 0.0;
        }
        let with_new =
            place.map_or(0.0, |place| self.between(j, k, place) - old.map_or(0.0, |old| self.between(j, old, place)));
        with_new + old.map_or(0.0, |old| self.between(j, old, k))
    }

    /// What the mover at k and its neighbour j at l are worth to each other: d(ij, kl) + d(ji, lk).
    fn between(&self, j: usize, k: usize, l: usize) -> f64 {
        let m = self.left_of.len();
        let value = |e: Option<usize>, k: usize, l: usize| {
            let Some(e) = e else { return 0.0 };
            let f = match self.right_edge.get(k * m + l) {
                Some(&f) => (f != NO_EDGE).then_some(f as usize),
                None => self.edge.right_edges().find(k, l),
            };
            f.map_or(0.0, |f| self.edge.value(e, f))
        };
        value(self.near[j][0], k, l) + value(self.near[j][1], l, k)
    }

    fn mark_near(&mut self, i: usize, mark: bool) {
        let edges = self.edge.left_edges();
        for e in edges.from_node(i) {
            self.near[edges.ends()[e][1]][0] = mark.then_some(e);
        }
        for &e in edges.into_node(i) {
            self.near[edges.ends()[e][0]][1] = mark.then_some(e);
        }
    }

    fn apply(&mut self, change: Change) {
        if let Some((j, _)) = change.other {
            self.place(j, None);
        }
        self.place(change.mover, change.to);
        if let Some((j, to)) = change.other {
            self.place(j, to);
        }
    }

    /// Puts a node somewhere else and keeps values and total up to date. In between, an unmatched node keeps the total right.
    pub(super) fn place(&mut self, i: usize, to: Option<usize>) {
        self.total += self.at(i, to) - self.at(i, self.right_of[i]);
        if let Some(old) = self.right_of[i] {
            self.edge.add_pair_gradient(i, old, -1.0, &mut self.value);
            if self.left_of[old] == Some(i) {
                self.left_of[old] = None;
            }
            self.keep_turned(i, old);
        }
        if let Some(to) = to {
            self.edge.add_pair_gradient(i, to, 1.0, &mut self.value);
            self.left_of[to] = Some(i);
            self.keep_turned(i, to);
        }
        self.right_of[i] = to;
        self.active[i] = true;
        self.edge.left_edges().neighbours(i).for_each(|j| self.active[j] = true);
    }
}

impl MoveSearch<'_> {
    /// Updates the transposed values for what node i at k changes.
    fn keep_turned(&mut self, i: usize, k: usize) {
        let Some(Swaps { turned, own }) = &mut self.swaps else { return };
        let (left, right) = (self.edge.left_edges(), self.edge.right_edges());
        let mut keep = |j: usize, l: usize| {
            turned[[l, j]] = self.value[[j, l]];
            if self.left_of[l] == Some(j) {
                own[l] = self.value[[j, l]];
            }
        };
        for j in left.from_node(i).map(|e| left.ends()[e][1]) {
            right.from_node(k).for_each(|f| keep(j, right.ends()[f][1]));
        }
        if !self.edge.is_symmetric() {
            for j in left.into_node(i).iter().map(|&e| left.ends()[e][0]) {
                right.into_node(k).iter().for_each(|&f| keep(j, right.ends()[f][0]));
            }
        }
        keep(i, k);
    }
}

/// Whether all nodes on both sides are matched, one-to-one, and none may stay unmatched.
fn only_swaps(problem: &Compatibility, matching: &Matching) -> bool {
    let (n, m) = problem.node.dim();
    let is_forced = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
    n == m
        && matching.matched_count() == n
        && problem.constraint == Constraint::OneToOne
        && (0..n).all(is_forced)
        && problem.node.is_standard_layout()
}

fn consider(best: &mut Change, gain: f64, size: f64, to: Option<usize>, other: Option<(usize, Option<usize>)>) {
    if gain > best.gain && gain > RELATIVE_GAIN * size {
        *best = Change { gain, mover: best.mover, to, other };
    }
}

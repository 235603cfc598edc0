//! Local search: improves a matching by small changes until none helps, and then, if asked to, shakes it and tries again.
//!
//! Left nodes are taken in turn, and each makes the best of its changes that raises the total score:
//!
//! * it moves to a free right node, or becomes unmatched where that has a price;
//! * it takes the right node of another, which gets its old one (swap), the best free one (relocation), or stays unmatched.
//!
//! Changes never reduce the number of matched nodes that must be matched. Differences are exact: with the marginal value of every
//! pair, v_ik = node_ik + Σ_(j matched to l) [d(ij, kl) + d(ji, lk)], kept up to date, a change of one node is worth v_ik - v_ia and
//! a change of two needs a correction only where the two are neighbours. A round over all nodes costs n·m, an accepted change
//! deg·deg'. After the first rounds only nodes near the last changes are looked at.
//!
//! A kick moves a few random nodes in a circle; if the local search from there ends lower than before, it is undone.

use super::{Compatibility, Constraint, EdgeTerm, Matching, Workspace};
use crate::Result;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Enough for any matching seen to settle; a stop for those that rounding would keep busy.
const MAX_ROUNDS: usize = 100;

/// A gain has to be this large beside the values it is a difference of: above rounding errors, below all else.
const RELATIVE_GAIN: f64 = 1e-11;

/// Stands for a right edge that does not exist. Edges are far fewer than this.
const NO_EDGE: u32 = u32::MAX;

/// How many nodes a kick moves at most.
const KICK_SIZE: usize = 6;

/// Shakes after the first local optimum, and the seed of their random choices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kicks {
    pub(super) count: usize,
    pub(super) seed: u64,
}

/// The matching or a better one. The same if it is interrupted at once.
pub(super) fn polish(
    problem: &Compatibility,
    edge: &EdgeTerm,
    matching: &Matching,
    kicks: Kicks,
    work: &Workspace,
) -> Result<Matching> {
    let mut search = Search::new(problem, edge, matching);
    search.settle(work);
    let mut random = ChaCha8Rng::seed_from_u64(kicks.seed);
    for _ in 0..kicks.count {
        if work.interrupted() || !search.try_kick(&mut random, work) {
            break;
        }
    }
    if kicks.count > 0 {
        search.active.fill(true);
        search.settle(work);
    }
    let improved = Matching::new(search.right_of, problem.right_count(), problem.constraint)?;
    // Rounding may have made a gain of nothing.
    Ok(if problem.score(&improved)? > problem.score(matching)? { improved } else { matching.clone() })
}

/// Node `mover` goes to `to`; `other`, if any, makes place and goes to its own new right node. `None` is unmatched.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    gain: f64,
    mover: usize,
    to: Option<usize>,
    other: Option<(usize, Option<usize>)>,
}

struct Search<'a> {
    problem: &'a Compatibility,
    edge: &'a EdgeTerm,
    /// v.
    value: Array2<f64>,
    right_of: Vec<Option<usize>>,
    left_of: Vec<Option<usize>>,
    /// Score gained since the start.
    total: f64,
    /// Nodes that may have a change worth making.
    active: Vec<bool>,
    free: Vec<usize>,
    /// Where each left node would best go among the free right nodes, as of the start of the round.
    best_free: Vec<Option<usize>>,
    /// The edges that lead from the mover to each node and back.
    near: Vec<[Option<usize>; 2]>,
    /// The right edge from k to l, at k m + l; [`NO_EDGE`] where there is none.
    right_edge: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Compatibility, edge: &'a EdgeTerm, matching: &Matching) -> Self {
        let (n, m) = problem.node.dim();
        let mut value = problem.node.clone();
        for (i, k) in matching.pairs() {
            edge.add_pair_gradient(i, k, 1.0, &mut value);
        }
        let mut right_edge = vec![NO_EDGE; m * m];
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            right_edge[k * m + l] = u32::try_from(f).unwrap_or(NO_EDGE);
        }
        Self {
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

    /// Gives active nodes their turns until none is left.
    fn settle(&mut self, work: &Workspace) {
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

    /// Shakes, settles, and goes back if that was worse; `false` if there is nothing to shake.
    fn try_kick(&mut self, random: &mut ChaCha8Rng, work: &Workspace) -> bool {
        let (before, score) = (self.right_of.clone(), self.total);
        self.active.fill(false);
        if !self.kick(random) {
            return false;
        }
        self.settle(work);
        if self.total < score - RELATIVE_GAIN * score.abs() {
            let moved: Vec<usize> = (0..before.len()).filter(|&i| self.right_of[i] != before[i]).collect();
            moved.iter().for_each(|&i| self.place(i, None));
            moved.iter().for_each(|&i| self.place(i, before[i]));
            self.total = score;
        }
        true
    }

    /// Hands the places of a few random matched nodes round in a circle, one of them for a free place where there is one.
    fn kick(&mut self, random: &mut ChaCha8Rng) -> bool {
        let mut nodes: Vec<usize> = (0..self.right_of.len()).filter(|&i| self.right_of[i].is_some()).collect();
        if nodes.len() < 2 {
            return false;
        }
        let size = random.random_range(2..=KICK_SIZE).min(nodes.len());
        for at in 0..size {
            let other = random.random_range(at..nodes.len());
            nodes.swap(at, other);
        }
        nodes.truncate(size);
        let mut places: Vec<Option<usize>> = nodes.iter().map(|&i| self.right_of[i]).collect();
        places.rotate_left(1);
        let chosen = random.random_range(0..self.left_of.len());
        if self.left_of[chosen].is_none() || self.problem.constraint == Constraint::ManyToOne {
            places[0] = Some(chosen);
        }
        // Where the circle meets a forbidden pair there is no kick this time.
        let allowed = nodes.iter().zip(&places).all(|(&i, &place)| self.at(i, place) > f64::NEG_INFINITY);
        if allowed {
            nodes.iter().for_each(|&i| self.place(i, None));
            nodes.iter().zip(&places).for_each(|(&i, &place)| self.place(i, place));
        }
        true
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

    /// The marginal value of where a node is or would be; a node that must be matched and is not counts nothing.
    fn at(&self, i: usize, place: Option<usize>) -> f64 {
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

    /// The mover takes k from j, which goes to the mover's old place, to its best free one, or nowhere.
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

    /// The part of the difference that two neighbours make together: the mover goes from `old` to k while j goes from k to `place`.
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
        let value = |e: Option<usize>, f: u32| match e {
            Some(e) if f != NO_EDGE => self.edge.value(e, f as usize),
            _ => 0.0,
        };
        value(self.near[j][0], self.right_edge[k * m + l]) + value(self.near[j][1], self.right_edge[l * m + k])
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

    /// Puts a node somewhere else and keeps values and total up to date. An unmatched node keeps the total right in between.
    fn place(&mut self, i: usize, to: Option<usize>) {
        self.total += self.at(i, to) - self.at(i, self.right_of[i]);
        if let Some(old) = self.right_of[i] {
            self.edge.add_pair_gradient(i, old, -1.0, &mut self.value);
            if self.left_of[old] == Some(i) {
                self.left_of[old] = None;
            }
        }
        if let Some(to) = to {
            self.edge.add_pair_gradient(i, to, 1.0, &mut self.value);
            self.left_of[to] = Some(i);
        }
        self.right_of[i] = to;
        self.active[i] = true;
        self.edge.left_edges().neighbours(i).for_each(|j| self.active[j] = true);
    }
}

fn consider(best: &mut Change, gain: f64, size: f64, to: Option<usize>, other: Option<(usize, Option<usize>)>) {
    if gain > best.gain && gain > RELATIVE_GAIN * size {
        *best = Change { gain, mover: best.mover, to, other };
    }
}

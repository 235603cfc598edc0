//! Local search on candidate pairs: the changes of `search/mod.rs`, with its reasons, as far as they stay among candidates.
//!
//! v_c, the marginal value of candidate c, is its gain plus what its links to matched candidates are worth. Moving node i from candidate a
//! to c is worth v_c - v_a; where node j moves at the same time, from b to p, and is a neighbour of i, that counts what the two are worth to
//! each other wrongly, and  link(c, p) - link(a, p) + link(a, b)  puts it right. Examining a node costs its candidates, a change its links.
//!
//! A kick makes a few random changes near each other; if the local search from there ends lower than before, it is undone. All of that costs
//! no more than the nodes around it, whatever the size of the problem: [`SHAKES`] per node are made to the best matching at the end.

use super::super::pairs::Pairs;
use super::Listed;
use crate::Result;
use crate::matching::search::{KICK_SIZE, Kicks, MAX_ROUNDS, RELATIVE_GAIN};
use crate::matching::{Constraint, Matching, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Kicks per left node for the best matching found.
const SHAKES: usize = 2;

/// Node `mover` goes to candidate `to`; `other`, if any, makes room and goes to its own new candidate. `None` is unmatched.
#[derive(Debug, Clone, Copy)]
struct Change {
    gain: f64,
    mover: usize,
    to: Option<usize>,
    other: Option<(usize, Option<usize>)>,
}

/// A matching on the way up.
struct ListedMoveSearch<'a> {
    listed: &'a Listed<'a>,
    /// v.
    value: Vec<f64>,
    /// The candidate of each left node, the left node of each right node.
    cell_of: Vec<Option<usize>>,
    left_of: Vec<Option<usize>>,
    /// Score gained since the start.
    total: f64,
    /// Nodes that may have a change worth making, and whether a node is one.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    /// How many right nodes are free.
    free: usize,
    /// Nodes that were moved since the last kick, and where they were.
    trail: Vec<(usize, Option<usize>)>,
    /// The neighbours of the mover.
    near: Vec<bool>,
}

impl Listed<'_> {
    /// The matching, or a better one, after many kicks.
    pub(super) fn shake(&self, matching: &Matching, seed: u64, work: &Workspace) -> Result<Matching> {
        self.polish(matching, Kicks { count: SHAKES * self.cells.left_count(), seed }, work)
    }

    /// The matching, or a better one.
    pub(super) fn polish(&self, matching: &Matching, kicks: Kicks, work: &Workspace) -> Result<Matching> {
        let mut search = ListedMoveSearch::new(self, matching);
        search.settle(work);
        let mut random = ChaCha8Rng::seed_from_u64(kicks.seed);
        for _ in 0..kicks.count {
            if work.interrupted() || !search.try_kick(&mut random, work) {
                break;
            }
        }
        search.settle_all(work);
        let right_of = |cell: Option<usize>| cell.map(|cell| self.cells.columns[cell] as usize);
        let map = search.cell_of.iter().map(|&cell| right_of(cell)).collect();
        let improved = Matching::new(map, self.cells.right_count, Constraint::OneToOne)?;
        // The gain may be nothing but rounding.
        Ok(if self.score(&improved)? > self.score(matching)? { improved } else { matching.clone() })
    }
}

impl<'a> ListedMoveSearch<'a> {
    fn new(listed: &'a Listed<'a>, matching: &Matching) -> Self {
        let (n, m) = (listed.cells.left_count(), listed.cells.right_count);
        let mut search = Self {
            listed,
            value: listed.cells.gain.clone(),
            cell_of: vec![None; n],
            left_of: matching.right_to_left().to_vec(),
            total: 0.0,
            waiting: Vec::new(),
            is_waiting: vec![false; n],
            free: m - matching.matched_count(),
            trail: Vec::new(),
            near: vec![false; n],
        };
        for (i, cell) in listed.cells.of_matching(matching) {
            search.cell_of[i] = Some(cell);
            listed.links.add_gradient_of(cell, &mut search.value);
        }
        (0..n).for_each(|i| search.wake(i));
        search
    }

    fn wake(&mut self, i: usize) {
        if !std::mem::replace(&mut self.is_waiting[i], true) {
            self.waiting.push(i);
        }
    }

    /// Settles until no node has a change worth making, near the last changes or not.
    fn settle_all(&mut self, work: &Workspace) {
        for _ in 0..MAX_ROUNDS {
            let before = self.total;
            (0..self.cell_of.len()).for_each(|i| self.wake(i));
            self.settle(work);
            if self.total == before || work.interrupted() {
                break;
            }
        }
    }

    /// Gives waiting nodes their turn until none are left.
    fn settle(&mut self, work: &Workspace) {
        for _ in 0..MAX_ROUNDS {
            if self.waiting.is_empty() || work.interrupted() {
                break;
            }
            let mut turn = std::mem::take(&mut self.waiting);
            turn.sort_unstable();
            for i in turn {
                self.is_waiting[i] = false;
                if let Some(change) = self.best_change(i) {
                    self.apply(change);
                }
            }
        }
    }

    fn right(&self, cell: usize) -> usize {
        self.listed.cells.columns[cell] as usize
    }

    /// Where a node would best go among its candidates whose right nodes are free.
    fn best_free(&self, i: usize) -> Option<usize> {
        if self.free == 0 {
            return None;
        }
        let is_free = |cell: &usize| self.left_of[self.right(*cell)].is_none();
        let better = |best: usize, cell: usize| if self.value[cell] > self.value[best] { cell } else { best };
        self.listed.cells.of_node(i).filter(is_free).reduce(better)
    }

    /// The marginal value of where a node is or would be; unmatched it is 0.
    fn at(&self, place: Option<usize>) -> f64 {
        place.map_or(0.0, |cell| self.value[cell])
    }

    fn best_change(&mut self, i: usize) -> Option<Change> {
        let old = self.cell_of[i];
        let now = self.at(old);
        self.mark_near(i, true);
        let mut best = Change { gain: 0.0, mover: i, to: old, other: None };
        for cell in self.listed.cells.of_node(i).filter(|&cell| Some(cell) != old) {
            let there = self.value[cell];
            match self.left_of[self.right(cell)] {
                None => consider(&mut best, there - now, there.abs() + now.abs(), Some(cell), None),
                Some(j) => self.consider_taking(&mut best, cell, j),
            }
        }
        if old.is_some() && !self.listed.is_forced(i) {
            consider(&mut best, -now, now.abs(), None, None);
        }
        self.mark_near(i, false);
        (best.gain > 0.0).then_some(best)
    }

    /// The mover takes a candidate from j, which goes to the mover's old place, to its best free place, or nowhere.
    fn consider_taking(&self, best: &mut Change, cell: usize, j: usize) {
        let old = self.cell_of[best.mover];
        let (there, now, before) = (self.value[cell], self.at(old), self.at(self.cell_of[j]));
        for place in self.places_for(best.mover, j) {
            let after = self.at(place);
            let correction = if self.near[j] { self.correction(old, cell, self.cell_of[j], place) } else { 0.0 };
            let size = there.abs() + now.abs() + before.abs() + after.abs() + correction.abs();
            consider(best, there - now + (after - before) + correction, size, Some(cell), Some((j, place)));
        }
    }

    /// Where j can go if the mover takes its place: the mover's old place, its best free place, nowhere.
    fn places_for(&self, mover: usize, j: usize) -> impl Iterator<Item = Option<usize>> {
        let old = self.cell_of[mover];
        let swapped = old.and_then(|old| self.listed.cells.find(j, self.right(old)));
        let free = self.best_free(j);
        // Unmatched only if no node that must be matched loses its place to one that need not be.
        let may_rest = !self.listed.is_forced(j) || (old.is_none() && self.listed.is_forced(mover));
        swapped.into_iter().chain(free).map(Some).chain(may_rest.then_some(None))
    }

    /// What values alone count wrongly when the mover goes from `old` to `cell` while its neighbour goes from `before` to `place`.
    fn correction(&self, old: Option<usize>, cell: usize, before: Option<usize>, place: Option<usize>) -> f64 {
        let between = |a: Option<usize>, b: Option<usize>| match (a, b) {
            (Some(a), Some(b)) => self.listed.links.between(a, b),
            _ => 0.0,
        };
        between(Some(cell), place) - between(old, place) + between(old, before)
    }

    fn mark_near(&mut self, i: usize, mark: bool) {
        self.listed.edge.left_edges().neighbours(i).for_each(|j| self.near[j] = mark);
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
    fn place(&mut self, i: usize, to: Option<usize>) {
        let old = self.cell_of[i];
        self.total += self.at(to) - self.at(old);
        self.trail.push((i, old));
        if let Some(old) = old {
            self.listed.links.of(old).for_each(|(other, value)| self.value[other] -= value);
            let right = self.right(old);
            self.left_of[right] = None;
            self.free += 1;
        }
        if let Some(to) = to {
            self.listed.links.add_gradient_of(to, &mut self.value);
            let right = self.right(to);
            self.left_of[right] = Some(i);
            self.free -= 1;
        }
        self.cell_of[i] = to;
        self.wake(i);
        let listed = self.listed;
        listed.edge.left_edges().neighbours(i).for_each(|j| self.wake(j));
    }

    /// Shakes, settles, and goes back if that was worse; `false` if there is nothing to shake.
    fn try_kick(&mut self, random: &mut ChaCha8Rng, work: &Workspace) -> bool {
        if self.cell_of.is_empty() {
            return false;
        }
        let score = self.total;
        self.trail.clear();
        self.forget_waiting();
        self.kick(random);
        self.settle(work);
        if self.total < score - RELATIVE_GAIN * score.abs() {
            let trail = std::mem::take(&mut self.trail);
            trail.iter().rev().for_each(|&(i, before)| self.place(i, before));
            self.total = score;
        }
        true
    }

    fn forget_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().for_each(|i| self.is_waiting[i] = false);
    }

    /// A few nodes take random candidates of theirs, each near the last: the next is the one that lost its place, or a neighbour.
    fn kick(&mut self, random: &mut ChaCha8Rng) {
        let mut node = random.random_range(0..self.cell_of.len());
        for _ in 0..random.random_range(2..=KICK_SIZE) {
            let cells = self.listed.cells.of_node(node);
            if cells.is_empty() {
                return;
            }
            let cell = random.random_range(cells);
            let other = self.left_of[self.right(cell)].filter(|&j| j != node);
            let change = match other {
                None => Some(None),
                Some(j) => self.places_for(node, j).next().map(|place| Some((j, place))),
            };
            // Where a node would find no place nothing is changed.
            if let Some(other) = change
                && self.cell_of[node] != Some(cell)
            {
                self.apply(Change { gain: 0.0, mover: node, to: Some(cell), other });
            }
            let near: Vec<usize> = self.listed.edge.left_edges().neighbours(node).collect();
            node = match other {
                Some(other) => other,
                None if near.is_empty() => random.random_range(0..self.cell_of.len()),
                None => near[random.random_range(0..near.len())],
            };
        }
    }
}

fn consider(best: &mut Change, gain: f64, size: f64, to: Option<usize>, other: Option<(usize, Option<usize>)>) {
    if gain > best.gain && gain > RELATIVE_GAIN * size {
        *best = Change { gain, mover: best.mover, to, other };
    }
}

//! Dense quadratic assignment with whole numbers, exactly: tabu search for a matching, then branch and bound by dual ascent (`ascent`).
//!
//! For problems of 8 to 16 nodes in which everyone on both sides must be matched. The cost of a pair of nodes, or of two pairs, is what it
//! scores less than the most there is, times a power of two so that costs can be divided; a better matching costs less by at least the largest
//! number of which all scores are multiples. Each single score is a whole number, and costs, bounds and sums are whole numbers below 2^53, so a
//! proof is one without any tolerance.
//!
//! Branches are taken by their bound, the lowest first, or the latest if memory runs short; each fixes a cell of the row or column whose cells
//! cost the most. On nug15, 0.2 ms per round and three rounds per branch.

use super::ascent::{Ascent, Rest};
use super::{Exact, PATIENCE, Progress};
use crate::Result;
use crate::matching::lp::common_step;
use crate::matching::search::{Growth, Tabu};
use crate::matching::{Compatibility, Constraint, EdgeTerm, Matching, Solution, Status, Workspace};
use std::ops::{ControlFlow, RangeInclusive};
use std::rc::Rc;

/// Smaller ones are proven in no time by the relaxation. Larger ones are not proven within seconds either way, and the relaxation's bounds are then
/// better: a problem of 18 nodes 5.0 % open after 10 s instead of 6.2, nug20 13.7 % after 5 s instead of 15.5.
const NODES: RangeInclusive<usize> = 8..=16;
/// All costs together, at most: numbers within a round are below 4 · 16³ times this (`ascent`), well below 2^53.
const MOST_COST: f64 = (1_u64 << 36) as f64;
/// All single scores that a matching adds up, at most: sums of such numbers are exact.
const MOST_SCORE: f64 = (1_u64 << 52) as f64;
/// Searches for a matching before the first branch, if nobody has searched before.
const SEARCHES: usize = 4;
/// Rounds at the root, at most in a branch, and how many more like the last one may be needed to close a branch, for it not to be split.
const ROOT_ROUNDS: usize = 50;
const MOST_ROUNDS: usize = 20;
const WORTH_WAITING: f64 = 20.0;
/// Stored numbers (8 bytes each) beyond which the search goes depth first.
const MAX_STORED: usize = 1 << 24;

/// The answer to a problem of this kind; `None` for others. `start`: a feasible matching; `searches`: whether much searching is worth its time.
pub(super) fn solve(
    settings: &Exact,
    problem: &Compatibility,
    start: &Matching,
    searches: bool,
    work: &Workspace,
    observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Option<Solution>> {
    let Some(edge) = &problem.edge else { return Ok(None) };
    let Some((root, units)) = Units::with_sizes(problem, edge, start, &NODES) else { return Ok(None) };
    let growth = Growth { gain: &problem.node, edge, weight: 1.0, constraint: problem.constraint };
    let mut tabu = Tabu::new(&growth, vec![false; problem.left_count()], 0);
    if !tabu.is_dense() {
        return Ok(None);
    }
    tabu.jump(start.left_to_right());
    for search in 0..if searches { SEARCHES } else { 1 } {
        if search > 0 {
            tabu.restart();
        }
        tabu.search(PATIENCE * problem.node.len(), usize::MAX, || work.interrupted());
    }
    let best = Matching::new(tabu.best(), problem.right_count(), problem.constraint)?;
    let score = problem.score(&best)?;
    let mut tree =
        Tree { problem, settings, units, best, score, ascent: Ascent::default(), open: Vec::new(), stored: 0 };
    let bound = tree.run(root, work, observe)?.max(tree.score);
    let status = if bound <= tree.score { Status::Optimal } else { Status::Limit };
    let (matching, score, iterations) = (tree.best, tree.score, tree.ascent.rounds);
    Ok(Some(Solution { matching, score, bound, status, iterations, certificate: None, shortage: None, allowed: 0.0 }))
}

/// How scores and costs translate: score = constant - cost / scale, if everyone is matched.
struct Units {
    constant: f64,
    scale: f64,
    /// What two scores differ by at least, as a cost.
    step: f64,
}

impl Units {
    /// The problem as costs; `None` if it is not of this kind.
    fn with_sizes(
        problem: &Compatibility,
        edge: &EdgeTerm,
        start: &Matching,
        sizes: &RangeInclusive<usize>,
    ) -> Option<(Rest, Self)> {
        let size = problem.left_count();
        let is_full = problem.right_count() == size && start.pairs().count() == size;
        let is_plain = problem.unmatched.is_none() && problem.right_unmatched.is_none();
        if !sizes.contains(&size) || !is_full || !is_plain || problem.constraint != Constraint::OneToOne {
            return None;
        }
        let mut pair = pair_scores(edge, size)?;
        let nodes = || problem.node.iter().copied().filter(|node| *node > f64::NEG_INFINITY);
        let step = common_step(nodes().chain(pair.iter().copied().filter(|score| *score > f64::NEG_INFINITY)));
        let largest = |scores: &mut dyn Iterator<Item = f64>| scores.fold(f64::NEG_INFINITY, f64::max);
        let size_of =
            |scores: &mut dyn Iterator<Item = f64>| scores.fold(0.0, |most: f64, score| most.max(score.abs()));
        let (most_of_node, most_of_pair) = (largest(&mut nodes()), largest(&mut pair.iter().copied()));
        let finite_pairs = pair.iter().copied().filter(|score| *score > f64::NEG_INFINITY);
        let (count, pairs) = (size as f64, (size * (size - 1) / 2) as f64);
        // Differences of two scores are at most twice as large as the larger one.
        let total = 2.0 * (count * size_of(&mut nodes()) + pairs * size_of(&mut { finite_pairs }));
        if step == 0.0 || total > MOST_COST {
            return None;
        }
        let scale = (MOST_COST / total.max(1.0)).log2().floor().exp2();
        let own = problem.node.iter().map(|node| (most_of_node - node) * scale).collect();
        pair.iter_mut().for_each(|score| *score = (most_of_pair - *score) * scale);
        (0..size * size).for_each(|cell| pair[cell * size * size + cell] = 0.0);
        let all = || (0..size).collect::<Vec<_>>();
        let rest = Rest { size, least: 0.0, own, pair, lefts: all(), rights: all(), fixed: Vec::new() };
        Some((rest, Self { constant: count * most_of_node + pairs * most_of_pair, scale, step: step * scale }))
    }

    fn score(&self, cost: f64) -> f64 {
        self.constant - cost / self.scale
    }

    fn cost(&self, score: f64) -> f64 {
        (self.constant - score) * self.scale
    }
}

/// d(ij, kl) + d(ji, lk) at ((i, k), (j, l)); minus infinity for cells of the same row or column. `None` if single scores are not whole
/// numbers, or too large to be added up one by one: whatever their sums over both directions are, a matching's score would be rounded.
fn pair_scores(edge: &EdgeTerm, size: usize) -> Option<Vec<f64>> {
    let cells = size * size;
    let mut scores = vec![0.0; cells * cells];
    let most = MOST_SCORE / cells as f64;
    for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            let (a, b, value) = (i * size + k, j * size + l, edge.value(e, f));
            if value.fract() != 0.0 || value.abs() > most {
                return None;
            }
            scores[a * cells + b] += value;
            scores[b * cells + a] += value;
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        let (a, b) = (at / cells, at % cells);
        if a / size == b / size || a % size == b % size {
            *score = f64::NEG_INFINITY;
        }
    }
    Some(scores)
}

/// A waiting branch: what is left of its parent, and the cell that is chosen there.
struct Open {
    parent: Rc<Rest>,
    cell: usize,
    least: f64,
}

struct Tree<'a> {
    problem: &'a Compatibility,
    settings: &'a Exact,
    units: Units,
    best: Matching,
    score: f64,
    ascent: Ascent,
    open: Vec<Open>,
    stored: usize,
}

impl Tree<'_> {
    /// Searches until it is proven or stopped; returns what no matching scores more than.
    fn run(
        &mut self,
        root: Rest,
        work: &Workspace,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<f64> {
        let mut next = Some(root);
        let mut branches = 0;
        while let Some(mut rest) = next {
            branches += 1;
            let mut gains = (rest.least, 0);
            while rest.size > 1 {
                let (least, rounds) = gains;
                let most = self.most();
                let needs = (most + 1.0 - rest.least) / WORTH_WAITING;
                let enough = if branches == 1 { ROOT_ROUNDS } else { MOST_ROUNDS };
                let is_slow = rounds >= 2 && rest.least - least < needs && (branches > 1 || rounds >= ROOT_ROUNDS);
                if rounds >= enough || is_slow {
                    break;
                }
                gains = (rest.least, rounds + 1);
                if work.interrupted() {
                    return Ok(self.bound(rest.least));
                }
                if !self.ascent.round(&mut rest, most) {
                    break;
                }
            }
            let here = rest.least;
            if here <= self.most() {
                if rest.size > 1 { self.split(rest) } else { self.settle(&rest)? }
            }
            let bound = self.bound(f64::INFINITY);
            let (iterations, open, score) = (self.ascent.rounds, self.open.len(), self.score);
            let ended = observe(&Progress { iterations, branches, open, score, bound: bound.max(score) }).is_break();
            let is_close = self.settings.gap > 0.0 && bound - score < self.settings.gap * score.abs();
            if ended || is_close || iterations >= self.settings.max_iterations || branches >= self.settings.max_branches
            {
                return Ok(bound);
            }
            next = self.take();
        }
        Ok(f64::NEG_INFINITY)
    }

    /// A better matching costs no more than this.
    fn most(&self) -> f64 {
        self.units.cost(self.score) - self.units.step
    }

    /// No matching scores more than this, given what the current branch costs at least.
    fn bound(&self, here: f64) -> f64 {
        let most = self.most();
        let least = self.open.iter().map(|open| open.least).fold(here, f64::min);
        if least > most { f64::NEG_INFINITY } else { self.units.score(least) }
    }

    /// Splits a branch by the cells of the row or column that cost the most.
    fn split(&mut self, rest: Rest) {
        let (size, room) = (rest.size, self.most() - rest.least);
        let line = |at: usize, is_column: bool| {
            (0..size).map(move |other| if is_column { other * size + at } else { at * size + other })
        };
        let mut best = (f64::NEG_INFINITY, 0, false);
        for (at, is_column) in (0..size).flat_map(|at| [(at, false), (at, true)]) {
            let cost: f64 = line(at, is_column).map(|cell| rest.own[cell].min(room)).sum();
            if cost > best.0 {
                best = (cost, at, is_column);
            }
        }
        let mut cells: Vec<usize> = line(best.1, best.2).filter(|&cell| rest.own[cell] < f64::INFINITY).collect();
        // The most promising last: a depth-first search takes it next.
        cells.sort_by(|&a, &b| rest.own[b].total_cmp(&rest.own[a]).then(b.cmp(&a)));
        self.stored += rest.pair.len();
        let parent = Rc::new(rest);
        let open = |cell: usize| Open { least: parent.least + parent.own[cell], parent: Rc::clone(&parent), cell };
        self.open.extend(cells.into_iter().map(open));
    }

    /// The next branch that may hold something better.
    fn take(&mut self) -> Option<Rest> {
        loop {
            let last = self.open.len().checked_sub(1)?;
            let is_short = self.stored > MAX_STORED;
            let lowest = |best: usize, at: usize| if self.open[at].least < self.open[best].least { at } else { best };
            let at = if is_short { last } else { (0..last).rev().fold(last, lowest) };
            // In the order in which they came, for the depth-first search.
            let next = self.open.remove(at);
            if Rc::strong_count(&next.parent) == 1 {
                self.stored -= next.parent.pair.len();
            }
            if next.least <= self.most() {
                return Some(next.parent.with(next.cell));
            }
        }
    }

    /// Everything is fixed: one matching is left.
    fn settle(&mut self, rest: &Rest) -> Result<()> {
        if rest.own[0] == f64::INFINITY {
            return Ok(());
        }
        let mut rights = vec![None; self.problem.left_count()];
        let last = (rest.lefts[0], rest.rights[0]);
        rest.fixed.iter().chain([&last]).for_each(|&(left, right)| rights[left] = Some(right));
        let matching = Matching::new(rights, self.problem.right_count(), self.problem.constraint)?;
        let score = self.problem.score(&matching)?;
        if score > self.score {
            (self.score, self.best) = (score, matching);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "whole_laws.rs"]
mod laws;

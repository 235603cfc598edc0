//! A matching grown from the best pairs of edges, on candidate pairs: `search/grow.rs`, with its reasons.
//!
//! Cost: every link is examined once; each step examines the links of the pair taken and the nodes around what has grown.

use super::super::objective::Feasible;
use super::super::pairs::Pairs;
use super::super::sinkhorn::Soft;
use super::Listed;
use crate::Result;
use crate::matching::{Matching, Workspace};

/// Two candidates that share an edge on both sides, and what they are worth.
struct Seed {
    cells: [usize; 2],
    together: f64,
    worth: f64,
}

impl Listed<'_> {
    /// A feasible matching that keeps as much as it can of what grows from the best pairs of edges.
    pub(super) fn grown(&mut self, work: &mut Workspace) -> Result<Matching> {
        let mut soft = Soft::zeros(&self.cells);
        for (i, cell) in self.grow(work).into_iter().enumerate() {
            match cell {
                Some(cell) => soft.pair[cell] = 1.0,
                None => soft.rest[i] = 1.0,
            }
        }
        self.round(&soft, work)
    }

    /// The candidate of each left node that growth reached.
    fn grow(&self, work: &Workspace) -> Vec<Option<usize>> {
        let n = self.cells.left_count();
        let mut left_of = vec![0; self.cells.len()];
        (0..n).for_each(|i| self.cells.of_node(i).for_each(|cell| left_of[cell] = i));
        let mut grown = Grown {
            listed: self,
            value: self.cells.gain.clone(),
            cell_of: vec![None; n],
            taken: vec![false; self.cells.right_count],
            frontier: Vec::new(),
            best_of: vec![None; n],
            left_of,
        };
        for seed in grown.seeds() {
            if work.interrupted() {
                break;
            }
            if !seed.cells.iter().all(|&cell| grown.is_free(cell)) {
                continue;
            }
            let worth = seed.cells.map(|cell| grown.value[cell]).iter().sum::<f64>() + seed.together;
            if worth > 0.0 {
                seed.cells.into_iter().for_each(|cell| grown.take(cell));
                while let Some(cell) = grown.best_next()
                    && !work.interrupted()
                {
                    grown.take(cell);
                }
            }
        }
        grown.cell_of
    }
}

struct Grown<'a> {
    listed: &'a Listed<'a>,
    /// What each candidate adds to what has grown so far.
    value: Vec<f64>,
    cell_of: Vec<Option<usize>>,
    taken: Vec<bool>,
    /// Left nodes adjacent to what has grown, in order.
    frontier: Vec<usize>,
    /// For those, the candidate whose right node is free that adds most, if any adds something.
    best_of: Vec<Option<usize>>,
    /// The left node of each candidate.
    left_of: Vec<usize>,
}

impl Grown<'_> {
    /// For each left edge the right edge that makes the most of it, best first.
    fn seeds(&self) -> Vec<Seed> {
        let Listed { cells, links, edge, .. } = self.listed;
        let mut seeds = Vec::new();
        let mut best: Vec<Option<Seed>> = Vec::new();
        for i in 0..cells.left_count() {
            let edges = edge.left_edges().from_node(i);
            best.clear();
            best.resize_with(edges.len(), || None);
            for cell in cells.of_node(i) {
                for (other, together) in links.of(cell) {
                    let Some(e) = edge.left_edges().find(i, self.left_of[other]) else { continue };
                    let worth = cells.gain[cell] + cells.gain[other] + together;
                    let known = &mut best[e - edges.start];
                    if known.as_ref().is_none_or(|known| worth > known.worth) {
                        *known = Some(Seed { cells: [cell, other], together, worth });
                    }
                }
            }
            seeds.extend(best.drain(..).flatten());
        }
        seeds.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        seeds
    }

    fn right(&self, cell: usize) -> usize {
        self.listed.cells.columns[cell] as usize
    }

    fn is_free(&self, cell: usize) -> bool {
        self.cell_of[self.left_of[cell]].is_none() && !self.taken[self.right(cell)]
    }

    fn take(&mut self, cell: usize) {
        let i = self.left_of[cell];
        let k = self.listed.cells.columns[cell];
        self.cell_of[i] = Some(cell);
        self.taken[k as usize] = true;
        self.listed.links.add_gradient_of(cell, &mut self.value);
        let mut near: Vec<usize> = self.listed.edge.left_edges().neighbours(i).collect();
        near.sort_unstable();
        self.frontier.extend(&near);
        self.frontier.sort_unstable();
        self.frontier.dedup();
        let cell_of = &self.cell_of;
        self.frontier.retain(|&node| cell_of[node].is_none());
        for at in 0..self.frontier.len() {
            let node = self.frontier[at];
            let has_lost = self.best_of[node].is_some_and(|best| self.listed.cells.columns[best] == k);
            if has_lost || near.binary_search(&node).is_ok() {
                self.best_of[node] = self.best_free(node);
            }
        }
    }

    /// The candidate with a free right node that adds most, the first among equals, if any adds something.
    fn best_free(&self, node: usize) -> Option<usize> {
        let mut best = None;
        let mut most = 0.0;
        for cell in self.listed.cells.of_node(node) {
            if self.value[cell] > most && !self.taken[self.right(cell)] {
                (best, most) = (Some(cell), self.value[cell]);
            }
        }
        best
    }

    /// The adjacent candidate that adds most to what has grown, if any adds something.
    fn best_next(&self) -> Option<usize> {
        let mut best = None;
        let mut most = 0.0;
        for cell in self.frontier.iter().filter_map(|&node| self.best_of[node]) {
            if self.value[cell] > most {
                (best, most) = (Some(cell), self.value[cell]);
            }
        }
        best
    }
}

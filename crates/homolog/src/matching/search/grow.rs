//! A matching grown from the best pairs of edges: a good start where node scores say nothing and edge scores decide.
//!
//! A single pair of nodes shares no edge with anything, so where only edges score, and staying unmatched is free, no change of one node
//! improves the empty matching. Two pairs can: growth begins with the pair of edges that adds most, then keeps taking the adjacent pair of
//! nodes that adds most, until none adds anything; then it begins again with the next best pair of edges that is still free.
//!
//! Cost: every pair of edges is examined once, |E| |E'|; each step examines the neighbours of the pair taken, deg · m.

use crate::matching::{Constraint, EdgeTerm, Workspace};
use ndarray::Array2;

/// What growth needs to know about a problem: `gain` of each pair over staying unmatched, minus infinity where it is impossible, in
/// units in which edges count `weight`.
pub(in crate::matching) struct Growth<'a> {
    pub(in crate::matching) gain: &'a Array2<f64>,
    pub(in crate::matching) edge: &'a EdgeTerm,
    pub(in crate::matching) weight: f64,
    pub(in crate::matching) constraint: Constraint,
}

/// The right node of each left node that growth reached.
pub(in crate::matching) fn grow(growth: &Growth<'_>, work: &Workspace) -> Vec<Option<usize>> {
    let mut grown = Grown {
        growth,
        value: growth.gain.clone(),
        right_of: vec![None; growth.gain.nrows()],
        taken: vec![false; growth.gain.ncols()],
        frontier: Vec::new(),
        best_of: vec![None; growth.gain.nrows()],
    };
    for seed in seeds(growth, work) {
        if work.interrupted() {
            break;
        }
        if !grown.is_free(seed.pairs[0]) || !grown.is_free(seed.pairs[1]) {
            continue;
        }
        let worth = seed.pairs.map(|pair| grown.value[pair]).iter().sum::<f64>() + seed.together;
        if worth > 0.0 {
            seed.pairs.into_iter().for_each(|pair| grown.take(pair));
            while let Some(pair) = grown.best_next()
                && !work.interrupted()
            {
                grown.take(pair);
            }
        }
    }
    grown.right_of
}

/// Two pairs of nodes that share an edge on both sides.
struct Seed {
    pairs: [(usize, usize); 2],
    /// What the edges add, both directions.
    together: f64,
    worth: f64,
}

/// For each left edge the right edge that makes the most of it, best first.
fn seeds(growth: &Growth<'_>, work: &Workspace) -> Vec<Seed> {
    let Growth { gain, edge, weight, constraint } = *growth;
    let (left, right) = (edge.left_edges(), edge.right_edges());
    let shared = constraint == Constraint::ManyToOne;
    let mut seeds = Vec::new();
    let turned: Vec<Option<usize>> = right.ends().iter().map(|&[k, l]| right.find(l, k)).collect();
    for (e, &[i, j]) in left.ends().iter().enumerate() {
        if work.interrupted() {
            break;
        }
        let back = left.find(j, i);
        let mut best: Option<Seed> = None;
        let mut consider = |f: usize| {
            let [k, l] = right.ends()[f];
            let reverse = back.and_then(|back| turned[f].map(|f| edge.value(back, f)));
            let together = (edge.value(e, f) + reverse.unwrap_or(0.0)) * weight;
            let worth = gain[[i, k]] + gain[[j, l]] + together;
            if (k != l || shared) && worth > best.as_ref().map_or(f64::NEG_INFINITY, |best| best.worth) {
                best = Some(Seed { pairs: [(i, k), (j, l)], together, worth });
            }
        };
        if edge.left_factors().ncols() > 0 {
            (0..right.len()).for_each(&mut consider);
        } else {
            edge.listed_of(e).iter().for_each(|&(f, _)| consider(f));
        }
        seeds.extend(best);
    }
    seeds.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    seeds
}

struct Grown<'a> {
    growth: &'a Growth<'a>,
    /// What each pair adds to what has grown so far.
    value: Array2<f64>,
    right_of: Vec<Option<usize>>,
    taken: Vec<bool>,
    /// Left nodes adjacent to what has grown, in order.
    frontier: Vec<usize>,
    /// For those, the free right node that adds most and how much, if any adds something.
    best_of: Vec<Option<(usize, f64)>>,
}

impl Grown<'_> {
    fn is_free(&self, (i, k): (usize, usize)) -> bool {
        self.right_of[i].is_none() && !self.taken[k]
    }

    fn take(&mut self, (i, k): (usize, usize)) {
        let Growth { edge, weight, constraint, .. } = *self.growth;
        self.right_of[i] = Some(k);
        self.taken[k] = constraint == Constraint::OneToOne;
        edge.add_pair_gradient(i, k, weight, &mut self.value);
        let near: Vec<usize> = edge.left_edges().neighbours(i).collect();
        self.frontier.extend(&near);
        self.frontier.sort_unstable();
        self.frontier.dedup();
        let right_of = &self.right_of;
        self.frontier.retain(|&node| right_of[node].is_none());
        for at in 0..self.frontier.len() {
            let node = self.frontier[at];
            let has_lost = self.taken[k] && self.best_of[node].is_some_and(|(best, _)| best == k);
            if has_lost || near.contains(&node) {
                self.best_of[node] = self.best_free(node);
            }
        }
    }

    /// The free right node that adds most, the first among equals, if any adds something.
    fn best_free(&self, node: usize) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (k, &value) in self.value.row(node).iter().enumerate() {
            if value > best.map_or(0.0, |(_, most)| most) && !self.taken[k] {
                best = Some((k, value));
            }
        }
        best
    }

    /// The adjacent pair that adds most to what has grown, if any adds something.
    fn best_next(&self) -> Option<(usize, usize)> {
        let mut best: Option<((usize, usize), f64)> = None;
        for &i in &self.frontier {
            if let Some((k, value)) = self.best_of[i]
                && value > best.map_or(0.0, |(_, most)| most)
            {
                best = Some(((i, k), value));
            }
        }
        best.map(|(pair, _)| pair)
    }
}

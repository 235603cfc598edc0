//! A matching improved by witnesses: a pair of nodes is likely if many neighbours of one are matched to neighbours of the other.
//!
//!   s_ik = Σ d(e, f)  over edges e of i and f of k whose other ends are matched to each other
//!
//! The next matching takes pairs in the order of s_ik + how alike their nodes are, as long as both are free. From a start in which one node
//! in ten is right, a few rounds find nearly all nodes of networks that differ in a tenth of their edges (Lubars and Srikant 2018).

use super::alike::Alike;
use crate::matching::{EdgeTerm, Workspace};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::cmp::Ordering;

/// What two nodes that are alike count, in mean products of edges; and the squared distance at which that falls to 1/e.
const LIKENESS: f64 = 0.5;
const WIDTH: f64 = 8.0;
/// Pairs of each left node that are considered: those with most witnesses, and those most alike.
const MOST_PAIRS: usize = 30;
const MOST_ALIKE: usize = 5;
/// Of those with most witnesses, so many are compared.
const MOST_COMPARED: usize = 4 * MOST_PAIRS;
/// Rounds at most, and rounds without a better matching.
const ROUNDS: usize = 40;
const PATIENCE: usize = 8;

/// A left node, a right node, and what speaks for the pair.
type Scored = (usize, usize, f64);

/// Two networks, and how alike their nodes are.
pub(super) struct Witnesses<'a> {
    edge: &'a EdgeTerm,
    descriptions: [&'a Array2<f64>; 2],
    alike: &'a Alike,
    likeness: f64,
}

impl<'a> Witnesses<'a> {
    pub(super) fn new(edge: &'a EdgeTerm, descriptions: [&'a Array2<f64>; 2], alike: &'a Alike) -> Self {
        let mean = |factors: ArrayView2<'_, f64>| factors.sum() / factors.nrows().max(1) as f64;
        let likeness = LIKENESS * mean(edge.left_factors()) * mean(edge.right_factors());
        Self { edge, descriptions, alike, likeness }
    }

    /// The matching that takes the pairs that are most alike first.
    pub(super) fn start(&self) -> Vec<Option<usize>> {
        let of = |(i, near): (usize, &Vec<(usize, f64)>)| near.iter().map(|&(k, far)| (i, k, -far)).collect::<Vec<_>>();
        self.taken(self.alike.iter().enumerate().flat_map(of).collect())
    }

    /// The best matching met on the way from a start, and the number of rounds.
    pub(super) fn improve(
        &self,
        start: Vec<Option<usize>>,
        is_allowed: &(impl Fn(usize, usize) -> bool + Sync),
        work: &Workspace,
    ) -> (Vec<Option<usize>>, usize) {
        let mut best = (self.score(&start), start.clone());
        let (mut now, mut waited, mut rounds) = (start, 0, 0);
        while rounds < ROUNDS && waited < PATIENCE && !work.interrupted() {
            let next = self.next(&now, is_allowed);
            rounds += 1;
            waited += 1;
            let score = self.score(&next);
            if score > best.0 {
                best = (score, next.clone());
                waited = 0;
            }
            if next == now {
                break;
            }
            now = next;
        }
        (best.1, rounds)
    }

    fn next(&self, now: &[Option<usize>], is_allowed: &(impl Fn(usize, usize) -> bool + Sync)) -> Vec<Option<usize>> {
        let start = || (vec![0.0; self.edge.right_count()], Vec::new());
        let pairs = (0..now.len()).into_par_iter().map_init(start, |(support, found), i| {
            self.add_support(i, now, support, found);
            let near = self.alike[i].iter().take(MOST_ALIKE).map(|near| near.0);
            found.extend(near.filter(|&k| support[k] == 0.0));
            let allowed = found.iter().filter(|&&k| is_allowed(i, k));
            let mut pairs: Vec<Scored> = allowed.map(|&k| (i, k, support[k])).collect();
            found.drain(..).for_each(|k| support[k] = 0.0);
            keep_best(&mut pairs, MOST_COMPARED);
            pairs.iter_mut().for_each(|pair| pair.2 += self.likeness * self.alike(i, pair.1));
            keep_best(&mut pairs, MOST_PAIRS);
            pairs
        });
        self.taken(pairs.collect::<Vec<_>>().into_iter().flatten().collect())
    }

    /// Adds s_ik for all right nodes that have any support, and lists them.
    fn add_support(&self, i: usize, now: &[Option<usize>], support: &mut [f64], found: &mut Vec<usize>) {
        let (left, right) = (self.edge.left_edges(), self.edge.right_edges());
        let mut add = |k: usize, value: f64| {
            if support[k] == 0.0 && value != 0.0 {
                found.push(k);
            }
            support[k] += value;
        };
        for e in left.from_node(i) {
            let witness = now[left.ends()[e][1]];
            let edges = witness.map_or(&[][..], |l| right.into_node(l));
            edges.iter().for_each(|&f| add(right.ends()[f][0], self.edge.value(e, f)));
        }
        if self.edge.is_symmetric() {
            return;
        }
        for &e in left.into_node(i) {
            let witness = now[left.ends()[e][0]];
            let edges = witness.map_or(0..0, |l| right.from_node(l));
            edges.for_each(|f| add(right.ends()[f][1], self.edge.value(e, f)));
        }
    }

    fn alike(&self, i: usize, k: usize) -> f64 {
        let [left, right] = self.descriptions;
        let distance: f64 = left.row(i).iter().zip(right.row(k)).map(|(a, b)| (a - b) * (a - b)).sum();
        (-distance / WIDTH).exp()
    }

    fn score(&self, now: &[Option<usize>]) -> f64 {
        let (left, right) = (self.edge.left_edges(), self.edge.right_edges());
        let of = |(e, &[i, j]): (usize, &[usize; 2])| {
            let kept = now[i].zip(now[j]).and_then(|(k, l)| right.find(k, l));
            kept.map_or(0.0, |f| self.edge.value(e, f))
        };
        left.ends().iter().enumerate().map(of).sum()
    }

    /// Takes pairs, best first, as long as both nodes are free.
    fn taken(&self, mut pairs: Vec<Scored>) -> Vec<Option<usize>> {
        pairs.sort_unstable_by(best_first);
        let (mut right_of, mut is_taken) = (vec![None; self.edge.left_count()], vec![false; self.edge.right_count()]);
        for (i, k, _) in pairs {
            if right_of[i].is_none() && !is_taken[k] {
                right_of[i] = Some(k);
                is_taken[k] = true;
            }
        }
        right_of
    }
}

fn best_first(a: &Scored, b: &Scored) -> Ordering {
    b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1)))
}

fn keep_best(pairs: &mut Vec<Scored>, count: usize) {
    if pairs.len() > count {
        pairs.select_nth_unstable_by(count, best_first);
        pairs.truncate(count);
    }
}

//! Random networks of four families, and copies of a network with some edges moved.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// An undirected network: each edge once, with its weight.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    pub(super) nodes: usize,
    pub(super) edges: Vec<(usize, usize, f64)>,
}

/// About this many neighbours in sparse families.
const NEIGHBOURS: usize = 10;

/// The families by name.
pub(super) const FAMILIES: [&str; 4] = ["erdos-renyi", "barabasi-albert", "blocks", "geometric"];

impl Network {
    /// A random network of a family.
    pub(super) fn random(family: &str, nodes: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let pairs = || (0..nodes).flat_map(move |i| (i + 1..nodes).map(move |j| (i, j)));
        let share = NEIGHBOURS as f64 / nodes as f64;
        let ends: Vec<(usize, usize)> = match family {
            "erdos-renyi" => pairs().filter(|_| rng.random::<f64>() < share).collect(),
            "blocks" => {
                let chance = |i: usize, j: usize| if i % 4 == j % 4 { 2.5 * share } else { 0.5 * share };
                pairs().filter(|&(i, j)| rng.random::<f64>() < chance(i, j)).collect()
            }
            "geometric" => {
                let points: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.random(), rng.random()]).collect();
                let reach = share / std::f64::consts::PI;
                let near = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) < reach;
                pairs().filter(|&(i, j)| near(points[i], points[j])).collect()
            }
            _ => attached(nodes, NEIGHBOURS / 2, &mut rng),
        };
        Self { nodes, edges: ends.into_iter().map(|(i, j)| (i, j, 1.0)).collect() }
    }

    /// The same network with a share of its edges moved elsewhere, and its nodes in the order `place`: node i becomes `place[i]`.
    pub(super) fn changed(&self, share: f64, place: &[usize], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut edges = self.edges.clone();
        edges.shuffle(&mut rng);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let moved = (share * edges.len() as f64).round() as usize;
        let mut taken: BTreeSet<(usize, usize)> = self.edges.iter().map(|&(i, j, _)| (i, j)).collect();
        for edge in edges.iter_mut().take(moved) {
            loop {
                let (i, j) = (rng.random_range(0..self.nodes), rng.random_range(0..self.nodes));
                if i < j && taken.insert((i, j)) {
                    *edge = (i, j, edge.2);
                    break;
                }
            }
        }
        edges.iter_mut().for_each(|edge| *edge = (place[edge.0], place[edge.1], edge.2));
        Self { nodes: self.nodes, edges }
    }

    /// The same network with its nodes in another order.
    pub(super) fn reordered(&self, place: &[usize]) -> Self {
        let edges = self.edges.iter().map(|&(i, j, weight)| (place[i], place[j], weight)).collect();
        Self { nodes: self.nodes, edges }
    }

    /// For each node two numbers, of which two nodes share one if they have identical neighbours: apart from each other, or including each other.
    /// Nothing tells such twins apart.
    pub(super) fn twins(&self) -> Vec<[usize; 2]> {
        let mut apart: Vec<Vec<(usize, u64)>> = vec![Vec::new(); self.nodes];
        for &(i, j, weight) in &self.edges {
            apart[i].push((j, weight.to_bits()));
            apart[j].push((i, weight.to_bits()));
        }
        let mut together = apart.clone();
        together.iter_mut().enumerate().for_each(|(i, own)| own.push((i, 1.0_f64.to_bits())));
        let [apart, together] = [apart, together].map(|mut all| {
            all.iter_mut().for_each(|own| own.sort_unstable());
            let mut first = BTreeMap::new();
            all.into_iter().enumerate().map(|(i, own)| *first.entry(own).or_insert(i)).collect::<Vec<_>>()
        });
        apart.into_iter().zip(together).map(|(apart, together)| [apart, together]).collect()
    }
}

/// Preferential attachment: each new node chooses `each` older ones, the more likely the more neighbours they have.
fn attached(nodes: usize, each: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let mut ends: Vec<(usize, usize)> = (1..=each.min(nodes.saturating_sub(1))).map(|j| (0, j)).collect();
    for new in each + 1..nodes {
        let mut chosen = BTreeSet::new();
        while chosen.len() < each {
            let (i, j) = ends[rng.random_range(0..ends.len())];
            chosen.insert(if rng.random::<bool>() { i } else { j });
        }
        ends.extend(chosen.into_iter().map(|old| (old, new)));
    }
    ends
}

//! Numbers that describe the place of a node in its network, the same for nodes in the same place of another network:
//!
//!   x⁰: log(1 + degree), out and in if edges have a direction; log(1 + strength / mean strength of an edge) if they have different
//!       strengths; log(1 + triangles) if they are few enough to be counted
//!   x¹: mean and standard deviation of x⁰ over the neighbours, x² those of x¹, x³ the means of x²
//!
//! The degree profiles of Ding, Ma, Wu and Xu (2021) are such numbers; most are stable if a few edges change.

use crate::matching::EdgeList;
use ndarray::{Array2, ArrayView2};

/// Rounds of propagation, and the most numbers that each propagates.
const ROUNDS: usize = 3;
const MOST_NUMBERS: usize = 8;
/// Triangles are counted if that takes no more looks at pairs of edges.
const MOST_LOOKS: usize = 1 << 27;

/// What the descriptions of two networks have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    directed: bool,
    weighted: bool,
    triangles: bool,
}

/// A network: edges, in both directions if they have none, and how strong they are.
pub(super) struct Network<'a> {
    edges: &'a EdgeList,
    strength: Vec<f64>,
}

impl<'a> Network<'a> {
    /// Strengths are sums of factors, regardless of sign.
    pub(super) fn new(edges: &'a EdgeList, factors: ArrayView2<'_, f64>) -> Self {
        let strength = factors.rows().into_iter().map(|row| row.iter().map(|value| value.abs()).sum()).collect();
        Self { edges, strength }
    }

    /// What these networks can both be described by.
    pub(super) fn kind(networks: [&Self; 2]) -> Kind {
        let is_directed = |own: &Self| own.edges.ends().iter().any(|&[i, j]| own.edges.find(j, i).is_none());
        let first = networks.iter().find_map(|own| own.strength.first().copied()).unwrap_or(1.0);
        let is_weighted = |own: &Self| own.strength.iter().any(|&strength| strength != first);
        let looks = |own: &Self| own.edges.ends().iter().map(|&[_, j]| own.edges.from_node(j).len()).sum::<usize>();
        Kind {
            directed: networks.into_iter().any(is_directed),
            weighted: networks.into_iter().any(is_weighted),
            triangles: networks.into_iter().all(|own| looks(own) <= MOST_LOOKS),
        }
    }

    /// The numbers of each node, one row each.
    pub(super) fn describe(&self, kind: Kind) -> Array2<f64> {
        let n = self.edges.node_count();
        let count = |number: usize| (number as f64).ln_1p();
        let mut last: Vec<Vec<f64>> = vec![(0..n).map(|i| count(self.edges.from_node(i).len())).collect()];
        if kind.directed {
            last.push((0..n).map(|i| count(self.edges.into_node(i).len())).collect());
        }
        if kind.weighted {
            let mean = self.strength.iter().sum::<f64>() / self.strength.len().max(1) as f64;
            let unit = if mean > 0.0 { mean } else { 1.0 };
            let total = |i: usize| self.edges.from_node(i).map(|e| self.strength[e]).sum::<f64>();
            last.push((0..n).map(|i| (total(i) / unit).ln_1p()).collect());
        }
        if kind.triangles {
            last.push(self.triangles().into_iter().map(count).collect());
        }
        let mut all = last.clone();
        for round in 0..ROUNDS {
            let mut next = Vec::new();
            for numbers in &last {
                let (mean, deviation) = self.around(numbers, kind);
                next.push(mean);
                if round + 1 < ROUNDS {
                    next.push(deviation);
                }
            }
            next.truncate(MOST_NUMBERS);
            all.extend(next.iter().cloned());
            last = next;
        }
        Array2::from_shape_fn((n, all.len()), |(i, at)| all[at][i])
    }

    /// Mean and standard deviation over the neighbours, by the strength of the edges; both 0 without any.
    fn around(&self, numbers: &[f64], kind: Kind) -> (Vec<f64>, Vec<f64>) {
        let of = |i: usize| {
            let (mut total, mut sum, mut squares) = (0.0, 0.0, 0.0);
            let mut add = |e: usize, at: usize| {
                let (weight, x) = (self.strength[e], numbers[at]);
                total += weight;
                sum += weight * x;
                squares += weight * x * x;
            };
            self.edges.from_node(i).for_each(|e| add(e, self.edges.ends()[e][1]));
            if kind.directed {
                self.edges.into_node(i).iter().for_each(|&e| add(e, self.edges.ends()[e][0]));
            }
            if total > 0.0 {
                let mean = sum / total;
                (mean, (squares / total - mean * mean).max(0.0).sqrt())
            } else {
                (0.0, 0.0)
            }
        };
        (0..numbers.len()).map(of).unzip()
    }

    /// How many pairs of neighbours of each node are neighbours.
    fn triangles(&self) -> Vec<usize> {
        let n = self.edges.node_count();
        let mut is_near = vec![false; n];
        let next = |i: usize| self.edges.from_node(i).map(|e| self.edges.ends()[e][1]);
        (0..n)
            .map(|i| {
                next(i).for_each(|j| is_near[j] = true);
                let count = next(i).flat_map(next).filter(|&other| is_near[other]).count();
                next(i).for_each(|j| is_near[j] = false);
                count
            })
            .collect()
    }
}

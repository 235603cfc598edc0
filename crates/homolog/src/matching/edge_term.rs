//! [`EdgeTerm`]: d, the scores for pairs of edges, stored only where both edges exist.
//!
//! An edge here is directed: an undirected graph lists both directions, and the sums of equation 1 run over ordered pairs.
//! With e = (i, j) an edge of the left graph and f = (k, l) one of the right,
//!
//!   d(e, f) = Σ_t a_t(e) b_t(f)  +  listed(e, f)
//!
//! The first part holds features that factor (adjacency, squared differences, cosines) in T·(|E| + |E'|) numbers; multiplying it
//! with a soft matching costs T·(|E| m + n |E'|). The second part holds the rest, a number per listed pair of edges. Nothing here
//! ever has n²·m² entries.

use super::Matching;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// The directed edges of one graph, sorted by source and then target, without repetitions or self-loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeList {
    ends: Vec<[usize; 2]>,
    /// Edges of node i are at `start[i]..start[i + 1]`.
    start: Vec<usize>,
}

impl EdgeList {
    /// Sorts the edges and drops repetitions.
    ///
    /// # Errors
    /// An end that is not a node, or an edge from a node to itself (its score is a node score).
    pub fn new(node_count: usize, mut ends: Vec<[usize; 2]>) -> Result<Self> {
        for &[source, target] in &ends {
            if source.max(target) >= node_count {
                return Err(Error::OutOfRange {
                    what: "ends of an edge",
                    index: source.max(target),
                    count: node_count,
                });
            }
            if source == target {
                return Err(Error::SelfLoop { node: source });
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let mut start = vec![0; node_count + 1];
        for &[source, _] in &ends {
            start[source + 1] += 1;
        }
        for node in 0..node_count {
            start[node + 1] += start[node];
        }
        Ok(Self { ends, start })
    }

    /// No edges between so many nodes.
    #[must_use]
    pub fn empty(node_count: usize) -> Self {
        Self { ends: Vec::new(), start: vec![0; node_count + 1] }
    }

    /// The edges (source, target), sorted.
    #[must_use]
    pub fn ends(&self) -> &[[usize; 2]] {
        &self.ends
    }

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no edge.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many nodes the graph has.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.start.len() - 1
    }

    /// The positions of the edges that leave a node.
    #[must_use]
    pub fn from_node(&self, node: usize) -> std::ops::Range<usize> {
        self.start[node]..self.start[node + 1]
    }

    /// The position of an edge, where it exists.
    #[must_use]
    pub fn find(&self, source: usize, target: usize) -> Option<usize> {
        let range = self.from_node(source);
        self.ends[range.clone()].binary_search(&[source, target]).ok().map(|offset| range.start + offset)
    }
}

/// Scores d(e, f) for pairs of a left and a right edge; zero where either does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeTerm {
    left: Arc<EdgeList>,
    right: Arc<EdgeList>,
    /// a: one row per left edge, one column per factor.
    left_factors: Array2<f64>,
    /// b: one row per right edge, one column per factor.
    right_factors: Array2<f64>,
    /// Pairs of left edge e stand at `listed_start[e]..listed_start[e + 1]`, sorted by right edge.
    listed_start: Vec<usize>,
    listed: Vec<(usize, f64)>,
}

impl EdgeTerm {
    /// d(e, f) = Σ_t a_t(e) b_t(f).
    ///
    /// # Errors
    /// Sizes that disagree, or a factor that is not finite.
    pub fn factored(
        left: Arc<EdgeList>,
        right: Arc<EdgeList>,
        left_factors: Array2<f64>,
        right_factors: Array2<f64>,
    ) -> Result<Self> {
        let sizes = [
            ("rows of left factors", left.len(), left_factors.nrows()),
            ("rows of right factors", right.len(), right_factors.nrows()),
            ("columns of right factors", left_factors.ncols(), right_factors.ncols()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        for (what, table) in [("left edge factors", &left_factors), ("right edge factors", &right_factors)] {
            if let Some(((row, column), &value)) = table.indexed_iter().find(|(_, value)| !value.is_finite()) {
                return Err(Error::BadCell { what, row, column, value });
            }
        }
        let listed_start = vec![0; left.len() + 1];
        Ok(Self { left, right, left_factors, right_factors, listed_start, listed: Vec::new() })
    }

    /// d(e, f) given one by one as (left edge, right edge, value), edges by their position in the lists; repeated pairs add up.
    ///
    /// # Errors
    /// A position out of range, or a value that is not finite.
    pub fn listed(left: Arc<EdgeList>, right: Arc<EdgeList>, entries: Vec<(usize, usize, f64)>) -> Result<Self> {
        let (rows, columns) = (left.len(), right.len());
        Self::factored(left, right, Array2::zeros((rows, 0)), Array2::zeros((columns, 0)))?.with_listed(entries)
    }

    /// The same term with its listed part replaced.
    ///
    /// # Errors
    /// As [`Self::listed`].
    pub fn with_listed(mut self, mut entries: Vec<(usize, usize, f64)>) -> Result<Self> {
        for &(e, f, value) in &entries {
            if e >= self.left.len() {
                return Err(Error::OutOfRange { what: "left edges", index: e, count: self.left.len() });
            }
            if f >= self.right.len() {
                return Err(Error::OutOfRange { what: "right edges", index: f, count: self.right.len() });
            }
            if !value.is_finite() {
                return Err(Error::BadCell { what: "edge scores", row: e, column: f, value });
            }
        }
        entries.sort_by_key(|&(e, f, _)| (e, f));
        self.listed = Vec::with_capacity(entries.len());
        self.listed_start = vec![0; self.left.len() + 1];
        let mut last = None;
        for (e, f, value) in entries {
            if last == Some((e, f)) {
                if let Some(entry) = self.listed.last_mut() {
                    entry.1 += value;
                }
            } else {
                self.listed.push((f, value));
                self.listed_start[e + 1] += 1;
                last = Some((e, f));
            }
        }
        for e in 0..self.left.len() {
            self.listed_start[e + 1] += self.listed_start[e];
        }
        Ok(self)
    }

    /// The edges of the left graph.
    #[must_use]
    pub fn left_edges(&self) -> &EdgeList {
        &self.left
    }

    /// The edges of the right graph.
    #[must_use]
    pub fn right_edges(&self) -> &EdgeList {
        &self.right
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.left.node_count()
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.right.node_count()
    }

    /// a_t(e): one row per left edge.
    #[must_use]
    pub fn left_factors(&self) -> ArrayView2<'_, f64> {
        self.left_factors.view()
    }

    /// b_t(f): one row per right edge.
    #[must_use]
    pub fn right_factors(&self) -> ArrayView2<'_, f64> {
        self.right_factors.view()
    }

    /// The listed pairs of one left edge: (right edge, value), sorted by right edge.
    #[must_use]
    pub fn listed_of(&self, left_edge: usize) -> &[(usize, f64)] {
        &self.listed[self.listed_start[left_edge]..self.listed_start[left_edge + 1]]
    }

    /// d(e, f), edges by their position in the lists.
    #[must_use]
    pub fn value(&self, left_edge: usize, right_edge: usize) -> f64 {
        let factored = self.left_factors.row(left_edge).dot(&self.right_factors.row(right_edge));
        let entries = self.listed_of(left_edge);
        let listed = entries.binary_search_by_key(&right_edge, |&(f, _)| f).map_or(0.0, |at| entries[at].1);
        factored + listed
    }

    /// Σ d(ij, kl) over matched i, j with k, l their partners and both edges existing.
    #[must_use]
    pub fn score(&self, matching: &Matching) -> f64 {
        let mut total = 0.0;
        for (e, &[i, j]) in self.left.ends().iter().enumerate() {
            if let (Some(k), Some(l)) = (matching.right_of(i), matching.right_of(j))
                && let Some(f) = self.right.find(k, l)
            {
                total += self.value(e, f);
            }
        }
        total
    }

    /// The gradient of Σ d(ij, kl) y_ik y_jl at a soft matching, added to `gradient`:
    /// gradient_ik += Σ_jl [d(ij, kl) + d(ji, lk)] y_jl.
    ///
    /// # Panics
    /// If the arrays do not have one row per left and one column per right node.
    pub fn add_gradient(&self, soft: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        let shape = [self.left_count(), self.right_count()];
        assert_eq!(soft.shape(), shape, "a soft matching has one row per left and one column per right node");
        assert_eq!(gradient.shape(), shape, "a gradient has one row per left and one column per right node");
        let mut forward = Array2::<f64>::zeros(soft.raw_dim());
        let mut backward = Array2::<f64>::zeros(soft.raw_dim());
        for t in 0..self.left_factors.ncols() {
            // Rows first (Σ_j a_t(ij) y_jl), then columns (Σ_l b_t(kl) ...): two sparse products.
            forward.fill(0.0);
            backward.fill(0.0);
            for (e, &[i, j]) in self.left.ends().iter().enumerate() {
                let a = self.left_factors[[e, t]];
                forward.row_mut(i).scaled_add(a, &soft.row(j));
                backward.row_mut(j).scaled_add(a, &soft.row(i));
            }
            for i in 0..self.left_count() {
                for (f, &[k, l]) in self.right.ends().iter().enumerate() {
                    let b = self.right_factors[[f, t]];
                    gradient[[i, k]] += b * forward[[i, l]];
                    gradient[[i, l]] += b * backward[[i, k]];
                }
            }
        }
        for (e, &[i, j]) in self.left.ends().iter().enumerate() {
            for &(f, value) in self.listed_of(e) {
                let [k, l] = self.right.ends()[f];
                gradient[[i, k]] += value * soft[[j, l]];
                gradient[[j, l]] += value * soft[[i, k]];
            }
        }
    }
}

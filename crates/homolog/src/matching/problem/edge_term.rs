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

use super::{EdgeList, Matching};
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// Pairs of edges between two questions to the control.
const AT_A_TIME: usize = 1 << 18;

/// Scores d(e, f) for pairs of a left and a right edge; zero where either does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeTerm {
    left: Arc<EdgeList>,
    right: Arc<EdgeList>,
    /// a: one row per left edge, one column per factor; in standard layout.
    left_factors: Array2<f64>,
    /// b: one row per right edge, one column per factor; in standard layout.
    right_factors: Array2<f64>,
    /// Pairs of left edge e are at `listed_start[e]..listed_start[e + 1]`, sorted by right edge.
    listed_start: Vec<usize>,
    listed: Vec<(usize, f64)>,
    /// d(ij, kl) = d(ji, lk) throughout.
    symmetric: bool,
}

impl EdgeTerm {
    /// d(e, f) = Σ_t a_t(e) b_t(f).
    ///
    /// # Errors
    /// Sizes that disagree, a factor that is not finite, or factors whose products overflow.
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
        let (listed_start, listed) = (vec![0; left.len() + 1], Vec::new());
        let [left_factors, right_factors] = [left_factors, right_factors].map(standard);
        let mut term = Self { left, right, left_factors, right_factors, listed_start, listed, symmetric: false };
        term.check_range()?;
        term.symmetric = term.find_symmetry(&Control::new())?;
        Ok(term)
    }

    /// d(e, f) given one by one as (left edge, right edge, value), edges by their position in the lists; values of repeated pairs add up.
    ///
    /// # Errors
    /// A position out of range, or a value that is not finite, alone or when added up.
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
        self.check_range()?;
        self.symmetric = self.find_symmetry(&Control::new())?;
        Ok(self)
    }

    /// The same term with a value listed for every pair of edges. Of many pairs it asks the control now and then.
    pub(crate) fn with_all_listed(
        mut self,
        of: &mut dyn FnMut(usize, usize) -> f64,
        control: &Control,
    ) -> Result<Self> {
        self.listed = Vec::with_capacity(self.left.len() * self.right.len());
        for e in 0..self.left.len() {
            self.listen(e, control)?;
            for f in 0..self.right.len() {
                let value = of(e, f);
                if !value.is_finite() {
                    return Err(Error::BadCell { what: "edge scores", row: e, column: f, value });
                }
                self.listed.push((f, value));
            }
            self.listed_start[e + 1] = self.listed.len();
        }
        self.check_range()?;
        self.symmetric = self.find_symmetry(control)?;
        Ok(self)
    }

    /// Asks the control every `AT_A_TIME` pairs of edges.
    fn listen(&self, left_edge: usize, control: &Control) -> Result<()> {
        let rows = AT_A_TIME / self.right.len().max(1) + 1;
        if left_edge > 0 && left_edge.is_multiple_of(rows) { Error::if_interrupted(control) } else { Ok(()) }
    }

    /// Products of factors, and sums of listed values, can be out of range even if each number is not.
    fn check_range(&self) -> Result<()> {
        let largest = self.magnitude();
        if largest.is_finite() { Ok(()) } else { Err(Error::Overflow { what: "edge scores", largest }) }
    }

    /// The same term with right node k renumbered to `position_of[k]`.
    pub(super) fn with_right_nodes_at(&self, position_of: &[usize]) -> Result<Self> {
        let (right, new_at) = self.right.renumbered(position_of)?;
        let mut right_factors = Array2::zeros(self.right_factors.raw_dim());
        for (f, row) in self.right_factors.rows().into_iter().enumerate() {
            right_factors.row_mut(new_at[f]).assign(&row);
        }
        let mut listed: Vec<(usize, f64)> = self.listed.iter().map(|&(f, value)| (new_at[f], value)).collect();
        for e in 0..self.left.len() {
            listed[self.listed_start[e]..self.listed_start[e + 1]].sort_unstable_by_key(|&(f, _)| f);
        }
        Ok(Self { right: Arc::new(right), right_factors, listed, ..self.clone() })
    }

    /// Whether reversing both edges never changes d: both graphs list every edge in both directions, each factor is even on
    /// both sides or odd on both sides, and listed values agree. May miss a symmetry that comes from several factors together.
    fn find_symmetry(&self, control: &Control) -> Result<bool> {
        let reverse =
            |edges: &EdgeList| edges.ends().iter().map(|&[i, j]| edges.find(j, i)).collect::<Option<Vec<_>>>();
        let (Some(left), Some(right)) = (reverse(&self.left), reverse(&self.right)) else { return Ok(false) };
        let turns = |factors: &Array2<f64>, reverse: &[usize], t: usize, sign: f64| {
            reverse.iter().enumerate().all(|(e, &back)| factors[[back, t]] == sign * factors[[e, t]])
        };
        let even_or_odd = |t: usize| {
            let both = |sign| turns(&self.left_factors, &left, t, sign) && turns(&self.right_factors, &right, t, sign);
            both(1.0) || both(-1.0)
        };
        let listed_turns = |e: usize| {
            let back = self.listed_of(left[e]);
            let value = |f: usize| back.binary_search_by_key(&f, |&(f, _)| f).map_or(0.0, |at| back[at].1);
            self.listed_of(e).iter().all(|&(f, forth)| value(right[f]) == forth)
        };
        if !(0..self.left_factors.ncols()).all(even_or_odd) {
            return Ok(false);
        }
        let turns = |e| self.listen(e, control).map(|()| listed_turns(e));
        (0..left.len()).map(turns).find(|turns| !matches!(turns, Ok(true))).unwrap_or(Ok(true))
    }

    /// Whether d(ij, kl) = d(ji, lk) throughout, as in undirected graphs; determined once, when the term is built.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Whether d has no entries at all, so that the problem is linear.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let factored = self.left_factors.ncols() > 0 && !self.left.is_empty() && !self.right.is_empty();
        !factored && self.listed.is_empty()
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
        let factored = self.factored_value(left_edge, right_edge);
        let entries = self.listed_of(left_edge);
        if entries.is_empty() {
            return factored;
        }
        let listed = entries.binary_search_by_key(&right_edge, |&(f, _)| f).map_or(0.0, |at| entries[at].1);
        factored + listed
    }

    /// The factored part of d(e, f).
    pub(crate) fn factored_value(&self, left_edge: usize, right_edge: usize) -> f64 {
        inner(factors_of(&self.left_factors, left_edge), factors_of(&self.right_factors, right_edge))
    }

    /// No |d(e, f)| is larger than this. Where factors cancel, all of them may be much smaller.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        let most = |most: f64, value: &f64| most.max(value.abs());
        let largest = |factors: &Array2<f64>, t: usize| factors.column(t).into_iter().fold(0.0, most);
        let factors = 0..self.left_factors.ncols();
        let factored: f64 = factors.map(|t| largest(&self.left_factors, t) * largest(&self.right_factors, t)).sum();
        factored + self.listed.iter().map(|(_, value)| value).fold(0.0, most)
    }

    /// The smallest d(e, f) over all pairs of edges, 0 where there are none. With one factor and listed values the result can be lower
    /// than that, because the two parts are bounded separately.
    pub(crate) fn smallest(&self) -> f64 {
        let least = |least: f64, value: f64| least.min(value);
        if self.is_empty() {
            return 0.0;
        }
        let listed = self.listed.iter().map(|&(_, value)| value).fold(0.0, least);
        match self.left_factors.ncols() {
            0 => listed,
            1 => {
                let range = |factors: &Array2<f64>| {
                    (
                        factors.iter().copied().fold(f64::INFINITY, f64::min),
                        factors.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    )
                };
                let (a, b) = (range(&self.left_factors), range(&self.right_factors));
                listed + (a.0 * b.0).min(a.0 * b.1).min(a.1 * b.0).min(a.1 * b.1)
            }
            _ => {
                let values = (0..self.left.len()).flat_map(|e| (0..self.right.len()).map(move |f| self.value(e, f)));
                values.fold(f64::INFINITY, least)
            }
        }
    }

    /// d(e, f) + by, for all pairs of edges.
    pub(crate) fn raised(&self, by: f64) -> Self {
        let add = |factors: &Array2<f64>, value: f64| {
            let column = Array2::from_elem((factors.nrows(), 1), value);
            standard(ndarray::concatenate![ndarray::Axis(1), factors.view(), column])
        };
        let (left_factors, right_factors) = (add(&self.left_factors, by), add(&self.right_factors, 1.0));
        Self { left_factors, right_factors, ..self.clone() }
    }

    /// left_e · d(e, f) · right_f.
    pub(crate) fn rescaled(&self, left: &[f64], right: &[f64]) -> Self {
        let mut term = self.clone();
        for (mut row, &factor) in term.left_factors.rows_mut().into_iter().zip(left) {
            row *= factor;
        }
        for (mut row, &factor) in term.right_factors.rows_mut().into_iter().zip(right) {
            row *= factor;
        }
        for e in 0..left.len() {
            for (f, value) in &mut term.listed[self.listed_start[e]..self.listed_start[e + 1]] {
                *value *= left[e] * right[*f];
            }
        }
        term.symmetric = term.find_symmetry(&Control::new()).unwrap_or(false);
        term
    }

    /// Adds weight times the gradient of one matched pair: what pairing (i, k) is worth to every other pair (j, l),
    /// gradient_jl += weight · [d(ij, kl) + d(ji, lk)]. Only pairs of neighbours are touched.
    pub(crate) fn add_pair_gradient(&self, i: usize, k: usize, weight: f64, gradient: &mut Array2<f64>) {
        let weight = if self.symmetric { 2.0 * weight } else { weight };
        let leaving = self.right.from_node(k);
        for e in self.left.from_node(i) {
            let mut row = gradient.row_mut(self.left.ends()[e][1]);
            if self.left_factors.ncols() > 0 {
                let factors = factors_of(&self.left_factors, e);
                for f in leaving.clone() {
                    row[self.right.ends()[f][1]] += weight * inner(factors, factors_of(&self.right_factors, f));
                }
            }
            // The edges that leave k are stored together.
            let entries = self.listed_of(e);
            let first = entries.partition_point(|&(f, _)| f < leaving.start);
            for &(f, value) in entries[first..].iter().take_while(|&&(f, _)| f < leaving.end) {
                row[self.right.ends()[f][1]] += weight * value;
            }
        }
        if !self.symmetric {
            for &e in self.left.into_node(i) {
                let mut row = gradient.row_mut(self.left.ends()[e][0]);
                for &f in self.right.into_node(k) {
                    row[self.right.ends()[f][0]] += weight * self.value(e, f);
                }
            }
        }
    }

    /// Σ d(ij, kl) over matched i, j with k, l their partners and both edges existing.
    #[must_use]
    pub fn score(&self, matching: &Matching) -> f64 {
        self.kept(matching).fold(0.0, |total, (_, value)| total + value)
    }

    /// Adds half of each of these to the shares of i and of j.
    pub(crate) fn add_shares(&self, matching: &Matching, shares: &mut [f64]) {
        for ([i, j], value) in self.kept(matching) {
            shares[i] += 0.5 * value;
            shares[j] += 0.5 * value;
        }
    }

    /// The left edges that a matching keeps, and their scores.
    fn kept<'a>(&'a self, matching: &'a Matching) -> impl Iterator<Item = ([usize; 2], f64)> + 'a {
        self.left.ends().iter().enumerate().filter_map(|(e, &[i, j])| {
            let f = self.right.find(matching.right_of(i)?, matching.right_of(j)?)?;
            Some(([i, j], self.value(e, f)))
        })
    }
}

/// Σ_t a_t b_t, in the order of t.
fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn standard(factors: Array2<f64>) -> Array2<f64> {
    if factors.is_standard_layout() { factors } else { factors.as_standard_layout().into_owned() }
}

/// The factors of one edge. Rows of an array are views that cost more than the few products made of them.
fn factors_of(factors: &Array2<f64>, edge: usize) -> &[f64] {
    let width = factors.ncols();
    factors.as_slice().map_or(&[], |all| &all[edge * width..(edge + 1) * width])
}

//! The gradient of the edge term at a soft matching: the hot loop of every soft solver.
//!
//! For f(y) = Σ d(ij, kl) y_ik y_jl the gradient is  g_ik = Σ_jl [d(ij, kl) + d(ji, lk)] y_jl.  With A_t and B_t the sparse matrices
//! of factor t, that is Σ_t (A_t Y B_t' + A_t' Y B_t) plus the listed pairs; where d(ij, kl) = d(ji, lk) the two products agree and
//! one is computed and doubled.
//!
//! Both sparse products run over whole rows: A Y adds rows of Y, and its product with B' adds rows of the transposed result. Cost
//! T (|E| m + n |E'|) plus the number of listed pairs; memory n·m.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::EdgeTerm;
use ndarray::{Array2, ArrayView2};

/// Scratch memory that makes repeated gradients free of allocation.
#[derive(Debug, Default, Clone)]
pub(crate) struct GradientBuffers {
    /// The soft matching row by row, where it is not stored that way already.
    soft: Vec<f64>,
    /// A_t Y and its transpose.
    rows: Vec<f64>,
    turned: Vec<f64>,
    /// The transposed sum of the products.
    result: Vec<f64>,
}

impl EdgeTerm {
    /// The gradient of Σ d(ij, kl) y_ik y_jl at a soft matching, added to `gradient`:
    /// gradient_ik += Σ_jl [d(ij, kl) + d(ji, lk)] y_jl.
    ///
    /// # Panics
    /// If the arrays do not have one row per left and one column per right node.
    pub fn add_gradient(&self, soft: ArrayView2<'_, f64>, gradient: &mut Array2<f64>) {
        self.add_gradient_with(1.0, soft, gradient, &mut GradientBuffers::default());
    }

    /// [`Self::add_gradient`] times `weight`, with scratch memory to reuse. The weight is applied before any sum is formed, so a small
    /// one keeps huge scores from overflowing.
    ///
    /// # Panics
    /// If the arrays do not have one row per left and one column per right node.
    pub(crate) fn add_gradient_with(
        &self,
        weight: f64,
        soft: ArrayView2<'_, f64>,
        gradient: &mut Array2<f64>,
        buffers: &mut GradientBuffers,
    ) {
        let shape = [self.left_count(), self.right_count()];
        assert_eq!(soft.shape(), shape, "a soft matching has one row per left and one column per right node");
        assert_eq!(gradient.shape(), shape, "a gradient has one row per left and one column per right node");
        if shape.contains(&0) || self.is_empty() {
            return;
        }
        let mut copy = std::mem::take(&mut buffers.soft);
        let rows = soft.as_slice().unwrap_or_else(|| {
            copy.clear();
            copy.extend(soft.iter());
            &copy
        });
        if let Some(out) = gradient.as_slice_mut() {
            self.accumulate(weight, rows, out, buffers);
        } else {
            let mut out = Array2::zeros(gradient.raw_dim());
            if let Some(out) = out.as_slice_mut() {
                self.accumulate(weight, rows, out, buffers);
            }
            *gradient += &out;
        }
        buffers.soft = copy;
    }

    fn accumulate(&self, weight: f64, soft: &[f64], out: &mut [f64], buffers: &mut GradientBuffers) {
        pulp::Arch::new().dispatch(Accumulate { term: self, weight, soft, out, buffers });
    }

    #[inline(always)]
    fn accumulate_here(&self, weight: f64, soft: &[f64], out: &mut [f64], buffers: &mut GradientBuffers) {
        let weight = if self.is_symmetric() { 2.0 * weight } else { weight };
        let factors = self.left_factors().ncols();
        if factors > 0 {
            for buffer in [&mut buffers.rows, &mut buffers.turned, &mut buffers.result] {
                buffer.resize(soft.len(), 0.0);
            }
            buffers.result.fill(0.0);
            for t in 0..factors {
                self.add_factor(t, weight, false, soft, buffers);
                if !self.is_symmetric() {
                    self.add_factor(t, weight, true, soft, buffers);
                }
            }
            let (n, m) = (self.left_count(), self.right_count());
            each_transposed(m, n, |from, to| out[to] += buffers.result[from]);
        }
        self.add_listed(weight, soft, out);
    }

    /// Adds the transpose of weight · A_t Y B_t', or of A_t' Y B_t when `turn`.
    #[inline(always)]
    fn add_factor(&self, t: usize, weight: f64, turn: bool, soft: &[f64], buffers: &mut GradientBuffers) {
        let (n, m) = (self.left_count(), self.right_count());
        let GradientBuffers { rows, turned, result, .. } = buffers;
        let (from, to) = if turn { (0, 1) } else { (1, 0) };
        rows.fill(0.0);
        for (ends, &a) in self.left_edges().ends().iter().zip(self.left_factors().column(t)) {
            if a != 0.0 {
                add_scaled(&mut rows[ends[to] * m..][..m], weight * a, &soft[ends[from] * m..][..m]);
            }
        }
        each_transposed(n, m, |from, to| turned[to] = rows[from]);
        for (ends, &b) in self.right_edges().ends().iter().zip(self.right_factors().column(t)) {
            if b != 0.0 {
                add_scaled(&mut result[ends[to] * n..][..n], b, &turned[ends[from] * n..][..n]);
            }
        }
    }

    fn add_listed(&self, weight: f64, soft: &[f64], out: &mut [f64]) {
        let m = self.right_count();
        let ends = self.right_edges().ends();
        for (e, &[i, j]) in self.left_edges().ends().iter().enumerate() {
            let entries = self.listed_of(e);
            let from = &soft[j * m..][..m];
            let to = &mut out[i * m..][..m];
            for &(f, value) in entries {
                let [k, l] = ends[f];
                to[k] += weight * value * from[l];
            }
            if !self.is_symmetric() {
                let from = &soft[i * m..][..m];
                let to = &mut out[j * m..][..m];
                for &(f, value) in entries {
                    let [k, l] = ends[f];
                    to[l] += weight * value * from[k];
                }
            }
        }
    }
}

/// [`EdgeTerm::accumulate`] with the widest vectors this processor has; the result is the same to the bit on any of them.
struct Accumulate<'a> {
    term: &'a EdgeTerm,
    weight: f64,
    soft: &'a [f64],
    out: &'a mut [f64],
    buffers: &'a mut GradientBuffers,
}

impl pulp::WithSimd for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.term.accumulate_here(self.weight, self.soft, self.out, self.buffers);
    }
}

/// to += a · from.
#[inline(always)]
fn add_scaled(to: &mut [f64], a: f64, from: &[f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += a * from;
    }
}

/// Calls `copy` with the position of every cell in a table of `rows` by `columns` and its position in the transposed table, tile by
/// tile so that both stay in cache.
fn each_transposed(rows: usize, columns: usize, mut copy: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for row in top..rows.min(top + TILE) {
                for column in left..columns.min(left + TILE) {
                    copy(row * columns + column, column * rows + row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::EdgeList;
    use std::sync::Arc;

    /// A number without a pattern for each index, between -1 and 1.
    fn noise(index: usize) -> f64 {
        ((index * 7919 + 104_729) % 1009) as f64 / 504.5 - 1.0
    }

    fn ring(count: usize, both_ways: bool) -> Arc<EdgeList> {
        let forth = (0..count).map(|i| [i, (i + 1) % count]);
        let back = (0..count).map(|i| [(i + 1) % count, i]).filter(|_| both_ways);
        Arc::new(EdgeList::new(count, forth.chain(back).collect()).unwrap())
    }

    /// One factor that is even (the same both ways), one that is odd, and listed values for some pairs that are the same both ways.
    fn symmetric_term() -> EdgeTerm {
        let (left, right) = (ring(5, true), ring(4, true));
        let factors = |edges: &EdgeList| {
            Array2::from_shape_fn((edges.len(), 2), |(e, t)| {
                let [i, j] = edges.ends()[e];
                let size = noise(i.min(j) * 10 + i.max(j) + 100 * t);
                if t == 1 && i > j { -size } else { size }
            })
        };
        let mut entries = Vec::new();
        for (e, &[i, j]) in left.ends().iter().enumerate() {
            for (f, &[k, l]) in right.ends().iter().enumerate() {
                let turned = if i < j { [i, j, k, l] } else { [j, i, l, k] };
                if (turned[0] + turned[2]) % 3 == 0 {
                    entries.push((e, f, noise(turned.iter().fold(0, |sum, x| 10 * sum + x))));
                }
            }
        }
        let (a, b) = (factors(&left), factors(&right));
        EdgeTerm::factored(left, right, a, b).unwrap().with_listed(entries).unwrap()
    }

    fn directed_term() -> EdgeTerm {
        let (left, right) = (ring(5, false), ring(4, true));
        let a = Array2::from_shape_fn((left.len(), 2), |(e, t)| noise(e * 2 + t));
        let b = Array2::from_shape_fn((right.len(), 2), |(f, t)| noise(f * 2 + t + 50));
        EdgeTerm::factored(left, right, a, b)
            .unwrap()
            .with_listed(vec![(0, 3, 0.7), (4, 1, -0.2), (2, 2, 1.5)])
            .unwrap()
    }

    /// The sum as defined, over all pairs of edges.
    fn by_definition(term: &EdgeTerm, soft: &Array2<f64>) -> Array2<f64> {
        let mut gradient = Array2::zeros(soft.raw_dim());
        for (e, &[i, j]) in term.left_edges().ends().iter().enumerate() {
            for (f, &[k, l]) in term.right_edges().ends().iter().enumerate() {
                gradient[[i, k]] += term.value(e, f) * soft[[j, l]];
                gradient[[j, l]] += term.value(e, f) * soft[[i, k]];
            }
        }
        gradient
    }

    #[test]
    fn gradient_is_that_of_the_definition() {
        assert!(symmetric_term().is_symmetric());
        assert!(!directed_term().is_symmetric());
        for term in [symmetric_term(), directed_term()] {
            let soft = Array2::from_shape_fn((5, 4), |(i, k)| noise(i * 4 + k + 7));
            let expected = by_definition(&term, &soft);
            let mut buffers = GradientBuffers::default();
            // Row by row, and column by column, into both.
            let turned = soft.t().as_standard_layout().into_owned().reversed_axes();
            for (soft, weight) in [(soft.view(), 1.0), (turned.view(), -2.5)] {
                for mut gradient in [Array2::zeros((5, 4)), Array2::zeros((4, 5)).reversed_axes()] {
                    term.add_gradient_with(weight, soft, &mut gradient, &mut buffers);
                    let error = (&gradient - &(&expected * weight)).mapv(f64::abs).sum();
                    assert!(error < 1e-13, "off by {error}");
                }
            }
        }
    }

    #[test]
    fn one_pair_at_a_time_is_the_same() {
        for term in [symmetric_term(), directed_term()] {
            let mut matched = Array2::zeros((5, 4));
            let mut gradient = Array2::zeros((5, 4));
            for (i, k) in [(0, 2), (1, 3), (3, 0), (4, 1)] {
                matched[[i, k]] = 1.0;
                term.add_pair_gradient(i, k, 1.0, &mut gradient);
            }
            let error = (&gradient - &by_definition(&term, &matched)).mapv(f64::abs).sum();
            assert!(error < 1e-13, "off by {error}");
        }
    }

    #[test]
    fn derived_terms_have_the_values_they_should() {
        let term = directed_term();
        let (left, right): (Vec<f64>, Vec<f64>) = ((1..6).map(f64::from).collect(), (1..9).map(f64::from).collect());
        let (raised, rescaled) = (term.raised(0.75), term.rescaled(&left, &right));
        let mut smallest = f64::INFINITY;
        for e in 0..5 {
            for f in 0..8 {
                let value = term.value(e, f);
                assert!((raised.value(e, f) - value - 0.75).abs() < 1e-15);
                assert!((rescaled.value(e, f) - value * left[e] * right[f]).abs() < 1e-13);
                assert!(value.abs() <= term.magnitude());
                smallest = smallest.min(value);
            }
        }
        assert_eq!(term.smallest(), smallest);
    }
}

//! d(e, f) = <phi_2(e, f), w_2> as an [`EdgeTerm`], and sums of phi_2 over pairs of edges.
//!
//! With the [`Bilinear`] forms of the features that factor, their weighted sum is
//!
//!   [Σ_r w_r (constant_r + alone_r(e))] · 1  +  1 · [Σ_r w_r alone_r(f)]  +  Σ_s [w_s coefficient_s z_s(e)] · z_s(f)
//!
//! so the constants and lone terms of any number of features share two factors, and each product adds one. Adjacency alone
//! is a single factor. The other features are listed, one number for each pair of edges: |E| |E'| in all.

use super::described::Described;
use super::{Bilinear, EdgeKind};
use crate::matching::{EdgeTerm, MAX_CELLS};
use crate::{Control, Error, Result};
use ndarray::Array2;
use std::sync::Arc;

/// What an edge feature needs from each edge of a graph.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    width: usize,
    values: Vec<f64>,
}

impl Measured {
    pub(super) fn new(columns: &Array2<f64>) -> Self {
        Self { width: columns.ncols(), values: columns.iter().copied().collect() }
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        8 * self.values.len()
    }

    /// The rows of some of the edges, in this order.
    pub(super) fn select(&self, edges: &[usize]) -> Self {
        Self { width: self.width, values: edges.iter().flat_map(|&edge| self.row(edge)).copied().collect() }
    }

    fn row(&self, edge: usize) -> &[f64] {
        &self.values[self.width * edge..self.width * (edge + 1)]
    }
}

/// An edge feature of a feature map: where its weights are, and its bilinear form if it has one.
#[derive(Debug, Clone)]
pub(super) struct EdgePlan {
    pub(super) kind: EdgeKind,
    pub(super) weights: std::ops::Range<usize>,
    pub(super) forms: Option<Vec<Bilinear>>,
}

/// d(e, f) for given weights (of the whole feature map). Many pairs of edges are listed under the control.
pub(super) fn edge_term(
    plans: &[EdgePlan],
    left: &Described,
    right: &Described,
    weights: &[f64],
    control: &Control,
) -> Result<EdgeTerm> {
    let factored = Factored::new(plans, weights);
    let term = EdgeTerm::factored(
        Arc::clone(&left.edges),
        Arc::clone(&right.edges),
        factored.left_factors(left),
        factored.right_factors(right),
    )?;
    let listed: Vec<(usize, &EdgePlan)> = plans.iter().enumerate().filter(|(_, plan)| plan.forms.is_none()).collect();
    if listed.iter().all(|(_, plan)| weights[plan.weights.clone()].iter().all(|&w| w == 0.0)) {
        return Ok(term);
    }
    let found = left.edges.len().saturating_mul(right.edges.len());
    if found > MAX_CELLS {
        let what = "pairs of edges, for features that are listed for all of them";
        return Err(Error::TooLarge { what, limit: MAX_CELLS, found });
    }
    let mut phi = vec![0.0; weights.len()];
    let mut score = |e: usize, f: usize| {
        let mut value = 0.0;
        for &(at, plan) in &listed {
            let phi = &mut phi[plan.weights.clone()];
            plan.kind.feature().compare(left.measured[at].row(e), right.measured[at].row(f), phi);
            value += phi.iter().zip(&weights[plan.weights.clone()]).map(|(phi, w)| phi * w).sum::<f64>();
        }
        value
    };
    term.with_all_listed(&mut score, control)
}

/// The weighted sum of all features that factor: columns of the measured tables, with what they are multiplied by.
struct Factored {
    /// Whether there are constants or lone terms, which make up the first factor.
    any: bool,
    constant: f64,
    /// (feature, column, weight).
    alone: Vec<(usize, usize, f64)>,
    /// (feature, column, weight times coefficient).
    products: Vec<(usize, usize, f64)>,
}

impl Factored {
    fn new(plans: &[EdgePlan], weights: &[f64]) -> Self {
        let mut sum = Self { any: false, constant: 0.0, alone: Vec::new(), products: Vec::new() };
        // What does not count costs nothing, unless nothing counts: that there are edges is to be seen all the same.
        let counts = |plan: &EdgePlan| weights[plan.weights.clone()].iter().any(|&w| w != 0.0);
        let any_counts = plans.iter().any(|plan| plan.forms.is_some() && counts(plan));
        for (at, plan) in plans.iter().enumerate() {
            for (form, &w) in plan.forms.iter().flatten().zip(&weights[plan.weights.clone()]) {
                if w == 0.0 && any_counts {
                    continue;
                }
                sum.any |= form.constant != 0.0 || !form.alone.is_empty();
                sum.constant += w * form.constant;
                sum.alone.extend(form.alone.iter().map(|&column| (at, column, w)));
                sum.products.extend(form.products.iter().map(|&(column, coefficient)| (at, column, w * coefficient)));
            }
        }
        sum
    }

    /// How many factors come before the products: constants and lone left terms; lone right terms.
    fn lead(&self) -> usize {
        usize::from(self.any) + usize::from(!self.alone.is_empty())
    }

    fn lone(&self, graph: &Described, edge: usize) -> f64 {
        self.alone.iter().map(|&(at, column, w)| w * graph.measured[at].row(edge)[column]).sum()
    }

    fn left_factors(&self, left: &Described) -> Array2<f64> {
        let lead = self.lead();
        let mut factors = Array2::ones((left.edges.len(), lead + self.products.len()));
        for (e, mut row) in factors.rows_mut().into_iter().enumerate() {
            if self.any {
                row[0] = self.constant + self.lone(left, e);
            }
            for (t, &(at, column, w)) in self.products.iter().enumerate() {
                row[lead + t] = w * left.measured[at].row(e)[column];
            }
        }
        factors
    }

    fn right_factors(&self, right: &Described) -> Array2<f64> {
        let lead = self.lead();
        let mut factors = Array2::ones((right.edges.len(), lead + self.products.len()));
        for (f, mut row) in factors.rows_mut().into_iter().enumerate() {
            if lead == 2 {
                row[1] = self.lone(right, f);
            }
            for (t, &(at, column, _)) in self.products.iter().enumerate() {
                row[lead + t] = right.measured[at].row(f)[column];
            }
        }
        factors
    }
}

/// Adds to `phi` (of the whole feature map) the sum of phi_2 over pairs of edges ((e, f), amount), each weighted by its amount.
pub(super) fn add_features(
    plans: &[EdgePlan],
    left: &Described,
    right: &Described,
    pairs: impl Iterator<Item = ((usize, usize), f64)>,
    phi: &mut [f64],
) {
    if plans.is_empty() {
        return;
    }
    let mut one = vec![0.0; phi.len()];
    for ((e, f), factor) in pairs {
        for (at, plan) in plans.iter().enumerate() {
            let one = &mut one[plan.weights.clone()];
            plan.kind.feature().compare(left.measured[at].row(e), right.measured[at].row(f), one);
            phi[plan.weights.clone()].iter_mut().zip(one).for_each(|(phi, one)| *phi += factor * *one);
        }
    }
}

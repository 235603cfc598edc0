//! c_ik = <phi_1(i, k), w_1> for all pairs of nodes, and the sum of phi_1 over a matching, for one kind of descriptor.
//!
//! Squares go through a matrix product, with W = diag(w):
//!
//!   -Σ_r w_r (a_r - b_r)² = 2 a'Wb - a'Wa - b'Wb
//!
//! n m D multiplications in the order that suits the processor, and no array with more than n m or n D numbers. Small integers such
//! as counts stay exact under it; where the values are far from zero next to their spread, both sides are moved by the same vector
//! first, which changes no difference and keeps the digits. Decays take n m D exponentials.

use super::comparison::{Comparison, Decay, NegativeSquare, WholeDecay};
use crate::matching::Matching;
use ndarray::{Array1, Array2, ArrayView1, Axis, Zip};
use std::borrow::Cow;

/// The descriptors of all nodes of a graph, of one kind.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// One row per node.
    pub(super) values: Array2<f64>,
    /// The mean row, where squares would lose digits without it.
    centre: Option<Array1<f64>>,
}

impl Block {
    pub(super) fn new(values: Array2<f64>) -> Self {
        let far = values.columns().into_iter().any(is_far);
        let centre = if far { values.mean_axis(Axis(0)) } else { None };
        Self { values: values.as_standard_layout().into_owned(), centre }
    }

    fn moved(&self, by: Option<&Array1<f64>>) -> Cow<'_, Array2<f64>> {
        match by {
            Some(centre) => Cow::Owned(&self.values - centre),
            None => Cow::Borrowed(&self.values),
        }
    }
}

/// Integers up to this are exact in products and sums, whatever their mean.
const SMALL_INTEGER: f64 = 1024.0;
/// Values whose mean is more than this many times their spread lose digits in squares: log2(64) = 6 bits at the limit, doubled.
const FAR: f64 = 64.0;

/// Whether a column's values are far from zero next to their spread.
fn is_far(column: ArrayView1<'_, f64>) -> bool {
    if column.iter().all(|&x| x.abs() <= SMALL_INTEGER && x == x.trunc()) {
        return false;
    }
    let (low, high) = column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    low.abs().max(high.abs()) > FAR * (high - low)
}

/// Adds <phi_1(i, k), weights> to `node` for all i and k.
pub(super) fn add_scores(comparison: Comparison, left: &Block, right: &Block, weights: &[f64], node: &mut Array2<f64>) {
    match comparison {
        Comparison::NegativeSquare(settings) => {
            add_square_scores(left, right, weights, scale(settings, left.values.nrows()), node);
        }
        Comparison::Decay(Decay { width }) => {
            for ((i, k), score) in node.indexed_iter_mut() {
                let differences = left.values.row(i).into_iter().zip(right.values.row(k));
                *score += differences.zip(weights).map(|((a, b), w)| w * decay((a - b) / width)).sum::<f64>();
            }
        }
        Comparison::WholeDecay(WholeDecay { width }) => {
            for ((i, k), score) in node.indexed_iter_mut() {
                *score += weights[0] * whole_decay(left.values.row(i), right.values.row(k), width);
            }
        }
    }
}

fn add_square_scores(left: &Block, right: &Block, weights: &[f64], scale: f64, node: &mut Array2<f64>) {
    let centre = left.centre.as_ref().or(right.centre.as_ref());
    let (left, right) = (left.moved(centre), right.moved(centre));
    let weights = ArrayView1::from(weights);
    let weighted = &*left * &weights;
    let product = weighted.dot(&right.t());
    let left_norms: Vec<f64> = weighted.rows().into_iter().zip(left.rows()).map(|(wa, a)| wa.dot(&a)).collect();
    let right_norms: Vec<f64> =
        right.rows().into_iter().map(|b| b.iter().zip(weights).map(|(b, w)| w * b * b).sum()).collect();
    for ((mut scores, products), left_norm) in node.rows_mut().into_iter().zip(product.rows()).zip(left_norms) {
        // The scale comes last: with integer weights and counts everything before it is exact, so that ties stay ties.
        Zip::from(&mut scores)
            .and(products)
            .and(&ArrayView1::from(&right_norms))
            .for_each(|score, product, right_norm| *score += scale * (2.0 * product - left_norm - right_norm));
    }
}

/// Adds `factor` times the sum of phi_1 over the matched pairs to `phi`.
pub(super) fn add_features(
    comparison: Comparison,
    left: &Block,
    right: &Block,
    matching: &Matching,
    factor: f64,
    phi: &mut [f64],
) {
    for (i, k) in matching.pairs() {
        let (a, b) = (left.values.row(i), right.values.row(k));
        let differences = a.iter().zip(b).map(|(a, b)| a - b);
        match comparison {
            Comparison::NegativeSquare(settings) => {
                let factor = -factor * scale(settings, left.values.nrows());
                phi.iter_mut().zip(differences).for_each(|(phi, d)| *phi += factor * d * d);
            }
            Comparison::Decay(Decay { width }) => {
                phi.iter_mut().zip(differences).for_each(|(phi, d)| *phi += factor * decay(d / width));
            }
            Comparison::WholeDecay(WholeDecay { width }) => phi[0] += factor * whole_decay(a, b, width),
        }
    }
}

fn scale(settings: NegativeSquare, left_count: usize) -> f64 {
    if settings.per_node { 1.0 / left_count as f64 } else { 1.0 }
}

fn decay(x: f64) -> f64 {
    (-x * x).exp()
}

fn whole_decay(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, width: f64) -> f64 {
    a.iter().zip(b).map(|(a, b)| -((a - b) / width).powi(2)).sum::<f64>().exp()
}

//! c_ik = <phi_1(i, k), w_1> for all pairs of nodes, and the sum of phi_1 over a matching, for one kind of descriptor. Squares
//! use a matrix product (`squares`); decays take an exponential for each pair, and for each coordinate if those have weights.

use super::comparison::{Comparison, Decay, NegativeSquare, WholeDecay};
use super::squares::{self, Block};
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView1, ArrayViewMut2};

/// Writes <phi_1(i, k), weights> for all i and k.
pub(super) fn write(
    comparison: Comparison,
    left: &Block,
    right: &Block,
    weights: &[f64],
    mut scores: ArrayViewMut2<'_, f64>,
) {
    match comparison {
        Comparison::NegativeSquare(settings) => squares::write(left, right, weights, scale(settings, left), scores),
        Comparison::Decay(Decay { width }) => {
            for ((i, k), score) in scores.indexed_iter_mut() {
                let pairs = left.values.row(i).into_iter().zip(right.values.row(k));
                *score = pairs.zip(weights).map(|((a, b), w)| w * decay((a - b) / width)).sum();
            }
        }
        Comparison::WholeDecay(WholeDecay { width }) => {
            for ((i, k), score) in scores.indexed_iter_mut() {
                *score = weights[0] * whole_decay(left.values.row(i), right.values.row(k), width);
            }
        }
        Comparison::InnerProduct(_) => {
            general_mat_mul(weights[0], &left.values, &right.values.t(), 0.0, &mut scores);
        }
    }
}

/// Adds to `phi` the sum of phi_1 over pairs of nodes ((i, k), amount), each weighted by its amount.
pub(super) fn add_features(
    comparison: Comparison,
    left: &Block,
    right: &Block,
    pairs: impl Iterator<Item = ((usize, usize), f64)>,
    phi: &mut [f64],
) {
    for ((i, k), factor) in pairs {
        match comparison {
            Comparison::NegativeSquare(settings) => {
                squares::add(left, i, right, k, -factor * scale(settings, left), phi);
            }
            Comparison::Decay(Decay { width }) => {
                let pairs = left.values.row(i).into_iter().zip(right.values.row(k));
                phi.iter_mut().zip(pairs).for_each(|(phi, (a, b))| *phi += factor * decay((a - b) / width));
            }
            Comparison::WholeDecay(WholeDecay { width }) => {
                phi[0] += factor * whole_decay(left.values.row(i), right.values.row(k), width);
            }
            Comparison::InnerProduct(_) => phi[0] += factor * left.values.row(i).dot(&right.values.row(k)),
        }
    }
}

fn scale(settings: NegativeSquare, left: &Block) -> f64 {
    if settings.per_node { 1.0 / left.count as f64 } else { 1.0 }
}

fn decay(x: f64) -> f64 {
    (-x * x).exp()
}

fn whole_decay(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, width: f64) -> f64 {
    a.iter().zip(b).map(|(a, b)| -((a - b) / width).powi(2)).sum::<f64>().exp()
}

#[cfg(test)]
mod tests {
    use super::super::comparison::InnerProduct;
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn every_comparison_is_its_formula() {
        let left = Block::new(&array![[1.0, 5.0], [0.0, 0.0]], true);
        let right = Block::new(&array![[3.0, 4.0]], true);
        let scores = |comparison: Comparison, weights: &[f64]| {
            let mut scores = Array2::from_elem((2, 1), f64::NAN);
            write(comparison, &left, &right, weights, scores.view_mut());
            scores[[0, 0]]
        };
        let square = |per_node| Comparison::NegativeSquare(NegativeSquare { per_node });
        assert_eq!(scores(square(false), &[10.0, 100.0]), -10.0 * 4.0 - 100.0);
        assert_eq!(scores(square(true), &[10.0, 100.0]), (-10.0 * 4.0 - 100.0) / 2.0);
        let decay = Comparison::Decay(Decay { width: 2.0 });
        assert_eq!(scores(decay, &[10.0, 100.0]), 10.0 * (-1.0_f64).exp() + 100.0 * (-0.25_f64).exp());
        let product = Comparison::InnerProduct(InnerProduct {});
        assert_eq!(scores(product, &[10.0]), 10.0 * (3.0 + 20.0));
        let whole = Comparison::WholeDecay(WholeDecay { width: 2.0 });
        assert_eq!(scores(whole, &[10.0]), 10.0 * (-5.0_f64 / 4.0).exp());
    }
}

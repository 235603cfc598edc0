//! The gradient of the edge part by matrix products, for graphs so dense that both are worth storing as full tables.
//!
//! With A_t and B_t the tables of factor t, the gradient at a soft matching Y is  Σ_t (A_t Y B_t' + A_t' Y B_t),  of which both terms agree
//! if d(ij, kl) = d(ji, lk). At a matching, A_t Y is A_t with its columns in another order, so one product per term is left: 2 n m²
//! operations at the speed of the machine, where a sum over pairs of neighbours takes n·deg·deg' at a tenth of that.

use crate::matching::{EdgeList, EdgeTerm, Matching};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView1};

/// Tables are used if at least this share of all pairs of edges exists: the crossover that was measured at 100 to 1000 nodes.
const SHARE: f64 = 0.06;

/// gradient(Y) = Σ left · Y · right.
pub(super) struct Tables {
    terms: Vec<Term>,
    /// left · Y.
    product: Array2<f64>,
}

struct Term {
    left: Array2<f64>,
    right: Array2<f64>,
}

impl Tables {
    /// Whether there are enough edges for tables, and nothing but products.
    pub(super) fn are_worth(edge: &EdgeTerm) -> bool {
        let (left, right) = (edge.left_edges(), edge.right_edges());
        let has_listed = || (0..left.len()).any(|e| !edge.listed_of(e).is_empty());
        share(left) * share(right) >= SHARE && !has_listed()
    }

    /// The tables of weight · d, if they are worth it.
    pub(super) fn of(edge: &EdgeTerm, weight: f64) -> Option<Self> {
        if !Self::are_worth(edge) {
            return None;
        }
        let (left, right) = (edge.left_edges(), edge.right_edges());
        let mut terms = Vec::new();
        for (a, b) in edge.left_factors().columns().into_iter().zip(edge.right_factors().columns()) {
            if edge.is_symmetric() {
                terms.push(Term { left: table(left, a, 2.0 * weight, false), right: table(right, b, 1.0, true) });
            } else {
                terms.extend(
                    [false, true].map(|turned| Term {
                        left: table(left, a, weight, turned),
                        right: table(right, b, 1.0, !turned),
                    }),
                );
            }
        }
        Some(Self { terms, product: Array2::zeros((left.node_count(), right.node_count())) })
    }

    /// The gradient at a soft matching.
    pub(super) fn gradient(&mut self, soft: &Array2<f64>, out: &mut Array2<f64>) {
        for (at, Term { left, right }) in self.terms.iter().enumerate() {
            general_mat_mul(1.0, left, soft, 0.0, &mut self.product);
            general_mat_mul(1.0, &self.product, right, f64::from(u8::from(at > 0)), out);
        }
    }

    /// The gradient at a matching in which no right node is shared.
    pub(super) fn gradient_at(&mut self, matching: &Matching, out: &mut Array2<f64>) {
        for (at, Term { left, right }) in self.terms.iter().enumerate() {
            for (from, mut to) in left.rows().into_iter().zip(self.product.rows_mut()) {
                for (to, owner) in to.iter_mut().zip(matching.right_to_left()) {
                    *to = owner.map_or(0.0, |owner| from[owner]);
                }
            }
            general_mat_mul(1.0, &self.product, right, f64::from(u8::from(at > 0)), out);
        }
    }
}

/// The share of all pairs of nodes that have an edge.
fn share(edges: &EdgeList) -> f64 {
    let nodes = edges.node_count() as f64;
    edges.len() as f64 / (nodes * (nodes - 1.0)).max(1.0)
}

/// weight times the values of the edges, at (source, target), or at (target, source) if `turned`.
fn table(edges: &EdgeList, values: ArrayView1<'_, f64>, weight: f64, turned: bool) -> Array2<f64> {
    let nodes = edges.node_count();
    let mut table = Array2::zeros((nodes, nodes));
    for (&[source, target], value) in edges.ends().iter().zip(values) {
        let at = if turned { [target, source] } else { [source, target] };
        table[at] = weight * value;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::Constraint;
    use rand::{RngExt, SeedableRng};
    use std::sync::Arc;

    #[test]
    fn products_are_the_sums_over_pairs_of_edges() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for (n, m, symmetric) in [(7, 7, true), (5, 8, false), (8, 5, true), (6, 6, false)] {
            let mut side = |nodes: usize| {
                let pairs = (0..nodes).flat_map(|i| (0..nodes).map(move |j| [i, j])).filter(|[i, j]| i != j);
                let edges = Arc::new(EdgeList::new(nodes, pairs.filter(|[i, j]| (i + j) % 5 != 0).collect()).unwrap());
                let mut values = Array2::from_shape_simple_fn((edges.len(), 2), || random.random_range(-1.0..1.0));
                for (e, &[i, j]) in edges.ends().iter().enumerate().filter(|(_, [i, j])| symmetric && i > j) {
                    let back = edges.find(j, i).unwrap();
                    let same = values.row(back).to_owned();
                    values.row_mut(e).assign(&same);
                }
                (edges, values)
            };
            let ((left, a), (right, b)) = (side(n), side(m));
            let edge = EdgeTerm::factored(left, right, a, b).unwrap();
            assert_eq!(edge.is_symmetric(), symmetric);
            let mut tables = Tables::of(&edge, 0.5).unwrap();
            let soft = Array2::from_shape_simple_fn((n, m), || random.random::<f64>());
            let map = (0..n).map(|i| Some((i + 1) % m).filter(|_| i < m && i != 2)).collect();
            let matching = Matching::new(map, m, Constraint::OneToOne).unwrap();
            let mut hard = Array2::zeros((n, m));
            matching.pairs().for_each(|pair| hard[pair] = 1.0);
            let (mut found, mut found_at) = (Array2::ones((n, m)), Array2::ones((n, m)));
            tables.gradient(&soft, &mut found);
            tables.gradient_at(&matching, &mut found_at);
            for (at, found) in [(soft, found), (hard, found_at)] {
                let mut expected = Array2::zeros((n, m));
                edge.add_gradient(at.view(), &mut expected);
                assert!((found - expected * 0.5).iter().all(|difference| difference.abs() < 1e-12));
            }
        }
    }
}

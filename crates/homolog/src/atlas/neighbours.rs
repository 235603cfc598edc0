//! A specimen whose names are known, as a *linear* problem: what each point is worth to a landmark with every other landmark at its true
//! point. One landmark that goes elsewhere, or two that change places, cost exactly what they cost in the problem with edges: these are
//! the mistakes from which the weights of the kinds of evidence are learned.
//!
//! With its other end at z, the log-likelihood of an edge is a polynomial of degree two in the position x of a landmark, like that of the
//! position itself. So the edges of a landmark add up to one more inner product with the monomials of x:
//!
//!   D = ±(x - z):   c0 + Σ c_p D_p + Σ c_pq D_p D_q   =   constant + Σ_p (±c_p - Σ_q (c_pq + c_qp) z_q) x_p + Σ c_pq x_p x_q
//!
//! If x is the true point of the other end, the two change places, and the edge is then reversed: with value v(D), the cells
//! of both get v(D) + v(-D) for it, so that the swap as a whole costs 2 v(D) - 2 v(-D).

use super::evidence::{DISPLACEMENT, columns, monomial_table};
use super::gaussian::{monomial_count, monomials};
use super::{Atlas, Presence};
use crate::Result;
use crate::features::{Comparison, Descriptor, FeatureMap, InnerProduct, NodeAttributes, NodeFeature};
use crate::graph::{Attributes, Graph, Pair};
use crate::matching::Matching;
use ndarray::{Array2, ArrayView1};
use std::sync::Arc;

impl Atlas {
    /// The features of the linear problem, in the order of [`Self::features`]: the edges are a node feature. For specimens with at
    /// most this many points.
    #[must_use]
    pub fn linear_features(&self, most_points: usize) -> FeatureMap {
        let features = self.features();
        let mut node = features.node.clone();
        if !features.edge.is_empty() {
            let columns = self.linear_columns(most_points);
            let descriptor = Descriptor::Attributes(NodeAttributes { columns });
            node.push(NodeFeature { descriptor, comparison: Comparison::InnerProduct(InnerProduct {}) });
        }
        FeatureMap { node, edge: Vec::new(), unmatched: self.presence == Presence::Partial, ..features }
    }

    /// Monomials, then a column for each point: 1 at that point.
    fn linear_columns(&self, most_points: usize) -> Vec<String> {
        columns(DISPLACEMENT, self.dimension).into_iter().chain((0..most_points).map(|at| format!("at {at}"))).collect()
    }

    /// The linear problem of a specimen whose names are known, in the pose they determine; `most_points` as in
    /// [`Self::linear_features`].
    ///
    /// # Errors
    /// As [`Self::specimen_graph`].
    pub fn linear_pair(&self, specimen: &Graph, truth: &Matching, most_points: usize) -> Result<Pair> {
        let frame = self.frame_by_names(specimen, truth)?;
        let points = frame.apply(self.points_of(specimen)?);
        let names = self.linear_columns(most_points);
        let width = monomial_count(self.dimension);
        let mut table = Array2::zeros((self.landmarks.len(), names.len()));
        for edge in &self.edges {
            let [i, j] = edge.ends;
            let numbers = self.edge_evidence(edge, self.presence_in(specimen));
            for (own, other, sign) in [(i, j, -1.0), (j, i, 1.0)] {
                let Some(point) = truth.right_of(other) else { continue };
                let given = with_end(&numbers, points.row(point), sign);
                // Counted both ways, once for each end.
                table.row_mut(own).iter_mut().zip(given).for_each(|(cell, number)| *cell += 2.0 * number);
            }
            if let (Some(from), Some(to)) = (truth.right_of(i), truth.right_of(j)) {
                let way: Vec<f64> = points.row(to).iter().zip(points.row(from)).map(|(to, from)| to - from).collect();
                let back: Vec<f64> = way.iter().map(|x| -x).collect();
                let exchange = value(&numbers, &way) + value(&numbers, &back) - 2.0 * numbers[0];
                table[[i, width + to]] += exchange;
                table[[j, width + from]] += exchange;
            }
        }
        let left = self.bare_graph(self.presence_in(specimen))?;
        let left = left.with_more_node_attributes(&Attributes::new(names.clone(), table)?)?;
        let right = self.bare_specimen(specimen, &frame)?;
        let here = Array2::from_shape_fn((points.nrows(), most_points), |(row, at)| if row == at { 1.0 } else { 0.0 });
        let seen = ndarray::concatenate![ndarray::Axis(1), monomial_table(points.view()), here];
        let right = right.with_more_node_attributes(&Attributes::new(names, seen)?)?;
        Ok(Pair::new(Arc::new(left), Arc::new(right)))
    }
}

/// The value of a polynomial at a position.
fn value(numbers: &[f64], at: &[f64]) -> f64 {
    numbers.iter().zip(monomials(at)).map(|(number, monomial)| number * monomial).sum()
}

/// The coefficients in x of a polynomial of D = sign · (x - z).
fn with_end(numbers: &[f64], z: ArrayView1<'_, f64>, sign: f64) -> Vec<f64> {
    let d = z.len();
    let mut given = numbers.to_vec();
    // At x = 0 the displacement is -sign · z.
    let at_zero: Vec<f64> = z.iter().map(|place| -sign * place).collect();
    given[0] = value(numbers, &at_zero);
    for (p, slope) in given[1..=d].iter_mut().enumerate() {
        *slope = sign * numbers[1 + p];
    }
    let mut at = 1 + d;
    for p in 0..d {
        for q in p..d {
            given[1 + p] -= numbers[at] * z[q];
            given[1 + q] -= numbers[at] * z[p];
            at += 1;
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_of_the_displacement_is_one_of_the_place() {
        let numbers: Vec<f64> = (0..10).map(|at| f64::from(at * at) - 7.5 * f64::from(at % 3)).collect();
        let (x, z) = (ndarray::array![0.3, -1.2, 2.0], ndarray::array![1.5, 0.25, -0.75]);
        for sign in [1.0, -1.0] {
            let displacement: Vec<f64> = x.iter().zip(&z).map(|(x, z)| sign * (x - z)).collect();
            let (expected, found) =
                (value(&numbers, &displacement), value(&with_end(&numbers, z.view(), sign), &x.to_vec()));
            assert!((expected - found).abs() < 1e-9, "{expected} {found}");
        }
    }
}

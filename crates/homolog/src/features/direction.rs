//! Difference of edge directions, for data in which rotations are small: with unit vectors u(e) from source to target,
//!
//!   cosine: phi = u(e)·u(f), a sum of products;   angle: phi = -angle(u(e), u(f)) / pi, in [-1, 0].
//!
//! An edge between coinciding points has no direction: u = 0, cosine 0, and the angle counts as a right angle.

use super::{Bilinear, EdgeFeature};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Difference of edge directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Directions {
    /// Coordinates of the points: 2 or 3.
    pub dimension: usize,
    /// How two directions are compared.
    pub form: DirectionForm,
}

impl Default for Directions {
    /// In the plane, by cosine.
    fn default() -> Self {
        Self { dimension: 2, form: DirectionForm::Cosine }
    }
}

/// How two directions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectionForm {
    /// The cosine of the angle between them; factors.
    #[default]
    Cosine,
    /// Minus the angle between them over pi; a number is stored for every pair of edges.
    NegativeAngle,
}

impl EdgeFeature for Directions {
    fn names(&self) -> Vec<String> {
        vec!["direction".to_string()]
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        let points = graph.seen_points("directions of edges")?;
        if points.ncols() != self.dimension {
            let what = "coordinates of a point, for directions";
            return Err(Error::Size { what, expected: self.dimension, found: points.ncols() });
        }
        let mut columns = Array2::zeros((graph.edges().len(), self.dimension));
        for (&[i, j], mut row) in graph.edges().ends().iter().zip(columns.rows_mut()) {
            row.assign(&(&points.row(j) - &points.row(i)));
            let length = row.iter().fold(0.0_f64, |length, x| length.hypot(*x));
            if length > 0.0 {
                row /= length;
            }
        }
        Ok(columns)
    }

    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]) {
        let cosine: f64 = left.iter().zip(right).map(|(a, b)| a * b).sum();
        phi[0] = match self.form {
            DirectionForm::Cosine => cosine,
            DirectionForm::NegativeAngle => -cosine.clamp(-1.0, 1.0).acos() / PI,
        };
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        let products = (0..self.dimension).map(|axis| (axis, 1.0)).collect();
        match self.form {
            DirectionForm::Cosine => Some(vec![Bilinear { products, ..Bilinear::default() }]),
            DirectionForm::NegativeAngle => None,
        }
    }

    fn check(&self) -> Result<()> {
        Error::unless_between("dimension", self.dimension as f64, 2.0, 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Direction;
    use ndarray::array;

    /// The features of edge (0, 1) of each graph.
    fn compare(form: DirectionForm, left: Array2<f64>, right: Array2<f64>) -> f64 {
        let feature = Directions { dimension: left.ncols(), form };
        let [left, right] = [left, right].map(|points| {
            let graph = Graph::from_points(points).unwrap().with_edges(vec![[0, 1]], Direction::Directed).unwrap();
            feature.measure(&graph).unwrap().into_iter().collect::<Vec<f64>>()
        });
        let mut phi = [f64::NAN];
        feature.compare(&left, &right, &mut phi);
        phi[0]
    }

    #[test]
    fn the_angle_between_two_edges() {
        let east = array![[1.0, 1.0], [4.0, 1.0]];
        let north_east = array![[0.0, 0.0], [2.0, 2.0]];
        let west = array![[4.0, 1.0], [1.0, 1.0]];
        let nowhere = array![[1.0, 1.0], [1.0, 1.0]];
        let cosine = |right: &Array2<f64>| compare(DirectionForm::Cosine, east.clone(), right.clone());
        assert!((cosine(&north_east) - 0.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!([cosine(&east), cosine(&west), cosine(&nowhere)], [1.0, -1.0, 0.0]);
        let angle = |right: &Array2<f64>| compare(DirectionForm::NegativeAngle, east.clone(), right.clone());
        assert!((angle(&north_east) + 0.25).abs() < 1e-15);
        assert_eq!([angle(&east), angle(&west), angle(&nowhere)], [0.0, -1.0, -0.5]);
        let up = array![[0.0, 0.0, 0.0], [0.0, 0.0, 5.0]];
        let slant = array![[0.0, 0.0, 0.0], [0.0, 3.0, 3.0]];
        assert!((compare(DirectionForm::NegativeAngle, up, slant) + 0.25).abs() < 1e-15);
    }
}

//! Difference of edge lengths: a(e) = length of e over the graph's scale, compared by a [`Difference`].
//!
//! The paper asks only whether an edge exists; most later work adds that its length should agree too. By default lengths
//! are relative to the mean distance of all points (context points and the zeros included: the scale of the shape
//! context), so that a scene seen from twice the distance is the same scene.

use super::{Bilinear, Difference, EdgeFeature};
use crate::geometry::{any_distance, distance, mean_distance};
use crate::graph::Graph;
use crate::{Control, Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Difference of edge lengths.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lengths {
    /// What a length is measured in.
    pub unit: LengthUnit,
    /// How two lengths are compared.
    pub difference: Difference,
}

/// What a length is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthUnit {
    /// The mean distance between the points of the graph: scale does not matter.
    #[default]
    MeanDistance,
    /// The unit of the coordinates: scale matters.
    Coordinates,
}

impl EdgeFeature for Lengths {
    fn names(&self) -> Vec<String> {
        vec!["length".to_string()]
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        self.measure_watched(graph, &Control::new())
    }

    fn measure_watched(&self, graph: &Graph, control: &Control) -> Result<Array2<f64>> {
        let seen = graph.seen_points("lengths of edges")?;
        let points = graph.need_points("lengths of edges")?;
        let scale = mean_distance(seen.view(), || !control.interrupted()).ok_or(Error::Interrupted)?;
        let mut columns = Array2::zeros((graph.edges().len(), self.difference.columns()));
        for (row, &[i, j]) in graph.edges().ends().iter().enumerate() {
            let length = match self.unit {
                LengthUnit::Coordinates => any_distance(points, i, j),
                // Points that all coincide have no scale, and their edges no length.
                LengthUnit::MeanDistance if scale == 0.0 => 0.0,
                LengthUnit::MeanDistance => distance(seen.view(), i, j) / scale,
            };
            self.difference.measure(length, &mut columns, row, 0);
        }
        Ok(columns)
    }

    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]) {
        phi[0] = self.difference.compare(left, right);
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        self.difference.bilinear(0).map(|form| vec![form])
    }

    fn check(&self) -> Result<()> {
        self.difference.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Direction;
    use ndarray::array;

    fn lengths(unit: LengthUnit, points: Array2<f64>) -> Vec<f64> {
        let edges = vec![[0, 1], [1, 2]];
        let graph = Graph::from_points(points).unwrap().with_edges(edges, Direction::Directed).unwrap();
        Lengths { unit, difference: Difference::NegativeAbsolute }.measure(&graph).unwrap().into_iter().collect()
    }

    #[test]
    fn relative_to_the_mean_distance_or_not() {
        // Distances 3, 4 and 5: mean of the nine ordered pairs 24/9.
        let points = array![[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]];
        assert_eq!(lengths(LengthUnit::Coordinates, points.clone()), [3.0, 4.0]);
        let relative = lengths(LengthUnit::MeanDistance, points.clone());
        assert!((relative[0] - 27.0 / 24.0).abs() < 1e-15);
        for scale in [2.0, 2_f64.powi(900), 2_f64.powi(-900)] {
            assert_eq!(lengths(LengthUnit::MeanDistance, &points * scale), relative);
            assert_eq!(lengths(LengthUnit::Coordinates, &points * scale), [3.0 * scale, 4.0 * scale]);
        }
        assert_eq!(lengths(LengthUnit::MeanDistance, Array2::ones((3, 2))), [0.0, 0.0]);
        assert_eq!(lengths(LengthUnit::MeanDistance, Array2::ones((3, 3))), [0.0, 0.0]);
    }

    #[test]
    fn context_points_are_part_of_the_scale() {
        let graph = Graph::from_points(array![[0.0, 0.0], [3.0, 0.0]]).unwrap();
        let graph = graph.with_context(array![[3.0, 4.0]]).unwrap();
        let graph = graph.with_edges(vec![[0, 1]], Direction::Directed).unwrap();
        let measured = Lengths::default().measure(&graph).unwrap();
        assert!((measured[[0, 0]] - 27.0 / 24.0).abs() < 1e-15);
    }
}

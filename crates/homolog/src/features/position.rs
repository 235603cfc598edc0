//! The point itself, for data that is already registered: the same position means the same coordinates in both graphs.

use super::NodeDescriptor;
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The coordinates of the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Position {
    /// How many coordinates the points have: 2 or 3.
    pub dimension: usize,
}

impl Default for Position {
    /// Points in the plane.
    fn default() -> Self {
        Self { dimension: 2 }
    }
}

impl NodeDescriptor for Position {
    fn names(&self) -> Vec<String> {
        ["x", "y", "z"].iter().take(self.dimension).map(ToString::to_string).collect()
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let points = graph.need_points("position")?;
        if points.ncols() == self.dimension {
            Ok(points.to_owned())
        } else {
            let what = "coordinates of a point, for position";
            Err(Error::Size { what, expected: self.dimension, found: points.ncols() })
        }
    }

    fn check(&self) -> Result<()> {
        Error::unless_between("dimension", self.dimension as f64, 2.0, 3.0)
    }
}

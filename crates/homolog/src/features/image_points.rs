//! What a picture shows around each point, as a node descriptor. A [`Graph`] has no pictures: the caller who has them computes the numbers
//! with [`describe_points`](super::describe_points) and gives them to the graph as node attributes; here they are found by name.

use super::{ImageDescriptor, NodeDescriptor};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// What a picture shows around the point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImagePoints {
    /// How the picture is described. There is no default.
    pub of: ImageDescriptor,
}

impl NodeDescriptor for ImagePoints {
    fn names(&self) -> Vec<String> {
        self.of.names()
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let missing = Error::Missing { what: "numbers from its picture", needed_by: "image descriptors" };
        let own = graph.node_attributes().ok_or_else(|| missing.clone())?;
        own.select(&self.names()).map_err(|_| missing)
    }

    fn check(&self) -> Result<()> {
        self.of.check()
    }
}

//! The inner product of the graph's own edge attributes, Σ_r a_r(e) b_r(f), as a single feature: for attributes designed to be
//! multiplied, such as the likelihoods of an atlas. It factors.

use super::{Bilinear, EdgeFeature};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The inner product of edge attributes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeProduct {
    /// The names of the attributes; the first names the feature. There is no default: every graph names its own.
    pub columns: Vec<String>,
}

impl EdgeFeature for EdgeProduct {
    fn names(&self) -> Vec<String> {
        self.columns.first().map(|column| format!("edge {column}")).into_iter().collect()
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        let missing = Error::Missing { what: "edge attributes", needed_by: "edge attributes as features" };
        let own = graph.edge_attributes().ok_or(missing)?;
        own.select(&self.columns).map_err(|name| Error::NoAttribute { what: "edge attribute", name })
    }

    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]) {
        phi[0] = left.iter().zip(right).map(|(a, b)| a * b).sum();
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        let products = (0..self.columns.len()).map(|column| (column, 1.0)).collect();
        Some(vec![Bilinear { constant: 0.0, alone: Vec::new(), products }])
    }

    fn check(&self) -> Result<()> {
        Error::unless_counted("columns", self.columns.len())
    }
}

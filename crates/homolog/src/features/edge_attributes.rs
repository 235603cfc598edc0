//! Differences of the graph's own edge attributes, one feature per attribute, compared by a [`Difference`].

use super::{Bilinear, Difference, EdgeFeature};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Differences of edge attributes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeAttributes {
    /// The names of the attributes. There is no default: every graph names its own.
    pub columns: Vec<String>,
    /// How two values are compared.
    pub difference: Difference,
}

impl EdgeFeature for EdgeAttributes {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("edge {column}")).collect()
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        let missing = Error::Missing { what: "edge attributes", needed_by: "edge attributes as features" };
        let own = graph.edge_attributes().ok_or(missing)?;
        let values = own.select(&self.columns).map_err(|name| Error::NoAttribute { what: "edge attribute", name })?;
        let width = self.difference.columns();
        let mut columns = Array2::zeros((values.nrows(), width * values.ncols()));
        for ((row, column), &value) in values.indexed_iter() {
            self.difference.measure(value, &mut columns, row, width * column);
        }
        Ok(columns)
    }

    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]) {
        let width = self.difference.columns();
        for ((left, right), phi) in left.chunks(width).zip(right.chunks(width)).zip(phi) {
            *phi = self.difference.compare(left, right);
        }
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        let width = self.difference.columns();
        (0..self.columns.len()).map(|column| self.difference.bilinear(width * column)).collect()
    }

    fn check(&self) -> Result<()> {
        Error::unless_counted("columns", self.columns.len())?;
        self.difference.check()
    }
}

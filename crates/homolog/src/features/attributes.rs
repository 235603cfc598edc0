//! The graph's own node attributes, chosen by name.

use super::NodeDescriptor;
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The graph's own node attributes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeAttributes {
    /// The names of the attributes. There is no default: every graph names its own.
    pub columns: Vec<String>,
}

impl NodeDescriptor for NodeAttributes {
    fn names(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let missing = Error::Missing { what: "node attributes", needed_by: "node attributes as features" };
        let own = graph.node_attributes().ok_or(missing)?;
        own.select(&self.columns).map_err(|name| Error::NoAttribute { what: "node attribute", name })
    }

    fn check(&self) -> Result<()> {
        Error::unless_counted("columns", self.columns.len())
    }
}

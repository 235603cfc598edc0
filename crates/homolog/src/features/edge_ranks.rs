//! The product of ranks of the graph's own edge attributes, one feature per attribute: for weights that say how strong an edge is.
//!
//!   phi_r(e, f) = rank(a_r(e)) · rank(b_r(f)),   rank in (0, 1]: the share of the graph's own edges that are no stronger, ties shared evenly
//!
//! Summed over a matching this is largest if strong edges meet strong edges, whatever the unit of the weights and however skewed they are;
//! a missing edge counts as the weakest. It factors.

use super::{Bilinear, EdgeFeature};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

/// The product of ranks of edge attributes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeRanks {
    /// The names of the attributes. There is no default: every graph names its own.
    pub columns: Vec<String>,
}

impl EdgeFeature for EdgeRanks {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("edge {column} rank")).collect()
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        if graph.edges().is_empty() {
            return Ok(Array2::zeros((0, self.columns.len())));
        }
        let missing = Error::Missing { what: "edge attributes", needed_by: "ranks of edge attributes" };
        let own = graph.edge_attributes().ok_or(missing)?;
        let values = own.select(&self.columns).map_err(|name| Error::NoAttribute { what: "edge attribute", name })?;
        let mut table = Array2::zeros(values.raw_dim());
        for (values, mut ranks) in values.columns().into_iter().zip(table.columns_mut()) {
            ranks.iter_mut().zip(shared_ranks(values)).for_each(|(to, rank)| *to = rank);
        }
        Ok(table)
    }

    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]) {
        for ((a, b), phi) in left.iter().zip(right).zip(phi) {
            *phi = a * b;
        }
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        let product = |at| Bilinear { constant: 0.0, alone: Vec::new(), products: vec![(at, 1.0)] };
        Some((0..self.columns.len()).map(product).collect())
    }

    fn check(&self) -> Result<()> {
        Error::unless_counted("columns", self.columns.len())
    }
}

/// The rank of each value among all, counted from 1 and divided by how many there are; equal values share the mean of their ranks.
fn shared_ranks(values: ArrayView1<'_, f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let below = order.partition_point(|&at| values[at] < values[equal[0]]);
        let rank = (below as f64 + 0.5 * (equal.len() as f64 + 1.0)) / values.len() as f64;
        equal.iter().for_each(|&at| ranks[at] = rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn equal_weights_share_their_ranks() {
        assert_eq!(shared_ranks(array![5.0, -1.0, 5.0, 90.0].view()), [0.625, 0.25, 0.625, 1.0]);
        assert_eq!(shared_ranks(array![3.0, 3.0].view()), [0.75, 0.75]);
        assert!(shared_ranks(array![].view()).is_empty());
    }
}

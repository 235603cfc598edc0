//! The paper's edge feature: phi_2(ij, kl) = G_ij G'_kl, one where both edges exist. Its sum counts the edges that a matching
//! preserves, undirected ones twice (once each way), as the authors do.

use super::{Bilinear, EdgeFeature};
use crate::Result;
use crate::graph::Graph;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// One where both edges exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adjacency {}

impl EdgeFeature for Adjacency {
    fn names(&self) -> Vec<String> {
        vec!["adjacency".to_string()]
    }

    fn measure(&self, graph: &Graph) -> Result<Array2<f64>> {
        Ok(Array2::zeros((graph.edges().len(), 0)))
    }

    fn compare(&self, _left: &[f64], _right: &[f64], phi: &mut [f64]) {
        phi[0] = 1.0;
    }

    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        Some(vec![Bilinear { constant: 1.0, ..Bilinear::default() }])
    }
}

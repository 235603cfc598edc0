//! [`Described`]: everything about one graph that does not depend on the partner or on the weights, computed once.

use super::edge_scores::{EdgePlan, Measured};
use super::squares::Block;
use super::{Comparison, FeatureMap};
use crate::Result;
use crate::geometry::check_finite;
use crate::graph::Graph;
use crate::matching::EdgeList;
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// A graph as a feature map sees it: a row of numbers per node and per edge. Shared by `Arc` among all the pairs it is in.
#[derive(Debug, Clone)]
pub struct Described {
    pub(super) plan: Arc<Plan>,
    pub(super) node_count: usize,
    /// One per node feature of the map.
    pub(super) blocks: Vec<Block>,
    pub(super) edges: Arc<EdgeList>,
    /// One per edge feature of the map.
    pub(super) measured: Vec<Measured>,
}

/// A feature map and where the weights of each of its features are.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) map: FeatureMap,
    pub(super) node: Vec<(Comparison, Range<usize>)>,
    pub(super) edge: Vec<EdgePlan>,
    pub(super) dim: usize,
}

impl Plan {
    fn new(map: &FeatureMap) -> Self {
        let mut dim = 0;
        let mut take = |count: usize| {
            dim += count;
            dim - count..dim
        };
        let node = map.node.iter().map(|feature| (feature.comparison, take(feature.feature_count()))).collect();
        let plan_edge = |kind: &super::EdgeKind| EdgePlan {
            kind: kind.clone(),
            weights: take(kind.feature().names().len()),
            forms: kind.feature().bilinear(),
        };
        let edge = map.edge.iter().map(plan_edge).collect();
        Self { map: map.clone(), node, edge, dim: dim + usize::from(map.unmatched) }
    }
}

impl Described {
    pub(super) fn new(map: &FeatureMap, graph: &Graph) -> Result<Self> {
        map.check()?;
        let graph = map.drawn(graph)?;
        let nodes = map.node.iter().map(|feature| feature.descriptor.descriptor().describe(&graph));
        let edges = map.edge.iter().map(|kind| kind.feature().measure(&graph));
        let mut nodes: Vec<Array2<f64>> = nodes.collect::<Result<_>>()?;
        let mut measured: Vec<Array2<f64>> = edges.collect::<Result<_>>()?;
        map.to_units(&mut nodes, &mut measured);
        for values in &nodes {
            check_finite("node descriptors", values.view())?;
        }
        for columns in &measured {
            check_finite("measures of edges", columns.view())?;
        }
        let squares = |comparison| matches!(comparison, Comparison::NegativeSquare(_));
        let both = nodes.iter().zip(&map.node);
        let blocks = both.map(|(values, feature)| Block::new(values, squares(feature.comparison))).collect();
        let measured = measured.iter().map(Measured::new).collect();
        let edges = Arc::clone(graph.edges());
        Ok(Self { plan: Arc::new(Plan::new(map)), node_count: graph.node_count(), blocks, edges, measured })
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// The edges that edge features are about.
    #[must_use]
    pub fn edges(&self) -> &Arc<EdgeList> {
        &self.edges
    }
}

//! [`Described`]: everything about one graph that does not depend on the partner or on the weights, computed once.

use super::edge_scores::{EdgePlan, Measured};
use super::squares::Block;
use super::{Comparison, FeatureMap};
use crate::geometry::check_finite;
use crate::graph::Graph;
use crate::matching::EdgeList;
use crate::{Control, Error, Result};
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// A graph as a feature map sees it: a row of numbers per node and per edge. Shared by `Arc` among all the pairs it occurs in.
#[derive(Debug, Clone)]
pub struct Described {
    pub(super) plan: Arc<Plan>,
    pub(super) node_count: usize,
    /// One per node feature of the map.
    pub(super) blocks: Vec<Block>,
    pub(super) edges: Arc<EdgeList>,
    /// One per edge feature of the map.
    pub(super) measured: Vec<Measured>,
    /// What leaving each node unmatched counts, if that is a share of its edges; otherwise none.
    pub(super) stakes: Vec<f64>,
}

/// A feature map and where the weights of each of its features are.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) map: FeatureMap,
    pub(super) node: Vec<(Comparison, Range<usize>)>,
    /// The weights of the features of pairs.
    pub(super) pair: Range<usize>,
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
        let node: Vec<_> = map.node.iter().map(|feature| (feature.comparison, take(feature.feature_count()))).collect();
        let pair = take(map.pair.len());
        let plan_edge = |kind: &super::EdgeKind| EdgePlan {
            kind: kind.clone(),
            weights: take(kind.feature().names().len()),
            forms: kind.feature().bilinear(),
        };
        let edge = map.edge.iter().map(plan_edge).collect();
        Self { map: map.clone(), node, pair, edge, dim: dim + usize::from(map.unmatched) }
    }
}

#[cfg(test)]
thread_local! {
    /// How many graphs were described, and how many problems built, on this thread.
    pub(crate) static COUNTS: std::cell::Cell<[usize; 2]> = const { std::cell::Cell::new([0; 2]) };
}

impl Described {
    pub(super) fn new(map: &FeatureMap, graph: &Graph, control: &Control) -> Result<Self> {
        #[cfg(test)]
        COUNTS.with(|counts| counts.set([counts.get()[0] + 1, counts.get()[1]]));
        map.check()?;
        let graph = map.drawn(graph)?;
        let nodes = map.node.iter().map(|feature| feature.descriptor.descriptor().describe_watched(&graph, control));
        let edges = map.edge.iter().map(|kind| kind.feature().measure_watched(&graph, control));
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
        let (plan, node_count, stakes) = (Arc::new(Plan::new(map)), graph.node_count(), Vec::new());
        Ok(Self { plan, node_count, blocks, edges, measured, stakes }.with_stakes())
    }

    /// Roughly how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let nodes: usize = self.blocks.iter().map(Block::size).sum();
        let edges: usize = self.measured.iter().map(Measured::size).sum();
        nodes + edges + 32 * self.edges.len() + 16 * self.node_count
    }

    /// The same descriptions for some of the nodes, in this order, and for the edges among them. The other nodes were seen when these
    /// were described, but cannot be matched.
    ///
    /// # Errors
    /// A node that does not exist or occurs twice.
    pub fn restricted(&self, nodes: &[usize]) -> Result<Self> {
        let mut place = vec![None; self.node_count];
        for (new, &old) in nodes.iter().enumerate() {
            match place.get_mut(old) {
                None => return Err(Error::OutOfRange { what: "nodes to keep", index: old, count: self.node_count }),
                Some(slot @ None) => *slot = Some(new),
                Some(Some(_)) => return Err(Error::NotAPermutation { what: "nodes to keep", index: old }),
            }
        }
        let kept = self.edges.ends().iter().enumerate();
        let mut kept: Vec<([usize; 2], usize)> =
            kept.filter_map(|(at, &[i, j])| Some(([place[i]?, place[j]?], at))).collect();
        kept.sort_unstable();
        let (ends, from): (Vec<[usize; 2]>, Vec<usize>) = kept.into_iter().unzip();
        let blocks = self.blocks.iter().zip(&self.plan.map.node).map(|(block, feature)| {
            let squares = matches!(feature.comparison, Comparison::NegativeSquare(_));
            block.select(nodes, squares)
        });
        Ok(Self {
            plan: Arc::clone(&self.plan),
            node_count: nodes.len(),
            blocks: blocks.collect(),
            edges: Arc::new(EdgeList::new(nodes.len(), ends)?),
            measured: self.measured.iter().map(|measured| measured.select(&from)).collect(),
            // Of all their edges: those to other nodes are lost in any case.
            stakes: if self.stakes.is_empty() {
                Vec::new()
            } else {
                nodes.iter().map(|&node| self.stakes[node]).collect()
            },
        })
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

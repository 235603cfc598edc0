//! [`FeatureMap`]: which features there are, the order of their weights, and what they are called. It is the part of a
//! model that a person reads in the model file.
//!
//! The weights: coordinates of the node features in order, then the features of pairs, then the edge features, each in order, then the price of
//! staying unmatched.

use super::sets::are_weights;
use super::stakes::PRICE;
use super::{
    Adjacency, Comparison, Described, Descriptor, EdgeKind, ImageDescriptor, ImagePoints, Instance, NegativeSquare,
    Rotation, Scale, ShapeContext,
};
use crate::geometry::{Delaunay, EdgeRule};
use crate::graph::levels::count_attributes;
use crate::graph::{Graph, PairFeatures};
use crate::matching::{Compatibility, Constraint};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The unlearned weight of an edge feature in a map that also has node features.
const EDGE_START: f64 = 0.2;

/// The features of a model, as settings.
///
/// ```
/// use homolog::features::FeatureMap;
/// use homolog::graph::Graph;
/// use homolog::matching::Matching;
/// use std::sync::Arc;
///
/// let map = FeatureMap::paper_quadratic();
/// let kite = Graph::from_points(ndarray::array![[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.0]])?;
/// let kite = Arc::new(map.describe(&kite)?);
/// let instance = map.instance(&kite, &kite)?;
/// let identity = Matching::identity(4);
/// // A graph matched to itself: no descriptor differs, and all five edges are preserved, both ways.
/// let features = instance.joint_features(&identity)?;
/// assert_eq!((features.len(), features[0], features[60]), (61, 0.0, 10.0));
/// assert_eq!(instance.compatibility(&map.unlearned_weights())?.score(&identity)?, 10.0);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureMap {
    /// Features of pairs of nodes that compare what describes each node.
    pub node: Vec<NodeFeature>,
    /// Features that come with each pair of graphs, by name ([`PairFeatures`]). A small number means alike, unless the training pairs
    /// show the opposite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<String>,
    /// Draws the edges between the points of every graph in place of its own; `None` keeps the graph's own edges.
    pub edge_rule: Option<EdgeRule>,
    /// Features of pairs of edges; none makes the problem linear.
    pub edge: Vec<EdgeKind>,
    /// Left nodes may stay unmatched, and the price of that is a weight: the feature is -1 for each unmatched left node, so
    /// the score of staying unmatched is minus the weight.
    pub unmatched: bool,
    /// The price is a share of the edges that are lost, as suits networks, in place of the same for every node ([`Self::with_unmatched`]).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unmatched_by_edges: bool,
    /// How often a right node may be used.
    pub constraint: Constraint,
    /// The unit of each number.
    pub scale: Scale,
    /// How graphs may be turned relative to each other before they are compared.
    pub pose: Rotation,
}

/// A node descriptor and how two of them are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeFeature {
    /// What describes a node.
    pub descriptor: Descriptor,
    /// How the descriptors of two nodes become features.
    #[serde(default)]
    pub comparison: Comparison,
}

impl NodeFeature {
    /// How many features, and therefore weights, it has.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.comparison.feature_count(self.descriptor.descriptor().dim())
    }

    /// A name for each of them.
    fn names(&self) -> Vec<String> {
        let name = self.descriptor.name();
        match self.comparison {
            Comparison::WholeDecay(_) => vec![name.to_string()],
            // All numbers together are one feature; the first one names it.
            Comparison::InnerProduct(_) => {
                let first = self.descriptor.descriptor().names().into_iter().next().unwrap_or_default();
                vec![format!("{name} {first}")]
            }
            _ => self.descriptor.descriptor().names().iter().map(|number| format!("{name} {number}")).collect(),
        }
    }
}

impl Default for FeatureMap {
    /// The paper's 60 shape context features with soft bins, scaled by their spread.
    fn default() -> Self {
        let descriptor = Descriptor::ShapeContext(ShapeContext::default());
        let node = vec![NodeFeature { descriptor, comparison: Comparison::default() }];
        Self { node, scale: Scale::BySpread, ..Self::paper_linear() }
    }
}

impl FeatureMap {
    /// No features at all: for the losses of matchings that come from elsewhere.
    #[must_use]
    pub fn nothing() -> Self {
        Self { node: Vec::new(), ..Self::paper_linear() }
    }

    /// The paper's 60 shape context features; no edges.
    #[must_use]
    pub fn paper_linear() -> Self {
        let descriptor = Descriptor::ShapeContext(ShapeContext::paper());
        Self {
            node: vec![NodeFeature { descriptor, comparison: Comparison::default() }],
            pair: Vec::new(),
            edge_rule: None,
            edge: Vec::new(),
            unmatched: false,
            unmatched_by_edges: false,
            constraint: Constraint::OneToOne,
            scale: Scale::AsIs,
            pose: Rotation::default(),
        }
    }

    /// The paper's 60 + 1: shape context and adjacency of the Delaunay triangulation.
    #[must_use]
    pub fn paper_quadratic() -> Self {
        Self {
            edge_rule: Some(EdgeRule::Delaunay(Delaunay {})),
            edge: vec![EdgeKind::Adjacency(Adjacency {})],
            ..Self::paper_linear()
        }
    }

    /// Whether all settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<()> {
        for feature in &self.node {
            feature.descriptor.descriptor().check()?;
            feature.comparison.check()?;
        }
        for kind in &self.edge {
            kind.feature().check()?;
        }
        let mut names: Vec<&String> = self.pair.iter().collect();
        names.sort_unstable();
        if let Some(two) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(Error::Repeated { what: "features of pairs", name: two[0].clone() });
        }
        self.check_scale()?;
        self.edge_rule.as_ref().map_or(Ok(()), EdgeRule::check)
    }

    /// The graph with the edges that edge features are about.
    pub(super) fn drawn<'a>(&self, graph: &'a Graph) -> Result<Cow<'a, Graph>> {
        match &self.edge_rule {
            Some(rule) if !self.edge.is_empty() => Ok(Cow::Owned(graph.clone().with_edges_by(rule)?)),
            _ => Ok(Cow::Borrowed(graph)),
        }
    }

    /// How many weights there are.
    #[must_use]
    pub fn dim(&self) -> usize {
        let node: usize = self.node.iter().map(NodeFeature::feature_count).sum();
        let edge: usize = self.edge.iter().map(|kind| kind.feature().names().len()).sum();
        node + self.pair.len() + edge + usize::from(self.unmatched)
    }

    /// A name for each weight, all different: a name that would be repeated gets a number.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let node = self.node.iter().flat_map(NodeFeature::names);
        let edge = self.edge.iter().flat_map(|kind| kind.feature().names());
        let unmatched = self.unmatched.then(|| "unmatched".to_string());
        let mut taken = BTreeSet::new();
        let mut next = BTreeMap::new();
        let mut names: Vec<String> = Vec::with_capacity(self.dim());
        for name in node.chain(self.pair.iter().cloned()).chain(edge).chain(unmatched) {
            let numbered = |number: usize| if number == 1 { name.clone() } else { format!("{name} #{number}") };
            // Where numbering stopped for this name: a name that occurs n times takes n steps, not n².
            let number = next.entry(name.clone()).or_insert(1_usize);
            while !taken.insert(numbered(*number)) {
                *number += 1;
            }
            names.push(numbered(*number));
        }
        names
    }

    /// The weights of matching without learning. If the numbers are as they are: all ones, as the authors use it. If they are scaled by
    /// their spread: one for each node feature; less for edges, of which every node has several, so that nodes and edges count about
    /// the same; for weights of networks by their ranks alone; and for staying unmatched half of what a wrong partner costs, or in networks a
    /// share of the edges.
    #[must_use]
    pub fn unlearned_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.dim()];
        if let (true, Some(last)) = (self.has_stakes(), weights.last_mut()) {
            *last = PRICE;
        }
        if self.scale == Scale::AsIs {
            return weights;
        }
        let nodes = self.node.iter().map(NodeFeature::feature_count).sum::<usize>() + self.pair.len();
        if nodes > 0 {
            weights[nodes..self.dim() - usize::from(self.has_stakes())].fill(EDGE_START);
        }
        if self.edge.iter().any(|kind| matches!(kind, EdgeKind::Ranks(_))) {
            self.leave_weights_to_ranks(&mut weights[nodes..]);
        }
        if let (true, Some(last)) = (self.unmatched && !self.has_stakes(), weights.last_mut()) {
            let of = |feature: &NodeFeature| match (&feature.descriptor, feature.comparison) {
                // A wrong partner's scaled numbers are one apart: for each attribute, or for another descriptor as a whole.
                (Descriptor::Attributes(own), Comparison::NegativeSquare(_)) => {
                    0.5 * count_attributes(&own.columns) as f64
                }
                (_, Comparison::NegativeSquare(_)) => 0.5,
                // A decay gains 1 where the numbers agree, and 1/e where they are one apart.
                _ => -0.5 * feature.feature_count() as f64,
            };
            *last = self.node.iter().map(of).sum::<f64>() + 0.5 * self.wrong_pair();
        }
        weights
    }

    /// If weights of edges are compared by rank, neither their product or difference nor whether edges exist counts before something is known: on two mouse
    /// brains ranks alone match 332 of 332 regions, products of weights 302 and adjacency 47.
    fn leave_weights_to_ranks(&self, weights: &mut [f64]) {
        let mut at = 0;
        for kind in &self.edge {
            let count = kind.feature().names().len();
            match kind {
                EdgeKind::Adjacency(_) => weights[at] = 0.0,
                EdgeKind::Attributes(own) if are_weights(&own.columns) => weights[at..at + count].fill(0.0),
                _ => {}
            }
            at += count;
        }
    }

    /// The same features plus what pictures show around the points.
    #[must_use]
    pub fn with_image(mut self, of: ImageDescriptor) -> Self {
        let comparison = Comparison::NegativeSquare(NegativeSquare { per_node: false });
        self.node.push(NodeFeature { descriptor: Descriptor::Image(ImagePoints { of }), comparison });
        self
    }

    /// Whether turning one graph relative to the other changes any feature.
    #[must_use]
    pub fn sees_turns(&self) -> bool {
        let node = |feature: &NodeFeature| {
            matches!(feature.descriptor, Descriptor::ShapeContext(_) | Descriptor::Position(_) | Descriptor::Image(_))
        };
        self.node.iter().any(node) || self.edge.iter().any(|kind| matches!(kind, EdgeKind::Directions(_)))
    }

    /// Whether attributes of nodes or edges are compared, which no rotation changes.
    #[must_use]
    pub fn sees_attributes(&self) -> bool {
        let node = |feature: &NodeFeature| matches!(feature.descriptor, Descriptor::Attributes(_));
        self.node.iter().any(node)
            || self.edge.iter().any(|kind| matches!(kind, EdgeKind::Attributes(_) | EdgeKind::Ranks(_)))
    }

    /// Computes the descriptors of a graph, once for all the pairs it will occur in.
    ///
    /// # Errors
    /// A part of the graph that a feature needs is missing; a setting is out of range.
    pub fn describe(&self, graph: &Graph) -> Result<Described> {
        Described::new(self, graph, &Control::new())
    }

    /// [`Self::describe`], told when to stop: of many points that takes seconds.
    ///
    /// # Errors
    /// As [`Self::describe`]; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn describe_watched(&self, graph: &Graph, control: &Control) -> Result<Described> {
        Described::new(self, graph, control)
    }

    /// The problem of matching one described graph to another.
    ///
    /// # Errors
    /// One of them was described by another feature map; more pairs of nodes than a problem can have; a map with features of pairs.
    pub fn instance(&self, left: &Arc<Described>, right: &Arc<Described>) -> Result<Instance> {
        self.instance_with(left, right, None)
    }

    /// The problem of matching one described graph to another, with the features of their pairs of nodes. Pairs that are not listed are
    /// forbidden, also if the map has no features of pairs.
    ///
    /// # Errors
    /// As [`Self::instance`]; a feature of pairs that is missing; features for other numbers of nodes.
    pub fn instance_with(
        &self,
        left: &Arc<Described>,
        right: &Arc<Described>,
        pairs: Option<&Arc<PairFeatures>>,
    ) -> Result<Instance> {
        for (side, described) in [("left", left), ("right", right)] {
            if described.plan.map != *self {
                return Err(Error::OtherFeatures { side });
            }
        }
        Compatibility::check_size(left.node_count(), right.node_count())?;
        Instance::new(Arc::clone(left), Arc::clone(right)).with_pairs(pairs)
    }
}

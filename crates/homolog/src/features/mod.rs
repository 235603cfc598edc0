//! From two graphs to a problem whose scores are linear in the weights (the paper's equations 5 to 7):
//!
//!   c_ik = <phi_1(i, k), w_1>,   d_(ij)(kl) = <phi_2(ij, kl), w_2>,   score(y) = <Phi(y), w>
//!
//! A [`FeatureMap`] says which features there are. It turns a [`Graph`] into a [`Described`] graph, once, and two of those into an
//! [`Instance`]: two shared references that take only a few bytes. [`Instance::compatibility`] is the problem for given weights,
//! [`Instance::joint_features`] is Phi.
//!
//! There is one file per node descriptor ([`Descriptor`] lists them) and per edge feature ([`EdgeKind`] lists them); [`Comparison`] says
//! how the descriptors of two nodes become features. What an image shows around a point becomes node attributes ([`describe_points`];
//! [`ImageDescriptor`] lists the ways).

mod adjacency;
mod attributes;
mod boxes;
mod catalogue;
mod comparison;
mod described;
mod difference;
mod direction;
mod edge_attributes;
mod edge_feature;
mod edge_product;
mod edge_ranks;
mod edge_scores;
mod gradients;
mod groups;
mod image_descriptor;
mod image_points;
mod instance;
mod length;
mod mahalanobis;
mod map;
mod near;
mod node_scores;
mod pair_scores;
mod patch;
mod polar;
mod pose;
mod posing;
mod position;
mod product;
mod scale;
mod sets;
mod shape_context;
mod shape_tables;
mod soft_bins;
mod squares;
mod stakes;
mod streamed;
mod tells;
mod weighting;

pub use adjacency::Adjacency;
pub use attributes::NodeAttributes;
pub use boxes::box_features;
pub(crate) use boxes::iou;
pub use catalogue::{Chapter, catalogue};
pub(crate) use comparison::InnerProduct;
pub use comparison::{Comparison, Decay, NegativeSquare, WholeDecay};
#[cfg(test)]
pub(crate) use described::COUNTS;
pub use described::Described;
pub use difference::Difference;
pub use direction::{DirectionForm, Directions};
pub use edge_attributes::EdgeAttributes;
pub(crate) use edge_feature::{Bilinear, EdgeFeature};
pub(crate) use edge_product::EdgeProduct;
pub(crate) use edge_ranks::EdgeRanks;
pub use gradients::Gradients;
pub(crate) use groups::WeightGroups;
pub use image_descriptor::{ImageDescriptor, describe_points};
pub(crate) use image_points::ImagePoints;
pub use instance::Instance;
pub use length::{LengthUnit, Lengths};
pub use mahalanobis::mahalanobis;
pub use map::{FeatureMap, NodeFeature};
pub use near::near_costs;
pub use patch::Patch;
pub(crate) use pose::FAR_TURN;
pub use pose::{Rotation, Turns, lies_within, turn_of};
pub use position::Position;
pub use scale::Scale;
pub(crate) use scale::Spread;
pub use sets::{Common, FeatureSet};
pub use shape_context::ShapeContext;
pub(crate) use tells::{Shown, tells_nothing};

use crate::graph::Graph;
use crate::{Control, Result};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

/// Numbers that describe each node of a graph.
pub trait NodeDescriptor: Send + Sync {
    /// A name for each number.
    fn names(&self) -> Vec<String>;

    /// How many numbers there are: one per name.
    fn dim(&self) -> usize {
        self.names().len()
    }

    /// One row per node, one column per name.
    ///
    /// # Errors
    /// A part of the graph that is missing; a setting out of range.
    fn describe(&self, graph: &Graph) -> Result<Array2<f64>>;

    /// The same for some of the nodes, in this order.
    ///
    /// # Errors
    /// As [`Self::describe`].
    fn describe_nodes(&self, graph: &Graph, nodes: &[usize]) -> Result<Array2<f64>> {
        Ok(self.describe(graph)?.select(Axis(0), nodes))
    }

    /// [`Self::describe_nodes`], told when to stop. Override it if many nodes take long.
    ///
    /// # Errors
    /// As [`Self::describe`]; [`Error::Interrupted`](crate::Error::Interrupted).
    fn describe_nodes_watched(&self, graph: &Graph, nodes: &[usize], _control: &Control) -> Result<Array2<f64>> {
        self.describe_nodes(graph, nodes)
    }

    /// [`Self::describe`], told when to stop. Override it if many nodes take long.
    ///
    /// # Errors
    /// As [`Self::describe`]; [`Error::Interrupted`](crate::Error::Interrupted).
    fn describe_watched(&self, graph: &Graph, _control: &Control) -> Result<Array2<f64>> {
        self.describe(graph)
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Every node descriptor, by name, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Descriptor {
    /// How the node sees the other points: the paper's descriptor.
    ShapeContext(ShapeContext),
    /// The point itself, for data that is already registered.
    Position(Position),
    /// The graph's own node attributes.
    Attributes(NodeAttributes),
    /// What a picture shows around the point.
    Image(ImagePoints),
}

impl Descriptor {
    /// All descriptors except those of pictures ([`ImageDescriptor::all`] lists them); the attributes are called "0".
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::ShapeContext(ShapeContext::default()),
            Self::Position(Position::default()),
            Self::Attributes(NodeAttributes { columns: vec!["0".to_string()] }),
        ]
    }

    /// The name in settings files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ShapeContext(_) => "shape-context",
            Self::Position(_) => "position",
            Self::Attributes(_) => "attributes",
            Self::Image(_) => "image",
        }
    }

    /// The node attributes of the graph that it uses.
    #[must_use]
    pub fn attribute_columns(&self) -> Vec<String> {
        match self {
            Self::Attributes(attributes) => attributes.columns.clone(),
            Self::Image(image) => image.names(),
            Self::ShapeContext(_) | Self::Position(_) => Vec::new(),
        }
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &dyn NodeDescriptor {
        match self {
            Self::ShapeContext(descriptor) => descriptor,
            Self::Position(descriptor) => descriptor,
            Self::Attributes(descriptor) => descriptor,
            Self::Image(descriptor) => descriptor,
        }
    }
}

/// Every edge feature, by name, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EdgeKind {
    /// One where both edges exist: the paper's feature.
    Adjacency(Adjacency),
    /// Difference of lengths.
    Lengths(Lengths),
    /// Difference of directions.
    Directions(Directions),
    /// Differences of the graph's own edge attributes.
    Attributes(EdgeAttributes),
    /// The inner product of the graph's own edge attributes.
    Product(EdgeProduct),
    /// The product of ranks of the graph's own edge attributes.
    Ranks(EdgeRanks),
}

impl EdgeKind {
    /// All edge features; the attributes are called "0".
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::Adjacency(Adjacency::default()),
            Self::Lengths(Lengths::default()),
            Self::Directions(Directions::default()),
            Self::Attributes(EdgeAttributes { columns: vec!["0".to_string()], ..EdgeAttributes::default() }),
            Self::Product(EdgeProduct { columns: vec!["0".to_string()] }),
            Self::Ranks(EdgeRanks { columns: vec!["0".to_string()] }),
        ]
    }

    /// The name in settings files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Adjacency(_) => "adjacency",
            Self::Lengths(_) => "lengths",
            Self::Directions(_) => "directions",
            Self::Attributes(_) => "attributes",
            Self::Product(_) => "product",
            Self::Ranks(_) => "ranks",
        }
    }

    /// The feature.
    #[must_use]
    pub fn feature(&self) -> &dyn EdgeFeature {
        match self {
            Self::Adjacency(feature) => feature,
            Self::Lengths(feature) => feature,
            Self::Directions(feature) => feature,
            Self::Attributes(feature) => feature,
            Self::Product(feature) => feature,
            Self::Ranks(feature) => feature,
        }
    }
}

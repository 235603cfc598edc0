//! [`FeatureSet`]: features that go well together, by name. A set is built for given graphs: it uses the attributes they all have, and
//! depends on whether their points are in the plane or in space.

use super::{
    Adjacency, Comparison, Decay, Descriptor, Difference, DirectionForm, Directions, EdgeAttributes, EdgeKind,
    EdgeRanks, FeatureMap, Lengths, NegativeSquare, NodeAttributes, NodeFeature, Rotation, Scale, ShapeContext,
};
use crate::geometry::{Delaunay, EdgeRule, Nearest};
use crate::graph::levels::{keep_common, text_attribute, without_names};
use crate::graph::{Attributes, Graph, PairFeatures};
use crate::matching::Constraint;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A named set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FeatureSet {
    /// Soft shape contexts.
    Linear,
    /// Soft shape contexts, and edges of the Delaunay triangulation.
    Quadratic,
    /// Edges to the nearest neighbours, compared in ways that tolerate outliers.
    Robust,
    /// The nodes' own attributes, and features of pairs.
    Attributes,
    /// The graphs' own edges.
    Graph,
    /// The paper's 60 features of nodes.
    PaperLinear,
    /// The paper's 60 + 1.
    PaperQuadratic,
}

/// What all graphs of a collection have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    /// Dimension of the points; `None` if not all have points.
    pub dimension: Option<usize>,
    /// Their names.
    pub node_attributes: Vec<String>,
    /// Whether any graph has its own edges.
    pub edges: bool,
    /// Their names, among graphs that have edges.
    pub edge_attributes: Vec<String>,
    /// The names of the features of pairs that all pairs have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair_features: Vec<String>,
}

impl FeatureSet {
    /// All sets.
    pub const ALL: [Self; 7] = [
        Self::Linear,
        Self::Quadratic,
        Self::Robust,
        Self::Attributes,
        Self::Graph,
        Self::PaperLinear,
        Self::PaperQuadratic,
    ];

    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Robust => "robust",
            Self::Attributes => "attributes",
            Self::Graph => "graph",
            Self::PaperLinear => "paper-linear",
            Self::PaperQuadratic => "paper-quadratic",
        }
    }

    /// When to use it, in one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Linear => {
                "points in the plane or in space: compares how each point sees the others; microseconds per match"
            }
            Self::Quadratic => "the same, and keeps neighbours together: better if points are few or look alike",
            Self::Robust => "points with many outliers: compares only edges to nearest neighbours",
            Self::Attributes => "no geometry: records and tracks, compared by attributes or features of pairs",
            Self::Graph => "networks: the graphs' own edges and their weights, no points",
            Self::PaperLinear => "the paper's 60 shape context features, with hard bins",
            Self::PaperQuadratic => "the paper's 60 features, and whether Delaunay edges are kept",
        }
    }

    /// The set with this name.
    ///
    /// # Errors
    /// There is no such set.
    pub fn of_name(name: &str) -> Result<Self> {
        let known = || Self::ALL.map(Self::name).join(", ");
        let unknown = || Error::UnknownName { what: "set of features", name: name.to_string(), known: known() };
        Self::ALL.into_iter().find(|set| set.name() == name).ok_or_else(unknown)
    }

    /// The set for graphs and pairs that have this in common if none was chosen: by the features of the pairs if there are any; by the points;
    /// without points by the attributes; otherwise by the edges.
    ///
    /// # Errors
    /// They have nothing to compare.
    pub fn suited_for(common: &Common) -> Result<Self> {
        match common {
            Common { pair_features, .. } if !pair_features.is_empty() => Ok(Self::Attributes),
            Common { dimension: Some(_), .. } => Ok(Self::Linear),
            // Kinds of nodes alone tell few of them apart.
            Common { node_attributes, .. } if node_attributes.iter().any(|name| text_attribute(name).is_none()) => {
                Ok(Self::Attributes)
            }
            Common { edges: true, .. } => Ok(Self::Graph),
            Common { node_attributes, .. } if !node_attributes.is_empty() => Ok(Self::Attributes),
            _ => Err(Error::Missing { what: "points, node attributes or edges that all share", needed_by: "features" }),
        }
    }

    /// The features for graphs like these: the attributes that all of them have are used (not by the paper's sets).
    ///
    /// # Errors
    /// The graphs lack what the set is about, or have points of different dimensions.
    pub fn features<'a>(self, graphs: impl IntoIterator<Item = &'a Graph>) -> Result<FeatureMap> {
        self.features_for(&Common::of(graphs)?)
    }

    /// The features for graphs that have this in common.
    ///
    /// # Errors
    /// As [`Self::features`].
    pub fn features_for(self, common: &Common) -> Result<FeatureMap> {
        let dimension = || common.dimension.ok_or(Error::Missing { what: "points", needed_by: self.name() });
        let square = Comparison::NegativeSquare(NegativeSquare { per_node: false });
        // What has too many texts stays unused, which the caller can tell.
        let (columns, _) = &without_names(&common.node_attributes);
        let attributes = |comparison| {
            let descriptor = Descriptor::Attributes(NodeAttributes { columns: columns.clone() });
            (!columns.is_empty()).then_some(NodeFeature { descriptor, comparison })
        };
        let map = FeatureMap {
            node: attributes(square).into_iter().collect(),
            pair: common.pair_features.clone(),
            edge_rule: None,
            edge: Vec::new(),
            unmatched: false,
            unmatched_by_edges: false,
            constraint: Constraint::OneToOne,
            scale: Scale::BySpread,
            pose: Rotation::default(),
        };
        match self {
            Self::Linear => Ok(map.with_shape_context(dimension()?)),
            Self::Quadratic => {
                let dimension = dimension()?;
                let plane = EdgeRule::Delaunay(Delaunay {});
                let space = EdgeRule::Nearest(Nearest::default());
                let lengths = Lengths { difference: Difference::NegativeSquare, ..Lengths::default() };
                let edge = vec![
                    EdgeKind::Adjacency(Adjacency {}),
                    EdgeKind::Lengths(lengths),
                    EdgeKind::Directions(Directions { dimension, form: DirectionForm::Cosine }),
                ];
                let edge_rule = Some(if dimension == 2 { plane } else { space });
                Ok(FeatureMap { edge_rule, edge, ..map.with_shape_context(dimension) })
            }
            Self::Robust => {
                let dimension = dimension()?;
                let lengths = Lengths { difference: Difference::Decay { width: ROBUST_WIDTH }, ..Lengths::default() };
                let edge = vec![
                    EdgeKind::Lengths(lengths),
                    EdgeKind::Adjacency(Adjacency {}),
                    EdgeKind::Directions(Directions { dimension, form: DirectionForm::NegativeAngle }),
                ];
                let node = attributes(Comparison::Decay(Decay::default())).into_iter().collect();
                Ok(FeatureMap { node, edge_rule: Some(EdgeRule::Nearest(Nearest { count: 8 })), edge, ..map })
            }
            Self::Attributes if columns.is_empty() && common.pair_features.is_empty() => {
                Err(Error::Missing { what: "node attributes that all graphs share", needed_by: self.name() })
            }
            Self::Attributes => Ok(map),
            Self::Graph if !common.edges => Err(Error::Missing { what: "edges", needed_by: self.name() }),
            Self::Graph => Ok(FeatureMap { edge: network_features(&common.edge_attributes), ..map }),
            Self::PaperLinear | Self::PaperQuadratic => {
                let mut map =
                    if self == Self::PaperLinear { FeatureMap::paper_linear() } else { FeatureMap::paper_quadratic() };
                let dimension = dimension()?;
                let context = ShapeContext { dimension, ..ShapeContext::paper() };
                map.node[0].descriptor = Descriptor::ShapeContext(context);
                if dimension == 3 && map.edge_rule.is_some() {
                    map.edge_rule = Some(EdgeRule::Nearest(Nearest::default()));
                }
                Ok(map)
            }
        }
    }
}

/// Whether these attributes say how strong edges are.
pub(super) fn are_weights(columns: &[String]) -> bool {
    columns.iter().all(|name| name.eq_ignore_ascii_case("weight"))
}

/// What the edges of networks are compared by: whether they exist, how strong they are, and their other attributes. Weights count by rank until
/// something is learned or known ([`FeatureMap::unlearned_weights`]).
fn network_features(attributes: &[String]) -> Vec<EdgeKind> {
    let (weights, others): (Vec<String>, Vec<String>) =
        attributes.iter().cloned().partition(|name| are_weights(std::slice::from_ref(name)));
    let mut edge = vec![EdgeKind::Adjacency(Adjacency {})];
    if !weights.is_empty() {
        edge.push(EdgeKind::Ranks(EdgeRanks { columns: weights.clone() }));
        let product = EdgeAttributes { columns: weights.clone(), difference: Difference::Product };
        let difference = EdgeAttributes { columns: weights, difference: Difference::NegativeSquare };
        edge.extend([EdgeKind::Attributes(product), EdgeKind::Attributes(difference)]);
    }
    if !others.is_empty() {
        edge.push(EdgeKind::Attributes(EdgeAttributes { columns: others, ..EdgeAttributes::default() }));
    }
    edge
}

/// The difference of lengths, in mean distances, at which `robust` gives 1/e: measured with ten outliers among the points.
const ROBUST_WIDTH: f64 = 0.15;

impl FeatureMap {
    /// A set of features by name, for graphs like these ([`FeatureSet`] lists them).
    ///
    /// # Errors
    /// No such name; graphs that lack what the set is about, or whose points have different dimensions.
    pub fn named<'a>(name: &str, graphs: impl IntoIterator<Item = &'a Graph>) -> Result<Self> {
        FeatureSet::of_name(name)?.features(graphs)
    }

    /// Node and edge attributes that all of these graphs have and that no feature uses.
    #[must_use]
    pub fn unused_attributes(&self, common: &Common) -> Vec<String> {
        let nodes: Vec<String> = self.node.iter().flat_map(|feature| feature.descriptor.attribute_columns()).collect();
        let edges = self.edge.iter().filter_map(|kind| match kind {
            EdgeKind::Attributes(attributes) => Some(attributes.columns.clone()),
            EdgeKind::Ranks(ranks) => Some(ranks.columns.clone()),
            _ => None,
        });
        let edges: Vec<String> = edges.flatten().collect();
        let unused =
            |own: &[String], used: &[String]| own.iter().filter(|name| !used.contains(name)).cloned().collect();
        let [nodes, edges]: [Vec<String>; 2] =
            [unused(&common.node_attributes, &nodes), unused(&common.edge_attributes, &edges)];
        nodes.into_iter().chain(edges).collect()
    }

    /// The same without some columns of node attributes: they are used in another way.
    ///
    /// # Errors
    /// Nothing is left.
    pub(crate) fn without_columns(mut self, columns: &[String], needed_by: &'static str) -> Result<Self> {
        for feature in &mut self.node {
            if let Descriptor::Attributes(own) = &mut feature.descriptor {
                own.columns.retain(|name| !columns.contains(name));
            }
        }
        self.node.retain(|feature| feature.feature_count() > 0);
        if self.node.is_empty() && self.edge.is_empty() && self.pair.is_empty() {
            return Err(Error::Missing { what: "node attributes that all graphs share", needed_by });
        }
        Ok(self)
    }

    /// Adds a soft shape context before the other features.
    fn with_shape_context(mut self, dimension: usize) -> Self {
        let descriptor = Descriptor::ShapeContext(ShapeContext { dimension, ..ShapeContext::default() });
        let comparison = Comparison::NegativeSquare(NegativeSquare { per_node: false });
        self.node.insert(0, NodeFeature { descriptor, comparison });
        self
    }
}

impl Common {
    /// What these graphs have in common.
    ///
    /// # Errors
    /// Points of different dimensions.
    pub fn of<'a>(graphs: impl IntoIterator<Item = &'a Graph>) -> Result<Self> {
        let mut graphs = graphs.into_iter();
        let Some(first) = graphs.next() else { return Ok(Self::default()) };
        let names = |table: Option<&Attributes>| table.map_or(Vec::new(), |table| table.names().to_vec());
        let mut common = Self {
            dimension: first.points().map(|points| points.ncols()),
            node_attributes: names(first.node_attributes()),
            edges: !first.edges().is_empty(),
            edge_attributes: names(first.edge_attributes()),
            pair_features: Vec::new(),
        };
        for graph in graphs {
            match (common.dimension, graph.points().map(|points| points.ncols())) {
                (Some(expected), Some(found)) if expected != found => {
                    return Err(Error::Size { what: "coordinates of the points of all graphs", expected, found });
                }
                (Some(_), Some(_)) => {}
                _ => common.dimension = None,
            }
            let keep = |common: &mut Vec<String>, own: Option<&Attributes>| {
                common.retain(|name| own.is_some_and(|own| own.names().contains(name)));
            };
            keep_common(&mut common.node_attributes, &names(graph.node_attributes()));
            // A graph that happens to have no edges cannot lack edge attributes.
            if !graph.edges().is_empty() {
                keep(&mut common.edge_attributes, graph.edge_attributes());
            }
            common.edges |= !graph.edges().is_empty();
        }
        Ok(common)
    }

    /// The same for graphs in pairs: the features that all of these pairs have.
    #[must_use]
    pub fn with_pairs<'a>(self, pairs: impl IntoIterator<Item = Option<&'a PairFeatures>>) -> Self {
        let mut all: Option<Vec<String>> = None;
        for features in pairs {
            let own = features.map_or(&[][..], PairFeatures::names);
            match &mut all {
                None => all = Some(own.to_vec()),
                Some(all) => all.retain(|name| own.contains(name)),
            }
        }
        Self { pair_features: all.unwrap_or_default(), ..self }
    }
}

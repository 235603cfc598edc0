//! [`Graph`]: points, node attributes, edges, edge attributes, names; any part may be absent. [`Pair`]: two of them, shared.
//!
//! Users have point sets, attributed graphs without positions, or both. The constructors check everything
//! once (finite numbers, indices in range, sizes that agree), so features and losses can rely on it.
//!
//! Edges are stored as in [`EdgeList`]: directed and sorted. An undirected edge is stored in both directions, so all
//! sums over edges run over ordered pairs, as the authors' do. **Context points** are seen by descriptors such as the shape context
//! but are not nodes: nothing is matched to them. Points that were found in a picture are in its pixels, **y down**, whatever the file
//! counts. A graph is shared by `Arc`: however many pairs it occurs in, it exists once.

mod attributes;
pub(crate) mod dataset;
pub(crate) mod levels;
mod pair;
mod pair_features;
pub(crate) mod split;

pub use attributes::Attributes;
pub use pair::Pair;
pub use pair_features::PairFeatures;
pub(crate) use split::Split;

use crate::geometry::{EdgeRule, check_finite, to_unit_range};
use crate::matching::EdgeList;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};
use std::sync::Arc;

/// Whether a given edge (i, j) also leads from j to i.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first to the second node only.
    Directed,
    /// Both ways, with the same attributes.
    Undirected,
}

/// Nodes with what is known about them.
///
/// ```
/// use homolog::geometry::{Delaunay, EdgeRule};
/// use homolog::graph::Graph;
/// let corners = ndarray::array![[0.0, 0.0], [2.0, 0.1], [1.0, 2.0]];
/// let triangle = Graph::from_points(corners)?.with_edges_by(&EdgeRule::Delaunay(Delaunay {}))?;
/// assert_eq!(triangle.edges().len(), 6); // three edges, both ways
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    node_count: usize,
    points: Option<Array2<f64>>,
    context: Option<Array2<f64>>,
    node_attributes: Option<Attributes>,
    edges: Arc<EdgeList>,
    edge_attributes: Option<Attributes>,
    names: Option<Vec<String>>,
    image_size: Option<[f64; 2]>,
    scale: Option<f64>,
    unit: Option<String>,
    time: Option<f64>,
}

impl Graph {
    /// Nodes about which nothing is known yet.
    #[must_use]
    pub fn new(node_count: usize) -> Self {
        Self {
            node_count,
            points: None,
            context: None,
            node_attributes: None,
            edges: Arc::new(EdgeList::empty(node_count)),
            edge_attributes: None,
            names: None,
            image_size: None,
            scale: None,
            unit: None,
            time: None,
        }
    }

    /// One node per point: a row of two or three coordinates.
    ///
    /// # Errors
    /// A different number of coordinates, or one that is not finite.
    pub fn from_points(points: Array2<f64>) -> Result<Self> {
        if points.ncols() != 2 && points.ncols() != 3 {
            return Err(Error::Size { what: "coordinates of a point (2 or 3)", expected: 2, found: points.ncols() });
        }
        check_finite("points", points.view())?;
        let node_count = points.nrows();
        Ok(Self { points: Some(points), ..Self::new(node_count) })
    }

    /// Adds further points that descriptors see but that are not nodes.
    ///
    /// # Errors
    /// The graph has no points or points of another dimension; a coordinate that is not finite.
    pub fn with_context(self, context: Array2<f64>) -> Result<Self> {
        let dimension = self.need_points("context points")?.ncols();
        if context.ncols() != dimension {
            return Err(Error::Size {
                what: "coordinates of a context point",
                expected: dimension,
                found: context.ncols(),
            });
        }
        check_finite("context points", context.view())?;
        Ok(Self { context: Some(context), ..self })
    }

    /// Attributes of the nodes: one row per node.
    ///
    /// # Errors
    /// The number of rows is not the number of nodes.
    pub fn with_node_attributes(self, attributes: Attributes) -> Result<Self> {
        self.expect_count("rows of node attributes", attributes.values().nrows())?;
        Ok(Self { node_attributes: Some(attributes), ..self })
    }

    /// Adds further node attributes to the existing ones.
    ///
    /// # Errors
    /// The number of rows is not the number of nodes, or a name exists already.
    pub fn with_more_node_attributes(self, more: &Attributes) -> Result<Self> {
        self.expect_count("rows of node attributes", more.values().nrows())?;
        let Some(own) = &self.node_attributes else { return self.with_node_attributes(more.clone()) };
        let names = own.names().iter().chain(more.names()).cloned().collect();
        let (own, more) = (own.values(), more.values());
        let mut values = Array2::zeros((self.node_count(), own.ncols() + more.ncols()));
        let columns = own.columns().into_iter().chain(more.columns());
        values.columns_mut().into_iter().zip(columns).for_each(|(mut to, from)| to.assign(&from));
        self.with_node_attributes(Attributes::new(names, values)?)
    }

    /// Names of the nodes, all different. An empty name means that no one named the node: any number of nodes may have one, and such nodes
    /// are not considered equal.
    ///
    /// # Errors
    /// Too many or too few names, or one that occurs twice.
    pub fn with_names(self, names: Vec<String>) -> Result<Self> {
        self.expect_count("names of nodes", names.len())?;
        if let Some(name) = attributes::repeated(names.iter().filter(|name| !name.is_empty())) {
            return Err(Error::Repeated { what: "names of nodes", name });
        }
        Ok(Self { names: Some(names), ..self })
    }

    /// The width and height of the image in which the points were found, in the unit of the points.
    ///
    /// # Errors
    /// One of them is not positive and finite.
    pub fn with_image_size(self, width: f64, height: f64) -> Result<Self> {
        for (index, value) in [width, height].into_iter().enumerate() {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::BadEntry { what: "image width and height", index, value });
            }
        }
        Ok(Self { image_size: Some([width, height]), ..self })
    }

    /// How long a unit of the coordinates is in the world: the `SCALE` of a TPS file, whose points are in pixels. Coordinates stay as
    /// they are.
    ///
    /// # Errors
    /// Not positive and finite.
    pub fn with_scale(self, scale: f64) -> Result<Self> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(Error::BadEntry { what: "scale", index: 0, value: scale });
        }
        Ok(Self { scale: Some(scale), ..self })
    }

    /// The unit of the coordinates: "mm".
    #[must_use]
    pub fn with_unit(self, unit: impl Into<String>) -> Self {
        Self { unit: Some(unit.into()), ..self }
    }

    /// When the points were recorded, in seconds: for a frame of a take.
    ///
    /// # Errors
    /// Not finite.
    pub fn with_time(self, time: f64) -> Result<Self> {
        if !time.is_finite() {
            return Err(Error::BadEntry { what: "time", index: 0, value: time });
        }
        Ok(Self { time: Some(time), ..self })
    }

    /// Replaces the edges by these. Repetitions count once.
    ///
    /// # Errors
    /// An end that is not a node; an edge from a node to itself.
    pub fn with_edges(self, mut edges: Vec<[usize; 2]>, direction: Direction) -> Result<Self> {
        if direction == Direction::Undirected {
            edges.extend_from_within(..);
            let given = edges.len() / 2;
            edges[given..].iter_mut().for_each(|ends| ends.reverse());
        }
        let edges = Arc::new(EdgeList::new(self.node_count, edges)?);
        Ok(Self { edges, edge_attributes: None, ..self })
    }

    /// Replaces the edges by these, with attributes, one row per given edge.
    ///
    /// # Errors
    /// As [`Self::with_edges`]; a different number of rows; an edge given twice (for undirected edges: either way) with different
    /// attributes.
    pub fn with_attributed_edges(
        self,
        edges: Vec<[usize; 2]>,
        attributes: &Attributes,
        direction: Direction,
    ) -> Result<Self> {
        if attributes.values().nrows() != edges.len() {
            return Err(Error::Size {
                what: "rows of edge attributes",
                expected: edges.len(),
                found: attributes.values().nrows(),
            });
        }
        let graph = self.with_edges(edges.clone(), direction)?;
        let mut row_of = vec![None; graph.edges.len()];
        for (row, [source, target]) in edges.into_iter().enumerate() {
            let both = [[source, target], [target, source]];
            let ways = if direction == Direction::Undirected { &both[..] } else { &both[..1] };
            for at in ways.iter().filter_map(|&[i, j]| graph.edges.find(i, j)) {
                let first = *row_of[at].get_or_insert(row);
                if attributes.values().row(first) != attributes.values().row(row) {
                    return Err(Error::ConflictingEdge { source_node: source, target_node: target });
                }
            }
        }
        // Every edge of the list was given, so none is left out.
        let rows: Vec<usize> = row_of.into_iter().flatten().collect();
        Ok(Self { edge_attributes: Some(attributes.reorder(&rows)), ..graph })
    }

    /// Replaces the edges by edges drawn between the points by a rule.
    ///
    /// # Errors
    /// The graph has no points, or not in the plane where the rule needs that; a setting of the rule out of range.
    pub fn with_edges_by(self, rule: &EdgeRule) -> Result<Self> {
        let edges = match (rule, &self.points) {
            (EdgeRule::Complete(_), None) => crate::geometry::complete(self.node_count),
            _ => rule.edges(self.need_points("edges from points")?)?,
        };
        self.with_edges(edges, Direction::Undirected)
    }

    /// The same graph with its nodes in another order: node t of the result is node `order[t]` of this one.
    ///
    /// # Errors
    /// `order` is not a permutation of the nodes.
    pub fn renumbered(&self, order: &[usize]) -> Result<Self> {
        self.expect_count("order of nodes", order.len())?;
        self.subgraph(order)
    }

    /// Some of the nodes, in this order, and the edges among them; context points are kept.
    ///
    /// # Errors
    /// A node that does not exist or occurs twice.
    pub fn subgraph(&self, nodes: &[usize]) -> Result<Self> {
        let mut place = vec![None; self.node_count];
        for (new, &old) in nodes.iter().enumerate() {
            match place.get_mut(old) {
                None => return Err(Error::OutOfRange { what: "order of nodes", index: old, count: self.node_count }),
                Some(slot @ None) => *slot = Some(new),
                Some(Some(_)) => return Err(Error::NotAPermutation { what: "order of nodes", index: old }),
            }
        }
        let kept = self.edges.ends().iter().enumerate();
        let kept = kept.filter_map(|(at, &[i, j])| Some(([place[i]?, place[j]?], at)));
        let (edges, rows): (Vec<[usize; 2]>, Vec<usize>) = kept.unzip();
        let subgraph = Self {
            node_count: nodes.len(),
            points: self.points.as_ref().map(|points| points.select(Axis(0), nodes)),
            node_attributes: self.node_attributes.as_ref().map(|attributes| attributes.reorder(nodes)),
            names: self.names.as_ref().map(|names| nodes.iter().map(|&old| names[old].clone()).collect()),
            ..self.clone()
        };
        match &self.edge_attributes {
            None => subgraph.with_edges(edges, Direction::Directed),
            Some(attributes) => subgraph.with_attributed_edges(edges, &attributes.reorder(&rows), Direction::Directed),
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// One row of two or three coordinates per node.
    #[must_use]
    pub fn points(&self) -> Option<ArrayView2<'_, f64>> {
        self.points.as_ref().map(|points| points.view())
    }

    /// Points that are seen but not matched.
    #[must_use]
    pub fn context(&self) -> Option<ArrayView2<'_, f64>> {
        self.context.as_ref().map(|points| points.view())
    }

    /// One row per node.
    #[must_use]
    pub fn node_attributes(&self) -> Option<&Attributes> {
        self.node_attributes.as_ref()
    }

    /// The directed edges; an undirected one is stored both ways.
    #[must_use]
    pub fn edges(&self) -> &Arc<EdgeList> {
        &self.edges
    }

    /// The edges as a person would list them, by position in [`Self::edges`], and whether they are directed: each undirected edge
    /// once, if that says everything.
    #[must_use]
    pub fn given_edges(&self) -> (Vec<usize>, bool) {
        let edges = &self.edges;
        let same = |e: usize, f: usize| {
            self.edge_attributes.as_ref().is_none_or(|table| table.values().row(e) == table.values().row(f))
        };
        let both_ways = |(e, &[i, j]): (usize, &[usize; 2])| edges.find(j, i).is_some_and(|f| same(e, f));
        let directed = !edges.ends().iter().enumerate().all(both_ways);
        let once = |&e: &usize| directed || edges.ends()[e][0] < edges.ends()[e][1];
        ((0..edges.len()).filter(once).collect(), directed)
    }

    /// The node with this name, or the unnamed node with this number.
    #[must_use]
    pub fn find_node(&self, name: &str) -> Option<usize> {
        let names = self.names().unwrap_or_default();
        let unnamed = |&node: &usize| node < self.node_count && names.get(node).is_none_or(String::is_empty);
        let named = names.iter().position(|own| !own.is_empty() && own == name);
        named.or_else(|| name.parse().ok().filter(unnamed))
    }

    /// One row per directed edge, in the order of [`Self::edges`].
    #[must_use]
    pub fn edge_attributes(&self) -> Option<&Attributes> {
        self.edge_attributes.as_ref()
    }

    /// One name per node; empty if no one named it.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// What to call a node: its name, or its number (from 0) if it has none.
    #[must_use]
    pub fn name_or_number(&self, node: usize) -> String {
        let name = self.names().and_then(|names| names.get(node)).filter(|name| !name.is_empty());
        name.map_or_else(|| node.to_string(), Clone::clone)
    }

    /// Width and height of the image in which the points were found.
    #[must_use]
    pub fn image_size(&self) -> Option<[f64; 2]> {
        self.image_size
    }

    /// How long a unit of the coordinates is in the world.
    #[must_use]
    pub fn scale(&self) -> Option<f64> {
        self.scale
    }

    /// The unit of the coordinates.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// When the points were recorded, in seconds.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// The same graph with its points and context points moved.
    pub(crate) fn with_moved_points(&self, moved: impl Fn(ArrayView2<'_, f64>) -> Array2<f64>) -> Result<Self> {
        let move_all = |points: &Array2<f64>| {
            let points = moved(points.view());
            check_finite("moved points", points.view()).map(|()| points)
        };
        let points = self.points.as_ref().map(move_all).transpose()?;
        let context = self.context.as_ref().map(move_all).transpose()?;
        Ok(Self { points, context, ..self.clone() })
    }

    /// The points, or the error that says what needed them.
    pub(crate) fn need_points(&self, needed_by: &'static str) -> Result<ArrayView2<'_, f64>> {
        self.points().ok_or(Error::Missing { what: "points", needed_by })
    }

    /// Nodes, then context points, multiplied by a power of two that brings them near 1.
    pub(crate) fn seen_points(&self, needed_by: &'static str) -> Result<Array2<f64>> {
        let points = self.need_points(needed_by)?;
        let Some(context) = self.context() else { return Ok(to_unit_range(points).0) };
        let mut seen = Array2::zeros((points.nrows() + context.nrows(), points.ncols()));
        let (mut nodes, mut others) = seen.view_mut().split_at(Axis(0), points.nrows());
        nodes.assign(&points);
        others.assign(&context);
        Ok(to_unit_range(seen.view()).0)
    }

    fn expect_count(&self, what: &'static str, found: usize) -> Result<()> {
        if found == self.node_count { Ok(()) } else { Err(Error::Size { what, expected: self.node_count, found }) }
    }
}

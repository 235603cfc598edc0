//! The likelihoods of an atlas as ordinary features, with a weight for each *kind* of evidence: positions, edges, and each group of
//! attributes.
//!
//! The atlas becomes the left graph, whose attributes are the coefficients of the log-likelihoods; a specimen in the frame becomes the
//! right graph, whose attributes are the monomials; the features are inner products of the two (`gaussian`). If landmarks may be
//! missing, the coefficients are those of the likelihood minus the background's. All weights start at 1, the Gaussian's own value,
//! and the price of staying unmatched at 0.
//!
//! Edges count both ways, once for each end. (Counting them less, such as by 2 / degree, named specimens with missing points worse.)

use super::columns::column;
use super::gaussian::{Gaussian, monomial_count, monomials};
use super::{Atlas, AtlasEdge, Presence};
use crate::features::{
    Comparison, Descriptor, EdgeKind, EdgeProduct, FeatureMap, ImageDescriptor, InnerProduct, NodeAttributes,
    NodeFeature, Scale,
};
use crate::geometry::Similarity;
use crate::graph::{Attributes, Direction, Graph};
use crate::matching::Constraint;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// The kinds of evidence that positions and edges give.
const POSITION: &str = "position";
pub(super) const DISPLACEMENT: &str = "displacement";
/// What the picture around a point shows.
const PICTURE: &str = "picture";

/// The names of the columns of one kind: the kind itself for the constant, then one for each monomial.
pub(super) fn columns(kind: &str, dimension: usize) -> Vec<String> {
    let number = |at: usize| if at == 0 { kind.to_string() } else { format!("{kind} {at}") };
    (0..monomial_count(dimension)).map(number).collect()
}

/// The kind of evidence an attribute gives: what pictures show is one kind; otherwise its name without a number at the end.
fn kind_of(attribute: &str, seen: &[String]) -> String {
    if seen.iter().any(|name| name == attribute) {
        return PICTURE.to_string();
    }
    let bare = attribute.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '.' | '_' | '-'));
    format!("attribute {}", if bare.is_empty() { attribute } else { bare })
}

/// Attributes by kind, in order of first appearance.
pub(super) fn groups<'a>(
    names: impl Iterator<Item = &'a str>,
    images: &[ImageDescriptor],
) -> Vec<(String, Vec<usize>)> {
    let seen: Vec<String> = images.iter().flat_map(ImageDescriptor::names).collect();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, name) in names.enumerate() {
        let kind = kind_of(name, &seen);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(at),
            None => groups.push((kind, vec![at])),
        }
    }
    groups
}

impl Atlas {
    /// The groups of attributes that have one weight each: kind, and positions in [`Self::attributes`].
    pub(super) fn groups(&self) -> Vec<(String, Vec<usize>)> {
        groups(self.attributes.iter().map(|unit| unit.name.as_str()), &self.images)
    }

    /// One of the attributes that it uses, for all points of a specimen, in its unit.
    pub(super) fn standardised(&self, specimen: &Graph, at: usize) -> Result<Vec<f64>> {
        let unit = &self.attributes[at];
        let missing = || Error::NoAttribute { what: "node attribute", name: unit.name.clone() };
        let values = column(specimen, &unit.name).ok_or_else(missing)?;
        Ok(values.into_iter().map(|value| (value - unit.mean) / unit.deviation).collect())
    }

    /// The node attributes that it uses.
    pub(crate) fn attribute_names(&self) -> Vec<String> {
        self.attributes.iter().map(|unit| unit.name.clone()).collect()
    }

    /// The node attribute columns of one group of attributes.
    fn group_columns(&self, members: &[usize], kind: &str) -> Vec<String> {
        let mut all: Vec<String> =
            members.iter().flat_map(|&at| columns(&format!("value {}", self.attributes[at].name), 1)).collect();
        // The first column names the weight.
        if let Some(first) = all.first_mut() {
            *first = kind.to_string();
        }
        all
    }

    /// The features of naming: the inner products described above, one weight each, and the price of staying unmatched.
    #[must_use]
    pub fn features(&self) -> FeatureMap {
        let node = |columns: Vec<String>| NodeFeature {
            descriptor: Descriptor::Attributes(NodeAttributes { columns }),
            comparison: Comparison::InnerProduct(InnerProduct {}),
        };
        let groups = self.groups();
        let mut nodes = vec![node(columns(POSITION, self.dimension))];
        nodes.extend(groups.iter().map(|(kind, members)| node(self.group_columns(members, kind))));
        let edge = EdgeKind::Product(EdgeProduct { columns: columns(DISPLACEMENT, self.dimension) });
        FeatureMap {
            pair: Vec::new(),
            node: nodes,
            edge_rule: None,
            edge: if self.edges.is_empty() { Vec::new() } else { vec![edge] },
            unmatched: true,
            unmatched_by_edges: false,
            constraint: Constraint::OneToOne,
            scale: Scale::AsIs,
            pose: crate::features::Rotation::default(),
        }
    }

    /// The weights to start with: every kind of evidence counts as its likelihood says, staying unmatched costs nothing. Many numbers
    /// that vary together amount to fewer, and their kind counts that much less.
    #[must_use]
    pub fn start_weights(&self) -> Vec<f64> {
        let mut weights = self.features().unlearned_weights();
        for (weight, (_, members)) in weights[1..].iter_mut().zip(self.groups()) {
            *weight = members.first().map_or(1.0, |&at| self.attributes[at].share);
        }
        if let Some(price) = weights.last_mut() {
            *price = 0.0;
        }
        weights
    }

    /// The coefficients of a Gaussian, relative to the background if landmarks may be missing.
    fn evidence(gaussian: &Gaussian, background: &[f64], presence: Presence) -> Vec<f64> {
        let mut numbers = gaussian.coefficients();
        if presence == Presence::Partial {
            numbers.iter_mut().zip(background).for_each(|(number, background)| *number -= background);
        }
        numbers
    }

    /// The coefficients of all positions, their variances widened by `extra`: one row per landmark.
    pub(super) fn position_table(&self, extra: f64, presence: Presence) -> Array2<f64> {
        let background = self.background.widened(extra).coefficients();
        let rows = self
            .landmarks
            .iter()
            .map(|landmark| Self::evidence(&landmark.position.widened(extra), &background, presence));
        let values: Vec<f64> = rows.flatten().collect();
        shaped(values, self.landmarks.len(), monomial_count(self.dimension))
    }

    /// The background of a displacement. The difference of two points has twice the covariance of all points.
    fn displacement_background(&self) -> Vec<f64> {
        Gaussian { mean: vec![0.0; self.dimension], ..self.background.clone() }.coefficients()
    }

    /// The coefficients of the displacement along an edge.
    pub(super) fn edge_evidence(&self, edge: &AtlasEdge, presence: Presence) -> Vec<f64> {
        Self::evidence(&edge.displacement, &self.displacement_background(), presence)
    }

    /// The atlas as a graph without its edges.
    pub(super) fn bare_graph(&self, presence: Presence) -> Result<Graph> {
        let n = self.landmarks.len();
        let mut names = columns(POSITION, self.dimension);
        let mut values = self.position_table(0.0, presence);
        for (kind, members) in self.groups() {
            names.extend(self.group_columns(&members, &kind));
            let normal = Gaussian::new(vec![0.0], &[[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]], 0);
            let background = normal.map(|gaussian| gaussian.coefficients()).unwrap_or_default();
            let numbers = self.landmarks.iter().flat_map(|landmark| {
                members
                    .iter()
                    .flat_map(|&at| Self::evidence(&landmark.attributes[at], &background, presence))
                    .collect::<Vec<_>>()
            });
            let table = shaped(numbers.collect(), n, 3 * members.len());
            values = ndarray::concatenate![ndarray::Axis(1), values, table];
        }
        let means: Vec<f64> =
            self.landmarks.iter().flat_map(|landmark| landmark.position.mean.iter().copied()).collect();
        Graph::from_points(shaped(means, n, self.dimension))?
            .with_names(self.landmarks.iter().map(|landmark| landmark.name.clone()).collect())?
            .with_node_attributes(Attributes::new(names, values)?)
    }

    /// The atlas as a graph: the left one in every naming. Its points are the mean shape.
    ///
    /// # Errors
    /// None in practice: a checked atlas is always a valid graph.
    pub fn graph(&self, presence: Presence) -> Result<Graph> {
        let graph = self.bare_graph(presence)?;
        if self.edges.is_empty() {
            return Ok(graph);
        }
        let (mut ends, mut numbers) = (Vec::new(), Vec::new());
        for edge in &self.edges {
            let [i, j] = edge.ends;
            let forth = self.edge_evidence(edge, presence);
            let back = forth.iter().enumerate().map(|(at, &x)| if (1..=self.dimension).contains(&at) { -x } else { x });
            ends.extend([[i, j], [j, i]]);
            numbers.extend(forth.iter().copied().chain(back));
        }
        let width = monomial_count(self.dimension);
        let attributes = Attributes::new(columns(DISPLACEMENT, self.dimension), shaped(numbers, ends.len(), width))?;
        graph.with_attributed_edges(ends, &attributes, Direction::Directed)
    }

    /// A specimen as a graph without edges, mapped into the frame.
    pub(super) fn bare_specimen(&self, specimen: &Graph, frame: &Similarity) -> Result<Graph> {
        let points = frame.apply(self.points_of(specimen)?);
        let m = points.nrows();
        let mut names = columns(POSITION, self.dimension);
        let mut values = monomial_table(points.view());
        for (kind, members) in self.groups() {
            names.extend(self.group_columns(&members, &kind));
            let mut table = Array2::ones((m, 3 * members.len()));
            for (place, &at) in members.iter().enumerate() {
                for (row, value) in self.standardised(specimen, at)?.into_iter().enumerate() {
                    (table[[row, 3 * place + 1]], table[[row, 3 * place + 2]]) = (value, value * value);
                }
            }
            values = ndarray::concatenate![ndarray::Axis(1), values, table];
        }
        Graph::from_points(points)?.with_node_attributes(Attributes::new(names, values)?)
    }

    /// A specimen as a graph, mapped into the frame: the right one in a naming. All its points are joined.
    ///
    /// # Errors
    /// Points of another dimension, or without an attribute that the atlas uses.
    pub fn specimen_graph(&self, specimen: &Graph, frame: &Similarity) -> Result<Graph> {
        let points = frame.apply(self.points_of(specimen)?);
        let m = points.nrows();
        let ends: Vec<[usize; 2]> = (0..m).flat_map(|k| (0..m).filter(move |&l| l != k).map(move |l| [k, l])).collect();
        let mut numbers = Vec::with_capacity(ends.len() * monomial_count(self.dimension));
        let mut displacement = vec![0.0; self.dimension];
        for &[k, l] in &ends {
            displacement.iter_mut().enumerate().for_each(|(p, x)| *x = points[[l, p]] - points[[k, p]]);
            numbers.extend(monomials(&displacement));
        }
        let attributes = Attributes::new(
            columns(DISPLACEMENT, self.dimension),
            shaped(numbers, ends.len(), monomial_count(self.dimension)),
        )?;
        self.bare_specimen(specimen, frame)?.with_attributed_edges(ends, &attributes, Direction::Directed)
    }

    /// The points of a specimen, checked to have the right dimension.
    pub(super) fn points_of<'a>(&self, specimen: &'a Graph) -> Result<ArrayView2<'a, f64>> {
        let points = specimen.need_points("naming by an atlas")?;
        if points.ncols() == self.dimension {
            Ok(points)
        } else {
            Err(Error::Size {
                what: "coordinates of a point, for this atlas",
                expected: self.dimension,
                found: points.ncols(),
            })
        }
    }
}

/// The monomials of each point, a row each.
pub(super) fn monomial_table(points: ArrayView2<'_, f64>) -> Array2<f64> {
    let values = points.rows().into_iter().flat_map(|point| monomials(&point.to_vec()).collect::<Vec<_>>());
    shaped(values.collect(), points.nrows(), monomial_count(points.ncols()))
}

/// Numbers, row by row, as a table.
fn shaped(numbers: Vec<f64>, rows: usize, width: usize) -> Array2<f64> {
    Array2::from_shape_vec((rows, width), numbers).unwrap_or_else(|_| Array2::zeros((rows, width)))
}

//! [`Scale`]: the unit in which the numbers of nodes and edges are compared. With spreads s measured on pairs of graphs,
//!
//!   phi(a, b) becomes phi(a / s, b / s),   s = mean over all left nodes i and right nodes k of |a_i - b_k|
//!
//! so that a typical difference is 1 whatever the unit of the data: metres or millimetres give the same matching, and with weights of 1 every
//! feature counts. There is one spread for each attribute, and one for a whole shape context, position or image descriptor, whose numbers
//! share a unit. Directions and adjacency have no unit, and a decay of lengths has its own width. A spread of 0 means a number that never
//! differed: nothing is known about its unit, so it does not count.
//!
//! A feature of pairs x(i, k) is a number already, with no difference to take. Over the listed pairs of nodes of a pair of graphs, with mean m,
//!
//!   s = mean of |x - m|,   origin = mean of x over true pairs,   apart = mean of m - x over true pairs
//!
//! where a negative `apart` says that a large number means alike.

use super::{Comparison, Descriptor, Difference, EdgeKind, FeatureMap, NodeFeature};
use crate::graph::levels::text_attribute;
use crate::graph::{Graph, Pair, PairFeatures};
use crate::matching::Matching;
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayView2, Axis, Slice};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What one unit of each number is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The numbers as they are, as in the paper.
    AsIs,
    /// The spread in the training pairs, not measured yet; until then the numbers as they are.
    #[default]
    BySpread,
    /// The spreads that were measured.
    Measured(Vec<Spread>),
}

/// The typical difference of a number, or of several that share a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// What it is the spread of.
    pub name: String,
    /// One unit; 0 means it never differed and is not compared.
    pub spread: f64,
    /// Of a feature of pairs: its mean over true pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: f64,
    /// Of a feature of pairs: how much larger it is for all pairs than for true ones, on average.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apart: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Numbers that share a unit: columns of the numbers that describe nodes, or edges.
pub(super) struct Unit {
    name: String,
    of: Side,
    feature: usize,
    columns: Range<usize>,
    difference: Difference,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Nodes,
    Edges,
    Pairs,
}

/// No more pairs than this are measured: a hundred are enough for a mean.
const MOST_PAIRS: usize = 100;
/// No more nodes or edges of a graph than this are measured.
const MOST_ROWS: usize = 300;

impl FeatureMap {
    /// The same features in units of their spreads in these pairs, whatever the matchings are. Features that are compared as they are
    /// ([`Scale::AsIs`]) are unchanged.
    ///
    /// # Errors
    /// A graph without a part that a feature needs.
    ///
    /// ```
    /// use homolog::features::{FeatureMap, Scale};
    /// use homolog::graph::{Attributes, Graph, Pair};
    /// use ndarray::array;
    /// use std::sync::Arc;
    ///
    /// let graph = |sizes| Ok::<_, homolog::Error>(Arc::new(Graph::new(2).with_node_attributes(Attributes::numbered(sizes)?)?));
    /// let pair = Pair::new(graph(array![[1.0], [3.0]])?, graph(array![[2.0], [4.0]])?);
    /// let map = FeatureMap::named("attributes", [&*pair.left])?.with_spread_of(&[pair])?;
    /// let Scale::Measured(spreads) = &map.scale else { panic!("they are measured") };
    /// assert_eq!((spreads[0].name.as_str(), spreads[0].spread), ("attributes 0", 1.5));
    /// # Ok::<(), homolog::Error>(())
    /// ```
    pub fn with_spread_of(&self, pairs: &[Pair]) -> Result<Self> {
        self.with_spread_watched(pairs, &Control::new())
    }

    /// [`Self::with_spread_of`], told when to stop.
    pub(crate) fn with_spread_watched(&self, pairs: &[Pair], control: &Control) -> Result<Self> {
        let looked_at = pairs.iter().step_by(Self::spread_step(pairs.len()));
        let of = |pair| Error::if_interrupted(control).and_then(|()| self.differences(pair, None, control));
        let differences: Vec<_> = looked_at.map(of).collect::<Result<_>>()?;
        Ok(self.with_differences(&differences))
    }

    /// [`Self::with_spread_of`] labelled pairs, which also show where the features of true pairs are.
    pub(crate) fn fitted_to(&self, pairs: &[(Pair, &Matching)], control: &Control) -> Result<Self> {
        let looked_at = pairs.iter().step_by(Self::spread_step(pairs.len()));
        let of = |(pair, truth): &(Pair, &Matching)| {
            Error::if_interrupted(control)?;
            self.differences(pair, Some(truth), control)
        };
        let differences: Vec<_> = looked_at.map(of).collect::<Result<_>>()?;
        Ok(self.with_differences(&differences))
    }

    /// The step between measured pairs, out of this many.
    pub(crate) fn spread_step(count: usize) -> usize {
        count.div_ceil(MOST_PAIRS).max(1)
    }

    /// What a pair contributes to the spreads: for each unit the sum of differences, and how many there are; then for each feature of pairs the
    /// sum over true pairs, and how many there are, and how far that sum is from that of as many typical pairs.
    pub(crate) fn differences(
        &self,
        pair: &Pair,
        truth: Option<&Matching>,
        control: &Control,
    ) -> Result<Vec<(f64, f64)>> {
        if self.scale == Scale::AsIs {
            return Ok(Vec::new());
        }
        let plain = Self { scale: Scale::AsIs, ..self.clone() };
        let [left, right] = [plain.numbers(&pair.left, control)?, plain.numbers(&pair.right, control)?];
        let mut of_truth = Vec::new();
        let mut of = |unit: &Unit| -> Result<(f64, f64)> {
            if unit.of != Side::Pairs {
                return Ok(unit.differences(unit.rows(&left), unit.rows(&right)));
            }
            let missing = || Error::NoAttribute { what: "feature of pairs", name: unit.name.clone() };
            let [spread, true_pairs, apart] =
                pair_differences(pair.features.as_deref().ok_or_else(missing)?, &unit.name, truth)?;
            of_truth.extend([true_pairs, apart]);
            Ok(spread)
        };
        let mut all = plain.units().iter().map(&mut of).collect::<Result<Vec<_>>>()?;
        all.extend(of_truth);
        Ok(all)
    }

    /// The same features in units of the spreads these contributions give, added up in order.
    pub(crate) fn with_differences(&self, pairs: &[Vec<(f64, f64)>]) -> Self {
        if self.scale == Scale::AsIs {
            return self.clone();
        }
        let plain = Self { scale: Scale::AsIs, ..self.clone() };
        let units = plain.units();
        let count = units.len();
        let sums = |at: usize| {
            let mut all = (0.0, 0.0);
            for (sum, count) in pairs.iter().filter_map(|differences| differences.get(at)) {
                all = (all.0 + sum, all.1 + count);
            }
            all
        };
        let mean_at = |at: usize, otherwise: f64| {
            let (sum, count): (f64, f64) = sums(at);
            if count > 0.0 { (sum / count).clamp(f64::MIN, f64::MAX) } else { otherwise }
        };
        let first_of_pairs = count - plain.pair.len();
        let mean = |(at, unit): (usize, Unit)| {
            let mean = mean_at(at, 1.0);
            if unit.of == Side::Pairs {
                let own = count + 2 * (at - first_of_pairs);
                let (origin, apart) = (mean_at(own, 0.0), mean_at(own + 1, 0.0));
                return Spread { name: unit.name, spread: mean, origin, apart };
            }
            // If nothing differed, several numbers that share a unit stay as they are, but a single number has no unit to be compared in.
            let has_unit = unit.columns.len() == 1;
            let spread = if mean == 0.0 && !has_unit { 1.0 } else { mean };
            Spread { name: unit.name, spread, origin: 0.0, apart: 0.0 }
        };
        let spreads = units.into_iter().enumerate().map(mean).collect();
        Self { scale: Scale::Measured(spreads), ..plain }
    }

    /// The numbers that describe the edges and as many nodes as are measured, feature by feature and unscaled.
    fn numbers(&self, graph: &Graph, control: &Control) -> Result<[Vec<Array2<f64>>; 2]> {
        let drawn = self.drawn(graph)?;
        let measured: Vec<usize> = (0..drawn.node_count()).step_by(row_step(drawn.node_count())).collect();
        let describe =
            |feature: &NodeFeature| feature.descriptor.descriptor().describe_nodes_watched(&drawn, &measured, control);
        let nodes = self.node.iter().map(describe);
        let edges = self.edge.iter().map(|kind| kind.feature().measure_watched(&drawn, control));
        Ok([nodes.collect::<Result<_>>()?, edges.collect::<Result<_>>()?])
    }

    /// The numbers that share a unit, in the order of the features.
    pub(super) fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut add = |name: String, of: Side, feature: usize, columns: Range<usize>, difference: Difference| {
            let again =
                units.iter().filter(|unit: &&Unit| unit.name == name || unit.name.starts_with(&format!("{name} #")));
            let number = again.count() + 1;
            let name = if number == 1 { name } else { format!("{name} #{number}") };
            units.push(Unit { name, of, feature, columns, difference });
        };
        for (at, feature) in self.node.iter().enumerate() {
            let descriptor = &feature.descriptor;
            let compared = Difference::NegativeAbsolute;
            match descriptor {
                _ if matches!(feature.comparison, Comparison::InnerProduct(_)) => {}
                Descriptor::Attributes(attributes) => {
                    // Whether a node has a text has no unit.
                    let columns = attributes.columns.iter().enumerate();
                    for (column, name) in columns.filter(|(_, name)| text_attribute(name).is_none()) {
                        add(format!("{} {name}", descriptor.name()), Side::Nodes, at, column..column + 1, compared);
                    }
                }
                _ => add(descriptor.name().to_string(), Side::Nodes, at, 0..descriptor.descriptor().dim(), compared),
            }
        }
        for (at, kind) in self.edge.iter().enumerate() {
            let difference = match kind {
                // A product stays in the unit it was made in.
                EdgeKind::Adjacency(_) | EdgeKind::Directions(_) | EdgeKind::Product(_) | EdgeKind::Ranks(_) => {
                    continue;
                }
                EdgeKind::Lengths(lengths) if matches!(lengths.difference, Difference::Decay { .. }) => continue,
                EdgeKind::Lengths(lengths) => lengths.difference,
                EdgeKind::Attributes(attributes) => attributes.difference,
            };
            for (number, name) in kind.feature().names().into_iter().enumerate() {
                let column = difference.columns() * number;
                add(name, Side::Edges, at, column..column + 1, difference);
            }
        }
        // Last, and by their own names: the features of pairs ask for these.
        for (at, name) in self.pair.iter().enumerate() {
            let difference = Difference::NegativeAbsolute;
            units.push(Unit { name: name.clone(), of: Side::Pairs, feature: at, columns: at..at + 1, difference });
        }
        units
    }

    /// Whether the scale fits the features.
    pub(super) fn check_scale(&self) -> Result<()> {
        let Scale::Measured(spreads) = &self.scale else { return Ok(()) };
        let units = self.units();
        if units.len() != spreads.len() {
            return Err(Error::Size { what: "spreads of the features", expected: units.len(), found: spreads.len() });
        }
        for (index, (unit, spread)) in units.iter().zip(spreads).enumerate() {
            if unit.name != spread.name {
                let (found, expected) = (&spread.name, &unit.name);
                let reason = format!("spread {index} is called {found:?} but the features call it {expected:?}");
                return Err(Error::ModelFile { reason });
            }
            if !(spread.spread.is_finite() && spread.spread >= 0.0) {
                return Err(Error::BadEntry { what: "spreads of the features", index, value: spread.spread });
            }
            if let Some(value) = [spread.origin, spread.apart].into_iter().find(|value| !value.is_finite()) {
                return Err(Error::BadEntry { what: "origins of the features", index, value });
            }
        }
        Ok(())
    }

    /// Converts the numbers of one graph to the units of the map: those of its nodes and of its edges, feature by feature.
    pub(super) fn to_units(&self, nodes: &mut [Array2<f64>], edges: &mut [Array2<f64>]) {
        let Scale::Measured(spreads) = &self.scale else { return };
        for (unit, spread) in self.units().iter().zip(spreads) {
            let factor = if spread.spread == 0.0 { 0.0 } else { 1.0 / spread.spread };
            let table = match unit.of {
                Side::Nodes => &mut nodes[unit.feature],
                Side::Edges => &mut edges[unit.feature],
                // They are converted pair by pair.
                Side::Pairs => continue,
            };
            // The square of an edge's number is stored next to it.
            let squares = unit.of == Side::Edges && unit.difference.columns() == 2;
            table.slice_axis_mut(Axis(1), Slice::from(unit.columns.clone())).mapv_inplace(|x| x * factor);
            if squares {
                table.column_mut(unit.columns.end).mapv_inplace(|x| x * factor * factor);
            }
        }
    }
}

impl Unit {
    fn rows<'a>(&self, [nodes, edges]: &'a [Vec<Array2<f64>>; 2]) -> ArrayView2<'a, f64> {
        // Those of pairs have no rows of their own.
        let table = if self.of == Side::Nodes { &nodes[self.feature] } else { &edges[self.feature] };
        table.slice_axis(Axis(1), Slice::from(self.columns.clone()))
    }

    /// The sum of |a - b| over pairs of rows, and how many there are; for products |a| and |b|, which have a unit but no difference.
    fn differences(&self, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> (f64, f64) {
        let (left, right) = (thinned(&left), thinned(&right));
        if self.difference == Difference::Product {
            let sum = left.iter().chain(&right).map(|a| a.abs()).sum::<f64>();
            return (sum, (left.len() + right.len()) as f64);
        }
        let mut sum = 0.0;
        for a in left.rows() {
            for b in right.rows() {
                // One number at a time: nothing is squared that could over- or underflow.
                sum += match a.len() {
                    1 => (a[0] - b[0]).abs(),
                    _ => a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
                };
            }
        }
        (sum, (left.nrows() * right.nrows()) as f64)
    }
}

/// Of one feature of pairs: the sum of |x - m| and the count; the sum of x over true pairs and the count; the sum of m - x over true pairs and the
/// count.
fn pair_differences(features: &PairFeatures, name: &str, truth: Option<&Matching>) -> Result<[(f64, f64); 3]> {
    let column = features.column(name)?;
    let values = features.values();
    let values = values.column(column);
    let count = values.len() as f64;
    // Divided first: a sum of large numbers may be out of range.
    let mean: f64 = values.iter().map(|x| x / count).sum();
    let deviation = values.iter().map(|x| (x - mean).abs()).sum::<f64>();
    let (mut sum, mut true_count) = (0.0, 0.0);
    for (i, k) in truth.into_iter().flat_map(Matching::pairs) {
        if let Some(row) = features.row(i, k) {
            sum += row[column];
            true_count += 1.0;
        }
    }
    Ok([(deviation, count), (sum, true_count), (mean * true_count - sum, true_count)])
}

/// Evenly spaced rows, at most the number needed.
fn thinned<'a>(rows: &'a ArrayView2<'_, f64>) -> ArrayView2<'a, f64> {
    let step = row_step(rows.nrows());
    rows.slice_axis(Axis(0), Slice::new(0, None, step.cast_signed()))
}

/// The step between measured rows, out of this many.
fn row_step(count: usize) -> usize {
    count.div_ceil(MOST_ROWS).max(1)
}

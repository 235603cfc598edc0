//! Shape context (Belongie et al. 2002): how a node sees the other points, as counts in a polar grid.
//!
//! For node i and every other point j, context points included:
//!
//!   theta = atan2(dy, dx) + pi in [0, 2 pi],   r = distance / alpha,   alpha = mean of all N² distances, the N zeros included
//!
//! Bin = angular_bins · radial + angular; with the defaults 12 bins of pi/6 (the last takes what is left) in 5 rings with outer
//! radii 0.125, 0.25, 0.5, 1, 2. Raw counts, no normalisation: moving and scaling the points change nothing, rotating and mirroring
//! them do. O(N²) for alpha and O(n N) for the counts.
//!
//! **Softness** (`soft_bins`): each point is spread over the bins around it by a Gaussian, 0.8 sectors wide in angle and 0.45 in ln r at
//! softness 1. With softness 0 the bins are hard, as the authors compute them: points at r >= 2 are not counted, and points that coincide
//! with the node count as being at angle atan2(0, 0) = 0 in the innermost ring. Soft bins share those evenly among the sectors.
//!
//! Of thousands of points, soft bins in the plane come from tables (`shape_tables`), right to 1e-8 and ten times as fast.
//!
//! **In space** the sectors are directions: the same number, spread evenly over the sphere; the Gaussian is 0.8 of their mean distance wide.

use super::NodeDescriptor;
use super::shape_tables::Tables;
use super::soft_bins;
use crate::geometry::mean_distance;
use crate::graph::Graph;
use crate::{Control, Error, Limit, Result};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// More bins than this are a mistake in a settings file, not a descriptor.
const MAX_BINS: usize = 10_000;
/// The Gaussian's width at softness 1: in sectors, or in mean distances of neighbouring directions. 0.8 to 1.6 did equally well, 0.4 did not.
pub(super) const ANGULAR_WIDTH: f64 = 0.8;
/// The same in ln r. 0.25 to 0.9 did equally well.
pub(super) const RADIAL_WIDTH: f64 = 0.45;
/// Wide enough that every bin sees the same.
const MAX_SOFTNESS: f64 = 100.0;

/// Up to this many points, what two points see of each other is computed once.
const FEW_POINTS: usize = 200;
/// Pairs of a node and a point between two questions whether to stop: a few hundredths of a second.
const AT_A_TIME: usize = 50_000;

/// Counts of the other points in a polar grid around each node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeContext {
    /// Coordinates of the points: 2 or 3.
    pub dimension: usize,
    /// How many sectors, or directions in space.
    pub angular_bins: usize,
    /// Outer radius of each ring, over the mean distance; increasing. The first ring begins at 0.
    pub radii: Vec<f64>,
    /// How far a point is spread over the bins around it: 0 not at all, 1 well beyond the next bin. A file that does not
    /// say was written when all bins were hard.
    #[serde(default)]
    pub softness: f64,
}

impl Default for ShapeContext {
    /// The paper's grid of 12 sectors and 5 rings, 60 numbers, with soft bins.
    fn default() -> Self {
        Self { dimension: 2, angular_bins: 12, radii: vec![0.125, 0.25, 0.5, 1.0, 2.0], softness: 1.0 }
    }
}

impl ShapeContext {
    /// The paper's settings: hard bins.
    #[must_use]
    pub fn paper() -> Self {
        Self { softness: 0.0, ..Self::default() }
    }

    /// Hard bins in the plane; like the others, for some of the nodes.
    fn count(&self, points: ArrayView2<'_, f64>, alpha: f64, nodes: &[usize], mut counts: ArrayViewMut2<'_, f64>) {
        let points: Vec<[f64; 2]> = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
        let sector_width = 2.0 * PI / self.angular_bins as f64;
        for (&i, mut counts) in nodes.iter().zip(counts.rows_mut()) {
            let [x, y] = points[i];
            for (_, &other) in points.iter().enumerate().filter(|&(j, _)| j != i) {
                let (dx, dy) = (other[0] - x, other[1] - y);
                let distance = (dx * dx + dy * dy).sqrt();
                let r = if distance == 0.0 { 0.0 } else { distance / alpha };
                let Some(ring) = self.radii.iter().position(|&radius| r < radius) else { continue };
                let sector = sector(dx, dy, sector_width, self.angular_bins);
                counts[self.angular_bins * ring + sector] += 1.0;
            }
        }
    }

    /// Soft bins in the plane; in space both soft and hard ones.
    fn spread(&self, points: ArrayView2<'_, f64>, alpha: f64, nodes: &[usize], mut counts: ArrayViewMut2<'_, f64>) {
        let bins = self.angular_bins;
        let in_space = self.dimension == 3;
        let directions = if in_space { soft_bins::directions(bins) } else { Vec::new() };
        let spacing = if in_space { (4.0 * PI / bins as f64).sqrt() } else { 1.0 };
        let angular_width = ANGULAR_WIDTH * self.softness * spacing;
        let log_radii: Vec<f64> = self.radii.iter().map(|radius| radius.ln()).collect();
        // Hard rings are rings with the sharpest possible borders.
        let radial_width = (RADIAL_WIDTH * self.softness).max(f64::MIN_POSITIVE);
        let (count, ring_count) = (points.nrows(), self.radii.len());
        let mut sectors = vec![0.0; bins];
        // The rings of j around i are those of i around j. Those of points that have had their turn are kept if points are few.
        let keeps = count <= FEW_POINTS && nodes.iter().copied().eq(0..count);
        let mut kept = vec![0.0; ring_count * if keeps { count * count } else { 1 }];
        for (&i, mut counts) in nodes.iter().zip(counts.rows_mut()) {
            for j in (0..count).filter(|&j| j != i) {
                let mut offset = [0.0; 3];
                (0..self.dimension).for_each(|axis| offset[axis] = points[[j, axis]] - points[[i, axis]]);
                let distance = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
                let at = if keeps { i.min(j) * count + i.max(j) } else { 0 };
                let rings = &mut kept[at * ring_count..][..ring_count];
                if !keeps || i < j {
                    let log_r = if distance == 0.0 { f64::NEG_INFINITY } else { (distance / alpha).ln() };
                    soft_bins::ring_shares(log_r, &log_radii, radial_width, rings);
                }
                if distance == 0.0 {
                    sectors.fill(1.0 / bins as f64);
                } else if in_space {
                    let unit = offset.map(|x| x / distance);
                    soft_bins::direction_shares(unit, &directions, angular_width, &mut sectors);
                } else {
                    let theta = (offset[1].atan2(offset[0]) + PI) / (2.0 * PI) * bins as f64;
                    soft_bins::sector_shares(theta, angular_width, &mut sectors);
                }
                for (counts, ring) in counts.exact_chunks_mut(bins).into_iter().zip(&*rings) {
                    counts.into_iter().zip(&sectors).for_each(|(count, sector)| *count += ring * sector);
                }
            }
        }
    }
    /// One row per given node. Of many points it asks the control every few rows.
    fn counts(&self, graph: &Graph, nodes: &[usize], control: &Control) -> Result<Array2<f64>> {
        let points = graph.seen_points("shape context")?;
        if points.ncols() != self.dimension {
            let what = "coordinates of a point, for shape context";
            return Err(Error::Size { what, expected: self.dimension, found: points.ncols() });
        }
        let alpha = mean_distance(points.view(), || !control.interrupted()).ok_or(Error::Interrupted)?;
        let mut counts = Array2::zeros((nodes.len(), self.dim()));
        let listen = || Error::if_interrupted(control);
        let tables = (self.dimension == 2).then(|| Tables::of(self, points.nrows())).flatten();
        if let (Some(tables), Some(rows)) = (tables, counts.as_slice_mut()) {
            let points: Vec<[f64; 2]> = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
            let rows = rows.par_chunks_exact_mut(self.dim()).zip(nodes);
            rows.try_for_each(|(row, &i)| {
                listen()?;
                tables.spread(&points, i, alpha, row);
                Ok(())
            })?;
            return Ok(counts);
        }
        // Up to a few hundred points this is one block, which takes a moment and asks nothing.
        let rows = (AT_A_TIME / points.nrows().max(1)).max(1);
        for (block, nodes) in counts.axis_chunks_iter_mut(Axis(0), rows).zip(nodes.chunks(rows)) {
            if nodes.len() < points.nrows() {
                listen()?;
            }
            if self.softness == 0.0 && self.dimension == 2 {
                self.count(points.view(), alpha, nodes, block);
            } else {
                self.spread(points.view(), alpha, nodes, block);
            }
        }
        Ok(counts)
    }
}

impl NodeDescriptor for ShapeContext {
    fn names(&self) -> Vec<String> {
        let rings = 0..self.radii.len();
        rings.flat_map(|ring| (0..self.angular_bins).map(move |sector| format!("r{ring} a{sector}"))).collect()
    }

    fn dim(&self) -> usize {
        self.angular_bins.saturating_mul(self.radii.len())
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let all: Vec<usize> = (0..graph.node_count()).collect();
        self.describe_nodes(graph, &all)
    }

    fn describe_nodes(&self, graph: &Graph, nodes: &[usize]) -> Result<Array2<f64>> {
        self.counts(graph, nodes, &Control::new())
    }

    fn describe_nodes_watched(&self, graph: &Graph, nodes: &[usize], control: &Control) -> Result<Array2<f64>> {
        self.counts(graph, nodes, control)
    }

    fn describe_watched(&self, graph: &Graph, control: &Control) -> Result<Array2<f64>> {
        let all: Vec<usize> = (0..graph.node_count()).collect();
        self.counts(graph, &all, control)
    }

    fn check(&self) -> Result<()> {
        Error::unless_between("dimension", self.dimension as f64, 2.0, 3.0)?;
        Error::unless_counted("angular_bins", self.angular_bins)?;
        Error::unless_between("softness", self.softness, 0.0, MAX_SOFTNESS)?;
        let mut last = 0.0;
        for &radius in &self.radii {
            if radius.is_nan() || radius <= last {
                return Err(Error::BadSetting { name: "radii", value: radius, limit: Limit::MoreThan(last) });
            }
            last = radius;
        }
        Error::unless_between("number of bins", self.dim() as f64, 1.0, MAX_BINS as f64)
    }
}

/// The sector of a direction phi = atan2(dy, dx): theta = phi + pi over the width of a sector; the last one takes what is left.
///
/// A direction on the border of two sectors, such as straight up, goes to the one farther from the positive x axis: that is where
/// the authors' extended precision puts it, because its pi/2 is a little more than half of a double's pi.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= theta <= bins, but for rounding")]
fn sector(dx: f64, dy: f64, width: f64, bins: usize) -> usize {
    let middle = bins as f64 / 2.0;
    let rough = rough_angle(dx, dy) / width + middle;
    let (low, high) = (rough - ROUGH_ERROR / width, rough + ROUGH_ERROR / width);
    // Away from all borders the rough angle is enough. Casts round towards zero.
    if low > 0.0 && low as u32 == high as u32 && high < bins as f64 {
        return low as u32 as usize;
    }
    let phi = dy.atan2(dx);
    let theta = phi / width + middle;
    let sector = theta as u32;
    let on_lower_border = phi < 0.0 && f64::from(sector) == theta;
    (sector.saturating_sub(u32::from(on_lower_border)) as usize).min(bins - 1)
}

/// A bound on the error of [`rough_angle`], in radians, with room to spare.
const ROUGH_ERROR: f64 = 2e-5;

/// atan2(dy, dx) to within 1.2e-5 by Hastings' polynomial (Abramowitz and Stegun 4.4.49), several times faster.
fn rough_angle(dx: f64, dy: f64) -> f64 {
    let (x, y) = (dx.abs(), dy.abs());
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    if large == 0.0 {
        return 0.0;
    }
    let t = small / large;
    let s = t * t;
    let near = t * (0.999_866_0 + s * (-0.330_299_5 + s * (0.180_141_0 + s * (-0.085_133_0 + s * 0.020_835_1))));
    let quarter = if x < y { PI / 2.0 - near } else { near };
    let half = if dx < 0.0 { PI - quarter } else { quarter };
    if dy < 0.0 { -half } else { half }
}

#[cfg(test)]
mod tests {
    use super::super::shape_tables::MANY_POINTS;
    use super::*;

    #[test]
    fn the_rough_angle_is_as_good_as_it_says() {
        for step in 0..100_000 {
            let angle = PI * (f64::from(step) / 50_000.0 - 1.0);
            let (dy, dx) = angle.sin_cos();
            assert!((rough_angle(dx, dy) - dy.atan2(dx)).abs() <= 0.6 * ROUGH_ERROR, "{angle}");
        }
    }

    /// From tables or computed, and for all nodes or some, the numbers are the same.
    #[test]
    fn many_points_are_described_as_few_are() {
        let place = |i: usize| [((i * 7919) % 4001) as f64, ((i * 104_729) % 3001) as f64];
        let mut points = Array2::from_shape_fn((MANY_POINTS, 2), |(i, axis)| place(i)[axis]);
        points.row_mut(5).assign(&Array2::from_elem((1, 2), 17.0).row(0));
        points.row_mut(6).assign(&Array2::from_elem((1, 2), 17.0).row(0));
        let graph = Graph::from_points(points).unwrap();
        let context = ShapeContext::default();
        let nodes = [0, 5, 6, 700, 1999];
        let own = context.describe_nodes(&graph, &nodes).unwrap();
        let seen = graph.seen_points("test").unwrap();
        let mut expected = Array2::zeros(own.dim());
        context.spread(seen.view(), mean_distance(seen.view(), || true).unwrap(), &nodes, expected.view_mut());
        assert!((&own - &expected).iter().all(|difference| difference.abs() < 1e-6 * MANY_POINTS as f64 / 100.0));
        assert!(expected.iter().any(|count| *count > 10.0));
        assert_eq!(context.describe(&graph).unwrap().row(700), own.row(3));
    }

    #[test]
    fn sectors_are_those_of_the_angle_itself() {
        for bins in [1, 2, 5, 7, 8, 12, 10_000] {
            let width = 2.0 * PI / bins as f64;
            for step in 0..30_011 {
                let angle = PI * (f64::from(step) / 15_005.5 - 1.0) + 1e-7;
                let (dy, dx) = angle.sin_cos();
                let expected = ((dy.atan2(dx) + PI) / width).floor();
                assert_eq!(sector(dx, dy, width, bins) as f64, expected, "{angle} of {bins}");
            }
        }
    }

    #[test]
    fn borders_are_where_the_authors_have_them() {
        let width = PI / 6.0;
        let sectors = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 0.0)];
        assert_eq!(sectors.map(|(dx, dy)| sector(dx, dy, width, 12)), [6, 9, 11, 2, 6]);
    }
}

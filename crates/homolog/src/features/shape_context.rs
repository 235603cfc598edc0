//! Shape context (Belongie et al. 2002) as the authors compute it: how a node sees the other points, as counts in a polar grid.
//!
//! For node i and every other point j, context points included:
//!
//!   theta = atan2(dy, dx) + pi in [0, 2 pi],   r = distance / alpha,   alpha = mean of all N² distances, the N zeros included
//!
//! Bin = angular_bins · radial + angular; with the defaults 12 bins of pi/6 (the last takes what is left) in 5 rings with outer
//! radii 0.125, 0.25, 0.5, 1, 2. Points at r >= 2 are not counted. Raw counts, no normalisation: moving and scaling the points
//! change nothing, rotating and mirroring them do. O(N²) for alpha and O(n N) for the counts.
//!
//! Points that coincide with the node count as at angle atan2(0, 0) = 0 in the innermost ring, as in the authors' program.

use super::NodeDescriptor;
use crate::geometry::mean_distance;
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// More bins than this are a mistake in a settings file, not a descriptor.
const MAX_BINS: usize = 10_000;

/// Counts of the other points in a polar grid around each node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeContext {
    /// How many sectors.
    pub angular_bins: usize,
    /// Outer radius of each ring, over the mean distance; increasing. The first ring begins at 0.
    pub radii: Vec<f64>,
}

impl Default for ShapeContext {
    /// The paper's: 12 sectors, 5 rings, 60 numbers.
    fn default() -> Self {
        Self { angular_bins: 12, radii: vec![0.125, 0.25, 0.5, 1.0, 2.0] }
    }
}

impl NodeDescriptor for ShapeContext {
    fn names(&self) -> Vec<String> {
        let rings = 0..self.radii.len();
        rings.flat_map(|ring| (0..self.angular_bins).map(move |sector| format!("r{ring} a{sector}"))).collect()
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let points = graph.seen_points("shape context")?;
        if points.ncols() != 2 {
            let what = "coordinates of a point, for shape context";
            return Err(Error::Size { what, expected: 2, found: points.ncols() });
        }
        let alpha = mean_distance(points.view());
        let sector_width = 2.0 * PI / self.angular_bins as f64;
        let mut counts = Array2::zeros((graph.node_count(), self.angular_bins * self.radii.len()));
        for i in 0..graph.node_count() {
            for j in (0..points.nrows()).filter(|&j| j != i) {
                let (dx, dy) = (points[[j, 0]] - points[[i, 0]], points[[j, 1]] - points[[i, 1]]);
                let distance = (dx * dx + dy * dy).sqrt();
                let r = if distance == 0.0 { 0.0 } else { distance / alpha };
                let Some(ring) = self.radii.iter().position(|&radius| r < radius) else { continue };
                let sector = sector_of(dy.atan2(dx), sector_width, self.angular_bins);
                counts[[i, self.angular_bins * ring + sector]] += 1.0;
            }
        }
        Ok(counts)
    }

    fn check(&self) -> Result<()> {
        let bad = |name, value, reason| Err(Error::BadSetting { name, value, reason });
        if self.angular_bins == 0 {
            return bad("angular_bins", 0.0, "it must be 1 or more");
        }
        let mut last = 0.0;
        for &radius in &self.radii {
            if radius.is_nan() || radius <= last {
                return bad("radii", radius, "they must be positive and increasing");
            }
            last = radius;
        }
        let bins = self.angular_bins.saturating_mul(self.radii.len());
        match bins {
            0 => bad("radii", 0.0, "there must be at least one"),
            1..=MAX_BINS => Ok(()),
            _ => bad("angular_bins", self.angular_bins as f64, "that makes more than 10000 bins"),
        }
    }
}

/// The sector of a direction phi = atan2(dy, dx) in [-pi, pi]: theta = phi + pi over the width of a sector; the last one takes what is
/// left. A direction on the border of two sectors, such as straight up, goes to the one farther from the x axis's: there the
/// authors' extended precision puts it, because its pi/2 is a little more than half of a double's pi.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..bins first")]
fn sector_of(phi: f64, width: f64, bins: usize) -> usize {
    let theta = phi / width + bins as f64 / 2.0;
    let sector = if phi < 0.0 { theta.ceil() - 1.0 } else { theta.floor() };
    sector.clamp(0.0, (bins - 1) as f64) as usize
}

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

    fn dim(&self) -> usize {
        self.angular_bins.saturating_mul(self.radii.len())
    }

    fn describe(&self, graph: &Graph) -> Result<Array2<f64>> {
        let points = graph.seen_points("shape context")?;
        if points.ncols() != 2 {
            let what = "coordinates of a point, for shape context";
            return Err(Error::Size { what, expected: 2, found: points.ncols() });
        }
        let alpha = mean_distance(points.view());
        let points: Vec<[f64; 2]> = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
        let sector_width = 2.0 * PI / self.angular_bins as f64;
        let mut counts = Array2::zeros((graph.node_count(), self.dim()));
        for (i, (&[x, y], mut counts)) in points.iter().zip(counts.rows_mut()).enumerate() {
            for (_, &other) in points.iter().enumerate().filter(|&(j, _)| j != i) {
                let (dx, dy) = (other[0] - x, other[1] - y);
                let distance = (dx * dx + dy * dy).sqrt();
                let r = if distance == 0.0 { 0.0 } else { distance / alpha };
                let Some(ring) = self.radii.iter().position(|&radius| r < radius) else { continue };
                let sector = sector(dx, dy, sector_width, self.angular_bins);
                counts[self.angular_bins * ring + sector] += 1.0;
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
        match self.dim() {
            0 => bad("radii", 0.0, "there must be at least one"),
            1..=MAX_BINS => Ok(()),
            _ => bad("angular_bins", self.angular_bins as f64, "that makes more than 10000 bins"),
        }
    }
}

/// The sector of a direction phi = atan2(dy, dx): theta = phi + pi over the width of a sector; the last one takes what is left.
///
/// A direction on the border of two sectors, such as straight up, goes to the one farther from the positive x axis: there the
/// authors' extended precision puts it, because its pi/2 is a little more than half of a double's pi.
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
    use super::*;

    #[test]
    fn the_rough_angle_is_as_good_as_it_says() {
        for step in 0..100_000 {
            let angle = PI * (f64::from(step) / 50_000.0 - 1.0);
            let (dy, dx) = angle.sin_cos();
            assert!((rough_angle(dx, dy) - dy.atan2(dx)).abs() <= 0.6 * ROUGH_ERROR, "{angle}");
        }
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

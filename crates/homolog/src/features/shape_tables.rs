//! Soft bins of thousands of points in the plane (`shape_context`): what a point sees of another is read from tables by log distance and by
//! direction, right to 1e-8, eight points at a time.
//!
//! A direction is its sector and where in the sector it is. The second decides the shares; the sector only by how far they are turned, so that
//! counts are kept apart by sector, and turned and added at the end.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::polar::{self, LANES, Lanes};
use super::shape_context::{ANGULAR_WIDTH, RADIAL_WIDTH, ShapeContext};
use super::soft_bins::Grid;
use std::array::from_fn;
use std::f64::consts::PI;

/// With this many points or more, soft bins in the plane are read from tables.
pub(super) const MANY_POINTS: usize = 2000;
/// The most counts that are kept apart by sector.
const MOST_COUNTS: usize = 1 << 16;

/// The tables.
pub(super) struct Tables {
    rings: Grid,
    sectors: Grid,
    bins: usize,
}

impl Tables {
    /// `None` where shares are computed: few points, hard bins or nearly so, very many bins.
    pub(super) fn of(context: &ShapeContext, point_count: usize) -> Option<Self> {
        let bins = context.angular_bins;
        if point_count < MANY_POINTS || bins * bins * context.radii.len() > MOST_COUNTS {
            return None;
        }
        let log_radii: Vec<f64> = context.radii.iter().map(|radius| radius.ln()).collect();
        let rings = Grid::of_rings(&log_radii, RADIAL_WIDTH * context.softness)?;
        let sectors = Grid::of_sectors(bins, ANGULAR_WIDTH * context.softness)?;
        Some(Self { rings, sectors, bins })
    }

    /// Adds what point i sees of the others; `alpha` is the mean distance.
    pub(super) fn spread(&self, points: &[[f64; 2]], i: usize, alpha: f64, counts: &mut [f64]) {
        pulp::Arch::new().dispatch(Spread { tables: self, points, i, alpha, counts });
    }
}

struct Spread<'a> {
    tables: &'a Tables,
    points: &'a [[f64; 2]],
    i: usize,
    alpha: f64,
    counts: &'a mut [f64],
}

impl pulp::WithSimd for Spread<'_> {
    type Output = ();

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sector")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { tables: Tables { rings, sectors, bins }, points, i, alpha, counts } = self;
        let (bins, count) = (*bins, counts.len());
        let (mut ring_shares, mut shares) = (vec![0.0; rings.width()], vec![0.0; sectors.width()]);
        let mut apart = vec![0.0; bins * count];
        let ([x, y], per_radian) = (points[i], bins as f64 / (2.0 * PI));
        // If all points coincide, any unit will do.
        let unit = if alpha > 0.0 { alpha } else { 1.0 };
        for (block, others) in points.chunks(LANES).enumerate() {
            let other = |lane: usize| others[if lane < others.len() { lane } else { 0 }];
            let dx: Lanes = from_fn(|lane| (other(lane)[0] - x) / unit);
            let dy: Lanes = from_fn(|lane| (other(lane)[1] - y) / unit);
            let square: Lanes = from_fn(|lane| dx[lane] * dx[lane] + dy[lane] * dy[lane]);
            let near = rings.places(&polar::ln(&square).map(|log| 0.5 * log));
            let theta = polar::angle(&dx, &dy).map(|angle| (angle + PI) * per_radian);
            let sector = theta.map(f64::floor);
            let within = sectors.places(&from_fn(|lane| theta[lane] - sector[lane]));
            for lane in (0..others.len()).filter(|lane| block * LANES + lane != i) {
                rings.read(&near, lane, &mut ring_shares);
                let mut first = 0;
                if square[lane] == 0.0 {
                    // Points that coincide are shared evenly among the sectors.
                    shares.fill(1.0 / bins as f64);
                } else {
                    sectors.read(&within, lane, &mut shares);
                    // The last direction is the first again.
                    first = sector[lane] as u32 as usize % bins;
                }
                for (counts, ring) in apart[first * count..][..count].chunks_exact_mut(bins).zip(&ring_shares) {
                    counts.iter_mut().zip(&shares).for_each(|(count, share)| *count += ring * share);
                }
            }
        }
        for (first, apart) in apart.chunks_exact(count).enumerate() {
            for (counts, apart) in counts.chunks_exact_mut(bins).zip(apart.chunks_exact(bins)) {
                // The share of sector a is that of sector a - first for a direction in the first sector.
                apart.iter().enumerate().for_each(|(a, share)| counts[(a + first) % bins] += share);
            }
        }
    }
}

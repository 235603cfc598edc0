//! Bins without hard borders: instead of counting in the one bin it falls in, a neighbour is spread by a Gaussian around its position, and
//! each bin gets its share. A point that moves a little then changes every number a little, where a hard bin jumps by one.
//!
//!   ring k from radius R_(k-1) to R_k:   Phi((ln R_k - ln r) / σ_r) - Phi((ln R_(k-1) - ln r) / σ_r),  R_0 = 0
//!   sector a, angles in sectors:         Phi((a + 1 - theta) / σ_a) - Phi((a - theta) / σ_a), added up over full turns
//!   in space, direction d of many:       exp(-(angle to d)² / (2 σ_d²)), over the sum for all directions
//!
//! with Phi the normal distribution function. As the widths go to zero these become hard bins. As with those, what lies beyond the last
//! radius is lost. For thousands of points the shares are read from a [`Grid`] instead, right to 1e-8.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::polar::{LANES, Lanes};
use std::array::from_fn;
use std::f64::consts::{PI, SQRT_2};

/// Beyond this many widths nothing is left of a Gaussian: 2e-9.
const REACH: f64 = 6.0;

/// The normal distribution function.
fn normal(x: f64) -> f64 {
    match x {
        x if x > REACH => 1.0,
        x if x < -REACH => 0.0,
        x => 0.5 * (1.0 + libm::erf(x / SQRT_2)),
    }
}

/// Writes the share of each ring for a point with this log distance; minus infinity is the centre.
pub(super) fn ring_shares(log_r: f64, log_radii: &[f64], width: f64, shares: &mut [f64]) {
    let mut inside = 0.0;
    for (share, log_radius) in shares.iter_mut().zip(log_radii) {
        let here = normal((log_radius - log_r) / width);
        *share = here - inside;
        inside = here;
    }
}

/// Writes the share of each sector for a direction, both counted in sectors from 0.
#[expect(clippy::cast_possible_truncation, reason = "a few full turns of the sectors")]
pub(super) fn sector_shares(theta: f64, width: f64, shares: &mut [f64]) {
    shares.fill(0.0);
    let bins = shares.len().cast_signed();
    let reach = REACH * width;
    let (first, last) = ((theta - reach).floor() as isize, (theta + reach).ceil() as isize);
    let mut before = 0.0;
    let mut at = first.rem_euclid(bins).cast_unsigned();
    for sector in first..last {
        let here = normal((sector as f64 + 1.0 - theta) / width);
        shares[at] += here - before;
        before = here;
        at = if at + 1 == shares.len() { 0 } else { at + 1 };
    }
}

/// Writes the share of each direction on the sphere for a unit vector; with width 0 the nearest gets everything.
pub(super) fn direction_shares(unit: [f64; 3], directions: &[[f64; 3]], width: f64, shares: &mut [f64]) {
    let cosine = |other: &[f64; 3]| unit[0] * other[0] + unit[1] * other[1] + unit[2] * other[2];
    if width == 0.0 {
        shares.fill(0.0);
        let mut best = 0;
        for (at, direction) in directions.iter().enumerate() {
            if cosine(direction) > cosine(&directions[best]) {
                best = at;
            }
        }
        shares[best] = 1.0;
        return;
    }
    // Relative to the nearest direction, so that the sum is never zero.
    let nearest = directions.iter().map(cosine).fold(-1.0, f64::max).min(1.0).acos();
    let mut sum = 0.0;
    for (share, direction) in shares.iter_mut().zip(directions) {
        let angle = cosine(direction).clamp(-1.0, 1.0).acos();
        *share = ((nearest * nearest - angle * angle) / (2.0 * width * width)).exp();
        sum += *share;
    }
    shares.iter_mut().for_each(|share| *share /= sum);
}

/// This many directions, spread roughly evenly over the sphere: a Fibonacci spiral from pole to pole.
pub(super) fn directions(count: usize) -> Vec<[f64; 3]> {
    let golden_angle = PI * (1.0 + 5.0_f64.sqrt());
    let direction = |number: usize| {
        let place = number as f64 + 0.5;
        let z = 1.0 - 2.0 * place / count as f64;
        let (sine, cosine) = (golden_angle * place).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        [radius * cosine, radius * sine, z]
    };
    (0..count).map(direction).collect()
}

/// Shares tabulated at even steps of a number, and interpolated by cubics in between.
pub(super) struct Grid {
    first: f64,
    steps_per_unit: f64,
    last_step: f64,
    /// A whole number of vectors.
    width: usize,
    /// One row per step, with one more before the first and two after the last.
    rows: Vec<f64>,
}

/// Columns are filled up with zeros to a multiple of this.
const VECTOR: usize = 4;
/// Steps per width of a Gaussian: the cubics are then off by 1e-10.
const STEPS_PER_WIDTH: f64 = 64.0;
/// Narrower Gaussians than this, in units of the tabulated number, would need large tables.
const NARROWEST: f64 = 0.02;

impl Grid {
    /// The shares of rings by log distance; `None` if the table would be too large.
    pub(super) fn of_rings(log_radii: &[f64], width: f64) -> Option<Self> {
        let (first, last) = (log_radii.first()? - REACH * width, log_radii.last()? + REACH * width);
        Self::new([first, last], width, log_radii.len(), |log_r, shares| ring_shares(log_r, log_radii, width, shares))
    }

    /// The shares of sectors for directions in the first sector; `None` if the table would be too large.
    pub(super) fn of_sectors(bins: usize, width: f64) -> Option<Self> {
        Self::new([0.0, 1.0], width, bins, |theta, shares| sector_shares(theta, width, shares))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand steps")]
    fn new([first, last]: [f64; 2], width: f64, columns: usize, write: impl Fn(f64, &mut [f64])) -> Option<Self> {
        let narrow = NARROWEST * (last - first).max(1.0);
        if width < narrow || columns == 0 {
            return None;
        }
        let last_step = ((last - first) / width * STEPS_PER_WIDTH).ceil().max(STEPS_PER_WIDTH);
        let steps_per_unit = last_step / (last - first);
        let width = columns.next_multiple_of(VECTOR);
        let mut rows = vec![0.0; (last_step as usize + 4) * width];
        for (step, row) in rows.chunks_exact_mut(width).enumerate() {
            write(first + (step as f64 - 1.0) / steps_per_unit, &mut row[..columns]);
        }
        Some(Self { first, steps_per_unit, last_step, width, rows })
    }

    /// How many numbers are read at a time: the shares, and zeros up to a whole number of vectors.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Where the shares at some numbers are; below the first or beyond the last they are as there.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last step")]
    #[inline(always)]
    pub(super) fn places(&self, numbers: &Lanes) -> Places {
        let step: Lanes = from_fn(|lane| {
            let step = (numbers[lane] - self.first) * self.steps_per_unit;
            let step = if step > 0.0 { step } else { 0.0 };
            if step < self.last_step { step } else { self.last_step }
        });
        let whole = step.map(f64::floor);
        let t: Lanes = from_fn(|lane| step[lane] - whole[lane]);
        let weights = [
            t.map(|t| -t * (t - 1.0) * (t - 2.0) * (1.0 / 6.0)),
            t.map(|t| (t + 1.0) * (t - 1.0) * (t - 2.0) * 0.5),
            t.map(|t| -(t + 1.0) * t * (t - 2.0) * 0.5),
            t.map(|t| (t + 1.0) * t * (t - 1.0) * (1.0 / 6.0)),
        ];
        Places { rows: whole.map(|whole| whole as u32), weights }
    }

    /// Writes the shares at one of the numbers, [`Self::width`] of them.
    #[inline(always)]
    pub(super) fn read(&self, places: &Places, lane: usize, shares: &mut [f64]) {
        let rows = &self.rows[places.rows[lane] as usize * self.width..][..4 * self.width];
        let (rows, across) = (rows.as_chunks::<VECTOR>().0, self.width / VECTOR);
        let [p, q, r, s] = places.weights.map(|weights| weights[lane]);
        for (at, shares) in shares.as_chunks_mut::<VECTOR>().0[..across].iter_mut().enumerate() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|row| &rows[row * across + at]);
            *shares = from_fn(|k| (p * a[k] + q * b[k]) + (r * c[k] + s * d[k]));
        }
    }
}

/// The four rows of a grid around some numbers: the first of them, and the weights of all four.
pub(super) struct Places {
    rows: [u32; LANES],
    weights: [Lanes; 4],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_become_hard_bins() {
        let log_radii = [0.5_f64.ln(), 0.0, 1e30_f64.ln()];
        for step in 0..200 {
            let (theta, log_r) = (0.06 * f64::from(step), 0.02 * f64::from(step) - 3.003);
            for width in [1e-9, 0.3, 0.8, 3.0, 40.0] {
                let (mut rings, mut sectors) = ([f64::NAN; 3], [f64::NAN; 12]);
                ring_shares(log_r, &log_radii, width, &mut rings);
                sector_shares(theta + 0.001, width, &mut sectors);
                assert!((sectors.iter().sum::<f64>() - 1.0).abs() < 1e-8, "{theta} {width}");
                assert!(width > 10.0 || (rings.iter().sum::<f64>() - 1.0).abs() < 1e-8, "{log_r} {width}");
                if width == 1e-9 {
                    assert_eq!(
                        rings,
                        [log_r < log_radii[0], log_r >= log_radii[0] && log_r < 0.0, log_r >= 0.0].map(f64::from)
                    );
                    assert_eq!(
                        sectors.iter().position(|&share| share == 1.0),
                        (0..12).rposition(|sector| f64::from(sector) <= theta + 0.001)
                    );
                }
            }
        }
        let mut sectors = [0.0; 7];
        sector_shares(3.2, 1000.0, &mut sectors);
        assert!(sectors.iter().all(|share| (share - 1.0 / 7.0).abs() < 1e-4), "{sectors:?}");
    }

    #[test]
    fn grids_give_the_same_shares() {
        let log_radii = [0.125_f64, 0.25, 0.5, 1.0, 2.0].map(f64::ln);
        for width in [0.3, 0.45, 0.8, 2.0] {
            let (rings, sectors) = (Grid::of_rings(&log_radii, width).unwrap(), Grid::of_sectors(7, width).unwrap());
            for step in 0..3000_u16 {
                let (log_r, theta) = (0.01 * f64::from(step) - 20.0, f64::from(step) / 2999.0);
                let (mut own, mut expected) = ([f64::NAN; 8], [f64::NAN; 5]);
                rings.read(&rings.places(&[log_r; LANES]), usize::from(step) % LANES, &mut own);
                ring_shares(log_r, &log_radii, width, &mut expected);
                assert!(own.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-8), "{own:?} {expected:?}");
                let (mut own, mut expected) = ([f64::NAN; 8], [f64::NAN; 7]);
                sectors.read(&sectors.places(&[theta; LANES]), usize::from(step) % LANES, &mut own);
                sector_shares(theta, width, &mut expected);
                assert!(own.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-8), "{own:?} {expected:?}");
            }
            let mut centre = [f64::NAN; 8];
            rings.read(&rings.places(&[f64::NEG_INFINITY; LANES]), 0, &mut centre);
            assert!((centre[0] - 1.0).abs() < 1e-8);
        }
        assert!(Grid::of_sectors(12, 1e-3).is_none() && Grid::of_rings(&log_radii, 1e-3).is_none());
    }

    #[test]
    fn directions_are_spread_evenly_and_share_what_is_near() {
        for count in [1, 2, 12, 60] {
            let all = directions(count);
            for (number, &one) in all.iter().enumerate() {
                let mut shares = vec![f64::NAN; count];
                for width in [0.0, 1e-3, 0.8] {
                    direction_shares(one, &all, width, &mut shares);
                    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(shares.iter().all(|&share| share <= shares[number]), "{count} {number} {width}");
                }
            }
            // The mean of all directions is near the centre of the sphere.
            let mean = |axis: usize| all.iter().map(|direction| direction[axis]).sum::<f64>() / count as f64;
            assert!(count < 12 || (0..3).all(|axis| mean(axis).abs() < 0.1));
        }
    }
}

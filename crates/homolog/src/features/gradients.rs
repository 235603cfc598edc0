//! Local gradient orientations, after Lowe's SIFT and Dalal and Triggs' HOG: which way brightness rises around a point, as sums of
//! gradient magnitudes in cells × cells squares, by direction.
//!
//! The square of half-width `radius` around the point is sampled on a grid of 24 × 24; each sample's gradient is shared linearly
//! between the two nearest directions and the four nearest cells. The numbers are scaled to length 1, cut off at 0.25, and scaled
//! to a root mean square of SIZE, so that lighting and contrast do not matter and one strong edge does not drown out the rest.
//!
//! Not invariant to rotation or scaling. O(576) for each point, whatever the radius.

use super::image_descriptor::SIZE;
use crate::geometry::GreyImage;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Samples along each axis.
const SAMPLES: usize = 24;
/// The most that one number may be of the total length: near Lowe's 0.2.
const CUT: f64 = 0.25;

/// Gradient orientations by position around the point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gradients {
    /// Half the width of the square around the point, in pixels.
    pub radius: f64,
    /// Squares along each axis.
    pub cells: usize,
    /// Directions between 0 and 360°.
    pub directions: usize,
}

impl Default for Gradients {
    /// SIFT's 4 × 4 × 8. A wide view was best on validation: parts of an object about a hundred pixels wide.
    fn default() -> Self {
        Self { radius: 64.0, cells: 4, directions: 8 }
    }
}

impl Gradients {
    pub(super) fn names(&self) -> Vec<String> {
        let Self { radius, cells, directions } = *self;
        let name = |number: usize| {
            let (cell, direction) = (number / directions, number % directions);
            format!("gradients {radius} y{} x{} d{direction}", cell / cells, cell % cells)
        };
        (0..cells * cells * directions).map(name).collect()
    }

    pub(super) fn describe(&self, image: GreyImage<'_>, x: f64, y: f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.cells * self.cells * self.directions];
        let step = 2.0 * self.radius / SAMPLES as f64;
        let reach = (step / 2.0).max(1.0);
        for sample in 0..SAMPLES * SAMPLES {
            let place = |number: usize| step * (number as f64 + 0.5) - self.radius;
            let (dx, dy) = (place(sample % SAMPLES), place(sample / SAMPLES));
            let (px, py) = (x + dx, y + dy);
            let right = image.level_at(px + reach, py) - image.level_at(px - reach, py);
            let down = image.level_at(px, py + reach) - image.level_at(px, py - reach);
            if right != 0.0 || down != 0.0 {
                self.add(&mut sums, (dx, dy), (right, down));
            }
        }
        scale_to(&mut sums, 1.0);
        sums.iter_mut().for_each(|sum| *sum = sum.min(CUT));
        let length = SIZE * (sums.len() as f64).sqrt();
        scale_to(&mut sums, length);
        sums
    }

    /// Shares the magnitude of a gradient between the nearest cells and directions.
    fn add(&self, sums: &mut [f64], (dx, dy): (f64, f64), (right, down): (f64, f64)) {
        let cell = |offset: f64| shares((offset + self.radius) / (2.0 * self.radius) * self.cells as f64 - 0.5);
        let turn = down.atan2(right).rem_euclid(TAU) / TAU * self.directions as f64;
        for (row, of_row) in cell(dy) {
            for (column, of_column) in cell(dx) {
                let (Some(row), Some(column)) = (below(row, self.cells), below(column, self.cells)) else { continue };
                for (direction, of_direction) in shares(turn) {
                    let direction = direction.rem_euclid(self.directions.cast_signed()).cast_unsigned();
                    let at = (row * self.cells + column) * self.directions + direction;
                    sums[at] += right.hypot(down) * of_row * of_column * of_direction;
                }
            }
        }
    }
}

/// The whole numbers on either side, with shares that fall linearly with the distance.
#[expect(clippy::cast_possible_truncation, reason = "a number of cells or directions")]
fn shares(place: f64) -> [(isize, f64); 2] {
    let low = place.floor();
    [(low as isize, 1.0 - (place - low)), (low as isize + 1, place - low)]
}

/// The number, if it is in 0..count.
fn below(number: isize, count: usize) -> Option<usize> {
    usize::try_from(number).ok().filter(|&number| number < count)
}

/// Scales the numbers to a given length; all zeros stay zeros.
fn scale_to(numbers: &mut [f64], length: f64) {
    let square: f64 = numbers.iter().map(|number| number * number).sum();
    if square > 0.0 {
        numbers.iter_mut().for_each(|number| *number *= length / square.sqrt());
    }
}

//! A small grey picture of a point's surroundings, contrast-normalised: the mean grey level v_c of each of the cells × cells squares that
//! make up the square of half-width `radius` around the point, as
//!
//!   SIZE · (v_c - mean) / (standard deviation + 5)
//!
//! Brighter or darker light and more or less contrast change little; the 5 grey levels keep noise small in flat places. Beyond the
//! border of the image its last pixels are repeated. Rotating the image rotates the patch: it is not invariant.

use super::image_descriptor::SIZE;
use crate::geometry::GreyImage;
use serde::{Deserialize, Serialize};

/// Contrast in grey levels that counts as noise.
const NOISE: f64 = 5.0;

/// A small grey picture of the surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Patch {
    /// Half the width of the square around the point, in pixels.
    pub radius: f64,
    /// Squares along each axis.
    pub cells: usize,
}

impl Default for Patch {
    /// 18 pixels of the image in 9 cells along each axis.
    fn default() -> Self {
        Self { radius: 9.0, cells: 9 }
    }
}

impl Patch {
    pub(super) fn names(&self) -> Vec<String> {
        let Self { radius, cells } = *self;
        (0..cells * cells).map(|cell| format!("patch {radius} y{} x{}", cell / cells, cell % cells)).collect()
    }

    pub(super) fn describe(&self, image: GreyImage<'_>, x: f64, y: f64) -> Vec<f64> {
        let side = 2.0 * self.radius / self.cells as f64;
        // At least one sample for every two pixels.
        let samples = (1..64).find(|&samples| f64::from(samples) >= side / 2.0).unwrap_or(64);
        let place = |cell: usize, sample: i32| {
            side * (cell as f64 + (f64::from(sample) + 0.5) / f64::from(samples)) - self.radius
        };
        let mean_level = |cell: usize| {
            let (row, column) = (cell / self.cells, cell % self.cells);
            let grid = (0..samples * samples).map(|s| (place(column, s % samples), place(row, s / samples)));
            grid.map(|(dx, dy)| image.level_at(x + dx, y + dy)).sum::<f64>() / f64::from(samples * samples)
        };
        let levels: Vec<f64> = (0..self.cells * self.cells).map(mean_level).collect();
        let mean = levels.iter().sum::<f64>() / levels.len() as f64;
        let variance = levels.iter().map(|level| (level - mean).powi(2)).sum::<f64>() / levels.len() as f64;
        levels.iter().map(|level| SIZE * (level - mean) / (variance.sqrt() + NOISE)).collect()
    }
}

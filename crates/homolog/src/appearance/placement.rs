//! [`Placement`]: a similarity of the plane in complex numbers, z -> f z + t: a rotation by arg f, a scale |f|, a shift t.

use crate::Result;
use crate::geometry::Similarity;
use ndarray::Array2;

/// z -> factor · z + shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    pub(super) factor: [f64; 2],
    pub(super) shift: [f64; 2],
}

impl Placement {
    pub(super) fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [c, s] = self.factor;
        [c * x - s * y + self.shift[0], s * x + c * y + self.shift[1]]
    }

    pub(super) fn scale(&self) -> f64 {
        self.factor[0].hypot(self.factor[1])
    }

    /// In radians.
    pub(super) fn angle(&self) -> f64 {
        self.factor[1].atan2(self.factor[0])
    }

    pub(super) fn inverse(&self) -> Self {
        let square = self.factor[0].powi(2) + self.factor[1].powi(2);
        let factor = [self.factor[0] / square, -self.factor[1] / square];
        let back = Self { factor, shift: [0.0; 2] }.apply(self.shift);
        Self { factor, shift: [-back[0], -back[1]] }
    }

    /// The same for coordinates in another unit: `unit` times as long.
    pub(super) fn in_units(&self, unit: f64) -> Self {
        Self { factor: self.factor.map(|part| part * unit), shift: self.shift }
    }

    /// The best one from `from` to `to`, weighted.
    pub(super) fn fit(from: &[[f64; 2]], to: &[[f64; 2]], weights: &[f64]) -> Result<Self> {
        let table = |places: &[[f64; 2]]| Array2::from_shape_fn((places.len(), 2), |(row, axis)| places[row][axis]);
        let fit = Similarity::fit(table(from).view(), table(to).view(), Some(weights), false)?;
        let factor = [fit.scale * fit.rotation[[0, 0]], fit.scale * fit.rotation[[1, 0]]];
        Ok(Self { factor, shift: [fit.shift[0], fit.shift[1]] })
    }
}

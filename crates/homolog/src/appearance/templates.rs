//! One linear template per landmark and level, with a covariance that all landmarks share (Fisher's discriminant).
//!
//! With μ0 and Σ the mean and covariance of descriptors at random places, Σλ = Σ + 0.1 · (tr Σ / 225) · 1, and δ_i the mean descriptor at
//! landmark i minus μ0,
//!
//!   w_i = Σλ⁻¹ δ_i / (δ_i' Σλ⁻¹ δ_i),     response r_i(z) = w_i' (x(z) - μ0)
//!
//! is 1 at the landmark and 0 elsewhere in expectation, so that landmarks and levels share a scale. Counts, sums and products add up over
//! pictures.

use super::descriptor::{Fields, NUMBERS};
use super::picture::{Plane, Rectangle};
use super::rows;
use crate::linalg::{cholesky, solve};
use crate::{Control, Result};
use ndarray::{Array1, Array2, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Random places per picture.
const PLACES: usize = 2000;
/// The share of the mean variance that is added to every variance.
const RIDGE: f64 = 0.1;

/// What adds up over pictures: descriptors at random places.
#[derive(Debug, Clone)]
pub(super) struct Background {
    count: f64,
    sum: Array1<f64>,
    products: Array2<f64>,
}

impl Background {
    pub(super) fn none() -> Self {
        Self { count: 0.0, sum: Array1::zeros(NUMBERS), products: Array2::zeros((NUMBERS, NUMBERS)) }
    }

    /// Of random places in a rectangle.
    pub(super) fn of(fields: &Fields, rectangle: Rectangle, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut all = Array2::<f32>::zeros((PLACES, NUMBERS));
        for mut row in all.rows_mut() {
            let x = rectangle.left + random.random_range(0..rectangle.width().max(1)).cast_signed();
            let y = rectangle.top + random.random_range(0..rectangle.height().max(1)).cast_signed();
            if let Some(numbers) = row.as_slice_mut() {
                fields.describe_pixel([x, y], numbers);
            }
        }
        let sum = all.mapv(f64::from).sum_axis(Axis(0));
        Self { count: PLACES as f64, sum, products: all.t().dot(&all).mapv(f64::from) }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += &other.sum;
        self.products += &other.products;
    }
}

/// The templates of all landmarks at one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Templates {
    /// w_i, one row per landmark.
    #[serde(with = "rows")]
    weights: Array2<f32>,
    /// w_i' μ0.
    offsets: Vec<f32>,
}

impl Templates {
    /// From the mean descriptor of each landmark, one row each.
    #[expect(clippy::cast_possible_truncation, reason = "templates are stored as f32")]
    pub(super) fn new(background: &Background, looks: &Array2<f64>) -> Self {
        let mean = &background.sum / background.count.max(1.0);
        let mut covariance = &background.products / background.count.max(1.0);
        for ((i, j), value) in covariance.indexed_iter_mut() {
            *value -= mean[i] * mean[j];
        }
        // Where every picture is blank there is no variance at all.
        let ridge = (RIDGE * covariance.diag().sum() / NUMBERS as f64).max(1e-9);
        covariance.diag_mut().mapv_inplace(|variance| variance + ridge);
        let mut factor: Vec<f64> = covariance.iter().copied().collect();
        cholesky(&mut factor, NUMBERS);
        let (mut weights, mut offsets) = (Array2::zeros(looks.dim()), Vec::new());
        for (look, mut row) in looks.rows().into_iter().zip(weights.rows_mut()) {
            let difference = &look - &mean;
            let mut solved = difference.to_vec();
            solve(&factor, &mut solved);
            let solved = Array1::from(solved);
            let length = difference.dot(&solved);
            let own = if length > 0.0 { solved / length } else { solved };
            offsets.push(own.dot(&mean) as f32);
            row.assign(&own.mapv(|weight| weight as f32));
        }
        Self { weights, offsets }
    }

    /// How many landmarks, if the sizes agree and all numbers are finite.
    pub(super) fn landmarks(&self) -> Option<usize> {
        let finite = self.weights.iter().chain(&self.offsets).all(|number| number.is_finite());
        let agree = self.weights.nrows() == self.offsets.len() && self.weights.ncols() == NUMBERS;
        (finite && agree).then_some(self.offsets.len())
    }

    /// The responses of all landmarks in a rectangle.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn respond(&self, fields: &Fields, rectangle: Rectangle, control: &Control) -> Result<Vec<Plane>> {
        let products = fields.products(&self.weights, rectangle, control)?;
        Ok(products.iter().zip(&self.offsets).map(|(plane, offset)| plane.map(|value| value - offset)).collect())
    }

    /// The response of one landmark in a rectangle.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn respond_one(
        &self,
        landmark: usize,
        fields: &Fields,
        rectangle: Rectangle,
        control: &Control,
    ) -> Result<Plane> {
        let own = self.weights.select(Axis(0), &[landmark]);
        let offset = self.offsets[landmark];
        let mut products = fields.products(&own, rectangle, control)?;
        Ok(products.remove(0).map(|value| value - offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_one_at_its_landmark_and_zero_on_average() {
        let values: Vec<f32> = (0..90 * 90).map(|at: u32| (at * at % 127 + at % 90 / 3) as f32 / 160.0).collect();
        let rectangle = Rectangle { left: 0, top: 0, right: 89, bottom: 89 };
        let fields = Fields::new(&Plane { width: 90, height: 90, values }, rectangle, &Control::new()).unwrap();
        let background = Background::of(&fields, rectangle, 0);
        let looks = [[30.0, 40.0], [61.0, 22.0]].map(|place| Array1::from(fields.describe(place)).mapv(f64::from));
        let looks = ndarray::stack(Axis(0), &[looks[0].view(), looks[1].view()]).unwrap();
        let templates = Templates::new(&background, &looks);
        let planes = templates.respond(&fields, rectangle, &Control::new()).unwrap();
        assert!((planes[0].row(40)[30] - 1.0).abs() < 1e-3 && (planes[1].row(22)[61] - 1.0).abs() < 1e-3);
        for (landmark, plane) in planes.iter().enumerate() {
            let mean = plane.values.iter().sum::<f32>() / 8100.0;
            assert!(mean.abs() < 0.05, "{mean}");
            let one = templates.respond_one(landmark, &fields, rectangle, &Control::new()).unwrap();
            assert!(one.values.iter().zip(&plane.values).all(|(a, b)| (a - b).abs() < 1e-4));
        }
        let text = serde_json::to_string(&templates).unwrap();
        assert_eq!(serde_json::from_str::<Templates>(&text).unwrap(), templates);
    }
}

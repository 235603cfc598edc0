//! [`Gaussian`]: where something is expected and how certainly, in one, two or three dimensions; and its log-density as an inner product.
//!
//! With P the precision (the inverse of the covariance) and μ the mean,
//!
//!   log N(x; μ, P) + (d/2) log 2π = ½ log det P - ½ μ'Pμ  +  Σ_p (Pμ)_p · x_p  -  Σ_(p<=q) c_pq P_pq · x_p x_q,   c = ½ if p = q, else 1
//!
//! an inner product of the Gaussian's coefficients with the monomials 1, x_p, x_p x_q of the point: 3 in one dimension, 6 in the plane,
//! 10 in space. The difference of two log-densities is also one, with the same monomials.

use crate::linalg::{Square, inverse_and_log_det};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A normal distribution learned from specimens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Gaussian {
    /// Where it is expected.
    pub mean: Vec<f64>,
    /// The inverse of the covariance: its upper triangle, row by row (xx, xy, yy in the plane).
    pub precision: Vec<f64>,
    /// How many specimens it rests on.
    pub specimens: usize,
}

impl Gaussian {
    /// From a mean and a covariance; `None` if that is not positive definite.
    pub(super) fn new(mean: Vec<f64>, covariance: &Square, specimens: usize) -> Option<Self> {
        let (inverse, _) = inverse_and_log_det(covariance, mean.len())?;
        let precision = pairs(mean.len()).map(|(p, q)| inverse[p][q]).collect();
        Some(Self { mean, precision, specimens })
    }

    /// How many coordinates it has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// The covariance matrix.
    #[must_use]
    pub fn covariance(&self) -> Array2<f64> {
        let d = self.dimension();
        let square = self.covariance_square();
        Array2::from_shape_fn((d, d), |(p, q)| square[p][q])
    }

    /// The covariance; the precision was checked to be positive definite.
    pub(super) fn covariance_square(&self) -> Square {
        inverse_and_log_det(&self.precision_square(), self.dimension())
            .map_or_else(Square::default, |(inverse, _)| inverse)
    }

    fn precision_square(&self) -> Square {
        let mut square = Square::default();
        for (&value, (p, q)) in self.precision.iter().zip(pairs(self.dimension())) {
            (square[p][q], square[q][p]) = (value, value);
        }
        square
    }

    /// The logarithm of the determinant of the precision.
    pub(super) fn log_det_precision(&self) -> f64 {
        inverse_and_log_det(&self.precision_square(), self.dimension()).map_or(0.0, |(_, log_det)| log_det)
    }

    /// The same with this much additional variance along every axis.
    pub(super) fn widened(&self, variance: f64) -> Self {
        let mut covariance = self.covariance_square();
        (0..self.dimension()).for_each(|p| covariance[p][p] += variance);
        Self::new(self.mean.clone(), &covariance, self.specimens).unwrap_or_else(|| self.clone())
    }

    /// The numbers whose inner product with [`monomials`] is the log-density, up to (d/2) log 2π.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let square = self.precision_square();
        let d = self.dimension();
        let pulled: Vec<f64> = (0..d).map(|p| (0..d).map(|q| square[p][q] * self.mean[q]).sum()).collect();
        let log_det = self.log_det_precision();
        let reach: f64 = self.mean.iter().zip(&pulled).map(|(a, b)| a * b).sum();
        let squares =
            self.precision.iter().zip(pairs(d)).map(|(value, (p, q))| if p == q { -0.5 * value } else { -value });
        std::iter::once(0.5 * (log_det - reach)).chain(pulled.iter().copied()).chain(squares).collect()
    }

    /// Whether it is valid: sizes that agree, finite numbers, a positive definite precision.
    pub(super) fn check(&self, what: &'static str, dimension: usize) -> Result<()> {
        for (expected, found) in [(dimension, self.mean.len()), (dimension * (dimension + 1) / 2, self.precision.len())]
        {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let numbers = self.mean.iter().chain(&self.precision);
        if let Some((index, &value)) = numbers.enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(Error::BadEntry { what, index, value });
        }
        if inverse_and_log_det(&self.precision_square(), dimension).is_none() {
            return Err(Error::BadEntry { what, index: dimension, value: self.precision[0] });
        }
        Ok(())
    }
}

/// 1, x_p, x_p x_q (p <= q).
pub(super) fn monomials(x: &[f64]) -> impl Iterator<Item = f64> {
    let squares = pairs(x.len()).map(|(p, q)| x[p] * x[q]);
    std::iter::once(1.0).chain(x.iter().copied()).chain(squares)
}

/// How many monomials there are in this many coordinates.
pub(super) fn monomial_count(dimension: usize) -> usize {
    1 + dimension + dimension * (dimension + 1) / 2
}

fn pairs(dimension: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dimension).flat_map(move |p| (p..dimension).map(move |q| (p, q)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_product_is_the_log_density() {
        let covariance = [[0.04, 0.01, 0.0], [0.01, 0.09, 0.0], [0.0; 3]];
        let gaussian = Gaussian::new(vec![0.5, -1.0], &covariance, 7).unwrap();
        assert!((gaussian.covariance()[[0, 1]] - 0.01).abs() < 1e-15);
        let (inverse, log_det) = inverse_and_log_det(&covariance, 2).unwrap();
        let off = [0.3 - 0.5, -0.7 + 1.0];
        let square: f64 =
            (0..2).flat_map(|p| (0..2).map(move |q| (p, q))).map(|(p, q)| off[p] * inverse[p][q] * off[q]).sum();
        let product: f64 = gaussian.coefficients().iter().zip(monomials(&[0.3, -0.7])).map(|(a, b)| a * b).sum();
        assert!((-0.5 * (square + log_det) - product).abs() < 1e-12);
        assert_eq!(gaussian.coefficients().len(), monomial_count(2));
    }
}

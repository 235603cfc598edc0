//! The similarity x -> s R x + t that best maps one list of points onto another (Procrustes): least squares over scale s, rotation
//! R and shift t, in the plane or in space.
//!
//!   minimise Σ_i w_i |s R a_i + t - b_i|²
//!
//! With the weighted means ā and b̄ subtracted and M = Σ_i w_i b_i a_i', the best R maximises tr(R'M): with M = U S V', R = U V', or,
//! if a mirror image is not allowed and det(U V') < 0, with the last column of U negated (Kabsch, Umeyama). Then
//! s = tr(R'M) / Σ_i w_i |a_i|² and t = b̄ - s R ā. O(n). Points without a correspondence are simply not in the lists.

use super::{check_finite, to_unit_range};
use crate::linalg::singular_vectors;
use crate::{Error, Result};
use ndarray::{Array1, Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// x -> scale · rotation · x + shift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// An orthogonal matrix, row by row; its determinant is -1 for a mirror image.
    pub rotation: Array2<f64>,
    /// How much larger the image is. 0 if all target points coincide.
    pub scale: f64,
    /// Where the origin goes.
    pub shift: Array1<f64>,
}

impl Similarity {
    /// The one that moves nothing.
    #[must_use]
    pub fn identity(dimension: usize) -> Self {
        Self { rotation: Array2::eye(dimension), scale: 1.0, shift: Array1::zeros(dimension) }
    }

    /// The best one from `from` to `to`, row by row; with `mirror` it may be a mirror image. Rows count by their `weights`, or equally
    /// if there are none.
    ///
    /// As far as the points leave the rotation open (none or one, all in one place, all on a line), nothing is rotated;
    /// if all points of `from` coincide, the scale is 1.
    ///
    /// ```
    /// use homolog::geometry::Similarity;
    /// use ndarray::array;
    /// let corner = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    /// let turned = array![[5.0, 5.0], [5.0, 7.0], [3.0, 5.0]]; // a quarter turn, twice the size
    /// let found = Similarity::fit(corner.view(), turned.view(), None, false)?;
    /// assert!((found.scale - 2.0).abs() < 1e-12 && (found.rotation[[1, 0]] - 1.0).abs() < 1e-12);
    /// assert!((&found.apply(corner.view()) - &turned).iter().all(|d| d.abs() < 1e-12));
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// Lists of different sizes; coordinates that are not finite; a weight that is negative or not finite.
    pub fn fit(
        from: ArrayView2<'_, f64>,
        to: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
        mirror: bool,
    ) -> Result<Self> {
        let best = |m: &Array2<f64>| nearest_rotation(m, mirror);
        Self::fit_with(from, to, weights, &best)
    }

    /// The same for known orientations: only scale and shift are fitted.
    ///
    /// # Errors
    /// As [`Self::fit`].
    pub fn fit_unturned(from: ArrayView2<'_, f64>, to: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Result<Self> {
        Self::fit_with(from, to, weights, &|m| Array2::eye(m.nrows()))
    }

    fn fit_with(
        from: ArrayView2<'_, f64>,
        to: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
        rotate: &dyn Fn(&Array2<f64>) -> Array2<f64>,
    ) -> Result<Self> {
        let equal = vec![1.0; from.nrows()];
        let weights = weights.unwrap_or(&equal);
        check(from, to, weights)?;
        // Near the unit range no square over- or underflows.
        let ((a, a_exponent), (b, b_exponent)) = (to_unit_range(from), to_unit_range(to));
        let (a_mean, b_mean) = (weighted_mean(&a, weights), weighted_mean(&b, weights));
        let (a, b) = (a - &a_mean, b - &b_mean);
        let mut products = Array2::zeros((from.ncols(), from.ncols()));
        let mut square = 0.0;
        for ((a, b), &weight) in a.rows().into_iter().zip(b.rows()).zip(weights) {
            square += weight * a.dot(&a);
            for ((p, q), product) in products.indexed_iter_mut() {
                *product += weight * b[p] * a[q];
            }
        }
        let rotation = rotate(&products);
        let trace = (&rotation * &products).sum();
        // Without a turn the trace can be negative: no positive scale fits then.
        let ratio = if square > 0.0 { trace.max(0.0) / square } else { 1.0 };
        let scale = if square > 0.0 { ratio * 2_f64.powi(b_exponent - a_exponent) } else { 1.0 };
        let (a_mean, b_mean) = (a_mean * 2_f64.powi(a_exponent), b_mean * 2_f64.powi(b_exponent));
        let shift = b_mean - rotation.dot(&a_mean) * scale;
        Ok(Self { rotation, scale, shift })
    }

    /// Moves points, one per row.
    ///
    /// # Panics
    /// Points of another dimension.
    #[must_use]
    pub fn apply(&self, points: ArrayView2<'_, f64>) -> Array2<f64> {
        points.dot(&self.rotation.t()) * self.scale + &self.shift
    }

    /// Whether it includes a reflection.
    #[must_use]
    pub fn is_mirrored(&self) -> bool {
        determinant(&self.rotation) < 0.0
    }
}

fn check(from: ArrayView2<'_, f64>, to: ArrayView2<'_, f64>, weights: &[f64]) -> Result<()> {
    let sizes = [
        ("points to fit to", from.nrows(), to.nrows()),
        ("coordinates of a point to fit to", from.ncols(), to.ncols()),
        ("weights of points", from.nrows(), weights.len()),
    ];
    for (what, expected, found) in sizes {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    check_finite("points", from)?;
    check_finite("points to fit to", to)?;
    match weights.iter().enumerate().find(|(_, weight)| !(weight.is_finite() && **weight >= 0.0)) {
        Some((index, &value)) => Err(Error::BadEntry { what: "weights of points", index, value }),
        None => Ok(()),
    }
}

/// The weighted mean row; the origin if nothing has weight.
fn weighted_mean(points: &Array2<f64>, weights: &[f64]) -> Array1<f64> {
    let total: f64 = weights.iter().sum();
    let mut mean = Array1::zeros(points.ncols());
    if total > 0.0 {
        for (row, &weight) in points.rows().into_iter().zip(weights) {
            mean.scaled_add(weight / total, &row);
        }
    }
    mean
}

/// The orthogonal R that maximises tr(R'M); a rotation unless `mirror`.
fn nearest_rotation(m: &Array2<f64>, mirror: bool) -> Array2<f64> {
    let (mut u, v) = singular_vectors(m);
    if !mirror && determinant(&u) * determinant(&v) < 0.0 {
        // The last singular value is the smallest: reversing it costs least.
        u.column_mut(m.nrows() - 1).mapv_inplace(|x| -x);
    }
    u.dot(&v.t())
}

/// For a matrix of one, two or three rows.
fn determinant(m: &Array2<f64>) -> f64 {
    let minor = |p: usize, q: usize| m[[1, p]] * m[[2, q]] - m[[1, q]] * m[[2, p]];
    match m.nrows() {
        1 => m[[0, 0]],
        2 => m[[0, 0]] * m[[1, 1]] - m[[0, 1]] * m[[1, 0]],
        _ => m[[0, 0]] * minor(1, 2) - m[[0, 1]] * minor(0, 2) + m[[0, 2]] * minor(0, 1),
    }
}

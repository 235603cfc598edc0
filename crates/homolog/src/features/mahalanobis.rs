//! [`mahalanobis`]: how far vectors are apart, in standard deviations. For left a_i with covariance S_i, its own or one for all, and right b_k,
//!
//!   d_ik = sqrt((a_i - b_k)' S_i^-1 (a_i - b_k)) = |L_i^-1 (a_i - b_k)|,   S_i = L_i L_i'.

use crate::linalg::cholesky;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, ArrayView3};

/// Mahalanobis distances of all pairs of rows; `covariances` has one matrix for all left rows, or one for each.
///
/// # Errors
/// Sizes that do not fit together; a number that is not finite; a covariance that is not symmetric and positive definite.
///
/// ```
/// use homolog::features::mahalanobis;
/// use ndarray::array;
/// let (a, b) = (array![[0.0, 0.0]], array![[2.0, 0.0], [0.0, 2.0]]);
/// let covariance = array![[[4.0, 0.0], [0.0, 1.0]]];
/// assert_eq!(mahalanobis(a.view(), b.view(), covariance.view())?, array![[1.0, 2.0]]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn mahalanobis(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    covariances: ArrayView3<'_, f64>,
) -> Result<Array2<f64>> {
    let (n, d) = left.dim();
    let (count, rows, columns) = covariances.dim();
    let sizes = [
        ("numbers of a right vector", d, right.ncols()),
        ("rows of a covariance", d, rows),
        ("columns of a covariance", d, columns),
        ("covariances (one, or one per left vector)", n, if count == 1 { n } else { count }),
    ];
    if let Some((what, expected, found)) = sizes.into_iter().find(|(_, expected, found)| expected != found) {
        return Err(Error::Size { what, expected, found });
    }
    for (what, table) in [("left vectors", left), ("right vectors", right)] {
        if let Some(((row, column), &value)) = table.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::BadCell { what, row, column, value });
        }
    }
    let factors: Vec<Vec<f64>> = covariances.outer_iter().map(factor).collect::<Result<_>>()?;
    let mut distances = Array2::zeros((n, right.nrows()));
    let mut z = vec![0.0; d];
    for ((i, k), distance) in distances.indexed_iter_mut() {
        let own = &factors[if count == 1 { 0 } else { i }];
        for row in 0..d {
            let known: f64 = (0..row).map(|column| own[row * d + column] * z[column]).sum();
            z[row] = (left[[i, row]] - right[[k, row]] - known) / own[row * d + row];
        }
        *distance = z.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    Ok(distances)
}

/// The lower factor. A pivot that is nothing but rounding, beside the variance it is left of, shows a matrix that is not positive definite.
fn factor(covariance: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
    let d = covariance.nrows();
    let bad = |row: usize, column: usize, value: f64| Error::BadCell { what: NOT_A_COVARIANCE, row, column, value };
    for ((row, column), &value) in covariance.indexed_iter() {
        let other = covariance[[column, row]];
        let scale = (covariance[[row, row]] * covariance[[column, column]]).abs().sqrt();
        // Not finite, or no number at all, fails as well.
        let is_symmetric = (value - other).abs() <= SYMMETRY * scale;
        if !value.is_finite() || !is_symmetric || row == column && value <= 0.0 {
            return Err(bad(row, column, value));
        }
    }
    let mut lower: Vec<f64> = covariance.iter().copied().collect();
    cholesky(&mut lower, d);
    for at in 0..d {
        let (pivot, variance) = (lower[at * d + at], covariance[[at, at]]);
        if pivot * pivot <= d as f64 * f64::EPSILON * variance {
            return Err(bad(at, at, variance));
        }
    }
    Ok(lower)
}

const NOT_A_COVARIANCE: &str = "covariance, which must be symmetric and positive definite";
/// How far apart an entry and its mirror image may be, beside the variances: products of matrices round.
const SYMMETRY: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array3, array};

    #[test]
    fn distances_are_those_of_the_inverse() {
        // The inverse of [[2, 1], [1, 3]] is [[3, -1], [-1, 2]] / 5.
        let covariances = array![[[2.0, 1.0], [1.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]]];
        let (a, b) = (array![[1.0, 2.0], [0.0, 0.0]], array![[0.0, 0.0], [3.0, 4.0], [1.0, 2.0]]);
        let found = mahalanobis(a.view(), b.view(), covariances.view()).unwrap();
        let quadratic = |x: f64, y: f64| ((3.0 * x * x - 2.0 * x * y + 2.0 * y * y) / 5.0).sqrt();
        let expected = array![[quadratic(1.0, 2.0), quadratic(2.0, 2.0), 0.0], [0.0, 5.0, 5.0_f64.sqrt()]];
        assert!((&found - &expected).iter().all(|x: &f64| x.abs() < 1e-12), "{found}");
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        let a = array![[0.0, 0.0]];
        let bad: [Array3<f64>; 5] = [
            array![[[1.0, 2.0], [2.0, 1.0]]],
            array![[[1.0, 0.5], [0.0, 1.0]]],
            array![[[1.0, 1.0], [1.0, 1.0]]],
            array![[[1.0, f64::NAN], [f64::NAN, 1.0]]],
            array![[[0.0, 0.0], [0.0, 1.0]]],
        ];
        for covariance in bad {
            assert!(mahalanobis(a.view(), a.view(), covariance.view()).is_err(), "{covariance}");
        }
        assert!(mahalanobis(a.view(), a.view(), Array3::ones((1, 3, 3)).view()).is_err());
        assert!(mahalanobis(a.view(), a.view(), Array3::zeros((0, 2, 2)).view()).is_err());
    }
}

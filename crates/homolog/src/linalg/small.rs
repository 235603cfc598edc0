//! Small symmetric positive definite matrices: inverses, the logarithm of the determinant, and systems by elimination.

/// A symmetric matrix of up to three rows; entries beyond the dimension are 0.
pub(crate) type Square = [[f64; 3]; 3];

/// The inverse of a symmetric positive definite matrix and the logarithm of its determinant, by Cholesky.
pub(crate) fn inverse_and_log_det(matrix: &Square, d: usize) -> Option<(Square, f64)> {
    let mut lower = Square::default();
    let mut log_det = 0.0;
    for p in 0..d {
        for q in 0..=p {
            let rest = matrix[p][q] - (0..q).map(|r| lower[p][r] * lower[q][r]).sum::<f64>();
            if p == q {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                lower[p][p] = rest.sqrt();
                log_det += rest.ln();
            } else {
                lower[p][q] = rest / lower[q][q];
            }
        }
    }
    // The inverse of the triangle, column by column, then the product of its transpose with it.
    let mut turned = Square::default();
    for column in 0..d {
        for p in column..d {
            let known: f64 = (column..p).map(|r| lower[p][r] * turned[r][column]).sum();
            turned[p][column] = (f64::from(u8::from(p == column)) - known) / lower[p][p];
        }
    }
    let mut inverse = Square::default();
    for p in 0..d {
        for q in p..d {
            let value = (0..d).map(|r| turned[r][p] * turned[r][q]).sum();
            (inverse[p][q], inverse[q][p]) = (value, value);
        }
    }
    Some((inverse, log_det))
}

/// Solves a symmetric positive definite system by elimination.
pub(crate) fn eliminate<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for p in 0..N {
        for q in p + 1..N {
            let factor = matrix[q][p] / matrix[p][p];
            for k in p..N {
                matrix[q][k] -= factor * matrix[p][k];
            }
            right[q] -= factor * right[p];
        }
    }
    for p in (0..N).rev() {
        let known: f64 = (p + 1..N).map(|k| matrix[p][k] * right[k]).sum();
        right[p] = (right[p] - known) / matrix[p][p];
    }
    right
}

/// Inverts a symmetric positive definite matrix in place (Gauss-Jordan without pivoting, which such a matrix does not need).
pub(crate) fn invert(matrix: &mut [f64], n: usize) -> Option<()> {
    for k in 0..n {
        let pivot = matrix[k * n + k];
        if !(pivot.is_finite() && pivot > 0.0) {
            return None;
        }
        matrix[k * n + k] = 1.0;
        matrix[k * n..][..n].iter_mut().for_each(|x| *x /= pivot);
        let row: Vec<f64> = matrix[k * n..][..n].to_vec();
        for i in (0..n).filter(|&i| i != k) {
            let factor = matrix[i * n + k];
            matrix[i * n + k] = 0.0;
            matrix[i * n..][..n].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_and_the_determinant_are_those() {
        let matrix = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let (inverse, log_det) = inverse_and_log_det(&matrix, 3).unwrap();
        for p in 0..3 {
            for q in 0..3 {
                let product: f64 = (0..3).map(|r| matrix[p][r] * inverse[r][q]).sum();
                assert!((product - f64::from(u8::from(p == q))).abs() < 1e-14);
            }
        }
        // Expanded along the first row.
        let determinant = 4.0 * (6.0 - 0.04) - (2.0 + 0.1) + 0.5 * (-0.2 - 1.5);
        assert!((log_det - f64::ln(determinant)).abs() < 1e-14);
        assert_eq!(inverse_and_log_det(&[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0; 3]], 2), None);
    }

    #[test]
    fn inverts() {
        let mut matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0];
        let before = matrix.clone();
        invert(&mut matrix, 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| before[i * 3 + k] * matrix[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert!(invert(&mut [0.0], 1).is_none());
    }
}

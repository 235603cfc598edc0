//! Symmetric positive definite systems by Cholesky: A = L L', then two triangular systems. O(n³) and O(n²); matrices are stored row by
//! row. A pivot that rounding made negative counts as the smallest positive number.

/// Turns a symmetric positive definite matrix into its lower factor L; what is above the diagonal is not touched.
pub(crate) fn cholesky(matrix: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            // Rows are contiguous: row i up to column j against row j up to there.
            let (above, own) = matrix.split_at_mut(i * n);
            let mut rest = own[j];
            if i == j {
                own[..j].iter().for_each(|x| rest -= x * x);
                own[i] = rest.max(f64::MIN_POSITIVE).sqrt();
            } else {
                let other = &above[j * n..][..=j];
                own[..j].iter().zip(other).for_each(|(x, y)| rest -= x * y);
                own[j] = rest / other[j];
            }
        }
    }
}

/// Solves A x = b for the factor L of A; x is b before and the solution after.
pub(crate) fn solve(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_solves_the_system() {
        let n = 7;
        // A Gram matrix plus the identity.
        let a = |i: usize, j: usize| ((i * 31 + j * 17) % 13) as f64 / 6.0 - 1.0;
        let entry = |i: usize, j: usize| (0..n).map(|k| a(i, k) * a(j, k)).sum::<f64>() + f64::from(u8::from(i == j));
        let matrix: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let mut factor = matrix.clone();
        cholesky(&mut factor, n);
        let right: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let mut x = right.clone();
        solve(&factor, &mut x);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
            assert!((product - right[i]).abs() < 1e-10, "{i}: {product}");
        }
    }
}

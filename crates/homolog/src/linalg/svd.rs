//! Singular vectors of a small matrix by one-sided Jacobi.

use ndarray::{Array1, Array2, Axis};

/// The main axes of a symmetric matrix such as a covariance, as columns, the longest first.
pub(crate) fn main_axes(symmetric: &Array2<f64>) -> Array2<f64> {
    singular_vectors(symmetric).1
}

/// U and V of M = U S V', largest singular value first, by one-sided Jacobi: columns of M V are rotated in pairs until all are
/// orthogonal. Where singular values are 0, U is completed so that U V' turns as little as possible.
pub(crate) fn singular_vectors(m: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
    let d = m.nrows();
    let (mut turned, mut v) = (m.clone(), Array2::eye(d));
    for _ in 0..MOST_SWEEPS {
        let mut done = true;
        for p in 0..d {
            for q in p + 1..d {
                let (x, y) = (turned.column(p), turned.column(q));
                let (xx, yy, xy) = (x.dot(&x), y.dot(&y), x.dot(&y));
                if xy.abs() <= f64::EPSILON * (xx * yy).sqrt() {
                    continue;
                }
                done = false;
                let zeta = (yy - xx) / (2.0 * xy);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                turn_columns(&mut turned, p, q, cosine, cosine * tangent);
                turn_columns(&mut v, p, q, cosine, cosine * tangent);
            }
        }
        if done {
            break;
        }
    }
    let lengths: Vec<f64> = turned.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
    let v = v.select(Axis(1), &order);
    let mut u = Array2::zeros((d, d));
    let largest = order.first().map_or(0.0, |&first| lengths[first]);
    for (column, &from) in order.iter().enumerate() {
        let direction = if lengths[from] > RANK_TOLERANCE * largest {
            turned.column(from).mapv(|x| x / lengths[from])
        } else {
            completion(&u, column, &v)
        };
        u.column_mut(column).assign(&direction);
    }
    (u, v)
}

/// A three by three matrix needs five or six sweeps.
const MOST_SWEEPS: usize = 60;
/// Singular values below this fraction of the largest say nothing about a direction: they are rounding.
const RANK_TOLERANCE: f64 = 1e-14;

fn turn_columns(matrix: &mut Array2<f64>, p: usize, q: usize, cosine: f64, sine: f64) {
    for mut row in matrix.rows_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = cosine * x - sine * y;
        row[q] = sine * x + cosine * y;
    }
}

/// A unit vector orthogonal to the first `count` columns of U: the column of V itself if possible, else the axis with most left.
fn completion(u: &Array2<f64>, count: usize, v: &Array2<f64>) -> Array1<f64> {
    let rest = |mut vector: Array1<f64>| {
        // Twice, to remove what rounding leaves of the columns.
        for column in (0..count).chain(0..count) {
            let along = u.column(column).dot(&vector);
            vector.scaled_add(-along, &u.column(column));
        }
        vector
    };
    let d = u.nrows();
    let axes = (0..d).map(|axis| Array1::from_shape_fn(d, |at| f64::from(u8::from(at == axis))));
    let mut best = rest(v.column(count).to_owned());
    for candidate in axes.map(rest) {
        // The column of V is preferred unless little of it is left.
        if best.dot(&best) < 0.01 && candidate.dot(&candidate) > best.dot(&best) {
            best = candidate;
        }
    }
    let length = best.dot(&best).sqrt();
    best / length
}

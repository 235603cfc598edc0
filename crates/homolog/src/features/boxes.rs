//! [`box_features`]: what trackers compare, as features of pairs. With boxes (left, top, width w, height h), centres c and areas of overlap:
//!
//!   1-iou     1 - |A ∩ B| / |A ∪ B|
//!   distance  |c_A - c_B| / ((h_A + h_B) / 2)
//!   height    |log(h_A / h_B)|
//!   width     |log(w_A / w_B)|
//!   1-cosine     1 - <a, b> / (|a| |b|), if there are vectors of appearance
//!   mahalanobis  distance of (c, w, h), or of c alone, in standard deviations, if there are covariances
//!
//! All are 0 for the same box and large for others. Any unit of length gives the same numbers.

use super::mahalanobis;
use crate::graph::PairFeatures;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayView3};

/// The features of all pairs of boxes, one row (left, top, width, height) each; of vectors of appearance, one row per box, if given for both sides; and
/// the Mahalanobis distance if there are covariances, one for all left boxes or one for each: 2 × 2 of the centre, or 4 × 4 of (centre x, centre y, width,
/// height), as a Kalman filter predicts them.
///
/// # Errors
/// Boxes without four numbers, with one that is not finite, or without a positive width and height; vectors of different lengths or numbers; what
/// [`mahalanobis`] refuses.
///
/// ```
/// use homolog::features::box_features;
/// use ndarray::array;
/// let (a, b) = (array![[0.0, 0.0, 2.0, 4.0]], array![[0.0, 0.0, 2.0, 4.0], [1.0, 0.0, 2.0, 4.0]]);
/// let features = box_features(a.view(), b.view(), None, None)?;
/// assert_eq!(features.names(), ["1-iou", "distance", "height", "width"]);
/// assert_eq!(features.row(0, 1).unwrap().to_vec(), [1.0 - 1.0 / 3.0, 0.25, 0.0, 0.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn box_features(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    appearance: Option<[ArrayView2<'_, f64>; 2]>,
    covariances: Option<ArrayView3<'_, f64>>,
) -> Result<PairFeatures> {
    check("left boxes", left)?;
    check("right boxes", right)?;
    let size = (left.nrows(), right.nrows());
    let table = |value: &dyn Fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> f64| {
        Array2::from_shape_fn(size, |(i, k)| value(left.row(i), right.row(k)))
    };
    let mut names = ["1-iou", "distance", "height", "width"].map(str::to_string).to_vec();
    let mut tables = vec![
        table(&|a, b| 1.0 - iou(a, b)),
        table(&|a, b| {
            let centre = |c: ArrayView1<'_, f64>, axis: usize| c[axis] + 0.5 * c[axis + 2];
            let [x, y] = [0, 1].map(|axis| centre(a, axis) - centre(b, axis));
            x.hypot(y) / f64::midpoint(a[3], b[3])
        }),
        table(&|a, b| (a[3] / b[3]).ln().abs()),
        table(&|a, b| (a[2] / b[2]).ln().abs()),
    ];
    if let Some([a, b]) = appearance {
        names.push("1-cosine".to_string());
        tables.push(cosines(a, b, size)?);
    }
    if let Some(covariances) = covariances {
        names.push("mahalanobis".to_string());
        // What there are covariances of; `mahalanobis` refuses any other number.
        let counted = if covariances.dim().1 == 2 { 2 } else { 4 };
        let [a, b] = [left, right].map(|boxes| {
            let value = |(row, column): (usize, usize)| match column {
                0 | 1 => boxes[[row, column]] + 0.5 * boxes[[row, column + 2]],
                _ => boxes[[row, column]],
            };
            Array2::from_shape_fn((boxes.nrows(), counted), value)
        });
        tables.push(mahalanobis(a.view(), b.view(), covariances)?);
    }
    PairFeatures::of_tables(names, &tables)
}

/// The overlap of two boxes: area of the intersection over area of the union.
#[must_use]
pub(crate) fn iou(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let shared = |axis: usize| ((a[axis] + a[axis + 2]).min(b[axis] + b[axis + 2]) - a[axis].max(b[axis])).max(0.0);
    let both = shared(0) * shared(1);
    both / (a[2] * a[3] + b[2] * b[3] - both)
}

fn check(what: &'static str, boxes: ArrayView2<'_, f64>) -> Result<()> {
    if boxes.ncols() != 4 {
        return Err(Error::Size {
            what: "numbers of a box (left, top, width, height)",
            expected: 4,
            found: boxes.ncols(),
        });
    }
    let is_bad = |&((_, column), value): &((usize, usize), &f64)| !value.is_finite() || column > 1 && *value <= 0.0;
    match boxes.indexed_iter().find(is_bad) {
        Some(((row, column), &value)) => Err(Error::BadCell { what, row, column, value }),
        None => Ok(()),
    }
}

fn cosines(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, (n, m): (usize, usize)) -> Result<Array2<f64>> {
    let sizes = [
        ("left vectors of appearance", n, a.nrows()),
        ("right vectors of appearance", m, b.nrows()),
        ("numbers of a vector of appearance", a.ncols(), b.ncols()),
    ];
    if let Some((what, expected, found)) = sizes.into_iter().find(|(_, expected, found)| expected != found) {
        return Err(Error::Size { what, expected, found });
    }
    let unit = |vectors: ArrayView2<'_, f64>| {
        let mut unit = vectors.to_owned();
        for mut row in unit.rows_mut() {
            let length = row.dot(&row).sqrt();
            // A vector of zeros is like no other.
            row.mapv_inplace(|x| if length > 0.0 { x / length } else { x });
        }
        unit
    };
    Ok(1.0 - unit(a).dot(&unit(b).t()))
}

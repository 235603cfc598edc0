//! The right nodes that are most like each left node, by the distance of their descriptions, each number in units of its standard deviation.
//! A few rows of distances at a time, by a matrix product.

use ndarray::{Array2, ArrayView1, Axis, Slice};
use rayon::prelude::*;

/// Rows at a time.
const ROWS: usize = 64;

/// Right nodes of each left node, nearest first, and their squared distances.
pub(super) type Alike = Vec<Vec<(usize, f64)>>;

/// Descriptions in units of the standard deviation over both networks.
pub(super) fn scale([left, right]: [&mut Array2<f64>; 2]) {
    for column in 0..left.ncols() {
        let values = || left.column(column).into_iter().chain(right.column(column)).copied();
        let count = values().count().max(1) as f64;
        let mean = values().sum::<f64>() / count;
        let deviation = (values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count).sqrt();
        // What is the same everywhere, but for rounding, says nothing.
        let unit = if deviation > 1e-9 * mean.abs().max(1.0) { 1.0 / deviation } else { 0.0 };
        left.column_mut(column).mapv_inplace(|x| (x - mean) * unit);
        right.column_mut(column).mapv_inplace(|x| (x - mean) * unit);
    }
}

/// The `count` nearest allowed right nodes of each left node.
pub(super) fn nearest(
    [left, right]: [&Array2<f64>; 2],
    count: usize,
    is_allowed: &(impl Fn(usize, usize) -> bool + Sync),
) -> Alike {
    let length = |row: ArrayView1<'_, f64>| row.dot(&row);
    let right_length: Vec<f64> = right.rows().into_iter().map(length).collect();
    let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
    let near = |&first: &usize| {
        let rows = left.slice_axis(Axis(0), Slice::from(first..(first + ROWS).min(left.nrows())));
        let products = rows.dot(&right.t());
        let mut found: Alike = Vec::with_capacity(rows.nrows());
        let mut all: Vec<(usize, f64)> = Vec::with_capacity(right.nrows());
        for (at, products) in products.rows().into_iter().enumerate() {
            let own = length(rows.row(at));
            let distance = |(k, product): (usize, &f64)| (k, (own + right_length[k] - 2.0 * product).max(0.0));
            all.clear();
            all.extend(products.iter().enumerate().filter(|&(k, _)| is_allowed(first + at, k)).map(distance));
            if all.len() > count {
                all.select_nth_unstable_by(count, order);
                all.truncate(count);
            }
            all.sort_unstable_by(order);
            // A copy, which has no more memory than it needs.
            found.push(all.clone());
        }
        found
    };
    let blocks: Vec<usize> = (0..left.nrows()).step_by(ROWS).collect();
    blocks.par_iter().map(near).collect::<Vec<_>>().into_iter().flatten().collect()
}

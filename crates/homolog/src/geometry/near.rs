//! [`near_pairs`]: which points of one set are near which of another, found with an R*-tree of the second in time near linear in the points and the
//! pairs found. No table of all distances exists.

use super::check_finite;
use crate::{Error, Result};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rstar::RTree;
use rstar::primitives::GeomWithData;

/// Which points are near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The largest distance.
    pub within: f64,
    /// No more than so many, the nearest; `None`: all.
    pub nearest: Option<usize>,
}

/// No more pairs are listed than this: about 4 GB.
const MOST_PAIRS: usize = 1 << 27;

/// All pairs of a left and a right point that are near, (left, right, distance), in order of left, then right. Among equal distances the smaller right
/// number is nearer.
///
/// # Errors
/// Points that are not in the plane or in space, or of different dimensions, or not finite; a distance that is negative or NaN; more pairs than fit.
pub(crate) fn near_pairs(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    near: Near,
) -> Result<Vec<(usize, usize, f64)>> {
    let dimension = left.ncols();
    if dimension != right.ncols() {
        return Err(Error::Size { what: "coordinates of the right points", expected: dimension, found: right.ncols() });
    }
    check_finite("left points", left)?;
    check_finite("right points", right)?;
    Error::unless_at_least_0_or_infinite("gate", near.within)?;
    match dimension {
        2 => listed::<2>(left, right, near),
        3 => listed::<3>(left, right, near),
        found => Err(Error::Size { what: "coordinates of a point (2 or 3)", expected: 2, found }),
    }
}

type Placed<const D: usize> = GeomWithData<[f64; D], usize>;

fn listed<const D: usize>(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    near: Near,
) -> Result<Vec<(usize, usize, f64)>>
where
    [f64; D]: rstar::Point<Scalar = f64>,
{
    let point =
        |points: &ArrayView2<'_, f64>, row: usize| -> [f64; D] { std::array::from_fn(|axis| points[[row, axis]]) };
    let placed = (0..right.nrows()).map(|k| Placed::<D>::new(point(&right, k), k)).collect();
    let tree = RTree::bulk_load(placed);
    let distance = |a: &[f64; D], b: &[f64; D]| (0..D).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
    let of = |i: usize| -> Vec<(usize, usize, f64)> {
        let own = point(&left, i);
        let pair = |other: &Placed<D>| (i, other.data, distance(&own, other.geom()));
        let mut found: Vec<_> = match near.nearest {
            Some(count) => {
                let nearest = tree.nearest_neighbor_iter(&own).map(pair);
                // As many as are asked for, and those as near as the last of them.
                let (mut taken, mut last) = (Vec::new(), f64::INFINITY);
                for (i, k, distance) in nearest {
                    if distance > near.within || taken.len() >= count && distance > last {
                        break;
                    }
                    last = distance;
                    taken.push((i, k, distance));
                }
                taken.sort_unstable_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
                taken.truncate(count);
                taken
            }
            None if near.within.is_infinite() => tree.iter().map(pair).collect(),
            None => {
                // A little farther, and then exactly: squares round.
                let reach = near.within * near.within * (1.0 + 1e-9) + f64::MIN_POSITIVE;
                tree.locate_within_distance(own, reach).map(pair).filter(|pair| pair.2 <= near.within).collect()
            }
        };
        found.sort_unstable_by_key(|pair| pair.1);
        found
    };
    // In parts, so that what is too much is noticed early.
    let mut all = Vec::new();
    for first in (0..left.nrows()).step_by(CHUNK) {
        let part: Vec<Vec<_>> = (first..left.nrows().min(first + CHUNK)).into_par_iter().map(of).collect();
        part.into_iter().for_each(|found| all.extend(found));
        if all.len() > MOST_PAIRS {
            return Err(Error::TooLarge { what: "pairs of near points", limit: MOST_PAIRS, found: all.len() });
        }
    }
    Ok(all)
}

/// So many left points at a time.
const CHUNK: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Whole numbers, so that many distances are equal.
    fn points(count: usize, dimension: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((count, dimension), |(row, axis)| ((37 * row + 11 * axis + seed * row * row) % 23) as f64)
    }

    #[test]
    fn near_pairs_are_those_of_the_table_of_distances() {
        for (dimension, within) in [(2, 5.0), (3, 7.0), (2, 0.0), (2, f64::INFINITY)] {
            let (a, b) = (points(60, dimension, 3), points(50, dimension, 5));
            let mut all: Vec<(usize, usize, f64)> = Vec::new();
            for i in 0..60 {
                for k in 0..50 {
                    let square: f64 = (0..dimension).map(|axis| (a[[i, axis]] - b[[k, axis]]).powi(2)).sum();
                    all.push((i, k, square.sqrt()));
                }
            }
            all.retain(|pair| pair.2 <= within);
            assert_eq!(near_pairs(a.view(), b.view(), Near { within, nearest: None }).unwrap(), all);
            let mut expected = Vec::new();
            for i in 0..60 {
                let mut own: Vec<_> = all.iter().copied().filter(|pair| pair.0 == i).collect();
                own.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
                own.truncate(4);
                own.sort_by_key(|pair| pair.1);
                expected.extend(own);
            }
            assert_eq!(near_pairs(a.view(), b.view(), Near { within, nearest: Some(4) }).unwrap(), expected);
        }
        let empty = Array2::zeros((0, 2));
        assert_eq!(near_pairs(empty.view(), points(3, 2, 1).view(), Near { within: 1.0, nearest: None }), Ok(vec![]));
        assert!(
            near_pairs(points(3, 1, 1).view(), points(3, 1, 1).view(), Near { within: 1.0, nearest: None }).is_err()
        );
    }
}

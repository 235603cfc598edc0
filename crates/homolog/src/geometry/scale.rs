//! The scale of a set of points: coordinates brought near 1 without rounding, and the mean distance.

use ndarray::{Array2, ArrayView2};

/// The distances between fewer points take a moment; of more, those of so many points are added up between two questions whether to go on.
const FEW_POINTS: usize = 2048;
const BETWEEN_QUESTIONS: usize = 128;

/// Multiplies by a power of two so that the largest absolute coordinate is in [1, 2), and returns that exponent e: the points are
/// the result times 2^e. The product is exact (except for coordinates 10^300 times smaller than the largest), so distances,
/// predicates and ratios come out the same, and no square over- or underflows. All zeros stay as they are, with e = 0.
#[must_use]
pub(crate) fn to_unit_range(points: ArrayView2<'_, f64>) -> (Array2<f64>, i32) {
    let largest = points.iter().fold(0.0_f64, |largest, &x| largest.max(x.abs()));
    if largest == 0.0 {
        return (points.to_owned(), 0);
    }
    let exponent = binary_exponent(largest);
    // 2^1074 is not a double, so the factor is applied in two halves.
    let first = -(exponent / 2);
    let (first, second) = (2_f64.powi(first), 2_f64.powi(-exponent - first));
    (points.mapv(|x| x * first * second), exponent)
}

/// The e with 2^e <= x < 2^(e+1), for x > 0, from the bits.
fn binary_exponent(x: f64) -> i32 {
    let biased = i32::try_from(x.to_bits() >> 52 & 0x7ff).unwrap_or(0);
    if biased > 0 { biased - 1023 } else { binary_exponent(x * 2_f64.powi(64)) - 64 }
}

/// The mean of all n² distances between rows, the n zeros included (the authors' measure of a scene's size). Zero for no points.
///
/// `None` if there are many points and `goes_on` says no.
///
/// Expects points near the unit range (see [`to_unit_range`]); very large coordinates overflow.
#[must_use]
pub(crate) fn mean_distance(points: ArrayView2<'_, f64>, goes_on: impl Fn() -> bool) -> Option<f64> {
    let n = points.nrows();
    let axes: Vec<Vec<f64>> = points.columns().into_iter().map(|axis| axis.to_vec()).collect();
    let mut total = 0.0;
    let mut squares = vec![0.0; n];
    for i in 0..n {
        if i >= FEW_POINTS && i % BETWEEN_QUESTIONS == 0 && !goes_on() {
            return None;
        }
        // Axis by axis over all earlier points at once, so the processor can handle several per step.
        squares[..i].fill(0.0);
        for axis in &axes {
            squares[..i].iter_mut().zip(axis).for_each(|(square, x)| *square += (x - axis[i]) * (x - axis[i]));
        }
        total += squares[..i].iter().map(|square| square.sqrt()).sum::<f64>();
    }
    Some(if n == 0 { 0.0 } else { 2.0 * total / (n * n) as f64 })
}

/// The Euclidean distance between two rows.
pub(crate) fn distance(points: ArrayView2<'_, f64>, i: usize, j: usize) -> f64 {
    square_distance(points, i, j).sqrt()
}

/// The same at any scale: no square over- or underflows. Slower.
pub(crate) fn any_distance(points: ArrayView2<'_, f64>, i: usize, j: usize) -> f64 {
    (0..points.ncols()).fold(0.0_f64, |length, axis| length.hypot(points[[i, axis]] - points[[j, axis]]))
}

/// The square of [`distance`].
pub(crate) fn square_distance(points: ArrayView2<'_, f64>, i: usize, j: usize) -> f64 {
    (0..points.ncols()).map(|axis| (points[[i, axis]] - points[[j, axis]]).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn unit_range_is_exact_at_every_scale() {
        let points = array![[1.0, -0.3], [0.7, 0.0]];
        for exponent in [-1070, -1022, -500, -1, 0, 1, 77, 1023] {
            let (half, rest) = (2_f64.powi(exponent / 2), 2_f64.powi(exponent - exponent / 2));
            let (unit, found) = to_unit_range(points.mapv(|x| x * half * rest).view());
            assert_eq!(found, exponent);
            assert_eq!(unit[[0, 0]], 1.0);
            if exponent > -1000 {
                assert_eq!(unit, points);
            }
        }
        assert_eq!(to_unit_range(array![[0.0, 0.0]].view()).1, 0);
        assert_eq!(to_unit_range(Array2::zeros((0, 2)).view()).1, 0);
        assert_eq!(to_unit_range(array![[f64::from_bits(1)]].view()), (array![[1.0]], -1074));
    }

    #[test]
    fn mean_distance_counts_the_zeros() {
        // Three pairs at 3, 4 and 5; nine ordered pairs with the zeros.
        assert_eq!(mean_distance(array![[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]].view(), || true), Some(24.0 / 9.0));
        assert_eq!(mean_distance(array![[5.0, 5.0]].view(), || true), Some(0.0));
    }
}

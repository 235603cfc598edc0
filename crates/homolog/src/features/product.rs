//! 2 a b' for small tables a and b: as `general_mat_mul` gives it, bit for bit, in half the time.
//!
//! A general product copies both tables into its own order each time it is called. Here the right table is put in order once per graph
//! ([`Packed`]). Sums are the same: over the columns from first to last, each step fused, as the general product does it on processors
//! with fused multiply-add. On others that is what computes it.

use ndarray::{Array2, ArrayViewMut2};
use pulp::f64x4;

/// Rows that are taken at a time, left and right: their sums stay in registers.
#[cfg(target_arch = "x86_64")]
const LEFT: usize = 4;
const RIGHT: usize = 8;
/// Above this many columns the general product adds up in several parts.
const MOST_COLUMNS: usize = 256;
/// Larger tables do not stay in the fastest memory, which the general product takes care of.
const MOST_ROWS: usize = 128;

/// A right table in groups of `RIGHT` rows, each group column by column; the last is filled up with zeros.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    groups: Vec<[f64x4; 2]>,
    rows: usize,
    columns: usize,
}

impl Packed {
    /// `None` if the table is too large, or empty.
    pub(super) fn new(values: &Array2<f64>) -> Option<Self> {
        let (rows, columns) = values.dim();
        if !(1..=MOST_ROWS).contains(&rows) || !(1..=MOST_COLUMNS).contains(&columns) {
            return None;
        }
        let value = |row: usize, column: usize| values.get([row, column]).copied().unwrap_or(0.0);
        let four = |row: usize, column: usize| {
            f64x4(value(row, column), value(row + 1, column), value(row + 2, column), value(row + 3, column))
        };
        let group = |first: usize| (0..columns).map(move |column| [four(first, column), four(first + 4, column)]);
        let groups = (0..rows).step_by(RIGHT).flat_map(group).collect();
        Some(Self { groups, rows, columns })
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        8 * RIGHT * self.groups.len()
    }

    /// Writes 2 a b' for a left table a; whether it could be done here.
    pub(super) fn write_product(&self, left: &Array2<f64>, product: &mut ArrayViewMut2<'_, f64>) -> bool {
        if left.ncols() != self.columns || product.dim() != (left.nrows(), self.rows) {
            return false;
        }
        let (Some(left), Some(product)) = (left.as_slice(), product.as_slice_mut()) else { return false };
        fused(Product { left, right: self, product })
    }
}

#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "the general product does it"))]
struct Product<'a> {
    left: &'a [f64],
    right: &'a Packed,
    product: &'a mut [f64],
}

#[cfg(not(target_arch = "x86_64"))]
fn fused(_: Product<'_>) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
fn fused(product: Product<'_>) -> bool {
    pulp::x86::V3::try_new().map(|simd| simd.vectorize(Fused { simd, product })).is_some()
}

/// The product in vectors of four numbers.
#[cfg(target_arch = "x86_64")]
struct Fused<'a> {
    simd: pulp::x86::V3,
    product: Product<'a>,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Fused<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn call(self) {
        let Self { simd, product: Product { left, right, product } } = self;
        let &Packed { ref groups, rows, columns } = right;
        for (left, product) in left.chunks(LEFT * columns).zip(product.chunks_mut(LEFT * rows)) {
            // Rows that are missing at the end are computed as the first is, and not written.
            let row = |at: usize| left.get(at * columns..(at + 1) * columns).unwrap_or(&left[..columns]);
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            for (number, group) in groups.chunks_exact(columns).enumerate() {
                let mut sums = [[simd.splat_f64x4(0.0); 2]; LEFT];
                for ((((&[low, high], a), b), c), d) in group.iter().zip(a).zip(b).zip(c).zip(d) {
                    let [a, b, c, d] = [a, b, c, d].map(|&value| simd.splat_f64x4(value));
                    sums[0] = [simd.mul_add_f64x4(a, low, sums[0][0]), simd.mul_add_f64x4(a, high, sums[0][1])];
                    sums[1] = [simd.mul_add_f64x4(b, low, sums[1][0]), simd.mul_add_f64x4(b, high, sums[1][1])];
                    sums[2] = [simd.mul_add_f64x4(c, low, sums[2][0]), simd.mul_add_f64x4(c, high, sums[2][1])];
                    sums[3] = [simd.mul_add_f64x4(d, low, sums[3][0]), simd.mul_add_f64x4(d, high, sums[3][1])];
                }
                let first = number * RIGHT;
                for (product, [low, high]) in product.chunks_exact_mut(rows).zip(sums) {
                    let sums = [low.0, low.1, low.2, low.3, high.0, high.1, high.2, high.3];
                    product[first..].iter_mut().zip(sums).for_each(|(product, sum)| *product = 2.0 * sum);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::linalg::general_mat_mul;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn it_is_the_general_product_bit_for_bit() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for n in [1, 2, 3, 4, 5, 7, 8, 9, 19, 30, 33] {
            for m in [1, 2, 3, 7, 8, 9, 19, 30, MOST_ROWS] {
                for d in [1, 2, 3, 6, 7, 8, 13, 60, 61, MOST_COLUMNS] {
                    let left = Array2::from_shape_fn((n, d), |_| rng.random_range(-1.0..2.0));
                    let right = Array2::from_shape_fn((m, d), |_| rng.random_range(-1.0..2.0));
                    let [mut own, mut general] = [f64::NAN, 0.0].map(|value| Array2::from_elem((n, m), value));
                    if Packed::new(&right).unwrap().write_product(&left, &mut own.view_mut()) {
                        general_mat_mul(2.0, &left, &right.t(), 0.0, &mut general);
                        assert_eq!(own, general, "{n} {m} {d}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_and_empty_tables_are_left_to_the_general_product() {
        for dim in [(0, 3), (3, 0), (MOST_ROWS + 1, 3), (3, MOST_COLUMNS + 1)] {
            assert!(Packed::new(&Array2::zeros(dim)).is_none());
        }
    }
}

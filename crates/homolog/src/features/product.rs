//! 2 a b' for small tables a and b: as `general_mat_mul` gives it, bit for bit, in half the time.
//!
//! A general product copies both tables into its own order each time it is called. Here the right table is put in order once per graph
//! ([`Packed`]). Sums are the same: over the columns from first to last, each step fused, as the general product does it on processors
//! with fused multiply-add. On others that is what computes it.

use ndarray::Array2;

/// Rows that are taken at a time, left and right: their sums stay in registers.
const LEFT: usize = 4;
const RIGHT: usize = 8;
/// Above this many columns the general product adds up in several parts.
const MOST_COLUMNS: usize = 256;
/// Larger tables do not stay in the fastest memory, which the general product takes care of.
const MOST_ROWS: usize = 128;

/// A right table in groups of `RIGHT` rows, each group column by column; the last is filled up with zeros.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    groups: Vec<[f64; RIGHT]>,
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
        let mut groups = vec![[0.0; RIGHT]; rows.div_ceil(RIGHT) * columns];
        for ((row, column), &value) in values.indexed_iter() {
            groups[row / RIGHT * columns + column][row % RIGHT] = value;
        }
        Some(Self { groups, rows, columns })
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        8 * RIGHT * self.groups.len()
    }

    /// Writes 2 a b' for a left table a; whether it could be done here.
    pub(super) fn write_product(&self, left: &Array2<f64>, product: &mut Array2<f64>) -> bool {
        if left.ncols() != self.columns || product.dim() != (left.nrows(), self.rows) {
            return false;
        }
        let (Some(left), Some(product)) = (left.as_slice(), product.as_slice_mut()) else { return false };
        fused(Product { left, right: self, product })
    }
}

#[cfg(target_arch = "x86_64")]
fn fused(product: Product<'_>) -> bool {
    pulp::x86::V3::try_new().map(|simd| simd.vectorize(product)).is_some()
}

#[cfg(not(target_arch = "x86_64"))]
fn fused(_: Product<'_>) -> bool {
    false
}

struct Product<'a> {
    left: &'a [f64],
    right: &'a Packed,
    product: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn call(self) {
        let Self { left, right: &Packed { ref groups, rows, columns }, product } = self;
        for (left, product) in left.chunks(LEFT * columns).zip(product.chunks_mut(LEFT * rows)) {
            // Rows that are missing at the end are computed as the first is, and not written.
            let row = |at: usize| left.get(at * columns..(at + 1) * columns).unwrap_or(&left[..columns]);
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            for (number, group) in groups.chunks_exact(columns).enumerate() {
                let mut sums = [[0.0_f64; RIGHT]; LEFT];
                for ((((values, a), b), c), d) in group.iter().zip(a).zip(b).zip(c).zip(d) {
                    for lane in 0..RIGHT {
                        sums[0][lane] = a.mul_add(values[lane], sums[0][lane]);
                        sums[1][lane] = b.mul_add(values[lane], sums[1][lane]);
                        sums[2][lane] = c.mul_add(values[lane], sums[2][lane]);
                        sums[3][lane] = d.mul_add(values[lane], sums[3][lane]);
                    }
                }
                for (product, sums) in product.chunks_exact_mut(rows).zip(&sums) {
                    let part = product.iter_mut().skip(number * RIGHT);
                    part.zip(sums).for_each(|(product, sum)| *product = 2.0 * sum);
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
                    if Packed::new(&right).unwrap().write_product(&left, &mut own) {
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

//! -Σ_r w_r (a_r - b_r)² for all rows a of one table and b of another, without an n·m·D array. With W = diag(w):
//!
//!   -Σ_r w_r (a_r - b_r)² = 2 a'Wb - a'Wa - b'Wb
//!
//! a matrix product and two norms. Tables that are mostly zeros, such as counts in many bins, are multiplied sparse by dense: a
//! quarter of the work for shape contexts of 30 points. Small integers stay exact throughout. Where values are far from zero
//! compared with their spread, both sides are first shifted by the same vector, which changes no difference and keeps the digits.

use super::product::Packed;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis, Slice, Zip};
use std::borrow::Cow;
use std::ops::Range;

/// The descriptors of all nodes of a graph, of one kind: one row per node.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) values: Array2<f64>,
    /// How many nodes the graph has: all of them, even if only some have a row.
    pub(super) count: usize,
    /// The mean row, where squares would lose digits without it.
    centre: Option<Array1<f64>>,
    sparse: Option<Sparse>,
    /// The same numbers for the product of small tables.
    packed: Option<Packed>,
}

/// The same numbers for the sparse product.
#[derive(Debug, Clone)]
struct Sparse {
    /// The nonzero numbers of all rows: (column, value).
    entries: Vec<(usize, f64)>,
    /// Those of row i are at `start[i]..start[i + 1]`.
    start: Vec<usize>,
    /// The table in groups of `LANES` rows, each group column by column; the last is filled up with zeros.
    groups: Vec<[f64; LANES]>,
}

/// Rows that the sparse product takes at a time: a few registers (16 were no faster).
const LANES: usize = 8;
/// Up to this share of nonzero numbers the sparse product was measured to be faster (30 × 30 to 1000 × 1000 nodes, 60 numbers).
const SPARSE: f64 = 0.3;
/// Integers up to this are exact in products and sums, whatever their mean.
const SMALL_INTEGER: f64 = 1024.0;
/// Values more than this many times their spread away from zero are shifted first: squares would lose 12 bits or more.
const FAR: f64 = 64.0;

impl Block {
    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let sparse = |own: &Sparse| 16 * own.entries.len() + 8 * (own.start.len() + LANES * own.groups.len());
        8 * self.values.len() + self.sparse.as_ref().map_or(0, sparse) + self.packed.as_ref().map_or(0, Packed::size)
    }

    /// A table; `squares` says that it will be compared by squares.
    pub(super) fn new(values: &Array2<f64>, squares: bool) -> Self {
        let values = values.as_standard_layout().into_owned();
        let exact = values.iter().all(|&x| is_small_integer(x));
        let far = squares && !exact && values.columns().into_iter().any(is_far);
        let centre = if far { values.mean_axis(Axis(0)) } else { None };
        let zeros = values.iter().filter(|&&value| value == 0.0).count();
        let few = (values.len() - zeros) as f64 <= SPARSE * values.len() as f64;
        let sparse = (squares && !far && few).then(|| Sparse::new(&values));
        let packed = if squares && !far && !few { Packed::new(&values) } else { None };
        Self { count: values.nrows(), values, centre, sparse, packed }
    }

    /// The rows of some of the nodes, in this order.
    pub(super) fn select(&self, nodes: &[usize], squares: bool) -> Self {
        Self { count: self.count, ..Self::new(&self.values.select(Axis(0), nodes), squares) }
    }

    /// Some of the rows, treated in every way like the whole table. For the left side of a comparison.
    pub(super) fn rows(&self, range: &Range<usize>) -> Self {
        let values = self.values.slice_axis(Axis(0), Slice::from(range.clone())).to_owned();
        let sparse = self.sparse.as_ref().map(|sparse| {
            let ends = &sparse.start[range.start..=range.end];
            let (first, last) = (sparse.start[range.start], sparse.start[range.end]);
            let start = ends.iter().map(|end| end - first).collect();
            Sparse { entries: sparse.entries[first..last].to_vec(), start, groups: Vec::new() }
        });
        Self { values, count: self.count, centre: self.centre.clone(), sparse, packed: None }
    }

    fn moved(&self, by: Option<&Array1<f64>>) -> Cow<'_, Array2<f64>> {
        match by {
            Some(centre) => Cow::Owned(&self.values - centre),
            None => Cow::Borrowed(&self.values),
        }
    }
}

impl Sparse {
    fn new(values: &Array2<f64>) -> Self {
        let (mut entries, mut start) = (Vec::new(), vec![0]);
        for row in values.rows() {
            entries.extend(row.iter().copied().enumerate().filter(|&(_, value)| value != 0.0));
            start.push(entries.len());
        }
        entries.shrink_to_fit();
        let mut groups = vec![[0.0; LANES]; values.nrows().div_ceil(LANES) * values.ncols()];
        for ((row, column), &value) in values.indexed_iter() {
            groups[row / LANES * values.ncols() + column][row % LANES] = value;
        }
        Self { entries, start, groups }
    }

    fn row_count(&self) -> usize {
        self.start.len() - 1
    }

    fn row(&self, row: usize) -> &[(usize, f64)] {
        &self.entries[self.start[row]..self.start[row + 1]]
    }

    fn weighted_square(&self, row: usize, weights: &[f64]) -> f64 {
        self.row(row).iter().map(|&(column, value)| weights[column] * value * value).sum()
    }
}

/// Compares after a cast, which is faster than calling round.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is no small integer")]
fn is_small_integer(x: f64) -> bool {
    x.abs() <= SMALL_INTEGER && f64::from(x as i32) == x
}

/// Whether a column's values are far from zero compared with their spread.
fn is_far(column: ArrayView1<'_, f64>) -> bool {
    let (low, high) = column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    low.abs().max(high.abs()) > FAR * (high - low)
}

/// Writes -scale · Σ_r w_r (a_r - b_r)² for all pairs of rows.
pub(super) fn write(left: &Block, right: &Block, weights: &[f64], scale: f64, mut scores: ArrayViewMut2<'_, f64>) {
    // Either way the scale comes last: with integer weights and counts everything before it is exact, so ties stay ties.
    if let (Some(left), Some(right), Some(scores)) = (&left.sparse, &right.sparse, scores.as_slice_mut()) {
        pulp::Arch::new().dispatch(SparseScores { left, right, weights, scale, scores });
        return;
    }
    let centre = left.centre.as_ref().or(right.centre.as_ref());
    let packed = right.packed.as_ref().filter(|_| centre.is_none());
    let (left, right) = (left.moved(centre), right.moved(centre));
    let weights = ArrayView1::from(weights);
    let weighted = &*left * &weights;
    if !packed.is_some_and(|packed| packed.write_product(&weighted, &mut scores)) {
        general_mat_mul(2.0, &weighted, &right.t(), 0.0, &mut scores);
    }
    let right_norms: Array1<f64> = right.rows().into_iter().map(|b| weighted_square(b, weights)).collect();
    for ((scores, a), weighted) in scores.rows_mut().into_iter().zip(left.rows()).zip(weighted.rows()) {
        let left_norm = weighted.dot(&a);
        Zip::from(scores).and(&right_norms).for_each(|score, norm| *score = scale * (*score - left_norm - norm));
    }
}

/// Σ_r w_r b_r², as `LANES` sums side by side: a single one would wait for each addition in turn.
fn weighted_square(b: ArrayView1<'_, f64>, weights: ArrayView1<'_, f64>) -> f64 {
    let (Some(b), Some(weights)) = (b.to_slice(), weights.to_slice()) else {
        return b.iter().zip(weights).map(|(b, w)| w * b * b).sum();
    };
    let (b_rest, weights_rest) = (b.chunks_exact(LANES).remainder(), weights.chunks_exact(LANES).remainder());
    let rest: f64 = b_rest.iter().zip(weights_rest).map(|(b, w)| w * b * b).sum();
    let mut sums = [0.0; LANES];
    for (b, weights) in b.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += weights[lane] * b[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The sparse product, compiled for the vectors that the processor has; sums and products are the same on all of them.
struct SparseScores<'a> {
    left: &'a Sparse,
    right: &'a Sparse,
    weights: &'a [f64],
    scale: f64,
    /// Row by row.
    scores: &'a mut [f64],
}

impl pulp::WithSimd for SparseScores<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { left, right, weights, scale, scores } = self;
        let (columns, right_count) = (weights.len(), right.row_count());
        let right_norms: Vec<f64> = (0..right_count).map(|row| right.weighted_square(row, weights)).collect();
        let mut terms: Vec<(usize, f64)> = Vec::with_capacity(columns);
        for (i, scores) in scores.chunks_exact_mut(right_count.max(1)).enumerate() {
            let left_norm = left.weighted_square(i, weights);
            terms.clear();
            terms.extend(left.row(i).iter().map(|&(r, a)| (r, 2.0 * weights[r] * a)));
            let groups = right.groups.chunks_exact(columns.max(1));
            for ((scores, norms), group) in scores.chunks_mut(LANES).zip(right_norms.chunks(LANES)).zip(groups) {
                let mut products = [0.0; LANES];
                for &(r, u) in &terms {
                    let values = &group[r];
                    for lane in 0..LANES {
                        products[lane] += u * values[lane];
                    }
                }
                for ((score, norm), product) in scores.iter_mut().zip(norms).zip(products) {
                    *score = scale * (product - left_norm - norm);
                }
            }
        }
    }
}

/// Adds factor · Σ (a_r - b_r)² to each phi_r, for row i of one table and row k of another.
pub(super) fn add(left: &Block, i: usize, right: &Block, k: usize, factor: f64, phi: &mut [f64]) {
    let phi = ndarray::ArrayViewMut1::from(phi);
    Zip::from(phi).and(left.values.row(i)).and(right.values.row(k)).for_each(|phi, a, b| {
        let difference = a - b;
        *phi += factor * difference * difference;
    });
}

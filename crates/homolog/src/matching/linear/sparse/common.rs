//! Tables in which most cells have one value, the worst of all: 1 - IoU of boxes, most of which do not overlap, or a large cost that
//! stands for "never".
//!
//! The other cells are listed while the table is read, once. With c the common score, a row has a listed cell or gets c in whatever column is
//! left, so the best assignment is the best matching of the listed cells,
//!
//!   maximise  Σ_(i matched) score_(i, y_i) + Σ_(i unmatched) c,
//!
//! whose unmatched rows then take the columns left over, in order. left_i >= c and right_k >= 0 prove both. If rows may stay unmatched at
//! prices that are at least c, no row takes a cell that scores c, and the list is the whole problem.

use super::super::buffers::LinearBuffers;
use super::super::careful::Answer;
use super::super::few::ORDINARY;
use super::super::given::Given;
use super::super::scan::LANES;
use super::core::{NONE, Rows, reset};
use super::{OwnRows, narrow};
use ndarray::ArrayView2;
use std::array::from_fn;

/// Tables of fewer cells are solved as they are.
const FEWEST_CELLS: usize = 128 * 128;
/// So many cells from all over the table are looked at before all are read, ...
const SAMPLE: usize = 8;
/// ... and so many of them must be equal.
const EQUAL: usize = 6;
/// At most one cell in so many is listed.
const ONE_IN: usize = 4;

impl LinearBuffers {
    /// Solves a table with a common worst value; `false` if it has none, or if rounding could hide what matters.
    pub(in super::super) fn assign_common(&mut self, problem: &Given<'_>) -> bool {
        let (n, m) = problem.node.dim();
        let Some(value) = common_value(problem.node) else { return false };
        // The same answer in any memory order.
        let node = problem.node.as_standard_layout();
        let Some(values) = node.as_slice() else { return false };
        let common = problem.sign() * value;
        if self.unmatched.iter().any(|&price| price < common) {
            return false;
        }
        let listed = &mut self.sparse.listed;
        let task = List { values, value, sign: problem.sign(), width: m, listed };
        let Some(largest) = pulp::Arch::new().dispatch(task) else { return false };
        let largest = self.unmatched.iter().fold(largest, |largest, price| largest.max(price.abs()));
        if largest != 0.0 && !ORDINARY.contains(&largest) {
            return false;
        }
        let is_priced = !self.unmatched.is_empty();
        let prices = &mut self.sparse.prices;
        prices.clear();
        if is_priced {
            prices.extend_from_slice(&self.unmatched);
        } else {
            prices.resize(n, common);
        }
        let rows = Rows { unmatched: Some(prices), ..listed.rows() };
        let ends = self.sparse.core.solve(&rows, &|| problem.goes_on());
        let core = &mut self.sparse.core;
        for (right, &column) in self.right_of.iter_mut().zip(&core.column_of) {
            *right = (column != NONE).then_some(column as usize);
        }
        if !ends {
            self.stop(problem);
            return true;
        }
        if !is_priced {
            let mut free = (0..m).filter(|&k| core.columns[k].row == NONE);
            for right in self.right_of.iter_mut().filter(|right| right.is_none()) {
                *right = free.next();
            }
        }
        self.left.copy_from_slice(&core.left);
        self.right.copy_from_slice(&core.right);
        if n > m && !is_priced {
            // The right nodes choose: the whole table is one crowd.
            self.left.iter_mut().for_each(|left| *left -= common);
            self.right.iter_mut().for_each(|right| *right += common);
            self.crowd.left.extend(0..n);
            self.crowd.right.extend(0..m);
        }
        let is_proven = self.is_precise(problem, values, common);
        if !is_proven {
            self.begin((n, m));
        }
        is_proven
    }

    /// Whether rounding of the dual values is small compared with what the answer gives up. Dual values of zero take their place if it
    /// gives up nothing.
    fn is_precise(&mut self, problem: &Given<'_>, values: &[f64], common: f64) -> bool {
        let (n, m) = problem.node.dim();
        let Self { sparse, right_of, left, right, crowd, part, .. } = self;
        let rows = sparse.listed.rows();
        let best = &mut sparse.scores;
        let is_tall = !crowd.left.is_empty();
        reset(best, if is_tall { m } else { n }, common);
        if !is_tall {
            best.copy_from_slice(&sparse.prices);
        }
        for row in 0..n {
            for (column, score) in rows.cells(row) {
                let best = &mut best[if is_tall { column as usize } else { row }];
                *best = best.max(score);
            }
        }
        let sign = problem.sign();
        let chosen = |row: usize| right_of[row].map(|column| (column, sign * problem.node[[row, column]]));
        let given_up = |row: usize| match chosen(row) {
            Some((column, score)) => best[if is_tall { column } else { row }] - score,
            None if is_tall => 0.0,
            None => best[row] - sparse.prices[row],
        };
        let loss: f64 = (0..n).map(given_up).sum();
        if loss > 0.0 {
            let column = |row: usize| right_of[row].unwrap_or(usize::MAX);
            let row = |row: usize| &values[row * m..][..m];
            part.clear();
            part.extend((0..n).map(|row| chosen(row).map_or(sparse.prices[row], |(_, score)| score)));
            return Answer { own: part, left, right, column, row, sign }.is_precise(loss);
        }
        let (bests, zeros) = if is_tall { (right, left) } else { (left, right) };
        bests.copy_from_slice(best);
        zeros.fill(0.0);
        true
    }
}

/// The value that most of a few cells from all over the table have.
fn common_value(node: ArrayView2<'_, f64>) -> Option<f64> {
    let cells = node.len();
    if !(FEWEST_CELLS..1 << 31).contains(&cells) {
        return None;
    }
    let (step, mut at) = (cells / 8 * 5 + 3, 0);
    let sampled: [f64; SAMPLE] = from_fn(|_| {
        at += step;
        at -= if at < cells { 0 } else { cells };
        node[[at / node.ncols(), at % node.ncols()]]
    });
    let value = if sampled[0] == sampled[1] { sampled[0] } else { sampled[2] };
    let equal = sampled.iter().filter(|&&other| other == value).count();
    (equal >= EQUAL && value.is_finite()).then_some(value)
}

/// Lists all cells that do not have the common value; the largest magnitude, or `None` if a cell is worse or they are too many.
struct List<'a> {
    values: &'a [f64],
    value: f64,
    sign: f64,
    width: usize,
    listed: &'a mut OwnRows,
}

impl pulp::WithSimd for List<'_> {
    type Output = Option<f64>;

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        let Self { values, value, sign, width, listed } = self;
        let most = values.len() / ONE_IN;
        // The places of the cells in the table, with room for all, so that nothing is allocated on the way.
        reset(&mut listed.columns, most + LANES, 0);
        let (chunks, rest) = values.as_chunks::<LANES>();
        let mut count = 0;
        for (at, chunk) in chunks.iter().enumerate() {
            // First asks whether a whole chunk has any: hits are rare, and that question needs no branch per cell.
            if chunk.map(|other| other != value) != [false; LANES] {
                if count > most {
                    return None;
                }
                for (lane, &other) in chunk.iter().enumerate() {
                    // Always written, kept only if it counts: no branch to mispredict.
                    listed.columns[count] = narrow(at * LANES + lane);
                    count += usize::from(other != value);
                }
            }
        }
        listed.columns.truncate(count);
        let is_listed = |at: &usize| values[*at] != value;
        listed.columns.extend((values.len() - rest.len()..values.len()).filter(is_listed).map(narrow));
        listed.split_rows(values, width, sign);
        let largest = listed.scores.iter().fold(value.abs(), |largest, score| largest.max(score.abs()));
        let is_better = |&score: &f64| score > sign * value && score.is_finite();
        listed.scores.iter().all(is_better).then_some(largest)
    }
}

impl OwnRows {
    /// From the places of cells in a table to their rows, columns and scores.
    fn split_rows(&mut self, values: &[f64], width: usize, sign: f64) {
        let Self { start, columns, scores, column_count } = self;
        *column_count = width;
        start.clear();
        scores.clear();
        let mut row_start = 0;
        start.push(0);
        for (cell, column) in columns.iter_mut().enumerate() {
            let place = *column as usize;
            while place >= row_start + width {
                start.push(cell);
                row_start += width;
            }
            *column -= narrow(row_start);
            scores.push(sign * values[place]);
        }
        start.resize(values.len() / width + 1, columns.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Compatibility, Linear, Matcher, Sense, Workspace, verify};
    use ndarray::{Array1, Array2};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn is_taken(scores: &Array2<f64>, prices: Option<&Array1<f64>>) -> bool {
        let mut buffers = LinearBuffers::default();
        buffers.begin(scores.dim());
        buffers.unmatched.extend(prices.into_iter().flatten());
        let prices = prices.map(|prices| prices.view());
        buffers.assign_common(&Given { node: scores.view(), sense: Sense::Maximize, prices, control: None })
    }

    #[test]
    fn a_common_value_leaves_proofs_and_totals_as_they_are() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut taken = 0;
        for step in 0..60 {
            let (n, m) = [(150, 150), (110, 170), (170, 110)][step % 3];
            let share = [0.002, 0.02, 0.1][step / 3 % 3];
            let values = [1_000_000, 4][step % 2];
            let mut cell = || {
                let is_common = !rng.random_bool(share);
                if is_common { -1.0 } else { f64::from(rng.random_range(0..values)) / f64::from(values) - 1.0 }
            };
            let scores = Array2::from_shape_simple_fn((n, m), &mut cell);
            let prices = (step % 4 == 3).then(|| Array1::from_shape_simple_fn(n, || -rng.random::<f64>()));
            taken += usize::from(is_taken(&scores, prices.as_ref()));
            let problem = Compatibility { unmatched: prices, ..Compatibility::linear(scores.clone()) };
            let answer = Linear::default().solve(&problem).unwrap();
            let bound = verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap()).unwrap();
            assert!(bound - answer.score < 1e-9, "step {step}: {bound} and {}", answer.score);
            // The same with one cell worse than the common value, which is read the ordinary way; it takes at most what that cell can cost.
            let mut other = problem.clone();
            other.node[[n / 2, m / 2]] = -1.5;
            assert!(!is_taken(&other.node, other.unmatched.as_ref()));
            let other = Linear::default().solve(&other).unwrap();
            assert!(other.score <= answer.score + 1e-9 && other.score > answer.score - 1.0, "step {step}");
        }
        assert!(taken > 50, "{taken}");
    }

    #[test]
    fn all_equal_gives_the_identity_and_odd_cells_are_found() {
        let mut costs = Array2::from_elem((140, 150), 1.0);
        assert!(is_taken(&costs, None));
        let answer = |costs: &Array2<f64>| {
            let mut work = Workspace::new();
            Linear::default()
                .assign_matrix(costs.view(), Sense::Minimize, &mut work)
                .map(|right| right.map(<[_]>::to_vec))
        };
        assert_eq!(answer(&costs).unwrap(), Some((0..140).map(Some).collect::<Vec<_>>()));
        costs[[3, 5]] = f64::NAN;
        assert!(answer(&costs).is_err());
        costs[[3, 5]] = f64::NEG_INFINITY;
        assert!(answer(&costs).is_err());
    }
}

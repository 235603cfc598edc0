//! Tables in which most pairs are forbidden, as lists of the rest: reading a table once costs little compared with solving it.

use super::given::Given;
use super::sparse::Sparse;
use crate::Result;

/// Smaller tables are solved as they are.
const FEWEST_CELLS: usize = 700 * 700;
/// A table in which at most one cell in so many is allowed is listed at once: at 1000 rows that and solving the table take equally long.
pub(super) const AT_ONCE: usize = 100;
/// Where some node has no place, a list finds the nodes that compete much sooner than a table, if at most one cell in so many is allowed.
pub(super) const WITHOUT_PLACES: usize = 8;
/// How many rows are examined before deciding to read them all.
const SAMPLE: usize = 8;
/// Beyond these sizes sums may be out of range or lose digits; the table's solver can handle that.
pub(super) const ORDINARY: std::ops::RangeInclusive<f64> = 1e-250..=1e250;

/// The allowed pairs, if at most one in `one_in` is allowed; `prices` are those of staying unmatched, or empty.
///
/// # Errors
/// As the table's solver: NaN, or the infinity that would be taken at any price.
pub(super) fn list(problem: &Given<'_>, prices: &[f64], one_in: usize) -> Result<Option<Sparse>> {
    let (n, m) = problem.node.dim();
    let forbidden = problem.sense.forbidden();
    if n.saturating_mul(m) < FEWEST_CELLS || n > u32::MAX as usize / 2 || m > u32::MAX as usize / 2 {
        return Ok(None);
    }
    let allowed = |row: usize| problem.node.row(row).iter().filter(|&&value| value != forbidden).count();
    let sampled: usize = (0..SAMPLE).map(|at| allowed(at * n / SAMPLE)).sum();
    if sampled * one_in > SAMPLE * m {
        return Ok(None);
    }
    let most = n * m / one_in;
    let (mut start, mut columns, mut scores) = (vec![0], Vec::with_capacity(most), Vec::new());
    let (sign, mut largest) = (problem.sign(), 0.0_f64);
    for row in problem.node.rows() {
        for (k, &value) in row.iter().enumerate().filter(|&(_, &value)| value != forbidden) {
            if !value.is_finite() {
                problem.check()?;
            }
            largest = largest.max(value.abs());
            columns.push(super::sparse::narrow(k));
            scores.push(sign * value);
        }
        if columns.len() > most {
            return Ok(None);
        }
        start.push(columns.len());
    }
    let finite = prices.iter().filter(|price| price.is_finite());
    let largest = finite.fold(largest, |largest, price| largest.max(price.abs()));
    if largest != 0.0 && !ORDINARY.contains(&largest) {
        return Ok(None);
    }
    let prices = (!prices.is_empty()).then(|| prices.to_vec());
    Ok(Some(Sparse::of_rows(m, start, columns, scores, prices)))
}

//! QAPLIB `.dat` files: the quadratic assignment problem of Koopmans and Beckmann.
//!
//! The text is n and two n by n matrices a and b, in free format. Σ_ij a_ij b_(p(i) p(j)) is minimised over permutations p. As a
//! [`Compatibility`] scores are negated costs: node_ik = -a_ii b_kk, and the edge term has the single factor -a_ij times b_kl. Lines
//! make no difference; they are counted for error messages.

use super::{count, malformed, number};
use crate::matching::{Compatibility, EdgeList, EdgeTerm, MAX_CELLS};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

const FORMAT: &str = "QAPLIB";

/// Reads a problem.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
///
/// ```
/// use homolog::matching::Matching;
/// let problem = homolog::data::qaplib::read("2\n\n1 5\n0 0\n\n1 3\n4 1\n")?;
/// // a_00 b_00 + a_01 b_01 + a_11 b_11 = 1·1 + 5·3 + 0·1
/// assert_eq!(problem.score(&Matching::identity(2))?, -16.0);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read(text: &str) -> Result<Compatibility> {
    let mut last = 1;
    let words = text.lines().enumerate().flat_map(|(at, line)| line.split_whitespace().map(move |word| (at + 1, word)));
    let mut words = words.inspect(|&(line, _)| last = line);
    let Some((line, word)) = words.next() else { return malformed(FORMAT, 1, "there is no number of nodes") };
    let n = count(FORMAT, line, word)?;
    let Some(cells) = n.checked_mul(n).filter(|&cells| cells <= MAX_CELLS) else {
        return malformed(FORMAT, line, format!("{n} nodes are too many: at most {MAX_CELLS} pairs"));
    };
    // No more room than the text can fill, whatever n it claims.
    let mut values = Vec::with_capacity(2 * cells.min(text.len()));
    for (line, word) in words.by_ref().take(2 * cells) {
        values.push(number(FORMAT, line, word)?);
    }
    if let Some((line, _)) = words.next() {
        return malformed(FORMAT, line, format!("more than two {n} by {n} matrices"));
    }
    drop(words);
    if values.len() < 2 * cells {
        let reason = format!("two {n} by {n} matrices are {} numbers, there are {}", 2 * cells, values.len());
        return malformed(FORMAT, last, reason);
    }
    let shaped = |values: &[f64]| Array2::from_shape_fn((n, n), |(i, j)| values[i * n + j]);
    problem(shaped(&values[..cells]).view(), shaped(&values[cells..]).view())
}

/// minimise Σ_ij flow_ij distance_(p(i) p(j)), as a problem to maximise.
fn problem(flow: ArrayView2<'_, f64>, distance: ArrayView2<'_, f64>) -> Result<Compatibility> {
    let n = flow.nrows();
    let node = Array2::from_shape_fn((n, n), |(i, k)| 0.0 - flow[[i, i]] * distance[[k, k]]);
    if let Some(((i, k), &value)) = node.indexed_iter().find(|(_, value)| !value.is_finite()) {
        return Err(Error::BadCell { what: "products of the two diagonals", row: i, column: k, value });
    }
    let left = edges_of(flow)?;
    let right = edges_of(distance)?;
    let factors = |edges: &EdgeList, matrix: ArrayView2<'_, f64>, sign: f64| {
        Array2::from_shape_fn((edges.len(), 1), |(e, _)| sign * matrix[edges.ends()[e]])
    };
    let left_factors = factors(&left, flow, -1.0);
    let right_factors = factors(&right, distance, 1.0);
    let edge = EdgeTerm::factored(Arc::new(left), Arc::new(right), left_factors, right_factors)?;
    Ok(Compatibility::linear(node).with_edges(edge))
}

/// The off-diagonal cells that are not zero.
fn edges_of(matrix: ArrayView2<'_, f64>) -> Result<EdgeList> {
    let ends = matrix.indexed_iter().filter(|&((i, j), &value)| i != j && value != 0.0).map(|((i, j), _)| [i, j]);
    EdgeList::new(matrix.nrows(), ends.collect())
}

//! Prices of right nodes without subtracting them from scores, which rounds: as choices of more nodes.
//!
//! Each right node k gets a left node of its own that takes it for its price r_k, and each left node i a right node of its own that stands for
//! staying unmatched, at its price u_i. The new left nodes take the new right nodes for nothing:
//!
//!   [ node_ik   u_i on the diagonal ]
//!   [ r_k on the diagonal         0 ]
//!
//! Whoever has to be matched may not take his own, and now everybody is matched. Nodes that compete for too few right nodes fill these
//! anyway, so both stay as they are. With w = -min_i right_(new i), dual values of the given problem are max(0, right_k - r_k + w).

use super::{Linear, LinearBuffers};
use crate::matching::{Certificate, Compatibility, Matching, Solution, Status};
use crate::{Control, Result};
use ndarray::Array2;

/// The proven answer, if there is one. `folded`: an answer to the same problem.
pub(super) fn solve(
    given: &Compatibility,
    folded: &Solution,
    buffers: &mut LinearBuffers,
    control: Option<&Control>,
) -> Result<Option<Solution>> {
    let Some(prices) = &given.right_unmatched else { return Ok(None) };
    let (n, m) = given.node.dim();
    let crowd = folded.certificate.as_ref().and_then(|certificate| certificate.crowd.as_ref());
    let rows: Vec<usize> = (0..m).filter(|k| crowd.is_none_or(|crowd| !crowd.right.contains(k))).collect();
    let columns: Vec<usize> = (0..n).filter(|i| crowd.is_none_or(|crowd| !crowd.left.contains(i))).collect();
    let node = Array2::from_shape_fn((n + rows.len(), m + columns.len()), |(i, k)| {
        match (i.checked_sub(n).map(|at| rows[at]), k.checked_sub(m).map(|at| columns[at])) {
            (None, None) => given.node[[i, k]],
            (None, Some(own)) if own == i => given.unmatched_score(i),
            (Some(own), None) if own == k => prices[k],
            (Some(_), Some(_)) => 0.0,
            _ => f64::NEG_INFINITY,
        }
    });
    let whole = Linear::default().solve_within(&Compatibility::linear(node), buffers, control)?;
    let Some(certificate) = whole.certificate.filter(|_| whole.status == Status::Optimal) else { return Ok(None) };
    let map = whole.matching.left_to_right()[..n].iter().map(|right| right.filter(|&k| k < m)).collect();
    let matching = Matching::new(map, m, given.constraint)?;
    let score = given.score(&matching)?;
    let (right, new) = certificate.right.split_at(m);
    let least = new.iter().copied().fold(f64::INFINITY, f64::min);
    let least = if new.is_empty() { 0.0 } else { least };
    let is_open = |k: &usize| rows.binary_search(k).is_ok();
    let dual = |k: usize| if is_open(&k) { (right[k] - prices[k] - least).max(0.0) } else { right[k] };
    let certificate =
        Certificate { left: certificate.left[..n].to_vec(), right: (0..m).map(dual).collect(), crowd: crowd.cloned() };
    let shortage = folded.shortage.clone();
    Ok(Some(Solution {
        matching,
        score,
        bound: score,
        iterations: n,
        certificate: Some(certificate),
        shortage,
        ..whole
    }))
}

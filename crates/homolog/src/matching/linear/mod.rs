//! Exact linear assignment on dense rectangular scores, with dual values that prove the answer.
//!
//! maximise Σ_i node_(i, y_i) + Σ_(i unmatched) unmatched_i, one-to-one; worst case O(n² m).
//!
//! The core (`paths`) places every left node by shortest augmenting paths. Three cases are led back to it:
//! more left than right nodes, all of which must be matched (solved transposed); forbidden pairs that leave no place for some node
//! (`crowd` finds the nodes that compete, which splits the problem into two that the core solves); scores so large or small that
//! differences would overflow or lose bits (multiplied by a power of two, which is exact). Many-to-one is the best of each row.
//!
//! **Ties.** The same input gives the same answer. Right nodes are scanned in increasing order and only a strictly better one
//! replaces an earlier one, so all-equal scores give the identity; between other equally good matchings the choice is
//! deterministic but not otherwise specified.
//!
//! It does not take edge scores: it answers [`Error::Unsupported`](crate::Error::Unsupported) rather than drop them.

mod crowd;
mod paths;

use super::{Certificate, Compatibility, Constraint, Matcher, Matching, Shortage, Solution, Status, Workspace};
use crate::{Error, Result};
use paths::{NONE, Scores};
use serde::{Deserialize, Serialize};

/// Exact linear assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Linear {
    /// Fail with [`Error::NoFullMatching`] where forbidden pairs leave a node of the smaller side without a partner, instead of
    /// answering with the best of the largest matchings.
    pub require_full: bool,
}

/// Buffers of the linear solver: nothing is allocated for a problem that is no larger than one solved before.
#[derive(Debug, Default)]
pub struct LinearBuffers {
    core: paths::Buffers,
    /// Scores copied, transposed or scaled where the problem's own cannot be used as they stand.
    scores: Vec<f64>,
    unmatched: Vec<f64>,
    column_of: Vec<usize>,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Matcher for Linear {
    fn solve(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        if problem.edge.is_some() {
            return Err(Error::Unsupported { solver: "linear", what: "edge scores" });
        }
        let crowd = assign(problem, &mut work.linear)?;
        let (n, m) = problem.node.dim();
        let buffers = &work.linear;
        let shortage = crowd.as_ref().filter(|crowd| is_short(problem, crowd));
        if let (true, Some(shortage)) = (self.require_full, shortage) {
            return Err(Error::NoFullMatching { shortage: shortage.clone() });
        }
        let map = buffers.column_of.iter().map(|&column| (column != NONE).then_some(column)).collect();
        let matching = Matching::new(map, m, problem.constraint)?;
        let score = problem.score(&matching)?;
        let shortage = shortage.cloned();
        let certificate = Some(Certificate { left: buffers.left.clone(), right: buffers.right.clone(), crowd });
        Ok(Solution { matching, score, bound: score, status: Status::Optimal, iterations: n, certificate, shortage })
    }
}

/// Whether forbidden pairs, and not just a lack of right nodes, keep nodes from being matched.
fn is_short(problem: &Compatibility, crowd: &Shortage) -> bool {
    let forced = (0..problem.left_count()).filter(|&i| problem.unmatched_score(i) == f64::NEG_INFINITY).count();
    let left_over = crowd.left.len() - crowd.right.len();
    problem.constraint == Constraint::ManyToOne || forced - left_over < forced.min(problem.right_count())
}

/// Solves into the buffers; the answer is the crowd, where not every node that must be matched can be.
fn assign(problem: &Compatibility, buffers: &mut LinearBuffers) -> Result<Option<Shortage>> {
    problem.check()?;
    let (n, m) = problem.node.dim();
    reset(&mut buffers.column_of, n, NONE);
    reset(&mut buffers.left, n, 0.0);
    reset(&mut buffers.right, m, 0.0);
    if problem.constraint == Constraint::ManyToOne {
        return Ok(best_of_each_row(problem, buffers));
    }
    let scale = safe_scale(problem);
    buffers.scores.clear();
    buffers.scores.extend(problem.node.iter().map(|&score| score * scale));
    buffers.unmatched.clear();
    buffers.unmatched.extend(problem.unmatched.iter().flatten().map(|&score| score * scale));
    let everyone_forced = buffers.unmatched.iter().all(|&score| score == f64::NEG_INFINITY);
    let scores = Scores {
        rows: n,
        columns: m,
        values: &buffers.scores,
        unmatched: (!everyone_forced).then_some(&buffers.unmatched),
    };
    let crowd = if n <= m || !everyone_forced {
        if buffers.core.solve(&scores) {
            buffers.column_of.copy_from_slice(&buffers.core.column_of);
            buffers.left.copy_from_slice(&buffers.core.left);
            buffers.right.copy_from_slice(&buffers.core.right);
            None
        } else {
            Some(crowd::find(&scores))
        }
    } else {
        Some(crowd::find(&scores))
    };
    if let Some(crowd) = &crowd {
        solve_split(n, m, crowd, everyone_forced, buffers);
    }
    for value in buffers.left.iter_mut().chain(&mut buffers.right) {
        *value /= scale;
    }
    Ok(crowd)
}

fn reset<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

/// Solves the crowd (transposed: its right nodes choose) and the rest apart.
fn solve_split(n: usize, m: usize, crowd: &Shortage, everyone_forced: bool, buffers: &mut LinearBuffers) {
    let mut inside = Vec::with_capacity(crowd.left.len() * crowd.right.len());
    for &k in &crowd.right {
        inside.extend(crowd.left.iter().map(|&i| buffers.scores[i * m + k]));
    }
    let transposed = Scores { rows: crowd.right.len(), columns: crowd.left.len(), values: &inside, unmatched: None };
    let placed = buffers.core.solve(&transposed);
    debug_assert!(placed, "a crowd fills its right nodes");
    for (row, &k) in crowd.right.iter().enumerate() {
        buffers.right[k] = buffers.core.left[row];
        if buffers.core.column_of[row] != NONE {
            buffers.column_of[crowd.left[buffers.core.column_of[row]]] = k;
        }
    }
    for (column, &i) in crowd.left.iter().enumerate() {
        buffers.left[i] = buffers.core.right[column];
    }
    let rest_left: Vec<usize> = (0..n).filter(|i| crowd.left.binary_search(i).is_err()).collect();
    let rest_right: Vec<usize> = (0..m).filter(|k| crowd.right.binary_search(k).is_err()).collect();
    let mut outside = Vec::with_capacity(rest_left.len() * rest_right.len());
    for &i in &rest_left {
        outside.extend(rest_right.iter().map(|&k| buffers.scores[i * m + k]));
    }
    let unmatched: Vec<f64> =
        if everyone_forced { Vec::new() } else { rest_left.iter().map(|&i| buffers.unmatched[i]).collect() };
    let rest = Scores {
        rows: rest_left.len(),
        columns: rest_right.len(),
        values: &outside,
        unmatched: (!everyone_forced).then_some(&unmatched),
    };
    let placed = buffers.core.solve(&rest);
    debug_assert!(placed, "outside the crowd everybody has a place");
    for (row, &i) in rest_left.iter().enumerate() {
        buffers.left[i] = buffers.core.left[row];
        if buffers.core.column_of[row] != NONE {
            buffers.column_of[i] = rest_right[buffers.core.column_of[row]];
        }
    }
    for (column, &k) in rest_right.iter().enumerate() {
        buffers.right[k] = buffers.core.right[column];
    }
}

/// Many-to-one: each left node takes its best right node, the smallest on ties, or stays unmatched where that scores more.
fn best_of_each_row(problem: &Compatibility, buffers: &mut LinearBuffers) -> Option<Shortage> {
    let mut stranded = Vec::new();
    for (i, row) in problem.node.rows().into_iter().enumerate() {
        let mut best = f64::NEG_INFINITY;
        for (k, &score) in row.iter().enumerate() {
            if score > best {
                best = score;
                buffers.column_of[i] = k;
            }
        }
        if problem.unmatched_score(i) > best {
            best = problem.unmatched_score(i);
            buffers.column_of[i] = NONE;
        }
        if best == f64::NEG_INFINITY {
            stranded.push(i);
            best = 0.0;
        }
        buffers.left[i] = best;
    }
    (!stranded.is_empty()).then_some(Shortage { left: stranded, right: Vec::new() })
}

/// A power of two that brings the scores to where sums neither overflow nor lose bits to denormals; 1 for all ordinary scores.
fn safe_scale(problem: &Compatibility) -> f64 {
    // Room for the sum of 2^60 terms at the top; 2^-960 leaves more than 53 bits above the smallest normal number.
    let (high, low) = (2.0_f64.powi(960), 2.0_f64.powi(-900));
    let scores = problem.node.iter().chain(problem.unmatched.iter().flatten());
    let largest = scores.filter(|score| score.is_finite()).fold(0.0, |largest: f64, score| largest.max(score.abs()));
    if largest > high {
        2.0_f64.powi(-128)
    } else if largest > 0.0 && largest < low {
        2.0_f64.powi(512)
    } else {
        1.0
    }
}

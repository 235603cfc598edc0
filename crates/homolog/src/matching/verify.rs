//! A proof of optimality that does not trust the solver: from dual values alone, an upper bound on every feasible matching.
//!
//! Without a crowd, for any right values r >= 0 and any matching y,
//!
//!   score(y) <= Σ_i max(unmatched_i, max_k (node_ik - r_k)) + Σ_k r_k
//!
//! because each left node's contribution is at most its term and each right node pays back its r at most once. At the optimum the
//! two sides agree. Only the right values are read; the left ones are recomputed, so wrong duals give a weak bound, never a
//! false one.
//!
//! With a crowd (left nodes L that all must be matched, may go only to right nodes R, and |L| > |R|) and a matching that fills all
//! of R from L and matches every other left node that must be: every largest matching does the same, so the problem splits. Inside
//! the crowd it is the right nodes that must be matched, and with left values l >= 0 the bound is
//! Σ_(k in R) max_(i in L) (node_ik - l_i) + Σ_(i in L) l_i. Outside it is as above, right nodes R excluded.

use super::{Certificate, Compatibility, Constraint, Matching};
use crate::{Error, Result};

/// An upper bound on the score of every feasible matching of a linear problem, from a certificate. The matching is optimal to
/// within `bound - score(matching)`: zero but for rounding if the certificate is any good.
///
/// # Errors
/// The problem is not linear; sizes disagree; the crowd is not one, or the matching does not show that it is unavoidable.
///
/// ```
/// use homolog::matching::{Compatibility, Linear, Matcher, Workspace, verify};
/// let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
/// let answer = Linear::default().solve(&problem, &mut Workspace::new())?;
/// let bound = verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap())?;
/// assert_eq!(bound, answer.score);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn verify(problem: &Compatibility, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    problem.check()?;
    problem.score(matching)?;
    if problem.edge.is_some() {
        return Err(Error::Unsupported { solver: "verify", what: "edge scores" });
    }
    let (n, m) = problem.node.dim();
    for (what, expected, found) in [
        ("left values of the certificate", n, certificate.left.len()),
        ("right values of the certificate", m, certificate.right.len()),
    ] {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    let mut in_crowd = vec![false; n];
    let mut crowded = vec![false; m];
    if let Some(crowd) = &certificate.crowd {
        for &i in &crowd.left {
            *in_crowd.get_mut(i).ok_or(Error::OutOfRange { what: "left nodes of the crowd", index: i, count: n })? =
                true;
        }
        for &k in &crowd.right {
            *crowded.get_mut(k).ok_or(Error::OutOfRange { what: "right nodes of the crowd", index: k, count: m })? =
                true;
        }
        check_crowd(problem, matching, &in_crowd, &crowded)?;
    }
    let many = problem.constraint == Constraint::ManyToOne;
    let mut bound = 0.0;
    for i in 0..n {
        if in_crowd[i] {
            bound += if many { 0.0 } else { certificate.left[i].max(0.0) };
        } else {
            let gain = |k: usize| problem.node[[i, k]] - if many { 0.0 } else { certificate.right[k].max(0.0) };
            let best = (0..m).filter(|&k| !crowded[k]).map(gain).fold(problem.unmatched_score(i), f64::max);
            // A node that must be matched and is not, outside any crowd, would make this minus infinity: then the matching is not
            // of the largest size and nothing is proven.
            if best == f64::NEG_INFINITY {
                return Err(Error::BadCertificate { reason: "a left node outside the crowd cannot be matched" });
            }
            bound += best;
        }
    }
    for k in (0..m).filter(|_| !many) {
        if crowded[k] {
            let gain = |i: usize| problem.node[[i, k]] - certificate.left[i].max(0.0);
            bound += (0..n).filter(|&i| in_crowd[i]).map(gain).fold(f64::NEG_INFINITY, f64::max);
        } else {
            bound += certificate.right[k].max(0.0);
        }
    }
    Ok(bound)
}

/// Shows that every largest matching fills the crowd's right nodes from its left nodes and matches all other nodes that must be.
fn check_crowd(problem: &Compatibility, matching: &Matching, in_crowd: &[bool], crowded: &[bool]) -> Result<()> {
    let bad = |reason| Err(Error::BadCertificate { reason });
    for ((i, k), &score) in problem.node.indexed_iter() {
        if in_crowd[i] && !crowded[k] && score > f64::NEG_INFINITY {
            return bad("a left node of the crowd may go to a right node outside it");
        }
    }
    for i in 0..in_crowd.len() {
        let forced = problem.unmatched_score(i) == f64::NEG_INFINITY;
        if in_crowd[i] && !forced {
            return bad("a left node of the crowd may stay unmatched at a price");
        }
        if !in_crowd[i] && forced && matching.right_of(i).is_none() {
            return bad("a left node outside the crowd is not matched");
        }
    }
    let filled = |k: usize| matching.left_of(k).is_some_and(|i| in_crowd[i]);
    if (0..crowded.len()).any(|k| crowded[k] && !filled(k)) {
        return bad("a right node of the crowd is not matched within it");
    }
    Ok(())
}

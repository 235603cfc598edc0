//! [`verify`](crate::matching::verify) for sparse problems: from dual values alone, an upper bound on every feasible matching. The
//! formulas and the reasons are those of the dense version; prices of right nodes are subtracted from the scores and added at the end.

use super::Sparse;
use crate::matching::{Certificate, Matching};
use crate::{Error, Result};

/// An upper bound on the score of every feasible matching, from a certificate. The matching is optimal to within
/// `bound - score(matching)`, which is zero up to rounding if the certificate is any good. Time and memory are linear in the pairs.
///
/// # Errors
/// Sizes disagree; the crowd is not one, or the matching does not show that it is unavoidable.
pub fn verify_sparse(problem: &Sparse, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    problem.score(matching)?;
    let (n, m) = (problem.left_count(), problem.right_count());
    for (what, expected, found) in [
        ("left values of the certificate", n, certificate.left.len()),
        ("right values of the certificate", m, certificate.right.len()),
    ] {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    let (mut in_crowd, mut crowded) = (vec![false; n], vec![false; m]);
    if let Some(crowd) = &certificate.crowd {
        mark("left nodes of the crowd", &crowd.left, &mut in_crowd)?;
        mark("right nodes of the crowd", &crowd.right, &mut crowded)?;
        check_crowd(problem, matching, &in_crowd, &crowded)?;
    }
    // The most each right node of the crowd is worth to a left node of the crowd.
    let mut worth = vec![f64::NEG_INFINITY; m];
    let mut bound = 0.0;
    for i in 0..n {
        let pairs = problem.row(i).map(|(k, score)| (k, score - problem.right_unmatched_score(k)));
        if in_crowd[i] {
            let own = certificate.left[i].max(0.0);
            pairs.for_each(|(k, score)| worth[k] = worth[k].max(score - own));
            bound += own;
        } else {
            let open = pairs.filter(|&(k, _)| !crowded[k]);
            let gains = open.map(|(k, score)| score - certificate.right[k].max(0.0));
            let best = gains.fold(problem.unmatched_score(i), f64::max);
            // Then the matching is not as large as possible, and nothing is proven.
            if best == f64::NEG_INFINITY {
                return Err(Error::BadCertificate { reason: "a left node outside the crowd cannot be matched" });
            }
            bound += best;
        }
    }
    for k in 0..m {
        bound += if crowded[k] { worth[k] } else { certificate.right[k].max(0.0) };
        bound += problem.right_unmatched_score(k);
    }
    Ok(bound)
}

fn mark(what: &'static str, nodes: &[usize], marks: &mut [bool]) -> Result<()> {
    let count = marks.len();
    for &index in nodes {
        *marks.get_mut(index).ok_or(Error::OutOfRange { what, index, count })? = true;
    }
    Ok(())
}

/// Shows that every largest matching fills the crowd's right nodes from its left nodes and matches all other nodes that must be matched.
fn check_crowd(problem: &Sparse, matching: &Matching, in_crowd: &[bool], crowded: &[bool]) -> Result<()> {
    let bad = |reason| Err(Error::BadCertificate { reason });
    for i in 0..in_crowd.len() {
        let forced = problem.unmatched_score(i) == f64::NEG_INFINITY;
        if in_crowd[i] {
            if !forced {
                return bad("a left node of the crowd may stay unmatched at a price");
            }
            if problem.row(i).any(|(k, _)| !crowded[k]) {
                return bad("a left node of the crowd may go to a right node outside it");
            }
        } else if forced && matching.right_of(i).is_none() {
            return bad("a left node outside the crowd is not matched");
        }
    }
    let filled = |k: usize| matching.left_of(k).is_some_and(|i| in_crowd[i]);
    if (0..crowded.len()).any(|k| crowded[k] && !filled(k)) {
        return bad("a right node of the crowd is not matched within it");
    }
    Ok(())
}

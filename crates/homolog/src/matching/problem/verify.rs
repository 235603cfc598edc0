//! A proof of optimality that does not rely on the solver: from dual values alone, an upper bound on every feasible matching.
//!
//! Without a crowd, for any right values r >= 0 and any matching y that matches all left nodes that must be matched,
//!
//!   score(y) <= Σ_i max(unmatched_i, max_k (node_ik - r_k)) + Σ_k r_k
//!
//! because each left node's contribution is at most its term and each right node pays back its r at most once. At the optimum the
//! two sides agree. Only the right values are read; the left ones are recomputed, so wrong duals give a weak bound, never a
//! false one. The given matching itself shows that every feasible matching matches all of them.
//!
//! With a crowd (left nodes L that all must be matched and may go only to right nodes R, with |L| > |R|) and a matching that fills all
//! of R from L and matches every other left node that must be matched: every largest matching does the same, so the problem splits. Inside
//! the crowd it is the right nodes that must be matched, and with left values l >= 0 the bound is
//! Σ_(k in R) max_(i in L) (node_ik - l_i) + Σ_(i in L) l_i. Outside it is as above, without the right nodes R. Where right nodes can be
//! shared, only left nodes that may go nowhere form a crowd: R is empty.
//!
//! Prices of right nodes count as in the problem: node_ik - price_k stands for node_ik, and Σ_k price_k is added. All sums and differences
//! are carried with twice the digits and the result is rounded up, so rounding never makes the bound false.

use super::Precise;
use crate::matching::{Certificate, Compatibility, Constraint, Matching};
use crate::{Error, Result};

/// An upper bound on the score of every feasible matching of a linear problem, from a certificate. The matching is optimal to
/// within `bound - score(matching)`, which is zero up to rounding if the certificate is any good.
///
/// # Errors
/// The problem is not linear; sizes disagree; the certificate has numbers that are not finite; the crowd is not one, or the matching
/// does not show that every left node it leaves over has to be left over.
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
    for (what, expected, values) in [
        ("left values of the certificate", n, &certificate.left),
        ("right values of the certificate", m, &certificate.right),
    ] {
        if expected != values.len() {
            return Err(Error::Size { what, expected, found: values.len() });
        }
        if let Some((index, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(Error::BadEntry { what, index, value });
        }
    }
    if matching.constraint() == Constraint::ManyToOne && problem.constraint == Constraint::OneToOne {
        return Err(Error::BadCertificate { reason: "the matching is many-to-one, the problem is not" });
    }
    let mut in_crowd = vec![false; n];
    let mut crowded = vec![false; m];
    if let Some(crowd) = &certificate.crowd {
        mark(&mut in_crowd, &crowd.left, "left nodes of the crowd")?;
        mark(&mut crowded, &crowd.right, "right nodes of the crowd")?;
    }
    check_crowd(problem, matching, &in_crowd, &crowded)?;
    let bound = bound(problem, certificate, &in_crowd, &crowded)?.rounded_up();
    if bound.is_finite() { Ok(bound) } else { Err(Error::Overflow { what: "dual values", largest: bound }) }
}

fn mark(flags: &mut [bool], nodes: &[usize], what: &'static str) -> Result<()> {
    let count = flags.len();
    for &index in nodes {
        *flags.get_mut(index).ok_or(Error::OutOfRange { what, index, count })? = true;
    }
    Ok(())
}

fn bound(problem: &Compatibility, certificate: &Certificate, in_crowd: &[bool], crowded: &[bool]) -> Result<Precise> {
    let (n, m) = problem.node.dim();
    let many = problem.constraint == Constraint::ManyToOne;
    let price = |k: usize| problem.right_unmatched.as_ref().map_or(0.0, |prices| prices[k]);
    // node_ik - price_k - dual; none for forbidden pairs.
    let gain = |i: usize, k: usize, dual: f64| {
        let score = problem.node[[i, k]];
        (score > f64::NEG_INFINITY).then(|| Precise::difference(score, price(k)).minus(Precise::new(dual.max(0.0))))
    };
    let largest = |gains: &mut dyn Iterator<Item = Precise>| gains.reduce(Precise::max);
    let mut bound: Precise = (0..m).map(|k| Precise::new(price(k))).sum();
    for i in 0..n {
        if in_crowd[i] {
            bound = bound.plus(Precise::new(if many { 0.0 } else { certificate.left[i].max(0.0) }));
            continue;
        }
        let dual = |k: usize| if many { 0.0 } else { certificate.right[k] };
        let rest = Some(problem.unmatched_score(i)).filter(|score| score.is_finite()).map(Precise::new);
        let pairs = (0..m).filter(|&k| !crowded[k]).filter_map(|k| gain(i, k, dual(k)));
        let best = largest(&mut pairs.chain(rest));
        let reason = "a left node outside the crowd cannot be matched";
        bound = bound.plus(best.ok_or(Error::BadCertificate { reason })?);
    }
    for k in (0..m).filter(|_| !many) {
        if !crowded[k] {
            bound = bound.plus(Precise::new(certificate.right[k].max(0.0)));
            continue;
        }
        let best = largest(&mut (0..n).filter(|&i| in_crowd[i]).filter_map(|i| gain(i, k, certificate.left[i])));
        let reason = "a right node of the crowd cannot be matched within it";
        bound = bound.plus(best.ok_or(Error::BadCertificate { reason })?);
    }
    Ok(bound)
}

/// Shows that every largest matching fills the crowd's right nodes from its left nodes and matches all other nodes that must be matched.
fn check_crowd(problem: &Compatibility, matching: &Matching, in_crowd: &[bool], crowded: &[bool]) -> Result<()> {
    let bad = |reason| Err(Error::BadCertificate { reason });
    if problem.constraint == Constraint::ManyToOne && crowded.contains(&true) {
        return bad("right nodes can be shared: none is too few");
    }
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
            return bad("a left node that must be matched is neither matched nor in a crowd");
        }
    }
    let filled = |k: usize| matching.left_of(k).is_some_and(|i| in_crowd[i]);
    if (0..crowded.len()).any(|k| crowded[k] && !filled(k)) {
        return bad("a right node of the crowd is not matched within it");
    }
    Ok(())
}

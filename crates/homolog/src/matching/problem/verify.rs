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
//! are carried with twice the digits and the result is rounded up, so rounding never makes the bound false. Problems of every form are read
//! row by row ([`ByRow`]).
//!
//! How far the bound is above a matching's score is added up from differences of single rows,
//! Σ_i (max_k (s_ik - r_k) - (s_iy - r_y)) + Σ_(k free) r_k, which loses no digits to scores that all matchings share.

use super::{Form, Precise, Problem, score_of};
use crate::matching::{Certificate, Compatibility, Constraint, EdgeTerm, Matching};
use crate::{Error, Result};
use std::borrow::Cow;

/// A problem row by row.
pub(in crate::matching) trait ByRow {
    /// The numbers of left and right nodes.
    fn sizes(&self) -> (usize, usize);
    /// The right nodes that a left node may go to, with their scores.
    fn row(&self, left: usize) -> impl Iterator<Item = (usize, f64)>;
    /// The score of a pair, if it is allowed.
    fn pair_score(&self, left: usize, right: usize) -> Option<f64>;
    /// The score of leaving a left node unmatched: minus infinity if it must be matched.
    fn unmatched_score(&self, left: usize) -> f64;
    /// The score of leaving a right node unmatched.
    fn right_unmatched_score(&self, right: usize) -> f64;
    /// Whether any right node has such a score.
    fn has_right_prices(&self) -> bool;
    /// The edge scores, if there are any.
    fn edge(&self) -> Option<&EdgeTerm> {
        None
    }
    /// Whether several left nodes may go to the same right node.
    fn is_shared(&self) -> bool {
        false
    }
}

impl ByRow for Compatibility {
    fn sizes(&self) -> (usize, usize) {
        self.node.dim()
    }

    fn row(&self, left: usize) -> impl Iterator<Item = (usize, f64)> {
        let row = self.node.row(left).into_iter().copied().enumerate();
        row.filter(|&(_, score)| score > f64::NEG_INFINITY)
    }

    fn pair_score(&self, left: usize, right: usize) -> Option<f64> {
        Some(self.node[[left, right]]).filter(|&score| score > f64::NEG_INFINITY)
    }

    fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched_score(left)
    }

    fn right_unmatched_score(&self, right: usize) -> f64 {
        self.right_unmatched.as_ref().map_or(0.0, |prices| prices[right])
    }

    fn has_right_prices(&self) -> bool {
        self.right_unmatched.is_some()
    }

    fn edge(&self) -> Option<&EdgeTerm> {
        self.edge.as_ref()
    }

    fn is_shared(&self) -> bool {
        self.constraint == Constraint::ManyToOne
    }
}

/// An upper bound on the score of every feasible matching of a linear problem, from a certificate. The matching is optimal to
/// within `bound - score(matching)`, which is zero up to rounding if the certificate is any good. Time and memory are linear in the scores
/// that are given.
///
/// # Errors
/// The problem is not linear; sizes disagree; the certificate has numbers that are not finite; the crowd is not one, or the matching
/// does not show that every left node it leaves over has to be left over.
///
/// ```
/// use homolog::matching::{Compatibility, Linear, Matcher, verify};
/// let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
/// let answer = Linear::default().solve(&problem)?;
/// let bound = verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap())?;
/// assert_eq!(bound, answer.score);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn verify(problem: &dyn Problem, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    match problem.form() {
        Form::Table(table) => {
            table.check()?;
            verify_by_row(table, matching, certificate)
        }
        Form::List(list) => verify_by_row(list, matching, certificate),
        Form::Rows(rows) => {
            rows.check()?;
            rows.check_scores()?;
            verify_by_row(rows, matching, certificate)
        }
    }
}

fn verify_by_row(problem: &impl ByRow, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    score_of(problem, matching)?;
    if problem.edge().is_some() {
        return Err(Error::Unsupported { solver: "verify", what: "edge scores" });
    }
    if matching.constraint() == Constraint::ManyToOne && !problem.is_shared() {
        return Err(Error::BadCertificate { reason: "the matching is many-to-one, the problem is not" });
    }
    Proof::new(problem, matching, certificate)?.bound()
}

/// A left or a right node's term of the bound, and what it comes to in the matching.
struct Term {
    best: Precise,
    own: Precise,
}

/// A certificate that fits its problem and matching.
pub(in crate::matching) struct Proof<'a, P> {
    problem: &'a P,
    matching: &'a Matching,
    certificate: Cow<'a, Certificate>,
    in_crowd: Vec<bool>,
    crowded: Vec<bool>,
}

impl<'a, P: ByRow> Proof<'a, P> {
    /// The matching must be one of the problem.
    pub(in crate::matching) fn new(
        problem: &'a P,
        matching: &'a Matching,
        certificate: &'a Certificate,
    ) -> Result<Self> {
        let (n, m) = problem.sizes();
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
        let (mut in_crowd, mut crowded) = (vec![false; n], vec![false; m]);
        if let Some(crowd) = &certificate.crowd {
            mark(&mut in_crowd, &crowd.left, "left nodes of the crowd")?;
            mark(&mut crowded, &crowd.right, "right nodes of the crowd")?;
        }
        check_crowd(problem, matching, &in_crowd, &crowded)?;
        // Right nodes that can be shared pay nothing back.
        let zero = || Certificate::new(vec![0.0; n], vec![0.0; m], None);
        let certificate = if problem.is_shared() { Cow::Owned(zero()) } else { Cow::Borrowed(certificate) };
        Ok(Self { problem, matching, certificate, in_crowd, crowded })
    }

    /// An upper bound on the score of every feasible matching.
    pub(in crate::matching) fn bound(&self) -> Result<f64> {
        let rows: Precise = self.rows()?.into_iter().map(|row| row.best).sum();
        let columns: Precise = self.columns()?.into_iter().map(|column| column.best).sum();
        let prices = (0..self.crowded.len()).map(|k| Precise::new(self.problem.right_unmatched_score(k)));
        let bound = rows.plus(columns).plus(prices.sum()).rounded_up();
        if bound.is_finite() { Ok(bound) } else { Err(Error::Overflow { what: "dual values", largest: bound }) }
    }

    /// How far that is above the score of the matching; 0 if it is not above.
    pub(in crate::matching) fn excess(&self) -> Result<f64> {
        let terms = self.rows()?.into_iter().chain(self.columns()?);
        let excess: Precise = terms.map(|term| term.best.minus(term.own)).sum();
        // Sums out of range prove nothing.
        Ok(if excess.value().is_finite() { excess.rounded_up().max(0.0) } else { f64::INFINITY })
    }

    /// score - price - dual, exactly.
    fn gain(&self, k: usize, score: f64, dual: f64) -> Precise {
        Precise::difference(score, self.problem.right_unmatched_score(k)).minus(Precise::new(dual.max(0.0)))
    }

    /// The terms of the left nodes.
    fn rows(&self) -> Result<Vec<Term>> {
        (0..self.in_crowd.len()).map(|i| self.row(i)).collect()
    }

    fn row(&self, i: usize) -> Result<Term> {
        let (left, right) = (&self.certificate.left, &self.certificate.right);
        let chosen = self.matching.right_of(i);
        if self.in_crowd[i] {
            // The value of a left node that is matched is in the term of its right node too.
            let best = Precise::new(left[i].max(0.0));
            return Ok(Term { best, own: if chosen.is_some() { best } else { Precise::default() } });
        }
        let floor = Some(self.problem.unmatched_score(i)).filter(|score| score.is_finite()).map(Precise::new);
        let open = || self.problem.row(i).filter(|&(k, _)| !self.crowded[k]);
        // Rounded, to see which pairs can be the best: all others need no care.
        let rounded = |k: usize, score: f64| score - self.problem.right_unmatched_score(k) - right[k].max(0.0);
        let (mut most, mut size, mut own, mut others) = (f64::NEG_INFINITY, 0.0_f64, None, f64::NEG_INFINITY);
        for (k, score) in open() {
            let gain = rounded(k, score);
            most = most.max(gain);
            size = size.max(score.abs() + self.problem.right_unmatched_score(k).abs() + right[k].abs());
            if chosen == Some(k) {
                own = Some((k, score, gain));
            } else {
                others = others.max(gain);
            }
        }
        // Usually the row has what is best for it, by more than rounding.
        let is_clear = |gain: f64| gain - 8.0 * f64::EPSILON * size > others && size < f64::MAX / 8.0;
        if let (Some((k, score, gain)), None) = (own, floor)
            && is_clear(gain)
        {
            let gain = self.gain(k, score, right[k]);
            return Ok(Term { best: gain, own: gain });
        }
        // If that is out of range, every pair needs it.
        let least =
            Some(most - 8.0 * f64::EPSILON * size).filter(|least| least.is_finite()).unwrap_or(f64::NEG_INFINITY);
        let near = open().filter(|&(k, score)| {
            let gain = rounded(k, score);
            gain >= least || gain.is_nan()
        });
        let best = near.map(|(k, score)| self.gain(k, score, right[k])).chain(floor).reduce(Precise::max);
        let own = match chosen {
            Some(k) => self.problem.pair_score(i, k).map(|score| self.gain(k, score, right[k])),
            None => floor,
        };
        // Otherwise the matching is not as large as possible, and nothing is proven.
        let reason = "a left node outside the crowd cannot be matched";
        match (best, own) {
            (Some(best), Some(own)) => Ok(Term { best, own }),
            _ => Err(Error::BadCertificate { reason }),
        }
    }

    /// The terms of the right nodes.
    fn columns(&self) -> Result<Vec<Term>> {
        let (left, right) = (&self.certificate.left, &self.certificate.right);
        // The most each right node of the crowd is worth to a left node of the crowd.
        let mut worth: Vec<Option<Precise>> = vec![None; right.len()];
        for i in (0..left.len()).filter(|&i| self.in_crowd[i]) {
            for (k, score) in self.problem.row(i) {
                let gain = self.gain(k, score, left[i]);
                worth[k] = Some(worth[k].map_or(gain, |most| most.max(gain)));
            }
        }
        let term = |k: usize| {
            let holder = self.matching.left_of(k);
            if !self.crowded[k] {
                // What a right node pays back is in the term of its left node too.
                let best = Precise::new(right[k].max(0.0));
                return Some(Term { best, own: if holder.is_some() { best } else { Precise::default() } });
            }
            let own = holder.and_then(|i| Some(self.gain(k, self.problem.pair_score(i, k)?, left[i])));
            Some(Term { best: worth[k]?, own: own? })
        };
        let reason = "a right node of the crowd cannot be matched within it";
        (0..right.len()).map(|k| term(k).ok_or(Error::BadCertificate { reason })).collect()
    }
}

fn mark(flags: &mut [bool], nodes: &[usize], what: &'static str) -> Result<()> {
    let count = flags.len();
    for &index in nodes {
        *flags.get_mut(index).ok_or(Error::OutOfRange { what, index, count })? = true;
    }
    Ok(())
}

/// Shows that every largest matching fills the crowd's right nodes from its left nodes and matches all other nodes that must be matched.
fn check_crowd(problem: &impl ByRow, matching: &Matching, in_crowd: &[bool], crowded: &[bool]) -> Result<()> {
    let bad = |reason| Err(Error::BadCertificate { reason });
    if problem.is_shared() && crowded.contains(&true) {
        return bad("right nodes can be shared: none is too few");
    }
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
            return bad("a left node that must be matched is neither matched nor in a crowd");
        }
    }
    let filled = |k: usize| matching.left_of(k).is_some_and(|i| in_crowd[i]);
    if (0..crowded.len()).any(|k| crowded[k] && !filled(k)) {
        return bad("a right node of the crowd is not matched within it");
    }
    Ok(())
}

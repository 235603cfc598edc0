//! [`verify`](crate::matching::verify) for sparse problems: from dual values alone, an upper bound on every feasible matching. The
//! formulas and the reasons are those of the dense version; prices of right nodes are subtracted from the scores and added at the end.
//!
//! Everything is carried with twice the digits ([`Precise`]) and rounded up. How far the bound is above a matching's score is added up from
//! differences of single rows, Σ_i (max_k (s_ik - r_k) - (s_iy - r_y)) + Σ_(k free) r_k, which loses no digits to scores that all matchings
//! share.

use super::Sparse;
use crate::matching::problem::{Differences, Precise};
use crate::matching::{Certificate, Matching};
use crate::{Error, Result};

/// An upper bound on the score of every feasible matching, from a certificate. The matching is optimal to within
/// `bound - score(matching)`, which is zero up to rounding if the certificate is any good. Time and memory are linear in the pairs.
///
/// # Errors
/// Sizes disagree; the certificate has numbers that are not finite; the crowd is not one, or the matching does not show that every left node
/// it leaves over has to be left over.
pub fn verify_sparse(problem: &Sparse, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    let proof = Proof::new(problem, matching, certificate)?;
    let rows: Precise = proof.rows()?.into_iter().map(|row| row.best).sum();
    let columns: Precise = proof.columns()?.into_iter().map(|column| column.best).sum();
    let prices: Precise = (0..problem.right_count()).map(|k| Precise::new(problem.right_unmatched_score(k))).sum();
    let bound = rows.plus(columns).plus(prices).rounded_up();
    if bound.is_finite() { Ok(bound) } else { Err(Error::Overflow { what: "dual values", largest: bound }) }
}

/// How far the bound that a certificate proves is above the score of the matching; 0 where it is not above.
pub(super) fn excess(problem: &Sparse, matching: &Matching, certificate: &Certificate) -> Result<f64> {
    let proof = Proof::new(problem, matching, certificate)?;
    let terms = proof.rows()?.into_iter().chain(proof.columns()?);
    let excess: Precise = terms.map(|term| term.best.minus(term.own)).sum();
    // Sums out of range prove nothing.
    Ok(if excess.value().is_finite() { excess.rounded_up().max(0.0) } else { f64::INFINITY })
}

/// How much less the rows have than the best of each, as far as that is certain: [`excess`] with dual values of zero, or a little less. It is zero only
/// where every row has its best.
pub(super) fn given_up(problem: &Sparse, matching: &Matching, zero: &Certificate) -> Result<f64> {
    if zero.crowd.is_some() || problem.right_unmatched.is_some() {
        return excess(problem, matching, zero);
    }
    let (mut sum, chosen) = (0.0, matching.left_to_right());
    for (i, right) in chosen.iter().enumerate() {
        let floor = problem.unmatched_score(i);
        let (mut best, mut own) = (floor, if right.is_none() { floor } else { f64::NAN });
        for (k, score) in problem.row(i) {
            best = best.max(score);
            if *right == Some(k) {
                own = score;
            }
        }
        // Exact where they are equal, else off by rounding.
        sum += best - own;
    }
    // Out of range, or not a matching of the problem: by the careful way.
    if sum.is_finite() { Ok(sum * (1.0 - ROUNDING)) } else { excess(problem, matching, zero) }
}

/// The usual difference between the choices of left nodes at the certificate's right values.
pub(super) fn usual_difference(problem: &Sparse, certificate: &Certificate) -> f64 {
    let mut differences = Differences::default();
    for i in Differences::rows(problem.left_count()) {
        let gain = |(k, score)| score - problem.right_unmatched_score(k) - certificate.right[k];
        let gains: Vec<f64> = problem.row(i).map(gain).chain([problem.unmatched_score(i)]).collect();
        differences.add(gains.into_iter());
    }
    differences.usual()
}

/// Whether the excess is at most this much whatever ordinary numbers lose by rounding: then it need not be known more precisely. `false` says nothing.
pub(super) fn is_surely_within(
    tolerance: f64,
    problem: &Sparse,
    matching: &Matching,
    certificate: &Certificate,
) -> bool {
    let (m, dual) = (problem.right_count(), &certificate.right);
    if certificate.crowd.is_some() || problem.right_unmatched.is_some() || dual.len() != m {
        return false;
    }
    let (mut sum, chosen) = (0.0, matching.left_to_right());
    for (i, right) in chosen.iter().enumerate() {
        let floor = problem.unmatched_score(i);
        let (mut best, mut own) = (floor, if right.is_none() { floor } else { f64::NAN });
        let mut size = if floor.is_finite() { floor.abs() } else { 0.0 };
        for (k, score) in problem.row(i) {
            let dual = dual[k].max(0.0);
            let gain = score - dual;
            best = best.max(gain);
            size = size.max(score.abs() + dual);
            if *right == Some(k) {
                own = gain;
            }
        }
        // Both are off by half a unit in the last place, and so is their difference.
        sum += best - own + 2.0 * f64::EPSILON * size;
    }
    sum += matching.unmatched_right().map(|k| dual[k].max(0.0)).sum::<f64>();
    // Not for NaN.
    sum * (1.0 + ROUNDING) <= tolerance
}

/// More than sums of two billion numbers lose by rounding, as a part of the sum.
const ROUNDING: f64 = 1e-6;

/// A left or a right node's term of the bound, and what it comes to in the matching.
struct Term {
    best: Precise,
    own: Precise,
}

/// A certificate that fits its problem and matching.
struct Proof<'a> {
    problem: &'a Sparse,
    matching: &'a Matching,
    certificate: &'a Certificate,
    in_crowd: Vec<bool>,
    crowded: Vec<bool>,
}

impl<'a> Proof<'a> {
    fn new(problem: &'a Sparse, matching: &'a Matching, certificate: &'a Certificate) -> Result<Self> {
        problem.score(matching)?;
        let (n, m) = (problem.left_count(), problem.right_count());
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
            mark("left nodes of the crowd", &crowd.left, &mut in_crowd)?;
            mark("right nodes of the crowd", &crowd.right, &mut crowded)?;
        }
        check_crowd(problem, matching, &in_crowd, &crowded)?;
        Ok(Self { problem, matching, certificate, in_crowd, crowded })
    }

    /// score - price - dual, exactly.
    fn gain(&self, k: usize, score: f64, dual: f64) -> Precise {
        Precise::difference(score, self.problem.right_unmatched_score(k)).minus(Precise::new(dual.max(0.0)))
    }

    /// The terms of the left nodes.
    fn rows(&self) -> Result<Vec<Term>> {
        (0..self.problem.left_count()).map(|i| self.row(i)).collect()
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
        // Where that is out of range every pair needs it.
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

//! Exact linear assignment on lists of allowed pairs ([`Sparse`]), with dual values that prove the answer.
//!
//! The cases are those of the dense solver, reduced to one core (`core`): prices of right nodes become part of the scores; scores that are
//! far too large or small are multiplied by a power of two; with more left than right nodes, all to be matched, the problem is solved
//! transposed; where some nodes find no place the core names those that compete, and they alone are solved again, transposed, so that the
//! best of them are matched. The rest keep their answer: no other node can use the right nodes that they compete for.
//!
//! It is a core of its own beside the dense one because the inner loops are unlike: a dense row is read in order, whole registers at a
//! time; a list is read through its column numbers, and only what was reached is remembered. Proofs are checked by the same code
//! (`problem/verify.rs`).

mod auction;
mod common;
mod core;
mod narrowed;
mod problem;
mod verify;

pub use problem::Sparse;
use verify::{excess, given_up, is_surely_within, usual_difference};

use self::core::{Core, NONE, Rows};
pub(super) use self::problem::narrow;
use super::Linear;
use super::careful::TOLERANCE;
use super::given::safe_scale;
use crate::matching::problem::PART;
use crate::matching::{Certificate, Constraint, Matcher, Matching, Shortage, Solution, Status, Workspace};
use crate::{Error, Result};

/// A list that could not be proven is solved as a table, with more care, if that has no more cells than this.
const SMALL_TABLE: usize = 1 << 20;

/// Buffers of the sparse solver.
#[derive(Debug, Default)]
pub(super) struct SparseBuffers {
    core: Core,
    inner: Core,
    /// The cells of a table that do not have its common value.
    listed: OwnRows,
    scores: Vec<f64>,
    prices: Vec<f64>,
}

/// Rows that own their memory.
#[derive(Debug, Default)]
struct OwnRows {
    start: Vec<usize>,
    columns: Vec<u32>,
    scores: Vec<f64>,
    column_count: usize,
}

/// Which scores a solve begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    AsGiven,
    /// Less the best of each row, where rounding hid what matters. The right values mean the same; left values are not used for a proof.
    FromRowBest,
}

/// An answer under construction.
struct Answer {
    right_of: Vec<Option<usize>>,
    certificate: Certificate,
    stopped: bool,
}

impl Linear {
    /// Solves a list. If told to stop, the matching is what was found so far, and nothing is proven.
    pub(super) fn solve_list(&self, problem: &Sparse, work: &mut Workspace) -> Result<Solution> {
        let control = work.control().clone();
        let goes_on = || !control.interrupted();
        let answer = work.linear.sparse.solve(problem, Start::AsGiven, &goes_on);
        let (n, m) = (problem.left_count(), problem.right_count());
        let matching = Matching::new(answer.right_of, m, Constraint::OneToOne)?;
        let score = problem.score(&matching)?;
        if !score.is_finite() {
            let largest = problem.scores.iter().fold(0.0, |largest: f64, score| largest.max(score.abs()));
            return Err(Error::Overflow { what: "scores of pairs", largest });
        }
        if answer.stopped {
            let (bound, status) = (f64::INFINITY, Status::Limit);
            return Ok(Solution {
                matching,
                score,
                bound,
                status,
                iterations: n,
                certificate: None,
                shortage: None,
                allowed: 0.0,
            });
        }
        let forced = (0..n).filter(|&i| problem.unmatched_score(i) == f64::NEG_INFINITY).count();
        // Forbidden pairs, and not just a lack of right nodes, keep nodes from being matched.
        let is_short = |crowd: &Shortage| crowd.left.len() - crowd.right.len() > forced.saturating_sub(m);
        let shortage = answer.certificate.crowd.clone().filter(is_short);
        if let Some(shortage) = shortage.clone().filter(|_| self.require_full) {
            return Err(Error::NoFullMatching { shortage });
        }
        let (mut certificate, mut gap) = proven(problem, &matching, answer.certificate)?;
        let (mut matching, mut score) = (matching, score);
        if gap > 0.0 && certificate.crowd.is_none() {
            let again = work.linear.sparse.solve(problem, Start::FromRowBest, &goes_on);
            let other = Matching::new(again.right_of, m, Constraint::OneToOne)?;
            if !again.stopped && again.certificate.crowd.is_none() {
                let (other_certificate, other_gap) = proven(problem, &other, again.certificate)?;
                if other_gap < gap {
                    score = problem.score(&other)?;
                    (matching, certificate, gap) = (other, other_certificate, other_gap);
                }
            }
        }
        if gap > 0.0 && n.saturating_mul(m) <= SMALL_TABLE {
            let table = self.solve_with(&problem.to_dense(), work)?;
            if table.status != Status::Converged {
                return Ok(table);
            }
        }
        let (bound, status) =
            if gap == 0.0 { (score, Status::Optimal) } else { ((score + gap).next_up(), Status::Converged) };
        Ok(Solution {
            matching,
            score,
            bound,
            status,
            iterations: n,
            certificate: Some(certificate),
            shortage,
            allowed: 0.0,
        })
    }
}

/// The certificate, and how far the bound it proves is above the score: 0 within the tolerance, which is a fraction of what the answer
/// gives up compared with the best of each row, and of the usual difference between choices.
fn proven(problem: &Sparse, matching: &Matching, certificate: Certificate) -> Result<(Certificate, f64)> {
    let mut plain = certificate.clone();
    plain.left.fill(0.0);
    plain.right.fill(0.0);
    let given_up = given_up(problem, matching, &plain)?;
    if given_up == 0.0 {
        // Every row has its best; dual values of zero prove it.
        let own = |i: usize| matching.right_of(i).and_then(|k| problem.pair_score(i, k));
        let crowd = plain.crowd.as_ref().map_or(&[][..], |crowd| &crowd.left);
        for i in (0..plain.left.len()).filter(|i| crowd.binary_search(i).is_err()) {
            plain.left[i] = own(i).unwrap_or_else(|| problem.unmatched_score(i));
        }
        return Ok((plain, 0.0));
    }
    let usual = problem.left_count() as f64 * usual_difference(problem, &certificate);
    let tolerance = (TOLERANCE * given_up).min(PART * usual);
    if is_surely_within(tolerance, problem, matching, &certificate) {
        return Ok((certificate, 0.0));
    }
    let gap = excess(problem, matching, &certificate)?;
    Ok((certificate, if gap <= tolerance { 0.0 } else { gap }))
}

impl SparseBuffers {
    /// The best matching and its proof; `None` if there is none within the tolerance, or if `goes_on` says no.
    pub(super) fn prove(
        &mut self,
        problem: &Sparse,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<(Matching, Certificate)>> {
        let answer = self.solve(problem, Start::AsGiven, goes_on);
        if answer.stopped {
            return Ok(None);
        }
        let matching = Matching::new(answer.right_of, problem.right_count(), Constraint::OneToOne)?;
        let (certificate, gap) = proven(problem, &matching, answer.certificate)?;
        Ok((gap == 0.0).then_some((matching, certificate)))
    }

    fn solve(&mut self, problem: &Sparse, start: Start, goes_on: &dyn Fn() -> bool) -> Answer {
        let (n, m) = (problem.left_count(), problem.right_count());
        self.scores.clear();
        self.scores.extend_from_slice(&problem.scores);
        if let Some(prices) = &problem.right_unmatched {
            self.scores.iter_mut().zip(&problem.columns).for_each(|(score, &k)| *score -= prices[k as usize]);
        }
        self.prices.clear();
        self.prices.extend(problem.unmatched.iter().flatten());
        if self.prices.iter().all(|&price| price == f64::NEG_INFINITY) {
            self.prices.clear();
        }
        if start == Start::FromRowBest {
            self.subtract_row_best(&problem.start);
        }
        let finite = self.scores.iter().chain(&self.prices).filter(|score| score.is_finite());
        let scale = safe_scale(finite.fold(0.0, |largest: f64, score| largest.max(score.abs())));
        if scale != 1.0 {
            self.scores.iter_mut().chain(&mut self.prices).for_each(|score| *score *= scale);
        }
        let rows = Rows {
            start: &problem.start,
            columns: &problem.columns,
            scores: &self.scores,
            column_count: m,
            unmatched: (!self.prices.is_empty()).then_some(&self.prices[..]),
        };
        let mut answer = Answer {
            right_of: vec![None; n],
            certificate: Certificate { left: vec![0.0; n], right: vec![0.0; m], crowd: None },
            stopped: false,
        };
        let whole = (0..n, 0..m);
        if n > m && self.prices.is_empty() {
            // If the right nodes all find a place, the whole problem is one crowd.
            let crowd = Shortage { left: whole.0.collect(), right: whole.1.collect() };
            let turned = transposed(&rows, &crowd);
            answer.stopped = !self.inner.solve(&turned.rows(), goes_on);
            if answer.stopped || self.inner.crowd.is_empty() {
                answer.take_crowd(&self.inner, crowd);
                answer.unscale(scale);
                return answer;
            }
        }
        answer.stopped = !self.core.solve(&rows, goes_on);
        answer.take(&self.core);
        if !answer.stopped && !self.core.crowd.is_empty() {
            let mut left: Vec<usize> = self.core.crowd.iter().map(|&row| row as usize).collect();
            left.sort_unstable();
            let right = (0..m).filter(|&k| self.core.columns[k].is_closed()).collect();
            let crowd = Shortage { left, right };
            let turned = transposed(&rows, &crowd);
            answer.stopped = !self.inner.solve(&turned.rows(), goes_on);
            debug_assert!(answer.stopped || self.inner.crowd.is_empty(), "a crowd fills its right nodes");
            answer.take_crowd(&self.inner, crowd);
        }
        answer.unscale(scale);
        answer
    }
}

impl SparseBuffers {
    /// Takes the best that each row can have off all its scores: what all matchings share hides no digits then.
    fn subtract_row_best(&mut self, start: &[usize]) {
        for (row, ends) in start.windows(2).enumerate() {
            let scores = &mut self.scores[ends[0]..ends[1]];
            let price = self.prices.get(row).copied().unwrap_or(f64::NEG_INFINITY);
            let best = scores.iter().copied().fold(price, f64::max);
            if best.is_finite() {
                scores.iter_mut().chain(self.prices.get_mut(row)).for_each(|score| *score -= best);
            }
        }
    }
}

impl OwnRows {
    fn rows(&self) -> Rows<'_> {
        let Self { start, columns, scores, column_count } = self;
        Rows { start, columns, scores, column_count: *column_count, unmatched: None }
    }
}

/// The right nodes of a part as rows, its left nodes as columns. The lists are in order.
fn transposed(rows: &Rows<'_>, part: &Shortage) -> OwnRows {
    let mut place = vec![NONE; rows.column_count];
    part.right.iter().enumerate().for_each(|(at, &k)| place[k] = narrow(at));
    let mut turned =
        OwnRows { start: vec![0; part.right.len() + 1], column_count: part.left.len(), ..OwnRows::default() };
    let cells = || {
        let of_row =
            |(at, &i): (usize, &usize)| rows.cells(i).map(move |(k, score)| (at, k, score)).collect::<Vec<_>>();
        let all = part.left.iter().enumerate().flat_map(of_row);
        all.filter(|&(_, k, _)| place[k as usize] != NONE)
    };
    for (_, k, _) in cells() {
        turned.start[place[k as usize] as usize + 1] += 1;
    }
    (0..part.right.len()).for_each(|k| turned.start[k + 1] += turned.start[k]);
    let mut next = turned.start.clone();
    let count = turned.start[part.right.len()];
    turned.columns.resize(count, 0);
    turned.scores.resize(count, 0.0);
    for (i, k, score) in cells() {
        let at = &mut next[place[k as usize] as usize];
        turned.columns[*at] = narrow(i);
        turned.scores[*at] = score;
        *at += 1;
    }
    turned
}

impl Answer {
    fn take(&mut self, core: &Core) {
        for (right, &column) in self.right_of.iter_mut().zip(&core.column_of) {
            *right = (column != NONE).then_some(column as usize);
        }
        self.certificate.left.copy_from_slice(&core.left);
        self.certificate.right.copy_from_slice(&core.right);
    }

    /// Copies the transposed answer for a part into this one.
    fn take_crowd(&mut self, core: &Core, crowd: Shortage) {
        for &i in &crowd.left {
            self.right_of[i] = None;
        }
        for (row, &k) in crowd.right.iter().enumerate() {
            self.certificate.right[k] = core.left[row];
            if let Some(&i) = crowd.left.get(core.column_of[row] as usize) {
                self.right_of[i] = Some(k);
            }
        }
        for (column, &i) in crowd.left.iter().enumerate() {
            self.certificate.left[i] = core.right[column];
        }
        self.certificate.crowd = Some(crowd);
    }

    fn unscale(&mut self, scale: f64) {
        if scale != 1.0 {
            let Certificate { left, right, .. } = &mut self.certificate;
            left.iter_mut().chain(right).for_each(|value| *value /= scale);
        }
    }
}

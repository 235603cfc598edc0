//! Exact quadratic matching that can be stopped at any time: a matching, an upper bound, and a proof when they meet.
//!
//! 1. The linear relaxation (`lp`) gives upper bounds from its multipliers and candidates from
//!    its soft matchings; a tabu search improves the candidates. On dense graphs bounds are weak and good matchings hard to find,
//!    so the search comes first and gets half of the work.
//! 2. Every pair (i, k) that cannot beat the best matching known is dropped, and the method continues with the smaller
//!    problem from where it was.
//! 3. When the bound stops falling, the search branches on the left or right node whose choices have the least hope left, best
//!    bound first, each child warm-started from its parent.
//!
//! Dense problems of whole numbers in which everyone is matched have bounds of their own (`whole`), from 8 to 16 nodes.
//!
//! A large problem starts from what Frank–Wolfe finds (`soft`); if its relaxation would be too large, that is the answer.
//!
//! On sparse graphs the relaxation is usually tight and nothing is branched on. The cost of an answer cannot be known in advance:
//! limits are settings, a time limit is the caller's interrupt, and the matching and the bound are valid whenever it stops.

mod ascent;
mod branch;
mod incumbent;
mod reduction;
mod tree;
mod whole;

use super::brute_force::matching_count;
use super::k_best::behind;
use super::lp::{Listing, Shifts, build, check_size};
use super::problem::FoldedPrices;
use super::search::{Growth, Tabu};
use super::{
    BruteForce, Compatibility, Form, FrankWolfe, Linear, Matcher, Matching, Problem, Solution, Status, Workspace,
};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use tree::{Root, Tree};

/// A proof is accepted when bound and score agree to this fraction of the score, or of the largest single score that could matter if that
/// is more, after subtracting what all matchings have in common: above the rounding errors of the sums (seen: 1e-14), below any
/// difference that could matter. [`Status::Optimal`] states it.
const PROOF_TOLERANCE: f64 = 1e-12;

/// If numbers are too large beside their differences for a proof (`resolution`), all matchings are tried with twice the digits if there are
/// no more than this, as between 7 and 8 nodes: a tenth of a second.
const MOST_TO_TRY: usize = 400_000;
/// Of no more matchings than this all are tried in any case, which takes less time than the relaxation: 4 nodes with prices, 5 without.
const FEW_TO_TRY: usize = 2000;

/// How often a problem is solved again without large scores that do not matter: if what remains is the rounding of prices, it never helps.
const MOST_ROUNDS: usize = 4;

/// Whoever asks for nothing but a proof may have a relaxation with this many entries: about 1.5 GB.
const MOST_TO_PROVE: usize = 20_000_000;

/// On dense graphs: steps without a better matching, times cells, after which the search is shaken; before the first step of the
/// relaxation, it then gives way.
const PATIENCE: usize = 20;

/// With this many pairs of edges, a few climbs are quicker than the relaxation's first look.
const WORTH_SEARCHING: usize = 1 << 19;
/// A relaxation with fewer entries takes as long as it takes; without a time limit, a larger one gets so many steps times entries: a few
/// seconds. 60 points need up to 5e8 for their proof, 100 points up to 7e8 or far more than anybody waits for (docs/notes/quadratic.md).
const WORTH_WAITING: usize = 1 << 19;
const MOST_WORK: usize = 1_000_000_000;

/// Exact quadratic matching.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Exact {
    /// Stop after this many steps of the relaxation, over all branches.
    pub max_iterations: usize,
    /// Stop after this many branches; the first is the whole problem.
    pub max_branches: usize,
    /// Stop when the bound is within this fraction of the score. 0: continue until it is proven.
    pub gap: f64,
    /// Problems whose relaxation has more entries (left edges times right edges) than this are searched alone: the answer of
    /// [`FrankWolfe`] with its bound.
    pub max_entries: usize,
}

impl Default for Exact {
    /// Limits that a problem of 30 nodes does not come near unless it is one of the hard ones. 4 million entries, of a triangulation of 110
    /// points, take about 300 MB; with many more, a proof takes minutes. Large problems get a second if there is no time limit
    /// ([`Control::timed`](crate::Control::timed)).
    fn default() -> Self {
        Self { max_iterations: 1_000_000, max_branches: 100_000, gap: 0.0, max_entries: 4_000_000 }
    }
}

/// Rows that are computed when they are needed become a table if it has no more cells than this (8 MB): with edges there is no proof otherwise.
const SMALL_TABLE: usize = 1 << 20;

/// How far a solve is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// Steps of the relaxation so far.
    pub iterations: usize,
    /// Branches visited so far.
    pub branches: usize,
    /// Branches waiting.
    pub open: usize,
    /// Score of the best matching so far.
    pub score: f64,
    /// No matching scores more.
    pub bound: f64,
}

impl Matcher for Exact {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.solve_observed(problem, work, &mut |_| ControlFlow::Continue(()))
    }
}

impl Exact {
    /// Solves, telling `observe` every few steps how far it is; `observe` may end the search. Beyond `max_entries` nothing is told.
    ///
    /// # Errors
    /// As [`Matcher::solve`].
    pub fn solve_observed(
        &self,
        problem: &dyn Problem,
        work: &mut Workspace,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        Error::unless_at_least_0_or_infinite("gap", self.gap)?;
        let problem = match problem.form() {
            Form::Table(table) if self.fits(table) => table,
            Form::List(list) => return Linear::default().solve_with(list, work),
            Form::Rows(rows) if rows.edge().is_none() => return Linear::default().solve_with(rows, work),
            Form::Rows(rows) if rows.dim().0.saturating_mul(rows.dim().1) <= SMALL_TABLE => {
                return self.solve_observed(&*rows.table()?, work, observe);
            }
            _ => return search_alone(problem, work),
        };
        let entries = self.entries(problem).unwrap_or_default();
        problem.check()?;
        let folded = FoldedPrices::of(problem);
        let start = quick_start(&folded.problem, work)?;
        let patient = self.within_patience(entries, work);
        let solution = patient.solve_folded(&folded, start, work, observe, true)?;
        decided(problem, folded.carry_back(problem, solution)?, work)
    }

    /// These settings, with fewer steps if the problem is large and there is no time limit.
    fn within_patience(&self, entries: usize, work: &Workspace) -> Self {
        let is_patient = work.control().is_timed() || entries < WORTH_WAITING;
        let most = if is_patient { usize::MAX } else { MOST_WORK / entries };
        Self { max_iterations: self.max_iterations.min(most), ..self.clone() }
    }

    /// Whether the relaxation of a problem has no more than `max_entries`: if not, it is searched alone.
    pub(crate) fn fits(&self, problem: &Compatibility) -> bool {
        self.entries(problem).is_some()
    }

    /// How many entries the relaxation has, if they are not too many.
    fn entries(&self, problem: &Compatibility) -> Option<usize> {
        let edge = problem.edge.as_ref().filter(|edge| !edge.is_empty());
        edge.map_or(Some(0), |edge| check_size(problem, edge, Listing::Tight, self.max_entries).ok())
    }

    /// For callers who have already searched and want the proof: however dense the graphs are, little searching is done here.
    pub(crate) fn prove(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        if let Some(edge) = &problem.edge {
            check_size(problem, edge, Listing::Tight, self.max_entries.max(MOST_TO_PROVE))?;
        }
        problem.check()?;
        let folded = FoldedPrices::of(problem);
        let solution = self.solve_folded(&folded, None, work, &mut |_| ControlFlow::Continue(()), false)?;
        decided(problem, folded.carry_back(problem, solution)?, work)
    }

    fn solve_folded(
        &self,
        folded: &FoldedPrices<'_>,
        quick: Option<Matching>,
        work: &mut Workspace,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
        searches: bool,
    ) -> Result<Solution> {
        let problem = &*folded.problem;
        // Run to completion: whatever happens next, the answer is feasible.
        let start = Linear::default().solve_through(&problem.without_edges(), work)?;
        let Some(edge) = &problem.edge else { return Ok(start) };
        // Folding rounds scores, which that solver does not allow for.
        if folded.is_plain()
            && let Some(answer) = whole::solve(self, problem, &start.matching, searches, work, observe)?
        {
            return Ok(answer);
        }
        let crowd = start.certificate.as_ref().and_then(|certificate| certificate.crowd.as_ref());
        let shifts = Shifts::of(problem, crowd);
        let mut factors = build(problem, edge, &shifts, &start.matching, Listing::Tight);
        if factors.pairs.is_empty() {
            return Ok(start);
        }
        let priced = |i: usize| !shifts.is_crowded_left(i) && problem.unmatched_score(i) > f64::NEG_INFINITY;
        let mut matching = start.matching;
        let (mut iterations, mut rounds) = (0, 0);
        // What a first round has shown holds in the second.
        let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        loop {
            let scale = factors.scale;
            let mut tell = |progress: &Progress| {
                most = most.max(folded.unfolded(shifts.unshifted(progress.score / scale)));
                least = least.min(folded.unfolded_bound(shifts.unshifted_bound(progress.bound / scale))).max(most);
                observe(&Progress { score: most, bound: least, ..*progress })
            };
            let unshift = |score: f64| folded.unfolded(shifts.unshifted(score / scale));
            let gain = gains(problem, &shifts, scale);
            let growth = Growth { gain: &gain, edge, weight: scale, constraint: problem.constraint };
            let search = Tabu::new(&growth, (0..problem.left_count()).map(priced).collect(), 0);
            let root = Root { factors: &factors, dense: searches && search.is_dense(), search };
            let mut tree = Tree::new(self, root, work, &mut tell, &unshift);
            tree.run(&matching, quick.as_ref())?;
            iterations += tree.iterations;
            matching = tree.matching(problem)?;
            let ended = tree.is_proven();
            let open = if ended { tree.leaves_open(problem, &matching, folded.rounding() * scale) } else { None };
            let proven = open.is_some();
            let (bound, room) = (shifts.unshifted_bound(tree.safe_bound() / scale), tree.room());
            // Once more without the large scores that turned out not to matter.
            rounds += 1;
            if ended
                && !proven
                && rounds < MOST_ROUNDS
                && let Some(clamped) = factors.clamped(room)
            {
                factors = clamped;
                continue;
            }
            let score = problem.score(&matching)?;
            return Ok(Solution {
                matching,
                score,
                bound: if proven { score } else { bound.max(score) },
                status: match (proven, ended) {
                    (true, _) => Status::Optimal,
                    (false, true) => Status::Converged,
                    (false, false) => Status::Limit,
                },
                iterations,
                certificate: None,
                shortage: start.shortage,
                allowed: open.map_or(0.0, |open| open / scale),
            });
        }
    }
}

/// The answer itself, or, if rounding kept it from a proof and there are few matchings, the best of them all. If there are very few, a proof
/// is checked too: large scores that cancel in the matching that is second best do not show in the scores themselves.
fn decided(problem: &Compatibility, solution: Solution, work: &mut Workspace) -> Result<Solution> {
    let most = match solution.status {
        Status::Converged => MOST_TO_TRY,
        Status::Optimal if problem.edge.is_some() => FEW_TO_TRY,
        _ => return Ok(solution),
    };
    if matching_count(problem, most) > most {
        return Ok(solution);
    }
    let best = BruteForce { max_matchings: most }.solve_with(problem, work)?;
    let is_kept = best.status != Status::Optimal
        || solution.status == Status::Optimal && behind(problem, &best.matching, &solution.matching) <= 0.0;
    Ok(if is_kept { solution } else { Solution { shortage: solution.shortage, ..best } })
}

/// What a quick search finds, if the relaxation is so large that its first steps take longer.
fn quick_start(problem: &Compatibility, work: &mut Workspace) -> Result<Option<Matching>> {
    let Some(edge) = &problem.edge else { return Ok(None) };
    if edge.left_edges().len().saturating_mul(edge.right_edges().len()) < WORTH_SEARCHING {
        return Ok(None);
    }
    let quick = FrankWolfe { starts: 2, kicks: 0, ..FrankWolfe::default() };
    let found = quick.solve_with(problem, work)?;
    Ok((found.status != Status::Limit).then_some(found.matching))
}

/// The answer of a search, with the bound that goes with it: nothing is proven.
fn search_alone(problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
    let found = FrankWolfe::default().solve_with(problem, work)?;
    Ok(Solution { status: Status::Limit, ..found })
}

/// What the search maximises: the gain of each pair over staying unmatched, shifted and scaled like the factors; minus infinity where
/// no feasible matching has the pair.
fn gains(problem: &Compatibility, shifts: &Shifts, scale: f64) -> Array2<f64> {
    // Far below anything that could win, yet sums of such numbers stay in range.
    let lowest = -1e250;
    Array2::from_shape_fn(problem.node.dim(), |(i, k)| {
        if shifts.is_open(problem, i, k) {
            ((shifts.pair(problem, i, k) - shifts.rest(problem, i).unwrap_or(0.0)) * scale).max(lowest)
        } else {
            f64::NEG_INFINITY
        }
    })
}

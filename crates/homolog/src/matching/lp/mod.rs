//! [`LpRelaxation`]: the linear relaxation of quadratic matching, solved fast, with bounds from both sides.
//!
//! With d_ij(kl) = d(ij, kl) + d(ji, lk) for each pair of left nodes {i, j} that share an edge and each right edge (k, l):
//!
//!   maximise   Σ_ik node_ik y_ik + Σ_i unmatched_i (1 - Σ_k y_ik) + Σ_(ij) Σ_(kl) d_ij(kl) p_ij(kl)
//!   over       y a soft matching (rows and columns as in [`Compatibility`]), p >= 0
//!   subject to Σ_l p_ij(kl) <= y_ik,   Σ_k p_ij(kl) <= y_jl                       marginals of a pair within those of its nodes
//!              Σ_(j neighbour of i) p_ij(kl) <= y_ik  for each i, k, l            star: only one neighbour of i can go to l
//!
//! p_ij(kl) stands for y_ik y_jl; what a pair of nodes does off the right graph's edges scores nothing and is not written down. A
//! right edge whose score is below zero is never used: the relaxation may look away from it. So the relaxed maximum is never below
//! the best matching's score; it is convex in the scores; and where it is attained at a matching that matching is proven best.
//! With many-to-one matchings there are no star constraints, and no columns.
//!
//! Without the star constraints this is the local relaxation of Swoboda and others; with all of them, on complete graphs, it is
//! the level-1 reformulation of Adams and Johnson. On graphs of point sets it is nearly always tight.
//!
//! The method is `halpern`; `bound` turns any of its multipliers into an upper bound, `repair` any of its iterates into a feasible
//! point. On larger problems most steps are taken on the few cells that may still matter (`sift`). A step costs a few operations for each
//! pair of a left and a right edge; 50 to 200 steps are usual.

mod answer;
mod bound;
mod build;
mod clamp;
mod factors;
mod halpern;
#[cfg(test)]
pub(super) mod laws;
mod lower;
mod moving;
mod narrow;
mod pace;
mod repair;
mod resolution;
mod run;
mod shifts;
mod sift;
#[cfg(test)]
mod sift_laws;

pub(crate) use bound::{Outlook, linear_problem};
pub(crate) use build::{Listing, build, check_size};
pub(crate) use factors::Factors;
use factors::Origin;
pub(crate) use halpern::{Average, Halpern, Point, START_WEIGHT};
use lower::Lower;
pub(crate) use moving::Moving;
pub(crate) use pace::Pace;
pub(in crate::matching) use resolution::exchanges;
pub(crate) use resolution::{Resolution, common_step, quantile};
pub(crate) use shifts::Shifts;
use sift::Sifting;

use super::problem::FoldedPrices;
use super::{Compatibility, Linear, Matching, Workspace};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use run::Run;
use serde::{Deserialize, Serialize};

/// Solves the linear relaxation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LpRelaxation {
    /// Stop when bound - value is at most this part of the bound's size, ...
    pub gap: f64,
    /// ... or at most this much.
    pub tolerance: f64,
    /// Stop after this many steps.
    pub max_iterations: usize,
    /// Refuse problems with more entries (left edges times right edges) than this.
    pub max_entries: usize,
}

impl Default for LpRelaxation {
    /// A thousandth; 20 million entries take about 1.5 GB.
    fn default() -> Self {
        Self { gap: 1e-3, tolerance: 0.0, max_iterations: 10_000, max_entries: 20_000_000 }
    }
}

/// Bounds on the relaxed maximum, and a point of the relaxation.
///
/// With prices of right nodes, their part of the score is in `bound` and `value`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Relaxed {
    /// The relaxed maximum, and so every matching's score, is at most this.
    pub bound: f64,
    /// The score of the soft matching below: the relaxed maximum is at least this.
    pub value: f64,
    /// y: one row per left node, one column per right node.
    pub node: Array2<f64>,
    /// How much of each left node stays unmatched.
    pub unmatched: Array1<f64>,
    /// p, where it is not zero.
    pub edges: Vec<EdgeShare>,
    /// A matching that scores as much as the bound allows, if one was found: it is proven best, to within 1e-10 of the largest of its
    /// score and an edge score, once what all matchings have in common is taken off (see [`Status::Optimal`](super::Status::Optimal)), and
    /// only if that is well below the differences between scores.
    pub matching: Option<Matching>,
    /// Steps taken.
    pub iterations: usize,
}

/// How much of a pair of left nodes goes to a pair of right nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EdgeShare {
    /// i and j, i < j.
    pub left: [usize; 2],
    /// k and l, where i and j go.
    pub right: [usize; 2],
    /// p_ij(kl).
    pub share: f64,
}

/// Where a solve ended, for the next one on the same graphs with other scores. In single precision, as it is only a start: a pair of
/// 30 nodes takes about 100 kB.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// Variables and multipliers, scaled.
    parts: [Vec<f32>; 6],
    /// What the scores were multiplied by.
    scale: f64,
    /// The method's weight.
    weight: f64,
}

impl Relaxed {
    /// A point of the relaxation by itself: nothing is said of what it is worth.
    #[must_use]
    pub fn point(node: Array2<f64>, unmatched: Array1<f64>, edges: Vec<EdgeShare>) -> Self {
        let (bound, value) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { bound, value, node, unmatched, edges, matching: None, iterations: 0 }
    }
}

impl LpRelaxation {
    /// Solves from scratch.
    ///
    /// # Errors
    /// Bad input; [`Error::TooLarge`] beyond `max_entries`.
    pub fn solve(&self, problem: &Compatibility) -> Result<Relaxed> {
        self.solve_with(problem, &mut Workspace::new())
    }

    /// [`Self::solve`] with buffers that are reused, under the workspace's [`Control`](crate::Control).
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_with(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Relaxed> {
        self.solve_from(problem, &mut WarmStart::default(), work)
    }

    /// Solves from where another solve on the same graphs ended, and leaves there where this one ends.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_from(&self, problem: &Compatibility, warm: &mut WarmStart, work: &mut Workspace) -> Result<Relaxed> {
        self.check()?;
        if let Some(edge) = &problem.edge {
            check_size(problem, edge, Listing::Edges, self.max_entries)?;
        }
        problem.check()?;
        let folded = FoldedPrices::of(problem);
        let mut relaxed = self.solve_folded(&folded, warm, work)?;
        if !folded.is_plain() {
            relaxed.bound = folded.unfolded_bound(relaxed.bound);
            relaxed.value = folded.unfolded(relaxed.value);
        }
        Ok(relaxed)
    }

    /// Refuses settings out of range.
    pub(crate) fn check(&self) -> Result<()> {
        Error::unless_at_least_0_or_infinite("gap", self.gap)?;
        Error::unless_at_least_0_or_infinite("tolerance", self.tolerance)
    }

    fn solve_folded(&self, folded: &FoldedPrices<'_>, warm: &mut WarmStart, work: &mut Workspace) -> Result<Relaxed> {
        self.solve_sifting(folded, warm, Sifting::default(), work).map(|(relaxed, _)| relaxed)
    }

    /// The answer, and how often it was sifted for it.
    fn solve_sifting(
        &self,
        folded: &FoldedPrices<'_>,
        warm: &mut WarmStart,
        sifting: Sifting,
        work: &mut Workspace,
    ) -> Result<(Relaxed, usize)> {
        let problem = &*folded.problem;
        // To its end: whatever comes, the answer is feasible.
        let linear = Linear::default().solve_through(&problem.without_edges(), work)?;
        let Some(edge) = &problem.edge else {
            let proof = linear.certificate.as_ref();
            let is_kept = proof.is_some_and(|certificate| folded.keeps_proof(&linear.matching, certificate));
            let relaxed = answer::from_linear(problem, linear);
            return Ok((Relaxed { matching: relaxed.matching.filter(|_| is_kept), ..relaxed }, 0));
        };
        let crowd = linear.certificate.as_ref().and_then(|certificate| certificate.crowd.as_ref());
        let shifts = Shifts::of(problem, crowd);
        let factors = build(problem, edge, &shifts, &linear.matching, Listing::Edges);
        let mut run = Run::new(problem, &factors, &shifts, (warm, sifting), &linear.matching);
        loop {
            run.look(work)?;
            let wanted = self.tolerance.max(self.gap * run.total_bound().abs());
            if run.gap() <= wanted || run.iterations >= self.max_iterations || work.interrupted() {
                break;
            }
            run.go_on(wanted, self.max_iterations, work)?;
        }
        *warm = WarmStart::new(&run.halpern, factors.scale);
        let rounds = run.sift.rounds;
        Ok((run.finish(folded.rounding()), rounds))
    }
}

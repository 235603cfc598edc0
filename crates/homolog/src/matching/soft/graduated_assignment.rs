//! Graduated assignment (Gold & Rangarajan 1996), the quadratic solver of the paper.
//!
//! At inverse temperature β the soft matching y is replaced by the soft assignment (see `sinkhorn`) of β times the gradient of the
//! score at y; β grows step by step until y is nearly a matching. Computing d by sparse products, a step costs
//! T (|E| m + n |E'|) + n m, and memory grows with n m. The result is turned into a matching by linear assignment, and then improved by
//! local search unless that is turned off, which leaves the published method. Large problems are narrowed to lists of candidate pairs
//! (`listed`), unless the published method is asked for.
//!
//! **Scale.** β is in units of the scores' own size, so that multiplying all scores by a number changes nothing:
//!
//!   unit = ½ (mean_i std_k gain_ik + ρ / max(n, m)),  ρ = norm of the map y -> gradient of the edge part, constants taken out
//!
//! (on lists of candidate pairs a simple bound on that norm, which matters little if node scores tell nodes apart).
//!
//! The first part is what separates the node scores. The second is where edges alone begin to matter: at a flat y a step of soft
//! assignment multiplies small differences by up to β ρ / m. The authors divide by 100 · mean |D| over all n² m² entries, which is
//! about as much for their 30-node Delaunay graphs, but is far off for other sizes and for dense graphs.
//!
//! **Damping.** Where the score curves downwards along a step (mostly with negative d), full steps would oscillate. The step is
//! then cut to the length that maximises a model of score plus entropy: with Δ the full step, κ = Δ·(gradient difference) < 0 and
//! s = Σ 2 Δ² / (y + y_new), to s / (s - β κ) of itself. The gradient is linear in y, so this costs no extra product.

use super::listed::{self, Listed};
use super::objective::{Feasible, Objective, ValuesOf};
use super::pairs::{Pairs, Values};
use super::problem::{Found, Steps, solve_softly};
use super::sinkhorn::{Sinkhorn, Slack, Soft};
use crate::matching::search::Kicks;
use crate::matching::{Matcher, Problem, Solution, Workspace};
use crate::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Graduated assignment: softassign with slacks under a rising β.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraduatedAssignment {
    /// First β.
    pub beta_start: f64,
    /// β is multiplied by this factor, greater than 1, after each round.
    pub beta_rate: f64,
    /// The rounds end when β reaches this, or earlier if y is a matching by then.
    pub beta_end: f64,
    /// Where y is still undecided at the end (scores of very different sizes), continue until it is not, up to 100 times as far.
    pub freeze: bool,
    /// At most this many assignment steps at each β.
    pub steps_per_beta: usize,
    /// Go to the next β when a step changes y by no more than this per left node (sum of absolute changes; 2 is a complete change).
    pub step_tolerance: f64,
    /// At most this many normalisations of rows and columns in each step.
    pub normalisations: usize,
    /// Stop normalising when right nodes are over- or underfull by no more than this on average.
    pub normalisation_tolerance: f64,
    /// The start is 1 plus up to this much at random in every cell, normalised.
    pub perturbation: f64,
    /// Seed of that perturbation.
    pub seed: u64,
    /// Improve the result by local search; off: the published method.
    pub polish: bool,
}

impl Default for GraduatedAssignment {
    /// The values of the paper's authors, except for the two tolerances, which are theirs divided by 5 and 10 (their measures of change
    /// differ from ours; measured to be worth it), and `freeze` and `polish`, which are ours.
    fn default() -> Self {
        Self {
            beta_start: 0.5,
            beta_rate: 1.075,
            beta_end: 10.0,
            freeze: true,
            steps_per_beta: 4,
            step_tolerance: 0.1,
            normalisations: 30,
            normalisation_tolerance: 0.005,
            perturbation: 0.25,
            seed: 0,
            polish: true,
        }
    }
}

impl Matcher for GraduatedAssignment {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let improve = self.polish.then(Kicks::default);
        let on_lists = |listed: &mut Listed<'_>, work: &mut Workspace| self.anneal_and_round(listed, work);
        if let Some(solution) = listed::solve(problem, self, improve, work, on_lists)? {
            return Ok(solution);
        }
        solve_softly(problem, improve, work, |relaxed, work| self.anneal_and_round(relaxed, work))
    }
}

impl GraduatedAssignment {
    pub(super) fn check(&self) -> Result<()> {
        Error::unless_positive("beta_start", self.beta_start)?;
        Error::unless_positive("beta_end", self.beta_end)?;
        Error::unless_more_than("beta_rate", self.beta_rate, 1.0)?;
        Error::unless_at_least_0("step_tolerance", self.step_tolerance)?;
        Error::unless_at_least_0("normalisation_tolerance", self.normalisation_tolerance)?;
        Error::unless_at_least_0("perturbation", self.perturbation)?;
        Error::unless_counted("steps_per_beta", self.steps_per_beta)?;
        Error::unless_counted("normalisations", self.normalisations)
    }

    /// The matching at the end of the schedule.
    pub(super) fn anneal_and_round<F: Feasible>(&self, problem: &mut F, work: &mut Workspace) -> Result<Found> {
        let slack = problem.slack().clone();
        let (soft, steps) = self.anneal(problem.objective(), &slack, work);
        Ok((vec![problem.round(&soft, work)?], steps))
    }

    /// The soft matching at the end of the schedule.
    pub(super) fn anneal<O: Objective>(
        &self,
        objective: &mut O,
        slack: &Slack,
        work: &Workspace,
    ) -> (Soft<ValuesOf<O>>, Steps) {
        let n = objective.pairs().left_count();
        let mut sinkhorn = Sinkhorn::new(objective.pairs(), self.normalisations, self.normalisation_tolerance);
        let per_unit = unit(objective).recip();
        let mut score = objective.pairs().zeros();
        let mut now = State { soft: self.start(objective, slack, &mut sinkhorn), gradient: score.clone() };
        let mut next = State { soft: now.soft.clone(), gradient: score.clone() };
        let mut steps = Steps { count: 0, interrupted: false };
        objective.edge_gradient(&now.soft.pair, &mut now.gradient);
        let mut beta = self.beta_start;
        while !self.is_over(beta, now.soft.undecided()) {
            for _ in 0..self.steps_per_beta {
                if work.interrupted() {
                    steps.interrupted = true;
                    return (now.soft, steps);
                }
                let cells = objective.gain().cells().iter().zip(now.gradient.cells());
                for (score, (gain, gradient)) in score.cells_mut().iter_mut().zip(cells) {
                    *score = (gain + gradient) * per_unit;
                }
                sinkhorn.assign(objective.pairs(), &score, beta, slack, &mut next.soft);
                objective.edge_gradient(&next.soft.pair, &mut next.gradient);
                let change = next.damp(&now, beta * per_unit);
                std::mem::swap(&mut now, &mut next);
                steps.count += 1;
                if change <= self.step_tolerance * n as f64 {
                    break;
                }
            }
            beta *= self.beta_rate;
        }
        (now.soft, steps)
    }

    /// Whether the schedule has ended.
    fn is_over(&self, beta: f64, undecided: f64) -> bool {
        let end = if self.freeze && undecided > UNDECIDED { LATEST * self.beta_end } else { self.beta_end };
        beta >= end || undecided < DECIDED
    }

    fn start<O: Objective>(&self, objective: &O, slack: &Slack, sinkhorn: &mut Sinkhorn) -> Soft<ValuesOf<O>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let logarithms = objective.gain().mapped(|gain| {
            let start = (self.perturbation * random.random::<f64>()).ln_1p();
            if gain > f64::NEG_INFINITY { start } else { f64::NEG_INFINITY }
        });
        let mut soft = Soft::zeros(objective.pairs());
        sinkhorn.assign(objective.pairs(), &logarithms, 1.0, slack, &mut soft);
        sinkhorn.reset();
        soft
    }
}

/// How far past its end the schedule can go on.
const LATEST: f64 = 100.0;

/// With this much undecided per left node (see [`Soft::undecided`]) it goes on: some nodes have no favourite yet.
const UNDECIDED: f64 = 0.1;

/// With less than this, soft assignment repeats itself, and it ends early.
const DECIDED: f64 = 1e-4;

/// A soft matching and the gradient of the edge part there.
struct State<V> {
    soft: Soft<V>,
    gradient: V,
}

impl<V: Values> State<V> {
    /// Shortens the step from `old` where the score curves downwards along it; returns the sum of absolute changes.
    fn damp(&mut self, old: &Self, beta: f64) -> f64 {
        let (mut curvature, mut change) = (0.0, 0.0);
        let pairs = || self.soft.pair.cells().iter().zip(old.soft.pair.cells());
        let gradients = self.gradient.cells().iter().zip(old.gradient.cells());
        for ((new, old), (gradient, old_gradient)) in pairs().zip(gradients) {
            curvature += (new - old) * (gradient - old_gradient);
            change += (new - old).abs();
        }
        if curvature >= 0.0 {
            return change;
        }
        // Cells where both are zero play no part; the smallest number keeps them from being 0 / 0.
        let size: f64 =
            pairs().map(|(new, old)| 2.0 * (new - old) * (new - old) / (new + old + f64::MIN_POSITIVE)).sum();
        let length = size / (size - beta * curvature);
        let blend = |(new, old): (&mut f64, &f64)| *new = length * *new + (1.0 - length) * old;
        self.soft.pair.cells_mut().iter_mut().zip(old.soft.pair.cells()).for_each(blend);
        self.gradient.cells_mut().iter_mut().zip(old.gradient.cells()).for_each(blend);
        self.soft.rest.iter_mut().zip(&old.soft.rest).for_each(blend);
        change * length
    }
}

/// A unit below this counts as nothing.
const SMALLEST_UNIT: f64 = 1e-150;

/// The unit of β; never zero.
fn unit(objective: &mut impl Objective) -> f64 {
    let nodes = objective.pairs().left_count().max(objective.pairs().right_count());
    let unit = 0.5 * (objective.node_spread() + objective.edge_norm() / nodes as f64);
    // Scores are scaled to about one: anything this small compared with them decides nothing, and its inverse would be out of range.
    if unit > SMALLEST_UNIT { unit } else { 1.0 }
}

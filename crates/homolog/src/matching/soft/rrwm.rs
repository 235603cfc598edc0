//! Reweighted random walks (Cho, Lee & Lee 2010): a walk over candidate pairs, along their affinities (see `affinity`), that each step
//! pulls towards what the one-to-one constraint allows.
//!
//!   x̄ = M x / (largest row sum of M);   y = exp(inflation · x̄ / max x̄), made doubly stochastic;   x = α x̄ + (1 - α) y,
//!
//! where x̄, y and x sum to one, until x no longer moves. x is turned into a matching by linear assignment, and then improved by local
//! search unless that is turned off. A step costs one gradient and one soft assignment.

use super::affinity::{Affinity, divide, sum_over};
use super::objective::Feasible;
use super::pairs::{AllPairs, Pairs};
use super::problem::{Found, SoftProblem, Steps, solve_softly};
use super::sinkhorn::{Sinkhorn, Soft};
use crate::matching::search::Kicks;
use crate::matching::{Matcher, Problem, Solution, Workspace};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Reweighted random walks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rrwm {
    /// α, in [0, 1]: how much of each step is plain walking.
    pub walk: f64,
    /// How sharply the jump prefers strong candidates.
    pub inflation: f64,
    /// At most this many steps.
    pub max_steps: usize,
    /// Stop when a step moves no more than this fraction of x, which sums to one.
    pub tolerance: f64,
    /// At most this many normalisations of rows and columns in each step.
    pub normalisations: usize,
    /// Improve the result by local search; off: the published method.
    pub polish: bool,
}

impl Default for Rrwm {
    /// α = 0.2 and inflation 30 as published; the limits are ours.
    fn default() -> Self {
        Self { walk: 0.2, inflation: 30.0, max_steps: 300, tolerance: 1e-6, normalisations: 100, polish: true }
    }
}

/// Right nodes over- or underfull by this much on average are normalised well enough.
const NORMALISED: f64 = 1e-4;

impl Matcher for Rrwm {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        solve_softly(problem, self.polish.then(Kicks::default), work, |relaxed, work| self.walk_about(relaxed, work))
    }
}

impl Rrwm {
    fn walk_about(&self, relaxed: &mut SoftProblem<'_>, work: &mut Workspace) -> Result<Found> {
        let pairs = AllPairs::of(&relaxed.objective.gain);
        let affinity = Affinity::new(relaxed);
        let mut walk = affinity.candidates.clone();
        let (mut walked, mut jump, mut score) = (walk.clone(), walk.clone(), pairs.zeros());
        let mut sinkhorn = Sinkhorn::new(&pairs, self.normalisations, NORMALISED);
        sum_to_one(&mut walk);
        let mut steps = Steps { count: 0, interrupted: true };
        while steps.count < self.max_steps && !work.interrupted() {
            affinity.product(relaxed, &walk, &mut walked);
            sum_to_one(&mut walked);
            self.inflate(&walked, relaxed, &mut score);
            sinkhorn.assign(&pairs, &score, 1.0, &relaxed.slack, &mut jump);
            sum_to_one(&mut jump);
            let change = self.mix(&walked, &mut jump, &walk);
            std::mem::swap(&mut walk, &mut jump);
            steps.count += 1;
            if change <= self.tolerance {
                steps.interrupted = false;
                break;
            }
        }
        Ok((vec![relaxed.round(&walk, work)?], steps))
    }

    fn check(&self) -> Result<()> {
        Error::unless_between("walk", self.walk, 0.0, 1.0)?;
        Error::unless_at_least_0("inflation", self.inflation)?;
        Error::unless_at_least_0("tolerance", self.tolerance)?;
        Error::unless_counted("normalisations", self.normalisations)
    }

    /// Logarithms of the jump before normalisation, with staying unmatched at 0 as in soft assignment.
    fn inflate(&self, walked: &Soft, relaxed: &SoftProblem<'_>, score: &mut Array2<f64>) {
        let largest = walked.pair.iter().chain(&walked.rest).copied().fold(0.0, f64::max);
        let factor = if largest > 0.0 { self.inflation / largest } else { 0.0 };
        for ((i, k), score) in score.indexed_iter_mut() {
            let allowed = relaxed.objective.gain[[i, k]] > f64::NEG_INFINITY;
            *score = if allowed { factor * (walked.pair[[i, k]] - walked.rest[i]) } else { f64::NEG_INFINITY };
        }
    }

    /// jump = α walked + (1 - α) jump; returns how much that differs from the last x.
    fn mix(&self, walked: &Soft, jump: &mut Soft, last: &Soft) -> f64 {
        let mix = |jump: &mut f64, walked: &f64| *jump = self.walk * walked + (1.0 - self.walk) * *jump;
        jump.pair.zip_mut_with(&walked.pair, mix);
        jump.rest.iter_mut().zip(&walked.rest).for_each(|(jump, walked)| mix(jump, walked));
        sum_over(jump, last, |new, old| (new - old).abs())
    }
}

fn sum_to_one(x: &mut Soft) {
    let sum = sum_over(x, x, |value, _| value);
    if sum > 0.0 {
        divide(x, sum);
    }
}

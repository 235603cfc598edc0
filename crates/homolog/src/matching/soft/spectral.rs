//! Spectral matching (Leordeanu & Hebert 2005): how strongly each candidate pair belongs to the main cluster of mutually agreeing
//! pairs is its entry in the principal eigenvector of the affinities (see `affinity`), found by power iteration. The eigenvector is
//! turned into a matching by linear assignment (the authors take pairs greedily), and then improved by local search unless that is
//! turned off. A step costs one gradient.
//!
//! The iteration uses M + μ, with μ half of M's current stretch: the eigenvectors are the same, and nothing oscillates if M has an
//! eigenvalue near minus its largest one (bipartite graphs).

use super::affinity::{Affinity, divide, divide_by_largest, sum_over};
use super::objective::Feasible;
use super::problem::{Found, SoftProblem, Steps, solve_softly};
use crate::matching::search::Kicks;
use crate::matching::{Matcher, Problem, Solution, Workspace};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Spectral matching.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spectral {
    /// At most this many steps of power iteration.
    pub max_steps: usize,
    /// Stop when a step changes the eigenvector, of length 1, by no more than this.
    pub tolerance: f64,
    /// Improve the result by local search; off: the published method.
    pub polish: bool,
}

impl Default for Spectral {
    /// Our own: the order of the entries settles long before.
    fn default() -> Self {
        Self { max_steps: 300, tolerance: 1e-6, polish: true }
    }
}

impl Matcher for Spectral {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        solve_softly(problem, self.polish.then(Kicks::default), work, |relaxed, work| self.iterate(relaxed, work))
    }
}

impl Spectral {
    fn iterate(&self, relaxed: &mut SoftProblem<'_>, work: &mut Workspace) -> Result<Found> {
        let affinity = Affinity::new(relaxed);
        let mut vector = affinity.candidates.clone();
        normalise(&mut vector);
        let mut next = vector.clone();
        let mut steps = Steps { count: 0, interrupted: true };
        while steps.count < self.max_steps && !work.interrupted() {
            affinity.product(relaxed, &vector, &mut next);
            let stretch = sum_over(&next, &next, |a, b| a * b).sqrt();
            next.pair.scaled_add(0.5 * stretch, &vector.pair);
            next.rest.iter_mut().zip(&vector.rest).for_each(|(next, x)| *next += 0.5 * stretch * x);
            normalise(&mut next);
            let change = sum_over(&vector, &next, |a, b| (a - b) * (a - b)).sqrt();
            std::mem::swap(&mut vector, &mut next);
            steps.count += 1;
            if change <= self.tolerance {
                steps.interrupted = false;
                break;
            }
        }
        Ok((vec![relaxed.round(&vector, work)?], steps))
    }

    fn check(&self) -> Result<()> {
        Error::unless_at_least_0("tolerance", self.tolerance)
    }
}

/// Scales the vector to length 1.
fn normalise(vector: &mut super::sinkhorn::Soft) {
    divide_by_largest(vector);
    let length = sum_over(vector, vector, |a, b| a * b).sqrt();
    if length > 0.0 {
        divide(vector, length);
    }
}

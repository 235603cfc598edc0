//! The relaxed risk: R(w) = mean_n max_y [loss(y) + <w, Phi(y) - Phi(truth_n)>] over soft matchings y, the points of the linear
//! relaxation ([`LpRelaxation`]), and the truth.
//!
//! It is convex in w and nowhere below the structured risk, since every matching is a soft matching; so it bounds the mean slack and,
//! by the paper's lemma, the mean training loss. Each relaxation is solved from both sides and only as precisely as is of use:
//!
//! * the value is that of the multipliers, never below R(w);
//! * the plane is that of a feasible soft matching, slope Phi(y) - Phi(truth) and offset loss(y), never above R anywhere.
//!
//! The gap that the bundle method sees is then an honest one. Each example starts from where its last solve ended. Examples are taken
//! in parallel and added up in their order, so that the number of threads does not matter.

use super::Example;
use super::risk::{Memory, Scratch, part_of, parts_for};
use crate::matching::{Exact, LpRelaxation, Matcher, Relaxed, Status, WarmStart};
use crate::optimize::{Plane, Risk};
use crate::{Error, Result};
use rayon::prelude::*;

/// Rounding errors of the solver's sums, as a part of its bound: nothing closer can be asked for.
const ROUNDING: f64 = 1e-12;
/// Warm starts beyond this many numbers in all (4 bytes each) are not kept; their examples start from scratch each time.
const MOST_KEPT: usize = 1 << 28;

/// The relaxed risk of a set of examples.
pub(super) struct RelaxedRisk<'a> {
    pub(super) examples: &'a [Example],
    solver: LpRelaxation,
    pub(super) memory: Memory,
    parts: usize,
}

/// What one example contributes: an upper bound on its slack, and a plane below it.
struct Slack {
    value: f64,
    plane: Plane,
}

impl<'a> RelaxedRisk<'a> {
    pub(super) fn new(examples: &'a [Example], solver: LpRelaxation, mut memory: Memory) -> Self {
        memory.warm.resize_with(examples.len(), WarmStart::default);
        Self { examples, solver, memory, parts: parts_for(examples.len()) }
    }

    /// Whether the truth of every example is an answer to its problem, as the lemma needs: all nodes matched that can be, unless
    /// they may stay unmatched.
    pub(super) fn is_feasible(&self) -> bool {
        self.examples.iter().all(Example::truth_is_feasible)
    }

    /// How many examples, without their losses, are solved with proof by the relaxation alone.
    pub(super) fn tight(&self, weights: &[f64]) -> Result<usize> {
        let root = Exact { max_branches: 1, max_entries: self.solver.max_entries, ..Exact::default() };
        let tight = |scratch: &mut Scratch, example: &Example| {
            example.instance.compatibility_into(weights, &mut scratch.problem)?;
            example.order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
            match root.solve(&scratch.shuffled, &mut scratch.work) {
                Ok(solution) => Ok(solution.status == Status::Optimal),
                // With edge scores below zero the exact solver lists more than training had to.
                Err(Error::TooLarge { .. }) => Ok(false),
                Err(error) => Err(error),
            }
        };
        let answers: Result<Vec<bool>> = self.examples.par_iter().map_init(Scratch::new, tight).collect();
        Ok(answers?.into_iter().filter(|&tight| tight).count())
    }

    /// Warm starts within the limit, the first examples' before others.
    fn forget(&mut self) {
        let mut total = 0;
        for warm in &mut self.memory.warm {
            total += warm.len();
            if total > MOST_KEPT {
                *warm = WarmStart::default();
            }
        }
    }
}

impl Risk for RelaxedRisk<'_> {
    fn dim(&self) -> usize {
        self.examples.first().map_or(0, |example| example.instance.dim())
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn aim(&mut self, closeness: f64) {
        self.solver.gap = ROUNDING;
        self.solver.tolerance = closeness.max(0.0);
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        let (examples, solver) = (self.examples, &self.solver);
        let slacks: Vec<Slack> = examples
            .par_iter()
            .zip(&mut self.memory.warm)
            .map_init(Scratch::new, |scratch, (example, warm)| find_slack(example, solver, weights, warm, scratch))
            .collect::<Result<_>>()?;
        self.memory.solves += examples.len();
        // Whatever the precision, both sides of every answer are proven.
        self.memory.proven += examples.len();
        self.forget();
        let total: f64 = examples.iter().map(|example| example.importance).sum();
        let mut value = 0.0;
        for (part, plane) in planes.iter_mut().enumerate() {
            for n in part_of(examples.len(), self.parts, part) {
                let share = if total > 0.0 { examples[n].importance / total } else { 0.0 };
                value += share * slacks[n].value;
                plane.offset += share * slacks[n].plane.offset;
                plane.slope.iter_mut().zip(&slacks[n].plane.slope).for_each(|(sum, slope)| *sum += share * slope);
            }
        }
        Ok(value)
    }
}

fn find_slack(
    example: &Example,
    solver: &LpRelaxation,
    weights: &[f64],
    warm: &mut WarmStart,
    scratch: &mut Scratch,
) -> Result<Slack> {
    example.instance.compatibility_into(weights, &mut scratch.problem)?;
    example.loss.add_to(&mut scratch.problem);
    example.order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
    let mut relaxed = solver.solve_from(&scratch.shuffled, warm, &mut scratch.work).map_err(name_the_way_out)?;
    example.order.carry_back_relaxed(&mut relaxed);
    let truth_score: f64 = example.truth_features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
    let plane = plane_of(example, &relaxed)?;
    let height = plane.offset + plane.slope.iter().zip(weights).map(|(slope, weight)| slope * weight).sum::<f64>();
    // The truth's own value is 0, and its plane is zero everywhere; rounding may put a plane a hair above the bound.
    let value = (example.loss.constant() + relaxed.bound - truth_score).max(height).max(0.0);
    if height <= 0.0 {
        return Ok(Slack { value, plane: Plane { slope: vec![0.0; weights.len()], offset: 0.0 } });
    }
    Ok(Slack { value, plane })
}

/// Slope Phi(y) - Phi(truth), offset loss(y).
fn plane_of(example: &Example, soft: &Relaxed) -> Result<Plane> {
    let mut slope: Vec<f64> = example.truth_features.iter().map(|feature| -feature).collect();
    example.instance.add_soft_features(soft, 1.0, &mut slope)?;
    Ok(Plane { slope, offset: example.loss.of_soft(&soft.node) })
}

/// Graphs too large for the relaxation can still be learned from.
fn name_the_way_out(error: Error) -> Error {
    match error {
        Error::TooLarge { limit, found, .. } => Error::TooLarge {
            what: "left edges times right edges of an example, for the relaxation (learn with the search oracle instead)",
            limit,
            found,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Sequence, Split};
    use crate::features::FeatureMap;
    use crate::graph::Graph;
    use crate::loss::Hamming;
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::sync::Arc;

    /// Pairs of jittered copies of a few points.
    fn examples(rng: &mut ChaCha8Rng) -> Vec<Example> {
        let points = Array2::from_shape_simple_fn((7, 2), || rng.random_range(0.0..1.0));
        let mut frame = || Graph::from_points(points.mapv(|x| x + rng.random_range(-0.2..0.2))).map(Arc::new);
        let frames = (0..12).map(|_| frame().unwrap()).collect();
        let sequence = Sequence::new(FeatureMap::paper_quadratic(), frames).unwrap();
        sequence.examples(1, Split::Train, &Hamming::default()).unwrap()
    }

    fn evaluate(risk: &mut RelaxedRisk<'_>, weights: &[f64]) -> (f64, Vec<Plane>) {
        let mut planes = vec![Plane { slope: vec![0.0; weights.len()], offset: 0.0 }; risk.parts()];
        let value = risk.evaluate(weights, &mut planes).unwrap();
        (value, planes)
    }

    fn height(plane: &Plane, weights: &[f64]) -> f64 {
        plane.offset + plane.slope.iter().zip(weights).map(|(slope, weight)| slope * weight).sum::<f64>()
    }

    #[test]
    fn however_hasty_no_plane_cuts_off_a_part_of_the_risk_and_no_value_is_below_it() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let examples = examples(rng);
        let precise = LpRelaxation { gap: 0.0, tolerance: 1e-9, max_iterations: 100_000, ..LpRelaxation::default() };
        let mut weights = || {
            let mut weights: Vec<f64> = (0..60).map(|_| rng.random_range(-0.05..0.1)).collect();
            weights.push(rng.random_range(-0.1..0.3));
            weights
        };
        let points: Vec<Vec<f64>> = (0..8).map(|_| weights()).collect();
        let mut exact = RelaxedRisk::new(&examples, precise, Memory::default());
        let heights: Vec<(f64, Vec<Plane>)> = points.iter().map(|point| evaluate(&mut exact, point)).collect();
        let mut loose = 0;
        for max_iterations in [0, 20, 60] {
            let hasty = LpRelaxation { gap: 0.0, max_iterations, ..LpRelaxation::default() };
            let mut risk = RelaxedRisk::new(&examples, hasty, Memory::default());
            for (point, (at_point, _)) in points.iter().zip(&heights) {
                let (value, planes) = evaluate(&mut risk, point);
                assert!(value >= at_point - 1e-8);
                let below: f64 = planes.iter().map(|plane| height(plane, point)).sum();
                loose += usize::from(value - below > 1e-3);
                for (other, (_, exact)) in points.iter().zip(&heights) {
                    for (plane, exact) in planes.iter().zip(exact) {
                        // Within 1e-9 the exact plane at its own point is the risk there.
                        assert!(height(plane, other) <= height(exact, other) + 1e-8);
                    }
                }
            }
        }
        assert!(loose > 5, "the hasty solves are hasty: {loose}");
    }
}

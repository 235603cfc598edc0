//! The relaxed slack of one example: max_y [loss(y) + <w, Phi(y) - Phi(truth)>] over soft matchings y, the points of the linear
//! relaxation ([`LpRelaxation`]), and the truth.
//!
//! It is convex in w and nowhere below the slack, since every matching is a soft matching; so it bounds the slack and, by the paper's
//! lemma, the training loss. Each relaxation is solved from both sides and only as precisely as is of use:
//!
//! * the value is that of the multipliers, never below the relaxed slack;
//! * the plane is that of a feasible soft matching, slope Phi(y) - Phi(truth) and offset loss(y), never above it anywhere.
//!
//! The gap that the bundle method sees is then an honest one. Each example starts from where its last solve ended.

use super::Example;
use super::parts::{Found, Question, Scratch};
use crate::matching::{Exact, LpRelaxation, Matcher, Relaxed, Status, WarmStart};
use crate::optimize::Plane;
use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Rounding errors of the solver's sums, as a part of its bound: nothing closer can be asked for.
const ROUNDING: f64 = 1e-12;

/// Steps of a sketch. The value of a feasible point gets near in hundreds of steps what its bound gets near in thousands; with 200 steps planes
/// hardly differ from those of a search, and 600 to 1500 take as many evaluations (docs/benchmarks.md).
const SKETCH_STEPS: usize = 400;

/// How many examples, without their losses, are solved with proof by the relaxation alone; `None` if interrupted.
pub(super) fn count_tight(
    examples: &[Example],
    solver: &LpRelaxation,
    weights: &[f64],
    control: &Control,
) -> Result<Option<usize>> {
    let root = Exact { max_branches: 1, max_entries: solver.max_entries, ..Exact::default() };
    let tight = |scratch: &mut Scratch, example: &Example| {
        example.instance.write_problem(weights, &mut scratch.problem, control)?;
        example.order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
        // With edge scores below zero the exact solver lists more than training had to.
        Ok(root.fits(&scratch.shuffled)
            && root.solve_with(&scratch.shuffled, &mut scratch.work)?.status == Status::Optimal)
    };
    let answers: Result<Vec<bool>> = examples.par_iter().map_init(|| Scratch::new(control), tight).collect();
    match answers {
        Err(Error::Interrupted) => Ok(None),
        answers => {
            let count = answers?.into_iter().filter(|&tight| tight).count();
            Ok(if control.interrupted() { None } else { Some(count) })
        }
    }
}

/// An upper bound on the relaxed slack of an example, and a plane below it.
pub(super) fn find_slack(
    example: &Example,
    solver: &LpRelaxation,
    question: &Question<'_>,
    warm: Option<&WarmStart>,
    scratch: &mut Scratch,
) -> Result<Found> {
    let weights = question.weights;
    solver.check()?;
    let mut warm = warm.cloned().unwrap_or_default();
    let mut solver = solver.clone();
    if let Some(closeness) = question.closeness {
        (solver.gap, solver.tolerance) = (ROUNDING, closeness.max(0.0));
    }
    if question.sketch {
        solver.max_iterations = solver.max_iterations.min(SKETCH_STEPS);
    }
    example.instance.write_problem(weights, &mut scratch.problem, scratch.work.control())?;
    example.loss.add_to(&mut scratch.problem);
    example.order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
    let mut relaxed = solver.solve_from(&scratch.shuffled, &mut warm, &mut scratch.work).map_err(name_the_way_out)?;
    example.order.carry_back_relaxed(&mut relaxed);
    let truth_score: f64 = example.truth_features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
    let plane = plane_of(example, &relaxed)?;
    let height = plane.at(weights);
    // The truth's own value is 0, and its plane is zero everywhere; rounding may put a plane a hair above the bound.
    let bound = if question.sketch { height } else { example.loss.constant() + relaxed.bound - truth_score };
    let value = bound.max(height).max(0.0);
    // Whatever the precision, both sides of the answer are proven.
    Ok(Found { value, plane: (height > 0.0).then_some(plane), is_proven: true, examined: false, warm: Some(warm) })
}

/// Slope Phi(y) - Phi(truth), offset loss(y).
pub(super) fn plane_of(example: &Example, soft: &Relaxed) -> Result<Plane> {
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
    use crate::data::Split;
    use crate::experiment::Sequence;
    use crate::features::FeatureMap;
    use crate::graph::Graph;
    use crate::learn::Oracle;
    use crate::learn::parts::{PartMemory, PartRisk, Parts, Question};
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

    /// The relaxed risk at every point in turn, each starting from where the last ended.
    fn evaluate(
        examples: &[Example],
        solver: LpRelaxation,
        points: &[Vec<f64>],
        sketch: bool,
    ) -> Vec<(f64, Vec<Plane>)> {
        let (oracle, control, matcher) = (Oracle::Relaxation(solver), Control::new(), Exact::default());
        let parts = Parts::of(examples);
        let risk = PartRisk { oracle: &oracle, matcher: &matcher, parts, control: &control };
        let mut memory = vec![PartMemory::default(); parts.count()];
        let at = |(round, weights): (usize, &Vec<f64>)| {
            let question = Question { weights, round, closeness: None, sketch };
            let answers = risk.evaluate(&parts.pieces(0..examples.len()), examples, &question, &mut memory).unwrap();
            let value = answers.iter().map(|answer| answer.value).sum();
            (value, answers.into_iter().map(|answer| answer.plane).collect())
        };
        points.iter().enumerate().map(at).collect()
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
        let heights = evaluate(&examples, precise, &points, false);
        let mut loose = 0;
        for max_iterations in [0, 20, 60] {
            let hasty = LpRelaxation { gap: 0.0, max_iterations, ..LpRelaxation::default() };
            let found = evaluate(&examples, hasty.clone(), &points, false);
            let sketched = evaluate(&examples, hasty, &points, true);
            for (((point, (at_point, _)), (value, planes)), (low, sketch)) in
                points.iter().zip(&heights).zip(found).zip(sketched)
            {
                assert!(value >= at_point - 1e-8);
                // A sketch answers with the same planes, and with their value, which is never too large.
                let height: f64 = sketch.iter().map(|plane| plane.at(point)).sum();
                assert!(planes == sketch && (low - height).abs() < 1e-12 && low <= at_point + 1e-8);
                let below: f64 = planes.iter().map(|plane| plane.at(point)).sum();
                loose += usize::from(value - below > 1e-3);
                for (other, (_, exact)) in points.iter().zip(&heights) {
                    for (plane, exact) in planes.iter().zip(exact) {
                        // Within 1e-9 the exact plane at its own point is the risk there.
                        assert!(plane.at(other) <= exact.at(other) + 1e-8);
                    }
                }
            }
        }
        assert!(loose > 5, "the hasty solves are hasty: {loose}");
    }
}

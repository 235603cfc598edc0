//! [`Joint`]: weights, soft matchings and multipliers of all examples moved together, before the first proven value.
//!
//!   min_(w, u) max_y  λ/2 |w - centre|² + Σ_n share_n [loss(y_n) + <w, Phi(y_n) - Phi(truth_n)> + <u_n, constraints of y_n>]
//!
//! is one saddle point. A step moves each y_n and u_n as a relaxation at fixed weights does ([`Moving`]), and the weights by
//!
//!   w' = argmin_v  λ/2 |v - centre|² + <v, g> + ½ |v - w|²_P,      g = Σ_n share_n (Phi(2 y_n' - y_n) - Phi(truth_n))
//!
//! Weights are few, so their metric P is a full matrix. With P = Σ_n share_n² Mᵀ E⁻¹ M, where M are the features and E is [`ROOM`] of what
//! the steps of y leave to the constraints, M P⁻¹ Mᵀ <= E: the step is then a resolvent, as at fixed weights, and Halpern's scheme around it
//! converges. All y begin at the truth, where g is zero: soft matchings of single relaxations pull the weights far away first.
//!
//! What it finds is only a start: weights at which multipliers already give a good bound. Its planes are those of feasible points, made of the features
//! themselves, so they hold whatever the iteration does; values are left to proven evaluations.

use super::Example;
use super::most_violated::slope;
use super::parts::{Parts, Scratch};
use super::soft::plane_of;
use crate::linalg::{cholesky, solve};
use crate::matching::{Average, Compatibility, Matching, Moving, Pace, WarmStart, Workspace};
use crate::optimize::{Plane, State};
use crate::{Control, Report, Result};
use ndarray::Array2;
use rayon::prelude::*;

/// The share of the steps that is for the weights.
const ROOM: f64 = 0.2;
/// Features of all examples are kept up to so many numbers, of 4 bytes each.
const MOST_NUMBERS: usize = 1 << 26;
/// Steps between looks, also as a part of all steps so far.
const STEPS_PER_LOOK: usize = 50;
const LOOK_SHARE: f64 = 0.1;
/// It ends after so many steps, ...
const MOST_STEPS: f64 = 3000.0;
/// ... or when objective and planes are within this part of the gap wanted. Not where the objective stands still: it soon falls again.
const GOAL: f64 = 0.9;

/// One example.
struct One<'a> {
    example: &'a Example,
    share: f64,
    moving: Moving,
    features: Vec<f64>,
    moved: f64,
    work: Workspace,
}

/// The iteration.
pub(super) struct Joint<'a> {
    all: Vec<One<'a>>,
    parts: Parts,
    centre: &'a [f64],
    lambda: f64,
    /// P, and the Cholesky factor of P + λ.
    metric: Vec<f64>,
    factor: Vec<f64>,
    origin: Vec<f64>,
    weights: Vec<f64>,
    image: Vec<f64>,
    anchor: Vec<f64>,
    pace: Pace,
}

/// Weights to begin at.
pub(super) struct Best {
    objective: f64,
    pub(super) weights: Vec<f64>,
    /// Where the relaxations of all examples may begin there.
    pub(super) warm: Vec<WarmStart>,
}

/// About what the weights are worth, and planes for each part: the best at these weights, and others.
pub(super) struct Look {
    objective: f64,
    pub(super) planes: [Vec<Plane>; 2],
}

impl<'a> Joint<'a> {
    /// Begins at some weights, with multipliers of relaxations there; `None` where an example cannot be moved, or all are too large.
    pub(super) fn new(
        examples: &'a [Example],
        (centre, lambda): (&'a [f64], f64),
        start: Vec<f64>,
        warm: &[&WarmStart],
        control: &Control,
    ) -> Result<Option<Self>> {
        let (dim, parts) = (centre.len(), Parts::of(examples));
        let cold = WarmStart::default();
        let mut size = 0_usize;
        for example in examples {
            let problem = example.instance.compatibility_watched(&start, control)?;
            size = size.saturating_add(Moving::size(&problem, dim));
        }
        if size > MOST_NUMBERS {
            return Ok(None);
        }
        let begin = |(n, example): (usize, &'a Example)| -> Result<Option<One<'a>>> {
            let warm = if warm.len() == examples.len() { warm[n] } else { &cold };
            let mut work = Workspace::with_control(control);
            let moving = begin_moving(example, &start, warm, (control, &mut work))?;
            let share = parts.share(example.importance);
            Ok(moving.map(|moving| One { example, share, moving, features: vec![0.0; dim], moved: 0.0, work }))
        };
        let all = examples.par_iter().enumerate().map(begin).collect::<Result<Vec<_>>>()?;
        let Some(all) = all.into_iter().collect::<Option<Vec<One<'a>>>>() else { return Ok(None) };
        let own: Vec<Vec<f64>> = all.par_iter().map(|one| one.moving.metric()).collect();
        let mut metric = vec![0.0; dim * dim];
        for (one, own) in all.iter().zip(&own) {
            // The steps in it are shortened by 1 + ROOM, of which ROOM is for the weights.
            let factor = one.share * one.moving.scale() * (1.0 + ROOM) / ROOM;
            metric.iter_mut().zip(own).for_each(|(sum, x)| *sum += factor * x);
        }
        let mut factor = metric.clone();
        (0..dim).for_each(|d| factor[d * dim + d] += lambda);
        cholesky(&mut factor, dim);
        let (origin, weights, image, anchor) = (start.clone(), start.clone(), start.clone(), start);
        let pace = Pace::new();
        Ok(Some(Self { all, parts, centre, lambda, metric, factor, origin, weights, image, anchor, pace }))
    }

    /// Iterates, adding planes to a run that has not begun; `None` if interrupted. `gap` is the one that the run is to reach.
    pub(super) fn improve(
        &mut self,
        state: &mut State,
        gap: f64,
        (control, stage): (&Control, &str),
    ) -> Result<Option<Best>> {
        let mut best = Best { objective: f64::INFINITY, weights: self.origin.clone(), warm: Vec::new() };
        loop {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few thousand")]
            let steps = STEPS_PER_LOOK.max((LOOK_SHARE * self.pace.total) as usize);
            for _ in 0..steps {
                self.step();
                if control.interrupted() {
                    return Ok(None);
                }
            }
            let mut look = self.look()?;
            // Nothing to wait for where numbers have overflown.
            if !look.is_finite() {
                return Ok(Some(best));
            }
            for plane in look.planes.iter_mut().flatten() {
                // As a function of the distance from the centre.
                plane.offset = plane.at(self.centre);
            }
            let [first, second] = look.planes;
            state.take_planes(first, self.lambda);
            let bound = state.take_planes(second, self.lambda);
            if look.objective < best.objective {
                let warm = self.all.iter().map(|one| one.moving.warm()).collect();
                best = Best { objective: look.objective, weights: self.image.clone(), warm };
            }
            let (total, objective) = (self.pace.total, best.objective);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few thousand")]
            control.report(&Report::new(&format!("{stage}, first weights"), total as usize, None));
            if objective - bound <= GOAL * gap * objective || total >= MOST_STEPS {
                return Ok(Some(best));
            }
        }
    }

    /// One step of everything.
    pub(super) fn step(&mut self) {
        let average = Average::after(self.pace.since_restart);
        let change = difference(&self.weights, &self.origin);
        self.all.par_iter_mut().for_each(|one| one.moved = one.moving.step(&change, average, &mut one.features));
        let mut step: Vec<f64> = difference(&self.weights, self.centre).iter().map(|v| self.lambda * v).collect();
        let mut residual = 0.0;
        for One { example, share, features, moved, .. } in &self.all {
            for ((slope, feature), truth) in step.iter_mut().zip(features).zip(&*example.truth_features) {
                *slope += share * (feature - truth);
            }
            residual += share * moved;
        }
        solve(&self.factor, &mut step);
        for (row, own) in self.metric.chunks(step.len().max(1)).zip(&step) {
            residual += own * row.iter().zip(&step).map(|(p, step)| p * step).sum::<f64>();
        }
        for (d, step) in step.iter().enumerate() {
            self.image[d] = self.weights[d] - step;
            average.advance(&mut self.weights[d], self.image[d], self.anchor[d]);
        }
        if self.pace.is_restart_due(residual.sqrt()) {
            self.all.iter_mut().for_each(|one| one.moving.restart());
            self.weights.copy_from_slice(&self.image);
            self.anchor.copy_from_slice(&self.image);
        }
    }

    /// What it has come to.
    pub(super) fn look(&mut self) -> Result<Look> {
        let (image, change) = (&self.image, difference(&self.image, &self.origin));
        let answers = self.all.par_iter_mut().map(|one| one.look(image, &change)).collect::<Result<Vec<_>>>()?;
        let square: f64 = difference(image, self.centre).iter().map(|v| v * v).sum();
        let mut objective = 0.5 * self.lambda * square;
        let mut planes = [Vec::new(), Vec::new()];
        for part in 0..self.parts.count() {
            let examples = self.parts.examples_of(part);
            let of_part = || self.all[examples.clone()].iter().zip(&answers[examples.clone()]);
            objective += of_part().map(|(one, (value, _))| one.share * value).sum::<f64>();
            for (at, planes) in planes.iter_mut().enumerate() {
                let mut sum = Plane { slope: vec![0.0; image.len()], offset: 0.0 };
                for (one, (_, own)) in of_part() {
                    sum.offset += one.share * own[at].offset;
                    sum.slope.iter_mut().zip(&own[at].slope).for_each(|(sum, slope)| *sum += one.share * slope);
                }
                planes.push(sum);
            }
        }
        Ok(Look { objective, planes })
    }
}

impl Look {
    fn is_finite(&self) -> bool {
        let mut numbers = self.planes.iter().flatten().flat_map(|plane| plane.slope.iter().chain([&plane.offset]));
        self.objective.is_finite() && numbers.all(|number| number.is_finite())
    }
}

impl One<'_> {
    /// About its slack at some weights, and two planes of feasible points, the higher one first.
    fn look(&mut self, weights: &[f64], change: &[f64]) -> Result<(f64, [Plane; 2])> {
        let example = self.example;
        let sight = self.moving.look(change, &mut self.work)?;
        let truth: f64 = example.truth_features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
        let value = example.loss.constant() + sight.bound - truth;
        let matching = example.order.carry_back(&sight.matching)?;
        let rounded = Plane { slope: slope(example, &matching)?, offset: example.loss(&matching) };
        let soft = match sight.soft {
            Some(mut soft) => {
                example.order.carry_back_relaxed(&mut soft);
                plane_of(example, &soft)?
            }
            None => rounded.clone(),
        };
        let ordered = if soft.at(weights) > rounded.at(weights) { [soft, rounded] } else { [rounded, soft] };
        // The truth's own value is 0, and its plane is zero everywhere.
        let zero = || Plane { slope: vec![0.0; weights.len()], offset: 0.0 };
        let planes = if ordered[0].at(weights) > 0.0 { ordered } else { [zero(), ordered[0].clone()] };
        Ok((value.max(0.0), planes))
    }
}

/// An example under moving weights, at its truth.
fn begin_moving(
    example: &Example,
    start: &[f64],
    warm: &WarmStart,
    (control, work): (&Control, &mut Workspace),
) -> Result<Option<Moving>> {
    let mut scratch = Scratch::new(control);
    let mut origin = Compatibility::linear(Array2::zeros((0, 0)));
    example.instance.compatibility_into(start, &mut scratch.problem)?;
    example.loss.add_to(&mut scratch.problem);
    example.order.shuffle_into(&scratch.problem, &mut origin)?;
    let unit = |d: usize, single: &mut Compatibility| {
        let mut weights = vec![0.0; start.len()];
        weights[d] = 1.0;
        example.instance.compatibility_into(&weights, &mut scratch.problem)?;
        example.order.shuffle_into(&scratch.problem, single)
    };
    let mut place = vec![None; example.truth.right_count()];
    example.order.nodes().enumerate().for_each(|(position, node)| place[node] = Some(position));
    let rights = example.truth.left_to_right().iter().map(|right| right.and_then(|right| place[right])).collect();
    let truth = Matching::new(rights, place.len(), example.truth.constraint())?;
    Moving::new(origin, start.len(), unit, (warm, &truth), 1.0 / (1.0 + ROOM), work)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureMap;
    use crate::graph::{Graph, Pair};
    use crate::learn::Oracle;
    use crate::learn::parts::{PartMemory, PartRisk, Question};
    use crate::loss::Hamming;
    use crate::matching::{BruteForce, Constraint, LpRelaxation};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::sync::Arc;

    /// A pair of jittered point sets; with prices one left node has no partner.
    fn example(map: &FeatureMap, [n, m]: [usize; 2], forbidden: usize, rng: &mut ChaCha8Rng) -> Example {
        let left = Array2::from_shape_simple_fn((n, 2), || rng.random_range(0.0..1.0));
        let mut right = Array2::from_shape_simple_fn((m, 2), || rng.random_range(0.0..1.0));
        let mut truth = vec![None; n];
        for i in usize::from(map.unmatched)..n.min(m) {
            truth[i] = Some((i + 2) % m);
            right.row_mut((i + 2) % m).assign(&left.row(i));
        }
        right.mapv_inplace(|x| x + rng.random_range(-0.2..0.2));
        let [left, right] = [left, right].map(|points| Arc::new(Graph::from_points(points).unwrap()));
        let mut pair = Pair::new(left, right);
        let others = (0..n * m).map(|cell| [cell / m, cell % m]).filter(|&[i, k]| truth[i] != Some(k));
        pair.given.forbidden = others.step_by(3).take(forbidden).collect();
        let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
        let truth = Matching::new(truth, m, map.constraint).unwrap();
        Example::new(map.instance(&left, &right).unwrap(), &pair, truth, &Hamming::default(), 3).unwrap()
    }

    /// Upper bounds on the relaxed risk of each part.
    fn values(examples: &[Example], weights: &[f64]) -> Vec<f64> {
        let solver = LpRelaxation { gap: 1e-6, ..LpRelaxation::default() };
        let (oracle, control, nobody) = (Oracle::Relaxation(solver), Control::new(), BruteForce::default());
        let parts = Parts::of(examples);
        let risk = PartRisk { oracle: &oracle, matcher: &nobody, parts, control: &control };
        let question = Question { weights, round: 0, closeness: None, sketch: false };
        let mut memory = vec![PartMemory::default(); parts.count()];
        let answers = risk.evaluate(&parts.pieces(0..examples.len()), examples, &question, &mut memory).unwrap();
        answers.iter().map(|answer| answer.value).collect()
    }

    #[test]
    fn no_plane_is_above_the_relaxed_risk_and_the_weights_get_better() {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let control = Control::new();
        let kinds = [
            (false, Constraint::OneToOne, [6, 6], 0),
            (false, Constraint::OneToOne, [5, 7], 6),
            (true, Constraint::OneToOne, [6, 5], 5),
            (true, Constraint::ManyToOne, [5, 5], 4),
        ];
        for (unmatched, constraint, size, forbidden) in kinds {
            let map = FeatureMap { unmatched, constraint, ..FeatureMap::paper_quadratic() };
            let examples: Vec<Example> = (0..4).map(|_| example(&map, size, forbidden, rng)).collect();
            let dim = examples[0].instance.dim();
            let mut weights = || (0..dim).map(|_| rng.random_range(-0.05..0.2)).collect::<Vec<f64>>();
            let (centre, start, lambda) = (vec![0.0; dim], weights(), 0.1);
            let others: Vec<Vec<f64>> = (0..6).map(|_| weights()).chain([start.clone()]).collect();
            let risks: Vec<Vec<f64>> = others.iter().map(|other| values(&examples, other)).collect();
            let mut joint = Joint::new(&examples, (&centre, lambda), start.clone(), &[], &control).unwrap().unwrap();
            for _look in 0..10 {
                (0..30).for_each(|_| joint.step());
                let look = joint.look().unwrap();
                for (other, risks) in others.iter().zip(&risks) {
                    for planes in &look.planes {
                        for (plane, risk) in planes.iter().zip(risks) {
                            assert!(plane.at(other) <= risk + 1e-9, "{size:?}: {} above {risk}", plane.at(other));
                        }
                    }
                }
            }
            let objective = |weights: &[f64]| {
                let square: f64 = weights.iter().map(|weight| weight * weight).sum();
                0.5 * lambda * square + values(&examples, weights).iter().sum::<f64>()
            };
            let (before, after) = (objective(&start), objective(&joint.image));
            assert!(after < 0.9 * before, "{size:?}: {before} to {after}");
            // What it says of its own weights is about right.
            let told = joint.look().unwrap().objective;
            assert!(told > after - 1e-4 && told < 2.0 * after, "{size:?}: {told} for {after}");
        }
    }
}

//! Frank–Wolfe ascent itself, over all pairs or a list of them: `frank_wolfe` has the formulas, the settings and the order of starts.

use super::frank_wolfe::FrankWolfe;
use super::objective::{Feasible, Objective, ValuesOf};
use super::pairs::{Pairs, Values};
use super::problem::{Found, Steps};
use super::sinkhorn::{Sinkhorn, Slack, Soft};
use crate::Result;
use crate::matching::{GraduatedAssignment, Matching, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The index of the start that comes from graduated assignment.
pub(super) const ANNEALED: usize = 2;
/// Scores that differ by less than this fraction agree.
const AGREEMENT: f64 = 1e-9;

/// Whether a matching, with the gradient of the edges there, is certain enough.
pub(super) type Confirms<'a, V> = dyn Fn(&Matching, &V) -> bool + 'a;

/// Which starts to climb from, and when to stop.
pub(super) struct Plan<'a, V> {
    /// How many starts, and which come first; then each by its number.
    pub(super) count: usize,
    pub(super) order: [usize; 3],
    /// In place of the flat soft matching.
    pub(super) given: Option<&'a Soft<V>>,
    /// In place of the best matching of the node scores alone.
    pub(super) by_edges: Option<Matching>,
    /// Whether to stop once two starts end at the same height or edges score `enough`, and to sort what was found by its score.
    pub(super) ends_early: bool,
    pub(super) enough: f64,
    /// Whether a matching and the gradient of the edges there leave nothing to look for.
    pub(super) confirms: Option<&'a Confirms<'a, V>>,
}

impl<V> Plan<'_, V> {
    /// Every start in its turn.
    pub(super) fn all(count: usize) -> Self {
        Self {
            count,
            order: [0, 1, ANNEALED],
            given: None,
            by_edges: None,
            ends_early: false,
            enough: f64::INFINITY,
            confirms: None,
        }
    }
}

impl FrankWolfe {
    /// The matchings found, and whether edges score enough in one of them.
    pub(super) fn climb_from_all<F: Feasible>(
        &self,
        plan: &Plan<'_, ValuesOf<F::Objective>>,
        problem: &mut F,
        work: &mut Workspace,
    ) -> Result<(Found, bool)> {
        let mut steps = Steps { count: 0, interrupted: false };
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let slack = problem.slack().clone();
        let mut climb = Climb::new(problem.objective(), &slack);
        let mut found: Vec<(f64, Matching)> = Vec::new();
        let mut has_enough = false;
        for start in 0..plan.count {
            let start = plan.order.get(start).copied().unwrap_or(start);
            if work.interrupted() {
                steps.interrupted = true;
                break;
            }
            match start {
                0 => climb.soft.clone_from(plan.given.unwrap_or(&climb.flat)),
                1 => {
                    let matching = plan.by_edges.clone().unwrap_or_else(|| problem.linear().clone());
                    climb.soft.set_matching(problem.objective().pairs(), &matching);
                }
                ANNEALED => {
                    let annealing = GraduatedAssignment { seed: self.seed, ..GraduatedAssignment::default() };
                    let (soft, rounds) = annealing.anneal(problem.objective(), &slack, work);
                    climb.soft = soft;
                    steps.count += rounds.count;
                }
                _ => climb.start_at_random(problem.objective(), &slack, &mut random),
            }
            let before = steps.count;
            let (value, matching) = self.ascend(&mut climb, problem, &mut steps, work)?;
            if self.starts == 1 {
                // As FAQ counts: the steps of the climb that is kept.
                let is_kept = found.first().is_none_or(|best| value > best.0);
                steps.count = if is_kept { steps.count - before } else { before };
            }
            // Two starts that end at the same height have found what there is to find.
            let agrees = found.first().is_some_and(|best| (value - best.0).abs() <= AGREEMENT * value.abs());
            // What matched nodes gain by themselves, such as not to pay for staying unmatched, says nothing about edges.
            let is_enough = value - own_gain(problem.objective(), &matching) >= plan.enough;
            let is_confirmed = self.starts > 1
                && plan.ends_early
                && plan.confirms.is_some_and(|confirms| {
                    problem.objective().gradient_at(&matching, &mut climb.target_gradient);
                    confirms(&matching, &climb.target_gradient)
                });
            if found.iter().all(|(_, other)| *other != matching) {
                let at = found.partition_point(|(other, _)| *other >= value);
                found.insert(if plan.ends_early { at } else { found.len() }, (value, matching));
            }
            if self.starts > 1 && plan.ends_early && (agrees || is_enough || is_confirmed) {
                has_enough = is_enough;
                break;
            }
        }
        Ok(((found.into_iter().map(|(_, matching)| matching).collect(), steps), has_enough))
    }

    /// Climbs from the start and returns the best matching met, and its value.
    fn ascend<F: Feasible>(
        &self,
        climb: &mut Climb<ValuesOf<F::Objective>>,
        problem: &mut F,
        steps: &mut Steps,
        work: &mut Workspace,
    ) -> Result<(f64, Matching)> {
        problem.objective().edge_gradient(&climb.soft.pair, &mut climb.gradient);
        let mut best: Option<(f64, Matching)> = None;
        for _ in 0..self.max_steps {
            let target = problem.assign_linearised(&climb.gradient, work)?;
            steps.count += 1;
            let objective = problem.objective();
            objective.gradient_at(&target, &mut climb.target_gradient);
            let value = climb.value_of(&target, objective);
            let (slope, bend, size) = climb.parabola(&target, objective);
            steps.interrupted |= work.interrupted();
            let mut is_over = slope <= self.tolerance * size || steps.interrupted;
            if !is_over {
                let length = if bend < 0.0 { (-slope / (2.0 * bend)).min(1.0) } else { 1.0 };
                is_over = self.min_step > 0.0 && length * climb.distance(&target, objective.pairs()) < self.min_step;
                climb.advance(&target, length, objective.pairs());
            }
            if best.as_ref().is_none_or(|best| value > best.0) {
                best = Some((value, target));
            }
            if is_over {
                break;
            }
        }
        let rounded = problem.round(&climb.soft, work)?;
        let objective = problem.objective();
        objective.gradient_at(&rounded, &mut climb.target_gradient);
        let value = climb.value_of(&rounded, objective);
        // Of equally good ones the last: as FAQ answers.
        Ok(best.filter(|best| best.0 > value).unwrap_or((value, rounded)))
    }
}

/// What the pairs of a matching gain without edges.
fn own_gain<O: Objective>(objective: &O, matching: &Matching) -> f64 {
    objective.pairs().of_matching(matching).map(|(_, at)| objective.gain().cells()[at]).sum()
}

/// Where an ascent is, y, and the gradients of the edge part there and at the matching z that it is heading for.
struct Climb<V> {
    soft: Soft<V>,
    gradient: V,
    target_gradient: V,
    sinkhorn: Sinkhorn,
    flat: Soft<V>,
}

impl<V: Values> Climb<V> {
    fn new<P: Pairs<Values = V>>(objective: &impl Objective<Pairs = P>, slack: &Slack) -> Self {
        let pairs = objective.pairs();
        let mut flat = Soft::zeros(pairs);
        // A start need not be normalised to the last digit.
        let mut sinkhorn = Sinkhorn::new(pairs, 100, 1e-3);
        let even = objective.gain().mapped(|gain| if gain > f64::NEG_INFINITY { 0.0 } else { gain });
        sinkhorn.assign(pairs, &even, 1.0, slack, &mut flat);
        Self { soft: flat.clone(), gradient: pairs.zeros(), target_gradient: pairs.zeros(), sinkhorn, flat }
    }

    /// The mean of the flat soft matching and a random one.
    fn start_at_random<P: Pairs<Values = V>>(
        &mut self,
        objective: &impl Objective<Pairs = P>,
        slack: &Slack,
        random: &mut ChaCha8Rng,
    ) {
        let logarithms = objective.gain().mapped(|gain| {
            let value = random.random::<f64>().max(f64::MIN_POSITIVE).ln();
            if gain > f64::NEG_INFINITY { value } else { gain }
        });
        self.sinkhorn.reset();
        self.sinkhorn.assign(objective.pairs(), &logarithms, 1.0, slack, &mut self.soft);
        let mean = |(y, flat): (&mut f64, &f64)| *y = 0.5 * (*y + flat);
        self.soft.pair.cells_mut().iter_mut().zip(self.flat.pair.cells()).for_each(mean);
        self.soft.rest.iter_mut().zip(&self.flat.rest).for_each(mean);
    }

    /// The score of the matching at which the second gradient is.
    fn value_of<P: Pairs<Values = V>>(&self, target: &Matching, objective: &impl Objective<Pairs = P>) -> f64 {
        let (gain, gradient) = (objective.gain().cells(), self.target_gradient.cells());
        objective.pairs().of_matching(target).map(|(_, at)| gain[at] + 0.5 * gradient[at]).sum()
    }

    /// (slope, bend) of the score on the way from y to z, and the size of the terms that make up the slope.
    fn parabola<P: Pairs<Values = V>>(
        &self,
        target: &Matching,
        objective: &impl Objective<Pairs = P>,
    ) -> (f64, f64, f64) {
        let (mut slope, mut bend, mut size) = (0.0, 0.0, 0.0);
        let (gain, here, there) = (objective.gain().cells(), self.gradient.cells(), self.target_gradient.cells());
        for ((&y, gain), (here, there)) in self.soft.pair.cells().iter().zip(gain).zip(here.iter().zip(there)) {
            // Forbidden cells, whose gain is minus infinity, are empty.
            if y != 0.0 {
                let worth = (gain + here) * y;
                slope -= worth;
                size += worth.abs();
                bend -= 0.5 * (there - here) * y;
            }
        }
        for (_, at) in objective.pairs().of_matching(target) {
            let worth = gain[at] + here[at];
            slope += worth;
            size += worth.abs();
            bend += 0.5 * (there[at] - here[at]);
        }
        (slope, bend, size)
    }

    /// How far the matching is: the root of the mean, over left nodes, of the squared differences of their rows.
    fn distance(&self, target: &Matching, pairs: &impl Pairs<Values = V>) -> f64 {
        let soft = self.soft.pair.cells();
        let own: f64 = soft.iter().map(|y| y * y).sum();
        let other: f64 = pairs.of_matching(target).map(|(_, at)| 1.0 - 2.0 * soft[at]).sum();
        ((own + other).max(0.0) / self.soft.rest.len().max(1) as f64).sqrt()
    }

    fn advance(&mut self, target: &Matching, length: f64, pairs: &impl Pairs<Values = V>) {
        let soft = self.soft.pair.cells_mut();
        soft.iter_mut().for_each(|y| *y *= 1.0 - length);
        pairs.of_matching(target).for_each(|(_, at)| soft[at] += length);
        for (rest, right) in self.soft.rest.iter_mut().zip(target.left_to_right()) {
            *rest = (1.0 - length) * *rest + if right.is_none() { length } else { 0.0 };
        }
        for (here, there) in self.gradient.cells_mut().iter_mut().zip(self.target_gradient.cells()) {
            *here = length * there + (1.0 - length) * *here;
        }
    }
}

//! Frank–Wolfe ascent from several starts (Leordeanu, Hebert & Sukthankar's IPFP 2009; Vogelstein et al.'s FAQ 2015), then local
//! search: a strong heuristic for any quadratic problem.
//!
//! From a soft matching y, the score is linearised, the best matching z of the linearised score is found exactly, and y moves
//! towards z by the step t in [0, 1] that maximises the score, which along the way is the parabola  f(y) + t slope + t² bend. It
//! stops if no matching promises more. Of all matchings z met along the way, and y rounded, the best is kept.
//!
//! Starts, in order: the flat soft matching; the best matching of the node scores alone; the soft matching that graduated
//! assignment ends with; then means of the flat one and random ones. Cost of a step: one linear assignment and one gradient.
//! Large problems have a third of the starts. They, and networks without node scores, have no more once two starts end at the same height or
//! one keeps most edges. Large problems whose node scores tell nodes apart are narrowed to lists of candidate pairs (`listed`).

use super::problem::{Found, Objective, SoftProblem, Steps, solve_softly};
use super::sinkhorn::{Sinkhorn, Soft};
use super::{listed, networks};
use crate::matching::search::Kicks;
use crate::matching::{Compatibility, GraduatedAssignment, Matcher, Matching, Solution, Streamed, Workspace};
use crate::{Error, Result};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Frank–Wolfe ascent from several starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrankWolfe {
    /// How many starts; a third of them if there are millions of pairs of edges. One start is FAQ; beside it, only networks without node
    /// scores are also matched by their edges alone.
    pub starts: usize,
    /// At most this many steps from each.
    pub max_steps: usize,
    /// Stop when no matching promises to add more than this fraction of the score's size.
    pub tolerance: f64,
    /// Seed of the random starts.
    pub seed: u64,
    /// Improve the result of each start by local search.
    pub polish: bool,
    /// How often local search shakes each result and tries again.
    pub kicks: usize,
    /// Stop when a step is shorter than this: the root of the mean, over left nodes, of what their row changes, squared and added up.
    #[serde(skip_serializing_if = "is_zero")]
    pub min_step: f64,
}

impl Default for FrankWolfe {
    /// 30 steps as in FAQ; as many starts and kicks as proved worth their time on house and QAPLIB problems.
    fn default() -> Self {
        Self { starts: 8, max_steps: 30, tolerance: 1e-6, seed: 0, polish: true, kicks: 50, min_step: 0.0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The index of the start that comes from graduated assignment.
pub(super) const ANNEALED: usize = 2;
/// Large problems and networks: scores that differ by less than this fraction agree, and this many results are improved by local search.
const AGREEMENT: f64 = 1e-9;
const MOST_POLISHED: usize = 2;
/// Nor is there more to find in networks of which this share of all edges is kept.
const ENOUGH: f64 = 0.9;

impl Matcher for FrankWolfe {
    fn solve(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let kicks = Kicks { count: self.kicks, seed: self.seed };
        if self.polish {
            let answer = listed::solve_table(problem, kicks, work, |listed, work| listed.climb_from_all(self, work))?;
            if let Some(solution) = answer {
                return Ok(solution);
            }
        }
        let improve = self.polish.then_some(kicks);
        solve_softly(problem, improve, work, |relaxed, work| self.climb_from_all(None, relaxed, work))
    }
}

impl FrankWolfe {
    /// Solves from a soft matching in place of the flat one: a row per left node, a column per right node, no row or column above 1.
    ///
    /// # Errors
    /// As [`Matcher::solve`]; a start of another size, or with entries that are not between 0 and 1.
    pub fn solve_from(&self, problem: &Compatibility, start: &Array2<f64>, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let sizes = [
            ("rows of the start", problem.left_count(), start.nrows()),
            ("columns of the start", problem.right_count(), start.ncols()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let in_range = |value: f64| (0.0..=1.0 + 1e-6).contains(&value);
        if let Some(((row, column), &value)) = start.indexed_iter().find(|&(_, &value)| !in_range(value)) {
            return Err(Error::BadCell { what: "start", row, column, value });
        }
        let improve = self.polish.then_some(Kicks { count: self.kicks, seed: self.seed });
        solve_softly(problem, improve, work, |relaxed, work| self.climb_from_all(Some(start), relaxed, work))
    }

    /// Solves a problem whose node scores are computed when they are needed, on lists of candidate pairs: ten thousand nodes. No table of
    /// all pairs is made. The bound holds for all pairs.
    ///
    /// # Errors
    /// As [`GraduatedAssignment::solve_streamed`].
    pub fn solve_streamed(&self, problem: &Streamed<'_>, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        if let Some(solution) = networks::solve_streamed(problem, work, |table, work| self.solve(table, work))? {
            return Ok(solution);
        }
        let improve = self.polish.then_some(Kicks { count: self.kicks, seed: self.seed });
        listed::solve_streamed(problem, improve, work, |listed, work| listed.climb_from_all(self, work))
    }

    fn climb_from_all(
        &self,
        given: Option<&Array2<f64>>,
        relaxed: &mut SoftProblem<'_>,
        work: &mut Workspace,
    ) -> Result<Found> {
        let mut steps = Steps { count: 0, interrupted: false };
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut climb = Climb::new(relaxed);
        let mut found: Vec<(f64, Matching)> = Vec::new();
        let is_large = relaxed.is_large();
        relaxed.is_alone = self.starts == 1;
        // For networks without node scores: what edges alone say is the best start; in place of the best matching without edges.
        let by_edges = if given.is_none() { relaxed.matched_by_edges(work)? } else { None };
        let is_network = by_edges.is_some();
        let (count, order) = match (self.starts, is_network) {
            (1, _) => (1 + usize::from(is_network), [0, 1, ANNEALED]),
            (starts, _) if is_large => {
                (starts.div_ceil(3), if is_network { [1, ANNEALED, 0] } else { [0, ANNEALED, 1] })
            }
            (starts, true) => (starts, [1, ANNEALED, 0]),
            (starts, false) => (starts, [0, 1, ANNEALED]),
        };
        let most = if is_network {
            networks::most_of_edges(&relaxed.objective.edge) * relaxed.objective.weight
        } else {
            f64::INFINITY
        };
        for start in 0..count {
            let start = order.get(start).copied().unwrap_or(start);
            if work.interrupted() {
                steps.interrupted = true;
                break;
            }
            if start == ANNEALED {
                let annealing = GraduatedAssignment { seed: self.seed, ..GraduatedAssignment::default() };
                let (soft, rounds) = annealing.anneal(&mut relaxed.objective, &relaxed.slack, work);
                climb.soft = soft;
                steps.count += rounds.count;
            } else {
                climb.start(start, relaxed, &mut random);
            }
            if let Some(matching) = by_edges.as_ref().filter(|_| start == 1) {
                set_matching(&mut climb.soft, matching);
            }
            if let Some(given) = given.filter(|_| start == 0) {
                climb.soft.set(given, &relaxed.objective.gain);
            }
            let before = steps.count;
            let (value, matching) = self.ascend(&mut climb, relaxed, &mut steps, work)?;
            if self.starts == 1 {
                // As FAQ counts: the steps of the climb that is kept.
                let is_kept = found.first().is_none_or(|best| value > best.0);
                steps.count = if is_kept { steps.count - before } else { before };
            }
            // Two starts that end at the same height have found what there is to find.
            let agrees = |best: &(f64, Matching)| (value - best.0).abs() <= AGREEMENT * value.abs();
            // What matched nodes gain by themselves, such as not to pay for staying unmatched, says nothing about edges.
            let own: f64 = matching.pairs().map(|pair| relaxed.objective.gain[pair]).sum();
            let is_enough = value - own >= ENOUGH * most;
            let is_settled =
                self.starts > 1 && (is_large || is_network) && (found.first().is_some_and(agrees) || is_enough);
            if found.iter().all(|(_, other)| *other != matching) {
                let at = found.partition_point(|(other, _)| *other >= value);
                found.insert(if is_large || is_network { at } else { found.len() }, (value, matching));
            }
            if is_settled {
                relaxed.is_alone |= is_enough;
                break;
            }
        }
        found.truncate(if is_large { MOST_POLISHED } else { found.len() }.min(self.starts));
        Ok((found.into_iter().map(|(_, matching)| matching).collect(), steps))
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("starts", self.starts), ("max_steps", self.max_steps)] {
            if value == 0 {
                return Err(Error::BadSetting { name, value: 0.0, reason: "must be at least 1" });
            }
        }
        for (name, value) in [("tolerance", self.tolerance), ("min_step", self.min_step)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::BadSetting { name, value, reason: "must be 0 or more" });
            }
        }
        Ok(())
    }

    /// Climbs from the start and returns the best matching met, and its value.
    fn ascend(
        &self,
        climb: &mut Climb,
        relaxed: &mut SoftProblem<'_>,
        steps: &mut Steps,
        work: &mut Workspace,
    ) -> Result<(f64, Matching)> {
        relaxed.objective.edge_gradient(&climb.soft.pair, &mut climb.gradient);
        let mut best: Option<(f64, Matching)> = None;
        for _ in 0..self.max_steps {
            let target = relaxed.assign_linearised(&climb.gradient, work)?;
            steps.count += 1;
            relaxed.objective.gradient_at(&target, &mut climb.target_gradient);
            let value = climb.value_of(&target, &relaxed.objective);
            let (slope, bend, size) = climb.parabola(&target, &relaxed.objective);
            steps.interrupted |= work.interrupted();
            let mut is_over = slope <= self.tolerance * size || steps.interrupted;
            if !is_over {
                let length = if bend < 0.0 { (-slope / (2.0 * bend)).min(1.0) } else { 1.0 };
                is_over = self.min_step > 0.0 && length * climb.distance(&target) < self.min_step;
                climb.advance(&target, length);
            }
            if best.as_ref().is_none_or(|best| value > best.0) {
                best = Some((value, target));
            }
            if is_over {
                break;
            }
        }
        let rounded = relaxed.round(&climb.soft, work)?;
        relaxed.objective.gradient_at(&rounded, &mut climb.target_gradient);
        let value = climb.value_of(&rounded, &relaxed.objective);
        // Of equally good ones the last: as FAQ answers.
        Ok(best.filter(|best| best.0 > value).unwrap_or((value, rounded)))
    }
}

/// Where an ascent is, y, and the gradients of the edge part there and at the matching z that it is heading for.
struct Climb {
    soft: Soft,
    gradient: Array2<f64>,
    target_gradient: Array2<f64>,
    sinkhorn: Sinkhorn,
    flat: Soft,
}

impl Climb {
    fn new(relaxed: &SoftProblem<'_>) -> Self {
        let (n, m) = relaxed.problem.node.dim();
        let mut flat = Soft::zeros(n, m);
        // A start need not be normalised to the last digit.
        let mut sinkhorn = Sinkhorn::new(n, m, 100, 1e-3);
        let even = relaxed.objective.gain.mapv(|gain| if gain > f64::NEG_INFINITY { 0.0 } else { gain });
        sinkhorn.assign(&even, 1.0, &relaxed.slack, &mut flat);
        let (gradient, target_gradient) = (Array2::zeros((n, m)), Array2::zeros((n, m)));
        Self { soft: flat.clone(), gradient, target_gradient, sinkhorn, flat }
    }

    fn start(&mut self, which: usize, relaxed: &SoftProblem<'_>, random: &mut ChaCha8Rng) {
        match which {
            0 => self.soft.clone_from(&self.flat),
            1 => set_matching(&mut self.soft, &relaxed.linear),
            _ => {
                let logarithms = relaxed.objective.gain.mapv(|gain| {
                    let value = random.random::<f64>().max(f64::MIN_POSITIVE).ln();
                    if gain > f64::NEG_INFINITY { value } else { gain }
                });
                self.sinkhorn.reset();
                self.sinkhorn.assign(&logarithms, 1.0, &relaxed.slack, &mut self.soft);
                self.soft.pair.zip_mut_with(&self.flat.pair, |y, flat| *y = 0.5 * (*y + flat));
                self.soft.rest.iter_mut().zip(&self.flat.rest).for_each(|(y, flat)| *y = 0.5 * (*y + flat));
            }
        }
    }

    /// The score of the matching at which the second gradient is.
    fn value_of(&self, target: &Matching, objective: &Objective<'_>) -> f64 {
        target.pairs().map(|(i, k)| objective.gain[[i, k]] + 0.5 * self.target_gradient[[i, k]]).sum()
    }

    /// (slope, bend) of the score on the way from y to z, and the size of the terms that make up the slope.
    fn parabola(&self, target: &Matching, objective: &Objective<'_>) -> (f64, f64, f64) {
        let (mut slope, mut bend, mut size) = (0.0, 0.0, 0.0);
        let cells = self.soft.pair.iter().zip(&objective.gain).zip(self.gradient.iter().zip(&self.target_gradient));
        for ((&y, gain), (here, there)) in cells {
            // Forbidden cells, whose gain is minus infinity, are empty.
            if y != 0.0 {
                let worth = (gain + here) * y;
                slope -= worth;
                size += worth.abs();
                bend -= 0.5 * (there - here) * y;
            }
        }
        for pair in target.pairs() {
            let (here, there) = (self.gradient[pair], self.target_gradient[pair]);
            let worth = objective.gain[pair] + here;
            slope += worth;
            size += worth.abs();
            bend += 0.5 * (there - here);
        }
        (slope, bend, size)
    }

    /// How far the matching is: the root of the mean, over left nodes, of the squared differences of their rows.
    fn distance(&self, target: &Matching) -> f64 {
        let own: f64 = self.soft.pair.iter().map(|y| y * y).sum();
        let other: f64 = target.pairs().map(|pair| 1.0 - 2.0 * self.soft.pair[pair]).sum();
        ((own + other).max(0.0) / self.soft.rest.len().max(1) as f64).sqrt()
    }

    fn advance(&mut self, target: &Matching, length: f64) {
        self.soft.pair.mapv_inplace(|y| (1.0 - length) * y);
        target.pairs().for_each(|pair| self.soft.pair[pair] += length);
        for (rest, right) in self.soft.rest.iter_mut().zip(target.left_to_right()) {
            *rest = (1.0 - length) * *rest + if right.is_none() { length } else { 0.0 };
        }
        self.gradient
            .zip_mut_with(&self.target_gradient, |here, there| *here = length * there + (1.0 - length) * *here);
    }
}

fn set_matching(soft: &mut Soft, matching: &Matching) {
    soft.pair.fill(0.0);
    soft.rest.fill(1.0);
    for (i, k) in matching.pairs() {
        soft.pair[[i, k]] = 1.0;
        soft.rest[i] = 0.0;
    }
}

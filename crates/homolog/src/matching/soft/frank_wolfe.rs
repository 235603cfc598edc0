//! Frank–Wolfe ascent from several starts (Leordeanu, Hebert & Sukthankar's IPFP 2009; Vogelstein et al.'s FAQ 2015), then local
//! search: a strong heuristic for any quadratic problem.
//!
//! From a soft matching y, the score is linearised, the best matching z of the linearised score is found exactly, and y moves
//! towards z by the step t in [0, 1] that maximises the score, which along the way is the parabola  f(y) + t slope + t² bend. It
//! stops where no matching promises more. Of all matchings z met along the way, and y rounded, the best is kept.
//!
//! Starts, in order: the flat soft matching; the best matching of the node scores alone; the soft matching that graduated
//! assignment ends with; then means of the flat one and random ones. Cost of a step: one linear assignment and one gradient.
//! Large problems are narrowed to lists of candidate pairs (`listed`).

use super::listed;
use super::problem::{Found, Objective, SoftProblem, Steps, solve_softly};
use super::sinkhorn::{Sinkhorn, Soft};
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
    /// How many starts.
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
}

impl Default for FrankWolfe {
    /// 30 steps as in FAQ; as many starts and kicks as proved worth their time on house and QAPLIB problems.
    fn default() -> Self {
        Self { starts: 8, max_steps: 30, tolerance: 1e-6, seed: 0, polish: true, kicks: 50 }
    }
}

/// The index of the start that comes from graduated assignment.
pub(super) const ANNEALED: usize = 2;

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
        solve_softly(problem, improve, work, |relaxed, work| self.climb_from_all(relaxed, work))
    }
}

impl FrankWolfe {
    /// Solves a problem whose node scores are computed when they are needed, on lists of candidate pairs: ten thousand nodes. No table of
    /// all pairs is made. The bound holds for all pairs.
    ///
    /// # Errors
    /// As [`GraduatedAssignment::solve_streamed`].
    pub fn solve_streamed(&self, problem: &Streamed<'_>, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let improve = self.polish.then_some(Kicks { count: self.kicks, seed: self.seed });
        listed::solve_streamed(problem, improve, work, |listed, work| listed.climb_from_all(self, work))
    }

    fn climb_from_all(&self, relaxed: &mut SoftProblem<'_>, work: &mut Workspace) -> Result<Found> {
        let mut steps = Steps { count: 0, interrupted: false };
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut climb = Climb::new(relaxed);
        let mut found = Vec::new();
        for start in 0..self.starts {
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
            let matching = self.ascend(&mut climb, relaxed, &mut steps, work)?;
            if !found.contains(&matching) {
                found.push(matching);
            }
        }
        Ok((found, steps))
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("starts", self.starts), ("max_steps", self.max_steps)] {
            if value == 0 {
                return Err(Error::BadSetting { name, value: 0.0, reason: "must be at least 1" });
            }
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let (name, value) = ("tolerance", self.tolerance);
            return Err(Error::BadSetting { name, value, reason: "must be 0 or more" });
        }
        Ok(())
    }

    /// Climbs from the start and returns the best matching met.
    fn ascend(
        &self,
        climb: &mut Climb,
        relaxed: &mut SoftProblem<'_>,
        steps: &mut Steps,
        work: &mut Workspace,
    ) -> Result<Matching> {
        let no_gain = vec![0.0; climb.soft.rest.len()];
        relaxed.objective.edge_gradient(&climb.soft.pair, &mut climb.gradient);
        let mut best: Option<(f64, Matching)> = None;
        for _ in 0..self.max_steps {
            climb.linearise(&relaxed.objective);
            let target = relaxed.assign(&climb.score, &no_gain, work)?;
            steps.count += 1;
            climb.aim(&target, &mut relaxed.objective);
            let value = climb.target_value(&target, &relaxed.objective);
            if best.as_ref().is_none_or(|best| value > best.0) {
                best = Some((value, target));
            }
            let (slope, bend, size) = climb.parabola();
            steps.interrupted |= work.interrupted();
            if slope <= self.tolerance * size || steps.interrupted {
                break;
            }
            climb.advance(if bend < 0.0 { (-slope / (2.0 * bend)).min(1.0) } else { 1.0 });
        }
        let rounded = relaxed.round(&climb.soft, work)?;
        climb.aim(&rounded, &mut relaxed.objective);
        let value = climb.target_value(&rounded, &relaxed.objective);
        Ok(match best {
            Some((most, matching)) if most >= value => matching,
            _ => rounded,
        })
    }
}

/// Where an ascent is and where it is heading.
struct Climb {
    /// y, and the gradient of the edge part there.
    soft: Soft,
    gradient: Array2<f64>,
    /// The linearised score at y.
    score: Array2<f64>,
    /// z, and the gradient of the edge part there.
    target: Soft,
    target_gradient: Array2<f64>,
    sinkhorn: Sinkhorn,
    flat: Soft,
}

impl Climb {
    fn new(relaxed: &SoftProblem<'_>) -> Self {
        let (n, m) = relaxed.problem.node.dim();
        let zeros = || Array2::zeros((n, m));
        let mut flat = Soft::zeros(n, m);
        // A start need not be normalised to the last digit.
        let mut sinkhorn = Sinkhorn::new(n, m, 100, 1e-3);
        let even = relaxed.objective.gain.mapv(|gain| if gain > f64::NEG_INFINITY { 0.0 } else { gain });
        sinkhorn.assign(&even, 1.0, &relaxed.slack, &mut flat);
        let (gradient, score, target_gradient) = (zeros(), zeros(), zeros());
        Self { soft: flat.clone(), gradient, score, target: flat.clone(), target_gradient, sinkhorn, flat }
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

    fn linearise(&mut self, objective: &Objective<'_>) {
        for ((score, gain), gradient) in self.score.iter_mut().zip(&objective.gain).zip(&self.gradient) {
            *score = gain + gradient;
        }
    }

    fn aim(&mut self, target: &Matching, objective: &mut Objective<'_>) {
        set_matching(&mut self.target, target);
        objective.gradient_at(target, &mut self.target_gradient);
    }

    /// The score of the matching aimed at.
    fn target_value(&self, target: &Matching, objective: &Objective<'_>) -> f64 {
        target.pairs().map(|(i, k)| objective.gain[[i, k]] + 0.5 * self.target_gradient[[i, k]]).sum()
    }

    /// (slope, bend) of the score on the way from y to z, and the size of the terms that make up the slope.
    fn parabola(&self) -> (f64, f64, f64) {
        let (mut slope, mut bend, mut size) = (0.0, 0.0, 0.0);
        let cells = self.score.iter().zip(self.soft.pair.iter().zip(&self.target.pair));
        for ((score, (y, z)), (here, there)) in cells.zip(self.gradient.iter().zip(&self.target_gradient)) {
            let step = z - y;
            // Forbidden cells, whose score is minus infinity, have no step.
            if step != 0.0 {
                slope += score * step;
                bend += 0.5 * (there - here) * step;
                size += (score * step).abs();
            }
        }
        (slope, bend, size)
    }

    fn advance(&mut self, length: f64) {
        let blend = |y: &mut f64, z: &f64| *y = length * z + (1.0 - length) * *y;
        self.soft.pair.zip_mut_with(&self.target.pair, blend);
        self.gradient.zip_mut_with(&self.target_gradient, blend);
        self.soft.rest.iter_mut().zip(&self.target.rest).for_each(|(y, z)| blend(y, z));
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

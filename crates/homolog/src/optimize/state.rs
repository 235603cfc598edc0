//! [`State`]: everything a run of the bundle method knows. It is plain data: saved and read back (floats bit for bit) it continues
//! with identical results, and since cutting planes do not depend on lambda it can continue at another lambda with all it has learned.
//! For a checkpoint now and then: stop, save the state, run it again.

mod forget;

use super::checks::{check_answer, check_finite, check_size};
use super::cut::{Cut, values};
use super::points::{self, Point};
use super::simplex_qp::SimplexQp;
use super::weight_rule::WeightRule;
use super::{Minimum, Plane, Risk, Step, StopReason};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A run of the bundle method: planes, points, bounds and what the next step needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    parts: usize,
    rules: Vec<WeightRule>,
    /// Slopes are zero at fixed weights; the contribution of those is in the offset.
    cuts: Vec<Cut>,
    qp: SimplexQp,
    points: Vec<Point>,
    /// The first point to ask for.
    start: Vec<f64>,
    /// The fields below belong to this lambda.
    lambda: Option<f64>,
    bound: f64,
    /// The minimum of the model.
    target: Vec<f64>,
    /// How far to go from the best point towards the target for the next evaluation.
    stride: f64,
    /// Evaluate at the target itself: the last point between it and the best achieved nothing.
    go_to_target: bool,
    pub(super) stalled: bool,
    /// Evaluations in a row at the best point that found nothing new there.
    pub(super) looks: usize,
    pub(super) history: Vec<Step>,
}

impl State {
    /// A run that knows nothing yet. `rules` is empty or has a rule for every weight; the first evaluation is at `start` (zero if
    /// not given), moved to where the rules allow.
    ///
    /// # Errors
    /// Rules or start of the wrong size, or not finite.
    pub fn new(risk: &dyn Risk, rules: &[WeightRule], start: Option<&[f64]>) -> Result<Self> {
        let (dim, parts) = (risk.dim(), risk.parts());
        if parts == 0 {
            return Err(Error::Size { what: "parts of the risk", expected: 1, found: 0 });
        }
        let rules = if rules.is_empty() { vec![WeightRule::Free; dim] } else { rules.to_vec() };
        let start = start.map_or_else(|| vec![0.0; dim], <[f64]>::to_vec);
        for (what, found) in [("rules for the weights", rules.len()), ("weights to start from", start.len())] {
            check_size(what, dim, found)?;
        }
        let told = rules.iter().map(|rule| match rule {
            WeightRule::Fixed(value) | WeightRule::AtLeast(value) => *value,
            WeightRule::Free | WeightRule::NonNegative => 0.0,
        });
        check_finite("rules for the weights", told)?;
        check_finite("weights to start from", start.iter().copied())?;
        let start: Vec<f64> = start.iter().zip(&rules).map(|(&weight, rule)| rule.apply(weight)).collect();
        let mut cuts = Vec::new();
        if let Some(floor) = risk.floor() {
            check_finite("floor of the risk", std::iter::once(floor))?;
            cuts.extend((0..parts).map(|part| Cut::new(vec![0.0; dim], floor, Some(part))));
        }
        for (j, rule) in rules.iter().enumerate() {
            if let Some(least) = rule.least() {
                let mut slope = vec![0.0; dim];
                slope[j] = -1.0;
                cuts.push(Cut::new(slope, least, None));
            }
        }
        for cut in &mut cuts {
            cut.lasting = true;
        }
        Ok(Self {
            parts,
            rules,
            cuts,
            qp: SimplexQp::default(),
            points: Vec::new(),
            target: start.clone(),
            start,
            lambda: None,
            bound: f64::MIN,
            stride: STRIDE,
            go_to_target: false,
            stalled: false,
            looks: 0,
            history: Vec::new(),
        })
    }

    /// The lambda of the run so far; `None` before the first.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        self.lambda
    }

    /// Whether no plane is known yet.
    pub(crate) fn is_new(&self) -> bool {
        self.cuts.iter().all(|cut| cut.lasting)
    }

    /// What this run knows about every risk that is nowhere below its own: the planes, without the values. Such a run begins at the
    /// minimum of the model.
    pub(crate) fn planes_alone(mut self) -> Self {
        self.start.clone_from(&self.target);
        self.points.clear();
        self.lambda = None;
        self.bound = f64::MIN;
        self.history.clear();
        self
    }

    /// The first point to ask for.
    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    /// Moves the first point to ask for.
    pub(crate) fn start_at(&mut self, start: Vec<f64>) {
        self.start = start;
    }

    /// Adds planes to a run that has not begun, one for each part; the lower bound on J that all of them together prove.
    pub(crate) fn take_planes(&mut self, planes: Vec<Plane>, lambda: f64) -> f64 {
        self.add_planes(planes);
        self.minimise_model(lambda);
        std::mem::replace(&mut self.bound, f64::MIN)
    }

    /// Whether the state fits a risk, and its parts fit together: it may have come from a file.
    pub(super) fn check(&self, risk: &dyn Risk) -> Result<()> {
        let dim = risk.dim();
        check_size("parts of the risk", self.parts, risk.parts())?;
        check_size("weights of the risk", self.rules.len(), dim)?;
        let points = self.points.iter().map(|point| point.weights.len());
        let slopes = self.cuts.iter().map(|cut| cut.slope.len());
        for found in [self.start.len(), self.target.len()].into_iter().chain(points).chain(slopes) {
            check_size("weights in the state", dim, found)?;
        }
        for part in self.cuts.iter().filter_map(|cut| cut.part) {
            if part >= self.parts {
                return Err(Error::OutOfRange { what: "parts in the state", index: part, count: self.parts });
            }
        }
        self.qp.check(&self.cuts, self.parts, dim)
    }

    /// Switches to a lambda, keeping planes and points.
    pub(super) fn begin(&mut self, lambda: f64) {
        self.lambda = Some(lambda);
        self.bound = f64::MIN;
        self.stride = STRIDE;
        self.go_to_target = false;
        self.stalled = false;
        self.looks = 0;
        self.history.clear();
        if !self.points.is_empty() {
            self.raise_best(lambda);
            self.minimise_model(lambda);
        }
    }

    /// Evaluates once more at the best point: a search may find there what it missed before.
    pub(super) fn look_again(&mut self, risk: &mut dyn Risk, lambda: f64, max_planes: usize) -> Result<Step> {
        let at = self.best(lambda).map_or_else(|| self.start.clone(), |i| self.points[i].weights.clone());
        let (value, planes) = self.ask(risk, &at)?;
        let before = self.model(&at);
        self.add_planes(planes);
        if self.model(&at) - before > NOTHING * value.abs() {
            self.looks = 0;
            self.stalled = false;
            self.go_to_target = false;
        } else {
            self.looks += 1;
        }
        Ok(self.conclude(lambda, max_planes))
    }

    fn ask(&self, risk: &mut dyn Risk, at: &[f64]) -> Result<(f64, Vec<Plane>)> {
        let mut planes = vec![Plane { slope: vec![0.0; self.rules.len()], offset: 0.0 }; self.parts];
        let value = risk.evaluate(at, &mut planes)?;
        check_answer(value, &planes, self.rules.len())?;
        Ok((value, planes))
    }

    /// Draws conclusions from new planes.
    fn conclude(&mut self, lambda: f64, max_planes: usize) -> Step {
        self.raise_best(lambda);
        self.minimise_model(lambda);
        self.forget(max_planes);
        let step = self.step(lambda);
        self.history.push(step);
        step
    }

    /// One evaluation and what follows from it.
    pub(super) fn advance(&mut self, risk: &mut dyn Risk, lambda: f64, max_planes: usize) -> Result<Step> {
        let best = self.best(lambda);
        let at = self.next_point(best);
        if best.is_some() {
            let share = if self.go_to_target { FINE } else { CLOSE };
            risk.aim(share * (self.objective(lambda) - self.bound));
        } else if self.cuts.iter().any(|cut| !cut.lasting) {
            // Planes without values: what they say about the objective here is about right.
            risk.aim(FIRST * Point::new(at.clone(), self.model(&at)).objective(lambda));
        }
        let (value, planes) = self.ask(risk, &at)?;
        let before = best.map(|i| self.points[i].objective(lambda));
        let model = self.model(&at);
        let expected = Point::new(at, model);
        let found = Point { risk: value, ..expected.clone() };
        let raised = self.add_planes(planes);
        if let Some(before) = before {
            let (hope, gain) = (before - expected.objective(lambda), before - found.objective(lambda));
            self.adapt(gain, hope, raised, before - self.bound);
        }
        points::add(&mut self.points, found);
        Ok(self.conclude(lambda, max_planes))
    }

    /// J at the best point.
    fn objective(&self, lambda: f64) -> f64 {
        self.best(lambda).map_or(f64::MAX, |i| self.points[i].objective(lambda))
    }

    fn best(&self, lambda: f64) -> Option<usize> {
        points::best(&self.points, lambda)
    }

    /// The start, then a point between the best and the minimum of the model (which jumps from side to side while the model is
    /// poor).
    fn next_point(&self, best: Option<usize>) -> Vec<f64> {
        let Some(best) = best else { return self.start.clone() };
        if self.go_to_target {
            return self.target.clone();
        }
        let from = &self.points[best].weights;
        from.iter().zip(&self.target).map(|(from, to)| from + self.stride * (to - from)).collect()
    }

    /// Longer steps while the model keeps its promises, shorter ones while it does not. An exact oracle gains a fifth of the gap,
    /// or raises the model at its minimum by half of it; one that does neither is asked at that minimum, and then no more.
    fn adapt(&mut self, gain: f64, hope: f64, raised: f64, gap: f64) {
        if gain > 0.7 * hope {
            self.stride = f64::min(self.stride * 1.5, LONGEST);
        } else if gain < 0.3 * hope {
            self.stride = f64::max(self.stride * 0.7, SHORTEST);
        }
        if f64::max(gain, raised) > NOTHING * gap {
            self.go_to_target = false;
        } else {
            self.stalled = self.go_to_target;
            self.go_to_target = true;
        }
    }

    /// The model of the risk, Σ_part max (offset + slope·w): R is nowhere below it.
    fn model(&self, weights: &[f64]) -> f64 {
        let mut levels = vec![f64::NEG_INFINITY; self.parts];
        let all: Vec<usize> = (0..self.cuts.len()).collect();
        for (cut, value) in self.cuts.iter().zip(values(&self.cuts, &all, weights)) {
            if let Some(part) = cut.part {
                levels[part] = levels[part].max(value);
            }
        }
        levels.iter().sum()
    }

    /// Stores new planes; returns how much they raise the model at its minimum.
    fn add_planes(&mut self, planes: Vec<Plane>) -> f64 {
        let mut raised = 0.0;
        let levels = self.qp.levels(&self.cuts, &self.target);
        for (part, Plane { mut slope, mut offset }) in planes.into_iter().enumerate() {
            for (slope, rule) in slope.iter_mut().zip(&self.rules) {
                if let WeightRule::Fixed(value) = rule {
                    offset += *slope * value;
                    *slope = 0.0;
                }
            }
            let cut = Cut::new(slope, offset, Some(part));
            raised += levels.get(part).map_or(0.0, |level| f64::max(cut.value(&self.target) - level, 0.0));
            self.cuts.push(cut);
        }
        raised
    }

    /// A risk is nowhere below its planes. A value that is below them (from a search that missed the worst case) is raised to them, so
    /// that it does not count as the best.
    fn raise_best(&mut self, lambda: f64) {
        while let Some(i) = self.best(lambda) {
            let model = self.model(&self.points[i].weights);
            if model - self.points[i].risk <= ROUNDING * model.abs() {
                return;
            }
            self.points[i].risk = model;
        }
    }

    /// Finds the minimum of the model, and with it the bound.
    fn minimise_model(&mut self, lambda: f64) {
        let inner = self.qp.solve(&self.cuts, self.parts, lambda);
        for (cut, &share) in self.cuts.iter_mut().zip(&self.qp.share) {
            cut.idle = if share > 0.0 { 0 } else { cut.idle + 1 };
        }
        if inner.weights.iter().all(|weight| weight.is_finite()) {
            self.target = inner.weights.iter().zip(&self.rules).map(|(&weight, rule)| rule.apply(weight)).collect();
        } else {
            // Slopes so steep that numbers overflow: what is known remains true, but there is nowhere to go.
            self.stalled = true;
        }
        let fixed: f64 =
            self.rules.iter().map(|rule| if let WeightRule::Fixed(value) = rule { value * value } else { 0.0 }).sum();
        self.bound = self.bound.max(inner.bound + 0.5 * lambda * fixed);
    }

    pub(super) fn step(&self, lambda: f64) -> Step {
        let (objective, bound) = (self.objective(lambda), self.bound);
        let gap = if objective == bound { 0.0 } else { ((objective - bound) / objective.abs()).min(f64::MAX) };
        Step { iteration: self.history.len() + 1, lambda, objective, bound, gap, planes: self.cuts.len() }
    }

    /// The current result.
    pub(super) fn minimum(&self, lambda: f64, stop: StopReason) -> Minimum {
        let Step { objective, bound, gap, .. } = self.step(lambda);
        let (weights, risk) = match self.best(lambda) {
            Some(i) => (self.points[i].weights.clone(), self.points[i].risk),
            None => (self.start.clone(), f64::MAX),
        };
        Minimum { weights, lambda, objective, risk, bound, gap, stop, history: self.history.clone() }
    }
}

/// The first step goes half of the way, later ones between these fractions (measured: docs/benchmarks.md).
const STRIDE: f64 = 0.5;
const SHORTEST: f64 = 0.4;
const LONGEST: f64 = 1.0;
/// How far apart value and planes of each part may be, as a fraction of the gap. Most parts come much closer than they are asked to, so that their
/// mean is closer too; were all as far as this, a step of `SHORTEST` might achieve nothing. After a step that achieved nothing, much closer.
const CLOSE: f64 = 0.45;
const FINE: f64 = 0.03;
/// The same at the start of a run that has planes, as a fraction of the objective: the gap is not known yet.
const FIRST: f64 = 0.15;
/// Sums of products may be off by this fraction.
const ROUNDING: f64 = 1e-12;
/// Progress of less than this fraction of the gap counts as none.
const NOTHING: f64 = 1e-9;

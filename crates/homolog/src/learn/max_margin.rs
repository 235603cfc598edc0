//! [`MaxMargin`]: the paper's learner, at one λ after another; all share their cutting planes, and a whole path of λ costs
//! little more than its most expensive one.
//!
//!   λ/2 |w - centre|² + mean_n max_y [loss(y) + <w, Phi(y) - Phi(truth_n)>]
//!
//! The paper's centre is zero: a large λ then means weights near zero. With the weights before learning as the centre a large λ means
//! "as before".

use super::examples::{Asking, Examples, Here};
use super::fit::{Fit, RelaxedProof};
use super::joint::Joint;
use super::risk::Memory;
use super::{Example, LearnerName, Oracle};
use crate::matching::{BruteForce, FrankWolfe, Matcher, WarmStart};
use crate::optimize::{Bundle, Centred, Minimum, Plane, Progress, State, StopReason, WeightRule};
use crate::{Control, Error, Report, Result};
use serde::{Deserialize, Serialize};

/// Settings of max-margin learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxMargin {
    /// λ, the gap to reach, and limits.
    pub bundle: Bundle,
    /// What each weight may be; empty: anything.
    pub rules: Vec<WeightRule>,
    /// Where planes come from: the matcher, or the linear relaxation.
    pub oracle: Oracle,
    /// The weights that λ draws towards; empty: zero.
    pub centre: Vec<f64>,
}

/// A run of training that can be written down (by serde, floats bit for bit), read back and continued with the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    state: State,
    /// Runs on shards once called it so.
    #[serde(alias = "rounds")]
    memory: Memory,
}

/// Called after every evaluation with the run as it stands: the moment to write it down.
pub(super) type Keep<'a> = &'a mut dyn FnMut(&Training);

/// A search that proves nothing is believed only after so many tries in vain, also where there are few examples: from a single house
/// pair at baseline 90, 15 tries end at a test loss of .071 and 40 at .000.
const LEAST_SEARCHES: usize = 40;

/// How much wider than the run's own the gap is at which the search before the relaxation ends: its planes are not the last.
const SEARCH_GAP: f64 = 3.0;
/// The same for the sketches of the relaxation that follow it.
const SKETCH_GAP: f64 = 1.0;

/// Up to so many examples: its steps cost as much as there are examples, and of many the bundle method needs few evaluations (docs/benchmarks.md).
const MOST_EXAMPLES: usize = 16;
/// Pairs of nodes in an example, from which on weights and relaxations are moved together before the first value.
const LEAST_CELLS: usize = 200;

/// The quick search before the relaxation.
pub(super) fn first_search() -> FrankWolfe {
    FrankWolfe { starts: 3, kicks: 10, ..FrankWolfe::default() }
}

impl MaxMargin {
    /// Learns at the λ of the settings.
    ///
    /// # Errors
    /// No examples, examples of different features, a problem the matcher does not take, a setting out of range. Not converging, or
    /// being stopped by the control, is not an error: the fit says so.
    pub fn fit(&self, examples: &[Example], matcher: &dyn Matcher, control: &Control) -> Result<Fit> {
        let mut training = self.start(examples, None)?;
        self.advance(&mut training, self.bundle.lambda, examples, matcher, control)
    }

    /// Learns at every λ, in the order given; from large to small is cheapest. If interrupted, later λ are missing.
    ///
    /// # Errors
    /// As [`Self::fit`].
    pub fn fit_path(
        &self,
        lambdas: &[f64],
        examples: &[Example],
        matcher: &dyn Matcher,
        control: &Control,
    ) -> Result<Vec<Fit>> {
        let mut training = self.start(examples, None)?;
        let mut fits = Vec::new();
        for &lambda in lambdas {
            let fit = self.advance(&mut training, lambda, examples, matcher, control)?;
            let is_over = fit.minimum.stop == StopReason::Interrupted;
            fits.push(fit);
            if is_over {
                break;
            }
        }
        Ok(fits)
    }

    /// A run that has not begun; from weights of another model, if given.
    ///
    /// # Errors
    /// No examples, examples of different features, or weights that do not fit them.
    pub fn start(&self, examples: &[Example], weights: Option<&[f64]>) -> Result<Training> {
        // Asks nobody anything: only sizes are needed.
        self.begin(&mut Here::new(examples, &BruteForce::default()), weights)
    }

    /// [`Self::start`] for examples that may be elsewhere.
    pub(super) fn begin(&self, examples: &mut dyn Examples, weights: Option<&[f64]>) -> Result<Training> {
        let dim = examples.dim()?;
        let centre = self.centre(dim);
        let start = weights.map(|weights| weights.iter().zip(&centre).map(|(w, c)| w - c).collect::<Vec<f64>>());
        let (mut memory, control) = (Memory::default(), Control::new());
        let mut risk = examples.risk(&self.oracle, Asking::Fully, &mut memory, &control)?;
        let risk = Centred::new(&mut *risk, &centre)?;
        let state = State::new(&risk, &Centred::rules(&self.rules_for(dim)?, &centre), start.as_deref())?;
        Ok(Training { state, memory: Memory::default() })
    }

    /// Continues at a λ: from the current state if the run is at this λ, otherwise with the planes found at others. With the
    /// same examples and matcher the result has the same bytes however often the run was interrupted, saved and loaded.
    ///
    /// # Errors
    /// As [`Self::fit`]; a run that does not fit the examples.
    pub fn advance(
        &self,
        training: &mut Training,
        lambda: f64,
        examples: &[Example],
        matcher: &dyn Matcher,
        control: &Control,
    ) -> Result<Fit> {
        self.advance_and_keep(training, lambda, &mut Here::new(examples, matcher), (control, "training"), &mut |_| {})
    }

    /// [`Self::advance`] for examples that may be elsewhere, reporting under the name of a stage and keeping the run after every evaluation.
    pub(super) fn advance_and_keep(
        &self,
        training: &mut Training,
        lambda: f64,
        examples: &mut dyn Examples,
        (control, stage): (&Control, &str),
        keep: Keep<'_>,
    ) -> Result<Fit> {
        let centre = self.centre(examples.dim()?);
        if matches!(self.oracle, Oracle::Relaxation(_)) && training.state.is_new() {
            self.begin_relaxed(training, lambda, examples, (control, stage))?;
        }
        let bundle = self.bundle_at(lambda, examples.count());
        loop {
            let progress = {
                let mut risk = examples.risk(&self.oracle, Asking::Fully, &mut training.memory, control)?;
                let mut risk = Centred::new(&mut *risk, &centre)?;
                let progress = if control.interrupted() {
                    Progress::Ended(StopReason::Interrupted)
                } else {
                    bundle.step(&mut training.state, &mut risk)?
                };
                match progress {
                    Progress::Stepped(step) => Ok(step),
                    Progress::Ended(_) => Err(bundle.so_far(&training.state, &risk)),
                }
            };
            match progress {
                Err(minimum) => return self.conclude(minimum, &centre, examples, training, control),
                Ok(step) => {
                    control.report(&Report::new(stage, step.iteration, None).with_value(step.objective, step.bound));
                    keep(training);
                }
            }
        }
    }

    /// Planes of a search, then of sketches of the relaxation; then better weights to begin at. If interrupted, nothing has changed.
    fn begin_relaxed(
        &self,
        training: &mut Training,
        lambda: f64,
        examples: &mut dyn Examples,
        (control, stage): (&Control, &str),
    ) -> Result<()> {
        let centre = self.centre(examples.dim()?);
        let near = (&centre[..], lambda);
        let mut state = training.state.clone();
        let mut memory = Memory::default();
        for asking in [Asking::FirstSearch, Asking::Sketch] {
            memory = Memory::default();
            match self.first_planes(&state, near, examples, (asking, &mut memory), (control, stage))? {
                Some(found) => state = found,
                None => return Ok(()),
            }
        }
        let joint = match self.joint(&state, &memory, near, examples.at_hand(), control) {
            Err(Error::Interrupted) => return Ok(()),
            joint => joint?,
        };
        if let Some(mut joint) = joint {
            let Some(best) = joint.improve(&mut state, self.bundle.gap_tolerance, (control, stage))? else {
                return Ok(());
            };
            state.start_at(best.weights.iter().zip(&centre).map(|(weight, centre)| weight - centre).collect());
            memory.start_from(examples.at_hand(), best.warm);
        }
        *training = Training { state, memory };
        Ok(())
    }

    /// The iteration over weights and relaxations together, where it can be done and pays: all weights free, few examples, problems that are neither so small
    /// that a relaxation is solved at once nor too large to keep their features. Examples elsewhere do without.
    fn joint<'a>(
        &self,
        state: &State,
        memory: &Memory,
        (centre, lambda): (&'a [f64], f64),
        examples: &'a [Example],
        control: &Control,
    ) -> Result<Option<Joint<'a>>> {
        let cells: usize =
            examples.iter().map(|example| example.truth().left_count() * example.truth().right_count()).sum();
        let is_free = self.rules_for(centre.len())?.iter().all(|rule| *rule == WeightRule::Free);
        if !is_free || examples.is_empty() || examples.len() > MOST_EXAMPLES || cells < LEAST_CELLS * examples.len() {
            return Ok(None);
        }
        let start = state.start().iter().zip(centre).map(|(moved, centre)| moved + centre).collect();
        let warm: Vec<&WarmStart> = memory.warm().collect();
        Joint::new(examples, (centre, lambda), start, &warm, control)
    }

    /// Planes before the first value. Upper bounds of the relaxed risk are what costs, most of all far from good weights. But matchings, and
    /// all other feasible points of the relaxation, give planes that are nowhere above it: training first goes as far as the planes of a
    /// quick search ([`first_search`]) can take it, then as far as those of relaxations that are broken off early, judging weights by the
    /// planes alone. Only then is the relaxation asked for proven values, of which alone objective and gap are made. What is kept are the
    /// planes, and where the relaxations ended; `None` if it was broken off: it is then to be done again.
    fn first_planes(
        &self,
        state: &State,
        (centre, lambda): (&[f64], f64),
        examples: &mut dyn Examples,
        (asking, memory): (Asking, &mut Memory),
        (control, stage): (&Control, &str),
    ) -> Result<Option<State>> {
        let (by, gap) = if asking == Asking::Sketch { ("sketches", SKETCH_GAP) } else { ("search", SEARCH_GAP) };
        let gap_tolerance = gap * self.bundle.gap_tolerance;
        let bundle = Bundle { lambda, gap_tolerance, second_looks: 0, ..self.bundle };
        let mut searched = state.clone();
        loop {
            let mut risk = examples.risk(&self.oracle, asking, memory, control)?;
            match bundle.step(&mut searched, &mut Centred::new(&mut *risk, centre)?)? {
                Progress::Ended(StopReason::Interrupted) => return Ok(None),
                Progress::Ended(_) => return Ok(Some(searched.planes_alone())),
                // Their objective is none that is proven.
                Progress::Stepped(step) => {
                    control.report(&Report::new(&format!("{stage}, first planes by {by}"), step.iteration, None));
                }
            }
        }
    }

    /// The risk at some weights and its slope, asked once.
    ///
    /// # Errors
    /// As [`Self::fit`]; [`Error::Interrupted`].
    pub(super) fn risk_at(
        &self,
        weights: &[f64],
        examples: &mut dyn Examples,
        control: &Control,
    ) -> Result<(f64, Vec<f64>)> {
        let mut memory = Memory::default();
        let mut risk = examples.risk(&self.oracle, Asking::Fully, &mut memory, control)?;
        let mut planes = vec![Plane { slope: vec![0.0; risk.dim()], offset: 0.0 }; risk.parts()];
        let value = risk.evaluate(weights, &mut planes)?;
        let mut slope = vec![0.0; weights.len()];
        for plane in &planes {
            slope.iter_mut().zip(&plane.slope).for_each(|(sum, slope)| *sum += slope);
        }
        Ok((value, slope))
    }

    fn centre(&self, dim: usize) -> Vec<f64> {
        if self.centre.is_empty() { vec![0.0; dim] } else { self.centre.clone() }
    }

    fn rules_for(&self, dim: usize) -> Result<Vec<WeightRule>> {
        match self.rules.len() {
            0 => Ok(vec![WeightRule::Free; dim]),
            found if found == dim => Ok(self.rules.clone()),
            found => Err(Error::Size { what: "rules for the weights", expected: dim, found }),
        }
    }

    /// The settings of the bundle method at a λ, for so many examples.
    fn bundle_at(&self, lambda: f64, examples: usize) -> Bundle {
        let mut bundle = Bundle { lambda, ..self.bundle };
        if bundle.second_looks > 0 {
            bundle.second_looks = bundle.second_looks.max(LEAST_SEARCHES.div_ceil(examples));
        }
        bundle
    }

    /// What a minimum around a centre means.
    fn conclude(
        &self,
        mut minimum: Minimum,
        centre: &[f64],
        examples: &mut dyn Examples,
        training: &Training,
        control: &Control,
    ) -> Result<Fit> {
        for ((weight, centre), rule) in minimum.weights.iter_mut().zip(centre).zip(self.rules_for(centre.len())?) {
            *weight = rule.apply(*weight + centre);
        }
        // Where they meet, rounding may put the bound a hair above the objective.
        minimum.bound = minimum.bound.min(minimum.objective);
        minimum.gap = minimum.gap.max(0.0);
        let lemma = examples.lemma_applies();
        let relaxed = match &self.oracle {
            Oracle::Search => None,
            Oracle::Relaxation(solver) => {
                let tight = match minimum.stop {
                    StopReason::Interrupted => None,
                    _ => examples.count_tight(solver, &minimum.weights, control)?,
                };
                Some(RelaxedProof { loss: lemma.then_some(minimum.risk), problems: examples.count(), tight })
            }
        };
        let Memory { solves, proven, .. } = training.memory;
        let certified = solves == proven;
        let learner = LearnerName::MaxMargin;
        Ok(Fit { learner, minimum, certified, bounds_loss: certified && lemma, solves, proven, relaxed })
    }
}

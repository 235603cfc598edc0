//! [`Bundle`]: the bundle method (BMRM, the paper's Algorithm 1) for J(w) = lambda/2 |w|² + R(w).
//!
//! Every evaluation of the risk adds one plane for each part to a model that lies below R. The regularised minimum of the model is a
//! lower bound on min J; the best point evaluated is an upper bound; the run ends where they are close. The next evaluation is on the
//! way from that best point to the minimum of the model: 0.4 to 1 of the way, further after steps on which the model kept its promise.
//! With an exact oracle every step then either brings the best objective down by a fifth of the gap or raises the model at its
//! minimum by half of it. Going all the way each time, as BMRM does, takes about 1.4 times the evaluations on the house data, and one
//! plane for all examples instead of one for each about 3.5 times (docs/benchmarks.md has what else was tried).

use super::checks::check_lambda;
use super::state::State;
use super::{Minimum, Observer, Risk, Step, StopReason};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Settings of the bundle method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bundle {
    /// The regularisation, from 1e-100 to 1e100.
    pub lambda: f64,
    /// Ends where objective - bound <= gap_tolerance * |objective|.
    pub gap_tolerance: f64,
    /// The most evaluations of the risk at one lambda.
    pub max_iterations: usize,
    /// Keep about this many planes at most (and always two for each part).
    pub max_planes: usize,
    /// Where the risk may find more at the same weights ([`Risk::may_find_more`]), end only after so many further evaluations at the
    /// best weights in a row found nothing.
    pub second_looks: usize,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// The risk was evaluated.
    Stepped(Step),
    /// There is nothing left to do, or the caller wants to stop.
    Ended(StopReason),
}

impl Default for Bundle {
    /// lambda 0.01 and the gap 1e-3 as in the authors' experiments; the limits are large enough not to matter there.
    fn default() -> Self {
        Self { lambda: 0.01, gap_tolerance: 1e-3, max_iterations: 1000, max_planes: 2000, second_looks: 5 }
    }
}

impl Bundle {
    /// Minimises from zero weights, all free.
    ///
    /// # Errors
    /// A setting out of range; an error of the risk, or NaN or infinity from it.
    pub fn minimize(&self, risk: &mut dyn Risk, observe: Observer<'_>) -> Result<Minimum> {
        let mut state = State::new(risk, &[], None)?;
        self.run(&mut state, risk, observe)
    }

    /// Continues a state: where it left off if it is at this lambda, else afresh with all its planes and points.
    ///
    /// # Errors
    /// As [`Self::minimize`]; a state that does not fit the risk. The state is then as before the failed evaluation.
    pub fn run(&self, state: &mut State, risk: &mut dyn Risk, observe: Observer<'_>) -> Result<Minimum> {
        loop {
            match self.step(state, risk)? {
                Progress::Ended(stop) => return Ok(state.minimum(self.lambda, stop)),
                Progress::Stepped(step) if observe(&step).is_break() => return Ok(self.so_far(state, risk)),
                Progress::Stepped(_) => {}
            }
        }
    }

    /// One evaluation of the risk, or the news that there is nothing left to do. [`Self::run`] is this again and again; by steps a
    /// caller can write the state down in between.
    ///
    /// # Errors
    /// As [`Self::run`], but for [`Error::Interrupted`](crate::Error::Interrupted), which is an end.
    pub fn step(&self, state: &mut State, risk: &mut dyn Risk) -> Result<Progress> {
        self.check()?;
        state.check(risk)?;
        if state.lambda() != Some(self.lambda) {
            state.begin(self.lambda);
        }
        let step = match self.verdict(state) {
            Some(stop) if !self.looks_again(stop, state, risk) => return Ok(Progress::Ended(stop)),
            Some(_) => state.look_again(risk, self.lambda, self.max_planes),
            None => state.advance(risk, self.lambda, self.max_planes),
        };
        match step {
            Ok(step) => Ok(Progress::Stepped(step)),
            Err(Error::Interrupted) => Ok(Progress::Ended(StopReason::Interrupted)),
            Err(error) => Err(error),
        }
    }

    /// The result as it stands: interrupted, unless there was nothing left to do.
    #[must_use]
    pub fn so_far(&self, state: &State, risk: &dyn Risk) -> Minimum {
        let ended = self.verdict(state).filter(|&stop| !self.looks_again(stop, state, risk));
        state.minimum(self.lambda, ended.unwrap_or(StopReason::Interrupted))
    }

    /// Whether an end has to wait for further evaluations at the best weights.
    fn looks_again(&self, stop: StopReason, state: &State, risk: &dyn Risk) -> bool {
        matches!(stop, StopReason::Converged | StopReason::Stalled)
            && state.looks < self.second_looks
            && state.history.len() < self.max_iterations
            && risk.may_find_more()
    }

    fn verdict(&self, state: &State) -> Option<StopReason> {
        if state.step(self.lambda).gap <= self.gap_tolerance {
            Some(StopReason::Converged)
        } else if state.stalled {
            Some(StopReason::Stalled)
        } else if state.history.len() >= self.max_iterations {
            Some(StopReason::IterationLimit)
        } else {
            None
        }
    }

    fn check(&self) -> Result<()> {
        check_lambda(self.lambda)?;
        Error::unless_at_least_0("gap_tolerance", self.gap_tolerance)
    }
}

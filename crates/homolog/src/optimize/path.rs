//! [`Path`]: minimises at one lambda after another. Planes do not depend on lambda, so that each starts with all that the ones
//! before have learned; going down from the largest costs the fewest evaluations (docs/benchmarks.md).

use super::{Bundle, Minimum, Observer, Risk, State, Step, StopReason};
use crate::Result;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// A path of lambdas, in the order in which they are taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Path {
    /// The lambdas.
    pub lambdas: Vec<f64>,
    /// All other settings; its own lambda is not used.
    pub bundle: Bundle,
}

/// How far along a path a run is: the minima that are done and the state for the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathState {
    /// The minima so far, one per lambda that is done.
    pub minima: Vec<Minimum>,
    /// The run at the present lambda.
    pub state: State,
}

impl Path {
    /// Minimises at every lambda. Where the observer breaks off, later lambdas are missing, and the last minimum is
    /// [`StopReason::Interrupted`] if it was not complete; running the same state again continues there.
    ///
    /// # Errors
    /// As [`Bundle::run`].
    pub fn run(&self, path: &mut PathState, risk: &mut dyn Risk, observe: Observer<'_>) -> Result<Vec<Minimum>> {
        let broken_off = Cell::new(false);
        let mut watch = |step: &Step| {
            let flow = observe(step);
            broken_off.set(broken_off.get() || flow.is_break());
            flow
        };
        for &lambda in self.lambdas.iter().skip(path.minima.len()) {
            let minimum = Bundle { lambda, ..self.bundle }.run(&mut path.state, risk, &mut watch)?;
            if minimum.stop == StopReason::Interrupted {
                return Ok(path.minima.iter().cloned().chain([minimum]).collect());
            }
            path.minima.push(minimum);
            if broken_off.get() {
                break;
            }
        }
        Ok(path.minima.clone())
    }
}

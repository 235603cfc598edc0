//! [`Path`]: minimises at one lambda after another. Planes do not depend on lambda, so that each starts with all that the ones
//! before have learned; going down from the largest costs the fewest evaluations (docs/benchmarks.md).

use super::{Bundle, Minimum, Observer, Risk, State, StopReason};
use crate::Result;
use serde::{Deserialize, Serialize};

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
    /// Minimises at every lambda. Where the observer breaks off, the last minimum is [`StopReason::Interrupted`] and later lambdas
    /// are missing; running the same state again continues there.
    ///
    /// # Errors
    /// As [`Bundle::run`].
    pub fn run(&self, path: &mut PathState, risk: &mut dyn Risk, observe: Observer<'_>) -> Result<Vec<Minimum>> {
        for &lambda in self.lambdas.iter().skip(path.minima.len()) {
            let minimum = Bundle { lambda, ..self.bundle }.run(&mut path.state, risk, observe)?;
            if minimum.stop == StopReason::Interrupted {
                return Ok(path.minima.iter().cloned().chain([minimum]).collect());
            }
            path.minima.push(minimum);
        }
        Ok(path.minima.clone())
    }
}

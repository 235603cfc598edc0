//! Minimises a regularised convex risk,
//!
//!   J(w) = lambda/2 |w|² + R(w),      R(w) = Σ_part R_part(w)
//!
//! where R is known only through an oracle that is expensive to ask ([`Risk`]): at a w it gives the value and, for each part, a plane that
//! lies below that part everywhere. Nothing here knows about graphs. [`Bundle`] holds the settings and the method; [`State`] is a run that
//! can be saved, read back and continued, at the same lambda or another. [`Centred`] turns |w|² into |w - centre|².
//! A risk that is smooth and cheap is minimised by limited-memory BFGS instead.
//!
//! Everything is **minimised**, and the result is proven: `bound` <= min J <= `objective`.
//!
//! ```
//! use homolog::optimize::{Bundle, Plane, Risk, StopReason};
//! use std::ops::ControlFlow;
//!
//! /// The hinge R(w) = max(0, 1 - w).
//! struct Hinge;
//! impl Risk for Hinge {
//!     fn dim(&self) -> usize {
//!         1
//!     }
//!     fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> homolog::Result<f64> {
//!         let (slope, offset) = if weights[0] < 1.0 { (-1.0, 1.0) } else { (0.0, 0.0) };
//!         planes[0] = Plane { slope: vec![slope], offset };
//!         Ok(offset + slope * weights[0])
//!     }
//! }
//!
//! let bundle = Bundle { lambda: 0.1, ..Bundle::default() };
//! let minimum = bundle.minimize(&mut Hinge, &mut |_step| ControlFlow::Continue(()))?;
//! assert_eq!(minimum.stop, StopReason::Converged);
//! assert!((minimum.weights[0] - 1.0).abs() < 1e-3 && minimum.bound <= 0.05 && 0.05 <= minimum.objective);
//! # Ok::<(), homolog::Error>(())
//! ```

mod bundle;
mod centred;
mod checks;
mod cut;
mod factor;
mod lbfgs;
mod points;
mod simplex_qp;
mod state;
mod vector;
mod weight_rule;

pub use bundle::Bundle;
pub(crate) use bundle::Progress;
pub use centred::Centred;
pub use lbfgs::Regularization;
pub(crate) use lbfgs::{Lbfgs, Smooth};
pub use state::State;
pub use weight_rule::WeightRule;

use crate::Result;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A convex function of the weights, known by its values and by planes below it.
///
/// A risk that is a mean over examples may be one part, or one part for each group of examples. More parts mean fewer evaluations
/// to the same gap and more work between them; up to about 64 that is a gain if an evaluation takes a millisecond.
pub trait Risk {
    /// How many weights there are.
    fn dim(&self) -> usize;

    /// How many convex functions the risk is a sum of.
    fn parts(&self) -> usize {
        1
    }

    /// A lower bound on every part, everywhere: 0 for a structured hinge loss. It saves evaluations, many of them if lambda is small.
    fn floor(&self) -> Option<f64> {
        None
    }

    /// Called before every evaluation but the first with how close value and planes have to be at the next point to be useful: an oracle
    /// that takes longer for a closer answer may stop there.
    fn aim(&mut self, _closeness: f64) {}

    /// Returns an upper bound on R(weights), usually its value, and writes one plane for each part into `planes`, which come
    /// in as zeros. If the oracle is exact, the planes add up to the value at `weights`; if it is not, they may be lower, and
    /// the bounds still hold.
    ///
    /// # Errors
    /// Whatever keeps the risk from being known; it ends the minimisation. [`Error::Interrupted`](crate::Error::Interrupted) if
    /// the caller wants to stop: the evaluation is then discarded, and what was known before it stands.
    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64>;

    /// Whether another evaluation at the same weights may find more than the last: the oracle is a search that proves nothing and
    /// looks elsewhere each time. [`Bundle::second_looks`] are then made before the run ends.
    fn may_find_more(&self) -> bool {
        false
    }
}

/// The function offset + slope·w, at most R_part(w) for every w.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plane {
    /// One number per weight.
    pub slope: Vec<f64>,
    /// The value at w = 0.
    pub offset: f64,
}

impl Plane {
    /// Its value at some weights.
    #[must_use]
    pub fn at(&self, weights: &[f64]) -> f64 {
        self.offset + vector::dot(&self.slope, weights)
    }
}

/// The state of a run after an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How many evaluations there were at this lambda.
    pub iteration: usize,
    /// The regularisation.
    pub lambda: f64,
    /// J at the best weights so far.
    pub objective: f64,
    /// A lower bound on J everywhere.
    pub bound: f64,
    /// (objective - bound) / |objective|.
    pub gap: f64,
    /// How many cutting planes are kept.
    pub planes: usize,
}

/// Sees every step and may end the run there: log, progress bar, time limit, Ctrl-C.
pub(crate) type Observer<'a> = &'a mut dyn FnMut(&Step) -> ControlFlow<()>;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The gap is within the tolerance.
    Converged,
    /// The limit of evaluations was reached.
    IterationLimit,
    /// The caller asked to stop.
    Interrupted,
    /// Another evaluation would not help: the oracle is not exact, or the tolerance is below what rounding allows.
    Stalled,
}

/// The best weights found, and what is proven about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// The best weights seen.
    pub weights: Vec<f64>,
    /// The regularisation.
    pub lambda: f64,
    /// J at the weights.
    pub objective: f64,
    /// R at the weights.
    pub risk: f64,
    /// A lower bound on J everywhere.
    pub bound: f64,
    /// (objective - bound) / |objective|.
    pub gap: f64,
    /// Why it ended.
    pub stop: StopReason,
    /// Every step at this lambda.
    pub history: Vec<Step>,
}

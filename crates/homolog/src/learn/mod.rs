//! Learning from matched examples (the paper's sections "The Optimization Problem" and "The Algorithm").
//!
//! An [`Example`] is a pair of graphs with its true matching. [`MaxMargin`] finds the weights that minimise
//!
//!   λ/2 |w|² + mean_n max_y [loss(y, truth_n) + <w, Phi(y) - Phi(truth_n)>]
//!
//! by the bundle method of [`optimize`](crate::optimize); the second term is an upper bound on the mean loss of the predictions
//! (the paper's lemma). With edges the search for the maximum is hard; an [`Oracle`] of the linear relaxation in its place makes every
//! step of training, and what comes out, provable. [`Likelihood`] is a second learner, which needs no search. The result is a [`Fit`], which says what is proven of it. [`evaluate`] measures weights on other examples,
//! [`Selection`] picks λ by validation.

mod evaluate;
mod example;
mod likelihood;
mod max_margin;
mod oracle;
mod relaxed_risk;
mod risk;
mod select;

pub use evaluate::{Evaluation, evaluate};
pub use example::Example;
pub use likelihood::Likelihood;
pub use max_margin::{Fit, MaxMargin, Training};
pub use oracle::{Oracle, RelaxedProof};
pub use select::{Selection, choose, lambda_grid};

use crate::Result;
use crate::matching::Matcher;
use crate::optimize::Observer;

/// Something that learns weights from examples. Its fields are its settings.
pub trait Learner: Send + Sync {
    /// Learns weights for these examples, which are matched by this matcher.
    ///
    /// # Errors
    /// No examples, examples of different features, a problem the matcher does not take, a setting out of range. Not converging, or
    /// being stopped by the observer, is no error: the fit says so.
    fn fit(&self, examples: &[Example], matcher: &dyn Matcher, observe: Observer<'_>) -> Result<Fit>;
}

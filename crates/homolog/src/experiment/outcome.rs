//! [`Outcome`]: the form of the paper's tables, losses with and without learning for training, validation and test.

use super::Splits;
use crate::Result;
use crate::learn::{Evaluation, MaxMargin, Selection, evaluate, lambda_grid};
use crate::matching::Matcher;
use crate::optimize::Observer;

/// What learning changes; three evaluations each, for training, validation and test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Every weight is 1, as the authors run "no learning".
    pub unlearned: [Evaluation; 3],
    /// At the λ of least validation loss.
    pub learned: [Evaluation; 3],
    /// All λ, and the one chosen.
    pub selection: Selection,
}

/// Learns on the training examples along a grid of λ that suits them, chooses by validation, and evaluates on all three sets. The
/// learner's own λ is not used.
///
/// # Errors
/// A set without examples, a problem the matcher does not take, a setting out of range.
pub fn learn_and_compare(
    splits: &Splits,
    learner: &MaxMargin,
    matcher: &dyn Matcher,
    observe: Observer<'_>,
) -> Result<Outcome> {
    let [train, validation, test] = splits;
    let lambdas = lambda_grid(train, matcher)?;
    let selection = learner.fit_validated(&lambdas, train, validation, matcher, observe)?;
    let all = |weights: &[f64]| -> Result<[Evaluation; 3]> {
        Ok([
            evaluate(train, matcher, weights)?,
            evaluate(validation, matcher, weights)?,
            evaluate(test, matcher, weights)?,
        ])
    };
    let unlearned = all(&vec![1.0; selection.fit.weights.len()])?;
    Ok(Outcome { unlearned, learned: all(&selection.fit.weights)?, selection })
}

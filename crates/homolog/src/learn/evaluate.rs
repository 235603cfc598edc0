//! How well weights predict: the loss on each example, the mean and its standard error.

use super::Example;
use super::risk::prediction_losses;
use crate::Result;
use crate::matching::{Matcher, Status};

/// Losses of predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The loss on each example, in their order.
    pub losses: Vec<f64>,
    /// How many of the predictions were proven to be the best matching under the weights.
    pub proven: usize,
}

impl Evaluation {
    /// The mean loss; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.losses.is_empty() { 0.0 } else { self.losses.iter().sum::<f64>() / self.losses.len() as f64 }
    }

    /// The standard error of the mean, from the sample variance; 0 for fewer than two examples.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        let count = self.losses.len() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.losses.iter().map(|loss| (loss - mean).powi(2)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }
}

/// Predicts every example with these weights and compares with the truth. Right nodes are shuffled before each solve.
///
/// # Errors
/// Weights that do not fit the features, or a problem the matcher does not take.
pub fn evaluate(examples: &[Example], matcher: &dyn Matcher, weights: &[f64]) -> Result<Evaluation> {
    let answers = prediction_losses(examples, matcher, weights)?;
    let proven = answers.iter().filter(|(_, status)| *status == Status::Optimal).count();
    Ok(Evaluation { losses: answers.into_iter().map(|(loss, _)| loss).collect(), proven })
}

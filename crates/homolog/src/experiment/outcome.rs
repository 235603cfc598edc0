//! [`Effect`]: the form of the paper's tables, losses with and without learning for training, validation and test.

use super::Splits;
use super::method::LOOSE_GAP;
use crate::features::FeatureMap;
use crate::learn::{Evaluation, Trained, Trainer, TrainingSet, evaluate};
use crate::optimize::Bundle;
use crate::{Control, Result};

/// What learning changes; three evaluations each, for training, validation and test.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// As before learning.
    pub unlearned: [Evaluation; 3],
    /// With the chosen weights.
    pub learned: [Evaluation; 3],
    /// All candidates, and the one that was chosen.
    pub trained: Trained,
}

/// Learns on the training examples as in the paper's scenes, chooses λ by validation, and evaluates on all three sets.
///
/// # Errors
/// A set without examples, a problem the matcher does not take.
pub fn learn_and_compare(features: &FeatureMap, splits: &Splits, control: &Control) -> Result<Effect> {
    let trainer = Trainer { bundle: Bundle { gap_tolerance: LOOSE_GAP, ..Bundle::default() }, ..Trainer::paper() };
    let [train, validation, test] = splits;
    let set = TrainingSet::of_examples(features.clone(), train.clone(), validation.clone());
    let trained = trainer.train(&set, control)?;
    let matcher = trainer.matcher_for(&set);
    let all = |weights: &[f64]| -> Result<[Evaluation; 3]> {
        Ok([
            evaluate(train, matcher.matcher(), weights, control)?,
            evaluate(validation, matcher.matcher(), weights, control)?,
            evaluate(test, matcher.matcher(), weights, control)?,
        ])
    };
    Ok(Effect { unlearned: all(&set.unlearned)?, learned: all(trained.weights())?, trained })
}

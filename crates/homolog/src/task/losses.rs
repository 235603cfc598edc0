//! [`losses`]: how wrong a model is on labelled pairs, whichever kind of model it is.

use crate::features::FeatureMap;
use crate::learn::{Evaluation, LabelledPairs, atlas_losses, evaluate};
use crate::model::Model;
use crate::{Control, Result};

/// The loss of every pair, by the loss that the model was trained for. With an atlas each specimen is named once, and points of the same
/// name are matched.
///
/// # Errors
/// A graph without the parts that the model needs.
pub fn losses(model: &Model, pairs: &LabelledPairs, control: &Control) -> Result<Evaluation> {
    let pairs = &pairs.clone().watched_by(control);
    let loss = model.training.as_ref().map(|record| record.loss).unwrap_or_default();
    match model.atlas() {
        None => {
            let examples = pairs.posed_examples(&model.features, loss.loss())?;
            evaluate(&examples, model.matcher.matcher(), &model.weights(), control)
        }
        Some(atlas) => {
            let examples = pairs.examples(&FeatureMap::nothing(), loss.loss())?;
            let all: Vec<usize> = (0..pairs.len()).collect();
            atlas_losses(atlas, &model.weights(), (pairs, &all, &examples), control)
        }
    }
}

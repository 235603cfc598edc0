//! [`TrainingSet`]: everything that training needs of the data: examples to learn from and to choose by, and the weights before learning.

use super::{Example, LabelledPairs};
use crate::Result;
use crate::features::FeatureMap;
use crate::loss::LossKind;
use crate::matching::{Exact, FrankWolfe, Linear, Method};

/// Examples under some features, and the weights before learning.
#[derive(Debug, Clone)]
pub struct TrainingSet {
    /// The features: those asked for, fitted to the training pairs.
    pub features: FeatureMap,
    /// The weights before learning.
    pub unlearned: Vec<f64>,
    /// To learn from.
    pub training: Vec<Example>,
    /// To choose by; none: by cross-validation.
    pub validation: Vec<Example>,
}

impl TrainingSet {
    /// The examples of some pairs.
    ///
    /// # Errors
    /// A graph without the parts that the features or the loss need.
    pub fn new(
        features: &FeatureMap,
        loss: &LossKind,
        training: &LabelledPairs,
        validation: &LabelledPairs,
    ) -> Result<Self> {
        let pairs: Vec<_> = training.iter().map(|(pair, ..)| pair).collect();
        let features = match features.with_spread_of(&pairs) {
            Ok(features) => features,
            // Said with the name of the graph.
            Err(error) => return Err(training.examples(features, loss.loss()).err().unwrap_or(error)),
        };
        let examples = |pairs| examples_of(&features, loss, pairs);
        let (training, validation) = (examples(training)?, examples(validation)?);
        Ok(Self::of_examples(features, training, validation))
    }

    /// Of examples that are there already.
    #[must_use]
    pub fn of_examples(features: FeatureMap, training: Vec<Example>, validation: Vec<Example>) -> Self {
        Self { unlearned: features.unlearned_weights(), features, training, validation }
    }

    /// How a model with these features matches unless told otherwise: exactly.
    #[must_use]
    pub fn default_matcher(&self) -> Method {
        default_matcher(&self.features)
    }

    /// The search in training: what measures best as one (docs/benchmarks.md).
    #[must_use]
    pub fn default_search(&self) -> Method {
        if self.features.edge.is_empty() {
            Method::Linear(Linear::default())
        } else {
            Method::FrankWolfe(FrankWolfe::default())
        }
    }
}

/// The examples that pairs are under features that were fitted. Where graphs may be turned, the truth says how.
pub(super) fn examples_of(features: &FeatureMap, loss: &LossKind, pairs: &LabelledPairs) -> Result<Vec<Example>> {
    match features.pose {
        pose if pose.is_as_given() => pairs.examples(features, loss.loss()),
        pose => pairs.turned(|pair, truth| pose.known(pair, truth))?.examples(features, loss.loss()),
    }
}

/// The exact matcher for some features.
#[must_use]
pub fn default_matcher(features: &FeatureMap) -> Method {
    if features.edge.is_empty() { Method::Linear(Linear::default()) } else { Method::Exact(Exact::default()) }
}

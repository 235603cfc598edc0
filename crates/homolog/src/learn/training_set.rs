//! [`TrainingSet`]: everything training needs from the data: examples to learn from and to choose by, and the weights before learning.

use super::{Example, LabelledPairs, LeftOut};
use crate::Result;
use crate::features::{FeatureMap, lies_within};
use crate::loss::LossKind;
use crate::matching::{Exact, FrankWolfe, Linear, Method};

/// Graphs rotated against each other by more degrees than this teach features that see turns nothing that holds for others; if turned
/// by less, they teach which features tolerate it.
pub(crate) const TEACHING_TURN: f64 = 60.0;

/// Examples under some features, and the weights before learning.
#[derive(Debug, Clone)]
pub struct TrainingSet {
    /// The features: those asked for, fitted to the training pairs.
    pub features: FeatureMap,
    /// The weights before learning.
    pub unlearned: Vec<f64>,
    /// To learn from.
    pub training: Vec<Example>,
    /// To choose by; if empty, cross-validation is used.
    pub validation: Vec<Example>,
    /// Training pairs left out because their graphs are not oriented alike, by position: features that see turns and take graphs as
    /// given would learn from them what is wrong for all others.
    pub turned: Vec<usize>,
    /// All that was not learned from.
    pub left_out: LeftOut,
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
        let pairs: Vec<_> = training.iter().map(|(pair, truth, _)| (pair, truth)).collect();
        let features = match features.fitted_to(&pairs, training.control()) {
            Ok(features) => features,
            // This error names the graph.
            Err(error) => return Err(training.examples(features, loss.loss()).err().unwrap_or(error)),
        };
        let turned = turned(&features, training)?;
        let examples = |pairs: &LabelledPairs| pairs.posed_examples(&features, loss.loss());
        let (alike, validation) = (examples(&training.without(&turned))?, examples(validation)?);
        let left_out = LeftOut::of(&alike, turned.len());
        Ok(Self { turned, left_out, ..Self::of_examples(features, alike, validation) })
    }

    /// From examples that exist already.
    #[must_use]
    pub fn of_examples(features: FeatureMap, training: Vec<Example>, validation: Vec<Example>) -> Self {
        let (unlearned, left_out) = (features.unlearned_weights(), LeftOut::of(&training, 0));
        Self { unlearned, features, training, validation, turned: Vec::new(), left_out }
    }

    /// How a model with these features matches unless told otherwise: exactly.
    #[must_use]
    pub fn default_matcher(&self) -> Method {
        default_matcher(&self.features)
    }

    /// The search in training: the one that measures best (docs/benchmarks.md).
    #[must_use]
    pub fn default_search(&self) -> Method {
        if self.features.edge.is_empty() {
            Method::Linear(Linear::default())
        } else {
            Method::FrankWolfe(FrankWolfe::default())
        }
    }
}

/// The pairs, by position, that these features do not learn from, because their graphs are rotated too far against each other, or mirrored.
pub(super) fn turned(features: &FeatureMap, pairs: &LabelledPairs) -> Result<Vec<usize>> {
    let mut turned = Vec::new();
    if !may_leave_out(features) {
        return Ok(turned);
    }
    for (number, (pair, truth, _)) in pairs.iter().enumerate() {
        pairs.listen()?;
        if !lies_within(TEACHING_TURN, &pair, truth)? {
            turned.push(number);
        }
    }
    Ok(turned)
}

/// Whether these features do not learn from pairs that are rotated too far. If attributes are compared as well, they tell what matches in any pose.
pub(super) fn may_leave_out(features: &FeatureMap) -> bool {
    features.pose.is_as_given() && features.sees_turns() && !features.sees_attributes()
}

/// The exact matcher for some features.
#[must_use]
pub fn default_matcher(features: &FeatureMap) -> Method {
    if features.edge.is_empty() { Method::Linear(Linear::default()) } else { Method::Exact(Exact::default()) }
}

//! The paper's sequence experiment, method by method: [`Frames`] are described once for all methods, a [`Trial`] is one method at one baseline
//! with its pairs for training, validation and test.

use super::{Sequence, SequenceMethod, Splits};
use crate::data::Split;
use crate::features::FeatureMap;
use crate::graph::{Graph, Pair};
use crate::learn::{Evaluation, Fit, Trainer, TrainingSet, evaluate};
use crate::loss::Hamming;
use crate::{Control, Error, Result};
use std::sync::Arc;

/// So many validation pairs tell enough if it has to be quick.
const QUICK_VALIDATION: usize = 7;

/// A sequence of frames under the features of every method.
#[derive(Debug, Clone)]
pub struct Frames {
    /// The paper's 60 shape context features.
    pub linear: Sequence,
    /// The same and the adjacency of Delaunay graphs.
    pub edges: Sequence,
    /// Shape contexts with soft bins.
    pub soft: Sequence,
}

impl Frames {
    /// Describes frames with the same landmarks, in the same order.
    ///
    /// # Errors
    /// Frames with different numbers of nodes, or without points.
    pub fn new(graphs: Vec<Arc<Graph>>) -> Result<Self> {
        // Units of the soft features: what is usual between neighbouring frames that are learned from.
        let starts = (0..graphs.len().saturating_sub(1)).filter(|&frame| Split::of_frame(frame) == Split::Train);
        let pair = |frame: usize| Pair::new(Arc::clone(&graphs[frame]), Arc::clone(&graphs[frame + 1]));
        let pairs: Vec<Pair> = starts.map(pair).collect();
        let soft = FeatureMap::named("linear", graphs.iter().map(|graph| &**graph))?.with_spread_of(&pairs)?;
        Ok(Self {
            linear: Sequence::new(FeatureMap::paper_linear(), graphs.clone())?,
            edges: Sequence::new(FeatureMap::paper_quadratic(), graphs.clone())?,
            soft: Sequence::new(soft, graphs)?,
        })
    }

    /// The frames as a method sees them.
    #[must_use]
    pub fn sequence(&self, method: SequenceMethod) -> &Sequence {
        match method {
            SequenceMethod::Linear | SequenceMethod::LinearLearned => &self.linear,
            SequenceMethod::Soft | SequenceMethod::SoftLearned => &self.soft,
            _ => &self.edges,
        }
    }
}

/// One method at one baseline.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The method.
    pub method: SequenceMethod,
    /// How it learns.
    pub trainer: Trainer,
    /// Its features.
    pub features: FeatureMap,
    /// The pairs to learn from, to choose λ by and to test on.
    pub splits: Splits,
}

/// The weights of a trial.
#[derive(Debug, Clone)]
pub struct Weights {
    /// One per feature.
    pub weights: Vec<f64>,
    /// What is known about them, if they were learned.
    pub fit: Option<Fit>,
    /// On the validation pairs.
    pub validation_loss: f64,
}

impl Trial {
    /// A method at a baseline, learning from the first so many training pairs, or all.
    ///
    /// # Errors
    /// [`Error::NoExamples`] if one of the three splits has no pair.
    pub fn new(frames: &Frames, baseline: usize, method: SequenceMethod, train_pairs: Option<usize>) -> Result<Self> {
        let sequence = frames.sequence(method);
        let mut splits = Splits::default();
        for (examples, split) in splits.iter_mut().zip(Split::ALL) {
            *examples = sequence.examples(baseline, split, &Hamming::default())?;
        }
        splits[0].truncate(train_pairs.unwrap_or(usize::MAX));
        if splits.iter().any(Vec::is_empty) {
            return Err(Error::NoExamples);
        }
        Ok(Self { method, trainer: method.trainer(), features: sequence.features().clone(), splits })
    }

    /// The same in a fraction of the time: with edges one λ and the first of what the search finds; few validation pairs.
    #[must_use]
    pub fn quick(mut self) -> Self {
        if self.method == SequenceMethod::QuadraticLearned {
            self.trainer.bundle.second_looks = 0;
            self.trainer.lambdas.truncate(1);
        }
        self.splits[1].truncate(QUICK_VALIDATION);
        self
    }

    /// Learns, if the method does.
    ///
    /// # Errors
    /// As [`Trainer::train`].
    pub fn weights(&self, control: &Control) -> Result<Weights> {
        let [train, validation, _] = &self.splits;
        if self.method.is_learned() {
            let set = TrainingSet::of_examples(self.features.clone(), train.clone(), validation.clone());
            let trained = self.trainer.train(&set, control)?;
            let validation_loss = trained.after().map_or(f64::NAN, Evaluation::mean);
            return Ok(Weights { weights: trained.weights().to_vec(), fit: trained.fit().cloned(), validation_loss });
        }
        let weights = self.features.unlearned_weights();
        let validation_loss = evaluate(validation, self.method.matcher().matcher(), &weights, control)?.mean();
        Ok(Weights { weights, fit: None, validation_loss })
    }

    /// The losses of the test pairs.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn test(&self, weights: &[f64], control: &Control) -> Result<Evaluation> {
        evaluate(&self.splits[2], self.method.matcher().matcher(), weights, control)
    }
}

//! The likelihood of all examples and its gradient: examples in parallel, added up in an order that does not depend on the threads.

use super::changes::{Changes, soft_point};
use super::rows_and_columns::RowsAndColumns;
use super::share::Shares;
use crate::learn::Example;
use crate::optimize::Smooth;
use crate::{Control, Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::sync::Arc;

/// Changes are stored for as many examples as fit into this many bytes, and rebuilt at each evaluation for the rest.
const KEPT_BYTES: usize = 512 << 20;
/// Examples are added up in runs of this many, whatever the number of threads.
const RUN: usize = 16;

/// R(w) = Σ_n share_n · mean of -log of the truth's share over the groups of example n.
pub(super) struct LikelihoodRisk<'a> {
    examples: &'a [Example],
    /// By importance, summing to 1.
    shares: Vec<f64>,
    prepared: Prepared,
    control: &'a Control,
}

/// What some examples are compared with, which does not depend on the weights: cross-validation prepares it once for all its runs.
#[derive(Clone)]
pub(in crate::learn) struct Prepared {
    kept: Vec<Option<Arc<Groups>>>,
}

enum Groups {
    Linear(RowsAndColumns),
    WithEdges(Box<Changes>),
}

impl Groups {
    fn new(example: &Example) -> Result<Self> {
        let (instance, truth) = (example.instance(), example.truth());
        Ok(if instance.has_edge_features() {
            Self::WithEdges(Box::new(Changes::new(instance, truth)?))
        } else {
            Self::Linear(RowsAndColumns::new(truth, instance.constraint(), instance.may_stay_unmatched()))
        })
    }

    fn size(&self) -> usize {
        match self {
            Self::Linear(_) => 0,
            Self::WithEdges(changes) => changes.size(),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Linear(groups) => groups.group_count(),
            Self::WithEdges(changes) => changes.group_count(),
        }
    }
}

/// A part of the sum; `None` if interrupted.
type Sum = Option<(f64, Vec<f64>)>;

impl Prepared {
    /// For these examples; `None` if interrupted.
    pub(in crate::learn) fn new(examples: &[Example], control: &Control) -> Result<Option<Self>> {
        let (mut kept, mut bytes) = (Vec::with_capacity(examples.len()), 0);
        // One run at a time, so that no more is in memory at once than is kept.
        for run in examples.chunks(RUN) {
            let made: Vec<Option<Groups>> = run
                .par_iter()
                .map(|example| {
                    if bytes > KEPT_BYTES || control.interrupted() { Ok(None) } else { Groups::new(example).map(Some) }
                })
                .collect::<Result<_>>()?;
            for groups in made {
                bytes += groups.as_ref().map_or(0, Groups::size);
                kept.push(groups.filter(|_| bytes <= KEPT_BYTES).map(Arc::new));
            }
        }
        Ok((!control.interrupted()).then_some(Self { kept }))
    }

    /// For the examples at these positions.
    pub(in crate::learn) fn pick(&self, positions: &[usize]) -> Self {
        Self { kept: positions.iter().map(|&at| self.kept[at].clone()).collect() }
    }
}

impl<'a> LikelihoodRisk<'a> {
    /// Of examples that were prepared.
    pub(super) fn new(examples: &'a [Example], prepared: Prepared, control: &'a Control) -> Self {
        let total: f64 = examples.iter().map(Example::importance).sum();
        let share = |example: &Example| if total > 0.0 { example.importance() / total } else { 0.0 };
        Self { examples, shares: examples.iter().map(share).collect(), prepared, control }
    }

    fn sum(&self, range: std::ops::Range<usize>, weights: &[f64]) -> Result<Sum> {
        let (mut value, mut gradient, mut shares) = (0.0, vec![0.0; weights.len()], Shares::default());
        for n in range {
            if self.control.interrupted() {
                return Ok(None);
            }
            if self.shares[n] == 0.0 {
                continue;
            }
            let made;
            let groups = if let Some(groups) = &self.prepared.kept[n] {
                groups
            } else {
                made = Groups::new(&self.examples[n])?;
                &made
            };
            if groups.count() > 0 {
                let factor = self.shares[n] / groups.count() as f64;
                let (example, control) = (&self.examples[n], self.control);
                let Some(own) = add_example(example, groups, (weights, factor), &mut gradient, &mut shares, control)?
                else {
                    return Ok(None);
                };
                value += factor * own;
            }
        }
        Ok(Some((value, gradient)))
    }
}

impl Smooth for LikelihoodRisk<'_> {
    fn dim(&self) -> usize {
        self.examples.first().map_or(0, |example| example.instance().dim())
    }

    fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        let starts: Vec<usize> = (0..self.examples.len()).step_by(RUN).collect();
        let sums: Vec<Sum> = starts
            .into_par_iter()
            .map(|start| self.sum(start..self.examples.len().min(start + RUN), weights))
            .collect::<Result<_>>()?;
        let mut value = 0.0;
        for sum in sums {
            let Some((part, slope)) = sum else { return Ok(None) };
            value += part;
            gradient.iter_mut().zip(slope).for_each(|(total, slope)| *total += slope);
        }
        Ok(Some(value))
    }
}

/// The sum over the groups of an example; `factor` times its gradient is added to `gradient`. `None` if interrupted.
fn add_example(
    example: &Example,
    groups: &Groups,
    (weights, factor): (&[f64], f64),
    gradient: &mut [f64],
    shares: &mut Shares,
    control: &Control,
) -> Result<Option<f64>> {
    let (instance, truth) = (example.instance(), example.truth());
    let mut scores = Array2::zeros((truth.left_count(), truth.right_count()));
    match instance.node_scores_into(weights, &mut scores, control) {
        Err(Error::Interrupted) => return Ok(None),
        other => other?,
    }
    let mut point = soft_point(Array2::zeros(scores.raw_dim()));
    let value = match groups {
        Groups::Linear(groups) => {
            let unmatched = if instance.may_stay_unmatched() { -weights[weights.len() - 1] } else { f64::NEG_INFINITY };
            let (value, amount) = groups.add(truth, &scores, unmatched, &mut point.node, shares);
            if let Some(first) = point.unmatched.first_mut() {
                *first = amount;
            }
            value
        }
        Groups::WithEdges(changes) => changes.add(&scores, weights, &mut point.node, factor, gradient, shares),
    };
    instance.add_soft_features(&point, factor, gradient)?;
    Ok(Some(value))
}

//! [`Likelihood`]: the second learner. It makes the truth likely compared with what is near it, and needs no search at all:
//!
//!   J(w) = λ/2 |w - centre|² + mean_n mean_g log Σ_(y in group g of example n) exp <w, Phi(y) - Phi(truth_n)>
//!
//! The term of a group is -log of the truth's share in it. For linear models the groups are the rows and the columns of the scores
//! (`rows_and_columns`); with edges they are the single changes of the truth that move a given node (`changes`), a composite
//! likelihood. Either way J is convex and smooth; [`Lbfgs`] minimises it and proves how close it came.
//!
//! It does not collapse where margins cannot be met: on noisy data it helps where max-margin learning ends at zero weights. But with
//! edges it knows only what is near the truth, and says nothing about matchings that are wrong throughout. So λ should be chosen by
//! validation with the solver, and the centre should be the unlearned weights, at the scale s at which they are likely
//! ([`Likelihood::scale`]). In units of that scale, λ s² = 0.1 was never much worse than no learning and mostly better on six real data
//! sets; down to 0.001 linear models gained more, and models with edges both gained and lost.

mod changes;
mod groups;
mod risk;
mod rows_and_columns;
mod share;

use super::Example;
use crate::optimize::{Lbfgs, Minimum, Regularization, Smooth};
use crate::{Control, Error, Result};
pub(super) use groups::{Groups, informed, silent, strengths};
use risk::LikelihoodRisk;
pub(super) use risk::Prepared;
use serde::{Deserialize, Serialize};

/// Settings of likelihood learning.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Likelihood {
    /// How close to come to the optimum, and limits.
    pub optimizer: Lbfgs,
}

/// When -log of the truth's share is this on average, the truth is as good as certain. At a larger scale there would be nothing left to
/// learn from: with 0.01 quadratic models on the house and hummingbirds learned nothing, with 0.1 their test error fell by a quarter.
const SURE: f64 = 0.1;
/// A scale within this factor is close enough: it is only where learning starts.
const CLOSE: f64 = 1.02;

impl Likelihood {
    /// The weights with the lowest J near `near.centre`, from `start` or from the centre. The minimum's `risk` is the mean of -log of the
    /// truth's share. `None` if interrupted before anything was known; the centre is then the best there is.
    ///
    /// # Errors
    /// No examples, examples of different features, a setting out of range, sizes that disagree, scores that overflow.
    pub fn fit(
        &self,
        examples: &[Example],
        near: Regularization<'_>,
        start: Option<&[f64]>,
        control: &Control,
    ) -> Result<Option<Minimum>> {
        Ok(self.fit_path(&[near.lambda], examples, near, start, control)?.pop())
    }

    /// The same at every λ in turn, each from where the last ended; what they share is prepared once. If interrupted, it returns
    /// what it has: the last may have stopped early, later ones are missing.
    ///
    /// # Errors
    /// As [`Self::fit`].
    pub fn fit_path(
        &self,
        lambdas: &[f64],
        examples: &[Example],
        near: Regularization<'_>,
        start: Option<&[f64]>,
        control: &Control,
    ) -> Result<Vec<Minimum>> {
        check(examples)?;
        let mut minima: Vec<Minimum> = Vec::with_capacity(lambdas.len());
        let Some(prepared) = Prepared::new(examples, control)? else { return Ok(minima) };
        let mut risk = LikelihoodRisk::new(examples, prepared, control);
        for &lambda in lambdas {
            let near = Regularization { lambda, ..near };
            let last = minima.last().map(|minimum| minimum.weights.clone());
            let Some(minimum) = self.optimizer.minimize(&mut risk, near, last.as_deref().or(start), control)? else {
                break;
            };
            minima.push(minimum);
            if control.interrupted() {
                break;
            }
        }
        Ok(minima)
    }

    /// [`Self::fit`] of examples that were prepared.
    pub(super) fn fit_prepared(
        &self,
        (examples, prepared): (&[Example], Prepared),
        near: Regularization<'_>,
        start: Option<&[f64]>,
        control: &Control,
    ) -> Result<Option<Minimum>> {
        check(examples)?;
        self.optimizer.minimize(&mut LikelihoodRisk::new(examples, prepared, control), near, start, control)
    }

    /// The mean of -log of the truth's share at these weights, and its gradient. `None` if interrupted.
    ///
    /// # Errors
    /// No examples, examples of different features, weights that do not fit them.
    pub fn risk(&self, examples: &[Example], weights: &[f64], control: &Control) -> Result<Option<(f64, Vec<f64>)>> {
        check(examples)?;
        let Some(prepared) = Prepared::new(examples, control)? else { return Ok(None) };
        let mut risk = LikelihoodRisk::new(examples, prepared, control);
        let mut gradient = vec![0.0; weights.len()];
        Ok(risk.evaluate(weights, &mut gradient)?.map(|value| (value, gradient)))
    }

    /// The s > 0 for which s · weights makes the truth most likely: the unlearned weights may be right in direction and far off in
    /// size, which affects no matching but every likelihood. If the truth becomes ever more likely, the s at which it is as
    /// good as certain; if the weights are no better than none, the s at which they begin to have an opinion. 1 if interrupted.
    ///
    /// # Errors
    /// As [`Self::fit`].
    pub fn scale(&self, examples: &[Example], weights: &[f64], control: &Control) -> Result<f64> {
        check(examples)?;
        let Some(prepared) = Prepared::new(examples, control)? else { return Ok(1.0) };
        Self::scale_prepared((examples, prepared), weights, control)
    }

    /// [`Self::scale`] of examples that were prepared.
    pub(super) fn scale_prepared(
        (examples, prepared): (&[Example], Prepared),
        weights: &[f64],
        control: &Control,
    ) -> Result<f64> {
        check(examples)?;
        let mut risk = LikelihoodRisk::new(examples, prepared, control);
        if weights.len() != risk.dim() {
            return Err(Error::Size { what: "weights", expected: risk.dim(), found: weights.len() });
        }
        // R(s w) and its derivative with respect to s, which only grows: R is convex.
        let mut at = |s: f64| {
            let (scaled, mut gradient) = (weights.iter().map(|w| s * w).collect::<Vec<_>>(), vec![0.0; weights.len()]);
            let value = risk.evaluate(&scaled, &mut gradient)?;
            Ok(value.map(|value| (value, gradient.iter().zip(weights).map(|(g, w)| g * w).sum::<f64>())))
        };
        let Some((indifferent, _)) = at(0.0)? else { return Ok(1.0) };
        // Up to some s, and no further, the truth is not yet certain and a larger s makes it more likely.
        let Some((value, slope)) = at(1.0)? else { return Ok(1.0) };
        let grow = slope < 0.0 && value > SURE;
        let (mut low, mut high) = (1.0, 1.0);
        loop {
            let s = if grow { 2.0 * high } else { 0.5 * low };
            let Some((value, slope)) = at(s)? else { return Ok(1.0) };
            (low, high) = if grow { (high, s) } else { (s, low) };
            if grow != (slope < 0.0 && value > SURE) || !(1e-300..1e300).contains(&s) {
                break;
            }
            if !grow && value >= (1.0 - SURE) * indifferent && slope >= 0.0 && value <= (1.0 + SURE) * indifferent {
                return Ok(s);
            }
        }
        while high > CLOSE * low {
            let middle = (low * high).sqrt();
            let Some((value, slope)) = at(middle)? else { return Ok(1.0) };
            if slope < 0.0 && value > SURE {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

fn check(examples: &[Example]) -> Result<()> {
    let Some(first) = examples.first() else { return Err(Error::NoExamples) };
    let expected = first.instance().dim();
    match examples.iter().map(|example| example.instance().dim()).find(|&found| found != expected) {
        Some(found) => Err(Error::Size { what: "features of an example", expected, found }),
        None => Ok(()),
    }
}

//! Which λ: a grid derived from the data, and the λ of least loss on examples that were not trained on.

use super::risk::{Memory, StructuredRisk};
use super::{Evaluation, Example, Fit, MaxMargin, evaluate};
use crate::matching::Matcher;
use crate::optimize::{Observer, Plane, Risk, StopReason};
use crate::{Error, Result};

/// The decades of λ that are tried, around the one where the first step would just bring the risk to zero.
const DECADES: std::ops::RangeInclusive<i32> = -6..=0;

/// Powers of ten from large to small that suit the scale of these features.
///
/// With risk R and subgradient g at zero weights, the first plane alone predicts that |g|²/(2λ) of the risk can be removed; at
/// λ = |g|²/(2R) that is all of it, and a larger λ only holds the weights back.
///
/// # Errors
/// No examples, or a problem the matcher does not take.
pub fn lambda_grid(examples: &[Example], matcher: &dyn Matcher) -> Result<Vec<f64>> {
    let mut risk = StructuredRisk::new(examples, matcher, Memory::default());
    let dim = risk.dim();
    if examples.is_empty() {
        return Err(Error::NoExamples);
    }
    let mut planes = vec![Plane { slope: vec![0.0; dim], offset: 0.0 }; risk.parts()];
    let value = risk.evaluate(&vec![0.0; dim], &mut planes)?;
    let slope = |j: usize| planes.iter().map(|plane| plane.slope[j]).sum::<f64>();
    let square: f64 = (0..dim).map(|j| slope(j).powi(2)).sum();
    let centre = if value > 0.0 && square > 0.0 { square / (2.0 * value) } else { 1.0 };
    let top = centre.log10().round().clamp(-100.0, 100.0);
    Ok(DECADES.rev().map(|decade| 10.0_f64.powf(top + f64::from(decade))).collect())
}

/// Fits along a path of λ with their validation losses, and the one chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// One per λ, in the order of the path; shorter if training was stopped, or had no validation loss left.
    pub fits: Vec<Fit>,
    /// The loss on the validation examples, one per λ of the path.
    pub validation: Vec<Evaluation>,
    /// The λ of least validation loss, the larger on ties.
    pub chosen: usize,
    /// The fit at that λ: on the training examples, or refitted on all examples after cross-validation.
    pub fit: Fit,
}

impl MaxMargin {
    /// Learns on one set at every λ, in the order given, and chooses by another. λ that go down end where the validation loss is zero:
    /// a smaller λ could only tie.
    ///
    /// # Errors
    /// No λ; otherwise as [`Learner::fit`](super::Learner::fit).
    pub fn fit_validated(
        &self,
        lambdas: &[f64],
        training: &[Example],
        validation: &[Example],
        matcher: &dyn Matcher,
        observe: Observer<'_>,
    ) -> Result<Selection> {
        self.fit_and_choose(lambdas, training, matcher, validation, matcher, observe)
    }

    /// As [`Self::fit_validated`] with one matcher for the search in training and another for prediction, as a model will use it: a quick
    /// search that finds violators need not be the one that proves its answers.
    ///
    /// # Errors
    /// As [`Self::fit_validated`].
    pub fn fit_and_choose(
        &self,
        lambdas: &[f64],
        training: &[Example],
        search: &dyn Matcher,
        validation: &[Example],
        matcher: &dyn Matcher,
        observe: Observer<'_>,
    ) -> Result<Selection> {
        let falling = lambdas.is_sorted_by(|a, b| a >= b);
        let mut run = self.start(training, search, None)?;
        let (mut fits, mut evaluations): (Vec<Fit>, Vec<Evaluation>) = (Vec::new(), Vec::new());
        for count in 1..=lambdas.len() {
            fits = self.resume(&mut run, &lambdas[..count], training, search, &mut *observe)?;
            let Some(fit) = fits.get(count - 1) else { break };
            let evaluation = evaluate(validation, matcher, &fit.weights)?;
            let is_last = fit.stop == StopReason::Interrupted || (falling && evaluation.mean() == 0.0);
            evaluations.push(evaluation);
            if is_last {
                break;
            }
        }
        let chosen = choose(&fits, &evaluations)?;
        let fit = fits[chosen].clone();
        Ok(Selection { fits, validation: evaluations, chosen, fit })
    }

    /// Learns on all folds but one and validates on that one, for each of `folds` folds (example n is in fold n mod `folds`), then
    /// learns on all examples at the λ of least loss.
    ///
    /// # Errors
    /// Fewer than two folds or examples; otherwise as [`Learner::fit`](super::Learner::fit).
    pub fn fit_folds(
        &self,
        lambdas: &[f64],
        folds: usize,
        examples: &[Example],
        matcher: &dyn Matcher,
        observe: Observer<'_>,
    ) -> Result<Selection> {
        let folds = folds.min(examples.len());
        if folds < 2 {
            let reason = "cross-validation takes two folds and two examples at least";
            return Err(Error::BadSetting { name: "folds", value: folds as f64, reason });
        }
        let mut validation = vec![Evaluation { losses: vec![f64::NAN; examples.len()], proven: 0 }; lambdas.len()];
        for fold in 0..folds {
            let (held_out, rest): (Vec<usize>, Vec<usize>) = (0..examples.len()).partition(|n| n % folds == fold);
            let pick = |numbers: &[usize]| numbers.iter().map(|&n| examples[n].clone()).collect::<Vec<_>>();
            let held_out_examples = pick(&held_out);
            let fits = self.fit_path(lambdas, &pick(&rest), matcher, &mut *observe)?;
            // A λ that one fold did not get to has no complete validation.
            validation.truncate(fits.len());
            for (total, fit) in validation.iter_mut().zip(&fits) {
                let part = evaluate(&held_out_examples, matcher, &fit.weights)?;
                total.proven += part.proven;
                for (&n, loss) in held_out.iter().zip(part.losses) {
                    total.losses[n] = loss;
                }
            }
        }
        let fits = self.fit_path(&lambdas[..validation.len()], examples, matcher, observe)?;
        validation.truncate(fits.len());
        let chosen = choose(&fits, &validation)?;
        let fit = fits[chosen].clone();
        Ok(Selection { fits, validation, chosen, fit })
    }
}

/// The fit of least validation loss, the larger λ on ties. Means of the same losses may differ by rounding: that is a tie.
///
/// # Errors
/// No fits.
pub fn choose(fits: &[Fit], validation: &[Evaluation]) -> Result<usize> {
    const ROUNDING: f64 = 1e-12;
    let losses: Vec<f64> = validation.iter().take(fits.len()).map(Evaluation::mean).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let tied = (0..losses.len()).filter(|&n| losses[n] <= least + ROUNDING);
    tied.max_by(|&a, &b| fits[a].lambda.total_cmp(&fits[b].lambda)).ok_or(Error::NoExamples)
}

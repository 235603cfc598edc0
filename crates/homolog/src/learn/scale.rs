//! How large the unlearned weights should be for max-margin learning, and which λ to try.
//!
//! The overall size of the weights changes no matching, but it changes margins. s · w₀ is chosen where the risk R(s w₀) is lowest, a convex
//! function of s. On data that are noisy for these features margins cannot be met and that is s = 0, at which nothing is known any more; so s is
//! kept within a factor of the size at which a typical swap of two nodes changes the score by as much as it costs.

use super::examples::{Examples, Here};
use super::{Candidate, Evaluation, Example, MaxMargin};
use crate::matching::{Matcher, Matching};
use crate::{Control, Result};

/// Swaps examined in each example.
const SWAPS: usize = 16;
/// No more examples than this are examined: a median settles long before.
const MOST_EXAMPLES: usize = 1000;
/// s is no less than the typical size over this.
const LEAST: f64 = 4.0;
/// Nor more than the typical size times this: the risk may fall forever where it approaches zero.
const MOST: f64 = 1024.0;
/// Halvings of the factor of 2 within which s is found.
const HALVINGS: usize = 4;
/// Powers of ten of λ around the one where changing a weight by its own size costs half as much as a loss of 1.
const DECADES: std::ops::RangeInclusive<i32> = -4..=1;
/// The decades of λ around the one where the first step from zero would just bring the risk to zero.
const ZERO_DECADES: std::ops::RangeInclusive<i32> = -6..=0;

/// No more λ than this are tried, however far the held-out error falls.
const MOST_LAMBDAS: usize = 10;
/// Means of the same losses may differ by rounding.
const ROUNDING: f64 = 1e-12;

/// λ from large to small for learning centred at these weights: 10^d / mean(c_j²).
pub(super) fn centred_lambdas(centre: &[f64]) -> Vec<f64> {
    let square: f64 = centre.iter().map(|weight| weight * weight).sum();
    let mean = square / centre.len().max(1) as f64;
    let unit = if mean > 0.0 { (1.0 / mean).clamp(1e-90, 1e90) } else { 1.0 };
    DECADES.rev().map(|decade| unit * 10.0_f64.powi(decade)).collect()
}

/// A smaller λ to try if the held-out error still falls at the last one of a grid: the lowest of all is that of the last candidate.
pub(super) fn smaller(last: f64, candidates: &[Candidate]) -> Option<f64> {
    let mean = |candidate: &Candidate| candidate.validation.as_ref().map(Evaluation::mean);
    let (latest, earlier) = candidates.split_last()?;
    let lowest = mean(latest)?;
    let falls = earlier.iter().filter_map(mean).all(|other| lowest < other - ROUNDING);
    (falls && candidates.len() < MOST_LAMBDAS).then_some(last / 10.0)
}

impl MaxMargin {
    /// Powers of ten from large to small that suit the scale of these features, for learning centred at zero.
    ///
    /// With risk R and subgradient g at zero weights, the first plane alone predicts that |g|²/(2λ) of the risk can be removed; at
    /// λ = |g|²/(2R) that is all of it, and a larger λ only holds the weights back.
    ///
    /// # Errors
    /// No examples, or a problem the matcher does not take.
    pub fn lambdas(&self, examples: &[Example], matcher: &dyn Matcher, control: &Control) -> Result<Vec<f64>> {
        self.zero_lambdas(&mut Here::new(examples, matcher), control)
    }

    /// [`Self::lambdas`] for examples that may be elsewhere.
    pub(super) fn zero_lambdas(&self, examples: &mut dyn Examples, control: &Control) -> Result<Vec<f64>> {
        let (value, slope) = self.risk_at(&vec![0.0; examples.dim()?], examples, control)?;
        let square: f64 = slope.iter().map(|slope| slope * slope).sum();
        let centre = if value > 0.0 && square > 0.0 { square / (2.0 * value) } else { 1.0 };
        let top = centre.log10().round().clamp(-90.0, 90.0);
        Ok(ZERO_DECADES.rev().map(|decade| 10.0_f64.powf(top + f64::from(decade))).collect())
    }

    /// s > 0 such that s · weights is a good centre.
    ///
    /// # Errors
    /// As [`Self::fit`]; interrupted.
    pub(super) fn scale(&self, weights: &[f64], examples: &mut dyn Examples, control: &Control) -> Result<f64> {
        let typical = typical(weights, examples.swap_ratios(weights)?);
        least_risk(weights, typical, &mut |at| Ok(self.risk_at(at, examples, control)?.1))
    }
}

/// The s near the typical size at which the risk R(s · weights) is lowest, given the slope of R at any weights.
fn least_risk(weights: &[f64], typical: f64, slope_at: &mut dyn FnMut(&[f64]) -> Result<Vec<f64>>) -> Result<f64> {
    // The derivative of R(s w₀) with respect to s.
    let mut rise = |s: f64| -> Result<f64> {
        let at: Vec<f64> = weights.iter().map(|weight| s * weight).collect();
        Ok(slope_at(&at)?.iter().zip(weights).map(|(slope, weight)| slope * weight).sum())
    };
    let (mut low, mut high) = (typical, typical);
    if rise(typical)? < 0.0 {
        loop {
            high *= 2.0;
            if rise(high)? >= 0.0 {
                break;
            }
            low = high;
            if high >= MOST * typical {
                return Ok(high);
            }
        }
    } else {
        loop {
            low /= 2.0;
            if low < typical / LEAST {
                return Ok(typical / LEAST);
            }
            if rise(low)? < 0.0 {
                break;
            }
            high = low;
        }
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if rise(middle)? < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}

/// The step between examples examined for the typical size, out of this many.
pub(super) fn step(count: usize) -> usize {
    count.div_ceil(MOST_EXAMPLES).max(1)
}

/// The s at which swaps of two nodes' partners in an example change s · score by as much as their loss.
pub(super) fn swap_ratios(weights: &[f64], example: &Example) -> Result<Vec<f64>> {
    let mut ratios = Vec::new();
    let pairs: Vec<(usize, usize)> = example.truth.pairs().collect();
    for (&(i, k), &(j, l)) in pairs.iter().zip(pairs.iter().skip(1)).take(SWAPS) {
        let mut map = example.truth.left_to_right().to_vec();
        (map[i], map[j]) = (Some(l), Some(k));
        let swapped = Matching::new(map, example.truth.right_count(), example.truth.constraint())?;
        if !example.instance.allows(&swapped) {
            continue;
        }
        let features = example.instance.joint_features(&swapped)?;
        let change: f64 =
            features.iter().zip(&*example.truth_features).zip(weights).map(|((a, b), w)| w * (a - b)).sum();
        if change != 0.0 {
            ratios.push(example.loss(&swapped) / change.abs());
        }
    }
    ratios.retain(|ratio| ratio.is_normal());
    Ok(ratios)
}

/// The median of what swaps say.
fn typical(weights: &[f64], mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    let size: f64 = weights.iter().map(|weight| weight.abs()).sum::<f64>() / weights.len().max(1) as f64;
    let fallback = if size > 0.0 { 1.0 / size } else { 1.0 };
    ratios.get(ratios.len() / 2).copied().unwrap_or(fallback)
}

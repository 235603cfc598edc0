//! How much a landmark or an edge varies, from few specimens: means and covariances, shrunk towards a prior that depends on length.
//!
//! For an edge i–j the displacement D = x_j - x_i over the s specimens that have both; for a landmark its position. With the scatter
//! W = Σ (D - D̄)(D - D̄)',
//!
//!   V = (W + κ v0(L) I) / (s - 1 + κ) · (1 + 1/s)
//!
//! The prior variance v0 grows with length L: c0 + c1 L with c0, c1 >= 0 by least squares of variance on length, or c1 L^b with
//! 0 <= b <= 2 by least squares of their logarithms, which is better if there are very short edges as well as long ones. The last factor
//! accounts for not knowing the mean. With one specimen V is the prior alone. The form of v0 and κ, the number of specimens that the
//! prior is worth, are those under which the specimens, each left out in turn, are most likely.

use super::gaussian::Gaussian;
use crate::linalg::{Square, inverse_and_log_det};

/// Variances below this (0.1 % of the radius, squared) are not believed: even specimens that are all equal vary.
const LEAST_VARIANCE: f64 = 1e-6;
/// Used if no two specimens share anything: deviations of 5 % of the radius, growing with length.
const UNKNOWN: Prior = Prior { constant: 0.0025, slope: 0.01, exponent: 1.0 };
/// Lengths below this (0.1 % of the radius) count as this in a power of the length.
const LEAST_LENGTH: f64 = 1e-3;
/// The strengths of the prior to choose from, and the default if there is no choice.
pub(super) const STRENGTHS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
pub(super) const USUAL_STRENGTH: f64 = 5.0;
/// With fewer specimens than this there is nothing to choose κ by.
const FEWEST_TO_CHOOSE: usize = 3;

/// Values of a position or a displacement, one for each specimen that has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) values: Vec<[f64; 3]>,
}

/// v0(L) = constant + slope · L^exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    constant: f64,
    slope: f64,
    exponent: f64,
}

impl Sample {
    fn count(&self) -> f64 {
        self.values.len() as f64
    }

    /// The mean; 0 if there are no values.
    pub(super) fn mean(&self) -> [f64; 3] {
        let mut mean = [0.0; 3];
        self.values.iter().for_each(|value| (0..3).for_each(|p| mean[p] += value[p]));
        mean.map(|sum| sum / self.count().max(1.0))
    }

    /// The mean variance per coordinate; for two values or more.
    fn variance(&self, d: usize) -> Option<f64> {
        let scatter = self.scatter(&self.mean());
        (self.values.len() > 1).then(|| (0..d).map(|p| scatter[p][p]).sum::<f64>() / (d as f64 * (self.count() - 1.0)))
    }

    fn scatter(&self, mean: &[f64; 3]) -> Square {
        let mut scatter = Square::default();
        for value in &self.values {
            for p in 0..3 {
                for q in 0..3 {
                    scatter[p][q] += (value[p] - mean[p]) * (value[q] - mean[q]);
                }
            }
        }
        scatter
    }

    /// The shrunk Gaussian; `elsewhere` is the mean to use if no specimen has it.
    pub(super) fn gaussian(&self, d: usize, prior: Prior, strength: f64, elsewhere: [f64; 3]) -> Option<Gaussian> {
        let mean = if self.values.is_empty() { elsewhere } else { self.mean() };
        let covariance = shrunk(&self.scatter(&mean), self.count(), prior.at(length(&mean)), strength, d);
        Gaussian::new(mean[..d].to_vec(), &covariance, self.values.len())
    }
}

/// V of the formula above. No value counts like one.
fn shrunk(scatter: &Square, count: f64, prior: f64, strength: f64, d: usize) -> Square {
    let count = count.max(1.0);
    let factor = (1.0 + 1.0 / count) / (count - 1.0 + strength);
    let mut covariance = Square::default();
    for p in 0..d {
        for q in 0..d {
            covariance[p][q] = scatter[p][q] * factor;
        }
        covariance[p][p] += (strength * prior * factor).max(LEAST_VARIANCE);
    }
    covariance
}

pub(super) fn length(vector: &[f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Prior {
    pub(super) fn at(self, length: f64) -> f64 {
        if self.exponent == 1.0 {
            self.constant + self.slope * length
        } else {
            self.constant + self.slope * length.max(LEAST_LENGTH).powf(self.exponent)
        }
    }

    /// A power of the length, by least squares of log variance on log length, each sample weighted by its degrees of freedom; then scaled so
    /// that variances are as expected on average. `None` if nothing varies.
    pub(super) fn fit_power<'a>(samples: impl Iterator<Item = &'a Sample> + Clone, d: usize) -> Option<Self> {
        let points = samples.filter_map(|sample| {
            let variance = sample.variance(d).filter(|&variance| variance > 0.0)?;
            Some((sample.count() - 1.0, length(&sample.mean()).max(LEAST_LENGTH), variance))
        });
        let (mut w, mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (weight, length, variance) in points.clone() {
            let (length, variance) = (length.ln(), variance.ln());
            w += weight;
            x += weight * length;
            xx += weight * length * length;
            y += weight * variance;
            xy += weight * length * variance;
        }
        let determinant = w * xx - x * x;
        if determinant <= 1e-12 * w * xx {
            return None;
        }
        let exponent = ((w * xy - x * y) / determinant).clamp(0.0, 2.0);
        let slope = points.map(|(weight, length, variance)| weight * variance / length.powf(exponent)).sum::<f64>() / w;
        Some(Self { constant: 0.0, slope, exponent })
    }

    /// Linear in the length: least squares of variance on length, both parts non-negative, each sample weighted by its degrees of freedom.
    pub(super) fn fit<'a>(samples: impl Iterator<Item = &'a Sample>, d: usize) -> Self {
        let (mut w, mut l, mut ll, mut v, mut lv) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for sample in samples {
            if let Some(variance) = sample.variance(d) {
                let (weight, length) = (sample.count() - 1.0, length(&sample.mean()));
                w += weight;
                l += weight * length;
                ll += weight * length * length;
                v += weight * variance;
                lv += weight * length * variance;
            }
        }
        if w == 0.0 {
            return UNKNOWN;
        }
        let determinant = w * ll - l * l;
        let slope = if determinant > 1e-12 * w * ll { (w * lv - l * v) / determinant } else { 0.0 };
        let constant = (v - slope * l) / w;
        if slope < 0.0 {
            Self { constant: v / w, slope: 0.0, exponent: 1.0 }
        } else if constant < 0.0 {
            Self { constant: 0.0, slope: if ll > 0.0 { lv / ll } else { 0.0 }, exponent: 1.0 }
        } else {
            Self { constant, slope, exponent: 1.0 }
        }
    }
}

/// The prior and the κ under which each specimen, left out in turn, is most likely; the first prior if nothing tells them apart.
pub(super) fn most_likely<'a>(
    samples: impl Iterator<Item = &'a Sample> + Clone,
    d: usize,
    priors: &[Prior],
    strengths: &[f64],
) -> Option<(Prior, f64)> {
    let mut best: Option<(f64, Prior, f64)> = None;
    for &prior in priors {
        for &strength in strengths {
            let likelihood: f64 =
                samples.clone().filter_map(|sample| left_out_likelihood(sample, d, prior, strength)).sum();
            if likelihood != 0.0 && best.is_none_or(|(most, ..)| likelihood > most) {
                best = Some((likelihood, prior, strength));
            }
        }
    }
    best.map(|(_, prior, strength)| (prior, strength))
}

/// Σ over values of the log-density of the value under the Gaussian of the others, without (d/2) log 2π.
fn left_out_likelihood(sample: &Sample, d: usize, prior: Prior, strength: f64) -> Option<f64> {
    if sample.values.len() < FEWEST_TO_CHOOSE {
        return None;
    }
    let count = sample.count();
    let mean = sample.mean();
    let scatter = sample.scatter(&mean);
    let mut total = 0.0;
    for value in &sample.values {
        // Mean and scatter without the value: the scatter falls by count/(count - 1) times the square of its distance.
        let off = [0, 1, 2].map(|p| value[p] - mean[p]);
        let rest = [0, 1, 2].map(|p| mean[p] - off[p] / (count - 1.0));
        let mut others = scatter;
        (0..3).for_each(|p| (0..3).for_each(|q| others[p][q] -= count / (count - 1.0) * off[p] * off[q]));
        let covariance = shrunk(&others, count - 1.0, prior.at(length(&rest)), strength, d);
        let (inverse, log_det) = inverse_and_log_det(&covariance, d)?;
        let away = [0, 1, 2].map(|p| value[p] - rest[p]);
        let square: f64 = (0..d).map(|p| (0..d).map(|q| away[p] * inverse[p][q] * away[q]).sum::<f64>()).sum();
        total -= 0.5 * (square + log_det);
    }
    Some(total)
}

//! [`Calibration`]: from the margin of a name to the probability that it is right, learned by leaving out each training specimen in turn.
//!
//!   confidence = 1 / (1 + exp(-(offset + slope · log(1 + margin)))),   slope >= 0
//!
//! fitted by likelihood (Platt), with targets (r + 1)/(r + 2) for the r right names and 1/(w + 2) for the w wrong ones instead of 1 and
//! 0, so that a few names that are all right do not suggest certainty.

use super::{Atlas, AtlasSettings, Search};
use crate::graph::Graph;
use crate::matching::Workspace;
use crate::{Control, Report, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Margins above this count as this: a landmark with no other point at all has an infinite one.
const LARGEST_MARGIN: f64 = 1e6;
/// Newton steps; five to ten are usual.
const STEPS: usize = 50;

/// How margins become confidences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Calibration {
    /// The log-odds at margin 0.
    pub offset: f64,
    /// What a margin adds to them.
    pub slope: f64,
    /// How many names it rests on.
    pub names: usize,
    /// How many of these were right.
    pub right: usize,
}

impl Calibration {
    /// The probability that a name with this margin is right.
    #[must_use]
    pub fn confidence(&self, margin: f64) -> f64 {
        1.0 / (1.0 + (-(self.offset + self.slope * size(margin))).exp())
    }

    /// Fits the margins of names that were right or wrong; `None` if there are none.
    #[must_use]
    pub fn fit(names: &[(f64, bool)]) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let right = names.iter().filter(|name| name.1).count();
        let high = (right as f64 + 1.0) / (right as f64 + 2.0);
        let low = 1.0 / ((names.len() - right) as f64 + 2.0);
        let sample: Vec<(f64, f64)> =
            names.iter().map(|&(margin, right)| (size(margin), if right { high } else { low })).collect();
        let (mut offset, mut slope) = logistic(&sample, true);
        if slope < 0.0 {
            (offset, slope) = logistic(&sample, false);
        }
        Some(Self { offset, slope, names: names.len(), right })
    }
}

fn size(margin: f64) -> f64 {
    margin.clamp(0.0, LARGEST_MARGIN).ln_1p()
}

/// The offset and slope (0 unless wanted) with the largest likelihood, by damped Newton steps with a slight preference for small slopes.
fn logistic(sample: &[(f64, f64)], with_slope: bool) -> (f64, f64) {
    const RIDGE: f64 = 1e-3;
    let loss = |a: f64, b: f64| -> f64 {
        let one = |&(x, t): &(f64, f64)| {
            let z = a + b * x;
            // log(1 + e^z) - t z without overflow.
            z.max(0.0) + (-z.abs()).exp().ln_1p() - t * z
        };
        sample.iter().map(one).sum::<f64>() + 0.5 * RIDGE * (a * a + b * b)
    };
    let (mut a, mut b) = (0.0, 0.0);
    for _ in 0..STEPS {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (RIDGE * a, RIDGE * b, RIDGE, 0.0, RIDGE);
        for &(x, t) in sample {
            let p = 1.0 / (1.0 + (-(a + b * x)).exp());
            let weight = p * (1.0 - p);
            ga += p - t;
            gb += (p - t) * x;
            haa += weight;
            hab += weight * x;
            hbb += weight * x * x;
        }
        let determinant = haa * hbb - hab * hab;
        let (da, db) = if with_slope {
            ((hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant)
        } else {
            (ga / haa, 0.0)
        };
        let before = loss(a, b);
        let mut step = 1.0;
        while step > 1e-6 && loss(a - step * da, b - step * db) > before {
            step *= 0.5;
        }
        (a, b) = (a - step * da, b - step * db);
        if step <= 1e-6 || da.abs() + db.abs() < 1e-10 {
            break;
        }
    }
    (a, b)
}

impl Atlas {
    /// The same atlas with calibrated margins for namings by these weights: each specimen is named by an atlas of the others. With a single
    /// specimen, or if interrupted, it stays as it was, without confidences.
    ///
    /// # Errors
    /// As [`Self::learn`] and [`Self::name`].
    pub fn calibrated(
        mut self,
        specimens: &[&Graph],
        settings: &AtlasSettings,
        weights: &[f64],
        control: &Control,
    ) -> Result<Self> {
        let fixed = AtlasSettings { pose: Some(self.pose), presence: Some(self.presence), ..settings.clone() };
        if specimens.len() < 2 {
            return Ok(self);
        }
        let one = |left_out: usize| -> Result<Vec<(f64, bool)>> {
            if control.interrupted() {
                return Ok(Vec::new());
            }
            control.report(&Report::new("leaving out each specimen in turn", left_out, Some(specimens.len())));
            let others: Vec<&Graph> = (0..specimens.len()).filter(|&s| s != left_out).map(|s| specimens[s]).collect();
            let specimen = specimens[left_out];
            // One specimen alone may have all the names: then there is no atlas of the others.
            if others.iter().all(|other| other.names().is_none_or(|names| names.iter().all(String::is_empty))) {
                return Ok(Vec::new());
            }
            let atlas = Self::learn(&others, &fixed)?;
            // The kinds of evidence differ if an attribute is the same in all the others.
            let own = atlas.start_weights();
            let weights = if own.len() == weights.len() { weights } else { &own };
            let work = &mut Workspace::with_control(control);
            let naming = atlas.name_with(specimen, weights, Search::Quick, work)?;
            let names = specimen.names().unwrap_or_default();
            let told = naming.calls.iter().filter(|call| !names[call.point].is_empty());
            Ok(told.map(|call| (call.margin, names[call.point] == atlas.landmarks[call.landmark].name)).collect())
        };
        let names = (0..specimens.len()).into_par_iter().map(one).collect::<Result<Vec<_>>>()?.concat();
        if !control.interrupted() {
            self.calibration = Calibration::fit(&names);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_rise_with_the_margin_and_match_the_share_of_right_names() {
        // Right with probability 0.5 at margin 0, 0.9 at margin 8.
        let mut names = Vec::new();
        for at in 0..1000 {
            names.push((0.0, at % 2 == 0));
            names.push((8.0, at % 10 != 0));
        }
        let fit = Calibration::fit(&names).unwrap();
        assert!((fit.confidence(0.0) - 0.5).abs() < 0.01 && (fit.confidence(8.0) - 0.9).abs() < 0.01, "{fit:?}");
        assert!(fit.confidence(3.0) > fit.confidence(2.0) && fit.confidence(f64::INFINITY) <= 1.0);
    }

    #[test]
    fn names_that_are_all_right_do_not_promise_certainty_and_margins_never_count_against() {
        let fit = Calibration::fit(&[(1.0, true); 8]).unwrap();
        assert!((fit.confidence(1.0) - 0.9).abs() < 0.02, "{fit:?}");
        let odd = Calibration::fit(&[(0.0, true), (0.0, true), (9.0, false), (9.0, false)]).unwrap();
        assert!(odd.slope >= 0.0);
        assert_eq!(Calibration::fit(&[]), None);
    }
}

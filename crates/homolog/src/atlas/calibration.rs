//! [`Calibration`]: from what is known about a name to the probability that it is right.
//!
//!   log-odds = offset + slope · log(1 + margin) - strain · log(0.1 + s) + fit · log(max(f, 0.01)) + partial · [landmarks may be missing]
//!
//! with s the strain of the landmark's own edges and f the fit of the specimen (`strain`); slope, strain and fit are not negative. It is
//! fitted by likelihood (Platt) to the names that left-out specimens and corrupted copies of them get (`left_out`), with targets
//! (r + 1)/(r + 2) for the r right names and 1/(w + 2) for the w wrong ones instead of 1 and 0, so that a few names that are all right do
//! not suggest certainty. Copies that were moved or tilted show how strain and fit count, but most new specimens are not like them: the offset is
//! then fitted again without them.

use super::Presence;
use super::logistic::{Row, Sign, logistic};
use serde::{Deserialize, Serialize};

/// Margins above this count as this: a landmark with no other point at all has an infinite one.
const LARGEST_MARGIN: f64 = 1e6;
/// Added to a strain, and the least fit, before their logarithms are taken.
const LEAST_STRAIN: f64 = 0.1;
const LEAST_FIT: f64 = 0.01;

/// How far the offset may move, and how often the interval is halved to find it.
const MOST_SHIFTED: f64 = 3.0;
const HALVINGS: usize = 40;

/// How far a name can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Calibration {
    /// The log-odds at margin 0.
    pub offset: f64,
    /// What a margin adds to them.
    pub slope: f64,
    /// How many names of left-out specimens it rests on, not counting corrupted copies.
    pub names: usize,
    /// How many of these were right.
    pub right: usize,
    /// What strain and fit add; `None` in older files, in which only the margin counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

/// How strain and fit count, and what is usual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Trust {
    /// What the strain of a landmark's own edges takes off.
    pub strain: f64,
    /// What the fit of the specimen adds.
    pub fit: f64,
    /// What is added if landmarks may be missing.
    pub partial: f64,
    /// The median strain of left-out specimens named as complete; `None` if none could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_strain: Option<f64>,
    /// Their median evidence per point, named as complete and as partial.
    pub usual_evidence: [Option<f64>; 2],
}

impl Trust {
    /// The fit of a specimen with this evidence per point.
    pub(super) fn fit_of(&self, evidence: f64, presence: Presence) -> Option<f64> {
        let usual = self.usual_evidence[usize::from(presence == Presence::Partial)]?;
        (usual > 0.0).then(|| evidence / usual)
    }
}

/// What is known about a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clues {
    /// How much the score falls without it.
    pub margin: f64,
    /// The strain of the landmark's edges.
    pub strain: f64,
    /// The fit of the specimen.
    pub fit: f64,
    /// Whether landmarks may be missing.
    pub is_partial: bool,
}

impl Clues {
    /// If nothing but a margin is known: the other clues say neither yes nor no.
    #[must_use]
    pub fn of_margin(margin: f64) -> Self {
        Self { margin, strain: 1.0 - LEAST_STRAIN, fit: 1.0, is_partial: false }
    }

    fn row(&self) -> Row {
        let partial = f64::from(u8::from(self.is_partial));
        [1.0, size(self.margin), (LEAST_STRAIN + self.strain).ln(), self.fit.max(LEAST_FIT).ln(), partial]
    }
}

fn size(margin: f64) -> f64 {
    margin.clamp(0.0, LARGEST_MARGIN).ln_1p()
}

impl Calibration {
    /// The probability that a name is right.
    #[must_use]
    pub fn confidence(&self, clues: &Clues) -> f64 {
        let row = clues.row();
        let more = self.trust.map_or(0.0, |trust| trust.fit * row[3] - trust.strain * row[2] + trust.partial * row[4]);
        1.0 / (1.0 + (-(self.offset + self.slope * row[1] + more)).exp())
    }

    /// Fits margins of names that were right or wrong, of which nothing else is known.
    #[must_use]
    pub fn of_margins(names: &[(f64, bool)]) -> Option<Self> {
        let clues: Vec<(Clues, bool)> =
            names.iter().map(|&(margin, right)| (Clues::of_margin(margin), right)).collect();
        Self::fit(&clues, None, [None; 2])
    }

    /// Fits names that were right or wrong; `None` if there are none. `usual` is what `Trust` says of left-out specimens.
    #[must_use]
    pub fn fit(names: &[(Clues, bool)], usual_strain: Option<f64>, usual_evidence: [Option<f64>; 2]) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let right = names.iter().filter(|name| name.1).count();
        let high = (right as f64 + 1.0) / (right as f64 + 2.0);
        let low = 1.0 / ((names.len() - right) as f64 + 2.0);
        let sample: Vec<(Row, f64)> =
            names.iter().map(|(clues, right)| (clues.row(), if *right { high } else { low })).collect();
        // What does not vary tells nothing.
        let is_mixed = names.iter().any(|name| name.0.is_partial) && names.iter().any(|name| !name.0.is_partial);
        let sample: Vec<(Row, f64)> = sample
            .into_iter()
            .map(|(mut row, target)| {
                row[4] = if is_mixed { row[4] } else { 0.0 };
                (row, target)
            })
            .collect();
        let signs = [Sign::Any, Sign::NotNegative, Sign::NotPositive, Sign::NotNegative, Sign::Any];
        let [offset, slope, strain, fit, partial] = logistic(&sample, signs);
        let trust = Some(Trust { strain: -strain, fit, partial, usual_strain, usual_evidence });
        Some(Self { offset, slope, names: names.len(), right, trust })
    }

    /// The same with the offset under which the mean confidence of these names is the share of right ones.
    #[must_use]
    pub(crate) fn shifted_to(self, names: &[(Clues, bool)]) -> Self {
        let right = names.iter().filter(|name| name.1).count() as f64;
        let expected = names.len() as f64 * (right + 1.0) / (names.len() as f64 + 2.0);
        let [mut low, mut high] = [self.offset - MOST_SHIFTED, self.offset + MOST_SHIFTED];
        for _ in 0..HALVINGS {
            let shifted = Self { offset: f64::midpoint(low, high), ..self };
            let sum: f64 = names.iter().map(|(clues, _)| shifted.confidence(clues)).sum();
            if sum < expected { low = shifted.offset } else { high = shifted.offset }
        }
        Self { offset: f64::midpoint(low, high), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_margin(margin: f64) -> Clues {
        Clues { margin, strain: 1.0, fit: 1.0, is_partial: false }
    }

    fn fit(names: &[(Clues, bool)]) -> Option<Calibration> {
        Calibration::fit(names, None, [Some(1.0); 2])
    }

    #[test]
    fn confidences_rise_with_the_margin_and_match_the_share_of_right_names() {
        // Right with probability 0.5 at margin 0, 0.9 at margin 8.
        let mut names = Vec::new();
        for at in 0..1000 {
            names.push((with_margin(0.0), at % 2 == 0));
            names.push((with_margin(8.0), at % 10 != 0));
        }
        let fit = fit(&names).unwrap();
        let confidence = |margin: f64| fit.confidence(&with_margin(margin));
        assert!((confidence(0.0) - 0.5).abs() < 0.01 && (confidence(8.0) - 0.9).abs() < 0.01, "{fit:?}");
        assert!(confidence(3.0) > confidence(2.0) && confidence(f64::INFINITY) <= 1.0);
    }

    #[test]
    fn names_that_are_all_right_do_not_promise_certainty_and_margins_never_count_against() {
        let all = fit(&[(with_margin(1.0), true); 8]).unwrap();
        assert!((all.confidence(&with_margin(1.0)) - 0.9).abs() < 0.03, "{all:?}");
        let names = [(0.0, true), (0.0, true), (9.0, false), (9.0, false)];
        let odd = fit(&names.map(|(margin, right)| (with_margin(margin), right))).unwrap();
        assert!(odd.slope >= 0.0);
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn the_offset_is_fitted_again_to_names_of_usual_specimens() {
        let names: Vec<(Clues, bool)> = (0..1000).map(|at| (with_margin((at % 7) as f64), at % 5 != 0)).collect();
        let all = fit(&names).unwrap();
        // Usual ones are right more often, at every margin.
        let usual: Vec<(Clues, bool)> = (0..1000).map(|at| (with_margin((at % 7) as f64), at % 20 != 0)).collect();
        let shifted = all.shifted_to(&usual);
        let mean = usual.iter().map(|(clues, _)| shifted.confidence(clues)).sum::<f64>() / 1000.0;
        assert!((mean - 0.95).abs() < 0.002, "{mean} {shifted:?}");
        assert_eq!((shifted.slope, shifted.trust), (all.slope, all.trust));
        let back = shifted.shifted_to(&names).offset;
        assert!((back - all.offset).abs() < 0.02, "{back} {all:?}");
    }

    #[test]
    fn strained_names_of_specimens_that_fit_badly_are_believed_less() {
        let mut names = Vec::new();
        for at in 0..400 {
            let good = at % 2 == 0;
            let clues = if good {
                with_margin(5.0)
            } else {
                Clues { strain: 6.0, fit: 0.3, is_partial: true, ..with_margin(5.0) }
            };
            names.push((clues, if good { at % 40 != 0 } else { at % 3 == 0 }));
        }
        let fit = fit(&names).unwrap();
        let bad = Clues { strain: 6.0, fit: 0.3, is_partial: true, ..with_margin(5.0) };
        assert!(fit.confidence(&with_margin(5.0)) > 0.9 && fit.confidence(&bad) < 0.45, "{fit:?}");
        let worse = Clues { fit: -1.0, ..bad };
        assert!(fit.confidence(&worse) <= fit.confidence(&bad));
    }
}

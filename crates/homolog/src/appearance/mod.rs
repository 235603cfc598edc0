//! Landmarks by appearance: from a few labelled pictures, where the landmarks are in a new one. No box and no start is given.
//!
//! A [`Learner`] keeps what pictures look like around each landmark (`descriptor`, `templates`) and how the landmarks lie to each other
//! (`shape`). An [`Appearance`] is what came of it, small enough for a model file: at the coarsest level every landmark votes for where
//! the whole may be (`pose`); then, level by level, each is placed where response and shape agree best (`refine`), to a part of a pixel.
//!
//! ```
//! use homolog::Control;
//! use homolog::appearance::Learner;
//! use homolog::data::turntable::Turntable;
//! use homolog::geometry::GreyImage;
//!
//! let turntable = Turntable { jitter: 0.0, ..Turntable::default() };
//! let (data, first, second) = (turntable.data_set()?, turntable.render(0)?, turntable.render(3)?);
//! let mut learner = Learner::new();
//! learner.add(GreyImage::new(first.width, first.height, &first.pixels)?, &data.graphs()[0].graph)?;
//! let picture = GreyImage::new(second.width, second.height, &second.pixels)?;
//! let found = learner.appearance()?.find(picture, &[], &Control::new())?;
//! assert_eq!(found.len(), 30);
//! # Ok::<(), homolog::Error>(())
//! ```

mod descriptor;
mod learner;
mod picture;
mod placement;
mod pose;
mod refine;
mod rows;
mod shape;
mod templates;

pub use learner::Learner;

use crate::atlas::{Calibration, Clues};
use crate::geometry::GreyImage;
use crate::{Control, Error, Result};
use picture::Pyramid;
use placement::Placement;
use pose::{PosePrior, PoseSearch};
use refine::{Level, Refined};
use serde::{Deserialize, Serialize};
use shape::{Place, Shape};
use std::collections::BTreeMap;
use templates::Templates;

/// A place counts as right if it is at most this share of the landmarks' diameter off: 10 pixels in a wing of 500.
pub(crate) const TOLERANCE: f64 = 0.02;
/// Several poses are refined up to this level; only the best goes on.
const RACE: usize = 2;
/// With so many known landmarks the pose is theirs, and nothing is searched.
const ENOUGH_KNOWN: usize = 3;
/// A guess at the calibration, for as long as none was learned: log-odds, and what evidence adds to them.
const USUAL_OFFSET: f64 = -5.0;
const USUAL_SLOPE: f64 = 2.5;
/// How much a small deviation counts as evidence for a place, beside the responses.
const DEVIATION_WEIGHT: f64 = 0.5;

/// What landmarks look like and how they lie to each other; finds them in new pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Appearance {
    /// Their names, sorted.
    landmarks: Vec<String>,
    shape: Shape,
    pose: PosePrior,
    /// From the coarsest.
    levels: Vec<LevelTemplates>,
    /// From evidence to confidence; `None` if nothing could be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    /// How many labelled pictures it rests on.
    specimens: usize,
}

/// The templates of one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelTemplates {
    /// Of the mean shape, in pixels of the resampled picture.
    diameter: f64,
    templates: Templates,
}

/// A landmark in a new picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FoundPoint {
    /// Its name.
    pub name: String,
    /// Where it is, in pixels.
    pub at: [f64; 2],
    /// The chance that it is within 2 % of the size of the specimen; `None` if that could not be learned.
    pub confidence: Option<f64>,
    /// What the confidence was made of: larger is better, 0 is nothing.
    pub evidence: f64,
}

impl FoundPoint {
    /// The confidence, or what it usually is for this evidence.
    #[must_use]
    pub fn certainty(&self) -> f64 {
        self.certainty_by(None)
    }

    /// The same by what is known of confidences elsewhere, if it is.
    pub(crate) fn certainty_by(&self, calibration: Option<&Calibration>) -> f64 {
        let usual = USUAL_OFFSET + USUAL_SLOPE * self.evidence.ln_1p();
        let own = calibration.map(|calibration| calibration.confidence(&Clues::of_margin(self.evidence)));
        own.or(self.confidence).unwrap_or_else(|| 1.0 / (1.0 + (-usual).exp()))
    }
}

impl Appearance {
    /// How far from the truth a place in a picture may be to count as right, in pixels: 2 % of the size that its landmarks have.
    ///
    /// # Errors
    /// Fewer than two landmarks at different places.
    pub fn tolerance(&self, landmarks: &BTreeMap<String, [f64; 2]>) -> Result<f64> {
        Ok(TOLERANCE * self.shape.diameter() * self.shape.place(&self.row(landmarks))?.scale())
    }

    /// The names of the landmarks, sorted.
    #[must_use]
    pub fn landmarks(&self) -> &[String] {
        &self.landmarks
    }

    /// How many labelled pictures it rests on.
    #[must_use]
    pub fn specimens(&self) -> usize {
        self.specimens
    }

    /// The same with confidences that were learned elsewhere.
    pub(crate) fn calibrated_by(self, calibration: Option<Calibration>) -> Self {
        Self { calibration, ..self }
    }

    /// How confidences were learned.
    #[must_use]
    pub fn calibration(&self) -> Option<Calibration> {
        self.calibration
    }

    /// Finds the landmarks in a picture, around those that are known; one for each landmark that is not. If interrupted, as precisely as by then.
    ///
    /// # Errors
    /// A picture without pixels, or far larger than those learned from; a known point that is not finite; [`Error::Interrupted`] before the
    /// landmarks were found at all.
    pub fn find(
        &self,
        picture: GreyImage<'_>,
        known: &[(String, [f64; 2])],
        control: &Control,
    ) -> Result<Vec<FoundPoint>> {
        picture.check_size()?;
        if let Some((index, &value)) =
            known.iter().flat_map(|(_, at)| at).enumerate().find(|(_, value)| !value.is_finite())
        {
            return Err(Error::BadEntry { what: "coordinates of known points", index, value });
        }
        let known = self.row(&known.iter().cloned().collect());
        let refined = self.refined(&Pyramid::new(picture, control)?, &known, control)?;
        Ok(self.points(&refined, &known))
    }

    fn row(&self, known: &BTreeMap<String, Place>) -> Vec<Option<Place>> {
        self.landmarks.iter().map(|name| known.get(name).copied()).collect()
    }

    fn refined(&self, picture: &Pyramid, known: &[Option<Place>], control: &Control) -> Result<Refined> {
        let coarsest = self.levels.first().ok_or(Error::NoExamples)?;
        let told = self.shape.place(known).ok().filter(|_| known.iter().flatten().count() >= ENOUGH_KNOWN);
        let starts = if let Some(pose) = told {
            vec![pose.in_units(self.shape.diameter() / coarsest.diameter)]
        } else {
            let (shape, prior, templates, size) = (&self.shape, &self.pose, &coarsest.templates, coarsest.diameter);
            PoseSearch { shape, prior, templates, size, known }.run(picture, control)?
        };
        let mut best: Option<Refined> = None;
        for start in starts {
            let refined = match self.race(picture, &start, known, control) {
                Err(Error::Interrupted) if best.is_some() => break,
                refined => refined?,
            };
            if best.as_ref().is_none_or(|other| refined.score > other.score) {
                best = Some(refined);
            }
        }
        let mut best = best.ok_or(Error::NoExamples)?;
        for level in RACE..self.levels.len() {
            best = match self.next(level, picture, &best, known, control) {
                Err(Error::Interrupted) => break,
                refined => refined?,
            };
        }
        Ok(best)
    }

    /// The first levels.
    fn race(
        &self,
        picture: &Pyramid,
        start: &Placement,
        known: &[Option<Place>],
        control: &Control,
    ) -> Result<Refined> {
        let mut refined = self.level(0).refine(picture, start, known, control)?;
        for level in 1..RACE.min(self.levels.len()) {
            refined = self.next(level, picture, &refined, known, control)?;
        }
        Ok(refined)
    }

    fn level(&self, number: usize) -> Level<'_> {
        let LevelTemplates { diameter, templates } = &self.levels[number];
        Level { number, size: *diameter, shape: &self.shape, templates }
    }

    fn next(
        &self,
        level: usize,
        picture: &Pyramid,
        before: &Refined,
        known: &[Option<Place>],
        control: &Control,
    ) -> Result<Refined> {
        let pose = before.pose.in_units(self.levels[level - 1].diameter / self.levels[level].diameter);
        self.level(level).refine(picture, &pose, known, control)
    }

    /// The evidence of a place: its own response, the mean response of all (if the pose is wrong, all are), and how sharp its peak is.
    fn points(&self, refined: &Refined, known: &[Option<Place>]) -> Vec<FoundPoint> {
        let positive = |response: f64| response.clamp(0.0, 1.0);
        let count = refined.responses.len().max(1) as f64;
        let mean = refined.responses.iter().copied().map(positive).sum::<f64>() / count;
        let point = |landmark: usize| {
            let sharp = -(refined.deviations[landmark] / TOLERANCE).ln();
            let sum = positive(refined.responses[landmark]) + mean + DEVIATION_WEIGHT * sharp.clamp(-2.0, 2.0) + 1.0;
            // A calibration takes the logarithm of one plus the evidence.
            let evidence = sum.max(0.0).exp_m1();
            FoundPoint {
                name: self.landmarks[landmark].clone(),
                at: refined.places[landmark],
                confidence: self.calibration.map(|calibration| calibration.confidence(&Clues::of_margin(evidence))),
                evidence,
            }
        };
        (0..self.landmarks.len()).filter(|&landmark| known[landmark].is_none()).map(point).collect()
    }

    /// Whether everything in it fits together: for model files.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<()> {
        let wrong = |reason: &str| Err(Error::ModelFile { reason: format!("appearance: {reason}") });
        let count = self.landmarks.len();
        if self.shape.mean.len() != count || !self.shape.is_valid() {
            return wrong("the shape does not fit the landmarks");
        }
        if !self.pose.is_valid() {
            return wrong("a pose is out of range");
        }
        if self.levels.is_empty() || self.levels.iter().any(|level| level.templates.landmarks() != Some(count)) {
            return wrong("the templates do not fit the landmarks");
        }
        let diameters: Vec<f64> = self.levels.iter().map(|level| level.diameter).collect();
        let rises = diameters.windows(2).all(|pair| pair[0] < pair[1]);
        if !(rises && diameters.iter().all(|diameter| (1e-6..=1e4).contains(diameter))) {
            return wrong("the diameters of the levels do not rise");
        }
        Ok(())
    }
}

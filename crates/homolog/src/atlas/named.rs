//! [`Named`]: a naming in words, as files and other languages get it. Numbers that are not finite are left out: JSON has none.

use super::{Atlas, Naming, Presence};
use crate::Result;
use crate::matching::Status;
use serde::Serialize;

/// The names of the points of a specimen, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Named {
    /// Every point that has a name, in order of landmark.
    pub names: Vec<NamedCall>,
    /// The points that got no name.
    pub nobody: Vec<usize>,
    /// The landmarks that no point has.
    pub not_found: Vec<String>,
    /// What maps the specimen into the frame of the atlas.
    pub pose: NamedPose,
    /// The score of the naming in that pose.
    pub score: f64,
    /// No naming in that pose scores more (among those the candidates allow); `None` if nothing is known.
    pub bound: Option<f64>,
    /// Whether that is proven.
    pub status: Status,
    /// How many candidates of each landmark were considered, if not all points.
    pub candidates: Option<usize>,
    /// Whether it was named as complete or as partial.
    pub presence: Presence,
    /// How well the specimen fits: about 1 if it is like the training ones; `None` if the atlas is not calibrated.
    pub fit: Option<f64>,
    /// Whether it fits so badly that no name can be relied upon.
    pub fits_badly: bool,
    /// The names that each point may have, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<NamedSets>,
}

/// Lists of names that hold the true one as often as asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedSets {
    /// How often the true name is expected to be in its list.
    pub level: f64,
    /// How often it is there for certain, if the specimen is like the training ones.
    pub guaranteed: f64,
    /// How many left-out specimens that rests on.
    pub specimens: usize,
    /// One for each point.
    pub points: Vec<NamedSet>,
}

/// The names that a point may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedSet {
    /// The likeliest first.
    pub names: Vec<String>,
    /// Whether it may also be no landmark.
    pub none: bool,
}

/// A point and its name; see [`Call`](super::Call).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedCall {
    /// The point of the specimen.
    pub point: usize,
    /// Its name.
    pub name: String,
    /// How much the score falls without it; `None` if the landmark has no other point.
    pub margin: Option<f64>,
    /// The probability that the name is right; `None` if the atlas is not calibrated.
    pub confidence: Option<f64>,
    /// The landmark that would have the point then; `None` if none would.
    pub runner_up: Option<String>,
}

/// A similarity as lists of numbers: scale · rotation · x + shift.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedPose {
    /// The scale.
    pub scale: f64,
    /// The rotation, row by row.
    pub rotation: Vec<Vec<f64>>,
    /// The shift.
    pub shift: Vec<f64>,
}

impl Naming {
    /// The naming in words, by the atlas that made it.
    #[must_use]
    pub fn named(&self, atlas: &Atlas) -> Named {
        let name = |landmark: usize| atlas.landmarks[landmark].name.clone();
        let finite = |value: f64| value.is_finite().then_some(value);
        let calls = self.calls.iter().map(|call| NamedCall {
            point: call.point,
            name: name(call.landmark),
            margin: finite(call.margin),
            confidence: call.confidence,
            runner_up: call.runner_up.map(name),
        });
        Named {
            names: calls.collect(),
            nobody: self.matching.unmatched_right().collect(),
            not_found: self.matching.unmatched_left().map(name).collect(),
            pose: NamedPose {
                scale: self.frame.scale,
                rotation: self.frame.rotation.rows().into_iter().map(|row| row.to_vec()).collect(),
                shift: self.frame.shift.to_vec(),
            },
            score: self.score,
            bound: finite(self.bound),
            status: self.status,
            candidates: self.candidates,
            presence: self.presence,
            fit: self.fit.and_then(finite),
            fits_badly: self.fits_badly(),
            sets: None,
        }
    }

    /// The same with the names that each point may have, so that the true one is among them this often.
    ///
    /// # Errors
    /// As [`Atlas::name_sets`].
    pub fn named_at(&self, atlas: &Atlas, level: Option<f64>) -> Result<Named> {
        let mut named = self.named(atlas);
        if let Some(level) = level {
            let found = atlas.name_sets(self, level)?;
            let name = |&landmark: &usize| atlas.landmarks[landmark].name.clone();
            let set = |set: &super::NameSet| NamedSet { names: set.names.iter().map(name).collect(), none: set.none };
            let points = found.sets.iter().map(set).collect();
            let super::NameSets { level, guaranteed, specimens, .. } = found;
            named.sets = Some(NamedSets { level, guaranteed, specimens, points });
        }
        Ok(named)
    }
}

//! [`Named`]: a naming in words, as files and other languages get it. Numbers that are not finite are left out: JSON has none.

use super::{Atlas, Naming};
use crate::matching::Status;
use serde::Serialize;

/// The names of the points of a specimen, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Named {
    /// Every point that has a name, in order of landmark.
    pub names: Vec<NamedCall>,
    /// The points that are nobody's.
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
        }
    }
}

//! [`TakeNaming::mislabelled`]: where the labels that a take came with differ from the names found: two labels that were exchanged from
//! some frame on, for example.

use super::TakeNaming;
use crate::atlas::Atlas;
use crate::graph::Graph;
use serde::Serialize;

/// Stretches no further apart than this are one.
const JOINED: usize = 5;

/// Frames in which a point has another label than the name found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mislabelled {
    /// The first frame, from 0.
    pub first: usize,
    /// The last frame.
    pub last: usize,
    /// The label in the take.
    pub label: String,
    /// The marker it should be, by position in the atlas.
    pub marker: usize,
    /// The least confidence in between.
    pub confidence: f64,
}

impl TakeNaming {
    /// Stretches in which labels differ from the names found, in order of the first frame. Points without a label or without a name, and
    /// labels that the atlas does not know, do not count.
    #[must_use]
    pub fn mislabelled(&self, atlas: &Atlas, frames: &[&Graph]) -> Vec<Mislabelled> {
        let mut found: Vec<Mislabelled> = Vec::new();
        for (frame, (graph, calls)) in frames.iter().zip(&self.frames).enumerate() {
            let labels = graph.names().unwrap_or_default();
            for (label, call) in labels.iter().zip(calls) {
                let Some(call) = call.as_ref().filter(|call| atlas.landmarks[call.marker].name != *label) else {
                    continue;
                };
                if !atlas.landmarks.iter().any(|landmark| landmark.name == *label) {
                    continue;
                }
                let same = |one: &&mut Mislabelled| {
                    one.marker == call.marker && one.label == *label && one.last + JOINED >= frame
                };
                if let Some(one) = found.iter_mut().find(same) {
                    (one.last, one.confidence) = (frame, one.confidence.min(call.confidence));
                } else {
                    let (label, marker, confidence) = (label.clone(), call.marker, call.confidence);
                    found.push(Mislabelled { first: frame, last: frame, label, marker, confidence });
                }
            }
        }
        found.sort_by_key(|one| (one.first, one.marker));
        found
    }
}

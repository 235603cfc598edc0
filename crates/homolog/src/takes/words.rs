//! [`NamedTake`]: the names of a take in words, as files and other languages get it.

use super::TakeNaming;
use crate::atlas::Atlas;
use crate::graph::Graph;
use serde::Serialize;

/// The names of the points of a take, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedTake {
    /// The frames in order.
    pub frames: Vec<NamedFrame>,
    /// Stretches in which a name is less than 90 % sure.
    pub doubtful: Vec<NamedDoubt>,
    /// Where the name of a point changed.
    pub swaps: Vec<NamedSwap>,
    /// Labels that the take came with and that are wrong.
    pub mislabelled: Vec<NamedLabel>,
    /// How many frames were named by the full search.
    pub key_frames: usize,
    /// Whether all of it was done; otherwise interrupted.
    pub complete: bool,
}

/// A frame; each list has one entry per point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedFrame {
    /// The frame.
    pub frame: String,
    /// The names; `None` for a point without one.
    pub names: Vec<Option<String>>,
    /// How certain the names are; `None` for a point without one.
    pub confidence: Vec<Option<f64>>,
    /// What the points would be called otherwise; `None` if nothing.
    pub runner_up: Vec<Option<String>>,
}

/// Frames in which a marker is doubtful.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedDoubt {
    /// The first frame.
    pub first: String,
    /// The last frame.
    pub last: String,
    /// The name given.
    pub marker: String,
    /// What it might be instead; `None` if it might be no marker.
    pub or: Option<String>,
    /// The least confidence in between.
    pub confidence: f64,
}

/// A point that changed its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedSwap {
    /// The frame from which on it has another name.
    pub frame: String,
    /// The name it had.
    pub marker: String,
    /// The name it has then; `None` if none.
    pub other: Option<String>,
}

/// Frames in which a point has another label than the name found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedLabel {
    /// The first frame.
    pub first: String,
    /// The last frame.
    pub last: String,
    /// The label in the take.
    pub label: String,
    /// The marker it should be.
    pub marker: String,
    /// The least confidence in between.
    pub confidence: f64,
}

impl TakeNaming {
    /// The names in words, by the atlas that gave them; `ids` are what the frames are called, and the labels of `frames` are compared with
    /// the names.
    #[must_use]
    pub fn named(&self, atlas: &Atlas, ids: &[&str], frames: &[&Graph]) -> NamedTake {
        let name = |marker: usize| atlas.landmarks[marker].name.clone();
        let id = |frame: usize| ids.get(frame).map_or_else(|| frame.to_string(), ToString::to_string);
        let frame = |(at, calls): (usize, &Vec<Option<super::TakeCall>>)| NamedFrame {
            frame: id(at),
            names: calls.iter().map(|call| call.as_ref().map(|call| name(call.marker))).collect(),
            confidence: calls.iter().map(|call| call.as_ref().map(|call| call.confidence)).collect(),
            runner_up: calls.iter().map(|call| call.as_ref()?.runner_up.map(name)).collect(),
        };
        let doubt = |doubt: &super::Doubt| NamedDoubt {
            first: id(doubt.first),
            last: id(doubt.last),
            marker: name(doubt.marker),
            or: doubt.or.map(name),
            confidence: doubt.confidence,
        };
        let swap = |swap: &super::Swap| NamedSwap {
            frame: id(swap.frame),
            marker: name(swap.marker),
            other: swap.other.map(name),
        };
        let label = |one: super::Mislabelled| NamedLabel {
            first: id(one.first),
            last: id(one.last),
            label: one.label,
            marker: name(one.marker),
            confidence: one.confidence,
        };
        NamedTake {
            frames: self.frames.iter().enumerate().map(frame).collect(),
            doubtful: self.doubts.iter().map(doubt).collect(),
            swaps: self.swaps.iter().map(swap).collect(),
            mislabelled: self.mislabelled(atlas, frames).into_iter().map(label).collect(),
            key_frames: self.key_frames,
            complete: self.complete,
        }
    }
}

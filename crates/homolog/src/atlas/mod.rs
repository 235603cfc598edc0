//! [`Atlas`]: where each named point lies relative to the others and how much that varies, learned from a few labelled specimens; and
//! naming the points of a new one ([`Atlas::name`]).
//!
//! If the same *named* points occur in every specimen (landmarks, markers, keypoints, neurons), weights shared by all nodes discard
//! what is known of each. An atlas uses it: a Gaussian for the position of each landmark in a common frame (`align`),
//! one for the displacement along each of its edges, and one for each node attribute in which landmarks differ (`columns`), all shrunk
//! towards what is usual (`spread`). Naming is quadratic matching of the atlas (left) to the points (right): the log-likelihoods are inner products
//! (`gaussian`), so they are ordinary features of nodes and edges with a weight for each *kind* of evidence (`evidence`), and every
//! matcher, the proof of [`Exact`](crate::matching::Exact), `explain` and learning work on them unchanged.
//!
//! In complete specimens every landmark is present and nothing else, and the likelihood itself is maximised. Otherwise each landmark's
//! likelihood is compared with that of a background that knows only where points lie in general, and the price of staying unmatched
//! is 0: what is better than the background is matched, what is worse is not. Which of the two a new specimen is, is decided when it is
//! named (`presence`), and how well it fits is measured (`strain`).
//!
//! How far names can be believed is learned from left-out specimens and from corrupted copies of them (`left_out`): a confidence for each
//! name (`calibration`), and lists of names that hold the true one as often as asked for (`coverage`).
//!
//! It does not bend: a specimen is mapped into the frame by a similarity, and the edges have to explain what remains.

mod align;
mod alternatives;
mod calibration;
mod check;
mod climb;
mod columns;
mod coverage;
mod evidence;
mod gaussian;
mod learn;
mod left_out;
mod logistic;
mod margin;
mod named;
mod naming;
mod near;
mod neighbours;
mod pose;
mod presence;
pub(crate) mod spoiling;
mod spread;
mod strain;
mod together;

pub(crate) use align::angle;
pub use calibration::Calibration;
pub(crate) use calibration::Clues;
pub use coverage::NameSet;
pub(crate) use coverage::{Coverage, NameSets, TrueNames};
pub(crate) use gaussian::Gaussian;
pub(crate) use learn::MOST_LANDMARKS;
pub use named::{Named, NamedSet};
pub use naming::{Call, Naming, Search};
pub(crate) use spoiling::{Spoiling, Truth, Unnamed};

use crate::features::ImageDescriptor;
use serde::{Deserialize, Serialize};

/// The version of the atlas in a model file that this library writes, and the newest it reads. Version 1 knew neither `auto` nor what
/// corrupted specimens show.
const VERSION: u32 = 2;

/// How a specimen may be oriented. Its size is always free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pose {
    /// All specimens are oriented alike.
    AsGiven,
    /// Turned by up to 45°.
    Tilted,
    /// Turned by any angle.
    Rotated,
    /// Turned and perhaps mirrored. This cannot be decided for an object that is its own mirror image.
    Any,
}

/// Whether all landmarks are present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// Decided for each new specimen.
    Auto,
    /// A specimen has every landmark and no other point.
    Complete,
    /// Landmarks may be missing, and some points may be no landmark.
    Partial,
}

/// How an atlas is learned. Whatever is `None` is determined from the specimens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AtlasSettings {
    /// How specimens are oriented; `None`: as given if the training specimens are oriented alike, otherwise rotated.
    pub pose: Option<Pose>,
    /// Whether all landmarks are present; `None` and auto: decided for each new specimen if every training specimen is complete,
    /// otherwise partial.
    pub presence: Option<Presence>,
    /// How many edges each landmark chooses; `None`: 8, or 4 if there are at most 12 landmarks.
    pub edges: Option<usize>,
    /// How many specimens the prior of positions and of edges is worth; `None`: chosen by leaving out each specimen in turn.
    pub prior: Option<f64>,
    /// Count every kind of evidence as its likelihood says, without learning how much each should count.
    pub plain: bool,
    /// How pictures are described, if the specimens have these numbers among their attributes: together one kind of evidence.
    pub images: Vec<ImageDescriptor>,
    /// The node attributes to use; `None`: those that every specimen has and in which landmarks differ.
    pub attributes: Option<Vec<String>>,
}

/// What is known about named points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Atlas {
    /// The version of this part of the model file.
    pub version: u32,
    /// How many coordinates a point has: 2 or 3.
    pub dimension: usize,
    /// How many specimens it was learned from.
    pub specimens: usize,
    /// How specimens may be oriented.
    pub pose: Pose,
    /// Whether all landmarks are present.
    pub presence: Presence,
    /// How many specimens the priors of positions and of edges are worth.
    pub prior: [f64; 2],
    /// The landmarks, in order of first appearance.
    pub landmarks: Vec<Landmark>,
    /// The edges between them, each once.
    pub edges: Vec<AtlasEdge>,
    /// What is known for specimens in which landmarks may be missing, if that is decided for each specimen: then the rest of this atlas
    /// is for complete ones. The two differ in their edges and, if specimens are oriented alike, in their frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<Atlas>>,
    /// Where points lie, whichever they are.
    pub background: Gaussian,
    /// The node attributes that it uses, with their units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeUnit>,
    /// How pictures are described; the numbers are among the attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageDescriptor>,
    /// How far names can be believed; `None` if not calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What the true names of left-out specimens cost; `None` if not calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// A named point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Landmark {
    /// Its name.
    pub name: String,
    /// Where it lies in the common frame.
    pub position: Gaussian,
    /// Its attributes, in the order and units of [`Atlas::attributes`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Gaussian>,
}

/// Two landmarks whose displacement varies little.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AtlasEdge {
    /// From one landmark to another, by position in the list.
    pub ends: [usize; 2],
    /// The displacement from the first to the second.
    pub displacement: Gaussian,
}

/// A node attribute and its unit: values are measured in deviations from the mean over all points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AttributeUnit {
    /// Its name, as in the graphs.
    pub name: String,
    /// The mean over all points.
    pub mean: f64,
    /// The standard deviation over all points.
    pub deviation: f64,
    /// How much it counts: numbers of one kind that vary together count for less ([`Atlas::start_weights`]).
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub share: f64,
}

fn whole() -> f64 {
    1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    clippy::float_cmp,
    reason = "serde asks for a reference; 1 is written as 1"
)]
fn is_whole(share: &f64) -> bool {
    *share == 1.0
}

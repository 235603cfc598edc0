//! The paper's experiments as functions of data: which pairs there are and which of them are for training, validation and test, which methods
//! there are and how each learns. And how well an atlas names points.

mod method;
mod naming;
mod outcome;
mod scene;
mod scenes;
mod seen;
mod sequence;
mod study;

pub use crate::atlas::spoiling::{Spoiling, Truth, Unnamed};
pub use method::{LINEAR_LAMBDAS, SequenceMethod};
pub use naming::{NamingMethod, Tally, names_of, split};
pub use outcome::{Effect, learn_and_compare};
pub use scene::{Scene, SceneSettings, TargetPoints};
pub use scenes::{ScenePairs, Scenes, Splits};
pub use seen::by_appearance;
pub use sequence::Sequence;
pub use study::{Frames, Trial, Weights};

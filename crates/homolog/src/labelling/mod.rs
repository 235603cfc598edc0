//! What a labelling page needs while a person labels: suggestions for a pair with how certain each is ([`suggest`]), a model from the
//! labels so far ([`learn`], [`learn_names`]), the points of a new specimen from labelled ones ([`Proposer`]), how wrong these are
//! ([`estimate`], [`Expected`]), and which pair to label next ([`review`]). A page asks for all of these through one call, [`Session::answer`].
//!
//! A person's label is a fact: suggestions work around it and never override it, and a label that the model would not give by itself is
//! reported as disputed.

mod estimate;
mod fitting;
mod messages;
mod names;
mod pairs;
mod proposer;
mod requests;
mod seeing;
mod shape;
mod suggestion;
mod table;

pub use estimate::{Expected, estimate};
pub use names::learn_names;
pub use pairs::{LabelledPart, Sight, learn, review};
pub use proposer::{Candidates, Proposer, propose};
pub use requests::Session;
pub use suggestion::{Known, suggest};

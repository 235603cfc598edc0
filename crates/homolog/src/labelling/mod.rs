//! What a labelling page asks while a person labels: suggestions for a pair with how sure each is ([`suggest`]), a model from the
//! labels so far ([`learn`]), the points of a new specimen from labelled ones ([`propose`]), and which pair to label next
//! ([`review`]).
//!
//! A person's label is a fact here: suggestions are made around it, never over it, and one that the model would not give by itself is
//! reported as disputed.

mod naming;
mod pairs;
mod shape;
mod suggestion;

pub use naming::{Candidates, Estimate, Proposal, ProposedPoint, estimate, propose};
pub use pairs::{LabelledPart, Learned, Review, Sight, learn, review};
pub use suggestion::{Known, Suggested, Suggestion, suggest};

//! Heuristics that move through soft matchings, in which a left node may be divided among right nodes, and round at the end.
//!
//! `problem` has what they all share: the problem as they see it, and one way in and out ([`problem::solve_softly`]). `listed` lets two of
//! them run on lists of candidate pairs alone, for thousands of nodes, with a way in and out of its own; `pairs` and `objective` are what those
//! two need to know of either; `networks` matches sparse networks by their
//! edges alone.

mod affinity;
mod ascent;
mod bistochastic;
mod bound;
mod frank_wolfe;
mod graduated_assignment;
mod listed;
mod networks;
mod objective;
mod pairs;
mod problem;
mod rrwm;
mod sinkhorn;
mod spectral;
mod tables;

pub use bistochastic::Bistochastic;
pub use frank_wolfe::FrankWolfe;
pub use graduated_assignment::GraduatedAssignment;
pub(super) use problem::{Found, SoftProblem, Steps, check_nodes, solve_softly};
pub use rrwm::Rrwm;
pub use spectral::Spectral;

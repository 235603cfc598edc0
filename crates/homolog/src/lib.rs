//! Homolog learns, from a few matched examples, how you match points and graphs, and then matches new ones.
//!
//! # The problem
//!
//! Given scores c_ik for pairing node i of a left graph with node k of a right graph, and d_(ij)(kl) for pairing their edges, find
//! the matching y that maximises
//!
//!   Σ_ik c_ik y_ik + Σ_(ij)(kl) d_(ij)(kl) y_ik y_jl                                          (equation 1)
//!
//! in microseconds without edge scores, and with a bound on how good any answer can be with them. Homolog implements
//! *Learning Graph Matching* (Caetano, McAuley, Cheng, Le, Smola, PAMI 2009).
//!
//! ```
//! use homolog::matching::{Compatibility, Linear, Matcher, Status, Workspace};
//! use ndarray::array;
//!
//! // Two left nodes, three right nodes; the pair (1, 2) is forbidden.
//! let scores = array![[0.9, 0.1, 0.8], [0.7, 0.2, f64::NEG_INFINITY]];
//! let solution = Linear::default().solve(&Compatibility::linear(scores), &mut Workspace::new())?;
//! assert_eq!(solution.matching.left_to_right(), [Some(2), Some(0)]);
//! assert_eq!(solution.score, 1.5);
//! assert_eq!(solution.status, Status::Optimal);
//! # Ok::<(), homolog::Error>(())
//! ```
//!
//! # Modules, in reading order
//!
//! * [`matching`]: the problem and its solvers.
//! * [`geometry`]: edges and scales from points.
//! * [`graph`]: points, edges and attributes; pairs of graphs.
//! * [`features`]: from two graphs to a problem whose scores are linear in the weights.
//! * [`atlas`]: where each named point belongs, learned from specimens; the names of the points of a new one.
//! * [`takes`]: the frames of a recording named as a whole.
//! * [`appearance`]: what landmarks look like, learned from labelled pictures; where they are in a new one.
//! * [`loss`]: how wrong a matching is.
//! * [`optimize`]: minimises a regularised convex risk that is expensive to evaluate, with a proof.
//! * [`learn`]: weights from matched examples, with a proof of how good they are.
//! * [`model`]: features, matcher and weights as a file; graphs prepared once, then matched, explained and named.
//! * [`labelling`]: what a labelling page asks while a person labels.
//! * [`specimens`]: many specimens at once: what looks wrong in labelled ones, one naming of all without labels.
//! * [`experiment`]: the paper's experiments on any data.
//! * [`data`]: text to values and back, one file per format; the built-in turntable sequence.

pub mod appearance;
pub mod atlas;
pub mod data;
pub mod experiment;
pub mod features;
pub mod geometry;
pub mod graph;
pub mod labelling;
pub mod learn;
pub mod loss;
pub mod matching;
pub mod model;
pub mod optimize;
pub mod specimens;
pub mod takes;
pub mod task;

mod control;
mod error;
mod linalg;
pub use control::{Control, Report};
pub use error::{ColumnFault, Error, ErrorKind, Result};

/// The story for Rust programmers, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/stories/rust.md")]
pub struct RustStory;

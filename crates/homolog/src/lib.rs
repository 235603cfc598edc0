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
//! use homolog::matching::{Compatibility, Linear, Matcher, Status};
//! use ndarray::array;
//!
//! // Two left nodes, three right nodes; the pair (1, 2) is forbidden.
//! let scores = array![[0.9, 0.1, 0.8], [0.7, 0.2, f64::NEG_INFINITY]];
//! let solution = Linear::default().solve(&Compatibility::linear(scores))?;
//! assert_eq!(solution.matching.left_to_right(), [Some(2), Some(0)]);
//! assert_eq!(solution.score, 1.5);
//! assert_eq!(solution.status, Status::Optimal);
//! # Ok::<(), homolog::Error>(())
//! ```
//!
//! # What do you want to do?
//!
//! * Solve a cost matrix: [`Compatibility`](matching::Compatibility) and [`Linear`](matching::Linear); with edges [`Exact`](matching::Exact).
//! * Read files: [`data::read`] gives a [`DataSet`](data::dataset::DataSet), whatever the format.
//! * Match two point sets or networks: [`Graph`](graph::Graph), [`Model::unlearned`](model::Model::unlearned), [`Model::solve`](model::Model::solve).
//! * Learn from a data set, everything chosen: [`Task`](task::Task); from your own pairs: [`Model::fit`](model::Model::fit).
//! * Match many pairs: [`Model::prepare`](model::Model::prepare), [`Model::match_prepared`](model::Model::match_prepared).
//! * Say how certain a match is, and why: [`Matched::margins`](model::Matched::margins), [`Matched::explain`](model::Matched::explain).
//! * Name the points of specimens: [`Atlas`](atlas::Atlas), [`Model::name`](model::Model::name); of a recording: [`Model::name_take`](model::Model::name_take).
//! * Find labelling mistakes: [`check`](specimens::check::check); name specimens without labels: [`join`](specimens::join::join).
//! * Learn in your own way: [`Trainer`](learn::Trainer), [`MaxMargin`](learn::MaxMargin), [`Bundle`](optimize::Bundle).
//! * Serve a labelling page: [`Session`](labelling::Session).

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
pub use error::{ColumnFault, Error, ErrorKind, Limit, Result};

/// The story for Rust programmers, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/stories/rust.md")]
pub struct RustStory;

/// So many of these: 1 pair, 2 pairs.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

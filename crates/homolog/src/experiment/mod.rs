//! Experiments of the paper, as functions of data: which pairs there are and which of them are for training, validation and test.

mod sequence;

pub use sequence::{Sequence, Split};

//! Linear algebra of small matrices, whatever they are for.

mod cholesky;
mod small;
mod svd;

pub(crate) use cholesky::{cholesky, solve};
pub(crate) use small::{Square, eliminate, inverse_and_log_det, invert};
pub(crate) use svd::{main_axes, singular_vectors};

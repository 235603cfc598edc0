//! The linear relaxation of quadratic matching, and a fast method for it.
mod bound;
mod build;
mod factors;
mod halpern;
#[cfg(test)]
pub(super) mod laws;

pub(crate) use bound::{Outlook, linear_problem};
pub(crate) use build::build;
pub(crate) use factors::Factors;
pub(crate) use halpern::{Halpern, Point};

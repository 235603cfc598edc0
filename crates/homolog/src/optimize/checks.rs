//! Checks of what a risk returns, or a file holds, before it is used: sizes and finite numbers.

use super::Plane;
use crate::{Error, Result};

pub(super) fn check_size(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Size { what, expected, found }) }
}

pub(super) fn check_finite(what: &'static str, values: impl Iterator<Item = f64>) -> Result<()> {
    for (index, value) in values.enumerate() {
        if !value.is_finite() {
            return Err(Error::BadEntry { what, index, value });
        }
    }
    Ok(())
}

pub(super) fn check_answer(value: f64, planes: &[Plane], dim: usize) -> Result<()> {
    check_finite("value of the risk", std::iter::once(value))?;
    check_finite("offsets of the risk's planes", planes.iter().map(|plane| plane.offset))?;
    for plane in planes {
        check_size("slope of a plane of the risk", dim, plane.slope.len())?;
        check_finite("slope of a plane of the risk", plane.slope.iter().copied())?;
    }
    Ok(())
}

/// Squares of slope / lambda must not overflow.
pub(super) fn check_lambda(value: f64) -> Result<()> {
    Error::unless_between("lambda", value, 1e-100, 1e100)
}

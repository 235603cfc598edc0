//! [`Limit`]: what a setting must be, checked in one place and said in one form of words.

use super::{Error, Result};
use std::fmt;

/// What the value of a setting must be.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Limit {
    /// This or more.
    AtLeast(f64),
    /// More than this.
    MoreThan(f64),
    /// From the one to the other.
    Between(f64, f64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_short = |value: f64| value == 0.0 || (1e-3..1e6).contains(&value.abs());
        let word = |value: f64| if is_short(value) { format!("{value}") } else { format!("{value:e}") };
        match *self {
            Self::AtLeast(least) => write!(f, "at least {}", word(least)),
            Self::MoreThan(0.0) => write!(f, "positive"),
            Self::MoreThan(bound) => write!(f, "more than {}", word(bound)),
            Self::Between(least, most) => write!(f, "between {} and {}", word(least), word(most)),
        }
    }
}

impl Error {
    pub(crate) fn unless_positive(name: &'static str, value: f64) -> Result<()> {
        Self::unless_more_than(name, value, 0.0)
    }

    pub(crate) fn unless_more_than(name: &'static str, value: f64, bound: f64) -> Result<()> {
        Self::unless(value > bound && value.is_finite(), name, value, Limit::MoreThan(bound))
    }

    pub(crate) fn unless_at_least_0(name: &'static str, value: f64) -> Result<()> {
        Self::unless(value.is_finite(), name, value, Limit::AtLeast(0.0))?;
        Self::unless_at_least_0_or_infinite(name, value)
    }

    /// Where infinity means that there is no limit.
    pub(crate) fn unless_at_least_0_or_infinite(name: &'static str, value: f64) -> Result<()> {
        Self::unless(value >= 0.0, name, value, Limit::AtLeast(0.0))
    }

    pub(crate) fn unless_between(name: &'static str, value: f64, least: f64, most: f64) -> Result<()> {
        Self::unless((least..=most).contains(&value), name, value, Limit::Between(least, most))
    }

    pub(crate) fn unless_counted(name: &'static str, count: usize) -> Result<()> {
        Self::unless(count > 0, name, count as f64, Limit::AtLeast(1.0))
    }

    fn unless(is_fine: bool, name: &'static str, value: f64, limit: Limit) -> Result<()> {
        if is_fine { Ok(()) } else { Err(Self::BadSetting { name, value, limit }) }
    }
}

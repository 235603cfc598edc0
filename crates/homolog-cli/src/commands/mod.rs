//! One file per command: its arguments and a `run`.

pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod solve;

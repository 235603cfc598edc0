//! One file per command: its arguments and a `run`.

pub(crate) mod completions;

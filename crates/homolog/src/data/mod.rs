//! Data sets that ship with the library, as values.

pub mod turntable;

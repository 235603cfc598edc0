//! The tests of the crate, as one program: a module per subject.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a test's report, a line its word; helpers are shared"
)]

mod commands;
mod experiment;
mod features_page;
mod kills;
mod label;
mod near;
mod pages;
mod pictures;
mod places;
mod shard_data;
mod shards;
mod solving;
mod specimens;
mod stopping;
mod streaming;

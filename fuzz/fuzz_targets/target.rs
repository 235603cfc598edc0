//! One file for all programs in Cargo.toml: each runs the target that it is called after.
#![no_main]
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for (_, target) in targets::TARGETS.iter().filter(|(name, _)| *name == env!("CARGO_BIN_NAME")) {
        target(bytes);
    }
});

#![no_main]
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for (_, target) in targets::TARGETS.iter().filter(|(name, _)| *name == "pair_table") {
        target(bytes);
    }
});

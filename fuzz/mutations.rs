//! Mutations of seeds without instrumentation: bytes changed, removed or doubled, and words that readers know inserted.

use rand::{Rng, RngExt};

/// What breaks readers: extreme numbers, structural characters, keywords of the formats.
const WORDS: [&str; 34] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "NaN",
    "inf",
    "NA",
    "18446744073709551615",
    "4294967296",
    "1e-320",
    "0.1",
    ",",
    "\n",
    "\r\n",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    "null",
    "true",
    "<",
    ">",
    "=",
    "LM=",
    "LM3=",
    "\t",
    "\t\t\t",
    "p 1 1 1 0",
    "landmark",
    "frame",
    "\u{feff}",
    "é",
];
/// No input is longer than this.
const LONGEST: usize = 1 << 14;

/// A partly changed seed.
pub(crate) fn mutated(seed: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..12)).min(bytes.len());
        match rng.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] = rng.random(),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => drop(bytes.splice(at..end, WORDS[rng.random_range(0..WORDS.len())].bytes())),
            5 => bytes.truncate(at),
            _ => {
                let from = rng.random_range(0..=other.len());
                drop(bytes.splice(at..end, other[from..].iter().copied().take(40)));
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}

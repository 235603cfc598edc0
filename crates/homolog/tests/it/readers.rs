//! Every reader on its seeds and on mutations of them: an answer or an error, never a panic. `homolog-bench fuzz` runs the same for as long
//! as there is time, `fuzz/` does so with cargo-fuzz.

#[path = "../../../../fuzz/mutations.rs"]
mod mutations;
#[path = "../../../../fuzz/targets.rs"]
mod targets;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Mutations of each reader's seeds.
const COUNT: usize = 2000;

#[test]
fn no_reader_panics_on_mutated_files() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, target) in targets::TARGETS {
        let mut paths: Vec<_> =
            std::fs::read_dir(seeds.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
        assert!(!seeds.is_empty(), "{name}");
        seeds.iter().for_each(|seed| target(seed));
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..COUNT {
            let (one, other) = (rng.random_range(0..seeds.len()), rng.random_range(0..seeds.len()));
            target(&mutations::mutated(&seeds[one], &seeds[other], &mut rng));
        }
    }
}

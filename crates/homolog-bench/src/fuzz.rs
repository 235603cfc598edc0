//! Every file reader on mutated seeds, for as long as there is time: no input may make one panic. The functions are the same as the
//! cargo-fuzz targets in `fuzz/`, but without its instrumentation, so they run on the stable toolchain.

#[path = "../../../fuzz/mutations.rs"]
mod mutations;
#[path = "../../../fuzz/targets.rs"]
mod targets;

use anyhow::{Context, Result, bail};
use cpu_time::ThreadTime;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Seconds of processor time for each reader
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Only the reader of this name
    #[arg(long)]
    target: Option<String>,
    /// Where the seeds are, a folder for each reader
    #[arg(long, default_value = "fuzz/seeds")]
    seeds: PathBuf,
    /// Of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let limit = Duration::try_from_secs_f64(arguments.seconds)?;
    // We report the last input ourselves; the panic's own lines would only get in the way.
    std::panic::set_hook(Box::new(|_| {}));
    let wanted = |name: &str| arguments.target.as_deref().is_none_or(|only| only == name);
    let mut failed = 0;
    for &(name, target) in targets::TARGETS.iter().filter(|(name, _)| wanted(name)) {
        let seeds = read_seeds(&arguments.seeds.join(name))?;
        let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
        let (start, mut count) = (ThreadTime::now(), 0_u64);
        let mut fault = None;
        while fault.is_none() && start.elapsed() < limit {
            let pick = |rng: &mut ChaCha8Rng| rng.random_range(0..seeds.len());
            let (one, other) = (pick(&mut rng), pick(&mut rng));
            let bytes = mutations::mutated(&seeds[one], &seeds[other], &mut rng);
            count += 1;
            if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                fault = Some(bytes);
            }
        }
        match fault {
            None => println!("{name:14} {count:>10} inputs, no fault"),
            Some(bytes) => {
                let path = std::env::temp_dir().join(format!("homolog-fuzz-{name}"));
                std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
                println!("{name:14} {count:>10} inputs, then a panic; the input is {}", path.display());
                failed += 1;
            }
        }
    }
    if failed > 0 {
        bail!("{failed} readers panicked");
    }
    Ok(())
}

fn read_seeds(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("no seeds: {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let seeds = paths.iter().map(|path| std::fs::read(path).with_context(|| path.display().to_string()));
    let seeds = seeds.collect::<Result<Vec<_>>>()?;
    if seeds.is_empty() {
        bail!("{} has no seeds", folder.display());
    }
    Ok(seeds)
}

//! Everything in `docs/benchmarks.md` by one command: each section in a process of its own (peak memory is that of a process), one after the
//! other, what it prints in a file of its own.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Every section of docs/benchmarks.md, one after the other
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder for what each section prints
    #[arg(long, value_name = "FOLDER", default_value = "target/benchmarks")]
    out: PathBuf,
    /// Only these sections
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only say what would be run
    #[arg(long)]
    list: bool,
}

/// The sections: a name, the threads it may use, and the arguments.
const SECTIONS: &[(&str, usize, &str)] = &[
    ("linear", 1, "linear --assign"),
    ("sparse", 1, "sparse"),
    ("streamed-features", 1, "streamed --kind features"),
    ("streamed-shape", 1, "streamed --kind shape"),
    ("features", 1, "features"),
    ("learn", 2, "learn"),
    ("likelihood", 1, "likelihood"),
    (
        "quadratic",
        1,
        "quadratic --solver graduated-assignment --solver bistochastic --solver spectral --solver rrwm --solver frank-wolfe",
    ),
    ("thousands-graduated", 1, "quadratic --kind jittered --size 10000 --solver graduated-assignment"),
    ("thousands-frank-wolfe", 1, "quadratic --kind jittered --size 10000 --solver frank-wolfe"),
    ("networks", 1, "networks"),
    ("exact", 1, "exact --each 5"),
    ("certified", 1, "certified"),
    ("scene", 1, "scene --part speed"),
    ("pictures", 1, "pictures"),
    ("atlas", 1, "atlas --rounds 5"),
    ("choice", 1, "choice"),
    ("presence", 2, "presence"),
    ("coverage", 2, "coverage"),
    ("takes", 1, "takes --long"),
    ("join", 2, "join"),
    ("unlabelled", 2, "unlabelled"),
    ("never-worse", 1, "never-worse"),
    ("check", 2, "check"),
    ("tracking", 1, "tracking"),
    ("laws", 2, "laws"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    if let Some(unknown) = arguments.only.iter().find(|only| SECTIONS.iter().all(|(name, ..)| name != only)) {
        let names: Vec<&str> = SECTIONS.iter().map(|&(name, ..)| name).collect();
        bail!("there is no section {unknown:?}; there are {}", names.join(", "));
    }
    let sections: Vec<_> = SECTIONS.iter().filter(|(name, ..)| is_wanted(name)).collect();
    let mut failed = Vec::new();
    for (number, (name, threads, words)) in sections.iter().enumerate() {
        println!("{} of {}: RAYON_NUM_THREADS={threads} homolog-bench {words}", number + 1, sections.len());
        if arguments.list {
            continue;
        }
        let start = Instant::now();
        let path = arguments.out.join(format!("{name}.txt"));
        let is_done = section(&path, *threads, words)?;
        println!("    {:.0} s on the clock, in {}", start.elapsed().as_secs_f64(), path.display());
        if !is_done {
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        bail!("not done: {}; the ends of their files say why", failed.join(", "));
    }
    Ok(())
}

/// Runs one section; whether it ended well.
fn section(path: &Path, threads: usize, words: &str) -> Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let file = File::create(path).with_context(|| format!("writing {}", path.display()))?;
    let errors = file.try_clone().with_context(|| format!("writing {}", path.display()))?;
    let status = Command::new(std::env::current_exe()?)
        .args(words.split(' '))
        .env("RAYON_NUM_THREADS", threads.to_string())
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .status()?;
    Ok(status.success())
}

//! Everything in `docs/benchmarks.md` by one command: each section in a process of its own (peak memory is that of a process), one after the
//! other. What it prints is `NAME.txt`, its numbers are `NAME.json`; `docs/tables` makes the tables of the page from these. Files appear when a
//! section has ended well, and a section that has its file is not run again, so an interrupted run continues.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Every section of docs/benchmarks.md, one after the other; an interrupted run continues
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder for what each section prints (.txt) and its numbers (.json)
    #[arg(long, value_name = "FOLDER", default_value = "target/benchmarks")]
    out: PathBuf,
    /// Run sections again that have their files already
    #[arg(long)]
    again: bool,
    /// Only these sections
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only say what would be run
    #[arg(long)]
    list: bool,
}

/// A section: its name, the threads it may use, and its arguments. Together they take about two hours of processor time.
struct Section {
    name: &'static str,
    threads: usize,
    words: &'static str,
    /// Whether it takes `--json FILE`.
    json: bool,
}

const fn section(name: &'static str, threads: usize, words: &'static str) -> Section {
    Section { name, threads, words, json: true }
}

const fn printed(name: &'static str, threads: usize, words: &'static str) -> Section {
    Section { name, threads, words, json: false }
}

const SECTIONS: &[Section] = &[
    section(
        "linear",
        1,
        "linear --assign --quick --size 4 --size 8 --size 30 --size 100 --size 500 --size 1000 --size 30x200 --size 200x11",
    ),
    printed("sparse", 1, "sparse"),
    printed("streamed-features", 1, "streamed --kind features"),
    printed("streamed-shape", 1, "streamed --kind shape"),
    section("features", 1, "features"),
    section("learn", 1, "learn --part house --part path"),
    section(
        "quadratic",
        1,
        "quadratic --size 30 --size 100 --solver graduated-assignment --solver spectral --solver rrwm --solver frank-wolfe",
    ),
    section("networks", 1, "networks --quick"),
    section("exact", 1, "exact --each 5"),
    printed("certified", 1, "certified --baselines 90"),
    section("pictures", 1, "pictures"),
    section("choice", 1, "choice --quick"),
    section("columns", 1, "columns"),
    section("presence", 2, "presence --quick"),
    section("coverage", 2, "coverage --quick"),
    section("takes", 1, "takes --long"),
    section("join", 2, "join --quick"),
    section("unlabelled", 2, "unlabelled --quick"),
    section("never-worse", 1, "never-worse --pairs 3,10"),
    section("never-worse-specimens", 1, "never-worse --specimens 3,5"),
    section("check", 2, "check --quick"),
    section("tracking", 1, "tracking"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    if let Some(unknown) = arguments.only.iter().find(|only| SECTIONS.iter().all(|section| section.name != *only)) {
        let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
        bail!("unknown section {unknown:?}; available: {}", names.join(", "));
    }
    let sections: Vec<&Section> = SECTIONS.iter().filter(|section| is_wanted(section.name)).collect();
    let mut failed = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        let Section { name, threads, words, .. } = section;
        println!("{} of {}: RAYON_NUM_THREADS={threads} homolog-bench {words}", number + 1, sections.len());
        let path = arguments.out.join(format!("{name}.txt"));
        if arguments.list {
            continue;
        }
        if path.exists() && !arguments.again {
            println!("    skipped: {} already exists", path.display());
            continue;
        }
        let start = Instant::now();
        let is_done = section.run(&arguments.out)?;
        println!("    {:.0} s on the clock, in {}", start.elapsed().as_secs_f64(), path.display());
        if !is_done {
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}; see the ends of their .part files", failed.join(", "));
    }
    Ok(())
}

impl Section {
    /// Runs it; whether it ended well.
    fn run(&self, out: &Path) -> Result<bool> {
        fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
        let file = |ending: &str| out.join(format!("{}.{ending}", self.name));
        let part = file("txt.part");
        let mut output = File::create(&part).with_context(|| format!("writing {}", part.display()))?;
        let build = if cfg!(debug_assertions) { "development" } else { "optimised" };
        writeln!(output, "homolog-bench {} ({build} build): {}", env!("CARGO_PKG_VERSION"), self.words)?;
        let errors = output.try_clone().with_context(|| format!("writing {}", part.display()))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(self.words.split(' ')).env("RAYON_NUM_THREADS", self.threads.to_string());
        if self.json {
            command.arg("--json").arg(file("json.part"));
        }
        let status = command.stdin(Stdio::null()).stdout(output).stderr(errors).status()?;
        if status.success() {
            if self.json {
                fs::rename(file("json.part"), file("json"))?;
            }
            fs::rename(&part, file("txt"))?;
        }
        Ok(status.success())
    }
}

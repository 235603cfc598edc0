//! Instructions of ten pieces of work, counted by callgrind: the same number on a busy machine, so that a slow-down of a few per cent shows.
//!
//! Each row is a command of this program in a process of its own with one thread. Counts include the making of the problems and depend on
//! the compiler, so they are compared with a table of the same compiler (`docs/notes/instructions.txt`, written by `--write`).

use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Instructions of ten pieces of work (needs valgrind), compared with the committed table
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The table to compare with
    #[arg(long, value_name = "FILE", default_value = "docs/notes/instructions.txt")]
    table: PathBuf,
    /// Write the table instead of comparing with it
    #[arg(long)]
    write: bool,
    /// The growth that is a failure, as a share
    #[arg(long, default_value_t = 0.03)]
    allowed: f64,
}

const ROWS: [(&str, &str); 10] = [
    ("linear, uniform 8 x 8", "solve-one --assign --kind uniform --size 8 --matrices 200 --repeat 20"),
    ("linear, uniform 100 x 100", "solve-one --assign --kind uniform --size 100 --matrices 10"),
    ("linear, uniform 500 x 500", "solve-one --assign --kind uniform --size 500 --matrices 2"),
    ("linear, squared distances 300 x 300", "solve-one --assign --kind squared-distance --size 300 --matrices 2"),
    ("linear, zeros and ones 200 x 200", "solve-one --assign --kind zero-one --size 200 --matrices 4"),
    ("linear, half forbidden 200 x 200", "solve-one --assign --kind half-forbidden --size 200 --matrices 4"),
    ("quadratic, Frank-Wolfe, 30 nodes", "quadratic --size 30 --solver frank-wolfe"),
    ("quadratic, graduated assignment, 100 nodes", "quadratic --size 100 --solver graduated-assignment"),
    ("learning, 45 pairs of 10 points", "likelihood --sizes 10"),
    ("atlas, learned and naming", "atlas --rounds 1"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let before = if arguments.write { Vec::new() } else { read(&arguments.table)? };
    let (mut table, mut grown) = (String::new(), Vec::new());
    println!("{:44} {:>10} {:>8}", "work", "millions", "ratio");
    for (name, words) in ROWS {
        let count = instructions(words).with_context(|| format!("homolog-bench {words}"))?;
        writeln!(table, "{count:>14}  {name}")?;
        let ratio = before.iter().find(|(row, _)| row == name).map(|&(_, old)| count as f64 / old as f64);
        println!("{name:44} {:10.1} {:>8}", count as f64 / 1e6, ratio.map_or("new".into(), |by| format!("{by:.3}")));
        if ratio.is_some_and(|by| by > 1.0 + arguments.allowed) {
            grown.push(name);
        }
    }
    if arguments.write {
        std::fs::write(&arguments.table, table).with_context(|| arguments.table.display().to_string())?;
    }
    ensure!(grown.is_empty(), "more instructions than in {}: {}", arguments.table.display(), grown.join("; "));
    Ok(())
}

/// The instructions of this program run with these words, by one thread.
fn instructions(words: &str) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(words.split(' '))
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .context("running valgrind")?;
    let remarks = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("it failed: {remarks}");
    }
    let (_, count) = remarks.split_once("Collected : ").context("callgrind gave no count")?;
    Ok(count.split_whitespace().next().context("callgrind gave no count")?.parse()?)
}

/// The rows of a table: a count, two spaces, a name.
fn read(path: &Path) -> Result<Vec<(String, u64)>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let row = |line: &str| {
        let (count, name) = line.trim_start().split_once("  ").with_context(|| format!("no count in {line:?}"))?;
        Ok((name.to_owned(), count.parse()?))
    };
    text.lines().map(row).collect()
}

//! Linear assignment compared with the crates `lapjv` and `lsap` and the Python packages `lapx` and `scipy`.
//!
//! Each row of the table is a kind of costs at a size (`instances`). All solvers get the same set of matrices (`solvers`,
//! `python`), are checked against each other and timed in turns (`measure`). Processor time counts; wall time is in the JSON.

mod instances;
mod measure;
pub(crate) mod python;
mod report;
mod solvers;

use crate::clock::Stopwatch;
use crate::files::write_json;
use anyhow::{Context, Result};
use instances::{Kind, Size};
use measure::{Effort, measure};
use report::Report;
pub(crate) use report::duration;
use solvers::{LapjvCrate, LsapCrate, Ours, Solver};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `homolog-bench linear`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer repetitions, sizes up to 500.
    #[arg(long)]
    quick: bool,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only this kind of costs; may be repeated.
    #[arg(long)]
    kind: Vec<Kind>,
    /// Only this size, such as 1000 or 30x200; may be repeated.
    #[arg(long)]
    size: Vec<Size>,
    /// Of ours the right nodes alone (`Linear::assign`), without allocation, proof and score, as the peers do.
    #[arg(long)]
    assign: bool,
}

/// Prints the table line by line as results arrive.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (mut solvers, versions) = all_solvers(arguments.assign);
    let names: Vec<&str> = solvers.iter().map(|solver| solver.name()).collect();
    println!("{}", report::head(&names));
    let effort = if arguments.quick { Effort { seconds: 0.25, most: 9 } } else { Effort { seconds: 4.0, most: 51 } };
    let kinds = if arguments.kind.is_empty() { Kind::ALL.to_vec() } else { arguments.kind.clone() };
    let sizes = if arguments.size.is_empty() {
        Size::ALL.into_iter().filter(|size| !arguments.quick || size.columns <= 500).collect()
    } else {
        arguments.size.clone()
    };
    let mut rows = Vec::new();
    for kind in kinds {
        for &size in &sizes {
            let row = measure(&mut solvers, kind, size, effort).with_context(|| format!("{} {size}", kind.name()))?;
            println!("{}", report::line(&row));
            rows.push(row);
        }
    }
    let report = Report::new(arguments.quick, versions, rows);
    println!("\n{}", report.summary());
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

/// Every solver that runs here, ours first, and the versions of the peers.
fn all_solvers(is_bare: bool) -> (Vec<Box<dyn Solver>>, BTreeMap<String, String>) {
    let mut solvers: Vec<Box<dyn Solver>> =
        vec![Box::new(Ours::new(is_bare)), Box::<LapjvCrate>::default(), Box::<LsapCrate>::default()];
    let lock = include_str!("../../../../Cargo.lock");
    let locked = |name: &str| Some((name.to_owned(), locked_version(lock, name)?));
    let mut versions: BTreeMap<String, String> = ["lapjv", "lsap"].into_iter().filter_map(locked).collect();
    match python::start(&["lapx", "lapjvh", "lapjvx", "scipy"]) {
        Ok(peers) => {
            for peer in peers {
                versions.extend(peer.versions.clone());
                solvers.push(Box::new(peer));
            }
        }
        Err(error) => eprintln!("without lapx and scipy: {error:#}"),
    }
    (solvers, versions)
}

/// The version of a package in the text of a Cargo.lock.
fn locked_version(lock: &str, name: &str) -> Option<String> {
    let (_, entry) = lock.split_once(&format!("\nname = \"{name}\"\nversion = \""))?;
    Some(entry.split_once('"')?.0.to_owned())
}

/// Arguments of `homolog-bench solve-one`.
#[derive(clap::Args)]
pub(crate) struct OneArguments {
    #[arg(long, default_value = "uniform")]
    kind: Kind,
    /// Such as 1000 or 30x200.
    #[arg(long, default_value = "1000")]
    size: Size,
    /// How often each of the matrices is solved.
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// The right nodes alone ([`Linear::assign`](homolog::matching::Linear::assign)), without allocation, proof and score.
    #[arg(long)]
    assign: bool,
    /// How many different matrices; as many as the table uses where it is not said.
    #[arg(long)]
    matrices: Option<usize>,
}

/// Runs our solver alone, for profilers.
pub(crate) fn run_one(arguments: &OneArguments) -> Result<()> {
    let count = arguments.matrices.unwrap_or(arguments.size.counts().0);
    let costs: Vec<Vec<f64>> = (0..count as u64).map(|index| arguments.kind.costs(arguments.size, index)).collect();
    let mut ours = Ours::default();
    ours.is_bare = arguments.assign;
    ours.load(arguments.size, &costs)?;
    let stopwatch = Stopwatch::start();
    for _ in 0..arguments.repeat {
        ours.time(count.max(1))?;
    }
    let seconds = stopwatch.stop().cpu / (arguments.repeat * count) as f64;
    println!("{} of processor time per solve", report::duration(seconds));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock =
            "[[package]]\nname = \"lapjv\"\nversion = \"0.3.0\"\n\n[[package]]\nname = \"lsap\"\nversion = \"1.0.2\"\n";
        assert_eq!(locked_version(lock, "lsap").as_deref(), Some("1.0.2"));
        assert_eq!(locked_version(lock, "sap"), None);
    }
}

//! The laws of matching on as many random problems as there is time for, family by family: every answer against exact arithmetic.
//!
//! The ordinary tests run the first thousands of the same problems.

#[path = "../../homolog/tests/it/laws_of_matching/mod.rs"]
mod laws_of_matching;

use anyhow::{Result, bail};
use homolog::matching::Workspace;
use laws_of_matching::families::{FAMILIES, Family};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Problems between two checks of the clock.
const AT_ONCE: u64 = 10_000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many problems of each family [default: a hundred times what the tests run]
    #[arg(long)]
    count: Option<u64>,
    /// The number of the first
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Stop each family after so many seconds
    #[arg(long, default_value_t = 1e9)]
    seconds: f64,
    /// Families to run, by name [default: all]
    #[arg(long, value_delimiter = ',')]
    families: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    if let Some(unknown) = arguments.families.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("unknown family \"{unknown}\"; available: {}", names.join(", "));
    }
    println!("family            problems  faults  not proven  seconds");
    let is_wanted =
        |family: &&Family| arguments.families.is_empty() || arguments.families.iter().any(|name| name == family.name);
    FAMILIES.iter().filter(is_wanted).try_for_each(|family| run_family(family, arguments))
}

fn run_family(family: &Family, arguments: &Arguments) -> Result<()> {
    let (start, limit) = (Instant::now(), Duration::try_from_secs_f64(arguments.seconds)?);
    let (mut done, mut unproven) = (0, 0);
    let count = arguments.count.unwrap_or(100 * family.count);
    while done < count && start.elapsed() < limit {
        let next = AT_ONCE.min(count - done);
        let numbers = arguments.first + done..arguments.first + done + next;
        let answers: std::result::Result<Vec<bool>, String> = numbers
            .into_par_iter()
            .map_init(Workspace::new, |work, number| {
                (family.check)(number, work).map_err(|what| format!("problem {number}: {what}"))
            })
            .collect();
        match answers {
            Ok(answers) => unproven += answers.into_iter().filter(|is_proven| !is_proven).count(),
            Err(what) => bail!("{} ({}): after {done} problems without a fault, {what}", family.name, family.about),
        }
        done += next;
    }
    println!("{:<16}  {done:>8}       0  {unproven:>10}  {:>7.0}", family.name, start.elapsed().as_secs_f64());
    Ok(())
}

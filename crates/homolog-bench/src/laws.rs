//! The laws of matching on as many random problems as there is time for: every answer against brute force, proofs, bounds, certificates.
//!
//! The ordinary tests run the first hundred thousand of the same problems.

#[path = "../../homolog/tests/it/laws_of_matching/mod.rs"]
mod laws_of_matching;

use anyhow::{Result, bail};
use homolog::matching::Workspace;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Problems between two checks of the clock.
const AT_ONCE: u64 = 10_000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many problems
    #[arg(long, default_value_t = 10_000_000)]
    count: u64,
    /// The number of the first
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Stop after so many seconds
    #[arg(long, default_value_t = 1e9)]
    seconds: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let limit = Duration::try_from_secs_f64(arguments.seconds)?;
    let mut done = 0;
    while done < arguments.count && start.elapsed() < limit {
        let next = AT_ONCE.min(arguments.count - done);
        let numbers = arguments.first + done..arguments.first + done + next;
        let wrong = numbers.into_par_iter().map_init(Workspace::new, |work, number| {
            laws_of_matching::check_all(number, work).map_err(|what| format!("problem {number}: {what}"))
        });
        if let Some(Err(what)) = wrong.find_first(Result::is_err) {
            bail!("after {done} problems without a fault, {what}");
        }
        done += next;
        if done.is_multiple_of(50 * AT_ONCE) {
            eprintln!("{done} problems, {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    println!("{done} problems from {} on: no fault, {:.0} s", arguments.first, start.elapsed().as_secs_f64());
    Ok(())
}

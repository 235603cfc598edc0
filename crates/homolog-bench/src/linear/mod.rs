//! Linear assignment beside the peers.

use crate::clock::{Stopwatch, median};
use crate::files::write_json;
use anyhow::Result;
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
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let elapsed = Stopwatch::start().stop();
    println!("quick: {}, clock: {:?}", arguments.quick, median(&[elapsed.cpu]));
    if let Some(path) = &arguments.json {
        write_json(path, &elapsed)?;
    }
    Ok(())
}

//! `homolog completions`: what the shell needs to complete commands and options.

use crate::{Ending, files};
use anyhow::Result;
use clap::CommandFactory;

/// Prints a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "Example:\n  homolog completions bash > ~/.local/share/bash-completion/completions/homolog")]
pub(crate) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "homolog", &mut script);
    files::print_data(&script)?;
    Ok(Ending::Done)
}

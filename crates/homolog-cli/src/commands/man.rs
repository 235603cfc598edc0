//! `homolog man`: the manual page of the program or of one of its commands.

use crate::{Ending, files};
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::path::PathBuf;

/// Prints the manual page of a command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  homolog man | man -l -
  homolog man train | man -l -
  homolog man --out ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The command, as on the command line: train, experiment sequence [default: the program]
    command: Vec<String>,
    /// Write the pages of the program and of every command into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let mut program = crate::Arguments::command();
    program.build();
    if let Some(folder) = &arguments.out {
        files::make_folder(folder)?;
        let mut open = vec![program];
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
            let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
            files::write(&folder.join(format!("{name}.1")), &page(command)?)?;
        }
        return Ok(Ending::Done);
    }
    let mut command = &program;
    for name in &arguments.command {
        command = command.find_subcommand(name).with_context(|| format!("there is no command {name:?}"))?;
    }
    files::print_data(&page(command.clone())?)?;
    Ok(Ending::Done)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}

//! The program `homolog`. Each command is one file in `commands`.
//!
//! Results go to standard output, everything else (progress, notes, errors) to standard error. Exit codes: 0 done; 1 something went
//! wrong, and the message says what and where; 2 the command line makes no sense; 130 stopped by Ctrl-C, what was found so far is
//! written.

#![expect(clippy::print_stderr, reason = "printing is what a program does")]

mod askew;
mod commands;
mod counted;
mod data_files;
mod figures;
mod files;
mod given;
mod hints;
mod image_numbers;
mod inputs;
mod label;
mod pair_input;
mod panics;
mod pictures;
mod places;
mod product;
mod progress;
mod reading;
mod report;
mod settings;
mod shards;
mod stream;
mod study;
mod training;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Learns from a few matched examples how you match points and graphs, then matches new ones.
#[derive(Parser)]
#[command(name = "homolog", version, long_version = long_version(), propagate_version = true, arg_required_else_help = true, max_term_width = 100, after_help = "\
To begin: homolog demo
With labelled landmarks: homolog check FILE; homolog train FILE -o MODEL; homolog name MODEL NEW
A command in full, with examples: homolog COMMAND --help")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print only results, warnings and errors
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,
    /// Report each step
    #[arg(short, long, global = true, display_order = 901, conflicts_with = "quiet")]
    verbose: bool,
}

/// What `--version` says: the library, the formats and the sets of features that are in it.
fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    let sets = homolog::features::FeatureSet::ALL.map(homolog::features::FeatureSet::name);
    let text = || {
        format!(
            "{}\nmodel files of format 1 to {}\nsets of features: {}",
            env!("CARGO_PKG_VERSION"),
            homolog::model::FORMAT_VERSION,
            sets.join(", ")
        )
    };
    TEXT.get_or_init(text)
}

#[derive(Subcommand)]
enum Command {
    Convert(commands::convert::Arguments),
    Solve(commands::solve::Arguments),
    Demo(commands::demo::Arguments),
    Train(commands::train::Arguments),
    Match(commands::matching::Arguments),
    Name(commands::name::Arguments),
    Check(commands::check::Arguments),
    Join(commands::join::Arguments),
    Evaluate(commands::evaluate::Arguments),
    Explain(commands::explain::Arguments),
    Experiment(commands::experiment::Arguments),
    Detect(commands::detect::Arguments),
    Label(commands::label::Arguments),
    Features(commands::features::Arguments),
    Completions(commands::completions::Arguments),
    Man(commands::man::Arguments),
}

/// How a command ended that did not fail.
enum Ending {
    Done,
    /// By Ctrl-C; what was found so far is written.
    Stopped,
}

fn main() -> ExitCode {
    panics::keep_quiet();
    let command = Arguments::command();
    let matches = command.clone().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    progress::set_loudness(arguments.quiet, arguments.verbose);
    let bug = "a mistake in homolog itself, please report it";
    let result = panics::contained(bug, || places::check(&command, &matches).and_then(|()| run(&arguments.command)));
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Stopped) => ExitCode::from(130),
        Err(error) if files::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if is_interrupted(&error) && progress::stop_is_wanted() => {
            progress::say("Stopped before there was anything to write.");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {}", files::visible(&format!("{error:#}")));
            if let Some(hint) = hints::hint(&error) {
                eprintln!("hint: {}", files::visible(&hint));
            }
            ExitCode::FAILURE
        }
    }
}

/// Whether the library was told to stop before it had an answer.
fn is_interrupted(error: &anyhow::Error) -> bool {
    let own = error.chain().find_map(|cause| cause.downcast_ref::<homolog::Error>());
    own.is_some_and(|error| error.kind() == homolog::ErrorKind::Interrupted)
}

fn run(command: &Command) -> anyhow::Result<Ending> {
    match command {
        Command::Convert(arguments) => commands::convert::run(arguments),
        Command::Solve(arguments) => commands::solve::run(arguments),
        Command::Demo(arguments) => commands::demo::run(arguments),
        Command::Train(arguments) => commands::train::run(arguments),
        Command::Match(arguments) => commands::matching::run(arguments),
        Command::Name(arguments) => commands::name::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Join(arguments) => commands::join::run(arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments),
        Command::Explain(arguments) => commands::explain::run(arguments),
        Command::Experiment(arguments) => commands::experiment::run(arguments),
        Command::Detect(arguments) => commands::detect::run(arguments),
        Command::Label(arguments) => commands::label::run(arguments),
        Command::Features(arguments) => commands::features::run(arguments),
        Command::Completions(arguments) => commands::completions::run(arguments),
        Command::Man(arguments) => commands::man::run(arguments),
    }
}

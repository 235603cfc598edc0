//! One rule for every command: what is written is nothing that is read, and nothing is written twice. It is checked before any work is
//! done, from the command line alone, and no command can forget it; `files::write` refuses once more what was read meanwhile
//! (a picture that a data set refers to).
//!
//! Options in [`OUTPUTS`] and [`FOLDERS`] name what is written; every other argument that is the name of a file is taken as read.

use crate::files;
use anyhow::{Result, bail};
use clap::{ArgMatches, Command, parser::ValueSource};
use std::path::PathBuf;

/// Options whose value is a file that is written.
const OUTPUTS: [&str; 6] = ["output", "picture", "table", "atlas", "save_problem", CHECKPOINT];
/// Options whose value is a folder that is written into.
const FOLDERS: [&str; 2] = ["out", "labels"];

/// The one file that a run reads and writes again.
const CHECKPOINT: &str = "checkpoint";

/// What a command line reads and writes.
#[derive(Debug, Default, PartialEq)]
struct Places {
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

/// Refuses a command line that would write over what it reads, write something twice, or write to a place that cannot be written. Removes
/// what an earlier run that was killed left there.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<()> {
    let mut places = Places::default();
    places.collect(command, matches);
    let standard = |paths: &[PathBuf]| paths.iter().filter(|path| files::is_standard(path)).count();
    if standard(&places.inputs) > 1 {
        bail!("standard input (-) was given more than once");
    }
    if standard(&places.outputs) > 1 {
        bail!("standard output (-) was given more than once");
    }
    let files_of = |paths: &'_ [PathBuf]| -> Vec<PathBuf> {
        paths.iter().filter(|path| !files::is_standard(path)).cloned().collect()
    };
    let (inputs, outputs) = (files_of(&places.inputs), files_of(&places.outputs));
    files::check_outputs(&inputs, &outputs)?;
    for folder in &places.folders {
        files::check_new_folder(folder)?;
        if outputs.iter().any(|output| files::same_place(output, folder)) {
            bail!("{} would be written twice, as a file and as a folder", folder.display());
        }
    }
    outputs.iter().for_each(|path| files::remove_leftovers(files::folder_of(path)));
    places.folders.iter().for_each(|folder| files::remove_leftovers(folder));
    Ok(())
}

impl Places {
    fn collect(&mut self, command: &Command, matches: &ArgMatches) {
        for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
            let id = argument.get_id().as_str();
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let values = matches.try_get_raw(id).ok().flatten().into_iter().flatten().map(PathBuf::from);
            if FOLDERS.contains(&id) {
                // A folder has a default: it is written into in any case.
                self.folders.extend(values);
            } else if OUTPUTS.contains(&id) {
                let values: Vec<PathBuf> = values.collect();
                if id == CHECKPOINT {
                    // A run goes on from its own checkpoint and writes it again.
                    values.iter().for_each(|path| files::is_own(path));
                }
                // Answers to shards and pictures of many specimens go into a folder.
                let into = |path: &PathBuf| path.is_dir() && matches!(command.get_name(), "match" | "name" | "check");
                let (folders, outputs): (Vec<PathBuf>, Vec<PathBuf>) = values.into_iter().partition(into);
                self.folders.extend(folders);
                self.outputs.extend(outputs);
            } else if is_given {
                self.inputs.extend(values);
            }
        }
        let sub = matches.subcommand().and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
        if let Some((command, matches)) = sub {
            self.collect(command, matches);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::builder::ValueParser;

    /// Arguments that name what is read.
    const INPUTS: [&str; 15] = [
        "data",
        "images",
        "input",
        "inputs",
        "left",
        "model",
        "nodes",
        "pairs_table",
        "problem",
        "right",
        "specimens",
        "template",
        "atlas",
        "config",
        "unlabelled",
    ];

    fn commands() -> Vec<(Vec<String>, Command)> {
        let mut found = Vec::new();
        let mut open = vec![(Vec::new(), crate::Arguments::command())];
        while let Some((path, command)) = open.pop() {
            for sub in command.get_subcommands() {
                let path: Vec<String> = path.iter().cloned().chain([sub.get_name().to_string()]).collect();
                open.push((path, sub.clone()));
            }
            if !command.has_subcommands() {
                found.push((path, command));
            }
        }
        found
    }

    /// Every output of every command, at the place of every input of that command, by four ways there. New options are in it by themselves.
    #[cfg(unix)]
    #[test]
    fn every_output_refuses_every_input() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("files")).unwrap();
        std::fs::write(at("files/in.csv"), "1").unwrap();
        std::os::unix::fs::symlink(at("files/in.csv"), at("link.csv")).unwrap();
        std::os::unix::fs::symlink(at("files"), at("linked")).unwrap();
        let names =
            [ValueParser::path_buf().type_id(), ValueParser::string().type_id(), ValueParser::os_string().type_id()];
        let mut pairs = 0;
        for (path, command) in commands() {
            let arguments: Vec<_> =
                command.get_arguments().filter(|argument| argument.get_action().takes_values()).collect();
            let is_written = |id: &str| OUTPUTS.contains(&id) || FOLDERS.contains(&id);
            let (outputs, inputs): (Vec<_>, Vec<_>) = arguments
                .into_iter()
                .filter(|argument| names.contains(&argument.get_value_parser().type_id()))
                .partition(|argument| is_written(argument.get_id().as_str()));
            for output in outputs.iter().filter(|output| output.get_long().is_some()) {
                for input in &inputs {
                    for place in ["files/in.csv", "files/../files/in.csv", "link.csv", "linked/in.csv"] {
                        let read = at("files/in.csv").into_os_string();
                        let mut words = vec!["homolog".into()];
                        words.extend(path.iter().map(Into::into));
                        match (input.get_long(), input.get_index()) {
                            (Some(long), _) => words.extend([format!("--{long}").into(), read]),
                            (None, index) => words.extend(std::iter::repeat_n(read, index.unwrap_or(1))),
                        }
                        words.extend([format!("--{}", output.get_long().unwrap()).into(), at(place).into_os_string()]);
                        let whole = crate::Arguments::command().ignore_errors(true);
                        let matches = whole.clone().get_matches_from(&words);
                        let mut places = Places::default();
                        places.collect(&whole, &matches);
                        let written = [&*places.outputs, &*places.folders].concat();
                        if !places.inputs.contains(&at("files/in.csv")) || !written.contains(&at(place)) {
                            // A word that has to be one of a few is never a file.
                            assert_ne!(input.get_value_parser().type_id(), names[0], "{words:?} are not understood");
                            continue;
                        }
                        let message = check(&whole, &matches).unwrap_err().to_string();
                        let is_refused = ["refusing to overwrite", "there is a file of that name"];
                        assert!(is_refused.iter().any(|part| message.contains(part)), "{words:?}: {message}");
                        pairs += 1;
                    }
                }
            }
        }
        assert!(pairs > 200, "{pairs}");
        assert_eq!(std::fs::read(at("files/in.csv")).unwrap(), b"1");
    }

    /// A new option with a path must be filed as one that is read or one that is written.
    #[test]
    fn every_path_is_read_or_written() {
        let path_type = ValueParser::path_buf().type_id();
        for (name, command) in commands() {
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let id = argument.get_id().as_str();
                let known = OUTPUTS.contains(&id) || FOLDERS.contains(&id) || INPUTS.contains(&id);
                assert!(known || argument.get_value_parser().type_id() != path_type, "{name:?} --{id}: in or out?");
            }
        }
    }
}

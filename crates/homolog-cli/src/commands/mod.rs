//! One file per command: its arguments and a `run`.

mod atlas;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod detect;
pub(crate) mod evaluate;
mod evaluate_rows;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod features;
pub(crate) mod join;
pub(crate) mod label;
pub(crate) mod man;
mod match_many;
mod match_near;
mod match_output;
pub(crate) mod matching;
pub(crate) mod name;
mod name_output;
mod name_pictures;
mod name_take;
mod naming_report;
mod naming_rows;
mod scene;
pub(crate) mod solve;
mod solve_output;
pub(crate) mod train;
mod turned;

use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use homolog::graph::Graph;
use std::time::Duration;

/// Ends the program with the message that the command line makes no sense.
fn usage(message: String) -> ! {
    crate::Arguments::command().error(clap::error::ErrorKind::ArgumentConflict, message).exit()
}

/// All parallel work of the program uses so many threads.
fn use_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 || threads > 1024 {
        bail!("--threads {threads}: must be between 1 and 1024");
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start the threads")
}

/// A length of time as given.
fn seconds(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds).ok().with_context(|| format!("{seconds} is not a number of seconds"))
}

/// A λ as people write it: 0.01, 1e-6.
pub(crate) fn short(lambda: f64) -> String {
    if (1e-4..1e5).contains(&lambda) { lambda.to_string() } else { format!("{lambda:e}") }
}

/// A score or a margin for people: four significant digits.
fn four_digits(value: f64) -> String {
    rounded(value, f64::round)
}

/// A number that nothing exceeds, so that it holds as it is printed.
fn four_digits_up(value: f64) -> String {
    rounded(value, f64::ceil)
}

fn rounded(value: f64, round: fn(f64) -> f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    // Whole numbers keep all their digits.
    let decimals = (0..8).find(|&decimals| size * 10_f64.powi(decimals) >= 1e3).unwrap_or(8);
    let unit = 10_f64.powi(decimals);
    let text = format!("{:.*}", usize::try_from(decimals).unwrap_or(0), round(value * unit) / unit);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// What a node is called: its name, or its number from 0.
fn node_name(graph: &Graph, node: usize) -> String {
    graph.name_or_number(node)
}

/// How far graphs or specimens may be rotated against each other.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PoseOption {
    AsGiven,
    Tilted,
    Any,
}

/// Whether the specimens that an atlas names are complete.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PresenceOption {
    Auto,
    Complete,
    Partial,
}

impl PresenceOption {
    fn presence(self) -> homolog::atlas::Presence {
        match self {
            Self::Auto => homolog::atlas::Presence::Auto,
            Self::Complete => homolog::atlas::Presence::Complete,
            Self::Partial => homolog::atlas::Presence::Partial,
        }
    }
}

/// A model from its file.
fn read_model(path: &std::path::Path) -> Result<homolog::model::Model> {
    let text = crate::files::read_text(path)?;
    let model = homolog::model::Model::from_json(&text).with_context(|| {
        // Most often the arguments stand in another order, or there is no model yet.
        let is_data = text.contains("homolog-data") || crate::inputs::extension(path) != "json";
        let hint = if is_data { ": is this the model? It comes before the data" } else { "" };
        format!("{}{hint}", path.display())
    })?;
    crate::progress::detail(&format!("read {}: {}", path.display(), about(&model)));
    Ok(model)
}

/// What a model is made of and who made it, in a line.
fn about(model: &homolog::model::Model) -> String {
    let count = model.weights().len();
    let learned = match &model.training {
        Some(record) => format!("learned from {}", crate::counted::counted(record.examples, "pair")),
        None => "not learned".to_string(),
    };
    let library = if model.library().is_empty() { "an earlier version" } else { model.library() };
    format!("{count} weights, {learned}; matches by {}; made by {library}", model.matcher.name())
}

/// Gives a result: as JSON into a file, if one is asked for; then on standard output, for people or as JSON. Files first: who reads
/// standard output may be gone.
fn give(text: &str, value: &serde_json::Value, json: bool, output: Option<&std::path::Path>) -> Result<()> {
    let value = serde_json::to_string_pretty(value)? + "\n";
    if let Some(path) = output {
        crate::files::write(path, value.as_bytes())?;
    }
    if json { crate::files::print_data(value.as_bytes()) } else { crate::files::print(text.as_bytes()) }
}

//! `homolog evaluate`: how often a model is wrong on labelled pairs.

use crate::inputs::Input;
use crate::training::examples;
use crate::{Ending, files, settings};
use anyhow::{Result, bail};
use homolog::experiment::Split;
use homolog::learn::{Evaluation, evaluate};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Tells how wrong a model is on the labelled pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  homolog evaluate model.json faces.json
  homolog evaluate model.json faces.json --worst 20 --json result.json")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// A data set (.json, .jsonl), a landmark table (.csv), or the word turntable
    data: PathBuf,
    /// hamming, endpoint; or with settings as JSON [default: the loss it was trained for]
    #[arg(long)]
    loss: Option<String>,
    /// How many of the worst pairs to list
    #[arg(long, default_value_t = 10)]
    worst: usize,
    /// Write everything, every pair included, to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let model = super::read_model(&arguments.model)?;
    if let Some(path) = &arguments.json {
        files::check_outputs(&[&arguments.model, &arguments.data], &[path])?;
    }
    let input = Input::load(&arguments.data)?.with_pairs()?;
    let trained_for = model.training.as_ref().map(|record| record.loss).unwrap_or_default();
    let loss = arguments.loss.as_deref().map_or(Ok(trained_for), settings::loss)?;
    let labelled = input.data.pairs().iter().enumerate().filter(|(_, pair)| pair.truth.is_some());
    let numbers: Vec<usize> = labelled.map(|(number, _)| number).collect();
    if numbers.is_empty() {
        bail!("{}: no pair has matches to compare with", arguments.data.display());
    }
    let examples = examples(&input.data, &numbers, &model.features, &loss)?;
    let all = evaluate(&examples, model.matcher.matcher(), &model.weights())?;
    let split_of = |position: usize| input.data.pairs()[numbers[position]].split;
    let mut text = format!("{} loss on {} pairs, {} answers proven optimal\n", loss.name(), numbers.len(), all.proven);
    let mut splits = serde_json::Map::new();
    for split in Split::ALL.map(Some).into_iter().chain([None]) {
        let losses: Vec<f64> =
            all.losses.iter().enumerate().filter(|&(at, _)| split_of(at) == split).map(|(_, &loss)| loss).collect();
        if losses.is_empty() {
            continue;
        }
        let name = split.map_or("no split", Split::name);
        let part = Evaluation { losses, proven: 0 };
        let (mean, error, count) = (part.mean(), part.standard_error(), part.losses.len());
        writeln!(text, "  {name:10}  {mean:.4} ± {error:.4}  {count:>5} pairs")?;
        splits.insert(name.to_string(), json!({"loss": mean, "stderr": error, "pairs": count}));
    }
    let id = |graph: usize| input.data.graphs()[graph].id.as_str();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| all.losses[b].total_cmp(&all.losses[a]));
    let worst: Vec<usize> = order.iter().copied().take(arguments.worst).filter(|&at| all.losses[at] > 0.0).collect();
    if !worst.is_empty() {
        writeln!(text, "Worst pairs:")?;
    }
    for at in worst {
        let pair = &input.data.pairs()[numbers[at]];
        let split = pair.split.map_or(String::new(), |split| format!("  ({})", split.name()));
        writeln!(text, "  {:.4}  {} → {}{split}", all.losses[at], id(pair.left), id(pair.right))?;
    }
    if let Some(path) = &arguments.json {
        let pair = |&at: &usize| {
            let pair = &input.data.pairs()[numbers[at]];
            json!({"left": id(pair.left), "right": id(pair.right), "split": pair.split, "loss": all.losses[at]})
        };
        let pairs: Vec<_> = order.iter().map(pair).collect();
        let value = json!({"loss": loss.name(), "splits": splits, "proven": all.proven, "pairs": pairs});
        files::write(path, (serde_json::to_string_pretty(&value)? + "\n").as_bytes())?;
    }
    files::print(text.as_bytes())?;
    Ok(Ending::Done)
}

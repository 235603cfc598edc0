//! `homolog evaluate`: how often a model is wrong on labelled pairs.

use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::{Ending, settings};
use anyhow::{Result, bail};
use homolog::experiment::Split;
use homolog::learn::{Evaluation, evaluate};
use homolog::model::Model;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Tells how wrong a model is on the labelled pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  homolog evaluate model.json faces.json
  homolog evaluate model.json faces.json --split test --matcher frank-wolfe
  homolog evaluate model.json faces.json --worst 20 -o result.json")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// A data set (.json, .jsonl), a landmark table (.csv), or the word turntable
    data: PathBuf,
    /// hamming, endpoint; or with settings as JSON [default: the loss it was trained for]
    #[arg(long)]
    loss: Option<String>,
    /// Match in another way than the model does: linear, exact, frank-wolfe, ...; or with settings as JSON
    #[arg(long)]
    matcher: Option<String>,
    /// Only the pairs of this split: train, validation or test
    #[arg(long, value_parser = ["train", "validation", "test"])]
    split: Option<String>,
    /// End after this many seconds with the pairs that are done by then
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// How many of the worst pairs to list
    #[arg(long, default_value_t = 10)]
    worst: usize,
    /// Print everything, every pair included, as JSON
    #[arg(long)]
    json: bool,
    /// Write that to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let model = super::read_model(&arguments.model)?;
    let matcher = arguments.matcher.as_deref().map_or(Ok(model.matcher.clone()), settings::matcher)?;
    let input = Input::load(&arguments.data)?.with_pairs()?;
    let trained_for = model.training.as_ref().map(|record| record.loss).unwrap_or_default();
    let loss = arguments.loss.as_deref().map_or(Ok(trained_for), settings::loss)?;
    let is_wanted =
        |split: Option<Split>| arguments.split.is_none() || split.map(Split::name) == arguments.split.as_deref();
    let (labelled, numbers) = input.data.labelled(|pair| is_wanted(pair.split))?;
    if labelled.is_empty() {
        bail!(
            "{}: no pair {}has matches to compare with",
            arguments.data.display(),
            match &arguments.split {
                Some(split) => format!("of the split {split} "),
                None => String::new(),
            }
        );
    }
    let labelled =
        if model.features.pose.is_as_given() { labelled } else { labelled.turned(|pair, _| model.posed(pair))? };
    let examples = labelled.examples(&model.features, loss.loss())?;
    let watch = Watch::new(limit, true);
    let control = watch.control("");
    let all = evaluate(&examples, matcher.matcher(), &model.weights(), &control)?;
    let before = Model::unlearned(model.features.clone(), matcher.clone())?;
    let before = match &model.training {
        Some(_) => Some(evaluate(&examples, matcher.matcher(), &before.weights(), &control)?),
        None => None,
    };
    watch.end();
    let report = Report { input: &input, numbers: &numbers, all: &all, before: before.as_ref() };
    let mut text =
        format!("{} loss on {} pairs, {} answers proven optimal\n", loss.name(), all.losses.len(), all.proven);
    let missing = examples.len() - all.losses.len();
    if missing > 0 {
        writeln!(text, "{missing} further pairs were not matched before it was stopped")?;
    }
    let splits = report.splits(&mut text)?;
    let matches = model.features.unmatched.then(|| {
        let counts = &all.matches;
        json!({"precision": counts.precision(), "recall": counts.recall(), "f1": counts.f1()})
    });
    if model.features.unmatched {
        let (p, r, f) = (all.matches.precision(), all.matches.recall(), all.matches.f1());
        writeln!(text, "Matches: precision {p:.4}, recall {r:.4}, F1 {f:.4}")?;
    }
    let order = report.worst(arguments.worst, &mut text)?;
    let pairs: Vec<_> = order.iter().map(|&at| report.pair(at)).collect();
    let value = json!({
        "loss": loss.name(), "splits": splits, "proven": all.proven, "missing": missing, "matches": matches, "pairs": pairs
    });
    super::give(&text, &value, arguments.json, arguments.output.as_deref())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// What was found, to be told.
struct Report<'a> {
    input: &'a Input,
    /// The pair of the data set that each example is.
    numbers: &'a [usize],
    all: &'a Evaluation,
    before: Option<&'a Evaluation>,
}

impl Report<'_> {
    fn pair_of(&self, at: usize) -> &homolog::data::dataset::LabelledPair {
        &self.input.data.pairs()[self.numbers[self.all.examples[at]]]
    }

    fn id(&self, graph: usize) -> &str {
        &self.input.data.graphs()[graph].id
    }

    /// A line for each split there is.
    fn splits(&self, text: &mut String) -> Result<serde_json::Map<String, serde_json::Value>> {
        let mut splits = serde_json::Map::new();
        for split in Split::ALL.map(Some).into_iter().chain([None]) {
            let of_split = |evaluation: &Evaluation| {
                let is_of_it = |&n: &usize| self.input.data.pairs()[self.numbers[n]].split == split;
                let losses = evaluation.examples.iter().zip(&evaluation.losses);
                Evaluation::of_losses(losses.filter(|(n, _)| is_of_it(n)).map(|(_, &loss)| loss).collect())
            };
            let part = of_split(self.all);
            if part.losses.is_empty() {
                continue;
            }
            let name = split.map_or("no split", Split::name);
            let (mean, error, count) = (part.mean(), part.standard_error(), part.losses.len());
            write!(text, "  {name:10}  {mean:.4} ± {error:.4}  {count:>5} pairs")?;
            let before = self.before.map(of_split).filter(|before| before.losses.len() == count);
            if let Some(before) = &before {
                write!(text, "   before learning {:.4} ± {:.4}", before.mean(), before.standard_error())?;
            }
            writeln!(text)?;
            let before = before.map(|before| json!({"loss": before.mean(), "stderr": before.standard_error()}));
            let entry = json!({"loss": mean, "stderr": error, "pairs": count, "before_learning": before});
            splits.insert(name.to_string(), entry);
        }
        Ok(splits)
    }

    /// Lists the worst pairs; the answer is the order of all of them.
    fn worst(&self, count: usize, text: &mut String) -> Result<Vec<usize>> {
        let losses = &self.all.losses;
        let mut order: Vec<usize> = (0..losses.len()).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]));
        let worst: Vec<usize> = order.iter().copied().take(count).filter(|&at| losses[at] > 0.0).collect();
        if !worst.is_empty() {
            writeln!(text, "Worst pairs:")?;
        }
        for at in worst {
            let pair = self.pair_of(at);
            let split = pair.split.map_or(String::new(), |split| format!("  ({})", split.name()));
            writeln!(text, "  {:.4}  {} → {}{split}", losses[at], self.id(pair.left), self.id(pair.right))?;
        }
        Ok(order)
    }

    fn pair(&self, at: usize) -> serde_json::Value {
        let pair = self.pair_of(at);
        json!({"left": self.id(pair.left), "right": self.id(pair.right), "split": pair.split, "loss": self.all.losses[at]})
    }
}

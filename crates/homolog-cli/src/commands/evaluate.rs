//! `homolog evaluate`: how often a model is wrong on labelled pairs.

use super::evaluate_rows::{Totals, text};
use crate::counted::counted;
use crate::inputs::{Input, extension};
use crate::progress::{Watch, stop_is_wanted};
use crate::reading::Reading;
use crate::stream::resume_without_file;
use crate::{Ending, files, settings};
use anyhow::{Result, bail};
use homolog::ErrorKind;
use homolog::data::Split;
use homolog::features::FeatureMap;
use homolog::learn::{Confusions, Evaluation, predict};
use homolog::loss::{Loss, LossKind};
use homolog::matching::Method;
use homolog::model::Model;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Measures the error of a model on the labelled pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
The loss of a pair is the share of its nodes that are matched wrongly (hamming) or how far off they are (endpoint). The mean is
given with its standard error over pairs or, if all pairs have the same loss, with the 95 % interval of the share of wrong matches in
brackets: 0 wrong of 210 does not mean that none ever will be. Ctrl-C and --time-limit stop it with the pairs matched so far.

Examples:
  homolog evaluate model.json faces.json
  homolog evaluate model.json faces.json --split test --matcher frank-wolfe
  homolog evaluate model.json faces.json --worst 20 -o result.json
  homolog evaluate model.json thousands.json -o pairs.csv --resume
  homolog evaluate atlas.json others.csv --picture reliability.png")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// Labelled graphs: a data set (.json, .jsonl), a landmark table (.csv), TPS or any other file of docs/formats.md, or the word turntable
    data: PathBuf,
    /// Loss: hamming, endpoint; or with settings as JSON [default: the loss it was trained for]
    #[arg(long)]
    loss: Option<String>,
    /// Matcher to use instead of the model's: linear, exact, frank-wolfe, ...; or with settings as JSON
    #[arg(long)]
    matcher: Option<String>,
    /// Use only the pairs of this split
    #[arg(long, value_parser = ["train", "validation", "test"])]
    split: Option<String>,
    /// Stop after this many seconds with the pairs matched so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Draw a reliability diagram of the confidences of a model that names, as .svg or .png
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// How many of the worst pairs, the worst landmarks and the most frequent confusions to list
    #[arg(long, default_value_t = 10)]
    worst: usize,
    /// Print everything, every pair included, as JSON
    #[arg(long)]
    json: bool,
    /// Write the JSON to a file; to .csv or .jsonl, each pair or named specimen as it is done
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Continue after the last pair or specimen in the .csv or .jsonl output file
    #[arg(long, requires = "output")]
    resume: bool,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let reading = Reading::within(limit);
    let model = super::read_model(&arguments.model)?;
    if arguments.resume && !arguments.is_streamed() {
        return Err(resume_without_file());
    }
    if model.atlas().is_some() {
        let input = Input::load(&arguments.data)?.seen_by(&model.image_descriptors())?;
        // A single specimen is named all the same.
        let input = if input.data.graphs().len() > 1 { input.with_pairs()? } else { input };
        drop(reading);
        let loss = arguments.loss.as_deref().map_or(Ok(LossKind::default()), settings::loss)?;
        let (text, value) = super::naming_report::evaluate(
            &model,
            &input,
            (loss, arguments.split.as_deref()),
            (limit, arguments.worst, arguments.picture.as_deref()),
            (arguments.output.as_deref().filter(|_| arguments.is_streamed()), arguments.resume),
        )?;
        super::give(&text, &value, arguments.json, arguments.output.as_deref().filter(|_| !arguments.is_streamed()))?;
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    }
    if arguments.picture.is_some() {
        bail!("--picture draws the confidences of names, but this model matches pairs");
    }
    let matcher = arguments.matcher.as_deref().map_or(Ok(model.matcher.clone()), settings::matcher)?;
    let input = Input::load(&arguments.data)?.with_pairs()?.seen_by(&model.image_descriptors())?;
    let trained_for = model.training.as_ref().map(|record| record.loss).unwrap_or_default();
    let loss = arguments.loss.as_deref().map_or(Ok(trained_for), settings::loss)?;
    let is_wanted =
        |split: Option<Split>| arguments.split.is_none() || split.map(Split::name) == arguments.split.as_deref();
    let (labelled, numbers) = input.data.labelled(|pair| is_wanted(pair.split));
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
    drop(reading);
    let watch = Watch::new(limit);
    let labelled = labelled.watched_by(&watch.stop_control());
    let mut totals = Totals::new(&input, &labelled, &numbers);
    let unlearned = Model::unlearned(model.features.clone(), matcher.clone())?;
    let weights = [Some(model.weights()), model.training.as_ref().map(|_| unlearned.weights())];
    arguments.measure(&model.features, (loss.loss(), &matcher), &weights, &mut totals, &watch)?;
    let ended_by = watch.ended_by();
    watch.end();
    let report = Report { input: &input, numbers: &numbers, totals: &totals };
    let all = &totals.all;
    let (done, missing) = (all.losses.len(), labelled.len() - all.losses.len());
    let (pairs, answers) = (counted(done, "pair"), counted(all.proven, "answer"));
    let mut text = format!("{} loss on {pairs}, {answers} proven optimal\n", loss.name());
    match ended_by {
        Some(ended_by) if done == 0 => {
            writeln!(text, "Stopped early by {ended_by}, before the first pair was matched.")?;
        }
        Some(ended_by) if missing > 0 => writeln!(
            text,
            "Stopped early by {ended_by}: {missing} of {} pairs were not matched; the figures below cover the others.",
            labelled.len()
        )?,
        _ => {}
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
    let confusions = totals.confusions.clone().sorted();
    let order = report.worst(all, arguments.worst, &mut text)?;
    add_confusions(&confusions, arguments.worst, &mut text)?;
    if arguments.is_streamed() && !arguments.json {
        files::print(text.as_bytes())?;
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    }
    let pairs: Vec<_> = order.iter().map(|&at| report.pair(all, at)).collect();
    let value = json!({
        "loss": loss.name(),
        "splits": splits,
        "proven": all.proven,
        "missing": missing,
        "ended_by": ended_by.filter(|_| missing > 0),
        "matches": matches,
        "landmarks": confusions.names,
        "confusions": confusions.confusions,
        "pairs": pairs,
    });
    let output = arguments.output.as_deref().filter(|_| !arguments.is_streamed());
    super::give(&text, &value, arguments.json, output)?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

impl Arguments {
    /// Whether each pair is written as it is matched.
    fn is_streamed(&self) -> bool {
        self.output.as_deref().is_some_and(|path| matches!(extension(path).as_str(), "csv" | "jsonl"))
    }

    /// Matches all pairs with the model's weights, and with those before learning if there are any, a few at a time: all that is kept of a
    /// pair is its row.
    fn measure(
        &self,
        features: &FeatureMap,
        (loss, matcher): (&dyn Loss, &Method),
        weights: &[Option<Vec<f64>>; 2],
        totals: &mut Totals<'_>,
        watch: &Watch,
    ) -> Result<()> {
        let count = totals.pairs.len();
        let mut sink = if self.is_streamed() { Some(totals.open(self.output.as_deref(), self.resume)?) } else { None };
        let (control, stopped) = (watch.control(""), watch.stop_control());
        let lazy = unless_stopped(totals.pairs.lazy_examples(features, loss))?;
        let size = if features.edge.is_empty() { CHUNK } else { PER_THREAD * rayon::current_num_threads() };
        while totals.next() < count && !stopped.interrupted() {
            let first = totals.next();
            let examples = lazy.as_ref().map(|lazy| lazy.of(first..count.min(first + size)));
            let Some(examples) = examples.map(unless_stopped).transpose()?.flatten() else { break };
            let answers = |weights: &Option<Vec<f64>>| match weights {
                Some(weights) => predict(&examples, matcher.matcher(), weights, &stopped).map(Some),
                None => Ok(None),
            };
            let (answers, before) = (answers(&weights[0])?.unwrap_or_default(), answers(&weights[1])?);
            for (at, example) in examples.iter().enumerate() {
                let before = before.as_ref().map(|before| before[at].as_ref());
                let Some(answer) = answers[at].as_ref().filter(|_| before != Some(None)) else { break };
                let row = totals.row(example, answer, before.flatten());
                if let Some(sink) = &mut sink {
                    sink.answer(&text(&row, self.output.as_deref())?, first + at == 0)?;
                    sink.tell(&control, &homolog::Report::new("matching pairs", first + at + 1, Some(count)))?;
                }
                totals.add(&row)?;
            }
            control.report(&homolog::Report::new("matching pairs", totals.next(), Some(count)));
            if totals.next() < count.min(first + size) {
                break;
            }
        }
        sink.map(|sink| sink.end(totals.next() == 0)).transpose()?;
        Ok(())
    }
}

/// `None` if the work was stopped before it had a result.
fn unless_stopped<T>(result: homolog::Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
        result => Ok(Some(result?)),
    }
}

/// So many pairs are matched before any is written, or so many per thread if edges count.
const CHUNK: usize = 256;
const PER_THREAD: usize = 4;

/// Lists the landmarks that go wrong most often and what they are taken for.
fn add_confusions(all: &Confusions, count: usize, text: &mut String) -> Result<()> {
    let wrong: Vec<_> = all.names.iter().filter(|one| one.wrong > 0).take(count).collect();
    let width = wrong.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    if !wrong.is_empty() {
        writeln!(text, "Worst landmarks:")?;
    }
    for one in wrong {
        let share = one.wrong as f64 / one.of as f64;
        writeln!(text, "  {share:.4}  {:width$}  wrong in {} of {} pairs", one.name, one.wrong, one.of)?;
    }
    let confusions = &all.confusions[..all.confusions.len().min(count)];
    if !confusions.is_empty() {
        writeln!(text, "Most frequent confusions:")?;
    }
    for one in confusions {
        let times = if one.times == 1 { "once".to_string() } else { format!("{} times", one.times) };
        let what = match &one.found {
            Some(found) if *found == one.name => "matched though it has no partner".to_string(),
            Some(found) => format!("taken for {found}"),
            None => "left unmatched".to_string(),
        };
        writeln!(text, "  {} {what}, {times}", one.name)?;
    }
    Ok(())
}

/// What was found, to be told.
struct Report<'a> {
    input: &'a Input,
    /// The pair of the data set that each example is.
    numbers: &'a [usize],
    totals: &'a Totals<'a>,
}

impl Report<'_> {
    fn pair_of(&self, all: &Evaluation, at: usize) -> &homolog::data::dataset::LabelledPair {
        &self.input.data.pairs()[self.numbers[all.examples[at]]]
    }

    fn id(&self, graph: usize) -> &str {
        &self.input.data.graphs()[graph].id
    }

    /// A line for each split there is.
    fn splits(&self, text: &mut String) -> Result<serde_json::Map<String, serde_json::Value>> {
        let mut splits = serde_json::Map::new();
        let done = self.totals.all.losses.len();
        for (split, [part, before]) in self.totals.splits() {
            if part.losses.is_empty() {
                continue;
            }
            let name = split.map_or("no split", Split::name);
            let shown = if split.is_none() && part.losses.len() == done { "all pairs" } else { name };
            let count = part.losses.len();
            write!(text, "  {shown:10}  {}  {count:>5} pairs", part.summary())?;
            let before = Some(before).filter(|before| !before.losses.is_empty());
            if let Some(before) = before {
                write!(text, "   before learning {}", before.summary())?;
            }
            writeln!(text)?;
            let entry = |part: &Evaluation| json!({"loss": part.mean(), "stderr": part.standard_error(), "interval": part.interval(), "pairs": part.losses.len()});
            let mut value = entry(part);
            value["before_learning"] = json!(before.map(entry));
            splits.insert(name.to_string(), value);
        }
        Ok(splits)
    }

    /// Lists the worst pairs; the answer is the order of all of them.
    fn worst(&self, all: &Evaluation, count: usize, text: &mut String) -> Result<Vec<usize>> {
        let losses = &all.losses;
        let mut order: Vec<usize> = (0..losses.len()).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]));
        let worst: Vec<usize> = order.iter().copied().take(count).filter(|&at| losses[at] > 0.0).collect();
        if !worst.is_empty() {
            writeln!(text, "Worst pairs:")?;
        }
        for at in worst {
            let pair = self.pair_of(all, at);
            let split = pair.split.map_or(String::new(), |split| format!("  ({})", split.name()));
            writeln!(text, "  {:.4}  {} → {}{split}", losses[at], self.id(pair.left), self.id(pair.right))?;
        }
        Ok(order)
    }

    fn pair(&self, all: &Evaluation, at: usize) -> serde_json::Value {
        let pair = self.pair_of(all, at);
        json!({"left": self.id(pair.left), "right": self.id(pair.right), "split": pair.split, "loss": all.losses[at]})
    }
}

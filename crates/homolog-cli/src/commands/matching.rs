//! `homolog match`: a model, or features alone, and two graphs, or all pairs of a data set, give matches.

use super::match_output::{Answer, Row, csv, status, table, value};
use super::{node_name, read_model, turned};
use crate::given::Given;
use crate::inputs::{Input, extension};
use crate::pair_input::PairInput;
use crate::progress::{Watch, say, stop_is_wanted};
use crate::{Ending, figures, files, settings};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use homolog::features::FeatureMap;
use homolog::graph::Pair;
use homolog::learn::default_matcher;
use homolog::matching::{Margin, Solution, Workspace, margins};
use homolog::model::Model;
use homolog_viz::svg_to_png;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Matches two graphs, or all pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
The score of a match is its part in the total; its margin is how much the total falls if the match is forbidden: the smaller, the less
certain. Margins come by themselves for small problems without edges, else with --margins.

Examples:
  homolog match model.json left.csv right.csv
  homolog match --features quadratic left.csv right.csv
  homolog match model.json --data faces.json anna bert --picture match.png
  homolog match model.json left.csv right.csv --seed nose=nose --forbid chin=brow
  homolog match model.json faces.json -o matches.csv")]
pub(crate) struct Arguments {
    /// The model file (not with --features); the left graph: a file with one graph, or an id in --data; the right graph, likewise. One
    /// data set in place of two graphs: all its pairs; a data set before two ids: as with --data
    #[arg(value_names = ["MODEL", "LEFT", "RIGHT"], num_args = 1..=4, required = true)]
    names: Vec<String>,
    /// Match without a trained model, by these features: a set (see homolog features), JSON or a file with it
    #[arg(long)]
    features: Option<String>,
    /// How to match [default: as the model says; without one exact for its features]
    #[arg(long)]
    matcher: Option<String>,
    /// Take the graphs from this data set or landmark table
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
    /// How to print the matches
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print JSON: the same as --format json
    #[arg(long)]
    json: bool,
    /// Write to a file: .csv for a table, .json for JSON, anything else as it is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Say how certain each match is, whatever time that takes
    #[arg(long)]
    margins: bool,
    /// Seconds for each match; then the best so far, with its bound
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Draw the match of two graphs into an .svg or .png file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Json,
}

/// What to do where there is no model yet.
const WITHOUT_MODEL: &str = "the first file is the model; without one: homolog match --features linear LEFT RIGHT";
/// Margins of problems without edges and of no more left nodes than this take no time that anybody would notice.
const QUICK_MARGINS: usize = 200;

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let (model, graphs) = match (&arguments.features, arguments.names.split_first()) {
        (None, Some((first, rest))) => {
            let model = read_model(Path::new(first));
            let is_json = extension(Path::new(first)) == "json";
            let model = if is_json { model } else { model.context(WITHOUT_MODEL) };
            (Some(model?), rest)
        }
        _ => (None, &arguments.names[..]),
    };
    let inputs = arguments.inputs(graphs)?;
    let model = arguments.model(model, &inputs)?;
    let (count, watch) = (inputs.len(), Watch::new(None));
    let seen = model.image_descriptors();
    let mut answers = Vec::new();
    for (number, input) in inputs.into_iter().enumerate() {
        if stop_is_wanted() && number > 0 {
            break;
        }
        let part = watch.part(number, count);
        part.say(format!("matching {} and {}: pair {} of {count}", input.left.id, input.right.id, number + 1));
        answers.push(arguments.answer(&model, input.seen_by(&seen)?, &part.limited(limit))?);
    }
    if let [only] = &answers[..] {
        let control = watch.control("");
        watch.end();
        turned::note_for(&model, &only.input.pair(), &control)?;
    } else {
        watch.end();
    }
    if answers.len() < count {
        eprintln!("Stopped by Ctrl-C: {} of {count} pairs were not matched.", count - answers.len());
    }
    if let (Some(path), [only]) = (&arguments.picture, &answers[..]) {
        draw(path, only, &model)?;
    }
    let by_name = arguments.output.as_deref().map(extension).unwrap_or_default();
    let format = match by_name.as_str() {
        "csv" => Format::Csv,
        "json" => Format::Json,
        _ if arguments.json => Format::Json,
        _ => arguments.format,
    };
    let text = match format {
        Format::Table => answers.iter().map(table).collect::<Result<Vec<_>>>()?.join("\n"),
        Format::Csv => csv(&answers)?,
        Format::Json => {
            let mut list: Vec<_> = answers.iter().map(value).collect();
            let value = if graphs.len() > 1 { list.remove(0) } else { json!({ "pairs": list }) };
            serde_json::to_string_pretty(&value)? + "\n"
        }
    };
    match (&arguments.output, format) {
        (Some(path), _) => files::write(path, text.as_bytes())?,
        (None, Format::Table) => files::print(text.as_bytes())?,
        (None, _) => files::print_data(text.as_bytes())?,
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

impl Arguments {
    /// The pairs of graphs to match.
    fn inputs(&self, names: &[String]) -> Result<Vec<PairInput>> {
        let (data, names) = match (&self.data, names) {
            (None, [data, left, right]) => (Some(PathBuf::from(data)), [left.clone(), right.clone()].to_vec()),
            (data, names) => (data.clone(), names.to_vec()),
        };
        match &names[..] {
            [left, right] => {
                let mut input = PairInput::load(data.as_ref(), left, right)?;
                let (from, to) = (&input.left.graph, &input.right.graph);
                self.given.add_to(&mut input.given, |name| from.find_node(name), |name| to.find_node(name))?;
                Ok(vec![input])
            }
            [one] if data.is_none() => {
                if self.picture.is_some() || !self.given.is_empty() {
                    bail!("--picture, --seed and --forbid are about two graphs, and {one} may have many");
                }
                let input = Input::load(Path::new(one))?.with_pairs()?;
                Ok(input.data.pairs().iter().map(|pair| PairInput::of(&input, pair.left, pair.right)).collect())
            }
            _ => bail!("two graphs are matched: give LEFT and RIGHT, or one data set with pairs"),
        }
    }

    /// The model of the file, or one without learning; with the matcher of the command line.
    fn model(&self, model: Option<Model>, inputs: &[PairInput]) -> Result<Model> {
        let matcher = self.matcher.as_deref().map(settings::matcher).transpose()?;
        if let Some(mut model) = model {
            model.matcher = matcher.unwrap_or(model.matcher);
            return Ok(model);
        }
        let graphs = inputs.iter().flat_map(|input| [&*input.left.graph, &*input.right.graph]);
        let features = settings::features(self.features.as_deref().unwrap_or_default(), graphs)?;
        let matcher = matcher.unwrap_or_else(|| default_matcher(&features));
        let model = Model::unlearned(features, matcher)?;
        let pairs: Vec<_> = inputs.iter().map(PairInput::pair).collect();
        // Before spreads are measured, which takes a while for large graphs.
        for (pair, input) in pairs.iter().zip(inputs) {
            model.check_size(pair).with_context(|| input.about())?;
        }
        Ok(Model::unlearned(model.features.with_spread_of(&pairs)?, model.matcher)?)
    }

    fn answer(&self, model: &Model, input: PairInput, watch: &Watch) -> Result<Answer> {
        let pair = input.pair();
        let about = || input.about();
        let control = watch.control("");
        let mut work = Workspace::with_control(&control);
        let (solution, shares) = model.solve_in_parts(&pair, &mut work).with_context(about)?;
        let ended_by = watch.ended_by();
        let quick = model.features.edge.is_empty() && pair.left.node_count() <= QUICK_MARGINS;
        let found: Option<Vec<Margin>> = if model.atlas().is_none() && (self.margins || quick) {
            let (_, problem) = model.problem(&pair).with_context(about)?;
            Some(margins(&problem, &solution, model.matcher.matcher(), &control)?)
        } else {
            None
        };
        let rows = rows(&pair, &solution, &shares, found.as_deref());
        Ok(Answer { input, solution, rows, margins: found.is_some(), ended_by })
    }
}

/// A row for each matched pair.
fn rows(pair: &Pair, solution: &Solution, shares: &[f64], margins: Option<&[Margin]>) -> Vec<Row> {
    let row = |(number, (i, k)): (usize, (usize, usize))| Row {
        left: node_name(&pair.left, i),
        right: node_name(&pair.right, k),
        share: shares[i],
        margin: margins.map(|margins| margins[number]),
    };
    solution.matching.pairs().enumerate().map(row).collect()
}

fn draw(path: &Path, answer: &Answer, model: &Model) -> Result<()> {
    let title = format!("{} matched to {}", answer.input.left.id, answer.input.right.id);
    let caption = status(&answer.solution, answer.ended_by);
    let rows = [(caption.as_str(), &answer.solution.matching)];
    // The edges of an atlas are between its landmarks, not in the specimens.
    let plain = FeatureMap::paper_linear();
    let features = if model.atlas().is_some() { &plain } else { &model.features };
    let svg = figures::match_picture(&title, &answer.input, features, &rows, true)?;
    match extension(path).as_str() {
        "svg" => files::write(path, svg.as_bytes())?,
        "png" => files::write(path, &svg_to_png(&svg, 1.5)?)?,
        other => bail!("--picture {}: a picture ends in .svg or .png, not in {other:?}", path.display()),
    }
    say(&format!("Wrote {}.", path.display()));
    Ok(())
}

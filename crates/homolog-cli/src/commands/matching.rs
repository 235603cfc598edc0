//! `homolog match`: a model and two graphs, or all pairs of a data set, give matches.

use super::node_name;
use crate::inputs::{Input, extension};
use crate::pair_input::PairInput;
use crate::progress::{catch_ctrl_c, stop_is_wanted};
use crate::{Ending, figures, files};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use homolog::Control;
use homolog::explain::shares;
use homolog::matching::{Solution, Status, Workspace};
use homolog::model::Model;
use homolog_viz::svg_to_png;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Matches two graphs, or all pairs of a data set, with a model
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  homolog match model.json left.csv right.csv
  homolog match model.json --data faces.json anna bert --picture match.png
  homolog match model.json faces.json --format csv -o matches.csv")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The left graph: a file with one graph, or an id in --data; or a data set all of whose pairs are wanted
    left: String,
    /// The right graph, likewise
    right: Option<String>,
    /// Take the graphs from this data set or landmark table
    #[arg(long, value_name = "FILE", requires = "right")]
    data: Option<PathBuf>,
    /// How to write the matches
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Seconds for each match; then the best so far, with its bound
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Draw the match of two graphs into an .svg or .png file
    #[arg(long, value_name = "FILE", requires = "right")]
    picture: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Json,
}

/// One match, ready to be written.
struct Row {
    left: String,
    right: String,
    share: f64,
}

struct Answer {
    input: PairInput,
    solution: Solution,
    rows: Vec<Row>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let mut inputs = vec![arguments.model.as_path(), Path::new(&arguments.left)];
    inputs.extend(arguments.right.as_deref().map(Path::new));
    inputs.extend(arguments.data.as_deref());
    let outputs: Vec<&Path> =
        [&arguments.output, &arguments.picture].into_iter().flatten().map(PathBuf::as_path).collect();
    files::check_outputs(&inputs, &outputs)?;
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let model = super::read_model(&arguments.model)?;
    let mut answers = Vec::new();
    if let Some(right) = &arguments.right {
        answers.push(answer(&model, PairInput::load(arguments.data.as_ref(), &arguments.left, right)?, limit)?);
    } else {
        let input = Input::load(Path::new(&arguments.left))?.with_pairs()?;
        for pair in input.data.pairs() {
            answers.push(answer(&model, PairInput::of(&input, pair.left, pair.right)?, limit)?);
        }
    }
    if let (Some(path), [only]) = (&arguments.picture, &answers[..]) {
        draw(path, only, &model)?;
    }
    let text = match arguments.format {
        Format::Table => answers.iter().map(table).collect::<Result<Vec<_>>>()?.join("\n"),
        Format::Csv => csv(&answers)?,
        Format::Json => {
            let mut list: Vec<_> = answers.iter().map(value).collect();
            let value = if arguments.right.is_some() { list.remove(0) } else { json!({ "pairs": list }) };
            serde_json::to_string_pretty(&value)? + "\n"
        }
    };
    match &arguments.output {
        Some(path) => files::write(path, text.as_bytes())?,
        None => files::print(text.as_bytes())?,
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

fn answer(model: &Model, input: PairInput, limit: Option<Duration>) -> Result<Answer> {
    let pair = input.pair();
    let about = || format!("{:?} and {:?}", input.left.id, input.right.id);
    let (_, problem) = model.problem(&pair).with_context(about)?;
    let solution = model.solve(&pair, &mut interruptible(limit)).with_context(about)?;
    let shares = shares(&problem, &solution.matching)?;
    let row = |(i, k): (usize, usize)| Row {
        left: node_name(&pair.left, i),
        right: node_name(&pair.right, k),
        share: shares[i],
    };
    let rows = solution.matching.pairs().map(row).collect();
    Ok(Answer { input, solution, rows })
}

/// Solvers stop at Ctrl-C or when time is up.
fn interruptible(limit: Option<Duration>) -> Workspace {
    catch_ctrl_c();
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    Workspace::with_control(
        &Control::new().interrupted_by(move || stop_is_wanted() || until.is_some_and(|until| Instant::now() >= until)),
    )
}

/// What the solver's status means.
pub(super) fn status(solution: &Solution) -> String {
    match solution.status {
        Status::Optimal => "proven optimal".to_string(),
        _ if solution.bound.is_finite() => format!("not proven; no match scores more than {:.6}", solution.bound),
        _ => "not proven".to_string(),
    }
}

fn table(answer: &Answer) -> Result<String> {
    let Answer { input, solution, rows } = answer;
    let mut text = String::new();
    writeln!(text, "{} → {}: score {:.6}, {}", input.left.id, input.right.id, solution.score, status(solution))?;
    let width = rows.iter().map(|row| row.left.chars().count()).max().unwrap_or(0);
    let right_width = rows.iter().map(|row| row.right.chars().count()).max().unwrap_or(0);
    for Row { left, right, share } in rows {
        writeln!(text, "  {left:width$} → {right:right_width$}  {share:>12.6}")?;
    }
    let names = |nodes: Vec<usize>, graph: &homolog::graph::Graph| {
        nodes.into_iter().map(|node| node_name(graph, node)).collect::<Vec<_>>().join(", ")
    };
    let left = names(solution.matching.unmatched_left().collect(), &input.left.graph);
    let right = names(solution.matching.unmatched_right().collect(), &input.right.graph);
    for (side, names) in [("left", left), ("right", right)] {
        if !names.is_empty() {
            writeln!(text, "  unmatched on the {side}: {names}")?;
        }
    }
    Ok(text)
}

fn csv(answers: &[Answer]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["left_graph", "right_graph", "left", "right", "score"])?;
    for Answer { input, rows, solution } in answers {
        for Row { left, right, share } in rows {
            writer.write_record([&input.left.id, &input.right.id, left, right, &share.to_string()])?;
        }
        for node in solution.matching.unmatched_left() {
            writer.write_record([&input.left.id, &input.right.id, &node_name(&input.left.graph, node), "", ""])?;
        }
        for node in solution.matching.unmatched_right() {
            writer.write_record([&input.left.id, &input.right.id, "", &node_name(&input.right.graph, node), ""])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn value(answer: &Answer) -> serde_json::Value {
    let Answer { input, solution, rows } = answer;
    let pairs = solution.matching.pairs().zip(rows);
    let matches: Vec<_> = pairs
        .map(|((i, k), row)| json!({"left": row.left, "right": row.right, "left_index": i, "right_index": k, "score": row.share}))
        .collect();
    let name = |graph: &homolog::graph::Graph, node| node_name(graph, node);
    let left: Vec<_> = solution.matching.unmatched_left().map(|node| name(&input.left.graph, node)).collect();
    let right: Vec<_> = solution.matching.unmatched_right().map(|node| name(&input.right.graph, node)).collect();
    json!({
        "left": input.left.id,
        "right": input.right.id,
        "score": solution.score,
        // JSON has no infinity: null where nothing is proven.
        "bound": solution.bound.is_finite().then_some(solution.bound),
        "status": solution.status,
        "matches": matches,
        "unmatched_left": left,
        "unmatched_right": right,
    })
}

fn draw(path: &Path, answer: &Answer, model: &Model) -> Result<()> {
    let rows = [("", &answer.solution.matching)];
    let svg = figures::match_picture("", &answer.input, &model.features, &rows)?;
    match extension(path).as_str() {
        "svg" => files::write(path, svg.as_bytes()),
        "png" => files::write(path, &svg_to_png(&svg, 1.5)?),
        other => bail!("--picture {}: a picture ends in .svg or .png, not in {other:?}", path.display()),
    }
}

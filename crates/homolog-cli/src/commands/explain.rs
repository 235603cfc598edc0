//! `homolog explain`: why each node is matched as it is, the least certain first.

use super::{four_digits, four_digits_up, match_output::status, node_name};
use crate::Ending;
use crate::hints::advised;
use crate::pair_input::PairInput;
use crate::progress::{Watch, stop_is_wanted};
use crate::reading::Reading;
use anyhow::Result;
use homolog::graph::Pair;
use homolog::model::Reasons;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Explains each match, least certain first
#[derive(clap::Args)]
#[command(after_help = "\
The margin of a match is how much the total score falls if that pair is forbidden; the runner-up is its partner in that case.
The features listed contribute most to the margin (all features add up to it). In a shape context, r2 a5 is the number of points in
ring 2 from the inside (0 to 4) and in direction 5 of 12, counted clockwise from the left.

Examples:
  homolog explain model.json left.csv right.csv
  homolog explain wings.model.json specimen.csv
  homolog explain model.json --data faces.json anna bert --features 5
  homolog explain model.json left.csv right.csv -o reasons.json")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The left graph: a file with one graph, or an id in --data; with a model that names, the specimen
    left: String,
    /// The right graph, in the same form; omit it with a model that names
    right: Option<String>,
    /// Take the graphs from this data set or landmark table
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// How many features to list for each match
    #[arg(long, default_value_t = 3)]
    features: usize,
    /// Stop after this many seconds with the best match so far; margins not found by then are bounds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Print everything, every feature included, as JSON
    #[arg(long)]
    json: bool,
    /// Write the JSON to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let reading = Reading::within(limit);
    let model = super::read_model(&arguments.model)?;
    // From here on Ctrl-C asks for the best so far.
    let begin = || {
        drop(reading);
        let watch = Watch::new(limit);
        (watch.control(""), watch)
    };
    let (pair, [left, right], explanation, watch) = match (&arguments.right, model.atlas()) {
        (Some(right), None) => {
            let input = PairInput::load(arguments.data.as_ref(), &arguments.left, right)?;
            let input = input.seen_by(&model.image_descriptors())?;
            let pair = input.pair();
            let (control, watch) = begin();
            let explanation = model.explain(&pair, &control)?;
            (pair, [input.left.id, input.right.id], explanation, watch)
        }
        (None, Some(atlas)) => {
            let input =
                PairInput::load(arguments.data.as_ref(), &arguments.left, &arguments.left)?.seen_by(&atlas.images)?;
            let specimen = input.pair().right;
            let (control, watch) = begin();
            let explanation = model.explain_naming(&specimen, &control)?;
            let pair = Pair::new(Arc::new(atlas.graph(atlas.presence_in(&specimen))?), specimen);
            (pair, ["atlas".to_string(), input.right.id], explanation, watch)
        }
        (None, None) => return Err(advised("the model matches two graphs, found 1", "give the right graph too")),
        (Some(_), Some(_)) => {
            return Err(advised("the model names the points of one specimen, found 2", "give one specimen"));
        }
    };
    let ended_by = watch.ended_by();
    watch.end();
    let names: Vec<&str> = model.weight_names().collect();
    let margin = |reasons: &Reasons| reasons.alternative.as_ref().map_or(f64::INFINITY, |other| other.margin);
    let mut matches = explanation.matches.clone();
    matches.sort_by(|a, b| margin(a).total_cmp(&margin(b)));

    let mut text = String::new();
    let solution = &explanation.solution;
    let score = four_digits(solution.score);
    writeln!(text, "{left} → {right}: score {score}, {}", status(solution, explanation.tolerance, ended_by))?;
    if let Some(ended_by) = ended_by {
        writeln!(text, "stopped early by {ended_by}: margins not found by then are bounds")?;
    }
    for reasons in &matches {
        let (from, to) = (node_name(&pair.left, reasons.left), node_name(&pair.right, reasons.right));
        let Some(other) = &reasons.alternative else {
            writeln!(text, "\n{from} → {to}: without it fewer nodes could be matched")?;
            continue;
        };
        let margin = if other.proven { four_digits(other.margin) } else { four_digits_up(other.margin) + " (at most)" };
        let instead = other.right.map_or("unmatched".to_string(), |right| node_name(&pair.right, right));
        writeln!(text, "\n{from} → {to}: margin {margin}, runner-up {instead}")?;
        for (feature, part) in strongest(&other.contributions, arguments.features) {
            let sign = if part < 0.0 { "" } else { "+" };
            writeln!(text, "  {:>12}  {}", format!("{sign}{}", four_digits(part)), names[feature])?;
        }
        if !model.features.edge.is_empty() {
            let decided = strongest(&other.nodes, arguments.features);
            let decided = decided.iter().map(|&(node, part)| format!("{} {part:+.3}", node_name(&pair.left, node)));
            writeln!(text, "  decided by their positions: {}", decided.collect::<Vec<_>>().join(", "))?;
        }
    }
    let one = |reasons: &Reasons| {
        let other = reasons.alternative.as_ref();
        let features: Option<serde_json::Map<_, _>> = other.map(|other| {
            let parts = names.iter().zip(&other.contributions);
            parts.map(|(name, &part)| ((*name).to_string(), json!(part))).collect()
        });
        let nodes: Option<serde_json::Map<_, _>> = other.map(|other| {
            let parts = strongest(&other.nodes, other.nodes.len());
            parts.into_iter().map(|(node, part)| (node_name(&pair.left, node), json!(part))).collect()
        });
        json!({
            "left": node_name(&pair.left, reasons.left),
            "right": node_name(&pair.right, reasons.right),
            "score": reasons.share,
            "margin": other.map(|other| other.margin),
            "proven": other.map(|other| other.proven),
            "runner_up": other.and_then(|other| other.right).map(|right| node_name(&pair.right, right)),
            "features": features,
            "nodes": nodes,
        })
    };
    let reasons: Vec<_> = matches.iter().map(one).collect();
    let mut value =
        json!({"left": left, "right": right, "score": solution.score, "status": solution.status, "matches": reasons});
    if let Some(tolerance) = explanation.tolerance {
        value["tolerance"] = json!(tolerance);
    }
    super::give(&text, &value, arguments.json, arguments.output.as_deref())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// The largest contributions, whichever their sign; none that are zero.
fn strongest(contributions: &[f64], count: usize) -> Vec<(usize, f64)> {
    let mut parts: Vec<(usize, f64)> =
        contributions.iter().copied().enumerate().filter(|(_, part)| *part != 0.0).collect();
    parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    parts.truncate(count);
    parts
}

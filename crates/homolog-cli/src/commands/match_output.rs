//! Matches as a table, as CSV and as JSON.

use super::node_name;
use anyhow::Result;
use clap::ValueEnum;
use homolog::data::dataset::NamedGraph;
use homolog::graph::Graph;
use homolog::matching::{EdgesKept, Margin, Solution, Sparse, Status};
use homolog::model::Matched;
use serde_json::json;
use std::fmt::Write;

/// One match, ready to be written.
pub(super) struct Row {
    pub(super) left: String,
    pub(super) right: String,
    pub(super) share: f64,
    pub(super) margin: Option<Margin>,
    /// The share of searches that found it again.
    pub(super) found: Option<f64>,
}

/// How certain matches are, as far as it was computed.
#[derive(Default)]
pub(super) struct Certainty {
    pub(super) margins: Option<Vec<Margin>>,
    pub(super) found: Option<Vec<f64>>,
}

/// The columns that a table has beside names and scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) margins: bool,
    pub(super) found: bool,
}

/// How matches are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Csv,
    Json,
    // One pair of graphs per line.
    Jsonl,
}

/// The match of two graphs.
pub(super) struct Answer<'a> {
    pub(super) left: &'a NamedGraph,
    pub(super) right: &'a NamedGraph,
    pub(super) solution: Solution,
    pub(super) rows: Vec<Row>,
    pub(super) columns: Columns,
    /// Who ended the search early.
    pub(super) ended_by: Option<&'static str>,
    /// For networks: how many edges the match keeps.
    pub(super) edges: Option<EdgesKept>,
}

impl<'a> Answer<'a> {
    /// A row for each matched pair.
    pub(super) fn new(
        [left, right]: [&'a NamedGraph; 2],
        matched: &Matched<'_>,
        certainty: Certainty,
        ended_by: Option<&'static str>,
    ) -> Result<Self> {
        let Certainty { margins, found } = certainty;
        let columns = Columns { margins: margins.is_some(), found: found.is_some() };
        let shares = matched.shares()?;
        let (mut margins, mut found) = (margins.into_iter().flatten(), found.into_iter().flatten());
        let row = |(i, k): (usize, usize)| Row {
            left: node_name(&left.graph, i),
            right: node_name(&right.graph, k),
            share: shares[i],
            margin: margins.next(),
            found: found.next(),
        };
        let rows = matched.solution.matching.pairs().map(row).collect();
        let (solution, edges) = (matched.solution.clone(), matched.edges_kept());
        Ok(Self { left, right, solution, rows, columns, ended_by, edges })
    }

    /// The same for a list of pairs; the score of a match is that of its pair.
    pub(super) fn of_list(
        [left, right]: [&'a NamedGraph; 2],
        problem: &Sparse,
        solution: Solution,
        ended_by: Option<&'static str>,
    ) -> Self {
        let row = |(i, k): (usize, usize)| Row {
            left: node_name(&left.graph, i),
            right: node_name(&right.graph, k),
            share: problem.pair_score(i, k).unwrap_or(f64::NAN),
            margin: None,
            found: None,
        };
        let rows = solution.matching.pairs().map(row).collect();
        let columns = Columns { margins: false, found: false };
        Self { left, right, solution, rows, columns, ended_by, edges: None }
    }

    /// As a piece of text, which for CSV has these columns.
    pub(super) fn text(&self, format: Format, columns: Columns) -> Result<String> {
        match format {
            Format::Table => table(self),
            Format::Csv => csv(self, columns),
            Format::Json => Ok(serde_json::to_string_pretty(&value(self))?),
            Format::Jsonl => Ok(serde_json::to_string(&value(self))? + "\n"),
        }
    }
}

/// What the solver's status means; `ended_by` who ended the search early.
pub(super) fn status(solution: &Solution, ended_by: Option<&str>) -> String {
    let ending = match (solution.status, ended_by) {
        (Status::Optimal, _) => return "proven optimal".to_string(),
        (Status::Limit, Some(ended_by)) => format!("the best found before {ended_by} ended the search, not proven"),
        (Status::Limit, None) => "the best found within the solver's own limit, not proven".to_string(),
        _ => "not proven".to_string(),
    };
    if solution.bound.is_finite() {
        format!("{ending}; no match scores more than {:.6}", solution.bound)
    } else {
        ending
    }
}

/// Columns of names are no wider: longer names stand out of line.
pub(super) const WIDEST: usize = 200;

fn table(answer: &Answer<'_>) -> Result<String> {
    let Answer { left, right, solution, rows, .. } = answer;
    let mut text = String::new();
    writeln!(text, "{} → {}: score {:.6}, {}", left.id, right.id, solution.score, status(solution, answer.ended_by))?;
    if let Some(edges) = &answer.edges {
        let (kept, of) = (edges.kept, edges.left);
        let (correctness, substructure) = (edges.correctness(), edges.symmetric_substructure());
        writeln!(
            text,
            "  edges kept: {kept} of {of} (edge correctness {correctness:.3}), symmetric substructure score {substructure:.3}"
        )?;
    }
    let width = |name: fn(&Row) -> &String| {
        rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).clamp(5, WIDEST)
    };
    let (left_width, right_width) = (width(|row| &row.left), width(|row| &row.right));
    let Columns { margins, found } = answer.columns;
    if (margins || found) && !rows.is_empty() {
        let (margin, found) = (if margins { "        margin" } else { "" }, if found { "  found again" } else { "" });
        writeln!(text, "  {:left_width$}   {:right_width$}  {:>12}{margin}{found}", "", "", "score")?;
    }
    for Row { left, right, share, margin, found } in rows {
        let found = found.map(|found| format!("  {:>9.0} %", 100.0 * found)).unwrap_or_default();
        let margin = match margin {
            None => String::new(),
            Some(margin) if margin.margin == f64::INFINITY => format!("  {:>12}", "the only way"),
            Some(margin) => format!("  {:>12.6}{}", margin.margin, if margin.proven { "" } else { " (at most)" }),
        };
        writeln!(text, "  {left:left_width$} → {right:right_width$}  {share:>12.6}{margin}{found}")?;
    }
    let [left, right] = unmatched(answer).map(|names| names.join(", "));
    for (side, names) in [("left", left), ("right", right)] {
        if !names.is_empty() {
            writeln!(text, "  unmatched on the {side}: {names}")?;
        }
    }
    Ok(text)
}

/// The names of the nodes without a partner, left and right.
fn unmatched(answer: &Answer<'_>) -> [Vec<String>; 2] {
    let matching = &answer.solution.matching;
    let name = |graph: &Graph, nodes: Vec<usize>| nodes.into_iter().map(|node| node_name(graph, node)).collect();
    [
        name(&answer.left.graph, matching.unmatched_left().collect()),
        name(&answer.right.graph, matching.unmatched_right().collect()),
    ]
}

/// The first line of a table.
pub(super) fn csv_header(columns: Columns) -> &'static str {
    match (columns.margins, columns.found) {
        (true, true) => "left_graph,right_graph,left,right,score,margin,found_again\n",
        (true, false) => "left_graph,right_graph,left,right,score,margin\n",
        (false, true) => "left_graph,right_graph,left,right,score,found_again\n",
        (false, false) => "left_graph,right_graph,left,right,score\n",
    }
}

fn csv(answer: &Answer<'_>, columns: Columns) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (left_id, right_id) = (answer.left.id.as_str(), answer.right.id.as_str());
    let mut write = |left: &str, right: &str, share: &str, [margin, found]: [&str; 2]| {
        let fields = [left_id, right_id, left, right, share];
        let more = columns.margins.then_some(margin).into_iter().chain(columns.found.then_some(found));
        writer.write_record(fields.into_iter().chain(more))
    };
    for Row { left, right, share, margin, found } in &answer.rows {
        // Empty if there is no other way.
        let margin = margin.as_ref().map(|margin| margin.margin).filter(|margin| margin.is_finite());
        let [margin, found] = [margin, *found].map(|value| value.map(|value| value.to_string()).unwrap_or_default());
        write(left, right, &share.to_string(), [&margin, &found])?;
    }
    let [left, right] = unmatched(answer);
    left.iter().try_for_each(|name| write(name, "", "", ["", ""]))?;
    right.iter().try_for_each(|name| write("", name, "", ["", ""]))?;
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Everything about a match; also what the program prints as JSON.
fn value(answer: &Answer<'_>) -> serde_json::Value {
    let Answer { solution, rows, .. } = answer;
    let right_name = |node: Option<usize>| node.map(|node| node_name(&answer.right.graph, node));
    let one = |((i, k), row): ((usize, usize), &Row)| {
        let mut value =
            json!({"left": row.left, "right": row.right, "left_index": i, "right_index": k, "score": row.share});
        if let Some(margin) = &row.margin {
            // JSON has no infinity: null if there is no other way.
            value["margin"] = json!(margin.margin.is_finite().then_some(margin.margin));
            value["margin_proven"] = json!(margin.proven);
            value["runner_up"] = json!(right_name(margin.runner_up));
        }
        if let Some(found) = row.found {
            value["found_again"] = json!(found);
        }
        value
    };
    let matches: Vec<_> = solution.matching.pairs().zip(rows).map(one).collect();
    let [left, right] = unmatched(answer);
    let mut value = json!({
        "left": answer.left.id,
        "right": answer.right.id,
        "score": solution.score,
        // JSON has no infinity: null if nothing is proven.
        "bound": solution.bound.is_finite().then_some(solution.bound),
        "status": solution.status,
        "matches": matches,
        "unmatched_left": left,
        "unmatched_right": right,
    });
    if let Some(edges) = &answer.edges {
        value["edges"] = json!({
            "left": edges.left,
            "right": edges.right,
            "kept": edges.kept,
            "correctness": edges.correctness(),
            "symmetric_substructure": edges.symmetric_substructure(),
        });
    }
    value
}

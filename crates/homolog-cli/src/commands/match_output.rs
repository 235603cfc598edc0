//! Matches as a table, as CSV and as JSON.

use super::node_name;
use crate::pair_input::PairInput;
use anyhow::Result;
use homolog::graph::Graph;
use homolog::matching::{Margin, Solution, Status};
use serde_json::json;
use std::fmt::Write;

/// One match, ready to be written.
pub(super) struct Row {
    pub(super) left: String,
    pub(super) right: String,
    pub(super) share: f64,
    pub(super) margin: Option<Margin>,
}

/// The match of two graphs.
pub(super) struct Answer {
    pub(super) input: PairInput,
    pub(super) solution: Solution,
    pub(super) rows: Vec<Row>,
    /// Whether there are margins.
    pub(super) margins: bool,
    /// Who ended the search early.
    pub(super) ended_by: Option<&'static str>,
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

pub(super) fn table(answer: &Answer) -> Result<String> {
    let Answer { input, solution, rows, .. } = answer;
    let mut text = String::new();
    writeln!(
        text,
        "{} → {}: score {:.6}, {}",
        input.left.id,
        input.right.id,
        solution.score,
        status(solution, answer.ended_by)
    )?;
    let width = |name: fn(&Row) -> &String| {
        rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).clamp(5, WIDEST)
    };
    let (left_width, right_width) = (width(|row| &row.left), width(|row| &row.right));
    if answer.margins && !rows.is_empty() {
        writeln!(text, "  {:left_width$}   {:right_width$}  {:>12}  {:>12}", "", "", "score", "margin")?;
    }
    for Row { left, right, share, margin } in rows {
        let margin = match margin {
            None => String::new(),
            Some(margin) if margin.margin == f64::INFINITY => format!("  {:>12}", "the only way"),
            Some(margin) => format!("  {:>12.6}{}", margin.margin, if margin.proven { "" } else { " (not proven)" }),
        };
        writeln!(text, "  {left:left_width$} → {right:right_width$}  {share:>12.6}{margin}")?;
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
fn unmatched(answer: &Answer) -> [Vec<String>; 2] {
    let (input, matching) = (&answer.input, &answer.solution.matching);
    let name = |graph: &Graph, nodes: Vec<usize>| nodes.into_iter().map(|node| node_name(graph, node)).collect();
    [
        name(&input.left.graph, matching.unmatched_left().collect()),
        name(&input.right.graph, matching.unmatched_right().collect()),
    ]
}

pub(super) fn csv(answers: &[Answer]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let with_margins = answers.iter().any(|answer| answer.margins);
    let mut write = |fields: [&str; 5], margin: &str| {
        let fields = fields.into_iter().chain(with_margins.then_some(margin));
        writer.write_record(fields)
    };
    write(["left_graph", "right_graph", "left", "right", "score"], "margin")?;
    for answer in answers {
        let (left_id, right_id) = (answer.input.left.id.as_str(), answer.input.right.id.as_str());
        for Row { left, right, share, margin } in &answer.rows {
            // Empty where there is no other way.
            let margin = margin.filter(|margin| margin.margin.is_finite()).map(|margin| margin.margin.to_string());
            write([left_id, right_id, left, right, &share.to_string()], &margin.unwrap_or_default())?;
        }
        let [left, right] = unmatched(answer);
        for name in &left {
            write([left_id, right_id, name, "", ""], "")?;
        }
        for name in &right {
            write([left_id, right_id, "", name, ""], "")?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

pub(super) fn value(answer: &Answer) -> serde_json::Value {
    let Answer { input, solution, rows, .. } = answer;
    let right_name = |node: Option<usize>| node.map(|node| node_name(&input.right.graph, node));
    let one = |((i, k), row): ((usize, usize), &Row)| {
        let mut value =
            json!({"left": row.left, "right": row.right, "left_index": i, "right_index": k, "score": row.share});
        if let Some(margin) = row.margin {
            // JSON has no infinity: null where there is no other way.
            value["margin"] = json!(margin.margin.is_finite().then_some(margin.margin));
            value["margin_proven"] = json!(margin.proven);
            value["runner_up"] = json!(right_name(margin.runner_up));
        }
        value
    };
    let matches: Vec<_> = solution.matching.pairs().zip(rows).map(one).collect();
    let [left, right] = unmatched(answer);
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

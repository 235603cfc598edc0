//! Matches as a table, as CSV and as JSON.

use super::{four_digits, four_digits_up};
use crate::progress::stop_is_wanted;
use crate::stream::{Format, push_field};
use anyhow::Result;
use homolog::data::dataset::NamedGraph;
use homolog::graph::Graph;
use homolog::matching::{EdgesKept, Margin, Solution, Sparse, Status, proof_in_words};
use homolog::model::Matched;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;

/// One match, ready to be written.
pub(super) struct Row<'a> {
    pub(super) left: Cow<'a, str>,
    pub(super) right: Cow<'a, str>,
    pub(super) share: f64,
    pub(super) margin: Option<Margin>,
    /// The share of searches that found it again.
    pub(super) found: Option<f64>,
    /// The right nodes that include the true partner as often as asked for.
    pub(super) candidates: Option<Vec<Cow<'a, str>>>,
}

/// How certain matches are, as far as it was computed.
#[derive(Default)]
pub(super) struct Certainty {
    pub(super) margins: Option<Vec<Margin>>,
    pub(super) found: Option<Vec<f64>>,
    pub(super) candidates: Option<Vec<Vec<usize>>>,
}

/// The columns that a table has beside names and scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) margins: bool,
    pub(super) found: bool,
    pub(super) candidates: bool,
}

/// The match of two graphs.
pub(super) struct Answer<'a> {
    pub(super) left: &'a NamedGraph,
    pub(super) right: &'a NamedGraph,
    pub(super) solution: Solution,
    /// What its proof is true up to, if that is not negligible; not computed for CSV, which has no place for it.
    pub(super) tolerance: Option<f64>,
    pub(super) rows: Vec<Row<'a>>,
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
        (format, ended_by): (Format, Option<&'static str>),
    ) -> Result<Self> {
        let Certainty { margins, found, candidates } = certainty;
        let columns = Columns { margins: margins.is_some(), found: found.is_some(), candidates: candidates.is_some() };
        let shares = matched.shares()?;
        let (mut margins, mut found) = (margins.into_iter().flatten(), found.into_iter().flatten());
        let mut candidates = candidates.into_iter().flatten();
        let names = |nodes: Vec<usize>| nodes.into_iter().map(|node| name(&right.graph, node)).collect();
        let row = |(i, k): (usize, usize)| Row {
            left: name(&left.graph, i),
            right: name(&right.graph, k),
            share: shares[i],
            margin: margins.next(),
            found: found.next(),
            candidates: candidates.next().map(names),
        };
        let rows = matched.solution.matching.pairs().map(row).collect();
        let (solution, edges) = (matched.solution.clone(), matched.edges_kept());
        let tolerance = if format == Format::Csv { None } else { matched.tolerance() };
        Ok(Self { left, right, solution, tolerance, rows, columns, ended_by, edges })
    }

    /// The same for a list of pairs; the score of a match is that of its pair.
    pub(super) fn of_list(
        [left, right]: [&'a NamedGraph; 2],
        problem: &Sparse,
        solution: Solution,
        ended_by: Option<&'static str>,
    ) -> Self {
        let row = |(i, k): (usize, usize)| Row {
            left: name(&left.graph, i),
            right: name(&right.graph, k),
            share: problem.pair_score(i, k).unwrap_or(f64::NAN),
            margin: None,
            found: None,
            candidates: None,
        };
        let rows = solution.matching.pairs().map(row).collect();
        let columns = Columns { margins: false, found: false, candidates: false };
        Self { left, right, solution, tolerance: None, rows, columns, ended_by, edges: None }
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

/// What to call a node, borrowed if it has a name: there may be a million matches.
fn name(graph: &Graph, node: usize) -> Cow<'_, str> {
    let own = graph.names().and_then(|names| names.get(node)).filter(|name| !name.is_empty());
    own.map_or_else(|| Cow::Owned(graph.name_or_number(node)), |name| Cow::Borrowed(name.as_str()))
}

/// What the solver's status means, given what a proof is true up to; `ended_by` who ended the search early.
pub(super) fn status(solution: &Solution, tolerance: Option<f64>, ended_by: Option<&str>) -> String {
    let ending = match (solution.status, ended_by) {
        (Status::Optimal, _) => return proof_in_words(tolerance),
        (Status::Limit, Some(ended_by)) => format!("the best found before {ended_by} ended the search, not proven"),
        (Status::Limit, None) => "the best found within the solver's own limit, not proven".to_string(),
        _ => "not proven".to_string(),
    };
    if solution.bound.is_finite() {
        format!("{ending}; no match scores more than {}", four_digits_up(solution.bound))
    } else {
        ending
    }
}

/// Columns of names are no wider: longer names stand out of line.
pub(super) const WIDEST: usize = 200;

fn table(answer: &Answer<'_>) -> Result<String> {
    let Answer { left, right, solution, rows, .. } = answer;
    let mut text = String::new();
    let (score, status) = (four_digits(solution.score), status(solution, answer.tolerance, answer.ended_by));
    writeln!(text, "{} → {}: score {score}, {status}", left.id, right.id)?;
    if let Some(edges) = &answer.edges {
        let (kept, of) = (edges.kept, edges.left);
        let (correctness, substructure) = (edges.correctness(), edges.symmetric_substructure());
        writeln!(
            text,
            "  edges kept: {kept} of {of} (edge correctness {correctness:.3}), symmetric substructure score {substructure:.3}"
        )?;
    }
    let width = |name: for<'r> fn(&'r Row<'_>) -> &'r str| {
        rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).clamp(5, WIDEST)
    };
    let (left_width, right_width) = (width(|row| &*row.left), width(|row| &*row.right));
    let Columns { margins, found, .. } = answer.columns;
    if (margins || found) && !rows.is_empty() {
        let (margin, found) = (if margins { "        margin" } else { "" }, if found { "  found again" } else { "" });
        writeln!(text, "  {:left_width$}   {:right_width$}  {:>12}{margin}{found}", "", "", "score")?;
    }
    // Of a proven match, a margin that is not proven was cut short.
    let is_cut = solution.status == Status::Optimal || answer.ended_by.is_some() || stop_is_wanted();
    for Row { left, right, share, margin, found, candidates } in rows {
        let others = candidates.iter().flat_map(|names| names.iter().skip(1)).map(|name| format!(" or {name}"));
        let others: String = others.collect();
        let found = found.map(|found| format!("  {:>9.0} %", 100.0 * found)).unwrap_or_default();
        let margin = match margin {
            None => String::new(),
            Some(margin) if margin.margin == f64::INFINITY && !margin.proven && is_cut => {
                format!("  {:>12}", "not known")
            }
            Some(margin) if margin.margin == f64::INFINITY => format!("  {:>12}", "the only way"),
            Some(margin) if margin.proven => format!("  {:>12}", four_digits(margin.margin)),
            Some(margin) => format!("  {:>12} (at most)", four_digits_up(margin.margin)),
        };
        writeln!(
            text,
            "  {left:left_width$} → {right:right_width$}  {:>12}{margin}{found}{others}",
            four_digits(*share)
        )?;
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
fn unmatched<'a>(answer: &Answer<'a>) -> [Vec<Cow<'a, str>>; 2] {
    let (matching, left, right) = (&answer.solution.matching, &answer.left.graph, &answer.right.graph);
    [
        matching.unmatched_left().map(|node| name(left, node)).collect(),
        matching.unmatched_right().map(|node| name(right, node)).collect(),
    ]
}

/// The first line of a table.
pub(super) fn csv_header(columns: Columns) -> String {
    let more = |is_there: bool, name: &'static str| if is_there { name } else { "" };
    [
        "left_graph,right_graph,left,right,score",
        more(columns.margins, ",margin"),
        more(columns.found, ",found_again"),
        more(columns.candidates, ",candidates"),
        "\n",
    ]
    .concat()
}

fn csv(answer: &Answer<'_>, columns: Columns) -> Result<String> {
    // What every row begins with.
    let mut graphs = String::new();
    for id in [&answer.left.id, &answer.right.id] {
        push_field(&mut graphs, id);
        graphs.push(',');
    }
    let mut text = String::with_capacity(answer.rows.len() * (graphs.len() + 64));
    let begin = |text: &mut String, left: &str, right: &str| {
        text.push_str(&graphs);
        push_field(text, left);
        text.push(',');
        push_field(text, right);
        text.push(',');
    };
    for Row { left, right, share, margin, found, candidates } in &answer.rows {
        begin(&mut text, left, right);
        write!(text, "{share}")?;
        if columns.margins {
            text.push(',');
            // Empty if there is no other way.
            if let Some(margin) = margin.as_ref().filter(|margin| margin.margin.is_finite()) {
                write!(text, "{}", margin.margin)?;
            }
        }
        if columns.found {
            text.push(',');
            found.map_or(Ok(()), |found| write!(text, "{found}"))?;
        }
        if columns.candidates {
            text.push(',');
            push_field(&mut text, &candidates.as_deref().unwrap_or_default().join(";"));
        }
        text.push('\n');
    }
    let [left, right] = unmatched(answer);
    let (left, right) = (left.iter().map(|name| (&**name, "")), right.iter().map(|name| ("", &**name)));
    for (left, right) in left.chain(right) {
        begin(&mut text, left, right);
        let more = [columns.margins, columns.found, columns.candidates].into_iter().filter(|&is_there| is_there);
        text.push_str(&",".repeat(more.count()));
        text.push('\n');
    }
    Ok(text)
}

/// Everything about a match; also what the program prints as JSON. Fields are in alphabetical order.
#[derive(Serialize)]
struct AnswerValue<'a> {
    /// JSON has no infinity: null if nothing is proven.
    bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<EdgesValue>,
    left: &'a str,
    matches: Vec<MatchValue<'a>>,
    right: &'a str,
    score: f64,
    status: Status,
    /// What a proof is true up to, if that is not negligible.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    unmatched_left: Vec<Cow<'a, str>>,
    unmatched_right: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct EdgesValue {
    correctness: f64,
    kept: usize,
    left: usize,
    right: usize,
    symmetric_substructure: f64,
}

#[derive(Serialize)]
#[expect(clippy::option_option, reason = "left out without margins, null if there is no other way")]
struct MatchValue<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<&'a [Cow<'a, str>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_again: Option<f64>,
    left: &'a str,
    left_index: usize,
    /// JSON has no infinity: null if there is no other way.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    margin_proven: Option<bool>,
    right: &'a str,
    right_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    runner_up: Option<Option<Cow<'a, str>>>,
    score: f64,
}

fn value<'a>(answer: &'a Answer<'_>) -> AnswerValue<'a> {
    let Answer { solution, rows, .. } = answer;
    let one = |((left_index, right_index), row): ((usize, usize), &'a Row<'_>)| {
        let margin = row.margin.as_ref();
        MatchValue {
            candidates: row.candidates.as_deref(),
            found_again: row.found,
            left: &row.left,
            left_index,
            margin: margin.map(|margin| Some(margin.margin).filter(|margin| margin.is_finite())),
            margin_proven: margin.map(|margin| margin.proven),
            right: &row.right,
            right_index,
            runner_up: margin.map(|margin| margin.runner_up.map(|node| name(&answer.right.graph, node))),
            score: row.share,
        }
    };
    let [unmatched_left, unmatched_right] = unmatched(answer);
    AnswerValue {
        bound: Some(solution.bound).filter(|bound| bound.is_finite()),
        edges: answer.edges.as_ref().map(|edges| EdgesValue {
            correctness: edges.correctness(),
            kept: edges.kept,
            left: edges.left,
            right: edges.right,
            symmetric_substructure: edges.symmetric_substructure(),
        }),
        left: &answer.left.id,
        matches: solution.matching.pairs().zip(rows).map(one).collect(),
        right: &answer.right.id,
        score: solution.score,
        status: solution.status,
        tolerance: answer.tolerance,
        unmatched_left,
        unmatched_right,
    }
}

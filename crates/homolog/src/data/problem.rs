//! One whole matching problem as JSON: node and edge scores, prices of both sides, forced and forbidden pairs.
//!
//! ```json
//! {
//!   "format": {"kind": "homolog-problem", "version": 1},
//!   "sense": "maximize",
//!   "node": [[1.5, null], [0, 2]],
//!   "unmatched": [0.5, null],
//!   "right_unmatched": [0, 0.25],
//!   "constraint": "one-to-one",
//!   "edges": [[0, 1, 1, 0, 3]],
//!   "edge_factors": {"left": [[0, 1, 2.5]], "right": [[1, 0, -1]]},
//!   "seeds": [[0, 0]],
//!   "forbidden": [[1, 0]]
//! }
//! ```
//!
//! Only `format` and `node` are required. A `null` in `node` forbids the pair; in `unmatched` it says that the left node must be matched if it
//! can be. An entry of `edges` is [i, j, k, l, score]: what left edge (i, j) on right edge (k, l) adds; entries for the same edges add up. In
//! `edge_factors` each entry is an edge and its factors, and d(e, f) = Σ_t a_t(e) b_t(f). With `"sense": "minimize"` all of these are costs.

use crate::matching::{Compatibility, Constraint, EdgeList, EdgeTerm, MAX_CELLS, Restrictions, Sense};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

const FORMAT: &str = "problem file";
const KIND: &str = "homolog-problem";
/// The version written, and the newest that is read.
const VERSION: u32 = 1;
/// A longer text, in bytes, is refused unread.
const MAX_FILE_SIZE: usize = 256 << 20;

/// A problem as in a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProblemFile {
    /// The scores, to be maximised whatever the file's sense.
    pub problem: Compatibility,
    /// Pairs that every matching has, and pairs that none has; not yet part of the problem.
    pub restrictions: Restrictions,
    /// Whether the file has costs or scores.
    pub sense: Sense,
}

impl ProblemFile {
    /// A problem to write.
    #[must_use]
    pub fn new(problem: Compatibility, restrictions: Restrictions, sense: Sense) -> Self {
        Self { problem, restrictions, sense }
    }

    /// The problem with its restrictions applied, as solvers take it.
    ///
    /// # Errors
    /// Restrictions that cannot hold.
    pub fn restricted(&self) -> Result<Compatibility> {
        let mut problem = self.problem.clone();
        self.restrictions.apply(&mut problem)?;
        Ok(problem)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    kind: String,
    version: u32,
}

/// Four whole numbers and a score: (i, j, k, l, score).
type Entry = (usize, usize, usize, usize, f64);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: Head,
    #[serde(default = "maximize")]
    sense: Sense,
    node: Vec<Vec<Option<f64>>>,
    /// The number of right nodes, if there is no row to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    right_count: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unmatched: Option<Vec<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    right_unmatched: Option<Vec<f64>>,
    #[serde(default)]
    constraint: Constraint,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edge_factors: Option<Factors>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seeds: Vec<[usize; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<[usize; 2]>,
}

/// Edges with their factors: [from, to, a_1, a_2, ...].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Factors {
    left: Vec<FactorRow>,
    right: Vec<FactorRow>,
}

/// An edge and its factors in one list of numbers.
#[derive(Serialize, Deserialize)]
struct FactorRow(Vec<f64>);

fn maximize() -> Sense {
    Sense::Maximize
}

fn refuse<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Unreadable { format: FORMAT, reason: reason.into() })
}

/// Reads a problem.
///
/// # Errors
/// [`Error::Unreadable`] with the place and the reason; what [`Compatibility::check`] and [`Restrictions::check`] refuse.
///
/// ```
/// let text = r#"{"format": {"kind": "homolog-problem", "version": 1}, "node": [[1, null]], "unmatched": [0.5]}"#;
/// let file = homolog::data::problem::read(text)?;
/// assert_eq!(file.problem.node, ndarray::array![[1.0, f64::NEG_INFINITY]]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read(text: &str) -> Result<ProblemFile> {
    if text.len() > MAX_FILE_SIZE {
        return refuse(format!("{} bytes are too many: at most {MAX_FILE_SIZE}", text.len()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let parsed: std::result::Result<Text, _> = serde_path_to_error::deserialize(&mut reader);
    let parsed = parsed.or_else(|error| refuse(format!("{}: {}", error.path(), error.inner())))?;
    reader.end().or_else(|error| refuse(error.to_string()))?;
    if parsed.format.kind != KIND {
        return refuse(format!("this is a {:?}, not a {KIND:?}", super::shorten(&parsed.format.kind)));
    }
    if parsed.format.version > VERSION {
        return refuse(format!("version {} is newer than {VERSION}", parsed.format.version));
    }
    let problem = build(&parsed)?;
    problem.check()?;
    let restrictions = Restrictions { seeds: parsed.seeds, forbidden: parsed.forbidden };
    restrictions.check(problem.left_count(), problem.right_count(), problem.constraint)?;
    Ok(ProblemFile { problem, restrictions, sense: parsed.sense })
}

fn build(text: &Text) -> Result<Compatibility> {
    let n = text.node.len();
    let m = text.node.first().map_or(text.right_count.unwrap_or(0), Vec::len);
    if n.saturating_mul(m).max(m) > MAX_CELLS {
        return refuse(format!("{n} by {m} nodes are too many: at most {MAX_CELLS} pairs"));
    }
    if text.right_count.is_some_and(|count| count != m) {
        return refuse(format!("right_count is not {m}, the length of the first row of node"));
    }
    let mut node = Array2::zeros((n, m));
    for (i, (row, values)) in node.rows_mut().into_iter().zip(&text.node).enumerate() {
        if values.len() != m {
            return refuse(format!("node[{i}] has {} numbers, the first row has {m}", values.len()));
        }
        let mut row = row;
        row.iter_mut().zip(values).for_each(|(score, &value)| *score = turned(text.sense, value));
    }
    let mut problem = Compatibility::linear(node).with_constraint(text.constraint);
    let prices =
        |values: &Vec<Option<f64>>| values.iter().map(|&value| turned(text.sense, value)).collect::<Array1<f64>>();
    problem.unmatched = text.unmatched.as_ref().map(prices);
    let sign = sign(text.sense);
    problem.right_unmatched =
        text.right_unmatched.as_ref().map(|values| values.iter().map(|value| sign * value).collect());
    if !text.edges.is_empty() || text.edge_factors.is_some() {
        problem.edge = Some(edge_term(text, n, m, sign)?);
    }
    Ok(problem)
}

fn sign(sense: Sense) -> f64 {
    if sense == Sense::Minimize { -1.0 } else { 1.0 }
}

/// A number of the file as a score.
fn turned(sense: Sense, value: Option<f64>) -> f64 {
    // 0 - 0 is 0, where -0 would be minus zero.
    value.map_or(f64::NEG_INFINITY, |value| if sense == Sense::Minimize { 0.0 - value } else { value })
}

fn edge_term(text: &Text, n: usize, m: usize, sign: f64) -> Result<EdgeTerm> {
    let nothing = Factors { left: Vec::new(), right: Vec::new() };
    let factors = text.edge_factors.as_ref().unwrap_or(&nothing);
    let (left_rows, right_rows) = (split(&factors.left, "left")?, split(&factors.right, "right")?);
    for (side, rows) in [("left", &left_rows), ("right", &right_rows)] {
        let mut seen = HashSet::new();
        if let Some(([from, to], _)) = rows.iter().find(|(ends, _)| !seen.insert(*ends)) {
            return refuse(format!("edge_factors.{side}: edge [{from}, {to}] occurs twice"));
        }
    }
    let ends = |rows: &[([usize; 2], &[f64])]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    let mut left_ends = ends(&left_rows);
    let mut right_ends = ends(&right_rows);
    left_ends.extend(text.edges.iter().map(|&(i, j, ..)| [i, j]));
    right_ends.extend(text.edges.iter().map(|&(_, _, k, l, _)| [k, l]));
    let (left, right) = (Arc::new(EdgeList::new(n, left_ends)?), Arc::new(EdgeList::new(m, right_ends)?));
    let count = left_rows.iter().chain(&right_rows).map(|row| row.1.len()).max().unwrap_or(0);
    let table = |edges: &EdgeList, rows: &[([usize; 2], &[f64])], sign: f64| {
        let mut table = Array2::zeros((edges.len(), count));
        for ([from, to], values) in rows {
            if values.len() != count {
                return refuse(format!(
                    "edge_factors: edge [{from}, {to}] has {} factors, others {count}",
                    values.len()
                ));
            }
            if let Some(e) = edges.find(*from, *to) {
                table.row_mut(e).iter_mut().zip(*values).for_each(|(to, value)| *to = sign * value);
            }
        }
        Ok(table)
    };
    let (a, b) = (table(&left, &left_rows, sign)?, table(&right, &right_rows, 1.0)?);
    let find = |edges: &EdgeList, from: usize, to: usize| edges.find(from, to).unwrap_or(usize::MAX);
    let entry = |&(i, j, k, l, score): &Entry| (find(&left, i, j), find(&right, k, l), sign * score);
    let entries = text.edges.iter().map(entry).collect();
    EdgeTerm::factored(Arc::clone(&left), Arc::clone(&right), a, b)?.with_listed(entries)
}

/// Each row as an edge and its factors.
fn split<'a>(rows: &'a [FactorRow], side: &str) -> Result<Vec<([usize; 2], &'a [f64])>> {
    let edge = |(at, row): (usize, &'a FactorRow)| {
        let node = |value: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2^53")]
            let index = value as usize;
            (value >= 0.0 && value.fract() == 0.0 && value < 2.0_f64.powi(53)).then_some(index)
        };
        match &row.0[..] {
            [from, to, values @ ..] if node(*from).is_some() && node(*to).is_some() => {
                Ok(([node(*from).unwrap_or(0), node(*to).unwrap_or(0)], values))
            }
            _ => refuse(format!("edge_factors.{side}[{at}] does not begin with two nodes")),
        }
    };
    rows.iter().enumerate().map(edge).collect()
}

/// Writes a problem; reading it back gives the same scores, bit for bit.
///
/// # Errors
/// What [`Compatibility::check`] and [`Restrictions::check`] refuse.
pub fn write(file: &ProblemFile) -> Result<String> {
    let ProblemFile { problem, restrictions, sense } = file;
    problem.check()?;
    restrictions.check(problem.left_count(), problem.right_count(), problem.constraint)?;
    let sign = sign(*sense);
    let value = |&score: &f64| score.is_finite().then(|| turned(*sense, Some(score)));
    let text = Text {
        format: Head { kind: KIND.to_string(), version: VERSION },
        sense: *sense,
        node: problem.node.rows().into_iter().map(|row| row.iter().map(value).collect()).collect(),
        right_count: (problem.left_count() == 0).then_some(problem.right_count()),
        unmatched: problem.unmatched.as_ref().map(|scores| scores.iter().map(value).collect()),
        right_unmatched: problem
            .right_unmatched
            .as_ref()
            .map(|scores| scores.iter().map(|score| sign * score).collect()),
        constraint: problem.constraint,
        edges: problem.edge.as_ref().map_or_else(Vec::new, |edge| listed(edge, sign)),
        edge_factors: problem.edge.as_ref().filter(|edge| has_factors(edge)).map(|edge| factors(edge, sign)),
        seeds: restrictions.seeds.clone(),
        forbidden: restrictions.forbidden.clone(),
    };
    let text = serde_json::to_string(&text);
    text.map(|text| text + "\n").or_else(|error| refuse(error.to_string()))
}

/// Whether there are edges with factors on either side.
fn has_factors(edge: &EdgeTerm) -> bool {
    edge.left_factors().len() + edge.right_factors().len() > 0
}

fn listed(edge: &EdgeTerm, sign: f64) -> Vec<Entry> {
    let of = |(e, &[i, j]): (usize, &[usize; 2])| {
        edge.listed_of(e).iter().map(move |&(f, score)| {
            let [k, l] = edge.right_edges().ends()[f];
            (i, j, k, l, sign * score)
        })
    };
    edge.left_edges().ends().iter().enumerate().flat_map(of).collect()
}

fn factors(edge: &EdgeTerm, sign: f64) -> Factors {
    let rows = |edges: &EdgeList, table: ndarray::ArrayView2<'_, f64>, sign: f64| {
        let row = |(&[from, to], values): (&[usize; 2], ndarray::ArrayView1<'_, f64>)| {
            FactorRow([from as f64, to as f64].into_iter().chain(values.iter().map(|value| sign * value)).collect())
        };
        edges.ends().iter().zip(table.rows()).map(row).collect()
    };
    Factors {
        left: rows(edge.left_edges(), edge.left_factors(), sign),
        right: rows(edge.right_edges(), edge.right_factors(), 1.0),
    }
}

//! Edge lists: one edge per row, `source,target`, with further columns as edge attributes; optionally with a table of nodes.
//!
//! ```text
//! source,target,weight        node,x,y,degree of care
//! a,b,0.5                     a,0,1,3
//! b,c,2                       b,2,2,1
//! ```
//!
//! A list without a header has two columns, or three of which the third is the weight; its fields may be separated by blanks. Nodes are
//! those of the node table, in its order, or else those of the edges, in the order of their first appearance. Lines that begin with #
//! or % are comments.

use super::dataset::{MAX_EDGES, MAX_NODES, NamedGraph};
use super::landmarks::LandmarkTable;
use super::notes::with_texts;
use super::table::{self, Row, is_missing};
use super::{Note, malformed, number, shorten};
use crate::graph::{Attributes, Direction, Graph};
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: &str = "edge list";
const SOURCE: [&str; 3] = ["source", "from", "node1"];
const TARGET: [&str; 3] = ["target", "to", "node2"];

/// The positions of the columns: source, target, and the attributes with their names.
struct Columns {
    ends: [usize; 2],
    attributes: Vec<(usize, String)>,
}

/// Whether the first row of a table names source and target.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    let first = table::rows(FORMAT, &without_comments(text)).ok().and_then(|mut rows| rows.next()).and_then(Result::ok);
    first.is_some_and(|row| header(&row).is_some())
}

/// Reads a network with this id whose nodes are these, if they are known.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason: a weight that is not a number, an edge from a node to itself, an end that is
/// not among the nodes.
pub(super) fn read(text: &str, nodes: Option<Graph>, id: &str, direction: Direction) -> Result<NamedGraph> {
    let known = nodes.as_ref().map(|graph| graph.names().unwrap_or_default().to_vec());
    let mut names: Vec<String> = known.clone().unwrap_or_default();
    let mut position: BTreeMap<String, usize> = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
    let text = without_comments(text);
    let mut columns: Option<Columns> = None;
    let (mut edges, mut rows): (Vec<[usize; 2]>, Vec<f64>) = (Vec::new(), Vec::new());
    for row in rows_of(&text)? {
        let row = row?;
        if columns.is_none() {
            let named = header(&row);
            let is_header = named.is_some();
            columns = Some(named.map_or_else(|| without_header(&row), Ok)?);
            if is_header {
                continue;
            }
        }
        let Some(columns) = &columns else { continue };
        let end = ends(&row, columns, known.is_some(), &mut names, &mut position)?;
        if edges.len() == MAX_EDGES {
            return malformed(FORMAT, row.line, format!("there are more than {MAX_EDGES} edges"));
        }
        edges.push(end);
        for (at, _) in &columns.attributes {
            rows.push(number(FORMAT, row.line, &row.fields[*at])?);
        }
    }
    let told = |error: Error| Error::Malformed { format: FORMAT, line: 1, reason: error.to_string() };
    let graph = match nodes {
        Some(graph) => graph,
        None => Graph::new(names.len()).with_names(names).map_err(told)?,
    };
    let attributes = columns.map_or(Vec::new(), |columns| columns.attributes);
    let graph = if attributes.is_empty() {
        graph.with_edges(edges, direction)
    } else {
        let width = attributes.len();
        let values = Array2::from_shape_fn((edges.len(), width), |(row, column)| rows[row * width + column]);
        let names = attributes.into_iter().map(|(_, name)| name).collect();
        Attributes::new(names, values).and_then(|attributes| graph.with_attributed_edges(edges, &attributes, direction))
    };
    Ok(NamedGraph { id: id.to_string(), graph: Arc::new(graph.map_err(told)?), image: None })
}

/// The ends of an edge; they become nodes if no table says which nodes there are.
fn ends(
    row: &Row,
    columns: &Columns,
    nodes_are_known: bool,
    names: &mut Vec<String>,
    position: &mut BTreeMap<String, usize>,
) -> Result<[usize; 2]> {
    let mut ends = [0; 2];
    for (end, &at) in ends.iter_mut().zip(&columns.ends) {
        let name = &row.fields[at];
        *end = match position.get(name) {
            Some(&node) => node,
            None if name.is_empty() => return malformed(FORMAT, row.line, "an end of the edge has no name"),
            None if nodes_are_known => {
                return malformed(FORMAT, row.line, format!("the node table has no node {:?}", shorten(name)));
            }
            None if names.len() == MAX_NODES => {
                return malformed(FORMAT, row.line, format!("there are more than {MAX_NODES} nodes"));
            }
            None => {
                position.insert(name.to_string(), names.len());
                names.push(name.to_string());
                names.len() - 1
            }
        };
    }
    if ends[0] == ends[1] {
        return malformed(FORMAT, row.line, Error::SelfLoop { node: ends[0] }.to_string());
    }
    Ok(ends)
}

/// Comment lines are emptied, so the others keep their numbers.
fn without_comments(text: &str) -> String {
    let line = |line: &str| if line.trim_start().starts_with(['#', '%']) { String::new() } else { line.to_string() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Rows separated by commas, semicolons or tabs, or else by blanks.
fn rows_of(text: &str) -> Result<Vec<Result<Row>>> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.contains([',', ';', '\t']) {
        return Ok(table::rows(FORMAT, text)?.collect());
    }
    let row = |(index, line): (usize, &str)| {
        let fields: csv::StringRecord = line.split_whitespace().collect();
        (!fields.is_empty()).then(|| Row { line: index + 1, fields })
    };
    let rows: Vec<Row> = text.lines().enumerate().filter_map(row).collect();
    let count = rows.first().map_or(0, |row| row.fields.len());
    if let Some(uneven) = rows.iter().find(|row| row.fields.len() != count) {
        let found = uneven.fields.len();
        return malformed(FORMAT, uneven.line, format!("this row has {found} fields, the first has {count}"));
    }
    Ok(rows.into_iter().map(Ok).collect())
}

fn header(row: &Row) -> Option<Columns> {
    let find =
        |words: &[&str]| row.fields.iter().position(|name| words.iter().any(|word| name.eq_ignore_ascii_case(word)));
    let ends = [find(&SOURCE)?, find(&TARGET)?];
    let rest = row.fields.iter().enumerate().filter(|(at, _)| !ends.contains(at));
    Some(Columns { ends, attributes: rest.map(|(at, name)| (at, name.to_string())).collect() })
}

fn without_header(row: &Row) -> Result<Columns> {
    match row.fields.len() {
        2 => Ok(Columns { ends: [0, 1], attributes: Vec::new() }),
        3 => Ok(Columns { ends: [0, 1], attributes: vec![(2, "weight".to_string())] }),
        count => malformed(
            FORMAT,
            row.line,
            format!("{count} columns need a header: source, target and the names of the others"),
        ),
    }
}

/// Columns in which no field is a number, with the text of each named node.
fn texts(rows: &[Row], header: &[String], attributes: &[String]) -> Vec<(String, BTreeMap<String, String>)> {
    let column = |name: &String| {
        let at = header.iter().position(|own| own == name)?;
        let fields = || rows.iter().map(|row| &row.fields[at]).filter(|field| !is_missing(field));
        if fields().next().is_none() || fields().any(|field| field.parse::<f64>().is_ok()) {
            return None;
        }
        let known = rows.iter().filter(|row| !is_missing(&row.fields[at]));
        Some((name.clone(), known.map(|row| (row.fields[0].to_string(), row.fields[at].to_string())).collect()))
    };
    attributes.iter().filter_map(column).collect()
}

/// A table of nodes: the first column names them, x and y are points, all others attributes, of numbers or text.
pub(super) fn nodes(text: &str, id: &str, notes: &mut Vec<Note>) -> Result<Graph> {
    let Some(header) = table::rows(FORMAT, text)?.next().transpose()? else {
        return malformed("node table", 1, "there is no header");
    };
    let names: Vec<String> = header.fields.iter().map(str::to_string).collect();
    let node = names.first().cloned().unwrap_or_default();
    let is_axis = |name: &String| ["x", "y", "z"].iter().any(|axis| name.eq_ignore_ascii_case(axis));
    let attributes: Vec<String> = names.iter().skip(1).filter(|name| !is_axis(name)).cloned().collect();
    let rows: Vec<Row> = table::rows("node table", text)?.skip(1).collect::<Result<_>>()?;
    let texts = texts(&rows, &names, &attributes);
    let (ignored, attributes): (Vec<String>, Vec<String>) =
        attributes.into_iter().partition(|name| texts.iter().any(|(text, _)| text == name));
    let graph = if names.len() == 1 + ignored.len() {
        // Names alone, or with text.
        Graph::new(rows.len()).with_names(rows.iter().map(|row| row.fields[0].to_string()).collect())?
    } else {
        let table = LandmarkTable { landmark: Some(node), attributes, ignored, ..LandmarkTable::default() };
        let graphs = table.read(text, id)?;
        graphs.into_iter().next().map_or_else(|| Graph::new(0), |named| Graph::clone(&named.graph))
    };
    // Nodes that were not seen have no place in the graph.
    let own: Vec<(&str, Vec<String>)> = texts
        .iter()
        .map(|(name, of)| {
            let text = |node: &String| of.get(node).cloned().unwrap_or_default();
            (name.as_str(), graph.names().unwrap_or_default().iter().map(text).collect())
        })
        .collect();
    with_texts(graph, own.iter().map(|(name, texts)| (*name, texts.as_slice())), notes)
}

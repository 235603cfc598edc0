//! GraphML: graphs as networkx, igraph, Gephi and yEd write them, both reading and writing.
//!
//! Nodes are named by their ids. Numbers and truth values of nodes and edges become attributes under the key's `attr.name`; node
//! attributes `x` and `y` (and `z`), if every node has them, are the points. Text of nodes becomes an attribute per different text
//! (`graph/levels.rs`); text of edges is left out with a [`Note`]. Nested graphs, hyperedges and ports are refused. If some nodes (edges) lack an attribute and its key has no default,
//! it is left out, and a [`Note`] says so; only a missing `weight` of an edge counts as 1, as networkx has it.

use super::dataset::{MAX_EDGES, MAX_FILE_SIZE, MAX_NODES, NamedGraph};
use super::notes::with_texts;
use super::{Note, malformed, number, shorten};
use crate::graph::{Attributes, Direction, Graph};
use crate::{Error, Result};
use ndarray::{Array2, Axis};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

const FORMAT: &str = "GraphML";
/// The most values of all nodes or all edges of a graph: 1 GB.
const MAX_VALUES: usize = 1 << 27;

/// A key that has numbers, or text.
struct Key<'a> {
    id: &'a str,
    name: &'a str,
    default: Option<f64>,
    /// `None` if it has numbers.
    text: Option<&'a str>,
    /// "node", "edge" or "all".
    of: &'a str,
}

/// Reads every graph in a text. A graph without its own id gets `id`, with a number if there are several.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
pub(crate) fn read(text: &str, id: &str, notes: &mut Vec<Note>) -> Result<Vec<NamedGraph>> {
    if text.len() > MAX_FILE_SIZE {
        return malformed(FORMAT, 1, format!("{} bytes are more than {MAX_FILE_SIZE}", text.len()));
    }
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return malformed(FORMAT, error.pos().row as usize, error.to_string()),
    };
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        return refuse(root, format!("<{}> is not <graphml>", shorten(root.tag_name().name())));
    }
    let keys = elements(root, "key").map(key).collect::<Result<Vec<_>>>()?;
    let graphs: Vec<Node<'_, '_>> = elements(root, "graph").collect();
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for (index, &element) in graphs.iter().enumerate() {
        // What networkx and igraph write there means nothing.
        let own = element.attribute("id").filter(|own| !own.is_empty() && *own != "G");
        let numbered = || if graphs.len() == 1 { id.to_string() } else { format!("{id} {}", index + 1) };
        let name = own.filter(|_| graphs.len() > 1).map_or_else(numbered, str::to_string);
        if !taken.insert(name.clone()) {
            return refuse(element, format!("duplicate graph {:?}", shorten(&name)));
        }
        named.push(NamedGraph { id: name, graph: Arc::new(graph(element, &keys, notes)?), image: None });
    }
    Ok(named)
}

fn refuse<T>(element: Node<'_, '_>, reason: impl Into<String>) -> Result<T> {
    malformed(FORMAT, line_of(element), reason)
}

fn line_of(element: Node<'_, '_>) -> usize {
    element.document().text_pos_at(element.range().start).row as usize
}

fn elements<'a, 'i>(parent: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    parent.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn key<'a>(element: Node<'a, '_>) -> Result<Key<'a>> {
    let kind = element.attribute("attr.type").unwrap_or("string");
    let is_text = !["boolean", "int", "integer", "long", "float", "double"].contains(&kind);
    let Some(id) = element.attribute("id") else { return refuse(element, "a key has no id") };
    let default = elements(element, "default").next();
    let text = is_text.then(|| default.and_then(|default| default.text()).unwrap_or_default());
    let default = default.filter(|_| !is_text).map(|default| value(default)).transpose()?;
    let name = element.attribute("attr.name").unwrap_or(id);
    Ok(Key { id, name, default, text, of: element.attribute("for").unwrap_or("all") })
}

/// The number in an element.
fn value(element: Node<'_, '_>) -> Result<f64> {
    match element.text().unwrap_or_default().trim() {
        "true" | "True" => Ok(1.0),
        "false" | "False" => Ok(0.0),
        // The line is looked for only if it is needed: that takes as long as the text is.
        word => number(FORMAT, 0, word).or_else(|_| number(FORMAT, line_of(element), word)),
    }
}

/// The keys of nodes or of edges, and a row of values for each of these: NaN if there is none.
struct Values<'k, 'a> {
    keys: Vec<&'k Key<'a>>,
    columns: BTreeMap<&'a str, usize>,
    cells: Vec<f64>,
    /// Keys that have text, and a text per row for each of them.
    texts: Vec<(&'k Key<'a>, Vec<String>)>,
    rows: usize,
}

impl<'k, 'a> Values<'k, 'a> {
    fn new(keys: &'k [Key<'a>], of: &str) -> Self {
        let own = keys.iter().filter(|key| key.of == of || key.of == "all");
        let (texts, keys): (Vec<&Key<'_>>, Vec<&Key<'_>>) = own.partition(|key| key.text.is_some());
        let texts = texts.into_iter().map(|key| (key, Vec::new())).collect();
        let columns = keys.iter().enumerate().map(|(column, key)| (key.id, column)).collect();
        Self { keys, columns, cells: Vec::new(), texts, rows: 0 }
    }

    /// Adds the values of an element.
    fn add(&mut self, element: Node<'_, '_>) -> Result<()> {
        let start = self.cells.len();
        if start + self.keys.len() + self.rows * self.texts.len() > MAX_VALUES {
            return refuse(element, format!("there are more than {MAX_VALUES} values of attributes"));
        }
        self.cells.extend(self.keys.iter().map(|key| key.default.unwrap_or(f64::NAN)));
        self.texts.iter_mut().for_each(|(key, texts)| texts.push(key.text.unwrap_or_default().to_string()));
        for data in elements(element, "data") {
            let own = self.texts.iter_mut().find(|(key, _)| Some(key.id) == data.attribute("key"));
            if let (Some(text), Some(last)) = (data.text(), own.and_then(|(_, texts)| texts.last_mut())) {
                *last = text.to_string();
            }
            if let Some(&column) = data.attribute("key").and_then(|id| self.columns.get(id)) {
                self.cells[start + column] = value(data)?;
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.cells.iter().skip(column).step_by(self.keys.len().max(1)).copied()
    }

    /// The columns that are complete, with their names: of those that only some have, a weight is filled up and the others are left out.
    fn complete(mut self, of: &'static str, notes: &mut Vec<Note>) -> (Vec<&'a str>, Array2<f64>) {
        let mut kept = Vec::new();
        for (column, key) in self.keys.iter().enumerate() {
            let missing = self.column(column).filter(|value| value.is_nan()).count();
            let is_weight = of == "edges" && key.name.eq_ignore_ascii_case("weight");
            if missing == 0 || (is_weight && missing < self.rows) {
                kept.push(column);
            }
            if missing > 0 && missing < self.rows {
                let attribute = shorten(key.name);
                notes.push(Note::MissingValues { of, attribute, missing, total: self.rows, filled: is_weight });
            }
        }
        // Only weights are still missing.
        self.cells.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 1.0);
        let width = self.keys.len();
        let values =
            Array2::from_shape_fn((self.rows, kept.len()), |(row, column)| self.cells[row * width + kept[column]]);
        (kept.iter().map(|&column| self.keys[column].name).collect(), values)
    }
}

fn graph(element: Node<'_, '_>, keys: &[Key<'_>], notes: &mut Vec<Note>) -> Result<Graph> {
    let line = line_of(element);
    let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
    if let Some(other) = elements(element, "hyperedge").next() {
        return refuse(other, "hyperedges are not read: an edge has two ends");
    }
    let (mut node_values, mut edge_values) = (Values::new(keys, "node"), Values::new(keys, "edge"));
    let (mut names, mut position) = (Vec::new(), BTreeMap::new());
    for node in elements(element, "node") {
        let Some(id) = node.attribute("id") else { return refuse(node, "a node has no id") };
        if let Some(nested) = elements(node, "graph").next() {
            return refuse(nested, "a graph within a node is not read");
        }
        if position.insert(id, names.len()).is_some() {
            return refuse(node, format!("duplicate node {:?}", shorten(id)));
        }
        if names.len() == MAX_NODES {
            return refuse(node, format!("there are more than {MAX_NODES} nodes"));
        }
        names.push(id.to_string());
        node_values.add(node)?;
    }
    let (mut edges, mut one_way) = (Vec::new(), Vec::new());
    let directed = element.attribute("edgedefault") == Some("directed");
    for edge in elements(element, "edge") {
        let mut ends = [0; 2];
        for (end, attribute) in ends.iter_mut().zip(["source", "target"]) {
            let id = edge.attribute(attribute).unwrap_or_default();
            let Some(&at) = position.get(id) else {
                return refuse(edge, format!("the {attribute} {:?} of an edge is not a node", shorten(id)));
            };
            *end = at;
        }
        if ends[0] == ends[1] {
            return refuse(edge, Error::SelfLoop { node: ends[0] }.to_string());
        }
        if edges.len() == MAX_EDGES {
            return refuse(edge, format!("there are more than {MAX_EDGES} edges"));
        }
        edges.push(ends);
        one_way.push(edge.attribute("directed").map_or(directed, |word| word == "true"));
        edge_values.add(edge)?;
    }
    for (key, texts) in &edge_values.texts {
        if texts.iter().any(|text| !text.trim().is_empty()) {
            notes.push(Note::Texts { of: "edges", attribute: shorten(key.name), levels: None });
        }
    }
    let (columns, mut values) = edge_values.complete("edges", notes);
    // If some edges lead one way and others both ways, each is written as it leads.
    let direction = if one_way.iter().all(|&one| !one) { Direction::Undirected } else { Direction::Directed };
    if direction == Direction::Directed {
        let both: Vec<usize> = (0..edges.len()).filter(|&at| !one_way[at]).collect();
        edges.extend(both.iter().map(|&at| [edges[at][1], edges[at][0]]).collect::<Vec<_>>());
        let back = values.select(Axis(0), &both);
        values = ndarray::concatenate![Axis(0), values, back];
    }
    let texts = std::mem::take(&mut node_values.texts);
    let graph = nodes(names, node_values.complete("nodes", notes)).map_err(told)?;
    let texts = texts.iter().map(|(key, texts)| (key.name, texts.as_slice()));
    let graph = with_texts(graph, texts, notes).map_err(told)?;
    if columns.is_empty() {
        return graph.with_edges(edges, direction).map_err(told);
    }
    let columns = columns.into_iter().map(str::to_string).collect();
    let attributes = Attributes::new(columns, values).map_err(told)?;
    graph.with_attributed_edges(edges, &attributes, direction).map_err(told)
}

/// Nodes with their names, points and attributes.
fn nodes(names: Vec<String>, (columns, values): (Vec<&str>, Array2<f64>)) -> Result<Graph> {
    let find = |name: &str| columns.iter().position(|column| column.eq_ignore_ascii_case(name));
    let mut axes: Vec<usize> = Vec::new();
    if let (Some(x), Some(y)) = (find("x"), find("y")) {
        axes = [Some(x), Some(y), find("z")].into_iter().flatten().collect();
    }
    let graph =
        if axes.is_empty() { Graph::new(names.len()) } else { Graph::from_points(values.select(Axis(1), &axes))? };
    let graph = graph.with_names(names)?;
    let rest: Vec<usize> = (0..columns.len()).filter(|column| !axes.contains(column)).collect();
    if rest.is_empty() {
        return Ok(graph);
    }
    let columns = rest.iter().map(|&column| columns[column].to_string()).collect();
    graph.with_node_attributes(Attributes::new(columns, values.select(Axis(1), &rest))?)
}

/// Writes graphs. Each undirected edge is written once; points are the node attributes x, y and z.
///
/// # Errors
/// A node attribute called x, y or z in a graph with points; context points, which GraphML has no place for.
pub(crate) fn write(graphs: &[NamedGraph]) -> Result<String> {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    let mut keys: Vec<(&str, String)> = Vec::new();
    let mut body = String::new();
    for named in graphs {
        write_graph(named, &mut keys, &mut body)?;
    }
    for (number, (of, name)) in keys.iter().enumerate() {
        let name = escaped(name);
        push(
            &mut text,
            format_args!("  <key id=\"d{number}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"double\"/>"),
        );
    }
    Ok(text + &body + "</graphml>\n")
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn write_graph(named: &NamedGraph, keys: &mut Vec<(&'static str, String)>, body: &mut String) -> Result<()> {
    let graph = &named.graph;
    let cannot = |what| Err(Error::Unsupported { solver: "the GraphML format", what });
    if graph.context().is_some_and(|context| context.nrows() > 0) {
        return cannot("context points");
    }
    let has_no_place = |text: &String| text.chars().any(is_unwritable);
    if has_no_place(&named.id) || graph.names().is_some_and(|names| names.iter().any(has_no_place)) {
        return cannot("names with control characters");
    }
    let axes: Vec<String> =
        ["x", "y", "z"].into_iter().take(graph.points().map_or(0, |points| points.ncols())).map(String::from).collect();
    let columns = |table: Option<&Attributes>| table.map_or(Vec::new(), |table| table.names().to_vec());
    let node_columns = columns(graph.node_attributes());
    if !axes.is_empty()
        && node_columns.iter().any(|name| ["x", "y", "z"].iter().any(|axis| name.eq_ignore_ascii_case(axis)))
    {
        return cannot("points and a node attribute called x, y or z");
    }
    let mut key = |of: &'static str, name: &String| {
        let found = keys.iter().position(|(other, known)| *other == of && known == name);
        found.unwrap_or_else(|| {
            keys.push((of, name.clone()));
            keys.len() - 1
        })
    };
    let node_keys: Vec<usize> = axes.iter().chain(&node_columns).map(|name| key("node", name)).collect();
    let edge_keys: Vec<usize> = columns(graph.edge_attributes()).iter().map(|name| key("edge", name)).collect();
    let (rows, directed) = graph.given_edges();
    let default = if directed { "directed" } else { "undirected" };
    push(body, format_args!("  <graph id=\"{}\" edgedefault=\"{default}\">", escaped(&named.id)));
    let name = |node: usize| escaped(&graph.name_or_number(node));
    let data = |keys: &[usize], values: &[f64]| {
        let entry = |(key, value): (&usize, &f64)| format!("<data key=\"d{key}\">{value:?}</data>");
        keys.iter().zip(values).map(entry).collect::<String>()
    };
    for node in 0..graph.node_count() {
        let row = |values: ndarray::ArrayView2<'_, f64>| values.row(node).to_vec();
        let points = graph.points().map_or(Vec::new(), row);
        let values: Vec<f64> =
            points.into_iter().chain(graph.node_attributes().map_or(Vec::new(), |table| row(table.values()))).collect();
        push(body, format_args!("    <node id=\"{}\">{}</node>", name(node), data(&node_keys, &values)));
    }
    for edge in rows {
        let [from, to] = graph.edges().ends()[edge];
        let values = graph.edge_attributes().map_or(Vec::new(), |table| table.values().row(edge).to_vec());
        let (from, to, data) = (name(from), name(to), data(&edge_keys, &values));
        push(body, format_args!("    <edge source=\"{from}\" target=\"{to}\">{data}</edge>"));
    }
    push(body, format_args!("  </graph>"));
    Ok(())
}

/// Whether XML 1.0 has no place for a character.
fn is_unwritable(letter: char) -> bool {
    matches!(letter, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Text between quotes or tags. Characters that XML 1.0 has no place for become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' => escaped.push_str("&#9;"),
            _ if is_unwritable(letter) => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

//! Landmark tables: one landmark a row, with a header.
//!
//! ```text
//! frame,landmark,x,y
//! 1,nose,208.7,341.1
//! ```
//!
//! The columns may stand in any order. `frame` or `image` says which graph a landmark belongs to; without it the whole table is one
//! graph. `landmark` is the name of the node; without it the nodes have no names, and where it is empty nobody named that
//! node. `z` makes the points spatial. Other columns are
//! refused, unless the settings make them node attributes or ignore them: a slip in a header should not lose data. A landmark whose
//! coordinates are all empty was not seen: it is not a node of that graph.
//!
//! Graphs and nodes keep the order of their first appearance. A table has no edges, context points or pictures; those are not written.

use super::dataset::NamedGraph;
use super::table::{self, Row};
use super::{malformed, number, shorten};
use crate::graph::{Attributes, Graph};
use crate::{Error, Result};
use csv::StringRecord;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const FORMAT: &str = "landmark table";

/// What the columns of a table mean. The default takes `frame` or `image`, `landmark`, `x`, `y` and `z`, in capitals or not.
///
/// ```
/// use homolog::data::landmarks::LandmarkTable;
/// let graphs = LandmarkTable::default().read("frame,landmark,x,y\n7,nose,1,2\n7,chin,3,4\n8,chin,5,6\n", "faces")?;
/// assert_eq!((graphs[0].id.as_str(), graphs[1].id.as_str()), ("7", "8"));
/// assert_eq!(graphs[0].graph.names().unwrap(), ["nose", "chin"]);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LandmarkTable {
    /// The column that names the graph; `None`: `frame` or `image`, if there is one.
    pub graph: Option<String>,
    /// The column that names the node; `None`: `landmark`, if there is one.
    pub landmark: Option<String>,
    /// Columns that become node attributes.
    pub attributes: Vec<String>,
    /// Columns that are left out.
    pub ignored: Vec<String>,
}

/// Where the columns stand.
struct Places {
    graph: Option<usize>,
    landmark: Option<usize>,
    coordinates: Vec<usize>,
    attributes: Vec<usize>,
}

/// A graph that is being read.
struct Growing {
    id: String,
    first_line: usize,
    names: Vec<String>,
    seen: BTreeSet<String>,
    coordinates: Vec<f64>,
    attributes: Vec<f64>,
}

impl LandmarkTable {
    /// Reads the graphs of a table. A table that does not say which graph its rows belong to is one graph with this id.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line and the reason: a column missing, unknown or there twice; a coordinate that is not a finite
    /// number; a landmark that is in a graph twice.
    pub fn read(&self, text: &str, id: &str) -> Result<Vec<NamedGraph>> {
        let mut rows = table::rows(FORMAT, text)?;
        let Some(header) = rows.next().transpose()? else { return malformed(FORMAT, 1, "there is no header") };
        let places = self.places(&header)?;
        let mut graphs: Vec<Growing> = Vec::new();
        let mut position: BTreeMap<String, usize> = BTreeMap::new();
        for row in rows {
            let row = row?;
            let id = places.graph.map_or(id, |at| &row.fields[at]);
            if id.is_empty() {
                return malformed(FORMAT, row.line, "the graph (frame or image) is empty");
            }
            let at = *position.entry(id.to_string()).or_insert_with(|| {
                graphs.push(Growing::new(id, row.line));
                graphs.len() - 1
            });
            self.add(&mut graphs[at], &row, &places)?;
        }
        graphs.into_iter().map(|graph| self.finish(graph, &places)).collect()
    }

    fn places(&self, header: &Row) -> Result<Places> {
        let line = header.line;
        let names: Vec<&str> = header.fields.iter().collect();
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() || names[..index].contains(name) {
                return malformed(
                    FORMAT,
                    line,
                    format!("the column {:?} is there twice or has no name", shorten(name)),
                );
            }
        }
        // The usual names in capitals or not; names that the settings give as they are.
        let usual = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let asked = |wanted: &String| match names.iter().position(|name| name == wanted) {
            Some(at) => Ok(at),
            None => malformed(FORMAT, line, format!("there is no column {wanted:?}: {}", list(&header.fields))),
        };
        let ignored = self.ignored.iter().map(asked).collect::<Result<BTreeSet<_>>>()?;
        let attributes = self.attributes.iter().map(asked).collect::<Result<Vec<_>>>()?;
        let free = |at: &usize| !ignored.contains(at) && !attributes.contains(at);
        let graph = match (&self.graph, usual("frame").filter(free), usual("image").filter(free)) {
            (Some(column), ..) => Some(asked(column)?),
            (None, Some(_), Some(_)) => {
                let reason = "both frame and image are there: say which of them names the graph, and ignore the other";
                return malformed(FORMAT, line, reason);
            }
            (None, frame, image) => frame.or(image),
        };
        let landmark = match &self.landmark {
            Some(column) => Some(asked(column)?),
            None => usual("landmark").filter(free),
        };
        let (Some(x), Some(y)) = (usual("x"), usual("y")) else {
            let reason = format!("the header must have the columns x and y: {}", list(&header.fields));
            return malformed(FORMAT, line, reason);
        };
        let coordinates: Vec<usize> = [x, y].into_iter().chain(usual("z").filter(free)).collect();
        let mut known: Vec<usize> = graph.into_iter().chain(landmark).collect();
        known.extend(coordinates.iter().chain(&attributes).chain(&ignored));
        if let Some(at) = (0..names.len()).find(|at| !known.contains(at)) {
            let reason = format!("unknown column {:?}: make it a node attribute or ignore it", shorten(names[at]));
            return malformed(FORMAT, line, reason);
        }
        known.sort_unstable();
        if let Some(twice) = known.windows(2).find(|pair| pair[0] == pair[1]) {
            return malformed(FORMAT, line, format!("the column {:?} is to mean two things", names[twice[0]]));
        }
        Ok(Places { graph, landmark, coordinates, attributes })
    }

    fn add(&self, graph: &mut Growing, row: &Row, places: &Places) -> Result<()> {
        let (line, fields) = (row.line, &row.fields);
        if let Some(at) = places.landmark {
            let name = &fields[at];
            if !name.is_empty() && !graph.seen.insert(name.to_string()) {
                let reason = format!("the landmark {:?} is in graph {:?} twice", shorten(name), graph.id);
                return malformed(FORMAT, line, reason);
            }
            if !name.is_empty() && places.coordinates.iter().all(|&at| fields[at].is_empty()) {
                return Ok(());
            }
            graph.names.push(name.to_string());
        }
        for &at in &places.coordinates {
            if fields[at].is_empty() {
                let reason = "a coordinate is missing; where a landmark was not seen, leave all of them empty";
                return malformed(FORMAT, line, reason);
            }
            graph.coordinates.push(number(FORMAT, line, &fields[at])?);
        }
        for (&at, name) in places.attributes.iter().zip(&self.attributes) {
            if fields[at].is_empty() {
                return malformed(FORMAT, line, format!("the attribute {name:?} is missing"));
            }
            graph.attributes.push(number(FORMAT, line, &fields[at])?);
        }
        Ok(())
    }

    fn finish(&self, growing: Growing, places: &Places) -> Result<NamedGraph> {
        let line = growing.first_line;
        let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
        let dimension = places.coordinates.len();
        let count = growing.coordinates.len() / dimension;
        let mut graph = Graph::from_points(shaped(&growing.coordinates, count, dimension)).map_err(told)?;
        if places.landmark.is_some() {
            graph = graph.with_names(growing.names).map_err(told)?;
        }
        if !self.attributes.is_empty() {
            let values = shaped(&growing.attributes, count, self.attributes.len());
            let attributes = Attributes::new(self.attributes.clone(), values).map_err(told)?;
            graph = graph.with_node_attributes(attributes).map_err(told)?;
        }
        Ok(NamedGraph { id: growing.id, graph: Arc::new(graph), image: None })
    }
}

impl Growing {
    fn new(id: &str, first_line: usize) -> Self {
        Self {
            id: id.to_string(),
            first_line,
            names: Vec::new(),
            seen: BTreeSet::new(),
            coordinates: Vec::new(),
            attributes: Vec::new(),
        }
    }
}

fn shaped(values: &[f64], rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(row, column)| values[row * columns + column])
}

fn list(fields: &StringRecord) -> String {
    format!("the columns are {}", shorten(&fields.iter().collect::<Vec<_>>().join(", ")))
}

/// Writes the points, names and node attributes of graphs as one table. Where only some graphs have names, the nodes of the others are
/// called by their numbers.
///
/// # Errors
/// A graph without points, or with other dimensions or attributes than the first; a name that a table cannot hold.
pub fn write(graphs: &[NamedGraph]) -> Result<String> {
    let Some(first) = graphs.first() else { return table::write(FORMAT, [header(2, true, &[])]) };
    let dimension = first.graph.need_points(FORMAT)?.ncols();
    let attributes = |graph: &Graph| graph.node_attributes().map_or(Vec::new(), |table| table.names().to_vec());
    let columns = attributes(&first.graph);
    let named = graphs.iter().any(|named| named.graph.names().is_some());
    let mut rows = vec![header(dimension, named, &columns)];
    for NamedGraph { id, graph, .. } in graphs {
        let points = graph.need_points(FORMAT)?;
        if points.ncols() != dimension {
            return Err(Error::Size { what: "coordinates of a landmark", expected: dimension, found: points.ncols() });
        }
        if attributes(graph) != columns {
            let reason = format!("graph {id:?} has other node attributes than graph {:?}", first.id);
            return Err(Error::DataSet { place: FORMAT.to_string(), reason });
        }
        let id = table::writable(FORMAT, "the id", id)?;
        for node in 0..graph.node_count() {
            let mut row = vec![id.clone()];
            if named {
                let name = graph.names().map_or_else(|| node.to_string(), |names| names[node].clone());
                // An empty name comes back as one: a node that nobody named.
                let empty = name.is_empty();
                row.push(if empty { name } else { table::writable(FORMAT, "the landmark", &name)? });
            }
            row.extend(points.row(node).iter().map(|value| format!("{value:?}")));
            let values = graph.node_attributes().map(|table| table.values().row(node).to_vec());
            row.extend(values.unwrap_or_default().iter().map(|value| format!("{value:?}")));
            rows.push(row);
        }
    }
    table::write(FORMAT, rows)
}

fn header(dimension: usize, named: bool, attributes: &[String]) -> Vec<String> {
    let coordinates = ["x", "y", "z"].into_iter().take(dimension);
    let usual = ["frame"].into_iter().chain(named.then_some("landmark")).chain(coordinates);
    usual.map(str::to_string).chain(attributes.iter().cloned()).collect()
}

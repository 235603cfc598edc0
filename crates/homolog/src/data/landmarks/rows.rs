//! The rows of a landmark table, once its columns are understood.

use super::super::dataset::NamedGraph;
use super::super::table::{Row, is_missing};
use super::super::{malformed, number, shorten};
use super::FORMAT;
use super::columns::{Long, Wide};
use crate::graph::{Attributes, Graph};
use crate::{ColumnFault, Error, Result};
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A graph being read.
struct Growing {
    id: String,
    first_line: usize,
    nodes: usize,
    names: Vec<String>,
    seen: BTreeSet<String>,
    coordinates: Vec<f64>,
    attributes: Vec<f64>,
}

pub(super) fn read_long(columns: &Long, rows: impl Iterator<Item = Result<Row>>, id: &str) -> Result<Vec<NamedGraph>> {
    let mut graphs: Vec<Growing> = Vec::new();
    let mut position: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let row = row?;
        let id = columns.graph.map_or(id, |at| &row.fields[at]);
        if id.is_empty() {
            return malformed(FORMAT, row.line, "the field that names the graph is empty");
        }
        let at = *position.entry(id.to_string()).or_insert_with(|| {
            graphs.push(Growing::new(id, row.line));
            graphs.len() - 1
        });
        graphs[at].add(&row, columns)?;
    }
    graphs.into_iter().map(|graph| graph.finish(columns)).collect()
}

impl Growing {
    fn new(id: &str, first_line: usize) -> Self {
        Self {
            id: id.to_string(),
            first_line,
            nodes: 0,
            names: Vec::new(),
            seen: BTreeSet::new(),
            coordinates: Vec::new(),
            attributes: Vec::new(),
        }
    }

    fn add(&mut self, row: &Row, columns: &Long) -> Result<()> {
        let (line, fields) = (row.line, &row.fields);
        let name = columns.landmark.map(|at| &fields[at]);
        let named = name.filter(|name| !name.is_empty());
        if let Some(twice) = named.filter(|name| !self.seen.insert((*name).to_string())) {
            let reason = format!("the landmark {:?} is in graph {:?} twice", shorten(twice), self.id);
            return malformed(FORMAT, line, reason);
        }
        let Some(coordinates) = point(line, columns.coordinates.iter().map(|&at| &fields[at]))? else { return Ok(()) };
        self.coordinates.extend(coordinates);
        self.names.extend(name.map(str::to_string));
        for (at, name) in &columns.attributes {
            if is_missing(&fields[*at]) {
                let fault = ColumnFault::Empty { column: name.clone() };
                return Err(Error::Columns { format: FORMAT, line, fault });
            }
            self.attributes.push(number(FORMAT, line, &fields[*at])?);
        }
        self.nodes += 1;
        Ok(())
    }

    fn finish(self, columns: &Long) -> Result<NamedGraph> {
        let line = self.first_line;
        let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
        let mut graph = match columns.coordinates.len() {
            0 => Graph::new(self.nodes),
            dimension => Graph::from_points(shaped(&self.coordinates, self.nodes, dimension)).map_err(told)?,
        };
        if columns.landmark.is_some() {
            graph = graph.with_names(self.names).map_err(told)?;
        }
        if !columns.attributes.is_empty() {
            let names: Vec<String> = columns.attributes.iter().map(|(_, name)| name.clone()).collect();
            let values = shaped(&self.attributes, self.nodes, names.len());
            let attributes = Attributes::new(names, values).map_err(told)?;
            graph = graph.with_node_attributes(attributes).map_err(told)?;
        }
        Ok(NamedGraph { id: self.id, graph: Arc::new(graph), image: None })
    }
}

/// The coordinates of a landmark; `None` if it was not seen.
fn point<'a>(line: usize, fields: impl Iterator<Item = &'a str> + Clone) -> Result<Option<Vec<f64>>> {
    let count = fields.clone().count();
    match fields.clone().filter(|field| is_missing(field)).count() {
        0 => fields.map(|field| number(FORMAT, line, field)).collect::<Result<_>>().map(Some),
        missing if missing == count => Ok(None),
        _ => malformed(
            FORMAT,
            line,
            "a coordinate is missing; if a landmark was not seen, leave all of them empty (or NA)",
        ),
    }
}

pub(super) fn read_wide(columns: &Wide, rows: impl Iterator<Item = Result<Row>>) -> Result<Vec<NamedGraph>> {
    let mut graphs: Vec<NamedGraph> = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let row = row?;
        let id = columns.graph.map_or_else(|| (graphs.len() + 1).to_string(), |at| row.fields[at].to_string());
        if id.is_empty() {
            return malformed(FORMAT, row.line, "the field that names the specimen is empty");
        }
        if let Some(line) = first.insert(id.clone(), row.line) {
            let reason = format!("duplicate specimen {:?}, first on line {line}", shorten(&id));
            return malformed(FORMAT, row.line, reason);
        }
        let (mut names, mut coordinates) = (Vec::new(), Vec::new());
        for (name, places) in &columns.landmarks {
            if let Some(point) = point(row.line, places.iter().map(|&at| &row.fields[at]))? {
                names.push(name.clone());
                coordinates.extend(point);
            }
        }
        let dimension = columns.landmarks.first().map_or(2, |(_, places)| places.len());
        let told = |error: Error| Error::Malformed { format: FORMAT, line: row.line, reason: error.to_string() };
        let graph = Graph::from_points(shaped(&coordinates, names.len(), dimension)).map_err(told)?;
        let graph = graph.with_names(names).map_err(told)?;
        graphs.push(NamedGraph { id, graph: Arc::new(graph), image: None });
    }
    Ok(graphs)
}

fn shaped(values: &[f64], rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(row, column)| values[row * columns + column])
}

//! Writes graphs as a landmark table.

use super::super::dataset::NamedGraph;
use super::super::table;
use super::{ATTRIBUTE, FORMAT};
use crate::graph::Graph;
use crate::{Error, Result};

/// Writes the points, names and node attributes of graphs as one table. If only some graphs have names, the nodes of the others are
/// called by their numbers. The column of an attribute is called `attribute:NAME`, which is how it is known for one when it is read.
///
/// # Errors
/// A graph whose dimension or attributes differ from the first, or with neither points nor attributes; a name that a table cannot hold.
pub(crate) fn write(graphs: &[NamedGraph]) -> Result<String> {
    let Some(first) = graphs.first() else { return table::write(FORMAT, [header(2, true, &[])]) };
    let dimension = |graph: &Graph| graph.points().map_or(0, |points| points.ncols());
    let expected = dimension(&first.graph);
    let attributes = |graph: &Graph| graph.node_attributes().map_or(Vec::new(), |table| table.names().to_vec());
    let columns = attributes(&first.graph);
    if expected == 0 && columns.is_empty() {
        first.graph.need_points(FORMAT)?;
    }
    let named = graphs.iter().any(|named| named.graph.names().is_some());
    let mut rows = vec![header(expected, named, &columns)];
    for NamedGraph { id, graph, .. } in graphs {
        if dimension(graph) != expected {
            return Err(Error::Size { what: "coordinates of a landmark", expected, found: dimension(graph) });
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
                // An empty name reads back as one: an unnamed node.
                row.push(if name.is_empty() { name } else { table::writable(FORMAT, "the landmark", &name)? });
            }
            let points = graph.points().map(|points| points.row(node).to_vec());
            let values = graph.node_attributes().map(|table| table.values().row(node).to_vec());
            row.extend(points.into_iter().chain(values).flatten().map(|value| format!("{value:?}")));
            rows.push(row);
        }
    }
    table::write(FORMAT, rows)
}

fn header(dimension: usize, named: bool, attributes: &[String]) -> Vec<String> {
    let coordinates = ["x", "y", "z"].into_iter().take(dimension);
    let usual = ["specimen"].into_iter().chain(named.then_some("landmark")).chain(coordinates);
    usual.map(str::to_string).chain(attributes.iter().map(|name| format!("{ATTRIBUTE}{name}"))).collect()
}

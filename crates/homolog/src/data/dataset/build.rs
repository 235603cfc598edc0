//! From records to a data set, checking that they fit together, and back.

use super::pair_features;
use super::record::{GraphRecord, Matches, NodeRef, PairRecord};
use super::shape::{Capped, Columns, Number, Points};
use super::{
    DataSet, LabelledPair, MAX_LABELLED_NODES, MAX_NODES, MAX_TOTAL_NODES, NamedGraph, all_positions, by_name,
    positions,
};
use crate::graph::{Attributes, Direction, Graph};
use crate::matching::{Constraint, Matching, Restrictions};
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayView2};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record and its place in the text: "graphs[3]", "line 7".
pub(super) type Placed<T> = (String, T);

/// What is wrong with a field (named first) of a record.
pub(super) type Fault = (String, String);

/// Checks everything and puts it together.
pub(super) fn build(graphs: Vec<Placed<GraphRecord>>, pairs: Vec<Placed<PairRecord>>) -> Result<DataSet> {
    let mut named: Vec<NamedGraph> = Vec::with_capacity(graphs.len());
    let mut places: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut nodes = 0;
    for (at, record) in graphs {
        let id = record.id.clone();
        let refuse = |(field, reason): Fault| refused(&at, &field, &format!("graph {id:?}"), reason);
        if id.is_empty() {
            return Err(refuse(("id".into(), "an id may not be empty".into())));
        }
        if let Some((_, first)) = places.get(&id) {
            return Err(refuse(("id".into(), format!("this id is taken: {first} has it already"))));
        }
        let graph = graph(record).map_err(&refuse)?;
        nodes += graph.graph.node_count();
        if nodes > MAX_TOTAL_NODES {
            let reason = format!("with this graph there are more than {MAX_TOTAL_NODES} nodes");
            return Err(refuse((String::new(), reason)));
        }
        places.insert(id, (named.len(), at));
        named.push(graph);
    }
    let names = all_positions(&named, &Control::new())?;
    let mut labelled = Vec::with_capacity(pairs.len());
    let mut labels = 0;
    for (at, record) in pairs {
        let who = format!("{:?} to {:?}", record.left, record.right);
        let refuse = |(field, reason): Fault| refused(&at, &field, &who, reason);
        let find = |field: &str, id: &str| match places.get(id) {
            Some(&(index, _)) => Ok(index),
            None => Err(refuse((field.into(), format!("there is no graph with the id {id:?}")))),
        };
        let (left, right) = (find("left", &record.left)?, find("right", &record.right)?);
        labels += named[left].graph.node_count() + named[right].graph.node_count();
        if labels > MAX_LABELLED_NODES {
            let reason = format!("with this pair there are more than {MAX_LABELLED_NODES} nodes in all pairs");
            return Err(refuse((String::new(), reason)));
        }
        let side = |index: usize| Side { graph: &named[index].graph, names: &names[index] };
        let (from, to) = (side(left), side(right));
        let constraint = record.constraint.unwrap_or_default();
        let unknown = unknown(&record.unknown, &from).map_err(&refuse)?;
        let truth = truth(record.matches, &unknown, constraint, &from, &to).map_err(&refuse)?;
        let given = Restrictions {
            seeds: node_pairs("seeds", &record.seeds, &from, &to).map_err(&refuse)?,
            forbidden: node_pairs("forbidden", &record.forbidden, &from, &to).map_err(&refuse)?,
        };
        given
            .check(from.graph.node_count(), to.graph.node_count(), constraint)
            .and_then(|()| truth.as_ref().map_or(Ok(()), |truth| given.check_matching(truth)))
            .map_err(fault("seeds or forbidden"))
            .map_err(&refuse)?;
        let features = record.features.map(|features| pair_features::read(features, &from, &to));
        let features = features.transpose().map_err(&refuse)?.map(Arc::new);
        if let (Some(features), Some(truth)) = (&features, &truth) {
            features.check_matching(truth).map_err(fault("features")).map_err(&refuse)?;
        }
        labelled.push(LabelledPair { left, right, truth, unknown, given, features, split: record.split });
    }
    DataSet::new(named, labelled)
}

fn refused(at: &str, field: &str, who: &str, reason: String) -> Error {
    let dot = match (field.is_empty(), at.starts_with("line")) {
        (true, _) => "",
        (false, true) => ", ",
        (false, false) => ".",
    };
    Error::DataSet { place: format!("{at}{dot}{field} ({who})"), reason }
}

/// An error of the library as the fault of a field.
pub(super) fn fault(field: &str) -> impl Fn(Error) -> Fault + '_ {
    move |error| (field.to_string(), error.to_string())
}

fn graph(record: GraphRecord) -> std::result::Result<NamedGraph, Fault> {
    let count = node_count(&record)?;
    let mut graph = match record.points {
        Some(points) => Graph::from_points(array(points)).map_err(fault("points"))?,
        None => Graph::new(count),
    };
    if let Some(Capped(names)) = record.names {
        graph = graph.with_names(names).map_err(fault("names"))?;
    }
    if let Some(columns) = record.attributes {
        graph = graph.with_node_attributes(table("attributes", columns, count)?).map_err(fault("attributes"))?;
    }
    if let Some(context) = record.context {
        // No context points: they fit any dimension.
        let dimension = graph.points().map_or(0, |points| points.ncols());
        let context = if context.len() == 0 { Array2::zeros((0, dimension)) } else { array(context) };
        graph = graph.with_context(context).map_err(fault("context"))?;
    }
    if let Some([Number(width), Number(height)]) = record.image_size {
        graph = graph.with_image_size(width, height).map_err(fault("image_size"))?;
    }
    if let Some(Number(scale)) = record.scale {
        graph = graph.with_scale(scale).map_err(fault("scale"))?;
    }
    if let Some(unit) = record.unit {
        graph = graph.with_unit(unit);
    }
    if let Some(Number(time)) = record.time {
        graph = graph.with_time(time).map_err(fault("time"))?;
    }
    let direction = if record.directed == Some(true) { Direction::Directed } else { Direction::Undirected };
    let edges = edges(&graph, record.edges.map_or_else(Vec::new, |Capped(edges)| edges))?;
    let graph = match record.edge_attributes {
        None => graph.with_edges(edges, direction),
        Some(columns) => {
            let attributes = table("edge_attributes", columns, edges.len())?;
            graph.with_attributed_edges(edges, &attributes, direction)
        }
    };
    Ok(NamedGraph { id: record.id, graph: Arc::new(graph.map_err(fault("edges"))?), image: record.image })
}

/// The number of nodes that all parts of a graph agree on.
fn node_count(record: &GraphRecord) -> std::result::Result<usize, Fault> {
    let columns = record.attributes.as_ref().and_then(|Columns(columns)| columns.first());
    let counts = [
        ("points", record.points.as_ref().map(Points::len)),
        ("names", record.names.as_ref().map(|Capped(names)| names.len())),
        ("attributes", columns.map(|(_, values)| values.len())),
        ("nodes", record.nodes),
    ];
    let mut known = counts.into_iter().filter_map(|(field, count)| Some((field, count?)));
    let Some((first, count)) = known.next() else {
        let reason = "nothing says how many nodes there are: give points, names, attributes or nodes";
        return Err((String::new(), reason.into()));
    };
    if let Some((field, found)) = known.find(|&(_, found)| found != count) {
        return Err((field.into(), format!("this is for {found} nodes, but {first} is for {count}")));
    }
    if count > MAX_NODES {
        return Err((first.into(), format!("{count} nodes are more than the {MAX_NODES} a graph may have")));
    }
    Ok(count)
}

fn array(points: Points) -> Array2<f64> {
    // A list without points does not say how many dimensions they would have: the plane is assumed.
    let (count, dimension) = (points.len(), if points.dimension == 0 { 2 } else { points.dimension });
    Array2::from_shape_fn((count, dimension), |(row, column)| points.coordinates[row * dimension + column])
}

fn table(field: &str, Columns(columns): Columns, rows: usize) -> std::result::Result<Attributes, Fault> {
    if let Some((name, values)) = columns.iter().find(|(_, values)| values.len() != rows) {
        let reason = format!("{name:?} has {} values, but there are {rows}", values.len());
        return Err((field.into(), reason + if field == "attributes" { " nodes" } else { " edges" }));
    }
    let values = Array2::from_shape_fn((rows, columns.len()), |(row, column)| columns[column].1[row]);
    Attributes::new(columns.into_iter().map(|(name, _)| name).collect(), values).map_err(fault(field))
}

fn edges(graph: &Graph, edges: Vec<[NodeRef; 2]>) -> std::result::Result<Vec<[usize; 2]>, Fault> {
    let names = positions(graph);
    let side = Side { graph, names: &names };
    let mut ends = Vec::with_capacity(edges.len());
    for (index, [from, to]) in edges.iter().enumerate() {
        let fault = |reason: String| (format!("edges[{index}]"), reason);
        let [i, j] = [side.find(from).map_err(fault)?, side.find(to).map_err(fault)?];
        if i == j {
            return Err(fault(Error::SelfLoop { node: i }.to_string()));
        }
        ends.push([i, j]);
    }
    Ok(ends)
}

/// A graph and the positions of its names.
pub(super) struct Side<'a> {
    pub(super) graph: &'a Graph,
    names: &'a BTreeMap<&'a str, usize>,
}

impl Side<'_> {
    pub(super) fn find(&self, node: &NodeRef) -> std::result::Result<usize, String> {
        let count = self.graph.node_count();
        match node {
            NodeRef::Index(index) if *index < count => Ok(*index),
            NodeRef::Index(index) => Err(format!("there is no node {index}: there are {count}, counted from 0")),
            NodeRef::Name(name) => match self.names.get(name.as_str()) {
                Some(&index) => Ok(index),
                None if self.graph.names().is_none() => {
                    Err(format!("there is no node {name:?}: the nodes of this graph have no names"))
                }
                None => Err(format!("there is no node with the name {name:?}")),
            },
        }
    }

    /// A node as it is written: by name if it has one.
    pub(super) fn write(&self, index: usize) -> NodeRef {
        let name = self.graph.names().map(|names| &names[index]).filter(|name| !name.is_empty());
        name.map_or(NodeRef::Index(index), |name| NodeRef::Name(name.clone()))
    }
}

/// Left nodes whose partner is not known, in increasing order.
fn unknown(nodes: &[NodeRef], left: &Side<'_>) -> std::result::Result<Vec<usize>, Fault> {
    let mut unknown = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        unknown.push(left.find(node).map_err(|reason| (format!("unknown[{index}]"), reason))?);
    }
    unknown.sort_unstable();
    unknown.dedup();
    Ok(unknown)
}

pub(super) fn node_pairs(
    field: &str,
    pairs: &[[NodeRef; 2]],
    left: &Side<'_>,
    right: &Side<'_>,
) -> std::result::Result<Vec<[usize; 2]>, Fault> {
    let find = |(index, [from, to]): (usize, &[NodeRef; 2])| {
        let fault = |side: &str, reason: String| (format!("{field}[{index}]"), format!("{side}: {reason}"));
        let i = left.find(from).map_err(|reason| fault("left", reason))?;
        Ok([i, right.find(to).map_err(|reason| fault("right", reason))?])
    };
    pairs.iter().enumerate().map(find).collect()
}

/// The matching as listed, or by names except for the nodes whose partner is not known.
fn truth(
    matches: Option<Matches>,
    unknown: &[usize],
    constraint: Constraint,
    left: &Side<'_>,
    right: &Side<'_>,
) -> std::result::Result<Option<Matching>, Fault> {
    let right_count = right.graph.node_count();
    let list = match matches {
        Some(Matches::Unknown) => return Ok(None),
        None => return Ok(by_name(left.graph, right.names, right_count, constraint, unknown)),
        Some(Matches::Listed(list)) => list,
    };
    let mut map = vec![None; left.graph.node_count()];
    // Which entry uses a node.
    let mut left_by = vec![None; map.len()];
    let mut right_by = vec![None; right_count];
    for (index, (from, to)) in list.iter().enumerate() {
        let fault = |reason: String| (format!("matches[{index}]"), reason);
        let i = left.find(from).map_err(|reason| fault(format!("left: {reason}")))?;
        if let Some(first) = left_by[i].replace(index) {
            return Err(fault(format!("this left node is in matches[{first}] already")));
        }
        if unknown.binary_search(&i).is_ok() {
            return Err(fault("the partner of this left node is marked as unknown".to_string()));
        }
        let Some(to) = to else { continue };
        let k = right.find(to).map_err(|reason| fault(format!("right: {reason}")))?;
        if let (Some(first), Constraint::OneToOne) = (right_by[k].replace(index), constraint) {
            return Err(fault(format!("this right node is in matches[{first}] already, and a match is one-to-one")));
        }
        map[i] = Some(k);
    }
    Matching::new(map, right_count, constraint).map(Some).map_err(fault("matches"))
}

/// A graph as it is written.
pub(super) fn graph_record(named: &NamedGraph) -> GraphRecord {
    let graph = &named.graph;
    let (rows, directed) = graph.given_edges();
    let edges: Vec<[NodeRef; 2]> = rows.iter().map(|&e| graph.edges().ends()[e].map(NodeRef::Index)).collect();
    let edge_attributes = graph.edge_attributes();
    let mut record = GraphRecord {
        id: named.id.clone(),
        nodes: None,
        points: graph.points().map(points),
        names: graph.names().map(|names| Capped(names.to_vec())),
        attributes: graph.node_attributes().map(|table| columns(table, None)),
        context: graph.context().map(points),
        edges: (!edges.is_empty()).then_some(Capped(edges)),
        directed: directed.then_some(true),
        edge_attributes: edge_attributes.map(|table| columns(table, Some(&rows))),
        image: named.image.clone(),
        image_size: graph.image_size().map(|size| size.map(Number)),
        scale: graph.scale().map(Number),
        unit: graph.unit().map(str::to_string),
        time: graph.time().map(Number),
    };
    // The number of nodes is written only if nothing else implies it.
    if node_count(&record).is_err() {
        record.nodes = Some(graph.node_count());
    }
    record
}

fn points(points: ArrayView2<'_, f64>) -> Points {
    Points { dimension: points.ncols(), coordinates: points.iter().copied().collect() }
}

fn columns(table: &Attributes, rows: Option<&[usize]>) -> Columns {
    let column = |(column, name): (usize, &String)| {
        let values = table.values();
        let values = match rows {
            None => values.column(column).to_vec(),
            Some(rows) => rows.iter().map(|&row| values[[row, column]]).collect(),
        };
        (name.clone(), values)
    };
    Columns(table.names().iter().enumerate().map(column).collect())
}

/// The pairs as they are written: without matches if the names give them.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn pair_records<'a>(
    data: &'a DataSet,
    control: &Control,
) -> Result<impl Iterator<Item = PairRecord> + use<'a>> {
    let names = all_positions(data.graphs(), control)?;
    Ok(data.pairs().iter().map(move |pair| {
        let side = |index: usize| Side { graph: &data.graphs()[index].graph, names: &names[index] };
        let (left, right) = (side(pair.left), side(pair.right));
        let constraint = pair.truth.as_ref().map(Matching::constraint).unwrap_or_default();
        let by_name = by_name(left.graph, right.names, right.graph.node_count(), constraint, &pair.unknown);
        let matches = match &pair.truth {
            truth if *truth == by_name => None,
            None => Some(Matches::Unknown),
            Some(truth) => {
                Some(Matches::Listed(truth.pairs().map(|(i, k)| (left.write(i), Some(right.write(k)))).collect()))
            }
        };
        PairRecord {
            left: data.graphs()[pair.left].id.clone(),
            right: data.graphs()[pair.right].id.clone(),
            matches,
            constraint: (constraint != Constraint::default()).then_some(constraint),
            unknown: pair.unknown.iter().map(|&i| left.write(i)).collect(),
            seeds: pair.given.seeds.iter().map(|&[i, k]| [left.write(i), right.write(k)]).collect(),
            forbidden: pair.given.forbidden.iter().map(|&[i, k]| [left.write(i), right.write(k)]).collect(),
            features: pair.features.as_deref().map(|features| pair_features::record(features, &left, &right)),
            split: pair.split,
        }
    }))
}

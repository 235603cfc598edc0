//! Tables of matches: one row per matched pair of nodes, and one per node without a partner.
//!
//! ```text
//! left_graph,right_graph,left,right,split
//! frame 1,frame 9,nose,nose,train
//! frame 1,frame 9,chin,,train
//! frame 1,frame 9,,left ear,train
//! ```
//!
//! Nodes are given by name, or by number (from 0) if they have none. Pairs whose matching is not known have no rows.

use super::dataset::{DataSet, LabelledPair};
use super::table;
use crate::Result;
use crate::data::Split;
use crate::graph::Graph;

const FORMAT: &str = "table of matches";

/// Writes the true matchings of a data set.
///
/// # Errors
/// An id or a name that a table cannot hold.
pub fn write(data: &DataSet) -> Result<String> {
    let header = ["left_graph", "right_graph", "left", "right", "split"];
    let mut rows: Vec<Vec<String>> = vec![header.map(str::to_string).to_vec()];
    for pair in data.pairs() {
        add(&mut rows, data, pair)?;
    }
    table::write(FORMAT, rows)
}

fn add(rows: &mut Vec<Vec<String>>, data: &DataSet, pair: &LabelledPair) -> Result<()> {
    let Some(truth) = &pair.truth else { return Ok(()) };
    let (left, right) = (&data.graphs()[pair.left], &data.graphs()[pair.right]);
    let left_id = table::writable(FORMAT, "the id", &left.id)?;
    let right_id = table::writable(FORMAT, "the id", &right.id)?;
    let name = |graph: &Graph, node: Option<usize>| match node {
        None => Ok(String::new()),
        Some(node) => {
            let name = graph.name_or_number(node);
            table::writable(FORMAT, "the node", &name)
        }
    };
    let matched = truth.left_to_right().iter().enumerate().map(|(i, &k)| (Some(i), k));
    let over = truth.unmatched_right().map(|k| (None, Some(k)));
    for (i, k) in matched.chain(over) {
        let split = pair.split.map_or("", Split::name).to_string();
        rows.push(vec![left_id.clone(), right_id.clone(), name(&left.graph, i)?, name(&right.graph, k)?, split]);
    }
    Ok(())
}

//! Features of pairs as one long table: a row for each pair of nodes that may be matched.
//!
//! ```text
//! pair,left,right,match,iou,cosine
//! 12,a,x,1,0.8,0.9
//! 12,a,y,0,0.1,0.3
//! 12,b,,,,
//! 13,…
//! ```
//!
//! `pair` says which pair of graphs a row belongs to; `left` and `right` name the nodes. With a column `match` (1 or 0, true or false) the pairs are
//! labelled. All other columns are features. A row without a left or a right node lists a node that may not be matched to any. Pairs that are not
//! listed are forbidden.

use super::dataset::{DataSet, LabelledPair, NamedGraph};
use super::table::{self, Row};
use super::{malformed, number, shorten};
use crate::graph::{Graph, PairFeatures};
use crate::matching::{Constraint, Matching};
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: &str = "table of pair features";

/// The places of the columns.
struct Columns {
    pair: usize,
    left: usize,
    right: usize,
    label: Option<usize>,
    features: Vec<usize>,
    names: Vec<String>,
}

/// What the rows of one pair of graphs say.
#[derive(Default)]
struct Collected {
    left: Nodes,
    right: Nodes,
    listed: Vec<[usize; 2]>,
    values: Vec<f64>,
    /// The right node of each matched left one, and the line.
    matches: BTreeMap<usize, (usize, usize)>,
}

/// Nodes by name, in the order in which they occur.
#[derive(Default)]
struct Nodes {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Nodes {
    fn place(&mut self, name: &str) -> Option<usize> {
        let next = self.names.len();
        (!name.is_empty()).then(|| {
            *self.places.entry(name.to_string()).or_insert_with(|| {
                self.names.push(name.to_string());
                next
            })
        })
    }
}

/// Whether the first row of a text has the columns of such a table.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    let first = table::rows(FORMAT, text).ok().and_then(|mut rows| rows.next()).and_then(Result::ok);
    first.is_some_and(|row| Columns::of(&row).is_some())
}

impl Columns {
    fn of(heads: &Row) -> Option<Self> {
        let find = |name: &str| heads.fields.iter().position(|head| head.eq_ignore_ascii_case(name));
        let (pair, left, right, label) = (find("pair")?, find("left")?, find("right")?, find("match"));
        let taken = [Some(pair), Some(left), Some(right), label];
        let features: Vec<usize> = (0..heads.fields.len()).filter(|at| !taken.contains(&Some(*at))).collect();
        let names = features.iter().map(|&at| heads.fields[at].to_string()).collect();
        Some(Self { pair, left, right, label, features, names })
    }
}

/// Reads a table.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
pub(crate) fn read(text: &str) -> Result<DataSet> {
    let mut rows = table::rows(FORMAT, text)?;
    let heads = rows.next().transpose()?;
    let Some((columns, heads)) = heads.and_then(|heads| Some((Columns::of(&heads)?, heads))) else {
        return malformed(FORMAT, 1, "expected columns pair, left, right and features");
    };
    if columns.features.is_empty() {
        return malformed(FORMAT, heads.line, "there is no feature: no column besides pair, left, right and match");
    }
    let mut order: Vec<String> = Vec::new();
    let mut all: BTreeMap<String, Collected> = BTreeMap::new();
    for row in rows {
        let row = row?;
        let id = &row.fields[columns.pair];
        if id.is_empty() {
            return malformed(FORMAT, row.line, "the pair has no id");
        }
        if !all.contains_key(id) {
            order.push(id.to_string());
        }
        all.entry(id.to_string()).or_default().add(&row, &columns)?;
    }
    let (mut graphs, mut pairs) = (Vec::new(), Vec::new());
    for id in order {
        let Some(collected) = all.remove(&id) else { continue };
        let at = |error| Error::At { place: format!("pair {:?}", shorten(&id)), error: Box::new(error) };
        let (made, pair) = collected.pair(&id, graphs.len(), &columns).map_err(at)?;
        graphs.extend(made);
        pairs.push(pair);
    }
    DataSet::new(graphs, pairs)
}

impl Collected {
    fn add(&mut self, Row { line, fields }: &Row, columns: &Columns) -> Result<()> {
        let [left, right] = [self.left.place(&fields[columns.left]), self.right.place(&fields[columns.right])];
        let label = columns.label.map(|at| is_match(*line, &fields[at])).transpose()?;
        let (Some(i), Some(k)) = (left, right) else {
            if label == Some(true) {
                return malformed(FORMAT, *line, "a match needs a left and a right node");
            }
            return Ok(());
        };
        for &at in &columns.features {
            self.values.push(number(FORMAT, *line, &fields[at])?);
        }
        self.listed.push([i, k]);
        if label == Some(true)
            && let Some((_, first)) = self.matches.insert(i, (k, *line))
        {
            return malformed(FORMAT, *line, format!("this left node has a match in line {first} already"));
        }
        Ok(())
    }

    fn pair(self, id: &str, first: usize, columns: &Columns) -> Result<([NamedGraph; 2], LabelledPair)> {
        let (n, m) = (self.left.names.len(), self.right.names.len());
        let rows = Array2::from_shape_vec((self.listed.len(), columns.names.len()), self.values);
        let rows = rows.map_err(|_| Error::Size { what: "features", expected: columns.names.len(), found: 0 })?;
        let features = PairFeatures::of_list(columns.names.clone(), (n, m), &self.listed, rows.view())?;
        let right_of = |i: usize| self.matches.get(&i).map(|&(k, _)| k);
        let truth = || Matching::new((0..n).map(right_of).collect(), m, Constraint::OneToOne);
        let truth = columns.label.map(|_| truth()).transpose()?;
        let graph = |side: &str, nodes: Nodes| -> Result<NamedGraph> {
            let graph = Graph::new(nodes.names.len()).with_names(nodes.names)?;
            Ok(NamedGraph { id: format!("{id} {side}"), graph: Arc::new(graph), image: None })
        };
        let pair = LabelledPair { features: Some(Arc::new(features)), ..LabelledPair::new(first, first + 1, truth) };
        Ok(([graph("left", self.left)?, graph("right", self.right)?], pair))
    }
}

fn is_match(line: usize, word: &str) -> Result<bool> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Ok(true),
        "" | "0" | "false" | "no" => Ok(false),
        _ => malformed(FORMAT, line, format!("match is \"{}\": it must be 1 or 0", shorten(word))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_pairs_with_their_labels() {
        let data = read("iou,pair,left,right,match\n.5,2,a,x,0\n.9,2,b,x,1\n,2,c,,\n.1,1,a,y,true\n").unwrap();
        assert_eq!(
            data.graphs().iter().map(|graph| graph.id.as_str()).collect::<Vec<_>>(),
            ["2 left", "2 right", "1 left", "1 right"]
        );
        let pair = &data.pairs()[0];
        assert_eq!(pair.truth.as_ref().unwrap().left_to_right(), [None, Some(0), None]);
        assert_eq!(pair.features.as_ref().unwrap().row(1, 0).unwrap()[0], 0.9);
        assert_eq!(DataSet::from_json(&data.to_json().unwrap()).unwrap(), data);
        assert_eq!(read("pair,left,right,iou\n1,a,x,0.5\n").unwrap().pairs()[0].truth, None);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            error("pair,left,right,iou\n1,a,x,many\n"),
            "table of pair features, line 2: \"many\" is not a finite number"
        );
        assert!(error("pair,left,right\n1,a,x\n").contains("no feature"));
        assert!(
            error("pair,left,right,match,iou\n1,a,x,1,1\n1,a,y,1,1\n")
                .contains("line 3: this left node has a match in line 2")
        );
        assert_eq!(
            error("pair,left,right,iou\n1,a,x,1\n1,a,x,2\n"),
            "pair \"1\": listed pairs: \"left 0, right 0\" occurs twice"
        );
    }
}

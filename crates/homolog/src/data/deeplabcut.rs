//! DeepLabCut's tables: three or four header rows, then one frame per row.
//!
//! ```text
//! scorer,anna,anna,anna,anna,anna,anna
//! bodyparts,nose,nose,nose,tail,tail,tail
//! coords,x,y,likelihood,x,y,likelihood
//! 0,12.5,30.1,0.99,80.2,44.0,0.87
//! ```
//!
//! With several animals there is a row `individuals` before the body parts, and every animal of a frame is a graph `frame/animal`. A
//! labelled frame (`labeled-data,video,img001.png,...`) is named by its path. If there is a likelihood, it becomes the node attribute
//! `likelihood`. A body part without coordinates was not seen: it is not a node.

use super::dataset::NamedGraph;
use super::table::{self, Row, is_missing};
use super::{malformed, number, shorten};
use crate::graph::{Attributes, Graph};
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: &str = "DeepLabCut table";

/// Whether a text begins like one of these tables.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("scorer")) && text[6..].starts_with([',', ';', '\t'])
}

/// A body part of an animal and its columns.
#[derive(Default)]
struct Part {
    individual: String,
    name: String,
    x: Option<usize>,
    y: Option<usize>,
    likelihood: Option<usize>,
}

/// Reads the frames of a table, each animal of a frame as a graph.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
pub(crate) fn read(text: &str) -> Result<Vec<NamedGraph>> {
    let mut rows = table::rows(FORMAT, text)?;
    let mut heads: BTreeMap<String, Row> = BTreeMap::new();
    let mut last = 1;
    while !heads.contains_key("coords") {
        let Some(row) = rows.next().transpose()? else { return malformed(FORMAT, last, "there is no row \"coords\"") };
        last = row.line;
        let kind = row.fields.get(0).unwrap_or_default().to_ascii_lowercase();
        if !["scorer", "individuals", "bodyparts", "coords"].contains(&kind.as_str()) {
            return malformed(FORMAT, last, format!("\"{}\" is not a row of the header", shorten(&kind)));
        }
        heads.insert(kind, row);
    }
    let (Some(names), Some(coords)) = (heads.get("bodyparts"), heads.get("coords")) else {
        return malformed(FORMAT, last, "there is no row \"bodyparts\"");
    };
    // Columns before the first coordinate say which frame it is.
    let is_coordinate =
        |at: &usize| ["x", "y", "likelihood"].contains(&coords.fields[*at].to_ascii_lowercase().as_str());
    let first = (1..coords.fields.len()).find(is_coordinate).unwrap_or(coords.fields.len());
    let mut parts: Vec<Part> = Vec::new();
    let mut position: BTreeMap<(String, String), usize> = BTreeMap::new();
    for at in first..coords.fields.len() {
        let individual = heads.get("individuals").map_or("", |row| &row.fields[at]).to_string();
        let name = names.fields[at].to_string();
        let part = *position.entry((individual.clone(), name.clone())).or_insert_with(|| {
            parts.push(Part { individual, name, ..Part::default() });
            parts.len() - 1
        });
        let slot = match coords.fields[at].to_ascii_lowercase().as_str() {
            "x" => &mut parts[part].x,
            "y" => &mut parts[part].y,
            "likelihood" => &mut parts[part].likelihood,
            other => {
                return malformed(FORMAT, coords.line, format!("\"{}\" is not x, y or likelihood", shorten(other)));
            }
        };
        if slot.replace(at).is_some() {
            let reason = format!("column {}: duplicate coordinate of {:?}", at + 1, parts[part].name);
            return malformed(FORMAT, coords.line, reason);
        }
    }
    let mut individuals: Vec<&str> = Vec::new();
    for part in &parts {
        if !individuals.contains(&part.individual.as_str()) {
            individuals.push(&part.individual);
        }
    }
    let mut graphs = Vec::new();
    for row in rows {
        let row = row?;
        let frame: Vec<&str> = row.fields.iter().take(first).filter(|field| !field.is_empty()).collect();
        let frame = frame.join("/");
        for individual in &individuals {
            let id = if individual.is_empty() { frame.clone() } else { format!("{frame}/{individual}") };
            let own = parts.iter().filter(|part| part.individual == *individual);
            graphs.push(graph(&row, id, own)?);
        }
    }
    Ok(graphs)
}

fn graph<'a>(row: &Row, id: String, parts: impl Iterator<Item = &'a Part>) -> Result<NamedGraph> {
    let line = row.line;
    let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
    let (mut names, mut points, mut likelihoods) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let (Some(x), Some(y)) = (part.x, part.y) else {
            return malformed(FORMAT, line, format!("the body part {:?} has no columns x and y", part.name));
        };
        let fields = [&row.fields[x], &row.fields[y]];
        match fields.iter().filter(|field| is_missing(field)).count() {
            0 => {}
            2 => continue,
            _ => return malformed(FORMAT, line, format!("a coordinate of {:?} is missing", part.name)),
        }
        points.push([number(FORMAT, line, fields[0])?, number(FORMAT, line, fields[1])?]);
        if let Some(at) = part.likelihood {
            likelihoods.push(number(FORMAT, line, &row.fields[at])?);
        }
        names.push(part.name.clone());
    }
    let array = Array2::from_shape_fn((points.len(), 2), |(at, axis)| points[at][axis]);
    let mut graph = Graph::from_points(array).and_then(|graph| graph.with_names(names)).map_err(told)?;
    if !likelihoods.is_empty() && likelihoods.len() == points.len() {
        let values = Array2::from_shape_fn((likelihoods.len(), 1), |(at, _)| likelihoods[at]);
        let attributes = Attributes::new(vec!["likelihood".to_string()], values).map_err(told)?;
        graph = graph.with_node_attributes(attributes).map_err(told)?;
    }
    Ok(NamedGraph { id, graph: Arc::new(graph), image: None })
}

//! TPS files, as morphometricians write them (tpsDig, Rohlf): one specimen after the other.
//!
//! ```text
//! LM=3
//! 204.0 341.5
//! 150.0 257.0
//! NA NA
//! CURVES=1
//! POINTS=2
//! 10 20
//! 11 22
//! IMAGE=wing1.jpg
//! ID=wing 1
//! SCALE=0.0125
//! ```
//!
//! Landmark k is the same one in every specimen, and is called "k", from "1". `LM3` has three coordinates. A landmark that was not seen
//! is `NA NA` and not a node. Points of curves and outlines are context: features see them, nothing is matched to them.
//!
//! tpsDig counts y up from the bottom edge of the picture. A graph has y down, so the sign is turned around when reading and back when
//! writing; [`super::read`] also adds the height of the picture, which makes them the picture's pixels. Coordinates stay in pixels:
//! `SCALE`, the length of a pixel, is kept beside them. Points in space are left as they are.
//!
//! Specimens are named by `ID` if these differ and do not merely count, else by `IMAGE` without its ending if these differ, else by `ID` if
//! these differ, else 1, 2, 3, ... Other lines `KEY=value` (comments, variables) are skipped.

use super::dataset::NamedGraph;
use super::table::is_missing;
use super::{count, malformed, number, shorten};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

const FORMAT: &str = "TPS";

/// A specimen being read.
#[derive(Default)]
struct Specimen {
    line: usize,
    dimension: usize,
    landmarks: Vec<Option<Vec<f64>>>,
    context: Vec<Vec<f64>>,
    id: Option<String>,
    image: Option<String>,
    scale: Option<f64>,
}

/// Lines of coordinates that a line `KEY=count` has announced.
struct Promise {
    left: usize,
    landmarks: bool,
}

/// Reads all specimens.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
pub(crate) fn read(text: &str) -> Result<Vec<NamedGraph>> {
    let mut specimens: Vec<Specimen> = Vec::new();
    let mut promise = Promise { left: 0, landmarks: false };
    let mut last = 1;
    for (index, line) in text.lines().enumerate() {
        let (at, line) = (index + 1, line.trim());
        if line.is_empty() {
            continue;
        }
        last = at;
        if promise.left > 0 {
            let Some(specimen) = specimens.last_mut() else { continue };
            specimen.add(at, line, promise.landmarks)?;
            promise.left -= 1;
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return malformed(
                FORMAT,
                at,
                format!("\"{}\" is neither KEY=value nor expected coordinates", shorten(line)),
            );
        };
        let (key, value) = (key.trim().to_ascii_uppercase(), value.trim());
        if let "LM" | "LM3" | "LP" = key.as_str() {
            let dimension = if key == "LM3" { 3 } else { 2 };
            specimens.push(Specimen { line: at, dimension, ..Specimen::default() });
            promise = Promise { left: count(FORMAT, at, value)?, landmarks: true };
            continue;
        }
        let Some(specimen) = specimens.last_mut() else {
            return malformed(FORMAT, at, "a specimen begins with LM= or LM3=, the number of its landmarks");
        };
        match key.as_str() {
            "POINTS" => promise = Promise { left: count(FORMAT, at, value)?, landmarks: false },
            "ID" => specimen.id = Some(value.to_string()),
            "IMAGE" => specimen.image = Some(value.to_string()),
            "SCALE" => specimen.scale = Some(number(FORMAT, at, value)?),
            _ => {}
        }
    }
    if promise.left > 0 {
        return malformed(FORMAT, last, format!("the text ends before {} more points", promise.left));
    }
    let ids = ids(&specimens);
    specimens.into_iter().zip(ids).map(|(specimen, id)| specimen.finish(id)).collect()
}

/// What specimens are called. tpsDig numbers them from 0 in `ID` unless somebody writes something else there.
fn ids(specimens: &[Specimen]) -> Vec<String> {
    let distinct = |names: Option<Vec<String>>| {
        names.filter(|names| {
            let different: BTreeSet<&String> = names.iter().collect();
            different.len() == names.len() && names.iter().all(|name| !name.is_empty())
        })
    };
    let counted = |names: &[String]| {
        (0..2).any(|first| names.iter().enumerate().all(|(at, name)| *name == (at + first).to_string()))
    };
    let stem = |image: &String| {
        let file = image.rsplit(['/', '\\']).next().unwrap_or(image);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_string()
    };
    let by_id = distinct(specimens.iter().map(|specimen| specimen.id.clone()).collect());
    let by_image = distinct(specimens.iter().map(|specimen| specimen.image.as_ref().map(stem)).collect());
    match (by_id, by_image) {
        (Some(ids), None) => ids,
        (Some(ids), Some(_)) if !counted(&ids) => ids,
        (_, Some(images)) => images,
        (None, None) => (1..=specimens.len()).map(|number| number.to_string()).collect(),
    }
}

/// Up or down: the other way, in the plane.
fn turned(points: &Array2<f64>) -> Array2<f64> {
    let mut points = points.clone();
    if points.ncols() == 2 {
        // 0 - y and not -y: there is one zero.
        points.column_mut(1).mapv_inplace(|y| 0.0 - y);
    }
    points
}

impl Specimen {
    fn add(&mut self, line: usize, text: &str, is_landmark: bool) -> Result<()> {
        let words: Vec<&str> = text.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()).collect();
        if words.len() != self.dimension {
            let (expected, found) = (self.dimension, words.len());
            return malformed(FORMAT, line, format!("a point needs {expected} coordinates, found {found}"));
        }
        if is_landmark && words.iter().all(|word| is_missing(word)) {
            self.landmarks.push(None);
            return Ok(());
        }
        let point = words.iter().map(|word| number(FORMAT, line, word)).collect::<Result<Vec<f64>>>()?;
        if is_landmark {
            self.landmarks.push(Some(point));
        } else {
            self.context.push(point);
        }
        Ok(())
    }

    fn finish(self, id: String) -> Result<NamedGraph> {
        let line = self.line;
        let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
        let array = |points: &[&Vec<f64>]| {
            turned(&Array2::from_shape_fn((points.len(), self.dimension), |(row, axis)| points[row][axis]))
        };
        let seen: Vec<(usize, &Vec<f64>)> =
            self.landmarks.iter().enumerate().filter_map(|(at, point)| Some((at, point.as_ref()?))).collect();
        let names = seen.iter().map(|(at, _)| (at + 1).to_string()).collect();
        let points: Vec<&Vec<f64>> = seen.iter().map(|&(_, point)| point).collect();
        let mut graph = Graph::from_points(array(&points)).and_then(|graph| graph.with_names(names)).map_err(told)?;
        if !self.context.is_empty() {
            graph = graph.with_context(array(&self.context.iter().collect::<Vec<_>>())).map_err(told)?;
        }
        if let Some(scale) = self.scale {
            graph = graph.with_scale(scale).map_err(told)?;
        }
        Ok(NamedGraph { id, graph: Arc::new(graph), image: self.image })
    }
}

/// Writes specimens as tpsDig does: y up from the bottom edge of the picture, if that and its size are known. Landmarks called 1, 2, ...
/// keep these places; others are those of all graphs in order of first appearance. One that a graph does not have is
/// `NA NA`. Landmark names have no place in a TPS file: their order stands for them.
///
/// # Errors
/// A graph without points, points with two and with three coordinates in one file, an id with a line break, a landmark without a name.
pub(crate) fn write(graphs: &[NamedGraph]) -> Result<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for name in graphs.iter().flat_map(|named| named.graph.names().unwrap_or_default()) {
        if name.is_empty() {
            return malformed(FORMAT, 1, "a TPS file cannot hold an unnamed point");
        }
        if known.insert(name.as_str()) {
            names.push(name);
        }
    }
    let numbers = numbered(&names);
    if let Some(numbers) = &numbers {
        names = numbers.iter().map(String::as_str).collect();
    }
    let mut text = String::new();
    for NamedGraph { id, graph, image } in graphs {
        let points = graph.need_points(FORMAT)?;
        let dimension = points.ncols();
        let rows: Vec<Option<usize>> = match graph.names() {
            None => (0..points.nrows()).map(Some).collect(),
            Some(own) => names.iter().map(|name| own.iter().position(|other| other == name)).collect(),
        };
        let height = graph.image_size().filter(|_| image.is_some()).map(|[_, height]| height);
        let point = |row: ndarray::ArrayView1<'_, f64>| {
            let up = |(axis, &value): (usize, &f64)| match (dimension, axis) {
                (2, 1) => height.map_or(0.0 - value, |height| without_noise(height - value)),
                _ => value,
            };
            row.iter().enumerate().map(|cell| written(up(cell))).collect::<Vec<_>>().join(" ")
        };
        let mut line = |line: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        line(format!("{}={}", if dimension == 3 { "LM3" } else { "LM" }, rows.len()));
        for row in rows {
            line(row.map_or_else(|| vec!["NA"; dimension].join(" "), |row| point(points.row(row))));
        }
        if let Some(context) = graph.context().filter(|context| context.nrows() > 0) {
            line("CURVES=1".to_string());
            line(format!("POINTS={}", context.nrows()));
            context.rows().into_iter().for_each(|row| line(point(row)));
        }
        for (key, value) in [("IMAGE", image.as_deref()), ("ID", Some(id.as_str()))] {
            let Some(value) = value else { continue };
            if value.trim() != value || value.contains(['\n', '\r']) {
                return malformed(FORMAT, 1, format!("{:?} cannot be written to a line of a TPS file", shorten(value)));
            }
            line(format!("{key}={value}"));
        }
        if let Some(scale) = graph.scale() {
            line(format!("SCALE={scale:?}"));
        }
    }
    Ok(text)
}

/// The landmarks 1, 2, ... up to the last, if names are such numbers: each keeps its place, whichever specimen has it first.
fn numbered(names: &[&str]) -> Option<Vec<String>> {
    let number = |name: &&str| name.parse::<usize>().ok().filter(|number| *number > 0 && number.to_string() == *name);
    let last = names.iter().map(number).collect::<Option<Vec<usize>>>()?.into_iter().max()?;
    // Not if nearly all would be missing.
    (last <= 2 * names.len() + 100).then(|| (1..=last).map(|number| number.to_string()).collect())
}

/// What a subtraction from the height of a picture and its inverse add, beyond the tenth digit after the point.
fn without_noise(value: f64) -> f64 {
    const DIGITS: f64 = 1e10;
    if value.abs() < 1e5 { (value * DIGITS).round() / DIGITS } else { value }
}

/// A coordinate with five digits after the point, as tpsDig writes it, or more if it has more.
fn written(value: f64) -> String {
    let short = format!("{value:.5}");
    if short.parse() == Ok(value) { short } else { format!("{value:?}") }
}

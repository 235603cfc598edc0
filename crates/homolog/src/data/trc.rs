//! TRC files of motion capture (Motion Analysis, OpenSim): tab-separated text, one frame per row, three columns per marker.
//!
//! ```text
//! PathFileType  4  (X/Y/Z)  walk.trc
//! DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
//! 100       100         238        2           mm     100           1                   238
//! Frame#    Time        R.Heel                 L.Heel
//!                       X1         Y1  Z1      X2     Y2  Z2
//!
//! 1         0.00        -652.63    15  -94.5   -629   15  -437
//! ```
//!
//! Each frame is a graph in space, named by its number, with its time and the unit of its coordinates. A marker whose three cells are
//! empty was not seen and is not a node of that frame. Markers called `*12`, `U7` or nothing are points that no one named.

use super::dataset::{MAX_GRAPHS, MAX_NODES, NamedGraph};
use super::table::{MAX_TABLE_SIZE, is_missing};
use super::take::is_unnamed;
use super::{count, malformed, number, shorten};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

const FORMAT: &str = "TRC";
/// The words that such a file begins with.
pub(super) const START: &str = "PathFileType";

/// Reads all frames.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
pub(crate) fn read(text: &str) -> Result<Vec<NamedGraph>> {
    if text.len() > MAX_TABLE_SIZE {
        return malformed(FORMAT, 1, format!("{} bytes are more than {MAX_TABLE_SIZE}", text.len()));
    }
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut head = |what: &str| match lines.next() {
        Some(line) => Ok(line),
        None => malformed(FORMAT, text.lines().count().max(1), format!("the text ends before {what}")),
    };
    let (at, first) = head("its first line")?;
    if !first.trim_start_matches('\u{feff}').trim_start().starts_with(START) {
        return malformed(FORMAT, at, format!("a TRC file begins with {START}"));
    }
    let ((_, keys), (at, values)) = (head("the line with DataRate")?, head("the values of DataRate and the others")?);
    let stated = |key: &str| {
        let position = keys.split_whitespace().position(|own| own.eq_ignore_ascii_case(key));
        position.and_then(|position| values.split_whitespace().nth(position))
    };
    let expected = match stated("NumMarkers") {
        Some(word) => Some(count(FORMAT, at, word)?),
        None => None,
    };
    let unit = stated("Units").map(str::to_string);
    let (at, names) = head("the names of the markers")?;
    let names = marker_names(at, names, expected)?;
    let (at, axes) = head("the line with X1, Y1, Z1")?;
    if !axes.trim_start().starts_with(['X', 'x']) {
        return malformed(FORMAT, at, "expected the line with X1, Y1, Z1 below the names of the markers");
    }
    let mut frames: Vec<NamedGraph> = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        if frames.len() == MAX_GRAPHS {
            return malformed(FORMAT, at, format!("there are more than {MAX_GRAPHS} frames"));
        }
        let frame = frame(at, line, &names, unit.as_deref())?;
        if !seen.insert(frame.id.clone()) {
            return malformed(FORMAT, at, format!("duplicate frame {}", frame.id));
        }
        frames.push(frame);
    }
    if let Some(expected) = stated("NumFrames").and_then(|word| word.parse::<usize>().ok())
        && expected > frames.len()
    {
        let reason = format!("the text ends after {} of {expected} frames", frames.len());
        return malformed(FORMAT, text.lines().count().max(1), reason);
    }
    Ok(frames)
}

/// The names of the markers, in the order of their columns; empty if no one named one.
fn marker_names(line: usize, text: &str, expected: Option<usize>) -> Result<Vec<String>> {
    let fields: Vec<&str> = text.trim_end_matches(['\r', '\n']).split('\t').map(str::trim).collect();
    let given: Vec<(usize, &str)> =
        fields.iter().copied().enumerate().skip(2).filter(|(_, name)| !name.is_empty()).collect();
    let in_place = given.iter().all(|(at, _)| (at - 2) % 3 == 0);
    let last = given.last().map_or(0, |(at, _)| (at - 2) / 3 + 1);
    // Without empty cells between them the names follow each other.
    let names: Vec<&str> = if in_place {
        let total = expected.unwrap_or(last).max(last).min(MAX_NODES + 1);
        (0..total).map(|marker| fields.get(2 + 3 * marker).copied().unwrap_or_default()).collect()
    } else {
        given.into_iter().map(|(_, name)| name).collect()
    };
    if names.len() > MAX_NODES {
        return malformed(FORMAT, line, format!("there are more than {MAX_NODES} markers"));
    }
    if let Some(expected) = expected.filter(|&expected| expected != names.len()) {
        return malformed(FORMAT, line, format!("{} markers, but NumMarkers is {expected}", names.len()));
    }
    let mut seen = BTreeSet::new();
    let named = |name: &str| if is_unnamed(name) { String::new() } else { name.to_string() };
    let names: Vec<String> = names.into_iter().map(named).collect();
    if let Some(broken) = names.iter().find(|name| name.contains('\r')) {
        return malformed(
            FORMAT,
            line,
            format!("the name of the marker {:?} is broken by a line end", shorten(broken)),
        );
    }
    if let Some(twice) = names.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
        return malformed(FORMAT, line, format!("duplicate marker {:?}", shorten(twice)));
    }
    Ok(names)
}

fn frame(line: usize, text: &str, markers: &[String], unit: Option<&str>) -> Result<NamedGraph> {
    let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
    let columns = 2 + 3 * markers.len();
    if let Some(extra) = cells.iter().skip(columns).find(|cell| !cell.is_empty()) {
        let reason = format!("\"{}\" is beyond the {columns} columns of {} markers", shorten(extra), markers.len());
        return malformed(FORMAT, line, reason);
    }
    let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
    let id = count(FORMAT, line, cell(0))?.to_string();
    let time = number(FORMAT, line, cell(1))?;
    let (mut names, mut coordinates) = (Vec::new(), Vec::new());
    for (marker, name) in markers.iter().enumerate() {
        let own = [0, 1, 2].map(|axis| cell(2 + 3 * marker + axis));
        match own.iter().filter(|cell| is_missing(cell)).count() {
            0 => {
                for cell in own {
                    coordinates.push(number(FORMAT, line, cell)?);
                }
                names.push(name.clone());
            }
            3 => {}
            _ => {
                let reason = format!("marker {} has only some of its three coordinates", marker + 1);
                return malformed(FORMAT, line, reason);
            }
        }
    }
    let told = |error: Error| Error::Malformed { format: FORMAT, line, reason: error.to_string() };
    let points = Array2::from_shape_fn((names.len(), 3), |(row, axis)| coordinates[3 * row + axis]);
    let graph = Graph::from_points(points).and_then(|graph| graph.with_names(names)?.with_time(time)).map_err(told)?;
    let graph = unit.map_or(graph.clone(), |unit| graph.with_unit(unit));
    Ok(NamedGraph { id, graph: Arc::new(graph), image: None })
}

/// Writes frames. The markers are those of the graph with most of them, then others in order of first appearance; the cells of one that
/// a frame does not have are empty. Points without a name are called `*1`, `*2`, ... in each frame. Graphs whose ids are not numbers become frames 1, 2, ...; those
/// without a time are a second apart.
///
/// # Errors
/// A graph without points in space; a name that a cell cannot hold, or that would be read as no one's.
pub(crate) fn write(graphs: &[NamedGraph]) -> Result<String> {
    let (mut names, mut columns): (Vec<&str>, BTreeMap<&str, usize>) = (Vec::new(), BTreeMap::new());
    let mut unnamed = 0;
    let count = |named: &&NamedGraph| names_of(&named.graph).iter().filter(|name| !name.is_empty()).count();
    let fullest = graphs.iter().rev().max_by_key(count);
    for named in fullest.into_iter().chain(graphs) {
        let own = names_of(&named.graph);
        unnamed = unnamed.max(own.iter().filter(|name| name.is_empty()).count());
        for name in own.into_iter().filter(|name| !name.is_empty()) {
            if name.trim() != name || name.contains(['\t', '\n', '\r']) || is_unnamed(name) {
                return malformed(FORMAT, 1, format!("a marker cannot be called {:?} in a TRC file", shorten(name)));
            }
            columns.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        }
    }
    let numbered = graphs.iter().all(|named| named.id.parse::<usize>().is_ok());
    let times: Vec<f64> =
        graphs.iter().enumerate().map(|(at, named)| named.graph.time().unwrap_or(at as f64)).collect();
    let total = names.len() + unnamed;
    let span = times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
    let rate = if span > 0.0 { (times.len() - 1) as f64 / span } else { 1.0 };
    // Times have a few digits: so has what is computed from them.
    let rate = (rate * 100.0).round() / 100.0;
    let unit = graphs.iter().find_map(|named| named.graph.unit()?.split_whitespace().next());
    let (units, unit) = unit.map_or((String::new(), String::new()), |unit| ("\tUnits".into(), format!("\t{unit}")));
    let frames = graphs.len();
    let start = graphs.first().filter(|_| numbered).map_or("1", |named| named.id.as_str());
    let mut text = format!(
        "{START}\t4\t(X/Y/Z)\thomolog\nDataRate\tCameraRate\tNumFrames\tNumMarkers{units}\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n{rate:?}\t{rate:?}\t{frames}\t{total}{unit}\t{rate:?}\t{start}\t{frames}\nFrame#\tTime"
    );
    let stars: Vec<String> = (1..=unnamed).map(|number| format!("*{number}")).collect();
    let heads = names.iter().copied().chain(stars.iter().map(String::as_str));
    // Writing to a string cannot fail.
    heads.enumerate().for_each(|(at, name)| _ = write!(text, "\t{}{name}", if at == 0 { "" } else { "\t\t" }));
    text += if total > 0 { "\t\t\n\t" } else { "\n\t" };
    (1..=total).for_each(|marker| _ = write!(text, "\tX{marker}\tY{marker}\tZ{marker}"));
    text.push_str(if total > 0 { "\n\n" } else { "X\n\n" });
    for (at, (named, time)) in graphs.iter().zip(&times).enumerate() {
        let points = named.graph.need_points(FORMAT)?;
        if points.ncols() != 3 {
            return Err(Error::Size { what: "coordinates of a marker", expected: 3, found: points.ncols() });
        }
        let mut cells: Vec<Option<usize>> = vec![None; total];
        let mut next = names.len();
        for (node, name) in names_of(&named.graph).into_iter().enumerate() {
            let column = columns.get(name).copied().unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            cells[column] = Some(node);
        }
        if numbered {
            text += &named.id;
        } else {
            _ = write!(text, "{}", at + 1);
        }
        _ = write!(text, "\t{time:?}");
        for node in cells {
            match node {
                Some(node) => points.row(node).iter().for_each(|value| _ = write!(text, "\t{value:?}")),
                None => text += "\t\t\t",
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// One name per node, empty if no one named it.
fn names_of(graph: &Graph) -> Vec<&str> {
    graph.names().map_or_else(|| vec![""; graph.node_count()], |names| names.iter().map(String::as_str).collect())
}

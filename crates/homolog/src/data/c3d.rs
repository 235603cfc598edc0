//! The points of C3D files, in which motion capture systems keep their recordings (binary, blocks of 512 bytes).
//!
//! A header says where the parameters and the frames are. Parameters have names and groups: `POINT:LABELS` are the names of the points,
//! `POINT:UNITS` and `POINT:RATE` what they say. A frame has four numbers per point (x, y, z and a residual, negative if the point was
//! not seen) and then the analog samples, which are skipped. Numbers are floats, or whole numbers times `POINT:SCALE`, in the order of
//! bytes of three kinds of processors. Written from the description of the format at c3d.org.
//!
//! Each frame is a graph in space, named by its number, with its time and unit. Points called `*12`, `U7` or nothing are points that
//! no one named. What a model computed from the points (`POINT:ANGLES`, `FORCES`, `MOMENTS`, `POWERS`, `SCALARS`) is left out.

use super::Note;
use super::dataset::{MAX_GRAPHS, MAX_NODES, MAX_TOTAL_NODES, NamedGraph};
use super::take::is_unnamed;
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const FORMAT: &str = "C3D";
const BLOCK: usize = 512;
/// The second byte of every such file.
const KEY: u8 = 0x50;
/// Groups of labels of what a model computed.
const COMPUTED: [&str; 5] = ["ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS"];

/// Whether bytes begin like a C3D file.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.len() >= BLOCK && bytes[1] == KEY && (1..=8).contains(&bytes[0])
}

/// The order of bytes, and the kind of floating-point numbers.
#[derive(Clone, Copy, PartialEq)]
enum Processor {
    Intel,
    Dec,
    Mips,
}

/// Bytes with a processor to read them for.
#[derive(Clone, Copy)]
struct Numbers<'a> {
    bytes: &'a [u8],
    processor: Processor,
}

impl<'a> Numbers<'a> {
    fn part<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let part = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
        part.copied().map_or_else(|| refuse(format!("the file ends at byte {}", self.bytes.len())), Ok)
    }

    fn slice(&self, at: usize, length: usize) -> Result<&'a [u8]> {
        let slice = at.checked_add(length).and_then(|end| self.bytes.get(at..end));
        slice.map_or_else(|| refuse(format!("the file ends at byte {}", self.bytes.len())), Ok)
    }

    fn word(&self, at: usize) -> Result<u16> {
        let part = self.part(at)?;
        Ok(if self.processor == Processor::Mips { u16::from_be_bytes(part) } else { u16::from_le_bytes(part) })
    }

    fn float(&self, at: usize) -> Result<f64> {
        let [a, b, c, d] = self.part(at)?;
        Ok(f64::from(match self.processor {
            Processor::Intel => f32::from_le_bytes([a, b, c, d]),
            Processor::Mips => f32::from_be_bytes([a, b, c, d]),
            // Words are swapped, and the exponent is larger by two.
            Processor::Dec => f32::from_le_bytes([c, d, a, b]) / 4.0,
        }))
    }
}

/// A parameter: the size of its items (-1 text, 1 bytes, 2 words, 4 floats), how many along each dimension, where they begin.
struct Parameter {
    kind: i8,
    sizes: Vec<usize>,
    at: usize,
}

type Parameters = BTreeMap<(String, String), Parameter>;

/// Reads the points of all frames; what was left out is noted.
///
/// # Errors
/// [`Error::Unreadable`] with the reason.
pub(crate) fn read(bytes: &[u8], notes: &mut Vec<Note>) -> Result<Vec<NamedGraph>> {
    if !is_one(bytes) {
        return refuse("it does not begin like a C3D file");
    }
    let start = (usize::from(bytes[0]) - 1) * BLOCK;
    let intel = Numbers { bytes, processor: Processor::Intel };
    let processor = match intel.part::<4>(start)?[3] {
        84 => Processor::Intel,
        85 => Processor::Dec,
        86 => Processor::Mips,
        other => return refuse(format!("processor {other} is not known (84, 85 and 86 are)")),
    };
    let numbers = Numbers { bytes, processor };
    let parameters = parameters(numbers, start + 4)?;
    let layout = Layout::new(numbers, &parameters)?;
    let computed: BTreeSet<String> = COMPUTED.iter().flat_map(|name| texts(numbers, &parameters, name)).collect();
    let mut labels: Vec<String> =
        ["LABELS", "LABELS2", "LABELS3", "LABELS4"].iter().flat_map(|name| texts(numbers, &parameters, name)).collect();
    labels.resize(layout.points, String::new());
    let wanted: Vec<usize> = (0..layout.points).filter(|&point| !computed.contains(&labels[point])).collect();
    for label in labels.iter_mut().filter(|label| is_unnamed(label)) {
        label.clear();
    }
    let mut seen = BTreeSet::new();
    if let Some(&twice) =
        wanted.iter().find(|&&point| !labels[point].is_empty() && !seen.insert(labels[point].as_str()))
    {
        return refuse(format!("duplicate marker {:?}", super::shorten(&labels[twice])));
    }
    let unit = texts(numbers, &parameters, "UNITS").into_iter().next().filter(|unit| !unit.is_empty());
    let frames = (0..layout.frames).map(|frame| {
        let graph = layout.frame(numbers, frame, &wanted, &labels)?;
        let graph = unit.as_ref().map_or(graph.clone(), |unit| graph.with_unit(unit.clone()));
        Ok(NamedGraph { id: (layout.first + frame).to_string(), graph: Arc::new(graph), image: None })
    });
    let left_out = layout.points - wanted.len();
    notes.extend((left_out > 0).then_some(Note::Computed { points: left_out }));
    frames.collect()
}

fn refuse<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Unreadable { format: FORMAT, reason: reason.into() })
}

/// All parameters by group and name, in upper case.
fn parameters(numbers: Numbers<'_>, first: usize) -> Result<Parameters> {
    let mut groups: BTreeMap<i8, String> = BTreeMap::new();
    let mut found: Vec<(i8, String, Parameter)> = Vec::new();
    let mut at = first;
    loop {
        let [length, group] = numbers.part::<2>(at)?.map(u8::cast_signed);
        let length = usize::from(length.unsigned_abs());
        if length == 0 {
            break;
        }
        let name = text(numbers.slice(at + 2, length)?).to_uppercase();
        let link = at + 2 + length;
        let next = usize::from(numbers.word(link)?);
        if group < 0 {
            groups.insert(group.saturating_neg(), name);
        } else {
            let [kind, dimensions] = numbers.part::<2>(link + 2)?;
            let sizes =
                numbers.slice(link + 4, usize::from(dimensions))?.iter().map(|&size| usize::from(size)).collect();
            let parameter = Parameter { kind: kind.cast_signed(), sizes, at: link + 4 + usize::from(dimensions) };
            found.push((group, name, parameter));
        }
        // Each record is longer than its link, so this ends.
        if next == 0 {
            break;
        }
        at = link + next.max(2);
    }
    let named =
        |(group, name, parameter): (i8, String, Parameter)| Some(((groups.get(&group)?.clone(), name), parameter));
    Ok(found.into_iter().filter_map(named).collect())
}

/// Blanks and zeros fill what is left of a text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches(|letter: char| letter.is_whitespace() || letter == '\0').to_string()
}

/// How many entries there are of these sizes: a broken file may claim more than can be counted.
fn entries(sizes: &[usize]) -> usize {
    sizes.iter().fold(1, |count, &size| count.saturating_mul(size))
}

/// The texts of a parameter of the points; none if it is absent or has no text.
fn texts(numbers: Numbers<'_>, parameters: &Parameters, name: &str) -> Vec<String> {
    let Some(parameter) = parameters.get(&("POINT".to_string(), name.to_string())) else { return Vec::new() };
    let (Some(&length), -1) = (parameter.sizes.first(), parameter.kind) else { return Vec::new() };
    let count = entries(&parameter.sizes[1..]);
    let part = |index: usize| numbers.slice(parameter.at + index * length, length).map(text).unwrap_or_default();
    (0..count.min(MAX_NODES)).map(part).collect()
}

/// The first words of a parameter; none if it is absent or has no words.
fn words(numbers: Numbers<'_>, parameters: &Parameters, group: &str, name: &str) -> Result<Vec<usize>> {
    match parameters.get(&(group.to_string(), name.to_string())) {
        Some(Parameter { kind: 2, sizes, at }) => {
            let count = entries(sizes).min(2);
            (0..count).map(|index| numbers.word(at + 2 * index).map(usize::from)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Where the frames are and what they hold.
struct Layout {
    points: usize,
    frames: usize,
    /// The number of the first frame.
    first: usize,
    /// Whether numbers are floats; else whole numbers, times this scale.
    floats: bool,
    scale: f64,
    rate: f64,
    start: usize,
    /// Bytes of a frame.
    size: usize,
}

impl Layout {
    fn new(numbers: Numbers<'_>, parameters: &Parameters) -> Result<Self> {
        let word = |at: usize| numbers.word(at).map(usize::from);
        let (points, analog) = (word(2)?, word(4)?);
        let (mut first, last) = (word(6)?, word(8)?);
        let mut frames = (last + 1).saturating_sub(first);
        // Recordings of more than 65,535 frames say so in two words.
        let field = |name: &str| -> Result<Option<usize>> {
            let words = words(numbers, parameters, "TRIAL", name)?;
            Ok(words.first().map(|low| low + 65_536 * words.get(1).unwrap_or(&0)))
        };
        if let (Some(from), Some(to)) = (field("ACTUAL_START_FIELD")?, field("ACTUAL_END_FIELD")?)
            && from > 0
            && to >= from
        {
            (first, frames) = (from, to + 1 - from);
        }
        let scale = numbers.float(12)?;
        let rate = match parameters.get(&("POINT".to_string(), "RATE".to_string())) {
            Some(Parameter { kind: 4, at, .. }) => numbers.float(*at)?,
            _ => numbers.float(20)?,
        };
        let block = word(16)?;
        if block < 2 || !scale.is_finite() || scale == 0.0 || !(rate.is_finite() && rate >= 0.0) {
            return refuse("the header makes no sense: block of the data, scale or rate");
        }
        if frames > MAX_GRAPHS || points > MAX_NODES || frames.saturating_mul(points) > MAX_TOTAL_NODES {
            return refuse(format!("{frames} frames of {points} points are more than can be taken"));
        }
        let floats = scale < 0.0;
        let size = (4 * points + analog) * if floats { 4 } else { 2 };
        let start = (block - 1) * BLOCK;
        let available = numbers.bytes.len().saturating_sub(start);
        if size.saturating_mul(frames) > available {
            let whole = available.checked_div(size).unwrap_or(0);
            return refuse(format!("the file ends after {whole} of {frames} frames"));
        }
        Ok(Self { points, frames, first, floats, scale: if floats { 1.0 } else { scale }, rate, start, size })
    }

    /// A frame, counted from 0.
    fn frame(&self, numbers: Numbers<'_>, frame: usize, wanted: &[usize], labels: &[String]) -> Result<Graph> {
        let (mut names, mut coordinates) = (Vec::new(), Vec::new());
        let width = if self.floats { 4 } else { 2 };
        for &point in wanted {
            let at = self.start + frame * self.size + point * 4 * width;
            let value = |index: usize| {
                let at = at + index * width;
                if self.floats { numbers.float(at) } else { Ok(f64::from(numbers.word(at)?.cast_signed())) }
            };
            let (place, residual) = ([value(0)?, value(1)?, value(2)?], value(3)?);
            let place = place.map(|coordinate| coordinate * self.scale);
            // Negative: not seen. A residual that is no number says the same.
            if residual >= 0.0 && place.iter().all(|coordinate| coordinate.is_finite()) {
                names.push(labels[point].clone());
                coordinates.extend(place);
            }
        }
        let points = Array2::from_shape_fn((names.len(), 3), |(row, axis)| coordinates[3 * row + axis]);
        let graph = Graph::from_points(points)?.with_names(names)?;
        let number = (self.first + frame).saturating_sub(1);
        if self.rate > 0.0 { graph.with_time(number as f64 / self.rate) } else { Ok(graph) }
    }
}

#[cfg(test)]
mod tests;

//! [`read`]: the graphs in a file of any format, which its name and its beginning tell. The one place where that is decided: program,
//! Python package and labelling page call it.
//!
//! Nothing here touches files. What belongs to a file and is next to it (`net.nodes.csv` beside `net.csv`, `images/ID.png` beside a
//! table) is asked for by name through [`Beside`]. What a person should know although it is no error is a [`Note`].

use super::dataset::{DataSet, NamedGraph};
use super::landmarks::{self, LandmarkTable};
use super::table::MAX_TABLE_SIZE;
use super::tracks::Tracks;
use super::{Note, c3d, coco, deeplabcut, edge_table, graphml, pair_table, pictures, tps, tracks, trc};
use crate::graph::Direction;
use crate::{Error, Result};
use std::path::Path;

/// Gives the beginning of the file of that name beside the one that is read, at most so many bytes; `None` if there is none.
pub type Beside<'a> = &'a dyn Fn(&str, usize) -> Option<Vec<u8>>;

/// What names of files with graphs end in.
pub const ENDINGS: &[&str] =
    &[".json", ".jsonl", ".csv", ".tsv", ".tps", ".graphml", ".edges", ".trc", ".c3d", ".det.txt", ".gt.txt"];

/// What a file with graphs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A [data set](super::dataset), as JSON or JSON Lines.
    DataSet,
    /// A [table of landmarks](super::landmarks).
    Landmarks,
    /// A TPS file.
    Tps,
    /// A table of DeepLabCut.
    DeepLabCut,
    /// COCO keypoint annotations.
    Coco,
    /// A network as GraphML.
    Graphml,
    /// A network as a list of edges.
    Edges,
    /// Motion capture as TRC.
    Trc,
    /// Motion capture as C3D.
    C3d,
    /// Features of pairs, a row for each pair of nodes.
    PairTable,
    /// [Detections](super::tracks) as in MOTChallenge, with the truth beside them: NAME.gt.txt beside NAME.det.txt, or gt/gt.txt beside det/det.txt.
    Mot,
    /// A [table of tracks](super::tracks::read_table): a row for each detection, with its frame and identity.
    TrackTable,
}

/// Graphs, and what should be known about how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The graphs, with pairs of them if the file has any.
    pub data: DataSet,
    /// What is worth telling.
    pub notes: Vec<Note>,
}

/// How a file is read if its name and contents do not say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reader {
    /// What it is; `None` means what its name and its beginning say.
    pub format: Option<Format>,
    /// What the columns mean, if it is a table of landmarks.
    pub table: LandmarkTable,
    /// The most frames between two that become a pair, if it has detections; `None`: 1.
    pub gap: Option<usize>,
    /// Edges of an edge list lead from source to target only.
    pub directed: bool,
}

/// Reads a file. The name is its path, as errors should show it, or "-" for one without a name.
///
/// # Errors
/// [`Error::At`] with the name and the line: an unknown type, or contents that do not follow their format.
///
/// ```
/// use homolog::data::read;
/// let edges = b"source,target\na,b\n";
/// let nodes = |name: &str, _: usize| (name == "net.nodes.csv").then(|| b"node,size\nb,2\na,1\n".to_vec());
/// let net = read("some/net.csv", edges, &nodes)?;
/// assert_eq!(net.data.graphs()[0].graph.names().unwrap(), ["b", "a"]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read(name: &str, bytes: &[u8], beside: Beside<'_>) -> Result<Loaded> {
    Reader::default().read(name, bytes, beside)
}

impl Reader {
    /// As [`read`], with these settings.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read(&self, name: &str, bytes: &[u8], beside: Beside<'_>) -> Result<Loaded> {
        let place = if name == "-" { "standard input" } else { name };
        let at = |error: Error| match error {
            // A file beside this one is at fault.
            error @ Error::At { .. } => error,
            error => Error::At { place: place.to_string(), error: Box::new(error) },
        };
        let mut notes = Vec::new();
        let (data, format) = self.data(name, bytes, beside, &mut notes).map_err(at)?;
        let data = pictures::placed(data, format, beside, &mut notes).map_err(at)?;
        // Beside a file without a name there is nothing to look for.
        notes.retain(|note| name != "-" || !matches!(note, Note::NoPicture { from_bottom: false, .. }));
        notes.extend(data.graphs().is_empty().then_some(Note::NoGraphs));
        Ok(Loaded { data, notes })
    }

    fn data(&self, name: &str, bytes: &[u8], beside: Beside<'_>, notes: &mut Vec<Note>) -> Result<(DataSet, Format)> {
        let file = Path::new(name);
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let ending = part(file.extension()).to_lowercase();
        let stem = if name == "-" { "stdin".to_string() } else { part(file.file_stem()) };
        // A table whose columns are told apart by hand is one of landmarks.
        let is_told = |format: Format| format == Format::TrackTable && self.table != LandmarkTable::default();
        let guessed = || Format::of(&ending, name == "-", bytes);
        let guessed = || guessed().map(|format| if is_told(format) { Format::Landmarks } else { format });
        let Some(format) = self.format.or_else(guessed) else {
            return Err(Error::UnknownFormat { endings: ENDINGS });
        };
        if format == Format::C3d {
            return Ok((DataSet::new(c3d::read(bytes, notes)?, vec![])?, format));
        }
        let direction = if self.directed { Direction::Directed } else { Direction::Undirected };
        let text = text_of(bytes)?;
        let graphs = match format {
            Format::DataSet if ["jsonl", "ndjson"].contains(&ending.as_str()) || is_lines(text) => {
                return Ok((DataSet::from_json_lines(text)?, format));
            }
            Format::DataSet => return Ok((DataSet::from_json(text)?, format)),
            Format::PairTable => return Ok((pair_table::read(text)?, format)),
            Format::Mot => return Ok((detections(text, name, beside)?.pairs(self.gap.unwrap_or(1))?, format)),
            Format::TrackTable => return Ok((tracks::read_table(text, None)?.pairs(self.gap.unwrap_or(1))?, format)),
            Format::Landmarks => {
                let graphs = self.table.read(text, &stem)?;
                guessed_columns(&self.table, text, notes)?;
                graphs
            }
            Format::Tps => tps::read(text)?,
            Format::DeepLabCut => deeplabcut::read(text)?,
            Format::Coco => coco::read(text)?,
            Format::Graphml => graphml::read(text, &stem, notes)?,
            Format::Edges => vec![network(text, &stem, direction, beside, notes)?],
            Format::Trc => trc::read(text)?,
            Format::C3d => Vec::new(),
        };
        Ok((DataSet::new(graphs, vec![])?, format))
    }
}

impl Format {
    /// By what the name of a file ends in, and what it begins with. A name that says nothing leaves it to the contents, and so does a
    /// file without a name, which may also be a table.
    fn of(ending: &str, unnamed: bool, bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let start = text.trim_start_matches('\u{feff}').trim_start();
        // A data set says so in its head.
        let head: String = start.chars().take(1000).collect();
        let json = || if !head.contains("homolog-") && coco::is_one(text) { Self::Coco } else { Self::DataSet };
        let table = || {
            if pair_table::is_one(text) {
                Self::PairTable
            } else if tracks::is_table(text) {
                Self::TrackTable
            } else if deeplabcut::is_one(text) {
                Self::DeepLabCut
            } else if edge_table::is_one(text) {
                Self::Edges
            } else {
                Self::Landmarks
            }
        };
        match ending {
            "json" => Some(json()),
            "jsonl" | "ndjson" => Some(Self::DataSet),
            "csv" | "tsv" => Some(table()),
            "tps" => Some(Self::Tps),
            "graphml" => Some(Self::Graphml),
            "edges" | "edgelist" => Some(Self::Edges),
            "trc" => Some(Self::Trc),
            "txt" if tracks::is_mot(text) => Some(Self::Mot),
            "c3d" => Some(Self::C3d),
            _ if c3d::is_one(bytes) => Some(Self::C3d),
            _ if start.starts_with(trc::START) => Some(Self::Trc),
            _ if start.starts_with('{') => Some(json()),
            _ if start.starts_with("<?xml") || start.starts_with("<graphml") => Some(Self::Graphml),
            _ if start.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("lm")) => Some(Self::Tps),
            _ => unnamed.then(table),
        }
    }
}

/// Writes graphs in a format that has a writer: a table of landmarks, TPS, GraphML, TRC, or a data set without pairs.
///
/// # Errors
/// [`Error::UnknownFormat`] for the others; what a format cannot hold.
///
/// ```
/// use homolog::data::{Format, read, write};
/// let table = "landmark,x,y\na,1.0,2.0\n";
/// let graphs = read("t.csv", table.as_bytes(), &|_, _| None)?.data;
/// assert!(write(Format::Tps, graphs.graphs())?.starts_with("LM=1\n"));
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn write(format: Format, graphs: &[NamedGraph]) -> Result<String> {
    match format {
        Format::DataSet => DataSet::new(graphs.to_vec(), vec![])?.to_json(),
        Format::Landmarks => landmarks::write(graphs),
        Format::Tps => tps::write(graphs),
        Format::Graphml => graphml::write(graphs),
        Format::Trc => trc::write(graphs),
        _ => Err(Error::UnknownFormat { endings: &[".json", ".csv", ".tps", ".graphml", ".trc"] }),
    }
}

/// Text without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
            super::malformed("text", line, "not UTF-8 text; save the file as UTF-8")
        }
    }
}

/// Whether a text is JSON Lines: its first line is whole, and others follow.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().is_some_and(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok());
    first && lines.next().is_some()
}

/// What columns were taken for, if their names leave it open.
fn guessed_columns(table: &LandmarkTable, text: &str, notes: &mut Vec<Note>) -> Result<()> {
    let understood = table.understand(text)?;
    let is_clear = |name: &String, clear: &[&str]| clear.iter().any(|word| name.eq_ignore_ascii_case(word));
    let graph =
        understood.graph.filter(|name| table.graph.is_none() && !is_clear(name, &["frame", "image", "specimen"]));
    let landmark = understood.landmark.filter(|name| table.landmark.is_none() && !is_clear(name, &["landmark"]));
    notes.extend(graph.map(|column| Note::GraphColumn { column }));
    notes.extend(landmark.map(|column| Note::LandmarkColumn { column }));
    Ok(())
}

/// A network with its table of nodes, if there is one beside it.
fn network(
    text: &str,
    stem: &str,
    direction: Direction,
    beside: Beside<'_>,
    notes: &mut Vec<Note>,
) -> Result<NamedGraph> {
    let name = format!("{stem}.nodes.csv");
    let at = |error: Error| Error::At { place: name.clone(), error: Box::new(error) };
    // One more than a table may have, so that none is cut off unnoticed.
    let bytes = beside(&name, MAX_TABLE_SIZE + 1);
    let nodes = bytes.as_deref().map(|bytes| edge_table::nodes(text_of(bytes)?, stem, notes));
    let nodes = nodes.transpose().map_err(at)?;
    edge_table::read(text, nodes, stem, direction)
}

/// Detections, with the identities of the truth if that is beside them.
fn detections(text: &str, name: &str, beside: Beside<'_>) -> Result<Tracks> {
    let read = tracks::read_mot(text)?;
    let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    let Some(stem) = file.strip_suffix("det.txt") else { return Ok(read) };
    let places = [format!("{stem}gt.txt"), format!("../gt/{stem}gt.txt")];
    let truth = places.into_iter().find_map(|place| Some((beside(&place, MAX_TABLE_SIZE + 1)?, place)));
    let Some((bytes, place)) = truth else { return Ok(read) };
    let at = |error: Error| Error::At { place, error: Box::new(error) };
    let truth = text_of(&bytes).and_then(tracks::read_mot).map_err(at)?;
    read.joined(&truth)
}

//! Graphs and matching problems from files of every format.

use crate::files;
use crate::inputs::extension;
use crate::progress::note;
use anyhow::{Context, Result, bail};
use homolog::Error;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::pair_costs::NamedPairs;
use homolog::data::{Format, Note, Reader, cost_matrix, dd, house, npy, pair_costs, problem, qaplib};
use homolog::matching::{Compatibility, Restrictions, Sense};
use std::path::Path;

/// What a file with graphs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GraphFormat {
    /// A data set (.json, .jsonl), a folder with landmarks.csv, or the word turntable for the built-in sequence
    DataSet,
    /// A table of landmarks (.csv): one landmark per row, or one specimen per row
    Landmarks,
    /// Landmarks of specimens as morphometricians write them (.tps)
    Tps,
    /// A table of DeepLabCut (.csv)
    #[value(name = "deeplabcut")]
    DeepLabCut,
    /// Keypoint annotations of COCO (.json)
    Coco,
    /// A network (.graphml)
    Graphml,
    /// A network as a table of edges (.csv with source and target, .edges); NAME.nodes.csv next to it is its table of nodes
    Edges,
    /// Motion capture as text (.trc)
    Trc,
    /// Motion capture (.c3d): its points
    C3d,
    /// Features of pairs, a row for each pair of nodes (.csv with pair, left and right)
    PairTable,
    /// Detections as in MOTChallenge (.txt); the truth is NAME.gt.txt next to NAME.det.txt
    Mot,
    /// A table of tracks (.csv with frame, track_id, x and y), as TrackMate, laptrack and py-motmetrics write them
    Tracks,
    /// The house directory of the paper's authors
    House,
}

impl GraphFormat {
    /// What the library calls it; the house files are a directory, which only the program reads.
    fn of_library(self) -> Option<Format> {
        match self {
            Self::DataSet => Some(Format::DataSet),
            Self::Landmarks => Some(Format::Landmarks),
            Self::Tps => Some(Format::Tps),
            Self::DeepLabCut => Some(Format::DeepLabCut),
            Self::Coco => Some(Format::Coco),
            Self::Graphml => Some(Format::Graphml),
            Self::Edges => Some(Format::Edges),
            Self::Trc => Some(Format::Trc),
            Self::C3d => Some(Format::C3d),
            Self::PairTable => Some(Format::PairTable),
            Self::Mot => Some(Format::Mot),
            Self::Tracks => Some(Format::TrackTable),
            Self::House => None,
        }
    }
}

/// Reads a file with graphs, of the given format or of what its name and its beginning say, with the files next to it; `nodes` is the
/// table of nodes of a network, `gap` the most frames between two of a pair of detections. Says what the reader notes.
pub(crate) fn read(
    path: &Path,
    format: Option<GraphFormat>,
    (table, gap): (LandmarkTable, Option<usize>),
    nodes: Option<&Path>,
) -> Result<DataSet> {
    if !path.exists() && !files::is_standard(path) {
        bail!("no file or folder {}", path.display());
    }
    if format == Some(GraphFormat::House) {
        bail!("{} is a file; the house files are a directory", path.display());
    }
    let bytes = files::read(path)?;
    let nodes = nodes.map(files::read).transpose()?;
    let folder = files::folder_of(path);
    let beside = |name: &str, most: usize| match &nodes {
        Some(nodes) if name.ends_with(".nodes.csv") => Some(nodes.clone()),
        _ if files::is_standard(path) => None,
        _ => files::read_beginning(&folder.join(name), most),
    };
    let name = path.display().to_string();
    let reader = Reader { format: format.and_then(GraphFormat::of_library), table, gap, ..Reader::default() };
    let loaded = reader.read(&name, &bytes, &beside)?;
    for about in &loaded.notes {
        let option = match about {
            Note::GraphColumn { .. } => "; `homolog convert --graph-column` takes another",
            Note::LandmarkColumn { .. } => "; `homolog convert --landmark-column` takes another",
            _ => "",
        };
        note(&format!("{name}: {about}{option}"));
    }
    Ok(loaded.data)
}

/// Reads the house directory of the paper's authors, frame by frame; with `edges`, their triangulations too.
pub(crate) fn read_house(folder: &Path, edges: bool) -> Result<Vec<NamedGraph>> {
    let labels = folder.join("label");
    let entries = std::fs::read_dir(&labels)
        .with_context(|| format!("{} is not a house directory: cannot read {}", folder.display(), labels.display()))?;
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.with_context(|| format!("cannot read {}", labels.display()))?.file_name();
        numbers.extend(house::frame_number(&name.to_string_lossy()).map(|number| (number, name)));
    }
    if numbers.is_empty() {
        bail!("{} has no files house1, house2, ...", labels.display());
    }
    numbers.sort_unstable();
    let frame = |(number, name): (usize, std::ffi::OsString)| {
        let path = labels.join(name);
        let text = files::read_text(&path)?;
        let beside = folder.join(format!("house{number:03}.adj"));
        let adjacency = if edges { Some(files::read_text(&beside)?) } else { None };
        let about =
            || if edges { format!("{} with {}", path.display(), beside.display()) } else { path.display().to_string() };
        house::read_frame(number, &text, adjacency.as_deref()).with_context(about)
    };
    numbers.into_iter().map(frame).collect()
}

/// The formats of matching problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProblemFormat {
    /// A cost matrix as text
    Csv,
    /// A cost matrix as numpy writes it
    Npy,
    /// A graph matching problem
    Dd,
    /// A quadratic assignment problem of QAPLIB
    Qaplib,
    /// A whole problem as JSON
    Json,
    /// Costs of the pairs that are allowed, as a Matrix Market file
    Mtx,
}

impl ProblemFormat {
    /// By what the name of a file ends in.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match extension(path).as_str() {
            "csv" | "tsv" | "txt" => Some(Self::Csv),
            "npy" => Some(Self::Npy),
            "dd" => Some(Self::Dd),
            "dat" => Some(Self::Qaplib),
            "json" => Some(Self::Json),
            "mtx" => Some(Self::Mtx),
            _ => None,
        }
    }

    /// By what it begins with, if no name tells.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let start = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
        match start {
            _ if start.starts_with(b"\x93NUMPY") => Self::Npy,
            _ if start.starts_with(b"%%MatrixMarket") => Self::Mtx,
            _ if start.starts_with(b"{") => Self::Json,
            _ if start.starts_with(b"p ") || start.starts_with(b"c ") => Self::Dd,
            _ => Self::Csv,
        }
    }
}

/// A problem, whether its values are costs or scores, and the names of its nodes, where the file has them.
pub(crate) struct Problem {
    pub(crate) problem: Compatibility,
    pub(crate) sense: Sense,
    pub(crate) left: Option<Vec<String>>,
    pub(crate) right: Option<Vec<String>>,
    /// Seeds and forbidden pairs, not yet applied.
    pub(crate) given: Restrictions,
}

impl Problem {
    /// Without names, seeds and forbidden pairs.
    pub(crate) fn unnamed(problem: Compatibility, sense: Sense) -> Self {
        Self { problem, sense, left: None, right: None, given: Restrictions::default() }
    }
}

/// What a file of a problem holds: a table of all pairs, or a list of those that are allowed.
pub(crate) enum Contents {
    Table(Box<Problem>),
    Pairs(NamedPairs),
}

/// The problem in the bytes of a file. The sense given is that of costs; `.dd` and QAPLIB are minimised, a JSON file says so itself.
pub(crate) fn problem_of(bytes: Vec<u8>, path: &Path, format: ProblemFormat, sense: Sense) -> Result<Contents> {
    let place = if files::is_standard(path) { "standard input".to_string() } else { path.display().to_string() };
    contents_of(bytes, path, format, sense)?.map_err(|error| Error::At { place, error: Box::new(error) }.into())
}

fn contents_of(bytes: Vec<u8>, path: &Path, format: ProblemFormat, sense: Sense) -> Result<homolog::Result<Contents>> {
    let unnamed = |problem: Compatibility| Contents::Table(Box::new(Problem::unnamed(problem, sense)));
    if format == ProblemFormat::Npy {
        let matrix = npy::read(&bytes);
        return Ok(matrix.and_then(|matrix| cost_matrix::problem(matrix, sense)).map(unnamed));
    }
    let text = files::text_of(bytes, path)?;
    if text.trim().is_empty() {
        bail!("{}: the file is empty", path.display());
    }
    Ok(match format {
        ProblemFormat::Csv if pair_costs::is_table(&text) => pair_costs::read_csv(&text, sense).map(Contents::Pairs),
        ProblemFormat::Mtx => pair_costs::read_market(&text, sense)
            .map(|pairs| Contents::Pairs(NamedPairs { pairs, left: None, right: None })),
        ProblemFormat::Csv | ProblemFormat::Npy => cost_matrix::read_named(&text, sense).and_then(|named| {
            let problem = cost_matrix::problem(named.values, sense)?;
            let (left, right) = (named.left, named.right);
            Ok(Contents::Table(Box::new(Problem { left, right, ..Problem::unnamed(problem, sense) })))
        }),
        ProblemFormat::Dd => dd::read(&text).map(unnamed),
        ProblemFormat::Qaplib => qaplib::read(&text).map(unnamed),
        ProblemFormat::Json => problem::read(&text).and_then(|file| {
            file.restricted()?;
            let given = file.restrictions;
            Ok(Contents::Table(Box::new(Problem { given, ..Problem::unnamed(file.problem, file.sense) })))
        }),
    })
}

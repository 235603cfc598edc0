//! Graphs and matching problems from files of every format.

use crate::files;
use crate::inputs::extension;
use crate::progress::note;
use anyhow::{Context, Result, bail};
use homolog::data::cost_matrix::{self, Sense};
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::edge_table::EdgeTable;
use homolog::data::landmarks::LandmarkTable;
use homolog::data::pair_costs::NamedPairs;
use homolog::data::{coco, dd, deeplabcut, edge_table, graphml, house, npy, pair_costs, problem, qaplib, tps};
use homolog::matching::{Compatibility, Restrictions};
use std::path::Path;

/// What a file with graphs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GraphFormat {
    /// A data set (.json, .jsonl), a folder with landmarks.csv, or the word turntable for the built-in sequence
    DataSet,
    /// A table of landmarks (.csv): one landmark a row, or one specimen a row
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
    /// A network as a table of edges (.csv with source and target, .edges); NAME.nodes.csv beside it is its table of nodes
    Edges,
    /// The house directory of the paper's authors
    House,
}

impl GraphFormat {
    /// By the name of a file, and what it begins with.
    fn of(path: &Path, text: &str) -> Option<Self> {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        // A data set says so in its head.
        let head: String = start.chars().take(1000).collect();
        let json = || if !head.contains("homolog-") && coco::is_one(text) { Self::Coco } else { Self::DataSet };
        let table = || {
            if deeplabcut::is_one(text) {
                Self::DeepLabCut
            } else if edge_table::is_one(text) {
                Self::Edges
            } else {
                Self::Landmarks
            }
        };
        match extension(path).as_str() {
            "json" => Some(json()),
            "jsonl" | "ndjson" => Some(Self::DataSet),
            "csv" | "tsv" => Some(table()),
            "tps" => Some(Self::Tps),
            "graphml" => Some(Self::Graphml),
            "edges" | "edgelist" => Some(Self::Edges),
            _ if !files::is_standard(path) => None,
            _ if start.starts_with('{') => Some(json()),
            _ if start.starts_with('<') => Some(Self::Graphml),
            _ if start.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("lm")) => Some(Self::Tps),
            _ => Some(table()),
        }
    }
}

/// Reads a file with graphs, of the given format or of what its name and its beginning say.
pub(crate) fn read(
    path: &Path,
    format: Option<GraphFormat>,
    table: &LandmarkTable,
    nodes: Option<&Path>,
) -> Result<DataSet> {
    if !path.exists() && !files::is_standard(path) {
        bail!("there is no file or folder {}", path.display());
    }
    let text = files::read_text(path)?;
    let Some(format) = format.or_else(|| GraphFormat::of(path, &text)) else {
        bail!(
            "{}: what is it? Files of graphs end in .json, .jsonl, .csv, .tps, .graphml or .edges; `homolog convert --from` says what others are",
            path.display()
        );
    };
    let is_lines = ["jsonl", "ndjson"].contains(&extension(path).as_str());
    let stem = path.file_stem().filter(|_| !files::is_standard(path));
    let id = stem.map_or_else(|| "stdin".to_string(), |stem| stem.to_string_lossy().into_owned());
    let graphs = match format {
        GraphFormat::DataSet if is_lines => {
            return DataSet::from_json_lines(&text).with_context(|| path.display().to_string());
        }
        GraphFormat::DataSet => {
            let whole = DataSet::from_json(&text);
            // From standard input it may be lines as well.
            let either = if files::is_standard(path) {
                whole.or_else(|error| DataSet::from_json_lines(&text).map_err(|_| error))
            } else {
                whole
            };
            return either.with_context(|| path.display().to_string());
        }
        GraphFormat::Landmarks => {
            let graphs = table.read(&text, &id);
            if graphs.is_ok() {
                say_guesses(path, table, &text)?;
            }
            graphs
        }
        GraphFormat::Tps => tps::read(&text),
        GraphFormat::DeepLabCut => deeplabcut::read(&text),
        GraphFormat::Coco => coco::read(&text),
        GraphFormat::Graphml => graphml::read(&text, &id),
        GraphFormat::Edges => {
            let beside = path.with_extension("nodes.csv");
            let nodes = nodes.map(Path::to_path_buf).or_else(|| beside.is_file().then_some(beside));
            let nodes = nodes.map(|nodes| files::read_text(&nodes)).transpose()?;
            EdgeTable::default().read(&text, nodes.as_deref(), &id).map(|network| vec![network])
        }
        GraphFormat::House => bail!("{} is a file; the house files are a directory", path.display()),
    };
    graphs.and_then(|graphs| DataSet::new(graphs, vec![])).with_context(|| path.display().to_string())
}

/// Says what columns were guessed to mean, where their names leave it open.
fn say_guesses(path: &Path, table: &LandmarkTable, text: &str) -> Result<()> {
    let understood = table.understand(text)?;
    let graph = understood
        .graph
        .filter(|name| table.graph.is_none() && !["frame", "image"].contains(&name.to_lowercase().as_str()));
    let landmark =
        understood.landmark.filter(|name| table.landmark.is_none() && !name.eq_ignore_ascii_case("landmark"));
    for (what, column, option) in [("graphs", graph, "--graph-column"), ("landmarks", landmark, "--landmark-column")] {
        if let Some(column) = column {
            note(&format!(
                "{}: the column {column:?} names the {what}; `homolog convert {option}` takes another",
                path.display()
            ));
        }
    }
    Ok(())
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

    /// By what it begins with, where there is no name to tell by.
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
    contents_of(bytes, path, format, sense)?.with_context(|| path.display().to_string())
}

fn contents_of(bytes: Vec<u8>, path: &Path, format: ProblemFormat, sense: Sense) -> Result<homolog::Result<Contents>> {
    let unnamed = |problem: Compatibility| Contents::Table(Box::new(Problem::unnamed(problem, sense)));
    if format == ProblemFormat::Npy {
        let matrix = npy::read(&bytes);
        return Ok(matrix.and_then(|matrix| cost_matrix::problem(matrix, sense)).map(unnamed));
    }
    let text = files::text_of(bytes, path)?;
    if text.trim().is_empty() {
        bail!("{}: there is nothing in it", path.display());
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

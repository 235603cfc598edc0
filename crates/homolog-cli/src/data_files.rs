//! Landmark tables, the house files and matching problems from files.

use crate::files;
use crate::inputs::extension;
use anyhow::{Context, Result, bail};
use homolog::data::cost_matrix::{self, Sense};
use homolog::data::dataset::NamedGraph;
use homolog::data::landmarks::LandmarkTable;
use homolog::data::{dd, house, npy, problem, qaplib};
use homolog::matching::Compatibility;
use std::path::Path;

/// Reads a landmark table; without a column that says which graph, it is one graph called as the file.
pub(crate) fn read_landmarks(path: &Path, table: &LandmarkTable) -> Result<Vec<NamedGraph>> {
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    table.read(&files::read_text(path)?, &id).with_context(|| path.display().to_string())
}

/// Reads the house directory of the paper's authors, frame by frame; with `edges`, their triangulations too.
pub(crate) fn read_house(folder: &Path, edges: bool) -> Result<Vec<NamedGraph>> {
    let labels = folder.join("label");
    let entries = std::fs::read_dir(&labels)
        .with_context(|| format!("{} is no house directory: cannot read {}", folder.display(), labels.display()))?;
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
            _ => None,
        }
    }
}

/// Reads a problem, and whether its values are costs or scores. The sense given is that of a cost matrix; `.dd` and QAPLIB are minimised, a
/// JSON file says so itself.
pub(crate) fn read_problem(path: &Path, format: ProblemFormat, sense: Sense) -> Result<(Compatibility, Sense)> {
    if format == ProblemFormat::Json {
        let file = problem::read(&files::read_text(path)?).with_context(|| path.display().to_string())?;
        return Ok((file.restricted().with_context(|| path.display().to_string())?, file.sense));
    }
    let problem = match format {
        ProblemFormat::Csv => cost_matrix::read_csv(&files::read_text(path)?, sense)
            .and_then(|matrix| cost_matrix::problem(matrix, sense)),
        ProblemFormat::Npy => npy::read(&files::read(path)?).and_then(|matrix| cost_matrix::problem(matrix, sense)),
        ProblemFormat::Dd => dd::read(&files::read_text(path)?),
        ProblemFormat::Qaplib | ProblemFormat::Json => qaplib::read(&files::read_text(path)?),
    };
    Ok((problem.with_context(|| path.display().to_string())?, sense))
}

//! The landmarks of the house data, which is stored next to the project and not in it.

use crate::tables;
use anyhow::{Context, Result};
use homolog::experiment::Frames;
use homolog::graph::Graph;
use ndarray::Array2;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the house data is, unless the user says otherwise.
pub(crate) fn default_directory() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("HOMOLOG_DATA").map_or_else(beside, PathBuf::from).join("house")
}

/// The rows of a comma-separated file, without its header.
pub(crate) fn rows(path: &Path) -> Result<Vec<Vec<String>>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect())
}

/// The landmarks of every frame: one row of two coordinates per landmark.
pub(crate) fn landmarks(directory: &Path) -> Result<Vec<Array2<f64>>> {
    let frames = tables::specimens(&directory.join("landmarks.csv"))?;
    frames.iter().map(|frame| Ok(frame.graph.points().context("landmarks are points")?.to_owned())).collect()
}

/// The frames under the features of every method; from the usual place, if no folder is given.
pub(crate) fn frames(directory: Option<&Path>) -> Result<Frames> {
    let landmarks = landmarks(&directory.map_or_else(default_directory, Path::to_path_buf))?;
    let graphs = landmarks.into_iter().map(|points| Ok(Arc::new(Graph::from_points(points)?)));
    Ok(Frames::new(graphs.collect::<Result<_>>()?)?)
}

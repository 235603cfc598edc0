//! The CMU house data, if it is available: `HOMOLOG_DATA`, or `../shared/data` next to the workspace.

use ndarray::Array2;
use std::path::{Path, PathBuf};

/// The directory of the data; `None`, with a line that says so, if it is absent.
pub(crate) fn directory() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("HOMOLOG_DATA").map_or_else(beside, PathBuf::from).join("house");
    if data.is_dir() {
        return Some(data);
    }
    println!("skipped: no house data at {}", data.display());
    None
}

/// The landmarks of all 111 frames.
pub(crate) fn frames(directory: &Path) -> Vec<Array2<f64>> {
    let text = std::fs::read_to_string(directory.join("landmarks.csv")).unwrap();
    let mut coordinates = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        coordinates.extend_from_slice(&fields[2..4]);
    }
    coordinates.chunks(60).map(|frame| Array2::from_shape_vec((30, 2), frame.to_vec()).unwrap()).collect()
}

/// A table of numbers separated by blanks.
pub(crate) fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split_whitespace().map(|field| field.parse().unwrap()).collect()).collect()
}

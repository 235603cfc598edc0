//! Complete named specimens to learn from and to name.

use crate::house;
use crate::never_worse::{all_data, table};
use anyhow::{Context, Result};
use homolog::experiment::Spoiling;
use homolog::graph::Graph;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Complete specimens: each has every name and no other point.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) specimens: Vec<Arc<Graph>>,
}

/// The sets that are stored next to the project, and further landmark tables (or any file that the program reads).
pub(super) fn sets(folder: Option<&Path>, tables: &[PathBuf], only: Option<&str>) -> Result<Vec<Set>> {
    let folder = folder.map_or_else(|| house::default_directory().join(".."), Path::to_path_buf);
    let mut all: Vec<(String, Vec<Arc<Graph>>)> =
        all_data(&folder)?.into_iter().filter(|data| !data.spoiled).map(|data| (data.name, data.specimens)).collect();
    for (name, path) in [("house", "house/landmarks.csv"), ("wings", "wings/wings.tps"), ("mocap", "mocap/walk.trc")] {
        all.push((name.to_string(), specimens(&folder.join(path), name)?));
    }
    for path in tables {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        all.push((name.to_string(), specimens(path, &name)?));
    }
    all.retain(|(name, _)| only.is_none_or(|part| name.contains(part)));
    Ok(all.into_iter().map(|(name, specimens)| Set { name, specimens: complete(&specimens) }).collect())
}

fn specimens(path: &Path, name: &str) -> Result<Vec<Arc<Graph>>> {
    if path.extension().is_some_and(|ending| ending == "csv") {
        return Ok(table(path, name)?.specimens);
    }
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let loaded = homolog::data::read(&path.to_string_lossy(), &bytes, &|_, _| None)?;
    Ok(loaded.data.graphs().iter().map(|named| Arc::clone(&named.graph)).collect())
}

/// Those that have all the names.
fn complete(specimens: &[Arc<Graph>]) -> Vec<Arc<Graph>> {
    let names = |graph: &Graph| -> BTreeSet<String> { graph.names().unwrap_or_default().iter().cloned().collect() };
    let mut all: BTreeSet<String> = specimens.iter().flat_map(|graph| names(graph)).collect();
    all.remove("");
    let is_complete = |graph: &&Arc<Graph>| graph.node_count() == all.len() && names(graph) == all;
    specimens.iter().filter(is_complete).cloned().collect()
}

/// The same specimen with its names, turned at random if wanted.
pub(super) fn turned(specimen: &Graph, turned: bool, seed: u64) -> Result<Graph> {
    let names = specimen.names().context("landmarks have names")?.to_vec();
    let turned = Spoiling { turned, ..Spoiling::default() }.spoil(specimen, seed)?;
    Ok(turned.graph.with_names(names)?)
}

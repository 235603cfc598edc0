//! Complete named specimens to learn from and to name.

use crate::asked::Asked;
use crate::never_worse::{Data, all_data, table};
use anyhow::{Context, Result};
use homolog::experiment::Spoiling;
use homolog::graph::Graph;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Complete specimens: each has every name and no other point.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) specimens: Vec<Arc<Graph>>,
}

/// The sets that are asked for.
pub(super) fn sets(asked: &Asked) -> Result<Vec<Set>> {
    let sets = asked.sets(given)?;
    Ok(sets.into_iter().map(|data| Set { name: data.name, specimens: complete(&data.specimens) }).collect())
}

fn given(folder: &Path) -> Result<Vec<Data>> {
    let mut sets = all_data(folder)?;
    sets.retain(|data| !data.spoiled);
    for (name, path) in [("house", "house/landmarks.csv"), ("wings", "wings/wings.tps"), ("mocap", "mocap/walk.trc")] {
        sets.push(table(&folder.join(path), name)?);
    }
    Ok(sets)
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

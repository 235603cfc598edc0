//! `homolog name` for a take: the frames of a recording in order, named as a whole.

use super::name::write_picture;
use crate::counted::counted;
use crate::files;
use crate::inputs::extension;
use crate::progress::Watch;
use anyhow::{Context, Result, bail};
use homolog::atlas::Atlas;
use homolog::data::dataset::NamedGraph;
use homolog::data::{self, Format};
use homolog::graph::Graph;
use homolog::model::Model;
use homolog::takes::{NamedLabel, NamedTake, TakeNaming};
use homolog_viz::TakePicture;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// At most this many doubtful stretches and swaps are printed; --json has all.
const LISTED: usize = 20;

/// Where the results go.
pub(super) struct Outputs<'a> {
    pub(super) table: Option<&'a Path>,
    pub(super) picture: Option<&'a Path>,
    pub(super) json: bool,
}

/// Names the frames and writes what is asked for.
pub(super) fn run(model: &Model, frames: &[&NamedGraph], outputs: &Outputs<'_>, watch: &Watch) -> Result<()> {
    let atlas = model.atlas().context("the model has no atlas")?;
    if let Some(path) = outputs.picture.filter(|path| !matches!(extension(path).as_str(), "svg" | "png")) {
        bail!("--picture {}: the picture of a take is one file that ends in .svg or .png", path.display());
    }
    let graphs: Vec<&Graph> = frames.iter().map(|named| &*named.graph).collect();
    let naming = model.name_take(&graphs, &watch.control(""))?;
    watch.end();
    let ids: Vec<&str> = frames.iter().map(|named| named.id.as_str()).collect();
    let named = naming.named(atlas, &ids, &graphs);
    if let Some(path) = outputs.picture {
        write_picture(path, &picture(atlas, &naming, &ids).to_svg())?;
    }
    let text = match outputs.table.map(extension).as_deref() {
        Some("trc") => data::write(Format::Trc, &labelled(atlas, &naming, frames)?)?,
        _ => table(atlas, frames, &named)?,
    };
    if let Some(path) = outputs.table {
        files::write(path, text.as_bytes())?;
    }
    if outputs.json {
        return files::print_data((serde_json::to_string_pretty(&named)? + "\n").as_bytes());
    }
    match outputs.table {
        Some(path) => files::print((mislabelled(&named.mislabelled)? + &summary(atlas, &named, path)?).as_bytes()),
        None => files::print_data(text.as_bytes()),
    }
}

/// The frames with the names that were found, in place of those they had.
fn labelled(atlas: &Atlas, naming: &TakeNaming, frames: &[&NamedGraph]) -> Result<Vec<NamedGraph>> {
    let name = |(at, frame): (usize, &&NamedGraph)| -> Result<NamedGraph> {
        let graph = (*frame.graph).clone().with_names(naming.names(atlas, at))?;
        Ok(NamedGraph { graph: Arc::new(graph), ..(*frame).clone() })
    };
    frames.iter().enumerate().map(name).collect()
}

/// One point per row, in the order of the input.
fn table(atlas: &Atlas, frames: &[&NamedGraph], named: &NamedTake) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let axes = &["x", "y", "z"][..atlas.dimension];
    let header = ["frame", "landmark"].into_iter().chain(axes.iter().copied()).chain(["confidence", "runner_up"]);
    writer.write_record(header)?;
    for (frame, names) in frames.iter().zip(&named.frames) {
        let Some(points) = frame.graph.points() else { continue };
        for (row, point) in points.rows().into_iter().enumerate() {
            let mut record = vec![frame.id.clone(), names.names[row].clone().unwrap_or_default()];
            record.extend(point.iter().map(f64::to_string));
            record.push(names.confidence[row].map_or_else(String::new, |share| format!("{share:.4}")));
            record.push(names.runner_up[row].clone().unwrap_or_default());
            writer.write_record(record)?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Labels that the take came with and that are wrong.
fn mislabelled(wrong: &[NamedLabel]) -> Result<String> {
    let mut text = String::new();
    for one in wrong.iter().take(LISTED) {
        let NamedLabel { first, last, label, marker, .. } = one;
        writeln!(text, "Label: frames {first} to {last}: the point labelled {label} is {marker}")?;
    }
    if wrong.len() > LISTED {
        writeln!(text, "... and {} more stretches with other labels (--json lists all)", wrong.len() - LISTED)?;
    }
    Ok(text)
}

fn summary(atlas: &Atlas, named: &NamedTake, path: &Path) -> Result<String> {
    let mut text = String::new();
    let points: usize = named.frames.iter().map(|frame| frame.names.len()).sum();
    let given: usize = named.frames.iter().map(|frame| frame.names.iter().flatten().count()).sum();
    let (frames, markers) = (named.frames.len(), atlas.landmarks.len());
    writeln!(
        text,
        "{}, {}: {given} of {points} points named; full search in {}",
        counted(frames, "frame"),
        counted(markers, "marker"),
        counted(named.key_frames, "frame")
    )?;
    if !named.complete {
        writeln!(text, "Stopped early: every frame is named, but less surely than it would be.")?;
    }
    if named.doubtful.is_empty() {
        writeln!(text, "No doubtful stretches.")?;
    }
    for doubt in named.doubtful.iter().take(LISTED) {
        let stretch = if doubt.first == doubt.last {
            format!("frame {}", doubt.first)
        } else {
            format!("frames {} to {}", doubt.first, doubt.last)
        };
        let or = doubt.or.as_deref().unwrap_or("no marker");
        writeln!(text, "Doubtful: {stretch}: {} or {or} (confidence from {:.2})", doubt.marker, doubt.confidence)?;
    }
    if named.doubtful.len() > LISTED {
        writeln!(text, "... and {} more doubtful stretches (--json lists all)", named.doubtful.len() - LISTED)?;
    }
    for swap in named.swaps.iter().take(LISTED) {
        let other = swap.other.as_deref().unwrap_or("no marker");
        writeln!(text, "Swap: from frame {} the point called {} is called {other}", swap.frame, swap.marker)?;
    }
    if named.swaps.len() > LISTED {
        writeln!(text, "... and {} more swaps (--json lists all)", named.swaps.len() - LISTED)?;
    }
    writeln!(text, "Wrote {}.", path.display())?;
    Ok(text)
}

/// Confidence over time.
fn picture(atlas: &Atlas, naming: &TakeNaming, ids: &[&str]) -> TakePicture {
    let mut confidence = vec![vec![None; naming.frames.len()]; atlas.landmarks.len()];
    for (frame, calls) in naming.frames.iter().enumerate() {
        calls.iter().flatten().for_each(|call| confidence[call.marker][frame] = Some(call.confidence));
    }
    TakePicture {
        title: "Confidence of names over time".to_string(),
        markers: atlas.landmarks.iter().map(|landmark| landmark.name.clone()).collect(),
        confidence,
        first_frame: ids.first().and_then(|id| id.parse().ok()).unwrap_or(1.0),
        swaps: naming.swaps.iter().map(|swap| (swap.marker, swap.frame)).collect(),
    }
}

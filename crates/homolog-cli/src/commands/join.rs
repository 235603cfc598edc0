//! `homolog join`: specimens without labels, given one consistent naming.

use super::name::{atlas_picture, write_picture};
use super::{PoseOption, PresenceOption, give, read_model, seconds, use_threads};
use crate::inputs::{Input, distinct_ids};
use crate::progress::{Watch, stop_is_wanted};
use crate::reading::Reading;
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::atlas::{AtlasSettings, Pose, Presence};
use homolog::data::dataset::NamedGraph;
use homolog::features::{Gradients, ImageDescriptor};
use homolog::graph::Graph;
use homolog::model::Model;
use homolog::specimens::join::{Joined, join};
use std::path::PathBuf;

/// Names the points of specimens without labels, consistently
#[derive(clap::Args)]
#[command(after_help = "\
Points that belong together get one name in all specimens: 1, 2, ... or, if some specimens are labelled, their label. The table has
one row per point; the name is empty for a point without a partner. The confidence is the chance that the name is right.
The atlas names new specimens (homolog name). In `homolog label`, the button Join first does this, to be corrected there.

Examples:
  homolog join wings.csv -o names.csv --atlas wings.model.json --picture wings.png
  homolog join monday.csv tuesday.csv wednesday.csv --presence partial -o cells.csv --table cells-by-day.csv
  homolog join wings.csv --pose any --mirror -o names.csv
  homolog join views.json --model matcher.model.json -o names.csv --time-limit 60")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// Landmark tables (.csv), data sets (.json, .jsonl) or other files with points; together at least two specimens
    #[arg(required = true)]
    specimens: Vec<PathBuf>,
    /// Write specimen, point, name and confidence to a table (.csv) [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a table with one row per name and one column per specimen, each cell the number of the point
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write the atlas of all specimens to a model file, for `homolog name`
    #[arg(long, value_name = "FILE")]
    atlas: Option<PathBuf>,
    /// Draw the atlas into an .svg or .png file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Match pairs of specimens by this model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Allowed rotation of specimens (tilted: up to 45°) [default: as given if they are oriented alike, otherwise any]
    #[arg(long, value_enum)]
    pose: Option<PoseOption>,
    /// Treat mirror images as the same
    #[arg(long)]
    mirror: bool,
    /// Whether specimens have every point and no other, or points may be missing and extra [default: auto, found from a sample of pairs]
    #[arg(long, value_enum)]
    presence: Option<PresenceOption>,
    /// The same as --presence partial
    #[arg(long, conflicts_with_all = ["complete", "presence"])]
    unmatched: bool,
    /// The same as --presence complete
    #[arg(long, conflicts_with = "presence")]
    complete: bool,
    /// Also compare the pictures around the points
    #[arg(long)]
    pictures: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Stop after this many seconds with the best so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    use_threads(arguments.threads)?;
    let limit = arguments.time_limit.map(seconds).transpose()?;
    let reading = Reading::within(limit);
    let model = arguments.model.as_deref().map(read_model).transpose()?;
    let settings = arguments.settings();
    let mut images = settings.images.clone();
    images.extend(model.iter().flat_map(Model::image_descriptors));
    let load = |path: &PathBuf| Input::load(path)?.seen_by(&images);
    let inputs = arguments.specimens.iter().map(load).collect::<Result<Vec<_>>>()?;
    let specimens: Vec<&NamedGraph> = inputs.iter().flat_map(|input| input.data.graphs()).collect();
    let ids = distinct_ids(&arguments.specimens, &inputs);
    let graphs: Vec<&Graph> = specimens.iter().map(|one| &*one.graph).collect();
    if graphs.len() < 2 {
        bail!("need at least two specimens to join, found {}", graphs.len());
    }
    drop(reading);
    let watch = Watch::new(limit);
    let joined = join(&graphs, &settings, model.as_ref(), &watch.control("")).context("joining")?;
    watch.end();
    let names = names_csv(&joined, &ids)?;
    if let Some(path) = &arguments.atlas {
        files::write(path, joined.model.to_json()?.as_bytes())?;
    }
    if let Some(path) = &arguments.table {
        files::write(path, table_csv(&joined, &ids)?.as_bytes())?;
    }
    if let (Some(path), Some(atlas)) = (&arguments.picture, joined.model.atlas()) {
        write_picture(path, &atlas_picture(atlas))?;
    }
    if let Some(path) = &arguments.output {
        files::write(path, names.as_bytes())?;
    }
    let value = serde_json::from_str(&joined.to_json(&ids)?)?;
    match (&arguments.output, arguments.json) {
        (None, false) => files::print_data(names.as_bytes())?,
        (Some(path), false) => give(&format!("{}Wrote {}.\n", joined.report, path.display()), &value, false, None)?,
        (_, true) => give("", &value, true, None)?,
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

impl Arguments {
    fn settings(&self) -> AtlasSettings {
        let pose = match (self.pose, self.mirror) {
            (_, true) => Some(Pose::Any),
            (Some(PoseOption::AsGiven), _) => Some(Pose::AsGiven),
            (Some(PoseOption::Tilted), _) => Some(Pose::Tilted),
            (Some(PoseOption::Any), _) => Some(Pose::Rotated),
            (None, _) => None,
        };
        let presence = match (self.complete, self.unmatched) {
            (true, _) => Some(Presence::Complete),
            (_, true) => Some(Presence::Partial),
            _ => self.presence.map(PresenceOption::presence),
        };
        let images = if self.pictures { vec![ImageDescriptor::Gradients(Gradients::default())] } else { Vec::new() };
        AtlasSettings { pose, presence, images, ..AtlasSettings::default() }
    }
}

fn names_csv(joined: &Joined, ids: &[String]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["specimen", "point", "name", "confidence"])?;
    for (id, points) in ids.iter().zip(&joined.points) {
        for (number, point) in points.iter().enumerate() {
            let name = point.map_or("", |point| joined.names[point.name].name.as_str());
            let confidence = point.and_then(|point| point.confidence).map_or_else(String::new, |x| format!("{x:.4}"));
            writer.write_record([id, &number.to_string(), name, &confidence])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// One row per name, one column per specimen.
fn table_csv(joined: &Joined, ids: &[String]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(std::iter::once("name").chain(ids.iter().map(String::as_str)))?;
    for (at, name) in joined.names.iter().enumerate() {
        let cell = |points: &Vec<Option<homolog::specimens::join::JoinedPoint>>| {
            let number = points.iter().position(|point| point.is_some_and(|point| point.name == at));
            number.map_or_else(String::new, |number| number.to_string())
        };
        writer.write_record(std::iter::once(name.name.clone()).chain(joined.points.iter().map(cell)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

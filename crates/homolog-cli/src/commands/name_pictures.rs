//! `homolog name MODEL PICTURE...`: the landmarks of pictures without any points, by a model that learned what they look like.

use super::name::{Arguments, check_picture, file_for, write_picture};
use super::name_output::SURE;
use crate::hints::advised;
use crate::inputs::extension;
use crate::progress::{Watch, note, stop_is_wanted};
use crate::{Ending, files, pictures};
use anyhow::{Context, Result, bail};
use homolog::ErrorKind;
use homolog::appearance::FoundPoint;
use homolog::geometry::GreyImage;
use homolog::model::Model;
use homolog_viz::{GreyPicture, NamedPicture, NamedPoint, View};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A picture and what was found in it.
struct Named {
    id: String,
    picture: GreyPicture,
    found: Vec<FoundPoint>,
}

/// Whether pictures are given instead of points; some of each is an error.
pub(super) fn are_pictures(specimens: &[PathBuf]) -> Result<bool> {
    let is_picture = |path: &&PathBuf| matches!(extension(path).as_str(), "png" | "jpg" | "jpeg");
    match specimens.iter().filter(is_picture).count() {
        0 => Ok(false),
        count if count == specimens.len() => Ok(true),
        _ => bail!("give either pictures or files with points, not both at once"),
    }
}

pub(super) fn run(arguments: &Arguments, model: &Model, limit: Option<Duration>) -> Result<Ending> {
    if model.appearance().is_none() {
        return Err(advised(
            format!("{} does not find points in pictures", arguments.model.display()),
            "train with `homolog train DATA --features atlas --pictures`",
        ));
    }
    check_picture(arguments.picture.as_deref(), arguments.specimens.len())?;
    let watch = Watch::new(limit);
    let control = watch.control("");
    let mut named = Vec::new();
    for path in &arguments.specimens {
        if watch.is_over() && !named.is_empty() {
            break;
        }
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        watch.say(format!("looking at {id}"));
        let picture = pictures::read(path)?;
        let grey = GreyImage::new(picture.width, picture.height, &picture.pixels)?;
        let found = match model.find(grey, &control) {
            Err(error) if error.kind() == ErrorKind::Interrupted && !named.is_empty() => break,
            found => found.with_context(|| path.display().to_string())?,
        };
        named.push(Named { id, picture, found });
    }
    let (done, all) = (named.len(), arguments.specimens.len());
    if done < all {
        let ended_by = watch.ended_by().unwrap_or_default();
        note(&format!("stopped early by {ended_by}: {} of {all} pictures were not searched", all - done));
    }
    watch.end();
    if let Some(path) = &arguments.picture {
        let mut taken = BTreeSet::new();
        for one in &named {
            draw(&file_for(path, &one.id, &mut taken)?, one)?;
        }
    }
    let table = table(&named)?;
    if let Some(path) = &arguments.output {
        files::write(path, table.as_bytes())?;
    }
    if arguments.json {
        let one = |one: &Named| json!({ "specimen": one.id, "points": one.found });
        let list: Vec<_> = named.iter().map(one).collect();
        files::print_data((serde_json::to_string_pretty(&json!({ "specimens": list }))? + "\n").as_bytes())?;
    } else {
        match &arguments.output {
            Some(path) => files::print(summary(&named, path)?.as_bytes())?,
            None => files::print_data(table.as_bytes())?,
        }
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// A landmark table that every command reads; places to a hundredth of a pixel.
fn table(named: &[Named]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["specimen", "landmark", "x", "y", "confidence"])?;
    for one in named {
        for point in &one.found {
            let [x, y] = point.at.map(|at| format!("{at:.2}"));
            let confidence = point.confidence.map_or_else(String::new, |share| format!("{share:.4}"));
            writer.write_record([&one.id, &point.name, &x, &y, &confidence])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn summary(named: &[Named], path: &Path) -> Result<String> {
    let mut text = String::new();
    for one in named {
        write!(text, "{}: {} points found", one.id, one.found.len())?;
        let is_unsure = |point: &&FoundPoint| point.confidence.is_some_and(|confidence| confidence < SURE);
        let unsure: Vec<&str> = one.found.iter().filter(is_unsure).map(|point| point.name.as_str()).collect();
        match unsure.len() {
            0 => writeln!(text)?,
            _ => writeln!(text, ", check first: {}", unsure.join(", "))?,
        }
    }
    writeln!(text, "Wrote {}.", path.display())?;
    Ok(text)
}

fn draw(path: &Path, one: &Named) -> Result<()> {
    let known = |point: &FoundPoint| NamedPoint {
        name: point.name.clone(),
        confidence: point.confidence,
        ..NamedPoint::default()
    };
    let points = one.found.iter().map(|point| point.at).collect();
    let view = View { caption: one.id.clone(), points, picture: Some(one.picture.clone()), ..View::default() };
    let points = one.found.iter().map(known).collect();
    write_picture(path, &NamedPicture { title: String::new(), view, points }.to_svg())
}

//! dlib's shape predictor on the same draws, in a Python process (`python/shape_predictor.py`).

use super::Draw;
use super::data::Set;
use crate::linear::python;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("../../python/shape_predictor.py");

#[derive(Deserialize)]
struct Answer {
    jobs: Vec<Vec<Vec<[f64; 2]>>>,
}

/// For each draw and each picture in it to search: the place of each landmark.
pub(super) fn find(set: &Set, draws: &[Draw]) -> Result<Vec<Vec<Vec<[f64; 2]>>>> {
    let python = python::environment_with("bench-dlib", &["dlib-bin", "numpy", "pillow"])?;
    let folder = python.parent().and_then(|bin| bin.parent()).context("a folder")?.join("pictures");
    fs::create_dir_all(&folder)?;
    let mut pictures = Vec::new();
    for (number, specimen) in set.specimens.iter().enumerate() {
        let file = folder.join(format!("{number}.png"));
        let side = |length: usize| u32::try_from(length);
        let picture = &specimen.picture;
        image::GrayImage::from_raw(side(picture.width)?, side(picture.height)?, picture.pixels.clone())
            .context("a picture")?
            .save(&file)?;
        let points = specimen.graph.points().context("a specimen has no points")?;
        let points: Vec<[f64; 2]> = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
        pictures.push(json!({ "file": file, "points": points }));
    }
    let jobs: Vec<_> = draws.iter().map(|draw| json!({ "train": draw.train, "test": draw.test })).collect();
    let job = json!({ "pictures": pictures, "jobs": jobs }).to_string();
    let mut command = Command::new(&python);
    let mut child = command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("no pipe to Python")?.write_all(job.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "dlib ended with {}", output.status);
    let answer: Answer = serde_json::from_slice(&output.stdout)?;
    Ok(answer.jobs)
}

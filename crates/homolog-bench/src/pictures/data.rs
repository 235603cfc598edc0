//! Labelled pictures: the sets that lie beside the project, and any file that the library reads.

use crate::scene::{Photo, read_set};
use anyhow::{Context, Result};
use homolog::data::read;
use homolog::graph::Graph;
use homolog_viz::GreyPicture;
use ndarray::Array2;
use std::fs;
use std::path::Path;

/// Pictures of the same kind of thing, with the same landmarks in each.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) specimens: Vec<Specimen>,
}

pub(super) struct Specimen {
    pub(super) picture: GreyPicture,
    /// With names and points.
    pub(super) graph: Graph,
}

/// wings, faces or bikes.
pub(super) fn known(folder: &Path, name: &str) -> Result<Set> {
    if name == "wings" {
        return file(&folder.join("wings/wings.tps"));
    }
    let specimen = |photo: Photo| {
        let names = (0..photo.landmarks.nrows()).map(|landmark| landmark.to_string()).collect();
        let graph = Graph::from_points(photo.landmarks)?.with_names(names)?;
        Ok(Specimen { picture: photo.picture, graph })
    };
    let specimens = read_set(folder, name)?.into_iter().map(specimen).collect::<Result<_>>()?;
    Ok(Set { name: name.to_string(), specimens })
}

/// A TPS file, a table or a data set whose pictures lie beside it; specimens without a picture are left out.
pub(super) fn file(path: &Path) -> Result<Set> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str, most: usize| {
        let mut bytes = fs::read(folder.join(name)).ok()?;
        bytes.truncate(most);
        Some(bytes)
    };
    let loaded = read(&path.display().to_string(), &bytes, &beside)?;
    let mut specimens = Vec::new();
    for named in loaded.data.graphs() {
        let Some(image) = &named.image else { continue };
        let file = folder.join(image);
        let grey = image::open(&file).with_context(|| format!("reading {}", file.display()))?.into_luma8();
        let picture =
            GreyPicture { width: grey.width() as usize, height: grey.height() as usize, pixels: grey.into_raw() };
        specimens.push(Specimen { picture, graph: (*named.graph).clone() });
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Set { name, specimens })
}

/// The same specimen, rotated about the middle of its picture and shifted; what comes into view repeats the border. A landmark that leaves
/// the picture loses its name: nothing can find it there.
pub(super) fn moved(specimen: &Specimen, degrees: f64, shift: f64) -> Result<Specimen> {
    let (width, height) = (specimen.picture.width, specimen.picture.height);
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let (mx, my) = (width as f64 / 2.0, height as f64 / 2.0);
    let forth =
        |x: f64, y: f64| (cosine * (x - mx) - sine * (y - my) + mx + shift, sine * (x - mx) + cosine * (y - my) + my);
    let back = |x: f64, y: f64| {
        let (x, y) = (x - mx - shift, y - my);
        (cosine * x + sine * y + mx, cosine * y - sine * x + my)
    };
    let mut pixels = Vec::with_capacity(width * height);
    for at in 0..width * height {
        let (x, y) = back((at % width) as f64, (at / width) as f64);
        pixels.push(level(&specimen.picture, x, y));
    }
    let points = specimen.graph.points().context("a specimen has no points")?;
    let mut places = Array2::zeros(points.dim());
    for (point, mut place) in points.rows().into_iter().zip(places.rows_mut()) {
        (place[0], place[1]) = forth(point[0], point[1]);
    }
    let inside = |place: ndarray::ArrayView1<'_, f64>| {
        let side = |at: f64, length: usize| at >= 0.0 && at <= length as f64 - 1.0;
        side(place[0], width) && side(place[1], height)
    };
    let names = specimen.graph.names().context("a specimen has no names")?.iter().zip(places.rows());
    let names = names.map(|(name, place)| if inside(place) { name.clone() } else { String::new() }).collect();
    let graph = Graph::from_points(places)?.with_names(names)?;
    Ok(Specimen { picture: GreyPicture { width, height, pixels }, graph })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture and to grey levels"
)]
fn level(picture: &GreyPicture, x: f64, y: f64) -> u8 {
    let (x, y) = (x.clamp(0.0, (picture.width - 1) as f64), y.clamp(0.0, (picture.height - 1) as f64));
    let (left, top) = (x as usize, y as usize);
    let (right, bottom) = ((left + 1).min(picture.width - 1), (top + 1).min(picture.height - 1));
    let pixel = |x: usize, y: usize| f64::from(picture.pixels[y * picture.width + x]);
    let (across, down) = (x - left as f64, y - top as f64);
    let upper = pixel(left, top) * (1.0 - across) + pixel(right, top) * across;
    let lower = pixel(left, bottom) * (1.0 - across) + pixel(right, bottom) * across;
    (upper * (1.0 - down) + lower * down).round() as u8
}

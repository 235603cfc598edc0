//! The photographs with their landmarks, which are stored next to the project and not in it.

use crate::house;
use anyhow::{Context, Result};
use homolog::geometry::GreyImage;
use homolog_viz::GreyPicture;
use ndarray::Array2;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// A grey photograph and its labelled points.
pub(crate) struct Photo {
    pub(super) name: String,
    pub(crate) picture: GreyPicture,
    pub(crate) landmarks: Array2<f64>,
}

impl Photo {
    pub(super) fn grey(&self) -> Result<GreyImage<'_>> {
        Ok(GreyImage::new(self.picture.width, self.picture.height, &self.picture.pixels)?)
    }
}

/// A set of photographs of the same kind of thing.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) photos: Vec<Photo>,
}

/// An object in a landmark table: its name, its file, whether to mirror it, its points.
struct Entry {
    name: String,
    file: PathBuf,
    mirrored: bool,
    points: Vec<[f64; 2]>,
}

/// The landmarks of the house that form the query: every third, and the last.
const HOUSE_QUERY: [usize; 11] = [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 29];

/// Reads a set by its name.
pub(super) fn read(data: &Path, name: &str) -> Result<Set> {
    let folder = data.join(name);
    let rows = house::rows(&folder.join("landmarks.csv"))?;
    let images = folder.join("images");
    match name {
        "house" => {
            let number = |row: &[String]| row[0].parse::<usize>().map(|frame| frame.saturating_sub(1));
            let file = |row: &[String]| Ok(images.join(format!("house.seq{}.png", number(row)?)));
            let mut entries = collect(&rows, 2, file, |_| false)?;
            for entry in &mut entries {
                entry.points = HOUSE_QUERY.iter().map(|&k| entry.points[k]).collect();
            }
            set("house", entries)
        }
        "faces" => {
            let file = |row: &[String]| Ok(images.join(format!("{}.png", row[0])));
            set("faces", collect(&rows, 2, file, |_| false)?)
        }
        "bikes" => {
            let file = |row: &[String]| Ok(images.join(format!("{}.jpg", row[1])));
            let mut entries = collect(&rows, 5, file, |row| row[2] == "left")?;
            // Mirrored, the left handle is the right one.
            entries.iter_mut().filter(|entry| entry.mirrored).for_each(|entry| entry.points.swap(0, 1));
            set("bikes", entries)
        }
        other => anyhow::bail!("no set is called {other}"),
    }
}

fn collect(
    rows: &[Vec<String>],
    x_column: usize,
    file: impl Fn(&[String]) -> Result<PathBuf>,
    mirrored: impl Fn(&[String]) -> bool,
) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for row in rows {
        if entries.last().is_none_or(|entry| entry.name != row[0]) {
            let entry = Entry { name: row[0].clone(), file: file(row)?, mirrored: mirrored(row), points: Vec::new() };
            entries.push(entry);
        }
        if let Some(entry) = entries.last_mut() {
            entry.points.push([row[x_column].parse()?, row[x_column + 1].parse()?]);
        }
    }
    Ok(entries)
}

fn set(name: &'static str, entries: Vec<Entry>) -> Result<Set> {
    let photos = entries.into_par_iter().map(Entry::photo).collect::<Result<_>>()?;
    Ok(Set { name, photos })
}

impl Entry {
    fn photo(mut self) -> Result<Photo> {
        let decoded = image::open(&self.file).with_context(|| format!("reading {}", self.file.display()))?;
        let mut grey = decoded.to_luma8();
        if self.mirrored {
            image::imageops::flip_horizontal_in_place(&mut grey);
            let last = f64::from(grey.width()) - 1.0;
            self.points.iter_mut().for_each(|point| point[0] = last - point[0]);
        }
        let (width, height) = (grey.width() as usize, grey.height() as usize);
        let landmarks = Array2::from_shape_fn((self.points.len(), 2), |(row, axis)| self.points[row][axis]);
        let picture = GreyPicture { width, height, pixels: grey.into_raw() };
        Ok(Photo { name: self.name, picture, landmarks })
    }
}

//! `homolog detect`: corners of pictures, as a table of points.

use crate::inputs::extension;
use crate::progress::say;
use crate::{Ending, files, pictures};
use anyhow::{Context, Result, bail};
use homolog::geometry::{Corners, GreyImage, Susan};
use homolog_viz::{GreyPicture, PointPicture, View, svg_to_png};
use std::path::{Path, PathBuf};

/// Finds corners in pictures
#[derive(clap::Args)]
#[command(after_help = "\
Corners are found by SUSAN (Smith and Brady). The table has the columns image, x, y; points are in pixels from the centre of the
upper left one.

Examples:
  homolog detect photo.jpg -o points.csv
  homolog detect *.png --at-most 100 -o points.csv
  homolog detect photo.png -o points.csv --picture corners.png")]
pub(crate) struct Arguments {
    /// PNG or JPEG files
    #[arg(required = true)]
    images: Vec<PathBuf>,
    /// Largest number of corners per picture; the brightness threshold is raised to meet it
    #[arg(long, default_value_t = 200)]
    at_most: usize,
    /// The table to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the corners of a single picture into an .svg or .png file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    if arguments.picture.is_some() && arguments.images.len() > 1 {
        bail!("--picture draws one picture, but {} were given", arguments.images.len());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["image", "x", "y"])?;
    for path in &arguments.images {
        let grey = pictures::read(path)?;
        let corners =
            Susan::default().at_most(arguments.at_most, GreyImage::new(grey.width, grey.height, &grey.pixels)?)?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for point in corners.points.rows() {
            writer.write_record([&name, &format!("{:.3}", point[0]), &format!("{:.3}", point[1])])?;
        }
        let (count, threshold) = (corners.count(), corners.brightness);
        say(&format!("{}: {count} corners at brightness threshold {threshold}", path.display()));
        if let Some(output) = &arguments.picture {
            draw(output, &name, &corners, grey)?;
        }
    }
    let table = writer.into_inner().context("cannot finish the table")?;
    match &arguments.output {
        Some(path) => files::write(path, &table)?,
        None => files::print_data(&table)?,
    }
    Ok(Ending::Done)
}

fn draw(path: &Path, name: &str, corners: &Corners, grey: GreyPicture) -> Result<()> {
    let points = corners.points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
    let view = View {
        caption: format!("{name}: {} corners", corners.count()),
        points,
        picture: Some(grey),
        ..View::default()
    };
    let svg = PointPicture { title: format!("Corners of {name}"), view }.to_svg();
    match extension(path).as_str() {
        "svg" => files::write(path, svg.as_bytes()),
        "png" => files::write(path, &svg_to_png(&svg, 1.5)?),
        other => bail!("--picture {}: a picture ends in .svg or .png, not in {other:?}", path.display()),
    }
}

//! The built-in sequence as a camera in the hand sees it: each picture is rotated by up to 25° about its middle, with its points.

use homolog::Result;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::turntable::Turntable;
use homolog::graph::Graph;
use homolog_viz::GreyPicture;
use std::sync::Arc;

/// Width and height of a rotated picture: nothing of the building is cut off.
const SIDE: usize = 620;

/// By how much a frame is rotated, in radians: always the same, and as if at random.
fn angle(frame: usize) -> f64 {
    (2.4 * frame as f64).sin() * 25.0_f64.to_radians()
}

/// From the middle of the frame as it was to the middle of the rotated picture.
fn rotated(frame: usize, [x, y]: [f64; 2]) -> [f64; 2] {
    let [width, height] = Turntable::IMAGE_SIZE;
    let (sine, cosine) = angle(frame).sin_cos();
    let (x, y) = (x - width as f64 / 2.0, y - height as f64 / 2.0);
    let middle = SIDE as f64 / 2.0;
    [middle + cosine * x - sine * y, middle + sine * x + cosine * y]
}

/// The frames with rotated points.
pub(crate) fn data_set(data: &DataSet) -> Result<DataSet> {
    let turned = |(frame, one): (usize, &NamedGraph)| -> Result<NamedGraph> {
        let Some(points) = one.graph.points() else { return Ok(one.clone()) };
        let mut points = points.to_owned();
        for mut point in points.rows_mut() {
            let [x, y] = rotated(frame, [point[0], point[1]]);
            (point[0], point[1]) = (x, y);
        }
        let graph = Graph::from_points(points)?;
        let names = one.graph.names().map(<[String]>::to_vec);
        let graph = match names {
            Some(names) => graph.with_names(names)?,
            None => graph,
        };
        Ok(NamedGraph { graph: Arc::new(graph), ..one.clone() })
    };
    DataSet::new(data.graphs().iter().enumerate().map(turned).collect::<Result<Vec<_>>>()?, Vec::new())
}

/// A frame rotated; what comes into view repeats the border.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within the picture")]
pub(crate) fn picture(frame: usize, upright: &GreyPicture) -> GreyPicture {
    let (sine, cosine) = angle(frame).sin_cos();
    let middle = SIDE as f64 / 2.0;
    let mut pixels = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (x, y) = (column as f64 - middle, row as f64 - middle);
            let back = [cosine * x + sine * y, cosine * y - sine * x];
            let at = |axis: usize, size: usize| (back[axis] + size as f64 / 2.0).round().clamp(0.0, size as f64 - 1.0);
            let (x, y) = (at(0, upright.width) as usize, at(1, upright.height) as usize);
            pixels.push(upright.pixels[y * upright.width + x]);
        }
    }
    GreyPicture { width: SIDE, height: SIDE, pixels }
}

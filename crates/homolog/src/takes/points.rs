//! The points of a take, frame by frame, as plain numbers: in the plane the third coordinate is 0.

use crate::graph::Graph;
use crate::{Error, Result};

/// A place in space.
pub(super) type Place = [f64; 3];

/// All points of a take.
#[derive(Debug)]
pub(super) struct Points {
    /// The places of the points of each frame.
    pub(super) frames: Vec<Vec<Place>>,
}

impl Points {
    /// Reads the points of graphs.
    ///
    /// # Errors
    /// A graph without points, or with points of another dimension.
    pub(super) fn new(frames: &[&Graph], dimension: usize) -> Result<Self> {
        let places = |graph: &&Graph| -> Result<Vec<Place>> {
            let points = graph.points().ok_or(Error::Missing { what: "points", needed_by: "take" })?;
            if points.ncols() != dimension {
                let (expected, found) = (dimension, points.ncols());
                return Err(Error::Size { what: "coordinates of a point of the take", expected, found });
            }
            let place = |row: ndarray::ArrayView1<'_, f64>| [row[0], row[1], row.get(2).copied().unwrap_or(0.0)];
            Ok(points.rows().into_iter().map(place).collect())
        };
        Ok(Self { frames: frames.iter().map(places).collect::<Result<_>>()? })
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn place(&self, frame: usize, point: usize) -> Place {
        self.frames[frame][point]
    }

    /// The median over some frames of the root mean square distance of the points from their median.
    pub(super) fn size(&self) -> f64 {
        let step = self.len().div_ceil(200).max(1);
        let mut sizes: Vec<f64> =
            self.frames.iter().step_by(step).filter(|frame| frame.len() > 1).map(|f| radius(f)).collect();
        median(&mut sizes).filter(|&size| size > 0.0).unwrap_or(1.0)
    }
}

fn radius(frame: &[Place]) -> f64 {
    let centre =
        [0, 1, 2].map(|axis| median(&mut frame.iter().map(|place| place[axis]).collect::<Vec<_>>()).unwrap_or(0.0));
    (frame.iter().map(|&place| squared_distance(place, centre)).sum::<f64>() / frame.len() as f64).sqrt()
}

pub(super) fn squared_distance(a: Place, b: Place) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum()
}

pub(super) fn distance(a: Place, b: Place) -> f64 {
    squared_distance(a, b).sqrt()
}

/// The middle value (the upper one of two); `None` if there is none. Reorders the values.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

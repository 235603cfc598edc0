//! A landmark sequence made by code: a toy building on a turntable before a camera, hand-labelled in every frame.
//!
//! It stands in for the house sequence of the paper where no files are at hand. The frames turn the building by 0.45 degrees each. A
//! point X of the building is seen at
//!
//!   (u, v, depth) = camera + elevate * turn(angle) * (X - centre),   x = width/2 + focal u/depth,   y = height/2 - focal v/depth
//!
//! plus a labelling error of `jitter` pixels, rounded to 1e-5 pixel as in a label file (and so that the last bit of a platform's sine
//! does not show). Row k of every frame is the same landmark. The angles and distances are set so that matching shape contexts
//! without learning fails as it does on the house data: hardly ever over 10 frames, for half of the landmarks over 90
//! (`tests/turntable.rs` has the whole curve). Landmarks are on faces that look to the camera in all frames.

mod building;
mod raster;

use crate::{Error, Result};
use building::{LANDMARKS, Point};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use raster::{Canvas, Corner};
use serde::{Deserialize, Serialize};

/// Size of the pictures, as in the house sequence.
const WIDTH: usize = 576;
const HEIGHT: usize = 384;
/// The camera: height above the table's plane in degrees, distance from the centre in units of the building, focal length in pixels.
const ELEVATION: f64 = 14.0;
const DISTANCE: f64 = 18.0;
const FOCAL: f64 = 720.0;
/// The point of the building that the table turns about and the camera looks at.
const CENTRE: Point = [0.0, 3.3, -0.5];
/// Where the light comes from, seen from the camera.
const LIGHT: Point = [-0.45, 0.5, 0.74];
/// More frames than anybody turns a table for.
const MOST_FRAMES: usize = 100_000;

/// The sequence. Its fields are its settings.
///
/// ```
/// use homolog::data::turntable::Turntable;
///
/// let sequence = Turntable::default();
/// let frames = sequence.landmarks()?;
/// assert_eq!((frames.len(), frames[0].dim()), (111, (30, 2)));
/// assert_eq!(sequence.render(0)?.pixels.len(), 576 * 384);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turntable {
    /// Seed of the labelling errors.
    pub seed: u64,
    /// Number of frames; 111 as in the house sequence.
    pub frames: usize,
    /// Standard deviation of the labelling error along each axis, in pixels; 1 is about what a careful hand does.
    pub jitter: f64,
    /// Angle of the first frame in degrees: 0 looks at the front, -90 at the right gable.
    pub first_angle: f64,
    /// Angle of the last frame. Between the two the table turns evenly.
    pub last_angle: f64,
}

impl Default for Turntable {
    fn default() -> Self {
        Self { seed: 1, frames: 111, jitter: 1.0, first_angle: -66.0, last_angle: -16.5 }
    }
}

/// A grey picture, row by row from the top left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// One byte a pixel, 0 black.
    pub pixels: Vec<u8>,
}

impl Turntable {
    /// Width and height of the pictures, in pixels.
    pub const IMAGE_SIZE: [usize; 2] = [WIDTH, HEIGHT];

    /// Names of the landmarks, in the order of the rows.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        LANDMARKS.iter().map(|&(name, _)| name).collect()
    }

    /// The labels of all frames: for each a table of 30 rows, x to the right and y down in pixels.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn landmarks(&self) -> Result<Vec<Array2<f64>>> {
        self.check()?;
        Ok((0..self.frames).map(|frame| self.label(frame)).collect())
    }

    /// The picture of a frame, counted from 0. Labelling errors do not show.
    ///
    /// # Errors
    /// A setting out of range, or no such frame.
    pub fn render(&self, frame: usize) -> Result<Picture> {
        self.check()?;
        if frame >= self.frames {
            return Err(Error::OutOfRange { what: "frames", index: frame, count: self.frames });
        }
        Ok(self.draw(frame).picture())
    }

    fn check(&self) -> Result<()> {
        if self.frames > MOST_FRAMES {
            return Err(Error::TooLarge { what: "frames", limit: MOST_FRAMES, found: self.frames });
        }
        if !(0.0..=1e6).contains(&self.jitter) {
            return Err(Error::BadSetting {
                name: "jitter",
                value: self.jitter,
                reason: "must be from 0 to 1e6 pixels",
            });
        }
        for (name, value) in [("first_angle", self.first_angle), ("last_angle", self.last_angle)] {
            if !(-360.0..=360.0).contains(&value) {
                return Err(Error::BadSetting { name, value, reason: "must be from -360 to 360 degrees" });
            }
        }
        Ok(())
    }

    fn label(&self, frame: usize) -> Array2<f64> {
        // A stream of its own for each frame: its labels do not depend on how many other frames there are.
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(frame as u64);
        // Twelve uniform numbers have variance 1: near enough to a normal error, and the same bits everywhere.
        let mut error = || self.jitter * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
        let view = self.view(frame);
        let mut labels = Array2::zeros((LANDMARKS.len(), 2));
        for (mut row, &(_, point)) in labels.outer_iter_mut().zip(&LANDMARKS) {
            let corner = view.project(point);
            row[0] = label_precision(corner.x + error());
            row[1] = label_precision(corner.y + error());
        }
        labels
    }

    fn draw(&self, frame: usize) -> Canvas {
        let view = self.view(frame);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, |height| 0.03 + 0.05 * height);
        for face in building::faces() {
            let corners: Vec<Corner> = face.corners.iter().map(|&point| view.project(point)).collect();
            canvas.polygon(&corners, face.albedo * view.brightness(&face.corners));
        }
        canvas
    }

    fn view(&self, frame: usize) -> View {
        let share = if self.frames > 1 { frame as f64 / (self.frames - 1) as f64 } else { 0.0 };
        let angle = self.first_angle + share * (self.last_angle - self.first_angle);
        View { turn: angle.to_radians().sin_cos(), elevate: ELEVATION.to_radians().sin_cos() }
    }
}

/// A frame's geometry: sines and cosines of the table's angle and of the camera's elevation.
struct View {
    turn: (f64, f64),
    elevate: (f64, f64),
}

impl View {
    /// Into the camera's axes: right, up, towards the camera.
    fn rotate(&self, [x, y, z]: Point) -> Point {
        let ((st, ct), (se, ce)) = (self.turn, self.elevate);
        let (x, z) = (ct * x + st * z, ct * z - st * x);
        [x, ce * y - se * z, se * y + ce * z]
    }

    fn project(&self, [x, y, z]: Point) -> Corner {
        let [u, v, towards] = self.rotate([x - CENTRE[0], y - CENTRE[1], z - CENTRE[2]]);
        let scale = FOCAL / (DISTANCE - towards);
        Corner {
            x: label_precision(WIDTH as f64 / 2.0 + scale * u),
            y: label_precision(HEIGHT as f64 / 2.0 - scale * v),
            nearness: scale,
        }
    }

    /// How brightly the light shines on a face: some of it from everywhere, most by the angle to its normal.
    fn brightness(&self, corners: &[Point]) -> f64 {
        let minus = |p: Point, q: Point| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
        let (p, q) = (minus(corners[1], corners[0]), minus(corners[2], corners[0]));
        let normal = self.rotate([p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]);
        let dot = |p: Point, q: Point| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        // The side that is seen is the one that is lit, whichever way round the corners are listed.
        let facing = if normal[2] < 0.0 { -1.0 } else { 1.0 };
        let cosine = facing * dot(normal, LIGHT) / (dot(normal, normal) * dot(LIGHT, LIGHT)).sqrt();
        (0.3 + 0.9 * cosine.max(0.0)).min(1.0)
    }
}

/// Rounds to 1e-5 pixel.
fn label_precision(pixels: f64) -> f64 {
    (pixels * 1e5).round() / 1e5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_landmarks_are_seen_in_every_picture() {
        let sequence = Turntable { frames: 12, ..Turntable::default() };
        for frame in 0..sequence.frames {
            let (canvas, view) = (sequence.draw(frame), sequence.view(frame));
            for (name, point) in LANDMARKS {
                assert!(!canvas.hides(view.project(point), 1.5, 0.01), "{name} is hidden in frame {frame}");
            }
        }
    }

    #[test]
    fn the_centre_is_in_the_middle_and_does_not_move() {
        for frame in [0, 50, 110] {
            let corner = Turntable::default().view(frame).project(CENTRE);
            assert_eq!((corner.x, corner.y, corner.nearness), (288.0, 192.0, FOCAL / DISTANCE));
        }
    }

    #[test]
    fn turning_keeps_lengths_and_brightness_is_bounded() {
        let view = Turntable::default().view(30);
        let [x, y, z] = view.rotate([1.0, -2.0, 3.0]);
        assert!((x * x + y * y + z * z - 14.0).abs() < 1e-12);
        for face in building::faces() {
            assert!((0.3..=1.0).contains(&view.brightness(&face.corners)));
        }
    }

    #[test]
    fn bad_settings_and_frames_are_refused() {
        let good = Turntable::default();
        assert!(Turntable { jitter: f64::NAN, ..good.clone() }.landmarks().is_err());
        assert!(Turntable { jitter: -1.0, ..good.clone() }.landmarks().is_err());
        assert!(Turntable { last_angle: f64::INFINITY, ..good.clone() }.render(0).is_err());
        assert!(Turntable { frames: usize::MAX, ..good.clone() }.landmarks().is_err());
        assert_eq!(good.render(111), Err(Error::OutOfRange { what: "frames", index: 111, count: 111 }));
        assert_eq!(Turntable { frames: 0, ..good.clone() }.landmarks(), Ok(Vec::new()));
        assert_eq!(Turntable { frames: 1, ..good }.landmarks().map(|frames| frames.len()), Ok(1));
    }
}

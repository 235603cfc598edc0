//! Brings specimens into one frame although some of their landmarks are wrong.
//!
//! Each specimen is mapped onto the mean shape by the similarity that minimises a sum of squares weighted by (1 + (z/4m)²)^-2, with z
//! the distance of a landmark from its place in units of the landmark's own spread and m the median of z over the specimen: landmarks
//! that fit badly hardly count (reweighted least squares). The mean shape is the median of each coordinate, its spread the median
//! distance from it. The rounds begin at the specimen that the others fit best, again by medians, so a fifth of swapped, mirrored or
//! displaced specimens changes little.
//!
//! The *misfit* of a specimen is m. A specimen whose mirror image has less than half of its misfit, and fits as others do, is mirrored.

use super::robust::median;
use super::shapes::{Place, Shape, Shapes, centre_and_size, difference, length};
use crate::geometry::Similarity;
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayView1};

/// Rounds of fitting and taking medians, and of weighting within a fit.
const ROUNDS: usize = 6;
const WEIGHTINGS: usize = 6;
/// How many times the misfit of its specimen a landmark may be off and still count.
const REACH: f64 = 4.0;
/// At most so many specimens are tried as the first mean shape, each compared with at most so many.
const STARTS: usize = 20;
const COMPARED: usize = 60;
/// So many specimens are placed between two questions whether to go on.
const AT_A_TIME: usize = 64;
/// A mirror image fits if its misfit is below this share of that of the specimen, and below this many times the usual misfit.
const MIRROR_SHARE: f64 = 0.5;
const USUAL_MISFIT: f64 = 3.0;
/// Spreads below this share of the radius are not believed.
const LEAST_SPREAD: f64 = 1e-4;

/// The common frame.
pub(super) struct Frame {
    dimension: usize,
    /// Where each landmark lies; the centre is 0, the root-mean-square radius 1.
    pub(super) mean: Shape,
    spread: Vec<f64>,
    /// The usual misfit.
    pub(super) usual: f64,
}

/// A specimen in the frame.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) similarity: Similarity,
    pub(super) mirrored: bool,
    pub(super) misfit: f64,
    /// Its points in the frame.
    pub(super) points: Shape,
}

/// The frame of specimens, and where they lie in it.
/// If interrupted, the frame is that of fewer rounds.
///
/// # Errors
/// [`Error::Interrupted`] before many specimens were placed once.
pub(super) fn align(shapes: &Shapes, control: &Control) -> Result<(Frame, Vec<Placed>)> {
    let d = shapes.dimension;
    let mut frame = start(shapes, control)?;
    let mut placed = place_all(&frame, &shapes.specimens, control)?;
    for round in 0..ROUNDS {
        // Of a few specimens this takes a moment.
        if round > 0 && control.interrupted() {
            break;
        }
        frame = Frame::of(d, &placed);
        placed = place_all(&frame, &shapes.specimens, control)?;
        frame.usual = median(placed.iter().map(|placed| placed.misfit).collect());
        for (placed, shape) in placed.iter_mut().zip(&shapes.specimens) {
            frame.try_mirror(shape, placed)?;
        }
    }
    Ok((frame, placed))
}

fn place_all(frame: &Frame, specimens: &[Shape], control: &Control) -> Result<Vec<Placed>> {
    let place = |(at, shape): (usize, &Shape)| {
        if at % AT_A_TIME == AT_A_TIME - 1 {
            Error::if_interrupted(control)?;
        }
        frame.place(shape)
    };
    specimens.iter().enumerate().map(place).collect()
}

/// The specimen that the others fit best.
fn start(shapes: &Shapes, control: &Control) -> Result<Frame> {
    let d = shapes.dimension;
    let every = |most: usize| shapes.specimens.iter().step_by(shapes.specimens.len().div_ceil(most).max(1));
    let mut best: Option<(f64, Frame)> = None;
    for candidate in every(STARTS) {
        let frame = Frame::like(d, candidate);
        let misfits = every(COMPARED).map(|shape| Ok(frame.place(shape)?.misfit)).collect::<Result<Vec<f64>>>()?;
        let misfit = median(misfits);
        if best.as_ref().is_none_or(|(least, _)| misfit < *least) {
            best = Some((misfit, frame));
        }
        if control.interrupted() {
            break;
        }
    }
    Ok(best.map_or(Frame { dimension: d, mean: Vec::new(), spread: Vec::new(), usual: 0.0 }, |(_, frame)| frame))
}

fn normalised(shape: &Shape) -> Shape {
    let (centre, size) = centre_and_size(shape.iter().flatten());
    let scale = if size > 0.0 { 1.0 / size } else { 1.0 };
    shape.iter().map(|point| point.map(|point| difference(&point, &centre).map(|x| x * scale))).collect()
}

impl Frame {
    /// A single specimen as the mean shape.
    pub(super) fn like(dimension: usize, shape: &Shape) -> Self {
        Self { dimension, mean: normalised(shape), spread: vec![1.0; shape.len()], usual: 0.0 }
    }

    /// The median position of each landmark, and its median distance from there.
    fn of(dimension: usize, placed: &[Placed]) -> Self {
        let count = placed.first().map_or(0, |placed| placed.points.len());
        let of = |landmark: usize| placed.iter().filter_map(move |placed| placed.points[landmark]);
        let middle = |landmark: usize| -> Option<Place> {
            of(landmark).next()?;
            Some([0, 1, 2].map(|axis| median(of(landmark).map(|point| point[axis]).collect())))
        };
        let mean: Shape = (0..count).map(middle).collect();
        let (_, size) = centre_and_size(mean.iter().flatten());
        let spread = |landmark: usize| {
            let centre = mean[landmark].unwrap_or_default();
            let spread = median(of(landmark).map(|point| length(&difference(&point, &centre))).collect());
            (spread / if size > 0.0 { size } else { 1.0 }).max(LEAST_SPREAD)
        };
        let spread = (0..count).map(spread).collect();
        Self { dimension, mean: normalised(&mean), spread, usual: 0.0 }
    }

    /// A specimen in the frame.
    pub(super) fn place(&self, shape: &Shape) -> Result<Placed> {
        let d = self.dimension;
        let shared: Vec<(usize, Place, Place)> =
            (0..shape.len()).filter_map(|landmark| Some((landmark, shape[landmark]?, self.mean[landmark]?))).collect();
        let table = |side: &dyn Fn(&(usize, Place, Place)) -> Place| {
            Array2::from_shape_fn((shared.len(), d), |(row, axis)| side(&shared[row])[axis])
        };
        let (from, to) = (table(&|shared| shared.1), table(&|shared| shared.2));
        let mut weights = vec![1.0; shared.len()];
        let mut similarity = Similarity::identity(d);
        let mut misfit = 0.0;
        for _ in 0..WEIGHTINGS {
            similarity = Similarity::fit(from.view(), to.view(), Some(&weights), false)?;
            let moved = similarity.apply(from.view());
            let off = |row: usize| {
                let square = |(a, b): (ArrayView1<'_, f64>, ArrayView1<'_, f64>)| {
                    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
                };
                square((moved.row(row), to.row(row))).sqrt() / self.spread[shared[row].0]
            };
            let off: Vec<f64> = (0..shared.len()).map(off).collect();
            misfit = median(off.clone());
            let unit = REACH * misfit.max(1e-9);
            weights = off.iter().map(|off| (1.0 + (off / unit).powi(2)).powi(-2)).collect();
        }
        let points = shape.iter().map(|point| point.map(|point| moved(&similarity, &point))).collect();
        Ok(Placed { similarity, mirrored: false, misfit, points })
    }

    /// Whether the misfit is as others have it.
    pub(super) fn fits(&self, misfit: f64) -> bool {
        misfit <= USUAL_MISFIT * self.usual.max(1e-9)
    }

    /// How far a landmark at a point is from fitting: z²/(z² + c²) with z in units of its spread, c as far as specimens usually reach.
    pub(super) fn strain_of(&self, landmark: usize, point: Option<Place>) -> f64 {
        let (Some(point), Some(mean)) = (point, self.mean[landmark]) else { return 0.0 };
        let z = length(&difference(&point, &mean)) / self.spread[landmark];
        let unit = REACH * self.usual.max(1e-9);
        z * z / (z * z + unit * unit)
    }

    /// The same of all landmarks.
    pub(super) fn strain(&self, points: &Shape) -> f64 {
        points.iter().enumerate().map(|(at, point)| self.strain_of(at, *point)).sum()
    }

    /// Takes the mirror image of a specimen instead if that clearly fits better.
    fn try_mirror(&self, shape: &Shape, placed: &mut Placed) -> Result<()> {
        if self.fits(placed.misfit) && placed.misfit < self.usual {
            return Ok(());
        }
        let image = self.place(&mirror_image(shape))?;
        if image.misfit < MIRROR_SHARE * placed.misfit && self.fits(image.misfit) {
            *placed = Placed { mirrored: true, ..image };
        }
        Ok(())
    }
}

/// The first coordinate reversed.
fn mirror_image(shape: &Shape) -> Shape {
    shape.iter().map(|point| point.map(|[x, y, z]| [-x, y, z])).collect()
}

/// A point moved by a similarity.
pub(super) fn moved(similarity: &Similarity, point: &Place) -> Place {
    let d = similarity.shift.len();
    let mut out = [0.0; 3];
    for (p, out) in out.iter_mut().enumerate().take(d) {
        let turned: f64 = (0..d).map(|q| similarity.rotation[[p, q]] * point[q]).sum();
        *out = similarity.scale * turned + similarity.shift[p];
    }
    out
}

impl Placed {
    /// A point of the frame in the specimen's own coordinates.
    pub(super) fn back(&self, point: &Place) -> Place {
        let Similarity { rotation, scale, shift } = &self.similarity;
        let d = shift.len();
        let mut out = [0.0; 3];
        let scale = if *scale > 0.0 { *scale } else { 1.0 };
        for (p, out) in out.iter_mut().enumerate().take(d) {
            *out = (0..d).map(|q| rotation[[q, p]] * (point[q] - shift[q])).sum::<f64>() / scale;
        }
        if self.mirrored {
            out[0] = -out[0];
        }
        out
    }
}

//! Brings specimens into one frame: centre 0, root-mean-square radius 1, and, if orientations are not given, turned onto one
//! another (generalised Procrustes), using the names they share if they are incomplete.
//!
//! The frame of an atlas is that of its mean shape. A specimen is mapped there by the rotation that best fits its named points to the
//! mean shape (Procrustes), by the ratio of the two root-mean-square radii, and by the two centres, all three over the landmarks that
//! both have. For complete specimens with given orientation this is plain normalisation. (The ratio of radii is used, not the least-squares
//! scale, which is too small by the amount of the scatter.)

use super::Pose;
use crate::geometry::Similarity;
use crate::{Control, Error, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Rounds of averaging and fitting; the mean shape settles in three or four.
const ROUNDS: usize = 10;
/// So many specimens are fitted between two questions whether to go on; fewer take a moment.
const AT_A_TIME: usize = 32;

/// The points of a specimen that have names.
pub(super) struct Named {
    /// Position in the list of all names, for each named point.
    pub(super) landmark: Vec<usize>,
    /// Its coordinates, a row each.
    pub(super) points: Array2<f64>,
}

/// The similarity from points onto targets, row by row: rotation by weighted least squares as far as the pose allows, size by
/// the ratio of radii. If all points of either coincide, the scale is that of `before`.
pub(super) fn fit(
    points: ArrayView2<'_, f64>,
    targets: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    pose: Pose,
    before: &Similarity,
) -> Result<Similarity> {
    let turned = match pose {
        Pose::AsGiven => Similarity::fit_unturned(points, targets, weights)?,
        Pose::Tilted | Pose::Rotated => Similarity::fit(points, targets, weights, false)?,
        Pose::Any => Similarity::fit(points, targets, weights, true)?,
    };
    let ((centre, radius), (target_centre, target_radius)) =
        (centre_and_radius(points, weights), centre_and_radius(targets, weights));
    let scale = if radius > 0.0 && target_radius > 0.0 { target_radius / radius } else { before.scale };
    let shift = target_centre - turned.rotation.dot(&centre) * scale;
    Ok(Similarity { scale, shift, ..turned })
}

/// Centre to 0, root-mean-square radius to 1, not turned. Points that all coincide keep their size.
pub(super) fn normalise(points: ArrayView2<'_, f64>) -> Similarity {
    let (centre, radius) = centre_and_radius(points, None);
    let scale = if radius > 0.0 { 1.0 / radius } else { 1.0 };
    Similarity { shift: -centre * scale, scale, ..Similarity::identity(points.ncols()) }
}

/// The (weighted) centre and root-mean-square distance from it.
pub(super) fn centre_and_radius(points: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> (Array1<f64>, f64) {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..points.nrows()).map(weight).sum();
    let mut centre = Array1::zeros(points.ncols());
    if total <= 0.0 {
        return (centre, 0.0);
    }
    for (row, point) in points.rows().into_iter().enumerate() {
        centre.scaled_add(weight(row) / total, &point);
    }
    let square = |point: ArrayView1<'_, f64>| point.iter().zip(&centre).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
    let squares: f64 =
        points.rows().into_iter().enumerate().map(|(row, point)| weight(row) / total * square(point)).sum();
    (centre, squares.sqrt())
}

/// The similarity of each specimen into the common frame, whose mean shape has centre 0 and radius 1.
pub(super) fn generalised_procrustes(
    specimens: &[Named],
    name_count: usize,
    dimension: usize,
    pose: Pose,
    control: &Control,
) -> Result<Vec<Similarity>> {
    let mut frames: Vec<Similarity> = specimens.iter().map(|specimen| normalise(specimen.points.view())).collect();
    let complete = specimens.iter().all(|specimen| specimen.landmark.len() == name_count);
    if complete && pose == Pose::AsGiven {
        return Ok(frames);
    }
    start(specimens, &mut frames, name_count, dimension, pose, control)?;
    for _ in 0..ROUNDS {
        let mean = mean_shape(specimens, &frames, name_count, dimension);
        for (at, (specimen, frame)) in specimens.iter().zip(&mut frames).enumerate() {
            if at % AT_A_TIME == AT_A_TIME - 1 {
                Error::if_interrupted(control)?;
            }
            *frame = onto(specimen, &mean, pose, frame)?;
        }
        recentre(specimens, &mut frames, name_count, dimension);
    }
    Ok(frames)
}

/// From the specimen with the most names outwards: each is added where it shares the most names with those already present.
fn start(
    specimens: &[Named],
    frames: &mut [Similarity],
    name_count: usize,
    dimension: usize,
    pose: Pose,
    control: &Control,
) -> Result<()> {
    let mut waiting: Vec<usize> = (0..specimens.len()).collect();
    let mut there: Vec<usize> = Vec::new();
    let mut known = vec![false; name_count];
    while !waiting.is_empty() {
        if there.len() % AT_A_TIME == AT_A_TIME - 1 {
            Error::if_interrupted(control)?;
        }
        let shared = |&s: &usize| specimens[s].landmark.iter().filter(|&&name| there.is_empty() || known[name]).count();
        let best = (0..waiting.len()).max_by_key(|&at| (shared(&waiting[at]), std::cmp::Reverse(at))).unwrap_or(0);
        let next = waiting.remove(best);
        if !there.is_empty() {
            let joined: Vec<Named> = there.iter().map(|&s| specimens[s].copy()).collect();
            let placed: Vec<Similarity> = there.iter().map(|&s| frames[s].clone()).collect();
            let mean = mean_shape(&joined, &placed, name_count, dimension);
            frames[next] = onto(&specimens[next], &mean, pose, &frames[next])?;
        }
        specimens[next].landmark.iter().for_each(|&name| known[name] = true);
        there.push(next);
    }
    Ok(())
}

impl Named {
    fn copy(&self) -> Self {
        Self { landmark: self.landmark.clone(), points: self.points.clone() }
    }
}

/// The similarity of one specimen onto a mean shape, over the landmarks that both have; unchanged if they share none.
fn onto(specimen: &Named, mean: &[Option<Array1<f64>>], pose: Pose, before: &Similarity) -> Result<Similarity> {
    let shared: Vec<usize> =
        (0..specimen.landmark.len()).filter(|&row| mean[specimen.landmark[row]].is_some()).collect();
    if shared.is_empty() {
        return Ok(before.clone());
    }
    let points = specimen.points.select(Axis(0), &shared);
    let mut targets = Array2::zeros(points.raw_dim());
    for (row, &at) in shared.iter().enumerate() {
        if let Some(target) = &mean[specimen.landmark[at]] {
            targets.row_mut(row).assign(target);
        }
    }
    // A single point says nothing about the turn.
    let pose = if shared.len() == 1 { Pose::AsGiven } else { pose };
    fit(points.view(), targets.view(), None, pose, before)
}

/// The mean position of each landmark in the frame; `None` if no specimen has it.
pub(super) fn mean_shape(
    specimens: &[Named],
    frames: &[Similarity],
    name_count: usize,
    dimension: usize,
) -> Vec<Option<Array1<f64>>> {
    let mut sums = vec![Array1::<f64>::zeros(dimension); name_count];
    let mut counts = vec![0_usize; name_count];
    for (specimen, frame) in specimens.iter().zip(frames) {
        for (&name, point) in specimen.landmark.iter().zip(frame.apply(specimen.points.view()).rows()) {
            sums[name] += &point;
            counts[name] += 1;
        }
    }
    sums.into_iter().zip(counts).map(|(sum, count)| (count > 0).then(|| sum / count as f64)).collect()
}

/// Moves the whole frame so that its mean shape has centre 0 and radius 1; otherwise rounds of fitting would shrink it.
fn recentre(specimens: &[Named], frames: &mut [Similarity], name_count: usize, dimension: usize) {
    let mean: Vec<Array1<f64>> = mean_shape(specimens, frames, name_count, dimension).into_iter().flatten().collect();
    let mut shape = Array2::zeros((mean.len(), dimension));
    shape.rows_mut().into_iter().zip(&mean).for_each(|(mut row, point)| row.assign(point));
    let (centre, radius) = centre_and_radius(shape.view(), None);
    let factor = if radius > 0.0 { 1.0 / radius } else { 1.0 };
    for frame in frames {
        frame.shift = (&frame.shift - &centre) * factor;
        frame.scale *= factor;
    }
}

/// Frames that were turned against one another, all turned back together so that their mean shape lies as in the frames `given`.
pub(super) fn upright(
    specimens: &[Named],
    mut frames: Vec<Similarity>,
    given: &[Similarity],
    name_count: usize,
    dimension: usize,
) -> Result<Vec<Similarity>> {
    let shape = |frames: &[Similarity]| {
        let mean: Vec<Array1<f64>> =
            mean_shape(specimens, frames, name_count, dimension).into_iter().flatten().collect();
        let mut shape = Array2::zeros((mean.len(), dimension));
        shape.rows_mut().into_iter().zip(&mean).for_each(|(mut row, point)| row.assign(point));
        shape
    };
    let (from, to) = (shape(&frames), shape(given));
    if from.nrows() < 2 {
        return Ok(frames);
    }
    let back = fit(from.view(), to.view(), None, Pose::Rotated, &Similarity::identity(dimension))?;
    for frame in &mut frames {
        frame.shift = back.rotation.dot(&frame.shift) * back.scale + &back.shift;
        frame.rotation = back.rotation.dot(&frame.rotation);
        frame.scale *= back.scale;
    }
    recentre(specimens, &mut frames, name_count, dimension);
    Ok(frames)
}

/// The angle of a rotation in the plane or in space.
pub(crate) fn angle(rotation: &Array2<f64>) -> f64 {
    let trace = rotation.diag().sum();
    let cosine = if rotation.nrows() == 2 { trace / 2.0 } else { (trace - 1.0) / 2.0 };
    cosine.clamp(-1.0, 1.0).acos()
}

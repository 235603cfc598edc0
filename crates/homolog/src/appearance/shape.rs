//! The mean shape of the labelled specimens and how they differ from it.
//!
//! Generalised Procrustes: the mean m (L × 2), centred, in the mean orientation and the median size; D is the largest distance within it.
//! With the residuals ρ (S × 2L) in units of D,
//!
//!   v  = (Σ ρ² + 6 · 0.03²) / ((S - 1)(2L - 4) + 6),  0.03² for S = 1
//!   K  = ½ exp(-d_ij² / (2 (0.3 D)²)) + ½ [i = j]
//!   Σs = (ρ'ρ + 4 v K ⊗ 1₂) / (S + 3)
//!
//! The pose of a specimen joins this: with B = [x, y, rotation (-m_y, m_x), size m] and deviations of the pose, the landmarks are
//! N(m, D² Σs + B Λ B') (`prior`). Given some landmarks, the rest are conditioned on them (`given`). A landmark that a specimen lacks has
//! no residual.

use super::placement::Placement;
use super::rows;
use crate::linalg::{cholesky, solve};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Rounds of Procrustes; three or four suffice unless much is missing.
const ROUNDS: usize = 20;
/// The deviation that is expected before anything is known, as a share of D, and how many numbers this counts as.
const USUAL_DEVIATION: f64 = 0.03;
const USUAL_COUNT: f64 = 6.0;
/// How many specimens the smooth covariance counts as.
const SMOOTH_COUNT: f64 = 4.0;
/// How far landmarks move together, as a share of D.
const TOGETHER: f64 = 0.3;
/// The error of a placed point, as a share of D.
const PLACING: f64 = 0.003;

/// A place in the plane.
pub(super) type Place = [f64; 2];

/// Mean and spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// Centred; in pixels of the labelled pictures.
    pub(super) mean: Vec<Place>,
    /// Σs: rows and columns x_1, y_1, x_2, y_2, ...
    #[serde(with = "rows")]
    pub(super) spread: Array2<f64>,
}

/// How far a pose may be off: the shift as a share of the size, the rotation in radians, the logarithm of the size.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoseDeviation {
    pub(super) shift: f64,
    pub(super) rotation: f64,
    pub(super) size: f64,
}

/// Where each landmark is expected: mean and covariance (xx, xy, yy).
pub(super) struct Expected {
    pub(super) mean: Place,
    pub(super) covariance: [f64; 3],
}

impl Shape {
    /// From specimens with two or more landmarks each, and where the mean is in each.
    ///
    /// # Errors
    /// No specimen; landmarks that all coincide; a specimen that shares fewer than two landmarks with the others.
    pub(super) fn learn(specimens: &[Vec<Option<Place>>]) -> Result<(Self, Vec<Placement>)> {
        let mean = mean_shape(specimens)?;
        let placements = specimens.iter().map(|specimen| place(&mean, specimen)).collect::<Result<Vec<_>>>()?;
        let shape = Self { spread: spread(&mean, specimens, &placements), mean };
        Ok((shape, placements))
    }

    /// D.
    pub(super) fn diameter(&self) -> f64 {
        diameter(&self.mean)
    }

    /// Where the mean is in a specimen of which some landmarks are known.
    pub(super) fn place(&self, specimen: &[Option<Place>]) -> Result<Placement> {
        place(&self.mean, specimen)
    }

    /// The mean if D is `size`.
    pub(super) fn sized(&self, size: f64) -> Vec<Place> {
        let factor = size / self.diameter();
        self.mean.iter().map(|place| place.map(|at| at * factor)).collect()
    }

    /// The deviation of a landmark from the mean, if D is 1.
    pub(super) fn deviation(&self, landmark: usize) -> f64 {
        let variance = |axis: usize| self.spread[[2 * landmark + axis, 2 * landmark + axis]];
        f64::midpoint(variance(0), variance(1)).sqrt()
    }

    /// Where the landmarks are expected if D is `size`, given some of them.
    pub(super) fn expected(&self, size: f64, pose: PoseDeviation, given: &[Option<Place>]) -> Vec<Expected> {
        let mean = self.sized(size);
        let covariance = self.prior(&mean, size, pose);
        let known: Vec<usize> = (0..mean.len()).filter(|&landmark| given[landmark].is_some()).collect();
        let rows: Vec<usize> = known.iter().flat_map(|&landmark| [2 * landmark, 2 * landmark + 1]).collect();
        let count = rows.len();
        let mut factor = vec![0.0; count * count];
        for (i, &a) in rows.iter().enumerate() {
            for (j, &b) in rows.iter().enumerate() {
                let error = if i == j { (PLACING * size).powi(2) } else { 0.0 };
                factor[i * count + j] = covariance[[a, b]] + error;
            }
        }
        cholesky(&mut factor, count);
        let off = |&row: &usize| given[row / 2].map_or(0.0, |place| place[row % 2] - mean[row / 2][row % 2]);
        let mut pull: Vec<f64> = rows.iter().map(off).collect();
        solve(&factor, &mut pull);
        let one = |landmark: usize| {
            let with =
                |axis: usize| rows.iter().map(|&row| covariance[[2 * landmark + axis, row]]).collect::<Vec<f64>>();
            let solved = [0, 1].map(|axis| {
                let mut column = with(axis);
                solve(&factor, &mut column);
                column
            });
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let left =
                |p: usize, q: usize| covariance[[2 * landmark + p, 2 * landmark + q]] - dot(&with(p), &solved[q]);
            let mean = [0, 1].map(|axis| mean[landmark][axis] + dot(&with(axis), &pull));
            // What is given is known to the error of placing it; rounding may say less than nothing.
            let least = (PLACING * size).powi(2);
            Expected { mean, covariance: [left(0, 0).max(least), left(0, 1), left(1, 1).max(least)] }
        };
        (0..mean.len()).map(one).collect()
    }

    /// size² Σs + B Λ B'.
    fn prior(&self, mean: &[Place], size: f64, pose: PoseDeviation) -> Array2<f64> {
        let mut covariance = &self.spread * (size * size);
        let (shift, rotation, scale) = ((pose.shift * size).powi(2), pose.rotation.powi(2), pose.size.powi(2));
        for (i, a) in mean.iter().enumerate() {
            for (j, b) in mean.iter().enumerate() {
                covariance[[2 * i, 2 * j]] += shift + rotation * a[1] * b[1] + scale * a[0] * b[0];
                covariance[[2 * i + 1, 2 * j + 1]] += shift + rotation * a[0] * b[0] + scale * a[1] * b[1];
                covariance[[2 * i, 2 * j + 1]] += scale * a[0] * b[1] - rotation * a[1] * b[0];
                covariance[[2 * i + 1, 2 * j]] += scale * a[1] * b[0] - rotation * a[0] * b[1];
            }
        }
        covariance
    }

    /// Whether the numbers make sense.
    pub(super) fn is_valid(&self) -> bool {
        let finite = self.mean.iter().flatten().chain(&self.spread).all(|number| number.is_finite());
        finite && self.spread.dim() == (2 * self.mean.len(), 2 * self.mean.len()) && self.diameter() > 0.0
    }
}

fn diameter(places: &[Place]) -> f64 {
    let apart = |a: &Place| places.iter().map(|b| (a[0] - b[0]).hypot(a[1] - b[1])).fold(0.0, f64::max);
    places.iter().map(apart).fold(0.0, f64::max)
}

/// The similarity from the mean to what is known of a specimen.
fn place(mean: &[Place], specimen: &[Option<Place>]) -> Result<Placement> {
    let (from, to): (Vec<Place>, Vec<Place>) =
        mean.iter().zip(specimen).filter_map(|(mean, place)| Some((*mean, (*place)?))).unzip();
    let placement = Placement::fit(&from, &to, &vec![1.0; from.len()])?;
    if from.len() < 2 || !(placement.scale() > 0.0 && placement.scale().is_finite()) {
        return Err(Error::DataSet {
            place: "landmarks".to_string(),
            reason: "a picture needs two landmarks that other pictures have too, at different places".to_string(),
        });
    }
    Ok(placement)
}

/// Centred, in the mean orientation and the median size.
fn mean_shape(specimens: &[Vec<Option<Place>>]) -> Result<Vec<Place>> {
    let labels = |specimen: &&Vec<Option<Place>>| specimen.iter().flatten().count();
    // Of those with the most landmarks the first.
    let first = specimens.iter().rev().max_by_key(labels).ok_or(Error::NoExamples)?;
    let mut mean: Vec<Option<Place>> = first.clone();
    for _ in 0..ROUNDS {
        let (mut sums, mut counts) = (vec![[0.0; 2]; mean.len()], vec![0.0; mean.len()]);
        for specimen in specimens {
            let both = |landmark: usize| Some((mean[landmark]?, specimen[landmark]?));
            let (to, from): (Vec<Place>, Vec<Place>) = (0..mean.len()).filter_map(both).unzip();
            if to.len() < 2 {
                continue;
            }
            let into = Placement::fit(&from, &to, &vec![1.0; from.len()])?;
            for (landmark, place) in specimen.iter().enumerate() {
                if let Some(place) = place.map(|place| into.apply(place)) {
                    sums[landmark] = [sums[landmark][0] + place[0], sums[landmark][1] + place[1]];
                    counts[landmark] += 1.0;
                }
            }
        }
        let of = |(sum, count): (&Place, &f64)| (*count > 0.0).then(|| sum.map(|at| at / count));
        mean = unit(&sums.iter().zip(&counts).map(of).collect::<Vec<_>>());
    }
    let Some(mean) = mean.into_iter().collect::<Option<Vec<Place>>>() else {
        return Err(Error::DataSet {
            place: "landmarks".to_string(),
            reason: "some landmarks never occur together with two of the others".to_string(),
        });
    };
    let placements = specimens.iter().map(|specimen| place(&mean, specimen)).collect::<Result<Vec<_>>>()?;
    let mut sizes: Vec<f64> = placements.iter().map(Placement::scale).collect();
    sizes.sort_by(f64::total_cmp);
    let size = f64::midpoint(sizes[(sizes.len() - 1) / 2], sizes[sizes.len() / 2]);
    let sum = |part: usize| placements.iter().map(|placement| placement.factor[part] / placement.scale()).sum::<f64>();
    let length = sum(0).hypot(sum(1));
    // Orientations that cancel out have no mean: any will do.
    let factor = if length > 1e-9 { [size * sum(0) / length, size * sum(1) / length] } else { [size, 0.0] };
    let turn = Placement { factor, shift: [0.0; 2] };
    let mean: Vec<Place> = mean.into_iter().map(|place| turn.apply(place)).collect();
    if !(diameter(&mean) > 0.0 && diameter(&mean).is_finite()) {
        return Err(Error::DataSet {
            place: "landmarks".to_string(),
            reason: "all landmarks are at the same place".to_string(),
        });
    }
    Ok(mean)
}

/// Centred, with unit length.
fn unit(places: &[Option<Place>]) -> Vec<Option<Place>> {
    let known = || places.iter().flatten();
    let count = known().count().max(1) as f64;
    let middle = [0, 1].map(|axis| known().map(|place| place[axis]).sum::<f64>() / count);
    let square = known().map(|place| (place[0] - middle[0]).powi(2) + (place[1] - middle[1]).powi(2)).sum::<f64>();
    let length = if square > 0.0 { square.sqrt() } else { 1.0 };
    let scaled = |place: &Place| [(place[0] - middle[0]) / length, (place[1] - middle[1]) / length];
    places.iter().map(|place| place.as_ref().map(scaled)).collect()
}

/// Σs.
fn spread(mean: &[Place], specimens: &[Vec<Option<Place>>], placements: &[Placement]) -> Array2<f64> {
    let (size, count, labelled) = (diameter(mean), mean.len(), specimens.len() as f64);
    let mut spread = Array2::zeros((2 * count, 2 * count));
    let mut square = 0.0;
    for (specimen, placement) in specimens.iter().zip(placements) {
        let back = placement.inverse();
        let residual = |(place, mean): (&Option<Place>, &Place)| {
            place.map_or([0.0; 2], |place| {
                let own = back.apply(place);
                [(own[0] - mean[0]) / size, (own[1] - mean[1]) / size]
            })
        };
        let residuals: Vec<f64> = specimen.iter().zip(mean).flat_map(residual).collect();
        square += residuals.iter().map(|residual| residual * residual).sum::<f64>();
        for ((i, j), sum) in spread.indexed_iter_mut() {
            *sum += residuals[i] * residuals[j];
        }
    }
    let usual = USUAL_DEVIATION * USUAL_DEVIATION;
    let free = (labelled - 1.0) * (2.0 * count as f64 - 4.0).max(0.0);
    let variance = if specimens.len() == 1 { usual } else { (square + USUAL_COUNT * usual) / (free + USUAL_COUNT) };
    for (i, a) in mean.iter().enumerate() {
        for (j, b) in mean.iter().enumerate() {
            let distance = (a[0] - b[0]).hypot(a[1] - b[1]) / size;
            let own = if i == j { 0.5 } else { 0.0 };
            let kernel = 0.5 * (-0.5 * (distance / TOGETHER).powi(2)).exp() + own;
            for axis in 0..2 {
                spread[[2 * i + axis, 2 * j + axis]] += SMOOTH_COUNT * variance * kernel;
            }
        }
    }
    spread / (labelled + SMOOTH_COUNT - 1.0)
}

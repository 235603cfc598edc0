//! [`ShapeModel`]: where the points of a specimen should be, given some of them.
//!
//! With m_i the mean of point i over the labelled specimens and d_i^s = x_i^s - m_i its deviation in specimen s, a new specimen is
//!
//!   x_i = A m_i + t + Σ_s b_s d_i^s
//!
//! an affine image of the mean plus a mixture of the deviations seen so far: parts that rotate, bend or grow in the labelled specimens
//! may do so in new ones. A, t and b are the most likely ones for the points given: with e the error of a placed point and Gaussian priors of
//! deviation u around (A, t) = (A0, t0) and 1/√S around b = 0, they minimise
//!
//!   Σ_(i given) |x_i - A m_i - t - Σ_s b_s d_i^s|² + e²/u² (|A - A0|² + |t - t0|²) + e² S |b|²
//!
//! a linear system of 6 + S numbers. Lengths are in units of the extent of the mean. All specimens are in one frame (`proposer`), so
//! how they lie in their pictures plays no part.

use crate::linalg::{cholesky, solve};
use std::collections::BTreeMap;

/// The error of a placed point, as a share of the extent.
const PLACING: f64 = 0.005;
/// How far a specimen may be from the start before any of its points is known: rotated by about this many radians, shifted by this share.
const LOOSENESS: f64 = 0.25;

/// A point in the plane.
pub(super) type Place = [f64; 2];

/// Where points should be.
pub(super) struct Completed {
    pub(super) places: Vec<Place>,
    /// How far from the start and how bent: ½ |A - A0|²/u² + ½ |t - t0|²/u² + ½ S |b|².
    pub(super) strain: f64,
}

/// The mean and the deviations of named points.
#[derive(Debug)]
pub(super) struct ShapeModel {
    mean: Vec<Place>,
    /// For each specimen the deviation of each point from its mean, zero where the specimen does not have it.
    deviations: Vec<Vec<Place>>,
    /// The centre of the mean.
    middle: Place,
    /// The diagonal of the box around the mean: the unit of length.
    pub(super) extent: f64,
}

impl ShapeModel {
    /// From labelled specimens: for each of `count` points its position, if the specimen has it.
    pub(super) fn new(count: usize, specimens: &[BTreeMap<usize, Place>]) -> Self {
        let mean: Vec<Place> =
            (0..count).map(|point| mean_of(specimens.iter().filter_map(|places| places.get(&point)))).collect();
        let deviation = |places: &BTreeMap<usize, Place>| {
            let of = |(point, mean): (usize, &Place)| {
                places.get(&point).map_or([0.0; 2], |at| [at[0] - mean[0], at[1] - mean[1]])
            };
            mean.iter().enumerate().map(of).collect()
        };
        let deviations = specimens.iter().map(deviation).collect();
        // A single position has no extent: any unit will do.
        let extent = Some(extent(&mean)).filter(|&extent| extent > 0.0).unwrap_or(1.0);
        Self { middle: mean_of(mean.iter()), deviations, extent, mean }
    }

    /// Where all points should be, given some of them.
    pub(super) fn complete(&self, given: &[Option<Place>]) -> Completed {
        let count = 6 + self.deviations.len();
        let (mut matrix, mut right) = (vec![0.0; count * count], vec![0.0; count]);
        let error = PLACING * PLACING;
        for parameter in 0..count {
            let weight = error * self.stiffness(parameter);
            matrix[parameter * count + parameter] = weight;
            // A0 is the identity.
            if parameter == 0 || parameter == 4 {
                right[parameter] = weight;
            }
        }
        for (point, place) in given.iter().enumerate() {
            let Some(place) = place else { continue };
            let target = self.unit(*place);
            for axis in 0..2 {
                let row = self.row(point, axis);
                for (i, a) in row.iter().enumerate() {
                    right[i] += a * target[axis];
                    for (j, b) in row.iter().enumerate() {
                        matrix[i * count + j] += a * b;
                    }
                }
            }
        }
        // The priors keep it well away from singular.
        cholesky(&mut matrix, count);
        solve(&matrix, &mut right);
        let parameters = right;
        let strain = (0..count).map(|parameter| {
            let from = if parameter == 0 || parameter == 4 { 1.0 } else { 0.0 };
            0.5 * self.stiffness(parameter) * (parameters[parameter] - from).powi(2)
        });
        let strain = strain.sum();
        let predict = |point: usize, axis: usize| -> f64 {
            self.row(point, axis).iter().zip(&parameters).map(|(a, b)| a * b).sum::<f64>() * self.extent
                + self.middle[axis]
        };
        Completed { places: (0..self.mean.len()).map(|point| [predict(point, 0), predict(point, 1)]).collect(), strain }
    }

    /// One over the variance of a parameter before anything is given: 1/u² for A and t, S for b.
    fn stiffness(&self, parameter: usize) -> f64 {
        if parameter < 6 { 1.0 / (LOOSENESS * LOOSENESS) } else { self.deviations.len() as f64 }
    }

    /// How the parameters (A, t in rows: a_xx a_xy t_x a_yx a_yy t_y, then b) make a coordinate of a point.
    fn row(&self, point: usize, axis: usize) -> Vec<f64> {
        let [x, y] = self.unit(self.mean[point]);
        let mut row = vec![0.0; 6];
        row[3 * axis..][..3].copy_from_slice(&[x, y, 1.0]);
        row.extend(self.deviations.iter().map(|deviation| deviation[point][axis] / self.extent));
        row
    }

    /// In units of the extent, from the centre.
    fn unit(&self, [x, y]: Place) -> Place {
        [(x - self.middle[0]) / self.extent, (y - self.middle[1]) / self.extent]
    }
}

fn mean_of<'a>(places: impl Iterator<Item = &'a Place>) -> Place {
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for place in places {
        sum = [sum[0] + place[0], sum[1] + place[1]];
        count += 1.0;
    }
    [sum[0] / f64::max(count, 1.0), sum[1] / f64::max(count, 1.0)]
}

/// The diagonal of the box around some positions.
pub(super) fn extent(places: &[Place]) -> f64 {
    let side = |axis: usize| {
        let low = places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
        if high > low { high - low } else { 0.0 }
    };
    side(0).hypot(side(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(shear: f64, shift: f64) -> BTreeMap<usize, Place> {
        let corners = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0], [5.0, 5.0]];
        corners.map(|[x, y]| [x + shear * y + shift, y]).into_iter().enumerate().collect()
    }

    #[test]
    fn what_is_given_is_kept_and_the_rest_follows() {
        let model = ShapeModel::new(5, &[square(0.0, 0.0), square(0.1, 0.0)]);
        // A specimen that continues the trend of the two, and is shifted.
        let truth = square(0.3, 40.0);
        let given: Vec<Option<Place>> = (0..5).map(|point| [0, 1, 3].contains(&point).then(|| truth[&point])).collect();
        let completed = model.complete(&given);
        for (point, place) in completed.places.iter().enumerate() {
            let off = (place[0] - truth[&point][0]).hypot(place[1] - truth[&point][1]);
            assert!(off < 0.2, "{point}: {place:?} is {off} off");
        }
        assert!(completed.strain > model.complete(&[None; 5]).strain);
    }

    #[test]
    fn with_nothing_given_it_is_the_mean() {
        let model = ShapeModel::new(5, &[square(0.0, 0.0), square(0.2, 2.0)]);
        let completed = model.complete(&[None; 5]);
        let mean = square(0.1, 1.0);
        for (point, place) in completed.places.iter().enumerate() {
            assert!((place[0] - mean[&point][0]).abs() < 1e-9 && (place[1] - mean[&point][1]).abs() < 1e-9);
        }
        assert!(completed.strain < 1e-12);
    }

    #[test]
    fn odd_specimens_give_finite_places() {
        let one: BTreeMap<usize, Place> = [(0, [3.0, 4.0])].into();
        for specimens in [vec![one.clone()], vec![one.clone(), one.clone()], vec![BTreeMap::new(), one]] {
            let model = ShapeModel::new(1, &specimens);
            for given in [None, Some([7.0, 1.0])] {
                assert!(model.complete(&[given]).places.iter().flatten().all(|value| value.is_finite()));
            }
        }
    }
}

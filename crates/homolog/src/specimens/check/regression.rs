//! Where a landmark lies, given its neighbours: a ridge regression.
//!
//! With the coordinates a of the neighbours (a row of k·d numbers, minus their means), y those of the landmark (minus theirs) and w the
//! prediction that a landmark moves with its neighbours (the weighted mean of their displacements),
//!
//!   C = β W + (A'A + λ s N I)^-1 A'(Y - β A W),     ŷ = C'a,     s = mean square of A, N rows
//!
//! is shrunk towards β W. Left out of the learning, a specimen would have had the residual (y - ŷ)/(1 - h), h = a'(A'A + λsNI)^-1 a + 1/N.

use super::neighbours::Neighbour;
use super::shapes::{Place, difference};
use crate::linalg::invert;

/// Leverages above this are not believed.
const MOST_LEVERAGE: f64 = 0.95;

/// How far a prediction is shrunk: λ, and towards what: β.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shrinkage {
    pub(super) ridge: f64,
    pub(super) together: f64,
}

impl Shrinkage {
    /// What is chosen from.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let ridges = [3.0, 1.0, 0.3, 0.1, 0.03];
        ridges.into_iter().flat_map(|ridge| [1.0, 0.5, 0.0].map(|together| Self { ridge, together }))
    }
}

/// The numbers that a landmark is predicted from, and what can be computed before the shrinkage is known.
pub(super) struct Design {
    dimension: usize,
    landmarks: Vec<usize>,
    weights: Vec<f64>,
    own_mean: Place,
    means: Vec<Place>,
    /// A'A.
    gram: Vec<f64>,
    /// A'Y, a row of d numbers for each column of A.
    cross: Vec<Place>,
    mean_square: f64,
    count: usize,
}

/// A learned prediction.
pub(super) struct Regression {
    dimension: usize,
    landmarks: Vec<usize>,
    own_mean: Place,
    means: Vec<Place>,
    inverse: Vec<f64>,
    coefficients: Vec<Place>,
    count: usize,
}

impl Design {
    /// From the specimens that count for a landmark: the filled points of each, and the place of the landmark.
    pub(super) fn new<'a>(
        dimension: usize,
        neighbours: &[Neighbour],
        rows: impl Iterator<Item = (&'a [Place], Place)> + Clone,
    ) -> Option<Self> {
        let landmarks: Vec<usize> = neighbours.iter().map(|neighbour| neighbour.landmark).collect();
        let count = rows.clone().count();
        if count < 2 {
            return None;
        }
        let means: Vec<Place> =
            landmarks.iter().map(|&landmark| mean(rows.clone().map(|(points, _)| points[landmark]), count)).collect();
        let own_mean = mean(rows.clone().map(|(_, own)| own), count);
        let width = landmarks.len() * dimension;
        let (mut gram, mut cross) = (vec![0.0; width * width], vec![[0.0; 3]; width]);
        for (points, own) in rows {
            let line = centred(dimension, points, &landmarks, &means);
            let own = difference(&own, &own_mean);
            for (a, &x) in line.iter().enumerate() {
                gram[a * width..][..width].iter_mut().zip(&line).for_each(|(sum, y)| *sum += x * y);
                cross[a].iter_mut().zip(own).for_each(|(sum, y)| *sum += x * y);
            }
        }
        let trace: f64 = (0..width).map(|a| gram[a * width + a]).sum();
        let mean_square = trace / (width.max(1) * count) as f64;
        let weights = neighbours.iter().map(|neighbour| neighbour.weight).collect();
        Some(Self { dimension, landmarks, weights, own_mean, means, gram, cross, mean_square, count })
    }

    /// The prediction under a shrinkage.
    pub(super) fn regression(&self, shrinkage: Shrinkage) -> Option<Regression> {
        let d = self.dimension;
        let width = self.landmarks.len() * d;
        let mut inverse = self.gram.clone();
        let penalty = shrinkage.ridge * self.count as f64 * self.mean_square + 1e-12;
        (0..width).for_each(|a| inverse[a * width + a] += penalty);
        invert(&mut inverse, width)?;
        // β W: coordinate p of neighbour j counts for coordinate p of the landmark.
        let mut coefficients = vec![[0.0; 3]; width];
        for (j, weight) in self.weights.iter().enumerate() {
            (0..d).for_each(|p| coefficients[j * d + p][p] = shrinkage.together * weight);
        }
        let rest: Vec<Place> = (0..width)
            .map(|a| difference(&self.cross[a], &combination(&self.gram[a * width..][..width], &coefficients)))
            .collect();
        for (a, own) in coefficients.iter_mut().enumerate() {
            let more = combination(&inverse[a * width..][..width], &rest);
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        }
        Some(Regression {
            dimension: d,
            landmarks: self.landmarks.clone(),
            own_mean: self.own_mean,
            means: self.means.clone(),
            inverse,
            coefficients,
            count: self.count,
        })
    }
}

impl Regression {
    /// Where the landmark lies, by the filled points of a specimen.
    pub(super) fn predict(&self, points: &[Place]) -> Place {
        let line = centred(self.dimension, points, &self.landmarks, &self.means);
        let moved = combination(&line, &self.coefficients);
        [0, 1, 2].map(|p| self.own_mean[p] + moved[p])
    }

    /// What a residual is multiplied by if the specimen took part in the learning.
    pub(super) fn left_out_factor(&self, points: &[Place]) -> f64 {
        let line = centred(self.dimension, points, &self.landmarks, &self.means);
        let width = line.len();
        let product =
            |a: usize| -> f64 { self.inverse[a * width..][..width].iter().zip(&line).map(|(x, y)| x * y).sum() };
        let leverage = line.iter().enumerate().map(|(a, x)| x * product(a)).sum::<f64>() + 1.0 / self.count as f64;
        1.0 / (1.0 - leverage.min(MOST_LEVERAGE))
    }
}

fn mean(places: impl Iterator<Item = Place>, count: usize) -> Place {
    let mut mean = [0.0; 3];
    places.for_each(|place| mean.iter_mut().zip(place).for_each(|(sum, x)| *sum += x / count as f64));
    mean
}

/// The coordinates of the neighbours, minus their means.
fn centred(d: usize, points: &[Place], landmarks: &[usize], means: &[Place]) -> Vec<f64> {
    let each = landmarks.iter().zip(means);
    each.flat_map(|(&landmark, mean)| difference(&points[landmark], mean).into_iter().take(d)).collect()
}

/// Σ_a factor_a row_a.
fn combination(factors: &[f64], rows: &[Place]) -> Place {
    let mut sum = [0.0; 3];
    for (factor, row) in factors.iter().zip(rows) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Specimens in which landmark 2 lies at a fixed linear function of 0 and 1, plus a little.
    fn rows() -> Vec<Vec<Place>> {
        let wave = |s: usize, k: usize| ((s * 7 + k * 3) as f64 * 0.77).sin();
        let row = |s: usize| {
            let (a, b) = ([wave(s, 0), wave(s, 1), 0.0], [wave(s, 2), wave(s, 3), 0.0]);
            vec![a, b, [0.3 * a[0] - b[1] + 0.01 * wave(s, 4), a[1] + 0.5 * b[0] + 0.01 * wave(s, 5), 0.0]]
        };
        (0..12).map(row).collect()
    }

    fn neighbours_of_last(rows: &[Vec<Place>]) -> Vec<Neighbour> {
        let shapes: Vec<Vec<Option<Place>>> =
            rows.iter().map(|row| row.iter().map(|&place| Some(place)).collect()).collect();
        super::super::neighbours::neighbours(&shapes.iter().collect::<Vec<_>>()).remove(2)
    }

    fn design(neighbours: &[Neighbour], rows: &[Vec<Place>]) -> Design {
        Design::new(2, neighbours, rows.iter().map(|row| (&row[..], row[2]))).unwrap()
    }

    #[test]
    fn finds_a_linear_law() {
        let rows = rows();
        let regression =
            design(&neighbours_of_last(&rows), &rows).regression(Shrinkage { ridge: 1e-6, together: 1.0 }).unwrap();
        for row in &rows {
            let off = difference(&regression.predict(row), &row[2]);
            assert!(off.iter().all(|x| x.abs() < 0.03), "{off:?}");
        }
    }

    /// The shortcut for leaving out a specimen, beside leaving it out under the same penalty.
    #[test]
    fn leaving_out_is_what_it_says() {
        let rows = rows();
        let shrinkage = Shrinkage { ridge: 0.1, together: 0.5 };
        let neighbours = neighbours_of_last(&rows);
        let all = design(&neighbours, &rows);
        let regression = all.regression(shrinkage).unwrap();
        for s in 0..rows.len() {
            let mut others = rows.clone();
            let own = others.remove(s);
            let mut less = design(&neighbours, &others);
            less.mean_square = all.mean_square * 12.0 / 11.0;
            let truth = difference(&own[2], &less.regression(shrinkage).unwrap().predict(&own));
            let factor = regression.left_out_factor(&own);
            let found = difference(&own[2], &regression.predict(&own)).map(|x| x * factor);
            let off = difference(&truth, &found).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(off < 1e-9, "{truth:?} {found:?}");
        }
    }
}

//! Fits shape and candidates to each other: alternately, each point takes the candidate nearest to its expected position, one-to-one and
//! within reach, and the shape is fitted to what was found, with a shrinking reach. All positions are in the frame of the shape.

use super::shape::{Completed, Place, ShapeModel};
use crate::Result;
use crate::matching::{Compatibility, Linear, Matcher};
use ndarray::{Array1, Array2};

/// How far from its expected position a candidate may be, round by round, as a share of the extent.
const REACH: [f64; 5] = [0.1, 0.06, 0.035, 0.02, 0.02];
/// The round to begin with if there is a naming already.
const LATE: usize = 2;
/// Candidates closer together than this share of the extent are hard to tell apart.
const BLUR: f64 = 0.01;
/// How much a candidate exactly at a point's position supports a fit (a log likelihood ratio), and the distance at which that halves.
const GAIN: f64 = 3.0;
const NEAR: f64 = 0.02;

/// What the points of a specimen may be.
pub(super) struct Sighting<'a> {
    /// The candidates.
    pub(super) candidates: &'a [Place],
    /// Points that are known.
    pub(super) known: &'a [Option<Place>],
}

/// Where each point should be, and which candidate it is.
pub(super) struct Fitted {
    pub(super) places: Vec<Place>,
    pub(super) found: Vec<Option<usize>>,
    /// How much evidence supports it: what the candidates say, minus the strain.
    pub(super) worth: f64,
}

impl Sighting<'_> {
    /// Fits from the shape's own position, or from a naming: the candidate of each point.
    pub(super) fn fit(&self, shape: &ShapeModel, named: Option<&[Option<usize>]>) -> Result<Fitted> {
        let mut found: Vec<Option<usize>> = named.map_or_else(|| vec![None; self.known.len()], <[_]>::to_vec);
        let mut now = self.complete(shape, &found);
        for reach in REACH.iter().skip(if named.is_some() { LATE } else { 0 }) {
            found = self.take_nearest(&now.places, reach * shape.extent)?;
            now = self.complete(shape, &found);
        }
        Ok(self.fitted(shape, now, found))
    }

    fn complete(&self, shape: &ShapeModel, found: &[Option<usize>]) -> Completed {
        let at = |(known, found): (&Option<Place>, &Option<usize>)| known.or_else(|| found.map(|k| self.candidates[k]));
        shape.complete(&self.known.iter().zip(found).map(at).collect::<Vec<_>>())
    }

    fn fitted(&self, shape: &ShapeModel, now: Completed, found: Vec<Option<usize>>) -> Fitted {
        let mut worth = -now.strain;
        for (point, place) in now.places.iter().enumerate() {
            if let Some(at) = self.known[point].or_else(|| found[point].map(|k| self.candidates[k])) {
                worth += GAIN / (1.0 + (distance(*place, at) / (NEAR * shape.extent)).powi(2));
            }
        }
        Fitted { places: now.places, found, worth }
    }

    /// Each point that is not known takes a candidate within reach that no other takes, or none, minimising the sum of squared distances.
    fn take_nearest(&self, places: &[Place], reach: f64) -> Result<Vec<Option<usize>>> {
        let mut found: Vec<Option<usize>> = vec![None; places.len()];
        let open: Vec<usize> = (0..places.len()).filter(|&point| self.known[point].is_none()).collect();
        // A candidate that a person has already named is taken.
        let known = |candidate: &Place| self.known.iter().flatten().any(|at| at == candidate);
        let free: Vec<usize> = (0..self.candidates.len()).filter(|&k| !known(&self.candidates[k])).collect();
        let node = Array2::from_shape_fn((open.len(), free.len()), |(i, k)| {
            let far = distance(places[open[i]], self.candidates[free[k]]) / reach;
            1.0 - far * far
        });
        let mut problem = Compatibility::linear(node);
        problem.unmatched = Some(Array1::zeros(open.len()));
        let solution = Linear::default().solve(&problem)?;
        for (i, k) in solution.matching.pairs() {
            found[open[i]] = Some(free[k]);
        }
        Ok(found)
    }

    /// How much nearer the chosen candidate is than the next one.
    pub(super) fn certainty(&self, place: Place, chosen: usize, extent: f64) -> f64 {
        let square = |candidate: &Place| distance(place, *candidate).powi(2);
        let own = square(&self.candidates[chosen]);
        let others = self.candidates.iter().enumerate().filter(|&(k, _)| k != chosen).map(|(_, at)| square(at));
        let next = others.fold(extent * extent, f64::min);
        ((next - own) / (next + own + (BLUR * extent).powi(2))).max(0.0)
    }
}

pub(super) fn distance(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

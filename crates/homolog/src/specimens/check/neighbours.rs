//! Which landmarks tell where a landmark lies, and a first guess of where that is, by medians alone.
//!
//! The displacement D from landmark i to j has the median μ and the spread v = (median |D - μ|)². The neighbours of i are the eight j of
//! least v, with weights 1/v. Each neighbour of a specimen says that i lies at x_j - μ_ij; the weighted median of what they say is the
//! first guess. The first *oddness* of a landmark is the lower weighted quartile of its distances from what they say, in units of its
//! spread: a displaced landmark disagrees with all, one whose neighbour is displaced only with that one.

use super::robust::{median, weighted_quantile};
use super::shapes::{Place, Shape, difference, length};

/// How many neighbours a landmark has.
const NEIGHBOURS: usize = 8;
/// Spreads below this share of the radius are not believed.
const LEAST_SPREAD: f64 = 1e-4;
/// The share of neighbours that a landmark has to disagree with.
const DISAGREEING: f64 = 0.25;
/// From the median distance to the root mean square, for two coordinates that vary alike.
const ROOT_MEAN_SQUARE: f64 = 1.2;

/// A landmark and what it says about another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) landmark: usize,
    /// The weights of all neighbours add up to 1.
    pub(super) weight: f64,
    /// The median displacement from the other landmark to this one.
    displacement: Place,
}

/// The neighbours of each landmark; none for landmarks that are always alone.
pub(super) fn neighbours(shapes: &[&Shape]) -> Vec<Vec<Neighbour>> {
    let count = shapes.first().map_or(0, |shape| shape.len());
    let mut of: Vec<Vec<(f64, usize, Place)>> = vec![Vec::new(); count];
    for i in 0..count {
        for j in i + 1..count {
            let both = shapes.iter().filter_map(|shape| Some(difference(&shape[j]?, &shape[i]?)));
            let all: Vec<Place> = both.collect();
            if all.len() < 2 {
                continue;
            }
            let middle = [0, 1, 2].map(|axis| median(all.iter().map(|way| way[axis]).collect()));
            let spread = median(all.iter().map(|way| length(&difference(way, &middle))).collect());
            of[i].push((spread, j, middle));
            of[j].push((spread, i, middle.map(|x| -x)));
        }
    }
    of.into_iter().map(nearest).collect()
}

fn nearest(mut of: Vec<(f64, usize, Place)>) -> Vec<Neighbour> {
    of.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    of.truncate(NEIGHBOURS);
    let weight = |spread: f64| 1.0 / spread.max(LEAST_SPREAD).powi(2);
    let total: f64 = of.iter().map(|(spread, ..)| weight(*spread)).sum();
    of.into_iter()
        .map(|(spread, landmark, displacement)| Neighbour { landmark, weight: weight(spread) / total, displacement })
        .collect()
}

/// Where the neighbours that a specimen has say that a landmark lies, with their weights.
fn said(shape: &Shape, neighbours: &[Neighbour]) -> Vec<(Place, f64)> {
    let says = |neighbour: &Neighbour| {
        Some((difference(&shape[neighbour.landmark]?, &neighbour.displacement), neighbour.weight))
    };
    neighbours.iter().filter_map(says).collect()
}

/// Where a landmark lies by its neighbours in a specimen; `elsewhere` if the specimen has none of them.
pub(super) fn first_guess(shape: &Shape, neighbours: &[Neighbour], elsewhere: Place) -> Place {
    let said = said(shape, neighbours);
    if said.is_empty() {
        return elsewhere;
    }
    [0, 1, 2].map(|axis| weighted_quantile(said.iter().map(|(place, weight)| (place[axis], *weight)).collect(), 0.5))
}

/// The first oddness of every landmark of every specimen; 0 if it cannot be told.
pub(super) fn first_oddness(shapes: &[&Shape], mean: &Shape, neighbours: &[Vec<Neighbour>]) -> Vec<Vec<f64>> {
    let spread = |landmark: usize| {
        let centre = mean[landmark].unwrap_or_default();
        let off = shapes.iter().filter_map(|shape| Some(length(&difference(&shape[landmark]?, &centre))));
        (ROOT_MEAN_SQUARE * median(off.collect())).max(LEAST_SPREAD)
    };
    let spreads: Vec<f64> = (0..mean.len()).map(spread).collect();
    let odd = |shape: &Shape, landmark: usize| {
        let Some(point) = shape[landmark] else { return 0.0 };
        let off = said(shape, &neighbours[landmark]);
        let off = off.iter().map(|(place, weight)| (length(&difference(&point, place)), *weight)).collect();
        weighted_quantile(off, DISAGREEING) / spreads[landmark]
    };
    shapes.iter().map(|shape| (0..mean.len()).map(|landmark| odd(shape, landmark)).collect()).collect()
}

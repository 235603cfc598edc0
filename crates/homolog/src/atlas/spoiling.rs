//! [`Spoiling`]: labelled specimens corrupted on purpose (turned, tilted, points moved, removed and added), to measure how well an atlas
//! names them, and to learn how far its names can be believed.

use crate::graph::{Attributes, Graph};
use crate::{Error, Result};
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Uniform numbers whose sum, less half as many, is nearly normal with variance 1.
const UNIFORMS: usize = 12;

/// What is done to a specimen before it is named.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spoiling {
    /// Rotated at random.
    pub turned: bool,
    /// The share of its named points that is removed.
    pub missing: f64,
    /// Extra points, anywhere in its bounding box, as a share of its named points; `None`: one for each removed point.
    pub foreign: Option<f64>,
    /// Every point is moved by normal noise with this deviation, in root-mean-square radii.
    pub moved: f64,
    /// Turned by this angle (radians), one way or the other, in the plane of the first two axes.
    pub tilted: f64,
}

/// What is known about a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    /// Its name.
    Name(String),
    /// It is a foreign point.
    Nobody,
    /// It has no name in the data: which point it is, is not known.
    Unknown,
}

impl Truth {
    /// What a name in the data says: an empty one means that no one named the point.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.is_empty() { Self::Unknown } else { Self::Name(name.to_string()) }
    }
}

/// A specimen to be named, with the truth.
#[derive(Debug, Clone)]
pub struct Unnamed {
    /// The points, without names.
    pub graph: Graph,
    /// One for each point.
    pub truth: Vec<Truth>,
}

impl Spoiling {
    /// Spoils a labelled specimen; the same for the same seed.
    ///
    /// # Errors
    /// A specimen without points or names; a share that is not between 0 and 1, or another number that is not finite and at least 0.
    pub fn spoil(&self, specimen: &Graph, seed: u64) -> Result<Unnamed> {
        self.check()?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let points = specimen.need_points("naming")?;
        let names = specimen.names().ok_or(Error::Missing { what: "names", needed_by: "naming" })?;
        let mut truth: Vec<Truth> = names.iter().map(|name| Truth::of(name)).collect();
        let mut removed: Vec<usize> = (0..names.len()).filter(|&row| !names[row].is_empty()).collect();
        let named = removed.len();
        removed.shuffle(&mut random);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let count = |share: f64| (share * named as f64).round() as usize;
        removed.truncate(count(self.missing));
        let added = self.foreign.map_or(removed.len(), count);
        let mut moved = points.to_owned();
        let range = |column: ndarray::ArrayView1<'_, f64>| {
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
        };
        let box_of: Vec<(f64, f64)> = points.columns().into_iter().map(range).collect();
        // A foreign point takes the place of each removed one; the others come last.
        let further = (names.len()..).take(added.saturating_sub(removed.len()));
        let strange: Vec<usize> = removed.iter().copied().take(added).chain(further).collect();
        for &row in &strange {
            if row >= moved.nrows() {
                moved.push_row(points.row(0)).map_err(|_| Error::NoExamples)?;
                truth.push(Truth::Nobody);
            }
            truth[row] = Truth::Nobody;
            for (column, &(low, high)) in box_of.iter().enumerate() {
                moved[[row, column]] = low + (high - low) * random.random_range(0.0..=1.0);
            }
        }
        if self.moved > 0.0 {
            let deviation = self.moved * super::align::centre_and_radius(points, None).1;
            let mut normal =
                || (0..UNIFORMS).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - UNIFORMS as f64 / 2.0;
            moved.mapv_inplace(|x| x + deviation * normal());
        }
        if self.turned {
            moved = moved.dot(&random_rotation(points.ncols(), &mut random));
        }
        if self.tilted > 0.0 {
            let angle = if random.random_range(0.0..1.0) < 0.5 { self.tilted } else { -self.tilted };
            moved = moved.dot(&rotation(points.ncols(), 0, 1, angle));
        }
        let gone: Vec<usize> = removed.into_iter().skip(added).collect();
        let kept: Vec<usize> = (0..truth.len()).filter(|row| !gone.contains(row)).collect();
        let mut graph = Graph::from_points(moved.select(Axis(0), &kept))?;
        if let Some(attributes) = specimen.node_attributes() {
            // A foreign point looks like some point of the specimen.
            let mut like: Vec<usize> = (0..truth.len()).collect();
            strange.iter().for_each(|&row| like[row] = random.random_range(0..names.len()));
            let rows: Vec<usize> = kept.iter().map(|&row| like[row]).collect();
            let values = attributes.values().select(Axis(0), &rows);
            graph = graph.with_node_attributes(Attributes::new(attributes.names().to_vec(), values)?)?;
        }
        Ok(Unnamed { graph, truth: kept.into_iter().map(|row| truth[row].clone()).collect() })
    }

    fn check(&self) -> Result<()> {
        let shares = [("missing", self.missing), ("foreign", self.foreign.unwrap_or(0.0))];
        for (name, share) in shares {
            Error::unless_between(name, share, 0.0, 1.0)?;
        }
        Error::unless_at_least_0("moved", self.moved)?;
        Error::unless_at_least_0("tilted", self.tilted)
    }
}

/// Turns in all planes of two axes, one after the other; not quite uniform in space, which does not matter here.
fn random_rotation(dimension: usize, random: &mut ChaCha8Rng) -> Array2<f64> {
    let mut turned = Array2::eye(dimension);
    for p in 0..dimension {
        for q in p + 1..dimension {
            turned = turned.dot(&rotation(dimension, p, q, random.random_range(0.0..std::f64::consts::TAU)));
        }
    }
    turned
}

fn rotation(dimension: usize, p: usize, q: usize, angle: f64) -> Array2<f64> {
    let (sine, cosine) = angle.sin_cos();
    let mut turn = Array2::eye(dimension);
    (turn[[p, p]], turn[[q, q]], turn[[p, q]], turn[[q, p]]) = (cosine, cosine, -sine, sine);
    turn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_points_go_and_come_as_asked_for_and_the_truth_follows() {
        let points = Array2::from_shape_fn((10, 2), |(row, p)| (row * (p + 1)) as f64);
        let names = (0..10).map(|at| format!("p{at}")).collect();
        let specimen = Graph::from_points(points.clone()).unwrap().with_names(names).unwrap();
        for (missing, foreign, count, left) in
            [(0.2, None, 10, 8), (0.2, Some(0.0), 8, 8), (0.1, Some(0.3), 12, 9), (0.0, Some(0.2), 12, 10)]
        {
            let spoiled = Spoiling { missing, foreign, ..Spoiling::default() }.spoil(&specimen, 7).unwrap();
            assert_eq!((spoiled.graph.node_count(), spoiled.truth.len()), (count, count));
            let named = spoiled.truth.iter().enumerate().filter_map(|(row, truth)| match truth {
                Truth::Name(name) => Some((row, name[1..].parse::<usize>().unwrap())),
                _ => None,
            });
            let placed = spoiled.graph.points().unwrap();
            assert!(named.clone().all(|(row, at)| placed.row(row) == points.row(at)));
            assert_eq!(named.count(), left);
        }
        assert!(Spoiling { missing: 1.5, ..Spoiling::default() }.spoil(&specimen, 0).is_err());
        assert!(Spoiling { moved: f64::NAN, ..Spoiling::default() }.spoil(&specimen, 0).is_err());
    }
}

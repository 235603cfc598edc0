//! How well an atlas names: labelled specimens are spoiled on purpose (turned, points removed, foreign points added), named without
//! their labels, and compared with them.

use crate::atlas::{Atlas, Landmark, Naming, Pose, Presence};
use crate::graph::Graph;
use crate::{Error, Result};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// What is done to a specimen before it is named.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spoiling {
    /// Turned at random.
    pub turned: bool,
    /// The share of its named points that is removed; as many foreign points are added, anywhere in its bounding box.
    pub missing: f64,
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
    /// What a name in the data says: an empty one means that nobody named the point.
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
    /// A specimen without points or names; a share that is not between 0 and 1.
    pub fn spoil(&self, specimen: &Graph, seed: u64) -> Result<Unnamed> {
        if !(0.0..=1.0).contains(&self.missing) {
            return Err(Error::BadSetting { name: "missing", value: self.missing, reason: "it must be from 0 to 1" });
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let points = specimen.need_points("naming")?;
        let names = specimen.names().ok_or(Error::Missing { what: "names", needed_by: "naming" })?;
        let mut truth: Vec<Truth> = names.iter().map(|name| Truth::of(name)).collect();
        let mut named: Vec<usize> = (0..names.len()).filter(|&row| !names[row].is_empty()).collect();
        named.shuffle(&mut random);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        named.truncate((self.missing * named.len() as f64).round() as usize);
        let mut moved = points.to_owned();
        let range = |column: ndarray::ArrayView1<'_, f64>| {
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
        };
        let box_of: Vec<(f64, f64)> = points.columns().into_iter().map(range).collect();
        // A foreign point takes the place of each removed one.
        for row in named {
            truth[row] = Truth::Nobody;
            for (column, &(low, high)) in box_of.iter().enumerate() {
                moved[[row, column]] = low + (high - low) * random.random_range(0.0..=1.0);
            }
        }
        if self.turned {
            moved = moved.dot(&random_rotation(points.ncols(), &mut random));
        }
        let mut graph = Graph::from_points(moved)?;
        // A foreign point would have the attributes of the point whose place it took.
        if let (Some(attributes), true) = (specimen.node_attributes(), self.missing == 0.0) {
            graph = graph.with_node_attributes(attributes.clone())?;
        }
        Ok(Unnamed { graph, truth })
    }
}

/// Turns in all planes of two axes, one after the other; not quite uniform in space, which does not matter here.
fn random_rotation(dimension: usize, random: &mut ChaCha8Rng) -> Array2<f64> {
    let mut rotation = Array2::eye(dimension);
    for p in 0..dimension {
        for q in p + 1..dimension {
            let (sine, cosine) = random.random_range(0.0..std::f64::consts::TAU).sin_cos();
            let mut turn = Array2::eye(dimension);
            (turn[[p, p]], turn[[q, q]], turn[[p, q]], turn[[q, p]]) = (cosine, cosine, -sine, sine);
            rotation = rotation.dot(&turn);
        }
    }
    rotation
}

/// Counts of right and wrong names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Points that have a name.
    pub named: usize,
    /// Those that received it.
    pub correct: usize,
    /// Names given to points whose truth is known.
    pub given: usize,
}

impl Tally {
    /// Compares names, one or none for each point, with the truth.
    #[must_use]
    pub fn of(names: &[Option<&str>], truth: &[Truth]) -> Self {
        let mut tally = Self::default();
        for (name, truth) in names.iter().zip(truth) {
            tally.given += usize::from(name.is_some() && *truth != Truth::Unknown);
            if let Truth::Name(true_name) = truth {
                tally.named += 1;
                tally.correct += usize::from(*name == Some(true_name));
            }
        }
        tally
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { named: self.named + other.named, correct: self.correct + other.correct, given: self.given + other.given }
    }

    /// Correct names among all points that have one: recall. 1 if there are none.
    #[must_use]
    pub fn found(&self) -> f64 {
        share(self.correct, self.named)
    }

    /// Correct names among those given. 1 if none was given.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.correct, self.given)
    }

    /// The harmonic mean of the two.
    #[must_use]
    pub fn f1(&self) -> f64 {
        if self.named + self.given == 0 { 1.0 } else { 2.0 * self.correct as f64 / (self.named + self.given) as f64 }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The names that a naming gives, one or none for each point.
#[must_use]
pub fn names_of<'a>(atlas: &'a Atlas, naming: &Naming) -> Vec<Option<&'a str>> {
    naming
        .matching
        .right_to_left()
        .iter()
        .map(|landmark| landmark.map(|at| atlas.landmarks[at].name.as_str()))
        .collect()
}

/// `count` specimens to learn from and the others to test on (at most `most`), drawn at random; the same for the same seed.
#[must_use]
pub fn split(specimens: usize, count: usize, most: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..specimens).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let test = order.split_off(count.min(specimens));
    (order, test.into_iter().take(most).collect())
}

/// How points are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamingMethod {
    /// Linear assignment to the mean positions after normalising size and position; everything gets a name.
    Linear,
    /// Rigid alignment to the mean shape: alternately naming by distance and fitting the pose.
    Rigid,
    /// The atlas.
    Atlas,
}

impl NamingMethod {
    /// All of them, the simplest first.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Rigid, Self::Atlas];

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Rigid => "rigid",
            Self::Atlas => "atlas",
        }
    }

    /// What the method uses of an atlas: the simple ones know only mean positions, all equally certain.
    #[must_use]
    pub fn reduced(self, atlas: &Atlas) -> Atlas {
        let mut reduced = atlas.clone();
        if self == Self::Atlas {
            return reduced;
        }
        let variance = |landmark: &Landmark| landmark.position.covariance().diag().sum() / atlas.dimension as f64;
        let mean = atlas.landmarks.iter().map(variance).sum::<f64>() / atlas.landmarks.len() as f64;
        for landmark in &mut reduced.landmarks {
            let diagonal = (0..atlas.dimension).flat_map(|p| (p..atlas.dimension).map(move |q| p == q));
            landmark.position.precision = diagonal.map(|own| if own { 1.0 / mean } else { 0.0 }).collect();
            landmark.attributes.clear();
        }
        reduced.attributes.clear();
        reduced.edges.clear();
        if self == Self::Linear {
            (reduced.pose, reduced.presence) = (Pose::AsGiven, Presence::Complete);
        }
        reduced
    }
}

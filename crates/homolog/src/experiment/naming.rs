//! How well an atlas names: labelled specimens are spoiled on purpose ([`Spoiling`](crate::atlas::Spoiling)), named without their labels,
//! and compared with them.

use crate::atlas::{Atlas, Landmark, Naming, Pose, Presence, Truth};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

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
        reduced.calibration = None;
        reduced.partial = atlas.partial.as_ref().map(|partial| Box::new(self.reduced(partial)));
        if self == Self::Linear {
            (reduced.pose, reduced.presence) = (Pose::AsGiven, Presence::Complete);
        }
        reduced
    }
}

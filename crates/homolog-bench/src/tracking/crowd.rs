//! A simulated crowd, seen by a detector: people who walk, and boxes and vectors of appearance that a tracker would get.
//!
//! A person is as tall as where they stand says (nearer is taller), walks with a velocity that changes slowly, and has an appearance of their own, to which
//! every detection adds noise. Detections miss some people, jitter, and find some boxes where nobody is.

use super::Frames;
use anyhow::Result;
use homolog::data::tracks::{Frame, Tracks};
use homolog::features::box_features;
use homolog::graph::{Graph, Pair, PairFeatures};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// How crowded it is and how well people are seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) people: usize,
    /// The share of people that a frame misses.
    pub(crate) missed: f64,
    /// Further features that tell nothing.
    pub(crate) noise: usize,
    pub(crate) seed: u64,
}

const WIDTH: f64 = 1200.0;
const DEPTH: f64 = 500.0;
/// Numbers of an appearance, and how much a detection changes each.
const LOOKS: usize = 8;
const LOOK_NOISE: f64 = 0.55;
/// What a box moves and grows by chance, in heights.
const JITTER: f64 = 0.04;
/// False detections of a frame per person.
const FALSE: f64 = 0.1;
/// How far a person walks in a frame, in heights.
const STEP: f64 = 0.22;

struct Person {
    place: [f64; 2],
    velocity: [f64; 2],
    looks: Vec<f64>,
    id: i64,
}

struct Seen {
    frame: Frame,
    looks: Array2<f64>,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // The sum of twelve uniform numbers: near enough.
    (0..12).map(|_| rng.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

fn height(y: f64) -> f64 {
    60.0 + 100.0 * y / DEPTH
}

impl Person {
    fn new(rng: &mut ChaCha8Rng, id: i64, anywhere: bool) -> Self {
        let side = if rng.random_bool(0.5) { 0.0 } else { WIDTH };
        let x = if anywhere { rng.random_range(0.0..WIDTH) } else { side };
        let place = [x, rng.random_range(0.0..DEPTH)];
        let towards = if place[0] < WIDTH / 2.0 { 1.0 } else { -1.0 };
        let velocity = [towards * STEP * rng.random_range(0.3..1.2), 0.3 * STEP * normal(rng)];
        Self { place, velocity, looks: (0..LOOKS).map(|_| normal(rng)).collect(), id }
    }

    fn walk(&mut self, rng: &mut ChaCha8Rng) {
        for axis in 0..2 {
            self.velocity[axis] += 0.25 * STEP * normal(rng);
            self.velocity[axis] *= 0.95;
            self.place[axis] += self.velocity[axis] * height(self.place[1]);
        }
        self.place[1] = self.place[1].clamp(0.0, DEPTH);
    }
}

impl Crowd {
    pub(crate) fn name(&self) -> String {
        let noise =
            if self.noise == 0 { String::new() } else { format!(", {} features that tell nothing", self.noise) };
        format!("crowd of {}, {:.0} % missed{noise}", self.people, 100.0 * self.missed)
    }

    /// Labelled pairs of consecutive frames.
    pub(crate) fn pairs(&self, count: usize) -> Result<Vec<Frames>> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // Drawn aside: the same people with and without noise.
        let mut aside = ChaCha8Rng::seed_from_u64(self.seed + 7000);
        let mut people: Vec<Person> =
            (0..self.people).zip(0..).map(|(_, id)| Person::new(&mut rng, id, true)).collect();
        let mut next = i64::try_from(self.people)?;
        let mut last: Option<Seen> = None;
        let mut pairs = Vec::with_capacity(count);
        for number in 0.. {
            let seen = self.see(&people, number, &mut rng);
            if let Some(last) = &last {
                pairs.push(self.pair(last, &seen, &mut aside)?);
            }
            if pairs.len() == count {
                break;
            }
            last = Some(seen);
            people.iter_mut().for_each(|person| person.walk(&mut rng));
            for person in &mut people {
                if !(-20.0..WIDTH + 20.0).contains(&person.place[0]) {
                    *person = Person::new(&mut rng, next, false);
                    next += 1;
                }
            }
        }
        Ok(pairs)
    }

    fn see(&self, people: &[Person], number: i64, rng: &mut ChaCha8Rng) -> Seen {
        let (mut boxes, mut looks, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |place: [f64; 2], own: &[f64], id: Option<i64>, rng: &mut ChaCha8Rng| {
            let tall = height(place[1]) * (JITTER * normal(rng)).exp();
            let wide = 0.4 * tall * (JITTER * normal(rng)).exp();
            let [x, y] = place.map(|at| at + JITTER * tall * normal(rng));
            boxes.extend([x - wide / 2.0, y - tall, wide, tall]);
            looks.extend(own.iter().map(|look| look + LOOK_NOISE * normal(rng)));
            ids.push(id);
        };
        for person in people {
            if rng.random_bool(1.0 - self.missed) {
                add(person.place, &person.looks, Some(person.id), rng);
            }
        }
        for _ in 0..self.people {
            if rng.random_bool(FALSE) {
                let nobody = Person::new(rng, 0, true);
                add(nobody.place, &nobody.looks, None, rng);
            }
        }
        let count = ids.len();
        let boxes = Array2::from_shape_fn((count, 4), |(row, column)| boxes[4 * row + column]);
        let looks = Array2::from_shape_fn((count, LOOKS), |(row, column)| looks[LOOKS * row + column]);
        Seen { frame: Frame { number, boxes, ids }, looks }
    }

    fn pair(&self, left: &Seen, right: &Seen, rng: &mut ChaCha8Rng) -> Result<Frames> {
        let looks = Some([left.looks.view(), right.looks.view()]);
        let features = box_features(left.frame.boxes.view(), right.frame.boxes.view(), looks, None)?;
        let size = (features.left_count(), features.right_count());
        let mut names = features.names().to_vec();
        let column = |at: usize| Array2::from_shape_fn(size, |(i, k)| features.row(i, k).map_or(0.0, |row| row[at]));
        let mut tables: Vec<Array2<f64>> = (0..names.len()).map(column).collect();
        for number in 0..self.noise {
            names.push(format!("nothing {number}"));
            tables.push(Array2::from_shape_simple_fn(size, || normal(rng)));
        }
        let features = PairFeatures::of_tables(names, &tables)?;
        let [a, b] = [size.0, size.1].map(|count| Arc::new(Graph::new(count)));
        let truth = Tracks::matching(&left.frame, &right.frame)?;
        Ok(Frames { pair: Pair::new(a, b).with_features(Arc::new(features))?, truth })
    }
}

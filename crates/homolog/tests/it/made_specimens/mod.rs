//! Specimens of a known shape, with noise, moved around, with missing and foreign points.

use homolog::experiment::Truth;
use homolog::graph::Graph;
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Deviations of an ordinary specimen: a twentieth of the shape's radius.
const NOISE: f64 = 0.05;

pub struct Maker {
    random: ChaCha8Rng,
    shape: Array2<f64>,
}

pub fn refs(graphs: &[Graph]) -> Vec<&Graph> {
    graphs.iter().collect()
}

impl Maker {
    /// Random points that keep a distance of at least a quarter from one another.
    pub fn new(seed: u64, dimension: usize, count: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut points: Vec<Vec<f64>> = Vec::new();
        while points.len() < count {
            let point: Vec<f64> =
                (0..dimension).map(|axis| random.random_range(-1.5..1.5) * [1.0, 0.8, 0.6][axis]).collect();
            let near = |other: &Vec<f64>| other.iter().zip(&point).map(|(a, b)| (a - b).powi(2)).sum::<f64>() < 0.0625;
            if !points.iter().any(near) {
                points.push(point);
            }
        }
        let shape = Array2::from_shape_fn((count, dimension), |(i, p)| points[i][p]);
        Self { random, shape }
    }

    pub fn random(&mut self) -> &mut ChaCha8Rng {
        &mut self.random
    }

    fn points(&mut self, noise: f64) -> Array2<f64> {
        let random = &mut self.random;
        // A sum of three is close enough to a normal number.
        self.shape.mapv(|x| x + noise * (0..3).map(|_| random.random_range(-1.0..1.0)).sum::<f64>())
    }

    fn named(points: Array2<f64>) -> Graph {
        let names = (0..points.nrows()).map(|i| format!("p{i}")).collect();
        Graph::from_points(points).unwrap().with_names(names).unwrap()
    }

    pub fn specimen(&mut self) -> Graph {
        let points = self.points(NOISE);
        Self::named(points)
    }

    pub fn specimens(&mut self, count: usize) -> Vec<Graph> {
        (0..count).map(|_| self.specimen()).collect()
    }

    pub fn noisy_specimens(&mut self, count: usize, noise: f64) -> Vec<Graph> {
        (0..count).map(|_| Self::named(self.points(noise))).collect()
    }

    /// Anywhere, of any size; turned and mirrored on request.
    pub fn moved(&mut self, turned: bool, mirrored: bool) -> Graph {
        let mut points = self.points(NOISE);
        let d = points.ncols();
        if turned {
            for p in 0..d {
                for q in p + 1..d {
                    let (sine, cosine) = self.random.random_range(0.0..std::f64::consts::TAU).sin_cos();
                    for mut row in points.rows_mut() {
                        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
                    }
                }
            }
        }
        if mirrored {
            points.column_mut(0).mapv_inplace(|x| -x);
        }
        let shift = Array1::from_shape_fn(d, |_| self.random.random_range(-100.0..100.0));
        Self::named(points * self.random.random_range(0.1..50.0) + shift)
    }

    /// This many points replaced by foreign ones.
    pub fn spoiled(&mut self, count: usize) -> (Graph, Vec<Truth>) {
        let mut points = self.points(NOISE);
        let n = points.nrows();
        let mut truth: Vec<Truth> = (0..n).map(|i| Truth::Name(format!("p{i}"))).collect();
        for _ in 0..count {
            let at = self.random.random_range(0..n);
            truth[at] = Truth::Nobody;
            let random = &mut self.random;
            points.row_mut(at).mapv_inplace(|_| random.random_range(-1.5..1.5));
        }
        (Graph::from_points(points).unwrap(), truth)
    }
}

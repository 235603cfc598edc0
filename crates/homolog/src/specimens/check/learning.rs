//! Where each landmark of each specimen should be, learned from the specimens themselves although some are wrong.
//!
//! The *residual* of a landmark is its distance from where its neighbours say it lies (`regression`), by what was learned without the
//! specimen. Its *oddness* is, with the covariances R of the residuals and V of the positions of that landmark in the other specimens,
//!
//!   u² = e'B⁻¹e / d,    B = ½(S + (tr S/d) I),    S = ½(R + V):
//!
//! half by how well the neighbours predict it, half by its own spread. A landmark that is odder than a good one can be (`tail`) is left out of the next round of learning, and
//! what its neighbours say takes its place wherever it would have predicted another; a specimen with too many of them is left out
//! altogether. The first round leaves out what looks odd by medians (`neighbours`); after five nothing changes much. Only single
//! landmarks are left out, not their specimens: of twenty wrong specimens in a hundred most landmarks are right.

use super::neighbours::{Neighbour, first_guess, first_oddness, neighbours};
use super::regression::{Design, Regression, Shrinkage};
use super::shapes::{Place, Shape, difference, length};
use super::tail::Tail;
use crate::Control;
use crate::linalg::{Square, inverse_and_log_det};

const ROUNDS: usize = 6;
/// Rounds in which the shrinkage is chosen again.
const CHOOSING: usize = 3;
/// The first oddness above which a landmark is left out of the first round.
const FIRST_THRESHOLD: f64 = 3.0;
/// A specimen with a larger share of odd landmarks is left out as a whole.
pub(super) const MOST_ODD: f64 = 0.4;
/// Variances below this (0.1 % of the radius, squared) are not believed.
const LEAST_VARIANCE: f64 = 1e-6;
/// How often landmarks that predict each other are predicted again.
const SETTLING: usize = 4;
/// The least cosine between directions that are the same.
const ALIKE: f64 = 0.8;

/// What was learned, and every specimen by it.
pub(super) struct Learned {
    pub(super) dimension: usize,
    regressions: Vec<Option<Regression>>,
    spreads: Vec<Spread>,
    pub(super) tail: Tail,
    pub(super) specimens: Vec<Judged>,
}

/// A specimen by what was learned.
pub(super) struct Judged {
    points: Shape,
    /// Its points, with what neighbours say in the place of those that are missing or odd.
    filled: Vec<Place>,
    /// Where each landmark should be.
    pub(super) expected: Vec<Place>,
    /// 0 for a landmark that is missing or about which nothing is known.
    pub(super) odd: Vec<f64>,
    left_out: Vec<bool>,
}

/// How much a landmark varies: sums over the specimens that count.
#[derive(Clone, Default)]
struct Spread {
    count: f64,
    mean: Place,
    residuals: Square,
    positions: Square,
}

impl Judged {
    /// The oddness of its oddest landmark.
    pub(super) fn oddest(&self) -> f64 {
        self.odd.iter().copied().fold(0.0, f64::max)
    }

    /// Whether too many landmarks are odd for any of them to be trusted.
    fn is_out(&self) -> bool {
        let present = self.points.iter().flatten().count();
        let odd = self.points.iter().zip(&self.left_out).filter(|(point, left_out)| point.is_some() && **left_out);
        odd.count() as f64 > MOST_ODD * present as f64
    }

    fn counts(&self, landmark: usize) -> Option<Place> {
        self.points[landmark].filter(|_| !self.left_out[landmark])
    }
}

/// Learns from specimens in the frame.
pub(super) fn learn(dimension: usize, shapes: Vec<&Shape>, mean: &Shape, control: &Control) -> Learned {
    let neighbours = neighbours(&shapes);
    let mut specimens = first_round(&shapes, mean, &neighbours);
    let mut shrinkage = Shrinkage { ridge: 1.0, together: 1.0 };
    let mut learned = None;
    for round in 0..ROUNDS {
        if control.interrupted() && learned.is_some() {
            break;
        }
        let kept: Vec<&Judged> = specimens.iter().filter(|judged| !judged.is_out()).collect();
        let designs: Vec<Option<Design>> =
            neighbours.iter().enumerate().map(|(at, of)| design(dimension, at, of, &kept)).collect();
        if round < CHOOSING {
            shrinkage = best_shrinkage(&designs, &kept).unwrap_or(shrinkage);
        }
        let regress = |design: &Option<Design>| design.as_ref().and_then(|design| design.regression(shrinkage));
        let regressions: Vec<Option<Regression>> = designs.iter().map(regress).collect();
        let residuals: Vec<Vec<Place>> = specimens.iter().map(|judged| residuals(&regressions, judged)).collect();
        let spreads = (0..neighbours.len()).map(|at| Spread::new(at, &specimens, &residuals)).collect();
        let now = Learned { dimension, regressions, spreads, tail: Tail::new(Vec::new()), specimens };
        let now = learned.insert(now.judged(&residuals));
        specimens = now.next_round();
    }
    learned.unwrap_or_else(|| Learned {
        dimension,
        regressions: Vec::new(),
        spreads: Vec::new(),
        tail: Tail::new(Vec::new()),
        specimens: Vec::new(),
    })
}

fn first_round(shapes: &[&Shape], mean: &Shape, neighbours: &[Vec<Neighbour>]) -> Vec<Judged> {
    let odd = first_oddness(shapes, mean, neighbours);
    let judge = |(shape, odd): (&&Shape, Vec<f64>)| {
        let left_out: Vec<bool> =
            shape.iter().zip(&odd).map(|(point, odd)| point.is_none() || *odd > FIRST_THRESHOLD).collect();
        let guess = |at: usize| first_guess(shape, &neighbours[at], mean[at].unwrap_or_default());
        let expected: Vec<Place> = (0..shape.len()).map(guess).collect();
        let mut judged = Judged { points: (*shape).clone(), filled: Vec::new(), expected, odd, left_out };
        judged.fill();
        judged
    };
    shapes.iter().zip(odd).map(judge).collect()
}

impl Judged {
    /// Points, with what neighbours say in the place of those left out. If too many are, nobody's word is better than the points.
    fn fill(&mut self) {
        let out = self.is_out();
        let fill = |at: usize| match self.points[at] {
            Some(point) if out || !self.left_out[at] => point,
            _ => self.expected[at],
        };
        self.filled = (0..self.points.len()).map(fill).collect();
    }
}

fn design(dimension: usize, landmark: usize, neighbours: &[Neighbour], kept: &[&Judged]) -> Option<Design> {
    let rows = kept.iter().filter_map(|judged| Some((&judged.filled[..], judged.counts(landmark)?)));
    Design::new(dimension, neighbours, rows)
}

/// The shrinkage under which landmarks of specimens left out are predicted best: least mean over landmarks of the logarithm of the mean
/// square residual.
fn best_shrinkage(designs: &[Option<Design>], kept: &[&Judged]) -> Option<Shrinkage> {
    let cost = |shrinkage: Shrinkage| -> f64 {
        let of = |(at, design): (usize, &Option<Design>)| -> Option<f64> {
            let regression = design.as_ref()?.regression(shrinkage)?;
            let square = |judged: &&Judged| {
                let point = judged.counts(at)?;
                let factor = regression.left_out_factor(&judged.filled);
                let off = difference(&point, &regression.predict(&judged.filled));
                Some(off.iter().map(|x| (x * factor).powi(2)).sum::<f64>())
            };
            let squares: Vec<f64> = kept.iter().filter_map(square).collect();
            Some((squares.iter().sum::<f64>() / squares.len() as f64 + LEAST_VARIANCE).ln())
        };
        designs.iter().enumerate().filter_map(of).sum()
    };
    let mut best: Option<(f64, Shrinkage)> = None;
    for shrinkage in Shrinkage::all() {
        let cost = cost(shrinkage);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, shrinkage));
        }
    }
    best.map(|(_, shrinkage)| shrinkage)
}

/// What remains of each landmark, by what was learned without the specimen.
fn residuals(regressions: &[Option<Regression>], judged: &Judged) -> Vec<Place> {
    let out = judged.is_out();
    let residual = |(at, regression): (usize, &Option<Regression>)| -> Place {
        let (Some(regression), Some(point)) = (regression, judged.points[at]) else { return [0.0; 3] };
        let off = difference(&point, &regression.predict(&judged.filled));
        let took_part = !out && !judged.left_out[at];
        let factor = if took_part { regression.left_out_factor(&judged.filled) } else { 1.0 };
        off.map(|x| x * factor)
    };
    regressions.iter().enumerate().map(residual).collect()
}

impl Spread {
    fn new(landmark: usize, specimens: &[Judged], residuals: &[Vec<Place>]) -> Self {
        let mut spread = Self::default();
        let kept = || {
            let all = specimens.iter().zip(residuals).filter(|(judged, _)| !judged.is_out());
            all.filter_map(|(judged, residuals)| Some((judged.counts(landmark)?, residuals[landmark])))
        };
        spread.count = kept().count() as f64;
        kept().for_each(|(point, _)| (0..3).for_each(|p| spread.mean[p] += point[p] / spread.count));
        for (point, residual) in kept() {
            add_square(&mut spread.positions, &difference(&point, &spread.mean), 1.0);
            add_square(&mut spread.residuals, &residual, 1.0);
        }
        spread
    }

    /// V without a specimen (point) that is in the sums, or with all of them.
    fn positions_without(&self, own: Option<&Place>) -> Square {
        let (mut sum, mut count) = (self.positions, self.count);
        if let Some(point) = own.filter(|_| count > 2.0) {
            add_square(&mut sum, &difference(point, &self.mean), -count / (count - 1.0));
            count -= 1.0;
        }
        sum.map(|row| row.map(|x| x / (count - 1.0).max(1.0)))
    }

    /// R, in the same way.
    fn residuals_without(&self, own: Option<&Place>) -> Square {
        let (mut sum, mut count) = (self.residuals, self.count);
        if let Some(residual) = own.filter(|_| count > 2.0) {
            add_square(&mut sum, residual, -1.0);
            count -= 1.0;
        }
        sum.map(|row| row.map(|x| x / count.max(1.0)))
    }

    /// u of a residual; `own` are point and residual of the specimen if they are in the sums.
    fn oddness(&self, d: usize, residual: &Place, own: Option<(&Place, &Place)>) -> f64 {
        if self.count < 2.0 {
            return 0.0;
        }
        let positions = self.positions_without(own.map(|own| own.0));
        let residuals = self.residuals_without(own.map(|own| own.1));
        let mut both = Square::default();
        (0..d).for_each(|p| (0..d).for_each(|q| both[p][q] = 0.25 * (positions[p][q] + residuals[p][q])));
        let round = (0..d).map(|p| both[p][p]).sum::<f64>() / d as f64;
        (0..d).for_each(|p| both[p][p] += round + LEAST_VARIANCE);
        let Some((inverse, _)) = inverse_and_log_det(&both, d) else { return 0.0 };
        let square: f64 = (0..d).map(|p| (0..d).map(|q| residual[p] * inverse[p][q] * residual[q]).sum::<f64>()).sum();
        (square.max(0.0) / d as f64).sqrt()
    }
}

fn add_square(sum: &mut Square, vector: &Place, factor: f64) {
    for p in 0..3 {
        (0..3).for_each(|q| sum[p][q] += factor * vector[p] * vector[q]);
    }
}

impl Learned {
    /// The same with the oddness of everything, and the threshold.
    fn judged(mut self, residuals: &[Vec<Place>]) -> Self {
        for (judged, residuals) in self.specimens.iter_mut().zip(residuals) {
            let out = judged.is_out();
            for (at, residual) in residuals.iter().enumerate() {
                let Some(point) = judged.points[at] else {
                    judged.odd[at] = 0.0;
                    if let Some(regression) = &self.regressions[at] {
                        judged.expected[at] = regression.predict(&judged.filled);
                    }
                    continue;
                };
                judged.expected[at] = difference(&point, residual);
                let own = (!out && !judged.left_out[at]).then_some((&point, residual));
                judged.odd[at] = self.spreads[at].oddness(self.dimension, residual, own);
            }
        }
        let odd = self.specimens.iter().filter(|judged| !judged.is_out()).map(Judged::oddest).collect();
        self.tail = Tail::new(odd);
        for at in 0..self.spreads.len() {
            self.forgive(at, residuals);
        }
        self
    }

    /// Two specimens in which a landmark is odd in the same direction are more likely a variant than two mistakes: each is judged again
    /// with the other counted.
    fn forgive(&mut self, landmark: usize, residuals: &[Vec<Place>]) {
        let is_odd = |judged: &Judged| judged.odd[landmark] > self.tail.threshold && !judged.is_out();
        let odd: Vec<usize> = (0..self.specimens.len()).filter(|&s| is_odd(&self.specimens[s])).collect();
        let mut again = Vec::new();
        for &s in &odd {
            let own = &residuals[s][landmark];
            let is_alike = |other: &Place| {
                let (a, b) = (length(own), length(other));
                let along: f64 = own.iter().zip(other).map(|(x, y)| x * y).sum();
                along > ALIKE * a * b && b > 0.5 * a
            };
            let mut spread = self.spreads[landmark].clone();
            for &other in odd.iter().filter(|&&other| other != s && is_alike(&residuals[other][landmark])) {
                let judged = &self.specimens[other];
                let Some(point) = judged.points[landmark].filter(|_| judged.left_out[landmark]) else { continue };
                add_square(&mut spread.positions, &difference(&point, &spread.mean), 1.0);
                add_square(&mut spread.residuals, &residuals[other][landmark], 1.0);
                spread.count += 1.0;
            }
            if self.specimens[s].left_out[landmark] && spread.count > self.spreads[landmark].count {
                again.push((s, spread.oddness(self.dimension, own, None)));
            }
        }
        again.into_iter().for_each(|(s, odd)| self.specimens[s].odd[landmark] = odd);
    }

    /// What is left out and filled in next.
    fn next_round(&self) -> Vec<Judged> {
        let next = |judged: &Judged| {
            let odd = |(at, point): (usize, &Option<Place>)| point.is_none() || judged.odd[at] > self.tail.threshold;
            let left_out = judged.points.iter().enumerate().map(odd).collect();
            let (points, expected, odd) = (judged.points.clone(), judged.expected.clone(), judged.odd.clone());
            let mut next = Judged { points, filled: Vec::new(), expected, odd, left_out };
            next.fill();
            next
        };
        self.specimens.iter().map(next).collect()
    }

    /// The landmarks of a specimen that are odder than a good one can be.
    pub(super) fn odd_landmarks(&self, specimen: usize) -> Vec<usize> {
        let odd = self.specimens[specimen].odd.iter().enumerate();
        odd.filter(|(_, odd)| **odd > self.tail.threshold).map(|(at, _)| at).collect()
    }

    /// Where these landmarks should be by the others alone.
    pub(super) fn expected_without(&self, specimen: usize, landmarks: &[usize]) -> Vec<Place> {
        let judged = &self.specimens[specimen];
        let mut filled = judged.filled.clone();
        landmarks.iter().for_each(|&at| filled[at] = judged.expected[at]);
        let predict = |filled: &[Place], at: usize| match &self.regressions[at] {
            Some(regression) => regression.predict(filled),
            None => judged.expected[at],
        };
        for _ in 0..SETTLING {
            let next: Vec<Place> = landmarks.iter().map(|&at| predict(&filled, at)).collect();
            landmarks.iter().zip(next).for_each(|(&at, place)| filled[at] = place);
        }
        landmarks.iter().map(|&at| filled[at]).collect()
    }

    /// How odd a landmark would be so far from where it should be.
    pub(super) fn oddness_of(&self, landmark: usize, residual: &Place) -> f64 {
        self.spreads[landmark].oddness(self.dimension, residual, None)
    }

    /// The root-mean-square distance of a landmark from its mean.
    pub(super) fn spread(&self, landmark: usize) -> f64 {
        let positions = self.spreads[landmark].positions_without(None);
        ((0..3).map(|p| positions[p][p]).sum::<f64>() + LEAST_VARIANCE).sqrt()
    }
}

impl Learned {
    /// Whether too many landmarks of a specimen are odd.
    pub(super) fn fits_nothing(&self, specimen: usize) -> bool {
        let present = self.specimens[specimen].points.iter().flatten().count();
        self.odd_landmarks(specimen).len() as f64 > MOST_ODD * present as f64
    }

    /// The oddness of each landmark of points in the frame that took no part in the learning.
    pub(super) fn oddness_of_all(&self, points: &Shape) -> Vec<f64> {
        let filled: Vec<Place> = points.iter().map(|point| point.unwrap_or_default()).collect();
        let odd = |at: usize| {
            let regression = points[at].and(self.regressions[at].as_ref())?;
            Some(self.oddness_of(at, &difference(&filled[at], &regression.predict(&filled))))
        };
        (0..points.len()).filter_map(odd).collect()
    }
}

//! Frank–Wolfe ascent on candidate pairs: the starts and steps of `soft/frank_wolfe.rs`.

use super::super::frank_wolfe::{ANNEALED, FrankWolfe};
use super::super::problem::{Found, Steps};
use super::Listed;
use super::sinkhorn::{Sinkhorn, Soft};
use crate::Result;
use crate::matching::{GraduatedAssignment, Matching, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where an ascent is and where it is heading.
struct Climb {
    /// y, and the gradient of the edge part there.
    soft: Soft,
    gradient: Vec<f64>,
    /// The linearised score at y.
    score: Vec<f64>,
    /// z, and the gradient of the edge part there.
    target: Soft,
    target_gradient: Vec<f64>,
}

impl Listed<'_> {
    /// The matchings found from all starts.
    pub(in super::super) fn climb_from_all(&mut self, settings: &FrankWolfe, work: &mut Workspace) -> Result<Found> {
        let mut steps = Steps { count: 0, interrupted: false };
        let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
        // A start need not be normalised to the last digit.
        let mut sinkhorn = Sinkhorn::new(&self.cells, 100, 1e-3);
        let mut flat = Soft::zeros(&self.cells);
        let zeros = vec![0.0; self.cells.len()];
        sinkhorn.assign(&self.cells, &zeros, 1.0, &self.slack, &mut flat);
        let mut climb = Climb {
            soft: flat.clone(),
            gradient: zeros.clone(),
            score: zeros.clone(),
            target: flat.clone(),
            target_gradient: zeros,
        };
        let mut found = Vec::new();
        for start in 0..settings.starts {
            if work.interrupted() {
                steps.interrupted = true;
                break;
            }
            match start {
                0 => climb.soft.clone_from(&flat),
                1 => self.set_matching(&self.linear, &mut climb.soft),
                ANNEALED => {
                    let annealing = GraduatedAssignment { seed: settings.seed, ..GraduatedAssignment::default() };
                    let (soft, rounds) = self.anneal(&annealing, work);
                    climb.soft = soft;
                    steps.count += rounds.count;
                }
                _ => self.start_at_random(&mut random, &mut sinkhorn, &flat, &mut climb.soft),
            }
            let matching = self.ascend(settings, &mut climb, &mut steps, work)?;
            if !found.contains(&matching) {
                found.push(matching);
            }
        }
        Ok((found, steps))
    }

    fn start_at_random(&self, random: &mut ChaCha8Rng, sinkhorn: &mut Sinkhorn, flat: &Soft, soft: &mut Soft) {
        let mut number = || random.random::<f64>().max(f64::MIN_POSITIVE).ln();
        let logarithms: Vec<f64> = (0..self.cells.len()).map(|_| number()).collect();
        sinkhorn.reset();
        sinkhorn.assign(&self.cells, &logarithms, 1.0, &self.slack, soft);
        soft.pair.iter_mut().zip(&flat.pair).for_each(|(y, flat)| *y = 0.5 * (*y + flat));
        soft.rest.iter_mut().zip(&flat.rest).for_each(|(y, flat)| *y = 0.5 * (*y + flat));
    }

    /// Climbs from the start and returns the best matching met.
    fn ascend(
        &mut self,
        settings: &FrankWolfe,
        climb: &mut Climb,
        steps: &mut Steps,
        work: &mut Workspace,
    ) -> Result<Matching> {
        let no_gain = vec![0.0; climb.soft.rest.len()];
        self.links.gradient(&climb.soft.pair, &mut climb.gradient);
        let mut best: Option<(f64, Matching)> = None;
        for _ in 0..settings.max_steps {
            for ((score, gain), gradient) in climb.score.iter_mut().zip(&self.cells.gain).zip(&climb.gradient) {
                *score = gain + gradient;
            }
            let target = self.assign(&climb.score, &no_gain, work)?;
            steps.count += 1;
            let value = self.aim(&target, climb);
            if best.as_ref().is_none_or(|best| value > best.0) {
                best = Some((value, target));
            }
            let (slope, bend, size) = climb.parabola();
            steps.interrupted |= work.interrupted();
            if slope <= settings.tolerance * size || steps.interrupted {
                break;
            }
            climb.advance(if bend < 0.0 { (-slope / (2.0 * bend)).min(1.0) } else { 1.0 });
        }
        let rounded = self.round(&climb.soft, work)?;
        let value = self.aim(&rounded, climb);
        Ok(match best {
            Some((most, matching)) if most >= value => matching,
            _ => rounded,
        })
    }

    /// Heads for a matching; returns its score.
    fn aim(&self, target: &Matching, climb: &mut Climb) -> f64 {
        self.set_matching(target, &mut climb.target);
        climb.target_gradient.fill(0.0);
        for (_, cell) in self.cells.of_matching(target) {
            self.links.add_gradient_of(cell, &mut climb.target_gradient);
        }
        let own = |(_, cell): (usize, usize)| self.cells.gain[cell] + 0.5 * climb.target_gradient[cell];
        self.cells.of_matching(target).map(own).sum()
    }

    fn set_matching(&self, matching: &Matching, soft: &mut Soft) {
        soft.pair.fill(0.0);
        soft.rest.fill(1.0);
        for (i, cell) in self.cells.of_matching(matching) {
            soft.pair[cell] = 1.0;
            soft.rest[i] = 0.0;
        }
    }
}

impl Climb {
    /// (slope, bend) of the score on the way from y to z, and the size of the terms that make up the slope.
    fn parabola(&self) -> (f64, f64, f64) {
        let (mut slope, mut bend, mut size) = (0.0, 0.0, 0.0);
        let cells = self.score.iter().zip(self.soft.pair.iter().zip(&self.target.pair));
        for ((score, (y, z)), (here, there)) in cells.zip(self.gradient.iter().zip(&self.target_gradient)) {
            let step = z - y;
            slope += score * step;
            bend += 0.5 * (there - here) * step;
            size += (score * step).abs();
        }
        (slope, bend, size)
    }

    fn advance(&mut self, length: f64) {
        let blend = |(y, z): (&mut f64, &f64)| *y = length * z + (1.0 - length) * *y;
        self.soft.pair.iter_mut().zip(&self.target.pair).for_each(blend);
        self.gradient.iter_mut().zip(&self.target_gradient).for_each(blend);
        self.soft.rest.iter_mut().zip(&self.target.rest).for_each(blend);
    }
}

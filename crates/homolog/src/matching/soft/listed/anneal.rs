//! Graduated assignment on candidate pairs: the schedule, scale and damping of `soft/graduated_assignment.rs`.

use super::super::graduated_assignment::{GraduatedAssignment, undecided};
use super::super::problem::{Found, Steps};
use super::Listed;
use super::sinkhorn::{Sinkhorn, Soft};
use crate::Result;
use crate::matching::Workspace;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A soft matching and the gradient of the edge part there.
struct State {
    soft: Soft,
    gradient: Vec<f64>,
}

impl Listed<'_> {
    /// The matching that graduated assignment finds.
    pub(in super::super) fn anneal_and_round(
        &mut self,
        settings: &GraduatedAssignment,
        work: &mut Workspace,
    ) -> Result<Found> {
        let (soft, steps) = self.anneal(settings, work);
        Ok((vec![self.round(&soft, work)?], steps))
    }

    /// The soft matching at the end of the schedule.
    pub(super) fn anneal(&self, settings: &GraduatedAssignment, work: &Workspace) -> (Soft, Steps) {
        let (cells, n) = (&self.cells, self.cells.left_count());
        let mut sinkhorn = Sinkhorn::new(cells, settings.normalisations, settings.normalisation_tolerance);
        let per_unit = self.unit().recip();
        let mut now = State { soft: self.start(settings, &mut sinkhorn), gradient: vec![0.0; cells.len()] };
        let mut next = State { soft: now.soft.clone(), gradient: now.gradient.clone() };
        let mut score = vec![0.0; cells.len()];
        let mut steps = Steps { count: 0, interrupted: false };
        self.links.gradient(&now.soft.pair, &mut now.gradient);
        let mut beta = settings.beta_start;
        while !settings.is_over(beta, undecided(&now.soft.pair, &now.soft.rest)) {
            for _ in 0..settings.steps_per_beta {
                if work.interrupted() {
                    steps.interrupted = true;
                    return (now.soft, steps);
                }
                for ((score, gain), gradient) in score.iter_mut().zip(&cells.gain).zip(&now.gradient) {
                    *score = (gain + gradient) * per_unit;
                }
                sinkhorn.assign(cells, &score, beta, &self.slack, &mut next.soft);
                self.links.gradient(&next.soft.pair, &mut next.gradient);
                let change = next.damp(&now, beta * per_unit);
                std::mem::swap(&mut now, &mut next);
                steps.count += 1;
                if change <= settings.step_tolerance * n as f64 {
                    break;
                }
            }
            beta *= settings.beta_rate;
        }
        (now.soft, steps)
    }

    /// The unit of β; a simple bound replaces the norm, which matters little where node scores tell nodes apart.
    fn unit(&self) -> f64 {
        let nodes = self.cells.left_count().max(self.cells.right_count);
        let unit = 0.5 * (self.node_spread + self.links.norm() / nodes as f64);
        if unit > super::super::graduated_assignment::SMALLEST_UNIT { unit } else { 1.0 }
    }

    fn start(&self, settings: &GraduatedAssignment, sinkhorn: &mut Sinkhorn) -> Soft {
        let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
        let mut start = || (settings.perturbation * random.random::<f64>()).ln_1p();
        let logarithms: Vec<f64> = (0..self.cells.len()).map(|_| start()).collect();
        let mut soft = Soft::zeros(&self.cells);
        sinkhorn.assign(&self.cells, &logarithms, 1.0, &self.slack, &mut soft);
        sinkhorn.reset();
        soft
    }
}

impl State {
    /// Shortens the step from `old` where the score curves downwards along it; returns the sum of absolute changes.
    fn damp(&mut self, old: &Self, beta: f64) -> f64 {
        let (mut curvature, mut change) = (0.0, 0.0);
        let pairs = || self.soft.pair.iter().zip(&old.soft.pair);
        for ((new, old), (gradient, old_gradient)) in pairs().zip(self.gradient.iter().zip(&old.gradient)) {
            curvature += (new - old) * (gradient - old_gradient);
            change += (new - old).abs();
        }
        if curvature >= 0.0 {
            return change;
        }
        // Cells where both are zero play no part; the smallest number keeps them from being 0 / 0.
        let size: f64 =
            pairs().map(|(new, old)| 2.0 * (new - old) * (new - old) / (new + old + f64::MIN_POSITIVE)).sum();
        let length = size / (size - beta * curvature);
        let blend = |(new, old): (&mut f64, &f64)| *new = length * *new + (1.0 - length) * old;
        self.soft.pair.iter_mut().zip(&old.soft.pair).for_each(blend);
        self.gradient.iter_mut().zip(&old.gradient).for_each(blend);
        self.soft.rest.iter_mut().zip(&old.soft.rest).for_each(blend);
        change * length
    }
}

//! A risk whose minimum an independent solver can compute, and the laws of every run.

use crate::reference;

use homolog::Result;
use homolog::optimize::{Bundle, Minimum, Plane, Risk, Step, WeightRule};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reference::Row;
use std::ops::ControlFlow;

/// R(w) = Σ_part max over given planes; `slack` is how much an inexact oracle's value may be above its plane.
pub(crate) struct Polyhedral {
    pub(crate) parts: Vec<Vec<Plane>>,
    pub(crate) floor: Option<f64>,
    pub(crate) slack: f64,
    pub(crate) evaluations: usize,
}

impl Polyhedral {
    pub(crate) fn random(count: usize, dim: usize, parts: usize, scale: f64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut planes = vec![Vec::new(); parts];
        for i in 0..count {
            let slope = (0..dim).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
            planes[i % parts].push(Plane { slope, offset: rng.random_range(-1.0..1.0) });
        }
        Self { parts: planes, floor: None, slack: 0.0, evaluations: 0 }
    }

    pub(crate) fn dim(&self) -> usize {
        self.parts[0][0].slope.len()
    }

    /// The minimum by the independent solver, under rules.
    pub(crate) fn wanted(&self, lambda: f64, rules: &[WeightRule]) -> f64 {
        let row = |part, slope: Vec<f64>, offset| Row { part, slope, offset };
        let mut rows = Vec::new();
        for (part, planes) in self.parts.iter().enumerate() {
            rows.extend(planes.iter().map(|plane| row(Some(part), plane.slope.clone(), plane.offset)));
            rows.extend(self.floor.map(|floor| row(Some(part), vec![0.0; self.dim()], floor)));
        }
        for (j, rule) in rules.iter().enumerate() {
            let unit = |sign: f64| (0..self.dim()).map(|i| if i == j { sign } else { 0.0 }).collect::<Vec<f64>>();
            match *rule {
                WeightRule::Free => {}
                WeightRule::NonNegative => rows.push(row(None, unit(-1.0), 0.0)),
                WeightRule::AtLeast(least) => rows.push(row(None, unit(-1.0), least)),
                WeightRule::Fixed(value) => {
                    rows.push(row(None, unit(1.0), -value));
                    rows.push(row(None, unit(-1.0), value));
                }
            }
        }
        reference::minimum(&rows, self.parts.len(), lambda).expect("the other solver solves these")
    }
}

pub(crate) fn value(plane: &Plane, weights: &[f64]) -> f64 {
    plane.offset + plane.slope.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>()
}

impl Risk for Polyhedral {
    fn dim(&self) -> usize {
        self.dim()
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn floor(&self) -> Option<f64> {
        self.floor
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        self.evaluations += 1;
        let mut total = 0.0;
        for (part, out) in self.parts.iter().zip(planes) {
            let best = part.iter().max_by(|a, b| value(a, weights).total_cmp(&value(b, weights))).unwrap();
            // The true value, or a plane a little below the truth and a value a little above it.
            total += value(best, weights).max(self.floor.unwrap_or(f64::MIN)) + self.slack;
            *out = Plane { slope: best.slope.clone(), offset: best.offset - self.slack };
        }
        Ok(total)
    }
}

pub(crate) fn onward(_: &Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn exact(lambda: f64) -> Bundle {
    Bundle { lambda, gap_tolerance: 1e-9, ..Bundle::default() }
}

/// What must hold for every run: the bound never falls, the objective never rises, and they never cross.
pub(crate) fn assert_lawful(minimum: &Minimum, wanted: f64, what: &str) {
    let scale = 1e-6 * wanted.abs().max(1e-3);
    let mut last: Option<&Step> = None;
    for (i, step) in minimum.history.iter().enumerate() {
        assert_eq!(step.iteration, i + 1, "{what}");
        assert!(step.bound <= wanted + scale && wanted <= step.objective + scale, "{what}: {step:?} but {wanted}");
        assert!(step.gap >= -1e-9, "{what}: {step:?}");
        if let Some(last) = last {
            assert!(step.bound >= last.bound && step.objective <= last.objective, "{what}: {last:?} then {step:?}");
        }
        last = Some(step);
    }
    assert!(minimum.weights.iter().all(|weight| weight.is_finite()), "{what}");
}

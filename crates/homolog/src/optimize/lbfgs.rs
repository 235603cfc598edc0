//! [`Lbfgs`]: limited-memory BFGS for a smooth convex risk,
//!
//!   J(w) = lambda/2 |w - centre|² + R(w),   w_j free, bounded below, or fixed ([`WeightRule`])
//!
//! A step goes along -H g, where H is built from the last changes of w and of the gradient (Nocedal's two-loop recursion), on
//! the weights that are free to move (Bertsekas' two-metric projection: weights at their lower bound that the gradient pushes further
//! down stay there), and is shortened until J falls sufficiently. Since R is convex, for every v that the rules allow
//!
//!   J(v) >= J(w) + Σ_j [g_j (v_j - w_j) + lambda/2 (v_j - w_j)²]
//!
//! and the minimum of the right-hand side over v, one weight at a time, proves how far J(w) is from the minimum: |g|²/(2 lambda) if
//! all weights are free. A step costs one evaluation and about 4 · memory · dim operations. Written by hand because that is shorter than
//! what a crate would need around it for rules, certificate and control.

use super::checks::check_lambda;
use super::vector::{add_scaled, dot};
use super::{Minimum, Step, StopReason, WeightRule};
use crate::{Control, Error, Report, Result};
use serde::{Deserialize, Serialize};

/// A convex function with a gradient.
pub trait Smooth {
    /// How many weights there are.
    fn dim(&self) -> usize;

    /// R(weights), with its gradient written into `gradient`, which comes in as zeros. `None`: the work was interrupted, and nothing is
    /// known.
    ///
    /// # Errors
    /// Whatever keeps the risk from being known; it ends the minimisation.
    fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> Result<Option<f64>>;
}

/// Settings of L-BFGS.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lbfgs {
    /// Stops when objective - bound <= gap_tolerance * |objective|.
    pub gap_tolerance: f64,
    /// The most evaluations of the risk.
    pub max_iterations: usize,
    /// How many changes of weights and gradient are remembered.
    pub memory: usize,
}

impl Default for Lbfgs {
    /// A gap of 1e-4: evaluations are cheap, and the weights are then accurate to a percent. Memory: the usual 10 (5 and 20 took as long).
    fn default() -> Self {
        Self { gap_tolerance: 1e-4, max_iterations: 1000, memory: 10 }
    }
}

/// What the weights are kept close to, and what they may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regularization<'a> {
    /// How strongly, from 1e-100 to 1e100.
    pub lambda: f64,
    /// What to stay close to; empty means zero.
    pub centre: &'a [f64],
    /// One for each weight; empty means all free.
    pub rules: &'a [WeightRule],
}

/// A decrease of at least this share of what the slope promises is accepted (Armijo); the usual value.
const SUFFICIENT: f64 = 1e-4;
/// How often a step is shortened before the direction is given up.
const MOST_CUTS: usize = 50;
/// Values of J closer than this, relative to J, are equal up to rounding.
const ROUNDING: f64 = 1e-14;

impl Lbfgs {
    /// Minimises from `start`, or from the centre. `None` if it was interrupted before the first evaluation finished.
    ///
    /// # Errors
    /// A setting out of range; sizes that disagree; an error of the risk; NaN or infinity from it at the start.
    pub fn minimize(
        &self,
        risk: &mut dyn Smooth,
        near: Regularization<'_>,
        start: Option<&[f64]>,
        control: &Control,
    ) -> Result<Option<Minimum>> {
        let dim = risk.dim();
        self.check(near, start, dim)?;
        let rule = |j: usize| near.rules.get(j).copied().unwrap_or_default();
        let centre: Vec<f64> = if near.centre.is_empty() { vec![0.0; dim] } else { near.centre.to_vec() };
        let mut weights: Vec<f64> = start.unwrap_or(&centre).to_vec();
        project(&mut weights, rule);
        let Some(mut at) = Point::evaluate(risk, weights, near.lambda, &centre)? else { return Ok(None) };
        if let Some((index, &value)) = at.gradient.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(Error::BadEntry { what: "gradient of the risk", index, value });
        }
        let (mut history, mut memory) = (Vec::new(), Memory { most: self.memory, ..Memory::default() });
        let mut evaluations = 1;
        let stop = loop {
            let gap = at.gap(near.lambda, rule);
            history.push(step(&at, gap, near.lambda, evaluations));
            control.report(&Report::new("learning", evaluations, None).with_value(at.objective, at.objective - gap));
            if gap <= self.gap_tolerance * at.objective.abs() {
                break StopReason::Converged;
            }
            if evaluations >= self.max_iterations {
                break StopReason::IterationLimit;
            }
            if control.interrupted() {
                break StopReason::Interrupted;
            }
            let searched = search(risk, &at, gap, near.lambda, &centre, rule, &mut memory)?;
            match searched {
                Searched::Found(next, tries) => {
                    evaluations += tries;
                    memory.remember(&at, &next);
                    at = next;
                }
                Searched::Nothing if memory.pairs.is_empty() => break StopReason::Stalled,
                Searched::Nothing => memory.pairs.clear(),
                Searched::Interrupted => break StopReason::Interrupted,
            }
        };
        let gap = at.gap(near.lambda, rule);
        let Point { weights, objective, risk, .. } = at;
        let relative = relative(gap, objective);
        let bound = objective - gap;
        Ok(Some(Minimum { weights, lambda: near.lambda, objective, risk, bound, gap: relative, stop, history }))
    }

    fn check(&self, near: Regularization<'_>, start: Option<&[f64]>, dim: usize) -> Result<()> {
        check_lambda(near.lambda)?;
        Error::unless_at_least_0("gap_tolerance", self.gap_tolerance)?;
        let sizes = [
            ("weights to be near to", near.centre.len(), near.centre.is_empty()),
            ("rules for weights", near.rules.len(), near.rules.is_empty()),
            ("weights to start from", start.map_or(dim, <[f64]>::len), false),
        ];
        for (what, found, absent) in sizes {
            if !absent && found != dim {
                return Err(Error::Size { what, expected: dim, found });
            }
        }
        for (what, weights) in [("weights to be near to", near.centre), ("weights to start from", start.unwrap_or(&[]))]
        {
            if let Some((index, &value)) = weights.iter().enumerate().find(|(_, weight)| !weight.is_finite()) {
                return Err(Error::BadEntry { what, index, value });
            }
        }
        Ok(())
    }
}

/// The next point along the quasi-Newton direction, or along steepest descent if nothing is remembered.
fn search(
    risk: &mut dyn Smooth,
    at: &Point,
    gap: f64,
    lambda: f64,
    centre: &[f64],
    rule: impl Fn(usize) -> WeightRule + Copy,
    memory: &mut Memory,
) -> Result<Searched> {
    let moving: Vec<bool> = (0..at.weights.len()).map(|j| at.may_move(j, rule(j))).collect();
    let mut downhill: Vec<f64> = at.gradient.iter().map(|g| -g).collect();
    mask(&mut downhill, &moving);
    let mut direction = memory.apply(&downhill);
    mask(&mut direction, &moving);
    let first = memory.pairs.is_empty();
    let mut length = if first { dot(&downhill, &downhill).sqrt().recip().min(1.0 / lambda) } else { 1.0 };
    for tries in 1..=MOST_CUTS {
        let mut weights = at.weights.clone();
        add_scaled(&mut weights, length, &direction);
        project(&mut weights, rule);
        let moved: f64 = weights.iter().zip(&at.weights).zip(&at.gradient).map(|((new, old), g)| g * (new - old)).sum();
        let Some(next) = Point::evaluate(risk, weights, lambda, centre)? else { return Ok(Searched::Interrupted) };
        let enough = next.objective <= at.objective + SUFFICIENT * moved;
        // Where J no longer shows a difference, the certificate still does.
        let equal = (next.objective - at.objective).abs() <= ROUNDING * at.objective.abs();
        if moved < 0.0 && (enough || (equal && next.gap(lambda, rule) < gap)) {
            return Ok(Searched::Found(next, tries));
        }
        // The minimum of the parabola through the two values and the slope, kept between a tenth and a half.
        let parabola = -0.5 * moved / (next.objective - at.objective - moved);
        length *= if parabola.is_finite() { parabola.clamp(0.1, 0.5) } else { 0.1 };
    }
    Ok(Searched::Nothing)
}

enum Searched {
    /// The next point, and how many evaluations it took.
    Found(Point, usize),
    Nothing,
    Interrupted,
}

/// Weights with everything known about them.
struct Point {
    weights: Vec<f64>,
    /// Of J.
    gradient: Vec<f64>,
    objective: f64,
    risk: f64,
}

impl Point {
    fn evaluate(risk: &mut dyn Smooth, weights: Vec<f64>, lambda: f64, centre: &[f64]) -> Result<Option<Self>> {
        let mut gradient = vec![0.0; weights.len()];
        let Some(value) = risk.evaluate(&weights, &mut gradient)? else { return Ok(None) };
        let away: Vec<f64> = weights.iter().zip(centre).map(|(weight, centre)| weight - centre).collect();
        add_scaled(&mut gradient, lambda, &away);
        let objective = value + 0.5 * lambda * dot(&away, &away);
        Ok(Some(Self { weights, gradient, objective, risk: value }))
    }

    fn may_move(&self, j: usize, rule: WeightRule) -> bool {
        match rule {
            WeightRule::Free => true,
            WeightRule::NonNegative => self.weights[j] > 0.0 || self.gradient[j] < 0.0,
            WeightRule::AtLeast(least) => self.weights[j] > least || self.gradient[j] < 0.0,
            WeightRule::Fixed(_) => false,
        }
    }

    /// J here is at most this far above the minimum of J.
    fn gap(&self, lambda: f64, rule: impl Fn(usize) -> WeightRule) -> f64 {
        let of_one = |(j, (&g, &weight)): (usize, (&f64, &f64))| {
            let step = match rule(j) {
                WeightRule::Free => -g / lambda,
                WeightRule::NonNegative => (-g / lambda).max(-weight),
                WeightRule::AtLeast(least) => (-g / lambda).max(least - weight),
                WeightRule::Fixed(_) => 0.0,
            };
            -step * (g + 0.5 * lambda * step)
        };
        self.gradient.iter().zip(&self.weights).enumerate().map(of_one).sum()
    }
}

/// The last changes of weights s and of the gradient y.
#[derive(Default)]
struct Memory {
    most: usize,
    /// (s, y, s·y), oldest first.
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

impl Memory {
    fn remember(&mut self, old: &Point, new: &Point) {
        let change = |new: &[f64], old: &[f64]| new.iter().zip(old).map(|(new, old)| new - old).collect::<Vec<f64>>();
        let (s, y) = (change(&new.weights, &old.weights), change(&new.gradient, &old.gradient));
        let product = dot(&s, &y);
        // Positive, up to rounding, because J is strongly convex.
        if product > f64::MIN_POSITIVE && product.is_finite() && self.most > 0 {
            if self.pairs.len() >= self.most {
                self.pairs.remove(0);
            }
            self.pairs.push((s, y, product));
        }
    }

    /// H v.
    fn apply(&self, v: &[f64]) -> Vec<f64> {
        let mut q = v.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for (s, y, product) in self.pairs.iter().rev() {
            let share = dot(s, &q) / product;
            add_scaled(&mut q, -share, y);
            shares.push(share);
        }
        if let Some((_, y, product)) = self.pairs.last() {
            let scale = product / dot(y, y);
            q.iter_mut().for_each(|x| *x *= scale);
        }
        for ((s, y, product), share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = dot(y, &q) / product;
            add_scaled(&mut q, share - back, s);
        }
        q
    }
}

fn project(weights: &mut [f64], rule: impl Fn(usize) -> WeightRule) {
    for (j, weight) in weights.iter_mut().enumerate() {
        *weight = rule(j).apply(*weight);
    }
}

fn mask(vector: &mut [f64], keep: &[bool]) {
    for (x, &keep) in vector.iter_mut().zip(keep) {
        if !keep {
            *x = 0.0;
        }
    }
}

fn relative(gap: f64, objective: f64) -> f64 {
    if gap <= 0.0 { 0.0 } else { gap / objective.abs() }
}

fn step(at: &Point, gap: f64, lambda: f64, iteration: usize) -> Step {
    let (objective, bound) = (at.objective, at.objective - gap);
    Step { iteration, lambda, objective, bound, gap: relative(gap, objective), planes: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ_j a_j/2 (w_j - b_j)².
    struct Parabolas(Vec<(f64, f64)>);

    impl Smooth for Parabolas {
        fn dim(&self) -> usize {
            self.0.len()
        }

        fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
            let mut value = 0.0;
            for ((&(a, b), w), g) in self.0.iter().zip(weights).zip(gradient) {
                value += 0.5 * a * (w - b).powi(2);
                *g += a * (w - b);
            }
            Ok(Some(value))
        }
    }

    #[test]
    fn ends_at_the_minimum_that_the_rules_allow() {
        let parts: Vec<(f64, f64)> = (0..12).map(|j| (10.0_f64.powi(j % 7 - 3), f64::from(j % 5) - 2.0)).collect();
        let rules = [WeightRule::Free, WeightRule::NonNegative, WeightRule::Fixed(0.3)];
        let rules: Vec<WeightRule> = (0..12).map(|j| rules[j % 3]).collect();
        let centre: Vec<f64> = (0..12).map(|j| 0.5 - 0.1 * f64::from(j)).collect();
        for lambda in [1e-3, 1.0, 1e3] {
            let near = Regularization { lambda, centre: &centre, rules: &rules };
            let settings = Lbfgs { gap_tolerance: 1e-12, ..Lbfgs::default() };
            let found = settings.minimize(&mut Parabolas(parts.clone()), near, None, &Control::new());
            let found = found.unwrap().unwrap();
            let mut least = 0.0;
            for (j, &(a, b)) in parts.iter().enumerate() {
                let best = rules[j].apply((a * b + lambda * centre[j]) / (a + lambda));
                assert!(
                    (found.weights[j] - best).abs() < 1e-4 * best.abs().max(1.0),
                    "{j}: {} {best}",
                    found.weights[j]
                );
                least += 0.5 * a * (best - b).powi(2) + 0.5 * lambda * (best - centre[j]).powi(2);
            }
            assert_eq!(found.stop, StopReason::Converged);
            assert!(found.bound <= least * (1.0 + 1e-12) && least <= found.objective * (1.0 + 1e-12));
        }
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let run = |lambda: f64, centre: &[f64], start: Option<&[f64]>| {
            let near = Regularization { lambda, centre, rules: &[] };
            Lbfgs::default().minimize(&mut Parabolas(vec![(1.0, 1.0)]), near, start, &Control::new())
        };
        assert!(matches!(run(0.0, &[], None), Err(Error::BadSetting { name: "lambda", .. })));
        assert!(matches!(run(1.0, &[1.0, 2.0], None), Err(Error::Size { expected: 1, found: 2, .. })));
        assert!(matches!(run(1.0, &[], Some(&[f64::NAN])), Err(Error::BadEntry { index: 0, .. })));
        let stopped = Control::new().interrupted_by(|| true);
        let near = Regularization { lambda: 1.0, centre: &[], rules: &[] };
        let early = Lbfgs::default().minimize(&mut Parabolas(vec![(1.0, 1.0)]), near, None, &stopped).unwrap().unwrap();
        assert_eq!((early.stop, early.weights), (StopReason::Interrupted, vec![0.0]));
    }
}

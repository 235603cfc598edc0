//! [`Centred`]: a risk seen from another origin. Minimising lambda/2 |v|² + R(centre + v) minimises
//! lambda/2 |w - centre|² + R(w) at w = centre + v. A plane b + a·w becomes (b + a·centre) + a·v.

use super::checks::check_size;
use super::vector::dot;
use super::{Plane, Risk, WeightRule};
use crate::Result;

/// A risk as a function of v = w - centre.
pub struct Centred<'a> {
    risk: &'a mut dyn Risk,
    centre: &'a [f64],
    weights: Vec<f64>,
}

impl<'a> Centred<'a> {
    /// The risk around a centre.
    ///
    /// # Errors
    /// A centre of the wrong size.
    pub fn new(risk: &'a mut dyn Risk, centre: &'a [f64]) -> Result<Self> {
        check_size("centre of the weights", risk.dim(), centre.len())?;
        Ok(Self { risk, centre, weights: vec![0.0; centre.len()] })
    }

    /// The same rules for v; an empty list stays empty.
    #[must_use]
    pub fn rules(rules: &[WeightRule], centre: &[f64]) -> Vec<WeightRule> {
        rules.iter().zip(centre).map(|(rule, &centre)| rule.moved(centre)).collect()
    }
}

impl Risk for Centred<'_> {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn parts(&self) -> usize {
        self.risk.parts()
    }

    fn floor(&self) -> Option<f64> {
        self.risk.floor()
    }

    fn aim(&mut self, closeness: f64) {
        self.risk.aim(closeness);
    }

    fn evaluate(&mut self, moved: &[f64], planes: &mut [Plane]) -> Result<f64> {
        for ((weight, centre), moved) in self.weights.iter_mut().zip(self.centre).zip(moved) {
            *weight = centre + moved;
        }
        let value = self.risk.evaluate(&self.weights, planes)?;
        for plane in planes {
            plane.offset += dot(&plane.slope, self.centre);
        }
        Ok(value)
    }

    fn may_find_more(&self) -> bool {
        self.risk.may_find_more()
    }
}

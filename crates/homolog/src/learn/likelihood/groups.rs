//! The third learner: one factor for each group of weights (the rings of a shape context, each attribute, each kind of edge), by likelihood.
//!
//!   w_j = v_g(j) · u_j,   v minimises  μ/2 Σ_g (v_g - 1)² + R(w),   v ≥ 0
//!
//! with R the risk of likelihood learning. The unit u is made from the labelled pairs: with σ² the mean squared difference of true partners in
//! a group and τ² that of all pairs of nodes, the log-likelihood ratio of two normal distributions gives
//!
//!   u_g = max(0, 1/(2σ²) - 1/(2τ²))
//!
//! so a column that tells nothing gets no weight, wherever it began, and a column that names the node decides. Weights that are not of squared
//! differences of nodes keep their proportion to the others. How much groups overlap in what they tell is not known to u; that is what
//! the factors are for. A handful of them can be learned from three specimens. If u is zero throughout a group, w_j = v_g · (mean size of the
//! other weights), v_g is centred at 0, and a price may be negative.

use super::changes::soft_point;
use super::risk::{LikelihoodRisk, Prepared};
use super::{Likelihood, check};
use crate::features::{Shown, WeightGroups, tells_nothing};
use crate::learn::Example;
use crate::optimize::{Minimum, Regularization, Smooth, WeightRule};
use crate::{Control, Error, Result};
use ndarray::Array2;

/// Powers of ten of μ, from large to small.
const DECADES: std::ops::RangeInclusive<i32> = -4..=0;
/// σ² is no less than this share of τ²: no column is infinitely sure.
const SUREST: f64 = 1e-6;
/// Whether a column tells something is looked for in at most this many examples.
const MOST_SCREENED: usize = 200;

/// Groups of weights, and what one unit of each factor is.
pub(in crate::learn) struct Groups {
    /// The group of each weight.
    of: Vec<usize>,
    /// The weights if all factors are 1.
    unit: Vec<f64>,
    /// What λ pulls the factors towards.
    centre: Vec<f64>,
    rules: Vec<WeightRule>,
}

/// The unit of each weight, from the true partners and all pairs of nodes of these examples.
///
/// # Errors
/// [`Error::Interrupted`].
pub(in crate::learn) fn informed(
    groups: &WeightGroups,
    unlearned: &[f64],
    examples: &[Example],
    control: &Control,
) -> Result<Vec<f64>> {
    let (mut all, mut pairs) = (vec![0.0; unlearned.len()], 0.0);
    let (mut matched, mut partners) = (vec![0.0; unlearned.len()], 0.0);
    for example in examples {
        Error::if_interrupted(control)?;
        let (n, m) = (example.truth().left_count(), example.truth().right_count());
        let everywhere = soft_point(Array2::ones((n, m)));
        example.instance().add_soft_features(&everywhere, example.importance(), &mut all)?;
        pairs += example.importance() * (n * m) as f64;
        let own = example.instance().joint_features(example.truth())?;
        matched.iter_mut().zip(own).for_each(|(sum, x)| *sum += example.importance() * x);
        partners += example.importance() * example.truth().matched_count() as f64;
    }
    let count = groups.of.iter().max().map_or(0, |&most| most + 1);
    let mut squares = vec![(0.0, 0.0, 0.0); count];
    for (weight, &group) in groups.of.iter().enumerate() {
        let (sigma, tau, columns) = squares[group];
        squares[group] = (sigma - matched[weight], tau - all[weight], columns + 1.0);
    }
    let told = |&(sigma, tau, columns): &(f64, f64, f64)| {
        let (tau, sigma) = (tau / (pairs * columns), sigma / (partners * columns));
        let told = 0.5 / sigma.max(SUREST * tau) - 0.5 / tau;
        if told.is_finite() { told.max(0.0) } else { 0.0 }
    };
    let told: Vec<f64> = squares.iter().map(told).collect();
    let mut ratios: Vec<f64> = Vec::new();
    for (weight, &group) in groups.of.iter().enumerate() {
        if groups.squares[weight] && unlearned[weight] > 0.0 {
            ratios.push(told[group] / unlearned[weight]);
        }
    }
    ratios.sort_by(f64::total_cmp);
    // Nothing tells anything: as before.
    let Some(&ratio) = ratios.get(ratios.len() / 2).filter(|_| ratios.last() > Some(&0.0)) else {
        return Ok(unlearned.to_vec());
    };
    let ratio = if ratio > 0.0 { ratio } else { ratios.iter().sum::<f64>() / ratios.len() as f64 };
    let weight = |(weight, &group): (usize, &usize)| {
        if groups.squares[weight] { told[group] } else { ratio * unlearned[weight] }
    };
    Ok(groups.of.iter().enumerate().map(weight).collect())
}

/// The attributes that tell nothing about which nodes are partners ([`tells_nothing`]), by weight. Only beside other numbers of nodes, such as shape
/// contexts: where attributes are all there is, one that tells little may be as good as the others.
pub(in crate::learn) fn silent(groups: &WeightGroups, examples: &[Example]) -> Result<Vec<usize>> {
    let is_alone = (0..groups.of.len()).all(|weight| groups.columns[weight] || !groups.squares[weight]);
    let columns: Vec<usize> = (0..groups.of.len()).filter(|&weight| groups.columns[weight] && !is_alone).collect();
    let mut shown = vec![Vec::new(); columns.len()];
    let step = examples.len().div_ceil(MOST_SCREENED).max(1);
    for example in examples.iter().step_by(step).filter(|_| !columns.is_empty()) {
        let (n, m, partners) =
            (example.truth().left_count(), example.truth().right_count(), example.truth().matched_count());
        let mut all = vec![0.0; groups.of.len()];
        example.instance().add_soft_features(&soft_point(Array2::ones((n, m))), 1.0, &mut all)?;
        let own = example.instance().joint_features(example.truth())?;
        for (shown, &weight) in shown.iter_mut().zip(&columns) {
            let (of_partners, of_all) = (-own[weight] / partners as f64, -all[weight] / (n * m) as f64);
            shown.push(Shown { partners: partners as f64, of_partners, of_all });
        }
    }
    let silent = columns.iter().zip(shown).filter(|(_, shown)| tells_nothing(shown.iter().copied()));
    let silent: Vec<usize> = silent.map(|(&weight, _)| weight).collect();
    Ok(silent)
}

/// The μ to try, from large to small.
pub(in crate::learn) fn strengths() -> Vec<f64> {
    DECADES.rev().map(|decade| 10.0_f64.powi(decade)).collect()
}

impl Groups {
    /// Factors of these weights; a group all of whose weights are to be 0 stays there.
    pub(in crate::learn) fn new(groups: &WeightGroups, weights: &[f64], rules: &[WeightRule]) -> Self {
        let of = &groups.of[..];
        let count = of.iter().max().map_or(0, |&most| most + 1);
        let mut is_zero = vec![true; count];
        let mut is_negative = vec![false; count];
        let mut is_square = vec![false; count];
        for ((&group, &weight), &square) in of.iter().zip(weights).zip(&groups.squares) {
            is_square[group] |= square;
            is_zero[group] &= weight == 0.0;
            is_negative[group] |= weight < 0.0;
        }
        let size = weights.iter().map(|weight| weight.abs()).sum::<f64>() / weights.len().max(1) as f64;
        let size = if size > 0.0 { size } else { 1.0 };
        let unit = of.iter().zip(weights).map(|(&group, &weight)| if is_zero[group] { size } else { weight });
        let is_ruled_out = |group: usize| {
            let mut own = of.iter().zip(rules).filter(|(own, _)| **own == group).peekable();
            own.peek().is_some() && own.all(|(_, rule)| *rule == WeightRule::Fixed(0.0))
        };
        let rule = |group: usize| {
            if is_ruled_out(group) {
                return WeightRule::Fixed(0.0);
            }
            let is_free = is_negative[group] || is_zero[group] && !is_square[group];
            if is_free { WeightRule::Free } else { WeightRule::NonNegative }
        };
        Self {
            unit: unit.collect(),
            of: of.to_vec(),
            centre: is_zero.iter().map(|&is_zero| f64::from(u8::from(!is_zero))).collect(),
            rules: (0..count).map(rule).collect(),
        }
    }

    fn weights(&self, factors: &[f64]) -> Vec<f64> {
        self.of.iter().zip(&self.unit).map(|(&group, unit)| factors[group] * unit).collect()
    }

    /// The factors of weights that are made of some.
    fn factors(&self, weights: &[f64]) -> Vec<f64> {
        let mut factors = self.centre.clone();
        for ((&group, unit), weight) in self.of.iter().zip(&self.unit).zip(weights) {
            if *unit != 0.0 {
                factors[group] = weight / unit;
            }
        }
        factors
    }

    /// The weights with the lowest objective; `None` if interrupted before anything was known.
    pub(in crate::learn) fn fit(
        &self,
        likelihood: &Likelihood,
        (examples, prepared): (&[Example], Prepared),
        (strength, start): (f64, Option<&[f64]>),
        control: &Control,
    ) -> Result<Option<Minimum>> {
        let near = Regularization { lambda: strength, centre: &self.centre, rules: &self.rules };
        let start = start.map(|weights| self.factors(weights));
        check(examples)?;
        let mut risk = Tied { groups: self, risk: LikelihoodRisk::new(examples, prepared, control) };
        let minimum = likelihood.optimizer.minimize(&mut risk, near, start.as_deref(), control)?;
        Ok(minimum.map(|minimum| Minimum { weights: self.weights(&minimum.weights), ..minimum }))
    }
}

/// The risk as a function of the factors.
struct Tied<'a> {
    groups: &'a Groups,
    risk: LikelihoodRisk<'a>,
}

impl Smooth for Tied<'_> {
    fn dim(&self) -> usize {
        self.groups.centre.len()
    }

    fn evaluate(&mut self, factors: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        let mut slope = vec![0.0; self.groups.of.len()];
        let value = self.risk.evaluate(&self.groups.weights(factors), &mut slope)?;
        for ((&group, unit), slope) in self.groups.of.iter().zip(&self.groups.unit).zip(&slope) {
            gradient[group] += unit * slope;
        }
        Ok(value)
    }
}

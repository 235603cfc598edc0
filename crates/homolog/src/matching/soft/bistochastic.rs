//! Bistochastic normalisation (Cour, Srinivasan & Shi 2006), then graduated assignment: the baseline of the paper.
//!
//! A left edge that resembles every right edge says little, yet it counts as much as one that resembles a single right edge. The
//! normalisation evens that out: the scores d(e, f) of each left edge e over all right edges f are divided by their sum, then those of
//! each right edge over all left edges, and so on until nothing changes. Only pairs of existing edges take part; with d factored,
//! multipliers r_e and c_f of the factors are enough, T (|E| + |E'|) numbers. With |E| ≠ |E'| the right sums are |E| / |E'|.
//! Node scores are treated the same way: exp(gain in units of its spread), rows and columns normalised; staying unmatched counts 0.
//!
//! Only the search sees normalised scores; score, bound and local search are those of the given problem. The normalisation needs
//! d >= 0: if some d is negative, all existing pairs are raised equally for the search.

use super::graduated_assignment::GraduatedAssignment;
use super::objective::{Feasible, Objective, TableObjective};
use super::pairs::AllPairs;
use super::problem::{SoftProblem, solve_softly};
use super::sinkhorn::{Sinkhorn, Soft};
use crate::matching::search::Kicks;
use crate::matching::{EdgeTerm, Matcher, Problem, Solution, Workspace};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Bistochastic normalisation, then graduated assignment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bistochastic {
    /// Normalise until the scores change by less than this in total.
    pub tolerance: f64,
    /// At most this many normalisations of left and right edges.
    pub max_normalisations: usize,
    /// The solver of the normalised problem.
    pub assignment: GraduatedAssignment,
}

impl Default for Bistochastic {
    /// The tolerance of the paper's authors.
    fn default() -> Self {
        Self { tolerance: 1e-5, max_normalisations: 200, assignment: GraduatedAssignment::default() }
    }
}

impl Matcher for Bistochastic {
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        solve_softly(problem, self.assignment.polish.then(Kicks::default), work, |relaxed, work| {
            let edge = self.normalise_edges(&relaxed.objective.edge, relaxed.objective.weight);
            let mut normalised = TableObjective::new(self.normalise_nodes(relaxed), Cow::Owned(edge), 1.0);
            let (soft, steps) = self.assignment.anneal(&mut normalised, &relaxed.slack, work);
            Ok((vec![relaxed.round(&soft, work)?], steps))
        })
    }
}

impl Bistochastic {
    fn check(&self) -> Result<()> {
        Error::unless_at_least_0("tolerance", self.tolerance)?;
        Error::unless_counted("max_normalisations", self.max_normalisations)?;
        self.assignment.check()
    }

    fn normalise_edges(&self, edge: &EdgeTerm, scale: f64) -> EdgeTerm {
        let (left_count, right_count) = (edge.left_edges().len(), edge.right_edges().len());
        let scaled = edge.rescaled(&vec![scale; left_count], &vec![1.0; right_count]);
        let smallest = scaled.smallest();
        let raised = if smallest < 0.0 { scaled.raised(-smallest) } else { scaled };
        let (mut left, mut right) = (vec![1.0; left_count], vec![1.0; right_count]);
        let share = left_count as f64 / right_count as f64;
        let (mut left_sums, mut right_sums) = (vec![Sum::default(); left_count], vec![Sum::default(); right_count]);
        for _ in 0..self.max_normalisations {
            sum_left(&raised, &right, &mut left_sums);
            let change = divide(&mut left, &left_sums, 1.0);
            sum_right(&raised, &left, &mut right_sums);
            if change + divide(&mut right, &right_sums, share) < self.tolerance {
                break;
            }
        }
        raised.rescaled(&left, &right)
    }

    /// Doubly stochastic scores of pairs; staying unmatched counts 0.
    fn normalise_nodes(&self, relaxed: &SoftProblem<'_>) -> Array2<f64> {
        let gain = &relaxed.objective.gain;
        let pairs = AllPairs::of(gain);
        let spread = relaxed.objective.node_spread();
        let mut soft = Soft::zeros(&pairs);
        let beta = if spread > 0.0 { spread.recip() } else { 1.0 };
        let mut slack = relaxed.slack.clone();
        for (i, left) in slack.left.iter_mut().enumerate() {
            *left &= relaxed.problem.unmatched_score(i) == f64::NEG_INFINITY
                || gain.row(i).iter().all(|&gain| gain == f64::NEG_INFINITY);
        }
        Sinkhorn::new(&pairs, self.max_normalisations, self.tolerance).assign(&pairs, gain, beta, &slack, &mut soft);
        soft.pair.zip_mut_with(gain, |value, &gain| *value = if gain > f64::NEG_INFINITY { *value } else { gain });
        soft.pair
    }
}

/// A sum, and the sum of the absolute values of its terms, against which rounding is measured.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    size: f64,
}

impl Sum {
    fn add(&mut self, term: f64, size: f64) {
        self.value += term;
        self.size += size;
    }
}

/// sums_e = Σ_f d(e, f) right_f.
fn sum_left(edge: &EdgeTerm, right: &[f64], sums: &mut [Sum]) {
    sum_factored(edge.right_factors(), right, edge.left_factors(), sums);
    for (e, sum) in sums.iter_mut().enumerate() {
        edge.listed_of(e).iter().for_each(|&(f, value)| sum.add(value * right[f], (value * right[f]).abs()));
    }
}

/// sums_f = Σ_e left_e d(e, f).
fn sum_right(edge: &EdgeTerm, left: &[f64], sums: &mut [Sum]) {
    sum_factored(edge.left_factors(), left, edge.right_factors(), sums);
    for (e, &multiplier) in left.iter().enumerate() {
        for &(f, value) in edge.listed_of(e) {
            sums[f].add(multiplier * value, (multiplier * value).abs());
        }
    }
}

/// The factored part: first the sums over the edges of one side, factor by factor, then each edge of the other.
fn sum_factored(from: ArrayView2<'_, f64>, multipliers: &[f64], to: ArrayView2<'_, f64>, sums: &mut [Sum]) {
    sums.fill(Sum::default());
    for (from, to) in from.columns().into_iter().zip(to.columns()) {
        let mut total = Sum::default();
        from.iter().zip(multipliers).for_each(|(a, multiplier)| total.add(a * multiplier, (a * multiplier).abs()));
        sums.iter_mut().zip(to).for_each(|(sum, b)| sum.add(total.value * b, total.size * b.abs()));
    }
}

/// A sum this small relative to its terms is rounding and counts as zero.
const CANCELLED: f64 = 1e-9;

/// Changes the multipliers so that sums become `share`; edges without any score are left alone. Returns the total change.
fn divide(multipliers: &mut [f64], sums: &[Sum], share: f64) -> f64 {
    let mut change = 0.0;
    for (multiplier, sum) in multipliers.iter_mut().zip(sums) {
        let next = share / sum.value;
        if sum.value > CANCELLED * sum.size && next.is_finite() {
            change += (*multiplier * sum.value - share).abs();
            *multiplier = next;
        }
    }
    change
}

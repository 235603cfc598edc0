//! The structured risk: R(w) = mean_n max_y [loss(y) + <w, Phi(y) - Phi(truth_n)>], equation 9 of the paper.
//!
//! The search for each example's maximiser (the violator) is the prediction problem with the loss cells added to the node scores, by
//! any matcher. Its plane is slope Phi(violator) - Phi(truth) and offset loss(violator); the print has the sign of the slope the
//! wrong way round.
//!
//! With a matcher that proves its answers the value is exact. With a heuristic one it may be too small; then the truth itself (value 0)
//! and earlier violators of the same example stand in wherever they are worse than what the search found, and every evaluation
//! searches in another order of the right nodes, so that a poor search does not pass for convergence.
//!
//! Examples are taken in parallel and added up in an order that does not depend on the number of threads.

use super::Example;
use crate::Result;
use crate::matching::{Compatibility, Matcher, Matching, RightOrder, Status, WarmStart, Workspace};
use crate::optimize::{Plane, Risk};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// At most this many groups of examples have a model of their own in the bundle method; more groups mean fewer evaluations and more
/// work between them (measured: docs/benchmarks.md).
const MOST_PARTS: usize = 32;
/// Examples are added up in runs of this many, whatever the number of threads.
const RUN: usize = 16;
/// How many earlier violators of an example are kept for another try.
const MOST_KEPT: usize = 30;

/// A matching found before that violated the constraint of its example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Violator {
    /// Phi(violator) - Phi(truth).
    slope: Vec<f64>,
    loss: f64,
}

impl Violator {
    fn value(&self, weights: &[f64]) -> f64 {
        self.loss + self.slope.iter().zip(weights).map(|(slope, weight)| slope * weight).sum::<f64>()
    }
}

/// What a run of training remembers besides the optimiser's state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    /// Per example; empty while every answer was proven.
    kept: Vec<Vec<Violator>>,
    /// Per example, where its last relaxation ended; empty with a matcher.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) warm: Vec<WarmStart>,
    /// How many problems were solved.
    pub(super) solves: usize,
    /// How many of the answers were proven optimal.
    pub(super) proven: usize,
}

impl Memory {
    /// For the order of the right nodes of example `n` at the next evaluation. With another order a search that proves nothing comes
    /// by other ways; that costs nothing, and what it misses at one evaluation it may find at the next.
    fn seed(&self, n: usize) -> u64 {
        (self.solves as u64).wrapping_add(n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// The risk of a set of examples under a matcher.
pub(super) struct StructuredRisk<'a> {
    pub(super) examples: &'a [Example],
    pub(super) matcher: &'a dyn Matcher,
    pub(super) memory: Memory,
    parts: usize,
}

/// How many groups so many examples are put into.
pub(super) fn parts_for(examples: usize) -> usize {
    examples.clamp(1, MOST_PARTS)
}

/// The examples of one group: contiguous, as equal in number as can be.
pub(super) fn part_of(examples: usize, parts: usize, part: usize) -> Range<usize> {
    part * examples / parts..(part + 1) * examples / parts
}

/// What one example contributes.
struct Violation {
    value: f64,
    violator: Option<Violator>,
    is_proven: bool,
}

/// What a run of examples contributes: its share of the risk, added up where it was found, so that memory does not grow with the number
/// of examples times features.
struct RunSum {
    value: f64,
    plane: Plane,
    solves: usize,
    proven: usize,
    /// Violators to keep for another try, with their examples.
    unproven: Vec<(usize, Violator)>,
}

/// Buffers of one thread.
pub(super) struct Scratch {
    pub(super) work: Workspace,
    pub(super) problem: Compatibility,
    pub(super) shuffled: Compatibility,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let empty = Compatibility::linear(Array2::zeros((0, 0)));
        Self { work: Workspace::new(), problem: empty.clone(), shuffled: empty }
    }
}

impl<'a> StructuredRisk<'a> {
    pub(super) fn new(examples: &'a [Example], matcher: &'a dyn Matcher, memory: Memory) -> Self {
        let mut memory = memory;
        memory.kept.resize(examples.len(), Vec::new());
        Self { examples, matcher, memory, parts: parts_for(examples.len()) }
    }

    /// The sum over some examples, in their order; `total` is the importance of all examples.
    fn sum(&self, range: Range<usize>, total: f64, weights: &[f64], scratch: &mut Scratch) -> Result<RunSum> {
        let plane = Plane { slope: vec![0.0; weights.len()], offset: 0.0 };
        let mut sum = RunSum { value: 0.0, plane, solves: range.len(), proven: 0, unproven: Vec::new() };
        for n in range {
            let example = &self.examples[n];
            let violation = find_violation(example, self.matcher, weights, &self.memory, n, scratch)?;
            let share = if total > 0.0 { example.importance / total } else { 0.0 };
            sum.value += share * violation.value;
            sum.proven += usize::from(violation.is_proven);
            let Some(violator) = violation.violator else { continue };
            sum.plane.offset += share * violator.loss;
            for (sum, slope) in sum.plane.slope.iter_mut().zip(&violator.slope) {
                *sum += share * slope;
            }
            if !violation.is_proven {
                sum.unproven.push((n, violator));
            }
        }
        Ok(sum)
    }
}

impl Risk for StructuredRisk<'_> {
    fn dim(&self) -> usize {
        self.examples.first().map_or(0, |example| example.instance.dim())
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        let total: f64 = self.examples.iter().map(|example| example.importance).sum();
        let mut runs = Vec::new();
        for part in 0..self.parts {
            let range = part_of(self.examples.len(), self.parts, part);
            runs.extend(range.clone().step_by(RUN).map(|start| (part, start..range.end.min(start + RUN))));
        }
        let sums: Vec<(usize, RunSum)> = runs
            .into_par_iter()
            .map_init(Scratch::new, |scratch, (part, range)| Ok((part, self.sum(range, total, weights, scratch)?)))
            .collect::<Result<_>>()?;
        let mut value = 0.0;
        for (part, sum) in sums {
            value += sum.value;
            self.memory.solves += sum.solves;
            self.memory.proven += sum.proven;
            planes[part].offset += sum.plane.offset;
            for (total, slope) in planes[part].slope.iter_mut().zip(&sum.plane.slope) {
                *total += slope;
            }
            for (n, violator) in sum.unproven {
                keep(&mut self.memory.kept[n], violator);
            }
        }
        Ok(value)
    }

    fn may_find_more(&self) -> bool {
        self.memory.proven < self.memory.solves
    }
}

/// The worst violator of an example that can be found: by the matcher, among the earlier ones, or the truth itself (`None`).
fn find_violation(
    example: &Example,
    matcher: &dyn Matcher,
    weights: &[f64],
    memory: &Memory,
    n: usize,
    scratch: &mut Scratch,
) -> Result<Violation> {
    example.instance.compatibility_into(weights, &mut scratch.problem)?;
    example.loss.add_to(&mut scratch.problem);
    let (matching, status) = if memory.proven == memory.solves {
        solve_shuffled(&example.order, matcher, scratch)?
    } else {
        solve_shuffled(&RightOrder::random(example.truth.right_count(), memory.seed(n)), matcher, scratch)?
    };
    let found = Violator { slope: slope(example, &matching)?, loss: example.loss(&matching) };
    let is_proven = status == Status::Optimal;
    let mut best = (found.value(weights), Some(&found));
    if !is_proven {
        for violator in &memory.kept[n] {
            let value = violator.value(weights);
            if value > best.0 {
                best = (value, Some(violator));
            }
        }
    }
    // The truth's own value is 0, and its plane is zero everywhere.
    if best.0 <= 0.0 {
        best = (0.0, None);
    }
    Ok(Violation { value: best.0, violator: best.1.cloned(), is_proven })
}

fn solve_shuffled(order: &RightOrder, matcher: &dyn Matcher, scratch: &mut Scratch) -> Result<(Matching, Status)> {
    order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
    let solution = matcher.solve(&scratch.shuffled, &mut scratch.work)?;
    Ok((order.carry_back(&solution.matching)?, solution.status))
}

/// Phi(y) - Phi(truth).
fn slope(example: &Example, matching: &Matching) -> Result<Vec<f64>> {
    let mut slope: Vec<f64> = example.truth_features.iter().map(|feature| -feature).collect();
    example.instance.add_joint_features(matching, 1.0, &mut slope)?;
    Ok(slope)
}

fn keep(kept: &mut Vec<Violator>, violator: Violator) {
    if kept.contains(&violator) {
        return;
    }
    if kept.len() == MOST_KEPT {
        kept.remove(0);
    }
    kept.push(violator);
}

/// The loss of predicting each example with these weights, and how many answers were proven optimal.
pub(super) fn prediction_losses(
    examples: &[Example],
    matcher: &dyn Matcher,
    weights: &[f64],
) -> Result<Vec<(f64, Status)>> {
    examples
        .par_iter()
        .map_init(Scratch::new, |scratch, example| {
            example.instance.compatibility_into(weights, &mut scratch.problem)?;
            let (matching, status) = solve_shuffled(&example.order, matcher, scratch)?;
            Ok((example.loss(&matching), status))
        })
        .collect()
}

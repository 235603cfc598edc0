//! One solve of the relaxation: bounds from both sides, the best feasible point so far.

use super::repair::{feasible_cells, feasible_entries};
use super::{EdgeShare, Factors, Halpern, Outlook, Point, Relaxed, START_WEIGHT, Shifts, WarmStart, linear_problem};
use crate::Result;
use crate::matching::{Compatibility, Linear, Matching, Solution, Status, Workspace};
use ndarray::{Array1, Array2};

/// A matching's score is the bound if they agree to this part of the score, or of the largest edge score, shifted.
const TIGHT: f64 = 1e-10;

pub(super) struct Run<'a> {
    problem: &'a Compatibility,
    factors: &'a Factors,
    shifts: &'a Shifts,
    pub(super) halpern: Halpern,
    outlook: Outlook,
    /// Shifted, in units of the scores.
    bound: f64,
    value: f64,
    pub(super) iterations: usize,
    /// The best matching, with its score, shifted.
    matching: Matching,
    score: f64,
    /// Cells and entries of a soft matching that is better still.
    soft: Option<(Vec<f64>, Vec<f64>)>,
}

impl<'a> Run<'a> {
    /// Starts from the warm start where it fits, with a feasible matching in hand.
    pub(super) fn new(
        problem: &'a Compatibility,
        factors: &'a Factors,
        shifts: &'a Shifts,
        warm: &WarmStart,
        matching: &Matching,
    ) -> Self {
        let score = shifts.score(problem, matching);
        let (point, weight) = warm.start(factors);
        Self {
            problem,
            factors,
            shifts,
            halpern: Halpern::new(factors, point, weight),
            outlook: Outlook::default(),
            bound: f64::INFINITY,
            value: score,
            iterations: 0,
            matching: matching.clone(),
            score,
            soft: None,
        }
    }

    /// How far bound and value are apart.
    pub(super) fn gap(&self) -> f64 {
        self.bound - self.value
    }

    /// The bound on the problem's own scores.
    pub(super) fn total_bound(&self) -> f64 {
        self.shifts.unshifted_bound(self.bound)
    }

    /// What multipliers and variables are worth now.
    pub(super) fn look(&mut self, work: &mut Workspace) -> Result<()> {
        let (factors, image) = (self.factors, &self.halpern.image);
        self.outlook.evaluate(factors, image, work)?;
        self.bound = self.bound.min(self.outlook.bound / factors.scale);
        let matching = round(self.problem, factors, &image.cells, work)?;
        let score = self.shifts.score(self.problem, &matching);
        if score > self.score {
            (self.matching, self.score) = (matching, score);
        }
        if score > self.value {
            (self.value, self.soft) = (score, None);
        }
        if let Some(cells) = feasible_cells(factors, &image.cells) {
            let entries = feasible_entries(factors, image, &cells);
            let product = |scores: &[f64], amounts: &[f64]| scores.iter().zip(amounts).map(|(s, x)| s * x).sum::<f64>();
            let value = product(&factors.cell_score, &cells) + product(&factors.entry_score, &entries);
            if value / factors.scale > self.value {
                (self.value, self.soft) = (value / factors.scale, Some((cells, entries)));
            }
        }
        Ok(())
    }

    /// Whether the best matching scores what the bound allows.
    fn is_tight(&self) -> bool {
        let entries = self.factors.entry_score.iter();
        let largest = entries.fold(0.0_f64, |largest, score| largest.max(score.abs())) / self.factors.scale;
        self.bound - self.score <= TIGHT * self.score.abs().max(largest)
    }

    pub(super) fn finish(self) -> Relaxed {
        let tight = self.is_tight();
        let mut relaxed = of_matching(self.problem, &self.matching);
        if let Some((cells, entries)) = &self.soft
            && !tight
        {
            (relaxed.node, relaxed.unmatched) = soft_matching(self.problem, self.factors, cells);
            relaxed.edges = shares(self.factors, entries);
        }
        relaxed.value = self.shifts.unshifted(if tight { self.score } else { self.value });
        // The point is feasible, so the bound is no lower; rounding may say otherwise.
        relaxed.bound = self.total_bound().max(relaxed.value);
        relaxed.matching = tight.then_some(self.matching);
        relaxed.iterations = self.iterations;
        relaxed
    }
}

/// The best matching of the soft cells' sum.
fn round(problem: &Compatibility, factors: &Factors, cells: &[f64], work: &mut Workspace) -> Result<Matching> {
    let rights = Linear::default().assign(&linear_problem(factors, cells), work)?;
    Matching::new(rights.to_vec(), problem.right_count(), problem.constraint)
}

fn soft_matching(problem: &Compatibility, factors: &Factors, cells: &[f64]) -> (Array2<f64>, Array1<f64>) {
    let mut node = Array2::zeros(problem.node.dim());
    let mut unmatched = Array1::zeros(problem.left_count());
    for row in 0..factors.row_count() {
        for cell in factors.cells(row) {
            match factors.right(cell) {
                Some(right) => node[[factors.lefts[row], right]] = cells[cell],
                None => unmatched[factors.lefts[row]] = cells[cell],
            }
        }
    }
    (node, unmatched)
}

fn shares(factors: &Factors, entries: &[f64]) -> Vec<EdgeShare> {
    let mut shares = Vec::new();
    for (q, pair) in factors.pairs.iter().enumerate() {
        let [a, b] = pair.rows;
        for (slot, first) in factors.slots(q, 0).zip(factors.cells(a)) {
            for entry in factors.entries(slot).filter(|&entry| entries[entry] > 0.0) {
                let second =
                    factors.cell_start[b] + (factors.entry_slot[entry] as usize - factors.side_start[2 * q + 1]);
                if let (Some(k), Some(l)) = (factors.right(first), factors.right(second)) {
                    shares.push(EdgeShare {
                        left: [factors.lefts[a], factors.lefts[b]],
                        right: [k, l],
                        share: entries[entry],
                    });
                }
            }
        }
    }
    shares
}

/// A matching as a point of the relaxation: its edges have all of their share. Bounds are left to the caller.
fn of_matching(problem: &Compatibility, matching: &Matching) -> Relaxed {
    let mut node = Array2::zeros(problem.node.dim());
    let mut unmatched = Array1::zeros(problem.left_count());
    matching.pairs().for_each(|pair| node[pair] = 1.0);
    matching.unmatched_left().for_each(|i| unmatched[i] = 1.0);
    let mut edges = Vec::new();
    if let Some(edge) = &problem.edge {
        let mut pairs: Vec<[usize; 2]> = edge.left_edges().ends().iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let right = edge.right_edges();
        for [i, j] in pairs {
            if let (Some(k), Some(l)) = (matching.right_of(i), matching.right_of(j))
                && (right.find(k, l).is_some() || right.find(l, k).is_some())
            {
                edges.push(EdgeShare { left: [i, j], right: [k, l], share: 1.0 });
            }
        }
    }
    Relaxed::point(node, unmatched, edges)
}

/// A problem without edges: its relaxation is the assignment itself.
pub(super) fn from_linear(problem: &Compatibility, answer: Solution) -> Relaxed {
    let relaxed = of_matching(problem, &answer.matching);
    let matching = (answer.status == Status::Optimal).then_some(answer.matching);
    Relaxed { bound: answer.bound, value: answer.score, matching, ..relaxed }
}

impl WarmStart {
    pub(super) fn new(halpern: &Halpern, scale: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "scaled numbers are near one; others are no start")]
        let parts = halpern.image.parts().map(|part| part.iter().map(|&value| value as f32).collect::<Vec<f32>>());
        let warm = Self { parts, scale, weight: halpern.weight };
        let sound = warm.parts.iter().flatten().all(|value| value.is_finite()) && warm.weight.is_finite();
        if sound { warm } else { Self::default() }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// The point and the weight, where they have the sizes of the problem; else the usual start.
    fn start(&self, factors: &Factors) -> (Point, f64) {
        let mut point = Point::start(factors);
        let fits = point.parts().iter().zip(&self.parts).all(|(part, own)| part.len() == own.len());
        let ratio = factors.scale / self.scale;
        if !(fits && ratio.is_normal() && self.weight * ratio > 0.0) {
            return (point, START_WEIGHT);
        }
        // Multipliers, and the weight that sets them off against the variables, are in units of the scaled scores.
        for (at, (part, own)) in point.parts_mut().into_iter().zip(&self.parts).enumerate() {
            let factor = if at < 2 { 1.0 } else { ratio };
            part.iter_mut().zip(own).for_each(|(value, &own)| *value = f64::from(own) * factor);
        }
        (point, self.weight * ratio)
    }
}

//! What a solve answers with, and what the next one starts from.

use super::{EdgeShare, Factors, Halpern, Point, Relaxed, WarmStart};
use crate::matching::{Compatibility, Matching, Solution, Status};
use ndarray::{Array1, Array2};

pub(super) fn soft_matching(problem: &Compatibility, factors: &Factors, cells: &[f64]) -> (Array2<f64>, Array1<f64>) {
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

pub(super) fn shares(factors: &Factors, entries: &[f64]) -> Vec<EdgeShare> {
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
pub(super) fn of_matching(problem: &Compatibility, matching: &Matching) -> Relaxed {
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

    /// The point and the weight, where they have the sizes of the problem.
    pub(super) fn start(&self, factors: &Factors) -> Option<(Point, f64)> {
        let mut point = Point::start(factors);
        let fits = point.parts().iter().zip(&self.parts).all(|(part, own)| part.len() == own.len());
        let ratio = factors.scale / self.scale;
        if !(fits && ratio.is_normal() && self.weight * ratio > 0.0) {
            return None;
        }
        // Multipliers, and the weight that sets them off against the variables, are in units of the scaled scores.
        for (at, (part, own)) in point.parts_mut().into_iter().zip(&self.parts).enumerate() {
            let factor = if at < 2 { 1.0 } else { ratio };
            part.iter_mut().zip(own).for_each(|(value, &own)| *value = f64::from(own) * factor);
        }
        Some((point, self.weight * ratio))
    }
}

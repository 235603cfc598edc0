//! How much the edges of a left node could add ([`Reach`]), without going through all pairs of edges.
//!
//!   b_ik = Σ_(e leaving i) max(0, max_(f leaving k) d(e, f))     at one right node k,
//!   B_i  = Σ_(e leaving i) max(0, max_f d(e, f))                 at any: b_ik <= B_i,
//!   a_i  = Σ_(e leaving i) min(0, min_f d(e, f))                 the least anywhere.
//!
//! The extremes over all f of Σ_t a_t(e) b_t(f) are found in a tree of boxes around the right factors: a box whose corner that suits e best
//! is no better than what was found is skipped. Listed values are bounded separately and added.

use crate::matching::EdgeTerm;

/// B and a of each left node.
pub(super) struct Reach {
    pub(super) most: Vec<f64>,
    pub(super) least: Vec<f64>,
}

impl Reach {
    pub(super) fn new(edge: &EdgeTerm) -> Self {
        let tree = Tree::new(edge);
        let mut reach = Self { most: vec![0.0; edge.left_count()], least: vec![0.0; edge.left_count()] };
        for (e, &[i, _]) in edge.left_edges().ends().iter().enumerate() {
            let (mut low, mut high) = (0.0_f64, 0.0_f64);
            for &(_, value) in edge.listed_of(e) {
                (low, high) = (low.min(value), high.max(value));
            }
            let factors = edge.left_factors().row(e).to_vec();
            reach.most[i] += high + tree.largest(&factors);
            let turned: Vec<f64> = factors.iter().map(|factor| -factor).collect();
            reach.least[i] += low - tree.largest(&turned);
        }
        reach
    }
}

/// b_ik.
pub(super) fn worth_at(edge: &EdgeTerm, i: usize, k: usize) -> f64 {
    let leaving = edge.right_edges().from_node(k);
    let best = |e: usize| leaving.clone().map(|f| edge.value(e, f)).fold(0.0, f64::max);
    edge.left_edges().from_node(i).map(best).sum()
}

/// A leaf has at most this many right edges.
const LEAF: usize = 16;

/// The right factors, sorted so that every box is a range of rows.
struct Tree {
    rows: Vec<Vec<f64>>,
    /// The whole first, then the two halves of each box.
    boxes: Vec<Box>,
}

struct Box {
    rows: std::ops::Range<usize>,
    /// (smallest, largest) of each factor.
    sides: Vec<(f64, f64)>,
    halves: Option<[usize; 2]>,
}

impl Tree {
    fn new(edge: &EdgeTerm) -> Self {
        let rows: Vec<Vec<f64>> = edge.right_factors().rows().into_iter().map(|row| row.to_vec()).collect();
        let mut tree = Self { rows, boxes: Vec::new() };
        if !tree.rows.is_empty() && edge.right_factors().ncols() > 0 {
            tree.split(0..tree.rows.len());
        }
        tree
    }

    /// Adds the box of these rows and all within it; returns its number.
    fn split(&mut self, rows: std::ops::Range<usize>) -> usize {
        let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); self.rows[0].len()];
        for row in &self.rows[rows.clone()] {
            for (side, &value) in sides.iter_mut().zip(row) {
                *side = (side.0.min(value), side.1.max(value));
            }
        }
        let width = |at: &usize| sides[*at].1 - sides[*at].0;
        let widest = (0..sides.len()).max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
        // Where all are alike one row stands for them.
        let is_point = width(&widest) == 0.0;
        let number = self.boxes.len();
        let kept = if is_point { rows.start..rows.start + 1 } else { rows.clone() };
        self.boxes.push(Box { rows: kept, sides, halves: None });
        if rows.len() > LEAF && !is_point {
            let middle = rows.len() / 2;
            self.rows[rows.clone()].select_nth_unstable_by(middle, |a, b| a[widest].total_cmp(&b[widest]));
            let middle = rows.start + middle;
            let halves = [self.split(rows.start..middle), self.split(middle..rows.end)];
            self.boxes[number].halves = Some(halves);
        }
        number
    }

    /// max(0, max_f Σ_t factor_t b_t(f)).
    fn largest(&self, factors: &[f64]) -> f64 {
        let mut best = 0.0;
        if !self.boxes.is_empty() {
            self.search(0, factors, &mut best);
        }
        best
    }

    fn search(&self, number: usize, factors: &[f64], best: &mut f64) {
        let this = &self.boxes[number];
        if self.corner(number, factors) <= *best {
            return;
        }
        match this.halves {
            None => {
                for row in &self.rows[this.rows.clone()] {
                    *best = factors.iter().zip(row).map(|(a, b)| a * b).sum::<f64>().max(*best);
                }
            }
            Some([first, second]) => {
                // The more promising half first.
                let swap = self.corner(second, factors) > self.corner(first, factors);
                let halves = if swap { [second, first] } else { [first, second] };
                halves.into_iter().for_each(|half| self.search(half, factors, best));
            }
        }
    }

    /// No row of the box has a larger product.
    fn corner(&self, number: usize, factors: &[f64]) -> f64 {
        let sides = self.boxes[number].sides.iter();
        factors.iter().zip(sides).map(|(factor, side)| (factor * side.0).max(factor * side.1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::EdgeList;
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::sync::Arc;

    #[test]
    fn the_extremes_are_those_of_all_pairs_of_edges() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for round in 0..60 {
            let (factors, is_listed) = (round % 4, round % 4 == 0 || round % 3 == 0);
            let [left, right] = [12, 40].map(|count: usize| {
                let ends = (0..3 * count).map(|_| [random.random_range(0..count), random.random_range(0..count)]);
                Arc::new(EdgeList::new(count, ends.filter(|ends| ends[0] != ends[1]).collect()).unwrap())
            });
            let mut number = || f64::from(random.random_range(-9..10));
            let [a, b] = [&left, &right].map(|edges| Array2::from_shape_simple_fn((edges.len(), factors), &mut number));
            let mut term = EdgeTerm::factored(Arc::clone(&left), Arc::clone(&right), a, b).unwrap();
            if is_listed {
                term = term.with_listed((0..left.len()).map(|e| (e, e % right.len(), number())).collect()).unwrap();
            }
            let reach = Reach::new(&term);
            for i in 0..12 {
                let (mut most, mut least) = (0.0, 0.0);
                for e in left.from_node(i) {
                    let values = (0..right.len()).map(|f| term.value(e, f));
                    most += values.clone().fold(0.0, f64::max);
                    least += values.fold(0.0, f64::min);
                }
                let is_mixed = is_listed && factors > 0;
                assert!(reach.most[i] >= most && (is_mixed || reach.most[i] == most), "{round}");
                assert!(reach.least[i] <= least && (is_mixed || reach.least[i] == least), "{round}");
                assert!((0..40).all(|k| worth_at(&term, i, k) <= reach.most[i]));
            }
        }
    }
}

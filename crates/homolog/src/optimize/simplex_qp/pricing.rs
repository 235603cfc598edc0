//! Which cuts should come into use: those above the level of their part at the current w, the furthest above first.
//!
//! Furthest: (b_i + v_i·w - level) / (|v_i| + |v_anchor|), a distance in w, so that constraints compare with planes. Taking always the
//! furthest of all at the w reached, not of each part in turn, lets a third fewer cuts enter that leave again.

use super::{Cut, Inner, SimplexQp, TOLERANCE};
use crate::optimize::cut::values;
use crate::optimize::vector::length;

/// A cut above its level, by how much, and how far in w.
struct Violated {
    cut: usize,
    by: f64,
    distance: f64,
}

impl SimplexQp {
    /// Examines all cuts that are not in use. Returns those above the level of their part; if they are very many, the furthest.
    pub(super) fn look_at_all(&self, cuts: &[Cut], inner: &Inner) -> Vec<usize> {
        let mut used = vec![false; cuts.len()];
        self.in_use().for_each(|i| used[i] = true);
        let others: Vec<usize> = (0..cuts.len()).filter(|&i| !used[i]).collect();
        let mut standing = self.violated(cuts, inner, &others);
        if standing.len() > MOST {
            standing.sort_by(|a, b| b.distance.total_cmp(&a.distance));
            standing.truncate(MOST);
        }
        standing.iter().map(|violated| violated.cut).collect()
    }

    /// Brings cuts into use, always the one that is furthest above its level at the w reached; those that it is no longer above wait for
    /// the next look. Returns how many entered.
    pub(super) fn enter_furthest(
        &mut self,
        cuts: &[Cut],
        mut standing: Vec<usize>,
        lambda: f64,
        inner: &mut Inner,
    ) -> usize {
        let mut entered = 0;
        loop {
            let violated = self.violated(cuts, inner, &standing);
            let Some(furthest) = violated.iter().max_by(|a, b| a.distance.total_cmp(&b.distance)) else {
                return entered;
            };
            self.enter(cuts, furthest.cut, furthest.by, lambda, &mut inner.weights);
            entered += 1;
            standing.clear();
            standing.extend(violated.iter().map(|other| other.cut).filter(|&i| i != furthest.cut));
        }
    }

    /// Those of some cuts that are above their level by more than rounding, or than is too small to matter for the bound.
    fn violated(&self, cuts: &[Cut], inner: &Inner, some: &[usize]) -> Vec<Violated> {
        let norm = length(&inner.weights);
        let rounding = |cut: &Cut| 4.0 * f64::EPSILON * (cut.offset.abs() + cut.length * norm);
        let levels = self.levels(cuts, &inner.weights);
        let mut violated = Vec::new();
        for (&i, value) in some.iter().zip(values(cuts, some, &inner.weights)) {
            let anchor = cuts[i].part.map(|part| &cuts[self.anchors[part]]);
            let by = value - cuts[i].part.map_or(0.0, |part| levels[part]);
            if by > TOLERANCE * inner.bound.abs() && by > rounding(&cuts[i]) + anchor.map_or(0.0, rounding) {
                let slopes = cuts[i].length + anchor.map_or(0.0, |anchor| anchor.length);
                violated.push(Violated { cut: i, by, distance: by / slopes.max(f64::MIN_POSITIVE) });
            }
        }
        violated
    }
}

/// So many cuts wait at most: each that enters costs a look at all that wait.
const MOST: usize = 100;

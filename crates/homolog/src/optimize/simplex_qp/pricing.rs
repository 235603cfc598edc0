//! Which cuts should come into use: those that stand above the level of their part at the present w.

use super::{Cut, Inner, SimplexQp, TOLERANCE};
use crate::optimize::vector::length;

impl SimplexQp {
    /// The most violated cut of each part, and every violated constraint.
    pub(super) fn violated(&self, cuts: &[Cut], inner: &Inner) -> Vec<usize> {
        let mut used = vec![false; cuts.len()];
        for i in self.in_use() {
            used[i] = true;
        }
        let mut most: Vec<(f64, Option<usize>)> =
            self.levels(cuts, &inner.weights).into_iter().map(|level| (level, None)).collect();
        let mut entering = Vec::new();
        for (i, cut) in cuts.iter().enumerate().filter(|&(i, _)| !used[i]) {
            let value = cut.value(&inner.weights);
            match cut.part {
                Some(part) if value > most[part].0 => most[part] = (value, Some(i)),
                None if value > 0.0 => entering.push(i),
                _ => {}
            }
        }
        entering.extend(most.iter().filter_map(|&(_, i)| i));
        entering.retain(|&i| self.violation(cuts, inner, i) > self.threshold(cuts, inner, i));
        entering
    }

    /// How far a cut stands above the level of its part.
    pub(super) fn violation(&self, cuts: &[Cut], inner: &Inner, i: usize) -> f64 {
        let level = cuts[i].part.map_or(0.0, |part| cuts[self.anchors[part]].value(&inner.weights));
        cuts[i].value(&inner.weights) - level
    }

    /// Violations up to this are rounding, or too small to matter for the bound.
    pub(super) fn threshold(&self, cuts: &[Cut], inner: &Inner, i: usize) -> f64 {
        let norm = length(&inner.weights);
        let scale = |cut: &Cut| cut.offset.abs() + cut.length * norm;
        let own = scale(&cuts[i]) + cuts[i].part.map_or(0.0, |part| scale(&cuts[self.anchors[part]]));
        f64::max(4.0 * f64::EPSILON * own, TOLERANCE * inner.bound.abs())
    }
}

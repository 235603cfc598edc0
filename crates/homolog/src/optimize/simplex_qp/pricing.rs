//! Which cuts should come into use: those above the level of their part at the current w.

use super::{Cut, Inner, SimplexQp, TOLERANCE};
use crate::optimize::vector::{length, wide};

impl SimplexQp {
    /// Examines all cuts that are not in use: those above the level of their part at w, part by part, and the violated constraints last.
    pub(super) fn look_at_all(&self, cuts: &[Cut], inner: &Inner, standing: &mut [Vec<usize>]) {
        standing.iter_mut().for_each(Vec::clear);
        let mut levels = self.levels(cuts, &inner.weights);
        levels.push(0.0);
        let mut used = vec![false; cuts.len()];
        self.in_use().for_each(|i| used[i] = true);
        let constraints = levels.len() - 1;
        wide(
            #[inline(always)]
            || {
                for (i, cut) in cuts.iter().enumerate().filter(|&(i, _)| !used[i]) {
                    let part = cut.part.unwrap_or(constraints);
                    if cut.value(&inner.weights) > levels[part] {
                        standing[part].push(i);
                    }
                }
            },
        );
    }

    /// Brings the most violated cut of each list into use, and every violated constraint, each at the w reached after those before it.
    /// Returns how many there were.
    pub(super) fn enter_worst(
        &mut self,
        cuts: &[Cut],
        standing: &[Vec<usize>],
        lambda: f64,
        inner: &mut Inner,
    ) -> usize {
        let mut entered = 0;
        let (parts, constraints) = standing.split_at(standing.len() - 1);
        let constraints = constraints.iter().flatten().map(std::slice::from_ref);
        for list in parts.iter().map(Vec::as_slice).chain(constraints) {
            if let Some((i, violation)) = self.worst(cuts, list, inner) {
                self.enter(cuts, i, violation, lambda, &mut inner.weights);
                entered += 1;
            }
        }
        entered
    }

    /// The most violated of some cuts of one part, and by how much, if that is not rounding.
    fn worst(&self, cuts: &[Cut], list: &[usize], inner: &Inner) -> Option<(usize, f64)> {
        let level = cuts[*list.first()?].part.map_or(0.0, |part| cuts[self.anchors[part]].value(&inner.weights));
        let most = wide(
            #[inline(always)]
            || {
                let mut most = (level, None);
                for &i in list {
                    let value = cuts[i].value(&inner.weights);
                    if value > most.0 {
                        most = (value, Some(i));
                    }
                }
                most
            },
        );
        let (value, i) = (most.0, most.1?);
        let is_used = self.members.contains(&i);
        (!is_used && value - level > self.threshold(cuts, inner, i)).then_some((i, value - level))
    }

    /// Violations up to this are rounding, or too small to matter for the bound.
    pub(super) fn threshold(&self, cuts: &[Cut], inner: &Inner, i: usize) -> f64 {
        let norm = length(&inner.weights);
        let scale = |cut: &Cut| cut.offset.abs() + cut.length * norm;
        let own = scale(&cuts[i]) + cuts[i].part.map_or(0.0, |part| scale(&cuts[self.anchors[part]]));
        f64::max(4.0 * f64::EPSILON * own, TOLERANCE * inner.bound.abs())
    }
}

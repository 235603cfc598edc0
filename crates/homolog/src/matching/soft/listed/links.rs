//! Which candidate pairs are worth something to each other ([`Links`]): all that is left of the edge scores.

use super::super::pairs::Pairs;
use super::cells::{Cells, narrow};
use crate::matching::EdgeTerm;

/// The most pairs of candidates that share an edge: 200 MB.
pub(super) const MOST_LINKS: usize = 1 << 24;

/// For each candidate, the others that share an edge with it on both sides, and what the two are worth together: d(ij, kl) + d(ji, lk).
pub(super) struct Links {
    start: Vec<usize>,
    others: Vec<u32>,
    values: Vec<f64>,
}

/// "No candidate".
const NONE: u32 = u32::MAX;

impl Links {
    /// `None` if there would be too many.
    pub(super) fn new(cells: &Cells, edge: &EdgeTerm, weight: f64) -> Option<Self> {
        let (left, right) = (edge.left_edges(), edge.right_edges());
        let weight = if edge.is_symmetric() { 2.0 * weight } else { weight };
        let mut at = vec![NONE; cells.right_count];
        let mut links = Self { start: vec![0], others: Vec::new(), values: Vec::new() };
        // (candidate of this row, other candidate, value)
        let mut found: Vec<(u32, u32, f64)> = Vec::new();
        for i in 0..cells.left_count() {
            found.clear();
            let leaving = left.from_node(i).map(|e| (e, left.ends()[e][1], false));
            let entering = left.into_node(i).iter().map(|&e| (e, left.ends()[e][0], true));
            for (e, j, turned) in leaving.chain(entering.filter(|_| !edge.is_symmetric())) {
                cells.of_node(j).for_each(|other| at[cells.columns[other] as usize] = narrow(other));
                for own in cells.of_node(i) {
                    let k = cells.columns[own] as usize;
                    let mut add = |f: usize, l: usize| {
                        if at[l] != NONE {
                            found.push((narrow(own), at[l], weight * edge.value(e, f)));
                        }
                    };
                    if turned {
                        right.into_node(k).iter().for_each(|&f| add(f, right.ends()[f][0]));
                    } else {
                        right.from_node(k).for_each(|f| add(f, right.ends()[f][1]));
                    }
                }
                cells.of_node(j).for_each(|other| at[cells.columns[other] as usize] = NONE);
                if links.others.len() + found.len() > 2 * MOST_LINKS {
                    return None;
                }
            }
            found.sort_by_key(|&(own, other, _)| (own, other));
            // Edges both ways.
            found.dedup_by(|next, last| {
                let is_same = (next.0, next.1) == (last.0, last.1);
                last.2 += if is_same { next.2 } else { 0.0 };
                is_same
            });
            found.retain(|&(.., value)| value != 0.0);
            if links.others.len() + found.len() > MOST_LINKS {
                return None;
            }
            let mut rest = &found[..];
            for own in cells.of_node(i) {
                let count = rest.iter().take_while(|link| link.0 as usize == own).count();
                links.others.extend(rest[..count].iter().map(|link| link.1));
                links.values.extend(rest[..count].iter().map(|link| link.2));
                links.start.push(links.others.len());
                rest = &rest[count..];
            }
        }
        Some(links)
    }

    /// The candidates that share an edge with this one, in order, and what they are worth to it.
    pub(super) fn of(&self, cell: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[cell]..self.start[cell + 1];
        self.others[range.clone()].iter().map(|&other| other as usize).zip(self.values[range].iter().copied())
    }

    /// What two candidates are worth to each other.
    pub(super) fn between(&self, cell: usize, other: usize) -> f64 {
        let range = self.start[cell]..self.start[cell + 1];
        let at = self.others[range.clone()].binary_search(&narrow(other));
        at.map_or(0.0, |at| self.values[range.start + at])
    }

    /// The gradient of the edge part at a soft matching.
    pub(super) fn gradient(&self, soft: &[f64], out: &mut [f64]) {
        for (cell, out) in out.iter_mut().enumerate() {
            *out = self.of(cell).map(|(other, value)| value * soft[other]).sum();
        }
    }

    /// Adds the gradient at one matched pair.
    pub(super) fn add_gradient_of(&self, cell: usize, out: &mut [f64]) {
        self.of(cell).for_each(|(other, value)| out[other] += value);
    }

    /// An upper bound on the norm of the map from soft matchings to gradients.
    pub(super) fn norm(&self) -> f64 {
        let size = |cell: usize| self.of(cell).map(|(_, value)| value.abs()).sum::<f64>();
        (0..self.start.len() - 1).map(size).fold(0.0, f64::max)
    }
}

//! The candidate pairs of a large problem, and which of them are worth something to each other.
//!
//! (i, k) is a candidate if  l_i + r_k - node_ik <= b_ik - a_i,  with l and r the dual values of the best matching without edges, b_ik the
//! most that the edges leaving i could add there (`bound`), and a_i the least that they add anywhere: 0, or less where edges count against
//! matchings. The left side is what the pair costs that matching; a pair that costs more than its edges could ever gain or save
//! is left out. The pairs of that matching cost nothing and are all included.

use super::super::bound::EdgeWorth;
use super::super::problem::SoftProblem;
use crate::matching::{EdgeTerm, Matching};
use std::ops::Range;

/// The most candidates: their numbers have 32 bits, with one to spare.
const MOST_CELLS: usize = u32::MAX as usize - 1;
/// The most pairs of candidates that share an edge: 200 MB.
const MOST_LINKS: usize = 1 << 24;

/// Candidate pairs, row by row, columns increasing; and what each gains over staying unmatched.
pub(super) struct Cells {
    start: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) gain: Vec<f64>,
    pub(super) right_count: usize,
}

impl Cells {
    /// `None` if there are more than `most`, or if nothing is known about what pairs cost.
    pub(super) fn choose(relaxed: &SoftProblem<'_>, most: usize) -> Option<Self> {
        let (problem, gain) = (relaxed.problem, &relaxed.objective.gain);
        let (n, m) = gain.dim();
        let (left, right) = relaxed.duals.as_ref()?;
        let mut worth = EdgeWorth::new(&relaxed.objective.edge);
        let mut cells = Self { start: vec![0], columns: Vec::new(), gain: Vec::new(), right_count: m };
        for i in 0..n {
            let (worth, least) = worth.of_node(i);
            let own = relaxed.linear.right_of(i);
            for (k, (&node, &gain)) in problem.node.row(i).iter().zip(gain.row(i)).enumerate() {
                let is_in = left[i] + right[k] - node <= worth[k] - least || own == Some(k);
                if is_in && gain > f64::NEG_INFINITY {
                    cells.columns.push(narrow(k));
                    cells.gain.push(gain);
                }
            }
            if cells.columns.len() > most.min(MOST_CELLS) {
                return None;
            }
            cells.start.push(cells.columns.len());
        }
        Some(cells)
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn left_count(&self) -> usize {
        self.start.len() - 1
    }

    /// Where the candidates of a left node are stored.
    pub(super) fn of_node(&self, left: usize) -> Range<usize> {
        self.start[left]..self.start[left + 1]
    }

    pub(super) fn starts(&self) -> &[usize] {
        &self.start
    }

    /// Where those pairs of a matching that are candidates are stored.
    pub(super) fn of_matching<'a>(&'a self, matching: &'a Matching) -> impl Iterator<Item = (usize, usize)> + 'a {
        matching.pairs().filter_map(|(i, k)| {
            let row = self.of_node(i);
            let at = self.columns[row.clone()].binary_search(&narrow(k)).ok()?;
            Some((i, row.start + at))
        })
    }
}

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
            }
            found.retain(|&(.., value)| value != 0.0);
            found.sort_by_key(|&(own, other, _)| (own, other));
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

    fn of(&self, cell: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[cell]..self.start[cell + 1];
        self.others[range.clone()].iter().map(|&other| other as usize).zip(self.values[range].iter().copied())
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

#[expect(clippy::cast_possible_truncation, reason = "checked to be below 2^32")]
fn narrow(index: usize) -> u32 {
    index as u32
}

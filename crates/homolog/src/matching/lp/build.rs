//! From a [`Compatibility`] to its [`Factors`]: which cells are open, which pairs of rows interact, which entries they list.

use super::factors::{Factors, NONE, Pair, index};
use super::shifts::Shifts;
use crate::matching::problem::check_cells;
use crate::matching::{Compatibility, Constraint, EdgeTerm, Matching};
use crate::{Error, Result};

/// What the pairs list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Listing {
    /// Scores above zero where none is below, else everything: the tightest.
    Tight,
    /// Every right edge, whatever its score, and a rest: the same list for all scores of the same graphs.
    Edges,
}

/// The relaxation of a problem with edge scores, all scores shifted. `start`: a feasible matching, whose score says which node scores
/// matter.
pub(crate) fn build(
    problem: &Compatibility,
    edge: &EdgeTerm,
    shifts: &Shifts,
    start: &Matching,
    listing: Listing,
) -> Factors {
    let scale = scale_of(problem, edge, shifts, start);
    let mut factors = open_cells(problem, shifts, scale);
    let mut builder = Builder::new(problem, edge, &factors, listing);
    for [i, j] in left_pairs(edge) {
        builder.collect([i, j], scale);
        builder.add_pair(&mut factors, [i, j]);
    }
    if !factors.many_to_one {
        add_star_groups(&mut factors);
    }
    factors
}

/// Pairs of left nodes with an edge between them, each once.
fn left_pairs(edge: &EdgeTerm) -> Vec<[usize; 2]> {
    let mut pairs: Vec<[usize; 2]> = edge.left_edges().ends().iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Refuses problems of so many nodes that their pairs alone are more than the limit of [`check_size`], before they are made.
fn check_nodes(left_count: usize, right_count: usize, limit: usize) -> Result<()> {
    check_cells("pairs of nodes, of which a relaxation needs entries,", left_count, right_count, limit)
}

/// How many entries the relaxation of a problem would have. Refuses more than a limit, before any work is done or memory taken.
///
/// What counts: for each pair of left nodes with an edge, the pairs of right nodes that its edges can go to (with the tight list all pairs of
/// right nodes where a score is below zero), and the places of both nodes.
///
/// # Errors
/// [`Error::TooLarge`]; `found` is what was counted when the limit was passed.
pub(crate) fn check_size(problem: &Compatibility, edge: &EdgeTerm, listing: Listing, limit: usize) -> Result<usize> {
    let what = "entries of the relaxation";
    let (n, m) = problem.node.dim();
    check_nodes(n, m, limit)?;
    let open = |i: usize, k: usize| problem.node[[i, k]] > f64::NEG_INFINITY;
    let cells: Vec<usize> = (0..n).map(|i| (0..m).filter(|&k| open(i, k)).count() + 1).collect();
    let (left, right) = (edge.left_edges(), edge.right_edges().ends());
    let dense = edge.left_factors().ncols() > 0;
    let pairs = left_pairs(edge);
    let mut found: usize = 0;
    let too_large = |found: usize| Error::TooLarge { what, limit, found };
    // The places first: they need no look at the edges.
    for &[i, j] in &pairs {
        found = found.saturating_add(cells[i] + cells[j]);
    }
    if found > limit {
        return Err(too_large(found));
    }
    for [i, j] in pairs {
        let (mut entries, mut negative) = (0_usize, false);
        for (e, swap) in [(left.find(i, j), false), (left.find(j, i), true)] {
            let Some(e) = e else { continue };
            let mut count = |f: usize| {
                let [k, l] = right[f];
                let (k, l) = if swap { (l, k) } else { (k, l) };
                if open(i, k) && open(j, l) {
                    entries += 1;
                    negative |= listing == Listing::Tight && edge.value(e, f) < 0.0;
                }
            };
            if dense {
                (0..right.len()).for_each(&mut count);
            } else {
                edge.listed_of(e).iter().for_each(|&(f, _)| count(f));
            }
        }
        found = found.saturating_add(if negative { cells[i].saturating_mul(cells[j]) } else { entries });
        if found > limit {
            return Err(too_large(found));
        }
    }
    Ok(found)
}

/// A power of two that brings the edge scores near one; the node scores too, where they would overflow otherwise. Node scores so far below
/// their best that no edges could make up for it do not count.
fn scale_of(problem: &Compatibility, edge: &EdgeTerm, shifts: &Shifts, start: &Matching) -> f64 {
    let pairs = edge.magnitude();
    let hope = 2.0 * pairs * edge.left_edges().len() as f64 - shifts.node_score(problem, start);
    let mut node = 0.0_f64;
    for (i, row) in problem.node.rows().into_iter().enumerate() {
        let open = (0..row.len()).filter(|&k| shifts.is_open(problem, i, k));
        for score in open.map(|k| shifts.pair(problem, i, k)).chain(shifts.rest(problem, i)) {
            node = if -score <= hope { node.max(score.abs()) } else { node };
        }
    }
    // Node scores may be much larger than edge scores, but not so much that steps of the method are lost in them.
    let size = pairs.max(node / 1024.0).clamp(f64::MIN_POSITIVE, f64::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "an exponent between -1100 and 1100")]
    let exponent = -(size.log2().floor() as i32);
    2.0_f64.powi(exponent.clamp(-1000, 1000))
}

/// Scores below this are as good as this, in units of the scaled scores: far below anything that matters, far from overflow.
const LOWEST: f64 = -1e100;

fn open_cells(problem: &Compatibility, shifts: &Shifts, scale: f64) -> Factors {
    let (n, m) = problem.node.dim();
    let many_to_one = problem.constraint == Constraint::ManyToOne;
    let mut factors = Factors {
        lefts: (0..n).collect(),
        rights: (0..m).collect(),
        must: (0..m).map(|k| shifts.is_crowded_right(k)).collect(),
        cell_start: vec![0],
        side_start: vec![0],
        entry_start: vec![0],
        group_cell: vec![0],
        many_to_one,
        scale,
        ..Factors::default()
    };
    for i in 0..n {
        factors.crowded.push(shifts.is_crowded_left(i));
        for k in (0..m).filter(|&k| shifts.is_open(problem, i, k)) {
            factors.cell_column.push(index(k));
            factors.cell_score.push((shifts.pair(problem, i, k) * scale).max(LOWEST));
        }
        if let Some(score) = shifts.rest(problem, i) {
            factors.cell_column.push(NONE);
            factors.cell_score.push((score * scale).max(LOWEST));
        }
        factors.cell_start.push(factors.cell_column.len());
    }
    factors
}

struct Builder<'a> {
    edge: &'a EdgeTerm,
    right_count: usize,
    listing: Listing,
    /// Position of (i, k) among the cells of row i, or `NONE`.
    place: Vec<u32>,
    /// The scores of one pair of rows: (k, l, score), sorted, without repetitions.
    scores: Vec<(u32, u32, f64)>,
}

impl<'a> Builder<'a> {
    fn new(problem: &Compatibility, edge: &'a EdgeTerm, factors: &Factors, listing: Listing) -> Self {
        let (n, m) = problem.node.dim();
        let mut place = vec![NONE; n * m];
        for i in 0..n {
            for (position, cell) in factors.cells(i).enumerate() {
                if factors.cell_column[cell] != NONE {
                    place[i * m + factors.cell_column[cell] as usize] = index(position);
                }
            }
        }
        Self { edge, right_count: m, listing, place, scores: Vec::new() }
    }

    /// Collects d(ij, kl) + d(ji, lk) over all right edges that i and j may go to into `scores`, scaled.
    fn collect(&mut self, [i, j]: [usize; 2], scale: f64) {
        self.scores.clear();
        let (edge, place, scores, m) = (self.edge, &self.place, &mut self.scores, self.right_count);
        let (left, ends) = (edge.left_edges(), edge.right_edges().ends());
        for (e, swap) in [(left.find(i, j), false), (left.find(j, i), true)] {
            let Some(e) = e else { continue };
            // Where i and j go, if they may go there.
            let open = |f: usize| {
                let [k, l] = if swap { [ends[f][1], ends[f][0]] } else { ends[f] };
                (place[i * m + k] != NONE && place[j * m + l] != NONE).then_some((k, l))
            };
            let factors = edge.left_factors();
            if factors.ncols() > 0 {
                for (f, row) in edge.right_factors().rows().into_iter().enumerate() {
                    if let Some((k, l)) = open(f) {
                        scores.push((index(k), index(l), factors.row(e).dot(&row) * scale));
                    }
                }
            }
            for &(f, value) in edge.listed_of(e) {
                if let Some((k, l)) = open(f) {
                    scores.push((index(k), index(l), value * scale));
                }
            }
        }
        self.scores.sort_by_key(|&(k, l, _)| (k, l));
        self.scores.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
    }

    fn add_pair(&mut self, factors: &mut Factors, [i, j]: [usize; 2]) {
        let m = self.right_count;
        let many = factors.many_to_one;
        let fixed = self.listing == Listing::Edges;
        let rest = fixed || self.scores.iter().all(|&(_, _, score)| score >= 0.0);
        if rest && !fixed {
            self.scores.retain(|&(_, _, score)| score > 0.0);
        }
        if self.scores.is_empty() {
            return;
        }
        let [first, second] = [factors.cells(i), factors.cells(j)];
        let slot = factors.slot_count();
        let second_slot = slot + first.len();
        factors.pairs.push(Pair { rows: [i, j], rest });
        factors.side_start.extend([second_slot, second_slot + second.len()]);
        let mut scores = self.scores.iter().peekable();
        for cell in first {
            let k = factors.cell_column[cell];
            if rest {
                while let Some(&(_, l, score)) = scores.next_if(|next| next.0 == k) {
                    factors.entry_slot.push(index(second_slot) + self.place[j * m + l as usize]);
                    factors.entry_score.push(score);
                }
            } else {
                for (position, other) in second.clone().enumerate() {
                    let l = factors.cell_column[other];
                    let listed = scores.next_if(|next| (next.0, next.1) == (k, l)).map(|next| next.2);
                    // Two rows cannot have one column, but both can stay unmatched.
                    if k != l || k == NONE || many {
                        factors.entry_slot.push(index(second_slot + position));
                        factors.entry_score.push(listed.unwrap_or(0.0));
                    }
                }
            }
            factors.entry_start.push(factors.entry_slot.len());
        }
        factors.entry_start.resize(factors.slot_count() + 1, factors.entry_slot.len());
        factors.entry_groups.resize(factors.entry_slot.len(), [0, 0]);
    }
}

/// Numbers the star groups row by row; a group of one entry says nothing new and stays 0.
fn add_star_groups(factors: &mut Factors) {
    let m = factors.rights.len();
    let mut sides = vec![Vec::new(); factors.row_count()];
    for (q, pair) in factors.pairs.iter().enumerate() {
        sides[pair.rows[0]].push((q, 0));
        sides[pair.rows[1]].push((q, 1));
    }
    let mut group_of: Vec<u32> = Vec::new();
    for row in 0..factors.row_count() {
        group_of.clear();
        group_of.resize(factors.cells(row).len() * m, 0);
        // First how often each (cell, column) occurs: once is marked 1, more often 2.
        for &(q, side) in &sides[row] {
            for_each_star(factors, q, side, |_, key| group_of[key] = (group_of[key] + 1).min(2));
        }
        for (key, group) in group_of.iter_mut().enumerate() {
            if *group == 2 {
                *group = index(factors.group_cell.len());
                factors.group_cell.push(index(factors.cell_start[row] + key / m));
            } else {
                *group = 0;
            }
        }
        let mut found = Vec::new();
        for &(q, side) in &sides[row] {
            for_each_star(factors, q, side, |entry, key| found.push((entry, side, group_of[key])));
        }
        for (entry, side, group) in found {
            factors.entry_groups[entry][side] = group;
        }
    }
}

/// Visits the entries of a pair as (entry, m · position of this side's cell + column of the other side's cell).
fn for_each_star(factors: &Factors, pair: usize, side: usize, mut visit: impl FnMut(usize, usize)) {
    let m = factors.rights.len();
    let [first, second] = factors.pairs[pair].rows.map(|row| factors.cell_start[row]);
    for (position, slot) in factors.slots(pair, 0).enumerate() {
        for entry in factors.entries(slot) {
            let other = factors.entry_slot[entry] as usize - factors.side_start[2 * pair + 1];
            let columns = [factors.cell_column[first + position], factors.cell_column[second + other]];
            if columns.contains(&NONE) {
                continue;
            }
            let key = if side == 0 { position * m + columns[1] as usize } else { other * m + columns[0] as usize };
            visit(entry, key);
        }
    }
}

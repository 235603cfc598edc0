//! From a [`Compatibility`] to its [`Factors`]: which cells are open, which pairs of rows interact, which entries they list.

use super::factors::{Factors, NONE, Pair, index};
use crate::matching::{Compatibility, Constraint, EdgeTerm, Shortage};
use crate::{Error, Result};

/// What the pairs list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Listing {
    /// Scores above zero where none is below, else everything: the tightest.
    Tight,
    /// Every right edge, whatever its score, and a rest: the same list for all scores of the same graphs.
    Edges,
}

/// The relaxation of a problem with edge scores. `crowd`: left nodes that compete for too few right nodes, as the linear solver
/// reports them.
///
/// # Errors
/// [`Error::TooLarge`] with more than `max_entries` entries.
pub(crate) fn build(
    problem: &Compatibility,
    edge: &EdgeTerm,
    crowd: Option<&Shortage>,
    listing: Listing,
    max_entries: usize,
) -> Result<Factors> {
    let scale = scale_of(problem, edge);
    let mut factors = open_cells(problem, crowd, scale);
    let mut builder = Builder::new(problem, edge, &factors, listing, max_entries);
    let edges = edge.left_edges();
    let mut pairs: Vec<[usize; 2]> = edges.ends().iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for [i, j] in pairs {
        builder.collect(edges.find(i, j), edges.find(j, i), scale);
        builder.add_pair(&mut factors, [i, j])?;
    }
    if !factors.many_to_one {
        add_star_groups(&mut factors);
    }
    Ok(factors)
}

/// A power of two that brings the edge scores near one; the node scores too, where they would overflow otherwise.
fn scale_of(problem: &Compatibility, edge: &EdgeTerm) -> f64 {
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        values.filter(|value| value.is_finite()).fold(0.0_f64, |largest, value| largest.max(value.abs()))
    };
    let node = largest(&mut problem.node.iter().chain(problem.unmatched.iter().flatten()).copied());
    let mut pairs = 0.0_f64;
    for t in 0..edge.left_factors().ncols() {
        let product = largest(&mut edge.left_factors().column(t).iter().copied()).log2()
            + largest(&mut edge.right_factors().column(t).iter().copied()).log2();
        pairs = pairs.max(product.exp2());
    }
    for e in 0..edge.left_edges().len() {
        pairs = pairs.max(largest(&mut edge.listed_of(e).iter().map(|&(_, value)| value)));
    }
    // Node scores may be much larger than edge scores, but not so much that steps of the method are lost in them.
    let size = pairs.max(node / 1024.0).clamp(f64::MIN_POSITIVE, f64::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "an exponent between -1100 and 1100")]
    let exponent = -(size.log2().floor() as i32);
    2.0_f64.powi(exponent.clamp(-1000, 1000))
}

fn open_cells(problem: &Compatibility, crowd: Option<&Shortage>, scale: f64) -> Factors {
    let (n, m) = problem.node.dim();
    let many_to_one = problem.constraint == Constraint::ManyToOne;
    let none = Shortage::default();
    let crowd = crowd.unwrap_or(&none);
    let mut factors = Factors {
        lefts: (0..n).collect(),
        rights: (0..m).collect(),
        must: (0..m).map(|k| crowd.right.binary_search(&k).is_ok()).collect(),
        cell_start: vec![0],
        side_start: vec![0],
        entry_start: vec![0],
        group_cell: vec![0],
        many_to_one,
        scale,
        ..Factors::default()
    };
    for i in 0..n {
        let crowded = crowd.left.binary_search(&i).is_ok();
        factors.crowded.push(crowded);
        for k in 0..m {
            // Every largest matching fills the crowd's right nodes from the crowd: nobody else may have them.
            if problem.node[[i, k]] > f64::NEG_INFINITY && factors.must[k] == crowded {
                factors.cell_column.push(index(k));
                factors.cell_score.push(problem.node[[i, k]] * scale);
            }
        }
        let price = problem.unmatched_score(i);
        if crowded || price > f64::NEG_INFINITY {
            factors.cell_column.push(NONE);
            factors.cell_score.push(if crowded { 0.0 } else { price * scale });
        }
        factors.cell_start.push(factors.cell_column.len());
    }
    factors
}

struct Builder<'a> {
    edge: &'a EdgeTerm,
    right_count: usize,
    listing: Listing,
    max_entries: usize,
    /// Position of (i, k) among the cells of row i, or `NONE`.
    place: Vec<u32>,
    /// The scores of one pair of rows: (k, l, score), sorted, without repetitions.
    scores: Vec<(u32, u32, f64)>,
}

impl<'a> Builder<'a> {
    fn new(
        problem: &Compatibility,
        edge: &'a EdgeTerm,
        factors: &Factors,
        listing: Listing,
        max_entries: usize,
    ) -> Self {
        let (n, m) = problem.node.dim();
        let mut place = vec![NONE; n * m];
        for i in 0..n {
            for (position, cell) in factors.cells(i).enumerate() {
                if factors.cell_column[cell] != NONE {
                    place[i * m + factors.cell_column[cell] as usize] = index(position);
                }
            }
        }
        Self { edge, right_count: m, listing, max_entries, place, scores: Vec::new() }
    }

    /// Collects d(ij, kl) + d(ji, lk) over all right edges into `scores`, scaled.
    fn collect(&mut self, forward: Option<usize>, backward: Option<usize>, scale: f64) {
        self.scores.clear();
        let ends = self.edge.right_edges().ends();
        for (e, swap) in [(forward, false), (backward, true)] {
            let Some(e) = e else { continue };
            let mut add = |f: usize, value: f64| {
                let [k, l] = ends[f];
                let (k, l) = if swap { (l, k) } else { (k, l) };
                self.scores.push((index(k), index(l), value * scale));
            };
            let factors = self.edge.left_factors();
            if factors.ncols() > 0 {
                for (f, row) in self.edge.right_factors().rows().into_iter().enumerate() {
                    add(f, factors.row(e).dot(&row));
                }
            }
            for &(f, value) in self.edge.listed_of(e) {
                add(f, value);
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

    fn add_pair(&mut self, factors: &mut Factors, [i, j]: [usize; 2]) -> Result<()> {
        let m = self.right_count;
        let many = factors.many_to_one;
        let place = &self.place;
        let open =
            |&(k, l, _): &(u32, u32, f64)| place[i * m + k as usize] != NONE && place[j * m + l as usize] != NONE;
        self.scores.retain(open);
        let fixed = self.listing == Listing::Edges;
        let rest = fixed || self.scores.iter().all(|&(_, _, score)| score >= 0.0);
        if rest && !fixed {
            self.scores.retain(|&(_, _, score)| score > 0.0);
        }
        if self.scores.is_empty() {
            return Ok(());
        }
        let [first, second] = [factors.cells(i), factors.cells(j)];
        let added = if rest { self.scores.len() } else { first.len() * second.len() };
        if factors.entry_count() + added > self.max_entries {
            let found = factors.entry_count() + added;
            return Err(Error::TooLarge { what: "entries of the relaxation", limit: self.max_entries, found });
        }
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
        Ok(())
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

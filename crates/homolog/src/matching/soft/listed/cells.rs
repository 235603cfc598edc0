//! The candidate pairs of a large problem ([`Cells`]), from one pass over all pairs.
//!
//! (i, k) is a candidate if  l_i + r_k - node_ik <= b_ik - a_i,  with l and r the dual values of the best matching without edges, b_ik the
//! most that the edges leaving i could add there, and a_i the least that they add anywhere (`reach`): 0, or less where edges count against
//! matchings. The left side is what the pair costs that matching; a pair that costs more than its edges could ever gain or save
//! is left out. Of more than `per_node` such pairs of a left node those that cost least stay. The pairs of that matching cost nothing and
//! are all included, so the candidates have a matching of the largest size.

use super::super::pairs::Pairs;
use super::reach::{Reach, worth_at};
use crate::matching::linear::{Best, Prices};
use crate::matching::{EdgeTerm, Matching, Solution, Streamed};
use crate::{Control, Result};
use std::ops::Range;

/// Candidate pairs, row by row, columns increasing: their node scores, and what each gains over staying unmatched.
pub(in super::super) struct Cells {
    start: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) scores: Vec<f64>,
    pub(super) gain: Vec<f64>,
    pub(super) right_count: usize,
}

/// Candidates, and what was seen of all pairs on the way.
pub(super) struct Chosen {
    pub(super) cells: Cells,
    /// What each candidate costs the matching without edges.
    costs: Vec<f64>,
    /// The mean over left nodes of the standard deviation of their allowed scores.
    pub(super) spread: f64,
    /// The largest score of each left node, regardless of sign, added up; and the largest of all.
    pub(super) sum: f64,
    pub(super) largest: f64,
}

/// What a block of rows contributes: the number of candidates of each row, and (column, score, cost) of each candidate.
#[derive(Default)]
struct Part {
    counts: Vec<usize>,
    cells: Vec<(u32, f64, f64)>,
    spread: f64,
    sum: f64,
    largest: f64,
}

impl Chosen {
    /// Given the best matching without edges and its proof. `None` if the caller will not wait.
    pub(super) fn of(
        problem: &Streamed<'_>,
        edge: &EdgeTerm,
        reach: &Reach,
        linear: &Solution,
        per_node: usize,
        control: &Control,
    ) -> Result<Option<Self>> {
        let Some(certificate) = &linear.certificate else { return Ok(None) };
        let prices = Prices::new(problem, certificate);
        let own_prices = problem.has_right_prices().then(|| problem.prices());
        let parts = problem.each_block(control, |block| {
            let mut part = Part::default();
            let mut best = Best::new(per_node.min(problem.dim().1));
            for (i, scores) in block.rows() {
                let seen = if prices.in_crowd[i] { &prices.inside } else { &prices.open };
                let (dual, least) = (certificate.left[i], reach.least[i]);
                let floor = dual - (reach.most[i] - least);
                // Costs as much as edges could gain: just in.
                best.begin(floor - 1e-12 * floor.abs());
                best.scan(scores, seen, problem.first_column(i));
                let own = linear.matching.right_of(i).map(narrow);
                let cost = |k: u32| (dual - (scores[k as usize] - seen[k as usize])).max(0.0);
                let is_in = |&k: &u32| cost(k) <= worth_at(edge, i, k as usize) - least && Some(k) != own;
                let mut columns: Vec<u32> = best.entries.iter().map(|entry| entry.1).filter(is_in).chain(own).collect();
                columns.sort_unstable();
                part.counts.push(columns.len());
                part.cells.extend(columns.into_iter().map(|k| (k, scores[k as usize], cost(k))));
                let (spread, largest) = spread_and_size(scores, own_prices.as_deref());
                part.spread += spread;
                part.sum += largest;
                part.largest = part.largest.max(largest);
            }
            Ok(part)
        })?;
        let (n, m) = problem.dim();
        let cells = Cells { start: vec![0], columns: Vec::new(), scores: Vec::new(), gain: Vec::new(), right_count: m };
        let mut all = Self { cells, costs: Vec::new(), spread: 0.0, sum: 0.0, largest: 0.0 };
        let Some(parts) = parts else { return Ok(None) };
        for part in parts {
            let mut end = all.cells.columns.len();
            all.cells.start.extend(part.counts.iter().map(|count| {
                end += count;
                end
            }));
            all.cells.columns.extend(part.cells.iter().map(|cell| cell.0));
            all.cells.scores.extend(part.cells.iter().map(|cell| cell.1));
            all.costs.extend(part.cells.iter().map(|cell| cell.2));
            all.spread += part.spread;
            all.sum += part.sum;
            all.largest = all.largest.max(part.largest);
        }
        all.spread /= n.max(1) as f64;
        Ok(Some(all))
    }

    /// Keeps this many candidates of each left node, those that cost least and the pairs of a matching.
    pub(super) fn thin(&mut self, per_node: usize, linear: &Matching) {
        let Self { cells, costs, .. } = self;
        let old = std::mem::replace(&mut cells.start, vec![0]);
        let (mut keep, mut to) = (Vec::new(), 0);
        for (i, ends) in old.windows(2).enumerate() {
            let own = linear.right_of(i).map(narrow);
            keep.clear();
            keep.extend(ends[0]..ends[1]);
            keep.sort_by(|&a, &b| {
                let is_other = |at: usize| Some(cells.columns[at]) != own;
                (is_other(a), costs[a]).partial_cmp(&(is_other(b), costs[b])).unwrap_or(a.cmp(&b))
            });
            keep.truncate(per_node.max(1));
            keep.sort_unstable();
            for &from in &keep {
                cells.columns[to] = cells.columns[from];
                cells.scores[to] = cells.scores[from];
                costs[to] = costs[from];
                to += 1;
            }
            cells.start.push(to);
        }
        cells.columns.truncate(to);
        cells.scores.truncate(to);
        costs.truncate(to);
    }
}

/// The standard deviation of the allowed scores, prices subtracted, and the largest of them regardless of sign.
fn spread_and_size(scores: &[f64], prices: Option<&[f64]>) -> (f64, f64) {
    let (mut count, mut sum, mut largest) = (0_usize, 0.0, 0.0_f64);
    let value = |k: usize| scores[k] - prices.map_or(0.0, |prices| prices[k]);
    for (k, score) in scores.iter().enumerate() {
        let is_allowed = *score > f64::NEG_INFINITY;
        count += usize::from(is_allowed);
        sum += if is_allowed { value(k) } else { 0.0 };
        largest = if is_allowed { largest.max(score.abs()) } else { largest };
    }
    let mean = sum / count.max(1) as f64;
    let mut squares = 0.0;
    for (k, score) in scores.iter().enumerate() {
        let difference = value(k) - mean;
        squares += if *score > f64::NEG_INFINITY { difference * difference } else { 0.0 };
    }
    ((squares / count.max(1) as f64).sqrt(), largest)
}

impl Cells {
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn starts(&self) -> &[usize] {
        &self.start
    }

    /// What candidates gain over staying unmatched, times `scale`.
    pub(super) fn find_gain(&mut self, prices: &[f64], right_prices: &[f64], scale: f64) {
        self.gain = self.scores.clone();
        for (i, &price) in prices.iter().enumerate() {
            let price = if price > f64::NEG_INFINITY { price } else { 0.0 };
            for cell in self.of_node(i) {
                let folded = self.scores[cell] - right_prices[self.columns[cell] as usize];
                self.gain[cell] = folded * scale - price * scale;
            }
        }
    }
}

#[expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]
impl Pairs for Cells {
    type Values = Vec<f64>;

    #[inline(always)]
    fn left_count(&self) -> usize {
        self.start.len() - 1
    }

    #[inline(always)]
    fn right_count(&self) -> usize {
        self.right_count
    }

    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.len()]
    }

    #[inline(always)]
    fn of_node(&self, left: usize) -> Range<usize> {
        self.start[left]..self.start[left + 1]
    }

    fn find(&self, left: usize, right: usize) -> Option<usize> {
        let row = self.of_node(left);
        self.columns[row.clone()].binary_search(&narrow(right)).ok().map(|at| row.start + at)
    }

    #[inline(always)]
    fn by_pair<'a>(&'a self, left: usize, of_right: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.columns[self.of_node(left)].iter().map(|&k| of_right[k as usize])
    }

    #[inline(always)]
    fn dot(&self, left: usize, row: &[f64], of_right: &[f64]) -> f64 {
        row.iter().zip(self.by_pair(left, of_right)).map(|(value, other)| value * other).sum()
    }

    #[inline(always)]
    fn add_scaled(&self, left: usize, factor: f64, row: &[f64], of_right: &mut [f64]) {
        row.iter()
            .zip(&self.columns[self.of_node(left)])
            .for_each(|(value, &k)| of_right[k as usize] += factor * value);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be below 2^32")]
pub(super) fn narrow(index: usize) -> u32 {
    index as u32
}

//! A cheap upper bound on every matching's score: each left edge counts as the best it could do.
//!
//! If d is a single product a(e) b(f) and no right node is shared, the edges of i go to different edges of k, or to none, so
//! b_ik = Σ_r a_r b_r  over the values of both in descending order (Gilmore 1962, Lawler 1963): one matrix product for all i and k. If all
//! nodes are matched, missing edges are zeros among the values; if not, values above and below zero are paired apart. Otherwise
//! every edge is taken for itself:
//!
//! Matched to k, node i gets from its edges at most  b_ik = Σ_(e leaving i) max(0, max_(f leaving k) d(e, f)),  so no matching scores
//! more than the best linear assignment of node_ik + b_ik. Cost: |E| m for a term of one factor, else |E| |E'|, and one
//! linear assignment. It is far from tight; a solver that proves optimality needs a better one.

use crate::Result;
use crate::matching::{Compatibility, Constraint, EdgeList, EdgeTerm, Linear, Matcher, Workspace};
use ndarray::{Array2, ArrayView1};

/// The bound. Slightly above the exact value, so that rounding never makes it false; plus infinity where it is out of range, or where the
/// caller will not wait for it. `is_full`: every matching has all nodes of both sides.
pub(super) fn edge_bound(problem: &Compatibility, edge: &EdgeTerm, is_full: bool, work: &mut Workspace) -> Result<f64> {
    let mut node = problem.node.clone();
    let sorted = sorted_worth(problem, edge, is_full);
    let mut worth = EdgeWorth::new(edge);
    let mut size = edge.magnitude() * edge.left_edges().len() as f64;
    for (i, mut row) in node.rows_mut().into_iter().enumerate() {
        let scores = row.iter().copied().chain([problem.unmatched_score(i)]);
        size += scores.filter(|score| score.is_finite()).fold(0.0, |most: f64, score| most.max(score.abs()));
        if work.interrupted() {
            return Ok(f64::INFINITY);
        }
        match &sorted {
            Some(sorted) => row.iter_mut().zip(sorted.row(i)).for_each(|(score, &worth)| *score += worth),
            None => row.iter_mut().zip(worth.of_node(i)).for_each(|(score, &worth)| *score += worth),
        }
    }
    if !size.is_finite() || node.iter().any(|&score| score.is_nan() || score == f64::INFINITY) {
        return Ok(f64::INFINITY);
    }
    let linear = Compatibility { node, edge: None, ..problem.without_edges() };
    let answer = Linear::default().solve_with(&linear, work)?;
    // Each of the sums has fewer terms than this, each off by at most the last digit of the size of the whole.
    let terms = (problem.left_count() + edge.left_edges().len() + 8) as f64;
    Ok(answer.bound + size * terms * f64::EPSILON)
}

/// b_ik for a single product and right nodes that are not shared; `None` for other problems.
fn sorted_worth(problem: &Compatibility, edge: &EdgeTerm, is_full: bool) -> Option<Array2<f64>> {
    let has_listed = || (0..edge.left_edges().len()).any(|e| !edge.listed_of(e).is_empty());
    if edge.left_factors().ncols() != 1 || problem.constraint == Constraint::ManyToOne || has_listed() {
        return None;
    }
    let left = own_values(edge.left_edges(), edge.left_factors().column(0));
    let right = own_values(edge.right_edges(), edge.right_factors().column(0));
    let product = |sign: f64| {
        let width = |lists: &[Vec<f64>]| lists.iter().map(|own| signed(own, sign).count()).max().unwrap_or(0);
        // What is beyond the shorter list meets no edge.
        let width = width(&left).min(width(&right));
        let table = |lists: &[Vec<f64>]| sorted(lists.iter().map(|own| signed(own, sign).collect()), width);
        table(&left).dot(&table(&right).t())
    };
    Some(if is_full {
        // All other nodes are matched: an edge meets an edge, or one of the pairs without an edge, whose number is known.
        let width = problem.left_count().saturating_sub(1);
        let filled = |own: &Vec<f64>| own.iter().copied().chain(std::iter::repeat(0.0)).take(width).collect();
        let table = |lists: &[Vec<f64>]| sorted(lists.iter().map(filled), width);
        table(&left).dot(&table(&right).t())
    } else {
        product(1.0) + product(-1.0)
    })
}

/// The values of the edges that leave each node.
fn own_values(edges: &EdgeList, values: ArrayView1<'_, f64>) -> Vec<Vec<f64>> {
    (0..edges.node_count()).map(|node| edges.from_node(node).map(|e| values[e]).collect()).collect()
}

/// The values of one sign, without it.
fn signed(own: &[f64], sign: f64) -> impl Iterator<Item = f64> + '_ {
    own.iter().map(move |value| value * sign).filter(|value| *value > 0.0)
}

/// Lists as rows in descending order, cut or filled up with zeros to a width.
fn sorted(lists: impl Iterator<Item = Vec<f64>>, width: usize) -> Array2<f64> {
    let lists: Vec<Vec<f64>> = lists
        .map(|mut own| {
            own.sort_unstable_by(|a, b| b.total_cmp(a));
            own
        })
        .collect();
    Array2::from_shape_fn((lists.len(), width), |(node, at)| lists[node].get(at).copied().unwrap_or(0.0))
}

/// b_ik, one row at a time.
struct EdgeWorth<'a> {
    edge: &'a EdgeTerm,
    ranges: Vec<(f64, f64)>,
    best: Vec<f64>,
    row: Vec<f64>,
}

impl<'a> EdgeWorth<'a> {
    fn new(edge: &'a EdgeTerm) -> Self {
        let zeros = vec![0.0; edge.right_count()];
        Self { edge, ranges: factor_ranges(edge), best: zeros.clone(), row: zeros }
    }

    /// The most that the edges leaving a left node can add, for each right node.
    fn of_node(&mut self, left: usize) -> &[f64] {
        self.row.fill(0.0);
        for e in self.edge.left_edges().from_node(left) {
            best_of_edge(self.edge, e, &self.ranges, &mut self.best);
            self.row.iter_mut().zip(&self.best).for_each(|(sum, &best)| *sum += best);
        }
        &self.row
    }
}

/// For a single factor, its (smallest, largest) value over the edges leaving each right node.
fn factor_ranges(edge: &EdgeTerm) -> Vec<(f64, f64)> {
    if edge.left_factors().ncols() != 1 {
        return Vec::new();
    }
    let factors = edge.right_factors();
    let range = |k: usize| {
        edge.right_edges()
            .from_node(k)
            .map(|f| factors[[f, 0]])
            .fold((f64::INFINITY, f64::NEG_INFINITY), |range, b| (range.0.min(b), range.1.max(b)))
    };
    (0..edge.right_count()).map(range).collect()
}

/// best_k = max(0, max_(f leaving k) d(e, f)), or more where a factor and listed values are bounded separately.
fn best_of_edge(edge: &EdgeTerm, e: usize, ranges: &[(f64, f64)], best: &mut [f64]) {
    let ends = edge.right_edges().ends();
    best.fill(0.0);
    match edge.left_factors().ncols() {
        0 | 1 => {
            for &(f, value) in edge.listed_of(e) {
                let k = ends[f][0];
                best[k] = best[k].max(value);
            }
            for (k, &(low, high)) in ranges.iter().enumerate() {
                let a = edge.left_factors()[[e, 0]];
                if low <= high {
                    best[k] = (best[k] + (a * low).max(a * high)).max(0.0);
                }
            }
        }
        _ => {
            for (f, &[k, _]) in ends.iter().enumerate() {
                best[k] = best[k].max(edge.value(e, f));
            }
        }
    }
}

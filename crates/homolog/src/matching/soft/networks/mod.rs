//! Large sparse networks whose nodes say nothing: edges alone tell who is who.
//!
//! 1. Every node is described by its place in its network (`structure`), and compared with all nodes of the other one (`alike`).
//! 2. The most similar pairs are a first matching, and pairs of nodes whose neighbours are matched to each other replace it, again and again
//!    (`witness`).
//!
//! The result is a start for Frank–Wolfe; for thousands of nodes it is the answer ([`answer`]): no table of all pairs is made. The bound
//! pairs the values of the edges of both sides in descending order (the rearrangement inequality): Σ_t Σ_r a_t(r) b_t(r).

mod alike;
mod given;
mod structure;
mod witness;

use self::given::Given;
use self::structure::Network;
use self::witness::Witnesses;
use super::tables::Tables;
use crate::Result;
use crate::matching::{Constraint, EdgeTerm, Matcher, Matching, Problem, Solution, Status, Streamed, Workspace};

/// Right nodes that each left node is compared with at first.
const ALIKE: usize = 30;
/// A round of witnesses looks at about this many pairs of edges at most.
const MOST_LOOKS: usize = 1 << 25;

/// A matching by edges alone; not all nodes need have a place in it. `None` if the graphs are dense, or if not all products are positive.
pub(super) fn search(
    edge: &EdgeTerm,
    is_allowed: &(impl Fn(usize, usize) -> bool + Sync),
    work: &Workspace,
) -> Option<(Vec<Option<usize>>, usize)> {
    let is_one = edge.left_count().min(edge.right_count()) < 2;
    if is_one || edge.is_empty() || !is_network(edge) {
        return None;
    }
    let left = Network::new(edge.left_edges(), edge.left_factors());
    let right = Network::new(edge.right_edges(), edge.right_factors());
    let kind = Network::kind([&left, &right]);
    let (mut left, mut right) = (left.describe(kind), right.describe(kind));
    alike::scale([&mut left, &mut right]);
    let alike = alike::nearest([&left, &right], ALIKE, is_allowed);
    let witnesses = Witnesses::new(edge, [&left, &right], &alike);
    Some(witnesses.improve(witnesses.start(), is_allowed, work))
}

/// Whether a term is that of sparse networks: nothing but products of numbers that are not negative.
fn is_network(edge: &EdgeTerm) -> bool {
    let (left, right) = (edge.left_edges().len(), edge.right_edges().len());
    let looks = left.saturating_mul(right) / edge.right_count().max(1);
    let has_listed = || (0..left).any(|e| !edge.listed_of(e).is_empty());
    let is_positive = || edge.left_factors().iter().chain(edge.right_factors()).all(|&factor| factor >= 0.0);
    looks <= MOST_LOOKS && !Tables::are_worth(edge) && is_positive() && !has_listed()
}

/// The answer to a problem whose nodes say nothing: by edges alone, or, if there are too many for that, by a table. `None` if nodes differ.
pub(super) fn solve_rows(
    problem: &Streamed<'_>,
    by_table: &dyn Matcher,
    work: &mut Workspace,
) -> Result<Option<Solution>> {
    let Some(edge) = problem.edge() else { return Ok(None) };
    let Some(given) = Given::of(problem, work.control())? else { return Ok(None) };
    if let Some(solution) = answer_for(problem, edge, &given, work)? {
        return Ok(Some(solution));
    }
    by_table.solve_with(&*problem.table()?, work).map(Some)
}

/// The answer to a large problem of sparse networks; `None` for all others.
pub(super) fn answer(problem: &Streamed<'_>, work: &mut Workspace) -> Result<Option<Solution>> {
    let Some(edge) = problem.edge().filter(|edge| is_network(edge)) else { return Ok(None) };
    let Some(given) = Given::of(problem, work.control())? else { return Ok(None) };
    answer_for(problem, edge, &given, work)
}

fn answer_for(
    problem: &Streamed<'_>,
    edge: &EdgeTerm,
    given: &Given,
    work: &mut Workspace,
) -> Result<Option<Solution>> {
    let is_allowed = |i: usize, k: usize| given.allows(i, k);
    let Some((mut right_of, iterations)) = search(edge, &is_allowed, work) else { return Ok(None) };
    let (n, m) = problem.dim();
    if !complete(&mut right_of, m, given) {
        return Ok(None);
    }
    let prices: Vec<f64> = (0..n).map(|i| problem.unmatched_score(i)).collect();
    drop_costly(edge, &mut right_of, given.node, &prices);
    let matching = Matching::new(right_of, m, Constraint::OneToOne)?;
    let own = |(right, price): (&Option<usize>, &f64)| if right.is_some() { given.node } else { price.max(-f64::MAX) };
    let has_price = |pair: &(&Option<usize>, &f64)| pair.0.is_some() || pair.1.is_finite();
    let nodes: f64 = matching.left_to_right().iter().zip(&prices).filter(has_price).map(own).sum();
    let score = nodes + edge.score(&matching);
    let most: f64 = prices.iter().map(|&price| given.node.max(price).max(0.0)).sum::<f64>() + most_of_edges(edge);
    let terms = (n + edge.left_edges().len() + 8) as f64;
    let bound = (most + most.abs() * terms * f64::EPSILON).max(score);
    let status = if work.interrupted() { Status::Limit } else { Status::Converged };
    Ok(Some(Solution { matching, score, bound, status, iterations, certificate: None, shortage: None, allowed: 0.0 }))
}

/// No matching keeps edges worth more than this.
pub(super) fn most_of_edges(edge: &EdgeTerm) -> f64 {
    let sorted = |values: ndarray::ArrayView1<'_, f64>| {
        let mut values = values.to_vec();
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        values
    };
    let (left, right) = (edge.left_factors(), edge.right_factors());
    let columns = left.columns().into_iter().zip(right.columns());
    columns.map(|(a, b)| sorted(a).iter().zip(sorted(b)).map(|(a, b)| a * b).sum::<f64>()).sum()
}

/// Gives every left node without a place the first one that is free and allowed, or else that of another node which can take a free one; false
/// if nodes of both sides are left over.
fn complete(right_of: &mut [Option<usize>], right_count: usize, given: &Given) -> bool {
    let mut is_free = vec![true; right_count];
    right_of.iter().flatten().for_each(|&k| is_free[k] = false);
    let mut free: Vec<usize> = (0..right_count).filter(|&k| is_free[k]).collect();
    let without: Vec<usize> = (0..right_of.len()).filter(|&i| right_of[i].is_none()).collect();
    for i in without {
        if let Some(at) = free.iter().position(|&k| given.allows(i, k)) {
            right_of[i] = Some(free.remove(at));
            continue;
        }
        let moves = |j: usize| {
            let own = right_of[j].filter(|&own| given.allows(i, own))?;
            free.iter().position(|&k| given.allows(j, k)).map(|at| (j, own, at))
        };
        if let Some((j, own, at)) = (0..right_of.len()).find_map(moves) {
            (right_of[i], right_of[j]) = (Some(own), Some(free.remove(at)));
        }
    }
    free.is_empty() || right_of.iter().all(Option::is_some)
}

/// Leaves nodes unmatched that cost more than they and their edges bring.
fn drop_costly(edge: &EdgeTerm, right_of: &mut [Option<usize>], node: f64, prices: &[f64]) {
    if !prices.iter().any(|price| price.is_finite()) {
        return;
    }
    let (left, right) = (edge.left_edges(), edge.right_edges());
    let mut is_done = false;
    while !is_done {
        is_done = true;
        for i in 0..right_of.len() {
            let Some(k) = right_of[i].filter(|_| prices[i].is_finite()) else { continue };
            let value = |e: usize, ends: Option<[usize; 2]>| {
                ends.and_then(|[k, l]| right.find(k, l)).map_or(0.0, |f| edge.value(e, f))
            };
            let out: f64 = left.from_node(i).map(|e| value(e, right_of[left.ends()[e][1]].map(|l| [k, l]))).sum();
            let into: f64 =
                left.into_node(i).iter().map(|&e| value(e, right_of[left.ends()[e][0]].map(|l| [l, k]))).sum();
            if node + out + into < prices[i] {
                right_of[i] = None;
                is_done = false;
            }
        }
    }
}

#[cfg(test)]
mod tests;

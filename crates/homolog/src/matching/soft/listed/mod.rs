//! Graduated assignment and Frank–Wolfe for thousands of nodes: the same searches on lists of candidate pairs ([`Listed`]). No table of all
//! pairs is made: node scores come a few rows at a time ([`Streamed`]).
//!
//! Where node scores tell nodes apart, nearly all pairs are out of the question: they cost more than their edges could gain (`cells`).
//! What is left is a few dozen pairs per node, whatever the number of nodes, and everything is linear in those: soft assignment
//! (`Pairs` in `soft/pairs.rs`), the gradient (each pair lists the pairs it shares edges with: `links`), the linear problems, solved as [`Sparse`] ones,
//! local search (`moves`) and growth from the best edges (`grow`). The upper bound (`bound`) is over all pairs again.
//!
//! Graduated assignment, Frank–Wolfe ascent and soft assignment are those of tables. Gradients are not, because on tables they are products
//! of matrices: at 30 nodes tables take half the time, at 200 twice as much (docs/notes/quadratic.md).

mod bound;
mod cells;
mod grow;
mod links;
mod moves;
mod reach;
#[cfg(test)]
mod tests;

use self::cells::{Cells, Chosen};
use self::links::Links;
use self::reach::Reach;
use super::networks;
use super::objective::{Feasible, Objective};
use super::pairs::Pairs;
use super::problem::{Found, Steps, find_slack, scale_of};
use super::sinkhorn::{Slack, Soft};
use super::tables::Tables;
use crate::matching::search::Kicks;
use crate::matching::{
    Certificate, Compatibility, Constraint, EdgeTerm, Form, Linear, Matcher, Matching, Problem, Shortage, Solution,
    Sparse, Status, Streamed, Workspace,
};
use crate::{Error, Result};
use ndarray::{Array2, Axis};
use std::ops::Range;

/// Smaller tables are solved as they are.
const FEWEST_CELLS: usize = 1 << 18;
/// Larger tables of networks are not searched as tables: 4000 nodes on each side.
const MOST_TABLE: usize = 1 << 24;
/// The candidates of a table are at most one pair in this many: with more, tables are as fast.
const ONE_IN: usize = 8;
/// The most candidates: their numbers have 32 bits, with one to spare.
const MOST_CELLS: usize = u32::MAX as usize - 1;

/// A problem of candidate pairs.
pub(in crate::matching) struct Listed<'a> {
    problem: &'a Streamed<'a>,
    edge: &'a EdgeTerm,
    reach: Reach,
    cells: Cells,
    links: Links,
    slack: Slack,
    /// The best matching if there were no edge scores, its proof, and why it is not larger.
    linear: Matching,
    certificate: Certificate,
    shortage: Option<Shortage>,
    /// Prices for staying unmatched; minus infinity where there is none. Empty if no node has one.
    prices: Vec<f64>,
    right_prices: Vec<f64>,
    /// Dual values of the right nodes at the last linear problem, as in `SoftProblem`.
    duals: Vec<f64>,
    /// What separates the node scores.
    node_spread: f64,
    /// All scores are multiplied by this in gains and links.
    #[cfg(test)]
    scale: f64,
    /// The largest score of each node, regardless of sign, added up.
    size: f64,
}

/// How many candidates there may be.
struct Room {
    per_node: usize,
    total: usize,
    /// Whether to make do with fewer candidates per node where there is no room for all.
    thins: bool,
}

enum Built<'a> {
    Ready(Box<Listed<'a>>),
    /// Solved without edges: there are none, or the caller would not wait.
    Answered(Box<Solution>),
    NoRoom,
}

/// A search on candidate pairs.
pub(super) trait OnLists: FnOnce(&mut Listed<'_>, &mut Workspace) -> Result<Found> {}
impl<F: FnOnce(&mut Listed<'_>, &mut Workspace) -> Result<Found>> OnLists for F {}

/// Solves a large problem by a search on candidate pairs; `improve` as in `solve_softly`. `None` if that does as well on tables; a table
/// whose matchings are not to be improved is always left to it.
pub(super) fn solve(
    problem: &dyn Problem,
    by_table: &dyn Matcher,
    improve: Option<Kicks>,
    work: &mut Workspace,
    search: impl OnLists,
) -> Result<Option<Solution>> {
    match (problem.form(), improve) {
        (Form::Table(table), Some(kicks)) => solve_table(table, kicks, work, search),
        (Form::Rows(rows), _) => match networks::solve_rows(rows, by_table, work)? {
            Some(solution) => Ok(Some(solution)),
            None => solve_rows(rows, improve, work, search).map(Some),
        },
        _ => Ok(None),
    }
}

fn solve_rows(
    problem: &Streamed<'_>,
    improve: Option<Kicks>,
    work: &mut Workspace,
    search: impl OnLists,
) -> Result<Solution> {
    let room = Room { per_node: problem.edge_candidates, total: MOST_CELLS, thins: true };
    match Listed::build(problem, &room, work)? {
        Built::Ready(mut listed) => listed.solve(improve, work, search),
        Built::Answered(solution) => Ok(*solution),
        Built::NoRoom => Err(Error::TooLarge {
            what: "pairs of candidates that share an edge",
            limit: links::MOST_LINKS,
            found: links::MOST_LINKS + 1,
        }),
    }
}

fn solve_table(
    given: &Compatibility,
    improve: Kicks,
    work: &mut Workspace,
    search: impl OnLists,
) -> Result<Option<Solution>> {
    let (n, m) = given.node.dim();
    let Some(edge) = given.edge.as_ref().filter(|edge| !edge.is_empty()) else { return Ok(None) };
    // Nodes of dense graphs share so many edges that lists of what candidates share outgrow all tables.
    if n * m < FEWEST_CELLS || given.constraint == Constraint::ManyToOne || Tables::are_worth(edge) {
        return Ok(None);
    }
    given.check()?;
    let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
        scores.assign(&given.node.slice_axis(Axis(0), rows.into()));
    };
    let mut problem = Streamed::new(n, m, &write).with_edges(edge);
    if let Some(prices) = &given.unmatched {
        problem = problem.with_unmatched(prices.to_vec());
    }
    if let Some(prices) = &given.right_unmatched {
        problem = problem.with_right_unmatched(prices.to_vec());
    }
    if n * m >= MOST_TABLE
        && let Some(solution) = networks::answer(&problem, work)?
    {
        return Ok(Some(solution));
    }
    let room = Room { per_node: m, total: n * m / ONE_IN, thins: false };
    match Listed::build(&problem, &room, work)? {
        Built::Ready(mut listed) => listed.solve(Some(improve), work, search).map(Some),
        Built::Answered(solution) => Ok(Some(*solution)),
        Built::NoRoom => Ok(None),
    }
}

impl<'a> Listed<'a> {
    fn build(problem: &'a Streamed<'a>, room: &Room, work: &mut Workspace) -> Result<Built<'a>> {
        let (n, m) = problem.dim();
        let mut linear = problem.solve_nodes(work)?;
        // Not even the size of the matching is proven then, or there is nothing but nodes.
        let needs_table =
            linear.status == Status::Converged && (linear.bound == f64::INFINITY || problem.edge().is_none());
        if needs_table {
            linear = Linear::default().solve_with(&problem.to_dense()?, work)?;
        }
        let Some(edge) = problem.edge().filter(|_| n > 0 && m > 0) else {
            return Ok(Built::Answered(Box::new(linear)));
        };
        if linear.status == Status::Limit {
            return Ok(Built::Answered(Box::new(unfinished(linear, edge))));
        }
        let reach = Reach::new(edge);
        let control = work.control().clone();
        let chosen = Chosen::of(problem, edge, &reach, &linear, room.per_node, &control)?;
        let Some(mut chosen) = chosen else { return Ok(Built::Answered(Box::new(unfinished(linear, edge)))) };
        let right_prices = problem.prices();
        let size = check_sums(problem, &chosen, edge, &right_prices)?;
        let certificate = linear.certificate.unwrap_or_default();
        let crowd = certificate.crowd.clone().unwrap_or_default();
        let prices: Vec<f64> = (0..n).map(|i| problem.unmatched_score(i)).collect();
        let has_prices = prices.iter().any(|&price| price > f64::NEG_INFINITY);
        let slack = find_slack((n, m), |i| prices[i] > f64::NEG_INFINITY, &crowd, Constraint::OneToOne);
        let largest = prices.iter().chain(&right_prices).filter(|price| price.is_finite());
        let largest = largest.fold(chosen.largest, |most, price| most.max(price.abs())).max(edge.magnitude());
        let scale = scale_of(largest);
        let mut per_node = room.per_node.min(m);
        let links = loop {
            if chosen.cells.len() <= room.total
                && let Some(links) = Links::new(&chosen.cells, edge, scale)
            {
                break links;
            }
            if per_node == 1 || !room.thins {
                return Ok(Built::NoRoom);
            }
            per_node = per_node.div_ceil(2);
            chosen.thin(per_node, &linear.matching);
        };
        let mut cells = chosen.cells;
        cells.find_gain(&prices, &right_prices, scale);
        let is_full = !slack.right.contains(&true) && !slack.left.contains(&true);
        Ok(Built::Ready(Box::new(Self {
            problem,
            edge,
            reach,
            duals: vec![0.0; if is_full { m } else { 0 }],
            cells,
            links,
            slack,
            linear: linear.matching,
            certificate,
            shortage: linear.shortage,
            prices: if has_prices { prices } else { Vec::new() },
            right_prices,
            node_spread: chosen.spread * scale,
            #[cfg(test)]
            scale,
            size,
        })))
    }

    fn solve(&mut self, improve: Option<Kicks>, work: &mut Workspace, search: impl OnLists) -> Result<Solution> {
        let (found, steps) = search(self, work)?;
        self.finish(found, improve, steps, work)
    }

    /// The best of several matchings, improved by local search if asked for, with its score and a bound.
    fn finish(
        &mut self,
        found: Vec<Matching>,
        improve: Option<Kicks>,
        steps: Steps,
        work: &mut Workspace,
    ) -> Result<Solution> {
        let mut starts: Vec<(Matching, Kicks)> = Vec::new();
        if let Some(kicks) = improve {
            starts.extend(found.into_iter().map(|matching| (matching, kicks)));
            starts.push((self.linear.clone(), Kicks::default()));
            starts.push((self.grown(work)?, kicks));
        } else {
            starts.extend(found.into_iter().map(|matching| (matching, Kicks::default())));
        }
        let mut best = (self.score(&self.linear)?, self.linear.clone());
        for (number, (start, kicks)) in starts.into_iter().enumerate() {
            let matching = if improve.is_some() { self.polish(&start, kicks, work)? } else { start };
            let score = self.score(&matching)?;
            if score > best.0 || (number == 0 && improve.is_none()) {
                best = (score, matching);
            }
        }
        if let Some(kicks) = improve {
            let matching = self.shake(&best.1, kicks.seed, work)?;
            best = (self.score(&matching)?, matching);
        }
        let (score, matching) = best;
        let bound = self.bound(work)?.max(score);
        let status = if steps.interrupted { Status::Limit } else { Status::Converged };
        let (iterations, shortage) = (steps.count, self.shortage.clone());
        Ok(Solution { matching, score, bound, status, iterations, certificate: None, shortage, allowed: 0.0 })
    }

    /// The total score of a matching of candidates, added up as that of a table.
    fn score(&self, matching: &Matching) -> Result<f64> {
        let mut total = 0.0;
        for (left, right) in matching.left_to_right().iter().enumerate() {
            let score = match *right {
                Some(right) => {
                    let cell = self.cells.find(left, right);
                    self.cells.scores[cell.ok_or(Error::ForbiddenPair { left, right })?]
                }
                None => self.problem.unmatched_score(left),
            };
            if score > f64::NEG_INFINITY {
                total += score;
            }
        }
        if self.problem.has_right_prices() {
            total += matching.unmatched_right().map(|k| self.right_prices[k]).sum::<f64>();
        }
        Ok(total + self.edge.score(matching))
    }

    /// Whether a left node has no price for staying unmatched.
    fn is_forced(&self, left: usize) -> bool {
        self.prices.get(left).is_none_or(|&price| price == f64::NEG_INFINITY)
    }

    /// The matching of candidates with the largest sum of scores; `rest` scores left nodes that stay unmatched at a price.
    fn assign(&mut self, mut scores: Vec<f64>, rest: &[f64], work: &mut Workspace) -> Result<Matching> {
        let Cells { columns, right_count, .. } = &self.cells;
        if !self.duals.is_empty() {
            scores.iter_mut().zip(columns).for_each(|(score, &k)| *score -= self.duals[k as usize]);
        }
        let price = |(&price, &rest): (&f64, &f64)| if price > f64::NEG_INFINITY { rest } else { price };
        let prices = (!self.prices.is_empty()).then(|| self.prices.iter().zip(rest).map(price).collect());
        let starts = self.cells.starts().to_vec();
        let problem = Sparse::of_rows(*right_count, starts, columns.clone(), scores, prices);
        let answer = Linear::default().solve_with(&problem, work)?;
        if let Some(certificate) = &answer.certificate {
            self.duals.iter_mut().zip(&certificate.right).for_each(|(price, more)| *price += more);
        }
        // If interrupted, it is not certain to be feasible.
        Ok(if answer.status == Status::Limit { self.linear.clone() } else { answer.matching })
    }
}

impl Objective for Listed<'_> {
    type Pairs = Cells;

    fn pairs(&self) -> &Cells {
        &self.cells
    }

    fn gain(&self) -> &Vec<f64> {
        &self.cells.gain
    }

    fn edge_gradient(&mut self, pair: &Vec<f64>, out: &mut Vec<f64>) {
        self.links.gradient(pair, out);
    }

    fn gradient_at(&mut self, matching: &Matching, out: &mut Vec<f64>) {
        out.fill(0.0);
        self.cells.of_matching(matching).for_each(|(_, cell)| self.links.add_gradient_of(cell, out));
    }

    fn node_spread(&self) -> f64 {
        self.node_spread
    }

    fn edge_norm(&mut self) -> f64 {
        self.links.norm()
    }
}

impl Feasible for Listed<'_> {
    type Objective = Self;

    fn objective(&mut self) -> &mut Self {
        self
    }

    fn slack(&self) -> &Slack {
        &self.slack
    }

    fn linear(&self) -> &Matching {
        &self.linear
    }

    fn assign_linearised(&mut self, gradient: &Vec<f64>, work: &mut Workspace) -> Result<Matching> {
        let scores = self.cells.gain.iter().zip(gradient).map(|(gain, gradient)| gain + gradient).collect();
        self.assign(scores, &vec![0.0; self.cells.left_count()], work)
    }

    fn round(&mut self, soft: &Soft<Vec<f64>>, work: &mut Workspace) -> Result<Matching> {
        self.duals.fill(0.0);
        self.assign(soft.pair.clone(), &soft.rest, work)
    }
}

/// What was found without edges, where the caller would not wait for more.
fn unfinished(linear: Solution, edge: &EdgeTerm) -> Solution {
    let score = linear.score + edge.score(&linear.matching);
    let (bound, status) = (f64::INFINITY, Status::Limit);
    Solution { score, bound, status, certificate: None, ..linear }
}

/// Whether every matching's score is in range, with room for differences; the sum of all sizes.
fn check_sums(problem: &Streamed<'_>, chosen: &Chosen, edge: &EdgeTerm, right_prices: &[f64]) -> Result<f64> {
    let (n, _) = problem.dim();
    let own = (0..n).map(|i| problem.unmatched_score(i)).filter(|price| price.is_finite());
    let prices: f64 = own.chain(right_prices.iter().copied()).map(f64::abs).sum();
    let nodes = chosen.sum + prices;
    if !(4.0 * nodes).is_finite() {
        return Err(Error::Overflow { what: "node scores", largest: chosen.largest });
    }
    let sum = nodes + edge.magnitude() * edge.left_edges().len() as f64;
    if !(4.0 * sum).is_finite() {
        return Err(Error::Overflow { what: "edge scores", largest: edge.magnitude() });
    }
    Ok(sum)
}

//! [`SoftProblem`]: the quadratic problem as the soft solvers see it, and the way back to a matching.
//!
//!   maximise  Σ_ik gain_ik y_ik  +  Σ d(ij, kl) y_ik y_jl     over soft matchings y
//!
//! gain_ik = node_ik - unmatched_i where node i has a price for staying unmatched, node_ik where it has none, minus infinity if no
//! feasible matching pairs i with k. So staying unmatched always scores 0. The forbidden pairs decide which nodes can stay unmatched at
//! all: one linear solve finds the crowd of left nodes that compete for too few right nodes; those can, the rest must be
//! matched, and the crowd's right nodes are taken by the crowd alone.
//!
//! Everything is multiplied by a power of two that brings the largest score near 1, which is exact: the solvers' squares and sums
//! neither overflow nor vanish, whatever the scale of the problem.

use super::objective::{Feasible, TableObjective};
use super::pairs::AllPairs;
use super::sinkhorn::{Slack, Soft};
use super::{bound, networks};
use crate::Result;
use crate::matching::problem::{FoldedPrices, check_cells};
use crate::matching::search::{Growth, Kicks, Tabu, grow, polish};
use crate::matching::{
    Compatibility, Constraint, EdgeTerm, Form, Linear, MAX_CELLS, Matcher, Matching, Problem, Shortage, Solution,
    Status, Workspace,
};
use ndarray::{Array2, ArrayView1};
use std::borrow::Cow;

/// The most pairs of nodes. The soft solvers hold about eight tables of this size: 10,000 nodes on each side take 6 GB.
const MOST_CELLS: usize = MAX_CELLS;

/// With more pairs of edges than this, what takes long is left out: kicks, most random starts. Dense graphs of 45 nodes, or
/// triangulations of 350 points.
const MOST_THOROUGH: usize = 1 << 22;
/// With more pairs of edges than this, nothing is grown from the best ones: it looks at all of them.
const MOST_GROWN: usize = 1 << 26;
/// A tabu search on a large dense problem examines at most so many changes without a better matching, four times as many in total, and no
/// more than a quarter of n³ of them without one: about as much as a matrix product costs.
const IDLE_LOOKS: usize = 1 << 24;
/// At least so many changes that do not help, and no more after a single start.
const FEWEST_IDLE: usize = 8;

/// Refuses problems with more nodes than the soft solvers take.
pub(in crate::matching) fn check_nodes(left_count: usize, right_count: usize) -> Result<()> {
    check_cells("pairs of nodes for a soft solver", left_count, right_count, MOST_CELLS)
}

/// What a soft solver does between the way in and the way out: the matchings it found, best guess first, and how it ended.
pub(in crate::matching) type Found = (Vec<Matching>, Steps);

/// Solves a problem by a soft search. A problem without edge scores is linear and solved as such. With `improve`, local search improves
/// what the search found, and unless the search is to be alone, the answer is never worse than what local search makes of the best matching
/// without edges, or of one grown from the best pairs of edges; without it, the answer is the search's own.
pub(in crate::matching) fn solve_softly(
    given: &dyn Problem,
    improve: Option<Kicks>,
    work: &mut Workspace,
    search: impl FnOnce(&mut SoftProblem<'_>, &mut Workspace) -> Result<Found>,
) -> Result<Solution> {
    let given = match given.form() {
        Form::List(list) => return Linear::default().solve_with(list, work),
        Form::Rows(rows) => {
            let (n, m) = rows.dim();
            check_nodes(n, m)?;
            &*given.table()?
        }
        Form::Table(table) => table,
    };
    check_nodes(given.left_count(), given.right_count())?;
    given.check()?;
    let folded = FoldedPrices::of(given);
    let problem = &*folded.problem;
    let linear = Linear::default().solve_with(&problem.without_edges(), work)?;
    if linear.status == Status::Limit {
        return folded.carry_back(given, Solution { score: problem.score(&linear.matching)?, ..linear });
    }
    let solution = match problem.edge.as_ref().filter(|edge| !edge.is_empty()) {
        None => linear,
        Some(edge) => {
            let mut soft = SoftProblem::new(problem, edge, linear);
            let (found, steps) = search(&mut soft, work)?;
            soft.finish(found, improve, steps, work)?
        }
    };
    folded.carry_back(given, solution)
}

/// The quadratic problem, scaled, with everything that the soft solvers share.
pub(in crate::matching) struct SoftProblem<'a> {
    pub(in crate::matching) problem: &'a Compatibility,
    pub(in crate::matching) objective: TableObjective<'a>,
    pub(super) slack: Slack,
    /// The best matching if there were no edge scores.
    pub(in crate::matching) linear: Matching,
    shortage: Option<Shortage>,
    /// Whether only what the search found is improved, and nothing else is tried.
    pub(super) is_alone: bool,
    /// A linear problem with the same forbidden pairs, its scores overwritten at each use.
    rounding: Compatibility,
    /// Dual values of the right nodes at the last use, where all of them are always taken: subtracting any number from all scores of a
    /// right node then changes no comparison, and starting from these, most rows find a place at once. Empty if right nodes can stay free.
    prices: Vec<f64>,
}

impl<'a> SoftProblem<'a> {
    fn new(problem: &'a Compatibility, edge: &'a EdgeTerm, linear: Solution) -> Self {
        let crowd = linear.certificate.and_then(|certificate| certificate.crowd).unwrap_or_default();
        let scale = safe_scale(problem, edge);
        let priced = |i: usize| problem.unmatched_score(i) > f64::NEG_INFINITY;
        let slack = find_slack(problem.node.dim(), priced, &crowd, problem.constraint);
        let mut rounding = problem.without_edges();
        let gain = make_gain(problem, &crowd, scale, &mut rounding);
        let is_full = !slack.right.contains(&true) && crowd.left.is_empty() && !slack.many_to_one;
        Self {
            prices: vec![0.0; if is_full { problem.right_count() } else { 0 }],
            problem,
            objective: TableObjective::new(gain, Cow::Borrowed(edge), scale),
            slack,
            linear: linear.matching,
            shortage: linear.shortage,
            is_alone: false,
            rounding,
        }
    }

    /// The feasible matching with the largest sum of scores; `rest` scores left nodes that stay unmatched at a price.
    pub(super) fn assign(&mut self, score: &Array2<f64>, rest: &[f64], work: &mut Workspace) -> Result<Matching> {
        let cells = self.rounding.node.iter_mut().zip(score).zip(&self.objective.gain);
        for ((cell, &score), &gain) in cells {
            *cell = if gain == f64::NEG_INFINITY { f64::NEG_INFINITY } else { score };
        }
        for (price, &rest) in self.rounding.unmatched.iter_mut().flatten().zip(rest) {
            if *price > f64::NEG_INFINITY {
                *price = rest;
            }
        }
        self.solve_rounding(work)
    }

    fn solve_rounding(&mut self, work: &mut Workspace) -> Result<Matching> {
        if !self.prices.is_empty() {
            for mut row in self.rounding.node.rows_mut() {
                row.iter_mut().zip(&self.prices).for_each(|(cell, price)| *cell -= price);
            }
        }
        let answer = Linear::default().solve_with(&self.rounding, work)?;
        if let Some(certificate) = &answer.certificate {
            self.prices.iter_mut().zip(&certificate.right).for_each(|(price, more)| *price += more);
        }
        // If interrupted, it is not certain to be feasible.
        Ok(if answer.status == Status::Limit { self.linear.clone() } else { answer.matching })
    }

    /// Whether there are so many pairs of edges that only the most promising of the quick searches are worth their time.
    pub(super) fn is_large(&self) -> bool {
        self.edge_pairs() > MOST_THOROUGH
    }

    fn edge_pairs(&self) -> usize {
        let edge = &self.objective.edge;
        edge.left_edges().len().saturating_mul(edge.right_edges().len())
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
            if (!self.is_large() && !self.is_alone) || starts.is_empty() {
                starts.push((self.linear.clone(), Kicks::default()));
            }
            // Among the many edges of a large dense graph there is always a better pair.
            let is_dense = self.is_large() && self.objective.tables.is_some();
            if !self.is_alone && !is_dense && self.edge_pairs() <= MOST_GROWN {
                starts.push((self.grown(work)?, kicks));
            }
        } else {
            starts.extend(found.into_iter().map(|matching| (matching, Kicks::default())));
        }
        let mut best: Option<(f64, Matching)> = None;
        for (start, kicks) in starts {
            let matching = match improve {
                Some(_) if self.is_large() && self.objective.tables.is_some() => self.exchange(&start, work)?,
                Some(_) => polish(self.problem, &self.objective.edge, &start, kicks, work)?,
                None => start,
            };
            let score = self.problem.score(&matching)?;
            if best.as_ref().is_none_or(|best| score > best.0) {
                best = Some((score, matching));
            }
        }
        let (score, matching) = match best {
            Some(best) => best,
            None => (self.problem.score(&self.linear)?, self.linear.clone()),
        };
        let is_full = !self.prices.is_empty();
        let bound = bound::edge_bound(self.problem, &self.objective.edge, is_full, work)?.max(score);
        let status = if steps.interrupted { Status::Limit } else { Status::Converged };
        let (iterations, shortage) = (steps.count, self.shortage.clone());
        Ok(Solution { matching, score, bound, status, iterations, certificate: None, shortage, allowed: 0.0 })
    }

    /// The matching, or a better one by a short tabu search: on dense graphs its steps are products of rows, many times faster than those of
    /// local search.
    fn exchange(&self, start: &Matching, work: &Workspace) -> Result<Matching> {
        let problem = self.problem;
        let (n, m) = problem.node.dim();
        let may_rest = (0..n).map(|i| problem.unmatched_score(i) > f64::NEG_INFINITY).collect();
        let TableObjective { gain, edge, weight, .. } = &self.objective;
        let growth = Growth { gain, edge, weight: *weight, constraint: problem.constraint };
        let mut tabu = Tabu::new(&growth, may_rest, 0);
        tabu.jump(start.left_to_right());
        let looks = n * n / 2 + n * m.saturating_sub(n) + 1;
        let patience = if self.is_alone { FEWEST_IDLE } else { (IDLE_LOOKS / looks).min(n / 2).max(FEWEST_IDLE) };
        tabu.search(patience, 4 * patience, || work.interrupted());
        let improved = Matching::new(tabu.best(), m, problem.constraint)?;
        // The gain may be nothing but rounding.
        Ok(if problem.score(&improved)? > problem.score(start)? { improved } else { start.clone() })
    }

    /// A feasible matching that keeps as much as it can of what grows from the best pairs of edges.
    pub(in crate::matching) fn grown(&mut self, work: &mut Workspace) -> Result<Matching> {
        let TableObjective { gain, edge, weight, .. } = &self.objective;
        let growth = Growth { gain, edge, weight: *weight, constraint: self.problem.constraint };
        let right_of = grow(&growth, work);
        self.completed(&right_of, work)
    }

    /// Pairs that are given: neither node has another choice. None if all nodes are.
    pub(super) fn seeds(&self) -> Vec<(usize, usize)> {
        let gain = &self.objective.gain;
        let only = |lane: ArrayView1<'_, f64>| {
            let mut open = lane.iter().enumerate().filter(|(_, gain)| **gain > f64::NEG_INFINITY).map(|(at, _)| at);
            open.next().filter(|_| open.next().is_none())
        };
        let given = |(i, row)| only(row).filter(|&k| only(gain.column(k)) == Some(i)).map(|k| (i, k));
        let seeds: Vec<(usize, usize)> = gain.rows().into_iter().enumerate().filter_map(given).collect();
        if seeds.len() < gain.nrows() { seeds } else { Vec::new() }
    }

    /// What edges alone say, if the graphs are sparse and node scores say nothing.
    pub(super) fn matched_by_edges(&mut self, work: &mut Workspace) -> Result<Option<Matching>> {
        let gain = &self.objective.gain;
        // What a node pays for staying unmatched is the same for all its partners.
        let is_flat = gain.rows().into_iter().all(|row| {
            let mut open = row.iter().filter(|gain| **gain > f64::NEG_INFINITY);
            open.next().is_none_or(|first| open.all(|gain| gain == first))
        });
        if !is_flat || self.problem.constraint != Constraint::OneToOne {
            return Ok(None);
        }
        let found = networks::search(&self.objective.edge, &|i, k| gain[[i, k]] > f64::NEG_INFINITY, work);
        found.map(|(right_of, _)| self.completed(&right_of, work)).transpose()
    }

    /// The feasible matching that keeps as many of these pairs as it can.
    fn completed(&mut self, right_of: &[Option<usize>], work: &mut Workspace) -> Result<Matching> {
        let mut soft = Soft::zeros(&AllPairs::of(&self.objective.gain));
        for (i, right) in right_of.iter().enumerate() {
            match *right {
                Some(k) => soft.pair[[i, k]] = 1.0,
                None => soft.rest[i] = 1.0,
            }
        }
        self.round(&soft, work)
    }
}

impl<'a> Feasible for SoftProblem<'a> {
    type Objective = TableObjective<'a>;

    fn objective(&mut self) -> &mut TableObjective<'a> {
        &mut self.objective
    }

    fn slack(&self) -> &Slack {
        &self.slack
    }

    fn linear(&self) -> &Matching {
        &self.linear
    }

    fn assign_linearised(&mut self, gradient: &Array2<f64>, work: &mut Workspace) -> Result<Matching> {
        let cells = self.rounding.node.iter_mut().zip(gradient).zip(&self.objective.gain);
        cells.for_each(|((cell, gradient), gain)| *cell = gain + gradient);
        let prices = self.rounding.unmatched.iter_mut().flatten();
        prices.filter(|price| **price > f64::NEG_INFINITY).for_each(|price| *price = 0.0);
        self.solve_rounding(work)
    }

    fn round(&mut self, soft: &Soft, work: &mut Workspace) -> Result<Matching> {
        self.assign(&soft.pair, &soft.rest, work)
    }
}

/// How a soft solver ended.
#[derive(Debug, Clone, Copy)]
pub(in crate::matching) struct Steps {
    pub(in crate::matching) count: usize,
    pub(in crate::matching) interrupted: bool,
}

/// gain, and the same pattern of minus infinities in the problem used for rounding.
fn make_gain(problem: &Compatibility, crowd: &Shortage, scale: f64, rounding: &mut Compatibility) -> Array2<f64> {
    let (n, m) = problem.node.dim();
    let mut in_crowd = vec![false; n];
    let mut crowded = vec![false; m];
    crowd.left.iter().for_each(|&i| in_crowd[i] = true);
    crowd.right.iter().for_each(|&k| crowded[k] = true);
    let mut gain = Array2::zeros((n, m));
    for ((i, k), gain) in gain.indexed_iter_mut() {
        let price = problem.unmatched_score(i);
        let price = if price > f64::NEG_INFINITY { price } else { 0.0 };
        let impossible = crowded[k] && !in_crowd[i];
        *gain = if impossible { f64::NEG_INFINITY } else { problem.node[[i, k]] * scale - price * scale };
        if impossible {
            rounding.node[[i, k]] = f64::NEG_INFINITY;
        }
    }
    gain
}

/// Which nodes can stay unmatched in a feasible matching, given which left nodes have a price for it.
pub(super) fn find_slack(
    (n, m): (usize, usize),
    priced: impl Fn(usize) -> bool,
    crowd: &Shortage,
    constraint: Constraint,
) -> Slack {
    let mut left: Vec<bool> = (0..n).map(priced).collect();
    let no_price = !left.contains(&true);
    crowd.left.iter().for_each(|&i| left[i] = true);
    // Outside the crowd every left node is matched: if there are as many right nodes, none of those is left over.
    let full = no_price && n - crowd.left.len() == m - crowd.right.len();
    let mut right = vec![!full; m];
    crowd.right.iter().for_each(|&k| right[k] = false);
    Slack { left, right, many_to_one: constraint == Constraint::ManyToOne }
}

fn safe_scale(problem: &Compatibility, edge: &EdgeTerm) -> f64 {
    let scores = problem.node.iter().chain(problem.unmatched.iter().flatten());
    let finite = scores.filter(|score| score.is_finite()).fold(0.0, |most: f64, score| most.max(score.abs()));
    scale_of(finite.max(edge.magnitude()))
}

/// The power of two that brings the largest score near 1.
pub(super) fn scale_of(largest: f64) -> f64 {
    // Halves and doubles of the extremes stay in range.
    let exponent = if largest > 0.0 { largest.min(f64::MAX).log2().floor().clamp(-1000.0, 1000.0) } else { 0.0 };
    (-exponent).exp2()
}

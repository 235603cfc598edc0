//! How certain each pair of a matching is: how much the total score falls if the pair is forbidden, and what the left node does then.
//!
//!   margin_ik = score(y) - max { score(y') : y' feasible, y'_i != k }
//!
//! It is added up from the terms in which the two matchings differ, with twice the digits: what all matchings share does not round it away.
//!
//! * **Without edge scores** it is exact: the cheapest exchange of places through the pair (`exchange`).
//! * **With edge scores** it is a bound, and the margin is at most that. The score is linearised at y: v_ik is what a pair is worth if all
//!   others stay as in y, with its edges to them. The best matching for v without the pair is one that the margin is compared with. Given a
//!   matcher, that is asked too, once per pair; if it proves both answers, the margin is exact.

use super::exchange::{Exchange, Paths, changed};
use super::k_best::{behind, placed};
use super::{Compatibility, Constraint, Linear, Matcher, Matching, Problem, Solution, Status, Workspace};
use crate::{Control, Report, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer pairs than this are not worth sharing among threads.
const FEW: usize = 64;

/// What happens without a pair.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Margin {
    /// The left node of the pair.
    pub left: usize,
    /// The right node of the pair.
    pub right: usize,
    /// How much less the best matching without the pair scores; infinite if no such matching matches as many nodes as it must. Not negative
    /// if the solution is proven optimal.
    pub margin: f64,
    /// The right node that the left node has in that matching; `None`: it stays unmatched, or there is no such matching.
    pub runner_up: Option<usize>,
    /// Whether the margin is exact; otherwise it is at most this large.
    pub proven: bool,
    /// All left nodes that go elsewhere in that matching, each with its new right node; `None`: unmatched.
    pub changes: Vec<(usize, Option<usize>)>,
}

impl Margin {
    /// The best matching without the pair, given the matching with it; `None` if there is none.
    ///
    /// # Errors
    /// A matching of another problem.
    pub fn alternative(&self, matching: &Matching) -> Result<Option<Matching>> {
        if self.margin == f64::INFINITY { Ok(None) } else { changed(matching, &self.changes).map(Some) }
    }
}

/// The margins of all matched pairs of a solution, in order of left node. With edge scores a matcher may be given to look for better
/// alternatives, whatever time that takes. If interrupted, what is not done by then is a bound.
///
/// # Errors
/// As the matcher; a solution of another problem; [`Error::TooLarge`](crate::Error::TooLarge) if there is no room for a table of all pairs.
///
/// ```
/// use homolog::Control;
/// use homolog::matching::{Compatibility, Linear, Matcher, margins};
/// let problem = Compatibility::linear(ndarray::array![[5.0, 3.0, 0.0], [4.0, 1.0, 0.0]]);
/// let solution = Linear::default().solve(&problem)?;
/// let margins = margins(&problem, &solution, None, &Control::new())?;
/// // 3 + 4; without the first pair 5 + 1, without the second 5 + 1 as well.
/// assert_eq!(margins.iter().map(|margin| margin.margin).collect::<Vec<_>>(), [1.0, 1.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn margins(
    problem: &dyn Problem,
    solution: &Solution,
    matcher: Option<&dyn Matcher>,
    control: &Control,
) -> Result<Vec<Margin>> {
    let problem = &*problem.table()?;
    problem.score(&solution.matching)?;
    if problem.edge.is_none() {
        return Ok(without_edges(problem, solution, control));
    }
    let linear = linearised(problem, &solution.matching);
    let best = Linear::default().solve_with(&linear, &mut Workspace::with_control(control))?;
    // Told to stop, it may have left nodes over: then all is compared with the matching itself.
    let best = if best.status == Status::Limit { unproven(&linear, &solution.matching)? } else { best };
    let around = without_edges(&linear, &best, control);
    let place = |left: usize| around.binary_search_by_key(&left, |margin| margin.left).ok().map(|at| &around[at]);
    let alternative = |left: usize, right: usize| match place(left) {
        Some(margin) if margin.right == right => margin.alternative(&best.matching),
        _ => Ok(Some(best.matching.clone())),
    };
    let pairs: Vec<(usize, usize)> = solution.matching.pairs().collect();
    let (count, done) = (pairs.len(), AtomicUsize::new(0));
    let margin = |(without, work): &mut (Compatibility, Workspace), (left, right): (usize, usize)| -> Result<Margin> {
        let bound = alternative(left, right)?.map(|other| compared(problem, solution, (left, right), &other));
        // That there is no other way is not known if it was not searched to the end.
        let proven = place(left).is_none_or(|margin| margin.proven);
        let mut margin = bound.unwrap_or_else(|| Margin { proven, ..Margin::of((left, right)) });
        if let Some(matcher) = matcher.filter(|_| !control.interrupted()) {
            without.node[[left, right]] = f64::NEG_INFINITY;
            let other = matcher.solve_with(without, work);
            without.node[[left, right]] = problem.node[[left, right]];
            let other = other?;
            let found = compared(problem, solution, (left, right), &other.matching);
            let is_proven = solution.status == Status::Optimal && other.status == Status::Optimal;
            if found.margin < margin.margin {
                margin = found;
            }
            margin.proven = is_proven;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            control.report(&Report::new("finding margins", done, Some(count)));
        }
        Ok(margin)
    };
    let start = || {
        let problem = if matcher.is_some() { problem.clone() } else { linear.clone() };
        (problem, Workspace::with_control(control))
    };
    if matcher.is_none() {
        let mut state = start();
        return pairs.into_iter().map(|pair| margin(&mut state, pair)).collect();
    }
    pairs.into_par_iter().map_init(start, margin).collect()
}

/// A matching as the answer to a problem, without a proof.
fn unproven(problem: &Compatibility, matching: &Matching) -> Result<Solution> {
    Ok(Solution {
        score: problem.score(matching)?,
        matching: matching.clone(),
        bound: f64::INFINITY,
        status: Status::Limit,
        iterations: 0,
        certificate: None,
        shortage: None,
        allowed: 0.0,
    })
}

/// The same problem without edge scores, linearised at a matching: v_ik = c_ik + the scores of the edges between (i, k) and all pairs of the
/// matching, both ways.
pub(crate) fn linearised(problem: &Compatibility, matching: &Matching) -> Compatibility {
    let mut linear = problem.without_edges();
    if let Some(edge) = &problem.edge {
        for (i, k) in matching.pairs() {
            edge.add_pair_gradient(i, k, 1.0, &mut linear.node);
        }
    }
    linear
}

impl Margin {
    /// A bound on the margin of a pair, from elsewhere than a problem.
    pub(crate) fn bound(pair: (usize, usize), margin: f64, runner_up: Option<usize>) -> Self {
        Self { margin, runner_up, proven: false, changes: vec![(pair.0, runner_up)], ..Self::of(pair) }
    }

    /// A pair that is in every feasible matching.
    fn of((left, right): (usize, usize)) -> Self {
        Self { left, right, margin: f64::INFINITY, runner_up: None, proven: true, changes: Vec::new() }
    }
}

/// A pair compared with a matching that does not have it.
fn compared(problem: &Compatibility, solution: &Solution, pair: (usize, usize), other: &Matching) -> Margin {
    if placed(problem, other) != placed(problem, &solution.matching) {
        return Margin::of(pair);
    }
    let is_optimal = solution.status == Status::Optimal;
    let margin = behind(problem, &solution.matching, other);
    let both = solution.matching.left_to_right().iter().zip(other.left_to_right()).enumerate();
    Margin {
        margin: if is_optimal { margin.max(0.0) } else { margin },
        runner_up: other.right_of(pair.0),
        proven: false,
        changes: both.filter(|(_, (own, other))| own != other).map(|(left, (_, &other))| (left, other)).collect(),
        ..Margin::of(pair)
    }
}

/// Exact margins of a linear problem, if the solution is optimal.
fn without_edges(problem: &Compatibility, solution: &Solution, control: &Control) -> Vec<Margin> {
    let is_optimal = solution.status == Status::Optimal;
    let finished = |mut margin: Margin, is_complete: bool| {
        margin.proven = is_optimal && is_complete;
        margin.margin = if is_optimal { margin.margin.max(0.0) } else { margin.margin };
        margin
    };
    if problem.constraint == Constraint::ManyToOne {
        let each = solution.matching.pairs().map(|pair| finished(second_of_row(problem, pair), true));
        return each.collect();
    }
    let exchange = Exchange::around(problem, solution, control);
    let pairs: Vec<(usize, usize)> = solution.matching.pairs().collect();
    let margin = |paths: &mut Paths, number: usize| {
        let pair = pairs[number];
        let found = exchange.cheapest(number, paths).map(|found| Margin {
            margin: found.cost,
            runner_up: found.changes.iter().find(|(left, _)| *left == pair.0).and_then(|(_, right)| *right),
            changes: found.changes,
            ..Margin::of(pair)
        });
        finished(found.unwrap_or_else(|| Margin::of(pair)), !exchange.is_cut && !paths.is_stopped())
    };
    if exchange.len() < FEW {
        let mut paths = Paths::asking(control);
        return (0..exchange.len()).map(|number| margin(&mut paths, number)).collect();
    }
    (0..exchange.len()).into_par_iter().map_init(|| Paths::asking(control), margin).collect()
}

/// If right nodes can be shared, left nodes do not compete: the second best of the row.
fn second_of_row(problem: &Compatibility, (left, right): (usize, usize)) -> Margin {
    let row = problem.node.row(left);
    let others = row.iter().copied().enumerate().filter(|&(k, score)| k != right && score > f64::NEG_INFINITY);
    let stays = Some(problem.unmatched_score(left)).filter(|&score| score > f64::NEG_INFINITY);
    let choices = others.map(|(k, score)| (Some(k), score)).chain(stays.map(|score| (None, score)));
    let best = choices.reduce(|best, other| if other.1 > best.1 { other } else { best });
    let pair = Margin::of((left, right));
    best.map_or(pair.clone(), |(runner_up, score)| Margin {
        margin: row[right] - score,
        runner_up,
        changes: vec![(left, runner_up)],
        ..pair
    })
}

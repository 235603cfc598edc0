//! The K best matchings of a problem, best first (Murty 1968).
//!
//! The matchings other than the best one, y, fall into classes that do not overlap: those that have the first t - 1 pairs of y but not
//! pair t, for each t; and those that have all pairs of y and match one more left node. The best of a class is the best matching of the
//! problem with seeds and forbidden pairs, so each class is solved by the matcher itself. The best of all classes is the second best
//! matching; its class is split the same way; and so on.
//!
//! A problem may have any form; a list or computed rows are narrowed as such.
//!
//! Exactly the matchings that are feasible for the problem count: of the left nodes that must be matched, as many are matched as in y.
//! Each step solves at most one problem per left node. With a matcher that proves its answers the list is exact: matchings are ordered by
//! how far they are behind the best one, added up from the terms in which they differ with twice the digits, so that large terms that all share do
//! not hide what tells them apart.

use super::problem::{ByRow, Precise};
use super::{
    Compatibility, EdgeTerm, Form, Matcher, Matching, Problem, Restrictions, Solution, Status, Streamed, Workspace,
};
use crate::Result;
use ndarray::Array2;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Matchings with their scores, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct KBest {
    /// As many as were asked for, or all there are, or those found before the caller interrupted.
    pub matchings: Vec<(Matching, f64)>,
    /// Whether these are proven to be the best ones, in this order.
    pub proven: bool,
}

/// A class of matchings: which seeds, which forbidden pairs, which left nodes stay unmatched and which may not.
#[derive(Clone, Default)]
struct Class {
    given: Restrictions,
    closed: Vec<usize>,
    must: Vec<usize>,
}

/// A class and its best matching.
struct Candidate {
    score: f64,
    /// The best matching's score minus this one's.
    behind: Precise,
    matching: Matching,
    class: Class,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    /// By score; among equals the one whose left nodes go to smaller right nodes comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |candidate: &Self| candidate.matching.left_to_right().to_vec();
        other.behind.total_cmp(self.behind).then_with(|| key(other).cmp(&key(self)))
    }
}

/// The `count` best matchings of a problem.
///
/// # Errors
/// As the matcher.
///
/// ```
/// use homolog::matching::{Compatibility, Linear, Workspace, k_best};
/// let problem = Compatibility::linear(ndarray::array![[5.0, 3.0], [4.0, 1.0]]);
/// let best = k_best(&problem, &Linear::default(), 10, &mut Workspace::new())?;
/// assert_eq!(best.matchings.iter().map(|(_, score)| *score).collect::<Vec<_>>(), [7.0, 6.0]);
/// assert!(best.proven);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn k_best(problem: &dyn Problem, matcher: &dyn Matcher, count: usize, work: &mut Workspace) -> Result<KBest> {
    // Prices that were removed to force a node are counted again.
    let priced = |solution: Solution| Ok(Solution { score: problem.score(&solution.matching)?, ..solution });
    match problem.form() {
        Form::Table(table) => {
            let mut narrowed = None;
            rank(table, count, work, |class, work| match class {
                None => matcher.solve_with(table, work),
                Some(class) => matcher.solve_with(class.of_table(table, &mut narrowed)?, work).and_then(priced),
            })
        }
        Form::List(list) => rank(list, count, work, |class, work| match class {
            None => matcher.solve_with(list, work),
            Some(class) => {
                let narrowed = list.restricted(&class.given)?.closed(&class.closed, &class.must);
                matcher.solve_with(&narrowed, work).and_then(priced)
            }
        }),
        Form::Rows(rows) => rank(rows, count, work, |class, work| match class {
            None => matcher.solve_with(rows, work),
            Some(class) => {
                let write = |range: Range<usize>, scores: &mut Array2<f64>| class.write(rows, range, scores);
                let must = class.must.iter().copied().chain(class.given.seeds.iter().map(|seed| seed[0]));
                let prices = rows.left_prices().map(|mut prices| {
                    must.for_each(|left| prices[left] = f64::NEG_INFINITY);
                    prices
                });
                matcher.solve_with(&rows.narrowed(&write, prices), work).and_then(priced)
            }
        }),
    }
}

/// Ranks the matchings of a problem, given what solves it (`None`) and each of its classes.
fn rank<P: ByRow>(
    problem: &P,
    count: usize,
    work: &mut Workspace,
    mut solve: impl FnMut(Option<&Class>, &mut Workspace) -> Result<Solution>,
) -> Result<KBest> {
    let mut found = KBest { matchings: Vec::new(), proven: true };
    let mut open = BinaryHeap::new();
    if count == 0 {
        return Ok(found);
    }
    let first = solve(None, work)?;
    let size = placed(problem, &first.matching);
    found.proven &= first.status == Status::Optimal;
    let best_terms = terms(problem, &first.matching);
    let behind = |matching: &Matching| difference(&best_terms, &terms(problem, matching));
    let class = Class::default();
    open.push(Candidate { score: first.score, behind: Precise::default(), matching: first.matching, class });
    while let Some(best) = open.pop() {
        if found.matchings.len() + 1 < count && !work.interrupted() {
            for class in best.class.split(problem, &best.matching) {
                if work.interrupted() {
                    break;
                }
                let Solution { score, matching, status, .. } = solve(Some(&class), work)?;
                found.proven &= status == Status::Optimal;
                let is_complete = class.must.iter().all(|&left| matching.right_of(left).is_some())
                    && class.given.check_matching(&matching).is_ok()
                    && placed(problem, &matching) == size;
                if is_complete {
                    open.push(Candidate { score, behind: behind(&matching), matching, class });
                }
            }
        }
        found.matchings.push((best.matching, best.score));
        // If the classes of an answer were not all solved, the next best is not known.
        if found.matchings.len() == count || work.interrupted() {
            break;
        }
    }
    Ok(found)
}

/// What every left node, every right node and every left edge adds to a score, in this order.
fn terms(problem: &impl ByRow, matching: &Matching) -> Vec<f64> {
    let left = matching.left_to_right().iter().enumerate().map(|(i, right)| match *right {
        Some(k) => problem.pair_score(i, k).unwrap_or(0.0),
        None => Some(problem.unmatched_score(i)).filter(|price| price.is_finite()).unwrap_or(0.0),
    });
    let mut of_right: Vec<f64> = vec![0.0; problem.sizes().1];
    matching.unmatched_right().for_each(|k| of_right[k] = problem.right_unmatched_score(k));
    let of_edge = |(edge, [i, j]): (&EdgeTerm, [usize; 2]), number: usize| {
        let ends = matching.right_of(i).zip(matching.right_of(j));
        ends.and_then(|(k, l)| edge.right_edges().find(k, l)).map_or(0.0, |other| edge.value(number, other))
    };
    let edges = problem.edge().into_iter().flat_map(|edge| {
        edge.left_edges().ends().iter().enumerate().map(move |(number, &ends)| of_edge((edge, ends), number))
    });
    let mut terms: Vec<f64> = left.chain(of_right).collect();
    terms.extend(edges);
    terms
}

/// The sum of the differences of two lists of terms.
fn difference(terms: &[f64], others: &[f64]) -> Precise {
    terms.iter().zip(others).map(|(term, other)| Precise::difference(*term, *other)).sum()
}

/// How much less one matching scores than another, from the terms in which they differ.
pub(super) fn behind(problem: &Compatibility, best: &Matching, other: &Matching) -> f64 {
    difference(&terms(problem, best), &terms(problem, other)).value()
}

/// How many of the left nodes that must be matched are matched.
pub(super) fn placed(problem: &impl ByRow, matching: &Matching) -> usize {
    matching.pairs().filter(|&(left, _)| problem.unmatched_score(left) == f64::NEG_INFINITY).count()
}

impl Class {
    /// All its matchings except this one, in classes that do not overlap; each is made when it is asked for.
    fn split<'a>(&'a self, problem: &'a impl ByRow, matching: &'a Matching) -> impl Iterator<Item = Self> + 'a {
        let (mut is_seeded, mut is_closed) = (vec![false; matching.left_count()], vec![false; matching.left_count()]);
        self.given.seeds.iter().for_each(|&[left, _]| is_seeded[left] = true);
        self.closed.iter().for_each(|&left| is_closed[left] = true);
        let mut seeded = self.clone();
        let pairs =
            matching.pairs().filter(move |&(left, _)| !is_seeded[left]).map(|(left, right)| (left, Some(right)));
        let others = matching.unmatched_left().filter(move |&left| !is_closed[left]).map(|left| (left, None));
        pairs.chain(others).filter_map(move |(left, right)| {
            if let Some(right) = right {
                let mut without = seeded.clone();
                without.given.forbidden.push([left, right]);
                seeded.given.seeds.push([left, right]);
                return Some(without);
            }
            // All its pairs, and one more left node. A node that must be matched and is not has no place left next to the others.
            let more = (problem.unmatched_score(left) > f64::NEG_INFINITY).then(|| {
                let mut more = seeded.clone();
                more.must.push(left);
                more
            });
            seeded.closed.push(left);
            more
        })
    }

    /// The rows of a problem, narrowed to the class.
    fn write(&self, problem: &Streamed<'_>, rows: Range<usize>, scores: &mut Array2<f64>) {
        problem.write(rows.clone(), scores);
        self.given.apply_to_rows(&rows, scores);
        for &left in self.closed.iter().filter(|left| rows.contains(left)) {
            scores.row_mut(left - rows.start).fill(f64::NEG_INFINITY);
        }
    }

    /// Written over the problem of another class: a new table for each would be most of the time.
    fn of_table<'a>(&self, problem: &Compatibility, table: &'a mut Option<Compatibility>) -> Result<&'a Compatibility> {
        let narrowed = table.get_or_insert_with(|| problem.clone());
        narrowed.node.assign(&problem.node);
        narrowed.unmatched.clone_from(&problem.unmatched);
        narrowed.right_unmatched.clone_from(&problem.right_unmatched);
        self.given.apply(narrowed)?;
        for &left in &self.closed {
            narrowed.node.row_mut(left).fill(f64::NEG_INFINITY);
        }
        for &left in &self.must {
            if let Some(unmatched) = &mut narrowed.unmatched {
                unmatched[left] = f64::NEG_INFINITY;
            }
        }
        Ok(narrowed)
    }
}

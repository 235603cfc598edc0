//! Problems without a table ([`Streamed`]), and exact linear assignment on them: scores are computed a few rows at a time, as often as
//! needed, and never stored. That is how 10⁴ × 10⁴ points are matched; `soft/listed` matches them where edges count as well.
//!
//! 1. **Candidates** (`candidates`): one pass over all pairs keeps a few right nodes of each left node.
//! 2. They are solved as a [`Sparse`](super::Sparse) problem, which gives dual values l_i and r_k.
//! 3. **Pricing** (`pricing`): one more pass. A pair that was left out can improve the matching only if its score exceeds l_i + r_k. The
//!    best such pairs of each left node become candidates, and step 2 follows again. If there are none, the dual values prove the matching
//!    best of all, not just among candidates.
//!
//! Where candidates leave left nodes without a place, those nodes get more of them until they have one, or until all pairs show that there
//! is none. Cost: a few passes of n m scores each, and memory of a few dozen numbers per node. If the dual values of the candidates prove
//! nothing within the tolerance after many rounds, or if scores differ so much in size that rounding hides the proof, the table is built.

mod best;
mod candidates;
mod pricing;
mod rows;

pub(in crate::matching) use self::best::{Best, raise};
use self::candidates::Candidates;
pub(in crate::matching) use self::pricing::Prices;
use super::Linear;
use super::careful::TOLERANCE;
use super::sparse::narrow;
use crate::matching::problem::PART;
use crate::matching::{Compatibility, Constraint, EdgeTerm, Matcher, Matching, Solution, Status, Workspace};
use crate::{Control, Error, Result};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use std::ops::Range;

/// A one-to-one problem whose node scores are computed when they are needed.
///
/// ```
/// use homolog::matching::{Linear, Matcher, Streamed};
/// let (left, right) = ([0.1, 5.2, 2.9], [3.0, 0.0, 5.0]);
/// let write = |rows: std::ops::Range<usize>, scores: &mut ndarray::Array2<f64>| {
///     for ((at, k), score) in scores.indexed_iter_mut() {
///         *score = -f64::powi(left[rows.start + at] - right[k], 2);
///     }
/// };
/// let problem = Streamed::new(3, 3, &write);
/// let solution = Linear::default().solve(&problem)?;
/// assert_eq!(solution.matching.left_to_right(), [Some(1), Some(2), Some(0)]);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Clone)]
pub struct Streamed<'a> {
    left_count: usize,
    right_count: usize,
    write_rows: &'a WriteRows<'a>,
    unmatched: Option<Vec<f64>>,
    right_unmatched: Option<Vec<f64>>,
    edge: Option<&'a EdgeTerm>,
    /// How many right nodes each left node begins with, by each of two measures, and how many more it gets at a time.
    pub candidates: usize,
    /// Where edges count: how many right nodes each left node is compared with at most.
    pub edge_candidates: usize,
    /// How many rows are computed at a time.
    pub rows_at_once: usize,
}

/// Writes the scores of a range of left nodes, one row each; minus infinity forbids. Called again, it must write the same numbers.
pub(crate) type WriteRows<'a> = dyn Fn(Range<usize>, &mut Array2<f64>) + Sync + 'a;

/// Candidates of each left node, by each of two measures.
const CANDIDATES: usize = 12;
/// Candidates of each left node where edges count: this many, or as many as make that many pairs in all.
const EDGE_CANDIDATES: usize = 48;
const EDGE_PAIRS: usize = 1 << 19;
/// Scores computed at a time: 4 MB.
const CELLS_AT_ONCE: usize = 1 << 19;
/// Rounds of pricing after which the table is built.
const MOST_ROUNDS: usize = 40;

/// Some rows of scores.
pub(in crate::matching) struct Block<'a> {
    rows: Range<usize>,
    scores: &'a Array2<f64>,
}

impl Block<'_> {
    pub(in crate::matching) fn rows(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.rows.clone().zip(self.scores.rows()).filter_map(|(row, scores)| Some((row, scores.to_slice()?)))
    }
}

impl<'a> Streamed<'a> {
    /// A problem with this many nodes; all must be matched if they can be.
    #[must_use]
    pub fn new(left_count: usize, right_count: usize, write_rows: &'a WriteRows<'a>) -> Self {
        let rows_at_once = (CELLS_AT_ONCE / right_count.max(1)).max(1);
        Self {
            left_count,
            right_count,
            write_rows,
            unmatched: None,
            right_unmatched: None,
            edge: None,
            candidates: CANDIDATES,
            edge_candidates: EDGE_CANDIDATES.max(EDGE_PAIRS / left_count.max(1)),
            rows_at_once,
        }
    }

    /// The same with scores for pairs of edges.
    #[must_use]
    pub fn with_edges(self, edge: &'a EdgeTerm) -> Self {
        Self { edge: Some(edge), ..self }
    }

    /// The same with a score for leaving each left node unmatched; minus infinity means it must be matched if it can be.
    #[must_use]
    pub fn with_unmatched(self, scores: Vec<f64>) -> Self {
        Self { unmatched: Some(scores), ..self }
    }

    /// The same with a score for leaving each right node unmatched.
    #[must_use]
    pub fn with_right_unmatched(self, scores: Vec<f64>) -> Self {
        Self { right_unmatched: Some(scores), ..self }
    }

    pub(in crate::matching) fn check(&self) -> Result<()> {
        for (name, value) in [
            ("candidates", self.candidates),
            ("edge_candidates", self.edge_candidates),
            ("rows_at_once", self.rows_at_once),
        ] {
            Error::unless_counted(name, value)?;
        }
        let nodes = self.edge.map_or((self.left_count, self.right_count), |e| (e.left_count(), e.right_count()));
        for (what, expected, found) in [
            ("left nodes of the edge term", self.left_count, nodes.0),
            ("right nodes of the edge term", self.right_count, nodes.1),
        ] {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        // All other checks are those of a sparse problem.
        Candidates::none(self.left_count).problem(self).map(|_| ())
    }

    /// The numbers of left and right nodes.
    pub(in crate::matching) fn dim(&self) -> (usize, usize) {
        (self.left_count, self.right_count)
    }

    /// The edge scores, if there are any.
    pub(in crate::matching) fn edge(&self) -> Option<&'a EdgeTerm> {
        self.edge.filter(|edge| !edge.is_empty())
    }

    pub(in crate::matching) fn has_right_prices(&self) -> bool {
        self.right_unmatched.is_some()
    }

    /// The column that a row's scan begins with, so that different rows prefer different columns among equals.
    pub(in crate::matching) fn first_column(&self, row: usize) -> usize {
        row * self.right_count / self.left_count.max(1)
    }

    /// The score of leaving a left node unmatched: minus infinity where it must be matched.
    pub(in crate::matching) fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched.as_ref().map_or(f64::NEG_INFINITY, |scores| scores[left])
    }

    /// The scores of leaving left nodes unmatched, if there are any.
    pub(in crate::matching) fn left_prices(&self) -> Option<Vec<f64>> {
        self.unmatched.clone()
    }

    /// What each right node gives up when it is matched.
    pub(in crate::matching) fn prices(&self) -> Vec<f64> {
        self.right_unmatched.clone().unwrap_or_else(|| vec![0.0; self.right_count])
    }

    /// The same problem with other rows and prices of left nodes.
    pub(in crate::matching) fn narrowed<'b>(
        &'b self,
        write_rows: &'b WriteRows<'b>,
        prices: Option<Vec<f64>>,
    ) -> Streamed<'b> {
        Streamed { write_rows, unmatched: prices, ..self.clone() }
    }

    fn block_count(&self) -> usize {
        self.left_count.div_ceil(self.rows_at_once)
    }

    /// What `look` returns for each block of rows, in order, whatever the number of threads. `None` if the caller will not wait.
    pub(in crate::matching) fn each_block<T: Send>(
        &self,
        control: &Control,
        look: impl Fn(&Block<'_>) -> Result<T> + Sync,
    ) -> Result<Option<Vec<T>>> {
        let all: Vec<usize> = (0..self.block_count()).collect();
        self.blocks(&all, control, look)
    }

    /// [`Self::each_block`] for some of them.
    fn blocks<T: Send>(
        &self,
        which: &[usize],
        control: &Control,
        look: impl Fn(&Block<'_>) -> Result<T> + Sync,
    ) -> Result<Option<Vec<T>>> {
        let answers = which.par_iter().map_init(
            || Array2::zeros((0, 0)),
            |scores, &number| {
                if control.interrupted() {
                    return Ok(None);
                }
                let first = number * self.rows_at_once;
                let rows = first..self.left_count.min(first + self.rows_at_once);
                if scores.dim() != (rows.len(), self.right_count) {
                    *scores = Array2::zeros((rows.len(), self.right_count));
                }
                (self.write_rows)(rows.clone(), scores);
                look(&Block { rows, scores }).map(Some)
            },
        );
        let answers: Result<Vec<Option<T>>> = answers.collect();
        Ok(answers?.into_iter().collect())
    }
}

impl Linear {
    /// Solves a problem whose scores are computed when they are needed. If told to stop, the matching is what was found so far, and nothing
    /// is proven.
    pub(super) fn solve_rows(&self, problem: &Streamed<'_>, work: &mut Workspace) -> Result<Solution> {
        if problem.edge().is_some() {
            return Err(Error::Unsupported { solver: "linear", what: "edge scores" });
        }
        let solution = problem.solve_nodes(work)?;
        match (solution.status, solution.shortage.clone().filter(|_| self.require_full)) {
            (Status::Optimal, Some(shortage)) => Err(Error::NoFullMatching { shortage }),
            (Status::Optimal | Status::Limit, _) => Ok(solution),
            _ if Compatibility::check_size(problem.left_count, problem.right_count).is_err() => Ok(solution),
            _ => self.solve_with(&problem.to_dense()?, work),
        }
    }
}

impl Streamed<'_> {
    /// The best matching by node scores alone, with the dual values of the candidates. Not proven, the status is [`Status::Converged`]; the
    /// bound is valid then, and where it is finite the matching is as large as any.
    pub(in crate::matching) fn solve_nodes(&self, work: &mut Workspace) -> Result<Solution> {
        self.check()?;
        let control = work.control().clone();
        let Some(mut candidates) = Candidates::choose(self, &control)? else { return self.stopped() };
        let mut rounds = 0;
        loop {
            let solution = Linear::default().solve_list(&candidates.problem(self)?, work)?;
            let Some(certificate) = &solution.certificate else { return Ok(solution) };
            let Some(priced) = pricing::price(self, &candidates, &solution, certificate, &control)? else {
                let (bound, status) = (f64::INFINITY, Status::Limit);
                return Ok(Solution { bound, status, certificate: None, shortage: None, ..solution });
            };
            rounds += 1;
            if !priced.better.is_empty() && rounds < MOST_ROUNDS {
                candidates.add(priced.better.into_iter());
                continue;
            }
            let usual = self.left_count as f64 * priced.difference;
            let is_close = |gap: f64| gap + priced.noise <= (TOLERANCE * priced.given_up).min(PART * usual);
            let is_proven = priced.better.is_empty() && priced.gap.is_some_and(is_close);
            if is_proven {
                return Ok(Solution { bound: solution.score, status: Status::Optimal, ..solution });
            }
            let bound = priced.gap.map_or(f64::INFINITY, |gap| solution.score + gap.max(0.0) + priced.noise);
            return Ok(Solution { bound, status: Status::Converged, ..solution });
        }
    }

    /// The node scores and prices as a table.
    pub(in crate::matching) fn to_dense(&self) -> Result<Compatibility> {
        Compatibility::check_size(self.left_count, self.right_count)?;
        let mut node = Array2::zeros((self.left_count, self.right_count));
        (self.write_rows)(0..self.left_count, &mut node);
        let [unmatched, right_unmatched] =
            [&self.unmatched, &self.right_unmatched].map(|prices| prices.clone().map(Array1::from_vec));
        Ok(Compatibility { unmatched, right_unmatched, ..Compatibility::linear(node) })
    }

    /// The answer if the caller would not wait for the first candidates.
    fn stopped(&self) -> Result<Solution> {
        let matching = Matching::new(vec![None; self.left_count], self.right_count, Constraint::OneToOne)?;
        let score = Candidates::none(self.left_count).problem(self)?.score(&matching)?;
        let (bound, status) = (f64::INFINITY, Status::Limit);
        Ok(Solution { matching, score, bound, status, iterations: 0, certificate: None, shortage: None, allowed: 0.0 })
    }
}

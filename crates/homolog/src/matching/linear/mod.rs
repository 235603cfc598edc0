//! Exact linear assignment on dense rectangular scores, with dual values that prove the answer.
//!
//! maximise Σ_i node_(i, y_i) + Σ_(i unmatched) unmatched_i, one-to-one; worst case O(n² m).
//!
//! Rows first bid for columns (`bids`), then each row left over is placed by a shortest augmenting path over whole rows (`dense`). Where rows are
//! long, a short list of columns takes the place of most of them (`lists`): from the lists an auction finds prices close to optimal
//! (`auction`), and searches go over the lists (`lazy`). Three cases are led back to that:
//! more left than right nodes, all of which must be matched (solved transposed); forbidden pairs that leave no place for some node
//! (`crowd` finds the nodes that compete, which splits the problem in two); scores so large or small that
//! differences would overflow or lose bits (multiplied by a power of two, which is exact). Many-to-one is the best of each row.
//! If nearly all pairs are forbidden, the others are listed and solved as [`Sparse`] (`few`); if most have one value, the worst of all, the
//! others are listed too (`sparse::common`). Tables of a few columns are solved on the stack (`tiny`); columns that differ as a whole start with
//! prices (`reduction`).
//! Where scores are so unlike that rounding could have hidden what matters, the problem is solved again with care (`careful`); of small ones
//! this is so unless no other matching is nearly as good (`hidden`).
//!
//! **Ties.** The same input gives the same answer. Right nodes are scanned in increasing order and only a strictly better one
//! replaces an earlier one, so all-equal scores give the identity; between other equally good matchings the choice is
//! deterministic but not otherwise specified.
//!
//! Problems that list their allowed pairs, of any size, are [`Sparse`]; those too large for a table [`Streamed`].
//!
//! It does not take edge scores: it answers [`Error::Unsupported`](crate::Error::Unsupported) rather than drop them.

mod auction;
mod bids;
mod buffers;
mod careful;
mod core;
mod cores;
mod crowd;
mod dense;
mod few;
mod given;
mod hidden;
mod hungarian;
mod lazy;
mod lists;
mod parts;
mod reduction;
mod scan;
mod sparse;
mod streamed;
mod tiny;
mod unfolded;

pub(crate) use self::hungarian::Hungarian;

pub(crate) use self::buffers::LinearBuffers;
use self::given::Given;
pub use self::sparse::Sparse;
pub use self::streamed::Streamed;
pub(super) use self::streamed::{Best, Prices, raise};
use super::k_best::behind;
use super::problem::FoldedPrices;
use super::{
    Certificate, Compatibility, Constraint, Form, Matcher, Matching, Problem, Sense, Shortage, Solution, Status,
    Workspace,
};
use crate::{Control, Error, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// With prices of right nodes and no more nodes than this, a problem is solved again if rounding of the prices could hide what matters.
const MOST_NODES_PRICED: usize = 256;

/// Exact linear assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Linear {
    /// Fail with [`Error::NoFullMatching`] where forbidden pairs leave a node of the smaller side without a partner, instead of
    /// answering with the best of the largest matchings.
    pub require_full: bool,
}

impl Linear {
    /// Solves without building a [`Solution`]: the right node of each left node, in memory of the workspace. For loops over many
    /// problems of one size; allocates nothing after the first, and does not ask the workspace's control.
    ///
    /// # Errors
    /// As [`Matcher::solve`].
    ///
    /// ```
    /// use homolog::matching::{Compatibility, Linear, Workspace};
    /// let mut work = Workspace::new();
    /// let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
    /// assert_eq!(Linear::default().assign(&problem, &mut work)?, [Some(1), Some(0)]);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    pub fn assign<'w>(&self, problem: &Compatibility, work: &'w mut Workspace) -> Result<&'w [Option<usize>]> {
        if problem.right_unmatched.is_some() {
            problem.check_rest()?;
            return self.assign(&FoldedPrices::of(problem).problem, work);
        }
        self.run(problem, &mut work.linear, None)?;
        Ok(&work.linear.right_of)
    }

    /// Leaves the answer in the buffers; without prices of right nodes.
    fn run(self, problem: &Compatibility, buffers: &mut LinearBuffers, control: Option<&Control>) -> Result<()> {
        if problem.edge.is_some() {
            return Err(Error::Unsupported { solver: "linear", what: "edge scores" });
        }
        problem.check_rest()?;
        if problem.constraint == Constraint::ManyToOne {
            buffers.assign_many_to_one(problem)?;
        } else {
            let prices = problem.unmatched.as_ref().map(|prices| prices.view());
            buffers.assign(&Given { node: problem.node.view(), sense: Sense::Maximize, prices, control })?;
        }
        if self.require_full && !buffers.stopped && is_short(problem, &buffers.crowd) {
            return Err(Error::NoFullMatching { shortage: buffers.crowd.clone() });
        }
        Ok(())
    }

    /// [`Matcher::solve`] to the end, whatever the caller's control says: for small problems inside larger ones.
    pub(crate) fn solve_through(self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        self.solve_within(problem, &mut work.linear, None)
    }

    /// Solves once more where rounding could have hidden a better matching. If there is none the answer stays as it is, as of [`Self::assign`].
    fn run_again_with_care(
        self,
        problem: &Compatibility,
        buffers: &mut LinearBuffers,
        control: Option<&Control>,
    ) -> Result<()> {
        let before = (buffers.right_of.clone(), buffers.left.clone(), buffers.right.clone(), buffers.crowd.clone());
        buffers.cores.sure = true;
        let again = self.run(problem, buffers, control);
        buffers.cores.sure = false;
        again?;
        let [old, new] = [&before.0, &buffers.right_of]
            .map(|map| Matching::new(map.clone(), problem.right_count(), problem.constraint));
        if !buffers.stopped && behind(problem, &new?, &old?) <= 0.0 {
            (buffers.right_of, buffers.left, buffers.right, buffers.crowd) = before;
        }
        Ok(())
    }

    fn solve_within(
        self,
        given: &Compatibility,
        buffers: &mut LinearBuffers,
        control: Option<&Control>,
    ) -> Result<Solution> {
        given.check_rest()?;
        let folded = FoldedPrices::of(given);
        let problem = &*folded.problem;
        self.run(problem, buffers, control)?;
        if !buffers.stopped && buffers.gap == 0.0 && hidden::may_hide_better(problem, buffers) {
            self.run_again_with_care(problem, buffers, control)?;
        }
        let matching = Matching::new(buffers.right_of.clone(), problem.right_count(), problem.constraint)?;
        let score = problem.score(&matching)?;
        let crowd = (!buffers.crowd.left.is_empty()).then(|| buffers.crowd.clone());
        let (bound, status) = match buffers.gap {
            _ if buffers.stopped => (f64::INFINITY, Status::Limit),
            gap if gap > 0.0 => ((score + gap).next_up(), Status::Converged),
            _ => (score, Status::Optimal),
        };
        let solution = Solution {
            matching,
            score,
            bound,
            status,
            iterations: problem.left_count(),
            shortage: crowd.clone().filter(|crowd| is_short(problem, crowd)),
            certificate: (!buffers.stopped).then(|| Certificate {
                left: buffers.left.clone(),
                right: buffers.right.clone(),
                crowd,
            }),
            allowed: 0.0,
        };
        let solution = folded.carry_back(given, solution)?;
        let nodes = problem.left_count() + problem.right_count();
        if folded.is_plain() || solution.status != Status::Converged || nodes > MOST_NODES_PRICED {
            return Ok(solution);
        }
        let unfolded = unfolded::solve(given, &solution, buffers, control)?;
        Ok(unfolded.unwrap_or(solution))
    }

    /// Solves a matrix where it stands in the caller's memory, without unmatched prices: the right node of each left node. Costs are
    /// minimised (plus infinity forbids), scores maximised (minus infinity forbids). It stops when the workspace's
    /// [`Control`](crate::Control) says so: then the answer is `None`.
    ///
    /// # Errors
    /// NaN, or the infinity that would be taken at any price; as [`Self::assign`] where a full matching is required.
    ///
    /// ```
    /// use homolog::matching::{Linear, Sense, Workspace};
    /// let mut work = Workspace::new();
    /// let costs = ndarray::array![[3.0, 1.0], [2.0, 5.0]];
    /// let answer = Linear::default().assign_matrix(costs.view(), Sense::Minimize, &mut work)?;
    /// assert_eq!(answer, Some(&[Some(1), Some(0)][..]));
    /// # Ok::<(), homolog::Error>(())
    /// ```
    pub fn assign_matrix<'w>(
        &self,
        matrix: ArrayView2<'_, f64>,
        sense: Sense,
        work: &'w mut Workspace,
    ) -> Result<Option<&'w [Option<usize>]>> {
        let given = Given { node: matrix, sense, prices: None, control: Some(&work.control) };
        work.linear.assign(&given)?;
        if work.linear.stopped {
            return Ok(None);
        }
        let (n, m) = matrix.dim();
        let crowd = &work.linear.crowd;
        if self.require_full && crowd.left.len() - crowd.right.len() > n.saturating_sub(m) {
            return Err(Error::NoFullMatching { shortage: crowd.clone() });
        }
        Ok(Some(&work.linear.right_of))
    }
}

impl Matcher for Linear {
    /// Interrupted, it answers with the rows placed so far, the others in any place that is free and allowed: [`Status::Limit`], no
    /// certificate, and where pairs are forbidden a node may be left over that could have been matched.
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        match problem.form() {
            Form::Table(table) => self.solve_within(table, &mut work.linear, Some(&work.control)),
            Form::List(list) => self.solve_list(list, work),
            Form::Rows(rows) => self.solve_rows(rows, work),
        }
    }
}

/// Whether forbidden pairs, and not just a lack of right nodes, keep nodes from being matched.
fn is_short(problem: &Compatibility, crowd: &Shortage) -> bool {
    if problem.constraint == Constraint::ManyToOne {
        return !crowd.left.is_empty();
    }
    let forced = (0..problem.left_count()).filter(|&i| problem.unmatched_score(i) == f64::NEG_INFINITY).count();
    let left_over = crowd.left.len() - crowd.right.len();
    left_over > forced.saturating_sub(problem.right_count())
}

fn reset<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

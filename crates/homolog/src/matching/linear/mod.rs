//! Exact linear assignment on dense rectangular scores, with dual values that prove the answer.
//!
//! maximise Σ_i node_(i, y_i) + Σ_(i unmatched) unmatched_i, one-to-one; worst case O(n² m).
//!
//! Rows first bid for columns (`bids`), then each row left over is placed by a shortest augmenting path: over whole rows (`dense`), or
//! over short lists of columns where rows are long (`lazy`). Three cases are led back to it:
//! more left than right nodes, all of which must be matched (solved transposed); forbidden pairs that leave no place for some node
//! (`crowd` finds the nodes that compete, which splits the problem in two); scores so large or small that
//! differences would overflow or lose bits (multiplied by a power of two, which is exact). Many-to-one is the best of each row.
//! Where most pairs are forbidden the others are listed and solved as [`Sparse`] (`few`).
//! Where scores are so unlike that rounding could have hidden what matters, the problem is solved again with care (`careful`).
//!
//! **Ties.** The same input gives the same answer. Right nodes are scanned in increasing order and only a strictly better one
//! replaces an earlier one, so all-equal scores give the identity; between other equally good matchings the choice is
//! deterministic but not otherwise specified.
//!
//! Problems that list their allowed pairs, of any size, are [`Sparse`]; those too large for a table [`Streamed`].
//!
//! It does not take edge scores: it answers [`Error::Unsupported`](crate::Error::Unsupported) rather than drop them.

mod bids;
mod careful;
mod core;
mod crowd;
mod dense;
mod few;
mod given;
mod hungarian;
mod lazy;
mod scan;
mod sparse;
mod streamed;

pub use self::hungarian::Hungarian;

use self::bids::{FirstBids, MoreBids};
use self::core::{Core, NONE, Scores};
use self::given::Given;
use self::scan::Facts;
use self::sparse::SparseBuffers;
pub use self::sparse::{Sparse, verify_sparse};
pub(super) use self::streamed::{Best, Prices, raise};
pub use self::streamed::{Streamed, WriteRows};
use super::problem::FoldedPrices;
use super::{Certificate, Compatibility, Constraint, Matcher, Matching, Sense, Shortage, Solution, Status, Workspace};
use crate::{Control, Error, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// Exact linear assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Linear {
    /// Fail with [`Error::NoFullMatching`] where forbidden pairs leave a node of the smaller side without a partner, instead of
    /// answering with the best of the largest matchings.
    pub require_full: bool,
}

/// Buffers of the linear solver, and the answer of its last solve. Nothing is allocated for a problem no larger than one before,
/// unless forbidden pairs leave a node without a place, or most pairs are forbidden.
#[derive(Debug, Default)]
pub(crate) struct LinearBuffers {
    cores: Cores,
    sparse: SparseBuffers,
    /// Scores copied where the problem's own cannot be used as they stand: strided in memory, of short rows, or in need of scaling.
    scores: Vec<f64>,
    unmatched: Vec<f64>,
    /// Scores of a part of the problem, transposed or not.
    part: Vec<f64>,
    right_of: Vec<Option<usize>>,
    left: Vec<f64>,
    right: Vec<f64>,
    /// Left nodes that compete for too few right nodes; empty where every node that must be matched can be.
    crowd: Shortage,
    /// The caller stopped the last solve; there is no answer.
    stopped: bool,
    /// How far above the score the proven bound is; 0 unless rounding hides it.
    gap: f64,
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
        };
        folded.carry_back(given, solution)
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
    fn solve(&self, given: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        self.solve_within(given, &mut work.linear, Some(&work.control))
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

impl LinearBuffers {
    fn begin(&mut self, (n, m): (usize, usize)) {
        reset(&mut self.right_of, n, None);
        reset(&mut self.left, n, 0.0);
        reset(&mut self.right, m, 0.0);
        self.crowd.left.clear();
        self.crowd.right.clear();
        self.stopped = false;
        self.gap = 0.0;
    }

    fn assign_many_to_one(&mut self, problem: &Compatibility) -> Result<()> {
        problem.check()?;
        self.begin(problem.node.dim());
        self.best_of_each_row(problem);
        Ok(())
    }

    fn assign(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        self.begin((n, m));
        self.unmatched.clear();
        self.unmatched.extend(problem.prices.iter().flatten());
        if self.unmatched.iter().all(|&price| price == f64::NEG_INFINITY) {
            self.unmatched.clear();
        }
        if self.assign_few(problem)? {
            return Ok(());
        }
        if n > m && self.unmatched.is_empty() { self.assign_tall(problem) } else { self.assign_wide(problem) }
    }

    /// Where most pairs are forbidden the others are listed and solved as such; `false` where that is not so, or where scores are so unlike
    /// that the list's answer could not be proven.
    fn assign_few(&mut self, problem: &Given<'_>) -> Result<bool> {
        let Some(sparse) = few::list(problem, &self.unmatched)? else { return Ok(false) };
        let Some(found) = self.sparse.prove(&sparse, &|| problem.goes_on())? else { return Ok(false) };
        let (matching, certificate) = found;
        self.right_of.copy_from_slice(matching.left_to_right());
        self.left = certificate.left;
        self.right = certificate.right;
        self.crowd = certificate.crowd.unwrap_or_default();
        Ok(true)
    }

    /// Every left node chooses.
    fn assign_wide(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        // Short rows are copied with forbidden columns up to a full set of lanes; long ones are used where they stand.
        let columns = if m < PADDED_BELOW { m.next_multiple_of(scan::LANES) } else { m };
        let own = problem.node.as_slice().filter(|_| columns == m);
        if own.is_none() {
            self.copy_scores(problem, 1.0, columns);
        }
        let (values, sign) = own.map_or((&self.scores[..], 1.0), |own| (own, problem.sign()));
        let given = Scores { rows: n, columns, values, sign, unmatched: some_if_any(&self.unmatched) };
        let goes_on = || problem.goes_on();
        let mut facts = Facts::new(sign);
        if own.is_some() {
            self.cores.begin(&given, Some(&mut facts));
        } else {
            self.cores.begin(&given, None);
            facts = problem.facts();
        }
        let scale = problem.checked_scale(&facts)?;
        let placed = if scale == 1.0 {
            self.cores.finish(&given, &goes_on)
        } else {
            self.copy_scores(problem, scale, columns);
            for price in &mut self.unmatched {
                *price *= scale;
            }
            let unmatched = some_if_any(&self.unmatched);
            self.cores.solve(&Scores { rows: n, columns, values: &self.scores, sign: 1.0, unmatched }, &goes_on)
        };
        if placed {
            let core = &self.cores.core;
            for (right, &column) in self.right_of.iter_mut().zip(&core.column_of) {
                *right = (column != NONE).then_some(column);
            }
            self.left.copy_from_slice(&core.left);
            self.right.copy_from_slice(&core.right[..m]);
            self.gap = self.cores.gap;
        } else if !problem.goes_on() {
            for (right, &column) in self.right_of.iter_mut().zip(&self.cores.core.column_of) {
                *right = (column != NONE).then_some(column);
            }
            self.stop(problem);
        } else {
            self.copy_scores(problem, scale, m);
            self.solve_split(problem);
        }
        self.unscale(scale);
        Ok(())
    }

    /// More left than right nodes, all of which must be matched if possible: the right nodes choose. If they all find a place, the
    /// whole problem is one crowd.
    fn assign_tall(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        let facts = problem.facts();
        let scale = problem.checked_scale(&facts)?;
        self.part.clear();
        let factor = problem.sign() * scale;
        self.part.extend(problem.node.t().iter().map(|&value| value * factor));
        let transposed = Scores { rows: m, columns: n, values: &self.part, sign: 1.0, unmatched: None };
        if self.cores.solve(&transposed, &|| problem.goes_on()) {
            self.crowd.left.extend(0..n);
            self.crowd.right.extend(0..m);
            self.take_crowd();
        } else if !problem.goes_on() {
            for (k, &i) in self.cores.core.column_of.iter().enumerate().filter(|&(_, &i)| i != NONE) {
                self.right_of[i] = Some(k);
            }
            self.stop(problem);
        } else {
            self.copy_scores(problem, scale, m);
            self.solve_split(problem);
        }
        self.unscale(scale);
        Ok(())
    }

    /// Writes the scores, scaled, row by row, each row filled up with forbidden columns.
    fn copy_scores(&mut self, problem: &Given<'_>, scale: f64, columns: usize) {
        let factor = problem.sign() * scale;
        reset(&mut self.scores, problem.node.nrows() * columns, f64::NEG_INFINITY);
        if columns == 0 {
            return;
        }
        for (copy, row) in self.scores.chunks_exact_mut(columns).zip(problem.node.rows()) {
            match row.as_slice() {
                Some(row) if factor == 1.0 => copy[..row.len()].copy_from_slice(row),
                Some(row) => copy.iter_mut().zip(row).for_each(|(copy, &value)| *copy = value * factor),
                None => copy.iter_mut().zip(row).for_each(|(copy, &value)| *copy = value * factor),
            }
        }
    }

    fn unscale(&mut self, scale: f64) {
        if scale != 1.0 {
            for value in self.left.iter_mut().chain(&mut self.right).chain([&mut self.gap]) {
                *value /= scale;
            }
        }
    }

    /// The caller will not wait: nodes without a place that must have one take any that is free and allowed.
    fn stop(&mut self, problem: &Given<'_>) {
        let mut is_free = vec![true; problem.node.ncols()];
        self.right_of.iter().flatten().for_each(|&k| is_free[k] = false);
        // Taken from the end.
        let mut free: Vec<usize> = (0..is_free.len()).rev().filter(|&k| is_free[k]).collect();
        for (i, right) in self.right_of.iter_mut().enumerate().filter(|(_, right)| right.is_none()) {
            let must = self.unmatched.get(i).is_none_or(|&price| price == f64::NEG_INFINITY);
            let allowed = |&k: &usize| problem.node[[i, k]] != problem.sense.forbidden();
            if must && let Some(at) = free.iter().rposition(allowed) {
                *right = Some(free.remove(at));
            }
        }
        self.stopped = true;
    }

    /// Finds the crowd and solves it (transposed: its right nodes choose) and the rest apart.
    fn solve_split(&mut self, problem: &Given<'_>) {
        if !self.solve_parts(problem) {
            self.stop(problem);
        }
    }

    /// `false`: the caller will not wait.
    fn solve_parts(&mut self, problem: &Given<'_>) -> bool {
        let (n, m) = problem.node.dim();
        let goes_on = || problem.goes_on();
        let unmatched = some_if_any(&self.unmatched);
        let whole = Scores { rows: n, columns: m, values: &self.scores, sign: 1.0, unmatched };
        let Some(crowd) = crowd::find(&whole, &goes_on) else { return false };
        self.crowd = crowd;
        self.part.clear();
        for &k in &self.crowd.right {
            self.part.extend(self.crowd.left.iter().map(|&i| self.scores[i * m + k]));
        }
        let (rows, columns) = (self.crowd.right.len(), self.crowd.left.len());
        let inside = Scores { rows, columns, values: &self.part, sign: 1.0, unmatched: None };
        let placed = self.cores.solve(&inside, &goes_on);
        debug_assert!(placed || !goes_on(), "a crowd fills its right nodes");
        if !placed {
            return false;
        }
        self.take_crowd();

        let rest_left: Vec<usize> = (0..n).filter(|i| self.crowd.left.binary_search(i).is_err()).collect();
        let rest_right: Vec<usize> = (0..m).filter(|k| self.crowd.right.binary_search(k).is_err()).collect();
        self.part.clear();
        for &i in &rest_left {
            self.part.extend(rest_right.iter().map(|&k| self.scores[i * m + k]));
        }
        let prices = self.unmatched.get(..n);
        let prices: Option<Vec<f64>> = prices.map(|prices| rest_left.iter().map(|&i| prices[i]).collect());
        let (rows, columns) = (rest_left.len(), rest_right.len());
        let outside = Scores { rows, columns, values: &self.part, sign: 1.0, unmatched: prices.as_deref() };
        let placed = self.cores.solve(&outside, &goes_on);
        debug_assert!(placed || !goes_on(), "outside the crowd everybody has a place");
        if !placed {
            return false;
        }
        self.gap += self.cores.gap;
        let core = &self.cores.core;
        for (row, &i) in rest_left.iter().enumerate() {
            self.left[i] = core.left[row];
            self.right_of[i] = rest_right.get(core.column_of[row]).copied();
        }
        for (column, &k) in rest_right.iter().enumerate() {
            self.right[k] = core.right[column];
        }
        true
    }

    /// Takes over a transposed answer for the crowd.
    fn take_crowd(&mut self) {
        self.gap += self.cores.gap;
        let core = &self.cores.core;
        for (row, &k) in self.crowd.right.iter().enumerate() {
            self.right[k] = core.left[row];
            if let Some(&i) = self.crowd.left.get(core.column_of[row]) {
                self.right_of[i] = Some(k);
            }
        }
        for (column, &i) in self.crowd.left.iter().enumerate() {
            self.left[i] = core.right[column];
        }
    }

    /// Many-to-one: each left node takes its best right node, the smallest on ties, or stays unmatched where that scores more.
    fn best_of_each_row(&mut self, problem: &Compatibility) {
        for (i, row) in problem.node.rows().into_iter().enumerate() {
            let mut best = f64::NEG_INFINITY;
            for (k, &score) in row.iter().enumerate() {
                if score > best {
                    best = score;
                    self.right_of[i] = Some(k);
                }
            }
            if problem.unmatched_score(i) > best {
                best = problem.unmatched_score(i);
                self.right_of[i] = None;
            }
            if best == f64::NEG_INFINITY {
                self.crowd.left.push(i);
                best = 0.0;
            }
            self.left[i] = best;
        }
    }
}

/// The two cores and the answer they share.
#[derive(Debug, Default)]
struct Cores {
    core: Core,
    dense: dense::Dense,
    lazy: lazy::Lazy,
    /// How far above the score the proven bound is; 0 where that is within the tolerance.
    gap: f64,
}

impl Cores {
    /// Places every row; `false` if some row has no place, or where `goes_on` says no.
    fn solve(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        self.begin(problem, None);
        self.finish(problem, goes_on)
    }

    /// The first bids; the facts are collected on the way, if asked for.
    fn begin(&mut self, problem: &Scores<'_>, facts: Option<&mut Facts>) {
        self.core.clear(problem.rows, problem.columns);
        pulp::Arch::new().dispatch(FirstBids { problem, core: &mut self.core, facts });
    }

    /// All that comes after the first bids.
    fn finish(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        if !goes_on() {
            return false;
        }
        // Short lists pay where rows are long, but not where many scores are equal. Their column numbers have 31 bits.
        let is_lazy = (lazy::FEWEST_COLUMNS..1 << 31).contains(&problem.columns)
            && problem.rows < 1 << 31
            && self.core.ties < problem.rows / 4;
        pulp::Arch::new().dispatch(MoreBids { problem, core: &mut self.core });
        let placed = if is_lazy {
            self.lazy.solve(problem, &mut self.core, &mut self.dense, goes_on)
        } else {
            self.dense.solve(problem, &mut self.core, goes_on)
        };
        let gap = placed.then(|| careful::refine(problem, &mut self.core, &mut self.dense, goes_on)).flatten();
        self.gap = gap.unwrap_or(0.0);
        gap.is_some()
    }
}

/// Shorter rows are worth a copy that fills up their lanes: at 500 columns the copy costs a fifth of the whole.
const PADDED_BELOW: usize = 64;

fn some_if_any(prices: &[f64]) -> Option<&[f64]> {
    (!prices.is_empty()).then_some(prices)
}

fn reset<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

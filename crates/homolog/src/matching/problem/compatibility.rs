//! [`Compatibility`]: the problem every matcher solves, equation 1 of the paper.
//!
//! maximise  Σ_ik node_ik y_ik  +  Σ_(ij)(kl) d_(ij)(kl) y_ik y_jl  +  Σ_(i unmatched) unmatched_i  +  Σ_(k unmatched) right_unmatched_k
//!
//! over matchings y. `node_ik = -inf` forbids the pair (i, k). `unmatched_i = -inf`, or no `unmatched` at all, means that left
//! node i must be matched as far as that is possible. The forbidden cells alone then decide what is feasible:
//!
//! * of the left nodes that must be matched, as many as possible are (all of them, or as many as there are right nodes, or fewer
//!   where forbidden pairs leave no more); such a node that is left over contributes nothing;
//! * among those matchings the largest total score wins.
//!
//! A right node may always stay unmatched; `right_unmatched` only says what that scores, 0 without it. Where right nodes can be shared
//! such prices are refused: "no one goes there" cannot then be written as a sum over pairs.
//!
//! So a rectangular problem with more left than right nodes simply leaves some left nodes over, and there is no big number
//! standing for "forbidden" anywhere.

use super::{Constraint, EdgeTerm, Matching, score_of};
use crate::{Error, Result};
use ndarray::{Array1, Array2};

/// Scores of pairs of nodes, of pairs of edges, and of staying unmatched. They are maximised.
///
/// ```
/// use homolog::matching::{Compatibility, Exact, Matcher};
/// use ndarray::array;
/// // Left node 1 would rather stay out, and so would right node 0, for 0.5 more than nothing.
/// let problem = Compatibility::linear(array![[3.0, 1.0], [0.2, 0.1]]).with_unmatched(array![0.0, 0.3]).with_right_unmatched(array![2.5, 0.0]);
/// let answer = Exact::default().solve(&problem)?;
/// assert_eq!(answer.matching.to_array(), array![1, -1]);
/// assert_eq!(answer.score, 1.0 + 0.3 + 2.5);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compatibility {
    /// c: one row per left node, one column per right node. Minus infinity forbids the pair.
    pub node: Array2<f64>,
    /// d: scores for pairs of edges, if the problem has them.
    pub edge: Option<EdgeTerm>,
    /// Score of leaving each left node unmatched; minus infinity (or `None` for all) means it must be matched if it can be.
    pub unmatched: Option<Array1<f64>>,
    /// Score of leaving each right node unmatched, a finite number; `None`: 0 for all. One-to-one problems only.
    pub right_unmatched: Option<Array1<f64>>,
    /// How often a right node may be used.
    pub constraint: Constraint,
}

/// The most pairs of nodes (left nodes times right nodes) a problem stored as a table may have: 1 GB of scores. A typing mistake in a
/// size should not take the machine down. Larger problems are lists of pairs ([`Sparse`](crate::matching::Sparse)).
pub(crate) const MAX_CELLS: usize = 1 << 27;

impl Compatibility {
    /// A linear one-to-one problem in which every left node must be matched if it can be.
    #[must_use]
    pub fn linear(node: Array2<f64>) -> Self {
        Self { node, edge: None, unmatched: None, right_unmatched: None, constraint: Constraint::OneToOne }
    }

    /// The same with scores for pairs of edges.
    #[must_use]
    pub fn with_edges(self, edge: EdgeTerm) -> Self {
        Self { edge: Some(edge), ..self }
    }

    /// The same with a score for leaving each left node unmatched; minus infinity means it must be matched if it can be.
    #[must_use]
    pub fn with_unmatched(self, scores: Array1<f64>) -> Self {
        Self { unmatched: Some(scores), ..self }
    }

    /// The same with a score for leaving each right node unmatched.
    #[must_use]
    pub fn with_right_unmatched(self, scores: Array1<f64>) -> Self {
        Self { right_unmatched: Some(scores), ..self }
    }

    /// The same with another rule for how often a right node may be used.
    #[must_use]
    pub fn with_constraint(self, constraint: Constraint) -> Self {
        Self { constraint, ..self }
    }

    /// The same without edge scores.
    #[must_use]
    pub fn without_edges(&self) -> Self {
        Self {
            node: self.node.clone(),
            edge: None,
            unmatched: self.unmatched.clone(),
            right_unmatched: self.right_unmatched.clone(),
            constraint: self.constraint,
        }
    }

    /// Refuses problems with more pairs of nodes than 2^27. Call it before building such a table.
    ///
    /// # Errors
    /// [`Error::TooLarge`] with the number of pairs and the limit.
    pub fn check_size(left_count: usize, right_count: usize) -> Result<()> {
        check_cells("pairs of a left and a right node", left_count, right_count, MAX_CELLS)
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.node.nrows()
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.node.ncols()
    }

    /// The score of leaving a left node unmatched: minus infinity where it must be matched.
    #[must_use]
    pub fn unmatched_score(&self, left: usize) -> f64 {
        self.unmatched.as_ref().map_or(f64::NEG_INFINITY, |scores| scores[left])
    }

    /// Refuses NaN and plus infinity, saying where they are, parts whose sizes disagree, and scores so large that their sums overflow.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self) -> Result<()> {
        let bad = |value: f64| value.is_nan() || value == f64::INFINITY;
        if let Some(((row, column), &value)) = self.node.indexed_iter().find(|&(_, &value)| bad(value)) {
            return Err(Error::BadCell { what: "node scores", row, column, value });
        }
        self.check_rest()?;
        self.check_sums()
    }

    /// Whether every matching's score is in range, with room for differences.
    pub(crate) fn check_sums(&self) -> Result<()> {
        let most = |most: f64, &value: &f64| if value.is_finite() { most.max(value.abs()) } else { most };
        let mut sum = 0.0;
        let mut largest = 0.0_f64;
        for (i, row) in self.node.rows().into_iter().enumerate() {
            let own = row.iter().fold(most(0.0, &self.unmatched_score(i)), most);
            sum += own;
            largest = largest.max(own);
        }
        for price in self.right_unmatched.iter().flatten() {
            sum += price.abs();
            largest = largest.max(price.abs());
        }
        if !(4.0 * sum).is_finite() {
            return Err(Error::Overflow { what: "node scores", largest });
        }
        if let Some(edge) = &self.edge {
            let largest = edge.magnitude();
            if !(4.0 * (sum + largest * edge.left_edges().len() as f64)).is_finite() {
                return Err(Error::Overflow { what: "edge scores", largest });
            }
        }
        Ok(())
    }

    /// [`Self::check`] without the node scores, for solvers that check those while reading them.
    pub(crate) fn check_rest(&self) -> Result<()> {
        if self.edge.is_none() && self.unmatched.is_none() && self.right_unmatched.is_none() {
            return Ok(());
        }
        self.check_sizes()?;
        let find = |scores: &Array1<f64>, bad: fn(f64) -> bool| scores.iter().position(|&value| bad(value));
        if let Some(scores) = &self.unmatched
            && let Some(index) = find(scores, |value| value.is_nan() || value == f64::INFINITY)
        {
            return Err(Error::BadEntry { what: "unmatched scores", index, value: scores[index] });
        }
        if let Some(scores) = &self.right_unmatched {
            if let Some(index) = find(scores, |value| !value.is_finite()) {
                return Err(Error::BadEntry { what: "unmatched scores of right nodes", index, value: scores[index] });
            }
            if self.constraint == Constraint::ManyToOne {
                let what = "unmatched scores of right nodes";
                return Err(Error::Unsupported { solver: "many-to-one matching", what });
            }
        }
        Ok(())
    }

    /// Whether all parts belong to the same problem.
    fn check_sizes(&self) -> Result<()> {
        let (n, m) = self.node.dim();
        let length = |scores: &Option<Array1<f64>>, expected: usize| scores.as_ref().map_or(expected, Array1::len);
        let edge = self.edge.as_ref().map_or((n, m), |edge| (edge.left_count(), edge.right_count()));
        let sizes = [
            ("unmatched scores", n, length(&self.unmatched, n)),
            ("unmatched scores of right nodes", m, length(&self.right_unmatched, m)),
            ("left nodes of the edge term", n, edge.0),
            ("right nodes of the edge term", m, edge.1),
        ];
        match sizes.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(Error::Size { what, expected, found }),
            None => Ok(()),
        }
    }

    /// The total score of a matching: node scores, then scores of unmatched left nodes (nothing for a node that had to be matched) and
    /// right nodes, then edges.
    ///
    /// # Errors
    /// The sizes of the matching, or of a part of the problem, do not agree; a forbidden pair is used.
    pub fn score(&self, matching: &Matching) -> Result<f64> {
        self.check_sizes()?;
        score_of(self, matching)
    }

    /// Each left node's part in the score of a matching; with the prices of unmatched right nodes the parts add up to the score. An edge
    /// score belongs half to each end.
    ///
    /// ```
    /// use homolog::matching::{Compatibility, Matching};
    /// let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [0.0, 2.0]]);
    /// assert_eq!(problem.shares(&Matching::identity(2))?, [3.0, 2.0]);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// The sizes of the matching and the problem differ.
    pub fn shares(&self, matching: &Matching) -> Result<Vec<f64>> {
        self.check_matching(matching)?;
        let own = |i: usize| match matching.right_of(i) {
            Some(k) => self.node[[i, k]],
            None => self.unmatched.as_ref().map_or(0.0, |scores| scores[i]),
        };
        let mut shares: Vec<f64> = (0..self.left_count()).map(own).collect();
        if let Some(edges) = &self.edge {
            edges.add_shares(matching, &mut shares);
        }
        Ok(shares)
    }

    /// Whether a matching is about as many nodes as the problem.
    fn check_matching(&self, matching: &Matching) -> Result<()> {
        let sizes = [
            ("left nodes of the matching", self.left_count(), matching.left_count()),
            ("right nodes of the matching", self.right_count(), matching.right_count()),
        ];
        match sizes.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(Error::Size { what, expected, found }),
            None => Ok(()),
        }
    }
}

/// Refuses a table with more cells than the limit.
pub(crate) fn check_cells(what: &'static str, rows: usize, columns: usize, limit: usize) -> Result<()> {
    let found = rows.saturating_mul(columns);
    if found > limit {
        return Err(Error::TooLarge { what, limit, found });
    }
    Ok(())
}

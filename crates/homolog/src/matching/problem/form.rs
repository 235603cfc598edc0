//! [`Problem`]: what every solver takes, however its node scores are given.
//!
//! Node scores are rows of (column, score): a table ([`Compatibility`]), a list of the allowed pairs ([`Sparse`]), or rows that are computed
//! when they are needed ([`Streamed`]). Solvers, [`verify`](crate::matching::verify), [`k_best`](crate::matching::k_best) and
//! [`margins`](crate::matching::margins) take all three.

use super::ByRow;
use crate::matching::{Compatibility, Matching, Sparse, Streamed};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// A matching problem.
///
/// ```
/// use homolog::matching::{Compatibility, Linear, Matcher, Problem, Sense, Sparse};
/// let table = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
/// let list = Sparse::from_pairs(2, 2, vec![(0, 0, 3.0), (0, 1, 1.0), (1, 0, 5.0), (1, 1, 2.0)], Sense::Maximize)?;
/// let problems: [&dyn Problem; 2] = [&table, &list];
/// for problem in problems {
///     assert_eq!(Linear::default().solve(problem)?.score, 6.0);
/// }
/// # Ok::<(), homolog::Error>(())
/// ```
pub trait Problem: Sync {
    /// How the node scores are given.
    fn form(&self) -> Form<'_>;

    /// The total score of a matching: node scores, then scores of unmatched left nodes (nothing for a node that had to be matched) and
    /// right nodes, then edges.
    ///
    /// # Errors
    /// The sizes of the matching, or of a part of the problem, do not agree; a forbidden pair is used.
    fn score(&self, matching: &Matching) -> Result<f64> {
        match self.form() {
            Form::Table(table) => table.score(matching),
            Form::List(list) => list.score(matching),
            Form::Rows(rows) => rows.check().and_then(|()| score_of(rows, matching)),
        }
    }

    /// The same problem as a table.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if there is no room for all pairs.
    fn table(&self) -> Result<Cow<'_, Compatibility>> {
        match self.form() {
            Form::Table(table) => Ok(Cow::Borrowed(table)),
            Form::List(list) => {
                Compatibility::check_size(list.left_count(), list.right_count())?;
                Ok(Cow::Owned(list.to_dense()))
            }
            Form::Rows(rows) => {
                let nodes = rows.to_dense()?;
                Ok(Cow::Owned(Compatibility { edge: rows.edge().cloned(), ..nodes }))
            }
        }
    }
}

/// The ways in which node scores are given.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Form<'a> {
    /// All of them, in a table.
    Table(&'a Compatibility),
    /// Those of the allowed pairs, in a list.
    List(&'a Sparse),
    /// Computed when they are needed, a few rows at a time.
    Rows(&'a Streamed<'a>),
}

impl Problem for Compatibility {
    fn form(&self) -> Form<'_> {
        Form::Table(self)
    }
}

impl Problem for Sparse {
    fn form(&self) -> Form<'_> {
        Form::List(self)
    }
}

impl Problem for Streamed<'_> {
    fn form(&self) -> Form<'_> {
        Form::Rows(self)
    }
}

impl<P: Problem + Send> Problem for Arc<P> {
    fn form(&self) -> Form<'_> {
        (**self).form()
    }
}

/// [`Problem::score`] of a problem whose parts have the right sizes.
pub(in crate::matching) fn score_of(problem: &impl ByRow, matching: &Matching) -> Result<f64> {
    let (n, m) = problem.sizes();
    for (what, expected, found) in [
        ("left nodes of the matching", n, matching.left_count()),
        ("right nodes of the matching", m, matching.right_count()),
    ] {
        if expected != found {
            return Err(Error::Size { what, expected, found });
        }
    }
    let mut total = 0.0;
    for (left, right) in matching.left_to_right().iter().enumerate() {
        let score = match *right {
            Some(right) => problem.pair_score(left, right).ok_or(Error::ForbiddenPair { left, right })?,
            None => problem.unmatched_score(left),
        };
        if score > f64::NEG_INFINITY {
            total += score;
        }
    }
    if problem.has_right_prices() {
        total += matching.unmatched_right().map(|k| problem.right_unmatched_score(k)).sum::<f64>();
    }
    Ok(total + problem.edge().map_or(0.0, |edge| edge.score(matching)))
}

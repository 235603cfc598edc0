//! [`Restrictions`]: what is known about a matching before it is solved for. A **seed** (i, k) is in every matching; a **forbidden** pair is
//! in none.
//!
//! Both become forbidden cells of the problem, so every solver respects them without knowing about them: a seed leaves row i nothing
//! but k and, one-to-one, column k nothing but i, and i may not stay unmatched. That cell is then the only one of its row and column,
//! and every matching that matches as many nodes as it must has it.

use super::{Compatibility, Constraint, Matching};
use crate::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pairs of nodes (left, right) that every matching has, and pairs that none has.
///
/// ```
/// use homolog::matching::{Compatibility, Linear, Matcher, Restrictions};
/// let mut problem = Compatibility::linear(ndarray::array![[3.0, 0.0], [0.0, 3.0]]);
/// let given = Restrictions { seeds: vec![[0, 1]], forbidden: vec![] };
/// given.apply(&mut problem)?;
/// let solution = Linear::default().solve(&problem)?;
/// assert_eq!(solution.matching.left_to_right(), [Some(1), Some(0)]);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restrictions {
    /// Pairs that every matching has.
    pub seeds: Vec<[usize; 2]>,
    /// Pairs that no matching has.
    pub forbidden: Vec<[usize; 2]>,
}

impl Restrictions {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty() && self.forbidden.is_empty()
    }

    /// Refuses what cannot hold.
    ///
    /// # Errors
    /// A node that does not exist; a left node with two seeds (one-to-one: also a right node); a seed that is forbidden.
    pub fn check(&self, left_count: usize, right_count: usize, constraint: Constraint) -> Result<()> {
        for &[left, right] in self.seeds.iter().chain(&self.forbidden) {
            if left >= left_count {
                return Err(Error::OutOfRange { what: "left nodes", index: left, count: left_count });
            }
            if right >= right_count {
                return Err(Error::OutOfRange { what: "right nodes", index: right, count: right_count });
            }
        }
        let (mut of_left, mut of_right) = (BTreeMap::new(), BTreeMap::new());
        for &[left, right] in &self.seeds {
            if of_left.insert(left, right).is_some_and(|other| other != right) {
                return Err(Error::TwoSeeds { left });
            }
            let taken = of_right.insert(right, left).filter(|&other| other != left);
            if let (Some(first), Constraint::OneToOne) = (taken, constraint) {
                return Err(Error::NotOneToOne { right, first, second: left });
            }
        }
        match self.forbidden.iter().find(|[left, right]| of_left.get(left) == Some(right)) {
            Some(&[left, right]) => Err(Error::ForbiddenPair { left, right }),
            None => Ok(()),
        }
    }

    /// Refuses a matching that lacks a seed or has a forbidden pair.
    ///
    /// # Errors
    /// The first such pair.
    pub fn check_matching(&self, matching: &Matching) -> Result<()> {
        let map = matching.left_to_right();
        let has = |&[left, right]: &[usize; 2]| map.get(left).is_some_and(|&partner| partner == Some(right));
        if let Some(&[left, right]) = self.seeds.iter().find(|seed| !has(seed)) {
            return Err(Error::MissingSeed { left, right });
        }
        match self.forbidden.iter().find(|pair| has(pair)) {
            Some(&[left, right]) => Err(Error::ForbiddenPair { left, right }),
            None => Ok(()),
        }
    }

    /// Narrows a problem to the matchings that remain.
    ///
    /// # Errors
    /// As [`Self::check`]; a seed whose cell the problem forbids.
    pub fn apply(&self, problem: &mut Compatibility) -> Result<()> {
        self.check(problem.left_count(), problem.right_count(), problem.constraint)?;
        for &[left, right] in &self.forbidden {
            problem.node[[left, right]] = f64::NEG_INFINITY;
        }
        for &[left, right] in &self.seeds {
            let score = problem.node[[left, right]];
            if score == f64::NEG_INFINITY {
                return Err(Error::ForbiddenPair { left, right });
            }
            problem.node.row_mut(left).fill(f64::NEG_INFINITY);
            if problem.constraint == Constraint::OneToOne {
                problem.node.column_mut(right).fill(f64::NEG_INFINITY);
            }
            problem.node[[left, right]] = score;
            if let Some(unmatched) = &mut problem.unmatched {
                unmatched[left] = f64::NEG_INFINITY;
            }
        }
        Ok(())
    }

    /// What [`Self::apply`] does to a one-to-one table, for the scores of some rows.
    pub(crate) fn apply_to_rows(&self, rows: &Range<usize>, scores: &mut Array2<f64>) {
        for &[i, k] in self.forbidden.iter().filter(|[i, _]| rows.contains(i)) {
            scores[[i - rows.start, k]] = f64::NEG_INFINITY;
        }
        for &[i, k] in &self.seeds {
            let own = rows.contains(&i).then(|| i - rows.start);
            let score = own.map(|row| scores[[row, k]]);
            scores.column_mut(k).fill(f64::NEG_INFINITY);
            if let (Some(row), Some(score)) = (own, score) {
                scores.row_mut(row).fill(f64::NEG_INFINITY);
                scores[[row, k]] = score;
            }
        }
    }
}

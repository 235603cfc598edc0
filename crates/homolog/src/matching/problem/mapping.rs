//! [`Matching`]: which left node goes to which right node. Its constructor checks everything once (indices in range, one-to-one
//! where that is the constraint), so that no one else has to.

use crate::{Error, Result};
use ndarray::Array1;
use serde::{Deserialize, Serialize, Serializer};

/// How often a right node may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constraint {
    /// Each right node at most once: Σ_i y_ik ≤ 1.
    #[default]
    OneToOne,
    /// Any number of left nodes may share a right node: the matching is a function.
    ManyToOne,
}

/// A possibly partial map from left nodes to right nodes.
///
/// ```
/// use homolog::matching::{Constraint, Matching};
/// let y = Matching::new(vec![Some(2), None, Some(0)], 4, Constraint::OneToOne)?;
/// assert_eq!(y.right_of(0), Some(2));
/// assert_eq!(y.left_of(0), Some(2));
/// assert_eq!(y.unmatched_left().collect::<Vec<_>>(), [1]);
/// assert_eq!(y.unmatched_right().collect::<Vec<_>>(), [1, 3]);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Matching {
    left_to_right: Vec<Option<usize>>,
    /// The smallest left node of each right node.
    right_to_left: Vec<Option<usize>>,
    constraint: Constraint,
}

impl Matching {
    /// Checks and wraps a map: entry `i` is the right node of left node `i`, or `None`.
    ///
    /// # Errors
    /// An index of `right_count` or more; under [`Constraint::OneToOne`] a right node that is used twice.
    pub fn new(left_to_right: Vec<Option<usize>>, right_count: usize, constraint: Constraint) -> Result<Self> {
        let mut right_to_left = vec![None; right_count];
        for (left, right) in left_to_right.iter().enumerate() {
            let Some(right) = *right else { continue };
            match right_to_left.get_mut(right) {
                None => return Err(Error::OutOfRange { what: "right nodes", index: right, count: right_count }),
                Some(slot @ None) => *slot = Some(left),
                Some(Some(first)) => {
                    if constraint == Constraint::OneToOne {
                        return Err(Error::NotOneToOne { right, first: *first, second: left });
                    }
                }
            }
        }
        Ok(Self { left_to_right, right_to_left, constraint })
    }

    /// Left node `i` to right node `i`, for all of `count` nodes on both sides.
    #[must_use]
    pub fn identity(count: usize) -> Self {
        let map: Vec<_> = (0..count).map(Some).collect();
        Self { left_to_right: map.clone(), right_to_left: map, constraint: Constraint::OneToOne }
    }

    /// Nothing matched.
    #[must_use]
    pub fn empty(left_count: usize, right_count: usize) -> Self {
        Self {
            left_to_right: vec![None; left_count],
            right_to_left: vec![None; right_count],
            constraint: Constraint::OneToOne,
        }
    }

    /// The right node of a left node; `None` where it is unmatched or does not exist.
    #[must_use]
    pub fn right_of(&self, left: usize) -> Option<usize> {
        self.left_to_right.get(left).copied().flatten()
    }

    /// The left node of a right node, the smallest if there are several; `None` where it is unmatched or does not exist.
    #[must_use]
    pub fn left_of(&self, right: usize) -> Option<usize> {
        self.right_to_left.get(right).copied().flatten()
    }

    /// The whole map from the left.
    #[must_use]
    pub fn left_to_right(&self) -> &[Option<usize>] {
        &self.left_to_right
    }

    /// The whole map from the right: each right node's (smallest) left node.
    #[must_use]
    pub fn right_to_left(&self) -> &[Option<usize>] {
        &self.right_to_left
    }

    /// The matched pairs (left, right), by left node.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.left_to_right.iter().enumerate().filter_map(|(i, k)| k.map(|k| (i, k)))
    }

    /// The right node of each left node, -1 for those without one: the usual form elsewhere.
    ///
    /// ```
    /// use homolog::matching::{Constraint, Matching};
    /// let y = Matching::new(vec![Some(2), None], 3, Constraint::OneToOne)?;
    /// assert_eq!(y.to_array(), ndarray::array![2, -1]);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    #[must_use]
    pub fn to_array(&self) -> Array1<i64> {
        self.left_to_right
            .iter()
            .map(|right| right.map_or(-1, |right| i64::try_from(right).unwrap_or(i64::MAX)))
            .collect()
    }

    /// Left nodes without a partner, in order.
    pub fn unmatched_left(&self) -> impl Iterator<Item = usize> + '_ {
        positions_of_none(&self.left_to_right)
    }

    /// Right nodes without a partner, in order.
    pub fn unmatched_right(&self) -> impl Iterator<Item = usize> + '_ {
        positions_of_none(&self.right_to_left)
    }

    /// How many left nodes are matched.
    #[must_use]
    pub fn matched_count(&self) -> usize {
        self.pairs().count()
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.left_to_right.len()
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.right_to_left.len()
    }

    /// The constraint that was checked.
    #[must_use]
    pub fn constraint(&self) -> Constraint {
        self.constraint
    }
}

/// A list of the right node of each left node, null where it has none.
impl Serialize for Matching {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.left_to_right.serialize(serializer)
    }
}

fn positions_of_none(map: &[Option<usize>]) -> impl Iterator<Item = usize> + '_ {
    map.iter().enumerate().filter(|(_, partner)| partner.is_none()).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_matching() {
        let out_of_range = Matching::new(vec![Some(3)], 3, Constraint::OneToOne);
        assert_eq!(out_of_range, Err(Error::OutOfRange { what: "right nodes", index: 3, count: 3 }));
        let twice = vec![Some(1), None, Some(1)];
        let clash = Matching::new(twice.clone(), 2, Constraint::OneToOne);
        assert_eq!(clash, Err(Error::NotOneToOne { right: 1, first: 0, second: 2 }));
        let many = Matching::new(twice, 2, Constraint::ManyToOne).unwrap();
        assert_eq!(many.left_of(1), Some(0));
    }
}

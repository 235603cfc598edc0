//! A list of pairs with fewer of them: what is given before solving, and a gate.

use super::Sparse;
use crate::matching::{Constraint, Restrictions};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

impl Sparse {
    /// The same problem for the matchings that have the seeds and none of the forbidden pairs: as [`Restrictions::apply`] does to a table.
    ///
    /// # Errors
    /// As [`Restrictions::check`]; a seed that is not listed.
    pub fn restricted(&self, given: &Restrictions) -> Result<Self> {
        given.check(self.left_count(), self.right_count(), Constraint::OneToOne)?;
        if let Some(&[left, right]) = given.seeds.iter().find(|seed| self.pair_score(seed[0], seed[1]).is_none()) {
            return Err(Error::ForbiddenPair { left, right });
        }
        let forbidden: BTreeSet<[usize; 2]> = given.forbidden.iter().copied().collect();
        let of_left: BTreeMap<usize, usize> = given.seeds.iter().map(|&[i, k]| (i, k)).collect();
        let of_right: BTreeMap<usize, usize> = given.seeds.iter().map(|&[i, k]| (k, i)).collect();
        let stays = |i: usize, k: usize| {
            let is_seeded = |own: Option<&usize>, other: usize| own.is_none_or(|&seed| seed == other);
            is_seeded(of_left.get(&i), k) && is_seeded(of_right.get(&k), i) && !forbidden.contains(&[i, k])
        };
        let mut narrowed = self.kept(|i, k, _| stays(i, k));
        if let Some(unmatched) = &mut narrowed.unmatched {
            of_left.keys().for_each(|&i| unmatched[i] = f64::NEG_INFINITY);
        }
        Ok(narrowed)
    }

    /// The same problem in which some left nodes have no pairs, and others no price of staying unmatched.
    pub(in crate::matching) fn closed(self, closed: &[usize], must: &[usize]) -> Self {
        let mut narrowed = if closed.is_empty() { self } else { self.kept(|i, _, _| !closed.contains(&i)) };
        if let Some(unmatched) = &mut narrowed.unmatched {
            must.iter().for_each(|&i| unmatched[i] = f64::NEG_INFINITY);
        }
        narrowed
    }

    /// The same problem without pairs that score less than this: what costs more than a gate is forbidden.
    #[must_use]
    pub fn gated(&self, least: f64) -> Self {
        self.kept(|_, _, score| score >= least)
    }

    fn kept(&self, is_kept: impl Fn(usize, usize, f64) -> bool) -> Self {
        let (mut start, mut columns, mut scores) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.left_count() {
            for at in self.start[i]..self.start[i + 1] {
                if is_kept(i, self.columns[at] as usize, self.scores[at]) {
                    columns.push(self.columns[at]);
                    scores.push(self.scores[at]);
                }
            }
            start.push(columns.len());
        }
        let (unmatched, right_unmatched) = (self.unmatched.clone(), self.right_unmatched.clone());
        Self { start, columns, scores, right_count: self.right_count, unmatched, right_unmatched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Linear, Matcher, Sense};

    #[test]
    fn a_list_is_narrowed_as_a_table_is() {
        let pairs = (0..6).flat_map(|i| (0..7).map(move |k| (i, k, ((5 * i + 3 * k + i * k) % 11) as f64)));
        let pairs: Vec<_> = pairs.filter(|&(i, k, _)| (i + 2 * k) % 5 != 0).collect();
        let sparse = Sparse::from_pairs(6, 7, pairs, Sense::Minimize).unwrap().with_unmatched(vec![-4.0; 6]).unwrap();
        let given = Restrictions { seeds: vec![[2, 0], [0, 1]], forbidden: vec![[3, 3], [4, 0], [5, 6]] };
        let narrowed = sparse.restricted(&given).unwrap();
        let mut table = sparse.to_dense();
        given.apply(&mut table).unwrap();
        assert_eq!(narrowed.to_dense(), table);
        let score = Linear::default().solve(&table).unwrap().score;
        assert_eq!(Linear::default().solve(&narrowed).unwrap().score, score);
        let missing = Restrictions { seeds: vec![[0, 0]], forbidden: vec![] };
        assert_eq!(sparse.restricted(&missing), Err(Error::ForbiddenPair { left: 0, right: 0 }));
        let gated = sparse.gated(-3.0);
        assert!((0..6).flat_map(|i| gated.row(i)).all(|(_, score)| score >= -3.0) && gated.pair_count() > 0);
    }
}

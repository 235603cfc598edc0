//! What a problem whose nodes all score the same says about pairs of nodes: which must be matched, and which must not ([`Given`]).

use crate::matching::Streamed;
use crate::{Control, Result};

/// More forbidden pairs per left node than this are not a list.
const MOST_FORBIDDEN: usize = 64;

/// Seeds and forbidden pairs.
pub(super) struct Given {
    /// The score of every allowed pair.
    pub(super) node: f64,
    /// The only right node of a left node.
    only: Vec<Option<usize>>,
    /// Right nodes that only one left node may have.
    is_seeded: Vec<bool>,
    /// Other right nodes that a left node may not have, increasing.
    forbidden: Vec<Vec<usize>>,
}

impl Given {
    /// `None` if pairs of nodes have different scores, if right nodes have prices, if many pairs are forbidden, or if the caller will not wait.
    pub(super) fn of(problem: &Streamed<'_>, control: &Control) -> Result<Option<Self>> {
        let (n, m) = problem.dim();
        if problem.has_right_prices() {
            return Ok(None);
        }
        let is_open = |score: &f64| *score > f64::NEG_INFINITY;
        let seen = problem.each_block(control, |block| {
            let row = |(_, scores): (usize, &[f64])| {
                let mut open = scores.iter().enumerate().filter(|(_, score)| is_open(score));
                let first = open.next();
                let same = first.is_none_or(|(_, first)| scores.iter().all(|score| score == first || !is_open(score)));
                (first.map(|(k, &score)| (k, score)), open.next().is_none(), same)
            };
            Ok(block.rows().map(row).collect::<Vec<_>>())
        })?;
        let Some(seen) = seen else { return Ok(None) };
        let mut given =
            Self { node: 0.0, only: vec![None; n], is_seeded: vec![false; m], forbidden: vec![Vec::new(); n] };
        let mut node = None;
        for (i, (first, is_only, is_same)) in seen.into_iter().flatten().enumerate() {
            let Some((k, score)) = first else { return Ok(None) };
            if !is_same || !score.is_finite() || *node.get_or_insert(score) != score {
                return Ok(None);
            }
            if is_only && m > 1 {
                given.only[i] = Some(k);
                given.is_seeded[k] = true;
            }
        }
        given.node = node.unwrap_or(0.0);
        given.list_forbidden(problem, control)
    }

    fn list_forbidden(mut self, problem: &Streamed<'_>, control: &Control) -> Result<Option<Self>> {
        let found = problem.each_block(control, |block| {
            let closed = |(i, scores): (usize, &[f64])| -> Vec<usize> {
                let is_closed = |&(k, score): &(usize, &f64)| *score == f64::NEG_INFINITY && !self.is_seeded[k];
                let all = scores.iter().enumerate().filter(|_| self.only[i].is_none()).filter(is_closed);
                all.map(|(k, _)| k).take(MOST_FORBIDDEN + 1).collect()
            };
            Ok(block.rows().map(closed).collect::<Vec<_>>())
        })?;
        let Some(found) = found else { return Ok(None) };
        self.forbidden = found.into_iter().flatten().collect();
        Ok(self.forbidden.iter().all(|own| own.len() <= MOST_FORBIDDEN).then_some(self))
    }

    /// Whether a pair may be matched.
    pub(super) fn allows(&self, i: usize, k: usize) -> bool {
        match self.only[i] {
            Some(only) => only == k,
            None => !self.is_seeded[k] && self.forbidden[i].binary_search(&k).is_err(),
        }
    }
}

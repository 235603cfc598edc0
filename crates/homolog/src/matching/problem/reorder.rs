//! A problem with its right nodes in another order.
//!
//! Solvers break ties towards the smallest index. Where the truth is the identity, as in data whose landmarks are listed in the same
//! order everywhere, that would make a model with no opinion look perfect; so training and evaluation solve every problem with
//! the right nodes shuffled, and translate the answer back.

use crate::matching::{Compatibility, EdgeTerm, Matching, Relaxed, Restrictions, Solution};
use crate::{Error, Result};
use ndarray::Array1;

/// A random numbering of right nodes, fixed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightOrder {
    /// Position p of the shuffled problem is right node `node_at[p]` of the original.
    node_at: Vec<u32>,
}

impl RightOrder {
    /// An order determined by the seed alone: the same on every machine.
    #[must_use]
    pub fn random(right_count: usize, seed: u64) -> Self {
        use rand::SeedableRng;
        use rand::seq::SliceRandom;
        let mut node_at: Vec<u32> = (0_u32..).take(right_count).collect();
        node_at.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(seed));
        Self { node_at }
    }

    /// The original right node at each position.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.node_at.iter().map(|&node| node as usize)
    }

    /// The same restrictions for the shuffled problem.
    pub(crate) fn shuffle_restrictions(&self, given: &Restrictions) -> Restrictions {
        let position_of = self.position_of();
        let moved = |pairs: &[[usize; 2]]| pairs.iter().map(|&[i, k]| [i, position_of[k]]).collect();
        Restrictions { seeds: moved(&given.seeds), forbidden: moved(&given.forbidden) }
    }

    fn position_of(&self) -> Vec<usize> {
        let mut position_of = vec![0; self.node_at.len()];
        for (position, &node) in self.node_at.iter().enumerate() {
            position_of[node as usize] = position;
        }
        position_of
    }

    /// Writes the problem, with its right nodes in this order, over `shuffled`, reusing its memory where it fits.
    ///
    /// # Errors
    /// The problem, or a part of it, has a different number of right nodes.
    pub fn shuffle_into(&self, problem: &Compatibility, shuffled: &mut Compatibility) -> Result<()> {
        self.check_count("right nodes of the problem", problem.right_count())?;
        let prices = problem.right_unmatched.as_ref().map_or(self.node_at.len(), Array1::len);
        self.check_count("unmatched scores of right nodes", prices)?;
        let edge_nodes = problem.edge.as_ref().map_or(self.node_at.len(), EdgeTerm::right_count);
        self.check_count("right nodes of the edge term", edge_nodes)?;
        if shuffled.node.dim() != problem.node.dim() {
            shuffled.node = ndarray::Array2::zeros(problem.node.dim());
        }
        for (row, mut copy) in problem.node.rows().into_iter().zip(shuffled.node.rows_mut()) {
            let nodes = copy.iter_mut().zip(&self.node_at);
            // A slice is read faster than a row that may have gaps.
            match row.to_slice() {
                Some(row) => nodes.for_each(|(score, &node)| *score = row[node as usize]),
                None => nodes.for_each(|(score, &node)| *score = row[node as usize]),
            }
        }
        shuffled.edge = problem.edge.as_ref().map(|edge| self.shuffle_edges(edge)).transpose()?;
        shuffled.unmatched.clone_from(&problem.unmatched);
        let pick = |scores: &Array1<f64>| self.node_at.iter().map(|&node| scores[node as usize]).collect();
        shuffled.right_unmatched = problem.right_unmatched.as_ref().map(pick);
        shuffled.constraint = problem.constraint;
        Ok(())
    }

    fn check_count(&self, what: &'static str, found: usize) -> Result<()> {
        let expected = self.node_at.len();
        if expected == found { Ok(()) } else { Err(Error::Size { what, expected, found }) }
    }

    fn shuffle_edges(&self, edge: &EdgeTerm) -> Result<EdgeTerm> {
        edge.with_right_nodes_at(&self.position_of())
    }

    /// The answer in terms of the original right nodes.
    ///
    /// # Errors
    /// The matching has a different number of right nodes.
    pub fn carry_back(&self, matching: &Matching) -> Result<Matching> {
        self.check_count("right nodes of the matching", matching.right_count())?;
        let original = |right: Option<usize>| right.map(|position| self.node_at[position] as usize);
        let map = matching.left_to_right().iter().map(|&right| original(right)).collect();
        Matching::new(map, matching.right_count(), matching.constraint())
    }

    /// The same for a point of the relaxation.
    pub(crate) fn carry_back_relaxed(&self, relaxed: &mut Relaxed) {
        let shuffled = relaxed.node.clone();
        for (position, &node) in self.node_at.iter().enumerate() {
            relaxed.node.column_mut(node as usize).assign(&shuffled.column(position));
        }
        for edge in &mut relaxed.edges {
            edge.right = edge.right.map(|position| self.node_at[position] as usize);
        }
        relaxed.matching = relaxed.matching.take().and_then(|matching| self.carry_back(&matching).ok());
    }

    /// The same for a whole solution: its matching, dual values and shortage.
    ///
    /// # Errors
    /// One of these has a different number of right nodes; the solution is left as it was.
    pub fn carry_back_solution(&self, solution: &mut Solution) -> Result<()> {
        let matching = self.carry_back(&solution.matching)?;
        let count = self.node_at.len();
        let crowd = solution.certificate.as_ref().and_then(|certificate| certificate.crowd.as_ref());
        for &index in solution.shortage.iter().chain(crowd).flat_map(|shortage| &shortage.right) {
            if index >= count {
                return Err(Error::OutOfRange { what: "right nodes of a shortage", index, count });
            }
        }
        let duals = solution.certificate.as_ref().map_or(count, |certificate| certificate.right.len());
        self.check_count("right values of the certificate", duals)?;
        solution.matching = matching;
        let back = |right: &mut Vec<usize>| {
            right.iter_mut().for_each(|right| *right = self.node_at[*right] as usize);
            right.sort_unstable();
        };
        if let Some(shortage) = &mut solution.shortage {
            back(&mut shortage.right);
        }
        if let Some(certificate) = &mut solution.certificate {
            let shuffled = certificate.right.clone();
            for (position, value) in shuffled.into_iter().enumerate() {
                certificate.right[self.node_at[position] as usize] = value;
            }
            if let Some(crowd) = &mut certificate.crowd {
                back(&mut crowd.right);
            }
        }
        Ok(())
    }
}

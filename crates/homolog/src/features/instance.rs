//! [`Instance`]: the problem of matching two described graphs, for any weights. Two shared references, and the restrictions given.
//!
//! The law that holds the system together: <weights, joint_features(y)> = compatibility(weights).score(y), for every y that the
//! problem allows. `compatibility` costs a matrix product n m D and the edges; `joint_features` only what the matching uses.

use super::described::{Described, Plan};
use super::pair_scores::PairScores;
use super::{edge_scores, node_scores};
use crate::graph::PairFeatures;
use crate::matching::{Compatibility, Constraint, EdgeTerm, Matching, Relaxed, Restrictions};
use crate::{Control, Error, Result};
use ndarray::{Array2, ArrayViewMut2, Axis, Slice};
use std::ops::Range;
use std::sync::Arc;

/// Multiplications between two questions to the control: some hundredths of a second.
const AT_A_TIME: usize = 1 << 25;
/// A comparison with exponentials takes as long as so many multiplications in a matrix product.
const EXPENSIVE: usize = 16;

/// Two described graphs to be matched. See [`FeatureMap::instance`](super::FeatureMap::instance).
#[derive(Debug, Clone)]
pub struct Instance {
    left: Arc<Described>,
    right: Arc<Described>,
    given: Option<Arc<Restrictions>>,
    /// Features of pairs, and which pairs may be matched.
    pairs: Option<Arc<PairScores>>,
}

impl Instance {
    /// Both must be described by the same map.
    pub(super) fn new(left: Arc<Described>, right: Arc<Described>) -> Self {
        Self { left, right, given: None, pairs: None }
    }

    /// The same problem with these features of pairs.
    pub(super) fn with_pairs(mut self, pairs: Option<&Arc<PairFeatures>>) -> Result<Self> {
        let map = &self.plan().map;
        let Some(pairs) = pairs else {
            let Some(name) = map.pair.first() else { return Ok(self) };
            return Err(Error::NoAttribute { what: "feature of pairs", name: name.clone() });
        };
        pairs.check_counts(self.left.node_count, self.right.node_count)?;
        let scores = PairScores::new(map, pairs)?;
        self.pairs = Some(Arc::new(scores));
        Ok(self)
    }

    /// The same problem, narrowed to the matchings that have the seeds and none of the forbidden pairs.
    ///
    /// # Errors
    /// Restrictions that cannot hold.
    pub fn restricted(mut self, given: &Restrictions) -> Result<Self> {
        given.check(self.left.node_count, self.right.node_count, self.constraint())?;
        self.given = (!given.is_empty()).then(|| Arc::new(given.clone()));
        Ok(self)
    }

    /// The same problem for some of the left nodes, in this order.
    ///
    /// # Errors
    /// A node that does not exist or occurs twice.
    pub fn with_left_nodes(&self, left: &[usize]) -> Result<Self> {
        let described = Arc::new(self.left.restricted(left)?);
        let place = |pairs: &[[usize; 2]]| -> Vec<[usize; 2]> {
            let new = |old: usize| left.iter().position(|&node| node == old);
            pairs.iter().filter_map(|&[i, k]| Some([new(i)?, k])).collect()
        };
        let given = self
            .given
            .as_ref()
            .map(|given| Arc::new(Restrictions { seeds: place(&given.seeds), forbidden: place(&given.forbidden) }));
        let pairs = self.pairs.as_ref().map(|pairs| Arc::new(pairs.with_left_nodes(left)));
        Ok(Self { left: described, right: Arc::clone(&self.right), given, pairs })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.left.plan
    }

    /// The left graph.
    #[must_use]
    pub fn left(&self) -> &Arc<Described> {
        &self.left
    }

    /// The right graph.
    #[must_use]
    pub fn right(&self) -> &Arc<Described> {
        &self.right
    }

    /// The seeds and forbidden pairs, if there are any.
    pub(super) fn given(&self) -> Option<&Restrictions> {
        self.given.as_deref()
    }

    /// The features of pairs, if there are any.
    #[must_use]
    pub fn pair_features(&self) -> Option<&Arc<PairFeatures>> {
        self.pairs.as_ref().map(|pairs| pairs.features())
    }

    /// Whether all pairs of a matching may be matched, as far as the features of pairs say.
    pub(crate) fn allows(&self, matching: &Matching) -> bool {
        self.pair_features().is_none_or(|pairs| pairs.check_matching(matching).is_ok())
    }

    /// How many weights there are.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.plan().dim
    }

    /// How often a right node may be used; does not depend on the weights.
    #[must_use]
    pub fn constraint(&self) -> Constraint {
        self.plan().map.constraint
    }

    /// Whether left nodes may stay unmatched at a price.
    #[must_use]
    pub fn may_stay_unmatched(&self) -> bool {
        self.plan().map.unmatched
    }

    /// The matching problem under these weights: c = <phi_1, w_1>, d = <phi_2, w_2>.
    ///
    /// # Errors
    /// Too many or too few weights, or one that is not finite.
    pub fn compatibility(&self, weights: &[f64]) -> Result<Compatibility> {
        self.compatibility_watched(weights, &Control::new())
    }

    /// [`Self::compatibility`], told when to stop: of many nodes that takes seconds.
    ///
    /// # Errors
    /// As [`Self::compatibility`]; [`Error::Interrupted`].
    pub fn compatibility_watched(&self, weights: &[f64], control: &Control) -> Result<Compatibility> {
        let mut problem = Compatibility::linear(Array2::zeros((0, 0)));
        self.write_problem(weights, &mut problem, control)?;
        Ok(problem)
    }

    /// [`Self::compatibility`] written over another problem; the memory of its node scores is reused if the sizes agree.
    ///
    /// # Errors
    /// As [`Self::compatibility`]; the problem is then undefined.
    pub fn compatibility_into(&self, weights: &[f64], problem: &mut Compatibility) -> Result<()> {
        self.write_problem(weights, problem, &Control::new())
    }

    /// [`Self::compatibility_into`], told when to stop.
    pub(crate) fn write_problem(&self, weights: &[f64], problem: &mut Compatibility, control: &Control) -> Result<()> {
        #[cfg(test)]
        super::described::COUNTS.with(|counts| counts.set([counts.get()[0], counts.get()[1] + 1]));
        let plan = self.plan();
        self.node_scores_into(weights, &mut problem.node, control)?;
        problem.edge = match &plan.edge[..] {
            [] => None,
            _ => Some(self.edge_term(weights, control)?),
        };
        problem.unmatched = self.unmatched_scores(weights);
        problem.constraint = plan.map.constraint;
        self.given.as_ref().map_or(Ok(()), |given| given.apply(problem))
    }

    /// c = <phi_1, w_1> alone, written over another table.
    pub(crate) fn node_scores_into(&self, weights: &[f64], node: &mut Array2<f64>, control: &Control) -> Result<()> {
        self.check_weights(weights)?;
        let (n, m) = (self.left.node_count, self.right.node_count);
        if node.dim() != (n, m) || !node.is_standard_layout() {
            *node = Array2::zeros((n, m));
        }
        let products =
            self.plan().node.iter().zip(&self.right.blocks).map(|((comparison, _), block)| {
                block.values.ncols() * if comparison.is_cheap() { 1 } else { EXPENSIVE }
            });
        let rows = (AT_A_TIME / (m * (1 + products.sum::<usize>())).max(1)).clamp(1, n.max(1));
        for first in (0..n).step_by(rows) {
            if first > 0 {
                Error::if_interrupted(control)?;
            }
            let range = first..n.min(first + rows);
            self.write_rows(weights, &range, node.slice_axis_mut(Axis(0), Slice::from(range.clone())));
        }
        Ok(())
    }

    /// c = <phi_1, w_1> for some left nodes.
    pub(super) fn write_rows(&self, weights: &[f64], rows: &Range<usize>, mut scores: ArrayViewMut2<'_, f64>) {
        let plan = self.plan();
        if plan.node.is_empty() {
            scores.fill(0.0);
        }
        for (at, (comparison, range)) in plan.node.iter().enumerate() {
            let (left, right, weights) = (&self.left.blocks[at], &self.right.blocks[at], &weights[range.clone()]);
            let part = (*rows != (0..self.left.node_count)).then(|| left.rows(rows));
            let left = part.as_ref().unwrap_or(left);
            if at == 0 {
                node_scores::write(*comparison, left, right, weights, scores.view_mut());
            } else {
                let mut more = Array2::zeros(scores.dim());
                node_scores::write(*comparison, left, right, weights, more.view_mut());
                scores += &more;
            }
        }
        if let Some(pairs) = &self.pairs {
            pairs.add_scores(&weights[plan.pair.clone()], rows.start, scores);
        }
    }

    /// d = <phi_2, w_2> alone.
    pub(super) fn edge_term(&self, weights: &[f64], control: &Control) -> Result<EdgeTerm> {
        edge_scores::edge_term(&self.plan().edge, &self.left, &self.right, weights, control)
    }

    /// Whether pairs of edges are scored, which makes the problem quadratic.
    pub(crate) fn has_edge_features(&self) -> bool {
        !self.plan().edge.is_empty()
    }

    /// Phi(y): the sum of the features of all pairs of nodes and edges that the matching uses, one number per weight.
    ///
    /// # Errors
    /// The sizes do not agree.
    pub fn joint_features(&self, matching: &Matching) -> Result<Vec<f64>> {
        let mut phi = vec![0.0; self.dim()];
        self.add_joint_features(matching, 1.0, &mut phi)?;
        Ok(phi)
    }

    /// Adds `factor` times Phi(y) to `phi`.
    ///
    /// # Errors
    /// The sizes do not agree, or `phi` does not have one entry per weight.
    pub fn add_joint_features(&self, matching: &Matching, factor: f64, phi: &mut [f64]) -> Result<()> {
        self.check_sizes(matching.left_count(), matching.right_count(), phi)?;
        let (plan, left, right) = (self.plan(), &*self.left, &*self.right);
        for (at, (comparison, range)) in plan.node.iter().enumerate() {
            let (a, b) = (&left.blocks[at], &right.blocks[at]);
            let pairs = matching.pairs().map(|pair| (pair, factor));
            node_scores::add_features(*comparison, a, b, pairs, &mut phi[range.clone()]);
        }
        if let Some(pairs) = &self.pairs {
            pairs.add_features(matching.pairs().map(|pair| (pair, factor)), &mut phi[plan.pair.clone()]);
        }
        let preserved = left.edges.ends().iter().enumerate().filter_map(|(e, &[i, j])| {
            let f = right.edges.find(matching.right_of(i)?, matching.right_of(j)?)?;
            Some(((e, f), factor))
        });
        edge_scores::add_features(&plan.edge, left, right, preserved, phi);
        if plan.map.unmatched {
            phi[plan.dim - 1] += factor * matching.unmatched_left().map(|i| self.unmatched_feature(i)).sum::<f64>();
        }
        Ok(())
    }

    /// Adds `factor` times Phi of a soft matching to `phi`: every pair of nodes and of edges counts by its share. At a matching it
    /// is [`Self::add_joint_features`]; it is linear in the shares; and <weights, Phi> is the value of the point under
    /// compatibility(weights).
    ///
    /// # Errors
    /// The sizes do not agree, or `phi` does not have one entry per weight.
    pub fn add_soft_features(&self, soft: &Relaxed, factor: f64, phi: &mut [f64]) -> Result<()> {
        self.check_sizes(soft.node.nrows(), soft.node.ncols(), phi)?;
        let (plan, left, right) = (self.plan(), &*self.left, &*self.right);
        for (at, (comparison, range)) in plan.node.iter().enumerate() {
            let (a, b) = (&left.blocks[at], &right.blocks[at]);
            let cells = soft.node.indexed_iter().filter(|&(_, &share)| share != 0.0);
            let cells = cells.map(|(pair, share)| (pair, factor * share));
            node_scores::add_features(*comparison, a, b, cells, &mut phi[range.clone()]);
        }
        if let Some(pairs) = &self.pairs {
            let cells = soft.node.indexed_iter().filter(|&(_, &share)| share != 0.0);
            let cells = cells.map(|(pair, share)| (pair, factor * share));
            pairs.add_features(cells, &mut phi[plan.pair.clone()]);
        }
        // The share of a pair of nodes is the same for both directions between them.
        let both = soft.edges.iter().flat_map(|edge| {
            let ([i, j], [k, l]) = (edge.left, edge.right);
            [([i, j], [k, l]), ([j, i], [l, k])].map(|(ends, others)| (ends, others, factor * edge.share))
        });
        let shared = both
            .filter_map(|([i, j], [k, l], amount)| Some(((left.edges.find(i, j)?, right.edges.find(k, l)?), amount)));
        edge_scores::add_features(&plan.edge, left, right, shared, phi);
        if plan.map.unmatched {
            let shares = soft.unmatched.iter().enumerate();
            phi[plan.dim - 1] += factor * shares.map(|(i, share)| share * self.unmatched_feature(i)).sum::<f64>();
        }
        Ok(())
    }

    /// Adds the features of a pair of edges, by their numbers, to `phi`.
    pub(crate) fn add_edge_features(&self, pair: (usize, usize), phi: &mut [f64]) {
        edge_scores::add_features(&self.plan().edge, &self.left, &self.right, std::iter::once((pair, 1.0)), phi);
    }

    /// The weights that are not about nodes: those of edges, and the price of staying unmatched.
    pub(crate) fn columns_beside_nodes(&self) -> Range<usize> {
        let plan = self.plan();
        plan.pair.end..plan.dim
    }

    fn check_sizes(&self, left_count: usize, right_count: usize, phi: &[f64]) -> Result<()> {
        let sizes = [
            ("left nodes of the matching", self.left.node_count, left_count),
            ("right nodes of the matching", self.right.node_count, right_count),
            ("joint features", self.dim(), phi.len()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        Ok(())
    }

    pub(super) fn check_weights(&self, weights: &[f64]) -> Result<()> {
        if weights.len() != self.dim() {
            return Err(Error::Size { what: "weights", expected: self.dim(), found: weights.len() });
        }
        match weights.iter().enumerate().find(|(_, weight)| !weight.is_finite()) {
            Some((index, &value)) => Err(Error::BadEntry { what: "weights", index, value }),
            None => Ok(()),
        }
    }
}

//! What is at stake with each node of a network: the price of leaving nodes unmatched is measured in it.
//!
//!   s_i = ½ Σ_e <w, phi(e, e)>   over the edges e that begin or end at node i; an edge that meets its like counts, by the unlearned weights w
//!
//! An unmatched left node scores P s_i with P the price. An edge of weight 1 counts 1 each way; so in units of kept edges, an edge whose two ends
//! stay unmatched counts P, and one with a single such end P / 2. Leaving everything out pays if less than P of all edges can be kept; leaving
//! out a single node if it keeps less than P / 2 of its edges.

use super::described::{Described, Plan};
use super::edge_scores;
use super::{EdgeKind, FeatureMap, Instance};
use ndarray::Array1;

/// P without learning: see the notes on networks.
pub(super) const PRICE: f64 = 0.6;

impl FeatureMap {
    /// The same features; left nodes may stay unmatched. In networks the price of that is a share of the edges that are lost.
    #[must_use]
    pub fn with_unmatched(self) -> Self {
        let is_network = self.edge_rule.is_none()
            && self.edge.iter().any(|kind| matches!(kind, EdgeKind::Adjacency(_) | EdgeKind::Ranks(_)));
        Self { unmatched: true, unmatched_by_edges: is_network, ..self }
    }

    /// [`Self::unlearned_weights`], with a price for leaving nodes unmatched in place of the usual one: what each such left node costs, or in
    /// networks how many kept edges each edge between such nodes counts.
    #[must_use]
    pub fn unlearned_weights_with(&self, price: Option<f64>) -> Vec<f64> {
        let mut weights = self.unlearned_weights();
        if let (true, Some(price), Some(last)) = (self.unmatched, price, weights.last_mut()) {
            *last = price;
        }
        weights
    }

    /// Whether the price is a share of the edges.
    pub(super) fn has_stakes(&self) -> bool {
        self.unmatched && self.unmatched_by_edges
    }
}

impl Described {
    /// s_i of every node; none if the price is the same for all.
    pub(super) fn with_stakes(self) -> Self {
        let plan: &Plan = &self.plan;
        if !plan.map.has_stakes() {
            return self;
        }
        let weights = plan.map.unlearned_weights();
        let mut stakes = vec![0.0; self.node_count];
        let mut phi = vec![0.0; plan.dim];
        for (at, ends) in self.edges.ends().iter().enumerate() {
            phi.fill(0.0);
            edge_scores::add_features(&plan.edge, &self, &self, std::iter::once(((at, at), 1.0)), &mut phi);
            let own: f64 = phi.iter().zip(&weights).map(|(phi, weight)| phi * weight).sum();
            ends.iter().for_each(|&end| stakes[end] += 0.5 * own.max(0.0));
        }
        Self { stakes, ..self }
    }
}

impl Instance {
    /// The feature of the price for a left node that stays unmatched; its weight is the last.
    pub(crate) fn unmatched_feature(&self, i: usize) -> f64 {
        self.left().stakes.get(i).copied().unwrap_or(-1.0)
    }

    /// What leaving each left node unmatched scores; `None` if they must be matched.
    pub(crate) fn unmatched_scores(&self, weights: &[f64]) -> Option<Array1<f64>> {
        let price = *weights.last().filter(|_| self.may_stay_unmatched())?;
        Some((0..self.left().node_count()).map(|i| price * self.unmatched_feature(i)).collect())
    }
}

//! [`Pair`]: two graphs, shared, and what is known about their nodes together.

use super::{Graph, PairFeatures};
use crate::Result;
use crate::matching::{Matching, Restrictions};
use std::sync::Arc;

/// Two graphs to be matched: nodes of the left go to nodes of the right.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// G, whose nodes get partners.
    pub left: Arc<Graph>,
    /// G', whose nodes are the partners.
    pub right: Arc<Graph>,
    /// Pairs of nodes that every matching has, and pairs that none has.
    pub given: Restrictions,
    /// Numbers of pairs of nodes, and which pairs may be matched at all; `None`: all, and there are no such numbers.
    pub features: Option<Arc<PairFeatures>>,
}

impl Pair {
    /// Two graphs without seeds, forbidden pairs or features of pairs.
    #[must_use]
    pub fn new(left: Arc<Graph>, right: Arc<Graph>) -> Self {
        Self { left, right, given: Restrictions::default(), features: None }
    }

    /// The same graphs with features of pairs.
    ///
    /// # Errors
    /// Features for other numbers of nodes.
    pub fn with_features(self, features: Arc<PairFeatures>) -> Result<Self> {
        features.check_counts(self.left.node_count(), self.right.node_count())?;
        Ok(Self { features: Some(features), ..self })
    }

    /// Refuses a matching that the seeds, the forbidden pairs or the list of pairs do not allow.
    ///
    /// # Errors
    /// The first pair of nodes at fault.
    pub fn check_matching(&self, matching: &Matching) -> Result<()> {
        self.given.check_matching(matching)?;
        self.features.as_ref().map_or(Ok(()), |features| features.check_matching(matching))
    }
}

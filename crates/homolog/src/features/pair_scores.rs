//! Features that come with a pair of graphs. With x_f(i, k) the number called f of nodes i and k, and s_f its spread, o_f its mean over true
//! pairs, and its direction, all measured on the training pairs ([`Scale`]):
//!
//!   phi_f(i, k) = -(x_f(i, k) - o_f) / s_f,   or + if a large number means alike
//!
//! so a true pair has about 0, and a typical other pair is below. Without a scale phi_f = -x_f: small means alike. A pair that is not listed
//! scores minus infinity.

use super::{FeatureMap, Scale};
use crate::Result;
use crate::graph::PairFeatures;
use ndarray::ArrayViewMut2;
use std::sync::Arc;

/// The features of one pair of graphs as a map sees them.
#[derive(Debug)]
pub(super) struct PairScores {
    features: Arc<PairFeatures>,
    /// For each feature of the map: its column, o_f, and plus or minus 1 / s_f.
    columns: Vec<(usize, f64, f64)>,
}

impl PairScores {
    pub(super) fn new(map: &FeatureMap, features: &Arc<PairFeatures>) -> Result<Self> {
        let own = map.pair_spreads();
        let column = |(at, name): (usize, &String)| -> Result<(usize, f64, f64)> {
            let column = features.column(name)?;
            let Some(spread) = own.get(at) else { return Ok((column, 0.0, -1.0)) };
            let factor = if spread.spread == 0.0 { 0.0 } else { 1.0 / spread.spread };
            Ok((column, spread.origin, if spread.apart < 0.0 { factor } else { -factor }))
        };
        let columns = map.pair.iter().enumerate().map(column).collect::<Result<_>>()?;
        Ok(Self { features: Arc::clone(features), columns })
    }

    pub(super) fn features(&self) -> &Arc<PairFeatures> {
        &self.features
    }

    pub(super) fn with_left_nodes(&self, nodes: &[usize]) -> Self {
        Self { features: Arc::new(self.features.with_left_nodes(nodes)), columns: self.columns.clone() }
    }

    /// Adds <phi(i, k), weights> to the scores of listed pairs; all others become minus infinity. The scores are those of the left nodes from
    /// `first` on.
    pub(super) fn add_scores(&self, weights: &[f64], first: usize, mut scores: ArrayViewMut2<'_, f64>) {
        let values = self.features.values();
        for (i, mut row) in (first..).zip(scores.rows_mut()) {
            let mut next = 0;
            for (&k, at) in self.features.rights(i).iter().zip(self.features.range(i)) {
                (next..k).for_each(|other| row[other] = f64::NEG_INFINITY);
                next = k + 1;
                let own = values.row(at);
                let terms = self.columns.iter().zip(weights);
                row[k] += terms.map(|(&(column, origin, factor), w)| w * (own[column] - origin) * factor).sum::<f64>();
            }
            (next..row.len()).for_each(|other| row[other] = f64::NEG_INFINITY);
        }
    }

    /// Adds to `phi` the sum of the features over pairs of nodes ((i, k), amount), each weighted by its amount. Pairs that are not listed have none.
    pub(super) fn add_features(&self, pairs: impl Iterator<Item = ((usize, usize), f64)>, phi: &mut [f64]) {
        for ((i, k), amount) in pairs {
            let Some(own) = self.features.row(i, k) else { continue };
            for (phi, &(column, origin, factor)) in phi.iter_mut().zip(&self.columns) {
                *phi += amount * (own[column] - origin) * factor;
            }
        }
    }
}

impl FeatureMap {
    /// The measured spreads of the features of pairs, in order; none if nothing was measured.
    fn pair_spreads(&self) -> &[super::Spread] {
        match &self.scale {
            // They come last; `check` compared the numbers of both.
            Scale::Measured(spreads) => &spreads[spreads.len().saturating_sub(self.pair.len())..],
            Scale::AsIs | Scale::BySpread => &[],
        }
    }

    /// What a typical wrong partner costs by the features of pairs, with weights of 1.
    pub(super) fn wrong_pair(&self) -> f64 {
        let cost = |spread: &super::Spread| if spread.spread == 0.0 { 0.0 } else { spread.apart.abs() / spread.spread };
        self.pair_spreads().iter().map(cost).sum()
    }
}

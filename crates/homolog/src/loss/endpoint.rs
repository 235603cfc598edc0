//! Endpoint error: the mean, over the labelled left nodes, of the distance in the right graph between the chosen and the true point,
//! in units of sigma. The paper's loss for a few known points among many candidates, where near is better than far (the paper prints
//! 1 - mean; the text next to it says that small is close).
//!
//! A labelled node left unmatched has a cost that is a setting. With N labelled nodes and t(i) the true partner:
//!
//!   constant = Σ_i unmatched / N,   cells_ik = (|p_k - p_t(i)| / sigma - unmatched) / N in labelled rows, 0 elsewhere

use super::{Loss, LossTerms, check_sizes};
use crate::geometry::any_distance;
use crate::graph::Pair;
use crate::matching::Matching;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Mean distance between the chosen and the true point over sigma.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Endpoint {
    /// The unit of distance; `None` means the width of the right graph's image, as in the paper.
    pub sigma: Option<f64>,
    /// What a labelled node left unmatched costs, in units of sigma.
    pub unmatched: f64,
}

impl Default for Endpoint {
    /// Sigma is the image width, as in the paper; a point that was not found at all costs as much as one found an image's width
    /// away.
    fn default() -> Self {
        Self { sigma: None, unmatched: 1.0 }
    }
}

impl Endpoint {
    fn sigma(&self, pair: &Pair) -> Result<f64> {
        let missing = Error::Missing { what: "image size", needed_by: "endpoint loss without a sigma" };
        match self.sigma {
            Some(sigma) => Error::unless_positive("sigma", sigma).map(|()| sigma),
            None => Ok(pair.right.image_size().ok_or(missing)?[0]),
        }
    }
}

impl Loss for Endpoint {
    fn terms(&self, pair: &Pair, truth: &Matching) -> Result<LossTerms> {
        let size = (pair.left.node_count(), pair.right.node_count());
        check_sizes(size, truth)?;
        Error::unless_at_least_0("unmatched", self.unmatched)?;
        let sigma = self.sigma(pair)?;
        let points = pair.right.need_points("endpoint loss")?;
        let mut cells = Array2::zeros(size);
        let labelled = truth.matched_count();
        if labelled == 0 {
            return Ok(LossTerms { constant: 0.0, cells });
        }
        for (i, t) in truth.pairs() {
            for (k, cell) in cells.row_mut(i).iter_mut().enumerate() {
                *cell = (any_distance(points, k, t) / sigma - self.unmatched) / labelled as f64;
            }
        }
        Ok(LossTerms { constant: self.unmatched, cells })
    }
}

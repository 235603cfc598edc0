//! A cost tuned by hand, as trackers have it: a weighted sum of features and a price of staying unmatched, the best of a grid on the training pairs.

use super::{Frames, Links};
use anyhow::Result;
use homolog::matching::{Compatibility, Linear, Matcher, Matching};
use ndarray::{Array1, Array2};

/// Weights of each feature that are tried, besides all others at 0.
const WEIGHTS: [f64; 4] = [0.0, 0.3, 1.0, 3.0];
/// What a pair may cost at most, in units of the largest weight.
const PRICES: [f64; 12] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.3, 1.7, 2.5];

pub(crate) struct Hand {
    weights: Vec<(usize, f64)>,
    price: f64,
}

impl Hand {
    /// The best of the grid over the features with these names, as far as the data have them.
    pub(crate) fn tuned(pairs: &[Frames], names: &[&str]) -> Result<Self> {
        let Some(features) = pairs.first().and_then(|first| first.pair.features.clone()) else {
            anyhow::bail!("no pairs to tune on")
        };
        let columns: Vec<usize> =
            names.iter().filter_map(|name| features.names().iter().position(|own| own == name)).collect();
        let mut best: Option<(usize, Self)> = None;
        for number in 0..WEIGHTS.len().pow(u32::try_from(columns.len())?) {
            // The digits of the number say which weights.
            let digit = |at: u32| WEIGHTS[number / WEIGHTS.len().pow(at) % WEIGHTS.len()];
            let weights: Vec<(usize, f64)> = (0..).zip(&columns).map(|(at, &column)| (column, digit(at))).collect();
            let largest = weights.iter().fold(0.0, |largest: f64, (_, weight)| largest.max(*weight));
            // One of each direction: the largest weight is 1.
            if largest != 1.0 {
                continue;
            }
            for price in PRICES {
                let hand = Self { weights: weights.clone(), price };
                let mut links = Links::default();
                for frames in pairs {
                    links.add(&frames.truth, &hand.solve(frames)?);
                }
                let errors = links.wrong + links.missed;
                if best.as_ref().is_none_or(|(least, _)| errors < *least) {
                    best = Some((errors, hand));
                }
            }
        }
        best.map(|(_, hand)| hand).ok_or_else(|| anyhow::anyhow!("nothing to tune"))
    }

    pub(crate) fn solve(&self, frames: &Frames) -> Result<Matching> {
        let (n, m) = (frames.truth.left_count(), frames.truth.right_count());
        let mut scores = Array2::from_elem((n, m), f64::NEG_INFINITY);
        if let Some(features) = &frames.pair.features {
            for ([i, k], row) in features.pairs().zip(features.values().rows()) {
                scores[[i, k]] = -self.weights.iter().map(|&(column, weight)| weight * row[column]).sum::<f64>();
            }
        }
        let mut problem = Compatibility::linear(scores);
        problem.unmatched = Some(Array1::from_elem(n, -self.price));
        Ok(Linear::default().solve(&problem)?.matching)
    }
}

//! How well a naming fits the atlas.
//!
//!   strain of an edge  =  r'Pr / d,   r = displacement - mean,  P its precision,  d the dimension
//!
//! which is about 1 on average in a specimen like the training ones. The strain of a landmark is the mean over its edges, that of a naming
//! the mean over all edges between named points. Landmarks without edges, and atlases without any, take the positions instead.
//!
//!   evidence of a naming  =  its log-likelihood ratio against the background, per point that could be named
//!   fit                   =  evidence / its median over left-out specimens
//!
//! The fit is about 1 for a specimen like the training ones, less if it varies more, if landmarks are missing or points are extra, and near
//! or below 0 for one of another kind. Below ½ it fits badly.

use super::gaussian::Gaussian;
use super::{Atlas, Presence};
use crate::Result;
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::matching::Matching;
use ndarray::{Array2, ArrayView1};

/// A strain that is not known is that of a specimen like the others.
const USUAL: f64 = 1.0;

/// The strains of a naming.
pub(super) struct Strains {
    /// The mean over all edges.
    pub(super) whole: f64,
    /// For each landmark, the mean over its edges.
    pub(super) own: Vec<f64>,
}

impl Gaussian {
    /// r'Pr / d.
    fn strain(&self, at: &[f64]) -> f64 {
        let off: Vec<f64> = at.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let d = self.dimension();
        let pairs = (0..d).flat_map(|p| (p..d).map(move |q| (p, q)));
        let squares = self
            .precision
            .iter()
            .zip(pairs)
            .map(|(value, (p, q))| if p == q { value * off[p] * off[q] } else { 2.0 * value * off[p] * off[q] });
        squares.sum::<f64>() / d as f64
    }
}

impl Atlas {
    /// The strains of points that are in the frame.
    pub(super) fn strains(&self, points: &Array2<f64>, matching: &Matching) -> Strains {
        let mut own = vec![(0.0, 0.0); self.landmarks.len()];
        let mut whole = (0.0, 0.0);
        let add = |sum: &mut (f64, f64), strain: f64| *sum = (sum.0 + strain, sum.1 + 1.0);
        for edge in &self.edges {
            let [i, j] = edge.ends;
            let (Some(from), Some(to)) = (matching.right_of(i), matching.right_of(j)) else { continue };
            let strain = edge.displacement.strain(&difference(points.row(to), points.row(from)));
            add(&mut own[i], strain);
            add(&mut own[j], strain);
            add(&mut whole, strain);
        }
        let by_edges = whole.1 > 0.0;
        for (landmark, point) in matching.pairs() {
            if own[landmark].1 == 0.0 {
                let strain = self.landmarks[landmark].position.strain(&points.row(point).to_vec());
                add(&mut own[landmark], strain);
                if !by_edges {
                    add(&mut whole, strain);
                }
            }
        }
        let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { USUAL };
        Strains { whole: mean(whole), own: own.into_iter().map(mean).collect() }
    }

    /// The log-likelihood ratio of a naming against the background, per point that could have a name.
    pub(super) fn evidence_per_point(
        &self,
        specimen: &Graph,
        frame: &Similarity,
        matching: &Matching,
        weights: &[f64],
    ) -> Result<f64> {
        let features = self.features();
        let left = features.describe(&self.graph(Presence::Partial)?)?;
        let right = features.describe(&self.specimen_graph(specimen, frame)?)?;
        let mut problem = features.instance(&left.into(), &right.into())?.compatibility(weights)?;
        // What is forbidden or has a price is no evidence.
        problem.unmatched = problem.unmatched.map(|prices| prices.mapv(|_| 0.0));
        let most = self.landmarks.len().min(specimen.node_count()).max(1);
        Ok(problem.score(matching)? / most as f64)
    }
}

fn difference(to: ArrayView1<'_, f64>, from: ArrayView1<'_, f64>) -> Vec<f64> {
    to.iter().zip(from).map(|(to, from)| to - from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strain_is_the_squared_distance_in_deviations() {
        let covariance = [[0.04, 0.0, 0.0], [0.0, 0.09, 0.0], [0.0; 3]];
        let gaussian = Gaussian::new(vec![1.0, 2.0], &covariance, 5).unwrap();
        // One deviation along each axis: (1 + 1) / 2.
        assert!((gaussian.strain(&[1.2, 1.7]) - 1.0).abs() < 1e-12);
        assert!(gaussian.strain(&[1.0, 2.0]).abs() < 1e-12);
        let turned = [[0.05, 0.02, 0.0], [0.02, 0.04, 0.0], [0.0; 3]];
        let gaussian = Gaussian::new(vec![0.0, 0.0], &turned, 5).unwrap();
        // By the inverse of the covariance: (0.04 x² - 0.04 x y + 0.05 y²) / 0.0016 / 2.
        let (x, y) = (0.3, -0.1);
        let expected = (0.04 * x * x - 0.04 * x * y + 0.05 * y * y) / 0.0016 / 2.0;
        assert!((gaussian.strain(&[x, y]) - expected).abs() < 1e-9);
    }
}

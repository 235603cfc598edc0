//! [`EdgeFeature`]: what every comparison of edges offers; [`Bilinear`]: the form of those that are products of per-edge numbers.

use crate::graph::Graph;
use crate::{Control, Result};
use ndarray::Array2;

/// A comparison phi_2 of two edges. It counts only where both edges exist.
///
/// [`Self::measure`] computes for each graph, once, the numbers z(e) that the comparison needs from each edge.
pub trait EdgeFeature: Send + Sync {
    /// A name for each feature.
    fn names(&self) -> Vec<String>;

    /// z(e): one row per edge of the graph, in the order of [`Graph::edges`].
    ///
    /// # Errors
    /// A part of the graph that is missing.
    fn measure(&self, graph: &Graph) -> Result<Array2<f64>>;

    /// [`Self::measure`], told when to stop. Override it if many points take long.
    ///
    /// # Errors
    /// As [`Self::measure`]; [`Error::Interrupted`](crate::Error::Interrupted).
    fn measure_watched(&self, graph: &Graph, _control: &Control) -> Result<Array2<f64>> {
        self.measure(graph)
    }

    /// The features of a left edge e and a right edge f, from z(e) and z(f): one number per name.
    fn compare(&self, left: &[f64], right: &[f64], phi: &mut [f64]);

    /// The same comparison as a [`Bilinear`] form, one per name, for a feature that has one; it is then never computed pair by pair.
    fn bilinear(&self) -> Option<Vec<Bilinear>> {
        None
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A feature made of products of per-edge numbers:
///
///   phi(e, f) = constant + Σ_(s in alone) [z_s(e) + z_s(f)] + Σ_((s, coefficient) in products) coefficient · z_s(e) · z_s(f)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bilinear {
    /// The part that does not depend on the edges.
    pub constant: f64,
    /// Columns of z that count on their own.
    pub alone: Vec<usize>,
    /// Columns of z that count as a product, and their coefficients.
    pub products: Vec<(usize, f64)>,
}

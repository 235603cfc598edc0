//! What can be computed from points alone: edges between them, their scale, the similarity that maps some onto others; and the
//! corners of an image. Knows nothing about graphs.
//!
//! [`EdgeRule`] lists every way to draw edges, by name, for settings and model files. All of them give undirected edges {i, j},
//! i < j, each once and sorted; the points alone decide, so renumbering the points renumbers the
//! edges (except for ties in [`Nearest`], which go to the smallest index).

mod delaunay;
mod grey_image;
mod near;
mod procrustes;
mod proximity;
mod scale;
mod susan;

pub use delaunay::delaunay;
pub use grey_image::GreyImage;
pub use near::Near;
pub(crate) use near::near_pairs;
pub use procrustes::Similarity;
pub use proximity::complete;
pub(crate) use proximity::{nearest, within};
pub(crate) use scale::{any_distance, distance, mean_distance, to_unit_range};
pub use susan::{Corners, Susan};

use crate::{Error, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// How edges are drawn between points.
///
/// ```
/// use homolog::geometry::EdgeRule;
/// let square = ndarray::array![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]];
/// let rule: EdgeRule = serde_json::from_str(r#"{"name":"within","radius":1.5}"#)?;
/// assert_eq!(rule.edges(square.view())?, [[0, 3], [1, 2]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EdgeRule {
    /// The Delaunay triangulation, as in the paper; points in the plane only.
    Delaunay(Delaunay),
    /// Each point to its nearest neighbours.
    Nearest(Nearest),
    /// All pairs up to a given distance apart.
    Within(Within),
    /// All pairs.
    Complete(Complete),
}

/// The Delaunay triangulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Delaunay {}

/// Each point to its nearest neighbours; the edge counts for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nearest {
    /// How many neighbours each point chooses.
    pub count: usize,
}

impl Default for Nearest {
    /// Six neighbours: the mean degree of a triangulation of many points.
    fn default() -> Self {
        Self { count: 6 }
    }
}

/// All pairs up to a given distance apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Within {
    /// The largest distance, in the unit of the points. There is no default: no value suits all data.
    pub radius: f64,
}

/// All pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Complete {}

impl EdgeRule {
    /// The undirected edges {i, j}, i < j, each once and sorted. One row per point.
    ///
    /// # Errors
    /// Delaunay: points that are not in the plane. A setting out of range; a coordinate that is not finite.
    pub fn edges(&self, points: ArrayView2<'_, f64>) -> Result<Vec<[usize; 2]>> {
        self.check()?;
        check_finite("points", points)?;
        match self {
            Self::Delaunay(_) => delaunay(points),
            Self::Nearest(rule) => Ok(nearest(points, rule.count)),
            Self::Within(rule) => Ok(within(points, rule.radius)),
            Self::Complete(_) => Ok(complete(points.nrows())),
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Within(Within { radius }) => Error::unless_at_least_0_or_infinite("radius", radius),
            _ => Ok(()),
        }
    }
}

/// Refuses NaN and infinities, saying where they are.
pub(crate) fn check_finite(what: &'static str, table: ArrayView2<'_, f64>) -> Result<()> {
    match table.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(Error::BadCell { what, row, column, value }),
        None => Ok(()),
    }
}

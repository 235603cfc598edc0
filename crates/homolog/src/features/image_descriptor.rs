//! [`ImageDescriptor`]: numbers that describe a point by the image around it. A [`Graph`](crate::graph::Graph) has no images, so these
//! become its node attributes, computed once by [`describe_points`] and compared like any others
//! ([`NodeAttributes`](super::NodeAttributes)), with a learned weight for each number.

use super::{Gradients, Patch};
use crate::geometry::{GreyImage, check_finite};
use crate::graph::Attributes;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// More numbers than this are a mistake in a settings file, not a descriptor.
const MAX_NUMBERS: usize = 10_000;
/// The root mean square of a descriptor's numbers: about the spread of the counts in a shape context with 200 points, so that one
/// lambda suits both.
pub(super) const SIZE: f64 = 3.0;

/// Every way to describe a point by the image around it, with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ImageDescriptor {
    /// A small grey picture of the surroundings.
    Patch(Patch),
    /// Which way brightness changes around the point, by position and direction.
    Gradients(Gradients),
}

impl ImageDescriptor {
    /// All of them with their default settings.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![Self::Patch(Patch::default()), Self::Gradients(Gradients::default())]
    }

    /// A name for each number.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Patch(patch) => patch.names(),
            Self::Gradients(gradients) => gradients.names(),
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<()> {
        let (radius, numbers) = match *self {
            Self::Patch(Patch { radius, cells }) => (radius, cells.saturating_mul(cells)),
            Self::Gradients(Gradients { radius, cells, directions }) => {
                (radius, cells.saturating_mul(cells).saturating_mul(directions))
            }
        };
        Error::unless_positive("radius", radius)?;
        Error::unless_between("numbers per descriptor", numbers as f64, 1.0, MAX_NUMBERS as f64)
    }

    fn describe(&self, image: GreyImage<'_>, x: f64, y: f64) -> Vec<f64> {
        match self {
            Self::Patch(patch) => patch.describe(image, x, y),
            Self::Gradients(gradients) => gradients.describe(image, x, y),
        }
    }
}

/// Describes points (x, y) by the image around them: one row per point, the numbers of all descriptors side by side.
///
/// # Errors
/// An image without pixels; points that are not in the plane or not finite; a setting out of range; the same descriptor twice.
pub fn describe_points(
    image: GreyImage<'_>,
    points: ArrayView2<'_, f64>,
    descriptors: &[ImageDescriptor],
) -> Result<Attributes> {
    if points.ncols() != 2 {
        let what = "coordinates of a point in an image";
        return Err(Error::Size { what, expected: 2, found: points.ncols() });
    }
    if image.pixels().is_empty() {
        return Err(Error::Missing { what: "pixels", needed_by: "image descriptors" });
    }
    check_finite("points in an image", points)?;
    descriptors.iter().try_for_each(ImageDescriptor::check)?;
    let names: Vec<String> = descriptors.iter().flat_map(ImageDescriptor::names).collect();
    let mut values = Array2::zeros((points.nrows(), names.len()));
    for (point, mut row) in points.rows().into_iter().zip(values.rows_mut()) {
        let numbers = descriptors.iter().flat_map(|descriptor| descriptor.describe(image, point[0], point[1]));
        row.iter_mut().zip(numbers).for_each(|(value, number)| *value = number);
    }
    Attributes::new(names, values)
}

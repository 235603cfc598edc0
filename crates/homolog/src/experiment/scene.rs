//! The paper's second and third experiments: finding a few known points of a template among all corners of another picture.
//!
//! A [`Scene`] is a picture with its landmarks labelled and its corners found. As a template its nodes are the landmarks, and the
//! corners are context: seen by shape contexts, but not matched. As a target its nodes are the candidates: the landmarks and all
//! corners, or the corners alone ([`TargetPoints`]). Either way shape contexts use all the points of their own picture.
//! The size of the picture is kept with the graph: its width is the unit of the endpoint loss.
//!
//! Pictures come decoded; which file holds which is up to the caller.

use crate::features::{
    Comparison, Descriptor, FeatureMap, Gradients, ImageDescriptor, NodeAttributes, NodeFeature, ShapeContext,
    describe_points,
};
use crate::geometry::{GreyImage, Susan};
use crate::graph::{Attributes, Graph};
use crate::matching::{Constraint, Matching};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};

/// What a target offers to be matched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum TargetPoints {
    /// The labelled points are added to the corners, and are the truth.
    WithLabels,
    /// Corners only: the nearest one stands for a labelled point; a point with none within the radius is not labelled.
    CornersOnly {
        /// In pixels.
        radius: f64,
    },
}

/// How scenes are made and compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneSettings {
    /// How corners are found.
    pub susan: Susan,
    /// The most corners in a picture.
    pub at_most: usize,
    /// What a target offers.
    pub candidates: TargetPoints,
    /// The shape context; `None` means image descriptors alone.
    pub shape_context: Option<ShapeContext>,
    /// Further descriptors, from the picture.
    pub image: Vec<ImageDescriptor>,
}

impl Default for SceneSettings {
    /// The paper's: 200 corners at most, shape context only.
    fn default() -> Self {
        Self {
            susan: Susan::default(),
            at_most: 200,
            candidates: TargetPoints::WithLabels,
            shape_context: Some(ShapeContext::paper()),
            image: Vec::new(),
        }
    }
}

impl SceneSettings {
    /// Gradients in a wide and a narrow window around each point: what measured best on validation pictures (docs/paper.md).
    #[must_use]
    pub fn gradients() -> Vec<ImageDescriptor> {
        let narrow = Gradients { radius: 24.0, cells: 3, directions: 8 };
        [Gradients::default(), narrow].map(ImageDescriptor::Gradients).to_vec()
    }

    /// The features by which scenes made with these settings are compared.
    #[must_use]
    pub fn features(&self) -> FeatureMap {
        let shape = self.shape_context.clone().map(Descriptor::ShapeContext);
        let columns: Vec<String> = self.image.iter().flat_map(ImageDescriptor::names).collect();
        let image = (!columns.is_empty()).then_some(Descriptor::Attributes(NodeAttributes { columns }));
        let feature = |descriptor| NodeFeature { descriptor, comparison: Comparison::default() };
        FeatureMap { node: shape.into_iter().chain(image).map(feature).collect(), ..FeatureMap::paper_linear() }
    }
}

/// A picture with labelled points and corners, and what the picture shows around them.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    size: [f64; 2],
    landmarks: Array2<f64>,
    corners: Array2<f64>,
    /// Of the landmarks and of the corners.
    attributes: Option<[Attributes; 2]>,
    candidates: TargetPoints,
}

impl Scene {
    /// Finds the corners of a picture, and describes them and its labelled points (x, y) by it.
    ///
    /// # Errors
    /// Landmarks that are not in the plane or not finite; a setting out of range.
    pub fn new(image: GreyImage<'_>, landmarks: Array2<f64>, settings: &SceneSettings) -> Result<Self> {
        let corners = settings.susan.at_most(settings.at_most, image)?.points;
        Self::with_corners(image, landmarks, corners, settings)
    }

    /// The same with corners that were found before, or by other means.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_corners(
        image: GreyImage<'_>,
        landmarks: Array2<f64>,
        corners: Array2<f64>,
        settings: &SceneSettings,
    ) -> Result<Self> {
        if let TargetPoints::CornersOnly { radius } = settings.candidates {
            Error::unless_at_least_0("radius", radius)?;
        }
        let describe = |points: &Array2<f64>| describe_points(image, points.view(), &settings.image);
        let attributes = match settings.image[..] {
            [] => None,
            _ => Some([describe(&landmarks)?, describe(&corners)?]),
        };
        let size = [image.width() as f64, image.height() as f64];
        Ok(Self { size, landmarks, corners, attributes, candidates: settings.candidates })
    }

    /// The labelled points.
    #[must_use]
    pub fn landmarks(&self) -> ArrayView2<'_, f64> {
        self.landmarks.view()
    }

    /// The corners.
    #[must_use]
    pub fn corners(&self) -> ArrayView2<'_, f64> {
        self.corners.view()
    }

    /// The scene as a template: the landmarks, with the corners as context.
    ///
    /// # Errors
    /// Landmarks that are not in the plane or not finite.
    pub fn template(&self) -> Result<Graph> {
        let all: Vec<usize> = (0..self.landmarks.nrows()).collect();
        self.template_of(&all)
    }

    /// The same with some of the landmarks only, each once and in order; the others become context.
    pub(super) fn template_of(&self, kept: &[usize]) -> Result<Graph> {
        let others: Vec<usize> = (0..self.landmarks.nrows()).filter(|i| kept.binary_search(i).is_err()).collect();
        let context = stack(self.landmarks.select(Axis(0), &others).view(), self.corners.view())?;
        let graph = Graph::from_points(self.landmarks.select(Axis(0), kept))?.with_context(context)?;
        let rows = |[landmarks, _]: &[Attributes; 2]| {
            Attributes::new(landmarks.names().to_vec(), landmarks.values().select(Axis(0), kept))
        };
        self.finish(graph, self.attributes.as_ref().map(rows).transpose()?)
    }

    /// The scene as a target: the candidates, and which of them each landmark is.
    ///
    /// # Errors
    /// Landmarks that are not in the plane or not finite.
    pub fn target(&self) -> Result<(Graph, Matching)> {
        let (points, attributes) = match (self.candidates, &self.attributes) {
            (TargetPoints::CornersOnly { .. }, attributes) => {
                (self.corners.clone(), attributes.as_ref().map(|[_, corners]| corners.clone()))
            }
            (TargetPoints::WithLabels, attributes) => {
                let points = stack(self.landmarks.view(), self.corners.view())?;
                let both = |[landmarks, corners]: &[Attributes; 2]| {
                    Attributes::new(landmarks.names().to_vec(), stack(landmarks.values(), corners.values())?)
                };
                (points, attributes.as_ref().map(both).transpose()?)
            }
        };
        let graph = self.finish(Graph::from_points(points)?, attributes)?;
        let truth = match self.candidates {
            TargetPoints::WithLabels => (0..self.landmarks.nrows()).map(Some).collect(),
            TargetPoints::CornersOnly { radius } => nearest(self.landmarks.view(), self.corners.view(), radius),
        };
        let truth = Matching::new(truth, graph.node_count(), Constraint::OneToOne)?;
        Ok((graph, truth))
    }

    fn finish(&self, graph: Graph, attributes: Option<Attributes>) -> Result<Graph> {
        let graph = graph.with_image_size(self.size[0], self.size[1])?;
        attributes.map_or(Ok(graph.clone()), |attributes| graph.with_node_attributes(attributes))
    }
}

fn stack(above: ArrayView2<'_, f64>, below: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
    let (expected, found) = (above.ncols(), below.ncols());
    concatenate(Axis(0), &[above, below]).map_err(|_| Error::Size { what: "coordinates of corners", expected, found })
}

/// For each landmark the nearest corner within the radius; nearer pairs first, so no corner stands for two.
fn nearest(landmarks: ArrayView2<'_, f64>, corners: ArrayView2<'_, f64>, radius: f64) -> Vec<Option<usize>> {
    let mut pairs = Vec::new();
    for (i, a) in landmarks.rows().into_iter().enumerate() {
        for (k, b) in corners.rows().into_iter().enumerate() {
            let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
            if distance <= radius {
                pairs.push((distance, i, k));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut partner, mut taken) = (vec![None; landmarks.nrows()], vec![false; corners.nrows()]);
    for (_, i, k) in pairs {
        if partner[i].is_none() && !taken[k] {
            (partner[i], taken[k]) = (Some(k), true);
        }
    }
    partner
}

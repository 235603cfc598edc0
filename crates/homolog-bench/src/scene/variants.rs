//! Which features are used to compare scenes.

use homolog::experiment::SceneSettings;
use homolog::features::ShapeContext;

/// A choice of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// The paper's 60 numbers.
    ShapeContext,
    /// A smaller innermost ring and a wider outermost one: 84 numbers.
    WideShapeContext,
    /// Gradients in a wide and a narrow window.
    Image,
    /// The paper's shape context and the gradients.
    Both,
}

impl Variant {
    pub(super) const ALL: [Self; 4] = [Self::ShapeContext, Self::WideShapeContext, Self::Image, Self::Both];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ShapeContext => "shape context",
            Self::WideShapeContext => "shape context, 7 rings",
            Self::Image => "image descriptors",
            Self::Both => "shape context and image descriptors",
        }
    }

    pub(super) fn settings(self) -> SceneSettings {
        let paper = SceneSettings::default();
        let wide = ShapeContext { radii: vec![0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0], ..ShapeContext::paper() };
        let image = SceneSettings::gradients();
        match self {
            Self::ShapeContext => paper,
            Self::WideShapeContext => SceneSettings { shape_context: Some(wide), ..paper },
            Self::Image => SceneSettings { shape_context: None, image, ..paper },
            Self::Both => SceneSettings { image, ..paper },
        }
    }
}

//! What pictures show around points, for features that look at pictures: computed when the graphs are read.

use crate::inputs::{Input, Picture};
use crate::pair_input::PairInput;
use anyhow::{Context, Result, bail};
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::features::{ImageDescriptor, describe_points};
use homolog::geometry::GreyImage;
use std::sync::Arc;

impl Input {
    /// The same graphs with the numbers that these descriptors see in their pictures.
    pub(crate) fn seen_by(mut self, descriptors: &[ImageDescriptor]) -> Result<Self> {
        if !descriptors.is_empty() {
            let graphs = self.data.graphs().iter().enumerate();
            let graphs = graphs.map(|(number, named)| seen(named, &self.picture_of(number), descriptors));
            self.data = DataSet::new(graphs.collect::<Result<_>>()?, self.data.pairs().to_vec())?;
        }
        Ok(self)
    }
}

impl PairInput {
    /// The same two graphs with the numbers that these descriptors see in their pictures.
    pub(crate) fn seen_by(mut self, descriptors: &[ImageDescriptor]) -> Result<Self> {
        if !descriptors.is_empty() {
            self.left = seen(&self.left, &self.pictures[0], descriptors)?;
            self.right = seen(&self.right, &self.pictures[1], descriptors)?;
        }
        Ok(self)
    }
}

fn seen(named: &NamedGraph, picture: &Picture, descriptors: &[ImageDescriptor]) -> Result<NamedGraph> {
    let about = || format!("{:?}", named.id);
    let Some(picture) = picture.read().with_context(about)? else {
        bail!("{:?} has no picture, and the features look at one (images/{}.png beside the table)", named.id, named.id);
    };
    let grey = GreyImage::new(picture.width, picture.height, &picture.pixels)?;
    let points = named.graph.points().with_context(|| format!("{:?} has no points", named.id))?;
    let numbers = describe_points(grey, points, descriptors).with_context(about)?;
    let graph = (*named.graph).clone().with_more_node_attributes(&numbers).with_context(about)?;
    Ok(NamedGraph { graph: Arc::new(graph), ..named.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use homolog::data::landmarks::LandmarkTable;
    use homolog::features::Gradients;

    #[test]
    fn graphs_with_pictures_get_numbers_and_graphs_without_are_named() {
        let gradients = ImageDescriptor::Gradients(Gradients::default());
        let plain = Input::turntable().unwrap();
        let count = plain.data.graphs().len();
        let seen = plain.seen_by(&[gradients]).unwrap();
        assert_eq!(seen.data.graphs().len(), count);
        for named in seen.data.graphs() {
            let numbers = named.graph.node_attributes().expect("computed");
            assert_eq!(numbers.names(), gradients.names());
            assert!(numbers.values().iter().any(|&number| number != 0.0));
        }
        let table = "specimen,landmark,x,y\na,nose,1,2\na,chin,2,3\n";
        let graphs = LandmarkTable { graph: Some("specimen".to_string()), ..LandmarkTable::default() };
        let bare = DataSet::new(graphs.read(table, "t").unwrap(), vec![]).unwrap();
        let refused = seen_named(&bare.graphs()[0], gradients).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "\"a\" has no picture, and the features look at one (images/a.png beside the table)"
        );
    }

    fn seen_named(named: &NamedGraph, of: ImageDescriptor) -> Result<NamedGraph> {
        seen(named, &Picture::None, &[of])
    }
}

//! What landmarks look like in pictures, learned and found.

use crate::model::Model;
use crate::run;
use homolog::features::{ImageDescriptor, describe_points};
use homolog::geometry::GreyImage;
use homolog::graph::Graph as InnerGraph;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// Grey levels, row by row.
pub(crate) struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    pub(crate) fn new(array: &PyReadonlyArray2<'_, u8>) -> Self {
        let [height, width] = [array.shape()[0], array.shape()[1]];
        Self { width, height, pixels: array.as_array().iter().copied().collect() }
    }

    pub(crate) fn grey(&self) -> homolog::Result<GreyImage<'_>> {
        GreyImage::new(self.width, self.height, &self.pixels)
    }

    /// The graph of its points with the numbers that describe the picture around them.
    pub(crate) fn seen(&self, graph: &InnerGraph, descriptors: &[ImageDescriptor]) -> homolog::Result<InnerGraph> {
        let points = graph.points().ok_or(homolog::Error::Missing { what: "points", needed_by: "pictures" })?;
        graph.clone().with_more_node_attributes(&describe_points(self.grey()?, points, descriptors)?)
    }
}

/// The landmarks of pictures without any points, for each picture as JSON.
#[pyfunction]
#[pyo3(signature = (model, pictures, jobs))]
pub(crate) fn find_points(
    py: Python<'_>,
    model: &Model,
    pictures: Vec<PyReadonlyArray2<'_, u8>>,
    jobs: Option<usize>,
) -> PyResult<Vec<String>> {
    let pictures: Vec<Picture> = pictures.iter().map(Picture::new).collect();
    let model = Arc::clone(&model.inner);
    let found = run::run(py, jobs, move |control| {
        let find = |picture: &Picture| model.find(picture.grey()?, control);
        pictures.iter().map(find).collect::<homolog::Result<Vec<_>>>()
    })?;
    Ok(found.iter().map(|points| json!(points).to_string()).collect())
}

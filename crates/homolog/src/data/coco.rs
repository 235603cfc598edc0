//! COCO keypoint annotations (JSON). Every annotation with keypoints is a graph, named by its id; keypoints that are labelled
//! (visibility 1 or 2) are its nodes, with the names and the skeleton of its category; the picture is that of its image.
//!
//! ```text
//! {"images": [{"id": 7, "file_name": "a.jpg", "width": 640, "height": 480}],
//!  "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "keypoints": [10, 20, 2, 30, 40, 1]}],
//!  "categories": [{"id": 1, "name": "person", "keypoints": ["nose", "left eye"], "skeleton": [[1, 2]]}]}
//! ```
//!
//! Everything else in the file (boxes, segments, licences) is ignored.

use super::dataset::{MAX_FILE_SIZE, NamedGraph};
use crate::graph::{Direction, Graph};
use crate::{Error, Result};
use ndarray::Array2;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: &str = "COCO keypoints";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    images: Vec<Image>,
    annotations: Vec<Annotation>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    file_name: Option<String>,
    width: Option<f64>,
    height: Option<f64>,
}

#[derive(Deserialize)]
struct Annotation {
    id: u64,
    image_id: Option<u64>,
    category_id: u64,
    #[serde(default)]
    keypoints: Vec<f64>,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    #[serde(default)]
    keypoints: Vec<String>,
    #[serde(default)]
    skeleton: Vec<[usize; 2]>,
}

/// Whether a JSON text looks like such a file.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        annotations: Option<serde::de::IgnoredAny>,
        categories: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Head>(text).is_ok_and(|head| head.annotations.is_some() && head.categories.is_some())
}

/// Reads the annotations that have keypoints.
///
/// # Errors
/// A text that is not such a file, with line and column; an annotation whose parts do not fit together, with its id.
pub(crate) fn read(text: &str) -> Result<Vec<NamedGraph>> {
    let refused = |reason: String| Error::Unreadable { format: FORMAT, reason };
    if text.len() > MAX_FILE_SIZE {
        return Err(refused(format!("{} bytes are more than {MAX_FILE_SIZE}", text.len())));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
    let images: BTreeMap<u64, &Image> = file.images.iter().map(|image| (image.id, image)).collect();
    let categories: BTreeMap<u64, &Category> = file.categories.iter().map(|category| (category.id, category)).collect();
    let mut graphs = Vec::new();
    for annotation in file.annotations.iter().filter(|annotation| !annotation.keypoints.is_empty()) {
        let told = |reason: String| refused(format!("annotation {}: {reason}", annotation.id));
        let Some(category) = categories.get(&annotation.category_id) else {
            return Err(told(format!("there is no category {}", annotation.category_id)));
        };
        let image = match annotation.image_id {
            Some(id) if !images.is_empty() => {
                Some(*images.get(&id).ok_or_else(|| told(format!("there is no image {id}")))?)
            }
            _ => None,
        };
        let graph = graph(annotation, category, image).map_err(told)?;
        let image = image.and_then(|image| image.file_name.clone());
        graphs.push(NamedGraph { id: annotation.id.to_string(), graph: Arc::new(graph), image });
    }
    Ok(graphs)
}

fn graph(annotation: &Annotation, category: &Category, image: Option<&Image>) -> std::result::Result<Graph, String> {
    let told = |error: Error| error.to_string();
    let (points, names) = (&annotation.keypoints, &category.keypoints);
    if points.len() != 3 * names.len() {
        return Err(format!("{} keypoints take {} numbers, there are {}", names.len(), 3 * names.len(), points.len()));
    }
    let seen: Vec<usize> = (0..names.len()).filter(|&at| points[3 * at + 2] > 0.0).collect();
    let array = Array2::from_shape_fn((seen.len(), 2), |(row, axis)| points[3 * seen[row] + axis]);
    let graph = Graph::from_points(array).map_err(told)?;
    let graph = graph.with_names(seen.iter().map(|&at| names[at].clone()).collect()).map_err(told)?;
    // The skeleton counts from 1, over all keypoints; an edge exists if both its ends do.
    let node = |keypoint: usize| keypoint.checked_sub(1).and_then(|at| seen.binary_search(&at).ok());
    if let Some(ends) = category.skeleton.iter().find(|ends| ends.iter().any(|&end| end == 0 || end > names.len())) {
        return Err(format!("the skeleton has the edge {ends:?}, but there are {} keypoints, from 1", names.len()));
    }
    let edges = category.skeleton.iter().filter_map(|&[from, to]| Some([node(from)?, node(to)?])).collect();
    let graph = graph.with_edges(edges, Direction::Undirected).map_err(told)?;
    match image.and_then(|image| Some((image.width?, image.height?))) {
        Some((width, height)) => graph.with_image_size(width, height).map_err(told),
        None => Ok(graph),
    }
}

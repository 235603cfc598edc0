//! The house sequence, if it is present.

use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use ndarray::Array2;
use std::sync::Arc;

pub fn house(map: FeatureMap) -> Option<Sequence> {
    let folder = super::data_folder("house")?;
    let text = std::fs::read_to_string(folder.join("landmarks.csv")).unwrap();
    let mut frames: Vec<Vec<f64>> = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let frame: usize = cells[0].parse().unwrap();
        frames.resize(frames.len().max(frame), Vec::new());
        frames[frame - 1].extend(cells[2..4].iter().map(|cell| cell.parse::<f64>().unwrap()));
    }
    let graph = |points: Vec<f64>| {
        let count = points.len() / 2;
        Arc::new(Graph::from_points(Array2::from_shape_vec((count, 2), points).unwrap()).unwrap())
    };
    Some(Sequence::new(map, frames.into_iter().map(graph).collect()).unwrap())
}

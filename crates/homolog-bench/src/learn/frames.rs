//! A sequence of frames with 30 landmarks: the house data or, if that is absent, the turntable that comes with the library.

use crate::house;
use anyhow::Result;
use homolog::data::turntable::Turntable;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use ndarray::Array2;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Frames {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<Array2<f64>>,
}

impl Frames {
    pub(crate) fn load(directory: &Path) -> Result<Self> {
        if directory.join("landmarks.csv").exists() {
            return Ok(Self { name: "house", points: house::landmarks(directory)? });
        }
        eprintln!("no house data in {}: the turntable sequence in its place", directory.display());
        Ok(Self { name: "turntable", points: Turntable::default().landmarks()? })
    }

    pub(crate) fn graphs(&self) -> Result<Vec<Arc<Graph>>> {
        let graph = |points: &Array2<f64>| Graph::from_points(points.clone()).map(Arc::new);
        Ok(self.points.iter().map(graph).collect::<homolog::Result<_>>()?)
    }

    /// The frames described by the paper's 60 features.
    pub(crate) fn sequence(&self) -> Result<Sequence> {
        Ok(Sequence::new(FeatureMap::paper_linear(), self.graphs()?)?)
    }
}

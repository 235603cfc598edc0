//! The paper's sequence experiment on any sequence of frames with the same landmarks: for a baseline B all pairs of frames (i, i + B),
//! one third each for training, validation and test.

use crate::data::Split;
use crate::features::{Described, FeatureMap};
use crate::graph::{Graph, Pair};
use crate::learn::Example;
use crate::loss::Loss;
use crate::matching::Matching;
use crate::{Error, Result};
use std::sync::Arc;

/// Frames in which node k is the same landmark throughout, described once for all the pairs they occur in.
#[derive(Debug, Clone)]
pub struct Sequence {
    map: FeatureMap,
    graphs: Vec<Arc<Graph>>,
    described: Vec<Arc<Described>>,
}

impl Sequence {
    /// Describes every frame.
    ///
    /// # Errors
    /// Frames with different numbers of nodes, or without the parts that the features need.
    pub fn new(map: FeatureMap, graphs: Vec<Arc<Graph>>) -> Result<Self> {
        let expected = graphs.first().map_or(0, |graph| graph.node_count());
        for graph in &graphs {
            if graph.node_count() != expected {
                return Err(Error::Size { what: "landmarks of a frame", expected, found: graph.node_count() });
            }
        }
        let described = graphs.iter().map(|graph| map.describe(graph).map(Arc::new)).collect::<Result<_>>()?;
        Ok(Self { map, graphs, described })
    }

    /// How many frames there are.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.graphs.len()
    }

    /// The frames.
    #[must_use]
    pub fn graphs(&self) -> &[Arc<Graph>] {
        &self.graphs
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &FeatureMap {
        &self.map
    }

    /// The left frames, counted from 0, of all pairs at a baseline that belong to a split.
    pub fn frames_of(&self, baseline: usize, split: Split) -> impl Iterator<Item = usize> {
        (0..self.frame_count().saturating_sub(baseline)).filter(move |&frame| Split::of_frame(frame) == split)
    }

    /// The pair of a frame and the one `baseline` later, with its truth: node k to node k.
    ///
    /// # Errors
    /// No such frame, or a loss that cannot be computed for it.
    pub fn example(&self, frame: usize, baseline: usize, loss: &dyn Loss) -> Result<Example> {
        let other = frame.saturating_add(baseline);
        let (Some(left), Some(right)) = (self.described.get(frame), self.described.get(other)) else {
            return Err(Error::OutOfRange { what: "frames", index: other, count: self.frame_count() });
        };
        let pair = Pair::new(Arc::clone(&self.graphs[frame]), Arc::clone(&self.graphs[other]));
        let truth = Matching::identity(left.node_count());
        // A seed for each pair: the order in which its right nodes are solved.
        let seed = ((frame as u64) << 32) | baseline as u64;
        Ok(Example::new(self.map.instance(left, right)?, &pair, truth, loss, seed)?.with_specimens(frame, other))
    }

    /// All examples of a baseline and a split.
    ///
    /// # Errors
    /// As [`Self::example`].
    pub fn examples(&self, baseline: usize, split: Split, loss: &dyn Loss) -> Result<Vec<Example>> {
        self.frames_of(baseline, split).map(|frame| self.example(frame, baseline, loss)).collect()
    }
}

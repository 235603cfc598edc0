//! [`DataSet`]s as files: read from and written to JSON (one object) or JSON Lines (one graph or pair per line); `docs/formats.md` describes both
//! formats. What is read is checked once, here: ids that occur twice, pairs of graphs that do not exist, matches out of range,
//! lists of unequal lengths. Every error names its place. The size of a text bounds the memory it takes, except for
//! numbers of nodes without points and for the matchings of the pairs; those have separate limits.

mod build;
mod json;
mod pair_features;
mod pairing;
mod record;
mod shape;

pub use crate::graph::dataset::{DataSet, LabelledPair, NamedGraph, match_by_name};
pub(crate) use crate::graph::dataset::{
    MAX_EDGES, MAX_GRAPHS, MAX_LABELLED_NODES, MAX_LISTED_PAIRS, MAX_NODES, MAX_PAIRS, MAX_TOTAL_NODES,
};
use crate::graph::dataset::{all_positions, at_most, by_name, positions};
pub use pairing::{Pairing, SplitBy};

use crate::Result;
use crate::features::Common;
use crate::learn::LabelledPairs;

/// The version of the file format that this library writes, and the newest it reads.
pub(crate) const FORMAT_VERSION: u32 = 1;
/// The longest text of a data set, in bytes; a longer one is refused unread.
pub(crate) const MAX_FILE_SIZE: usize = 256 << 20;
impl DataSet {
    /// What all graphs, and all pairs, have in common.
    ///
    /// # Errors
    /// Points of different dimensions.
    pub fn common(&self) -> Result<Common> {
        let graphs = self.graphs().iter().map(|named| &*named.graph);
        Ok(Common::of(graphs)?.with_pairs(self.pairs().iter().map(|pair| pair.features.as_deref())))
    }

    /// The wanted pairs whose matches are known, with their positions in the data set.
    #[must_use]
    pub fn labelled(&self, wanted: impl Fn(&LabelledPair) -> bool) -> (LabelledPairs, Vec<usize>) {
        let is_wanted = |&at: &usize| self.pairs()[at].truth.is_some() && wanted(&self.pairs()[at]);
        let positions: Vec<usize> = (0..self.pairs().len()).filter(is_wanted).collect();
        (LabelledPairs::of(self, positions.iter().map(|&at| (at, at as u64))), positions)
    }
}

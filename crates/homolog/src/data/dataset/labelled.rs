//! From a data set to data to learn from.

use super::{DataSet, LabelledPair};
use crate::Result;
use crate::learn::LabelledPairs;

impl DataSet {
    /// The wanted pairs whose matches are known, with their positions in the data set.
    ///
    /// # Errors
    /// None in practice: a data set is checked when it is made.
    pub fn labelled(&self, wanted: impl Fn(&LabelledPair) -> bool) -> Result<(LabelledPairs, Vec<usize>)> {
        let mut labelled = LabelledPairs::new();
        for (number, named) in self.graphs().iter().enumerate() {
            labelled.add_graph(&named.graph, format!("graph {:?}", named.id), number);
        }
        let mut positions = Vec::new();
        for (position, pair) in self.pairs().iter().enumerate() {
            let Some(truth) = pair.truth.as_ref().filter(|_| wanted(pair)) else { continue };
            labelled.add_numbered(
                [pair.left, pair.right],
                truth.clone(),
                &pair.unknown,
                &pair.given,
                position as u64,
            )?;
            positions.push(position);
        }
        Ok((labelled, positions))
    }
}

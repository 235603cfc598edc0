//! From a data set to data to learn from.

use super::{DataSet, LabelledPair};
use crate::Result;
use crate::learn::LabelledPairs;
use sha2::{Digest, Sha256};

impl DataSet {
    /// The wanted pairs whose matches are known, with their positions in the data set.
    ///
    /// # Errors
    /// None in practice: a data set is checked when it is made.
    pub fn labelled(&self, wanted: impl Fn(&LabelledPair) -> bool) -> Result<(LabelledPairs, Vec<usize>)> {
        let mut labelled = LabelledPairs::new();
        for named in self.graphs() {
            labelled.add_graph(&named.graph, format!("graph {:?}", named.id), specimen_number(&named.id));
        }
        let mut positions = Vec::new();
        for (position, pair) in self.pairs().iter().enumerate() {
            let Some(truth) = pair.truth.as_ref().filter(|_| wanted(pair)) else { continue };
            labelled.add_numbered(
                [pair.left, pair.right],
                truth.clone(),
                &pair.unknown,
                (&pair.given, pair.features.as_ref()),
                position as u64,
            )?;
            positions.push(position);
        }
        Ok((labelled, positions))
    }
}

/// A number that tells a specimen from others in whichever file it is, the whole or a part: the beginning of its name's digest.
pub(in crate::data) fn specimen_number(id: &str) -> usize {
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().take(size_of::<usize>()).fold(0, |number, &byte| number << 8 | usize::from(byte))
}

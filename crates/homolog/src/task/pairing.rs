//! [`paired`]: the pairs of a data set that lists none.

use crate::data::dataset::{DataSet, LabelledPair, Pairing, SplitBy};
use crate::{Control, Error, Result};

/// The data set with pairs: its own, or else all pairs of graphs whose nodes share names; of more than 2000, 500 that are drawn, and then how
/// many were drawn of how many.
///
/// # Errors
/// Fewer than two graphs; no two graphs with a name in common; [`Error::Interrupted`].
pub fn paired(data: &DataSet, control: &Control) -> Result<(DataSet, Option<[usize; 2]>)> {
    if !data.pairs().is_empty() {
        return Ok((data.clone(), None));
    }
    let count = data.graphs().len();
    if count < 2 {
        let reason = format!("need at least two graphs to form a pair, found {count}");
        return Err(Error::DataSet { place: "pairs".to_string(), reason });
    }
    let pairing = Pairing::usual(count);
    let made = DataSet::paired_watched(data.graphs().to_vec(), pairing, SplitBy::None, control)?;
    let labelled: Vec<LabelledPair> = made.pairs().iter().filter(|pair| pair.truth.is_some()).cloned().collect();
    if labelled.is_empty() {
        let reason = "there are none, and no two graphs have a node of the same name".to_string();
        return Err(Error::DataSet { place: "pairs".to_string(), reason });
    }
    let all = labelled.len() == made.pairs().len();
    let made = if all { made } else { DataSet::new_watched(made.graphs().to_vec(), labelled, control)? };
    Ok((made, pairing.drawn(count)))
}

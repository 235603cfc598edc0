//! [`paired`]: the pairs of a data set that lists none.

use crate::data::dataset::{DataSet, LabelledPair, Pairing, SplitBy};
use crate::{Error, Result};

/// The most pairs that are made.
const MOST_PAIRS: usize = 2000;
/// So many are drawn if there would be more: enough to learn from, and quick.
const DRAWN_PAIRS: usize = 500;
/// The seed of pairs that are drawn.
const SEED: u64 = 0;

/// The data set with pairs: its own, or else all pairs of graphs whose nodes share names; of more than 2000, 500 that are drawn, and then how
/// many were drawn of how many.
///
/// # Errors
/// Fewer than two graphs; no two graphs with a name in common.
pub fn paired(data: &DataSet) -> Result<(DataSet, Option<[usize; 2]>)> {
    if !data.pairs().is_empty() {
        return Ok((data.clone(), None));
    }
    let count = data.graphs().len();
    if count < 2 {
        let reason = format!("need at least two graphs to form a pair, found {count}");
        return Err(Error::DataSet { place: "pairs".to_string(), reason });
    }
    let all = count.saturating_mul(count - 1) / 2;
    let (pairing, drawn) = if all <= MOST_PAIRS {
        (Pairing::All, None)
    } else {
        (Pairing::Random { count: DRAWN_PAIRS, seed: SEED }, Some([DRAWN_PAIRS, all]))
    };
    let made = DataSet::paired(data.graphs().to_vec(), pairing, SplitBy::None)?;
    let labelled: Vec<LabelledPair> = made.pairs().iter().filter(|pair| pair.truth.is_some()).cloned().collect();
    if labelled.is_empty() {
        let reason = "there are none, and no two graphs have a node of the same name".to_string();
        return Err(Error::DataSet { place: "pairs".to_string(), reason });
    }
    Ok((DataSet::new(made.graphs().to_vec(), labelled)?, drawn))
}

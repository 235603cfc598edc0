//! Features of pairs in the text of a data set: `{"pairs": [[left, right], …], "columns": {"iou": [0.9, …], …}}`. Without `pairs` the columns
//! have a number for every pair of nodes, row by row; with them, pairs that are not listed must not be matched.

use super::build::{Fault, Side, fault, node_pairs};
use super::record::PairFeaturesRecord;
use super::shape::{Capped, Columns};
use crate::graph::PairFeatures;
use ndarray::Array2;

const FIELD: &str = "features";

/// The features of a pair, checked.
pub(super) fn read(
    record: PairFeaturesRecord,
    left: &Side<'_>,
    right: &Side<'_>,
) -> std::result::Result<PairFeatures, Fault> {
    let (n, m) = (left.graph.node_count(), right.graph.node_count());
    let Columns(columns) = record.columns;
    let expected = record.pairs.as_ref().map_or(n.saturating_mul(m), |Capped(pairs)| pairs.len());
    if let Some((name, values)) = columns.iter().find(|(_, values)| values.len() != expected) {
        let reason = format!("{name:?} has {} values, but there are {expected} pairs of nodes", values.len());
        return Err((FIELD.into(), reason));
    }
    // Only now: as many pairs as there are numbers.
    let pairs = match record.pairs {
        Some(Capped(pairs)) => node_pairs("features.pairs", &pairs, left, right)?,
        None if columns.is_empty() => return Err((FIELD.into(), "there is no column".into())),
        None => (0..n).flat_map(|i| (0..m).map(move |k| [i, k])).collect(),
    };
    let rows = Array2::from_shape_fn((pairs.len(), columns.len()), |(row, column)| columns[column].1[row]);
    let names = columns.into_iter().map(|(name, _)| name).collect();
    PairFeatures::of_list(names, (n, m), &pairs, rows.view()).map_err(fault(FIELD))
}

/// The features of a pair as they are written.
pub(super) fn record(features: &PairFeatures, left: &Side<'_>, right: &Side<'_>) -> PairFeaturesRecord {
    let is_plain = features.is_full() && !features.names().is_empty();
    let listed = || Capped(features.pairs().map(|[i, k]| [left.write(i), right.write(k)]).collect());
    let column = |(column, name): (usize, &String)| (name.clone(), features.values().column(column).to_vec());
    PairFeaturesRecord {
        pairs: (!is_plain).then(listed),
        columns: Columns(features.names().iter().enumerate().map(column).collect()),
    }
}

//! A table of scores in the other forms that a problem may have.

use homolog::matching::{Compatibility, Constraint, Sense, Sparse, Streamed};
use ndarray::{Array2, Axis};
use std::ops::Range;

/// A one-to-one problem without edges as a list of its allowed pairs.
pub fn as_list(problem: &Compatibility) -> Option<Sparse> {
    if problem.edge.is_some() || problem.constraint == Constraint::ManyToOne {
        return None;
    }
    let allowed = problem.node.indexed_iter().filter(|(_, score)| score.is_finite());
    let pairs = allowed.map(|((i, k), &score)| (i, k, score)).collect();
    let mut list = Sparse::from_pairs(problem.left_count(), problem.right_count(), pairs, Sense::Maximize)
        .expect("a small problem");
    if let Some(prices) = &problem.unmatched {
        list = list.with_unmatched(prices.to_vec()).expect("as many as nodes");
    }
    if let Some(prices) = &problem.right_unmatched {
        list = list.with_right_unmatched(prices.to_vec()).expect("as many as nodes");
    }
    Some(list)
}

/// What `look` says of a one-to-one problem whose rows are computed when they are needed, with so few candidates that pricing has work to do.
pub fn on_rows<T>(
    problem: &Compatibility,
    [candidates, edge_candidates, rows_at_once]: [usize; 3],
    look: impl FnOnce(&Streamed<'_>) -> T,
) -> T {
    let write =
        |rows: Range<usize>, scores: &mut Array2<f64>| scores.assign(&problem.node.slice_axis(Axis(0), rows.into()));
    let mut streamed = Streamed::new(problem.left_count(), problem.right_count(), &write);
    (streamed.candidates, streamed.edge_candidates, streamed.rows_at_once) =
        (candidates, edge_candidates, rows_at_once);
    if let Some(edge) = &problem.edge {
        streamed = streamed.with_edges(edge);
    }
    if let Some(prices) = &problem.unmatched {
        streamed = streamed.with_unmatched(prices.to_vec());
    }
    if let Some(prices) = &problem.right_unmatched {
        streamed = streamed.with_right_unmatched(prices.to_vec());
    }
    look(&streamed)
}

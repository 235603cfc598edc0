//! How often a pair is found again if some of the evidence is missing ([`found_again`]): with edges, what a margin is without.
//!
//! The problem is searched several times, each time without a random tenth of the edges of both graphs and with the right nodes in another
//! order. A pair that rests on few edges is found in some of these searches and not in others, as is one of two nodes that could be
//! exchanged; a pair that all say is supported by edges from all sides.

use super::{Compatibility, EdgeList, EdgeTerm, FrankWolfe, Matcher, RightOrder, Solution, Workspace};
use crate::{Control, Error, Report, Result};
use ndarray::{Array2, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The share of edges that is left out.
const LEFT_OUT: f64 = 0.1;
/// Larger tables are searched one after another.
const MOST_CELLS: usize = 1 << 22;

/// For each matched pair of a solution, in order of left node, the share of searches that find it. If interrupted, of those that were done;
/// 0 if none was.
///
/// # Errors
/// A number of times that is 0; a solution of another problem; as [`FrankWolfe`].
///
/// ```
/// use homolog::Control;
/// use homolog::matching::{Compatibility, Linear, Matcher, found_again};
/// let problem = Compatibility::linear(ndarray::array![[5.0, 3.0, 0.0], [4.0, 1.0, 0.0]]);
/// let solution = Linear::default().solve(&problem)?;
/// assert_eq!(found_again(&problem, &solution, 4, &Control::new())?, [1.0, 1.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn found_again(problem: &Compatibility, solution: &Solution, times: usize, control: &Control) -> Result<Vec<f64>> {
    Error::unless_counted("times", times)?;
    problem.score(&solution.matching)?;
    let (pairs, done) = (solution.matching.pairs().collect::<Vec<_>>(), AtomicUsize::new(0));
    let search = |number: usize| -> Result<Option<Vec<bool>>> {
        if control.interrupted() {
            return Ok(None);
        }
        let order = RightOrder::random(problem.right_count(), number as u64);
        let mut shuffled = Compatibility::linear(Array2::zeros((0, 0)));
        order.shuffle_into(problem, &mut shuffled)?;
        shuffled.edge = shuffled.edge.map(|edge| thinned(&edge, number as u64)).transpose()?;
        let found = FrankWolfe::default().solve_with(&shuffled, &mut Workspace::with_control(control))?;
        let matching = order.carry_back(&found.matching)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        control.report(&Report::new("matching again", done, Some(times)));
        Ok(Some(pairs.iter().map(|&(i, k)| matching.right_of(i) == Some(k)).collect()))
    };
    let found: Vec<Option<Vec<bool>>> = if problem.node.len() > MOST_CELLS {
        (0..times).map(search).collect::<Result<_>>()?
    } else {
        (0..times).into_par_iter().map(search).collect::<Result<_>>()?
    };
    let found: Vec<Vec<bool>> = found.into_iter().flatten().collect();
    let share = |at: usize| found.iter().filter(|found| found[at]).count() as f64 / found.len().max(1) as f64;
    Ok((0..pairs.len()).map(share).collect())
}

/// The same term without some edges; both directions of an edge go together.
fn thinned(edge: &EdgeTerm, seed: u64) -> Result<EdgeTerm> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut kept = |edges: &EdgeList| -> Vec<usize> {
        let ends = edges.ends();
        let mut is_kept: Vec<bool> = ends.iter().map(|_| random.random::<f64>() >= LEFT_OUT).collect();
        for (e, &[i, j]) in ends.iter().enumerate().filter(|(_, [i, j])| i > j) {
            if let Some(back) = edges.find(j, i) {
                is_kept[e] = is_kept[back];
            }
        }
        (0..ends.len()).filter(|&e| is_kept[e]).collect()
    };
    let (left, right) = (kept(edge.left_edges()), kept(edge.right_edges()));
    let list = |edges: &EdgeList, kept: &[usize]| {
        EdgeList::new(edges.node_count(), kept.iter().map(|&e| edges.ends()[e]).collect()).map(Arc::new)
    };
    // Lists are in order, and so is what is kept of them.
    let listed = left.iter().enumerate().flat_map(|(new, &e)| {
        let place = |&(f, value): &(usize, f64)| right.binary_search(&f).ok().map(|f| (new, f, value));
        edge.listed_of(e).iter().filter_map(place).collect::<Vec<_>>()
    });
    let listed = listed.collect();
    let factors = [edge.left_factors().select(Axis(0), &left), edge.right_factors().select(Axis(0), &right)];
    let [a, b] = factors;
    EdgeTerm::factored(list(edge.left_edges(), &left)?, list(edge.right_edges(), &right)?, a, b)?.with_listed(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interchangeable_nodes_are_found_half_of_the_time() {
        // A star with three long arms of different lengths, and two leaves at its centre that nothing tells apart.
        let mut ends = vec![[0, 1], [0, 2], [0, 3], [3, 4], [0, 5], [5, 6], [6, 7], [0, 8], [8, 9], [9, 10], [10, 11]];
        ends.extend(ends.clone().into_iter().map(|[i, j]| [j, i]));
        let edges = Arc::new(EdgeList::new(12, ends).unwrap());
        let ones = Array2::ones((edges.len(), 1));
        let edge = EdgeTerm::factored(Arc::clone(&edges), edges, ones.clone(), ones).unwrap();
        let problem = Compatibility::linear(Array2::zeros((12, 12))).with_edges(edge);
        let solution = FrankWolfe::default().solve(&problem).unwrap();
        assert_eq!(solution.score, 22.0);
        let found = found_again(&problem, &solution, 60, &Control::new()).unwrap();
        assert!(found[0] > 0.9, "{found:?}");
        assert!(found[1] < 0.8 && found[2] < 0.8, "{found:?}");
        assert_eq!(found, found_again(&problem, &solution, 60, &Control::new()).unwrap());
        assert!(found_again(&problem, &solution, 0, &Control::new()).is_err());
    }

    #[test]
    fn edges_are_left_out_in_both_directions() {
        let ring = (0..50).flat_map(|i| [[i, (i + 1) % 50], [(i + 1) % 50, i]]).collect();
        let edges = Arc::new(EdgeList::new(50, ring).unwrap());
        let values = Array2::from_shape_fn((100, 1), |(e, _)| e as f64);
        let whole = EdgeTerm::factored(Arc::clone(&edges), edges, values.clone(), values).unwrap();
        let whole = whole.with_listed((0..100).map(|e| (e, (e * 7) % 100, 0.5)).collect()).unwrap();
        let part = thinned(&whole, 3).unwrap();
        assert!((75..100).contains(&part.left_edges().len()), "{}", part.left_edges().len());
        for (e, &[i, j]) in part.left_edges().ends().iter().enumerate() {
            assert!(part.left_edges().find(j, i).is_some());
            let old = whole.left_edges().find(i, j).unwrap();
            for (f, &[k, l]) in part.right_edges().ends().iter().enumerate() {
                assert_eq!(part.value(e, f), whole.value(old, whole.right_edges().find(k, l).unwrap()));
            }
        }
    }
}

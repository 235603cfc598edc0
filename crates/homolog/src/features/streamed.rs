//! Large problems of two described graphs, solved without a table of scores: if the scores are matrix products, computing a few rows
//! is as fast as reading them from memory ([`Streamed`]).

use super::{FeatureMap, Instance, edge_scores, node_scores};
use crate::matching::{Constraint, Matching, Method, RightOrder, Solution, Streamed, Workspace};
use crate::{Control, Result};
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// Tables with fewer cells than this (128 MB) are built: at 2000 nodes on each side that is faster.
const FEWEST_CELLS: usize = 1 << 24;

impl FeatureMap {
    /// Whether graphs of these sizes are matched without a table of scores: too large to be worth building, and one-to-one. Without edges
    /// scores have to be cheap; with edges, no edge feature may be listed for all pairs of edges.
    pub(crate) fn is_streamed(&self, left_count: usize, right_count: usize) -> bool {
        let are_cheap = self.node.iter().all(|feature| feature.comparison.is_cheap());
        let is_large = left_count.saturating_mul(right_count) >= FEWEST_CELLS;
        let is_something = !self.node.is_empty() || !self.edge.is_empty();
        let fits = self.constraint == Constraint::OneToOne && is_something && self.pair.is_empty();
        let edges_factor = self.edge.iter().all(|kind| kind.feature().bilinear().is_some());
        is_large && fits && if self.edge.is_empty() { are_cheap } else { edges_factor }
    }
}

impl Instance {
    /// A matching of high score under these weights, with the right nodes in a given order; one-to-one.
    ///
    /// # Errors
    /// Too many, too few or non-finite weights; as the matcher.
    pub(crate) fn solve_rows(
        &self,
        method: &Method,
        weights: &[f64],
        order: &RightOrder,
        work: &mut Workspace,
    ) -> Result<Solution> {
        self.check_weights(weights)?;
        let nodes: Vec<usize> = order.nodes().collect();
        let right = Arc::new(self.right().restricted(&nodes)?);
        let shuffled = Self::new(Arc::clone(self.left()), right);
        let given = self.given().map(|given| order.shuffle_restrictions(given)).unwrap_or_default();
        let (n, m) = (self.left().node_count(), nodes.len());
        let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
            shuffled.write_rows(weights, &rows, scores.view_mut());
            given.apply_to_rows(&rows, scores);
        };
        let edge = match &self.plan().edge[..] {
            [] => None,
            features => {
                Some(edge_scores::edge_term(features, shuffled.left(), shuffled.right(), weights, work.control())?)
            }
        };
        let mut problem = Streamed::new(n, m, &write);
        if let Some(edge) = &edge {
            problem = problem.with_edges(edge);
        }
        if let Some(prices) = self.unmatched_scores(weights) {
            let mut prices = prices.to_vec();
            given.seeds.iter().for_each(|&[i, _]| prices[i] = f64::NEG_INFINITY);
            problem = problem.with_unmatched(prices);
        }
        let mut solution = method.matcher().solve_with(&problem, work)?;
        order.carry_back_solution(&mut solution)?;
        Ok(solution)
    }

    /// What each left node adds to the score of a matching: its pair's score, or minus the price of staying unmatched, and half of each edge
    /// score that it takes part in.
    ///
    /// # Errors
    /// As [`Self::compatibility`].
    pub(crate) fn shares(&self, weights: &[f64], matching: &Matching) -> Result<Vec<f64>> {
        let mut shares = self.node_shares(weights, matching);
        if !self.plan().edge.is_empty() {
            self.edge_term(weights, &Control::new())?.add_shares(matching, &mut shares);
        }
        Ok(shares)
    }

    fn node_shares(&self, weights: &[f64], matching: &Matching) -> Vec<f64> {
        let (mut shares, mut phi) = (Vec::with_capacity(matching.left_count()), Vec::new());
        for (i, right) in matching.left_to_right().iter().enumerate() {
            let own = match *right {
                Some(k) => self
                    .plan()
                    .node
                    .iter()
                    .enumerate()
                    .map(|(at, (comparison, range))| {
                        let (a, b, weights) =
                            (&self.left().blocks[at], &self.right().blocks[at], &weights[range.clone()]);
                        phi.clear();
                        phi.resize(weights.len(), 0.0);
                        node_scores::add_features(*comparison, a, b, [((i, k), 1.0)].into_iter(), &mut phi);
                        phi.iter().zip(weights).map(|(phi, weight)| phi * weight).sum::<f64>()
                    })
                    .sum(),
                None if self.may_stay_unmatched() => weights[self.dim() - 1] * self.unmatched_feature(i),
                None => 0.0,
            };
            shares.push(own);
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Comparison;
    use crate::graph::Graph;
    use crate::matching::{Compatibility, FrankWolfe, GraduatedAssignment, Linear, Matcher, Restrictions, Status};
    use ndarray::{Axis, Slice};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn instance(n: usize, m: usize, map: &FeatureMap, seed: u64) -> Instance {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut described = |count: usize| {
            let points = Array2::from_shape_simple_fn((count, 2), || random.random_range(0.0..10.0));
            Arc::new(map.describe(&Graph::from_points(points).unwrap()).unwrap())
        };
        let (left, right) = (described(n), described(m));
        map.instance(&left, &right).unwrap()
    }

    /// Whole tables of many rows are written some rows at a time.
    #[test]
    fn rows_are_those_of_the_table_bit_for_bit() {
        for comparison in Comparison::all() {
            for (n, m, set) in [(90, 150, FeatureMap::paper_linear()), (150, 90, FeatureMap::default())] {
                let mut map = set;
                map.node[0].comparison = comparison;
                // A second feature is added to the first.
                map.node.push(map.node[0].clone());
                let instance = instance(n, m, &map, 7);
                let mut random = ChaCha8Rng::seed_from_u64(8);
                let weights: Vec<f64> = (0..map.dim()).map(|_| random.random_range(-1.0..2.0)).collect();
                let table = instance.compatibility(&weights).unwrap().node;
                for step in [1, 8, 37] {
                    let mut rows = Array2::from_elem(table.dim(), f64::NAN);
                    for first in (0..n).step_by(step) {
                        let range = first..n.min(first + step);
                        let some = rows.slice_axis_mut(Axis(0), Slice::from(range.clone()));
                        instance.write_rows(&weights, &range, some);
                    }
                    assert_eq!(rows, table, "{comparison:?} {step}");
                }
            }
        }
    }

    /// The problem as a table gives the same score, bound and kind of answer.
    #[test]
    fn the_answer_is_that_of_the_table() {
        for (seed, (n, m)) in [(40, 40), (30, 50), (50, 30), (1, 60), (60, 1)].into_iter().enumerate() {
            for unmatched in [false, true] {
                for map in [FeatureMap::paper_linear(), FeatureMap::default()] {
                    let map = FeatureMap { unmatched, ..map };
                    let given = Restrictions { seeds: vec![[0, 0]], forbidden: vec![] };
                    let free = instance(n, m, &map, seed as u64);
                    let narrowed = free.clone().restricted(&given).unwrap();
                    for instance in [free, narrowed] {
                        let weights = weights(&map);
                        let table = instance.compatibility(&weights).unwrap();
                        let mut work = Workspace::new();
                        let linear = Method::Linear(Linear::default());
                        let expected = linear.matcher().solve_with(&table, &mut work).unwrap();
                        let order = RightOrder::random(m, 0);
                        let found = instance.solve_rows(&linear, &weights, &order, &mut work).unwrap();
                        let size = size(&table);
                        assert!((found.score - expected.score).abs() <= size, "{found:?}\n{expected:?}");
                        assert!((table.score(&found.matching).unwrap() - found.score).abs() <= size);
                        assert_eq!((found.status, found.bound), (Status::Optimal, found.score));
                        let shares: f64 = instance.shares(&weights, &found.matching).unwrap().iter().sum();
                        assert!((shares - found.score).abs() <= size, "{shares} and {}", found.score);
                    }
                }
            }
        }
    }

    /// With edges: the score is that of the table, the seeds are kept, the bound is no lower, and what is found is nearly as good.
    #[test]
    fn with_edges_the_answer_is_as_good_as_that_of_the_table() {
        let (mut streamed, mut dense) = (0.0, 0.0);
        for (seed, (n, m)) in [(40, 40), (30, 50), (50, 30)].into_iter().enumerate() {
            let points = Graph::from_points(Array2::zeros((2, 2))).unwrap();
            let sets = [FeatureMap::paper_quadratic(), FeatureMap::named("quadratic", [&points]).unwrap()];
            for (map, unmatched) in sets.into_iter().flat_map(|map| [(map.clone(), false), (map, true)]) {
                let map = FeatureMap { unmatched, ..map };
                let given = Restrictions { seeds: vec![[3, 5]], forbidden: vec![[1, 1]] };
                let instance = instance(n, m, &map, 10 + seed as u64).restricted(&given).unwrap();
                let weights = weights(&map);
                let table = instance.compatibility(&weights).unwrap();
                let mut work = Workspace::new();
                for method in [
                    Method::GraduatedAssignment(GraduatedAssignment::default()),
                    Method::FrankWolfe(FrankWolfe::default()),
                ] {
                    let expected = method.matcher().solve_with(&table, &mut work).unwrap();
                    let order = RightOrder::random(m, 0);
                    let found = instance.solve_rows(&method, &weights, &order, &mut work).unwrap();
                    assert!((table.score(&found.matching).unwrap() - found.score).abs() <= size(&table));
                    assert!(found.bound >= expected.score.max(found.score) && found.status == Status::Converged);
                    given.check_matching(&found.matching).unwrap();
                    let shares: f64 = instance.shares(&weights, &found.matching).unwrap().iter().sum();
                    assert!((shares - found.score).abs() <= size(&table), "{shares} and {}", found.score);
                    let linear = Linear::default().solve_with(&table.without_edges(), &mut work).unwrap();
                    let base = table.score(&linear.matching).unwrap();
                    streamed += found.score - base;
                    dense += expected.score - base;
                }
            }
        }
        assert!(streamed > 0.97 * dense, "{streamed} above linear assignment, tables {dense}");
    }

    fn weights(map: &FeatureMap) -> Vec<f64> {
        let mut weights = map.unlearned_weights();
        if map.unmatched {
            *weights.last_mut().unwrap() = 3.0;
        }
        weights
    }

    /// What rounding may change.
    fn size(table: &Compatibility) -> f64 {
        1e-9 * (1.0 + table.node.iter().filter(|x| x.is_finite()).fold(0.0, |a: f64, x| a + x.abs()))
    }
}

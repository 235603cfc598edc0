//! Large linear problems of two described graphs, solved without a table of scores: if the scores are matrix products, computing a few rows
//! is as fast as reading them from memory ([`Streamed`]).

use super::{Comparison, Instance, node_scores};
use crate::Result;
use crate::matching::{Constraint, Linear, Matching, Restrictions, RightOrder, Solution, Streamed, Workspace};
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// Tables with fewer cells than this (128 MB) are built: at 2000 nodes on each side that is faster.
const FEWEST_CELLS: usize = 1 << 24;

impl Instance {
    /// Whether a table of scores is too large to be worth building, for a linear one-to-one problem with cheap scores.
    pub(crate) fn is_streamed(&self) -> bool {
        let cheap =
            |comparison: &Comparison| matches!(comparison, Comparison::NegativeSquare(_) | Comparison::InnerProduct(_));
        let node = &self.plan().node;
        let is_linear = !self.has_edge_features() && self.constraint() == Constraint::OneToOne;
        let cells = self.left().node_count().saturating_mul(self.right().node_count());
        is_linear && cells >= FEWEST_CELLS && !node.is_empty() && node.iter().all(|(comparison, _)| cheap(comparison))
    }

    /// The best matching under these weights, with the right nodes in a given order; without edges, one-to-one.
    ///
    /// # Errors
    /// Too many, too few or non-finite weights; as [`Linear::solve_streamed`].
    pub(crate) fn solve_streamed(
        &self,
        linear: Linear,
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
            shuffled.write_rows(weights, &rows, scores);
            forbid(&given, &rows, scores);
        };
        let mut problem = Streamed::new(n, m, &write);
        if self.may_stay_unmatched() {
            let mut prices = vec![-weights[self.dim() - 1]; n];
            given.seeds.iter().for_each(|&[i, _]| prices[i] = f64::NEG_INFINITY);
            problem = problem.with_unmatched(prices);
        }
        let mut solution = linear.solve_streamed(&problem, work)?;
        order.carry_back_solution(&mut solution)?;
        Ok(solution)
    }

    /// c = <phi_1, w_1> for some left nodes.
    fn write_rows(&self, weights: &[f64], rows: &Range<usize>, scores: &mut Array2<f64>) {
        let mut more = Array2::zeros((0, 0));
        for (at, (comparison, range)) in self.plan().node.iter().enumerate() {
            let (a, b) = (self.left().blocks[at].rows(rows), &self.right().blocks[at]);
            if at == 0 {
                node_scores::write(*comparison, &a, b, &weights[range.clone()], scores);
            } else {
                if more.is_empty() {
                    more = Array2::zeros(scores.dim());
                }
                node_scores::write(*comparison, &a, b, &weights[range.clone()], &mut more);
                *scores += &more;
            }
        }
    }

    /// What each left node adds to the score of a matching, ignoring edges: its pair's score, or minus the price of staying unmatched.
    pub(crate) fn node_shares(&self, weights: &[f64], matching: &Matching) -> Vec<f64> {
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
                None if self.may_stay_unmatched() => -weights[self.dim() - 1],
                None => 0.0,
            };
            shares.push(own);
        }
        shares
    }
}

/// What [`Restrictions::apply`] does to the whole table, for some rows.
fn forbid(given: &Restrictions, rows: &Range<usize>, scores: &mut Array2<f64>) {
    for &[i, k] in given.forbidden.iter().filter(|[i, _]| rows.contains(i)) {
        scores[[i - rows.start, k]] = f64::NEG_INFINITY;
    }
    for &[i, k] in &given.seeds {
        let own = rows.contains(&i).then(|| i - rows.start);
        let score = own.map(|row| scores[[row, k]]);
        scores.column_mut(k).fill(f64::NEG_INFINITY);
        if let (Some(row), Some(score)) = (own, score) {
            scores.row_mut(row).fill(f64::NEG_INFINITY);
            scores[[row, k]] = score;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureMap;
    use crate::graph::Graph;
    use crate::matching::Matcher;
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
                        let mut weights = map.unlearned_weights();
                        if unmatched {
                            *weights.last_mut().unwrap() = 3.0;
                        }
                        let table = instance.compatibility(&weights).unwrap();
                        let mut work = Workspace::new();
                        let expected = Linear::default().solve(&table, &mut work).unwrap();
                        let order = RightOrder::random(m, 0);
                        let found = instance.solve_streamed(Linear::default(), &weights, &order, &mut work).unwrap();
                        let size = 1e-9
                            * (1.0 + table.node.iter().filter(|x| x.is_finite()).fold(0.0, |a: f64, x| a + x.abs()));
                        assert!((found.score - expected.score).abs() <= size, "{found:?}\n{expected:?}");
                        assert!((table.score(&found.matching).unwrap() - found.score).abs() <= size);
                        assert_eq!((found.status, found.bound), (crate::matching::Status::Optimal, found.score));
                        let shares: f64 = instance.node_shares(&weights, &found.matching).iter().sum();
                        assert!((shares - found.score).abs() <= size, "{shares} and {}", found.score);
                    }
                }
            }
        }
    }
}

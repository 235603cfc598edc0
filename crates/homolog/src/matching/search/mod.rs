//! Local search: improves a matching by small changes until none helps, and then, if asked to, shakes it and tries again.
//!
//! Left nodes are taken in turn, and each makes the best of its changes that raises the total score:
//!
//! * it moves to a free right node, or becomes unmatched where that has a price;
//! * it takes another node's right node, and the other gets its old one (swap), gets the best free one (relocation), or stays unmatched.
//!
//! Changes never reduce the number of matched nodes that must be matched. Differences are exact (`moves`). A round over all
//! nodes costs n·m; after the first rounds only nodes near the last changes are examined.
//!
//! A kick moves a few random nodes in a circle; if the local search from there ends lower than before, it is undone.

mod grow;
mod moves;
mod tabu;
mod tabu_search;
mod terms;

pub(super) use grow::{Growth, grow};
pub(super) use tabu::Tabu;
pub use tabu_search::TabuSearch;

use self::moves::MoveSearch;
pub(super) use self::moves::{MAX_ROUNDS, RELATIVE_GAIN};
use crate::Result;
use crate::matching::{Compatibility, Constraint, EdgeTerm, Matching, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many nodes a kick moves at most.
pub(super) const KICK_SIZE: usize = 6;

/// Shakes after the first local optimum, and the seed of their random choices.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kicks {
    pub(crate) count: usize,
    pub(crate) seed: u64,
}

/// The matching, or a better one. Returns the same one if it is interrupted at once.
pub(crate) fn polish(
    problem: &Compatibility,
    edge: &EdgeTerm,
    matching: &Matching,
    kicks: Kicks,
    work: &Workspace,
) -> Result<Matching> {
    let mut search = MoveSearch::new(problem, edge, matching);
    search.settle(work);
    let mut random = ChaCha8Rng::seed_from_u64(kicks.seed);
    for _ in 0..kicks.count {
        if work.interrupted() || !search.try_kick(&mut random, work) {
            break;
        }
    }
    search.settle_all(work);
    let improved = Matching::new(search.right_of, problem.right_count(), problem.constraint)?;
    // The gain may be nothing but rounding.
    Ok(if problem.score(&improved)? > problem.score(matching)? { improved } else { matching.clone() })
}

impl MoveSearch<'_> {
    /// Shakes, settles, and goes back if that was worse; `false` if there is nothing to shake.
    fn try_kick(&mut self, random: &mut ChaCha8Rng, work: &Workspace) -> bool {
        let (before, score) = (self.right_of.clone(), self.total);
        self.active.fill(false);
        if !self.kick(random) {
            return false;
        }
        self.settle(work);
        if self.total < score - RELATIVE_GAIN * score.abs() {
            let moved: Vec<usize> = (0..before.len()).filter(|&i| self.right_of[i] != before[i]).collect();
            self.place_all(&moved, |at| before[moved[at]]);
            self.total = score;
        }
        true
    }

    /// Rotates the places of a few random matched nodes, using a free place for one of them where there is one.
    fn kick(&mut self, random: &mut ChaCha8Rng) -> bool {
        let mut nodes: Vec<usize> = (0..self.right_of.len()).filter(|&i| self.right_of[i].is_some()).collect();
        if nodes.len() < 2 {
            return false;
        }
        let size = random.random_range(2..=KICK_SIZE).min(nodes.len());
        for at in 0..size {
            let other = random.random_range(at..nodes.len());
            nodes.swap(at, other);
        }
        nodes.truncate(size);
        let mut places: Vec<Option<usize>> = nodes.iter().map(|&i| self.right_of[i]).collect();
        places.rotate_left(1);
        let chosen = random.random_range(0..self.left_of.len());
        if self.left_of[chosen].is_none() || self.problem.constraint == Constraint::ManyToOne {
            places[0] = Some(chosen);
        }
        // If the rotation meets a forbidden pair, there is no kick this time.
        let allowed = nodes.iter().zip(&places).all(|(&i, &place)| self.at(i, place) > f64::NEG_INFINITY);
        if allowed {
            self.place_all(&nodes, |at| places[at]);
        }
        true
    }

    /// Removes all of the nodes, then puts each where it belongs, by its position in the list.
    fn place_all(&mut self, nodes: &[usize], to: impl Fn(usize) -> Option<usize>) {
        for &i in nodes {
            self.place(i, None);
        }
        for (at, &i) in nodes.iter().enumerate() {
            self.place(i, to(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::EdgeList;
    use ndarray::{Array1, Array2};
    use std::sync::Arc;

    /// A random problem with directed edges, forbidden pairs, and prices for some nodes where `priced`.
    fn problem(seed: u64, n: usize, m: usize, priced: bool, constraint: Constraint) -> Compatibility {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let edges = |random: &mut ChaCha8Rng, count: usize| {
            let ends = (0..3 * count).map(|_| [random.random_range(0..count), random.random_range(0..count)]);
            Arc::new(EdgeList::new(count, ends.filter(|ends| ends[0] != ends[1]).collect()).unwrap())
        };
        let (left, right) = (edges(&mut random, n), edges(&mut random, m));
        let mut number = || random.random_range(-1.0..1.0);
        let a = Array2::from_shape_simple_fn((left.len(), 1), &mut number);
        let b = Array2::from_shape_simple_fn((right.len(), 1), &mut number);
        let mut node = Array2::from_shape_simple_fn((n, m), &mut number);
        let prices = Array1::from_shape_fn(n, |i| if i % 2 == 0 { number() } else { f64::NEG_INFINITY });
        node.indexed_iter_mut().filter(|((i, k), _)| (i * 3 + k) % 5 == 4).for_each(|(_, c)| *c = f64::NEG_INFINITY);
        let edge = Some(EdgeTerm::factored(left, right, a, b).unwrap());
        let unmatched = priced.then_some(prices);
        Compatibility { edge, unmatched, constraint, ..Compatibility::linear(node) }
    }

    fn start(problem: &Compatibility) -> Matching {
        let linear = Compatibility { edge: None, ..problem.clone() };
        let solver = crate::matching::Linear::default();
        crate::matching::Matcher::solve(&solver, &linear).unwrap().matching
    }

    fn forced_count(problem: &Compatibility, matching: &Matching) -> usize {
        matching.pairs().filter(|&(i, _)| problem.unmatched_score(i) == f64::NEG_INFINITY).count()
    }

    fn each_problem(mut test: impl FnMut(&Compatibility)) {
        for seed in 0..30 {
            // The last has so many right nodes that edges are looked up without a table.
            for (n, m) in [(7, 7), (5, 8), (8, 5), (2, 34)] {
                for priced in [false, true] {
                    for constraint in [Constraint::OneToOne, Constraint::ManyToOne] {
                        test(&problem(seed, n, m, priced, constraint));
                    }
                }
            }
        }
    }

    #[test]
    fn the_result_is_valid_no_worse_and_has_no_better_neighbour() {
        each_problem(|problem| {
            let edge = problem.edge.as_ref().unwrap();
            let start = start(problem);
            let plain = polish(problem, edge, &start, Kicks::default(), &Workspace::new()).unwrap();
            let kicked = polish(problem, edge, &start, Kicks { count: 20, seed: 1 }, &Workspace::new()).unwrap();
            for result in [&plain, &kicked] {
                let score = problem.score(result).unwrap();
                assert!(score >= problem.score(&start).unwrap());
                assert_eq!(forced_count(problem, result), forced_count(problem, &start));
                for (neighbour, better) in neighbours(problem, result) {
                    assert!(better <= score + 1e-9, "{result:?} has the better neighbour {neighbour:?}");
                }
            }
            assert!(problem.score(&kicked).unwrap() >= problem.score(&plain).unwrap() - 1e-12);
        });
    }

    /// All valid matchings that result from one node's move or a swap of two, with their scores.
    fn neighbours(problem: &Compatibility, matching: &Matching) -> Vec<(Matching, f64)> {
        let (n, m) = problem.node.dim();
        let map = matching.left_to_right();
        let mut maps = Vec::new();
        for i in 0..n {
            for place in (0..m).map(Some).chain([None]) {
                let mut moved = map.to_vec();
                moved[i] = place;
                maps.push(moved);
            }
            for j in 0..i {
                let mut swapped = map.to_vec();
                swapped.swap(i, j);
                maps.push(swapped);
            }
        }
        let checked = maps.into_iter().filter_map(|map| Matching::new(map, m, problem.constraint).ok());
        let same_size = |other: &Matching| forced_count(problem, other) == forced_count(problem, matching);
        checked.filter(same_size).filter_map(|other| problem.score(&other).ok().map(|score| (other, score))).collect()
    }

    #[test]
    fn the_running_total_is_the_score() {
        each_problem(|problem| {
            let start = start(problem);
            let mut search = MoveSearch::new(problem, problem.edge.as_ref().unwrap(), &start);
            search.settle(&Workspace::new());
            let mut random = ChaCha8Rng::seed_from_u64(2);
            for _ in 0..10 {
                search.try_kick(&mut random, &Workspace::new());
                let now = Matching::new(search.right_of.clone(), problem.right_count(), problem.constraint).unwrap();
                let gained = problem.score(&now).unwrap() - problem.score(&start).unwrap();
                assert!((search.total - gained).abs() < 1e-10, "{} is not {gained}", search.total);
            }
        });
    }
}

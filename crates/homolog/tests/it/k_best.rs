//! The K best matchings against the list of all, on every kind of small problem.

use crate::common;
use crate::laws_of_matching::forms::on_rows;

use common::{Kind, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::Control;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, KBest, Linear, Matcher, Matching, Sense, Sparse, Workspace, k_best, margins,
};
use rand::RngExt;

/// Every feasible matching's score, best first.
fn all_scores(problem: &Compatibility) -> Vec<f64> {
    let (n, m) = problem.node.dim();
    let mut maps: Vec<Vec<Option<usize>>> = vec![vec![]];
    for _ in 0..n {
        let choices = || (0..m).map(Some).chain([None]);
        maps = maps.iter().flat_map(|map| choices().map(|k| map.iter().copied().chain([k]).collect())).collect();
    }
    let matchings = maps.into_iter().filter_map(|map| Matching::new(map, m, problem.constraint).ok());
    let allowed: Vec<(usize, f64)> =
        matchings.filter_map(|y| problem.score(&y).ok().map(|score| (placed(problem, &y), score))).collect();
    let most = allowed.iter().map(|&(size, _)| size).max().unwrap();
    let mut scores: Vec<f64> = allowed.into_iter().filter(|&(size, _)| size == most).map(|(_, score)| score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores
}

#[test]
fn the_best_are_the_first_of_all() {
    let mut rng = rng(90);
    for round in 0..400 {
        let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
        let edges = round % 3 == 0;
        let constraint = if round % 5 == 0 { Constraint::ManyToOne } else { Constraint::OneToOne };
        let kind = Kind { constraint, edges, ..random_kind(&mut rng) };
        let problem = random_problem(&mut rng, n, m, kind);
        let matcher: Box<dyn Matcher> =
            if edges { Box::new(BruteForce::default()) } else { Box::new(Linear::default()) };
        let all = all_scores(&problem);
        let best = k_best(&problem, &*matcher, 40, &mut Workspace::new()).unwrap();
        assert!(best.proven, "{problem:?}\n{best:?}");
        assert_eq!(best.matchings.len(), all.len().min(40), "{problem:?}\n{best:?}\n{all:?}");
        for (at, (matching, score)) in best.matchings.iter().enumerate() {
            assert_eq!(*score, problem.score(matching).unwrap());
            assert!(close(*score, all[at], magnitude(&problem)), "{at} of {problem:?}\n{best:?}\n{all:?}");
            assert!(best.matchings[..at].iter().all(|(other, _)| other != matching), "twice: {best:?}");
        }
    }
}

/// Of a list of pairs the same as of its table.
#[test]
fn a_list_has_the_best_of_its_table() {
    let mut rng = rng(92);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(0..6), rng.random_range(0..6));
        let pairs = (0..n).flat_map(|i| (0..m).map(move |k| (i, k)));
        let pairs: Vec<_> = pairs.map(|(i, k)| (i, k, f64::from(rng.random_range(-3..6)))).collect();
        let pairs = pairs.into_iter().filter(|_| rng.random_range(0..3) > 0).collect();
        let mut list = Sparse::from_pairs(n, m, pairs, Sense::Minimize).unwrap();
        if rng.random_range(0..2) == 0 {
            let price = |_: usize| if rng.random_range(0..4) == 0 { f64::NEG_INFINITY } else { -2.0 };
            list = list.with_unmatched((0..n).map(price).collect()).unwrap();
        }
        let of_list = k_best(&list, &Linear::default(), 30, &mut Workspace::new()).unwrap();
        let of_table = k_best(&list.to_dense(), &Linear::default(), 30, &mut Workspace::new()).unwrap();
        let scores = |best: &KBest| best.matchings.iter().map(|(_, score)| *score).collect::<Vec<_>>();
        let of_rows = on_rows(&list.to_dense(), [1, 48, 2], |rows| {
            k_best(rows, &Linear::default(), 30, &mut Workspace::new()).unwrap()
        });
        for other in [&of_list, &of_rows] {
            assert_eq!(scores(other), scores(&of_table), "{list:?}");
            assert!(other.proven && of_table.proven);
        }
        for (at, (matching, score)) in of_list.matchings.iter().enumerate() {
            assert_eq!(list.score(matching), Ok(*score));
            assert!(of_list.matchings[..at].iter().all(|(other, _)| other != matching), "twice: {of_list:?}");
        }
    }
}

#[test]
fn margins_are_the_difference_to_the_best_without_the_pair() {
    let mut rng = rng(91);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, n, m, kind);
        let solution = Linear::default().solve(&problem).unwrap();
        let found = margins(&problem, &solution, None, &Control::new()).unwrap();
        assert_eq!(found.len(), solution.matching.matched_count());
        for margin in found {
            let right = solution.matching.right_of(margin.left).unwrap();
            let mut without = problem.clone();
            without.node[[margin.left, right]] = f64::NEG_INFINITY;
            let other = BruteForce::default().solve(&without).unwrap();
            let fewer = placed(&problem, &other.matching) < placed(&problem, &solution.matching);
            assert_eq!(margin.margin == f64::INFINITY, fewer);
            if !fewer {
                assert!(close(margin.margin, solution.score - other.score, magnitude(&problem)));
                assert!(
                    margin.proven && margin.margin >= -1e-9 * magnitude(&problem),
                    "{margin:?} of {solution:?}\n{problem:?}"
                );
            }
        }
    }
}

#[test]
fn a_constant_on_a_row_does_not_hide_the_order() {
    let small = [0.3, 0.1, 0.2, 0.5, 0.4];
    for (large, unit) in [(1e12, 1e-4), (1e16, 1.0)] {
        let node = ndarray::Array2::from_shape_fn((2, 5), |(i, k)| if i == 0 { -large } else { -unit * small[k] });
        let best = k_best(&Compatibility::linear(node), &Linear::default(), 20, &mut Workspace::new()).unwrap();
        let second: Vec<Option<usize>> = best.matchings.iter().map(|(matching, _)| matching.right_of(1)).collect();
        let expected: Vec<Option<usize>> = [1, 2, 0, 4, 3].into_iter().flat_map(|k| [Some(k); 4]).collect();
        assert_eq!((second, best.proven), (expected, true), "{large}");
    }
}

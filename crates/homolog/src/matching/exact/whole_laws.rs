//! Laws of the branch and bound on whole numbers, against brute force and against each other.

use super::*;
use crate::matching::{BruteForce, EdgeList, Linear, Matcher};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// A random problem: few or many distinct values, of either sign, node scores, forbidden pairs, missing edges, asymmetric or symmetric.
fn problem(random: &mut ChaCha8Rng, size: usize) -> Compatibility {
    let (most, density) = ([2, 6, 60][random.random_range(0..3)], [0.5, 0.8, 1.0][random.random_range(0..3)]);
    let is_symmetric = random.random::<bool>();
    let low = if random.random::<bool>() { -most } else { 0 };
    let side = |random: &mut ChaCha8Rng| {
        let pairs = (0..size).flat_map(|i| (0..size).map(move |j| [i, j])).filter(|[i, j]| i != j);
        let kept: Vec<[usize; 2]> = pairs.filter(|_| random.random::<f64>() < density).collect();
        let values: Vec<Vec<f64>> =
            (0..size).map(|_| (0..size).map(|_| f64::from(random.random_range(low..=most))).collect()).collect();
        let edges = EdgeList::new(size, kept).unwrap();
        let value = |[i, j]: [usize; 2]| if is_symmetric { values[i.min(j)][i.max(j)] } else { values[i][j] };
        let factors = Array2::from_shape_fn((edges.len(), 1), |(e, _)| value(edges.ends()[e]));
        (Arc::new(edges), factors)
    };
    let ((left, a), (right, b)) = (side(random), side(random));
    let (reach, forbids) = (f64::from(random.random_range(0..2) * most), random.random::<bool>());
    let node = Array2::from_shape_simple_fn((size, size), || {
        let score = (random.random_range(-1.0..=1.0) * reach * 3.0_f64).round();
        if forbids && random.random_range(0..8) == 0 { f64::NEG_INFINITY } else { score }
    });
    Compatibility::linear(node).with_edges(EdgeTerm::factored(left, right, a, b).unwrap())
}

/// Edge scores that are whole numbers if both directions are added up, but not exact sums of one number per edge.
fn split(random: &mut ChaCha8Rng, size: usize) -> Compatibility {
    let parts = [[0.1, 0.9], [0.4, 0.6], [0.3, 0.7], [2.0_f64.powi(52), -2.0_f64.powi(52)]][random.random_range(0..4)];
    let pairs = (0..size).flat_map(|i| (0..size).map(move |j| [i, j])).filter(|[i, j]| i != j).collect();
    let edges = Arc::new(EdgeList::new(size, pairs).unwrap());
    let all = (0..edges.len()).flat_map(|e| (0..edges.len()).map(move |f| (e, f)));
    let part = |e: usize| parts[usize::from(edges.ends()[e][0] > edges.ends()[e][1])];
    let entries = all.map(|(e, f)| (e, f, part(e) + f64::from(random.random_range(0..3_i32)))).collect();
    let term = EdgeTerm::listed(Arc::clone(&edges), Arc::clone(&edges), entries).unwrap();
    Compatibility::linear(Array2::zeros((size, size))).with_edges(term)
}

fn start_of(problem: &Compatibility) -> Matching {
    Linear::default().solve(&problem.without_edges()).unwrap().matching
}

/// The tree alone, from the worst of a few matchings, so that it has to find the better ones itself.
fn tree_of<'a>(problem: &'a Compatibility, settings: &'a Exact, start: &Matching, units: Units) -> Tree<'a> {
    let score = problem.score(start).unwrap();
    let best = start.clone();
    Tree { problem, settings, units, best, score, ascent: Ascent::default(), open: Vec::new(), stored: 0 }
}

#[test]
fn proofs_and_bounds_agree_with_brute_force() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let (settings, mut proven) = (Exact::default(), 0);
    for round in 0..2500 {
        let size = 3 + round % 4;
        let problem = problem(&mut random, size);
        let start = start_of(&problem);
        let Some((root, units)) = Units::with_sizes(&problem, problem.edge.as_ref().unwrap(), &start, &(2..=16)) else {
            continue;
        };
        let best = BruteForce::default().solve(&problem).unwrap().score;
        let mut tree = tree_of(&problem, &settings, &start, units);
        let mut looks = 0;
        let bound = tree
            .run(root, &Workspace::new(), &mut |now| {
                assert!(now.bound >= best && now.score <= best, "{now:?} beside {best}");
                looks += 1;
                // Some are stopped on the way.
                if round % 5 == 0 && looks == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert!(bound.max(tree.score) >= best, "{bound} is below {best}");
        if bound <= tree.score {
            proven += 1;
            assert_eq!(tree.score, best, "{problem:?}");
        } else {
            assert!(round % 5 == 0, "it ended without a proof");
        }
    }
    assert!(proven > 1500, "{proven}");
}

#[test]
fn a_round_leaves_the_cost_of_every_assignment() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..200 {
        let problem = problem(&mut random, 4);
        let start = start_of(&problem);
        let Some((mut rest, units)) = Units::with_sizes(&problem, problem.edge.as_ref().unwrap(), &start, &(2..=16))
        else {
            continue;
        };
        let mut ascent = Ascent::default();
        // Nothing is closed, so that all assignments can be looked at.
        for _ in 0..5 {
            if !ascent.round(&mut rest, 1e15) {
                break;
            }
            for rights in permutations(4) {
                let matching =
                    Matching::new(rights.iter().copied().map(Some).collect(), 4, Constraint::OneToOne).unwrap();
                let Ok(score) = problem.score(&matching) else { continue };
                let cells: Vec<usize> = rights.iter().enumerate().map(|(i, k)| 4 * i + k).collect();
                let own: f64 = cells.iter().map(|&a| rest.own[a]).sum();
                let pairs: f64 = cells
                    .iter()
                    .flat_map(|&a| cells.iter().map(move |&b| (a, b)))
                    .filter(|(a, b)| a < b)
                    .map(|(a, b)| rest.pair[a * 16 + b])
                    .sum();
                let cost = rest.least + own + pairs;
                assert!(
                    score == f64::NEG_INFINITY || cost == f64::INFINITY || units.score(cost) == score,
                    "{cost} is not {score}"
                );
                assert!(own >= 0.0 && pairs >= 0.0);
                assert!(score == f64::NEG_INFINITY || units.score(rest.least) >= score);
            }
        }
    }
}

fn permutations(size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(size - 1);
    let insert = |rights: &Vec<usize>, at: usize| [&rights[..at], &[size - 1], &rights[at..]].concat();
    shorter.iter().flat_map(|rights| (0..size).map(move |at| insert(rights, at))).collect()
}

#[test]
fn the_best_of_all_matchings_of_eight_nodes_is_proven() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let mut answered = 0;
    for _ in 0..6 {
        let problem = problem(&mut random, 8);
        let start = start_of(&problem);
        let answer =
            solve(&Exact::default(), &problem, &start, true, &Workspace::new(), &mut |_| ControlFlow::Continue(()))
                .unwrap();
        if let Some(answer) = answer {
            let maps = permutations(8).into_iter().map(|rights| rights.into_iter().map(Some).collect());
            let scores = maps.filter_map(|map| problem.score(&Matching::new(map, 8, problem.constraint).ok()?).ok());
            let best = scores.fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((answer.status, answer.score, answer.bound), (Status::Optimal, best, best));
            answered += 1;
        }
    }
    assert!(answered > 2, "{answered}");
}

#[test]
fn edge_scores_that_add_up_with_rounding_are_not_taken() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for round in 0..200 {
        let problem = split(&mut random, 4 + round % 3);
        let edge = problem.edge.as_ref().unwrap();
        let start = start_of(&problem);
        let Some((root, units)) = Units::with_sizes(&problem, edge, &start, &(2..=16)) else { continue };
        let settings = Exact::default();
        let mut tree = tree_of(&problem, &settings, &start, units);
        let bound = tree.run(root, &Workspace::new(), &mut |_| ControlFlow::Continue(())).unwrap();
        let best = BruteForce::default().solve(&problem).unwrap().score;
        assert!(bound > tree.score || tree.score > best - 0.5, "{} is called the best, {best} is", tree.score);
    }
}

#[test]
fn what_prices_of_right_nodes_round_away_is_not_called_proven() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    // Beside prices of 2^30, differences of 2^-26 are lost.
    let unit = 2.0_f64.powi(26);
    for _ in 0..4 {
        let mut problem = problem(&mut random, 8);
        let mut score = || f64::from(random.random_range(0..3_i32)) + f64::from(random.random_range(0..9_i32)) / unit;
        problem.node = Array2::from_shape_simple_fn((8, 8), &mut score);
        problem.right_unmatched = Some(ndarray::Array1::from_elem(8, 2.0_f64.powi(30)));
        let answer = Exact::default().solve(&problem).unwrap();
        // Multiples of 2^-26 below 2^20: sums are exact.
        let maps = permutations(8).into_iter().map(|rights| rights.into_iter().map(Some).collect());
        let scores = maps.filter_map(|map| problem.score(&Matching::new(map, 8, problem.constraint).ok()?).ok());
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        assert!(answer.status != Status::Optimal || answer.score == best, "{best} is better than {answer:?}");
        assert!(answer.bound >= best);
    }
}

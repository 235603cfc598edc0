use super::*;
use crate::matching::{Compatibility, EdgeList, FrankWolfe, Matcher, Restrictions};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::sync::Arc;

/// A random network of about ten neighbours per node, and a shuffled copy with some of its edges moved; left node i is `place[i]`.
fn two_networks(nodes: usize, percent: usize, directed: bool, seed: u64) -> (EdgeTerm, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut edge = || loop {
        let ends = [random.random_range(0..nodes), random.random_range(0..nodes)];
        if ends[0] != ends[1] {
            return ends;
        }
    };
    let left: Vec<[usize; 2]> = (0..5 * nodes).map(|_| edge()).collect();
    let kept = left.len() - percent * left.len() / 100;
    let right: Vec<[usize; 2]> = left[..kept].iter().copied().chain((kept..left.len()).map(|_| edge())).collect();
    let mut place: Vec<usize> = (0..nodes).collect();
    place.shuffle(&mut random);
    let list = |ends: Vec<[usize; 2]>| {
        let back = ends.clone().into_iter().map(|[i, j]| [j, i]).filter(|_| !directed);
        Arc::new(EdgeList::new(nodes, ends.clone().into_iter().chain(back).collect()).unwrap())
    };
    let (left, right) = (list(left), list(right.iter().map(|ends| ends.map(|end| place[end])).collect()));
    let ones = |edges: &EdgeList| Array2::ones((edges.len(), 1));
    let (a, b) = (ones(&left), ones(&right));
    (EdgeTerm::factored(left, right, a, b).unwrap(), place)
}

fn zeros(_: Range<usize>, scores: &mut Array2<f64>) {
    scores.fill(0.0);
}

#[test]
fn copies_with_moved_edges_are_recognised() {
    for (nodes, percent, directed) in [(300, 5, false), (300, 10, true), (1000, 5, false)] {
        let (edge, place) = two_networks(nodes, percent, directed, 3);
        let problem = Streamed::new(nodes, nodes, &zeros).with_edges(&edge);
        let solution = answer(&problem, &mut Workspace::new()).unwrap().unwrap();
        let right = solution.matching.pairs().filter(|&(i, k)| place[i] == k).count();
        assert!(right * 100 >= nodes * 98, "{right} of {nodes}");
        assert_eq!(solution.score, edge.score(&solution.matching));
        assert!(solution.bound >= solution.score && solution.bound <= edge.left_edges().len() as f64 + 1.0);
    }
}

#[test]
fn seeds_and_forbidden_pairs_hold() {
    let (edge, place) = two_networks(200, 5, false, 5);
    // A wrong seed, and a right pair that is forbidden.
    let given = Restrictions { seeds: vec![[4, place[9]], [9, place[4]]], forbidden: vec![[7, place[7]]] };
    let mut table = Compatibility::linear(Array2::zeros((200, 200)));
    given.apply(&mut table).unwrap();
    let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
        scores.assign(&table.node.slice_axis(ndarray::Axis(0), rows.into()));
    };
    let problem = Streamed::new(200, 200, &write).with_edges(&edge);
    let solution = answer(&problem, &mut Workspace::new()).unwrap().unwrap();
    assert_eq!(solution.matching.matched_count(), 200);
    assert_eq!([4, 9].map(|i| solution.matching.right_of(i)), [9, 4].map(|i| Some(place[i])));
    assert_ne!(solution.matching.right_of(7), Some(place[7]));
    let right = solution.matching.pairs().filter(|&(i, k)| place[i] == k).count();
    assert!(right >= 180, "{right}");
}

#[test]
fn a_node_whose_only_free_place_is_forbidden_takes_that_of_another() {
    let mut node = Array2::zeros((3, 3));
    node[[2, 2]] = f64::NEG_INFINITY;
    let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
        scores.assign(&node.slice_axis(ndarray::Axis(0), rows.into()));
    };
    let problem = Streamed::new(3, 3, &write);
    let given = Given::of(&problem, &crate::Control::new()).unwrap().unwrap();
    let mut right_of = vec![Some(0), Some(1), None];
    assert!(complete(&mut right_of, 3, &given));
    assert_eq!(right_of, [Some(2), Some(1), Some(0)]);
}

#[test]
fn sizes_may_differ_and_nodes_may_stay_unmatched_at_a_price() {
    let (edge, _) = two_networks(150, 0, false, 7);
    let part: Vec<[usize; 2]> =
        edge.left_edges().ends().iter().copied().filter(|ends| ends.iter().all(|&end| end < 120)).collect();
    let part = Arc::new(EdgeList::new(120, part).unwrap());
    let right = Arc::new(EdgeList::new(150, edge.right_edges().ends().to_vec()).unwrap());
    let ones = |edges: &EdgeList| Array2::ones((edges.len(), 1));
    let (a, b) = (ones(&part), ones(&right));
    let edge = EdgeTerm::factored(part, right, a, b).unwrap();
    let problem = Streamed::new(120, 150, &zeros).with_edges(&edge);
    let solution = answer(&problem, &mut Workspace::new()).unwrap().unwrap();
    assert_eq!(solution.matching.matched_count(), 120);
    // Nothing is worth as much as staying alone.
    let alone = problem.with_unmatched(vec![1e3; 120]);
    let solution = answer(&alone, &mut Workspace::new()).unwrap().unwrap();
    assert_eq!((solution.matching.matched_count(), solution.score), (0, 120e3));
    assert!(solution.bound >= solution.score);
}

#[test]
fn a_price_that_nobody_pays_does_not_end_the_search() {
    let climb = FrankWolfe::default();
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 0..4 {
        let (edge, _) = two_networks(60, 20, false, seed);
        let free = Compatibility::linear(Array2::zeros((60, 60))).with_edges(edge.clone());
        let prices = Some(ndarray::Array1::from_elem(60, -100.0));
        let priced = Compatibility { unmatched: prices, ..free.clone() };
        without += climb.solve(&free).unwrap().score;
        let solution = climb.solve(&priced).unwrap();
        assert_eq!(solution.matching.matched_count(), 60);
        // No single climb takes so many steps.
        assert!(solution.iterations > climb.max_steps, "{}", solution.iterations);
        with += solution.score;
    }
    // Nodes that may stay unmatched begin elsewhere, which is luck.
    assert!(with >= 0.98 * without, "{with} with a price, {without} without");
}

#[test]
fn one_start_counts_the_steps_of_the_climb_that_is_kept() {
    for seed in 0..5 {
        let (edge, _) = two_networks(60, 20, false, seed);
        let problem = Compatibility::linear(Array2::zeros((60, 60))).with_edges(edge);
        for max_steps in [1, 3, 30] {
            let climb = FrankWolfe { starts: 1, max_steps, ..FrankWolfe::default() };
            let steps = climb.solve(&problem).unwrap().iterations;
            assert!((1..=max_steps).contains(&steps), "{steps} of {max_steps}");
        }
    }
}

#[test]
fn nodes_that_differ_and_dense_graphs_are_not_for_edges_alone() {
    let (edge, _) = two_networks(60, 0, false, 1);
    let differ = |rows: Range<usize>, scores: &mut Array2<f64>| {
        scores.indexed_iter_mut().for_each(|((at, k), score)| *score = (rows.start + at + k) as f64);
    };
    assert!(answer(&Streamed::new(60, 60, &differ).with_edges(&edge), &mut Workspace::new()).unwrap().is_none());
    let all = Arc::new(EdgeList::new(40, (0..40).flat_map(|i| (0..i).map(move |j| [i, j])).collect()).unwrap());
    let values = Array2::ones((all.len(), 1));
    let dense = EdgeTerm::factored(Arc::clone(&all), all, values.clone(), values).unwrap();
    assert!(search(&dense, &|_, _| true, &Workspace::new()).is_none());
    // By a table then.
    let problem = Streamed::new(40, 40, &zeros).with_edges(&dense);
    let climb = FrankWolfe { starts: 1, ..FrankWolfe::default() };
    let solution = climb.solve(&problem).unwrap();
    assert_eq!(solution.matching.matched_count(), 40);
    assert_eq!(climb.solve(&problem.to_dense().unwrap().with_edges(dense.clone())).unwrap().score, solution.score);
}

#[test]
fn descriptions_do_not_depend_on_the_order_of_nodes() {
    for directed in [false, true] {
        let (edge, place) = two_networks(80, 0, directed, 2);
        let left = Network::new(edge.left_edges(), edge.left_factors());
        let right = Network::new(edge.right_edges(), edge.right_factors());
        let kind = Network::kind([&left, &right]);
        let (left, right) = (left.describe(kind), right.describe(kind));
        for (i, row) in left.rows().into_iter().enumerate() {
            let other = right.row(place[i]);
            assert!(row.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9), "{i}");
        }
    }
}

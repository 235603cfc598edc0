//! Networks whose edges alone say who is who: real ones, and copies with changed edges.

use crate::common;

use homolog::data::edge_table::EdgeTable;
use homolog::features::FeatureSet;
use homolog::graph::{Attributes, Direction, Graph, Pair};
use homolog::learn::default_matcher;
use homolog::matching::{Compatibility, EdgeList, EdgeTerm, FrankWolfe, Method, Solution, Status, Workspace};
use homolog::model::Model;
use ndarray::Array2;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// The match by the set for networks, and the edges it keeps.
fn matched(left: Graph, right: Graph, method: Option<Method>) -> (Solution, f64) {
    let pair = Pair::new(Arc::new(left), Arc::new(right));
    let features = FeatureSet::Graph.features([&*pair.left, &*pair.right]).unwrap();
    let features = features.with_spread_of(std::slice::from_ref(&pair)).unwrap();
    let method = method.unwrap_or_else(|| default_matcher(&features));
    let model = Model::unlearned(features, method).unwrap();
    let matched = model.match_pair(&pair, &mut Workspace::new()).unwrap();
    let kept = matched.edges_kept().unwrap().correctness();
    (matched.solution, kept)
}

#[test]
fn regions_of_two_mouse_brains_are_matched_by_the_ranks_of_their_connections() {
    let Some(folder) = common::data_folder("networks") else { return println!("skipped: no networks") };
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        EdgeTable::default().read(&text, None, name).unwrap().graph
    };
    let (left, right) = (read("mouse-54776.edges"), read("mouse-54777.edges"));
    let (solution, _) = matched((*left).clone(), (*right).clone(), None);
    let (left, right) = (left.names().unwrap(), right.names().unwrap());
    let is_right = |&(i, k): &(usize, usize)| left[i] == right[k];
    let count = solution.matching.pairs().filter(is_right).count();
    assert!(count >= 325, "{count} of 332");
    // Nothing is proven, but the bound means something.
    assert_eq!(solution.status, Status::Limit);
    assert!(solution.bound < 1.1 * solution.score, "{} and {}", solution.score, solution.bound);
}

#[test]
fn a_shuffled_copy_with_changed_edges_is_recognised() {
    for (nodes, share) in [(60, 0.4), (90, 0.12)] {
        let mut rng = common::rng(nodes as u64);
        let pairs = (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i]));
        let edges: Vec<[usize; 2]> = pairs.filter(|_| rng.random::<f64>() < share).collect();
        let mut place: Vec<usize> = (0..nodes).collect();
        place.shuffle(&mut rng);
        // One edge in thirty is missing.
        let copy = edges.iter().filter(|_| rng.random::<f64>() > 1.0 / 30.0).map(|ends| ends.map(|end| place[end]));
        let right = Graph::new(nodes).with_edges(copy.collect(), Direction::Undirected).unwrap();
        let left = Graph::new(nodes).with_edges(edges, Direction::Undirected).unwrap();
        let (solution, kept) = matched(left, right, Some(Method::FrankWolfe(FrankWolfe::default())));
        assert!(kept > 0.93, "{kept}");
        assert!(solution.matching.pairs().all(|(i, k)| place[i] == k));
    }
}

#[test]
fn directed_networks_of_different_sizes_with_isolated_nodes() {
    let mut rng = common::rng(5);
    let weights = |count: usize| Array2::from_shape_fn((count, 1), |(e, _)| 1.0 + (e * e % 17) as f64);
    let mut ends: Vec<[usize; 2]> = (0..40).flat_map(|i| (0..40).map(move |j| [i, j])).collect();
    ends.retain(|[i, j]| i != j && i % 10 != 9 && j % 10 != 9 && rng.random::<f64>() < 0.3);
    let with = |nodes: usize, ends: Vec<[usize; 2]>, weights: Array2<f64>| {
        let weights = Attributes::new(vec!["weight".to_string()], weights).unwrap();
        Graph::new(nodes).with_attributed_edges(ends, &weights, Direction::Directed).unwrap()
    };
    let right = with(40, ends.clone(), weights(ends.len()));
    let chosen: Vec<usize> = (0..ends.len()).filter(|&e| ends[e].iter().all(|&end| end < 30)).collect();
    let part = weights(ends.len()).select(ndarray::Axis(0), &chosen);
    let left = with(30, chosen.iter().map(|&e| ends[e]).collect(), part);
    let (solution, kept) = matched(left, right, Some(Method::FrankWolfe(FrankWolfe::default())));
    assert_eq!(solution.matching.matched_count(), 30);
    assert!(kept > 0.5, "{kept}");
}

#[test]
fn a_climb_from_a_given_start_goes_on_from_there() {
    // All six rotations and six reflections of a ring keep every edge: the start decides.
    let ring = Arc::new(EdgeList::new(6, (0..6).flat_map(|i| [[i, (i + 1) % 6], [(i + 1) % 6, i]]).collect()).unwrap());
    let edge = EdgeTerm::factored(Arc::clone(&ring), ring, Array2::ones((12, 1)), Array2::ones((12, 1))).unwrap();
    let problem = Compatibility::linear(Array2::zeros((6, 6))).with_edges(edge);
    let one = FrankWolfe { starts: 1, ..FrankWolfe::default() };
    let mut work = Workspace::new();
    for turn in 0..6 {
        let start = Array2::from_shape_fn((6, 6), |(i, k)| if k == (i + turn) % 6 { 0.75 } else { 0.05 });
        let found = one.solve_from(&problem, &start, &mut work).unwrap();
        assert_eq!((found.score, found.bound.round()), (12.0, 12.0));
        assert!(found.matching.pairs().all(|(i, k)| k == (i + turn) % 6));
    }
    assert!(one.solve_from(&problem, &Array2::zeros((5, 6)), &mut work).is_err());
    assert!(one.solve_from(&problem, &Array2::from_elem((6, 6), f64::NAN), &mut work).is_err());
}

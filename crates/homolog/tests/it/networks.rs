//! Networks whose edges alone say who is who: real ones, and copies with changed edges.

use crate::common;

use homolog::features::FeatureSet;
use homolog::graph::{Attributes, Direction, Graph, Pair};
use homolog::learn::{LabelledPairs, LearnerKind, Trainer, default_matcher};
use homolog::matching::{
    Compatibility, Constraint, EdgeList, EdgeTerm, FrankWolfe, Matching, Method, Restrictions, Solution, Status,
    Workspace,
};
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
        let bytes = std::fs::read(folder.join(name)).unwrap();
        homolog::data::read(name, &bytes, &|_, _| None).unwrap().data.graphs()[0].graph.clone()
    };
    let graphs = [read("mouse-54776.edges"), read("mouse-54777.edges")];
    let (solution, _) = matched((*graphs[0]).clone(), (*graphs[1]).clone(), None);
    let [left, right] = graphs.each_ref().map(|graph| graph.names().unwrap());
    let is_right = |&(i, k): &(usize, usize)| left[i] == right[k];
    let count = solution.matching.pairs().filter(is_right).count();
    assert!(count >= 325, "{count} of 332");
    // Some given regions say what counts, and no more starts than one are needed: no region is lost.
    let seeds = (0..10).map(|at| 33 * at).filter_map(|i| Some([i, right.iter().position(|name| *name == left[i])?]));
    let given = Restrictions { seeds: seeds.collect(), forbidden: Vec::new() };
    let pair = Pair { given, ..Pair::new(Arc::clone(&graphs[0]), Arc::clone(&graphs[1])) };
    let features = FeatureSet::Graph.features([&*pair.left, &*pair.right]).unwrap();
    let climb = Method::FrankWolfe(FrankWolfe::default());
    let model = Model::unlearned_for(features, Some(climb), None, std::slice::from_ref(&pair)).unwrap();
    let found = model.solve(&pair).unwrap().matching;
    let seeded = found.pairs().filter(is_right).count();
    assert!(seeded >= 330, "{seeded} of 332 by {:?}", model.weights());
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

/// Two nearly complete networks of which one is a shuffled copy: the length of an edge says which it is, its weight and a third number nothing.
fn noisy_copy(nodes: usize, rng: &mut rand_chacha::ChaCha8Rng) -> (Pair, Matching) {
    let pairs = (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i]));
    let ends: Vec<[usize; 2]> = pairs.filter(|_| rng.random::<f64>() < 0.9).collect();
    let length: Vec<f64> = ends.iter().map(|_| rng.random()).collect();
    let mut place: Vec<usize> = (0..nodes).collect();
    place.shuffle(rng);
    let mut graph = |ends: Vec<[usize; 2]>| {
        let mut values = Array2::from_shape_simple_fn((ends.len(), 3), || rng.random::<f64>());
        values.column_mut(0).mapv_inplace(|value| (4.0 * value).exp());
        for (value, length) in values.column_mut(1).iter_mut().zip(&length) {
            *value = length + 0.3 * (*value - 0.5);
        }
        let names = ["weight", "length", "noise"].map(str::to_string).to_vec();
        let values = Attributes::new(names, values).unwrap();
        Arc::new(Graph::new(nodes).with_attributed_edges(ends, &values, Direction::Undirected).unwrap())
    };
    let right = ends.iter().map(|ends| ends.map(|end| place[end])).collect();
    let pair = Pair::new(graph(ends), graph(right));
    let truth = Matching::new(place.iter().map(|&k| Some(k)).collect(), nodes, Constraint::OneToOne).unwrap();
    (pair, truth)
}

#[test]
fn labelled_pairs_of_networks_teach_how_to_match_the_next() {
    let mut rng = common::rng(4);
    let mut training = LabelledPairs::new();
    for _ in 0..3 {
        let (pair, truth) = noisy_copy(10, &mut rng);
        training.add_partly(&pair, truth, &[]).unwrap();
    }
    let features = FeatureSet::Graph.features_for(&training.common().unwrap()).unwrap();
    let climb = Method::FrankWolfe(FrankWolfe { starts: 4, kicks: 5, ..FrankWolfe::default() });
    let trainer = Trainer { learner: LearnerKind::Groups, ..Trainer::default() };
    let mut model = Model::fit(&features, &training, &trainer).unwrap();
    model.matcher = climb.clone();
    let unlearned = Model::unlearned(model.features.clone(), climb).unwrap();
    let (mut learned, mut before) = (0, 0);
    for _ in 0..6 {
        let (pair, truth) = noisy_copy(10, &mut rng);
        let right = |model: &Model| {
            let found = model.solve(&pair).unwrap().matching;
            found.pairs().filter(|&(i, k)| truth.right_of(i) == Some(k)).count()
        };
        learned += right(&model);
        before += right(&unlearned);
    }
    assert!(learned >= 40 && before <= 30, "{before} of 60 before, {learned} after learning");
}

#[test]
fn thousands_of_nodes_are_matched_by_their_edges_alone() {
    // Beyond the size of tables: seeds hold, and what is found again is what is right.
    let nodes = 4200;
    let mut rng = common::rng(9);
    let mut ends: Vec<[usize; 2]> = (0..6 * nodes)
        .map(|_| [rng.random_range(0..nodes), rng.random_range(0..nodes)])
        .filter(|[i, j]| i != j)
        .map(|[i, j]| [i.min(j), i.max(j)])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let mut place: Vec<usize> = (0..nodes).collect();
    place.shuffle(&mut rng);
    let copy = ends.iter().filter(|_| rng.random::<f64>() > 0.05).map(|ends| ends.map(|end| place[end])).collect();
    let right = Arc::new(Graph::new(nodes).with_edges(copy, Direction::Undirected).unwrap());
    let left = Arc::new(Graph::new(nodes).with_edges(ends, Direction::Undirected).unwrap());
    let given = Restrictions { seeds: vec![[3, place[5]], [5, place[3]]], forbidden: vec![[8, place[8]]] };
    let pair = Pair { given, ..Pair::new(left, right) };
    let features = FeatureSet::Graph.features([&*pair.left, &*pair.right]).unwrap();
    let method = default_matcher(&features);
    let model = Model::unlearned(features, method).unwrap();
    let matched = model.match_pair(&pair, &mut Workspace::new()).unwrap();
    let matching = &matched.solution.matching;
    assert_eq!([3, 5, 8].map(|i| matching.right_of(i) == Some(place[i])), [false; 3]);
    assert_eq!([3, 5].map(|i| matching.right_of(i)), [5, 3].map(|i| Some(place[i])));
    let count = matching.pairs().filter(|&(i, k)| place[i] == k).count();
    assert!(count > 4100, "{count}");
    assert!(matched.edges_kept().unwrap().correctness() > 0.9);
    assert!(matched.solution.bound >= matched.solution.score);
}

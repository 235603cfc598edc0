//! Networks that share only some of their nodes: the others are left out, and no more.

use crate::common;

use homolog::features::{FeatureMap, FeatureSet};
use homolog::graph::{Attributes, Direction, Graph, Pair};
use homolog::matching::{FrankWolfe, Method, Restrictions};
use homolog::model::Model;
use ndarray::Array2;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;
use std::sync::Arc;

type Edges = Vec<[usize; 2]>;

/// A random network with about ten neighbours per node.
fn family(name: &str, nodes: usize, rng: &mut ChaCha8Rng) -> Edges {
    let share = 10.0 / nodes as f64;
    let pairs = (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i]));
    match name {
        "blocks" => pairs
            .filter(|&[j, i]| rng.random::<f64>() < if i % 4 == j % 4 { 2.5 * share } else { 0.5 * share })
            .collect(),
        "geometric" => {
            let points: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.random(), rng.random()]).collect();
            let square =
                |i: usize, j: usize| (0..2).map(|axis| (points[i][axis] - points[j][axis]).powi(2)).sum::<f64>();
            pairs.filter(|&[j, i]| square(i, j) < share / 3.0).collect()
        }
        "attached" => {
            let mut ends: Edges = (1..=5).map(|i| [0, i]).collect();
            for new in 6..nodes {
                let mut old: Vec<usize> = Vec::new();
                while old.len() < 5 {
                    let end = ends[rng.random_range(0..ends.len())][rng.random_range(0..2)];
                    if !old.contains(&end) {
                        old.push(end);
                    }
                }
                ends.extend(old.into_iter().map(|end| [end, new]));
            }
            ends
        }
        _ => pairs.filter(|_| rng.random::<f64>() < share).collect(),
    }
}

/// Some more nodes, each with ten neighbours anywhere.
fn with_extra(edges: &Edges, nodes: usize, extra: usize, rng: &mut ChaCha8Rng) -> Edges {
    let mut all = edges.clone();
    for new in nodes..nodes + extra {
        let mut others: Vec<usize> = (0..new).collect();
        others.shuffle(rng);
        all.extend(others.into_iter().take(10).map(|other| [other, new]));
    }
    all
}

/// A pair of networks that share their first nodes, of which one is shuffled and lacks one edge in thirty; where each left node is.
fn pair_of(name: &str, nodes: usize, extra: [usize; 2], seed: u64) -> (Pair, Vec<usize>) {
    let rng = &mut common::rng(seed);
    let edges = family(name, nodes, rng);
    let kept: Edges = edges.iter().filter(|_| rng.random::<f64>() > 1.0 / 30.0).copied().collect();
    let (left, right) = (with_extra(&edges, nodes, extra[0], rng), with_extra(&kept, nodes, extra[1], rng));
    let mut place: Vec<usize> = (0..nodes + extra[1]).collect();
    place.shuffle(rng);
    let right = right.into_iter().map(|ends| ends.map(|end| place[end])).collect();
    let graph =
        |count: usize, edges: Edges| Arc::new(Graph::new(count).with_edges(edges, Direction::Undirected).unwrap());
    (Pair::new(graph(nodes + extra[0], left), graph(nodes + extra[1], right)), place)
}

fn unlearned(pair: &Pair, price: Option<f64>, map: impl Fn(FeatureMap) -> FeatureMap) -> Model {
    let features = map(FeatureSet::Graph.features([&*pair.left, &*pair.right]).unwrap());
    let method = Method::FrankWolfe(FrankWolfe::default());
    Model::unlearned_for(features, Some(method), price, std::slice::from_ref(pair)).unwrap()
}

#[test]
fn dense_networks_do_not_fall_apart_into_nodes_that_are_all_left_out() {
    for (nodes, seed) in [(30, 1), (40, 2), (60, 3), (100, 4)] {
        let rng = &mut common::rng(seed);
        let pairs = (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i]));
        let edges: Edges = pairs.filter(|_| rng.random::<f64>() < 0.3).collect();
        let extra = (0..5).map(|at| [at * nodes / 5, nodes]);
        let graph =
            |count: usize, edges: Edges| Arc::new(Graph::new(count).with_edges(edges, Direction::Undirected).unwrap());
        let left = graph(nodes + 1, edges.iter().copied().chain(extra).collect());
        let pair = Pair::new(left, graph(nodes, edges));
        let found = unlearned(&pair, Some(0.6), |map| map).solve(&pair).unwrap().matching;
        assert!((0..nodes).all(|i| found.right_of(i) == Some(i)) && found.right_of(nodes).is_none(), "{nodes} nodes");
    }
}

#[test]
fn nodes_that_only_one_network_has_are_left_out_and_no_others() {
    let nodes = 150;
    for name in ["erdos-renyi", "attached", "blocks", "geometric"] {
        // Neighbours in a geometric network look alike: some extra nodes take their places.
        let most_wrong = if name == "geometric" { 12 } else { 2 };
        let (mut rightly, mut wrongly) = (0, 0);
        for (seed, extra) in [[0, 0], [10, 10], [10, 0], [0, 10], [10, 10]].into_iter().enumerate() {
            let (pair, place) = pair_of(name, nodes, extra, 3 + seed as u64);
            let model = unlearned(&pair, None, FeatureMap::with_unmatched);
            assert_eq!(model.weights(), [1.0, 0.6]);
            let found = model.solve(&pair).unwrap().matching;
            let is_out = |i: &usize| found.right_of(*i).is_none();
            rightly += (nodes..nodes + extra[0]).filter(is_out).count();
            // Nothing says who a node without edges is.
            let has_edges = |i: &usize| !pair.left.edges().from_node(*i).is_empty();
            wrongly += (0..nodes).filter(|i| is_out(i) && has_edges(i)).count();
            let right = (0..nodes).filter(|&i| found.right_of(i) == Some(place[i])).count();
            assert!(right >= 148 || name == "geometric", "{name} {extra:?}: {right}");
        }
        assert!(rightly >= 26 && wrongly <= most_wrong, "{name}: {rightly} of 30 rightly, {wrongly} wrongly left out");
    }
}

#[test]
fn a_price_of_0_leaves_nothing_out_and_a_price_of_1_gains_nothing_by_matching() {
    let (pair, _) = pair_of("erdos-renyi", 40, [3, 3], 1);
    let matched = |price: f64| {
        let model = unlearned(&pair, Some(price), |map| map);
        model.solve(&pair).unwrap().matching.matched_count()
    };
    assert_eq!(matched(0.0), 43);
    assert!(matched(0.6) < 43);
    // More than any match can keep.
    assert_eq!(matched(3.0), 0);
}

#[test]
fn the_price_is_a_share_of_the_edges_that_are_lost() {
    let (pair, _) = pair_of("attached", 20, [0, 0], 2);
    let model = unlearned(&pair, Some(0.5), |map| map);
    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(model.features.describe(graph).unwrap()));
    let problem = model.features.instance(&left, &right).unwrap().compatibility(&model.weights()).unwrap();
    let unmatched = problem.unmatched.unwrap();
    for (i, score) in unmatched.iter().enumerate() {
        assert!((score - 0.5 * pair.left.edges().from_node(i).len() as f64).abs() < 1e-12);
    }
}

/// A network and a shuffled copy; `weight` says for each pair of nodes what its edge weighs in both, if there is one.
fn weighted_copy(nodes: usize, seed: u64, weight: &dyn Fn(&mut ChaCha8Rng) -> [Option<f64>; 2]) -> (Pair, Vec<usize>) {
    let rng = &mut common::rng(seed);
    let mut place: Vec<usize> = (0..nodes).collect();
    place.shuffle(rng);
    let (mut edges, mut weights) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for ends in (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i])) {
        for (side, own) in weight(rng).into_iter().enumerate() {
            if let Some(own) = own {
                edges[side].push(if side == 0 { ends } else { ends.map(|end| place[end]) });
                weights[side].push(own);
            }
        }
    }
    let mut graph = |side: usize| {
        let values = Array2::from_shape_fn((weights[side].len(), 1), |(e, _)| weights[side][e]);
        let values = Attributes::new(vec!["weight".to_string()], values).unwrap();
        let edges = std::mem::take(&mut edges[side]);
        Arc::new(Graph::new(nodes).with_attributed_edges(edges, &values, Direction::Undirected).unwrap())
    };
    (Pair::new(graph(0), graph(1)), place)
}

/// Half of all edges, of which some are in one network only; their weights are noise.
fn noise(rng: &mut ChaCha8Rng) -> [Option<f64>; 2] {
    let is_there = rng.random::<f64>() < 0.5;
    [0, 1].map(|_| {
        let own = is_there != (rng.random::<f64>() < 0.08);
        own.then(|| rng.random::<f64>())
    })
}

/// All edges, of which one in ten is strong in both; the others are noise.
fn strong(rng: &mut ChaCha8Rng) -> [Option<f64>; 2] {
    let own = if rng.random::<f64>() < 0.1 { 50.0 } else { 0.0 };
    [0, 1].map(|_| Some(own + rng.random::<f64>()))
}

/// A tenth of all edges, alike in both but for a little.
fn alike(rng: &mut ChaCha8Rng) -> [Option<f64>; 2] {
    let own = (rng.random::<f64>() < 0.1).then(|| rng.random::<f64>());
    [0, 1].map(|_| own.map(|own| own + 0.1 * rng.random::<f64>()))
}

#[test]
fn seeds_choose_what_counts_about_weights() {
    type Weight = fn(&mut ChaCha8Rng) -> [Option<f64>; 2];
    const RANKS: [f64; 4] = [0.0, 1.0, 0.0, 0.0];
    const EXISTENCE: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
    let (mut chosen, mut gained, mut told) = ([0; 3], [0; 3], String::new());
    for (at, weight) in [noise as Weight, strong, alike].into_iter().enumerate() {
        for seed in 0..4 {
            let (pair, place) = weighted_copy(50, seed, &weight);
            let seeds = (0..10).map(|i| [5 * i, place[5 * i]]).collect();
            let pair = Pair { given: Restrictions { seeds, forbidden: Vec::new() }, ..pair };
            let own = unlearned(&pair, None, |map| map);
            let usual = Model::unlearned(own.features.clone(), own.matcher.clone()).unwrap();
            assert_eq!(usual.weights(), RANKS);
            let right = |model: &Model| {
                let found = model.solve(&pair).unwrap().matching;
                found.pairs().filter(|&(i, k)| place[i] == k).count()
            };
            let (by_choice, as_usual) = (right(&own), right(&usual));
            chosen[at] += usize::from(own.weights() == if at == 0 { EXISTENCE } else { RANKS });
            gained[at] += by_choice.cast_signed() - as_usual.cast_signed();
            writeln!(told, "{at} {:?}: {by_choice} beside {as_usual}", own.weights()).unwrap();
        }
    }
    // If weights are noise, that is seen in half of the networks, and is worth many nodes; otherwise nothing is lost.
    assert!(chosen[0] >= 2 && gained[0] >= 30, "{told}");
    assert!(gained[1] >= 0 && gained[2] >= 0, "{told}");
}

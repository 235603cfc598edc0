//! Laws of units and of named sets: the unit of an attribute changes no matching; every set works in the plane and in space.

use crate::made;

use homolog::Error;
use homolog::features::{
    Common, Comparison, Decay, Descriptor, Difference, EdgeAttributes, EdgeKind, FeatureMap, FeatureSet,
    NodeAttributes, NodeFeature, Scale, WholeDecay,
};
use homolog::graph::{Attributes, Direction, Graph, Pair};
use homolog::matching::{Constraint, FrankWolfe, Linear, Matcher, Matching};
use made::{graph, numbers, rng};
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The same graph with its attributes in other units: node attribute r times `node[r]`, edge attribute likewise.
fn in_units(graph: &Graph, node: [f64; 2], edge: [f64; 2]) -> Graph {
    let scaled = |table: &Attributes, units: [f64; 2]| {
        let values = Array2::from_shape_fn(table.values().dim(), |(row, r)| units[r] * table.values()[[row, r]]);
        Attributes::new(table.names().to_vec(), values).unwrap()
    };
    let nodes = scaled(graph.node_attributes().unwrap(), node);
    let edges = scaled(graph.edge_attributes().unwrap(), edge);
    let ends = graph.edges().ends().to_vec();
    let graph = graph.clone().with_node_attributes(nodes).unwrap();
    graph.with_attributed_edges(ends, &edges, Direction::Directed).unwrap()
}

fn solve(map: &FeatureMap, pair: &Pair) -> Matching {
    let map = map.with_spread_of(std::slice::from_ref(pair)).unwrap();
    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
    let problem = map.instance(&left, &right).unwrap().compatibility(&map.unlearned_weights()).unwrap();
    let linear: &dyn Matcher = &Linear::default();
    let quadratic: &dyn Matcher = &FrankWolfe::default();
    let matcher = if map.edge.is_empty() { linear } else { quadratic };
    matcher.solve(&problem).unwrap().matching
}

fn pair(rng: &mut ChaCha8Rng) -> Pair {
    Pair::new(Arc::new(graph(rng, 9)), Arc::new(graph(rng, 11)))
}

/// Maps that use both node attributes and both edge attributes.
fn maps(pair: &Pair) -> Vec<FeatureMap> {
    let columns = vec!["0".to_string(), "far".to_string()];
    let node = |comparison| {
        let descriptor = Descriptor::Attributes(NodeAttributes { columns: columns.clone() });
        vec![NodeFeature { descriptor, comparison }]
    };
    let mut maps = Vec::new();
    for set in FeatureSet::ALL {
        maps.push(set.features([&*pair.left, &*pair.right]).unwrap());
    }
    let plain = || FeatureMap { scale: Scale::BySpread, ..FeatureMap::paper_linear() };
    maps.push(FeatureMap { node: node(Comparison::Decay(Decay { width: 0.6 })), ..plain() });
    maps.push(FeatureMap { node: node(Comparison::WholeDecay(WholeDecay { width: 2.0 })), ..plain() });
    for difference in [Difference::NegativeSquare, Difference::NegativeAbsolute, Difference::Decay { width: 0.5 }] {
        let columns = vec!["0".to_string(), "strength".to_string()];
        let edge = vec![EdgeKind::Attributes(EdgeAttributes { columns, difference })];
        maps.push(FeatureMap { node: node(Comparison::default()), edge, ..plain() });
    }
    maps
}

#[test]
fn the_unit_of_an_attribute_changes_no_matching() {
    for seed in 0..12 {
        let rng = &mut rng(seed);
        let pair = pair(rng);
        for (number, map) in maps(&pair).iter().enumerate() {
            let before = solve(map, &pair);
            for units in [[1e6, 1.0], [1.0, 1e-6], [1e-6, 1e6]] {
                for (node, edge) in [(units, [1.0, 1.0]), ([1.0, 1.0], units), (units, units)] {
                    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(in_units(graph, node, edge)));
                    assert_eq!(solve(map, &Pair::new(left, right)), before, "seed {seed}, map {number}, {units:?}");
                }
            }
        }
    }
}

#[test]
fn spreads_are_mean_differences_and_names_are_checked() {
    let pair = pair(&mut rng(40));
    let map =
        FeatureMap::named("attributes", [&*pair.left]).unwrap().with_spread_of(std::slice::from_ref(&pair)).unwrap();
    let Scale::Measured(spreads) = &map.scale else { panic!("not measured") };
    assert_eq!(
        spreads.iter().map(|spread| spread.name.as_str()).collect::<Vec<_>>(),
        ["attributes 0", "attributes far"]
    );
    let [a, b] = [&pair.left, &pair.right].map(|graph| graph.node_attributes().unwrap().values().to_owned());
    for (r, spread) in spreads.iter().enumerate() {
        let all: Vec<f64> = a.column(r).iter().flat_map(|a| b.column(r).mapv(|b| (a - b).abs())).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((spread.spread - mean).abs() <= 1e-12 * mean);
    }
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(serde_json::from_str::<FeatureMap>(&text).unwrap(), map);
    let mut other = map.clone();
    let Scale::Measured(spreads) = &mut other.scale else { panic!("not measured") };
    spreads[0].name = "size".to_string();
    assert!(matches!(other.check().unwrap_err(), Error::ModelFile { .. }));
    spreads_set(&mut other, f64::NAN);
    assert!(other.check().is_err());
    // The paper's features stay as they are.
    let paper = FeatureMap::paper_quadratic();
    assert_eq!(paper.with_spread_of(&[pair]).unwrap(), paper);
}

fn spreads_set(map: &mut FeatureMap, value: f64) {
    if let Scale::Measured(spreads) = &mut map.scale {
        spreads[0].name = "attributes 0".to_string();
        spreads[0].spread = value;
    }
}

#[test]
fn what_never_differed_in_training_has_no_say() {
    let with = |values: [f64; 3]| {
        let table = Array2::from_shape_fn((3, 2), |(row, r)| if r == 0 { row as f64 } else { values[row] });
        Arc::new(Graph::new(3).with_node_attributes(Attributes::numbered(table).unwrap()).unwrap())
    };
    let training = Pair::new(with([5.0; 3]), with([5.0; 3]));
    let map = FeatureMap::named("attributes", [&*training.left]).unwrap().with_spread_of(&[training]).unwrap();
    for unit in [1e-6, 1.0, 1e6] {
        let (left, right) = (with([unit, 2.0 * unit, 3.0 * unit]), with([3.0 * unit, 2.0 * unit, unit]));
        let [left, right] = [&left, &right].map(|graph| Arc::new(map.describe(graph).unwrap()));
        let problem = map.instance(&left, &right).unwrap().compatibility(&map.unlearned_weights()).unwrap();
        let matching = Linear::default().solve(&problem).unwrap().matching;
        assert_eq!(matching, Matching::identity(3));
    }
}

#[test]
fn every_set_works_in_the_plane_and_in_space_and_takes_what_is_there() {
    for dimension in [2, 3] {
        let rng = &mut rng(50);
        let graphs = [7, 8].map(|n| {
            let named = Attributes::new(vec!["size".to_string()], numbers(rng, n, 1, 1.0, 0.0)).unwrap();
            let graph = Graph::from_points(numbers(rng, n, dimension, 9.0, 1.0)).unwrap();
            let edges = vec![[0, 1], [1, 2], [2, 3], [3, 0]];
            let weights = Attributes::new(vec!["weight".to_string()], numbers(rng, 4, 1, 1.0, 2.0)).unwrap();
            let graph = graph.with_node_attributes(named).unwrap();
            Arc::new(graph.with_attributed_edges(edges, &weights, Direction::Undirected).unwrap())
        });
        let pair = Pair::new(Arc::clone(&graphs[0]), Arc::clone(&graphs[1]));
        for set in FeatureSet::ALL {
            let map = FeatureMap::named(set.name(), graphs.iter().map(|graph| &**graph)).unwrap();
            map.check().unwrap();
            assert_eq!(solve(&map, &pair).matched_count(), 7, "{}", set.name());
            let unused = map.unused_attributes(&Common::of(graphs.iter().map(|graph| &**graph)).unwrap());
            match set {
                FeatureSet::PaperLinear | FeatureSet::PaperQuadratic => assert_eq!(unused, ["size", "weight"]),
                FeatureSet::Graph => assert!(unused.is_empty()),
                _ => assert_eq!(unused, ["weight"], "{}", set.name()),
            }
        }
    }
    let bare = Graph::new(2);
    for name in ["linear", "attributes", "graph", "robust"] {
        assert!(matches!(FeatureMap::named(name, [&bare]).unwrap_err(), Error::Missing { .. }), "{name}");
    }
    let unknown = FeatureMap::named("squares", [&bare]).unwrap_err().to_string();
    assert!(unknown.contains("squares") && unknown.contains("paper-quadratic"), "{unknown}");
    let mixed = [Array2::zeros((2, 2)), Array2::zeros((2, 3))].map(|points| Graph::from_points(points).unwrap());
    assert!(matches!(FeatureMap::named("linear", &mixed).unwrap_err(), Error::Size { expected: 2, found: 3, .. }));
    assert_eq!(Constraint::OneToOne, FeatureMap::default().constraint);
}

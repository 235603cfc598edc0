//! Random graphs, feature maps and matchings for the laws. The seed determines everything.

use homolog::features::{
    Adjacency, Comparison, Decay, Descriptor, Difference, DirectionForm, Directions, EdgeAttributes, EdgeKind,
    FeatureMap, Instance, LengthUnit, Lengths, NegativeSquare, NodeAttributes, NodeFeature, Position, Scale,
    ShapeContext, WholeDecay,
};
use homolog::geometry::{Complete, Delaunay, EdgeRule, Nearest, Within};
use homolog::graph::{Attributes, Direction, Graph, PairFeatures};
use homolog::matching::{Constraint, Matching};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Numbers in [-1, 1), times a scale, plus a shift.
pub(crate) fn numbers(rng: &mut ChaCha8Rng, rows: usize, columns: usize, scale: f64, shift: f64) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || shift + scale * rng.random_range(-1.0..1.0))
}

pub(crate) fn permutation(rng: &mut ChaCha8Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(rng);
    order
}

/// A graph with points in the plane, sometimes context points, two node attributes "0" and "far", and directed or undirected
/// edges with two attributes "0" and "strength".
pub(crate) fn graph(rng: &mut ChaCha8Rng, n: usize) -> Graph {
    let graph = Graph::from_points(numbers(rng, n, 2, 50.0, 0.0)).unwrap();
    let context = rng.random_range(0..4);
    let graph = graph.with_context(numbers(rng, context, 2, 50.0, 0.0)).unwrap();
    let mut attributes = numbers(rng, n, 2, 2.0, 0.0);
    attributes.column_mut(1).iter_mut().for_each(|x| *x += 5e5);
    let names = vec!["0".to_string(), "far".to_string()];
    let graph = graph.with_node_attributes(Attributes::new(names, attributes).unwrap()).unwrap();
    let all = homolog::geometry::complete(n);
    let edges: Vec<[usize; 2]> = all.into_iter().filter(|_| rng.random_bool(0.4)).collect();
    let names = vec!["0".to_string(), "strength".to_string()];
    let values = Attributes::new(names, numbers(rng, edges.len(), 2, 3.0, 1.0)).unwrap();
    let direction = if rng.random_bool(0.5) { Direction::Directed } else { Direction::Undirected };
    graph.with_attributed_edges(edges, &values, direction).unwrap()
}

pub(crate) fn all_comparisons() -> Vec<Comparison> {
    vec![
        Comparison::NegativeSquare(NegativeSquare { per_node: true }),
        Comparison::NegativeSquare(NegativeSquare { per_node: false }),
        Comparison::Decay(Decay { width: 1.5 }),
        Comparison::WholeDecay(WholeDecay { width: 4.0 }),
    ]
}

pub(crate) fn all_descriptors() -> Vec<Descriptor> {
    let columns = vec!["far".to_string(), "0".to_string()];
    vec![
        Descriptor::ShapeContext(ShapeContext::default()),
        Descriptor::ShapeContext(ShapeContext { angular_bins: 7, radii: vec![0.4, 3.0], ..ShapeContext::paper() }),
        Descriptor::ShapeContext(ShapeContext::paper()),
        Descriptor::Position(Position::default()),
        Descriptor::Attributes(NodeAttributes { columns }),
    ]
}

pub(crate) fn all_differences() -> Vec<Difference> {
    vec![
        Difference::NegativeSquare,
        Difference::NegativeAbsolute,
        Difference::Decay { width: 0.7 },
        Difference::Product,
    ]
}

pub(crate) fn all_edge_kinds() -> Vec<EdgeKind> {
    let mut kinds = vec![EdgeKind::Adjacency(Adjacency {})];
    for form in [DirectionForm::Cosine, DirectionForm::NegativeAngle] {
        kinds.push(EdgeKind::Directions(Directions { dimension: 2, form }));
    }
    for difference in all_differences() {
        let columns = vec!["strength".to_string(), "0".to_string()];
        kinds.push(EdgeKind::Attributes(EdgeAttributes { columns, difference }));
        for unit in [LengthUnit::MeanDistance, LengthUnit::Coordinates] {
            kinds.push(EdgeKind::Lengths(Lengths { unit, difference }));
        }
    }
    kinds
}

/// Any features, any order, with and without edges.
pub(crate) fn feature_map(rng: &mut ChaCha8Rng) -> FeatureMap {
    let (comparisons, descriptors, kinds) = (all_comparisons(), all_descriptors(), all_edge_kinds());
    let node = (0..rng.random_range(0..4)).map(|_| NodeFeature {
        descriptor: descriptors[rng.random_range(0..descriptors.len())].clone(),
        comparison: comparisons[rng.random_range(0..comparisons.len())],
    });
    let node = node.collect();
    let edge: Vec<_> = (0..rng.random_range(0..5)).map(|_| kinds[rng.random_range(0..kinds.len())].clone()).collect();
    let own_edges = edge.iter().any(|kind| matches!(kind, EdgeKind::Attributes(_)));
    let rules = [
        EdgeRule::Delaunay(Delaunay {}),
        EdgeRule::Nearest(Nearest { count: 2 }),
        EdgeRule::Within(Within { radius: 40.0 }),
        EdgeRule::Complete(Complete {}),
    ];
    let edge_rule = (!own_edges && rng.random_bool(0.5)).then(|| rules[rng.random_range(0..rules.len())]);
    let constraint = if rng.random_bool(0.5) { Constraint::OneToOne } else { Constraint::ManyToOne };
    let scales = [Scale::AsIs, Scale::BySpread];
    let scale = scales[rng.random_range(0..scales.len())].clone();
    let unmatched = rng.random_bool(0.5);
    // Drawn aside, so that everything else is as it was without them.
    let names = ["gap", "iou"].map(str::to_string);
    let pair = names[..rng.clone().random_range(0..3)].to_vec();
    FeatureMap { node, pair, edge_rule, edge, unmatched, constraint, scale, ..FeatureMap::default() }
}

/// The features of pairs "iou", "gap" and one that no map asks for, for all pairs of nodes.
pub(crate) fn pair_features(n: usize, m: usize) -> Arc<PairFeatures> {
    let names = ["iou", "other", "gap"].map(str::to_string).to_vec();
    let value = |at: usize, (i, k): (usize, usize)| ((31 * i + 17 * k + 7 * i * k + 5 * at) % 23) as f64 / 10.0 - 1.0;
    let tables: Vec<Array2<f64>> = (0..3).map(|at| Array2::from_shape_fn((n, m), |cell| value(at, cell))).collect();
    Arc::new(PairFeatures::of_tables(names, &tables).unwrap())
}

/// A matching that the constraint allows, sometimes partial.
pub(crate) fn matching(rng: &mut ChaCha8Rng, n: usize, m: usize, constraint: Constraint) -> Matching {
    let keep = if rng.random_bool(0.3) { 1.0 } else { 0.7 };
    let places = permutation(rng, m);
    let choose = |i: usize, rng: &mut ChaCha8Rng| {
        let place = match constraint {
            Constraint::OneToOne => places.get(i).copied(),
            Constraint::ManyToOne => (m > 0).then(|| rng.random_range(0..m)),
        };
        place.filter(|_| rng.random_bool(keep))
    };
    let map = (0..n).map(|i| choose(i, rng)).collect();
    Matching::new(map, m, constraint).unwrap()
}

pub(crate) fn weights(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// The problem of two graphs.
pub(crate) fn instance(map: &FeatureMap, left: &Graph, right: &Graph) -> Instance {
    let pairs = (!map.pair.is_empty()).then(|| pair_features(left.node_count(), right.node_count()));
    let [left, right] = [left, right].map(|graph| Arc::new(map.describe(graph).unwrap()));
    map.instance_with(&left, &right, pairs.as_ref()).unwrap()
}

/// Whether two numbers agree up to rounding, given the size of what was summed.
pub(crate) fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-10 * size.abs().max(1.0)
}

//! Laws of features: the identity that ties problem and joint features together, products against comparisons, squares against
//! their formula, invariance, equivariance, settings files.

#![expect(clippy::unwrap_used, reason = "a panic is the report")]

mod made;

use homolog::Error;
use homolog::features::{Comparison, Descriptor, EdgeKind, FeatureMap, Instance, NodeFeature, ShapeContext};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Constraint, Matching};
use made::{close, feature_map, graph, matching, numbers, permutation, rng, weights};
use ndarray::{Array2, array};
use rand::RngExt;
use std::sync::Arc;

fn instance(map: &FeatureMap, left: &Graph, right: &Graph) -> Instance {
    map.instance(&Arc::new(map.describe(left).unwrap()), &Arc::new(map.describe(right).unwrap())).unwrap()
}

/// <w, Phi(y)>, and the sum of the absolute terms, which is the size that rounding is relative to.
fn dot(weights: &[f64], phi: &[f64]) -> (f64, f64) {
    let terms = || weights.iter().zip(phi).map(|(w, x)| w * x);
    (terms().sum(), terms().map(f64::abs).sum())
}

#[test]
fn score_is_linear_in_the_weights() {
    for seed in 0..400 {
        let rng = &mut rng(seed);
        let map = feature_map(rng);
        let (n, m) = (rng.random_range(0..8), rng.random_range(0..8));
        let x = instance(&map, &graph(rng, n), &graph(rng, m));
        let w = weights(rng, map.dim());
        let problem = x.compatibility(&w).unwrap();
        problem.check().unwrap();
        assert_eq!(problem.edge.is_some(), !map.edge.is_empty());
        assert_eq!(problem.constraint, map.constraint);
        for _ in 0..5 {
            let y = matching(rng, n, m, map.constraint);
            let phi = x.joint_features(&y).unwrap();
            let (expected, size) = dot(&w, &phi);
            let score = problem.score(&y).unwrap();
            assert!(
                close(score, expected, size),
                "seed {seed}: score {score}, <w, Phi> {expected}, size {size}\n{map:?}"
            );
        }
    }
}

#[test]
fn joint_features_add_up_over_nodes_and_edges() {
    // Phi from its definition: every pair of nodes and every pair of edges by itself, through problems with a single unit weight.
    for seed in 0..60 {
        let rng = &mut rng(1000 + seed);
        let map = FeatureMap { unmatched: true, ..feature_map(rng) };
        let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
        let x = instance(&map, &graph(rng, n), &graph(rng, m));
        let y = matching(rng, n, m, map.constraint);
        let phi = x.joint_features(&y).unwrap();
        assert_eq!(phi.len(), map.dim());
        for r in 0..map.dim() {
            let mut unit = vec![0.0; map.dim()];
            unit[r] = 1.0;
            let score = x.compatibility(&unit).unwrap().score(&y).unwrap();
            assert!(close(score, phi[r], phi[r]), "seed {seed}, feature {}", map.names()[r]);
        }
        // add_joint_features is the same, scaled and added.
        let mut sum = phi.clone();
        x.add_joint_features(&y, -0.5, &mut sum).unwrap();
        assert!(sum.iter().zip(&phi).all(|(sum, phi)| close(*sum, 0.5 * phi, *phi)));
    }
}

#[test]
fn products_are_the_comparison() {
    for kind in made::all_edge_kinds().into_iter().chain(EdgeKind::all()) {
        let feature = kind.feature();
        let Some(forms) = feature.bilinear() else { continue };
        let count = feature.names().len();
        assert_eq!(forms.len(), count);
        let rng = &mut rng(7);
        let (left, right) = (graph(rng, 8), graph(rng, 9));
        let (a, b) = (feature.measure(&left).unwrap(), feature.measure(&right).unwrap());
        let mut phi = vec![f64::NAN; count];
        for e in a.rows() {
            for f in b.rows() {
                let (e, f) = (e.to_vec(), f.to_vec());
                feature.compare(&e, &f, &mut phi);
                for (form, phi) in forms.iter().zip(&phi) {
                    let alone: f64 = form.alone.iter().map(|&s| e[s] + f[s]).sum();
                    let products: f64 = form.products.iter().map(|&(s, coefficient)| coefficient * e[s] * f[s]).sum();
                    let size = e.iter().chain(&f).fold(1.0_f64, |size, z| size.max(z.abs())).powi(2);
                    assert!(close(form.constant + alone + products, *phi, size), "{}", kind.name());
                }
            }
        }
    }
}

#[test]
fn every_pair_of_edges_scores_as_compared() {
    // d(e, f) of the problem, factored and listed parts together, against compare() for each pair of edges.
    for seed in 0..40 {
        let rng = &mut rng(2000 + seed);
        let map = FeatureMap { edge_rule: None, ..feature_map(rng) };
        let (left, right) = (graph(rng, 6), graph(rng, 7));
        let w = weights(rng, map.dim());
        let problem = instance(&map, &left, &right).compatibility(&w).unwrap();
        let Some(term) = problem.edge else { continue };
        let nodes: usize = map.node.iter().map(NodeFeature::feature_count).sum();
        for e in 0..left.edges().len() {
            for f in 0..right.edges().len() {
                let (mut expected, mut size, mut at) = (0.0, 0.0_f64, nodes);
                for kind in &map.edge {
                    let feature = kind.feature();
                    let (a, b) = (feature.measure(&left).unwrap(), feature.measure(&right).unwrap());
                    let mut phi = vec![0.0; feature.names().len()];
                    feature.compare(&a.row(e).to_vec(), &b.row(f).to_vec(), &mut phi);
                    expected += dot(&w[at..], &phi).0;
                    size += a.iter().chain(&b).map(|z| z * z).sum::<f64>();
                    at += phi.len();
                }
                assert!(close(term.value(e, f), expected, size), "seed {seed}, edges {e} {f}");
            }
        }
    }
}

#[test]
fn squares_keep_their_digits_far_from_the_origin() {
    // Coordinates as in a map grid: 5 million metres from the origin, centimetres apart.
    let rng = &mut rng(3);
    let (left, right) = (numbers(rng, 6, 2, 0.05, 5e6), numbers(rng, 7, 2, 0.05, 5e6));
    let descriptor = Descriptor::Position(homolog::features::Position::default());
    let node = vec![NodeFeature { descriptor, comparison: Comparison::default() }];
    let map = FeatureMap { node, ..FeatureMap::default() };
    let graphs = [&left, &right].map(|points| Graph::from_points(points.clone()).unwrap());
    let w = [0.7, 1.3];
    let problem = instance(&map, &graphs[0], &graphs[1]).compatibility(&w).unwrap();
    for ((i, k), &score) in problem.node.indexed_iter() {
        let expected: f64 = (0..2).map(|r| -w[r] * (left[[i, r]] - right[[k, r]]).powi(2) / 6.0).sum();
        assert!((score - expected).abs() <= 1e-12 * expected.abs() + 1e-15, "{score} {expected}");
    }
}

#[test]
fn unlearned_scores_of_counts_are_exact_up_to_the_scale() {
    // With unit weights everything but 1/n is an integer: nodes that look alike tie exactly.
    let rng = &mut rng(4);
    let (left, right) = (graph(rng, 20), graph(rng, 20));
    let map = FeatureMap::paper_linear();
    let node = instance(&map, &left, &right).compatibility(&map.unlearned_weights()).unwrap().node;
    let [a, b] = [&left, &right].map(|graph| map.node[0].descriptor.descriptor().describe(graph).unwrap());
    for ((i, k), &score) in node.indexed_iter() {
        let square: f64 = a.row(i).iter().zip(b.row(k)).map(|(a, b)| (a - b).powi(2)).sum();
        assert_eq!(score, (1.0 / 20.0) * -square);
    }
}

#[test]
fn shape_context_ignores_place_and_size_but_not_turns() {
    let describe = |points: Array2<f64>| {
        let graph = Graph::from_points(points).unwrap();
        ShapeContext::default().describe_points(&graph)
    };
    for seed in 0..20 {
        let rng = &mut rng(5000 + seed);
        let points = numbers(rng, 15, 2, 10.0, 0.0);
        let counts = describe(points.clone());
        // Powers of two are exact, so nothing may change, at any magnitude.
        for scale in [0.25, 8.0, 2_f64.powi(600), 2_f64.powi(-600)] {
            assert_eq!(describe(&points * scale), counts);
        }
        // Random points are far from the borders of bins, next to rounding.
        assert_eq!(describe(&points + 3.7), counts);
        assert_eq!(describe(&points * 1.7 - 12.1), counts);
        let turned = points.dot(&array![[0.0, 1.0], [-1.0, 0.0]]);
        assert_ne!(describe(turned), counts);
        assert_ne!(describe(points.dot(&array![[-1.0, 0.0], [0.0, 1.0]])), counts);
        assert_ne!(describe(points.dot(&array![[1.0, 0.0], [0.0, -1.0]])), counts);
    }
}

#[test]
fn a_quarter_turn_turns_the_sectors() {
    // Not invariant, but lawful: 90 degrees are 3 of the 12 sectors.
    let rng = &mut rng(6);
    let points = numbers(rng, 12, 2, 10.0, 0.0);
    let turned = points.dot(&array![[0.0, 1.0], [-1.0, 0.0]]);
    let [before, after] =
        [points, turned].map(|points| ShapeContext::default().describe_points(&Graph::from_points(points).unwrap()));
    for ((i, bin), &count) in before.indexed_iter() {
        let (ring, sector) = (bin / 12, bin % 12);
        assert_eq!(after[[i, 12 * ring + (sector + 3) % 12]], count);
    }
}

#[test]
fn shape_context_counts_every_other_point_within_reach_once() {
    let rng = &mut rng(8);
    let points = numbers(rng, 9, 2, 10.0, 0.0);
    let wide = ShapeContext { angular_bins: 5, radii: vec![0.5, 1e9] };
    let graph = Graph::from_points(points).unwrap().with_context(numbers(rng, 4, 2, 10.0, 0.0)).unwrap();
    let counts = wide.describe_points(&graph);
    assert_eq!(counts.dim(), (9, 10));
    assert!(counts.rows().into_iter().all(|row| row.sum() == 12.0));
    // A context point is seen as a node would be.
    let all = ndarray::concatenate![ndarray::Axis(0), graph.points().unwrap(), graph.context().unwrap()];
    let as_nodes = wide.describe_points(&Graph::from_points(all).unwrap());
    for (i, row) in counts.rows().into_iter().enumerate() {
        assert_eq!(row, as_nodes.row(i));
    }
    // Points that all coincide have no scale; they are all in the innermost ring.
    let same = wide.describe_points(&Graph::from_points(Array2::ones((4, 2))).unwrap());
    assert!(same.rows().into_iter().all(|row| row.sum() == 3.0 && row.iter().take(5).sum::<f64>() == 3.0));
}

#[test]
fn renumbering_the_graphs_renumbers_the_problem() {
    for seed in 0..60 {
        let rng = &mut rng(3000 + seed);
        let map = feature_map(rng);
        let (n, m) = (rng.random_range(1..7), rng.random_range(1..7));
        let (left, right) = (graph(rng, n), graph(rng, m));
        let (p, q) = (permutation(rng, n), permutation(rng, m));
        let w = weights(rng, map.dim());
        let problem = instance(&map, &left, &right).compatibility(&w).unwrap();
        let moved = instance(&map, &left.renumbered(&p).unwrap(), &right.renumbered(&q).unwrap());
        let moved = moved.compatibility(&w).unwrap();
        for ((i, k), &score) in moved.node.indexed_iter() {
            assert!(close(score, problem.node[[p[i], q[k]]], score), "seed {seed}");
        }
        let y = matching(rng, n, m, map.constraint);
        let mut map_back = vec![None; n];
        y.pairs().for_each(|(i, k)| map_back[p[i]] = Some(q[k]));
        let back = Matching::new(map_back, m, map.constraint).unwrap();
        let (here, there) = (moved.score(&y).unwrap(), problem.score(&back).unwrap());
        assert!(close(here, there, 1e3), "seed {seed}: {here} {there}\n{map:?}");
    }
}

#[test]
fn a_problem_can_be_written_over_another() {
    let rng = &mut rng(9);
    let mut reused = Compatibility::linear(Array2::from_elem((3, 3), f64::NAN));
    for _ in 0..30 {
        let map = feature_map(rng);
        let n = rng.random_range(2..5);
        let x = instance(&map, &graph(rng, n), &graph(rng, 3));
        let w = weights(rng, map.dim());
        x.compatibility_into(&w, &mut reused).unwrap();
        assert_eq!(reused, x.compatibility(&w).unwrap());
    }
}

#[test]
fn feature_maps_survive_a_settings_file() {
    for seed in 0..100 {
        let map = feature_map(&mut rng(4000 + seed));
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<FeatureMap>(&text).unwrap(), map, "{text}");
        let names = map.names();
        assert_eq!(names.len(), map.dim());
        assert_eq!(map.unlearned_weights(), vec![1.0; map.dim()]);
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{names:?}");
    }
    for (descriptor, name) in Descriptor::all().iter().map(|d| (serde_json::to_value(d).unwrap(), d.name())) {
        assert_eq!(descriptor["name"], name);
    }
    for (kind, name) in EdgeKind::all().iter().map(|k| (serde_json::to_value(k).unwrap(), k.name())) {
        assert_eq!(kind["name"], name);
    }
    // What a person writes: only what differs from the defaults.
    let short = r#"{"node":[{"descriptor":{"name":"shape-context"}}],"edge_rule":{"name":"delaunay"},"edge":[{"name":"adjacency"}]}"#;
    assert_eq!(serde_json::from_str::<FeatureMap>(short).unwrap(), FeatureMap::paper_quadratic());
    for wrong in [
        r#"{"nodes":[]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","bins":3}}]}"#,
        r#"{"node":[{"descriptor":{"name":"no such"}}]}"#,
        r#"{"edge":[{"name":"adjacency","x":1}]}"#,
        r#"{"edge":[{"name":"lengths","difference":{"name":"decay","width":1,"x":2}}]}"#,
        r#"{"edge_rule":{"name":"within"}}"#,
    ] {
        assert!(serde_json::from_str::<FeatureMap>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn weights_have_names_in_their_order() {
    let mut map = FeatureMap { unmatched: true, ..FeatureMap::paper_quadratic() };
    let names = map.names();
    assert_eq!(names.len(), 62);
    assert_eq!(
        [&names[0], &names[13], &names[60], &names[61]],
        ["shape-context r0 a0", "shape-context r1 a1", "adjacency", "unmatched"]
    );
    map.node.push(map.node[0].clone());
    assert_eq!(map.names()[60], "shape-context r0 a0 #2");
}

#[test]
fn mistakes_are_named() {
    let bare = Graph::new(3);
    let space = Graph::from_points(Array2::zeros((3, 3))).unwrap();
    let plane = Graph::from_points(array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap();
    let map = FeatureMap::paper_linear();
    let missing = Error::Missing { what: "points", needed_by: "shape context" };
    assert_eq!(map.describe(&bare).unwrap_err(), missing);
    let what = "coordinates of a point, for shape context";
    assert_eq!(map.describe(&space).unwrap_err(), Error::Size { what, expected: 2, found: 3 });
    let attributes: FeatureMap =
        serde_json::from_str(r#"{"node":[{"descriptor":{"name":"attributes","columns":["size"]}}]}"#).unwrap();
    assert!(matches!(attributes.describe(&plane).unwrap_err(), Error::Missing { .. }));
    let with = plane.clone().with_node_attributes(homolog::graph::Attributes::numbered(Array2::zeros((3, 1))).unwrap());
    let unknown = Error::NoAttribute { what: "node attribute", name: "size".to_string() };
    assert_eq!(attributes.describe(&with.unwrap()).unwrap_err(), unknown);

    let described = Arc::new(map.describe(&plane).unwrap());
    let other = FeatureMap::paper_quadratic();
    assert_eq!(other.instance(&described, &described).unwrap_err(), Error::OtherFeatures { side: "left" });
    let x = map.instance(&described, &described).unwrap();
    assert!(matches!(x.compatibility(&[1.0]).unwrap_err(), Error::Size { what: "weights", expected: 60, found: 1 }));
    let mut w = map.unlearned_weights();
    w[7] = f64::NAN;
    assert!(matches!(x.compatibility(&w).unwrap_err(), Error::BadEntry { what: "weights", index: 7, .. }));
    let small = Matching::empty(2, 3);
    assert!(matches!(x.joint_features(&small).unwrap_err(), Error::Size { expected: 3, found: 2, .. }));

    for wrong in [
        r#"{"node":[{"descriptor":{"name":"shape-context","angular_bins":0}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","angular_bins":99999999999}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","radii":[]}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","radii":[1,1]}}]}"#,
        r#"{"node":[{"descriptor":{"name":"position","dimension":4}}]}"#,
        r#"{"node":[{"descriptor":{"name":"attributes"}}]}"#,
        r#"{"node":[{"descriptor":{"name":"position"},"comparison":{"name":"decay","width":0}}]}"#,
        r#"{"edge":[{"name":"directions","dimension":1}]}"#,
        r#"{"edge":[{"name":"attributes"}]}"#,
        r#"{"edge":[{"name":"lengths","difference":{"name":"decay","width":-1}}]}"#,
        r#"{"edge_rule":{"name":"within","radius":-1}}"#,
    ] {
        let map: FeatureMap = serde_json::from_str(wrong).unwrap();
        assert!(matches!(map.describe(&plane).unwrap_err(), Error::BadSetting { .. }), "{wrong}");
    }
}

#[test]
fn an_unmatched_price_is_a_weight() {
    let rng = &mut rng(10);
    let map = FeatureMap { unmatched: true, ..FeatureMap::paper_linear() };
    let x = instance(&map, &graph(rng, 4), &graph(rng, 5));
    let mut w = map.unlearned_weights();
    w[60] = 2.5;
    assert_eq!(x.compatibility(&w).unwrap().unmatched.unwrap(), array![-2.5, -2.5, -2.5, -2.5]);
    let y = Matching::new(vec![None, Some(1), None, None], 5, Constraint::OneToOne).unwrap();
    assert_eq!(x.joint_features(&y).unwrap()[60], -3.0);
}

/// The shape contexts of a graph's points.
trait DescribePoints {
    fn describe_points(&self, graph: &Graph) -> Array2<f64>;
}

impl DescribePoints for ShapeContext {
    fn describe_points(&self, graph: &Graph) -> Array2<f64> {
        homolog::features::NodeDescriptor::describe(self, graph).unwrap()
    }
}

//! Laws of features: the identity that relates problem and joint features, products against comparisons, squares against
//! their formula, equivariance.

use crate::made;

use homolog::features::{Comparison, Descriptor, EdgeAttributes, EdgeKind, FeatureMap, NodeFeature, Position};
use homolog::graph::{Attributes, Direction, Graph};
use homolog::matching::{Compatibility, Constraint, Matching};
use made::{close, feature_map, graph, instance, matching, numbers, permutation, rng, weights};
use ndarray::Array2;
use rand::RngExt;

/// <w, Phi(y)>, and the sum of the absolute terms, to which rounding is relative.
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
    // Phi from its definition: every pair of nodes and every pair of edges separately, through problems with a single unit weight.
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
        let nodes = map.node.iter().map(NodeFeature::feature_count).sum::<usize>() + map.pair.len();
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
    let descriptor = Descriptor::Position(Position::default());
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
fn renumbering_the_graphs_renumbers_the_problem() {
    for seed in 0..60 {
        let rng = &mut rng(3000 + seed);
        // Features of pairs are given by number, and would have to be renumbered by the caller.
        let map = FeatureMap { pair: vec![], ..feature_map(rng) };
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
fn points_in_space_work_where_no_plane_is_needed() {
    let map: FeatureMap = serde_json::from_str(
        r#"{"node":[{"descriptor":{"name":"position","dimension":3}}],"edge_rule":{"name":"nearest","count":3},
            "edge":[{"name":"adjacency"},{"name":"lengths"},{"name":"directions","dimension":3}]}"#,
    )
    .unwrap();
    let rng = &mut rng(11);
    let [left, right] = [7, 8].map(|n| Graph::from_points(numbers(rng, n, 3, 10.0, 0.0)).unwrap());
    let x = instance(&map, &left, &right);
    let (w, y) = (weights(rng, 6), matching(rng, 7, 8, Constraint::OneToOne));
    let (expected, size) = dot(&w, &x.joint_features(&y).unwrap());
    assert!(close(x.compatibility(&w).unwrap().score(&y).unwrap(), expected, size));
}

#[test]
fn graphs_without_points_are_matched_by_what_they_have() {
    // Koopmans and Beckmann: Σ a_ij b_kl over matched pairs, from edge attributes alone.
    let map: FeatureMap =
        serde_json::from_str(r#"{"node":[],"edge":[{"name":"attributes","columns":["0"],"difference":"product"}]}"#)
            .unwrap();
    let rng = &mut rng(12);
    let flows = [0, 1].map(|_| numbers(rng, 5, 5, 1.0, 0.0));
    let [left, right] = [&flows[0], &flows[1]].map(|flow| {
        let ends: Vec<[usize; 2]> = (0..25).map(|at| [at / 5, at % 5]).filter(|[i, j]| i != j).collect();
        let values = Array2::from_shape_fn((20, 1), |(e, _)| flow[ends[e]]);
        let values = Attributes::numbered(values).unwrap();
        Graph::new(5).with_attributed_edges(ends, &values, Direction::Directed).unwrap()
    });
    let y = Matching::new(permutation(rng, 5).into_iter().map(Some).collect(), 5, Constraint::OneToOne).unwrap();
    let mut expected = 0.0;
    for (i, k) in y.pairs() {
        expected += y.pairs().filter(|&(j, _)| j != i).map(|(j, l)| flows[0][[i, j]] * flows[1][[k, l]]).sum::<f64>();
    }
    let problem = instance(&map, &left, &right).compatibility(&[1.0]).unwrap();
    assert!(close(problem.score(&y).unwrap(), expected, 1.0));
    assert_eq!(problem.edge.unwrap().left_factors().ncols(), 1);
}

#[test]
fn features_that_factor_share_their_lone_terms() {
    // Adjacency and three squared differences: two shared factors and one for each product; cosines add two.
    let squares = EdgeKind::Attributes(EdgeAttributes {
        columns: vec!["0".to_string(), "strength".to_string()],
        ..Default::default()
    });
    let rest = EdgeKind::all().into_iter().take(3);
    let map = FeatureMap { edge: rest.chain([squares]).collect(), ..FeatureMap::paper_linear() };
    let rng = &mut rng(13);
    let x = instance(&map, &graph(rng, 5), &graph(rng, 6));
    let term = x.compatibility(&weights(rng, map.dim())).unwrap().edge.unwrap();
    assert_eq!(term.left_factors().ncols(), 2 + 1 + 2 + 2);
    assert!((0..term.left_edges().len()).all(|e| term.listed_of(e).is_empty()));
}

/// A name that occurs 20,000 times took 94 seconds when every repetition counted from 1.
#[test]
fn names_that_repeat_are_numbered_in_linear_time() {
    let mut map = homolog::features::FeatureMap::paper_linear();
    let kind = homolog::features::EdgeKind::Adjacency(homolog::features::Adjacency {});
    map.edge = vec![kind; 20_000];
    let names = map.names();
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    assert!(names.last().unwrap().ends_with("#20000"), "{:?}", names.last());
}

/// Refused before the graphs are described, which would fail: they have no points.
#[test]
fn graphs_too_large_for_the_matcher_are_refused_before_any_work() {
    use homolog::matching::{Exact, FrankWolfe, Method};
    for method in [Method::Exact(Exact::default()), Method::FrankWolfe(FrankWolfe::default())] {
        let model = homolog::model::Model::unlearned(homolog::features::FeatureMap::paper_quadratic(), method).unwrap();
        let graph = || std::sync::Arc::new(homolog::graph::Graph::new(12_000));
        let error = model
            .problem(&homolog::graph::Pair::new(graph(), graph()), &mut homolog::matching::Workspace::new())
            .unwrap_err();
        assert!(matches!(error, homolog::Error::TooLarge { limit: 134_217_728, found: 144_000_000, .. }), "{error}");
    }
}

/// Refused before any memory is allocated for the scores.
#[test]
fn graphs_too_large_to_score_are_refused() {
    let map = homolog::features::FeatureMap { node: vec![], ..homolog::features::FeatureMap::paper_linear() };
    let described = std::sync::Arc::new(map.describe(&homolog::graph::Graph::new(25_000)).unwrap());
    let error = map.instance(&described, &described).unwrap_err();
    assert_eq!(error.to_string(), "pairs of a left and a right node: 625000000 is more than the 134217728 it can take");
}

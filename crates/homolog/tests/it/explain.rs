//! Explanations against their definition: margins by brute force, contributions that add up, shares that add up.

use crate::common;

use common::rng;
use homolog::Control;
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::matching::{BruteForce, Exact, FrankWolfe, Linear, Matcher, Method, Workspace};
use homolog::model::Model;
use ndarray::Array2;
use rand::RngExt;
use std::sync::Arc;

fn pair(left: usize, right: usize, seed: u64) -> Pair {
    let mut rng = rng(seed);
    let mut graph = |count| {
        let points = Array2::from_shape_simple_fn((count, 2), || rng.random_range(0.0..100.0));
        Arc::new(Graph::from_points(points).unwrap())
    };
    Pair::new(graph(left), graph(right))
}

fn models() -> Vec<Model> {
    let unmatched = FeatureMap { unmatched: true, ..FeatureMap::paper_quadratic() };
    vec![
        Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default())).unwrap(),
        Model::unlearned(FeatureMap::paper_quadratic(), Method::Exact(Exact::default())).unwrap(),
        Model::unlearned(unmatched, Method::Exact(Exact::default())).unwrap(),
    ]
}

#[test]
fn margins_are_what_brute_force_says_and_features_add_up_to_them() {
    for (number, model) in models().into_iter().enumerate() {
        for (seed, (left, right)) in [(5, 5), (4, 6), (6, 4), (2, 2)].into_iter().enumerate() {
            let pair = pair(left, right, (10 * number + seed) as u64);
            let problem = model.problem(&pair, &mut Workspace::new()).unwrap();
            let explanation = model.explain(&pair, &Control::new()).unwrap();
            let best = BruteForce::default().solve(&problem).unwrap();
            assert!((explanation.solution.score - best.score).abs() < 1e-9);
            assert_eq!(explanation.matches.len(), explanation.solution.matching.matched_count());
            for reasons in &explanation.matches {
                assert_eq!(explanation.solution.matching.right_of(reasons.left), Some(reasons.right));
                let mut without = problem.clone();
                without.node[[reasons.left, reasons.right]] = f64::NEG_INFINITY;
                let second = BruteForce::default().solve(&without).unwrap();
                let alternative = reasons.alternative.as_ref().unwrap();
                assert!(alternative.proven);
                assert!((alternative.margin - (best.score - second.score)).abs() < 1e-9);
                assert!((alternative.contributions.iter().sum::<f64>() - alternative.margin).abs() < 1e-9);
                assert_ne!(alternative.right, Some(reasons.right));
            }
        }
    }
}

#[test]
fn shares_add_up_to_the_score() {
    for (number, model) in models().into_iter().enumerate() {
        let pair = pair(7, 6, number as u64);
        let problem = model.problem(&pair, &mut Workspace::new()).unwrap();
        let solution = model.solve(&pair).unwrap();
        let total: f64 = problem.shares(&solution.matching).unwrap().iter().sum();
        assert!((total - solution.score).abs() < 1e-9);
    }
}

#[test]
fn a_pair_without_which_nothing_is_left_has_no_alternative() {
    let model = &models()[0];
    let explanation = model.explain(&pair(1, 1, 1), &Control::new()).unwrap();
    assert_eq!(explanation.matches[0].alternative, None);
}

#[test]
fn a_search_that_proves_nothing_says_so() {
    let model = Model::unlearned(FeatureMap::paper_quadratic(), Method::FrankWolfe(FrankWolfe::default())).unwrap();
    let explanation = model.explain(&pair(6, 6, 3), &Control::new()).unwrap();
    assert!(explanation.matches.iter().all(|reasons| !reasons.alternative.as_ref().unwrap().proven));
}

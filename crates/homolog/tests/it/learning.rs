//! The learner's laws: the risk against its definition, the paper's lemma, the same bytes on any number of threads and after an
//! interruption, importance, rules for weights, and model files.

use crate::common;

use common::rng;
use homolog::features::{Descriptor, FeatureMap, NodeAttributes, NodeFeature};
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{Example, Fit, MaxMargin, Trainer, Training, TrainingSet, evaluate};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::{BruteForce, FrankWolfe, Linear, Matcher, Matching, Method};
use homolog::model::{Model, TrainingRecord};
use homolog::optimize::{Bundle, StopReason, WeightRule};
use homolog::{Control, Error};
use ndarray::Array2;
use rand::RngExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const DIM: usize = 4;

/// Graphs whose nodes have four numbers, of which only the first two survive from left to right.
fn examples(count: usize, nodes: usize, edges: bool, seed: u64) -> Vec<Example> {
    let mut rng = rng(seed);
    let names: Vec<String> = (0..DIM).map(|number| number.to_string()).collect();
    let descriptor = Descriptor::Attributes(NodeAttributes { columns: names.clone() });
    let node = vec![NodeFeature { descriptor, comparison: homolog::features::Comparison::default() }];
    let plain = FeatureMap { node: node.clone(), ..FeatureMap::paper_linear() };
    let map = if edges { FeatureMap { node, ..FeatureMap::paper_quadratic() } } else { plain };
    (0..count)
        .map(|number| {
            let left = Array2::from_shape_simple_fn((nodes, DIM), || rng.random_range(-1.0..1.0));
            let mut right = left.clone();
            for mut row in right.rows_mut() {
                for (column, value) in row.iter_mut().enumerate() {
                    *value += rng.random_range(-1.0..1.0) * if column < 2 { 0.3 } else { 2.0 };
                }
            }
            let mut graph = |values: Array2<f64>| {
                let points = Array2::from_shape_simple_fn((nodes, 2), || rng.random_range(0.0..1.0));
                let attributes = Attributes::new(names.clone(), values).unwrap();
                Arc::new(Graph::from_points(points).unwrap().with_node_attributes(attributes).unwrap())
            };
            let pair = Pair::new(graph(left), graph(right));
            let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
            let instance = map.instance(&left, &right).unwrap();
            Example::new(instance, &pair, Matching::identity(nodes), &Hamming::default(), number as u64).unwrap()
        })
        .collect()
}

fn go_on() -> Control {
    Control::new()
}

/// Stops after this many steps.
fn stop_after(steps: usize) -> Control {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    Control::new()
        .observed_by(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .interrupted_by(move || seen.load(Ordering::SeqCst) >= steps)
}

fn learner(lambda: f64) -> MaxMargin {
    MaxMargin { bundle: Bundle { lambda, ..Bundle::default() }, ..MaxMargin::default() }
}

/// The risk by its definition, over all matchings.
fn risk_by_hand(examples: &[Example], weights: &[f64]) -> f64 {
    let slack = |example: &Example| {
        let mut problem = example.instance().compatibility(weights).unwrap();
        let nodes = example.truth().left_count();
        for k in 0..nodes {
            problem.node[[k, k]] -= 1.0 / nodes as f64;
        }
        let best = BruteForce::default().solve(&problem).unwrap().score;
        let features = example.instance().joint_features(example.truth()).unwrap();
        1.0 + best - features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum::<f64>()
    };
    examples.iter().map(slack).sum::<f64>() / examples.len() as f64
}

#[test]
fn the_objective_is_what_it_says_and_the_lemma_holds() {
    for edges in [false, true] {
        let examples = examples(6, 5, edges, 1);
        let matcher: &dyn Matcher = if edges { &BruteForce { max_matchings: 10_000_000 } } else { &Linear::default() };
        for lambda in [1.0, 0.05, 0.002] {
            let fit = learner(lambda).fit(&examples, matcher, &go_on()).unwrap();
            assert!(fit.certified && fit.minimum.stop == StopReason::Converged, "{}", fit.note());
            let risk = risk_by_hand(&examples, &fit.minimum.weights);
            assert!((fit.minimum.risk - risk).abs() < 1e-9, "{} is not {risk}", fit.minimum.risk);
            let square: f64 = fit.minimum.weights.iter().map(|weight| weight * weight).sum();
            assert!((fit.minimum.objective - risk - 0.5 * lambda * square).abs() < 1e-9);
            let loss = evaluate(&examples, matcher, &fit.minimum.weights, &go_on()).unwrap().mean();
            assert!(
                loss <= fit.minimum.risk + 1e-9,
                "the mean slack {} is below the mean loss {loss}",
                fit.minimum.risk
            );
            // No other weights beat the bound.
            let mut rng = rng(2);
            for _ in 0..20 {
                let other: Vec<f64> =
                    fit.minimum.weights.iter().map(|weight| weight + rng.random_range(-0.5..0.5)).collect();
                let square: f64 = other.iter().map(|weight| weight * weight).sum();
                assert!(risk_by_hand(&examples, &other) + 0.5 * lambda * square >= fit.minimum.bound - 1e-9);
            }
        }
    }
}

#[test]
fn learning_finds_the_coordinates_that_matter() {
    let (train, test) = (examples(30, 12, false, 3), examples(30, 12, false, 4));
    let matcher = Linear::default();
    let fit = learner(0.01).fit(&train, &matcher, &go_on()).unwrap();
    let learned = evaluate(&test, &matcher, &fit.minimum.weights, &go_on()).unwrap().mean();
    let unlearned = evaluate(&test, &matcher, &[1.0; DIM], &go_on()).unwrap().mean();
    assert!(learned < 0.7 * unlearned, "{learned} after, {unlearned} before");
    assert!(
        fit.minimum.weights[0].min(fit.minimum.weights[1])
            > 3.0 * fit.minimum.weights[2].abs().max(fit.minimum.weights[3].abs()),
        "{:?}",
        fit.minimum.weights
    );
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads: usize, edges: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let examples = examples(40, 6, edges, 5);
            let heuristic = FrankWolfe { starts: 2, ..FrankWolfe::default() };
            let matcher: &dyn Matcher = if edges { &heuristic } else { &Linear::default() };
            let fits = learner(0.1).fit_path(&[0.1, 0.01], &examples, matcher, &go_on()).unwrap();
            serde_json::to_string(&fits).unwrap()
        })
    };
    for edges in [false, true] {
        let one = run(1, edges);
        assert_eq!(one, run(2, edges));
        assert_eq!(one, run(8, edges));
    }
}

#[test]
fn a_run_that_is_written_down_and_resumed_gives_the_same_bytes() {
    for edges in [false, true] {
        let examples = examples(10, 6, edges, 6);
        let heuristic = FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() };
        let matcher: &dyn Matcher = if edges { &heuristic } else { &Linear::default() };
        let lambdas = [1.0, 0.1, 0.01];
        let learner = learner(1.0);
        let whole = learner.fit_path(&lambdas, &examples, matcher, &go_on()).unwrap();
        let steps: usize = whole.iter().map(|fit| fit.minimum.history.len()).sum();
        for stop in 1..steps.min(12) {
            let mut training = learner.start(&examples, None).unwrap();
            let mut fits: Vec<Fit> = Vec::new();
            // Stopped, written, read and resumed repeatedly.
            while fits.len() < lambdas.len() {
                let lambda = lambdas[fits.len()];
                let fit = learner.advance(&mut training, lambda, &examples, matcher, &stop_after(stop)).unwrap();
                if fit.minimum.stop != StopReason::Interrupted {
                    fits.push(fit);
                }
                let text = serde_json::to_string(&training).unwrap();
                training = serde_json::from_str::<Training>(&text).unwrap();
            }
            assert_eq!(serde_json::to_string(&fits).unwrap(), serde_json::to_string(&whole).unwrap());
        }
    }
}

#[test]
fn a_stopped_run_keeps_the_best_so_far_and_says_so() {
    let examples = examples(10, 8, false, 7);
    let fit = learner(1e-3).fit(&examples, &Linear::default(), &stop_after(3)).unwrap();
    assert_eq!((fit.minimum.stop, fit.minimum.history.len()), (StopReason::Interrupted, 3));
    assert!(fit.minimum.bound <= fit.minimum.objective && fit.note().contains("stopped"), "{}", fit.note());
}

#[test]
fn a_lambda_far_too_small_still_moves_away_from_zero() {
    let examples = examples(20, 10, false, 8);
    let mut learner = learner(1e-12);
    learner.bundle.max_iterations = 5;
    let fit = learner.fit(&examples, &Linear::default(), &go_on()).unwrap();
    assert_eq!(fit.minimum.stop, StopReason::IterationLimit);
    assert!(
        fit.minimum.weights.iter().any(|&weight| weight != 0.0)
            && fit.minimum.weights.iter().all(|weight| weight.is_finite())
    );
    assert!(fit.note().contains("did not converge"), "{}", fit.note());
}

#[test]
fn an_importance_of_two_is_worth_two_examples() {
    let single = examples(4, 6, false, 9);
    let doubled: Vec<Example> = single.iter().cloned().chain([single[1].clone()]).collect();
    let mut weighted = single;
    weighted[1] = weighted[1].clone().with_importance(2.0).unwrap();
    let fit = |examples: &[Example]| {
        let mut learner = learner(0.05);
        learner.bundle.gap_tolerance = 1e-9;
        learner.fit(examples, &Linear::default(), &go_on()).unwrap()
    };
    let (a, b) = (fit(&weighted), fit(&doubled));
    assert!(
        (a.minimum.objective - b.minimum.objective).abs() < 1e-7,
        "{} and {}",
        a.minimum.objective,
        b.minimum.objective
    );
    assert!(matches!(weighted[0].clone().with_importance(-1.0), Err(Error::BadSetting { name: "importance", .. })));
}

#[test]
fn weights_are_held_where_they_are_told() {
    let examples = examples(10, 8, false, 10);
    let free = learner(0.01).fit(&examples, &Linear::default(), &go_on()).unwrap();
    let rules = vec![WeightRule::Fixed(0.5), WeightRule::Free, WeightRule::NonNegative, WeightRule::NonNegative];
    let held = MaxMargin { rules, ..learner(0.01) }.fit(&examples, &Linear::default(), &go_on()).unwrap();
    assert_eq!(held.minimum.weights[0], 0.5);
    assert!(held.minimum.weights[2] >= 0.0 && held.minimum.weights[3] >= 0.0);
    assert!(held.certified && held.minimum.objective >= free.minimum.bound);
}

#[test]
fn a_warm_start_ends_where_a_cold_one_does() {
    let examples = examples(10, 8, false, 11);
    let learner = learner(0.01);
    let matcher = Linear::default();
    let cold = learner.fit(&examples, &matcher, &go_on()).unwrap();
    let mut training = learner.start(&examples, Some(&cold.minimum.weights)).unwrap();
    let warm = learner.advance(&mut training, 0.01, &examples, &matcher, &go_on()).unwrap();
    assert!((warm.minimum.objective - cold.minimum.objective).abs() <= 1e-3 * cold.minimum.objective);
    assert!(warm.minimum.history[0].objective <= cold.minimum.history[0].objective);
}

#[test]
fn with_a_heuristic_search_the_fit_says_that_the_gap_is_no_proof() {
    let examples = examples(5, 6, true, 12);
    let heuristic = FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() };
    let fit = learner(0.1).fit(&examples, &heuristic, &go_on()).unwrap();
    assert!(!fit.certified && fit.note().contains("not a proof"), "{}", fit.note());
    assert!(fit.minimum.risk >= 0.0 && fit.minimum.history.iter().all(|step| step.objective >= 0.0));
}

#[test]
fn nothing_to_learn_from_is_an_error() {
    assert_eq!(learner(1.0).fit(&[], &Linear::default(), &go_on()), Err(Error::NoExamples));
}

#[test]
fn a_model_file_comes_back_bit_for_bit_and_refuses_what_it_does_not_know() {
    let set = TrainingSet::of_examples(FeatureMap::paper_linear(), examples(5, 6, false, 15), Vec::new());
    let trained = Trainer::paper().train(&TrainingSet { unlearned: vec![1.0; DIM], ..set }, &go_on()).unwrap();
    let mut weights = vec![0.1 + 0.2; 60];
    weights[..4].copy_from_slice(trained.weights());
    weights[59] = f64::MIN_POSITIVE;
    let record = TrainingRecord::new(&trained, LossKind::default());
    let model =
        Model::new(FeatureMap::paper_linear(), Method::Linear(Linear::default()), &weights, Some(record)).unwrap();
    let text = model.to_json().unwrap();
    let back = Model::from_json(&text).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.to_json().unwrap(), text);
    let bits = |weights: &[f64]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back.weights()), bits(&weights));

    let refuse = |text: &str, word: &str| {
        let error = Model::from_json(text).unwrap_err().to_string();
        assert!(error.contains(word), "{error:?} does not say {word:?}");
    };
    refuse(&text.replacen("\"version\": 1", "\"version\": 99", 1), "format version 99");
    refuse(&text.replace("homolog-model", "homolog-data"), "homolog-data");
    refuse(&text.replacen("\"features\"", "\"feature\"", 1), "feature");
    refuse(&text[..text.len() / 2], "line");
    refuse("", "line 1");
    refuse(&text.replacen("shape-context r0 a0", "shape-context x", 1), "\"shape-context x\"");
    refuse(&text.replacen("0.30000000000000004", "1e999", 1), "number out of range");
    for cut in (0..text.len()).step_by(97) {
        assert!(Model::from_json(&text[..cut]).is_err());
    }
}

//! Features of pairs: the identity of score and joint features over lists with forbidden pairs, units and directions measured on labelled pairs,
//! learning, explanations, model files and data sets.

use crate::made;

use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::features::{FeatureMap, Scale};
use homolog::graph::{Graph, Pair, PairFeatures};
use homolog::learn::{LabelledPairs, Trainer, TrainingSet};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::{Constraint, Linear, Matching, Method};
use homolog::model::Model;
use homolog::task::{Settings, Task};
use homolog::{Control, Error};
use made::{close, matching, rng, weights};
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Frames of a tracker: a small distance and a large likeness mean the same thing, `noise` means nothing; some are not seen again. Distances are in
/// an unusual unit, and pairs that are far apart are not listed.
fn frames(rng: &mut ChaCha8Rng, noises: usize) -> (Pair, Matching) {
    let (n, m) = (rng.random_range(4..9), rng.random_range(4..9));
    let truth = matching(rng, n, m, Constraint::OneToOne);
    let (mut list, mut rows) = (Vec::new(), Vec::new());
    for i in 0..n {
        for k in 0..m {
            let is_true = truth.right_of(i) == Some(k);
            if !is_true && rng.random_bool(0.3) {
                continue;
            }
            let (distance, likeness) = if is_true { (0.2, 0.8) } else { (0.6, 0.3) };
            list.push([i, k]);
            rows.push(1000.0 * (distance + rng.random_range(-0.25..0.25)));
            rows.push(likeness + rng.random_range(-0.3..0.3));
            rows.extend((0..noises).map(|_| rng.random_range(0.0..1.0)));
        }
    }
    let mut all = names(&["distance", "likeness"]);
    all.extend((0..noises).map(|at| format!("noise {at}")));
    let rows = Array2::from_shape_vec((list.len(), all.len()), rows).unwrap();
    let features = PairFeatures::of_list(all, (n, m), &list, rows.view()).unwrap();
    let pair = Pair::new(Arc::new(Graph::new(n)), Arc::new(Graph::new(m)));
    (pair.with_features(Arc::new(features)).unwrap(), truth)
}

fn labelled(seed: u64, count: usize, noises: usize) -> LabelledPairs {
    let (rng, mut pairs) = (&mut rng(seed), LabelledPairs::new());
    for _ in 0..count {
        let (pair, truth) = frames(rng, noises);
        pairs.add_partly(&pair, truth, &[]).unwrap();
    }
    pairs
}

fn features(pairs: &LabelledPairs) -> FeatureMap {
    let map = homolog::features::FeatureSet::suited_for(&pairs.common().unwrap()).unwrap();
    FeatureMap { unmatched: true, ..map.features_for(&pairs.common().unwrap()).unwrap() }
}

fn trainer() -> Trainer {
    Trainer { loss: LossKind::Hamming(Hamming { unmatched_is_label: true }), ..Trainer::default() }
}

/// The share of left nodes that are wrong.
fn error(model: &Model, pairs: &LabelledPairs) -> f64 {
    let (mut wrong, mut all) = (0, 0);
    for (pair, truth, _) in pairs.iter() {
        let found = model.solve(&pair).unwrap().matching;
        pair.features.as_ref().unwrap().check_matching(&found).unwrap();
        wrong += (0..truth.left_count()).filter(|&i| found.right_of(i) != truth.right_of(i)).count();
        all += truth.left_count();
    }
    wrong as f64 / all as f64
}

#[test]
fn score_is_linear_in_the_weights_and_what_is_not_listed_is_forbidden() {
    for seed in 0..60 {
        let rng = &mut rng(seed);
        let pairs = labelled(100 + seed, 5, 1);
        let set = TrainingSet::new(&features(&pairs), &trainer().loss, &pairs, &LabelledPairs::new()).unwrap();
        assert_eq!(set.features.names(), ["distance", "likeness", "noise 0", "unmatched"]);
        for example in &set.training {
            let (x, truth) = (example.instance(), example.truth());
            let w = weights(rng, x.dim());
            let problem = x.compatibility(&w).unwrap();
            let listed = x.pair_features().unwrap();
            for ((i, k), &score) in problem.node.indexed_iter() {
                assert_eq!(score == f64::NEG_INFINITY, !listed.allows(i, k));
            }
            let dot = |y: &Matching| x.joint_features(y).unwrap().iter().zip(&w).map(|(phi, w)| phi * w).sum::<f64>();
            assert!(close(problem.score(truth).unwrap(), dot(truth), 10.0));
            let part: Vec<usize> = (0..truth.left_count()).rev().step_by(2).collect();
            let (restricted, map) = (x.with_left_nodes(&part).unwrap(), part.iter().map(|&i| truth.right_of(i)));
            let y = Matching::new(map.collect(), truth.right_count(), Constraint::OneToOne).unwrap();
            let phi = restricted.joint_features(&y).unwrap().iter().zip(&w).map(|(phi, w)| phi * w).sum::<f64>();
            assert!(close(restricted.compatibility(&w).unwrap().score(&y).unwrap(), phi, 10.0));
        }
    }
}

#[test]
fn units_and_directions_come_from_the_labelled_pairs() {
    let pairs = labelled(7, 40, 0);
    let set = TrainingSet::new(&features(&pairs), &trainer().loss, &pairs, &LabelledPairs::new()).unwrap();
    let Scale::Measured(spreads) = &set.features.scale else { panic!("they are measured") };
    let by_hand = |name: usize| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (pair, ..) in pairs.iter() {
            let listed = pair.features.unwrap();
            let values = listed.values().column(name).to_vec();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            sum += values.iter().map(|x| (x - mean).abs()).sum::<f64>();
            count += values.len() as f64;
        }
        sum / count
    };
    assert!(close(spreads[0].spread, by_hand(0), 1e3) && close(spreads[1].spread, by_hand(1), 1.0));
    // Distances of true pairs are smaller than others, likenesses larger.
    assert!(spreads[0].apart > 200.0 && spreads[1].apart < -0.2);
    for (name, spread) in spreads.iter().enumerate() {
        let (mut sum, mut count) = (0.0, 0.0);
        for (pair, truth, _) in pairs.iter() {
            let listed = pair.features.unwrap();
            sum += truth.pairs().map(|(i, k)| listed.row(i, k).unwrap()[name]).sum::<f64>();
            count += truth.matched_count() as f64;
        }
        assert!(close(spread.origin, sum / count, 1e3), "{} {}", spread.origin, sum / count);
    }
    // So weights of 1 are right about both before anything is learned, and so is the price.
    assert!(set.unlearned[..2].iter().all(|&weight| weight == 1.0) && set.unlearned[2] > 0.5);
    let model = Model::unlearned(set.features.clone(), Method::Linear(Linear::default())).unwrap();
    assert!(error(&model, &pairs) < 0.15);
}

#[test]
fn learning_helps_and_features_that_tell_nothing_do_no_harm() {
    let measured: Vec<[f64; 2]> = (0..3)
        .map(|seed| {
            [0, 6].map(|noises| {
                let (train, test) = (labelled(seed, 120, noises), labelled(1000 + seed, 300, noises));
                let model = Model::fit(&features(&train), &train, &trainer()).unwrap();
                let json = model.to_json().unwrap();
                assert_eq!(Model::from_json(&json).unwrap(), model);
                error(&model, &test)
            })
        })
        .collect();
    let mean = |at: usize| measured.iter().map(|errors| errors[at]).sum::<f64>() / measured.len() as f64;
    assert!(mean(0) < 0.06, "{measured:?}");
    assert!(mean(1) - mean(0) < 0.01, "{measured:?}");
}

#[test]
fn contributions_of_the_features_add_up_to_the_margin() {
    let pairs = labelled(3, 30, 0);
    let model = Model::fit(&features(&pairs), &pairs, &trainer()).unwrap();
    for (pair, ..) in pairs.iter().take(5) {
        for reasons in model.explain(&pair, &Control::new()).unwrap().matches {
            let other = reasons.alternative.unwrap();
            assert!(close(other.contributions.iter().sum(), other.margin, 100.0));
        }
    }
}

#[test]
fn a_data_set_with_features_of_pairs_is_learned_from_as_it_is_read() {
    let (mut graphs, mut list) = (Vec::new(), Vec::new());
    for (number, (pair, truth, _)) in labelled(11, 30, 0).iter().enumerate() {
        for (side, graph) in [("left", &pair.left), ("right", &pair.right)] {
            graphs.push(NamedGraph { id: format!("{number} {side}"), graph: Arc::clone(graph), image: None });
        }
        let (features, left) = (pair.features, 2 * number);
        list.push(LabelledPair { features, ..LabelledPair::new(left, left + 1, Some(truth.clone())) });
    }
    let data = DataSet::new(graphs, list).unwrap();
    let read = DataSet::from_json(&data.to_json().unwrap()).unwrap();
    assert_eq!(read, data);
    let run =
        |data: &DataSet| Task { data: data.clone(), settings: Settings::default() }.run(&Control::new(), None).unwrap();
    let outcome = run(&data);
    assert_eq!(outcome.model, run(&read).model);
    assert_eq!(outcome.report.chosen, "attributes with a price");
    assert_eq!(outcome.model.weight_names().collect::<Vec<_>>(), ["distance", "likeness", "unmatched"]);
}

#[test]
fn mistakes_have_a_place() {
    let mut pairs = LabelledPairs::new();
    let (pair, truth) = frames(&mut rng(5), 0);
    pairs.add_partly(&pair, truth.clone(), &[]).unwrap();
    let map = features(&pairs);
    let plain = Pair { features: None, ..pair.clone() };
    let mut without = LabelledPairs::new();
    without.add_partly(&plain, truth.clone(), &[]).unwrap();
    let missing = TrainingSet::new(&map, &trainer().loss, &without, &LabelledPairs::new()).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "pair graph \"0\", graph \"1\": the graph has no feature of pairs called \"distance\""
    );
    // A truth that is not listed.
    let none = PairFeatures::of_list(
        names(&["distance", "likeness"]),
        (pair.left.node_count(), pair.right.node_count()),
        &[],
        Array2::zeros((0, 2)).view(),
    );
    let mut forbidden = LabelledPairs::new();
    let empty = plain.clone().with_features(Arc::new(none.unwrap())).unwrap();
    forbidden.add_partly(&empty, truth, &[]).unwrap();
    let error = TrainingSet::new(&map, &trainer().loss, &forbidden, &LabelledPairs::new()).unwrap_err();
    assert!(matches!(&error, Error::At { error, .. } if matches!(**error, Error::ForbiddenPair { .. })), "{error}");
    let model = Model::unlearned(map, Method::Linear(Linear::default())).unwrap();
    assert!(model.solve(&plain).is_err());
    let other = Pair::new(Arc::new(Graph::new(1)), Arc::new(Graph::new(1)));
    assert!(matches!(other.with_features(pair.features.unwrap()), Err(Error::Size { .. })));
}

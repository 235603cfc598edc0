//! Training: learning that is never worse than not learning, cross-validation over specimens, nodes without a known partner,
//! checkpoints, interrupts.

use crate::common;

use common::rng;
use homolog::features::{Comparison, Descriptor, FeatureMap, NodeAttributes, NodeFeature};
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{
    Checkpoint, Choice, Evaluation, Keeper, LabelledPairs, LearnerKind, LearnerName, Trained, Trainer, TrainingSet,
    ValidatedBy, evaluate, weight_rules,
};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::{Constraint, Linear, Matching};
use homolog::model::Model;
use homolog::optimize::WeightRule;
use homolog::{Control, Error};
use ndarray::Array2;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const DIM: usize = 4;

fn names() -> Vec<String> {
    (0..DIM).map(|number| number.to_string()).collect()
}

fn features() -> FeatureMap {
    let descriptor = Descriptor::Attributes(NodeAttributes { columns: names() });
    let node = vec![NodeFeature { descriptor, comparison: Comparison::default() }];
    FeatureMap { node, ..FeatureMap::paper_linear() }
}

fn graph(values: Array2<f64>) -> Arc<Graph> {
    let attributes = Attributes::new(names(), values).unwrap();
    Arc::new(Graph::new(attributes.values().nrows()).with_node_attributes(attributes).unwrap())
}

/// Pairs of graphs whose nodes have four numbers, of which the first two survive from left to right better than the others; a share
/// of the labels is shuffled.
fn pairs(count: usize, nodes: usize, noise: [f64; 2], shuffled: f64, seed: u64) -> LabelledPairs {
    let mut rng = rng(seed);
    let mut pairs = LabelledPairs::new();
    for _ in 0..count {
        let left = Array2::from_shape_simple_fn((nodes, DIM), || rng.random_range(-1.0..1.0));
        let mut right = left.clone();
        for ((_, column), value) in right.indexed_iter_mut() {
            *value += rng.random_range(-1.0..1.0) * noise[usize::from(column >= 2)];
        }
        let mut wrong: Vec<usize> = (0..nodes).filter(|_| rng.random_range(0.0..1.0) < shuffled).collect();
        let places = wrong.clone();
        wrong.shuffle(&mut rng);
        let mut truth: Vec<Option<usize>> = (0..nodes).map(Some).collect();
        for (&place, &other) in places.iter().zip(&wrong) {
            truth[place] = Some(other);
        }
        let truth = Matching::new(truth, nodes, Constraint::OneToOne).unwrap();
        pairs.add(&graph(left), &graph(right), truth).unwrap();
    }
    pairs
}

fn set(pairs: &LabelledPairs) -> TrainingSet {
    TrainingSet::new(&features(), &LossKind::default(), pairs, &LabelledPairs::new()).unwrap()
}

fn train(pairs: &LabelledPairs) -> Trained {
    Trainer::default().train(&set(pairs), &Control::new()).unwrap()
}

fn error(pairs: &LabelledPairs, weights: &[f64]) -> f64 {
    let examples = pairs.examples(&features(), &Hamming::default()).unwrap();
    evaluate(&examples, &Linear::default(), weights, &Control::new()).unwrap().mean()
}

#[test]
fn whatever_the_noise_learning_is_not_worse_than_before_and_never_ends_at_zero() {
    let (mut helped, mut as_before, mut total) = (0, 0, 0.0);
    for (round, shuffled) in [0.0, 0.1, 0.3, 0.5, 0.75, 1.0].into_iter().enumerate() {
        for count in [1, 2, 3, 10] {
            for noise in [[0.3, 2.0], [1.0, 1.0]] {
                let seed = (100 * round + 10 * count) as u64;
                let trained = train(&pairs(count, 12, noise, shuffled, seed));
                assert!(trained.weights().iter().any(|&weight| weight != 0.0));
                let test = pairs(40, 12, noise, 0.0, seed + 1);
                let (before, after) = (error(&test, &[1.0; DIM]), error(&test, trained.weights()));
                let what = format!("{count} pairs, {shuffled} shuffled, noise {noise:?}: {before:.3} to {after:.3}");
                println!("{what}  {}", trained.sentence());
                assert!(after <= before + 0.06, "{what}");
                total += after - before;
                helped += usize::from(after < before - 0.02);
                let is_unlearned = trained.best().learner == LearnerName::Unlearned;
                as_before += usize::from(is_unlearned);
                let words = trained.sentence();
                assert!(if is_unlearned { words.contains("unchanged") } else { words.contains("lowered") }, "{words}");
            }
        }
    }
    println!("{helped} helped, {as_before} as before, {total:.3} in all");
    // Labels that are all shuffled teach nothing; clean ones do.
    assert!(helped >= 6 && as_before >= 8 && total < 0.0, "{helped} {as_before} {total}");
}

#[test]
fn the_most_regularised_within_one_standard_error_is_taken_and_said() {
    let training = pairs(12, 12, [0.3, 2.0], 0.0, 3);
    let trained = train(&training);
    assert_eq!(trained.by, ValidatedBy::Specimens { folds: 5 });
    assert!(trained.complete && trained.fit().is_some(), "{}", trained.sentence());
    let (before, after) = (trained.before().unwrap(), trained.after().unwrap());
    assert!(after.mean() < before.mean());
    assert!(trained.sentence().starts_with("Learning lowered the error from"), "{}", trained.sentence());
    // Every candidate was measured on the same held-out pairs, each pair once.
    for candidate in &trained.candidates {
        assert_eq!(candidate.validation.as_ref().unwrap().losses.len(), 12);
    }
    let least = trained.candidates.iter().map(|candidate| candidate.validation.as_ref().unwrap().mean());
    let least = least.fold(f64::INFINITY, f64::min);
    assert!(after.mean() <= least + 2.0 * after.standard_error() + 1e-12);
    // If validation pairs are given, they decide; the paper's rule takes the lowest loss, whatever it is.
    let validation = pairs(12, 12, [0.3, 2.0], 0.0, 4);
    let set = TrainingSet::new(&features(), &LossKind::default(), &training, &validation).unwrap();
    for learner in [LearnerKind::MaxMargin, LearnerKind::Likelihood] {
        let paper = Trainer { learner, choice: Choice::Least, ..Trainer::default() };
        let trained = paper.train(&set, &Control::new()).unwrap();
        assert_eq!(trained.by, ValidatedBy::Pairs { pairs: 12 });
        let mean = |evaluation: &Option<Evaluation>| evaluation.as_ref().unwrap().mean();
        let chosen = mean(&trained.best().validation);
        assert!(trained.candidates.iter().all(|candidate| mean(&candidate.validation) >= chosen - 1e-12));
        assert!(trained.candidates[..trained.chosen].iter().all(|larger| mean(&larger.validation) > chosen + 1e-12));
    }
}

#[test]
fn left_nodes_without_a_known_partner_teach_nothing_and_cost_nothing() {
    let whole = pairs(8, 10, [0.3, 2.0], 0.0, 5);
    // The same pairs with two more left nodes each, far from everything: once unknown, once known to have no partner.
    let (mut unknown, mut none) = (LabelledPairs::new(), LabelledPairs::new());
    for (pair, truth, _) in whole.iter() {
        let values = pair.left.node_attributes().unwrap().values();
        let more = Array2::from_shape_fn((12, DIM), |(row, column)| if row < 10 { values[[row, column]] } else { 7.0 });
        let mut map = truth.left_to_right().to_vec();
        map.extend([None, None]);
        let truth = Matching::new(map, 10, Constraint::OneToOne).unwrap();
        let pair = Pair::new(graph(more), Arc::clone(&pair.right));
        unknown.add_partly(&pair, truth.clone(), &[10, 11]).unwrap();
        none.add_partly(&pair, truth, &[]).unwrap();
    }
    let not_per_node = |features: FeatureMap| {
        // Features are a mean over the left nodes by default; as a sum they are not affected by further nodes.
        let square = Comparison::NegativeSquare(homolog::features::NegativeSquare { per_node: false });
        let node = features.node.iter().map(|node| NodeFeature { comparison: square, ..node.clone() }).collect();
        FeatureMap { node, ..features }
    };
    let weights = |pairs: &LabelledPairs| {
        let set =
            TrainingSet::new(&not_per_node(features()), &LossKind::default(), pairs, &LabelledPairs::new()).unwrap();
        Trainer { folds: 0, lambdas: vec![0.1], learner: LearnerKind::MaxMargin, ..Trainer::default() }
            .train(&set, &Control::new())
            .unwrap()
    };
    let learned = weights(&whole);
    let fit = learned.fit().unwrap();
    assert!(fit.certified && fit.bounds_loss);
    for other in [weights(&unknown), weights(&none)] {
        assert_eq!(other.weights(), learned.weights());
        // The problem that is predicted has more nodes than the one that was learned from.
        assert!(other.fit().unwrap().certified && !other.fit().unwrap().bounds_loss);
    }
    // They are present in prediction, and what is not known is neither right nor wrong.
    let examples = unknown.examples(&features(), &Hamming { unmatched_is_label: true }).unwrap();
    assert_eq!(
        (examples[0].left_out(), examples[0].unknown(), examples[0].whole_truth().left_count()),
        (2, &[10, 11][..], 12)
    );
    let guess =
        Matching::new((0..12).map(|i| (i >= 2).then(|| (i + 8) % 10)).collect(), 10, Constraint::OneToOne).unwrap();
    assert!((examples[0].whole_loss(&guess) - 1.0).abs() < 1e-12);
    let truth = examples[0].whole_truth().clone();
    assert_eq!(examples[0].whole_loss(&truth), 0.0);
    // A node known to have no partner is wrong wherever it goes, if that is a label.
    let examples = none.examples(&features(), &Hamming { unmatched_is_label: true }).unwrap();
    assert!((examples[0].whole_loss(&guess) - 1.0).abs() < 1e-12 && examples[0].unknown().is_empty());
    // With a price it stays in the example.
    let priced = FeatureMap { unmatched: true, ..features() };
    let example = &none.examples(&priced, &Hamming { unmatched_is_label: true }).unwrap()[0];
    assert_eq!((example.left_out(), example.truth().left_count()), (0, 12));
    let wrong = none.iter().next().map(|(pair, truth, _)| {
        let mut pairs = LabelledPairs::new();
        pairs.add_partly(&pair, truth.clone(), &[0]).unwrap();
        pairs.examples(&features(), &Hamming::default()).unwrap_err()
    });
    assert!(matches!(wrong, Some(Error::At { .. })), "a node with a partner is known: {wrong:?}");
}

/// Keeps every checkpoint as text, and says stop after a given number.
struct Texts {
    texts: Vec<String>,
    count: Arc<AtomicUsize>,
}

impl Keeper for Texts {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.texts.push(serde_json::to_string(checkpoint).unwrap());
        self.count.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_run_that_is_killed_anywhere_and_resumed_ends_with_the_same_bytes() {
    let set = set(&pairs(8, 8, [0.3, 2.0], 0.0, 6));
    let trainer = Trainer { folds: 3, lambdas: vec![1.0, 0.1], ..Trainer::default() };
    let mut keeper = Texts { texts: Vec::new(), count: Arc::default() };
    let whole = trainer.resume(&set, &mut Checkpoint::new("x".to_string()), &Control::new(), &mut keeper).unwrap();
    assert!(whole.after().unwrap().mean() < whole.before().unwrap().mean(), "it does learn");
    let whole = serde_json::to_string(&whole).unwrap();
    // Killed after a checkpoint was written, 40 times at different places, and at the end.
    let count = keeper.texts.len();
    assert!(count > 40, "{count}");
    for text in (0..40).map(|kill| &keeper.texts[kill * count / 40]).chain(keeper.texts.last()) {
        let mut checkpoint: Checkpoint = serde_json::from_str(text).unwrap();
        let mut again = Texts { texts: Vec::new(), count: Arc::default() };
        let resumed = trainer.resume(&set, &mut checkpoint, &Control::new(), &mut again).unwrap();
        assert_eq!(serde_json::to_string(&resumed).unwrap(), whole);
        // A finished run is not run again.
        if text == keeper.texts.last().unwrap() {
            assert_eq!(again.texts, std::slice::from_ref(text));
        }
    }
    // Stopped repeatedly after a few evaluations.
    let mut checkpoint = Checkpoint::new("x".to_string());
    for round in 0.. {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        let control = Control::new().interrupted_by(move || seen.load(Ordering::SeqCst) >= 7);
        let mut keeper = Texts { texts: Vec::new(), count };
        let trained = trainer.resume(&set, &mut checkpoint, &control, &mut keeper).unwrap();
        assert!(trained.weights().iter().any(|&weight| weight != 0.0));
        checkpoint = serde_json::from_str(keeper.texts.last().unwrap()).unwrap();
        if trained.complete {
            assert!(round > 2);
            assert_eq!(serde_json::to_string(&trained).unwrap(), whole);
            break;
        }
        assert!(round < 1000);
    }
    // A checkpoint that was tampered with is an error, not a panic.
    let mut spoiled: serde_json::Value = serde_json::from_str(keeper.texts.last().unwrap()).unwrap();
    spoiled["learners"][1]["training"][0]["state"]["qp"]["anchors"][0] = u64::MAX.into();
    spoiled["learners"][1]["done"] = serde_json::json!([]);
    let mut checkpoint: Checkpoint = serde_json::from_value(spoiled).unwrap();
    assert!(trainer.resume(&set, &mut checkpoint, &Control::new(), &mut keeper).is_err());
    let mut other: Checkpoint = serde_json::from_str(&keeper.texts[5]).unwrap();
    let more = self::set(&pairs(40, 8, [0.3, 2.0], 0.1, 6));
    let trainer = Trainer { learner: LearnerKind::Likelihood, ..trainer };
    assert!(trainer.resume(&more, &mut other, &Control::new(), &mut keeper).is_ok() || other.fingerprint == "x");
}

#[test]
fn interrupted_before_anything_is_known_the_weights_are_as_before() {
    let set = set(&pairs(6, 8, [0.3, 2.0], 0.0, 7));
    let trained = Trainer::default().train(&set, &Control::new().interrupted_by(|| true)).unwrap();
    assert_eq!((trained.weights(), trained.complete), (&[1.0; DIM][..], false));
    assert!(trained.sentence().contains("unchanged"), "{}", trained.sentence());
    let examples = &set.training;
    let evaluation =
        evaluate(examples, &Linear::default(), &[1.0; DIM], &Control::new().interrupted_by(|| true)).unwrap();
    assert_eq!((evaluation.losses.len(), evaluation.examples.len()), (0, 0));
    assert_eq!(
        Trainer::default().train(&TrainingSet { training: Vec::new(), ..set }, &Control::new()),
        Err(Error::NoExamples)
    );
}

#[test]
fn a_given_lambda_is_obeyed_even_if_nothing_is_to_be_gained() {
    // All held-out pairs are right without learning: by itself training keeps the weights.
    let easy = set(&pairs(6, 8, [0.01, 0.01], 0.0, 21));
    assert!(Trainer::default().train(&easy, &Control::new()).unwrap().fit().is_none());
    for (lambdas, learner) in
        [(vec![0.5], LearnerKind::Auto), (vec![0.5], LearnerKind::Likelihood), (vec![2.0, 0.5], LearnerKind::MaxMargin)]
    {
        let trainer = Trainer { lambdas: lambdas.clone(), learner, ..Trainer::default() };
        let trained = trainer.train(&easy, &Control::new()).unwrap();
        let best = trained.best();
        assert!(best.fit.is_some() && lambdas.contains(&best.lambda().unwrap()), "{learner:?}");
        assert!(trained.candidates.iter().all(|candidate| match learner {
            LearnerKind::MaxMargin => candidate.learner != LearnerName::Likelihood,
            LearnerKind::Likelihood => candidate.learner != LearnerName::MaxMargin,
            _ => true,
        }));
        assert!(trained.sentence().contains("λ was given"), "{}", trained.sentence());
        // From one pair, and with nothing held out.
        let one = set(&pairs(1, 8, [0.3, 2.0], 0.0, 22));
        assert!(trainer.train(&one, &Control::new()).unwrap().fit().is_some());
        let blind = Trainer { folds: 0, ..trainer };
        assert!(blind.train(&easy, &Control::new()).unwrap().fit().is_some());
    }
}

#[test]
fn smaller_lambdas_are_tried_while_the_held_out_error_falls() {
    // The first two numbers tell nodes apart by small differences; the weights of the other two, which are noise, are held.
    let mut shrunk = LabelledPairs::new();
    for (pair, truth, _) in pairs(12, 8, [0.3, 2.0], 0.0, 23).iter() {
        let [left, right] = [&pair.left, &pair.right].map(|side| {
            let mut values = side.node_attributes().unwrap().values().to_owned();
            values.column_mut(0).mapv_inplace(|value| 0.1 * value);
            values.column_mut(1).mapv_inplace(|value| 0.1 * value);
            graph(values)
        });
        shrunk.add(&left, &right, truth.clone()).unwrap();
    }
    let set = TrainingSet { unlearned: vec![1.0; DIM], ..set(&shrunk) };
    let rules = vec![WeightRule::Free, WeightRule::Free, WeightRule::Fixed(1.0), WeightRule::Fixed(1.0)];
    let mut most = 0;
    for learner in [LearnerKind::MaxMargin, LearnerKind::Likelihood] {
        let trainer = Trainer { learner, rules: rules.clone(), ..Trainer::default() };
        let trained = trainer.train(&set, &Control::new()).unwrap();
        let errors: Vec<f64> =
            trained.candidates[1..].iter().map(|candidate| candidate.validation.as_ref().unwrap().mean()).collect();
        let (last, earlier) = errors.split_last().unwrap();
        most = most.max(errors.len());
        let falls = earlier.iter().all(|error| last < error);
        assert!(!falls || errors.len() == 10 || *last == 0.0, "{errors:?}");
        let is_last = trained.best().rank + 1 == errors.len() && errors[trained.best().rank] > 0.0;
        assert_eq!(trained.sentence().contains("a smaller one may do better"), is_last, "{errors:?}");
    }
    assert!((7..=10).contains(&most), "beyond the six of the grid: {most}");
}

#[test]
fn weights_can_be_held_by_name() {
    let training = pairs(8, 8, [0.3, 2.0], 0.0, 10);
    let rules = weight_rules(&features(), &[("attributes 3".to_string(), 0.0)], &["attributes".to_string()]).unwrap();
    assert_eq!(rules[0], WeightRule::NonNegative);
    assert_eq!(rules[3], WeightRule::Fixed(0.0));
    for learner in [LearnerKind::MaxMargin, LearnerKind::Likelihood] {
        let trainer = Trainer { rules: rules.clone(), learner, choice: Choice::Least, ..Trainer::default() };
        let trained = trainer.train(&set(&training), &Control::new()).unwrap();
        for candidate in &trained.candidates {
            assert!(candidate.weights[3] == 0.0 && candidate.weights.iter().all(|&weight| weight >= 0.0));
        }
    }
    assert!(matches!(weight_rules(&features(), &[], &["colour".to_string()]), Err(Error::NoSuchWeight { .. })));
}

#[test]
fn a_model_from_own_data_in_one_call() {
    let training = pairs(10, 10, [0.3, 2.0], 0.0, 11);
    let model = Model::fit(&features(), &training, &Trainer::default()).unwrap();
    let record = model.training.as_ref().unwrap();
    assert_eq!((record.examples, record.learner == LearnerName::Unlearned), (10, false));
    let validation = record.validation.as_ref().unwrap();
    assert!(validation.after[0] < validation.before.unwrap()[0]);
    let back = Model::from_json(&model.to_json().unwrap()).unwrap();
    assert_eq!(back, model);
    // Through the file and from the graphs themselves it matches as it was measured to.
    let mut right = 0;
    for (pair, truth, _) in training.iter() {
        let solution = back.solve(&pair).unwrap();
        right += solution.matching.pairs().filter(|&(i, k)| truth.right_of(i) == Some(k)).count();
    }
    let loss = error(&training, &back.weights());
    assert!((loss - (1.0 - right as f64 / 100.0)).abs() < 1e-9, "{right} of 100, loss {loss}");
    assert!(loss < 0.5);
}

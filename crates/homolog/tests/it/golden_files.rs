//! Files of version 1, kept as they were written: every later version reads them, and an old model matches as it did then.

use homolog::Control;
use homolog::data::Split;
use homolog::data::dataset::DataSet;
use homolog::data::shards::{Manifest, answer};
use homolog::features::FeatureMap;
use homolog::learn::shards::Worker;
use homolog::learn::{Checkpoint, LearnerKind, NoKeeper, Trained, Trainer, TrainingSet};
use homolog::matching::{Constraint, FrankWolfe, Method};
use homolog::model::Model;
use homolog::optimize::Bundle;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Expected {
    left: String,
    right: String,
    score: f64,
    matches: Vec<(usize, usize)>,
}

fn matches_as_then(model: &str, expected: &str) {
    let data = DataSet::from_json(include_str!("golden/v1/faces.json")).unwrap();
    let model = Model::from_json(model).unwrap();
    let expected: Vec<Expected> = serde_json::from_str(expected).unwrap();
    assert_eq!(expected.len(), 6);
    for then in expected {
        let of = |id: &str| data.find(id).unwrap();
        let index =
            data.pairs().iter().position(|pair| (pair.left, pair.right) == (of(&then.left), of(&then.right))).unwrap();
        let now = model.solve(&data.pair(index).unwrap()).unwrap();
        assert_eq!(now.matching.pairs().collect::<Vec<_>>(), then.matches, "{} {}", then.left, then.right);
        assert!((now.score - then.score).abs() <= 1e-9 * then.score.abs(), "{} and {}", now.score, then.score);
    }
}

#[test]
fn a_linear_model_of_version_1_matches_as_it_did() {
    matches_as_then(include_str!("golden/v1/linear.model.json"), include_str!("golden/v1/linear.expected.json"));
}

#[test]
fn a_model_with_edges_of_version_1_matches_as_it_did() {
    matches_as_then(include_str!("golden/v1/edges.model.json"), include_str!("golden/v1/edges.expected.json"));
}

#[test]
fn a_data_set_of_version_1_means_what_it_meant() {
    let data = DataSet::from_json(include_str!("golden/v1/everything.json")).unwrap();
    let wing = &data.graphs()[0];
    assert_eq!(
        (wing.id.as_str(), wing.image.as_deref(), wing.graph.image_size()),
        ("wing 1", Some("wing1.png"), Some([640.0, 480.0]))
    );
    assert_eq!(wing.graph.points().unwrap().row(1).to_vec(), [2.0, 0.1]);
    assert_eq!(wing.graph.node_attributes().unwrap().values().column(0).to_vec(), [0.5, 0.25, 1e-3]);
    assert_eq!(wing.graph.context().unwrap().nrows(), 1);
    assert_eq!(wing.graph.edges().ends(), [[0, 1], [1, 0], [1, 2], [2, 1]]);
    assert_eq!(wing.graph.edge_attributes().unwrap().values().column(0).to_vec(), [2.0, 2.0, 2.1, 2.1]);
    assert_eq!(data.graphs()[1].graph.edges().ends(), [[0, 1]]);
    assert_eq!(data.graphs()[2].graph.node_count(), 3);
    let truth = |pair: usize| data.pairs()[pair].truth.as_ref().map(|truth| truth.left_to_right().to_vec());
    assert_eq!(truth(0), Some(vec![Some(0), None, Some(1)]));
    assert_eq!(truth(1), Some(vec![Some(1), None, Some(0)]));
    assert_eq!(truth(2), None);
    assert_eq!(truth(3), Some(vec![Some(1), Some(1), None]));
    assert_eq!(data.pairs()[3].truth.as_ref().unwrap().constraint(), Constraint::ManyToOne);
    let splits: Vec<_> = data.pairs().iter().map(|pair| pair.split).collect();
    assert_eq!(splits, [Some(Split::Train), Some(Split::Test), None, Some(Split::Validation)]);
    assert_eq!(DataSet::from_json(&data.to_json().unwrap()).unwrap(), data);
    assert_eq!(DataSet::from_json_lines(&data.to_json_lines().unwrap()).unwrap(), data);
}

/// What the checkpoints were written with.
fn trainer() -> Trainer {
    Trainer {
        learner: LearnerKind::MaxMargin,
        matcher: Some(Method::FrankWolfe(FrankWolfe::default())),
        lambdas: vec![10.0, 1.0, 0.1, 0.01, 0.001],
        bundle: Bundle { gap_tolerance: 0.03, ..Bundle::default() },
        ..Trainer::default()
    }
}

/// What is in a checkpoint is taken from it as it is, and the rest is learned.
fn goes_on(text: &str, fits: &str, resume: impl Fn(&mut Checkpoint) -> Trained) {
    let mut checkpoint: Checkpoint = serde_json::from_str(text).unwrap();
    let trained = resume(&mut checkpoint);
    assert!(trained.complete && trained.candidates.len() == 6);
    let stored: serde_json::Value = serde_json::from_str(text).unwrap();
    let first = trained.candidates[1].fit.as_ref().unwrap();
    assert_eq!(serde_json::to_value(first).unwrap(), *stored.pointer(fits).unwrap());
    assert_eq!(serde_json::to_value(trained.before()).unwrap(), stored["unlearned"]);
    // Written as it is now it says the same.
    let again: Checkpoint = serde_json::from_str(&serde_json::to_string(&checkpoint).unwrap()).unwrap();
    assert_eq!(again, checkpoint);
    assert_eq!(resume(&mut checkpoint), trained);
}

#[test]
fn a_checkpoint_of_version_1_is_continued() {
    let data = DataSet::from_json_lines(include_str!("golden/v1/checkpoints.jsonl")).unwrap();
    let features: FeatureMap = serde_json::from_str(include_str!("golden/v1/checkpoints.features.json")).unwrap();
    let of = |split: Split| data.labelled(|pair| pair.split == Some(split)).0;
    let set = TrainingSet::new(&features, &trainer().loss, &of(Split::Train), &of(Split::Validation)).unwrap();
    goes_on(include_str!("golden/v1/training.checkpoint.json"), "/learners/0/done/0/fit", |checkpoint| {
        trainer().resume(&set, checkpoint, &Control::new(), &mut NoKeeper).unwrap()
    });
}

#[test]
fn a_checkpoint_of_shards_of_version_1_is_continued() {
    let data = DataSet::from_json_lines(include_str!("golden/v1/checkpoints.jsonl")).unwrap();
    let features: FeatureMap = serde_json::from_str(include_str!("golden/v1/checkpoints.features.json")).unwrap();
    let mut files = BTreeMap::new();
    let manifest = Manifest::cut(&data, 2, &mut |name, text| {
        files.insert(name.to_string(), text.as_bytes().to_vec());
        Ok(())
    });
    let shards = manifest.unwrap().shards;
    goes_on(include_str!("golden/v1/shards.checkpoint.json"), "/done/0/0", |checkpoint| {
        let (mut worker, control) = (Worker::new(1 << 30), Control::new());
        let mut carry = |orders: &[(String, String)]| {
            let mut read = |file: &str| Ok(files[file].clone());
            orders.iter().map(|(_, order)| answer(&mut worker, order, &mut read, &control)).collect()
        };
        let run = trainer().train_from_shards(&features, &shards, checkpoint, &mut carry, &control, &mut NoKeeper);
        run.unwrap().1
    });
}

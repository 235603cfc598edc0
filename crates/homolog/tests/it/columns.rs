//! The laws of further numbers: a column that tells nothing changes nothing, and a column that names the node is enough; for sets of features and for
//! an atlas, on made and on real specimens.

use crate::common;
use crate::made_specimens::{Maker, refs};

use homolog::Control;
use homolog::atlas::{AtlasSettings, Search};
use homolog::data::dataset::{DataSet, NamedGraph, match_by_name};
use homolog::data::landmarks::LandmarkTable;
use homolog::features::FeatureMap;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{LabelledPairs, Trained, Trainer, TrainingSet, evaluate};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::{Linear, Workspace};
use homolog::model::Model;
use homolog::task::{Features, Settings, Task};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The specimens of a given table, a random few; `None` if the data is not there.
fn specimens(path: &str, column: &str, count: usize) -> Option<Vec<Graph>> {
    let (folder, file) = path.rsplit_once('/')?;
    let text = std::fs::read_to_string(common::data_folder(folder)?.join(file)).ok()?;
    let header = text.lines().next()?;
    let known = [column, "landmark", "x", "y"];
    let ignored = header.split(',').filter(|name| !known.contains(name)).map(str::to_string).collect();
    let table = LandmarkTable { graph: Some(column.to_string()), ignored, ..LandmarkTable::default() };
    let mut graphs: Vec<Graph> =
        table.read(&text, path).unwrap().into_iter().map(|named| (*named.graph).clone()).collect();
    graphs.shuffle(&mut ChaCha8Rng::seed_from_u64(4));
    graphs.truncate(count);
    Some(graphs)
}

fn all_pairs(graphs: &[Graph]) -> LabelledPairs {
    let graphs: Vec<Arc<Graph>> = graphs.iter().cloned().map(Arc::new).collect();
    let mut pairs = LabelledPairs::new();
    for (a, left) in graphs.iter().enumerate() {
        for right in &graphs[..a] {
            let truth = match_by_name(left, right).unwrap();
            pairs.add_partly(&Pair::new(Arc::clone(left), Arc::clone(right)), truth, &[]).unwrap();
        }
    }
    pairs
}

/// Learns from the first few and measures on the pairs of the others.
fn learn(graphs: &[Graph], few: usize) -> (Trained, f64) {
    let map = FeatureMap::named("linear", graphs).unwrap();
    let set = TrainingSet::new(&map, &LossKind::default(), &all_pairs(&graphs[..few]), &LabelledPairs::new()).unwrap();
    let trained = Trainer::default().train(&set, &Control::new()).unwrap();
    let test = all_pairs(&graphs[few..]).examples(&set.features, &Hamming::default()).unwrap();
    let error = evaluate(&test, &Linear::default(), trained.weights(), &Control::new()).unwrap().mean();
    (trained, error)
}

fn with_column(graphs: &[Graph], mut value: impl FnMut(&str) -> f64) -> Vec<Graph> {
    let with = |graph: &Graph| {
        let values: Vec<f64> = graph.names().unwrap().iter().map(|name| value(name)).collect();
        let values = Array2::from_shape_vec((values.len(), 1), values).unwrap();
        graph.clone().with_node_attributes(Attributes::new(vec!["number".to_string()], values).unwrap()).unwrap()
    };
    graphs.iter().map(with).collect()
}

/// The share of points that an atlas of the first few names wrongly in the others, and the attributes it uses.
fn name(graphs: &[Graph], few: usize) -> (f64, Vec<String>) {
    let (model, _) = Model::fit_atlas(&refs(&graphs[..few]), &AtlasSettings::default(), &Control::new()).unwrap();
    let atlas = model.atlas().unwrap();
    let (mut wrong, mut all) = (0.0, 0.0);
    for specimen in &graphs[few..] {
        let naming = atlas.name_with(specimen, &model.weights(), Search::Quick, &mut Workspace::new()).unwrap();
        let names = specimen.names().unwrap();
        let is_right = |call: &&homolog::atlas::Call| names[call.point] == atlas.landmarks[call.landmark].name;
        let right = naming.calls.iter().filter(is_right).count();
        all += names.len() as f64;
        wrong += (names.len() - right) as f64;
    }
    (wrong / all, atlas.attributes.iter().map(|unit| unit.name.clone()).collect())
}

fn with_noise(graphs: &[Graph], seed: u64) -> Vec<Graph> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    with_column(graphs, |_| rng.random_range(-1.0..1.0))
}

/// The place of the name among all.
fn with_names(graphs: &[Graph]) -> Vec<Graph> {
    let mut names = graphs[0].names().unwrap().to_vec();
    names.sort();
    with_column(graphs, |name| names.iter().position(|other| other == name).unwrap() as f64)
}

/// Both laws, for a linear set of features and for an atlas.
fn check_laws(what: &str, graphs: &[Graph], few: usize) {
    let ((_, plain), (noise_trained, noisy)) = (learn(graphs, few), learn(&with_noise(graphs, 11), few));
    println!("{what}, linear: {plain:.4}, with noise {noisy:.4}, {}", noise_trained.sentence());
    assert!((noisy - plain).abs() < 0.01, "{what}, linear: {plain} and {noisy} with noise");
    // Nothing is learned if all held-out pairs are right before: the weights before learning leave .005 on one made set.
    let (_, named) = learn(&with_names(graphs), few);
    assert!(named < 0.01, "{what}, linear: {named} with names");
    let ((plain, _), (noisy, used)) = (name(graphs, few), name(&with_noise(graphs, 11), few));
    println!("{what}, atlas: {plain:.4}, with noise {noisy:.4}, {used:?}");
    assert!((noisy - plain).abs() < 0.01, "{what}, atlas: {plain} and {noisy} with noise");
    let (named, used) = name(&with_names(graphs), few);
    assert_eq!((named, used), (0.0, vec!["number".to_string()]), "{what}, atlas");
}

#[test]
fn noise_changes_nothing_and_a_name_is_enough() {
    // So noisy that positions alone name a part wrongly.
    for (seed, dimension, few) in [(31, 2, 3), (32, 2, 5), (33, 3, 5)] {
        let graphs = Maker::new(seed, dimension, 12).noisy_specimens(few + 9, 0.2);
        check_laws(&format!("made {seed}"), &graphs, few);
    }
}

#[test]
fn noise_changes_nothing_and_a_name_is_enough_on_real_specimens() {
    for (path, column, few) in [
        ("faces/landmarks.csv", "image", 5),
        ("specimens/hummingbirds/landmarks.csv", "specimen", 5),
        ("specimens/mosquitoes/landmarks.csv", "specimen", 3),
    ] {
        let Some(graphs) = specimens(path, column, few + 9) else { return };
        check_laws(path, &graphs, few);
    }
}

#[test]
fn what_tells_nothing_is_not_asked_of_new_specimens_and_is_reported() {
    let graphs = Maker::new(34, 2, 10).noisy_specimens(8, 0.05);
    let noisy = with_noise(&graphs, 3);
    let (model, _) = Model::fit_atlas(&refs(&noisy), &AtlasSettings::default(), &Control::new()).unwrap();
    let atlas = model.atlas().unwrap();
    // These points have no such number.
    assert_eq!(atlas.name(&graphs[0], &mut Workspace::new()).unwrap().matching.matched_count(), 10);
    let wanted = AtlasSettings { attributes: Some(vec!["number".to_string()]), ..AtlasSettings::default() };
    let asked = Model::fit_atlas(&refs(&noisy), &wanted, &Control::new()).unwrap().0;
    assert_eq!(asked.atlas().unwrap().attributes.len(), 1);
    let named =
        |(at, graph): (usize, &Graph)| NamedGraph { id: at.to_string(), graph: Arc::new(graph.clone()), image: None };
    for features in ["atlas", "linear", "auto"] {
        let data = DataSet::new(noisy.iter().enumerate().map(named).collect(), Vec::new()).unwrap();
        let settings = Settings { features: Features::Named(features.to_string()), ..Settings::default() };
        let outcome = Task { data, settings }.run(&Control::new(), None).unwrap();
        assert_eq!(outcome.report.unused, ["number"], "{features}");
        assert!(outcome.report.to_string().contains("not compared: number"), "{features}");
    }
}

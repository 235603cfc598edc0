//! Training from shards: the same bytes as on one machine, whichever worker answers, in whatever order, and whichever dies; and files that
//! are not what they should be.

use homolog::data::Split;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::data::shards::{Manifest, answer};
use homolog::features::{Common, FeatureMap, FeatureSet};
use homolog::graph::Graph;
use homolog::learn::shards::{Purpose, Worker};
use homolog::learn::{Checkpoint, Choice, Keeper, LearnerKind, NoKeeper, Oracle, Trained, Trainer, TrainingSet};
use homolog::matching::{FrankWolfe, LpRelaxation, Matching, Method};
use homolog::optimize::Bundle;
use homolog::{Control, Error, Result};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pairs of jittered copies of a few points, their nodes shuffled; some to choose by, one to measure on, one without matches.
fn data(train: usize, nodes: usize, noise: f64) -> DataSet {
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let points = Array2::from_shape_simple_fn((nodes, 2), || rng.random_range(0.0..1.0));
    let count = train + 14;
    let mut graph = |number: usize| {
        let jittered = points.mapv(|x| x + rng.random_range(-noise..noise));
        let mut order: Vec<usize> = (0..nodes).collect();
        order.rotate_left(number % nodes);
        let graph = Graph::from_points(jittered.select(ndarray::Axis(0), &order)).unwrap();
        NamedGraph { id: format!("g{number}"), graph: Arc::new(graph), image: None }
    };
    let graphs: Vec<NamedGraph> = (0..=count).map(&mut graph).collect();
    let pair = |left: usize| {
        let truth = (0..nodes).map(|i| Some((i + nodes - 1) % nodes)).collect();
        let truth = Matching::new(truth, nodes, homolog::matching::Constraint::OneToOne).unwrap();
        let split = match left % 10 {
            _ if left == 3 => Some(Split::Test),
            1 if left < 130 => Some(Split::Validation),
            _ => Some(Split::Train),
        };
        let truth = (left != 5).then_some(truth);
        LabelledPair { split, ..LabelledPair::new(left, left + 1, truth) }
    };
    DataSet::new(graphs, (0..count).map(pair).collect()).unwrap()
}

type Files = BTreeMap<String, String>;

fn cut(data: &DataSet, count: usize) -> (Manifest, Files) {
    let mut files = Files::new();
    let manifest = Manifest::cut(data, count, &mut |name, text| {
        files.insert(name.to_string(), text.to_string());
        Ok(())
    });
    let text = manifest.unwrap().to_json().unwrap();
    (Manifest::from_json(&text).unwrap(), files)
}

fn read(files: &Files) -> impl FnMut(&str) -> Result<Vec<u8>> {
    |file: &str| Ok(files[file].clone().into_bytes())
}

type Orders = [(String, String)];

fn trainer(oracle: Oracle, lambdas: &[f64]) -> Trainer {
    Trainer {
        learner: LearnerKind::MaxMargin,
        choice: Choice::Least,
        oracle,
        search: Some(Method::FrankWolfe(FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() })),
        matcher: Some(Method::FrankWolfe(FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() })),
        lambdas: lambdas.to_vec(),
        bundle: Bundle { max_iterations: 18, gap_tolerance: 1e-6, ..Bundle::default() },
        ..Trainer::default()
    }
}

fn named(name: &str, data: &DataSet) -> FeatureMap {
    let common = Common::of(data.graphs().iter().map(|named| &*named.graph)).unwrap();
    FeatureSet::of_name(name).unwrap().features_for(&common).unwrap()
}

/// Features and how to learn their weights.
struct Settings {
    features: FeatureMap,
    trainer: Trainer,
}

/// Learns from the shards of a manifest, all answered here, until it was asked too often.
fn resume(
    settings: &Settings,
    (manifest, files): (&Manifest, &Files),
    run: &mut Checkpoint,
    keeper: &mut dyn Keeper,
    most: usize,
) -> Result<(TrainingSet, Trained)> {
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let control = Control::new().interrupted_by(move || seen.load(Ordering::Relaxed) > most);
    let mut worker = Worker::new(1 << 30);
    let mut carry = |orders: &Orders| {
        asked.fetch_add(1, Ordering::Relaxed);
        orders.iter().map(|(_, order)| answer(&mut worker, order, &mut read(files), &control)).collect()
    };
    let Settings { features, trainer } = settings;
    trainer.train_from_shards(features, &manifest.shards, run, &mut carry, &control, keeper)
}

fn try_learn(settings: &Settings, manifest: &Manifest, files: &Files) -> Result<(TrainingSet, Trained)> {
    resume(settings, (manifest, files), &mut Checkpoint::default(), &mut NoKeeper, usize::MAX)
}

fn learn(settings: &Settings, manifest: &Manifest, files: &Files) -> (TrainingSet, Trained) {
    try_learn(settings, manifest, files).unwrap()
}

fn at_hand(features: &FeatureMap, trainer: &Trainer, data: &DataSet) -> (TrainingSet, Trained) {
    let of = |split: Split| data.labelled(|pair| pair.split == Some(split)).0;
    let set = TrainingSet::new(features, &trainer.loss, &of(Split::Train), &of(Split::Validation)).unwrap();
    let trained = trainer.train(&set, &Control::new()).unwrap();
    (set, trained)
}

#[test]
fn what_is_learned_from_shards_is_what_is_learned_from_the_data_set() {
    let data = data(70, 6, 0.25);
    let features = named("linear", &data);
    let plain = Trainer { search: None, matcher: None, ..trainer(Oracle::Search, &[]) };
    let trainer = Trainer { choice: Choice::OneStandardError, ..plain };
    let (set, expected) = at_hand(&features, &trainer, &data);
    assert!(expected.candidates.len() > 2, "several λ were tried");
    for count in [1, 4, 32] {
        let (manifest, files) = cut(&data, count);
        assert_eq!(manifest.examples(), expected.examples);
        let (found, trained) =
            learn(&Settings { features: features.clone(), trainer: trainer.clone() }, &manifest, &files);
        assert_eq!((found.features, trained), (set.features.clone(), expected.clone()), "{count} shards");
    }
}

#[test]
fn searches_and_relaxations_remember_as_on_one_machine_for_as_long_as_they_do() {
    let data = data(36, 5, 0.3);
    let features = named("quadratic", &data);
    for oracle in [Oracle::Search, Oracle::Relaxation(LpRelaxation::default())] {
        // A relaxation is sketched four times, then asked four times: eight rounds, which is how many are remembered.
        let bundle = Bundle { max_iterations: 4, gap_tolerance: 1e-9, ..Bundle::default() };
        let trainer = Trainer { bundle, ..trainer(oracle, &[0.01]) };
        let (_, expected) = at_hand(&features, &trainer, &data);
        let (manifest, files) = cut(&data, 8);
        let (_, trained) = learn(&Settings { features: features.clone(), trainer }, &manifest, &files);
        assert_eq!(trained, expected);
    }
}

#[test]
fn the_same_bytes_whoever_answers_and_whoever_dies() {
    let data = data(36, 5, 0.3);
    let (manifest, files) = cut(&data, 10);
    let control = Control::new();
    let oracles = [("linear", Oracle::Search), ("quadratic", Oracle::Search)];
    let relaxed = ("quadratic", Oracle::Relaxation(LpRelaxation::default()));
    for (name, oracle) in oracles.into_iter().chain([relaxed]) {
        let shards = Settings { features: named(name, &data), trainer: trainer(oracle, &[0.01]) };
        let (_, expected) = learn(&shards, &manifest, &files);
        // Three workers answer from the last shard to the first; one has little memory, and one dies again and again.
        let mut workers = [Worker::new(1 << 30), Worker::new(1), Worker::new(1 << 30)];
        let mut asked = 0;
        let mut carry = |orders: &Orders| {
            asked += 1;
            if asked % 5 == 0 {
                workers[2] = Worker::new(1 << 30);
            }
            let reply = |(at, (_, order)): (usize, &(String, String))| {
                answer(&mut workers[(at + asked / 7) % 3], order, &mut read(&files), &control)
            };
            let mut replies: Vec<String> = orders.iter().enumerate().rev().map(reply).collect::<Result<_>>()?;
            replies.reverse();
            Ok(replies)
        };
        let (run, Settings { features, trainer }) = (&mut Checkpoint::default(), &shards);
        let (_, trained) =
            trainer.train_from_shards(features, &manifest.shards, run, &mut carry, &control, &mut NoKeeper).unwrap();
        assert_eq!(trained, expected, "{name}");
        assert!(name == "linear" || asked > 12, "there is something to remember: {asked}");
    }
}

/// Keeps every checkpoint as text.
struct Texts(Vec<String>);

impl Keeper for Texts {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.0.push(serde_json::to_string(checkpoint).unwrap());
    }
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    let data = data(36, 5, 0.3);
    let (manifest, files) = cut(&data, 6);
    let trainer = trainer(Oracle::Search, &[1.0, 0.1, 0.01]);
    let shards = Settings { features: named("quadratic", &data), trainer };
    let (new, place) = (Checkpoint::new("run".to_string()), (&manifest, &files));
    let mut kept = Texts(Vec::new());
    let (_, expected) = resume(&shards, place, &mut new.clone(), &mut kept, usize::MAX).unwrap();
    assert!(expected.fit().is_some() && kept.0.len() > 20, "something is learned");
    // Killed after a checkpoint was written, at ten different places.
    for kill in 0..10 {
        let mut run: Checkpoint = serde_json::from_str(&kept.0[kill * kept.0.len() / 10]).unwrap();
        let (_, trained) = resume(&shards, place, &mut run, &mut NoKeeper, usize::MAX).unwrap();
        assert_eq!(trained, expected);
    }
    // Broken off in the middle of an answer, again and again.
    let (mut text, mut breaks) = (serde_json::to_string(&new).unwrap(), 0);
    let trained = loop {
        let mut run: Checkpoint = serde_json::from_str(&text).unwrap();
        match resume(&shards, place, &mut run, &mut NoKeeper, 13) {
            Ok((_, trained)) if trained.complete => break trained,
            Ok(_) | Err(Error::Interrupted) => breaks += 1,
            Err(error) => panic!("{error}"),
        }
        text = serde_json::to_string(&run).unwrap();
        assert!(breaks < 100);
    };
    assert!(breaks > 1, "it was broken off {breaks} times");
    assert_eq!(trained, expected);
}

#[test]
fn files_are_whole_in_themselves() {
    let data = data(36, 5, 0.3);
    let (manifest, files) = cut(&data, 64.min(manifest_pairs(&data)));
    let mut seen = 0;
    for shard in &manifest.shards {
        let own = DataSet::from_json_lines(&files[&shard.file]).unwrap();
        assert_eq!(own.pairs().len(), shard.pairs);
        let positions: Vec<usize> = shard.positions.iter().flat_map(|&[first, count]| first..first + count).collect();
        for (pair, position) in own.pairs().iter().zip(positions) {
            let whole = &data.pairs()[position];
            assert_eq!((&pair.truth, pair.split), (&whole.truth, whole.split));
            assert_eq!(own.graphs()[pair.left], data.graphs()[whole.left]);
            assert_eq!(own.graphs()[pair.right], data.graphs()[whole.right]);
            seen += 1;
        }
    }
    assert_eq!(seen, data.pairs().len() - 1, "all but the pair without matches");
    assert_eq!(manifest.shards.iter().filter(|shard| shard.purpose == Purpose::Test).count(), 1);
}

fn manifest_pairs(data: &DataSet) -> usize {
    data.pairs().iter().filter(|pair| pair.truth.is_some() && pair.split == Some(Split::Train)).count()
}

#[test]
fn files_that_are_not_what_they_should_be_are_named() {
    let data = data(36, 5, 0.3);
    let (manifest, files) = cut(&data, 4);
    let text = manifest.to_json().unwrap();
    let shards = Settings { features: named("quadratic", &data), trainer: trainer(Oracle::Search, &[0.01]) };
    let train = |manifest: &Manifest, files: &Files| {
        let outcome = try_learn(&shards, manifest, files);
        outcome.map(|(_, trained)| trained.examples).map_err(|error| error.to_string())
    };
    assert_eq!(train(&manifest, &files), Ok(manifest_pairs(&data)));

    // A number of a graph changed.
    let mut changed = files.clone();
    let own = changed.get_mut("part-00002.jsonl").unwrap();
    *own = own.replacen("0.", "1.", 1);
    let error = train(&manifest, &changed).unwrap_err();
    assert!(error.starts_with("part-00002.jsonl: the file was changed: its sha256 is"), "{error}");

    // A line of the manifest left out.
    let without = |name: &str| text.lines().filter(|line| !line.contains(name)).collect::<Vec<_>>().join("\n");
    let error = Manifest::from_json(&without("part-00001.jsonl")).unwrap_err().to_string();
    assert!(error.starts_with("part-00002.jsonl: the pairs from ") && error.contains("a shard is missing"), "{error}");
    // The same file twice, another kind of file, a path, an invalid digest.
    let refused = |text: &str| Manifest::from_json(text).unwrap_err().to_string();
    assert!(refused(&text.replace("part-00001", "part-00000")).contains("part-00000.jsonl is listed twice"));
    assert!(
        refused(&text.replace("homolog-shards", "homolog-data")).starts_with("manifest.json: this is \"homolog-data\"")
    );
    assert!(refused(&text.replace("part-00001", "../part-00001")).contains("not the name of a file"));
    let digest = &manifest.shards[0].sha256;
    assert!(refused(&text.replace(digest.as_str(), "0")).starts_with("part-00000.jsonl: \"0\" is not a sha256"));
    assert!(refused("{").starts_with("manifest.json: "));

    // A shard of another data set, in space: its manifest line and file are valid, but its graphs do not fit the features.
    let mut other = manifest.clone();
    let space = |named: &NamedGraph| {
        let points = Array2::from_shape_fn((named.graph.node_count(), 3), |(i, c)| (i * (c + 1)) as f64 + 0.1);
        NamedGraph { graph: Arc::new(Graph::from_points(points).unwrap()), ..named.clone() }
    };
    let strange = DataSet::new(data.graphs().iter().map(space).collect(), data.pairs().to_vec()).unwrap();
    let (strange, strange_files) = cut(&strange, 4);
    other.shards[3].sha256.clone_from(&strange.shards[3].sha256);
    let mut mixed = files.clone();
    mixed.insert("part-00003.jsonl".to_string(), strange_files["part-00003.jsonl"].clone());
    let error = train(&other, &mixed).unwrap_err();
    assert!(error.starts_with("part-00003.jsonl: ") && error.contains("graph"), "{error}");

    // Settings that need the pairs at hand.
    let trainer = Trainer { learner: LearnerKind::Likelihood, ..shards.trainer.clone() };
    let nobody = &mut |_: &Orders| unreachable!("nothing is asked");
    let run = &mut Checkpoint::default();
    let outcome =
        trainer.train_from_shards(&shards.features, &manifest.shards, run, nobody, &Control::new(), &mut NoKeeper);
    assert!(outcome.unwrap_err().to_string().contains("likelihood learning cannot be spread"));
    assert!(matches!(Manifest::cut(&data, 1000, &mut |_, _| Ok(())), Err(Error::OutOfRange { .. })));
    assert!(matches!(Manifest::cut(&data, 0, &mut |_, _| Ok(())), Err(Error::OutOfRange { .. })));
}

//! The law of tasks: the same task as JSON gives the same model and the same report, to the byte, through every door; and what a report
//! has to say.

use crate::common::data_folder;
use homolog::Control;
use homolog::data::Reader;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::shards::{Manifest, answer};
use homolog::data::turntable::Turntable;
use homolog::graph::{Attributes, Graph};
use homolog::labelling::Session;
use homolog::learn::shards::Worker;
use homolog::learn::{Checkpoint, LearnerKind, NoKeeper};
use homolog::model::Model;
use homolog::task::{Features, FromShards, Settings, Task, paired};
use ndarray::Array2;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const CORNERS: [[f64; 2]; 7] = [[0.0, 0.0], [4.0, 0.5], [3.2, 2.4], [1.0, 2.0], [2.2, 1.0], [0.3, 3.1], [3.9, 3.6]];

/// Specimens of one shape, each point moved a little, each specimen rotated by its own angle in degrees.
fn specimens(angles: &[f64], colour: bool) -> Vec<NamedGraph> {
    let names: Vec<String> = (0..CORNERS.len()).map(|k| format!("p{k}")).collect();
    let graph = |n: usize, angle: f64| {
        let (sine, cosine) = angle.to_radians().sin_cos();
        let points = Array2::from_shape_fn((CORNERS.len(), 2), |(k, axis)| {
            let wobble = |seed: usize| ((n * 31 + k * 17 + seed * 7) % 13) as f64 / 13.0 - 0.5;
            let (x, y) = (CORNERS[k][0] + 0.2 * wobble(1), CORNERS[k][1] + 0.2 * wobble(2));
            if axis == 0 { cosine * x - sine * y } else { sine * x + cosine * y }
        });
        let graph = Graph::from_points(points).unwrap().with_names(names.clone()).unwrap();
        if !colour {
            return graph;
        }
        let colours = Array2::from_shape_fn((CORNERS.len(), 1), |(k, _)| k as f64);
        graph.with_node_attributes(Attributes::new(vec!["colour".to_string()], colours).unwrap()).unwrap()
    };
    let named =
        |(n, &angle): (usize, &f64)| NamedGraph { id: format!("s{n}"), graph: Arc::new(graph(n, angle)), image: None };
    angles.iter().enumerate().map(named).collect()
}

fn task(angles: &[f64], settings: Settings) -> Task {
    Task { data: DataSet::new(specimens(angles, false), vec![]).unwrap(), settings }
}

fn of_set(name: &str) -> Settings {
    Settings { features: Features::Named(name.to_string()), ..Settings::default() }
}

fn ask(request: &Value) -> Value {
    let json = request.to_string();
    let framed = [&u32::try_from(json.len()).unwrap().to_le_bytes()[..], json.as_bytes()].concat();
    serde_json::from_str(&Session::default().answer(&framed, &Control::new())).unwrap()
}

/// Runs a task here, from its JSON as a page asks for it and, if its data can be cut up, from shards; all must agree to the byte.
fn through_all_doors(task: &Task) {
    let text = serde_json::to_string(task).unwrap();
    assert_eq!(Task::from_json(&text).unwrap(), *task);
    let page = ask(&json!({ "train": serde_json::from_str::<Value>(&text).unwrap() }));
    let here = match task.run(&Control::new(), None) {
        Ok(here) => here,
        Err(error) => return assert_eq!(page["error"].as_str().unwrap(), error.to_string()),
    };
    let (model, report) = (here.model.to_json().unwrap(), here.report.to_json().unwrap());
    assert_eq!(page["ok"]["model"].as_str().unwrap(), model, "{}", page["error"]);
    assert_eq!(page["ok"]["report"], serde_json::from_str::<Value>(&report).unwrap());
    let parsed: homolog::task::TaskReport = serde_json::from_str(&report).unwrap();
    assert_eq!(parsed.to_json().unwrap(), report, "a report reads back");
    // Cross-validation needs the pairs at hand, and so does every learner but one.
    if task.settings.folds == 0 && task.settings.learner == LearnerKind::MaxMargin {
        for count in [1, 2] {
            let (of_model, of_report) = from_shards(task, count);
            assert_eq!(of_model, model, "{count} shards");
            assert_eq!(of_report, report, "{count} shards");
        }
    }
}

/// Model and report of a task whose data set is cut up.
fn from_shards(task: &Task, count: usize) -> (String, String) {
    let (data, _) = paired(&task.data, &Control::new()).unwrap();
    let mut files = BTreeMap::new();
    let mut write = |name: &str, text: &str| {
        files.insert(name.to_string(), text.to_string());
        Ok(())
    };
    let manifest = Manifest::cut(&data, count, &mut write).unwrap();
    let manifest = Manifest::from_json(&manifest.to_json().unwrap()).unwrap();
    let mut worker = Worker::new(1 << 30);
    let mut carry = |orders: &[(String, String)]| {
        let mut read = |file: &str| Ok(files[file].clone().into_bytes());
        orders.iter().map(|(_, order)| answer(&mut worker, order, &mut read, &Control::new())).collect()
    };
    let shards = FromShards::new(manifest, task.settings.clone()).unwrap();
    let outcome = shards.run(&mut Checkpoint::default(), &mut carry, &Control::new(), &mut NoKeeper).unwrap();
    (outcome.model.to_json().unwrap(), outcome.report.to_json().unwrap())
}

/// What can be learned from shards.
fn spread(name: &str) -> Settings {
    Settings { learner: LearnerKind::MaxMargin, lambdas: vec![0.5], folds: 0, ..of_set(name) }
}

/// Pairs that plain training does not learn from are not learned from in shards either, and the report says so.
#[test]
fn shards_leave_out_what_the_data_set_leaves_out() {
    for angles in [&[0.0, 120.0, 4.0, -3.0][..], &[170.0, 0.0, 5.0], &[0.0, 90.0, 180.0]] {
        through_all_doors(&task(angles, spread("linear")));
    }
}

/// Four specimens of every real data set, with up to six points each; three of them also try sets of features.
#[test]
fn every_data_set_gives_the_same_bytes_through_every_door() {
    let specimens = ["face3d", "hummingbirds", "lizards", "mosquitoes", "worms"];
    let specimens = specimens.map(|name| format!("specimens/{name}/landmarks.csv"));
    let others =
        ["house/landmarks.csv", "faces/landmarks.csv", "bikes/landmarks.csv", "wings/wings.tps", "mocap/walk.trc"];
    for file in specimens.iter().map(String::as_str).chain(others) {
        let Some(data) = some_of(file) else { continue };
        let tries_sets = ["faces", "mosquitoes", "wings"].iter().any(|name| file.contains(name));
        let auto = tries_sets.then(|| of_set("auto"));
        for settings in [spread("linear"), of_set("atlas")].into_iter().chain(auto) {
            through_all_doors(&Task { data: data.clone(), settings });
        }
    }
}

/// The beginning of a real data set; `None` if it is not there, and then the turntable stands in for all of them.
fn some_of(file: &str) -> Option<DataSet> {
    let (folder, name) = file.rsplit_once('/').unwrap();
    let bytes = std::fs::read(data_folder(folder)?.join(name)).unwrap();
    // Several columns of the bicycles could name the graph.
    let ignored = ["image", "facing", "landmark"].map(String::from).to_vec();
    let (graph, landmark) = (Some("object".to_string()), Some("name".to_string()));
    let table = LandmarkTable { graph, landmark, ignored, attributes: Vec::new() };
    let table = if folder == "bikes" { table } else { LandmarkTable::default() };
    let loaded = Reader { table, ..Reader::default() }.read(name, &bytes, &|_, _| None);
    let part = |named: &NamedGraph| {
        let nodes: Vec<usize> = (0..named.graph.node_count().min(6)).collect();
        NamedGraph { graph: Arc::new(named.graph.subgraph(&nodes).unwrap()), image: None, ..named.clone() }
    };
    Some(DataSet::new(loaded.unwrap().data.graphs().iter().take(4).map(part).collect(), vec![]).unwrap())
}

#[test]
fn the_same_task_gives_the_same_bytes_through_every_door() {
    for settings in [
        of_set("auto"),
        of_set("atlas"),
        of_set("linear"),
        Settings { lambdas: vec![0.5], ..of_set("linear") },
        Settings { unmatched: true, ..of_set("linear") },
        Settings { unlearned: true, ..of_set("quadratic") },
        spread("linear"),
        Settings { unmatched: true, ..spread("linear") },
    ] {
        through_all_doors(&task(&[0.0, 5.0, -8.0, 3.0], settings));
    }
}

#[test]
fn the_turntable_gives_the_same_bytes_through_every_door() {
    let names: Vec<String> = Turntable::names().into_iter().map(String::from).collect();
    let frames = Turntable::default().landmarks().unwrap().into_iter().step_by(18);
    let named = |(n, points): (usize, Array2<f64>)| {
        let graph = Graph::from_points(points).unwrap().with_names(names.clone()).unwrap();
        NamedGraph { id: n.to_string(), graph: Arc::new(graph), image: None }
    };
    let data = DataSet::new(frames.enumerate().map(named).collect(), vec![]).unwrap();
    through_all_doors(&Task { data, settings: Settings { lambdas: vec![1.0], ..of_set("linear") } });
}

#[test]
fn auto_finds_the_rotation_by_itself() {
    let angles = [0.0, 130.0, -75.0, 200.0, 40.0, -160.0, 95.0, 310.0];
    let outcome = task(&angles, Settings::default()).run(&Control::new(), None).unwrap();
    let chosen = outcome.report.tried.iter().find(|tried| tried.name == outcome.report.chosen).unwrap();
    assert!(chosen.error.unwrap() < 0.02, "{}", outcome.report);
}

#[test]
fn what_is_left_out_is_in_the_report() {
    let angles = [0.0, 4.0, 120.0, -3.0];
    let outcome = task(&angles, of_set("linear")).run(&Control::new(), None).unwrap();
    assert_eq!((outcome.report.left_out.rotated_pairs, outcome.report.left_out.pairs), (3, 6));
    let text = outcome.report.to_string();
    assert!(text.contains("3 of 6 pairs were not learned from") && text.contains("about the other 3"), "{text}");
    // Colours tell what matches in any pose.
    let data = DataSet::new(specimens(&angles, true), vec![]).unwrap();
    let outcome = Task { data, settings: of_set("linear") }.run(&Control::new(), None).unwrap();
    assert_eq!((outcome.report.left_out.rotated_pairs, outcome.report.left_out.pairs), (0, 6));
}

#[test]
fn a_lambda_that_is_not_positive_is_refused_whether_it_is_used_or_not() {
    for lambda in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        for name in ["auto", "linear", "atlas"] {
            let settings = Settings { lambdas: vec![1.0, lambda], ..of_set(name) };
            let error = task(&[0.0, 5.0, 9.0], settings).run(&Control::new(), None).unwrap_err();
            assert!(error.to_string().contains("must be positive"), "{error}");
        }
    }
}

/// `homolog match --features`, which the page does as well, and `hm.match`, which is a task.
#[test]
fn matching_without_learning_is_the_same_by_the_program_and_by_a_task() {
    for name in ["linear", "quadratic", "robust"] {
        let task = task(&[0.0, 5.0, 9.0], Settings { unlearned: true, ..of_set(name) });
        let (data, _) = paired(&task.data, &Control::new()).unwrap();
        let pairs: Vec<_> = (0..data.pairs().len()).map(|number| data.pair(number).unwrap()).collect();
        let features = task.settings.features(&data.common().unwrap()).unwrap();
        let model = Model::unlearned_for(features, None, None, &pairs).unwrap();
        assert_eq!(task.run(&Control::new(), None).unwrap().model, model, "{name}");
    }
}

#[test]
fn a_task_says_what_is_missing() {
    let no_names = r#"{"data": {"format": {"kind": "homolog-data", "version": 1}, "graphs": [
        {"id": "a", "points": [[0, 0], [1, 0]]}, {"id": "b", "points": [[0, 0], [1, 0]]}]}}"#;
    let error = Task::from_json(no_names).unwrap().run(&Control::new(), None).unwrap_err();
    assert!(error.to_string().contains("no two graphs have a node of the same name"), "{error}");
    assert!(Task::from_json(r#"{"data": {}, "setting": {}}"#).is_err());
}

#[test]
fn graphs_that_are_too_large_are_refused_before_anything_is_computed() {
    let count = 22_500;
    let names: Vec<String> = (0..count).map(|k| format!("p{k}")).collect();
    let graph = |n: usize| {
        let points =
            Array2::from_shape_fn((count, 2), |(k, axis)| (if axis == 0 { k % 150 } else { k / 150 } + n) as f64);
        let graph = Graph::from_points(points).unwrap().with_names(names.clone()).unwrap();
        NamedGraph { id: format!("s{n}"), graph: Arc::new(graph), image: None }
    };
    let data = DataSet::new((0..2).map(graph).collect(), vec![]).unwrap();
    for name in ["linear", "quadratic", "atlas"] {
        let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let control = Control::new().interrupted_by(move || {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            false
        });
        let error = Task { data: data.clone(), settings: of_set(name) }.run(&control, None).unwrap_err();
        assert_eq!(error.kind(), homolog::ErrorKind::TooLarge, "{name}: {error}");
        // Two graphs are paired by name, one pair is checked.
        let asked = asked.load(std::sync::atomic::Ordering::SeqCst);
        assert!(asked <= 4, "{name} computes something first: {asked} questions");
    }
}

/// Graphs of many points take long to describe: the time limit is heard meanwhile, and a limit below a second leaves a second.
#[test]
fn a_time_limit_is_heard_while_graphs_are_described() {
    let place = |i: usize, seed: usize| [((i * 7919 + seed) % 4001) as f64, ((i * 104_729) % 3001) as f64];
    let graph = |seed: usize| {
        let points = Array2::from_shape_fn((4000, 2), |(i, axis)| place(i, seed)[axis]);
        let names = (0..4000).map(|i| format!("p{i}")).collect();
        let graph = Arc::new(Graph::from_points(points).unwrap().with_names(names).unwrap());
        NamedGraph { id: format!("g{seed}"), graph, image: None }
    };
    let data = DataSet::new(vec![graph(0), graph(1)], vec![]).unwrap();
    let settings =
        Settings { features: Features::Named("linear".to_string()), time_limit: Some(0.0), ..Settings::default() };
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // A clock that is a hundredth of a second further each time it is looked at.
    let clock: homolog::learn::Clock =
        Arc::new(move || count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) as f64 / 100.0);
    let error = Task { data, settings }.run(&Control::new(), Some(&clock)).unwrap_err();
    assert_eq!(error.kind(), homolog::ErrorKind::Interrupted);
    let asked = asked.load(std::sync::atomic::Ordering::SeqCst);
    assert!((100..200).contains(&asked), "{asked}");
}

/// No pair is matched for a line of the report: describing the graphs is all the work there is.
#[test]
fn a_named_set_that_learns_nothing_matches_no_pair() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let control = Control::new().interrupted_by(move || {
        count.fetch_add(1, Ordering::SeqCst);
        false
    });
    let settings = Settings { unlearned: true, ..of_set("quadratic") };
    let task = task(&[0.0, 3.0, -4.0, 8.0, 2.0, -9.0], settings);
    let outcome = task.run(&control, None).unwrap();
    let learning = asked.swap(0, Ordering::SeqCst);
    let (pairs, _) = paired(&task.data, &Control::new()).unwrap().0.labelled(|_| true);
    homolog::task::losses(&outcome.model, &pairs, &control).unwrap();
    let matching = asked.load(Ordering::SeqCst);
    assert!(learning < matching / 2, "{learning} questions, and {matching} to match every pair once");
}

/// Whenever the time is up, there is an answer: once graphs are described, `auto` ends with what it has by then.
#[test]
fn auto_answers_whenever_its_time_is_up() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for limit in (0..40).map(|step| 0.25 * f64::from(step)) {
        let asked = Arc::new(AtomicUsize::new(0));
        let clock: homolog::learn::Clock = Arc::new(move || asked.fetch_add(1, Ordering::SeqCst) as f64 / 300.0);
        let settings = Settings { time_limit: Some(limit), ..Settings::default() };
        let outcome = task(&[0.0, 3.0, -4.0, 8.0], settings).run(&Control::new(), Some(&clock));
        assert!(outcome.is_ok(), "{limit}: {:?}", outcome.err());
    }
}

//! Laws of joining: specimens of a known shape get names that are the truth up to what they are called, in any order of points and specimens
//! and in any pose; names never contradict each other; the same bytes on any number of threads; unlabelled specimens do no harm.

use crate::made_specimens::{Maker, refs};

use homolog::atlas::{AtlasSettings, Pose, Presence};
use homolog::experiment::Truth;
use homolog::features::FeatureSet;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::matching::{Constraint, FrankWolfe, Matching, Method, Workspace};
use homolog::model::Model;
use homolog::specimens::join::{Joined, join, match_pairs};
use homolog::specimens::unlabelled::fit;
use homolog::{Control, Error};
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn settings(pose: Option<Pose>, presence: Option<Presence>) -> AtlasSettings {
    AtlasSettings { pose, presence, ..AtlasSettings::default() }
}

/// The points in another order, without names; and their true names.
fn shuffled(graph: &Graph, step: usize) -> (Graph, Vec<String>) {
    let count = graph.node_count();
    let order: Vec<usize> = (0..count).map(|at| (at * step + 3) % count).collect();
    let names = order.iter().map(|&at| graph.names().unwrap()[at].clone()).collect();
    let bare = vec![String::new(); count];
    (graph.renumbered(&order).unwrap().with_names(bare).unwrap(), names)
}

/// Whether names and truth are the same up to what they are called; an empty true name is one of no point.
fn is_true(joined: &Joined, truth: &[Vec<String>]) -> bool {
    let mut called: BTreeMap<&str, usize> = BTreeMap::new();
    joined.points.iter().zip(truth).all(|(points, truth)| {
        points.iter().zip(truth).all(|(point, name)| match point {
            None => name.is_empty(),
            Some(point) => !name.is_empty() && *called.entry(name).or_insert(point.name) == point.name,
        })
    })
}

#[test]
fn complete_specimens_in_any_pose_and_order_get_the_true_names() {
    for (dimension, pose) in [(2, Pose::AsGiven), (2, Pose::Rotated), (2, Pose::Any), (3, Pose::Rotated)] {
        let mut maker = Maker::new(11, dimension, 7);
        let specimens: Vec<(Graph, Vec<String>)> = (0..6)
            .map(|at| shuffled(&maker.moved(pose != Pose::AsGiven, pose == Pose::Any && at % 2 == 1), 1 + at % 6))
            .collect();
        let (graphs, truth): (Vec<Graph>, Vec<Vec<String>>) = specimens.into_iter().unzip();
        let joined = join(&refs(&graphs), &settings(Some(pose), None), None, &Control::new()).unwrap();
        assert!(is_true(&joined, &truth), "{dimension} {pose:?}: {}", joined.report);
        assert_eq!(joined.names.len(), 7);
        assert!(joined.points.iter().flatten().flatten().all(|point| point.confidence.is_some_and(|sure| sure > 0.5)));
        assert!(joined.report.agreement > 0.9 && joined.report.complete);
        // The true names lose nothing of what pairs alone score.
        let [alone, by_name] = joined.report.pair_scores.unwrap();
        assert!((alone - by_name).abs() <= 0.02 * alone.abs(), "{alone} {by_name}");
    }
}

#[test]
fn pose_and_presence_are_found_if_not_given() {
    let mut maker = Maker::new(5, 2, 9);
    let alike: Vec<Graph> = (0..6).map(|at| shuffled(&maker.specimen(), 1 + at % 2).0).collect();
    let report = join(&refs(&alike), &settings(None, None), None, &Control::new()).unwrap().report;
    assert_eq!((report.pose, report.presence), (Pose::AsGiven, Presence::Complete));
    let turned: Vec<Graph> = (0..6).map(|_| shuffled(&maker.moved(true, false), 2).0).collect();
    let report = join(&refs(&turned), &settings(None, None), None, &Control::new()).unwrap().report;
    assert_eq!((report.pose, report.presence), (Pose::Rotated, Presence::Complete));
    // One has a point less.
    let fewer = alike[0].subgraph(&(1..9).collect::<Vec<_>>()).unwrap();
    let mut some = refs(&alike);
    some[0] = &fewer;
    let joined = join(&some, &settings(None, None), None, &Control::new()).unwrap();
    assert_eq!(joined.report.presence, Presence::Partial);
    assert_eq!(joined.names.iter().filter(|name| name.specimens == 5).count(), 1);
}

/// Specimens with points removed and outliers, with the truth.
fn incomplete(maker: &mut Maker, count: usize) -> (Vec<Graph>, Vec<Vec<String>>) {
    let made: Vec<(Graph, Vec<Truth>)> = (0..count).map(|_| maker.spoiled(2)).collect();
    let name = |truth: &Truth| if let Truth::Name(name) = truth { name.clone() } else { String::new() };
    made.into_iter().map(|(graph, truth)| (graph, truth.iter().map(name).collect::<Vec<_>>())).unzip()
}

#[test]
fn names_are_consistent_and_mostly_right_if_points_are_missing() {
    let mut maker = Maker::new(3, 2, 12);
    let (graphs, truth) = incomplete(&mut maker, 12);
    let joined = join(&refs(&graphs), &settings(Some(Pose::AsGiven), None), None, &Control::new()).unwrap();
    assert_eq!(joined.report.presence, Presence::Partial);
    for points in &joined.points {
        let given: Vec<usize> = points.iter().flatten().map(|point| point.name).collect();
        assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), given.len(), "a name is given once");
    }
    let mut right = 0;
    let mut votes: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (points, truth) in joined.points.iter().zip(&truth) {
        for (point, name) in points.iter().zip(truth) {
            if let Some(point) = point.as_ref().filter(|_| !name.is_empty()) {
                *votes.entry((point.name, name)).or_insert(0) += 1;
            }
        }
    }
    for name in 0..joined.names.len() {
        right += votes.iter().filter(|((own, _), _)| *own == name).map(|(_, &count)| count).max().unwrap_or(0);
    }
    let all = truth.iter().flatten().filter(|name| !name.is_empty()).count();
    assert!(right as f64 > 0.9 * all as f64, "{right} of {all}");
}

#[test]
fn labelled_specimens_give_their_names_and_the_atlas_names_new_ones() {
    let mut maker = Maker::new(8, 2, 8);
    let labelled = maker.specimen();
    let others: Vec<(Graph, Vec<String>)> = (0..5).map(|at| shuffled(&maker.specimen(), 1 + 2 * (at % 3))).collect();
    let mut graphs: Vec<&Graph> = others.iter().map(|(graph, _)| graph).collect();
    graphs.insert(2, &labelled);
    let joined = join(&graphs, &settings(None, None), None, &Control::new()).unwrap();
    let names: BTreeSet<&str> = joined.names.iter().map(|name| name.name.as_str()).collect();
    assert_eq!(names, labelled.names().unwrap().iter().map(String::as_str).collect());
    for (point, name) in joined.points[2].iter().zip(labelled.names().unwrap()) {
        assert_eq!(joined.names[point.unwrap().name].name, *name);
    }
    let (new, truth) = shuffled(&maker.specimen(), 3);
    let model = Model::from_json(&joined.model.to_json().unwrap()).unwrap();
    let naming = model.name(&new, &mut Workspace::new()).unwrap();
    let atlas = model.atlas().unwrap();
    assert!(naming.calls.iter().all(|call| truth[call.point] == atlas.landmarks[call.landmark].name));
    assert!(naming.calls.iter().all(|call| call.confidence.is_some()));
}

#[test]
fn without_labels_names_are_numbers_and_everything_is_the_same_on_any_threads() {
    let mut maker = Maker::new(21, 2, 8);
    let (graphs, _) = incomplete(&mut maker, 7);
    let ids: Vec<String> = (0..7).map(|at| format!("s{at}")).collect();
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let joined = pool.install(|| join(&refs(&graphs), &settings(None, None), None, &Control::new())).unwrap();
        assert_eq!(joined.names[0].name, "1");
        joined.to_json(&ids).unwrap() + &joined.model.to_json().unwrap()
    };
    assert_eq!(text(1), text(3));
}

#[test]
fn mistakes_of_the_caller_are_refused_and_an_interrupt_ends_with_what_is_known() {
    let mut maker = Maker::new(2, 2, 6);
    let one = maker.specimens(1);
    let none = settings(None, None);
    assert!(matches!(join(&refs(&one), &none, None, &Control::new()), Err(Error::Size { .. })));
    let without_points = Graph::new(3);
    assert!(join(&[&one[0], &without_points], &none, None, &Control::new()).is_err());
    let space = Maker::new(2, 3, 6).specimen();
    assert!(join(&[&one[0], &space], &none, None, &Control::new()).is_err());
    let some = maker.specimens(8);
    let stopped = Control::new().interrupted_by(|| true);
    assert!(matches!(join(&refs(&some), &none, None, &stopped), Err(Error::Interrupted)));
    // Stopped anywhere, it ends with an answer or says that there is none yet.
    for most in [50, 200, 400, 800] {
        let asked = Arc::new(AtomicUsize::new(0));
        let control = Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) > most);
        match join(&refs(&some), &none, None, &control) {
            Ok(joined) => assert_eq!(joined.points.len(), 8),
            Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
        }
    }
}

#[test]
fn a_model_can_match_the_pairs_and_pairs_can_be_matched_alone() {
    let mut maker = Maker::new(4, 2, 8);
    let labelled = maker.specimens(4);
    let (model, _) = Model::fit_atlas(&refs(&labelled), &settings(None, None), &Control::new()).unwrap();
    let (graphs, truth): (Vec<Graph>, Vec<Vec<String>>) =
        (0..5).map(|at| shuffled(&maker.specimen(), 1 + 2 * (at % 3))).unzip();
    let joined = join(&refs(&graphs), &settings(None, None), Some(&model), &Control::new()).unwrap();
    assert!(is_true(&joined, &truth));
    let pairs = match_pairs(&refs(&graphs), &settings(None, None), &[[0, 3], [2, 1]], &Control::new()).unwrap();
    assert!(pairs[0].matching.pairs().all(|(left, right)| truth[0][left] == truth[3][right]));
    assert!(pairs[1].matching.pairs().all(|(left, right)| truth[2][left] == truth[1][right]));
    assert_eq!(pairs[1].matching.matched_count(), 8);
    // The scores are those that the matching is the best of.
    let best = pairs[0].problem.score(&pairs[0].matching).unwrap();
    let other = Matching::new((0..8).map(Some).collect(), 8, Constraint::OneToOne).unwrap();
    assert!(best >= pairs[0].problem.score(&other).unwrap() && best.is_finite());
}

#[test]
fn unlabelled_specimens_help_one_labelled_one_and_give_it_confidence() {
    let mut maker = Maker::new(6, 2, 10);
    let labelled = maker.specimens(1);
    let unlabelled: Vec<Graph> = (0..10).map(|at| shuffled(&maker.specimen(), 1 + 2 * (at % 2)).0).collect();
    let none = settings(None, None);
    let (model, _, brought) = fit(&refs(&labelled), &refs(&unlabelled), &none, &Control::new()).unwrap();
    assert!(brought.kept, "{}", brought.sentence());
    let atlas = model.atlas().unwrap();
    assert_eq!(atlas.specimens, 11);
    let (new, truth) = shuffled(&maker.specimen(), 3);
    let naming = model.name(&new, &mut Workspace::new()).unwrap();
    assert!(naming.calls.iter().all(|call| truth[call.point] == atlas.landmarks[call.landmark].name));
    assert!(naming.calls.iter().all(|call| call.confidence.is_some()));
    assert!(Model::from_json(&model.to_json().unwrap()).is_ok());
}

/// The same points with a column of numbers that have nothing to do with them.
fn with_noise(graph: &Graph, seed: usize, name: &str) -> Graph {
    let value = |row: usize| f64::from(u32::try_from((seed * 7919 + row * 104_729 + 31) % 1009).unwrap()) / 1009.0;
    let values = Array2::from_shape_fn((graph.node_count(), 1), |(row, _)| value(row));
    graph.clone().with_node_attributes(Attributes::new(vec![name.to_string()], values).unwrap()).unwrap()
}

#[test]
fn unlabelled_specimens_need_no_column_that_the_atlas_leaves_out() {
    let mut maker = Maker::new(16, 2, 12);
    let labelled: Vec<Graph> = (0..5).map(|at| with_noise(&maker.specimen(), at, "noise")).collect();
    let unlabelled: Vec<Graph> = (0..8).map(|at| shuffled(&maker.specimen(), 1 + 4 * (at % 2)).0).collect();
    let none = settings(None, None);
    let (alone, _) = Model::fit_atlas(&refs(&labelled), &none, &Control::new()).unwrap();
    assert!(alone.atlas().unwrap().attributes.is_empty());
    // Fewer of them, such as the folds of the gate, would not show that the column tells nothing.
    let (model, _, brought) = fit(&refs(&labelled), &refs(&unlabelled), &none, &Control::new()).unwrap();
    assert!(brought.held_out.is_some() && model.atlas().unwrap().attributes.is_empty());
}

#[test]
fn a_column_that_tells_nothing_does_not_count_when_specimens_are_joined_and_one_that_tells_does() {
    let mut maker = Maker::new(23, 2, 10);
    let (graphs, truth): (Vec<Graph>, Vec<Vec<String>>) =
        (0..8).map(|at| shuffled(&maker.specimen(), 1 + 2 * (at % 2))).unzip();
    let noisy: Vec<Graph> = graphs.iter().enumerate().map(|(at, one)| with_noise(one, at, "noise")).collect();
    let of = |graphs: &[Graph]| join(&refs(graphs), &settings(None, None), None, &Control::new()).unwrap();
    let (plain, with) = (of(&graphs), of(&noisy));
    assert!(is_true(&plain, &truth) && is_true(&with, &truth));
    assert!(with.model.atlas().unwrap().attributes.is_empty());
    assert_eq!(with.report.pair_scores, plain.report.pair_scores);
    let telling: Vec<Graph> = graphs
        .iter()
        .zip(&truth)
        .map(|(graph, names)| {
            let value = |row: usize| f64::from(names[row].bytes().map(u32::from).sum::<u32>());
            let values = Array2::from_shape_fn((graph.node_count(), 1), |(row, _)| value(row));
            graph.clone().with_node_attributes(Attributes::new(vec!["size".into()], values).unwrap()).unwrap()
        })
        .collect();
    assert_eq!(of(&telling).model.atlas().unwrap().attributes.len(), 1);
}

#[test]
fn a_model_that_matched_the_pairs_also_judges_the_names() {
    let mut maker = Maker::new(14, 2, 9);
    let (graphs, truth): (Vec<Graph>, Vec<Vec<String>>) =
        (0..6).map(|at| shuffled(&maker.specimen(), 1 + at % 2)).unzip();
    let map = FeatureSet::Quadratic.features(graphs.iter()).unwrap();
    let model = Model::unlearned(map, Method::FrankWolfe(FrankWolfe::default())).unwrap();
    let joined = join(&refs(&graphs), &settings(None, None), Some(&model), &Control::new()).unwrap();
    assert!(is_true(&joined, &truth), "{}", joined.report);
    // Scores of the model: the mean over the pairs that it matched, by its matches and by the names.
    let [alone, by_name] = joined.report.pair_scores.unwrap();
    let (mut sum, mut count) = (0.0, 0.0);
    for (left, right) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let pair = Pair::new(Arc::new(graphs[left].clone()), Arc::new(graphs[right].clone()));
        let place = |name: &String| truth[right].iter().position(|other| other == name);
        let matching = Matching::new(truth[left].iter().map(place).collect(), 9, Constraint::OneToOne).unwrap();
        sum += model.problem(&pair, &mut Workspace::new()).unwrap().score(&matching).unwrap();
        count += 1.0;
    }
    let expected = sum / count;
    assert!((by_name - expected).abs() <= 1e-9 * expected.abs(), "{by_name} {expected}");
    assert!(alone.is_finite());
}

#[test]
fn unlabelled_specimens_of_something_else_do_not_teach() {
    let mut maker = Maker::new(9, 2, 9);
    let labelled = maker.specimens(5);
    let mut other = Maker::new(77, 2, 9);
    let unlabelled: Vec<Graph> = (0..8).map(|at| shuffled(&other.specimen(), 1 + at % 2).0).collect();
    let none = settings(None, None);
    let (model, _, brought) = fit(&refs(&labelled), &refs(&unlabelled), &none, &Control::new()).unwrap();
    assert!(!brought.kept, "{}", brought.sentence());
    let (alone, _) = Model::fit_atlas(&refs(&labelled), &none, &Control::new()).unwrap();
    assert_eq!(model.to_json().unwrap(), alone.to_json().unwrap());
    let stopped = Control::new().interrupted_by(|| true);
    let (_, _, brought) = fit(&refs(&labelled), &refs(&unlabelled), &none, &stopped).unwrap();
    assert!(!brought.kept && brought.held_out.is_none());
}

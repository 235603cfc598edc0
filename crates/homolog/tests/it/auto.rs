//! The best model without choosing: what is tried, what is chosen, and that there is always an answer.

use homolog::Control;
use homolog::atlas::AtlasSettings;
use homolog::features::{FeatureMap, Turns};
use homolog::graph::{Attributes, Graph};
use homolog::learn::{AutoTrainer, Chosen, LabelledPairs, LearnerKind, Selected, SkipReason, Trainer};
use homolog::matching::{Constraint, Matching};
use homolog::model::Model;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points of one shape, moved by noise and turned by an angle, in a random order, which is returned as well.
fn specimen(count: usize, noise: f64, turn: f64, random: &mut ChaCha8Rng) -> (Arc<Graph>, Vec<usize>) {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, random.random_range(0..=at));
    }
    let (sin, cos) = turn.to_radians().sin_cos();
    let points = Array2::from_shape_fn((count, 2), |(row, axis)| {
        let name = order[row] as f64;
        // A spiral: no two points see the others alike.
        let (x, y) = ((name + 2.0) * (0.9 * name).cos(), 1.7 * (name + 2.0) * (0.9 * name).sin());
        let turned = if axis == 0 { cos * x - sin * y } else { sin * x + cos * y };
        turned + noise * random.random_range(-1.0..1.0)
    });
    (Arc::new(Graph::from_points(points).expect("made to fit")), order)
}

fn truth(left: &[usize], right: &[usize]) -> Matching {
    let partner = |name: &usize| right.iter().position(|other| other == name);
    Matching::new(left.iter().map(partner).collect(), right.len(), Constraint::OneToOne).expect("made to fit")
}

fn pairs_of(specimens: &[(Arc<Graph>, Vec<usize>)]) -> LabelledPairs {
    let mut pairs = LabelledPairs::new();
    for pair in specimens.chunks(2) {
        pairs.add(&pair[0].0, &pair[1].0, truth(&pair[0].1, &pair[1].1)).expect("made to fit");
    }
    pairs
}

fn select(pairs: &LabelledPairs, time_limit: Option<f64>) -> Selected {
    let clock = Arc::new(|| 0.0);
    // One λ of one learner: this test is about the choice among sets.
    let trainer = Trainer { learner: LearnerKind::MaxMargin, lambdas: vec![1.0], ..Trainer::default() };
    let auto = AutoTrainer {
        trainer,
        unmatched: None,
        pose: None,
        atlas: Some(AtlasSettings::default()),
        images: Vec::new(),
        time_limit,
        clock,
    };
    auto.train(pairs, &LabelledPairs::new(), &Control::new()).expect("made to fit")
}

fn features(selected: &Selected) -> &FeatureMap {
    match &selected.outcome {
        Chosen::Weights { set, .. } => &set.features,
        _ => panic!("an atlas"),
    }
}

#[test]
fn the_simplest_of_the_best_is_taken_and_recorded() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let specimens: Vec<_> = (0..8).map(|_| specimen(9, 0.2, 0.0, &mut random)).collect();
    let selected = select(&pairs_of(&specimens), None);
    assert_eq!(selected.tried[selected.chosen].name, "linear");
    assert_eq!(selected.tried[0].error, Some(0.0));
    // The others have nothing left to gain.
    assert!(!selected.skipped.is_empty() && selected.skipped.iter().all(|s| s.reason == SkipReason::NothingToGain));
    assert!(features(&selected).pose.is_as_given());
    let model = Model::selected(&selected).unwrap();
    let text = model.to_json().unwrap();
    assert!(text.contains("\"tried\"") && !text.contains("match_seconds"));
    assert_eq!(Model::from_json(&text).unwrap(), model);
}

#[test]
fn turned_specimens_get_a_pose() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let turns = [0.0, 130.0, 80.0, 250.0, 10.0, 170.0, 300.0, 60.0];
    let specimens: Vec<_> = turns.iter().map(|&turn| specimen(9, 0.1, turn, &mut random)).collect();
    let selected = select(&pairs_of(&specimens), None);
    assert_eq!(features(&selected).pose.turns, Turns::Any);
    let model = Model::selected(&selected).unwrap();
    let (left, right) = (specimen(9, 0.1, 20.0, &mut random), specimen(9, 0.1, 200.0, &mut random));
    let pair = homolog::graph::Pair::new(Arc::clone(&left.0), Arc::clone(&right.0));
    let solution = model.solve(&pair).unwrap();
    assert_eq!(solution.matching, truth(&left.1, &right.1));
}

#[test]
fn nodes_without_partners_bring_a_price_into_the_choice() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut pairs = LabelledPairs::new();
    for _ in 0..4 {
        let (left, right) = (specimen(9, 0.1, 0.0, &mut random), specimen(9, 0.1, 0.0, &mut random));
        // Every specimen lacks two of the nine.
        let drop = |(graph, order): &(Arc<Graph>, Vec<usize>), random: &mut ChaCha8Rng| {
            let gone = [random.random_range(0..4), random.random_range(4..9)];
            let kept: Vec<usize> = (0..9).filter(|&row| !gone.contains(&order[row])).collect();
            let points = graph.points().unwrap().select(ndarray::Axis(0), &kept);
            (Arc::new(Graph::from_points(points).unwrap()), kept.iter().map(|&row| order[row]).collect::<Vec<_>>())
        };
        let (left, right) = (drop(&left, &mut random), drop(&right, &mut random));
        pairs.add(&left.0, &right.0, truth(&left.1, &right.1)).unwrap();
    }
    let selected = select(&pairs, None);
    let all: Vec<&str> = selected.tried.iter().map(|tried| tried.name.as_str()).collect();
    assert!(all.contains(&"linear") && all.contains(&"linear with a price"), "{all:?}");
    let error = |name: &str| selected.tried.iter().find(|tried| tried.name == name).unwrap().error.unwrap();
    // Without a price every node that has no partner is matched, wrongly.
    assert!(error("linear") > 0.0);
    assert!(selected.tried[selected.chosen].error.unwrap() <= error("linear"));
}

#[test]
fn attributes_alone_are_enough_and_no_time_still_gives_an_answer() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut pairs = LabelledPairs::new();
    for _ in 0..4 {
        let graph = |random: &mut ChaCha8Rng| {
            let values = Array2::from_shape_fn((6, 1), |(row, _)| row as f64 + random.random_range(-0.1..0.1));
            let attributes = Attributes::new(vec!["size".to_string()], values).unwrap();
            Arc::new(Graph::new(6).with_node_attributes(attributes).unwrap())
        };
        pairs.add(&graph(&mut random), &graph(&mut random), Matching::identity(6)).unwrap();
    }
    let selected = select(&pairs, Some(0.0));
    assert_eq!((selected.chosen, selected.tried[0].name.as_str()), (0, "attributes"));
    assert!(!selected.trained().unwrap().weights().iter().all(|&weight| weight == 0.0));
}

#[test]
fn graphs_that_nothing_fits_are_an_error() {
    let mut pairs = LabelledPairs::new();
    let bare = || Arc::new(Graph::new(3));
    pairs.add(&bare(), &bare(), Matching::identity(3)).unwrap();
    let (trainer, clock) = (Trainer::default(), Arc::new(|| 0.0));
    let auto = AutoTrainer {
        trainer,
        unmatched: None,
        pose: None,
        atlas: Some(AtlasSettings::default()),
        images: Vec::new(),
        time_limit: None,
        clock,
    };
    assert!(auto.train(&pairs, &LabelledPairs::new(), &Control::new()).is_err());
    assert!(auto.train(&LabelledPairs::new(), &LabelledPairs::new(), &Control::new()).is_err());
}

#[test]
fn specimens_that_share_names_bring_an_atlas_into_the_choice() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    // Every third point roams: an atlas learns which, features shared by all points cannot.
    let mut roaming = || {
        let (graph, order) = specimen(9, 0.1, 0.0, &mut random);
        let mut points = graph.points().unwrap().to_owned();
        for (row, name) in order.iter().enumerate() {
            if name % 3 == 0 {
                points.row_mut(row).mapv_inplace(|x| x + random.random_range(-9.0..9.0));
            }
        }
        let names = order.iter().map(|name| format!("p{name}")).collect();
        (Arc::new(Graph::from_points(points).unwrap().with_names(names).unwrap()), order)
    };
    let specimens: Vec<(Arc<Graph>, Vec<usize>)> = (0..20).map(|_| roaming()).collect();
    let selected = select(&pairs_of(&specimens), None);
    assert_eq!(selected.tried[selected.chosen].name, "atlas", "{:?}", selected.tried);
    let model = Model::selected(&selected).unwrap();
    assert!(model.atlas().is_some() && model.to_json().unwrap().contains("\"tried\""));
    assert_eq!(Model::from_json(&model.to_json().unwrap()).unwrap(), model);
}

#[test]
fn sets_are_compared_on_the_pairs_there_was_time_for() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let specimens: Vec<_> = (0..14).map(|_| specimen(12, 3.0, 0.0, &mut random)).collect();
    let mut pairs = LabelledPairs::new();
    for (n, (left, left_order)) in specimens.iter().enumerate() {
        for (right, right_order) in &specimens[..n] {
            pairs.add(left, right, truth(left_order, right_order)).unwrap();
        }
    }
    let mut seen_some = false;
    for limit in [1.0, 20.0, 60.0, 200.0, 1000.0] {
        // Every look at the clock takes a tenth of a second.
        let ticks = Arc::new(AtomicUsize::new(0));
        let clock = Arc::new(move || 0.1 * ticks.fetch_add(1, Ordering::Relaxed) as f64);
        let auto = AutoTrainer {
            trainer: Trainer { learner: LearnerKind::MaxMargin, lambdas: vec![1.0], ..Trainer::default() },
            unmatched: None,
            pose: None,
            atlas: Some(AtlasSettings::default()),
            images: Vec::new(),
            time_limit: Some(limit),
            clock,
        };
        let selected = auto.train(&pairs, &LabelledPairs::new(), &Control::new()).unwrap();
        for tried in &selected.tried {
            let Some([done, of]) = tried.pairs else { continue };
            assert!(0 < done && done <= of && of == pairs.len(), "{tried:?}");
            seen_some |= done < of;
            // What learned was measured on all of them.
            assert!(done == of || tried.error == tried.unlearned_error, "{tried:?}");
        }
        assert!(Model::selected(&selected).unwrap().to_json().is_ok());
    }
    assert!(seen_some);
}

#[test]
fn few_specimens_that_share_names_are_held_out_one_by_one_on_the_same_pairs_for_all_sets() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    // So much noise that nobody is always right.
    let specimens: Vec<_> = (0..6).map(|_| specimen(9, 6.0, 0.0, &mut random)).collect();
    let mut pairs = LabelledPairs::new();
    let named = |(graph, order): &(Arc<Graph>, Vec<usize>)| {
        let names = order.iter().map(|name| format!("p{name}")).collect();
        Arc::new((**graph).clone().with_names(names).unwrap())
    };
    let graphs: Vec<Arc<Graph>> = specimens.iter().map(named).collect();
    for a in 0..6 {
        for b in 0..a {
            pairs.add(&graphs[a], &graphs[b], truth(&specimens[a].1, &specimens[b].1)).unwrap();
        }
    }
    let selected = select(&pairs, None);
    assert!(selected.tried.iter().any(|tried| tried.name == "atlas"), "{:?}", selected.tried);
    for tried in &selected.tried {
        assert_eq!(tried.pairs, Some([15, 15]), "{tried:?}");
        let (Some(error), Some([low, high])) = (tried.error, tried.interval) else { panic!("{tried:?}") };
        assert!(low <= error && error <= high && high > 0.0, "{tried:?}");
    }
    let chosen = &selected.tried[selected.chosen];
    let words = selected.sentence();
    assert!(words.starts_with(&format!("Chose {}: held-out error 0.", chosen.name)), "{words}");
    assert!(words.contains(" to ") && words.contains(", 15 pairs)"), "{words}");
}

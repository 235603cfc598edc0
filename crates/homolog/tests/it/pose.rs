//! Laws of pose: turned data are matched as if they were not turned, if turns are allowed and only then.

use crate::made;

use homolog::Control;
use homolog::features::{FeatureMap, Rotation, Turns, lies_within, turn_of};
use homolog::graph::{Graph, Pair};
use homolog::learn::{LabelledPairs, Trainer, TrainingSet, evaluate};
use homolog::loss::LossKind;
use homolog::matching::{Constraint, FrankWolfe, Linear, Matching, Method, Workspace};
use homolog::model::Model;
use made::{numbers, rng};
use ndarray::{Array2, array};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const COUNT: usize = 14;

/// Points and a copy of them with a little jitter, the left ones turned.
fn pair(seed: u64, turn: &Array2<f64>) -> Pair {
    let rng = &mut rng(seed);
    let dimension = turn.nrows();
    let right = numbers(rng, COUNT, dimension, 10.0, 3.0);
    let left = (&right + &numbers(rng, COUNT, dimension, 0.2, 0.0)).dot(&turn.t());
    Pair::new(Arc::new(Graph::from_points(left).unwrap()), Arc::new(Graph::from_points(right).unwrap()))
}

fn in_plane(degrees: f64) -> Array2<f64> {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    array![[cosine, -sine], [sine, cosine]]
}

fn model(set: &str, pair: &Pair, pose: Rotation) -> Model {
    let map = FeatureMap { pose, ..FeatureMap::named(set, [&*pair.left]).unwrap() };
    let map = map.with_spread_of(std::slice::from_ref(pair)).unwrap();
    let linear = map.edge.is_empty();
    let matcher = if linear { Method::Linear(Linear::default()) } else { Method::FrankWolfe(FrankWolfe::default()) };
    Model::unlearned(map, matcher).unwrap()
}

/// How many nodes are matched wrongly.
fn wrong(set: &str, pair: &Pair, pose: Rotation) -> usize {
    let solution = model(set, pair, pose).solve(pair).unwrap();
    solution.matching.left_to_right().iter().enumerate().filter(|&(i, k)| *k != Some(i)).count()
}

fn turns(turns: Turns) -> Rotation {
    Rotation { turns, mirror: false }
}

#[test]
fn any_turn_is_undone_in_the_plane() {
    for (seed, degrees) in [0.0, 20.0, 44.0, 90.0, 137.0, 180.0, -75.0].into_iter().enumerate() {
        let pair = pair(seed as u64, &in_plane(degrees));
        for set in ["linear", "quadratic", "robust"] {
            assert_eq!(wrong(set, &pair, turns(Turns::Any)), 0, "{set} turned by {degrees}");
            if degrees.abs() < 45.0 {
                assert_eq!(wrong(set, &pair, turns(Turns::Tilted)), 0, "{set} tilted by {degrees}");
            }
        }
        if degrees.abs() > 60.0 {
            assert!(wrong("linear", &pair, turns(Turns::AsGiven)) > COUNT / 2, "{degrees}");
        }
        if degrees.abs() > 100.0 {
            assert!(wrong("linear", &pair, turns(Turns::Tilted)) > 0, "{degrees}");
        }
        let truth = Matching::identity(COUNT);
        let found = turn_of(&pair, &truth).unwrap().unwrap();
        assert!((found - degrees.abs()).abs() < 3.0, "{found} {degrees}");
        // A model that takes data as given says when it should not.
        let as_given = model("linear", &pair, Rotation::default());
        let graphs = as_given.prepare(&[pair.left.clone(), pair.right.clone()], &Control::new()).unwrap();
        let work = &mut Workspace::new();
        let matched = as_given.match_prepared(&graphs[0], &graphs[1], &pair.given, work).unwrap();
        let warned = as_given.better_rotation([&graphs[0], &graphs[1]], &matched, work).unwrap();
        assert_eq!(warned.is_some(), degrees.abs() > 30.0, "{degrees}: {warned:?}");
        // Where the truth is known it determines the turn.
        let known = turns(Turns::Any).known(&pair, &truth).unwrap();
        assert!(turn_of(&known, &truth).unwrap().unwrap() < 1e-6);
        assert_eq!(Rotation::default().known(&pair, &truth).unwrap(), pair);
    }
}

#[test]
fn mirror_images_match_only_where_they_are_asked_for() {
    for seed in 20..24 {
        let mirrored = in_plane(70.0).dot(&array![[-1.0, 0.0], [0.0, 1.0]]);
        let pair = pair(seed, &mirrored);
        assert!(wrong("linear", &pair, turns(Turns::Any)) > COUNT / 3);
        assert_eq!(wrong("linear", &pair, Rotation { turns: Turns::Any, mirror: true }), 0, "seed {seed}");
        let truth = Matching::identity(COUNT);
        let known = Rotation { turns: Turns::Any, mirror: true }.known(&pair, &truth).unwrap();
        assert!(turn_of(&known, &truth).unwrap().unwrap() < 1e-6);
    }
}

#[test]
fn any_turn_is_undone_in_space() {
    let about = |axis: usize, degrees: f64| {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let mut turn = Array2::eye(3);
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        (turn[[a, a]], turn[[a, b]], turn[[b, a]], turn[[b, b]]) = (cosine, -sine, sine, cosine);
        turn
    };
    let mut all = 0;
    for seed in 30..38 {
        let step = (seed - 30) as f64;
        let turn = about(0, 47.0 * step).dot(&about(1, 101.0 * step)).dot(&about(2, 13.0 * step));
        all += wrong("linear", &pair(seed, &turn), turns(Turns::Any));
        let tilt = about((seed % 3) as usize, 35.0);
        all += wrong("linear", &pair(seed, &tilt), turns(Turns::Tilted));
    }
    assert_eq!(all, 0);
}

#[test]
fn whoever_wants_it_to_stop_gets_the_best_turn_so_far() {
    let pair = pair(5, &in_plane(100.0));
    let model = model("linear", &pair, turns(Turns::Any));
    let asked = Arc::new(AtomicUsize::new(0));
    for turns_left in [0, 3, usize::MAX] {
        asked.store(0, Ordering::Relaxed);
        let counter = Arc::clone(&asked);
        let control = Control::new().interrupted_by(move || counter.load(Ordering::Relaxed) > turns_left);
        let counter = Arc::clone(&asked);
        let count_and_solve = |turned: &Pair| {
            counter.fetch_add(1, Ordering::Relaxed);
            let as_given = FeatureMap { pose: Rotation::default(), ..model.features.clone() };
            Model::unlearned(as_given, Method::Linear(Linear::default()))?.solve(turned)
        };
        let (_, solution) = turns(Turns::Any).best(&pair, &control, count_and_solve).unwrap();
        let tried = asked.load(Ordering::Relaxed);
        assert_eq!(tried <= turns_left.saturating_add(1), turns_left < usize::MAX || tried > 20, "{tried}");
        assert_eq!(solution.matching == Matching::identity(COUNT), turns_left == usize::MAX);
    }
    let stopped = Control::new().interrupted_by(|| true);
    assert!(model.solve_with(&pair, &mut Workspace::with_control(&stopped)).is_ok());
}

#[test]
fn graphs_without_points_cannot_be_turned() {
    let pair = Pair::new(Arc::new(Graph::new(3)), Arc::new(Graph::new(3)));
    let refused = turns(Turns::Any).known(&pair, &Matching::identity(3)).unwrap_err();
    assert_eq!(refused.to_string(), "pose: the graph has no points");
    assert_eq!(turn_of(&pair, &Matching::identity(3)).unwrap(), None);
}

fn labelled(pairs: &[Pair]) -> LabelledPairs {
    let mut all = LabelledPairs::new();
    for pair in pairs {
        all.add_partly(pair, Matching::identity(COUNT), &[]).unwrap();
    }
    all
}

#[test]
fn pairs_lie_alike_or_they_do_not() {
    let truth = Matching::identity(COUNT);
    let mirror = array![[-1.0, 0.0], [0.0, 1.0]];
    for seed in 40..50 {
        let alike = |turn: &Array2<f64>| lies_within(30.0, &pair(seed, turn), &truth).unwrap();
        assert!([0.0, 10.0, -20.0].into_iter().all(|degrees| alike(&in_plane(degrees))), "seed {seed}");
        assert!([45.0, 90.0, 180.0].into_iter().all(|degrees| !alike(&in_plane(degrees))), "seed {seed}");
        assert!(!alike(&mirror), "seed {seed}");
    }
    // A needle rolled about its axis counts as alike, whatever its nearest turn is.
    let along = Array2::from_shape_fn((COUNT, 3), |(i, axis)| if axis == 0 { i as f64 } else { 0.0 });
    let points = &along + &numbers(&mut rng(50), COUNT, 3, 0.01, 0.0);
    let rolled = &points * &array![[1.0, -1.0, -1.0]];
    let needle =
        Pair::new(Arc::new(Graph::from_points(points).unwrap()), Arc::new(Graph::from_points(rolled).unwrap()));
    assert!(lies_within(30.0, &needle, &truth).unwrap());
    assert!(
        lies_within(30.0, &needle, &Matching::new(vec![None; COUNT], COUNT, Constraint::OneToOne).unwrap()).unwrap()
    );
}

#[test]
fn features_that_see_turns_do_not_learn_from_turned_pairs_and_say_which() {
    let pairs: Vec<Pair> = (60..64).map(|seed| pair(seed, &in_plane(if seed == 62 { 180.0 } else { 5.0 }))).collect();
    let features = FeatureMap::named("linear", [&*pairs[0].left]).unwrap();
    let set = |map: &FeatureMap, pairs: &[Pair]| {
        TrainingSet::new(map, &LossKind::default(), &labelled(pairs), &LabelledPairs::new()).unwrap()
    };
    let kept = set(&features, &pairs);
    assert_eq!((kept.turned, kept.training.len()), (vec![2], 3));
    let posed = FeatureMap { pose: turns(Turns::Any), ..features.clone() };
    assert_eq!(set(&posed, &pairs).training.len(), 4);
    // If all are turned there is nothing to learn from, and the weights are as before.
    let none = set(&features, &pairs[2..3]);
    let trained = Trainer::default().train(&none, &Control::new()).unwrap();
    assert_eq!(trained.weights(), none.unlearned);
}

#[test]
fn what_is_predicted_of_turned_pairs_has_to_find_the_turn() {
    let mirrored: Vec<Pair> = (70..74).map(|seed| pair(seed, &array![[-1.0, 0.0], [0.0, 1.0]])).collect();
    let turned: Vec<Pair> = (70..74).map(|seed| pair(seed, &in_plane(120.0))).collect();
    let error = |pairs: &[Pair], pose: Rotation| {
        let features = FeatureMap { pose, ..FeatureMap::named("linear", [&*pairs[0].left]).unwrap() };
        let set = TrainingSet::new(&features, &LossKind::default(), &labelled(pairs), &LabelledPairs::new()).unwrap();
        let matcher = Linear::default();
        evaluate(&set.training, &matcher, &set.unlearned, &Control::new()).unwrap().mean()
    };
    assert_eq!(error(&turned, turns(Turns::Any)), 0.0);
    // The truth would turn them back; the score cannot, since it may not mirror.
    assert!(error(&mirrored, turns(Turns::Any)) > 0.3);
    assert_eq!(error(&mirrored, Rotation { turns: Turns::Any, mirror: true }), 0.0);
}

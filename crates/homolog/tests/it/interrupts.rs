//! Every long call asks its control often, and ends with a valid answer once it is told to stop. There is no clock: the control counts how
//! often it is asked, and says stop from a certain question on.

use crate::common;
use crate::long_calls::{LongCall, Sizes, long_calls};

use common::rng;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::{LabelledPairs, Trainer, TrainingSet};
use homolog::loss::LossKind;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Method,
    Sense, Solution, Sparse, Status, Workspace, k_best, margins,
};
use homolog::model::Model;
use homolog::{Control, ErrorKind};
use ndarray::{Array1, Array2};
use rand::RngExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says stop from the question with this number on; counts the questions.
fn stopping(after: usize) -> (Control, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    (Control::new().interrupted_by(move || count.fetch_add(1, Ordering::SeqCst) >= after), asked)
}

/// Runs a call to completion, which must ask at least `least` times, then stops it at several moments, after which it must hardly ask again.
fn check(name: &str, least: usize, call: &dyn Fn(&Control)) {
    let (control, asked) = stopping(usize::MAX);
    call(&control);
    let all = asked.load(Ordering::SeqCst);
    assert!(all >= least, "{name} asks only {all} times, not {least}");
    for after in [0, 1, 2, all / 4, all / 2, all - 1] {
        let (control, asked) = stopping(after);
        call(&control);
        let more = asked.load(Ordering::SeqCst) - after.min(asked.load(Ordering::SeqCst));
        assert!(more <= 300, "{name}, stopped at question {after} of {all}, asks {more} times more");
    }
}

/// A valid answer: the score is that of the matching, and nothing is claimed that was not shown.
fn check_answer(problem: &Compatibility, answer: &Solution, control: &Control) {
    assert_eq!(answer.score, problem.score(&answer.matching).unwrap());
    assert!(answer.bound >= answer.score);
    assert!(answer.status != Status::Limit || control.interrupted(), "nobody stopped it");
}

/// Points on a line: many rows are still unplaced after the first bids.
fn hard_linear(n: usize, m: usize) -> Compatibility {
    let mut rng = rng(1);
    let points: Vec<f64> = (0..n + m).map(|_| rng.random()).collect();
    Compatibility::linear(Array2::from_shape_fn((n, m), |(i, k)| -(points[i] - points[n + k]).powi(2)))
}

fn quadratic(n: usize) -> Compatibility {
    let mut rng = rng(2);
    let ends = (0..n).flat_map(|i| [[i, (i + 1) % n], [(i + 1) % n, i], [i, (i + 7) % n], [(i + 7) % n, i]]);
    let edges = Arc::new(EdgeList::new(n, ends.collect()).unwrap());
    let mut factors = || Array2::from_shape_simple_fn((edges.len(), 2), || rng.random_range(-1.0..1.0));
    let edge = EdgeTerm::factored(Arc::clone(&edges), Arc::clone(&edges), factors(), factors()).unwrap();
    Compatibility::linear(Array2::from_shape_simple_fn((n, n), || 0.3 * rng.random::<f64>())).with_edges(edge)
}

#[test]
fn every_matcher() {
    let (large, small) = (quadratic(12), quadratic(6));
    let linear = hard_linear(60, 70);
    for method in Method::all() {
        let (problem, least) = match method {
            Method::Linear(_) | Method::Hungarian(_) => (&linear, 10),
            Method::BruteForce(_) => (&small, 3),
            _ => (&large, 40),
        };
        check(method.name(), least, &|control| {
            let answer = method.matcher().solve_with(problem, &mut Workspace::with_control(control)).unwrap();
            check_answer(problem, &answer, control);
            let is_whole = answer.matching.matched_count() == problem.left_count();
            assert!(is_whole || method.name() == "hungarian", "{}", method.name());
        });
    }
    let (brute, exact) = (BruteForce::default(), Exact::default());
    let best = brute.solve(&small).unwrap().score;
    let (control, _) = stopping(0);
    assert!(exact.solve_with(&small, &mut Workspace::with_control(&control)).unwrap().bound >= best);
}

#[test]
fn linear_problems_of_every_kind() {
    let forbidding = |mut problem: Compatibility| {
        // The first rows compete for too few columns.
        problem.node.indexed_iter_mut().filter(|((i, k), _)| *i < 20 && *k >= 10).for_each(|(_, score)| {
            *score = f64::NEG_INFINITY;
        });
        problem
    };
    let huge = |mut problem: Compatibility| {
        problem.node.row_mut(3).iter_mut().for_each(|score| *score += 1e12);
        problem
    };
    let prices = |n: usize| Array1::from_elem(n, -0.2);
    let problems = [
        ("square", hard_linear(80, 80)),
        ("tall", hard_linear(90, 80)),
        ("wide", hard_linear(80, 90)),
        ("long rows", hard_linear(60, 1600)),
        ("prices", hard_linear(80, 80).with_unmatched(prices(80))),
        ("prices of right nodes", hard_linear(80, 80).with_right_unmatched(prices(80))),
        ("a crowd", forbidding(hard_linear(80, 80))),
        ("unlike scores", huge(hard_linear(80, 80))),
    ];
    for (name, problem) in &problems {
        for solver in [Method::Linear(Linear::default()), common::hungarian()] {
            let least = if *name == "long rows" { 1 } else { 10 };
            check(name, least, &|control| {
                let answer = solver.matcher().solve_with(problem, &mut Workspace::with_control(control)).unwrap();
                check_answer(problem, &answer, control);
            });
        }
        let pairs = problem.node.indexed_iter().map(|((i, k), &score)| (i, k, score)).collect();
        let (n, m) = problem.node.dim();
        let sparse = Sparse::from_pairs(n, m, pairs, Sense::Maximize).unwrap();
        check("sparse", 1, &|control| {
            let answer = Linear::default().solve_with(&sparse, &mut Workspace::with_control(control)).unwrap();
            assert_eq!(answer.score, sparse.score(&answer.matching).unwrap());
        });
    }
}

#[test]
fn relaxations_and_lists_of_matchings() {
    let problem = quadratic(12);
    let best = Exact::default().solve(&problem).unwrap();
    check("relaxation", 20, &|control| {
        let relaxed = LpRelaxation::default().solve_with(&problem, &mut Workspace::with_control(control)).unwrap();
        assert!(relaxed.bound >= best.score && relaxed.value <= relaxed.bound);
    });
    let linear = hard_linear(12, 14);
    check("k best", 20, &|control| {
        let best = k_best(&linear, &Linear::default(), 20, &mut Workspace::with_control(control)).unwrap();
        assert!(!best.matchings.is_empty() && best.matchings.is_sorted_by(|a, b| a.1 >= b.1));
        assert!(best.matchings.len() == 20 || !best.proven || control.interrupted());
    });
    // Told to stop, it does not go through the classes of the best matching first: one question each would be sixty.
    let (once, asked) = stopping(usize::MAX);
    let many = hard_linear(60, 60);
    Linear::default().solve_with(&many, &mut Workspace::with_control(&once)).unwrap();
    let (control, more) = stopping(asked.load(Ordering::SeqCst) + 10);
    k_best(&many, &Linear::default(), 20, &mut Workspace::with_control(&control)).unwrap();
    assert!(more.load(Ordering::SeqCst) < asked.load(Ordering::SeqCst) + 30);
    let solution = Linear::default().solve(&linear).unwrap();
    check("margins", 1, &|control| {
        margins(&linear, &solution, None, control).unwrap();
    });
}

#[test]
fn training_and_explaining() {
    let mut rng = rng(3);
    let mut pairs = LabelledPairs::new();
    for _ in 0..3 {
        let points = Array2::from_shape_simple_fn((5, 2), || rng.random::<f64>());
        let moved = points.mapv(|value| value + rng.random_range(-0.1..0.1));
        let graph = |points: Array2<f64>| Arc::new(Graph::from_points(points).unwrap());
        let truth = Matching::new((0..5).map(Some).collect(), 5, Constraint::OneToOne).unwrap();
        pairs.add(&graph(points), &graph(moved), truth).unwrap();
    }
    for features in [FeatureMap::paper_linear(), FeatureMap::paper_quadratic()] {
        let set = TrainingSet::new(&features, &LossKind::default(), &pairs, &LabelledPairs::new()).unwrap();
        check("training", 5, &|control| {
            let trained = Trainer::default().train(&set, control).unwrap();
            assert!(trained.complete || control.interrupted());
            assert_eq!(trained.weights().len(), features.dim());
        });
        if features.edge.is_empty() {
            continue;
        }
        let model = Model::unlearned(features.clone(), Method::Exact(Exact::default())).unwrap();
        let example = &set.training[0];
        let problem = example.instance().compatibility(&model.weights()).unwrap();
        check("an exact solve of a model's problem", 1, &|control| {
            let answer = Exact::default().solve_with(&problem, &mut Workspace::with_control(control)).unwrap();
            check_answer(&problem, &answer, control);
        });
    }
}

/// Whatever is called, and whenever it is told to stop: an answer, or word that it was stopped; and then the library works as before.
#[test]
fn every_long_call_of_the_table() {
    let small = Sizes { cells: 40, nodes: 8, points: 600, landmarks: 5, specimens: 5, frames: 12, pixels: 64 };
    for LongCall { name, run } in long_calls(small).unwrap() {
        check(name, 1, &|control| match run(control) {
            Ok(()) => {}
            Err(error) => {
                assert!(error.kind() == ErrorKind::Interrupted && control.interrupted(), "{name}: {error}");
            }
        });
        run(&Control::new()).unwrap();
    }
}

/// Pairs that nobody has described yet: told to stop, nothing is described.
#[test]
fn describing_labelled_pairs() {
    let graph = || {
        Arc::new(Graph::from_points(Array2::from_shape_fn((4, 2), |(i, axis)| ((i * i + axis) % 5) as f64)).unwrap())
    };
    let mut pairs = LabelledPairs::new();
    for _ in 0..6 {
        pairs.add(&graph(), &graph(), Matching::identity(4)).unwrap();
    }
    let features = FeatureMap::paper_linear();
    for after in [0, 3, 9] {
        let (control, asked) = stopping(after);
        let watched = pairs.clone().watched_by(&control);
        let error = TrainingSet::new(&features, &LossKind::default(), &watched, &LabelledPairs::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert!(asked.load(Ordering::SeqCst) <= after + 20);
    }
}

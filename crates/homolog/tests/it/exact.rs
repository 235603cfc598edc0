//! The exact quadratic matcher: proofs against brute force, bounds that hold at every moment, real problems with known optima.

use crate::common;

use common::{Kind, close, data_folder, magnitude, placed, random_kind, random_problem, rng};
use homolog::Control;
use homolog::data::{dd, qaplib};
use homolog::features::FeatureSet;
use homolog::graph::{Graph, Pair};
use homolog::matching::{
    BruteForce, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Matcher, Progress, Solution, Status, Workspace,
};
use homolog::model::Model;
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn brute_force(problem: &Compatibility) -> Solution {
    BruteForce::default().solve(problem).unwrap()
}

/// Problems with edges of every kind: either constraint, prices, forbidden pairs, both signs, directed, n < m and n > m.
fn random_quadratic(rng: &mut ChaCha8Rng) -> Compatibility {
    let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
    let constraint = if rng.random_bool(0.2) { Constraint::ManyToOne } else { Constraint::OneToOne };
    let kind = Kind { constraint, edges: true, ..random_kind(rng) };
    random_problem(rng, n, m, kind)
}

#[test]
fn small_problems_of_all_kinds_are_proven() {
    let mut rng = rng(11);
    let mut work = Workspace::new();
    for _ in 0..1500 {
        let problem = random_quadratic(&mut rng);
        let answer = Exact::default().solve_with(&problem, &mut work).unwrap();
        let best = brute_force(&problem);
        let context = || format!("{answer:?}\nbut {best:?}\non {problem:?}");
        assert_eq!(answer.status, Status::Optimal, "{}", context());
        assert!(close(answer.score, best.score, magnitude(&problem)), "{}", context());
        assert_eq!(placed(&problem, &answer.matching), placed(&problem, &best.matching), "{}", context());
        assert_eq!(answer.bound, answer.score);
    }
}

/// Solves and checks that every bound and score on the way holds and is no worse than the last; how many branches it took.
fn solve_watched(problem: &Compatibility) -> usize {
    let best = brute_force(problem).score;
    let size = magnitude(problem);
    let (mut last_score, mut last_bound, mut branches) = (f64::NEG_INFINITY, f64::INFINITY, 0);
    let observe = &mut |now: &Progress| {
        assert!(best <= now.bound || close(best, now.bound, size), "{best} beats the bound of {now:?} on {problem:?}");
        assert!(now.score <= best || close(best, now.score, size), "{now:?} beats the best, {best}, on {problem:?}");
        let lower = now.bound <= last_bound || close(now.bound, last_bound, size);
        assert!(now.score >= last_score && lower, "{now:?} is worse than before: {last_score}, {last_bound}");
        (last_score, last_bound, branches) = (now.score, now.bound, now.branches);
        ControlFlow::Continue(())
    };
    let answer = Exact::default().solve_observed(problem, &mut Workspace::new(), observe).unwrap();
    assert_eq!(answer.status, Status::Optimal);
    assert!(close(answer.score, best, size), "{answer:?}, but {best} on {problem:?}");
    branches
}

#[test]
fn every_bound_on_the_way_holds() {
    let mut rng = rng(12);
    for _ in 0..300 {
        solve_watched(&random_quadratic(&mut rng));
    }
}

#[test]
fn branching_loses_nothing() {
    // Random flows between the places of a grid: its symmetries make the relaxation weak.
    let mut rng = rng(14);
    let mut branched = 0;
    for round in 0..60 {
        let (n, m) = [(6, 6), (5, 8), (7, 6)][round % 3];
        let everything = |count: usize| {
            let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j).collect();
            Arc::new(EdgeList::new(count, all).unwrap())
        };
        let (left, right) = (everything(n), everything(m));
        let distance = |&[k, l]: &[usize; 2]| ((k / 2).abs_diff(l / 2) + (k % 2).abs_diff(l % 2)) as f64;
        let a = Array2::from_shape_simple_fn((left.len(), 1), || -rng.random_range(0.0..1.0_f64).powi(3));
        let b = Array2::from_shape_fn((right.len(), 1), |(f, _)| distance(&right.ends()[f]));
        let edge = EdgeTerm::factored(left, right, a, b).unwrap();
        let mut problem = Compatibility::linear(Array2::zeros((n, m))).with_edges(edge);
        problem.unmatched = (round % 2 == 1).then(|| Array1::from_elem(n, -1.0));
        branched += usize::from(solve_watched(&problem) > 1);
    }
    assert!(branched > 20, "it branched {branched} times");
}

#[test]
fn stopped_at_any_moment_the_answer_is_valid() {
    let mut rng = rng(13);
    for round in 0..200 {
        let problem = random_quadratic(&mut rng);
        let best = brute_force(&problem);
        let size = magnitude(&problem);
        let asked = AtomicUsize::new(0);
        let allowed = [0, 1, 5, 30][round % 4];
        let mut work = Workspace::with_control(
            &Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) >= allowed),
        );
        let limits = [(usize::MAX, usize::MAX), (0, 100), (20, 100), (1000, 1)][round / 4 % 4];
        let matcher = Exact { max_iterations: limits.0, max_branches: limits.1, ..Exact::default() };
        let answer = matcher.solve_with(&problem, &mut work).unwrap();
        assert_eq!(problem.score(&answer.matching).unwrap(), answer.score);
        assert_eq!(placed(&problem, &answer.matching), placed(&problem, &best.matching));
        assert!(answer.score <= best.score || close(answer.score, best.score, size));
        assert!(answer.bound >= best.score || close(answer.bound, best.score, size));
        assert!(answer.status == Status::Limit || close(answer.score, best.score, size), "{answer:?}\n{best:?}");
    }
}

#[test]
fn the_caller_can_end_it_and_ask_for_less_than_a_proof() {
    let problem = grids([3, 4], [2, 6]);
    let ended = Exact::default().solve_observed(&problem, &mut Workspace::new(), &mut |_| ControlFlow::Break(()));
    let ended = ended.unwrap();
    assert_eq!((ended.status, ended.iterations), (Status::Limit, 0));
    let proven = Exact::default().solve(&problem).unwrap();
    assert_eq!(proven.status, Status::Optimal);
    let rough = Exact { gap: 0.15, ..Exact::default() }.solve(&problem).unwrap();
    assert!(rough.iterations < proven.iterations, "{} and {}", rough.iterations, proven.iterations);
    assert!(rough.bound - rough.score <= 0.15 * rough.score.abs());
    assert!(proven.score <= rough.bound && proven.bound <= ended.bound);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = grids([3, 4], [2, 6]);
    let refuse = |matcher: Exact| matcher.solve(&problem).unwrap_err().to_string();
    assert_eq!(refuse(Exact { gap: -1.0, ..Exact::default() }), "setting gap is -1: it must be at least 0");
    assert_eq!(refuse(Exact { gap: f64::NAN, ..Exact::default() }), "setting gap is NaN: it must be at least 0");
}

#[test]
fn problems_too_large_for_the_relaxation_are_searched() {
    let problem = grids([3, 4], [2, 6]);
    let proven = Exact::default().solve(&problem).unwrap();
    let found = Exact { max_entries: 500, ..Exact::default() }.solve(&problem).unwrap();
    assert_eq!(found.status, Status::Limit);
    assert_eq!(problem.score(&found.matching).unwrap(), found.score);
    assert!(found.score <= proven.score && proven.score <= found.bound && found.bound.is_finite());
    assert!(found.score >= 0.8 * proven.score, "{} of {}", found.score, proven.score);
}

/// Two grids of 12 nodes, the second numbered in another order: how many edges can they have in common? Edges score 1.1 · 1.1, no
/// whole number, and there are as many equally good matchings as the grids have symmetries.
fn grids(left: [usize; 2], right: [usize; 2]) -> Compatibility {
    let grid = |[width, height]: [usize; 2], number: fn(usize) -> usize| {
        let mut ends = Vec::new();
        for node in 0..width * height {
            let mut join = |other: usize| ends.extend([[number(node), number(other)], [number(other), number(node)]]);
            if node % width + 1 < width {
                join(node + 1);
            }
            if node + width < width * height {
                join(node + width);
            }
        }
        EdgeList::new(12, ends).unwrap()
    };
    let (left, right) = (grid(left, |node| node), grid(right, |node| (node * 7 + 3) % 12));
    let factors = |edges: &EdgeList| Array2::from_elem((edges.len(), 1), 1.1);
    let (a, b) = (factors(&left), factors(&right));
    let edge = EdgeTerm::factored(Arc::new(left), Arc::new(right), a, b).unwrap();
    Compatibility::linear(Array2::zeros((12, 12))).with_edges(edge)
}

#[test]
fn grids_share_as_many_edges_as_they_can() {
    // With itself all 17 edges; a 3 by 4 and a 2 by 6 grid have 15 in common, as a general mixed-integer solver
    // (HiGHS) found and proved.
    for (right, edges) in [([3, 4], 17.0), ([2, 6], 15.0)] {
        let answer = Exact::default().solve(&grids([3, 4], right)).unwrap();
        assert!((answer.score - 2.0 * edges * 1.1 * 1.1).abs() < 1e-9, "{answer:?}");
        assert_eq!(answer.status, Status::Optimal);
    }
}

#[test]
fn published_benchmarks_are_proven() {
    let Some(folder) = data_folder("benchmarks/dd") else { return };
    for (name, cost) in [("motor1", -94.17718), ("opengm1", -170.637_097)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.dd"))).unwrap();
        let answer = Exact::default().solve(&dd::read(&text).unwrap()).unwrap();
        assert_eq!(answer.status, Status::Optimal, "{name}");
        assert!((answer.score + cost).abs() < 1e-5, "{name}: {}", answer.score);
    }
}

/// A proof where every pair of edges is listed asks the caller's control a few thousand times. Taken for a problem whose tabu steps
/// are quick, it would spend nineteen twentieths of its time in them.
#[test]
fn listed_pairs_of_dense_graphs_are_not_searched_for_long() {
    let Some(folder) = data_folder("benchmarks/dd") else { return };
    let problem = dd::read(&std::fs::read_to_string(folder.join("opengm1.dd")).unwrap()).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let control = Control::new().interrupted_by(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    });
    let answer = Exact::default().solve_with(&problem, &mut Workspace::with_control(&control)).unwrap();
    assert_eq!(answer.status, Status::Optimal);
    assert!(asked.load(Ordering::Relaxed) < 5000, "asked {} times", asked.load(Ordering::Relaxed));
}

#[test]
fn qaplib_optima_are_proven() {
    let Some(folder) = data_folder("benchmarks/qaplib") else { return };
    let known = std::fs::read_to_string(folder.join("best_known.csv")).unwrap();
    for name in ["chr12a", "scr12", "tai12a", "had12", "chr18a"] {
        let line = known.lines().find(|line| line.split(',').next() == Some(name)).unwrap();
        let best: f64 = line.split(',').nth(2).unwrap().parse().unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{name}.dat"))).unwrap();
        let answer = Exact::default().solve(&qaplib::read(&text).unwrap()).unwrap();
        assert_eq!((answer.status, answer.score), (Status::Optimal, -best), "{name}");
    }
}

#[test]
fn sixty_points_are_proven_without_a_time_limit_and_what_takes_longer_ends_with_a_bound() {
    let mut rng = rng(60);
    let points = Array2::from_shape_simple_fn((60, 2), || 8.0 * rng.random::<f64>());
    let mut moved = |by: f64| {
        let right = points.mapv(|value| value + by * rng.random_range(-1.0..1.0));
        let graph = |points| Arc::new(Graph::from_points(points).unwrap());
        let pair = Pair::new(graph(points.clone()), graph(right));
        let features = FeatureSet::Quadratic.features([&*pair.left, &*pair.right]).unwrap();
        let model = Model::unlearned_for(features, None, None, std::slice::from_ref(&pair)).unwrap();
        model.solve(&pair).unwrap()
    };
    assert_eq!(moved(0.1).status, Status::Optimal);
    // Nothing in common: no proof within any number of steps that are worth waiting for.
    let hard = moved(8.0);
    assert!(hard.status == Status::Limit && hard.bound.is_finite() && hard.bound > hard.score, "{hard:?}");
}

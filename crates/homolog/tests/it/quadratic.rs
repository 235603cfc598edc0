//! The heuristic quadratic matchers: valid and honest on problems of every kind, independent of scale, good where that can be expected.
//! The laws common to all matchers are in `matchers.rs`.

use crate::common;

use common::{Kind, Values, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::matching::{
    Bistochastic, BruteForce, Compatibility, Constraint, EdgeList, EdgeTerm, FrankWolfe, GraduatedAssignment, Linear,
    Matcher, Method, Rrwm, Solution, Spectral, Status, Workspace,
};
use homolog::{Control, Error};
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The heuristics as they come, and as published, without local search.
fn heuristics() -> Vec<Method> {
    let plain = GraduatedAssignment { polish: false, ..GraduatedAssignment::default() };
    let mut all: Vec<Method> = Method::all().into_iter().filter(is_heuristic).collect();
    assert_eq!(all.len(), 6);
    all.push(Method::GraduatedAssignment(plain));
    all.push(Method::Bistochastic(Bistochastic { assignment: plain, ..Bistochastic::default() }));
    all.push(Method::Spectral(Spectral { polish: false, ..Spectral::default() }));
    all.push(Method::Rrwm(Rrwm { polish: false, ..Rrwm::default() }));
    all.push(Method::FrankWolfe(FrankWolfe { polish: false, starts: 2, ..FrankWolfe::default() }));
    all
}

fn is_heuristic(method: &Method) -> bool {
    ["graduated-assignment", "bistochastic", "spectral", "rrwm", "frank-wolfe", "tabu-search"].contains(&method.name())
}

fn solve(method: &Method, problem: &Compatibility) -> Solution {
    method.matcher().solve(problem).unwrap_or_else(|error| panic!("{}: {error}", method.name()))
}

fn optimum(problem: &Compatibility) -> Solution {
    BruteForce::default().solve(problem).unwrap()
}

/// A random problem with edges of any kind.
fn any_problem(rng: &mut ChaCha8Rng, constraint: Constraint) -> Compatibility {
    let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
    let kind = Kind { edges: true, constraint, ..random_kind(rng) };
    random_problem(rng, n, m, kind)
}

#[test]
fn answers_are_valid_and_bounds_hold_on_problems_of_every_kind() {
    for method in heuristics() {
        for (constraint, rounds) in [(Constraint::OneToOne, 200), (Constraint::ManyToOne, 80)] {
            let mut rng = rng(11);
            for _ in 0..rounds {
                let problem = any_problem(&mut rng, constraint);
                let (answer, exact) = (solve(&method, &problem), optimum(&problem));
                let context = || format!("{method:?}\n{answer:?}\n{exact:?}\n{problem:?}");
                let size = magnitude(&problem);
                assert_eq!(answer.score, problem.score(&answer.matching).unwrap(), "{}", context());
                assert_eq!(placed(&problem, &answer.matching), placed(&problem, &exact.matching), "{}", context());
                assert!(answer.score <= exact.score || close(answer.score, exact.score, size), "{}", context());
                assert!(answer.bound >= exact.score, "{}", context());
                assert!(answer.bound >= answer.score, "{}", context());
                let linear = problem.edge.as_ref().unwrap().is_empty();
                assert_eq!(answer.status == Status::Optimal, linear, "{}", context());
            }
        }
    }
}

#[test]
fn with_local_search_small_problems_are_mostly_solved() {
    // Out of 200 each; a few below what was counted, to leave room for a different order of summation.
    let marks = [
        ("graduated-assignment", 183),
        ("bistochastic", 162),
        ("spectral", 168),
        ("rrwm", 167),
        ("frank-wolfe", 198),
        ("tabu-search", 198),
    ];
    for method in Method::all().into_iter().filter(is_heuristic) {
        let mut rng = rng(12);
        let mut solved = 0;
        for _ in 0..200 {
            let kind = Kind { edges: true, values: Values::Uniform, ..random_kind(&mut rng) };
            let problem = random_problem(&mut rng, 5, 5, kind);
            let (answer, exact) = (solve(&method, &problem), optimum(&problem));
            solved += usize::from(close(answer.score, exact.score, magnitude(&problem)));
        }
        let mark = marks.iter().find(|(name, _)| *name == method.name()).unwrap().1;
        assert!(solved >= mark, "{} solved {solved} of 200", method.name());
    }
}

#[test]
fn without_edges_the_answer_is_the_linear_one() {
    let mut rng = rng(13);
    for _ in 0..40 {
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, 4, 5, kind);
        let linear = Linear::default().solve(&problem).unwrap();
        let edges = |count| Arc::new(EdgeList::new(count, vec![[0, 1], [1, 2]]).unwrap());
        let nothing = EdgeTerm::listed(edges(4), edges(5), Vec::new()).unwrap();
        let no_edges = EdgeTerm::listed(Arc::new(EdgeList::new(4, Vec::new()).unwrap()), edges(5), Vec::new()).unwrap();
        for edge in [None, Some(nothing), Some(no_edges)] {
            let mut problem = problem.clone();
            problem.edge = edge;
            for method in heuristics() {
                assert_eq!(solve(&method, &problem), linear, "{}", method.name());
            }
        }
    }
}

/// The problem with every score multiplied.
fn scaled(problem: &Compatibility, by: f64) -> Compatibility {
    let edge = problem.edge.as_ref().map(|edge| {
        let list = |edges: &EdgeList| Arc::new(EdgeList::new(edges.node_count(), edges.ends().to_vec()).unwrap());
        let (left, right) = (list(edge.left_edges()), list(edge.right_edges()));
        let entries = (0..left.len()).flat_map(|e| edge.listed_of(e).iter().map(move |&(f, value)| (e, f, value * by)));
        let (a, b) = (&edge.left_factors() * by, edge.right_factors().to_owned());
        EdgeTerm::factored(left, right, a, b).unwrap().with_listed(entries.collect()).unwrap()
    });
    let mut scaled = Compatibility::linear(&problem.node * by).with_constraint(problem.constraint);
    scaled.unmatched = problem.unmatched.as_ref().map(|scores| scores * by);
    scaled.edge = edge;
    scaled
}

#[test]
fn multiplying_all_scores_changes_nothing() {
    for method in heuristics() {
        let mut rng = rng(14);
        for _ in 0..40 {
            let kind = Kind { edges: true, values: Values::Uniform, ..random_kind(&mut rng) };
            let problem = random_problem(&mut rng, 5, 5, kind);
            let plain = solve(&method, &problem);
            // Powers of two must change nothing at all; other numbers round the scores themselves.
            for by in [2.0_f64.powi(-700), 2.0_f64.powi(500), 1e-200, 1e-5, 1e150] {
                let answer = solve(&method, &scaled(&problem, by));
                assert_eq!(answer.matching, plain.matching, "{method:?} at {by}: {problem:?}");
                if by.log2().fract() == 0.0 {
                    assert_eq!(answer.score, plain.score * by, "{method:?} at {by}: {problem:?}");
                    assert_eq!(answer.iterations, plain.iterations, "{method:?} at {by}: {problem:?}");
                }
            }
        }
    }
}

#[test]
fn scores_at_the_edge_of_the_range_do_no_harm() {
    let mut rng = rng(15);
    for by in [1e305, 1e-310, f64::MAX / 1024.0] {
        for _ in 0..10 {
            let kind = Kind { edges: true, values: Values::Uniform, ..random_kind(&mut rng) };
            let problem = scaled(&random_problem(&mut rng, 4, 4, kind), by);
            for method in heuristics() {
                let answer = solve(&method, &problem);
                assert_eq!(placed(&problem, &answer.matching), placed(&problem, &optimum(&problem).matching));
                assert!(answer.bound >= answer.score);
            }
        }
    }
}

/// Points in a square, and the same ones rotated, moved a little and renumbered; the truth maps the first to the second.
fn point_sets(rng: &mut ChaCha8Rng, count: usize, jitter: f64) -> (Vec<[f64; 2]>, Vec<[f64; 2]>, Vec<usize>) {
    let left: Vec<[f64; 2]> = (0..count).map(|_| [rng.random(), rng.random()]).collect();
    let mut truth: Vec<usize> = (0..count).collect();
    truth.shuffle(rng);
    let mut right = vec![[0.0; 2]; count];
    for (i, &[x, y]) in left.iter().enumerate() {
        let mut move_by = || jitter * rng.random_range(-1.0..1.0);
        right[truth[i]] = [0.8 * x - 0.6 * y + move_by(), 0.6 * x + 0.8 * y + move_by()];
    }
    (left, right, truth)
}

fn distance(points: &[[f64; 2]], i: usize, j: usize) -> f64 {
    (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1])
}

/// Both directions between each point and its nearest ones.
fn nearest_edges(points: &[[f64; 2]], each: usize) -> Arc<EdgeList> {
    let mut ends = Vec::new();
    for i in 0..points.len() {
        let mut others: Vec<usize> = (0..points.len()).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| distance(points, i, a).total_cmp(&distance(points, i, b)));
        ends.extend(others.into_iter().take(each).flat_map(|j| [[i, j], [j, i]]));
    }
    Arc::new(EdgeList::new(points.len(), ends).unwrap())
}

/// Edges of similar length fit; nodes say nothing.
fn length_problem(left: &[[f64; 2]], right: &[[f64; 2]]) -> Compatibility {
    let (left_edges, right_edges) = (nearest_edges(left, 5), nearest_edges(right, 5));
    let mut entries = Vec::new();
    for (e, &[i, j]) in left_edges.ends().iter().enumerate() {
        for (f, &[k, l]) in right_edges.ends().iter().enumerate() {
            let difference = (distance(left, i, j) - distance(right, k, l)) / 0.03;
            entries.push((e, f, (-difference * difference).exp()));
        }
    }
    let node = Array2::zeros((left.len(), right.len()));
    Compatibility::linear(node).with_edges(EdgeTerm::listed(left_edges, right_edges, entries).unwrap())
}

#[test]
fn rotated_points_are_found_again() {
    let mut rng = rng(16);
    for _ in 0..3 {
        let (left, right, truth) = point_sets(&mut rng, 20, 0.002);
        let problem = length_problem(&left, &right);
        let truth: Vec<Option<usize>> = truth.into_iter().map(Some).collect();
        for method in Method::all().into_iter().filter(is_heuristic) {
            assert_eq!(solve(&method, &problem).matching.left_to_right(), truth, "{}", method.name());
        }
    }
}

#[test]
fn renumbering_both_sides_does_not_change_the_score() {
    // Exact for a problem with one clear optimum that the solver finds; in general a heuristic may end elsewhere.
    let mut rng = rng(17);
    let (left, right, _) = point_sets(&mut rng, 15, 0.01);
    let mut order: Vec<usize> = (0..15).collect();
    order.shuffle(&mut rng);
    let moved: Vec<[f64; 2]> = order.iter().map(|&i| left[i]).collect();
    let (problem, renumbered) = (length_problem(&left, &right), length_problem(&moved, &right));
    for method in Method::all().into_iter().filter(is_heuristic) {
        let (before, after) = (solve(&method, &problem), solve(&method, &renumbered));
        assert!((before.score - after.score).abs() < 1e-9 * before.score, "{}", method.name());
        let back: Vec<_> = (0..15).map(|at| before.matching.right_of(order[at])).collect();
        assert_eq!(after.matching.left_to_right(), back, "{}", method.name());
    }
}

#[test]
fn the_direction_of_edges_counts() {
    // A directed path 0 -> 1 -> 2 -> 3 on both sides, right nodes renumbered; reversed, it would preserve no edge.
    let (left, right) = (vec![[0, 1], [1, 2], [2, 3]], vec![[2, 0], [0, 3], [3, 1]]);
    let list = |ends| Arc::new(EdgeList::new(4, ends).unwrap());
    let ones = || Array2::ones((3, 1));
    let edge = EdgeTerm::factored(list(left), list(right), ones(), ones()).unwrap();
    let node = Array2::zeros((4, 4));
    let problem = Compatibility::linear(node).with_edges(edge);
    for method in Method::all().into_iter().filter(is_heuristic) {
        let answer = solve(&method, &problem);
        assert_eq!(answer.matching.left_to_right(), [Some(2), Some(0), Some(3), Some(1)], "{}", method.name());
        assert_eq!(answer.score, 3.0);
    }
}

#[test]
fn nodes_without_edges_go_by_their_own_scores() {
    let list = |ends| Arc::new(EdgeList::new(4, ends).unwrap());
    let ones = || Array2::ones((2, 1));
    let both_ways = |i, j| list(vec![[i, j], [j, i]]);
    let edge = EdgeTerm::factored(both_ways(0, 1), both_ways(2, 3), ones(), ones()).unwrap();
    let mut node = Array2::zeros((4, 4));
    node[[2, 1]] = 0.5;
    node[[3, 0]] = 0.25;
    node[[0, 3]] = 0.1;
    let problem = Compatibility::linear(node).with_edges(edge);
    for method in Method::all().into_iter().filter(is_heuristic) {
        let answer = solve(&method, &problem);
        assert_eq!(answer.matching.left_to_right(), [Some(3), Some(2), Some(1), Some(0)], "{}", method.name());
    }
}

#[test]
fn a_price_for_staying_unmatched_is_weighed_against_the_edges() {
    // A triangle and one node that fits nowhere; the right side has the triangle and one stray node.
    let triangle = vec![[0, 1], [1, 0], [1, 2], [2, 1], [0, 2], [2, 0]];
    let list = || Arc::new(EdgeList::new(4, triangle.clone()).unwrap());
    let edge = || EdgeTerm::factored(list(), list(), Array2::ones((6, 1)), Array2::ones((6, 1))).unwrap();
    let node = Array2::from_elem((4, 4), -1.0);
    for (price, matched) in [(-0.5, 3), (-1.5, 4), (2.0, 0)] {
        let unmatched = Array1::from_elem(4, price);
        let problem = Compatibility::linear(node.clone()).with_edges(edge()).with_unmatched(unmatched);
        for method in Method::all().into_iter().filter(is_heuristic) {
            let answer = solve(&method, &problem);
            assert_eq!(answer.matching.matched_count(), matched, "{} at {price}", method.name());
            assert_eq!(answer.score, optimum(&problem).score, "{} at {price}", method.name());
        }
    }
}

#[test]
fn an_interrupt_is_honoured_at_any_time() {
    let mut rng = rng(18);
    let (left, right, _) = point_sets(&mut rng, 12, 0.02);
    let problem = length_problem(&left, &right);
    for method in heuristics() {
        for after in [0, 1, 2, 5, 10] {
            let asked = AtomicUsize::new(0);
            let mut work = Workspace::with_control(
                &Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) >= after),
            );
            let answer = method.matcher().solve_with(&problem, &mut work).unwrap();
            assert_eq!(answer.score, problem.score(&answer.matching).unwrap());
            assert_eq!(answer.matching.matched_count(), 12);
            assert!(answer.bound >= answer.score);
            if after == 0 {
                assert_eq!(answer.status, Status::Limit, "{}", method.name());
            }
        }
    }
}

#[test]
fn more_starts_never_hurt_and_seeds_are_repeatable() {
    let mut rng = rng(19);
    let kind = Kind { edges: true, values: Values::Uniform, ..random_kind(&mut rng) };
    for _ in 0..10 {
        let problem = random_problem(&mut rng, 8, 8, Kind { forbidden: 0.0, ..kind });
        let score = |starts| solve(&Method::FrankWolfe(FrankWolfe { starts, ..FrankWolfe::default() }), &problem).score;
        let scores = [1, 2, 3, 6].map(score);
        assert!(scores.is_sorted(), "{scores:?}");
        assert_eq!(score(6), scores[3]);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let bad_beta = GraduatedAssignment { beta_rate: 1.0, ..GraduatedAssignment::default() };
    let cases = [
        ("beta_rate", Method::GraduatedAssignment(bad_beta)),
        ("beta_rate", Method::Bistochastic(Bistochastic { assignment: bad_beta, ..Bistochastic::default() })),
        ("tolerance", Method::Spectral(Spectral { tolerance: f64::NAN, ..Spectral::default() })),
        ("walk", Method::Rrwm(Rrwm { walk: 1.5, ..Rrwm::default() })),
        ("starts", Method::FrankWolfe(FrankWolfe { starts: 0, ..FrankWolfe::default() })),
    ];
    let mut rng = rng(20);
    let problem = any_problem(&mut rng, Constraint::OneToOne);
    for (expected, method) in cases {
        match method.matcher().solve(&problem) {
            Err(Error::BadSetting { name, .. }) => assert_eq!(name, expected),
            other => panic!("{}: {other:?}", method.name()),
        }
    }
}

#[test]
fn settings_are_read_by_name_and_misspelt_ones_refused() {
    let method: Method = serde_json::from_str(r#"{"name": "frank-wolfe", "starts": 3}"#).unwrap();
    assert_eq!(method, Method::FrankWolfe(FrankWolfe { starts: 3, ..FrankWolfe::default() }));
    for method in heuristics() {
        let text = serde_json::to_string(&method).unwrap();
        assert!(text.starts_with(&format!(r#"{{"name":"{}","#, method.name())));
        assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), method);
        let misspelt = text.replacen('}', r#","strats":1}"#, 1);
        assert!(serde_json::from_str::<Method>(&misspelt).is_err(), "{misspelt}");
    }
}

#[test]
fn memory_grows_with_the_number_of_pairs_only() {
    let peak = |count: usize| {
        let mut rng = rng(22);
        let points: Vec<[f64; 2]> = (0..count).map(|_| [rng.random(), rng.random()]).collect();
        let edges = nearest_edges(&points, 3);
        let ones = || Array2::ones((edges.len(), 1));
        let edge = EdgeTerm::factored(edges.clone(), edges.clone(), ones(), ones()).unwrap();
        let node = Array2::from_shape_simple_fn((count, count), || rng.random::<f64>());
        let problem = Compatibility::linear(node).with_edges(edge);
        let brief = GraduatedAssignment { beta_end: 0.6, ..GraduatedAssignment::default() };
        allocation_counter::measure(|| {
            brief.solve(&problem).unwrap();
        })
        .bytes_max
    };
    // Some twenty tables of n·m numbers; the n² m² table would be 800 MB at n = 100.
    for count in [50, 100] {
        let cells = (count * count * 8) as u64;
        assert!(peak(count) < 25 * cells + 100_000, "{} bytes at {count}", peak(count));
    }
}

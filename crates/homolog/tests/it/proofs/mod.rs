//! Proofs that were once false, each under the name of what went wrong; `constants` has those beside large constants.
#![expect(clippy::unreadable_literal, reason = "numbers as they were found, to the last digit")]

mod constants;

use crate::common;

use common::rng;
use homolog::Error;
use homolog::data::{dd, qaplib};
use homolog::matching::{
    Certificate, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Method,
    RightOrder, Shortage, Solution, Status, verify,
};
use ndarray::{Array1, Array2, array};
use rand::RngExt;
use std::sync::Arc;

const FORBIDDEN: f64 = f64::NEG_INFINITY;

fn solve(matcher: &dyn Matcher, problem: &Compatibility) -> Solution {
    matcher.solve(problem).unwrap()
}

/// Edge scores as (left edge, right edge, score).
fn with_edges(problem: Compatibility, scores: &[([usize; 2], [usize; 2], f64)]) -> Compatibility {
    let (n, m) = problem.node.dim();
    let left = Arc::new(EdgeList::new(n, scores.iter().map(|entry| entry.0).collect()).unwrap());
    let right = Arc::new(EdgeList::new(m, scores.iter().map(|entry| entry.1).collect()).unwrap());
    let find = |edges: &EdgeList, [from, to]: [usize; 2]| edges.find(from, to).unwrap();
    let entries = scores.iter().map(|&(e, f, score)| (find(&left, e), find(&right, f), score)).collect();
    problem.with_edges(EdgeTerm::listed(Arc::clone(&left), Arc::clone(&right), entries).unwrap())
}

/// All edges in both directions between this many nodes.
fn complete(count: usize) -> Arc<EdgeList> {
    let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j).collect();
    Arc::new(EdgeList::new(count, all).unwrap())
}

#[test]
fn exact_fills_every_right_node_that_competing_left_nodes_leave() {
    let node = array![[-8.0, -5.0], [-10.0, -6.0], [-8.0, -7.0], [-10.0, -5.0]];
    let scores = [
        ([0, 1], [0, 1], -1.0),
        ([0, 1], [1, 0], 3.0),
        ([0, 2], [0, 1], -2.0),
        ([0, 3], [0, 1], 3.0),
        ([1, 0], [0, 1], 3.0),
        ([1, 3], [0, 1], 1.0),
        ([1, 3], [1, 0], -4.0),
        ([2, 0], [0, 1], 4.0),
        ([2, 1], [0, 1], -1.0),
        ([3, 2], [0, 1], 1.0),
    ];
    let answer = solve(&Exact::default(), &with_edges(Compatibility::linear(node), &scores));
    assert_eq!((answer.status, answer.score, answer.matching.matched_count()), (Status::Optimal, -9.0, 2));
}

#[test]
fn point_sets_with_more_left_than_right_nodes_are_proven() {
    let mut rng = rng(1);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(4..7), rng.random_range(2..4));
        let node = Array2::from_shape_simple_fn((n, m), || f64::from(rng.random_range(-10..0)));
        let (left, right) = (complete(n), complete(m));
        let a = Array2::from_shape_simple_fn((left.len(), 1), || f64::from(rng.random_range(-2..3)));
        let b = Array2::from_shape_simple_fn((right.len(), 1), || f64::from(rng.random_range(-2..3)));
        let problem = Compatibility::linear(node).with_edges(EdgeTerm::factored(left, right, a, b).unwrap());
        let answer = solve(&Exact::default(), &problem);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        assert_eq!((answer.status, answer.score), (Status::Optimal, best.score), "{problem:?}");
        assert_eq!(answer.matching.matched_count(), m);
    }
}

#[test]
fn verify_asks_for_a_crowd_where_a_node_is_left_over() {
    let problem = Compatibility::linear(array![[-5.0], [-7.0]]);
    let matching = Matching::new(vec![Some(0), None], 1, Constraint::OneToOne).unwrap();
    let nothing = Certificate::new(vec![0.0; 2], vec![0.0], None);
    assert!(matches!(verify(&problem, &matching, &nothing), Err(Error::BadCertificate { .. })));
    let problem = Compatibility::linear(array![[10.0]]).with_constraint(Constraint::ManyToOne);
    let matching = Matching::new(vec![Some(0)], 1, Constraint::ManyToOne).unwrap();
    let crowd = Certificate::new(vec![0.0], vec![0.0], Some(Shortage::new(vec![0], vec![0])));
    assert!(matches!(verify(&problem, &matching, &crowd), Err(Error::BadCertificate { .. })));
}

#[test]
fn verify_is_not_misled_by_rounding() {
    let problem = Compatibility::linear(array![[-1e300, 0.446]]);
    let matching = Matching::new(vec![Some(1)], 2, Constraint::OneToOne).unwrap();
    for right in [vec![0.0, 1e300], vec![0.0, 0.0], vec![1e300, 1e300]] {
        let bound = verify(&problem, &matching, &Certificate::new(vec![0.0], right, None)).unwrap();
        assert!(bound >= 0.446, "{bound}");
    }
    let answer = solve(&Linear::default(), &problem);
    assert_eq!(verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap()), Ok(0.446));
}

#[test]
fn a_corrupted_certificate_is_caught_or_gives_a_weaker_bound() {
    let mut rng = rng(2);
    let (mut refused, mut weaker) = (0, 0);
    for _ in 0..20_000 {
        let (n, m) = (rng.random_range(1..5), rng.random_range(1..5));
        let mut score = || if rng.random_bool(0.3) { FORBIDDEN } else { f64::from(rng.random_range(-9..10)) };
        let node = Array2::from_shape_simple_fn((n, m), &mut score);
        let problem = Compatibility::linear(node);
        let answer = solve(&Linear::default(), &problem);
        let mut certificate = answer.certificate.clone().unwrap();
        let mut matching = answer.matching.clone();
        match rng.random_range(0..5) {
            0 => certificate.right[rng.random_range(0..m)] = f64::from(rng.random_range(-20..20)),
            1 => certificate.left[rng.random_range(0..n)] = f64::from(rng.random_range(-20..20)),
            2 => certificate.crowd = None,
            3 => {
                let pick =
                    |rng: &mut rand_chacha::ChaCha8Rng, count| (0..count).filter(|_| rng.random_bool(0.5)).collect();
                certificate.crowd = Some(Shortage::new(pick(&mut rng, n), pick(&mut rng, m)));
            }
            _ => {
                let mut map = matching.left_to_right().to_vec();
                map[rng.random_range(0..n)] = None;
                matching = Matching::new(map, m, Constraint::OneToOne).unwrap();
            }
        }
        match verify(&problem, &matching, &certificate) {
            Err(_) => refused += 1,
            Ok(bound) => {
                assert!(bound >= answer.score, "{bound} is below {}\n{certificate:?}\n{problem:?}", answer.score);
                weaker += usize::from(bound > answer.score);
            }
        }
    }
    assert!(refused > 1000 && weaker > 1000, "{refused} refused, {weaker} weaker");
}

#[test]
fn sums_out_of_range_are_refused_by_name() {
    let problem = Compatibility::linear(array![[1e308, 0.0], [0.0, 1e308]]);
    for method in Method::all() {
        let refused = method.matcher().solve(&problem).unwrap_err();
        assert!(matches!(refused, Error::Overflow { what: "node scores", .. }), "{}: {refused}", method.name());
    }
    let two_lines = "p 2 2 4 2\na 0 0 0 0\na 1 0 1 0\na 2 1 0 0\na 3 1 1 0\ne 0 3 1e308\ne 0 3 1e308\n";
    assert!(matches!(dd::read(two_lines), Err(Error::Overflow { what: "edge scores", .. })));
    let product = "2\n0 1e200\n1e200 0\n0 1e200\n1e200 0\n";
    assert!(matches!(qaplib::read(product), Err(Error::Overflow { what: "edge scores", .. })));
    let diagonal = "2\n1e200 0\n0 0\n1e200 0\n0 0\n";
    assert!(matches!(qaplib::read(diagonal), Err(Error::BadCell { .. })));
}

#[test]
fn a_problem_without_left_or_right_nodes_has_a_relaxation() {
    for (n, m) in [(0, 0), (0, 3), (3, 0)] {
        let list = |count| Arc::new(EdgeList::empty(count));
        let problem = Compatibility::linear(Array2::zeros((n, m)))
            .with_edges(EdgeTerm::listed(list(n), list(m), Vec::new()).unwrap());
        let relaxed = LpRelaxation::default().solve(&problem).unwrap();
        assert_eq!((relaxed.bound, relaxed.value), (0.0, 0.0));
        let complete = Compatibility::linear(Array2::zeros((0, 3)))
            .with_edges(EdgeTerm::factored(list(0), complete(3), Array2::zeros((0, 1)), Array2::ones((6, 1))).unwrap());
        assert!(LpRelaxation::default().solve(&complete).is_ok());
    }
}

#[test]
fn an_order_of_another_size_is_an_error_not_a_panic() {
    let order = RightOrder::random(2, 1);
    let matching = Matching::new(vec![Some(3)], 4, Constraint::OneToOne).unwrap();
    assert!(matches!(order.carry_back(&matching), Err(Error::Size { .. })));
    let mut answer = solve(&Linear::default(), &Compatibility::linear(array![[1.0, 2.0, 3.0]]));
    assert!(matches!(order.carry_back_solution(&mut answer), Err(Error::Size { .. })));
    let mut small = solve(&Linear::default(), &Compatibility::linear(array![[1.0, 2.0]]));
    small.certificate.as_mut().unwrap().right = vec![0.0; 5];
    assert!(matches!(order.carry_back_solution(&mut small), Err(Error::Size { .. })));
    small.certificate = None;
    small.shortage = Some(Shortage::new(vec![0], vec![7]));
    assert!(matches!(order.carry_back_solution(&mut small), Err(Error::OutOfRange { .. })));
    let wrong = Compatibility::linear(array![[1.0, 2.0]]).with_right_unmatched(array![0.0]);
    assert!(matches!(order.shuffle_into(&wrong, &mut wrong.clone()), Err(Error::Size { .. })));
    let wrong = Compatibility::linear(array![[1.0, 2.0]]).with_unmatched(Array1::zeros(0));
    assert!(matches!(wrong.score(&Matching::empty(1, 2)), Err(Error::Size { .. })));
}

#[test]
fn a_problem_too_large_is_refused_before_any_work() {
    let count = 4000;
    let ring = Arc::new(EdgeList::new(count, (0..count).map(|i| [i, (i + 1) % count]).collect()).unwrap());
    let ones = || Array2::ones((count, 1));
    let edge = EdgeTerm::factored(Arc::clone(&ring), ring, ones(), ones()).unwrap();
    let problem = Compatibility::linear(Array2::zeros((count, count))).with_edges(edge);
    let error = LpRelaxation::default().solve(&problem).unwrap_err();
    assert_eq!(error.to_string(), "entries of the relaxation: 32008000 is more than the 20000000 it can take");
    assert!(matches!(Compatibility::check_size(100_000, 100_000), Err(Error::TooLarge { .. })));
}

#[test]
fn numbers_below_the_normal_range_beside_ordinary_ones() {
    let scores = [([0, 1], [0, 1], 1e-310), ([1, 0], [1, 0], 5e-324), ([0, 1], [1, 0], 2e-310)];
    for node in [array![[1.0, 1.0], [1.0, 1.0]], array![[0.0, 0.0], [0.0, 0.0]], array![[1e-320, 1.0], [0.3, 1e-310]]] {
        let problem = with_edges(Compatibility::linear(node), &scores);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        for method in Method::all() {
            let Ok(answer) = method.matcher().solve(&problem) else {
                assert!(["linear", "hungarian"].contains(&method.name()), "{}", method.name());
                continue;
            };
            assert!(answer.score <= best.score && answer.bound >= best.score, "{}", method.name());
        }
    }
}

#[test]
fn scores_near_the_largest_number_hide_tiny_ones_honestly() {
    // Brought into range, 1e-300 beside 1e300 falls under the smallest number there is.
    let (tiny, huge) = (1e-300, 1e300);
    let problem = Compatibility::linear(ndarray::array![[tiny, 0.0, -huge], [tiny, -tiny, -huge]]);
    for method in [Method::Linear(Linear::default()), common::hungarian()] {
        let answer = method.matcher().solve(&problem).unwrap();
        let is_best = answer.matching.left_to_right() == [Some(1), Some(0)];
        assert!(is_best || answer.status != Status::Optimal, "{}: {answer:?}", method.name());
        assert!(answer.bound >= tiny, "{}: {answer:?}", method.name());
    }
}

#[test]
fn rounded_prices_of_right_nodes_do_not_keep_the_exact_solver_at_work_for_ever() {
    let node = array![
        [-333333333333332.06, -0.3756617434019063, 66666666666665.34],
        [-10000000000.736721, -9999999999.965515, 66656666666665.984]
    ];
    let problem = with_edges(Compatibility::linear(node), &[([0, 1], [0, 1], 333333333.9), ([1, 0], [2, 0], 0.5)])
        .with_unmatched(array![0.8863421548658152, -10000000000.658241])
        .with_right_unmatched(array![-0.0774227613255789, 0.6699990071501816, 66666666666665.586]);
    let best = solve(&homolog::matching::BruteForce::default(), &problem);
    assert_eq!(solve(&Exact::default(), &problem).matching, best.matching);
}

#[test]
fn edge_scores_near_the_smallest_number_are_not_lost_in_multipliers() {
    let unit = f64::from_bits(64);
    let node = array![[1.0, 1.0], [-2.0, 2.0], [-2.0, 0.0], [1.0, 1.0]] * unit;
    let pairs = [[0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 3], [3, 2]];
    let values = [[1.0, -2.0], [2.0, -1.0], [1.0, 1.0], [-2.0, -1.0], [0.0, 2.0], [2.0, 2.0], [-2.0, 2.0]];
    let scores = pairs.iter().zip(values).flat_map(|(&e, v)| [(e, [0, 1], v[0] * unit), (e, [1, 0], v[1] * unit)]);
    let problem = with_edges(Compatibility::linear(node), &scores.collect::<Vec<_>>())
        .with_unmatched(Array1::from_elem(4, -2.0 * unit))
        .with_constraint(Constraint::ManyToOne);
    let best = solve(&homolog::matching::BruteForce::default(), &problem);
    let answer = solve(&Exact::default(), &problem);
    assert_eq!((answer.status, answer.score), (Status::Optimal, best.score));
}

/// Two copies of a point set, the second moved a little and in another order, with edges to the four nearest; affinities of edge lengths.
fn affinities(count: usize, seed: u64) -> Compatibility {
    let mut rng = rng(seed);
    let left: Vec<[f64; 2]> = (0..count).map(|_| [rng.random(), rng.random()]).collect();
    let mut moved = |at: usize| left[(at * 5 + 3) % count].map(|x| x + 0.02 * (rng.random::<f64>() - 0.5));
    let right: Vec<[f64; 2]> = (0..count).map(&mut moved).collect();
    let near = |points: &[[f64; 2]]| -> Vec<([usize; 2], f64)> {
        let length = |i: usize, j: usize| (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1]);
        let nearest = |i: usize| {
            let mut others: Vec<usize> = (0..points.len()).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| length(i, a).total_cmp(&length(i, b)));
            others.truncate(4);
            others.into_iter().map(move |j| ([i, j], length(i, j)))
        };
        (0..points.len()).flat_map(nearest).collect()
    };
    let (left, right) = (near(&left), near(&right));
    let score = |a: f64, b: f64| (-(a - b).powi(2) / 2e-3).exp();
    let scores: Vec<_> = left.iter().flat_map(|&(e, a)| right.iter().map(move |&(f, b)| (e, f, score(a, b)))).collect();
    with_edges(Compatibility::linear(Array2::zeros((count, count))), &scores)
}

#[test]
fn affinities_that_fall_to_nothing_do_not_keep_a_proof_back() {
    for seed in 0..40 {
        let answer = solve(&Exact::default(), &affinities(14, seed));
        assert_eq!(answer.status, Status::Optimal, "seed {seed}: {} and {}", answer.score, answer.bound);
    }
}

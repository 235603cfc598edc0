//! Proofs that were once false, each under the name of what went wrong.
#![expect(clippy::unreadable_literal, reason = "numbers as they were found, to the last digit")]

use crate::common;

use common::{data_folder, rng};
use homolog::Error;
use homolog::data::{dd, qaplib};
use homolog::matching::{
    Certificate, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Method,
    RightOrder, Shortage, Solution, Status, Workspace, verify,
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
fn a_large_constant_on_a_row_changes_no_proof() {
    let Some(folder) = data_folder("benchmarks/qaplib") else { return };
    let text = std::fs::read_to_string(folder.join("scr12.dat")).unwrap();
    let plain = qaplib::read(&text).unwrap();
    let mut shifted = plain.clone();
    shifted.node.row_mut(3).mapv_inplace(|score| score + 9.4e15);
    let answer = solve(&Exact::default(), &shifted);
    assert_eq!((answer.status, plain.score(&answer.matching).unwrap()), (Status::Optimal, -31410.0));
}

#[test]
fn a_row_of_a_million_million_beside_small_scores() {
    let mut rng = rng(3);
    let mut proven = 0;
    for round in 0..200 {
        let large = [1e12, -1e12, 1e14, 1e15][round % 4];
        let node = Array2::from_shape_simple_fn((5, 5), || f64::from(rng.random_range(-3..4)));
        let a = Array2::from_shape_simple_fn((20, 1), || f64::from(rng.random_range(-2..3)));
        let b = Array2::from_shape_simple_fn((20, 1), || f64::from(rng.random_range(-2..3)));
        let edge = EdgeTerm::factored(complete(5), complete(5), a, b).unwrap();
        let plain = Compatibility::linear(node).with_edges(edge);
        let best = solve(&homolog::matching::BruteForce::default(), &plain).score;
        let mut shifted = plain.clone();
        shifted.node.row_mut(round % 5).mapv_inplace(|score| score + large);
        let exact = solve(&Exact::default(), &shifted);
        assert_eq!((exact.status, plain.score(&exact.matching).unwrap()), (Status::Optimal, best));
        let tight = LpRelaxation { gap: 0.0, max_iterations: 2000, ..LpRelaxation::default() };
        let relaxed = tight.solve(&shifted).unwrap();
        if let Some(matching) = relaxed.matching {
            proven += 1;
            assert_eq!(plain.score(&matching).unwrap(), best);
        }
        let linear = solve(&Linear::default(), &shifted.without_edges());
        let alone = solve(&homolog::matching::BruteForce::default(), &plain.without_edges()).score;
        assert_eq!(plain.without_edges().score(&linear.matching).unwrap(), alone);
    }
    assert!(proven > 0, "some relaxation is tight");
}

#[test]
fn one_huge_cost_hides_nothing() {
    let mut rng = rng(4);
    for _ in 0..5000 {
        let n = rng.random_range(2..6);
        let mut node = Array2::from_shape_simple_fn((n, n), || -f64::from(rng.random_range(0..10)));
        for _ in 0..rng.random_range(1..n) {
            node[[rng.random_range(0..n), rng.random_range(0..n)]] = -1e20;
        }
        let problem = Compatibility::linear(node);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        for method in
            Method::all().into_iter().filter(|method| ["linear", "hungarian", "exact"].contains(&method.name()))
        {
            let answer = solve(method.matcher(), &problem);
            assert_eq!(answer.score, best.score, "{}: {problem:?}", method.name());
        }
    }
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
fn edge_scores_are_not_lost_beside_a_large_constant() {
    let scores = [([0, 1], [1, 0], 1e-20), ([0, 1], [0, 1], -1e-20)];
    let problem = with_edges(Compatibility::linear(array![[1e300, 1e300], [0.0, 0.0]]), &scores);
    let answer = solve(&Exact::default(), &problem);
    assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![1, 0]));
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
fn a_large_constant_on_a_column_or_on_all_edges_hides_no_better_matching() {
    let Some(folder) = data_folder("problems") else { return };
    for name in ["false_col_1e12", "false_col_1e13", "false_edge_1e13"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let problem = homolog::data::problem::read(&text).unwrap().problem;
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        let answer = solve(&Exact::default(), &problem);
        assert_eq!((answer.status, answer.score), (Status::Optimal, best.score), "{name}");
        let relaxed = LpRelaxation::default().solve(&problem).unwrap();
        assert!(relaxed.matching.is_none_or(|matching| problem.score(&matching) == Ok(best.score)), "{name}");
    }
}

#[test]
fn a_large_negative_edge_score_for_forbidden_leaves_a_proof_for_more_nodes_than_can_be_tried() {
    let mut rng = rng(7);
    for _ in 0..20 {
        let (n, m) = (9, 9);
        let node = Array2::from_shape_simple_fn((n, m), || rng.random_range(-1.0..1.0));
        let (left, right) = (complete(n), complete(m));
        let mut entries = Vec::new();
        for e in 0..left.len() {
            for f in 0..right.len() {
                let forbidden = rng.random_bool(0.05);
                entries.push((e, f, if forbidden { -1e10 } else { 0.02 * rng.random_range(-1.0..1.0) }));
            }
        }
        let problem = Compatibility::linear(node).with_edges(EdgeTerm::listed(left, right, entries).unwrap());
        let answer = solve(&Exact::default(), &problem);
        assert!(answer.status == Status::Optimal && answer.score > -1e3, "{answer:?}");
    }
}

#[test]
fn constants_of_a_row_a_column_and_an_edge_that_cancel_hide_no_better_matching() {
    // 6656666666666.5205 + 666666666666.7001 + 10000000000000.45 is 2.5 more than what the other matching has.
    let node = array![[-0.09437729577348364, 6656666666666.5205], [666666666666.7001, 17323333333331.229]];
    let problem = with_edges(Compatibility::linear(node), &[([0, 1], [1, 0], 10000000000000.45)]);
    let answer = solve(&Exact::default(), &problem);
    assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![1, 0]));
    let relaxed = LpRelaxation::default().solve(&problem).unwrap();
    assert!(relaxed.matching.is_none_or(|matching| matching.to_array() == array![1, 0]));
}

#[test]
fn a_column_constant_hides_no_better_linear_matching_in_tables_lists_and_streams() {
    let node = array![
        [-0.07107539096796245, -0.9204063464430874, 999990000000000.6],
        [0.22615348230738164, -0.050498891439019644, 999989999999999.3]
    ];
    let write = |rows: std::ops::Range<usize>, scores: &mut Array2<f64>| {
        scores.assign(&node.slice_axis(ndarray::Axis(0), rows.into()));
    };
    let mut streamed = homolog::matching::Streamed::new(2, 3, &write);
    streamed.candidates = 1;
    let pairs = node.indexed_iter().map(|((i, k), &score)| (i, k, score)).collect();
    let list = homolog::matching::Sparse::from_pairs(2, 3, pairs, homolog::matching::Sense::Maximize).unwrap();
    let work = &mut Workspace::new();
    for answer in [
        solve(&Linear::default(), &Compatibility::linear(node.clone())),
        Linear::default().solve_with(&list, work).unwrap(),
        Linear::default().solve_with(&streamed, work).unwrap(),
    ] {
        assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![2, 0]), "{answer:?}");
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

#[test]
fn constants_that_cancel_hide_no_better_matching_of_more_nodes_than_can_be_tried() {
    let mut proven = 0;
    for seed in 0..30 {
        let mut rng = rng(seed);
        let count = rng.random_range(9..12);
        // Multiples of 2^-10, so that a constant of 2^40 leaves them exactly as they were.
        let mut part = || f64::from(rng.random_range(-2048_i32..2048)) / 1024.0;
        let node = Array2::from_shape_simple_fn((count, count), &mut part);
        let ring = |step: usize| (0..count).map(move |i| [i, (i + step) % count]);
        let pairs: Vec<_> = ring(1).flat_map(|e| ring(2).map(move |f| (e, f))).collect();
        let scores: Vec<_> = pairs.into_iter().map(|(e, f)| (e, f, part())).collect();
        let plain = with_edges(Compatibility::linear(node.clone()), &scores);
        let best = solve(&Exact::default(), &plain);
        assert_eq!(best.status, Status::Optimal);
        let mut shifted = node;
        let constant = 2.0_f64.powi(rng.random_range(20..41));
        shifted.row_mut(rng.random_range(0..count)).map_inplace(|score| *score += constant);
        shifted.column_mut(rng.random_range(0..count)).map_inplace(|score| *score -= constant);
        let answer = solve(&Exact::default(), &with_edges(Compatibility::linear(shifted), &scores));
        let score = plain.score(&answer.matching).unwrap();
        assert!(answer.status != Status::Optimal || score == best.score, "seed {seed}: {score}, not {}", best.score);
        proven += usize::from(answer.status == Status::Optimal);
    }
    assert!(proven >= 15, "only {proven} of 30 proven");
}

#[test]
fn groups_of_edge_scores_that_are_far_apart_hide_nothing() {
    let mut rng = rng(24);
    for _ in 0..4 {
        let list = |rng: &mut rand_chacha::ChaCha8Rng| {
            let all = complete(8).ends().to_vec().into_iter().filter(|_| rng.random_bool(0.75)).collect();
            Arc::new(EdgeList::new(8, all).unwrap())
        };
        let (left, right) = (list(&mut rng), list(&mut rng));
        let pairs = (0..left.len()).flat_map(|e| (0..right.len()).map(move |f| (e, f)));
        let scores = pairs.map(|(e, f)| (e, f, -333333333333332.9 + f64::from(rng.random_range(0..2)))).collect();
        let node = Array2::from_shape_simple_fn((8, 8), || f64::from(rng.random_range(0..2)));
        let problem = Compatibility::linear(node).with_edges(EdgeTerm::listed(left, right, scores).unwrap());
        // In sixteenths, which are whole numbers.
        let total = |matching: &Matching| {
            let edge = problem.edge.as_ref().unwrap();
            let kept = edge.left_edges().ends().iter().enumerate().filter_map(|(e, &[i, j])| {
                let f = edge.right_edges().find(matching.right_of(i)?, matching.right_of(j)?)?;
                Some(edge.value(e, f))
            });
            let nodes = matching.pairs().map(|pair| problem.node[pair]);
            nodes.chain(kept).map(|score| (16.0 * score) as i128).sum::<i128>()
        };
        let answer = solve(&Exact::default(), &problem);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        let behind = total(&best.matching) - total(&answer.matching);
        assert!(behind == 0 || answer.status != Status::Optimal, "{behind} sixteenths behind: {answer:?}");
    }
}

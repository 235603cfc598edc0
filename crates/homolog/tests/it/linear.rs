//! The linear solver against brute force, the second solver, its own certificate, published optima, and the bugs others had.

use crate::common;

use common::{Kind, Values, close, data_folder, magnitude, random_kind, random_problem, rng};
use homolog::Error;
use homolog::matching::{
    BruteForce, Certificate, Compatibility, Constraint, Linear, Matcher, Matching, Solution, Status, Workspace, verify,
};
use ndarray::{Array2, array};
use rand::RngExt;

const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// Solves, and lets the separate checker prove the answer.
fn solve_proven(problem: &Compatibility, work: &mut Workspace) -> Solution {
    let answer = Linear::default().solve_with(problem, work).unwrap();
    let certificate = answer.certificate.as_ref().unwrap();
    let bound = verify(problem, &answer.matching, certificate)
        .unwrap_or_else(|error| panic!("{error}\n{problem:?}\n{answer:?}"));
    // Each of the n + m dual values and slacks may be off by a few roundings of the largest score.
    let count = problem.node.nrows() + problem.node.ncols();
    let largest =
        problem.node.iter().filter(|score| score.is_finite()).fold(0.0, |top: f64, score| top.max(score.abs()));
    let rounding = 16.0 * f64::EPSILON * count as f64 * (largest + magnitude(problem));
    assert!(bound - answer.score <= rounding, "bound {bound}, score {}\n{problem:?}\n{answer:?}", answer.score);
    answer
}

fn scores(answer: &Solution) -> &[Option<usize>] {
    answer.matching.left_to_right()
}

#[test]
fn a_hundred_thousand_small_problems_of_all_kinds_against_brute_force() {
    let mut rng = rng(10);
    let mut work = Workspace::new();
    for _ in 0..100_000 {
        let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, n, m, kind);
        let answer = solve_proven(&problem, &mut work);
        let exact = BruteForce::default().solve_with(&problem, &mut work).unwrap();
        assert!(close(answer.score, exact.score, magnitude(&problem)), "{problem:?}\n{answer:?}\n{exact:?}");
        assert_eq!(common::placed(&problem, &answer.matching), common::placed(&problem, &exact.matching));
    }
}

#[test]
fn larger_problems_of_all_kinds_against_the_second_solver() {
    let mut rng = rng(11);
    let mut work = Workspace::new();
    for _ in 0..1500 {
        let (n, m) = (rng.random_range(1..40), rng.random_range(1..40));
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, n, m, kind);
        let answer = solve_proven(&problem, &mut work);
        let other = common::hungarian().matcher().solve_with(&problem, &mut work).unwrap();
        assert!(close(answer.score, other.score, 4.0 * magnitude(&problem)), "{problem:?}\n{answer:?}\n{other:?}");
    }
}

#[test]
fn large_problems_are_proven() {
    let mut rng = rng(12);
    let mut work = Workspace::new();
    for (n, m) in [(300, 300), (150, 700), (700, 150), (800, 800), (100, 1700)] {
        for (values, forbidden) in
            [(Values::Uniform, 0.0), (Values::Ties, 0.0), (Values::Uniform, 0.9), (Values::Mixed, 0.5)]
        {
            let kind = Kind { values, forbidden, priced: None, constraint: Constraint::OneToOne, edges: false };
            let problem = random_problem(&mut rng, n, m, kind);
            solve_proven(&problem, &mut work);
        }
        let points: Vec<[f64; 2]> = (0..n + m).map(|_| [rng.random(), rng.random()]).collect();
        let distance = |(i, k): (usize, usize)| {
            let (a, b) = (points[i], points[n + k]);
            -(a[0] - b[0]).powi(2) - (a[1] - b[1]).powi(2)
        };
        solve_proven(&Compatibility::linear(Array2::from_shape_fn((n, m), distance)), &mut work);
    }
}

#[test]
fn squares_that_are_solved_from_lists_are_proven() {
    let mut rng = rng(13);
    let mut work = Workspace::new();
    for step in 0..72 {
        let n = rng.random_range(160..260);
        let forbidden = [0.0, 0.5, 0.9, 0.985][step % 4];
        // A large cost where others would forbid, and rows that are all worth far more than the rest.
        let (never, constant) = ([FORBIDDEN, -1e3, -1e9][step % 3], [0.0, 0.0, 1e5, 1e12][step / 3 % 4]);
        let points: Vec<[f64; 2]> = (0..2 * n).map(|_| [rng.random(), rng.random()]).collect();
        let node = Array2::from_shape_fn((n, n), |(i, k)| {
            let score = match step / 12 % 3 {
                0 => rng.random(),
                1 => -(points[i][0] - points[n + k][0]).powi(2) - (points[i][1] - points[n + k][1]).powi(2),
                _ => f64::from(rng.random_range(0..1000)) * points[i][0],
            };
            let score = if rng.random_bool(forbidden) { never } else { score };
            if i % 9 == 4 { score + constant } else { score }
        });
        let problem = Compatibility::linear(node);
        let answer = solve_proven(&problem, &mut work);
        assert_eq!(answer.status, Status::Optimal, "step {step}");
        if step % 6 == 0 {
            let other = common::hungarian().matcher().solve_with(&problem, &mut work).unwrap();
            assert!(close(answer.score, other.score, 4.0 * magnitude(&problem)), "step {step}");
            assert_eq!(common::placed(&problem, &answer.matching), common::placed(&problem, &other.matching));
        }
    }
}

#[test]
fn or_library_optima() {
    let Some(folder) = data_folder("benchmarks/orlib") else { return };
    let optima = std::fs::read_to_string(folder.join("optima.csv")).unwrap();
    let mut solved = 0;
    for line in optima.lines().skip(1) {
        let (name, optimum) = line.split_once(',').unwrap();
        let path = [name.to_string(), format!("{name}.txt")]
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| path.is_file());
        let text = std::fs::read_to_string(path.unwrap()).unwrap();
        let mut words = text.split_whitespace();
        let n: usize = words.next().unwrap().parse().unwrap();
        let costs: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let costs = Array2::from_shape_vec((n, n), costs).unwrap();
        let answer = solve_proven(&Compatibility::linear(-costs), &mut Workspace::new());
        assert_eq!(-answer.score, optimum.trim().parse::<f64>().unwrap(), "{name}");
        solved += 1;
    }
    assert!(solved >= 3);
}

#[test]
fn a_wrong_certificate_gives_a_weak_bound_never_a_false_one() {
    let mut rng = rng(13);
    for _ in 0..2000 {
        let kind = Kind { forbidden: 0.0, ..random_kind(&mut rng) };
        let problem = random_problem(&mut rng, 4, 5, kind);
        let exact = BruteForce::default().solve(&problem).unwrap();
        let random = |count| (0..count).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let [left, right] = [4, 5].map(random);
        let bound = verify(&problem, &exact.matching, &Certificate::new(left, right, None)).unwrap();
        assert!(bound >= exact.score || close(bound, exact.score, magnitude(&problem)));
    }
}

#[test]
fn all_equal_gives_the_identity() {
    for (n, m) in [(1, 1), (4, 4), (30, 30), (11, 200), (300, 300), (60, 1700)] {
        for value in [0.0, -3.5, 1e12] {
            let answer = solve_proven(&Compatibility::linear(Array2::from_elem((n, m), value)), &mut Workspace::new());
            let identity: Vec<_> = (0..n).map(Some).collect();
            assert_eq!(scores(&answer), identity, "{n} by {m} of {value}");
        }
    }
    let tall = solve_proven(&Compatibility::linear(Array2::zeros((5, 3))), &mut Workspace::new());
    assert_eq!(scores(&tall), [Some(0), Some(1), Some(2), None, None]);
}

#[test]
fn all_forbidden_leaves_everything_unmatched_and_says_why() {
    let problem = Compatibility::linear(Array2::from_elem((2, 3), FORBIDDEN));
    let answer = solve_proven(&problem, &mut Workspace::new());
    assert_eq!(scores(&answer), [None, None]);
    let shortage = answer.shortage.unwrap();
    assert_eq!((shortage.left, shortage.right), (vec![0, 1], vec![]));
}

#[test]
fn an_infeasible_problem_gives_the_best_largest_matching_and_the_reason() {
    // Left nodes 0, 1 and 3 may only go to right nodes 0 and 2.
    let node = array![
        [1.0, FORBIDDEN, 2.0, FORBIDDEN],
        [4.0, FORBIDDEN, 6.0, FORBIDDEN],
        [9.0, 1.0, 9.0, 2.0],
        [3.0, FORBIDDEN, FORBIDDEN, FORBIDDEN],
    ];
    let problem = Compatibility::linear(node);
    let answer = solve_proven(&problem, &mut Workspace::new());
    assert_eq!(scores(&answer), [None, Some(2), Some(3), Some(0)]);
    assert_eq!(answer.score, 11.0);
    let shortage = answer.shortage.unwrap();
    assert_eq!((&shortage.left[..], &shortage.right[..]), (&[0, 1, 3][..], &[0, 2][..]));
    let refused = Linear { require_full: true }.solve(&problem).unwrap_err();
    assert_eq!(refused, Error::NoFullMatching { shortage });
    assert_eq!(
        refused.to_string(),
        "no full matching exists: left nodes [0, 1, 3] can only be matched to right nodes [0, 2]"
    );
}

#[test]
fn more_left_than_right_nodes_is_no_shortage() {
    let problem = Compatibility::linear(array![[1.0], [3.0], [2.0]]);
    let answer = Linear { require_full: true }.solve(&problem).unwrap();
    assert_eq!(scores(&answer), [None, Some(0), None]);
    assert_eq!(answer.shortage, None);
}

#[test]
fn edge_scores_are_refused_not_dropped() {
    let mut rng = rng(14);
    let kind =
        Kind { values: Values::Uniform, forbidden: 0.0, priced: None, constraint: Constraint::OneToOne, edges: true };
    let problem = random_problem(&mut rng, 3, 3, kind);
    let refused = Linear::default().solve(&problem);
    assert_eq!(refused, Err(Error::Unsupported { solver: "linear", what: "edge scores" }));
}

#[test]
fn a_tiny_fixed_tolerance_would_give_the_identity() {
    // scipy PR 9800: costs near 1e-10 were mistaken for ties.
    let node = array![[1e-10, 3e-10], [5e-10, 1e-10]];
    let answer = solve_proven(&Compatibility::linear(node), &mut Workspace::new());
    assert_eq!(scores(&answer), [Some(1), Some(0)]);
}

#[test]
fn no_large_number_stands_for_forbidden() {
    // py-lapsolver 10: with scores of 1e15 next to forbidden cells a big-M of fixed size is too small.
    let node = array![[FORBIDDEN, -1e15, -2e15], [-1e15, FORBIDDEN, FORBIDDEN], [-3e15, FORBIDDEN, FORBIDDEN]];
    let answer = solve_proven(&Compatibility::linear(node), &mut Workspace::new());
    assert_eq!(scores(&answer), [Some(1), Some(0), None]);
    assert_eq!(answer.shortage.unwrap().left, [1, 2]);
}

#[test]
fn a_forbidden_pair_is_never_returned() {
    // lap, lapjv: forbidden pairs came back as matches. Many problems where a full matching just fails to exist.
    let mut rng = rng(15);
    let mut work = Workspace::new();
    for _ in 0..3000 {
        let (n, m) = (rng.random_range(1..9), rng.random_range(1..9));
        let kind = Kind { forbidden: 0.6, ..random_kind(&mut rng) };
        let problem = random_problem(&mut rng, n, m, kind);
        let answer = solve_proven(&problem, &mut work);
        assert!(answer.matching.pairs().all(|(i, k)| problem.node[[i, k]] > FORBIDDEN));
    }
}

#[test]
fn rows_and_columns_agree() {
    // src-d/lapjv 12: the two directions of the answer disagreed.
    let mut rng = rng(16);
    for _ in 0..500 {
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, 7, 9, kind);
        let y: Matching = solve_proven(&problem, &mut Workspace::new()).matching;
        assert!(y.pairs().all(|(i, k)| y.left_of(k) == Some(i)));
        assert_eq!(y.right_to_left().iter().flatten().count(), y.matched_count());
        assert_eq!(y.unmatched_right().count() + y.matched_count(), 9);
    }
}

#[test]
fn rectangular_shapes_do_not_corrupt_each_other() {
    // gatagat/lap 14: rectangular input overran buffers. One workspace, sizes up and down.
    let mut rng = rng(17);
    let mut work = Workspace::new();
    for (n, m) in [(30, 3), (3, 30), (1, 50), (50, 1), (20, 21), (0, 7), (21, 20), (2, 2)] {
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, n, m, kind);
        assert_eq!(solve_proven(&problem, &mut work), solve_proven(&problem, &mut Workspace::new()));
    }
}

#[test]
fn infinities_and_ties_do_not_hang() {
    // scipy 7005, pathfinding 349, munkres 28: endless loops. Work is bounded: this ends.
    let mut rng = rng(18);
    for share in [0.5, 0.9, 0.99, 1.0] {
        let kind = Kind {
            values: Values::AllEqual,
            forbidden: share,
            priced: None,
            constraint: Constraint::OneToOne,
            edges: false,
        };
        let problem = random_problem(&mut rng, 120, 120, kind);
        solve_proven(&problem, &mut Workspace::new());
    }
}

#[test]
fn adding_a_large_number_changes_nothing_that_the_numbers_keep() {
    let mut rng = rng(19);
    for _ in 0..200 {
        // Multiples of 2^-10 survive the addition of 2^40 (about 1e12) exactly.
        let node = Array2::from_shape_simple_fn((8, 8), || f64::from(rng.random_range(0..1_000_000)) / 1024.0);
        let plain = Compatibility::linear(node.clone());
        let expected = solve_proven(&plain, &mut Workspace::new()).score;
        let shifted = solve_proven(&Compatibility::linear(node + 2.0_f64.powi(40)), &mut Workspace::new());
        assert_eq!(plain.score(&shifted.matching).unwrap(), expected);
    }
}

#[test]
fn extreme_magnitudes_neither_overflow_nor_vanish() {
    for scale in [1e-320, 1e-310, 1e-300, 1e150, 1e300, 1e307] {
        let node = array![[1.0, 2.0], [2.0, 1.0]] * scale;
        let answer = Linear::default().solve(&Compatibility::linear(node)).unwrap();
        assert_eq!(scores(&answer), [Some(1), Some(0)], "at {scale}");
        let mixed = array![[-1.0, 2.0], [2.0, -1.0]] * scale;
        let answer = Linear::default().solve(&Compatibility::linear(mixed)).unwrap();
        assert_eq!(scores(&answer), [Some(1), Some(0)], "at {scale}");
    }
}

#[test]
fn a_price_for_staying_unmatched_is_weighed_inside_the_solve() {
    // Matching 0 pays for 1 to stay out: decided together, not by removing weak pairs afterwards.
    let problem = Compatibility::linear(array![[5.0, 4.5], [1.0, -1.0]]).with_unmatched(array![0.0, 0.0]);
    let answer = solve_proven(&problem, &mut Workspace::new());
    assert_eq!(scores(&answer), [Some(1), Some(0)]);
    let dearer = problem.with_unmatched(array![0.0, 0.6]);
    let answer = solve_proven(&dearer, &mut Workspace::new());
    assert_eq!(scores(&answer), [Some(0), None]);
}

#[test]
fn scores_in_any_memory_layout() {
    let mut rng = rng(20);
    let kind =
        Kind { values: Values::Uniform, forbidden: 0.1, priced: None, constraint: Constraint::OneToOne, edges: false };
    let problem = random_problem(&mut rng, 6, 9, kind);
    let mut columns_first = problem.clone();
    columns_first.node = problem.node.t().as_standard_layout().into_owned().reversed_axes();
    assert!(!columns_first.node.is_standard_layout());
    assert_eq!(solve_proven(&problem, &mut Workspace::new()), solve_proven(&columns_first, &mut Workspace::new()));
}

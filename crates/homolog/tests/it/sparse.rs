//! Sparse linear problems against brute force, the dense solver and a proof by separate code.

use crate::common;
use crate::laws_of_matching::forms::as_list;

use common::{Kind, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::matching::{
    BruteForce, Certificate, Linear, Matcher, Matching, Sense, Solution, Sparse, Status, Workspace, verify,
};
use homolog::{Control, Error};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Solves, and lets the separate checker prove the answer.
fn solve_proven(problem: &Sparse, work: &mut Workspace) -> Solution {
    let answer = Linear::default().solve_with(problem, work).unwrap();
    let bound = verify(problem, &answer.matching, answer.certificate.as_ref().unwrap())
        .unwrap_or_else(|error| panic!("{error}\n{problem:?}\n{answer:?}"));
    let dense = problem.to_dense();
    let largest = dense.node.iter().filter(|score| score.is_finite()).fold(0.0, |top: f64, score| top.max(score.abs()));
    let count = (problem.left_count() + problem.right_count()) as f64;
    let rounding = 16.0 * f64::EPSILON * count * (largest + magnitude(&dense) + count);
    assert!((bound - answer.score).abs() <= rounding, "bound {bound}, score {}\n{problem:?}\n{answer:?}", answer.score);
    answer
}

#[test]
fn a_hundred_thousand_small_problems_of_all_kinds_against_brute_force() {
    let mut rng = rng(40);
    let mut work = Workspace::new();
    for round in 0..100_000 {
        let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
        let kind = random_kind(&mut rng);
        let problem = random_problem(&mut rng, n, m, kind);
        let mut own = as_list(&problem).unwrap();
        if round % 3 == 0 {
            own = own.with_right_unmatched((0..m).map(|_| rng.random_range(-1.0..1.0)).collect()).unwrap();
        }
        let dense = own.to_dense();
        let answer = solve_proven(&own, &mut work);
        let exact = BruteForce::default().solve_with(&dense, &mut work).unwrap();
        let size = magnitude(&dense) + 8.0;
        assert!(close(answer.score, exact.score, size), "{own:?}\n{answer:?}\n{exact:?}");
        assert_eq!(placed(&dense, &answer.matching), placed(&dense, &exact.matching));
    }
}

#[test]
fn larger_problems_are_answered_as_dense_ones_are() {
    let mut rng = rng(41);
    let mut work = Workspace::new();
    for _ in 0..1500 {
        let (n, m) = (rng.random_range(1..60), rng.random_range(1..60));
        let kind = Kind { forbidden: [0.0, 0.5, 0.8, 0.95][rng.random_range(0..4)], ..random_kind(&mut rng) };
        let problem = random_problem(&mut rng, n, m, kind);
        let (own, other) = (
            solve_proven(&as_list(&problem).unwrap(), &mut work),
            Linear::default().solve_with(&problem, &mut work).unwrap(),
        );
        assert!(close(own.score, other.score, 4.0 * magnitude(&problem)), "{problem:?}\n{own:?}\n{other:?}");
        assert_eq!(own.shortage.is_some(), other.shortage.is_some());
        assert_eq!(placed(&problem, &own.matching), placed(&problem, &other.matching));
        if let (Some(own), Some(other)) = (own.shortage, other.shortage) {
            assert_eq!(
                (own.left, own.right),
                (other.left, other.right),
                "who competes depends on the forbidden pairs alone"
            );
        }
    }
}

/// This many random pairs per row, and one more that makes a full matching exist.
fn random_sparse(rng: &mut ChaCha8Rng, n: usize, each: usize, ties: bool) -> Sparse {
    let mut pairs = Vec::new();
    for i in 0..n {
        let mut columns: Vec<usize> = (1..each).map(|_| rng.random_range(0..n)).chain([(i * 7 + 3) % n]).collect();
        columns.sort_unstable();
        columns.dedup();
        let cost = |rng: &mut ChaCha8Rng| if ties { f64::from(rng.random_range(0..4)) } else { rng.random() };
        pairs.extend(columns.into_iter().map(|k| (i, k, cost(rng))));
    }
    Sparse::from_pairs(n, n, pairs, Sense::Minimize).unwrap()
}

#[test]
fn large_problems_are_proven() {
    let mut rng = rng(42);
    let mut work = Workspace::new();
    for (n, each, ties) in [(1000, 10, false), (1000, 10, true), (2000, 3, false), (20_000, 8, false)] {
        let problem = random_sparse(&mut rng, n, each, ties);
        let answer = Linear { require_full: true }.solve_with(&problem, &mut work).unwrap();
        let bound = verify(&problem, &answer.matching, answer.certificate.as_ref().unwrap()).unwrap();
        assert_eq!(answer.matching.matched_count(), n);
        assert!((bound - answer.score).abs() <= 1e-9 * n as f64, "{bound} and {}", answer.score);
        assert_eq!(answer, Linear::default().solve(&problem).unwrap());
    }
}

#[test]
fn all_equal_gives_the_identity_and_extremes_neither_overflow_nor_vanish() {
    for value in [0.0, -3.5, 1e12] {
        let pairs = (0..20).flat_map(|i| (0..20).map(move |k| (i, k, value))).collect();
        let answer = solve_proven(&Sparse::from_pairs(20, 20, pairs, Sense::Maximize).unwrap(), &mut Workspace::new());
        assert!(answer.matching.pairs().all(|(i, k)| i == k));
    }
    for scale in [1e-320, 1e-300, 1e150, 8e307] {
        let pairs = vec![(0, 0, scale), (0, 1, -scale), (1, 0, -scale), (1, 1, scale)];
        let problem = Sparse::from_pairs(2, 2, pairs, Sense::Minimize).unwrap();
        let answer = Linear::default().solve(&problem).unwrap();
        assert_eq!(answer.matching.left_to_right(), [Some(1), Some(0)], "at {scale}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let make = |pairs| Sparse::from_pairs(2, 3, pairs, Sense::Minimize);
    let outside = make(vec![(0, 3, 1.0)]);
    assert_eq!(outside, Err(Error::OutOfRange { what: "right nodes", index: 3, count: 3 }));
    assert!(matches!(make(vec![(1, 2, 1.0), (1, 2, 2.0)]), Err(Error::Repeated { what: "pairs", .. })));
    assert!(matches!(make(vec![(1, 2, f64::NAN)]), Err(Error::BadCell { row: 1, column: 2, .. })));
    assert!(matches!(make(vec![(1, 2, f64::NEG_INFINITY)]), Err(Error::BadCell { .. })));
    let rows = Sparse::from_rows(3, &[0, 2, 3], &[2, 0, 1], &[1.0, 2.0, 3.0], Sense::Minimize).unwrap();
    assert_eq!(rows, make(vec![(0, 0, 2.0), (0, 2, 1.0), (1, 1, 3.0)]).unwrap());
    assert!(Sparse::from_rows(3, &[0, 4, 3], &[2, 0, 1], &[1.0; 3], Sense::Minimize).is_err());
    assert!(Sparse::from_rows(3, &[0, 2], &[2, 0, 1], &[1.0; 3], Sense::Minimize).is_err());
    assert!(rows.clone().with_unmatched(vec![0.0]).is_err());
    assert!(rows.with_right_unmatched(vec![0.0, f64::NEG_INFINITY, 0.0]).is_err());
    let short = make(vec![(0, 1, 1.0), (1, 1, 0.5)]).unwrap();
    let refused = Linear { require_full: true }.solve(&short).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no full matching exists: left nodes [0, 1] can only be matched to right nodes [1]"
    );
}

#[test]
fn a_stopped_solve_has_a_valid_answer_and_proves_nothing() {
    let problem = random_sparse(&mut rng(43), 500, 5, false);
    let mut work = Workspace::with_control(&Control::new().interrupted_by(|| true));
    let answer = Linear::default().solve_with(&problem, &mut work).unwrap();
    assert_eq!((answer.status, answer.bound), (homolog::matching::Status::Limit, f64::INFINITY));
    assert_eq!(answer.score, problem.score(&answer.matching).unwrap());
}

#[test]
fn what_is_called_optimal_is_so_beside_huge_scores() {
    let work = &mut Workspace::new();
    let list = |n: usize, m: usize, pairs: &[(usize, usize, f64)]| {
        Sparse::from_pairs(n, m, pairs.to_vec(), Sense::Maximize).unwrap()
    };
    // A constant on a row hides nothing.
    for (large, small) in [(-1e17, 2.0), (-1e12, 1e-5), (1e12, 1e-5), (9.4e15, 1.0)] {
        let answer = Linear::default()
            .solve_with(&list(2, 2, &[(0, 0, 0.0), (0, 1, small), (1, 0, large), (1, 1, large)]), work);
        let answer = answer.unwrap();
        assert_eq!(answer.matching.left_to_right(), [Some(1), Some(0)], "{large}");
        assert_eq!((answer.status, answer.bound), (Status::Optimal, answer.score), "{large}");
    }
    // One huge cell: whatever is found, a bound below the best is false.
    for large in [-1e20, -1e30, -1e32, -1e40, -1e120, -1e300] {
        let cells =
            [(0, 1, 0.0), (0, 2, 0.0), (1, 0, 0.0), (1, 1, 0.0), (1, 2, 1.0), (2, 0, 0.0), (2, 1, large), (2, 2, 0.0)];
        let answer = Linear::default().solve_with(&list(3, 3, &cells), work).unwrap();
        assert!(answer.bound >= 1.0, "{large}: {answer:?}");
        assert!(answer.score == 1.0 || answer.status != Status::Optimal, "{large}: {answer:?}");
    }
}

#[test]
fn a_node_that_is_left_over_needs_a_reason() {
    let problem = Sparse::from_pairs(1, 1, vec![(0, 0, -5.0)], Sense::Maximize).unwrap();
    let empty = Matching::empty(1, 1);
    let mut nothing = Certificate::new(vec![0.0], vec![0.0], None);
    assert!(verify(&problem, &empty, &nothing).is_err());
    nothing.right = vec![f64::NAN];
    assert!(verify(&problem, &Matching::identity(1), &nothing).is_err());
}

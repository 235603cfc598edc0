//! Linear problems whose scores are never stored, against the solver for tables, with proofs checked by separate code.

use crate::common;
use crate::laws_of_matching::forms::on_rows;

use common::{Kind, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::matching::{Compatibility, Linear, Matcher, Solution, Status, Streamed, Workspace, verify};
use homolog::{Control, Error};
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Solves a table as if it were computed a few rows at a time, with so few candidates that pricing has work to do.
fn solve(table: &Compatibility, candidates: usize, rows_at_once: usize, work: &mut Workspace) -> Solution {
    on_rows(table, [candidates, 48, rows_at_once], |rows| Linear::default().solve_with(rows, work)).unwrap()
}

fn check(table: &Compatibility, own: &Solution, work: &mut Workspace) {
    let other = Linear::default().solve_with(table, work).unwrap();
    let size = 4.0 * magnitude(table) + table.right_unmatched.iter().flatten().map(|price| price.abs()).sum::<f64>();
    assert!(close(own.score, other.score, size), "{table:?}\n{own:?}\n{other:?}");
    assert!(close(table.score(&own.matching).unwrap(), own.score, size));
    assert_eq!(placed(table, &own.matching), placed(table, &other.matching), "{table:?}\n{own:?}\n{other:?}");
    assert_eq!(own.shortage.is_some(), other.shortage.is_some());
    if let (Some(own), Some(other)) = (&own.shortage, &other.shortage) {
        assert_eq!((&own.left, &own.right), (&other.left, &other.right));
    }
    if own.status == Status::Optimal {
        let bound = verify(table, &own.matching, own.certificate.as_ref().unwrap()).unwrap();
        assert!(close(bound, own.score, size), "bound {bound}, score {}\n{table:?}\n{own:?}", own.score);
    } else {
        assert_eq!(other.status, own.status, "the table's solver has no proof either");
    }
}

#[test]
fn small_problems_of_all_kinds_are_answered_as_tables_are() {
    let mut rng = rng(60);
    let mut work = Workspace::new();
    for round in 0..20_000 {
        let (n, m) = (rng.random_range(0..7), rng.random_range(0..7));
        let kind = random_kind(&mut rng);
        let mut table = random_problem(&mut rng, n, m, kind);
        if round % 3 == 0 {
            table.right_unmatched = Some(Array1::from_shape_simple_fn(m, || rng.random_range(-1.0..1.0)));
        }
        let own = solve(&table, rng.random_range(1..3), rng.random_range(1..4), &mut work);
        check(&table, &own, &mut work);
    }
}

#[test]
fn larger_problems_of_all_kinds_are_answered_as_tables_are() {
    let mut rng = rng(61);
    let mut work = Workspace::new();
    for _ in 0..600 {
        let (n, m) = (rng.random_range(1..80), rng.random_range(1..80));
        let kind = Kind { forbidden: [0.0, 0.5, 0.9][rng.random_range(0..3)], ..random_kind(&mut rng) };
        let table = random_problem(&mut rng, n, m, kind);
        let own = solve(&table, rng.random_range(1..5), rng.random_range(1..30), &mut work);
        check(&table, &own, &mut work);
    }
}

/// Some right nodes better for everybody, many alike, all alike, in clusters: where the nearest few are the same for all.
fn crowded(rng: &mut ChaCha8Rng, which: usize, n: usize, m: usize) -> Compatibility {
    let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| rng.random_range(0.0..1.0)).collect() };
    let (left, right, noise) = (numbers(n), numbers(m), numbers(n * m));
    Compatibility::linear(Array2::from_shape_fn((n, m), |(i, k)| match which {
        0 => 10.0 * left[i] + 100.0 * right[k] + noise[i * m + k],
        1 => left[i] + right[k],
        2 => (3.0 * noise[i * m + k]).floor(),
        3 => 7.0,
        4 => -((left[i] * 5.0).floor() - (right[k] * 5.0).floor()).powi(2) - 1e-3 * (left[i] - right[k]).powi(2),
        _ => left[i] * right[k],
    }))
}

#[test]
fn crowds_and_ties_are_answered_as_tables_are() {
    let mut rng = rng(62);
    let mut work = Workspace::new();
    for (n, m) in [(150, 150), (120, 160), (160, 120)] {
        for which in 0..6 {
            let table = crowded(&mut rng, which, n, m);
            for candidates in [2, 12] {
                let own = solve(&table, candidates, 40, &mut work);
                assert_eq!(own.status, Status::Optimal, "kind {which}");
                check(&table, &own, &mut work);
            }
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let table = crowded(&mut rng(63), 0, 200, 200);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&table, 4, 7, &mut Workspace::new()))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn bad_scores_prices_and_settings_are_refused_with_their_place() {
    let mut work = Workspace::new();
    for bad in [f64::NAN, f64::INFINITY] {
        let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
            scores.fill(1.0);
            if rows.contains(&3) {
                scores[[3 - rows.start, 2]] = bad;
            }
        };
        let mut problem = Streamed::new(5, 5, &write);
        problem.rows_at_once = 2;
        let error = Linear::default().solve_with(&problem, &mut work).unwrap_err();
        assert!(matches!(error, Error::BadCell { row: 3, column: 2, .. }), "{error}");
    }
    let write = |_: Range<usize>, scores: &mut Array2<f64>| scores.fill(1.0);
    let problem = Streamed::new(3, 4, &write);
    let (mut no_candidates, mut no_rows) = (problem.clone(), problem.clone());
    (no_candidates.candidates, no_rows.rows_at_once) = (0, 0);
    for bad in [
        problem.clone().with_unmatched(vec![0.0; 4]),
        problem.clone().with_unmatched(vec![0.0, f64::NAN, 0.0]),
        problem.clone().with_right_unmatched(vec![0.0; 3]),
        problem.clone().with_right_unmatched(vec![f64::NEG_INFINITY; 4]),
        no_candidates,
        no_rows,
    ] {
        assert!(Linear::default().solve_with(&bad, &mut work).is_err());
    }
    let write = |_: Range<usize>, scores: &mut Array2<f64>| scores.fill(f64::NEG_INFINITY);
    let error = Linear { require_full: true }.solve_with(&Streamed::new(2, 2, &write), &mut work).unwrap_err();
    assert!(matches!(error, Error::NoFullMatching { .. }), "{error}");
}

#[test]
fn interrupted_it_answers_with_a_valid_matching() {
    let table = crowded(&mut rng(64), 0, 60, 60);
    for polls in [0, 1, 5, 20, 40, 80] {
        let asked = Arc::new(AtomicUsize::new(0));
        let control = Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) >= polls);
        let answer = solve(&table, 2, 5, &mut Workspace::with_control(&control));
        assert!(answer.status == Status::Limit || answer.status == Status::Optimal);
        assert!(close(table.score(&answer.matching).unwrap(), answer.score, magnitude(&table)));
    }
}

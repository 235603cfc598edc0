//! The linear relaxation: equal to a general solver's, feasible from below, an upper bound from above, tight where it says so.

use crate::common;
use crate::relaxed_reference;

use common::{Kind, Values, placed, random_kind, random_problem, rng};
use homolog::matching::{Compatibility, Constraint, LpRelaxation, Relaxed, Status, WarmStart, Workspace};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use relaxed_reference::{best_matching, pair_scores, reference};
use std::collections::BTreeMap;

/// Very small, and with scores near one, so that 1e-6 means something.
fn random_small(rng: &mut ChaCha8Rng) -> Compatibility {
    let (n, m) = (rng.random_range(1..5), rng.random_range(1..5));
    let constraint = if rng.random_bool(0.2) { Constraint::ManyToOne } else { Constraint::OneToOne };
    let kind = Kind { constraint, edges: true, values: Values::Uniform, ..random_kind(rng) };
    random_problem(rng, n, m, kind)
}

/// The point has the value it claims and breaks no constraint by more than rounding.
fn check_point(problem: &Compatibility, relaxed: &Relaxed) {
    let (n, m) = problem.node.dim();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (n + m) as f64;
    let mut value = 0.0;
    for ((i, k), &share) in relaxed.node.indexed_iter().filter(|(_, share)| **share != 0.0) {
        assert!(share > 0.0);
        value += share * problem.node[[i, k]];
    }
    for (i, (row, &rest)) in relaxed.node.rows().into_iter().zip(&relaxed.unmatched).enumerate() {
        assert!(rest >= 0.0 && near(row.sum() + rest, 1.0), "row {i} of {relaxed:?}");
        value += rest * Some(problem.unmatched_score(i)).filter(|price| price.is_finite()).unwrap_or(0.0);
    }
    let one_to_one = problem.constraint == Constraint::OneToOne;
    assert!(!one_to_one || relaxed.node.columns().into_iter().all(|column| column.sum() < 1.0 + 1e-12 * n as f64));
    let forced = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
    let used: f64 = (0..n).filter(|&i| forced(i)).map(|i| relaxed.node.row(i).sum()).sum();
    assert!(near(used, placed(problem, &best_matching(problem).matching) as f64), "{relaxed:?}");
    let scores = pair_scores(problem);
    let mut sums: BTreeMap<_, f64> = BTreeMap::new();
    for edge in &relaxed.edges {
        assert!(edge.share > 0.0);
        let ([i, j], [k, l]) = (edge.left, edge.right);
        value += edge.share * scores.get(&(edge.left, edge.right)).copied().unwrap_or(0.0);
        for (own, place, other, there) in [(i, k, j, l), (j, l, i, k)] {
            *sums.entry((own, place, Some(other), None)).or_default() += edge.share;
            *sums.entry((own, place, None, Some(there))).or_default() += edge.share;
        }
    }
    for ((own, place, other, _), sum) in sums {
        let counts = one_to_one || other.is_some();
        assert!(!counts || sum <= relaxed.node[[own, place]] + 1e-12, "{own} {place} in {relaxed:?}");
    }
    assert!(near(value, relaxed.value), "it is worth {value}: {relaxed:?}");
}

#[test]
fn equal_to_a_general_solver_and_above_brute_force() {
    let mut rng = rng(41);
    let (mut tight, mut compared) = (0, 0);
    for _ in 0..300 {
        let problem = random_small(&mut rng);
        let precise = LpRelaxation { gap: 0.0, tolerance: 1e-8, max_iterations: 100_000, ..LpRelaxation::default() };
        let relaxed = precise.solve(&problem).unwrap();
        let best = best_matching(&problem);
        let context = || format!("{relaxed:?}\nbest {best:?}\n{problem:?}");
        assert!(relaxed.bound - relaxed.value <= 1e-8, "{}", context());
        assert!(relaxed.bound >= best.score - 1e-12, "{}", context());
        check_point(&problem, &relaxed);
        if let Some(reference) = reference(&problem) {
            assert!((relaxed.bound - reference).abs() < 1e-6, "reference {reference}: {}", context());
            compared += 1;
        }
        if let Some(matching) = &relaxed.matching {
            assert!((problem.score(matching).unwrap() - best.score).abs() < 1e-9, "{}", context());
            tight += 1;
        }
    }
    assert!(compared > 250 && tight > 100, "compared {compared}, tight {tight}");
}

#[test]
fn stopped_early_both_bounds_hold() {
    let mut rng = rng(42);
    for _ in 0..150 {
        let problem = random_small(&mut rng);
        let Some(reference) = reference(&problem) else { continue };
        for steps in [0, 20, 60] {
            let hasty = LpRelaxation { gap: 0.0, max_iterations: steps, ..LpRelaxation::default() };
            let relaxed = hasty.solve(&problem).unwrap();
            assert!(relaxed.value <= reference + 1e-6 && reference <= relaxed.bound + 1e-6, "{relaxed:?}, {reference}");
            check_point(&problem, &relaxed);
        }
    }
}

#[test]
fn a_warm_start_changes_how_long_it_takes_not_what_comes_out() {
    let mut rng = rng(43);
    let precise = LpRelaxation { gap: 0.0, tolerance: 1e-8, max_iterations: 100_000, ..LpRelaxation::default() };
    let mut work = Workspace::new();
    let (mut cold_steps, mut warm_steps) = (0, 0);
    for _ in 0..60 {
        let problem = random_small(&mut rng);
        let mut warm = WarmStart::default();
        precise.solve_from(&problem, &mut warm, &mut work).unwrap();
        let mut changed = problem.clone();
        changed.node.mapv_inplace(|score| score + rng.random_range(-0.01..0.01));
        let again = precise.solve_from(&changed, &mut warm, &mut work).unwrap();
        let cold = precise.solve_with(&changed, &mut work).unwrap();
        assert!((again.bound - cold.bound).abs() < 1e-7);
        check_point(&changed, &again);
        cold_steps += cold.iterations;
        warm_steps += again.iterations;
        // A start that does not fit is not used at all.
        let other = random_small(&mut rng);
        let fresh = precise.solve_from(&other, &mut warm, &mut work).unwrap();
        assert!((fresh.bound - precise.solve_with(&other, &mut work).unwrap().bound).abs() < 1e-7);
    }
    assert!(warm_steps < cold_steps, "{warm_steps} and {cold_steps}");
}

#[test]
fn without_edges_it_is_the_assignment() {
    let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
    let relaxed = LpRelaxation::default().solve(&problem).unwrap();
    let best = best_matching(&problem);
    assert_eq!((relaxed.bound, relaxed.value, best.status), (best.score, best.score, Status::Optimal));
    assert_eq!(relaxed.matching, Some(best.matching));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = Compatibility::linear(ndarray::array![[1.0]]);
    let refuse = |solver: LpRelaxation| solver.solve(&problem).unwrap_err().to_string();
    assert_eq!(
        refuse(LpRelaxation { gap: -1.0, ..LpRelaxation::default() }),
        "setting gap is -1: it must be at least 0"
    );
    let nan = LpRelaxation { tolerance: f64::NAN, ..LpRelaxation::default() };
    assert_eq!(refuse(nan), "setting tolerance is NaN: it must be at least 0");
}

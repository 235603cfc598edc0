//! Costs solved in place in memory: the same answers as negated scores, and stopped when the caller says so.

use crate::common;

use common::rng;
use homolog::matching::{Compatibility, Linear, Matcher, Sense, Workspace};
use homolog::{Control, Error};
use ndarray::{Array2, ShapeBuilder, array};
use rand::RngExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn costs_and_negated_scores_have_the_same_answer() {
    let mut rng = rng(31);
    let mut work = Workspace::new();
    let mut others = 0;
    for step in 0..4000 {
        let (n, m) = match step % 200 {
            0 => (rng.random_range(1..40), rng.random_range(1500..1600)),
            1 => (rng.random_range(100..200), rng.random_range(1..20)),
            _ => (rng.random_range(0..14), rng.random_range(0..14)),
        };
        let ties = step % 3 == 0;
        let forbidden = [0.0, 0.2, 0.9][step % 7 % 3];
        let scale = [1.0, 1e300, 1e-300][step % 11 % 3];
        let mut cost = || {
            let value = if ties { f64::from(rng.random_range(0..4)) } else { rng.random_range(-1.0..1.0) };
            if rng.random_bool(forbidden) { f64::INFINITY } else { scale * value }
        };
        let mut costs = Array2::from_shape_simple_fn((n, m), &mut cost);
        if step % 5 == 0 {
            let mut by_columns = Array2::zeros((n, m).f());
            by_columns.assign(&costs);
            costs = by_columns;
        }
        let scores = costs.mapv(|cost| -cost);
        let expected = Linear::default().solve(&Compatibility::linear(scores.clone())).unwrap();
        let expected = expected.matching.left_to_right();
        let linear = Linear::default();
        let negated = linear.assign_matrix(scores.view(), Sense::Maximize, &mut work).unwrap().unwrap().to_vec();
        let found = linear.assign_matrix(costs.view(), Sense::Minimize, &mut work).unwrap().unwrap();
        assert_eq!(found, negated, "{costs}");
        if ties && scale != 1.0 {
            // Multiples of 1e300 are rounded, so some ties are not exact: a proof tells them apart, an assignment does not.
            let total = |places: &[Option<usize>]| -> f64 {
                places.iter().enumerate().filter_map(|(i, &k)| Some(costs[[i, k?]] / scale)).sum()
            };
            assert!((total(found) - total(expected)).abs() < 1e-12, "{costs}");
            others += usize::from(found != expected);
        } else {
            assert_eq!(found, expected, "{costs}");
        }
    }
    assert!(others < 40, "{others} of 4000");
}

#[test]
fn what_no_cost_can_be_is_refused_with_its_place() {
    let mut work = Workspace::new();
    let mut refused = |costs: Array2<f64>, sense| Linear::default().assign_matrix(costs.view(), sense, &mut work).err();
    let nan = refused(array![[1.0, 2.0], [3.0, f64::NAN]], Sense::Minimize);
    assert!(matches!(nan, Some(Error::BadCell { what: "costs", row: 1, column: 1, .. })), "{nan:?}");
    let at_any_price = refused(array![[f64::NEG_INFINITY]], Sense::Minimize);
    assert!(matches!(at_any_price, Some(Error::BadCell { what: "costs", row: 0, column: 0, .. })));
    assert!(matches!(refused(array![[f64::INFINITY]], Sense::Maximize), Some(Error::BadCell { .. })));
    assert_eq!(refused(array![[f64::INFINITY]], Sense::Minimize), None);
}

#[test]
fn a_full_matching_can_be_required() {
    let strict = Linear { require_full: true };
    let mut work = Workspace::new();
    let mut solve = |costs: Array2<f64>| strict.assign_matrix(costs.view(), Sense::Minimize, &mut work).map(|_| ());
    let inf = f64::INFINITY;
    assert!(matches!(solve(array![[1.0, inf], [2.0, inf]]), Err(Error::NoFullMatching { .. })));
    assert!(matches!(solve(array![[1.0, inf], [2.0, inf], [1.0, inf]]), Err(Error::NoFullMatching { .. })));
    assert_eq!(solve(array![[1.0, inf], [inf, 2.0]]), Ok(()));
    assert_eq!(solve(array![[1.0], [2.0], [3.0]]), Ok(()));
}

#[test]
fn the_caller_can_stop_it() {
    let mut rng = rng(32);
    for (n, m) in [(300, 300), (310, 300), (1500, 1500)] {
        // Points on a line: many rows are still unplaced after the first bids.
        let points: Vec<f64> = (0..n + m).map(|_| rng.random()).collect();
        let costs = Array2::from_shape_fn((n, m), |(i, k)| (points[i] - points[n + k]).powi(2));
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let control = Control::new().interrupted_by(move || count.fetch_add(1, Ordering::Relaxed) >= 3);
        let mut work = Workspace::with_control(&control);
        let answer = Linear::default().assign_matrix(costs.view(), Sense::Minimize, &mut work).unwrap();
        assert!(answer.is_none(), "{n} by {m}: asked {asked:?} times");
    }
}

//! Laws of sifting: what is proven is proven of the whole problem, and is what comes out without sifting.

use super::laws::{all_matchings, factors_of, random_problem};
use super::narrow::lift;
use super::{FoldedPrices, Halpern, LpRelaxation, Outlook, Point, Relaxed, Sifting, WarmStart};
use crate::matching::{Compatibility, EdgeList, EdgeTerm, Workspace};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-5;

fn solve(problem: &Compatibility, sifting: Sifting, warm: &mut WarmStart) -> (Relaxed, usize) {
    let solver = LpRelaxation { gap: 0.0, tolerance: TOLERANCE, max_iterations: 200_000, ..LpRelaxation::default() };
    solver.solve_sifting(&FoldedPrices::of(problem), warm, sifting, &mut Workspace::new()).unwrap()
}

/// From the first step on, whatever the size; and never.
const ALWAYS: Sifting = Sifting { least_cells: 0, first: 0 };
const NEVER: Sifting = Sifting { least_cells: usize::MAX, first: 0 };

/// Solves with and without, and compares; how often it was sifted.
fn check(problem: &Compatibility, sifting: Sifting) -> usize {
    let mut warm = WarmStart::default();
    let (plain, none) = solve(problem, NEVER, &mut WarmStart::default());
    let (sifted, rounds) = solve(problem, sifting, &mut warm);
    assert_eq!(none, 0);
    for relaxed in [&plain, &sifted] {
        assert!(relaxed.bound - relaxed.value <= TOLERANCE, "{relaxed:?} of {problem:?}");
    }
    let apart = (plain.bound - sifted.bound).abs();
    assert!(apart <= 1.01 * TOLERANCE, "{} and {}: {problem:?}", plain.bound, sifted.bound);
    // From where it ended, with other scores.
    let mut other = problem.clone();
    other.node.indexed_iter_mut().for_each(|((i, k), score)| *score += 0.05 * ((3 * i + 5 * k) % 7) as f64);
    let (plain, _) = solve(&other, NEVER, &mut WarmStart::default());
    let (sifted, more) = solve(&other, ALWAYS, &mut warm);
    let apart = (plain.bound - sifted.bound).abs();
    assert!(apart <= 1.01 * TOLERANCE, "{} and {}: {other:?}", plain.bound, sifted.bound);
    rounds + more
}

#[test]
fn sifted_bounds_are_those_of_the_whole_problem() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let mut rounds = 0;
    for _ in 0..10_000 {
        let problem = random_problem(&mut rng);
        rounds += check(&problem, ALWAYS);
        let (sifted, _) = solve(&problem, ALWAYS, &mut WarmStart::default());
        for (matching, _) in all_matchings(&problem) {
            assert!(problem.score(&matching).unwrap() <= sifted.bound + 1e-12, "{matching:?} of {problem:?}");
        }
    }
    assert!(rounds > 1_000, "the test sifts to some purpose: {rounds}");
}

/// Points that are jittered and renumbered, near neighbours as edges: a problem as those of training, large enough to be sifted as usual.
fn point_problem(rng: &mut ChaCha8Rng) -> Compatibility {
    let n = rng.random_range(15..20);
    let left = Array2::from_shape_simple_fn((n, 2), || rng.random_range(0.0..4.0));
    let right = left.mapv(|x: f64| x + rng.random_range(-0.3..0.3));
    let distance = |points: &Array2<f64>, i: usize, j: usize| {
        (points[[i, 0]] - points[[j, 0]]).hypot(points[[i, 1]] - points[[j, 1]])
    };
    let edges = |points: &Array2<f64>| {
        let all = (0..n).flat_map(|i| (0..n).map(move |j| [i, j]));
        let near = all.filter(|&[i, j]| i != j && distance(points, i, j) < 1.2);
        Arc::new(EdgeList::new(n, near.collect()).unwrap())
    };
    let (left_edges, right_edges) = (edges(&left), edges(&right));
    let pairs = (0..left_edges.len()).flat_map(|e| (0..right_edges.len()).map(move |f| (e, f, 1.0)));
    let edge = Some(EdgeTerm::listed(left_edges.clone(), right_edges.clone(), pairs.collect()).unwrap());
    let node = Array2::from_shape_fn((n, n), |(i, k)| {
        -(left[[i, 0]] - right[[k, 0]]).hypot(left[[i, 1]] - right[[k, 1]]) + rng.random_range(0.0..1.5)
    });
    Compatibility { edge, ..Compatibility::linear(node) }
}

#[test]
fn problems_of_training_are_sifted_and_come_out_the_same() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let rounds: usize = (0..12).map(|_| check(&point_problem(&mut rng), Sifting::default())).sum();
    assert!(rounds > 12, "{rounds}");
}

#[test]
fn lifted_multipliers_prove_of_the_kept_cells_what_they_proved_before() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    let mut compared = 0;
    for _ in 0..2_000 {
        let problem = random_problem(&mut rng);
        let factors = factors_of(&problem);
        if factors.pairs.iter().any(|pair| !pair.rest) {
            continue;
        }
        let mut keep: Vec<bool> = (0..factors.cell_count()).map(|_| rng.random_bool(0.5)).collect();
        for row in 0..factors.row_count() {
            keep[factors.cells(row).end - 1] = true;
        }
        let (few, origin) = factors.narrow(&keep);
        let mut whole = Point::start(&factors);
        whole.groups.iter_mut().skip(1).for_each(|w| *w = rng.random_range(0.0..0.3));
        let mut halpern = Halpern::new(&few, whole.restrict(&origin), 1.0);
        (0..rng.random_range(0..50)).for_each(|_| halpern.step(&few));
        lift(&factors, &keep, &origin, &halpern.image, &mut whole);
        let mut outlooks = [Outlook::default(), Outlook::default()];
        outlooks[0].evaluate(&few, &halpern.image, &mut Workspace::new()).unwrap();
        outlooks[1].evaluate(&factors, &whole, &mut Workspace::new()).unwrap();
        let [narrow, whole] = outlooks.map(|outlook| outlook.bound);
        assert!(whole >= narrow - 1e-12);
        for (matching, score) in all_matchings(&problem) {
            assert!(score * factors.scale <= whole + 1e-12, "{matching:?}: {score} above {whole}");
        }
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

//! The inner solver against its own optimality conditions and against an independent solver.

#[path = "../../../tests/it/reference/mod.rs"]
mod reference;

use super::*;
use crate::optimize::vector::length;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reference::Row;

fn cut(part: Option<usize>, slope: Vec<f64>, offset: f64) -> Cut {
    Cut::new(slope, offset, part)
}

/// The constraint -w_j <= 0.
fn non_negative(j: usize, dim: usize) -> Cut {
    cut(None, (0..dim).map(|i| if i == j { -1.0 } else { 0.0 }).collect(), 0.0)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Random,
    NearlyParallel,
    Duplicates,
    LowRank,
    Scaled(f64),
    MixedScales,
    MixedFeatures,
}

fn problem(kind: Kind, count: usize, dim: usize, parts: usize, seed: u64) -> Vec<Cut> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut random = move || -> f64 { rng.random_range(-1.0..1.0) };
    let mut cuts: Vec<Cut> = Vec::new();
    for i in 0..count {
        let mut slope: Vec<f64> = (0..dim).map(|_| random()).collect();
        let mut offset = random();
        match kind {
            Kind::NearlyParallel if i >= parts => {
                let twin = &cuts[i % parts.max(i / 2)];
                slope = twin.slope.iter().map(|x| x + 1e-9 * random()).collect();
                offset = twin.offset + 1e-9 * random();
            }
            Kind::Duplicates if i >= parts && i % 2 == 1 => {
                let twin = &cuts[(i - parts) / 2];
                (slope, offset) = (twin.slope.clone(), twin.offset + if i % 4 == 1 { 0.0 } else { 0.1 * random() });
            }
            Kind::LowRank => slope = (0..dim).map(|j| slope[j % 3]).collect(),
            Kind::Scaled(scale) => slope = slope.iter().map(|x| x * scale).collect(),
            Kind::MixedScales => slope = slope.iter().map(|x| x * [1e-6, 1.0, 1e6][i % 3]).collect(),
            Kind::MixedFeatures => slope = (0..dim).map(|j| slope[j] * [1e-3, 1.0, 1e3][j % 3]).collect(),
            Kind::Random | Kind::NearlyParallel | Kind::Duplicates => {}
        }
        cuts.push(cut(Some(i % parts), slope, offset));
    }
    cuts
}

/// Asserts that x is feasible and that the model at w is no further above the bound than rounding explains: this alone proves that
/// the bound is the minimum.
fn assert_optimal(qp: &SimplexQp, cuts: &[Cut], parts: usize, lambda: f64, inner: &Inner, what: &str) {
    let mut sums = vec![0.0; parts];
    for (cut, &share) in cuts.iter().zip(&qp.share) {
        assert!(share >= 0.0, "{what}: share {share}");
        cut.part.into_iter().for_each(|part| sums[part] += share);
    }
    assert!(sums.iter().all(|sum: &f64| (sum - 1.0).abs() < 1e-14), "{what}: sums {sums:?}");
    let mut levels = vec![f64::NEG_INFINITY; parts];
    let norm = length(&inner.weights);
    let (mut rounding, mut slopes) = (0.0_f64, 0.0);
    for (cut, &share) in cuts.iter().zip(&qp.share) {
        let value = cut.value(&inner.weights);
        match cut.part {
            Some(part) => levels[part] = levels[part].max(value),
            None => assert!(value <= 1e-9 * norm, "{what}: constraint broken by {value}"),
        }
        if share > 0.0 {
            rounding = rounding.max(cut.offset.abs() + length(&cut.slope) * norm);
            slopes += length(&cut.slope);
        }
    }
    let primal = levels.iter().sum::<f64>() + 0.5 * lambda * norm * norm;
    // Values at w are sums that may cancel; so is Σ x_i v_i, whose rounding enters the bound as its square over lambda.
    let allowed =
        1e-12 * primal.abs() + 1e-13 * rounding * parts as f64 + (4.0 * f64::EPSILON * slopes).powi(2) / lambda;
    assert!((primal - inner.bound).abs() <= allowed, "{what}: {primal} at w, bound {}, allowed {allowed}", inner.bound);
}

fn solve_and_check(cuts: &[Cut], parts: usize, lambda: f64, what: &str) -> Inner {
    let mut qp = SimplexQp::default();
    let inner = qp.solve(cuts, parts, lambda);
    assert_optimal(&qp, cuts, parts, lambda, &inner, what);
    inner
}

/// Asserts that the other solver, if it is sure, found the same; false if it is not.
fn assert_agrees(inner: &Inner, cuts: &[Cut], parts: usize, lambda: f64, what: &str) -> bool {
    let row = |cut: &Cut| Row { part: cut.part, slope: cut.slope.clone(), offset: cut.offset };
    let rows: Vec<Row> = cuts.iter().map(row).collect();
    let Some(wanted) = reference::minimum(&rows, parts, lambda) else { return false };
    let allowed = 1e-6 * wanted.abs().max(1e-3);
    assert!((inner.bound - wanted).abs() < allowed, "{what}: {} is not {wanted}", inner.bound);
    true
}

const KINDS: [Kind; 9] = [
    Kind::Random,
    Kind::NearlyParallel,
    Kind::Duplicates,
    Kind::LowRank,
    Kind::Scaled(1e6),
    Kind::Scaled(1e-6),
    Kind::Scaled(1e3),
    Kind::MixedScales,
    Kind::MixedFeatures,
];

#[test]
fn agrees_with_an_independent_solver() {
    let (mut agrees, mut tried) = (0, 0);
    for (seed, kind) in KINDS.into_iter().enumerate() {
        for (count, dim, parts) in
            [(1, 1, 1), (2, 1, 1), (7, 3, 2), (40, 5, 4), (60, 30, 1), (200, 10, 8), (500, 20, 5)]
        {
            for lambda in [1e-3, 1.0] {
                let what = format!("{kind:?}, {count} cuts, dim {dim}, parts {parts}, lambda {lambda}");
                let cuts = problem(kind, count, dim, parts, seed as u64);
                let inner = solve_and_check(&cuts, parts, lambda, &what);
                agrees += usize::from(assert_agrees(&inner, &cuts, parts, lambda, &what));
                tried += 1;
            }
        }
    }
    assert!(agrees * 10 > tried * 9, "the other solver solved {agrees} of {tried}");
}

#[test]
fn solves_the_largest_problems_to_their_certificate() {
    for kind in KINDS {
        for (count, dim, parts, lambda) in [(500, 100, 1, 1e-2), (500, 60, 16, 1e-4), (300, 100, 7, 10.0)] {
            let what = format!("{kind:?}, {count} cuts, dim {dim}, parts {parts}, lambda {lambda}");
            solve_and_check(&problem(kind, count, dim, parts, 77), parts, lambda, &what);
        }
    }
}

#[test]
fn solves_many_random_problems_to_their_certificate() {
    for seed in 0..12 {
        for kind in KINDS {
            let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
            let (parts, dim) = (rng.random_range(1..12), rng.random_range(1..50));
            let count = parts + rng.random_range(0..150);
            let lambda = 10.0_f64.powi(rng.random_range(-10..5));
            let what = format!("{kind:?}, seed {seed}, {count} cuts, dim {dim}, parts {parts}, lambda {lambda}");
            let mut cuts = problem(kind, count, dim, parts, seed);
            if seed % 3 == 0 {
                cuts.extend((0..dim).step_by(2).map(|j| non_negative(j, dim)));
            }
            solve_and_check(&cuts, parts, lambda, &what);
        }
    }
}

#[test]
fn keeps_weights_non_negative_as_an_independent_solver_does() {
    for (seed, (count, dim, parts)) in [(1, 1, 1), (5, 4, 2), (60, 20, 3), (200, 40, 4)].into_iter().enumerate() {
        for kind in [Kind::Random, Kind::NearlyParallel, Kind::MixedScales] {
            let mut cuts = problem(kind, count, dim, parts, 100 + seed as u64);
            cuts.extend((0..dim).step_by(2).map(|j| non_negative(j, dim)));
            let what = format!("{kind:?}, {count} cuts, dim {dim}, parts {parts}");
            let inner = solve_and_check(&cuts, parts, 0.1, &what);
            assert_agrees(&inner, &cuts, parts, 0.1, &what);
        }
    }
}

#[test]
fn growing_step_by_step_and_changing_lambda_ends_where_a_fresh_start_does() {
    for (seed, kind) in KINDS.into_iter().enumerate() {
        let (parts, dim) = (3, 12);
        let cuts = problem(kind, 150, dim, parts, 200 + seed as u64);
        let mut qp = SimplexQp::default();
        let mut last = f64::NEG_INFINITY;
        for count in (parts..=cuts.len()).step_by(3) {
            let inner = qp.solve(&cuts[..count], parts, 0.01);
            assert!(inner.bound >= last - 1e-12 * last.abs(), "{kind:?}: bound fell from {last} to {}", inner.bound);
            last = inner.bound;
        }
        for lambda in [0.01, 10.0, 1e-5, 1.0] {
            let inner = qp.solve(&cuts, parts, lambda);
            assert_optimal(&qp, &cuts, parts, lambda, &inner, &format!("{kind:?}, then lambda {lambda}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn optimal_on_small_whole_numbers(
        slopes in prop::collection::vec(prop::collection::vec(-2_i32..3, 3), 1..12),
        offsets in prop::collection::vec(-3_i32..4, 12),
        parts in 1_usize..4,
        exponent in -12_i32..4,
    ) {
        // Small whole numbers produce plenty of ties, dependences and duplicates.
        let parts = parts.min(slopes.len());
        let cuts: Vec<Cut> = slopes
            .iter()
            .zip(offsets)
            .enumerate()
            .map(|(i, (slope, offset))| cut(Some(i % parts), slope.iter().map(|&x| f64::from(x)).collect(), f64::from(offset)))
            .collect();
        solve_and_check(&cuts, parts, 10.0_f64.powi(exponent), "whole numbers");
    }
}

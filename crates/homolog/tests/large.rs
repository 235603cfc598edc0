//! Quadratic problems with so many nodes that the searches first narrow them to candidate pairs.
#![expect(clippy::unwrap_used, reason = "a panic is a test's report")]

use homolog::matching::{
    Compatibility, EdgeList, EdgeTerm, FrankWolfe, GraduatedAssignment, Linear, Matcher, Matching, Workspace,
};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Points on a grid, jittered; node scores by distance, edges along the grid. The first `n` points are on the left, `m` on the right.
fn problem(n: usize, m: usize, seed: u64, price: Option<f64>) -> Compatibility {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let side = 28;
    let mut points = |count: usize| -> Vec<[f64; 2]> {
        let mut error = || random.random_range(-0.9..0.9);
        (0..count).map(|i| [(i % side) as f64 + error(), (i / side) as f64 + error()]).collect()
    };
    let (left, right) = (points(n), points(m));
    let edges = |count: usize| {
        let near = |i: usize| [(i % side + 1 < side).then_some(i + 1), Some(i + side)];
        let ends = (0..count).flat_map(|i| near(i).into_iter().flatten().map(move |j| [i, j]));
        let both = ends.filter(|ends| ends[1] < count).flat_map(|[i, j]| [[i, j], [j, i]]);
        Arc::new(EdgeList::new(count, both.collect()).unwrap())
    };
    let (left_edges, right_edges) = (edges(n), edges(m));
    let ones = |edges: &EdgeList| Array2::ones((edges.len(), 1));
    let (a, b) = (ones(&left_edges), ones(&right_edges));
    let node = Array2::from_shape_fn((n, m), |(i, k)| {
        -(left[i][0] - right[k][0]).powi(2) - (left[i][1] - right[k][1]).powi(2)
    });
    let edge = EdgeTerm::factored(left_edges, right_edges, a, b).unwrap();
    let mut problem = Compatibility::linear(node).with_edges(edge);
    problem.unmatched = price.map(|price| Array1::from_elem(n, -price));
    problem
}

#[test]
fn large_problems_are_solved_well_and_the_same_every_time() {
    for (n, m, price) in [(520, 520, None), (560, 520, Some(2.0))] {
        let problem = problem(n, m, 3, price);
        let truth = Matching::new((0..n).map(|i| (i < m).then_some(i)).collect(), m, problem.constraint).unwrap();
        let truth = problem.score(&truth).unwrap();
        let linear = Linear::default().solve(&problem.without_edges(), &mut Workspace::new()).unwrap();
        let linear = problem.score(&linear.matching).unwrap();
        let matchers: [&dyn Matcher; 2] =
            [&GraduatedAssignment::default(), &FrankWolfe { starts: 3, ..FrankWolfe::default() }];
        for matcher in matchers {
            let answer = matcher.solve(&problem, &mut Workspace::new()).unwrap();
            let score = problem.score(&answer.matching).unwrap();
            assert!((answer.score - score).abs() <= 1e-9 * score.abs());
            assert!(answer.bound >= score);
            assert!(score > linear && score >= 0.9 * truth, "{score}, linear {linear}, truth {truth}");
            assert_eq!(answer, matcher.solve(&problem, &mut Workspace::new()).unwrap());
        }
    }
}

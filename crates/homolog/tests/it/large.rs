//! Quadratic problems with so many nodes that the searches narrow them to lists of candidate pairs, and small ones that are made to go the
//! same way, against brute force.

use crate::common;
use crate::laws_of_matching::forms::on_rows;

use common::{Kind, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::matching::{
    BruteForce, Compatibility, EdgeList, EdgeTerm, Exact, FrankWolfe, GraduatedAssignment, Linear, Matcher, Matching,
    Method, Solution, Spectral, Status, Workspace,
};
use homolog::model::Model;
use homolog::{Control, Error};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        let linear = Linear::default().solve(&problem.without_edges()).unwrap();
        let linear = problem.score(&linear.matching).unwrap();
        let matchers: [&dyn Matcher; 2] =
            [&GraduatedAssignment::default(), &FrankWolfe { starts: 3, ..FrankWolfe::default() }];
        for matcher in matchers {
            let answer = matcher.solve(&problem).unwrap();
            let score = problem.score(&answer.matching).unwrap();
            assert!((answer.score - score).abs() <= 1e-9 * score.abs());
            assert!(answer.bound >= score);
            assert!(score > linear && score >= 0.9 * truth, "{score}, linear {linear}, truth {truth}");
            assert_eq!(answer, matcher.solve(&problem).unwrap());
        }
    }
}

/// Solves a table as if its node scores were computed a few rows at a time.
fn solve_rows(
    method: &Method,
    table: &Compatibility,
    sizes: [usize; 3],
    work: &mut Workspace,
) -> homolog::Result<Solution> {
    on_rows(table, sizes, |rows| method.matcher().solve_with(rows, work))
}

fn both() -> [Method; 2] {
    let climbing = FrankWolfe { starts: 3, kicks: 3, ..FrankWolfe::default() };
    [Method::GraduatedAssignment(GraduatedAssignment::default()), Method::FrankWolfe(climbing)]
}

/// Checks everything that holds for any answer.
fn check(table: &Compatibility, answer: &Solution, exact: &Solution, context: &str) {
    let size = 4.0 * magnitude(table) + table.right_unmatched.iter().flatten().map(|price| price.abs()).sum::<f64>();
    let context = || format!("{context}: {answer:?}\nbrute force {exact:?}\non {table:?}");
    let score = table.score(&answer.matching).unwrap();
    assert!(close(answer.score, score, size), "{}", context());
    assert_eq!(placed(table, &answer.matching), placed(table, &exact.matching), "not of largest size: {}", context());
    assert!(score <= exact.score || close(score, exact.score, size), "better than brute force: {}", context());
    assert!(exact.score <= answer.bound || close(exact.score, answer.bound, size), "wrong bound: {}", context());
    if answer.status == Status::Optimal {
        assert!(close(score, exact.score, size), "not optimal: {}", context());
    }
}

#[test]
fn small_problems_of_all_kinds_are_answered_lawfully_on_lists() {
    let mut rng = rng(70);
    let mut work = Workspace::new();
    let (mut found, mut possible) = (0, 0);
    for round in 0..12_000 {
        let (n, m) = (rng.random_range(0..6), rng.random_range(0..6));
        let kind = Kind { edges: round % 20 != 0, ..random_kind(&mut rng) };
        let mut table = random_problem(&mut rng, n, m, kind);
        if round % 3 == 0 {
            table.right_unmatched = Some(Array1::from_shape_simple_fn(m, || rng.random_range(-1.0..1.0)));
        }
        if round % 7 == 0 {
            table.node.rows_mut().into_iter().take(1).for_each(|mut row| row.mapv_inplace(|score| score + 1e12));
        }
        let sizes = [rng.random_range(1..3), [1, 2, 3, 48][rng.random_range(0..4)], rng.random_range(1..4)];
        let exact = BruteForce::default().solve_with(&table, &mut work).unwrap();
        let method = &both()[usize::from(round % 4 == 0)];
        let answer = solve_rows(method, &table, sizes, &mut work).unwrap();
        check(&table, &answer, &exact, method.name());
        let has_edges = table.edge.as_ref().is_some_and(|edge| !edge.is_empty()) && n > 0 && m > 0;
        assert!(!has_edges || answer.status == Status::Converged, "nothing is proven with edges");
        if sizes[1] == 48 {
            possible += 1;
            found += usize::from(answer.score >= exact.score - 1e-9 * magnitude(&table));
        }
    }
    // All pairs may be candidates there; searches hardly ever miss the best of so few nodes.
    assert!(10 * found > 9 * possible, "{found} of {possible} at the optimum");
}

/// Problems of up to 200 nodes, forced onto lists, score about as much as on tables.
#[test]
fn medium_problems_score_as_much_on_lists_as_on_tables() {
    let mut sums = [[0.0; 2]; 2];
    for (round, (n, m, price)) in
        [(60, 60, None), (100, 90, None), (90, 100, None), (120, 110, Some(2.0)), (200, 200, None)]
            .into_iter()
            .enumerate()
    {
        let table = problem(n, m, 20 + round as u64, price);
        let linear = Linear::default().solve(&table.without_edges()).unwrap();
        let base = table.score(&linear.matching).unwrap();
        for (method, sums) in both().iter().zip(&mut sums) {
            let dense = method.matcher().solve(&table).unwrap();
            let listed = solve_rows(method, &table, [12, 48, 50], &mut Workspace::new()).unwrap();
            assert!(listed.bound >= dense.score && dense.bound >= listed.score);
            sums[0] += listed.score - base;
            sums[1] += dense.score - base;
        }
    }
    for [listed, dense] in sums {
        assert!(listed >= 0.97 * dense, "{listed} above linear assignment, tables {dense}");
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let table = problem(150, 140, 4, Some(2.0));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let solve = || both().map(|method| solve_rows(&method, &table, [4, 20, 7], &mut Workspace::new()).unwrap());
        pool.install(solve)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn interrupted_it_answers_with_a_valid_matching() {
    let table = problem(60, 60, 5, None);
    let method = &both()[1];
    for polls in [0, 1, 5, 20, 40, 80, 200, 1000] {
        let asked = Arc::new(AtomicUsize::new(0));
        let control = Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) >= polls);
        let answer = solve_rows(method, &table, [2, 20, 5], &mut Workspace::with_control(&control)).unwrap();
        assert!(answer.status == Status::Limit || answer.status == Status::Converged);
        assert!(close(table.score(&answer.matching).unwrap(), answer.score, magnitude(&table)));
        assert!(answer.bound >= answer.score);
    }
}

#[test]
fn bad_scores_sizes_and_matchers_are_refused() {
    let mut table = problem(6, 6, 1, None);
    let sizes = [2, 4, 2];
    let mut work = Workspace::new();
    let exact = solve_rows(&Method::Exact(Exact::default()), &table, sizes, &mut work).unwrap();
    assert_eq!(exact, Exact::default().solve(&table).unwrap());
    let spectral = solve_rows(&Method::Spectral(Spectral::default()), &table, sizes, &mut work).unwrap();
    assert_eq!(spectral, Spectral::default().solve(&table).unwrap());
    let linear = Method::Linear(Linear::default());
    assert!(matches!(solve_rows(&linear, &table, sizes, &mut work), Err(Error::Unsupported { .. })));
    for method in both() {
        assert!(solve_rows(&method, &table, [2, 0, 2], &mut work).is_err());
        table.node[[3, 2]] = f64::NAN;
        let error = solve_rows(&method, &table, sizes, &mut work).unwrap_err();
        assert!(matches!(error, Error::BadCell { row: 3, column: 2, .. }), "{error}");
        table.node[[3, 2]] = 1e308;
        table.node[[4, 2]] = 1e308;
        let error = solve_rows(&method, &table, sizes, &mut work).unwrap_err();
        assert!(matches!(error, Error::Overflow { .. }), "{error}");
        table.node[[3, 2]] = 0.0;
        table.node[[4, 2]] = 0.0;
        let other = problem(7, 6, 1, None);
        let mut mixed = table.clone();
        mixed.edge = other.edge;
        assert!(matches!(solve_rows(&method, &mixed, sizes, &mut work), Err(Error::Size { .. })));
    }
}

/// Refused before the graphs are described, which would fail: they have no points.
#[test]
fn graphs_too_large_even_for_lists_are_refused_before_any_work() {
    let graph = |count: usize| Arc::new(Graph::new(count));
    let refused = |map: FeatureMap, method: Method, count: usize| {
        let model = Model::unlearned(map, method).unwrap();
        let error = model.solve(&Pair::new(graph(count), graph(count))).unwrap_err();
        matches!(error, Error::TooLarge { found, limit, .. } if found == count * count && limit < found)
    };
    let quadratic = FeatureMap::paper_quadratic;
    let exact = Method::Exact(Exact::default());
    for method in both().into_iter().chain([exact]) {
        assert!(refused(quadratic(), method.clone(), 12_000), "more than tables and lists take");
        assert!(!refused(quadratic(), method.clone(), 10_000), "lists take that");
        let edges_alone = FeatureMap { node: vec![], ..quadratic() };
        assert!(refused(edges_alone, method, 12_000), "nothing tells nodes apart");
    }
    let published = GraduatedAssignment { polish: false, ..GraduatedAssignment::default() };
    assert!(refused(quadratic(), Method::GraduatedAssignment(published), 12_000), "the published method needs tables");
}

//! Margins against all matchings, counted in whole numbers: how much the score falls if a pair is not allowed, whatever constants rows and
//! columns share; and one margin and one runner-up wherever they are asked for.

use crate::common;
use crate::laws_of_matching::forms::{as_list, on_rows};

use common::rng;
use homolog::Control;
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::labelling::suggest;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, Matcher, Matching, Method, Status,
    Workspace, margins,
};
use homolog::model::Model;
use ndarray::{Array1, Array2, array};
use rand::{Rng, RngExt};
use std::sync::Arc;

/// All feasible matchings with their scores, exactly: of the left nodes that must be matched, as many are as can be.
fn all(problem: &Compatibility) -> Vec<(Matching, i128)> {
    let (n, m) = problem.node.dim();
    let mut maps: Vec<Vec<Option<usize>>> = vec![vec![]];
    for i in 0..n {
        let choices = || (0..m).filter(|&k| problem.node[[i, k]] > f64::NEG_INFINITY).map(Some).chain([None]);
        maps = maps.iter().flat_map(|map| choices().map(|k| map.iter().copied().chain([k]).collect())).collect();
    }
    let matchings: Vec<Matching> =
        maps.into_iter().filter_map(|map| Matching::new(map, m, problem.constraint).ok()).collect();
    let must = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
    let placed = |y: &Matching| y.pairs().filter(|&(i, _)| must(i)).count();
    let most = matchings.iter().map(placed).max().unwrap_or(0);
    let feasible = matchings.into_iter().filter(|y| placed(y) == most);
    feasible.map(|y| (y.clone(), exact_score(problem, &y))).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
fn exact_score(problem: &Compatibility, matching: &Matching) -> i128 {
    let whole = |value: f64| if value == f64::NEG_INFINITY { 0 } else { value as i128 };
    let left = matching.left_to_right().iter().enumerate().map(|(i, right)| match *right {
        Some(k) => whole(problem.node[[i, k]]),
        None => whole(problem.unmatched_score(i)),
    });
    let price = |k: usize| problem.right_unmatched.as_ref().map_or(0, |prices| whole(prices[k]));
    left.sum::<i128>() + matching.unmatched_right().map(price).sum::<i128>()
}

/// Small whole numbers with a constant on every row and every column, some pairs forbidden, prices on either side.
fn whole_problem(rng: &mut impl Rng, constant: f64) -> Compatibility {
    let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
    let (of_rows, of_columns) = (rng.random_bool(0.6), rng.random_bool(0.6));
    let mut constants = |count: usize, is_used: bool| -> Vec<f64> {
        (0..count).map(|_| if is_used && rng.random_bool(0.7) { constant } else { 0.0 }).collect()
    };
    let (rows, columns) = (constants(n, of_rows), constants(m, of_columns));
    let forbidden = if rng.random_bool(0.3) { 0.3 } else { 0.0 };
    let mut node = Array2::zeros((n, m));
    for ((i, k), cell) in node.indexed_iter_mut() {
        let small = f64::from(rng.random_range(-10_i32..11));
        *cell = if rng.random_bool(forbidden) { f64::NEG_INFINITY } else { small + rows[i] + columns[k] };
    }
    let mut problem = Compatibility::linear(node);
    let price = |rng: &mut _, own: f64| f64::from(RngExt::random_range(rng, -10_i32..11)) + own;
    if rng.random_bool(0.3) {
        let must = rng.random_bool(0.3);
        let one = |i: usize| if must && i == 0 { f64::NEG_INFINITY } else { price(rng, rows[i]) };
        problem = problem.with_unmatched((0..n).map(one).collect::<Array1<f64>>());
    }
    if rng.random_bool(0.2) {
        problem = problem.with_right_unmatched((0..m).map(|k| price(rng, columns[k])).collect::<Array1<f64>>());
    } else if rng.random_bool(0.15) {
        problem = problem.with_constraint(Constraint::ManyToOne);
    }
    problem
}

#[test]
fn margins_are_exact_beside_constants_of_any_size_and_never_negative_where_proven() {
    let mut rng = rng(272);
    let (mut proven, mut not_best) = (0, 0);
    for round in 0..3000 {
        let constant = [0.0, 1e6, 1e12, 1e13, 1e14, 1e15][round % 6];
        let problem = whole_problem(&mut rng, constant);
        let solution = Linear::default().solve(&problem).unwrap();
        let found = margins(&problem, &solution, None, &Control::new()).unwrap();
        let all = all(&problem);
        let score = exact_score(&problem, &solution.matching);
        assert_eq!(found.len(), solution.matching.matched_count());
        if let Some(list) = as_list(&problem) {
            let of_rows =
                on_rows(&problem, [1, 48, 2], |rows| margins(rows, &solution, None, &Control::new()).unwrap());
            assert_eq!(
                [margins(&list, &solution, None, &Control::new()).unwrap(), of_rows],
                [found.clone(), found.clone()]
            );
        }
        if all.iter().any(|(_, other)| *other > score) {
            // Whether a matching is called optimal rightly is another law's business.
            not_best += 1;
            continue;
        }
        for margin in &found {
            let without = all.iter().filter(|(y, _)| y.right_of(margin.left) != Some(margin.right));
            let expected = without.map(|(_, other)| score - other).min();
            #[expect(clippy::cast_precision_loss, reason = "the nearest number is what is asked for")]
            let as_number = expected.map_or(f64::INFINITY, |expected| expected as f64);
            assert_eq!(margin.margin, as_number, "{constant}: {margin:?} of {problem:?}\n{solution:?}");
            assert_eq!(margin.proven, solution.status == Status::Optimal);
            proven += usize::from(margin.proven);
            // The alternative is feasible, avoids the pair and scores that much less.
            if let Some(other) = margin.alternative(&solution.matching).unwrap() {
                assert_eq!(other.right_of(margin.left), margin.runner_up);
                assert_ne!(margin.runner_up, Some(margin.right));
                let listed = all.iter().find(|(y, _)| *y == other).expect("a feasible matching");
                assert_eq!(Some(score - listed.1), expected);
            }
        }
    }
    assert!(proven > 5000 && not_best < 30, "{proven} {not_best}");
}

#[test]
fn with_edges_a_margin_is_a_bound_and_the_exact_solver_makes_it_exact() {
    let mut rng = rng(7);
    for seed in 0..12 {
        let graph = |rng: &mut _| {
            let points = Array2::from_shape_simple_fn((5, 2), || RngExt::random_range(rng, 0.0..100.0));
            Arc::new(Graph::from_points(points).unwrap())
        };
        let pair = Pair::new(graph(&mut rng), graph(&mut rng));
        let features = FeatureMap { unmatched: seed % 2 == 0, ..FeatureMap::paper_quadratic() };
        let problem = Model::unlearned(features, Method::Exact(Exact::default()))
            .unwrap()
            .problem(&pair, &mut Workspace::new())
            .unwrap();
        let solution = Exact::default().solve(&problem).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        let bounds = margins(&problem, &solution, None, &Control::new()).unwrap();
        let exact = margins(&problem, &solution, Some(&Exact::default()), &Control::new()).unwrap();
        for (bound, exact) in bounds.iter().zip(&exact) {
            let mut without = problem.clone();
            without.node[[exact.left, exact.right]] = f64::NEG_INFINITY;
            let best = BruteForce::default().solve(&without).unwrap();
            assert!((exact.margin - (solution.score - best.score)).abs() < 1e-9, "{exact:?}");
            assert!(exact.proven && !bound.proven && exact.margin >= 0.0);
            assert!(bound.margin >= exact.margin - 1e-9);
            let other = bound.alternative(&solution.matching).unwrap().unwrap();
            assert!((solution.score - problem.score(&other).unwrap() - bound.margin).abs() < 1e-9);
        }
    }
}

/// A square: every rotation is as good, and everyone has to name the same runner-up.
#[test]
fn match_explain_and_page_name_the_same_runner_up_for_a_square() {
    let square = Arc::new(Graph::from_points(array![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).unwrap());
    let pair = Pair::new(Arc::clone(&square), square);
    for (features, method) in [
        (FeatureMap::paper_linear(), Method::Linear(Linear::default())),
        (FeatureMap::paper_quadratic(), Method::Exact(Exact::default())),
    ] {
        let model = Model::unlearned(features, method).unwrap();
        let matched = model.match_pair(&pair, &mut Workspace::new()).unwrap();
        let margins = matched.margins(&Control::new()).unwrap();
        let explanation = model.explain(&pair, &Control::new()).unwrap();
        let suggestion = suggest(&model, &pair, &[]).unwrap();
        assert_eq!(margins.len(), 4);
        for ((margin, reasons), suggested) in margins.iter().zip(&explanation.matches).zip(&suggestion.matches) {
            let other = reasons.alternative.as_ref().unwrap();
            assert_eq!((margin.left, margin.right), (reasons.left, reasons.right));
            assert_eq!((margin.margin, margin.runner_up, margin.proven), (other.margin, other.right, other.proven));
            assert_eq!((suggested.left, suggested.right), (margin.left, Some(margin.right)));
            if suggestion.proven {
                assert_eq!(suggested.margin, Some(margin.margin));
                assert_eq!(suggested.alternatives.first().copied(), margin.runner_up);
            } else {
                assert!(suggested.margin.unwrap() >= margin.margin - 1e-12);
            }
        }
    }
}

#[test]
fn large_problems_have_the_margins_of_solving_again() {
    let mut rng = rng(3);
    let node = Array2::from_shape_simple_fn((70, 90), || rng.random_range(0.0..1.0));
    let problem = Compatibility::linear(node);
    let solution = Linear::default().solve(&problem).unwrap();
    let found = margins(&problem, &solution, None, &Control::new()).unwrap();
    let mut without = problem.clone();
    for margin in found {
        without.node[[margin.left, margin.right]] = f64::NEG_INFINITY;
        let other = Linear::default().solve(&without).unwrap();
        without.node[[margin.left, margin.right]] = problem.node[[margin.left, margin.right]];
        assert!((margin.margin - (solution.score - other.score)).abs() < 1e-12);
        assert_eq!(other.matching, margin.alternative(&solution.matching).unwrap().unwrap());
    }
}

/// Whenever it is told to stop: what is not proven is at least the margin, what is proven is the margin.
#[test]
fn margins_that_are_cut_short_are_bounds() {
    let mut rng = rng(31);
    let ring = |step: usize| (0..7).map(move |i| [i, (i + step) % 7]);
    let edges = std::sync::Arc::new(EdgeList::new(7, ring(1).chain(ring(2)).collect()).unwrap());
    let mut factors = || Array2::from_shape_simple_fn((edges.len(), 1), || rng.random_range(-1.0..1.0));
    let edge = EdgeTerm::factored(Arc::clone(&edges), Arc::clone(&edges), factors(), factors()).unwrap();
    let quadratic = Compatibility::linear(Array2::from_shape_simple_fn((7, 7), || rng.random())).with_edges(edge);
    let linear = Compatibility::linear(Array2::from_shape_simple_fn((90, 95), || rng.random()));
    let exact = Exact::default();
    for (problem, matcher) in [(&quadratic, Some(&exact as &dyn Matcher)), (&quadratic, None), (&linear, None)] {
        let solution = exact.solve(problem).unwrap();
        let whole = margins(problem, &solution, matcher, &Control::new()).unwrap();
        for after in [0, 1, 2, 5, 20, 100] {
            let asked = std::sync::atomic::AtomicUsize::new(0);
            let count = move || asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= after;
            let cut = margins(problem, &solution, matcher, &Control::new().interrupted_by(count)).unwrap();
            for (cut, whole) in cut.iter().zip(&whole) {
                assert_eq!((cut.left, cut.right), (whole.left, whole.right));
                let is_right = if cut.proven { cut.margin == whole.margin } else { cut.margin >= whole.margin - 1e-9 };
                assert!(is_right || !whole.proven, "stopped after {after}: {cut:?}, not {whole:?}");
            }
        }
    }
}

//! Proofs beside large constants: on rows, columns, single cells, edges and groups of edges. What they hide is not called proven, and what a
//! proof leaves open is said.

use super::{complete, solve, with_edges};
use crate::common::{data_folder, rng};
use homolog::data::qaplib;
use homolog::matching::{
    BruteForce, Compatibility, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Method, Sense,
    Solution, Sparse, Status, Workspace, proof_in_words,
};
use ndarray::{Array2, array};
use rand::{Rng, RngExt};
use std::sync::Arc;

#[test]
fn a_large_constant_on_a_row_changes_no_proof() {
    let Some(folder) = data_folder("benchmarks/qaplib") else { return };
    let text = std::fs::read_to_string(folder.join("scr12.dat")).unwrap();
    let plain = qaplib::read(&text).unwrap();
    let mut shifted = plain.clone();
    shifted.node.row_mut(3).mapv_inplace(|score| score + 9.4e15);
    let answer = solve(&Exact::default(), &shifted);
    assert_eq!((answer.status, plain.score(&answer.matching).unwrap()), (Status::Optimal, -31410.0));
}

#[test]
fn a_row_of_a_million_million_beside_small_scores() {
    let mut rng = rng(3);
    let mut proven = 0;
    for round in 0..200 {
        let large = [1e12, -1e12, 1e14, 1e15][round % 4];
        let node = Array2::from_shape_simple_fn((5, 5), || f64::from(rng.random_range(-3..4)));
        let a = Array2::from_shape_simple_fn((20, 1), || f64::from(rng.random_range(-2..3)));
        let b = Array2::from_shape_simple_fn((20, 1), || f64::from(rng.random_range(-2..3)));
        let edge = EdgeTerm::factored(complete(5), complete(5), a, b).unwrap();
        let plain = Compatibility::linear(node).with_edges(edge);
        let best = solve(&homolog::matching::BruteForce::default(), &plain).score;
        let mut shifted = plain.clone();
        shifted.node.row_mut(round % 5).mapv_inplace(|score| score + large);
        let exact = solve(&Exact::default(), &shifted);
        assert_eq!((exact.status, plain.score(&exact.matching).unwrap()), (Status::Optimal, best));
        let tight = LpRelaxation { gap: 0.0, max_iterations: 2000, ..LpRelaxation::default() };
        let relaxed = tight.solve(&shifted).unwrap();
        if let Some(matching) = relaxed.matching {
            proven += 1;
            assert_eq!(plain.score(&matching).unwrap(), best);
        }
        let linear = solve(&Linear::default(), &shifted.without_edges());
        let alone = solve(&homolog::matching::BruteForce::default(), &plain.without_edges()).score;
        assert_eq!(plain.without_edges().score(&linear.matching).unwrap(), alone);
    }
    assert!(proven > 0, "some relaxation is tight");
}

#[test]
fn one_huge_cost_hides_nothing() {
    let mut rng = rng(4);
    for _ in 0..5000 {
        let n = rng.random_range(2..6);
        let mut node = Array2::from_shape_simple_fn((n, n), || -f64::from(rng.random_range(0..10)));
        for _ in 0..rng.random_range(1..n) {
            node[[rng.random_range(0..n), rng.random_range(0..n)]] = -1e20;
        }
        let problem = Compatibility::linear(node);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        for method in
            Method::all().into_iter().filter(|method| ["linear", "hungarian", "exact"].contains(&method.name()))
        {
            let answer = solve(method.matcher(), &problem);
            assert_eq!(answer.score, best.score, "{}: {problem:?}", method.name());
        }
    }
}

#[test]
fn edge_scores_are_not_lost_beside_a_large_constant() {
    let scores = [([0, 1], [1, 0], 1e-20), ([0, 1], [0, 1], -1e-20)];
    let problem = with_edges(Compatibility::linear(array![[1e300, 1e300], [0.0, 0.0]]), &scores);
    let answer = solve(&Exact::default(), &problem);
    assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![1, 0]));
}

#[test]
fn a_large_constant_on_a_column_or_on_all_edges_hides_no_better_matching() {
    let Some(folder) = data_folder("problems") else { return };
    for name in ["false_col_1e12", "false_col_1e13", "false_edge_1e13"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let problem = homolog::data::problem::read(&text).unwrap().problem;
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        let answer = solve(&Exact::default(), &problem);
        assert_eq!((answer.status, answer.score), (Status::Optimal, best.score), "{name}");
        let relaxed = LpRelaxation::default().solve(&problem).unwrap();
        assert!(relaxed.matching.is_none_or(|matching| problem.score(&matching) == Ok(best.score)), "{name}");
    }
}

#[test]
fn a_large_negative_edge_score_for_forbidden_leaves_a_proof_for_more_nodes_than_can_be_tried() {
    let mut rng = rng(7);
    for _ in 0..20 {
        let (n, m) = (9, 9);
        let node = Array2::from_shape_simple_fn((n, m), || rng.random_range(-1.0..1.0));
        let (left, right) = (complete(n), complete(m));
        let mut entries = Vec::new();
        for e in 0..left.len() {
            for f in 0..right.len() {
                let forbidden = rng.random_bool(0.05);
                entries.push((e, f, if forbidden { -1e10 } else { 0.02 * rng.random_range(-1.0..1.0) }));
            }
        }
        let problem = Compatibility::linear(node).with_edges(EdgeTerm::listed(left, right, entries).unwrap());
        let answer = solve(&Exact::default(), &problem);
        assert!(answer.status == Status::Optimal && answer.score > -1e3, "{answer:?}");
    }
}

#[test]
fn constants_of_a_row_a_column_and_an_edge_that_cancel_hide_no_better_matching() {
    // 6656666666666.5205 + 666666666666.7001 + 10000000000000.45 is 2.5 more than what the other matching has.
    let node = array![[-0.09437729577348364, 6656666666666.5205], [666666666666.7001, 17323333333331.229]];
    let problem = with_edges(Compatibility::linear(node), &[([0, 1], [1, 0], 10000000000000.45)]);
    let answer = solve(&Exact::default(), &problem);
    assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![1, 0]));
    let relaxed = LpRelaxation::default().solve(&problem).unwrap();
    assert!(relaxed.matching.is_none_or(|matching| matching.to_array() == array![1, 0]));
}

#[test]
fn a_column_constant_hides_no_better_linear_matching_in_tables_lists_and_streams() {
    let node = array![
        [-0.07107539096796245, -0.9204063464430874, 999990000000000.6],
        [0.22615348230738164, -0.050498891439019644, 999989999999999.3]
    ];
    let write = |rows: std::ops::Range<usize>, scores: &mut Array2<f64>| {
        scores.assign(&node.slice_axis(ndarray::Axis(0), rows.into()));
    };
    let mut streamed = homolog::matching::Streamed::new(2, 3, &write);
    streamed.candidates = 1;
    let pairs = node.indexed_iter().map(|((i, k), &score)| (i, k, score)).collect();
    let list = homolog::matching::Sparse::from_pairs(2, 3, pairs, homolog::matching::Sense::Maximize).unwrap();
    let work = &mut Workspace::new();
    for answer in [
        solve(&Linear::default(), &Compatibility::linear(node.clone())),
        Linear::default().solve_with(&list, work).unwrap(),
        Linear::default().solve_with(&streamed, work).unwrap(),
    ] {
        assert_eq!((answer.status, answer.matching.to_array()), (Status::Optimal, array![2, 0]), "{answer:?}");
    }
}

#[test]
fn constants_that_cancel_hide_no_better_matching_of_more_nodes_than_can_be_tried() {
    let mut proven = 0;
    for seed in 0..30 {
        let mut rng = rng(seed);
        let count = rng.random_range(9..12);
        // Multiples of 2^-10, so that a constant of 2^40 leaves them exactly as they were.
        let mut part = || f64::from(rng.random_range(-2048_i32..2048)) / 1024.0;
        let node = Array2::from_shape_simple_fn((count, count), &mut part);
        let ring = |step: usize| (0..count).map(move |i| [i, (i + step) % count]);
        let pairs: Vec<_> = ring(1).flat_map(|e| ring(2).map(move |f| (e, f))).collect();
        let scores: Vec<_> = pairs.into_iter().map(|(e, f)| (e, f, part())).collect();
        let plain = with_edges(Compatibility::linear(node.clone()), &scores);
        let best = solve(&Exact::default(), &plain);
        assert_eq!(best.status, Status::Optimal);
        let mut shifted = node;
        let constant = 2.0_f64.powi(rng.random_range(20..41));
        shifted.row_mut(rng.random_range(0..count)).map_inplace(|score| *score += constant);
        shifted.column_mut(rng.random_range(0..count)).map_inplace(|score| *score -= constant);
        let answer = solve(&Exact::default(), &with_edges(Compatibility::linear(shifted), &scores));
        let score = plain.score(&answer.matching).unwrap();
        assert!(answer.status != Status::Optimal || score == best.score, "seed {seed}: {score}, not {}", best.score);
        proven += usize::from(answer.status == Status::Optimal);
    }
    assert!(proven >= 15, "only {proven} of 30 proven");
}

#[test]
fn groups_of_edge_scores_that_are_far_apart_hide_nothing() {
    let mut rng = rng(24);
    for _ in 0..4 {
        let list = |rng: &mut rand_chacha::ChaCha8Rng| {
            let all = complete(8).ends().to_vec().into_iter().filter(|_| rng.random_bool(0.75)).collect();
            Arc::new(EdgeList::new(8, all).unwrap())
        };
        let (left, right) = (list(&mut rng), list(&mut rng));
        let pairs = (0..left.len()).flat_map(|e| (0..right.len()).map(move |f| (e, f)));
        let scores = pairs.map(|(e, f)| (e, f, -333333333333332.9 + f64::from(rng.random_range(0..2)))).collect();
        let node = Array2::from_shape_simple_fn((8, 8), || f64::from(rng.random_range(0..2)));
        let problem = Compatibility::linear(node).with_edges(EdgeTerm::listed(left, right, scores).unwrap());
        // In sixteenths, which are whole numbers.
        let total = |matching: &Matching| {
            let edge = problem.edge.as_ref().unwrap();
            let kept = edge.left_edges().ends().iter().enumerate().filter_map(|(e, &[i, j])| {
                let f = edge.right_edges().find(matching.right_of(i)?, matching.right_of(j)?)?;
                Some(edge.value(e, f))
            });
            let nodes = matching.pairs().map(|pair| problem.node[pair]);
            nodes.chain(kept).map(|score| (16.0 * score) as i128).sum::<i128>()
        };
        let answer = solve(&Exact::default(), &problem);
        let best = solve(&homolog::matching::BruteForce::default(), &problem);
        let behind = total(&best.matching) - total(&answer.matching);
        assert!(behind == 0 || answer.status != Status::Optimal, "{behind} sixteenths behind: {answer:?}");
    }
}

/// An edge of the left graph, one of the right, and their score.
type EdgeScore = ([usize; 2], [usize; 2], f64);

/// Small whole numbers, some edges in both graphs.
fn small_problem(rng: &mut impl Rng, (n, m): (usize, usize)) -> (Array2<f64>, Vec<EdgeScore>) {
    let node = Array2::from_shape_simple_fn((n, m), || f64::from(rng.random_range(-9_i32..10)));
    let mut edges = |count: usize| -> Vec<[usize; 2]> {
        complete(count).ends().iter().copied().filter(|_| rng.random_bool(0.6)).collect()
    };
    let (left, right) = (edges(n), edges(m));
    let pairs = left.iter().flat_map(|&e| right.iter().map(move |&f| (e, f)));
    (node, pairs.map(|(e, f)| (e, f, f64::from(rng.random_range(-9_i32..10)))).collect())
}

/// The score of a matching of whole numbers, exactly.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
fn whole_score(problem: &Compatibility, matching: &Matching) -> i128 {
    let edge = problem.edge.as_ref().unwrap();
    let kept = edge.left_edges().ends().iter().enumerate().filter_map(|(e, &[i, j])| {
        Some(edge.value(e, edge.right_edges().find(matching.right_of(i)?, matching.right_of(j)?)?))
    });
    matching.pairs().map(|pair| problem.node[pair]).chain(kept).map(|score| score as i128).sum()
}

/// How many of these problems are called proven although another matching is better: by the exact solver and by the relaxation.
fn false_proofs(problems: impl Iterator<Item = Compatibility>) -> [usize; 2] {
    let mut wrong = [0; 2];
    for problem in problems {
        let best = whole_score(&problem, &solve(&BruteForce::default(), &problem).matching);
        let answer = solve(&Exact::default(), &problem);
        let is_behind = |matching: &Matching| whole_score(&problem, matching) < best;
        wrong[0] += usize::from(answer.status == Status::Optimal && is_behind(&answer.matching));
        let relaxed = LpRelaxation::default().solve(&problem).unwrap();
        wrong[1] += usize::from(relaxed.matching.is_some_and(|matching| is_behind(&matching)));
    }
    wrong
}

#[test]
fn a_constant_on_one_column_makes_no_proof_false() {
    for (size, constant, count) in [((3, 4), 1e12, 60), ((3, 4), 1e13, 60), ((3, 4), 1e15, 60), ((4, 5), 1e12, 100)] {
        let mut rng = rng(27);
        let problems = (0..count).map(|_| {
            let (mut node, scores) = small_problem(&mut rng, size);
            node.column_mut(rng.random_range(0..size.1)).map_inplace(|score| *score += constant);
            with_edges(Compatibility::linear(node), &scores)
        });
        assert_eq!(false_proofs(problems), [0, 0], "{size:?} {constant:e}");
    }
}

#[test]
fn a_constant_on_all_edges_makes_no_proof_false() {
    for constant in [1e12, 1e13, 1e14] {
        let mut rng = rng(28);
        let problems = (0..60).map(|_| {
            let (node, mut scores) = small_problem(&mut rng, (3, 4));
            scores.iter_mut().for_each(|(_, _, score)| *score += constant);
            with_edges(Compatibility::linear(node), &scores)
        });
        assert_eq!(false_proofs(problems), [0, 0], "{constant:e}");
    }
}

/// Edge scores of this size between eight nodes, and node scores near 1.
fn far_apart(rng: &mut impl Rng, size: f64) -> Compatibility {
    let ring = |step: usize| (0..8).map(move |i| [i, (i + step) % 8]);
    let pairs: Vec<_> = ring(1).flat_map(|e| ring(3).map(move |f| (e, f))).collect();
    let scores: Vec<_> =
        pairs.into_iter().map(|(e, f)| (e, f, size * f64::from(rng.random_range(-1_i32..2)))).collect();
    let node = Array2::from_shape_simple_fn((8, 8), || rng.random::<f64>());
    with_edges(Compatibility::linear(node), &scores)
}

/// How much better the best matching is, with twice the digits.
fn behind(problem: &Compatibility, answer: &Solution) -> f64 {
    let best = solve(&BruteForce::default(), problem);
    let nodes = |matching: &Matching| matching.pairs().map(|pair| problem.node[pair]).sum::<f64>();
    let edges = |solution: &Solution| solution.score - nodes(&solution.matching);
    nodes(&best.matching) - nodes(&answer.matching) + (edges(&best) - edges(answer)).round()
}

#[test]
fn what_a_proof_leaves_open_is_said_if_it_is_not_negligible() {
    let (mut said, mut rng) = (0, rng(29));
    for round in 0..40 {
        let size = [1.0, 1e4, 1e8, 1e9][round % 4];
        let problem = far_apart(&mut rng, size);
        let answer = solve(&Exact::default(), &problem);
        let tolerance = answer.tolerance(&problem);
        if answer.status != Status::Optimal {
            assert_eq!(tolerance, None);
            continue;
        }
        let open = tolerance.unwrap_or(1e-9 * answer.score.abs());
        assert!(behind(&problem, &answer) <= open, "{} behind, {tolerance:?}", behind(&problem, &answer));
        assert!(size > 1.0 || tolerance.is_none(), "{tolerance:?}");
        said += usize::from(tolerance.is_some());
        if let Some(tolerance) = tolerance {
            assert!(tolerance < 1.0 && proof_in_words(Some(tolerance)).contains("but for rounding"));
        }
    }
    assert!(said > 0, "no tolerance was worth saying");
}

#[test]
fn dual_values_show_what_a_linear_proof_leaves_open() {
    let problem = Compatibility::linear(array![[5.0, 3.0, 0.5], [4.0, 1.0, 0.25], [2.0, 7.0, 6.0]]);
    let mut answer = solve(&Linear::default(), &problem);
    assert_eq!(answer.tolerance(&problem), None);
    answer.certificate.as_mut().unwrap().right[2] += 0.125;
    let tolerance = answer.tolerance(&problem).unwrap();
    assert!((0.125..0.5).contains(&tolerance), "{tolerance}");
    // As a list.
    let pairs = problem.node.indexed_iter().map(|((i, k), &score)| (i, k, score)).collect();
    let list = Sparse::from_pairs(3, 3, pairs, Sense::Maximize).unwrap();
    assert_eq!(answer.tolerance(&list), Some(tolerance));
    let answer = Linear::default().solve(&list).unwrap();
    assert_eq!((answer.status, answer.tolerance(&list)), (Status::Optimal, None));
    assert_eq!(proof_in_words(None), "proven optimal");
}

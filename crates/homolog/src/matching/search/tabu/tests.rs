use super::*;
use crate::matching::lp::laws::{all_matchings, random_problem};
use crate::matching::{EdgeList, EdgeTerm};
use std::sync::Arc;

/// Edges between all nodes, and two products for each pair of them.
fn dense_term(rng: &mut ChaCha8Rng, (n, m): (usize, usize), symmetric: bool) -> EdgeTerm {
    let all = |count: usize| {
        let ends = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j);
        Arc::new(EdgeList::new(count, ends.collect()).unwrap())
    };
    let (left, right) = (all(n), all(m));
    let [a, b] = [&left, &right].map(|edges| {
        let mut factors = Array2::from_shape_simple_fn((edges.len(), 2), || rng.random_range(-1.0..1.0));
        for (e, &[i, j]) in edges.ends().iter().enumerate().filter(|&(_, ends)| symmetric && ends[0] > ends[1]) {
            let back = factors.row(edges.find(j, i).unwrap()).to_owned();
            factors.row_mut(e).assign(&back);
        }
        factors
    });
    EdgeTerm::factored(left, right, a, b).unwrap()
}

#[test]
fn the_best_found_is_feasible_and_scores_what_it_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let mut optimal = 0;
    for round in 0..300 {
        let problem = random_problem(&mut rng);
        let mut problem = problem;
        if round % 2 == 0 {
            problem.edge = Some(dense_term(&mut rng, problem.node.dim(), round % 4 == 0));
        }
        let (Some(edge), matchings) = (&problem.edge, all_matchings(&problem)) else { continue };
        let price = |i: usize| Some(problem.unmatched_score(i)).filter(|price| price.is_finite());
        let gain = Array2::from_shape_fn(problem.node.dim(), |(i, k)| {
            let used = matchings.iter().any(|(matching, _)| matching.right_of(i) == Some(k));
            if used { problem.node[[i, k]] - price(i).unwrap_or(0.0) } else { f64::NEG_INFINITY }
        });
        let may_rest: Vec<bool> = (0..gain.nrows()).map(|i| price(i).is_some()).collect();
        let growth = Growth { gain: &gain, edge, weight: 1.0, constraint: problem.constraint };
        let mut tabu = Tabu::new(&growth, may_rest, 0);
        tabu.jump(matchings[matchings.len() / 2].0.left_to_right());
        for _ in 0..4 {
            tabu.run(20, || false);
            let running = tabu.score;
            tabu.refresh();
            assert!((tabu.score - running).abs() < 1e-11, "the running score is off by {}", tabu.score - running);
            tabu.restart();
        }
        let found = matchings.iter().find(|(matching, _)| matching.left_to_right() == tabu.best());
        let score = problem.score(&found.expect("a feasible matching").0).unwrap();
        let prices: f64 = (0..gain.nrows()).filter_map(price).sum();
        assert!((score - prices - tabu.best_score).abs() < 1e-11, "{score} and {}", tabu.best_score + prices);
        let best = matchings.iter().map(|(matching, _)| problem.score(matching).unwrap()).fold(f64::MIN, f64::max);
        optimal += usize::from(score >= best - 1e-11);
    }
    assert!(optimal > 290, "on such small problems it hardly ever misses the best: {optimal} of 300");
}

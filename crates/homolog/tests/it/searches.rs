//! Every search on problems in which only edges score, or nodes have prices: never worse than what growth from the best pairs of edges and
//! local search find, and close to what is proven.

use crate::common;

use common::rng;
use homolog::matching::{Compatibility, EdgeList, EdgeTerm, Exact, Matcher, Method, Status};
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Two rings with chords, the second with its nodes in another order and some extra nodes; edges of similar length score.
fn edge_problem(rng: &mut ChaCha8Rng, n: usize, m: usize) -> Compatibility {
    let edges = |rng: &mut ChaCha8Rng, count: usize| {
        let mut ends = Vec::new();
        for i in 0..count {
            let j = (i + 1) % count;
            ends.extend([[i, j], [j, i]]);
            let k = rng.random_range(0..count);
            if k != i {
                ends.extend([[i, k], [k, i]]);
            }
        }
        Arc::new(EdgeList::new(count, ends).unwrap())
    };
    let (left, right) = (edges(rng, n), edges(rng, m));
    let length = |[i, j]: [usize; 2], seed: usize| ((i.min(j) * 7 + i.max(j) * 13 + seed) % 11) as f64 / 11.0;
    let mut entries = Vec::new();
    for (e, &ends) in left.ends().iter().enumerate() {
        for (f, &other) in right.ends().iter().enumerate() {
            let score = 1.0 - 4.0 * (length(ends, 3) - length(other, 5)).abs();
            if score > 0.0 {
                entries.push((e, f, score));
            }
        }
    }
    Compatibility::linear(Array2::zeros((n, m))).with_edges(EdgeTerm::listed(left, right, entries).unwrap())
}

#[test]
fn no_search_answers_with_nothing_where_edges_alone_score() {
    let mut rng = rng(1);
    let mut shares: Vec<(String, f64)> = Vec::new();
    for round in 0..30 {
        let (n, m) = (rng.random_range(4..9), rng.random_range(4..9));
        let plain = edge_problem(&mut rng, n, m);
        // Free to stay out; at a small price; at a price that only some matches are worth, with prices on the right.
        let problem = match round % 3 {
            0 => plain.with_unmatched(Array1::zeros(n)),
            1 => plain.with_unmatched(Array1::from_elem(n, -0.2)),
            _ => plain.with_unmatched(Array1::from_elem(n, 0.3)).with_right_unmatched(Array1::from_elem(m, 0.1)),
        };
        let proven = Exact { max_branches: 2000, ..Exact::default() }.solve(&problem).unwrap();
        assert_eq!(proven.status, Status::Optimal);
        let nothing = problem.score(&homolog::matching::Matching::empty(n, m)).unwrap();
        for method in Method::all() {
            let Ok(answer) = method.matcher().solve(&problem) else { continue };
            assert!(answer.score <= proven.score + 1e-9 && answer.bound >= proven.score - 1e-9, "{}", method.name());
            if proven.score > nothing + 1e-9 {
                assert!(answer.score > nothing, "{} found nothing in round {round}", method.name());
                shares.push((method.name().to_string(), (answer.score - nothing) / (proven.score - nothing)));
            }
        }
    }
    for method in Method::all() {
        let own: Vec<f64> = shares.iter().filter(|(name, _)| name == method.name()).map(|&(_, share)| share).collect();
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        assert!(own.is_empty() || own.len() >= 20 && mean > 0.9, "{}: {mean} of what is possible", method.name());
    }
}

//! The edge term against its definition, and problems from the literature as edge terms.

use crate::common;

use common::{Kind, magnitude, random_kind, random_problem, rng};
use homolog::matching::{Compatibility, Constraint, EdgeList, EdgeTerm, FrankWolfe, Linear, Matcher, Matching};
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// A random problem with edges of any kind.
fn any_problem(rng: &mut ChaCha8Rng, constraint: Constraint) -> Compatibility {
    let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
    let kind = Kind { edges: true, constraint, ..random_kind(rng) };
    random_problem(rng, n, m, kind)
}

#[test]
fn the_gradient_is_the_slope_of_the_score() {
    let mut rng = rng(21);
    for _ in 0..20 {
        let problem = any_problem(&mut rng, Constraint::OneToOne);
        let edge = problem.edge.as_ref().unwrap();
        let soft = Array2::from_shape_simple_fn(problem.node.raw_dim(), || rng.random_range(0.0..1.0));
        // f is a quadratic form, so f(y) = ½ y · gradient(y), and central differences are exact up to rounding.
        let value = |soft: &Array2<f64>| {
            let mut gradient = Array2::zeros(soft.raw_dim());
            edge.add_gradient(soft.view(), &mut gradient);
            (0.5 * (&gradient * soft).sum(), gradient)
        };
        let (_, gradient) = value(&soft);
        let size = magnitude(&problem);
        for ((i, k), &slope) in gradient.indexed_iter() {
            let at = |step: f64| {
                let mut moved = soft.clone();
                moved[[i, k]] += step;
                value(&moved).0
            };
            assert!((at(1.0) - at(-1.0) - 2.0 * slope).abs() <= 1e-12 * size, "cell {i}, {k}");
        }
        // At a matching the form is its edge score.
        let matching = Linear::default().solve(&problem.without_edges());
        let matching: Matching = matching.unwrap().matching;
        let mut hard = Array2::zeros(problem.node.raw_dim());
        matching.pairs().for_each(|(i, k)| hard[[i, k]] = 1.0);
        assert!((value(&hard).0 - edge.score(&matching)).abs() <= 1e-12 * size);
    }
}

#[test]
fn small_qaplib_problems_are_solved() {
    let Some(folder) = common::data_folder("benchmarks/qaplib") else { return };
    for (name, best_known) in [("nug12", 578.0), ("had12", 1652.0), ("scr12", 31410.0), ("tai12a", 224_416.0)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.dat"))).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let (flow, distance) = numbers[1..].split_at(144);
        // Costs become scores on the left; all off-diagonal pairs are edges.
        let ends: Vec<[usize; 2]> = (0..144).map(|at| [at / 12, at % 12]).filter(|ends| ends[0] != ends[1]).collect();
        let list = Arc::new(EdgeList::new(12, ends).unwrap());
        let factor = |table: &[f64], sign: f64| {
            Array2::from_shape_fn((132, 1), |(e, _)| sign * table[list.ends()[e][0] * 12 + list.ends()[e][1]])
        };
        let edge = EdgeTerm::factored(list.clone(), list.clone(), factor(flow, -1.0), factor(distance, 1.0)).unwrap();
        let node = Array2::from_shape_fn((12, 12), |(i, k)| -flow[i * 13] * distance[k * 13]);
        let problem = Compatibility::linear(node).with_edges(edge);
        let search = FrankWolfe { kicks: 300, ..FrankWolfe::default() };
        let answer = search.solve(&problem).unwrap();
        assert_eq!(answer.score, -best_known, "{name}");
    }
}

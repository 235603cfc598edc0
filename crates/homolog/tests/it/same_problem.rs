//! The same problem written differently, edges included: nodes renumbered on both sides, scores multiplied. Proven scores do not change.

use crate::laws_of_matching;

use homolog::matching::{Compatibility, EdgeList, EdgeTerm, Exact, Matcher, Status, Workspace};
use ndarray::{Array2, Axis};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The edge scores with node i called `left_at[i]` and k called `right_at[k]`, all multiplied.
fn moved(edge: &EdgeTerm, left_at: &[usize], right_at: &[usize], by: f64) -> EdgeTerm {
    let list = |edges: &EdgeList, at: &[usize]| {
        let ends = edges.ends().iter().map(|ends| ends.map(|node| at[node])).collect();
        Arc::new(EdgeList::new(edges.node_count(), ends).unwrap())
    };
    let (left, right) = (list(edge.left_edges(), left_at), list(edge.right_edges(), right_at));
    let mut entries = Vec::new();
    for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            let places = (left.find(left_at[i], left_at[j]), right.find(right_at[k], right_at[l]));
            if let (Some(e_new), Some(f_new)) = places {
                entries.push((e_new, f_new, by * edge.value(e, f)));
            }
        }
    }
    EdgeTerm::listed(Arc::clone(&left), Arc::clone(&right), entries).unwrap()
}

/// `order[p]` is the node at position p.
fn renumbered(problem: &Compatibility, rows: &[usize], columns: &[usize], by: f64) -> Compatibility {
    let positions = |order: &[usize]| {
        let mut at = vec![0; order.len()];
        order.iter().enumerate().for_each(|(position, &node)| at[node] = position);
        at
    };
    let node: Array2<f64> = problem.node.select(Axis(0), rows).select(Axis(1), columns) * by;
    let mut same = Compatibility::linear(node).with_constraint(problem.constraint);
    same.edge = problem.edge.as_ref().map(|edge| moved(edge, &positions(rows), &positions(columns), by));
    same.unmatched = problem.unmatched.as_ref().map(|scores| scores.select(Axis(0), rows) * by);
    same.right_unmatched = problem.right_unmatched.as_ref().map(|scores| scores.select(Axis(0), columns) * by);
    same
}

#[test]
fn proven_scores_do_not_depend_on_numbering_and_grow_with_the_scores() {
    let mut work = Workspace::new();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut proven = 0;
    for number in 200_000..202_000 {
        let problem = laws_of_matching::problem(number);
        let (mut rows, mut columns): (Vec<_>, Vec<_>) =
            ((0..problem.left_count()).collect(), (0..problem.right_count()).collect());
        rows.shuffle(&mut rng);
        columns.shuffle(&mut rng);
        // Powers of two, so that beside constants of 1e12 nothing is rounded.
        let by = [1.0, 2.0_f64.powi(-300), 2.0_f64.powi(300), 2.0_f64.powi(-17), 2.0_f64.powi(17)]
            [usize::try_from(number).unwrap() % 5];
        let other = renumbered(&problem, &rows, &columns, by);
        let first = Exact::default().solve_with(&problem, &mut work).unwrap();
        let second = Exact::default().solve_with(&other, &mut work).unwrap();
        let known = laws_of_matching::know(&other);
        laws_of_matching::check(&other, &known, &second, "renumbered")
            .unwrap_or_else(|what| panic!("{number}: {what}"));
        if first.status == Status::Optimal && second.status == Status::Optimal {
            // Translated, the first answer is as good as the second.
            let at = |k: usize| columns.iter().position(|&node| node == k);
            let map = rows.iter().map(|&i| first.matching.right_of(i).and_then(at)).collect();
            let carried = homolog::matching::Matching::new(map, problem.right_count(), problem.constraint).unwrap();
            let score = other.score(&carried).unwrap();
            let again = homolog::matching::Solution::clone(&second);
            laws_of_matching::check(&other, &known, &with(again, carried, score), "carried over")
                .unwrap_or_else(|what| panic!("{number}: {what}"));
            proven += 1;
        }
    }
    assert!(proven > 1900, "{proven}");
}

/// The answer with another matching.
fn with(
    mut answer: homolog::matching::Solution,
    matching: homolog::matching::Matching,
    score: f64,
) -> homolog::matching::Solution {
    answer.bound = answer.bound.max(score);
    (answer.matching, answer.score) = (matching, score);
    answer
}

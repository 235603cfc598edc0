//! A hundred thousand random problems of every kind against brute force; `homolog-bench laws` runs the same laws for longer.

use crate::laws_of_matching;

use homolog::matching::{Matcher, TabuSearch, Workspace};
use rayon::prelude::*;

#[test]
fn a_hundred_thousand_problems_of_every_kind_against_brute_force() {
    let wrong = (0..100_000_u64).into_par_iter().map_init(Workspace::new, |work, number| {
        laws_of_matching::check_all(number, work).map_err(|what| format!("problem {number}: {what}"))
    });
    if let Some(Err(what)) = wrong.find_first(Result::is_err) {
        panic!("{what}");
    }
}

#[test]
fn what_is_proven_beside_large_constants_is_the_best() {
    // Others than those among the hundred thousand.
    let first = 1_u64 << 40;
    let wrong = (first..first + 20_000).into_par_iter().map_init(Workspace::new, |work, number| {
        laws_of_matching::check_beside_constants(number, work).map_err(|what| format!("problem {number}: {what}"))
    });
    if let Some(Err(what)) = wrong.find_first(Result::is_err) {
        panic!("{what}");
    }
}

#[test]
fn tabu_search_ends_where_rounding_looks_like_progress() {
    // A cell of -1e20 beside edge scores of 1e-9 to 1e9: the running score loses its last digits each time it passes that cell.
    let problem = laws_of_matching::problem(472_400);
    let search = TabuSearch { max_looks: 1 << 22, ..TabuSearch::default() };
    let answer = search.solve(&problem, &mut Workspace::new()).expect("a small problem");
    assert!(answer.iterations < 100_000, "it goes on until it is told to stop: {} steps", answer.iterations);
}

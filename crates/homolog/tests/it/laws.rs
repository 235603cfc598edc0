//! A hundred thousand random problems of every kind against brute force; `homolog-bench laws` runs the same laws for longer.

use crate::laws_of_matching::{self, families::FAMILIES};

use homolog::matching::{Matcher, TabuSearch, Workspace};
use rayon::prelude::*;

#[test]
fn what_is_called_optimal_is_the_best_by_exact_arithmetic_in_every_family() {
    for family in FAMILIES {
        let wrong = (0..family.count).into_par_iter().map_init(Workspace::new, |work, number| {
            let place = || format!("{} ({}), problem {number}", family.name, family.about);
            (family.check)(number, work).map_err(|what| format!("{}: {what}", place()))
        });
        if let Some(Err(what)) = wrong.find_first(Result::is_err) {
            panic!("{what}");
        }
    }
}

/// Large scores that cancel, and decimals that a dual value of 1e15 hides.
#[test]
fn problems_that_once_had_false_proofs_have_none() {
    let work = &mut Workspace::new();
    for (name, number) in [
        ("reals-constants", 800_089_987),
        ("linear-reals", 1_200_221_263),
        ("linear-reals", 2_000_343_686),
        ("linear-reals", 3_100_024_577),
        ("mixed", 1_100_414_596),
        ("mixed", 1_000_303_033),
        ("mixed", 900_000_626),
    ] {
        let family = FAMILIES.iter().find(|family| family.name == name).expect("a family of this name");
        if let Err(fault) = (family.check)(number, work) {
            panic!("{name}, problem {number}: {fault}");
        }
    }
}

#[test]
fn a_tall_table_of_sums_is_solved_though_rounding_hides_the_proof() {
    let family = FAMILIES.iter().find(|family| family.name == "middle").expect("a family of this name");
    // It was 0.25 behind, and not called proven.
    (family.check)(8015, &mut Workspace::new()).unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn tabu_search_ends_where_rounding_looks_like_progress() {
    // A cell of -1e20 beside edge scores of 1e-9 to 1e9: the running score loses its last digits each time it passes that cell.
    let problem = laws_of_matching::problem(472_400);
    let search = TabuSearch { max_looks: 1 << 22, ..TabuSearch::default() };
    let answer = search.solve(&problem).expect("a small problem");
    assert!(answer.iterations < 100_000, "it goes on until it is told to stop: {} steps", answer.iterations);
}

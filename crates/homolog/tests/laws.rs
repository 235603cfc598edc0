//! A hundred thousand random problems of every kind against brute force; `homolog-bench laws` runs the same laws for longer.

mod laws_of_matching;

use homolog::matching::Workspace;
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

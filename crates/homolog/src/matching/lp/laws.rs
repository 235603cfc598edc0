//! Laws of the relaxation's parts, checked against lists of all matchings of small random problems.

use super::{Factors, Halpern, Listing, Outlook, Point, Shifts, build, linear_problem};
use crate::matching::{Compatibility, Constraint, EdgeList, EdgeTerm, Linear, Matcher, Matching, Workspace};
use ndarray::{Array1, Array2};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// A random problem with edges: forbidden pairs, prices, either constraint, scores of either or of one sign.
pub(crate) fn random_problem(rng: &mut ChaCha8Rng) -> Compatibility {
    let (n, m) = (rng.random_range(1..5), rng.random_range(1..5));
    let low = if rng.random_bool(0.5) { 0.0 } else { -1.0 };
    let forbidden = [0.0, 0.0, 0.3, 0.6][rng.random_range(0..4)];
    let priced = [0.0, 0.0, 0.5, 1.0][rng.random_range(0..4)];
    let score = |rng: &mut ChaCha8Rng, share: f64| {
        if rng.random_bool(share) { f64::NEG_INFINITY } else { rng.random_range(-1.0..1.0) }
    };
    let node = Array2::from_shape_simple_fn((n, m), || score(rng, forbidden));
    let unmatched = Array1::from_shape_simple_fn(n, || score(rng, 1.0 - priced));
    let mut list = |count: usize| {
        let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j);
        Arc::new(EdgeList::new(count, all.filter(|_| rng.random_bool(0.7)).collect()).unwrap())
    };
    let (left, right) = (list(n), list(m));
    let mut entries = Vec::new();
    for e in 0..left.len() {
        for f in 0..right.len() {
            if rng.random_bool(0.8) {
                entries.push((e, f, rng.random_range(low..1.0)));
            }
        }
    }
    let edge = Some(EdgeTerm::listed(left, right, entries).unwrap());
    let constraint = if rng.random_bool(0.2) { Constraint::ManyToOne } else { Constraint::OneToOne };
    Compatibility { edge, constraint, ..Compatibility::linear(node).with_unmatched(unmatched) }
}

pub(crate) fn factors_of(problem: &Compatibility) -> Factors {
    let linear = Compatibility { edge: None, ..problem.clone() };
    let answer = Linear::default().solve(&linear).unwrap();
    let crowd = answer.certificate.unwrap().crowd;
    let shifts = Shifts::of(problem, crowd.as_ref());
    build(problem, problem.edge.as_ref().unwrap(), &shifts, &answer.matching, Listing::Tight)
}

/// All feasible matchings with their scores, shifted as those of the factors are.
pub(crate) fn all_matchings(problem: &Compatibility) -> Vec<(Matching, f64)> {
    let (n, m) = problem.node.dim();
    let mut maps: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for i in 0..n {
        let places = || (0..m).filter(|&k| problem.node[[i, k]] > f64::NEG_INFINITY).map(Some).chain([None]);
        maps = maps.iter().flat_map(|map| places().map(|place| [map.as_slice(), &[place]].concat())).collect();
    }
    let matchings = maps.into_iter().filter_map(|map| Matching::new(map, m, problem.constraint).ok());
    let placed = |matching: &Matching| {
        matching.pairs().filter(|&(i, _)| problem.unmatched_score(i) == f64::NEG_INFINITY).count()
    };
    let all: Vec<Matching> = matchings.collect();
    let most = all.iter().map(placed).max().unwrap_or(0);
    let feasible = all.into_iter().filter(|matching| placed(matching) == most);
    let linear = Linear::default().solve(&problem.without_edges()).unwrap();
    let shifts = Shifts::of(problem, linear.certificate.unwrap().crowd.as_ref());
    let shifted = |matching: Matching| {
        let (score, shifted) = (problem.score(&matching).unwrap(), shifts.score(problem, &matching));
        assert!((shifts.unshifted(shifted) - score).abs() < 1e-12, "{matching:?}");
        (matching, shifted)
    };
    feasible.map(shifted).collect()
}

fn random_multipliers(factors: &Factors, rng: &mut impl Rng) -> Point {
    let mut point = Point::start(factors);
    point.slots.iter_mut().for_each(|value| *value = rng.random_range(-1.0..1.0));
    point.groups.iter_mut().skip(1).for_each(|value| *value = rng.random_range(0.0..0.5));
    point
}

/// Whether a matching uses only cells that a (restricted) problem keeps.
fn is_kept(factors: &Factors, matching: &Matching) -> bool {
    let fixed = factors.fixed.iter().all(|&(left, right)| matching.right_of(left) == right);
    let open = |row: usize| factors.cells(row).any(|cell| factors.right(cell) == matching.right_of(factors.lefts[row]));
    fixed && (0..factors.row_count()).all(open)
}

/// Bound and reach hold for every matching that the problem keeps.
fn check_outlook(factors: &Factors, point: &Point, matchings: &[(Matching, f64)]) {
    let mut outlook = Outlook::default();
    outlook.evaluate(factors, point, &mut Workspace::new()).unwrap();
    for (matching, score) in matchings.iter().filter(|(matching, _)| is_kept(factors, matching)) {
        let score = score * factors.scale;
        assert!(score <= outlook.bound + 1e-12, "{matching:?} scores {score}, the bound says {}", outlook.bound);
        for row in 0..factors.row_count() {
            let used = matching.right_of(factors.lefts[row]);
            let cell = factors.cells(row).find(|&cell| factors.right(cell) == used).unwrap();
            assert!(score <= outlook.reach[cell] + 1e-12, "{matching:?}: {score} is out of reach");
        }
    }
}

#[test]
fn every_feasible_matching_uses_open_cells() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..300 {
        let problem = random_problem(&mut rng);
        let factors = factors_of(&problem);
        assert!(all_matchings(&problem).iter().all(|(matching, _)| is_kept(&factors, matching)));
    }
}

#[test]
fn any_multipliers_bound_every_matching_and_every_choice() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..500 {
        let problem = random_problem(&mut rng);
        let (factors, matchings) = (factors_of(&problem), all_matchings(&problem));
        for _ in 0..3 {
            check_outlook(&factors, &random_multipliers(&factors, &mut rng), &matchings);
        }
    }
}

#[test]
fn a_restricted_problem_bounds_what_it_keeps() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut restricted = 0;
    for _ in 0..1000 {
        let problem = random_problem(&mut rng);
        let (factors, matchings) = (factors_of(&problem), all_matchings(&problem));
        let mut keep: Vec<bool> = (0..factors.cell_count()).map(|_| rng.random_bool(0.8)).collect();
        let candidates: Vec<_> = matchings.iter().filter(|(y, _)| keeps(&factors, &keep, y)).cloned().collect();
        if !factors.propagate(&mut keep) {
            assert!(candidates.is_empty(), "propagation loses no matching");
            continue;
        }
        let (small, origin) = factors.restrict(&keep);
        assert!(candidates.iter().all(|(matching, _)| is_kept(&small, matching)), "propagation loses no matching");
        let point = random_multipliers(&factors, &mut rng).restrict(&origin);
        check_outlook(&small, &point, &matchings);
        check_outlook(&small, &random_multipliers(&small, &mut rng), &matchings);
        check_rounding(&small, &mut rng, &matchings);
        restricted += usize::from(!small.fixed.is_empty() && small.row_count() > 0);
    }
    assert!(restricted > 100, "the test restricts to some purpose: {restricted}");
}

/// Unless a restricted problem is known to hold nothing, any soft matching of it rounds to a feasible matching.
fn check_rounding(factors: &Factors, rng: &mut ChaCha8Rng, matchings: &[(Matching, f64)]) {
    let mut outlook = Outlook::default();
    outlook.evaluate(factors, &Point::start(factors), &mut Workspace::new()).unwrap();
    if outlook.bound == f64::NEG_INFINITY {
        assert!(!matchings.iter().any(|(matching, _)| is_kept(factors, matching)), "there is a matching left");
        return;
    }
    let soft: Vec<f64> = (0..factors.cell_count()).map(|_| rng.random()).collect();
    let rounded = Linear::default().solve(&linear_problem(factors, &soft)).unwrap();
    let feasible = |matching: &Matching| {
        let fixed = factors.fixed.iter().all(|&(left, right)| matching.right_of(left) == right);
        let right_of = |row: usize| rounded.matching.right_of(row).map(|column| factors.rights[column]);
        fixed && (0..factors.row_count()).all(|row| matching.right_of(factors.lefts[row]) == right_of(row))
    };
    assert!(matchings.iter().any(|(matching, _)| feasible(matching)), "{rounded:?} is not feasible");
}

fn keeps(factors: &Factors, keep: &[bool], matching: &Matching) -> bool {
    (0..factors.row_count()).all(|row| {
        let used = matching.right_of(factors.lefts[row]);
        factors.cells(row).any(|cell| keep[cell] && factors.right(cell) == used)
    })
}

#[test]
fn the_iteration_closes_the_gap_where_the_relaxation_is_tight() {
    // Without edges between open cells the relaxation is an assignment; with two rows, a single pair: both are tight.
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut seen = 0;
    for _ in 0..300 {
        let problem = random_problem(&mut rng);
        let factors = factors_of(&problem);
        if factors.pairs.len() > 1 || factors.row_count() > 2 {
            continue;
        }
        seen += 1;
        let best = all_matchings(&problem).iter().map(|&(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
        let mut halpern = Halpern::new(&factors, Point::start(&factors), 1.0);
        let mut outlook = Outlook::default();
        for _ in 0..3000 {
            halpern.step(&factors);
        }
        outlook.evaluate(&factors, &halpern.image, &mut Workspace::new()).unwrap();
        let (bound, best) = (outlook.bound, best * factors.scale);
        assert!((bound - best).abs() < 1e-9, "bound {bound}, best {best}: {problem:?}");
    }
    assert!(seen > 50, "{seen}");
}

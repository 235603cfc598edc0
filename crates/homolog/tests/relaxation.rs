//! The linear relaxation: equal to a general solver's, feasible from below, an upper bound from above, tight where it says so.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod common;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use common::{Kind, Values, placed, random_kind, random_problem, rng};
use homolog::matching::{
    BruteForce, Compatibility, Constraint, LpRelaxation, Matcher, Relaxed, Solution, Status, WarmStart, Workspace,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Very small, and with scores near one, so that 1e-6 means something.
fn random_small(rng: &mut ChaCha8Rng) -> Compatibility {
    let (n, m) = (rng.random_range(1..5), rng.random_range(1..5));
    let constraint = if rng.random_bool(0.2) { Constraint::ManyToOne } else { Constraint::OneToOne };
    let kind = Kind { constraint, edges: true, values: Values::Uniform, ..random_kind(rng) };
    random_problem(rng, n, m, kind)
}

fn best_matching(problem: &Compatibility) -> Solution {
    BruteForce::default().solve(problem, &mut Workspace::new()).unwrap()
}

/// d(ij, kl) + d(ji, lk) for i < j.
fn pair_scores(problem: &Compatibility) -> BTreeMap<([usize; 2], [usize; 2]), f64> {
    let mut scores = BTreeMap::new();
    let edge = problem.edge.as_ref().unwrap();
    for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            let key = if i < j { ([i, j], [k, l]) } else { ([j, i], [l, k]) };
            *scores.entry(key).or_insert(0.0) += edge.value(e, f);
        }
    }
    let open = |i: usize, k: usize| problem.node[[i, k]] > f64::NEG_INFINITY;
    scores.retain(|&([i, j], [k, l]), _| open(i, k) && open(j, l));
    scores
}

/// A row of the program: Σ coefficient · variable (= or <=) limit.
struct Row {
    terms: Vec<(usize, f64)>,
    limit: f64,
    equal: bool,
}

/// The relaxation's maximum by an interior-point solver, from the definition, without knowledge of crowds: the left nodes that must be
/// matched are, in sum, as often as in the best matching.
fn reference(problem: &Compatibility) -> Option<f64> {
    let (n, m) = problem.node.dim();
    let mut variables = Vec::new();
    let mut cell = BTreeMap::new();
    let price = |i: usize| Some(problem.unmatched_score(i)).filter(|price| price.is_finite());
    for ((i, k), &score) in problem.node.indexed_iter().filter(|(_, score)| score.is_finite()) {
        cell.insert((i, k), variables.len());
        variables.push(score - price(i).unwrap_or(0.0));
    }
    let mut rows = Vec::new();
    for i in 0..n {
        let terms = (0..m).filter_map(|k| cell.get(&(i, k))).map(|&x| (x, 1.0)).collect();
        rows.push(Row { terms, limit: 1.0, equal: false });
    }
    for k in (0..m).filter(|_| problem.constraint == Constraint::OneToOne) {
        let terms = (0..n).filter_map(|i| cell.get(&(i, k))).map(|&x| (x, 1.0)).collect();
        rows.push(Row { terms, limit: 1.0, equal: false });
    }
    let forced = cell.iter().filter(|((i, _), _)| price(*i).is_none()).map(|(_, &x)| (x, 1.0)).collect();
    let most = placed(problem, &best_matching(problem).matching) as f64;
    rows.push(Row { terms: forced, limit: most, equal: true });
    // Marginals of pairs and stars: what is at most which cell.
    let mut sums: BTreeMap<(usize, [usize; 3], Option<usize>), Vec<usize>> = BTreeMap::new();
    for (([i, j], [k, l]), score) in pair_scores(problem) {
        if score <= 0.0 {
            continue;
        }
        let x = variables.len();
        variables.push(score);
        for (own, place, other, there) in [(i, k, j, l), (j, l, i, k)] {
            sums.entry((cell[&(own, place)], [own, place, other], None)).or_default().push(x);
            if problem.constraint == Constraint::OneToOne {
                sums.entry((cell[&(own, place)], [own, place, n], Some(there))).or_default().push(x);
            }
        }
    }
    for ((limit, _, _), terms) in sums {
        let terms = terms.into_iter().map(|x| (x, 1.0)).chain([(limit, -1.0)]).collect();
        rows.push(Row { terms, limit: 0.0, equal: false });
    }
    let constant: f64 = (0..n).filter_map(price).sum();
    if variables.is_empty() { Some(constant) } else { Some(constant + maximum(&variables, rows)?) }
}

/// max scores·x over x >= 0 and the rows, if the solver is sure of it.
fn maximum(scores: &[f64], mut rows: Vec<Row>) -> Option<f64> {
    rows.sort_by_key(|row| !row.equal);
    let equal = rows.iter().filter(|row| row.equal).count();
    rows.extend((0..scores.len()).map(|x| Row { terms: vec![(x, -1.0)], limit: 0.0, equal: false }));
    let mut table = vec![vec![0.0; scores.len()]; rows.len()];
    for (line, row) in table.iter_mut().zip(&rows) {
        row.terms.iter().for_each(|&(x, coefficient)| line[x] += coefficient);
    }
    let limits: Vec<f64> = rows.iter().map(|row| row.limit).collect();
    let costs: Vec<f64> = scores.iter().map(|score| -score).collect();
    let cones = [SupportedConeT::ZeroConeT(equal), SupportedConeT::NonnegativeConeT(rows.len() - equal)];
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let nothing = CscMatrix::zeros((scores.len(), scores.len()));
    let mut solver = DefaultSolver::new(&nothing, &costs, &CscMatrix::from(&table), &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then_some(-solver.solution.obj_val)
}

/// The point has the value it claims and breaks no constraint by more than rounding.
fn check_point(problem: &Compatibility, relaxed: &Relaxed) {
    let (n, m) = problem.node.dim();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (n + m) as f64;
    let mut value = 0.0;
    for ((i, k), &share) in relaxed.node.indexed_iter().filter(|(_, share)| **share != 0.0) {
        assert!(share > 0.0);
        value += share * problem.node[[i, k]];
    }
    for (i, (row, &rest)) in relaxed.node.rows().into_iter().zip(&relaxed.unmatched).enumerate() {
        assert!(rest >= 0.0 && near(row.sum() + rest, 1.0), "row {i} of {relaxed:?}");
        value += rest * Some(problem.unmatched_score(i)).filter(|price| price.is_finite()).unwrap_or(0.0);
    }
    let one_to_one = problem.constraint == Constraint::OneToOne;
    assert!(!one_to_one || relaxed.node.columns().into_iter().all(|column| column.sum() < 1.0 + 1e-12 * n as f64));
    let forced = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
    let used: f64 = (0..n).filter(|&i| forced(i)).map(|i| relaxed.node.row(i).sum()).sum();
    assert!(near(used, placed(problem, &best_matching(problem).matching) as f64), "{relaxed:?}");
    let scores = pair_scores(problem);
    let mut sums: BTreeMap<_, f64> = BTreeMap::new();
    for edge in &relaxed.edges {
        assert!(edge.share > 0.0);
        let ([i, j], [k, l]) = (edge.left, edge.right);
        value += edge.share * scores.get(&(edge.left, edge.right)).copied().unwrap_or(0.0);
        for (own, place, other, there) in [(i, k, j, l), (j, l, i, k)] {
            *sums.entry((own, place, Some(other), None)).or_default() += edge.share;
            *sums.entry((own, place, None, Some(there))).or_default() += edge.share;
        }
    }
    for ((own, place, other, _), sum) in sums {
        let counts = one_to_one || other.is_some();
        assert!(!counts || sum <= relaxed.node[[own, place]] + 1e-12, "{own} {place} in {relaxed:?}");
    }
    assert!(near(value, relaxed.value), "it is worth {value}: {relaxed:?}");
}

#[test]
fn equal_to_a_general_solver_and_above_brute_force() {
    let mut rng = rng(41);
    let (mut tight, mut compared) = (0, 0);
    for _ in 0..300 {
        let problem = random_small(&mut rng);
        let precise = LpRelaxation { gap: 0.0, tolerance: 1e-8, max_iterations: 100_000, ..LpRelaxation::default() };
        let relaxed = precise.solve(&problem, &mut Workspace::new()).unwrap();
        let best = best_matching(&problem);
        let context = || format!("{relaxed:?}\nbest {best:?}\n{problem:?}");
        assert!(relaxed.bound - relaxed.value <= 1e-8, "{}", context());
        assert!(relaxed.bound >= best.score - 1e-12, "{}", context());
        check_point(&problem, &relaxed);
        if let Some(reference) = reference(&problem) {
            assert!((relaxed.bound - reference).abs() < 1e-6, "reference {reference}: {}", context());
            compared += 1;
        }
        if let Some(matching) = &relaxed.matching {
            assert!((problem.score(matching).unwrap() - best.score).abs() < 1e-9, "{}", context());
            tight += 1;
        }
    }
    assert!(compared > 250 && tight > 100, "compared {compared}, tight {tight}");
}

#[test]
fn stopped_early_both_bounds_hold() {
    let mut rng = rng(42);
    for _ in 0..150 {
        let problem = random_small(&mut rng);
        let Some(reference) = reference(&problem) else { continue };
        for steps in [0, 20, 60] {
            let hasty = LpRelaxation { gap: 0.0, max_iterations: steps, ..LpRelaxation::default() };
            let relaxed = hasty.solve(&problem, &mut Workspace::new()).unwrap();
            assert!(relaxed.value <= reference + 1e-6 && reference <= relaxed.bound + 1e-6, "{relaxed:?}, {reference}");
            check_point(&problem, &relaxed);
        }
    }
}

#[test]
fn a_warm_start_changes_how_long_it_takes_not_what_comes_out() {
    let mut rng = rng(43);
    let precise = LpRelaxation { gap: 0.0, tolerance: 1e-8, max_iterations: 100_000, ..LpRelaxation::default() };
    let mut work = Workspace::new();
    let (mut cold_steps, mut warm_steps) = (0, 0);
    for _ in 0..60 {
        let problem = random_small(&mut rng);
        let mut warm = WarmStart::default();
        precise.solve_from(&problem, &mut warm, &mut work).unwrap();
        let mut changed = problem.clone();
        changed.node.mapv_inplace(|score| score + rng.random_range(-0.01..0.01));
        let again = precise.solve_from(&changed, &mut warm, &mut work).unwrap();
        let cold = precise.solve(&changed, &mut work).unwrap();
        assert!((again.bound - cold.bound).abs() < 1e-7);
        check_point(&changed, &again);
        cold_steps += cold.iterations;
        warm_steps += again.iterations;
        // One that does not fit is no start at all.
        let other = random_small(&mut rng);
        let fresh = precise.solve_from(&other, &mut warm, &mut work).unwrap();
        assert!((fresh.bound - precise.solve(&other, &mut work).unwrap().bound).abs() < 1e-7);
    }
    assert!(warm_steps < cold_steps, "{warm_steps} and {cold_steps}");
}

#[test]
fn without_edges_it_is_the_assignment() {
    let problem = Compatibility::linear(ndarray::array![[3.0, 1.0], [5.0, 2.0]]);
    let relaxed = LpRelaxation::default().solve(&problem, &mut Workspace::new()).unwrap();
    let best = best_matching(&problem);
    assert_eq!((relaxed.bound, relaxed.value, best.status), (best.score, best.score, Status::Optimal));
    assert_eq!(relaxed.matching, Some(best.matching));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = Compatibility::linear(ndarray::array![[1.0]]);
    let refuse = |solver: LpRelaxation| solver.solve(&problem, &mut Workspace::new()).unwrap_err().to_string();
    assert_eq!(
        refuse(LpRelaxation { gap: -1.0, ..LpRelaxation::default() }),
        "setting gap is -1: it must be zero or more"
    );
    let nan = LpRelaxation { tolerance: f64::NAN, ..LpRelaxation::default() };
    assert_eq!(refuse(nan), "setting tolerance is NaN: it must be zero or more");
}

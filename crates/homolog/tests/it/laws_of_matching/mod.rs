//! Random problems of every kind with at most four nodes per side, and the laws that every answer to them obeys: a hundred
//! thousand of them in the tests, as many as there is time for in `homolog-bench laws`.

#![allow(unreachable_pub, reason = "also a module of the benchmarks")]

pub mod families;
mod fixed;
pub mod forms;
mod middle;
mod namings;

use forms::as_list;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Method,
    Solution, Status, Workspace, verify,
};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// How scores are drawn in one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Values {
    Uniform,
    /// Small whole numbers: many ties.
    Ties,
    /// Magnitudes from 1e-9 to 1e9.
    Mixed,
    AllEqual,
}

fn value(rng: &mut ChaCha8Rng, values: Values) -> f64 {
    match values {
        Values::Uniform => rng.random_range(-1.0..1.0),
        Values::Ties => f64::from(rng.random_range(-2..3)),
        Values::Mixed => rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-9..10)),
        Values::AllEqual => 0.25,
    }
}

/// The problem with a given number: rectangular, with or without edges, prices on both sides, forbidden pairs, shared right nodes, ties,
/// mixed magnitudes, large constants on a row, single huge cells.
pub fn problem(number: u64) -> Compatibility {
    let rng = &mut ChaCha8Rng::seed_from_u64(number);
    let values = [Values::Uniform, Values::Ties, Values::Mixed, Values::AllEqual][rng.random_range(0..4)];
    let forbidden = [0.0, 0.0, 0.3, 0.7][rng.random_range(0..4)];
    let priced = [None, None, Some(1.0), Some(0.5)][rng.random_range(0..4)];
    let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
    let mut score = |share: f64| if rng.random_bool(share) { f64::NEG_INFINITY } else { value(rng, values) };
    let mut node = Array2::from_shape_simple_fn((n, m), || score(forbidden));
    let unmatched = priced.map(|share| Array1::from_shape_simple_fn(n, || score(1.0 - share)));
    let mut unmatched: Option<Array1<f64>> = unmatched;
    if n > 0 && m > 0 && rng.random_bool(0.1) {
        let (row, large) = (rng.random_range(0..n), [1e12, -1e12, 9.4e15][rng.random_range(0..3)]);
        node.row_mut(row).mapv_inplace(|score| score + large);
        unmatched.iter_mut().for_each(|prices| prices[row] += large);
    }
    if n > 0 && m > 0 && rng.random_bool(0.1) {
        node[[rng.random_range(0..n), rng.random_range(0..m)]] = [-1e20, 1e20, -1e9][rng.random_range(0..3)];
    }
    let mut problem = Compatibility::linear(node);
    problem.unmatched = unmatched;
    match rng.random_range(0..10) {
        0 | 1 => problem.constraint = Constraint::ManyToOne,
        2 | 3 => problem.right_unmatched = Some(Array1::from_shape_simple_fn(m, || value(rng, values))),
        _ => {}
    }
    if rng.random_bool(0.75) {
        problem.edge = Some(edges(rng, n, m, values));
    }
    problem
}

/// Small whole numbers beside constants of up to 1e15 on rows, columns, single cells, all edges or the edges of one pair, and large negative
/// edge scores that stand for "forbidden": everything can be told apart, but not by sums that are rounded.
pub fn problem_beside_constants(number: u64) -> Compatibility {
    let rng = &mut ChaCha8Rng::seed_from_u64(number ^ 0xC0_57_A7);
    let most = if rng.random_bool(0.05) { 6 } else { 5 };
    let (n, m) = (rng.random_range(1..most), rng.random_range(1..most));
    let large = |rng: &mut ChaCha8Rng| {
        let size = 10.0_f64.powi(rng.random_range(9..16));
        (if rng.random_bool(0.3) { -1.0 } else { 1.0 }) * (size + f64::from(rng.random_range(0..3_i32)))
    };
    let mut node = Array2::from_shape_simple_fn((n, m), || f64::from(rng.random_range(-6..7_i32)));
    let mut unmatched =
        rng.random_bool(0.3).then(|| Array1::from_shape_simple_fn(n, || f64::from(rng.random_range(-4..5_i32))));
    if rng.random_bool(0.5) {
        let constant = large(rng);
        node.column_mut(rng.random_range(0..m)).mapv_inplace(|score| score + constant);
    }
    if rng.random_bool(0.2) {
        let (row, constant) = (rng.random_range(0..n), large(rng));
        node.row_mut(row).mapv_inplace(|score| score + constant);
        unmatched.iter_mut().for_each(|prices| prices[row] += constant);
    }
    if rng.random_bool(0.2) {
        node[[rng.random_range(0..n), rng.random_range(0..m)]] += large(rng);
    }
    if rng.random_bool(0.2) {
        node[[rng.random_range(0..n), rng.random_range(0..m)]] = f64::NEG_INFINITY;
    }
    let mut problem = Compatibility::linear(node);
    problem.unmatched = unmatched;
    if rng.random_bool(0.1) {
        problem.right_unmatched = Some(Array1::from_shape_simple_fn(m, || f64::from(rng.random_range(-4..5_i32))));
    }
    let mut list = |count: usize| {
        let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j);
        Arc::new(EdgeList::new(count, all.filter(|_| rng.random_bool(0.7)).collect()).expect("ends in range"))
    };
    let (left, right) = (list(n), list(m));
    let everywhere = if rng.random_bool(0.3) { large(rng) } else { 0.0 };
    let (group, constant) =
        (rng.random_range(0..left.len().max(1)), if rng.random_bool(0.2) { large(rng) } else { 0.0 });
    let forbids = rng.random_bool(0.2).then(|| -large(rng).abs());
    let mut entries = Vec::new();
    for e in 0..left.len() {
        for f in 0..right.len() {
            let own = f64::from(rng.random_range(-9..10_i32)) + everywhere + if e == group { constant } else { 0.0 };
            let score = forbids.filter(|_| rng.random_bool(0.2)).unwrap_or(own);
            entries.push((e, f, score));
        }
    }
    problem.edge = EdgeTerm::listed(left, right, entries).ok();
    problem
}

/// What is called proven beside large constants is the best to the last digit; what is not is still bounded.
pub fn check_beside_constants(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let problem = problem_beside_constants(number);
    let best = BruteForce::default().solve_with(&problem, work).map_err(|error| format!("{error} on {problem:?}"))?;
    let of_best = terms(&problem, &best.matching);
    let behind = |matching: &Matching| {
        exact_sum(of_best.iter().copied().chain(terms(&problem, matching).iter().map(|term| -term)))
    };
    let exact = Exact::default().solve_with(&problem, work).map_err(|error| format!("{error} on {problem:?}"))?;
    if exact.status == Status::Optimal && behind(&exact.matching) != 0.0 {
        return Err(format!("exact: proven, but {} behind {best:?}\n{exact:?}\n{problem:?}", behind(&exact.matching)));
    }
    if exact.bound < exact.score
        || exact.bound < best.score - 4.0 * f64::EPSILON * of_best.iter().map(|term| term.abs()).sum::<f64>()
    {
        return Err(format!("exact: the bound is false: {exact:?}\n{best:?}\n{problem:?}"));
    }
    if number.is_multiple_of(4) {
        let relaxation = LpRelaxation { max_iterations: 400, ..LpRelaxation::default() };
        let relaxed = relaxation.solve_with(&problem, work).map_err(|error| format!("{error} on {problem:?}"))?;
        if let Some(matching) = relaxed.matching.as_ref().filter(|matching| behind(matching) != 0.0) {
            return Err(format!("relaxation: proven, but {} behind\n{matching:?}\n{problem:?}", behind(matching)));
        }
    }
    Ok(exact.status == Status::Optimal)
}

fn edges(rng: &mut ChaCha8Rng, n: usize, m: usize, values: Values) -> EdgeTerm {
    let mut list = |count: usize| {
        let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j);
        Arc::new(EdgeList::new(count, all.filter(|_| rng.random_bool(0.6)).collect()).expect("ends in range"))
    };
    let (left, right) = (list(n), list(m));
    let factors = rng.random_range(0..3);
    let share = [0.1, 0.3, 0.9][rng.random_range(0..3)];
    let a = Array2::from_shape_simple_fn((left.len(), factors), || value(rng, values));
    let b = Array2::from_shape_simple_fn((right.len(), factors), || value(rng, values));
    let all = (0..left.len()).flat_map(|e| (0..right.len()).map(move |f| (e, f)));
    let mut entries = Vec::new();
    for (e, f) in all {
        if rng.random_bool(share) {
            entries.push((e, f, value(rng, values)));
        }
    }
    EdgeTerm::factored(left, right, a, b).and_then(|edge| edge.with_listed(entries)).expect("finite")
}

/// Every number that is added up in a matching's score.
fn terms(problem: &Compatibility, matching: &Matching) -> Vec<f64> {
    let mut terms = Vec::new();
    for (i, right) in matching.left_to_right().iter().enumerate() {
        match *right {
            Some(k) => terms.push(problem.node[[i, k]]),
            None => terms.extend(problem.unmatched.as_ref().map(|prices| prices[i]).filter(|price| price.is_finite())),
        }
    }
    if let Some(prices) = &problem.right_unmatched {
        terms.extend(matching.unmatched_right().map(|k| prices[k]));
    }
    if let Some(edge) = &problem.edge {
        for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
            if let (Some(k), Some(l)) = (matching.right_of(i), matching.right_of(j)) {
                terms.extend(edge.right_edges().find(k, l).map(|f| edge.value(e, f)));
            }
        }
    }
    terms
}

/// The sum of numbers, rounded only once at the end (Shewchuk's expansions).
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for mut term in terms {
        let mut kept = 0;
        for at in 0..parts.len() {
            let (a, b) = if term.abs() < parts[at].abs() { (parts[at], term) } else { (term, parts[at]) };
            let sum = a + b;
            let rest = b - (sum - a);
            if rest != 0.0 {
                parts[kept] = rest;
                kept += 1;
            }
            term = sum;
        }
        parts.truncate(kept);
        parts.push(term);
    }
    parts.into_iter().rev().fold(0.0, |sum, part| sum + part)
}

/// What is known about a problem by trying everything.
pub struct Known {
    pub best: Solution,
    terms: Vec<f64>,
    placed: usize,
    /// Twice the sum of everything that rounding and tolerances are relative to, after subtracting large constants of rows.
    size: f64,
}

fn placed(problem: &Compatibility, matching: &Matching) -> usize {
    matching.pairs().filter(|&(i, _)| problem.unmatched_score(i) == f64::NEG_INFINITY).count()
}

/// Solves by trying everything.
pub fn know(problem: &Compatibility) -> Known {
    let best = BruteForce::default().solve(problem).expect("a small problem");
    let mut size = problem.right_unmatched.iter().flatten().map(|price| price.abs()).sum::<f64>();
    let price = |k: usize| problem.right_unmatched.as_ref().map_or(0.0, |prices| prices[k]);
    for (i, row) in problem.node.rows().into_iter().enumerate() {
        let own = best.matching.right_of(i);
        let gains = row.iter().enumerate().map(|(k, score)| score - price(k)).chain([problem.unmatched_score(i)]);
        let top = gains.fold(f64::NEG_INFINITY, f64::max);
        let own = own.map_or(problem.unmatched_score(i), |k| row[k] - price(k));
        // A node that is left over where it should not be has no row of its own to compare with.
        size += if own.is_finite() { top - own } else { top.abs().min(f64::MAX) };
    }
    if problem.left_count() > problem.right_count() || best.shortage.is_some() || has_shortage(problem) {
        size += problem.node.iter().filter(|score| score.is_finite()).map(|score| score.abs()).sum::<f64>();
    }
    if let Some(edge) = &problem.edge {
        size += edge.magnitude() * (edge.left_edges().len() * 2) as f64;
    }
    Known { terms: terms(problem, &best.matching), placed: placed(problem, &best.matching), best, size }
}

/// Whether some left node that must be matched cannot be.
fn has_shortage(problem: &Compatibility) -> bool {
    let forced = (0..problem.left_count()).filter(|&i| problem.unmatched_score(i) == f64::NEG_INFINITY).count();
    let best = BruteForce::default().solve(&problem.without_edges()).expect("a small problem");
    placed(problem, &best.matching) < forced
}

/// Checks one answer; what is wrong with it, if anything.
pub fn check(problem: &Compatibility, known: &Known, answer: &Solution, who: &str) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{who}: {what}\n{answer:?}\nbest {:?}\n{problem:?}", known.best));
    match problem.score(&answer.matching) {
        Ok(score) if score == answer.score => {}
        other => return fail(&format!("the score is {other:?}")),
    }
    if answer.matching.constraint() != problem.constraint || placed(problem, &answer.matching) != known.placed {
        return fail("not a feasible matching");
    }
    let own = terms(problem, &answer.matching);
    let behind = exact_sum(known.terms.iter().copied().chain(own.iter().map(|term| -term)));
    if behind < -1e-13 * known.size {
        return fail("better than the best");
    }
    if answer.status == Status::Optimal && behind > 1e-9 * known.size {
        return fail(&format!("optimal, but {behind:e} behind at size {:e}", known.size));
    }
    let best = exact_sum(known.terms.iter().copied());
    let ulp = 4.0 * f64::EPSILON * known.terms.iter().map(|term| term.abs()).sum::<f64>();
    if answer.bound < best - 1e-10 * known.size - ulp || answer.bound < answer.score {
        return fail("the bound is false");
    }
    Ok(())
}

/// All laws of one problem. Heuristics and the relaxation take turns by number.
pub fn check_all(number: u64, work: &mut Workspace) -> Result<(), String> {
    if number.is_multiple_of(2) {
        check_beside_constants(number / 2, work)?;
    }
    let problem = problem(number);
    let known = know(&problem);
    let solve = |matcher: &dyn Matcher, work: &mut Workspace| {
        matcher.solve_with(&problem, work).map_err(|error| format!("{error} on {problem:?}"))
    };
    let exact = solve(&Exact::default(), work)?;
    check(&problem, &known, &exact, "exact")?;
    if exact.status != Status::Optimal && problem.right_unmatched.is_none() {
        return Err(format!("exact proved nothing\n{exact:?}\n{problem:?}"));
    }
    if problem.edge.is_none() {
        let linear = solve(&Linear::default(), work)?;
        check(&problem, &known, &linear, "linear")?;
        let certificate = linear.certificate.as_ref().ok_or("no certificate")?;
        let bound = verify(&problem, &linear.matching, certificate).map_err(|error| format!("{error}\n{problem:?}"))?;
        let best = exact_sum(known.terms.iter().copied());
        let size = 1e-9 * known.size + 1e-9 * known.terms.iter().map(|term| term.abs()).sum::<f64>();
        if bound < best || bound > best + size && linear.status == Status::Optimal {
            return Err(format!("verify says {bound}, the best is {best}\n{linear:?}\n{problem:?}"));
        }
    }
    if let Some(list) = as_list(&problem) {
        let mut listed =
            Linear::default().solve_with(&list, work).map_err(|error| format!("{error} on {problem:?}"))?;
        listed.score = problem.score(&listed.matching).unwrap_or(f64::NAN);
        check(&problem, &known, &listed, "sparse")?;
    }
    if number.is_multiple_of(4) {
        let relaxed = LpRelaxation { max_iterations: 400, ..LpRelaxation::default() }
            .solve_with(&problem, work)
            .map_err(|error| format!("{error} on {problem:?}"))?;
        let best = exact_sum(known.terms.iter().copied());
        let ulp = 4.0 * f64::EPSILON * known.terms.iter().map(|term| term.abs()).sum::<f64>();
        if relaxed.bound < best - 1e-10 * known.size - ulp {
            return Err(format!("the relaxation's bound {} is below {best}\n{problem:?}", relaxed.bound));
        }
        if let Some(matching) = &relaxed.matching {
            let own = terms(&problem, matching);
            let behind = exact_sum(known.terms.iter().copied().chain(own.iter().map(|term| -term)));
            if behind > 1e-9 * known.size || placed(&problem, matching) != known.placed {
                return Err(format!("{matching:?} is called proven but is {behind:e} behind\n{problem:?}"));
            }
        }
    }
    if number.is_multiple_of(16) {
        for method in Method::all() {
            match method.matcher().solve_with(&problem, work) {
                Ok(answer) => check(&problem, &known, &answer, method.name())?,
                Err(homolog::Error::Unsupported { .. }) => {}
                Err(error) => return Err(format!("{}: {error}\n{problem:?}", method.name())),
            }
        }
    }
    Ok(())
}

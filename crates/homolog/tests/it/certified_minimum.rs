//! What certified learning proves, against one convex program that an independent solver (Clarabel) minimises: the lower bound is not above
//! the least objective of any weights, nor the objective that was reached below it.
//!
//! The relaxed risk of an example is a linear program whose scores c(w) are linear in the weights. By duality
//!
//!   max { c(w)·x : A x <= b, E x = d, x >= 0 }  =  min { b·u + d·v : A'u + E'v >= c(w), u >= 0 }
//!
//! so the least objective λ/2 |w|² + Σ_n max(0, risk_n(w)) / N is the minimum of one quadratic program in w, the slacks, u and v.

use crate::certified::{augmented, brute_force, cases, examples, go_on, learner};
use crate::relaxed_reference::{Program, program};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use homolog::learn::Example;
use homolog::matching::LpRelaxation;

/// The program of an example under these weights, what is added to its maximum included.
fn relaxed(example: &Example, weights: &[f64]) -> Program {
    let (problem, constant) = augmented(example, weights);
    let program = program(&problem, |_| true);
    Program { constant: program.constant + constant, ..program }
}

/// Rows of Σ coefficient · variable <= limit.
type Rows = Vec<(Vec<(usize, f64)>, f64)>;

/// The least objective of any weights.
fn least_objective(examples: &[Example], lambda: f64) -> f64 {
    let (dim, count) = (examples[0].instance().dim(), examples.len());
    let mut size = dim + count;
    let mut rows: Rows = Vec::new();
    for (number, example) in examples.iter().enumerate() {
        let slack = dim + number;
        let at_zero = relaxed(example, &vec![0.0; dim]);
        let at_one: Vec<Program> = (0..dim)
            .map(|own| {
                let unit: Vec<f64> = (0..dim).map(|at| f64::from(u8::from(at == own))).collect();
                relaxed(example, &unit)
            })
            .collect();
        // Scores and constants as what they are without weights, and what each weight adds.
        let slopes = |value: &dyn Fn(&Program) -> f64| -> Vec<(usize, f64)> {
            at_one.iter().enumerate().map(|(at, one)| (at, value(one) - value(&at_zero))).collect()
        };
        let first = size;
        size += at_zero.rows.len();
        rows.push((vec![(slack, -1.0)], 0.0));
        let mut risk = slopes(&|program| program.constant);
        risk.push((slack, -1.0));
        let mut of_variable: Vec<Vec<(usize, f64)>> = vec![Vec::new(); at_zero.scores.len()];
        for (own, row) in at_zero.rows.iter().enumerate() {
            risk.push((first + own, row.limit));
            row.terms.iter().for_each(|&(x, coefficient)| of_variable[x].push((first + own, -coefficient)));
            if !row.equal {
                rows.push((vec![(first + own, -1.0)], 0.0));
            }
        }
        rows.push((risk, -at_zero.constant));
        for (x, mut terms) in of_variable.into_iter().enumerate() {
            terms.extend(slopes(&|program| program.scores[x]));
            rows.push((terms, -at_zero.scores[x]));
        }
    }
    let places =
        rows.iter().enumerate().flat_map(|(row, (terms, _))| terms.iter().map(move |&(x, value)| (row, x, value)));
    let (mut lines, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (row, x, value) in places {
        lines.push(row);
        columns.push(x);
        values.push(value);
    }
    let table = CscMatrix::new_from_triplets(rows.len(), size, lines, columns, values);
    let weights: Vec<usize> = (0..dim).collect();
    let square = CscMatrix::new_from_triplets(size, size, weights.clone(), weights, vec![lambda; dim]);
    let costs: Vec<f64> =
        (0..size).map(|x| if (dim..dim + count).contains(&x) { 1.0 / count as f64 } else { 0.0 }).collect();
    let limits: Vec<f64> = rows.iter().map(|(_, limit)| *limit).collect();
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let cones = [SupportedConeT::NonnegativeConeT(rows.len())];
    let mut solver = DefaultSolver::new(&square, &costs, &table, &limits, &cones, settings).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    solver.solution.obj_val
}

#[test]
fn the_least_objective_is_between_bound_and_objective() {
    for case in cases() {
        for (lambda, seed) in [(0.3, 1), (0.01, 1), (0.1, 2)] {
            let examples = examples(case, 4, seed);
            let least = least_objective(&examples, lambda);
            // Once precise, and once so hasty that every evaluation is off.
            for max_iterations in [10_000, 40] {
                let solver = LpRelaxation { max_iterations, ..LpRelaxation::default() };
                let fit = learner(lambda, solver).fit(&examples, &brute_force(), &go_on()).unwrap();
                let what = format!("{}, λ {lambda}, {max_iterations} steps", case.name);
                assert!(fit.minimum.bound <= least + 1e-6, "bound {} above {least}: {what}", fit.minimum.bound);
                assert!(fit.minimum.objective >= least - 1e-6, "{} below {least}: {what}", fit.minimum.objective);
                if max_iterations > 100 {
                    assert!(fit.minimum.objective <= 1.02 * least + 1e-6, "{} and {least}", fit.minimum.objective);
                }
            }
        }
    }
}

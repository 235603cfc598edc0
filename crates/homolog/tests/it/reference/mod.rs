//! The inner problem of the bundle method solved by Clarabel, an interior-point solver that shares nothing with ours.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// A plane of a part, or (part `None`) the constraint offset + slope·w <= 0.
pub(crate) struct Row {
    pub(crate) part: Option<usize>,
    pub(crate) slope: Vec<f64>,
    pub(crate) offset: f64,
}

/// min_w lambda/2 |w|² + Σ_part max (offset + slope·w) under the constraints: the value, if the
/// solver is sure of it.
pub(crate) fn minimum(rows: &[Row], parts: usize, lambda: f64) -> Option<f64> {
    let dim = rows[0].slope.len();
    // Variables: w, then one level per part, which is above all planes of the part.
    let diagonal: Vec<f64> = (0..dim + parts).map(|j| if j < dim { lambda } else { 0.0 }).collect();
    let quadratic =
        CscMatrix::new(dim + parts, dim + parts, (0..=dim + parts).collect(), (0..dim + parts).collect(), diagonal);
    let linear: Vec<f64> = (0..dim + parts).map(|j| if j < dim { 0.0 } else { 1.0 }).collect();
    let table: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mut line = row.slope.clone();
            line.extend((0..parts).map(|part| if row.part == Some(part) { -1.0 } else { 0.0 }));
            line
        })
        .collect();
    let limits: Vec<f64> = rows.iter().map(|row| -row.offset).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-9)
        .tol_gap_rel(1e-9)
        .tol_feas(1e-9)
        .build()
        .unwrap();
    let cones = [SupportedConeT::NonnegativeConeT(rows.len())];
    let mut solver =
        DefaultSolver::new(&quadratic, &linear, &CscMatrix::from(&table), &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then_some(solver.solution.obj_val)
}

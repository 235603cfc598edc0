//! Problems as lists of allowed pairs: scipy.sparse matrices, and points that are near each other. No table of all pairs is ever made.

use crate::arrays::index_pairs;
use crate::errors::raise;
use crate::problem::{deadline, solution};
use crate::run;
use homolog::Control;
use homolog::features::near_costs;
use homolog::geometry::Near;
use homolog::matching::{Linear, Restrictions, Sense, Sparse, Workspace};
use ndarray::Array2;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

/// Prices of staying unmatched, a gate, seeds and forbidden pairs.
type Given<'py> = (
    Option<PyReadonlyArray1<'py, f64>>,
    Option<f64>,
    Option<PyReadonlyArray2<'py, i64>>,
    Option<PyReadonlyArray2<'py, i64>>,
);
/// The solution, and the dual values of left and right nodes if they prove it.
type Solved<'py> = (Bound<'py, PyDict>, Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)>);

/// What is given, without Python.
struct Wishes {
    sense: Sense,
    unmatched: Option<Vec<f64>>,
    gate: Option<f64>,
    given: Restrictions,
    full: bool,
    until: Option<Instant>,
}

impl Wishes {
    fn of(sense: Sense, full: bool, time_limit: Option<f64>, (unmatched, gate, seeds, forbidden): &Given<'_>) -> Self {
        let list = |pairs: &Option<PyReadonlyArray2<'_, i64>>| {
            pairs.as_ref().map(|pairs| index_pairs(pairs.as_array())).unwrap_or_default()
        };
        let prices =
            |prices: &PyReadonlyArray1<'_, f64>| prices.as_array().iter().map(|&price| sense.turn(price)).collect();
        Self {
            sense,
            unmatched: unmatched.as_ref().map(prices),
            gate: *gate,
            given: Restrictions { seeds: list(seeds), forbidden: list(forbidden) },
            full,
            until: deadline(time_limit),
        }
    }

    fn solve(self, problem: Sparse, control: &Control) -> homolog::Result<homolog::matching::Solution> {
        let Self { sense, unmatched, gate, given, full, until } = self;
        let mut problem = match gate {
            Some(gate) => problem.gated(sense.turn(gate)),
            None => problem,
        };
        if let Some(unmatched) = unmatched {
            problem = problem.with_unmatched(unmatched)?;
        }
        if !given.is_empty() {
            problem = problem.restricted(&given)?;
        }
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        Linear { require_full: full }.solve_sparse(&problem, &mut Workspace::with_control(&control))
    }
}

/// Listed pairs: rows, columns and costs. With `full`, all nodes of the smaller side have to be matched.
#[pyfunction]
#[pyo3(signature = (counts, pairs, costs, maximize, given, full, time_limit, jobs))]
#[expect(clippy::too_many_arguments, reason = "called by the Python side alone, which has names for them")]
pub(crate) fn solve_listed<'py>(
    py: Python<'py>,
    counts: (usize, usize),
    pairs: (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>),
    costs: PyReadonlyArray1<'py, f64>,
    maximize: bool,
    given: Given<'py>,
    full: bool,
    time_limit: Option<f64>,
    jobs: Option<usize>,
) -> PyResult<Solved<'py>> {
    let sense = if maximize { Sense::Maximize } else { Sense::Minimize };
    let wishes = Wishes::of(sense, full, time_limit, &given);
    let index = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
    let ends = pairs.0.as_array().into_iter().zip(pairs.1.as_array()).zip(costs.as_array());
    let list = ends.map(|((&i, &k), &cost)| (index(i), index(k), cost)).collect();
    let problem = Sparse::from_pairs(counts.0, counts.1, list, sense).map_err(|error| raise(py, &error))?;
    let solved = run::run(py, jobs, move |control| wishes.solve(problem, control))?;
    answer(py, &solved, sense)
}

/// Points that are near each other, by their distances.
#[pyfunction]
#[pyo3(signature = (left, right, near, given, squared, time_limit, jobs))]
#[expect(clippy::too_many_arguments, reason = "called by the Python side alone, which has names for them")]
pub(crate) fn solve_points<'py>(
    py: Python<'py>,
    left: PyReadonlyArray2<'py, f64>,
    right: PyReadonlyArray2<'py, f64>,
    near: (f64, Option<usize>),
    given: Given<'py>,
    squared: bool,
    time_limit: Option<f64>,
    jobs: Option<usize>,
) -> PyResult<Solved<'py>> {
    let wishes = Wishes::of(Sense::Minimize, false, time_limit, &given);
    // Cell by cell: numpy gives arrays without cells any strides.
    let [a, b] = [&left, &right].map(|points| {
        let points = points.as_array();
        Array2::from_shape_fn(points.dim(), |cell| points[cell])
    });
    let solved = run::run(py, jobs, move |control| {
        let near = Near { within: near.0, nearest: near.1 };
        wishes.solve(near_costs(a.view(), b.view(), near, squared)?, control)
    })?;
    answer(py, &solved, Sense::Minimize)
}

fn answer<'py>(py: Python<'py>, solved: &homolog::matching::Solution, sense: Sense) -> PyResult<Solved<'py>> {
    let duals = solved.certificate.as_ref().map(|certificate| {
        [&certificate.left, &certificate.right].map(|values| {
            let turned: Vec<f64> = values.iter().map(|&value| sense.turn(value)).collect();
            PyArray1::from_slice(py, &turned)
        })
    });
    Ok((solution(py, solved, sense)?, duals.map(|[left, right]| (left, right))))
}

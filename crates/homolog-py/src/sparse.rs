//! Problems as lists of allowed pairs: scipy.sparse matrices, and points that are near each other. No table of all pairs is ever made.

use crate::arrays::index_pairs;
use crate::errors::raise;
use crate::problem::{deadline, solution};
use crate::proof::{Proof, proof};
use crate::run;
use homolog::features::near_costs;
use homolog::geometry::Near;
use homolog::matching::{Linear, Matcher, Restrictions, Sense, Sparse, Workspace};
use ndarray::Array2;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Instant;

/// Prices of staying unmatched, a gate, seeds and forbidden pairs.
type Given<'py> = (
    Option<PyReadonlyArray1<'py, f64>>,
    Option<f64>,
    Option<PyReadonlyArray2<'py, i64>>,
    Option<PyReadonlyArray2<'py, i64>>,
);
/// The solution, and what proves it.
type Solved<'py> = (Bound<'py, PyDict>, Option<Proof<'py>>);

/// What is given, without Python.
struct Wishes {
    sense: Sense,
    unmatched: Option<Vec<f64>>,
    gate: Option<f64>,
    given: Restrictions,
}

impl Wishes {
    fn of(sense: Sense, (unmatched, gate, seeds, forbidden): &Given<'_>) -> Self {
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
        }
    }

    fn applied_to(self, problem: Sparse) -> homolog::Result<Sparse> {
        let Self { sense, unmatched, gate, given } = self;
        let mut problem = match gate {
            Some(gate) => problem.gated(sense.turn(gate)),
            None => problem,
        };
        if let Some(unmatched) = unmatched {
            problem = problem.with_unmatched(unmatched)?;
        }
        if given.is_empty() { Ok(problem) } else { problem.restricted(&given) }
    }
}

/// A list of pairs with costs, ready to be solved.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Listed {
    pub(crate) inner: Arc<Sparse>,
    pub(crate) sense: Sense,
}

#[pymethods]
impl Listed {
    /// Rows, columns and costs (or scores with `maximize`), and what is given.
    #[new]
    fn new(
        py: Python<'_>,
        counts: (usize, usize),
        pairs: (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, i64>),
        costs: PyReadonlyArray1<'_, f64>,
        maximize: bool,
        given: Given<'_>,
    ) -> PyResult<Self> {
        let sense = if maximize { Sense::Maximize } else { Sense::Minimize };
        let index = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
        let ends = pairs.0.as_array().into_iter().zip(pairs.1.as_array()).zip(costs.as_array());
        let list = ends.map(|((&i, &k), &cost)| (index(i), index(k), cost)).collect();
        let problem = Sparse::from_pairs(counts.0, counts.1, list, sense)
            .and_then(|problem| Wishes::of(sense, &given).applied_to(problem))
            .map_err(|error| raise(py, &error))?;
        Ok(Self { inner: Arc::new(problem), sense })
    }

    /// The best matching. With `full`, all nodes of the smaller side have to be matched.
    #[pyo3(signature = (full, time_limit, jobs))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        full: bool,
        time_limit: Option<f64>,
        jobs: Option<usize>,
    ) -> PyResult<Solved<'py>> {
        let (problem, until) = (Arc::clone(&self.inner), deadline(time_limit));
        let solved = run::run(py, jobs, move |control| solve(&problem, full, until, control))?;
        answer(py, &solved, self.sense)
    }
}

fn solve(
    problem: &Sparse,
    full: bool,
    until: Option<Instant>,
    control: &homolog::Control,
) -> homolog::Result<homolog::matching::Solution> {
    let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
    Linear { require_full: full }.solve_with(problem, &mut Workspace::with_control(&control))
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
    let (wishes, until) = (Wishes::of(Sense::Minimize, &given), deadline(time_limit));
    // Cell by cell: numpy gives arrays without cells any strides.
    let [a, b] = [&left, &right].map(|points| {
        let points = points.as_array();
        Array2::from_shape_fn(points.dim(), |cell| points[cell])
    });
    let solved = run::run(py, jobs, move |control| {
        let near = Near { within: near.0, nearest: near.1 };
        solve(&wishes.applied_to(near_costs(a.view(), b.view(), near, squared)?)?, false, until, control)
    })?;
    answer(py, &solved, Sense::Minimize)
}

fn answer<'py>(py: Python<'py>, solved: &homolog::matching::Solution, sense: Sense) -> PyResult<Solved<'py>> {
    Ok((solution(py, solved, sense)?, solved.certificate.as_ref().map(|certificate| proof(py, certificate, sense))))
}

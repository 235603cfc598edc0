//! What proves an answer, as arrays and back; the bound that it proves; and the best few answers, of tables and of lists alike.

use crate::arrays::{positions, with_minus_one};
use crate::errors::raise;
use crate::problem::{Problem, QUICK, deadline};
use crate::run;
use crate::sparse::Listed;
use homolog::matching::{
    self, Certificate, Constraint, Exact, Linear, Matching, Method, Sense, Shortage, Workspace,
    proof_in_words as in_words,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

type Values<'py> = Bound<'py, PyArray1<f64>>;
type Places<'py> = Bound<'py, PyArray1<i64>>;
/// Dual values of left and right nodes, and the left nodes that compete for too few right nodes, with these.
pub(crate) type Proof<'py> = (Values<'py>, Values<'py>, Option<(Places<'py>, Places<'py>)>);
/// The same, as Python gives it back.
type GivenProof<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    Option<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>,
);
/// The right node of every left node, and the total.
type Found<'py> = (Places<'py>, f64);

/// A certificate in the sense of the problem.
pub(crate) fn proof<'py>(py: Python<'py>, certificate: &Certificate, sense: Sense) -> Proof<'py> {
    let [left, right] = [&certificate.left, &certificate.right].map(|values| {
        let turned: Vec<f64> = values.iter().map(|&value| sense.turn(value)).collect();
        PyArray1::from_slice(py, &turned)
    });
    let crowd = certificate.crowd.as_ref();
    let crowd =
        crowd.map(|crowd| (positions(py, crowd.left.iter().copied()), positions(py, crowd.right.iter().copied())));
    (left, right, crowd)
}

/// What a proof shows, given what it is true up to if that is not negligible.
#[pyfunction]
pub(crate) fn proof_in_words(tolerance: Option<f64>) -> String {
    in_words(tolerance)
}

/// A table or a list.
#[derive(FromPyObject)]
pub(crate) enum Either<'py> {
    Table(PyRef<'py, Problem>),
    List(PyRef<'py, Listed>),
}

/// The bound that dual values prove: no matching is better. Computed from them and the problem alone, not by the solver.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    problem: Either<'_>,
    assignment: PyReadonlyArray1<'_, i64>,
    proof: GivenProof<'_>,
) -> PyResult<f64> {
    let index = |value: &i64| usize::try_from(*value).ok();
    let list = |places: &PyReadonlyArray1<'_, i64>| places.as_array().iter().filter_map(index).collect::<Vec<usize>>();
    let (right_count, sense) = match &problem {
        Either::Table(table) => (table.inner.right_count(), table.sense),
        Either::List(listed) => (listed.inner.right_count(), listed.sense),
    };
    let values =
        |values: &PyReadonlyArray1<'_, f64>| values.as_array().iter().map(|&value| sense.turn(value)).collect();
    let mut certificate = Certificate::default();
    (certificate.left, certificate.right) = (values(&proof.0), values(&proof.1));
    certificate.crowd = proof.2.map(|(left, right)| {
        let mut crowd = Shortage::default();
        (crowd.left, crowd.right) = (list(&left), list(&right));
        crowd
    });
    let right_of = assignment.as_array().iter().map(index).collect();
    let matching = Matching::new(right_of, right_count, Constraint::OneToOne).map_err(|error| raise(py, &error))?;
    let bound = match &problem {
        // What takes microseconds needs no other thread and no Ctrl-C.
        Either::Table(table) if table.inner.node.len() <= QUICK => {
            matching::verify(&*table.inner, &matching, &certificate).map_err(|error| raise(py, &error))
        }
        Either::Table(table) => {
            let problem = Arc::clone(&table.inner);
            run::run(py, Some(1), move |_| matching::verify(&*problem, &matching, &certificate))
        }
        Either::List(listed) => {
            let problem = Arc::clone(&listed.inner);
            run::run(py, Some(1), move |_| matching::verify(&*problem, &matching, &certificate))
        }
    };
    bound.map(|bound| sense.turn(bound))
}

/// The best `count` matchings, best first, and whether they are proven to be.
#[pyfunction]
#[pyo3(signature = (problem, count, time_limit, jobs))]
pub(crate) fn k_best<'py>(
    py: Python<'py>,
    problem: Either<'py>,
    count: usize,
    time_limit: Option<f64>,
    jobs: Option<usize>,
) -> PyResult<(Vec<Found<'py>>, bool)> {
    let until = deadline(time_limit);
    let limited = move |control: &homolog::Control| {
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        Workspace::with_control(&control)
    };
    let (problem, sense): (Arc<dyn matching::Problem + Send>, Sense) = match problem {
        Either::Table(table) => (table.inner.clone(), table.sense),
        Either::List(listed) => (listed.inner.clone(), listed.sense),
    };
    let has_edges = matches!(problem.form(), matching::Form::Table(table) if table.edge.is_some());
    let method = if has_edges { Method::Exact(Exact::default()) } else { Method::Linear(Linear::default()) };
    let best =
        move |control: &homolog::Control| matching::k_best(&*problem, method.matcher(), count, &mut limited(control));
    let found = run::run(py, jobs, best)?;
    let one = |(matching, score): &(Matching, f64)| (with_minus_one(py, matching.left_to_right()), sense.turn(*score));
    Ok((found.matchings.iter().map(one).collect(), found.proven))
}

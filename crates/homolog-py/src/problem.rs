//! A matching problem of the library, held by Python: scores of pairs of nodes and of pairs of edges, prices, seeds, forbidden pairs.

use crate::arrays::{index_pairs, positions, table, with_minus_one};
use crate::errors::{plain, raise};
use crate::proof::{Proof, proof};
use crate::run;
use homolog::matching::{
    Compatibility, EdgeList, EdgeTerm, Exact, Linear, Margin, Method, Restrictions, Sense, Solution as Solved,
    Workspace, margins,
};
use homolog::model::{Model, PairOf, Prepared};
use ndarray::{Array1, Array2};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tables of up to so many cells are solved on the calling thread.
pub(crate) const QUICK: usize = 2500;

/// A problem, ready to be solved.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Problem {
    pub(crate) inner: Arc<Compatibility>,
    pub(crate) sense: Sense,
}

#[pymethods]
impl Problem {
    /// Costs (or scores with `maximize`) of pairs, prices of staying unmatched, pairs that must or must not be matched.
    #[new]
    #[pyo3(signature = (costs, maximize, unmatched = None, seeds = None, forbidden = None))]
    fn new(
        py: Python<'_>,
        costs: PyReadonlyArray2<'_, f64>,
        maximize: bool,
        unmatched: Option<PyReadonlyArray1<'_, f64>>,
        seeds: Option<PyReadonlyArray2<'_, i64>>,
        forbidden: Option<PyReadonlyArray2<'_, i64>>,
    ) -> PyResult<Self> {
        let sense = if maximize { Sense::Maximize } else { Sense::Minimize };
        let build = || -> homolog::Result<Compatibility> {
            let mut problem = Compatibility::linear(table(&costs).mapv_into(|cost| sense.turn(cost)));
            problem.check()?;
            problem.unmatched = unmatched
                .map(|prices| prices.as_array().iter().map(|&price| sense.turn(price)).collect::<Array1<f64>>());
            let list = |pairs: &Option<PyReadonlyArray2<'_, i64>>| {
                pairs.as_ref().map(|pairs| index_pairs(pairs.as_array())).unwrap_or_default()
            };
            Restrictions { seeds: list(&seeds), forbidden: list(&forbidden) }.apply(&mut problem)?;
            problem.check()?;
            Ok(problem)
        };
        Ok(Self { inner: Arc::new(build().map_err(|error| raise(py, &error))?), sense })
    }

    /// The same problem with scores for pairs of edges, one by one: left edge, right edge, value. Values have the problem's own sense.
    fn with_edges(
        &self,
        py: Python<'_>,
        left_edges: PyReadonlyArray2<'_, i64>,
        right_edges: PyReadonlyArray2<'_, i64>,
        pairs: PyReadonlyArray2<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let build = || -> homolog::Result<Compatibility> {
            let (n, m) = self.inner.node.dim();
            let (left_ends, right_ends) = (index_pairs(left_edges.as_array()), index_pairs(right_edges.as_array()));
            let left = Arc::new(EdgeList::new(n, left_ends.clone())?);
            let right = Arc::new(EdgeList::new(m, right_ends.clone())?);
            // Lists are sorted; this is where each given edge is in them.
            let place = |edges: &EdgeList, ends: &[[usize; 2]]| -> Vec<usize> {
                ends.iter().map(|&[from, to]| edges.find(from, to).unwrap_or(usize::MAX)).collect()
            };
            let (left_at, right_at) = (place(&left, &left_ends), place(&right, &right_ends));
            let of = |places: &[usize], index: usize| places.get(index).copied().unwrap_or(usize::MAX);
            let entry =
                |([e, f], &value): ([usize; 2], &f64)| (of(&left_at, e), of(&right_at, f), self.sense.turn(value));
            let entries = index_pairs(pairs.as_array()).into_iter().zip(values.as_array()).map(entry).collect();
            let mut problem = (*self.inner).clone();
            problem.edge = Some(EdgeTerm::listed(left, right, entries)?);
            Ok(problem)
        };
        Ok(Self { inner: Arc::new(build().map_err(|error| raise(py, &error))?), sense: self.sense })
    }

    /// The same problem with scores for pairs of edges that are products, Σ_t left[e, t] · right[f, t], plus the values of listed pairs.
    /// Edges that are in a list must be in order.
    #[pyo3(signature = (left_edges, right_edges, left, right, pairs = None, values = None))]
    #[expect(clippy::too_many_arguments, reason = "as Python calls it")]
    fn with_factors(
        &self,
        py: Python<'_>,
        left_edges: PyReadonlyArray2<'_, i64>,
        right_edges: PyReadonlyArray2<'_, i64>,
        left: PyReadonlyArray2<'_, f64>,
        right: PyReadonlyArray2<'_, f64>,
        pairs: Option<PyReadonlyArray2<'_, i64>>,
        values: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let build = || -> homolog::Result<Compatibility> {
            let (n, m) = self.inner.node.dim();
            let sorted = |count, edges: &PyReadonlyArray2<'_, i64>, factors: Array2<f64>| {
                let ends = index_pairs(edges.as_array());
                let list = EdgeList::new(count, ends.clone())?;
                if list.ends() == ends {
                    return Ok((Arc::new(list), factors));
                }
                let mut rows = vec![0; list.len()];
                for (row, [from, to]) in ends.into_iter().enumerate() {
                    if let Some(at) = list.find(from, to) {
                        rows[at] = row;
                    }
                }
                Ok::<_, homolog::Error>((Arc::new(list), factors.select(ndarray::Axis(0), &rows)))
            };
            let (left_list, left) = sorted(n, &left_edges, table(&left).mapv(|value| self.sense.turn(value)))?;
            let (right_list, right) = sorted(m, &right_edges, table(&right))?;
            let mut problem = (*self.inner).clone();
            let mut term = EdgeTerm::factored(left_list, right_list, left, right)?;
            if let (Some(pairs), Some(values)) = (&pairs, &values) {
                let pairs = index_pairs(pairs.as_array()).into_iter().zip(values.as_array());
                term = term.with_listed(pairs.map(|([e, f], &value)| (e, f, self.sense.turn(value))).collect())?;
            }
            problem.edge = Some(term);
            Ok(problem)
        };
        Ok(Self { inner: Arc::new(build().map_err(|error| raise(py, &error))?), sense: self.sense })
    }

    /// Solves with a method given as JSON, or with the one that is exact for the problem; Frank-Wolfe from a soft matching if there is one.
    #[pyo3(signature = (method, time_limit, jobs, start = None))]
    fn solve(
        &self,
        py: Python<'_>,
        method: Option<&str>,
        time_limit: Option<f64>,
        jobs: Option<usize>,
        start: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<Solution> {
        let start = start.as_ref().map(table);
        let method: Method = match method {
            Some(text) => serde_json::from_str(text).map_err(|error| plain(py, &format!("method: {error}")))?,
            None if self.inner.edge.is_some() => Method::Exact(Exact::default()),
            None => Method::Linear(Linear::default()),
        };
        // What takes microseconds needs no other thread and no Ctrl-C.
        let is_quick =
            matches!(method, Method::Linear(_)) && self.inner.edge.is_none() && self.inner.node.len() <= QUICK;
        if is_quick && time_limit.is_none() {
            let solved = method.matcher().solve(&self.inner).map_err(|error| raise(py, &error))?;
            let source = Source::Problem(Arc::clone(&self.inner), method);
            return Ok(Solution { solved, source, sense: self.sense });
        }
        let until = deadline(time_limit);
        let (problem, solver) = (Arc::clone(&self.inner), method.clone());
        let solved = run::run(py, jobs, move |control| {
            let control = control
                .clone()
                .timed(until.is_some())
                .interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
            let work = &mut Workspace::with_control(&control);
            match (&solver, &start) {
                (Method::FrankWolfe(climb), Some(start)) => climb.solve_from(&problem, start, work),
                _ => solver.matcher().solve_with(&problem, work),
            }
        })?;
        let source = Source::Problem(Arc::clone(&self.inner), method);
        Ok(Solution { solved, source, sense: self.sense })
    }
}

/// What a solver found, with the problem it belongs to.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Solution {
    pub(crate) solved: Solved,
    pub(crate) source: Source,
    pub(crate) sense: Sense,
}

/// Where a solution came from, in case its margins are asked for.
#[derive(Clone)]
pub(crate) enum Source {
    Problem(Arc<Compatibility>, Method),
    /// A model and the two graphs as it sees them, with what was given.
    Model(Arc<Model>, Box<[Prepared; 2]>, Box<PairOf>),
}

#[pymethods]
impl Solution {
    /// Everything except the margins.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        solution(py, &self.solved, self.sense)
    }

    /// What proves the answer, if it was solved without edges.
    fn proof<'py>(&self, py: Python<'py>) -> Option<Proof<'py>> {
        let has_edges = matches!(&self.source, Source::Problem(problem, _) if problem.edge.is_some());
        let certificate = self.solved.certificate.as_ref().filter(|_| !has_edges);
        certificate.map(|certificate| proof(py, certificate, self.sense))
    }

    /// What a proof is true up to, if that is not negligible.
    #[pyo3(signature = (jobs))]
    fn tolerance(&self, py: Python<'_>, jobs: Option<usize>) -> PyResult<Option<f64>> {
        let (source, solved) = (self.source.clone(), self.solved.clone());
        run::run(py, jobs, move |control| match source {
            Source::Problem(problem, _) => Ok(solved.tolerance(&problem)),
            Source::Model(model, ..) if model.atlas().is_some() => Ok(None),
            Source::Model(model, graphs, of) => {
                let problem = model.problem_of(&graphs[0], &graphs[1], &*of, &mut Workspace::with_control(control))?;
                Ok(solved.tolerance(&problem))
            }
        })
    }

    /// For each matched pair, how much worse the best matching without it is.
    #[pyo3(signature = (jobs))]
    fn margins<'py>(&self, py: Python<'py>, jobs: Option<usize>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (source, solved) = (self.source.clone(), self.solved.clone());
        let values = |all: Vec<Margin>| all.iter().map(|margin| margin.margin).collect::<Vec<f64>>();
        let values = run::run(py, jobs, move |control| match source {
            Source::Problem(problem, method) => margins(&problem, &solved, Some(method.matcher()), control).map(values),
            Source::Model(model, graphs, of) => {
                let [left, right] = &*graphs;
                if model.atlas().is_some() {
                    let work = &mut Workspace::with_control(control);
                    return model.match_prepared(left, right, &*of, work)?.margins(control).map(values);
                }
                let problem = model.problem_of(left, right, &*of, &mut Workspace::with_control(control))?;
                margins(&problem, &solved, Some(model.matcher.matcher()), control).map(values)
            }
        })?;
        Ok(PyArray1::from_slice(py, &values))
    }

    /// For each matched pair the right nodes that include the true partner this often, the match first.
    #[pyo3(signature = (level, jobs))]
    fn candidates(&self, py: Python<'_>, level: f64, jobs: Option<usize>) -> PyResult<Vec<Vec<usize>>> {
        let source = self.source.clone();
        run::run(py, jobs, move |control| match source {
            Source::Model(model, graphs, of) => {
                let [left, right] = &*graphs;
                model.match_prepared(left, right, &*of, &mut Workspace::with_control(control))?.candidates(level)
            }
            Source::Problem(..) => {
                Err(homolog::Error::Missing { what: "atlas", needed_by: "candidates for each match" })
            }
        })
    }
}

/// When this many seconds will be over; never, if that is beyond what a clock can represent.
pub(crate) fn deadline(seconds: Option<f64>) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(seconds?.max(0.0)).ok()?;
    Instant::now().checked_add(limit)
}

/// What a solver found, in the sense of the problem.
pub(crate) fn solution<'py>(py: Python<'py>, solved: &Solved, sense: Sense) -> PyResult<Bound<'py, PyDict>> {
    let matching = &solved.matching;
    let fields = PyDict::new(py);
    fields.set_item("assignment", with_minus_one(py, matching.left_to_right()))?;
    fields.set_item("right_count", matching.right_count())?;
    fields.set_item("score", sense.turn(solved.score))?;
    fields.set_item("bound", sense.turn(solved.bound))?;
    fields.set_item("status", word(&solved.status))?;
    fields.set_item("iterations", solved.iterations)?;
    let shortage = solved
        .shortage
        .as_ref()
        .map(|crowd| (positions(py, crowd.left.iter().copied()), positions(py, crowd.right.iter().copied())));
    fields.set_item("shortage", shortage)?;
    Ok(fields)
}

/// A name as in settings files.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

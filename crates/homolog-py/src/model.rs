//! A model of the library, held by Python.

use crate::data::DataSet;
use crate::errors::{plain, raise};
use crate::graph::Graph;
use crate::pair_features::{self, PairFeatures};
use crate::problem::{Solution, Source, deadline};
use crate::run;
use homolog::graph::Pair;
use homolog::matching::{Restrictions, Sense};
use homolog::model::{Explanation, Matched, Model as Inner, PairOf};
use homolog::task::losses;
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// Features, matcher and weights.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Model {
    pub(crate) inner: Arc<Inner>,
}

/// Two graphs, pairs of nodes that must be matched, pairs that must not be, and features of pairs.
type GivenPair = (Py<Graph>, Py<Graph>, Option<Vec<[usize; 2]>>, Option<Vec<[usize; 2]>>, Option<Py<PairFeatures>>);

fn pair((left, right, seeds, forbidden, features): GivenPair) -> homolog::Result<Pair> {
    let graph = |graph: &Py<Graph>| Arc::clone(&graph.get().inner);
    let mut pair = Pair::new(graph(&left), graph(&right));
    pair.given = Restrictions { seeds: seeds.unwrap_or_default(), forbidden: forbidden.unwrap_or_default() };
    match pair_features::inner(features.as_ref()) {
        Some(features) => pair.with_features(features),
        None => Ok(pair),
    }
}

#[pymethods]
impl Model {
    /// A model from its file's text.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let inner = Arc::new(Inner::from_json(text).map_err(|error| raise(py, &error))?);
        Ok(Self { inner })
    }

    /// The text of the model file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.to_json().map_err(|error| raise(py, &error))
    }

    /// Features, matcher, and how the weights were obtained.
    fn settings_json(&self, py: Python<'_>) -> PyResult<String> {
        let settings = json!({
            "features": self.inner.features,
            "matcher": self.inner.matcher,
            "unmatched": self.inner.features.unmatched,
            "report": self.inner.training.as_ref().map_or_else(|| json!({}), |record| json!(record)),
        });
        serde_json::to_string(&settings).map_err(|error| plain(py, &error.to_string()))
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.weights())
    }

    #[getter]
    fn weight_names(&self) -> Vec<String> {
        self.inner.weight_names().map(str::to_owned).collect()
    }

    /// Whether features of pairs are among the features.
    #[getter]
    fn has_pair_features(&self) -> bool {
        !self.inner.features.pair.is_empty()
    }

    /// Matches every pair; `time_limit` applies to all of them together.
    #[pyo3(signature = (pairs, time_limit, jobs))]
    fn solve(
        &self,
        py: Python<'_>,
        pairs: Vec<GivenPair>,
        time_limit: Option<f64>,
        jobs: Option<usize>,
    ) -> PyResult<Vec<Solution>> {
        let pairs: homolog::Result<Vec<Pair>> = pairs.into_iter().map(pair).collect();
        let pairs = pairs.map_err(|error| raise(py, &error))?;
        let until = deadline(time_limit);
        let model = Arc::clone(&self.inner);
        run::run(py, jobs, move |control| {
            let limited = control
                .clone()
                .timed(until.is_some())
                .interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
            // Each graph is described once, however many pairs it is in.
            let (graphs, places) = PairOf::list(&pairs);
            pairs.iter().try_for_each(|pair| model.check_size(pair))?;
            let prepared = model.prepare(&graphs, control)?;
            let make = |of: &PairOf, matched: Matched<'_>| -> homolog::Result<Solution> {
                let ends = [of.left, of.right].map(|at| prepared[at].clone());
                let source = Source::Model(Arc::clone(&model), Box::new(ends), Box::new(of.clone()));
                Ok(Solution { solved: matched.solution, source, sense: Sense::Maximize })
            };
            let mut answers = Vec::with_capacity(pairs.len());
            let take = |answer: Solution| {
                answers.push(answer);
                Ok(ControlFlow::Continue(()))
            };
            model.match_all(&prepared, places, (control, &|| limited.clone()), make, take)?;
            Ok(answers)
        })
    }

    /// Why a pair is matched as it is, as JSON.
    #[pyo3(signature = (given, jobs))]
    fn explain(&self, py: Python<'_>, given: GivenPair, jobs: Option<usize>) -> PyResult<String> {
        let pair = pair(given).map_err(|error| raise(py, &error))?;
        let model = Arc::clone(&self.inner);
        let explanation = run::run(py, jobs, move |control| model.explain(&pair, control))?;
        explanation_json(py, &explanation)
    }

    /// The loss of every pair of a data set whose truth is known.
    #[pyo3(signature = (data, jobs))]
    fn losses<'py>(&self, py: Python<'py>, data: &DataSet, jobs: Option<usize>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (labelled, _) = data.inner.labelled(|_| true);
        let model = Arc::clone(&self.inner);
        let evaluation = run::run(py, jobs, move |control| losses(&model, &labelled, control))?;
        Ok(PyArray1::from_slice(py, &evaluation.losses))
    }
}

/// An explanation as JSON.
pub(crate) fn explanation_json(py: Python<'_>, explanation: &Explanation) -> PyResult<String> {
    let matches: Vec<_> = explanation
        .matches
        .iter()
        .map(|reasons| {
            let other = reasons.alternative.as_ref();
            json!({
                "left": reasons.left,
                "right": reasons.right,
                "share": reasons.share,
                "margin": other.map(|other| other.margin),
                "runner_up": other.and_then(|other| other.right),
                "proven": other.is_some_and(|other| other.proven),
                "contributions": other.map(|other| &other.contributions),
            })
        })
        .collect();
    serde_json::to_string(&json!({ "matches": matches })).map_err(|error| plain(py, &error.to_string()))
}

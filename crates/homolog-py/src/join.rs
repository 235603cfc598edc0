//! Joining specimens without labels.

use crate::atlas::inner;
use crate::errors::plain;
use crate::graph::Graph;
use crate::model::Model;
use crate::problem::deadline;
use crate::run;
use homolog::atlas::AtlasSettings;
use homolog::graph::Graph as InnerGraph;
use homolog::specimens::join::join;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Joins specimens: everything as JSON, the report in words, and the atlas. Settings are JSON, as in the library.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all by name")]
#[pyo3(signature = (specimens, ids, settings, model, time_limit, jobs, callback))]
pub(crate) fn join_specimens(
    py: Python<'_>,
    specimens: Vec<Py<Graph>>,
    ids: Vec<String>,
    settings: &str,
    model: Option<&Model>,
    time_limit: Option<f64>,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, Model)> {
    let settings: AtlasSettings = serde_json::from_str(settings).map_err(|error| plain(py, &error.to_string()))?;
    let graphs = inner(&specimens);
    let model = model.map(|model| Arc::clone(&model.inner));
    let until = deadline(time_limit);
    let work = move |control: &homolog::Control| {
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        let graphs: Vec<&InnerGraph> = graphs.iter().map(|graph| &**graph).collect();
        let joined = join(&graphs, &settings, model.as_deref(), &control)?;
        Ok((joined.to_json(&ids)?, joined.report.to_string(), joined.model))
    };
    let (json, text, model) = run::run_observed(py, jobs, callback, false, work)?.whole()?;
    Ok((json, text, Model { inner: Arc::new(model) }))
}

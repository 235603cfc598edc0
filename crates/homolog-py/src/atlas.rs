//! Learning an atlas and naming with it.

use crate::errors::{plain, raise};
use crate::graph::Graph;
use crate::model::{Model, explanation_json};
use crate::pictures::Picture;
use crate::problem::deadline;
use crate::run;
use homolog::atlas::AtlasSettings;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::graph::Graph as InnerGraph;
use homolog::matching::Workspace;
use homolog::task::{Features, Outcome, Settings, Task};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use rayon::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Learns an atlas from labelled specimens, perhaps with a picture of each, and perhaps from others whose names are ignored; the model, and
/// what was learned in words. Settings are JSON, as in the library.
#[pyfunction]
#[pyo3(signature = (specimens, unlabelled, pictures, settings, jobs, callback))]
pub(crate) fn train_atlas(
    py: Python<'_>,
    specimens: Vec<Py<Graph>>,
    unlabelled: Vec<Py<Graph>>,
    pictures: Option<Vec<PyReadonlyArray2<'_, u8>>>,
    settings: &str,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Model, String)> {
    let atlas: AtlasSettings = serde_json::from_str(settings).map_err(|error| plain(py, &error.to_string()))?;
    let named = |(number, graph): (usize, Arc<InnerGraph>)| NamedGraph { id: number.to_string(), graph, image: None };
    let specimens = inner(&specimens);
    let pictures: Option<Vec<Picture>> = pictures.map(|pictures| pictures.iter().map(Picture::new).collect());
    if let Some(found) = pictures.as_ref().map(Vec::len).filter(|&found| found != specimens.len()) {
        let what = "pictures of specimens";
        return Err(raise(py, &homolog::Error::Size { what, expected: specimens.len(), found }));
    }
    let graphs = specimens.iter().cloned().enumerate().map(named).collect();
    let data = DataSet::new(graphs, Vec::new()).map_err(|error| raise(py, &error))?;
    let settings = Settings { features: Features::Named("atlas".to_string()), atlas, ..Settings::default() };
    let more = inner(&unlabelled).into_iter().enumerate().map(named);
    let task = Task { data, settings }.with_unlabelled(more).map_err(|error| raise(py, &error))?;
    let work = move |control: &homolog::Control| {
        let seen = pictures.iter().flatten().zip(&specimens).map(|(picture, graph)| Ok((picture.grey()?, &**graph)));
        let seen = seen.collect::<homolog::Result<Vec<_>>>()?;
        Ok(task.run(control, None)?.seeing(&seen, control))
    };
    let Outcome { model, report } = run::run_observed(py, jobs, callback, false, work)?.whole()?;
    Ok((Model { inner: Arc::new(model) }, report.to_string()))
}

/// Names the points of specimens, each answer as JSON; `time_limit` applies to all of them together.
#[pyfunction]
#[pyo3(signature = (model, specimens, presence, candidates, time_limit, jobs))]
pub(crate) fn name_points(
    py: Python<'_>,
    model: &Model,
    specimens: Vec<Py<Graph>>,
    presence: Option<&str>,
    candidates: Option<f64>,
    time_limit: Option<f64>,
    jobs: Option<usize>,
) -> PyResult<Vec<String>> {
    let graphs = inner(&specimens);
    let mut model = Arc::clone(&model.inner);
    if let Some(presence) = presence {
        let presence =
            serde_json::from_value(json!(presence)).map_err(|error| plain(py, &format!("presence: {error}")))?;
        let other = (*model).clone().with_presence(presence).map_err(|error| raise(py, &error))?;
        model = Arc::new(other);
    }
    let until = deadline(time_limit);
    let named = run::run(py, jobs, move |control| {
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        let name = |work: &mut Workspace, graph: &Arc<InnerGraph>| -> homolog::Result<serde_json::Value> {
            let naming = model.name(graph, work)?;
            Ok(json!(model.atlas().map(|atlas| naming.named_at(atlas, candidates)).transpose()?))
        };
        let each = graphs.par_iter().map_init(|| Workspace::with_control(&control), name);
        each.collect::<homolog::Result<Vec<_>>>()
    })?;
    Ok(named.iter().map(ToString::to_string).collect())
}

/// Names the frames of a take as a whole, as JSON; after `time_limit` seconds what is done by then is used.
#[pyfunction]
#[pyo3(signature = (model, frames, ids, time_limit, jobs))]
pub(crate) fn name_take(
    py: Python<'_>,
    model: &Model,
    frames: Vec<Py<Graph>>,
    ids: Vec<String>,
    time_limit: Option<f64>,
    jobs: Option<usize>,
) -> PyResult<String> {
    let graphs = inner(&frames);
    let model = Arc::clone(&model.inner);
    let until = deadline(time_limit);
    let named = run::run(py, jobs, move |control| {
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        let graphs: Vec<&InnerGraph> = graphs.iter().map(|graph| &**graph).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let naming = model.name_take(&graphs, &control)?;
        Ok(json!(model.atlas().map(|atlas| naming.named(atlas, &ids, &graphs))))
    })?;
    Ok(named.to_string())
}

/// Why points are named as they are, as JSON: left are the landmarks.
#[pyfunction]
#[pyo3(signature = (model, specimen, jobs))]
pub(crate) fn explain_naming(py: Python<'_>, model: &Model, specimen: &Graph, jobs: Option<usize>) -> PyResult<String> {
    let (model, graph) = (Arc::clone(&model.inner), Arc::clone(&specimen.inner));
    let explanation = run::run(py, jobs, move |control| model.explain_naming(&graph, control))?;
    explanation_json(py, &explanation)
}

pub(crate) fn inner(specimens: &[Py<Graph>]) -> Vec<Arc<InnerGraph>> {
    specimens.iter().map(|graph| Arc::clone(&graph.get().inner)).collect()
}

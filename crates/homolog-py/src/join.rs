//! Joining specimens without labels.

use crate::atlas::inner;
use crate::errors::plain;
use crate::graph::Graph;
use crate::model::Model;
use crate::pictures::Picture;
use crate::problem::deadline;
use crate::run;
use homolog::atlas::AtlasSettings;
use homolog::features::{Gradients, ImageDescriptor};
use homolog::graph::Graph as InnerGraph;
use homolog::specimens::join::join;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Joins specimens, with as many pictures if they are to be compared too: everything as JSON, the report in words, and the atlas. Settings are
/// JSON, as in the library.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all by name")]
#[pyo3(signature = (specimens, ids, settings, pictures, model, time_limit, jobs, callback))]
pub(crate) fn join_specimens(
    py: Python<'_>,
    specimens: Vec<Py<Graph>>,
    ids: Vec<String>,
    settings: &str,
    pictures: Option<Vec<PyReadonlyArray2<'_, u8>>>,
    model: Option<&Model>,
    time_limit: Option<f64>,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, Model)> {
    let mut settings: AtlasSettings = serde_json::from_str(settings).map_err(|error| plain(py, &error.to_string()))?;
    let graphs = inner(&specimens);
    let model = model.map(|model| Arc::clone(&model.inner));
    let pictures: Option<Vec<Picture>> = pictures.map(|all| all.iter().map(Picture::new).collect());
    if pictures.is_some() {
        settings.images = vec![ImageDescriptor::Gradients(Gradients::default())];
    }
    let mut images = settings.images.clone();
    images.extend(model.iter().flat_map(|model| model.image_descriptors()));
    let until = deadline(time_limit);
    let work = move |control: &homolog::Control| {
        let control = control.clone().interrupted_by(move || until.is_some_and(|until| Instant::now() >= until));
        let seen = match &pictures {
            Some(pictures) => {
                let both = graphs.iter().zip(pictures);
                both.map(|(graph, picture)| picture.seen(graph, &images).map(Arc::new))
                    .collect::<homolog::Result<_>>()?
            }
            None => graphs,
        };
        let graphs: Vec<&InnerGraph> = seen.iter().map(|graph| &**graph).collect();
        let joined = join(&graphs, &settings, model.as_deref(), &control)?;
        Ok((joined.to_json(&ids)?, joined.report.to_string(), joined.model))
    };
    let (json, text, model) = run::run_observed(py, jobs, callback, false, work)?.whole()?;
    Ok((json, text, Model { inner: Arc::new(model) }))
}

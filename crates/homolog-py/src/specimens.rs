//! Many specimens at once: what looks wrong in labelled ones.

use crate::data::DataSet;
use crate::errors::plain;
use crate::run;
use homolog::specimens::check::check;
use pyo3::prelude::*;

/// What looks wrong in labelled specimens, as JSON and in words.
#[pyfunction]
#[pyo3(signature = (data, jobs))]
pub(crate) fn check_specimens(py: Python<'_>, data: &DataSet, jobs: Option<usize>) -> PyResult<(String, String)> {
    let graphs = data.inner.graphs().to_vec();
    let report = run::run(py, jobs, move |control| check(&graphs, control))?;
    let json = serde_json::to_string(&report).map_err(|error| plain(py, &error.to_string()))?;
    Ok((json, report.to_string()))
}

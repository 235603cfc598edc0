//! Many specimens at once: what looks wrong in labelled ones.

use crate::data::DataSet;
use crate::errors::plain;
use crate::run;
use homolog::data::dataset::DataSet as Inner;
use homolog::specimens::check::{Fix, check};
use pyo3::prelude::*;

/// What looks wrong in labelled specimens, as JSON and in words; and the specimens with swaps mended, and with all names mended.
#[pyfunction]
#[pyo3(signature = (data, jobs))]
pub(crate) fn check_specimens(
    py: Python<'_>,
    data: &DataSet,
    jobs: Option<usize>,
) -> PyResult<(String, String, DataSet, DataSet)> {
    let graphs = data.inner.graphs().to_vec();
    let (report, swaps, names) = run::run(py, jobs, move |control| {
        let report = check(&graphs, control)?;
        let mended = |fix: Fix| Inner::new(report.mended(&graphs, fix)?.0, vec![]);
        let (swaps, names) = (mended(Fix::Swaps)?, mended(Fix::Names)?);
        Ok((report, swaps, names))
    })?;
    let json = serde_json::to_string(&report).map_err(|error| plain(py, &error.to_string()))?;
    Ok((json, report.to_string(), DataSet { inner: swaps }, DataSet { inner: names }))
}

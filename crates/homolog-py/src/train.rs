//! Training: settings and a data set in, a model and how it was obtained out. All of it is the library's [`Task`].

use crate::data::DataSet;
use crate::errors::raise;
use crate::run;
use homolog::Control;
use homolog::learn::Clock;
use homolog::task::{Outcome, Settings, Task};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// A trained model, and how it was obtained.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Trained {
    model: String,
    report: String,
    text: String,
}

#[pymethods]
impl Trained {
    /// The text of the model file.
    fn model_json(&self) -> &str {
        &self.model
    }

    /// What was tried and what was chosen.
    fn report_json(&self) -> &str {
        &self.report
    }

    /// The same in words.
    fn report_text(&self) -> &str {
        &self.text
    }
}

impl Trained {
    pub(crate) fn of(outcome: &Outcome) -> homolog::Result<Self> {
        let Outcome { model, report } = outcome;
        Ok(Self { model: model.to_json()?, report: report.to_json()?, text: report.to_string() })
    }
}

/// Settings as JSON, checked.
pub(crate) fn settings(py: Python<'_>, text: &str) -> PyResult<Settings> {
    Settings::from_json(text).map_err(|error| raise(py, &error))
}

/// Learns. If Ctrl-C is pressed, raises, or with `keep` returns the best so far.
#[pyfunction]
#[pyo3(signature = (data, settings, jobs, callback, keep))]
pub(crate) fn train(
    py: Python<'_>,
    data: &DataSet,
    settings: &str,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
    keep: bool,
) -> PyResult<Trained> {
    let task = Task { data: data.inner.clone(), settings: self::settings(py, settings)? };
    let work = move |control: &Control| {
        let start = Instant::now();
        let clock: Clock = Arc::new(move || start.elapsed().as_secs_f64());
        Trained::of(&task.run(control, Some(&clock))?)
    };
    let outcome = run::run_observed(py, jobs, callback, keep, work)?;
    match outcome.interrupted {
        Some(error) if !keep => Err(error),
        _ => Ok(outcome.value),
    }
}

/// Learns from a whole task as JSON: the model file and the report, as the program would write them.
#[pyfunction]
#[pyo3(signature = (task, jobs))]
pub(crate) fn run_task(py: Python<'_>, task: &str, jobs: Option<usize>) -> PyResult<Trained> {
    let task = Task::from_json(task).map_err(|error| raise(py, &error))?;
    run::run(py, jobs, move |control| Trained::of(&task.run(control, None)?))
}

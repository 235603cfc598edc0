//! Detections frame by frame: labelled pairs of frames.

use crate::arrays::table;
use crate::data::DataSet;
use crate::run;
use homolog::data::tracks::{Frame, Tracks, read_mot, read_table};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

/// The number of a frame, its boxes, and who is who.
type Given<'py> = (i64, PyReadonlyArray2<'py, f64>, Vec<i64>);
type Known<'py> = (i64, Bound<'py, PyArray2<f64>>, Vec<Option<i64>>);

/// Pairs of given frames; a negative id means no object.
#[pyfunction]
#[pyo3(signature = (frames, gap))]
pub(crate) fn tracks<'py>(
    py: Python<'py>,
    frames: Vec<Given<'py>>,
    gap: usize,
) -> PyResult<(DataSet, Vec<Known<'py>>)> {
    let frame = |(number, boxes, ids): Given<'_>| Frame {
        number,
        boxes: table(&boxes),
        ids: ids.into_iter().map(|id| (id >= 0).then_some(id)).collect(),
    };
    let frames = frames.into_iter().map(frame).collect();
    paired(py, gap, move || Tracks::new(frames))
}

/// Pairs of frames of MOTChallenge text, with the identities of a truth if it is given.
#[pyfunction]
#[pyo3(signature = (text, truth, gap))]
pub(crate) fn read_tracks<'py>(
    py: Python<'py>,
    text: &str,
    truth: Option<&str>,
    gap: usize,
) -> PyResult<(DataSet, Vec<Known<'py>>)> {
    let (text, truth) = (text.to_string(), truth.map(str::to_string));
    paired(py, gap, move || {
        let found = read_mot(&text)?;
        match truth {
            Some(truth) => found.joined(&read_mot(&truth)?),
            None => Ok(found),
        }
    })
}

/// Pairs of frames of a table of tracks. `size` is the width and height of detections of which only the centre is known.
#[pyfunction]
#[pyo3(signature = (text, size, gap))]
pub(crate) fn read_track_table<'py>(
    py: Python<'py>,
    text: &str,
    size: Option<f64>,
    gap: usize,
) -> PyResult<(DataSet, Vec<Known<'py>>)> {
    let text = text.to_string();
    paired(py, gap, move || read_table(&text, size))
}

/// Reads and pairs frames on another thread, so that Ctrl-C is heard.
fn paired(
    py: Python<'_>,
    gap: usize,
    read: impl FnOnce() -> homolog::Result<Tracks> + Send + 'static,
) -> PyResult<(DataSet, Vec<Known<'_>>)> {
    let (tracks, inner) = run::run(py, Some(1), move |_| {
        let tracks = read()?;
        let inner = tracks.pairs(gap)?;
        Ok((tracks, inner))
    })?;
    let known = |frame: &Frame| (frame.number, PyArray2::from_array(py, &frame.boxes), frame.ids.clone());
    Ok((DataSet { inner }, tracks.frames().iter().map(known).collect()))
}

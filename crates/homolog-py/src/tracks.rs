//! Detections frame by frame: labelled pairs of frames.

use crate::arrays::table;
use crate::data::DataSet;
use crate::errors::raise;
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
    let tracks = Tracks::new(frames.into_iter().map(frame).collect()).map_err(|error| raise(py, &error))?;
    paired(py, &tracks, gap)
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
    let read = || -> homolog::Result<Tracks> {
        let found = read_mot(text)?;
        match truth {
            Some(truth) => found.joined(&read_mot(truth)?),
            None => Ok(found),
        }
    };
    paired(py, &read().map_err(|error| raise(py, &error))?, gap)
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
    paired(py, &read_table(text, size).map_err(|error| raise(py, &error))?, gap)
}

fn paired<'py>(py: Python<'py>, tracks: &Tracks, gap: usize) -> PyResult<(DataSet, Vec<Known<'py>>)> {
    let inner = tracks.pairs(gap).map_err(|error| raise(py, &error))?;
    let known = |frame: &Frame| (frame.number, PyArray2::from_array(py, &frame.boxes), frame.ids.clone());
    Ok((DataSet { inner }, tracks.frames().iter().map(known).collect()))
}

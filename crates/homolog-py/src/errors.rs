//! Errors of the library as Python exceptions: the library's own message, with row, column and index if there are any.

use homolog::{Error, Limit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    homolog,
    MatchError,
    PyValueError,
    "Something is wrong with what was given; `row`, `column` and `index` say where, or are None. Of a setting out of range, `setting` is the \
     name, `value` what it is, `least` and `most` what it may be."
);

/// The exception for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_as(py, error, &error.to_string())
}

/// The same place with another message.
pub(crate) fn raise_as(py: Python<'_>, error: &Error, sentence: &str) -> PyErr {
    let (row, column, index) = place(error);
    let (setting, value, least, most) = setting(error);
    let raised = MatchError::new_err(sentence.to_string());
    let exception = raised.value(py);
    // An exception takes any attribute; if it did not, the message alone would do.
    for (name, value) in [("row", row), ("column", column), ("index", index)] {
        let _ = exception.setattr(name, value);
    }
    for (name, value) in [("value", value), ("least", least), ("most", most)] {
        let _ = exception.setattr(name, value);
    }
    let _ = exception.setattr("setting", setting);
    raised
}

/// An exception without a place.
pub(crate) fn plain(py: Python<'_>, sentence: &str) -> PyErr {
    raise_as(py, &Error::NoExamples, sentence)
}

/// The setting that is out of range, its value, and the least and the most that it may be.
fn setting(error: &Error) -> (Option<&'static str>, Option<f64>, Option<f64>, Option<f64>) {
    match *error {
        Error::At { ref error, .. } => setting(error),
        Error::BadSetting { name, value, limit } => {
            let (least, most) = match limit {
                Limit::AtLeast(least) | Limit::MoreThan(least) => (Some(least), None),
                Limit::Between(least, most) => (Some(least), Some(most)),
                _ => (None, None),
            };
            (Some(name), Some(value), least, most)
        }
        _ => (None, None, None, None),
    }
}

/// Row, column and index of the fault.
fn place(error: &Error) -> (Option<usize>, Option<usize>, Option<usize>) {
    match *error {
        Error::At { ref error, .. } => place(error),
        Error::BadCell { row, column, .. } => (Some(row), Some(column), None),
        Error::ForbiddenPair { left, right } => (Some(left), Some(right), None),
        Error::BadEntry { index, .. } | Error::OutOfRange { index, .. } | Error::NotAPermutation { index, .. } => {
            (None, None, Some(index))
        }
        Error::SelfLoop { node } => (None, None, Some(node)),
        Error::NotOneToOne { right, second, .. } => (Some(second), Some(right), None),
        _ => (None, None, None),
    }
}

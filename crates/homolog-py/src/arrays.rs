//! numpy arrays as the library takes them, and back.

use ndarray::{Array2, ArrayView2};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// One number per entry, -1 for none.
pub(crate) fn with_minus_one<'py>(py: Python<'py>, map: &[Option<usize>]) -> Bound<'py, PyArray1<i64>> {
    let numbers: Vec<i64> = map.iter().map(|entry| entry.map_or(-1, signed)).collect();
    PyArray1::from_slice(py, &numbers)
}

/// Positions as Python counts them.
pub(crate) fn positions(py: Python<'_>, list: impl Iterator<Item = usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_slice(py, &list.map(signed).collect::<Vec<i64>>())
}

/// An index of something in memory.
pub(crate) fn signed(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// A table as the library stores it. The Python side passes float64, aligned and in row order.
pub(crate) fn table(array: &PyReadonlyArray2<'_, f64>) -> Array2<f64> {
    array.as_array().as_standard_layout().into_owned()
}

/// Whether an array can be read in place: in row order, and aligned.
pub(crate) fn is_plain(array: &Bound<'_, numpy::PyArray2<f64>>) -> bool {
    array.is_c_contiguous() && (array.data() as usize).is_multiple_of(align_of::<f64>())
}

/// Pairs of positions, one per row, from the first two columns. Negative numbers are in no list.
pub(crate) fn index_pairs(array: ArrayView2<'_, i64>) -> Vec<[usize; 2]> {
    let index = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
    array.rows().into_iter().map(|row| [index(row[0]), index(row[1])]).collect()
}

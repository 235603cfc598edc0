//! Features of pairs, held by Python.

use crate::arrays::{index_pairs, signed, table};
use crate::errors::raise;
use crate::run;
use homolog::features::mahalanobis as mahalanobis_of;
use homolog::graph::PairFeatures as Inner;
use ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use std::sync::Arc;

/// Named numbers of the pairs of nodes that may be matched.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct PairFeatures {
    pub(crate) inner: Arc<Inner>,
}

#[pymethods]
impl PairFeatures {
    /// One table per name; an infinity forbids the pair.
    #[staticmethod]
    fn of_tables(py: Python<'_>, names: Vec<String>, tables: Vec<PyReadonlyArray2<'_, f64>>) -> PyResult<Self> {
        let tables: Vec<Array2<f64>> = tables.iter().map(table).collect();
        let inner = Inner::of_tables(names, &tables).map_err(|error| raise(py, &error))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Listed pairs, one per row, with a row of numbers for each; all others are forbidden.
    #[staticmethod]
    fn of_list(
        py: Python<'_>,
        names: Vec<String>,
        counts: (usize, usize),
        pairs: PyReadonlyArray2<'_, i64>,
        values: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let inner = Inner::of_list(names, counts, &index_pairs(pairs.as_array()), values.as_array());
        Ok(Self { inner: Arc::new(inner.map_err(|error| raise(py, &error))?) })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names().to_vec()
    }

    /// How many left and right nodes there are.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.left_count(), self.inner.right_count())
    }

    /// The listed pairs, one per row.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let pairs: Vec<[usize; 2]> = self.inner.pairs().collect();
        let cell = |(row, side): (usize, usize)| signed(pairs[row][side]);
        PyArray2::from_owned_array(py, Array2::from_shape_fn((pairs.len(), 2), cell))
    }

    /// Their numbers, one row per listed pair.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        PyArray2::from_array(py, &self.inner.values())
    }
}

/// The library's value of one that may be absent.
pub(crate) fn inner(features: Option<&Py<PairFeatures>>) -> Option<Arc<Inner>> {
    features.map(|features| Arc::clone(&features.get().inner))
}

/// The features of boxes that trackers compare.
#[pyfunction]
#[pyo3(signature = (left, right, appearance, covariances))]
pub(crate) fn box_features(
    py: Python<'_>,
    left: PyReadonlyArray2<'_, f64>,
    right: PyReadonlyArray2<'_, f64>,
    appearance: Option<(PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>)>,
    covariances: Option<PyReadonlyArray3<'_, f64>>,
) -> PyResult<PairFeatures> {
    let looks = appearance.as_ref().map(|(a, b)| [a.as_array(), b.as_array()]);
    let covariances = covariances.as_ref().map(PyReadonlyArray3::as_array);
    let inner = homolog::features::box_features(left.as_array(), right.as_array(), looks, covariances);
    Ok(PairFeatures { inner: Arc::new(inner.map_err(|error| raise(py, &error))?) })
}

/// Mahalanobis distances of all pairs of rows, under one covariance or one per left row.
#[pyfunction]
#[pyo3(signature = (left, right, covariances))]
pub(crate) fn mahalanobis<'py>(
    py: Python<'py>,
    left: PyReadonlyArray2<'py, f64>,
    right: PyReadonlyArray2<'py, f64>,
    covariances: PyReadonlyArray3<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (left, right, given) = (left.as_array(), right.as_array(), covariances.as_array());
    // Whatever the strides, which of empty arrays may be anything.
    let [left, right] = [left, right].map(|rows| Array2::from_shape_fn(rows.raw_dim(), |at| rows[at]));
    let covariances = Array3::from_shape_fn(given.raw_dim(), |at| given[at]);
    let found = run::run(py, Some(1), move |_| mahalanobis_of(left.view(), right.view(), covariances.view()))?;
    Ok(found.into_pyarray(py))
}

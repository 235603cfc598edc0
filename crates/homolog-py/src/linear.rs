//! `linear_sum_assignment`, as in scipy, and many of them at once. Small problems cost little more than the call: a plain float64
//! array is read in place (a tiny one is copied, which is sooner done than telling numpy that it is being read), arrays of other types
//! and orders are read in one pass, and below some size neither the GIL nor a thread is touched.

use crate::arrays::{is_plain, signed};
use crate::errors::{plain, raise, raise_as};
use crate::run;
use homolog::Error;
use homolog::matching::{Linear, Sense, Workspace};
use ndarray::{Array2, ArrayView1, ArrayView2};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyList;
use rayon::prelude::*;
use std::cell::RefCell;

/// Up to this many cells an array is copied.
const TINY_CELLS: usize = 128;
/// Below this many cells a solve is over before the GIL could be released.
const FEW_CELLS: usize = 4_000;
/// From this many cells on, Ctrl-C is checked for.
const MANY_CELLS: usize = 1_000_000;

type Indices<'py> = Bound<'py, PyArray1<i64>>;

thread_local! {
    static WORK: RefCell<Workspace> = RefCell::new(Workspace::new());
}

/// linear_sum_assignment(cost_matrix, maximize=False)
/// --
///
/// The best assignment of rows to columns.
///
/// A drop-in for :func:`scipy.optimize.linear_sum_assignment`: the same arguments, results and errors.
///
/// Parameters
/// ----------
/// cost_matrix : array_like or scipy.sparse matrix, shape (n, m)
///     Costs; ``inf`` forbids a pair (``-inf`` with `maximize`). In a sparse matrix absent entries are forbidden, and explicit zeros are costs.
/// maximize : bool, default False
///     The matrix has scores, which are maximised.
///
/// Returns
/// -------
/// row_ind, col_ind : numpy.ndarray of int
///     Rows in order and their columns, ``min(n, m)`` of them.
///
/// Raises
/// ------
/// MatchError
///     NaN, an infinity that would be taken at any price, or no full assignment.
///
/// Examples
/// --------
/// >>> import homolog as hm
/// >>> row, col = hm.linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
/// >>> col.tolist()
/// [1, 0, 2]
#[pyfunction]
#[pyo3(signature = (cost_matrix, maximize = false), text_signature = None)]
pub(crate) fn linear_sum_assignment<'py>(
    py: Python<'py>,
    cost_matrix: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = truth)] maximize: bool,
) -> PyResult<(Indices<'py>, Indices<'py>)> {
    let sense = if maximize { Sense::Maximize } else { Sense::Minimize };
    if let Ok(array) = cost_matrix.cast_exact::<PyArray2<f64>>()
        && is_plain(array)
    {
        return assign(py, array, sense);
    }
    if let Some((shape, values)) = floats(cost_matrix)
        && let Ok(matrix) = ArrayView2::from_shape(shape, &values)
    {
        return assign_view(py, matrix, sense);
    }
    if cost_matrix.hasattr("tocoo")? && cost_matrix.hasattr("nnz")? {
        return py.import("homolog._listed")?.call_method1("assign_sparse", (cost_matrix, maximize))?.extract();
    }
    let array = as_matrix(py, cost_matrix)?;
    assign(py, &array, sense)
}

/// A matrix of numpy's usual types of numbers, in any memory order, read in one pass; `None` for anything else.
fn floats(given: &Bound<'_, PyAny>) -> Option<([usize; 2], Vec<f64>)> {
    #[expect(clippy::cast_precision_loss, reason = "as numpy converts them")]
    match given.cast_exact::<PyUntypedArray>().ok()?.dtype().kind() {
        b'f' => read(given, |value: f64| value).or_else(|| read(given, |value: f32| f64::from(value))),
        b'i' => read(given, |value: i64| value as f64)
            .or_else(|| read(given, |value: i32| f64::from(value)))
            .or_else(|| read(given, |value: i16| f64::from(value)))
            .or_else(|| read(given, |value: i8| f64::from(value))),
        b'u' => read(given, |value: u8| f64::from(value))
            .or_else(|| read(given, |value: u16| f64::from(value)))
            .or_else(|| read(given, |value: u32| f64::from(value)))
            .or_else(|| read(given, |value: u64| value as f64)),
        b'b' => read(given, |value: bool| f64::from(u8::from(value))),
        _ => None,
    }
}

/// The entries of a matrix of one type, row by row.
fn read<T: Element + Copy>(given: &Bound<'_, PyAny>, number: impl Fn(T) -> f64) -> Option<([usize; 2], Vec<f64>)> {
    let array = given.cast_exact::<PyArray2<T>>().ok()?;
    let aligned = |bytes: isize| bytes.unsigned_abs().is_multiple_of(align_of::<T>());
    if !(array.data() as usize).is_multiple_of(align_of::<T>())
        || !array.strides().iter().all(|&stride| aligned(stride))
    {
        return None;
    }
    let readonly = array.try_readonly().ok()?;
    let (view, shape) = (readonly.as_array(), array.dims());
    let values = match view.as_slice() {
        Some(values) => values.iter().map(|&value| number(value)).collect(),
        None => view.iter().map(|&value| number(value)).collect(),
    };
    Some(([shape[0], shape[1]], values))
}

/// Anything that Python considers true.
fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_truthy()
}

/// Anything that can be read as a matrix of numbers, as scipy reads it.
fn as_matrix<'py>(py: Python<'py>, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (given,))?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 2 {
        return Err(plain(py, &format!("expected a matrix (2-D array), got a {dimensions} array")));
    }
    let dtype = array.getattr("dtype")?;
    let float = numpy.getattr("float64")?;
    if !numpy.call_method1("can_cast", (&dtype, &float, "same_kind"))?.is_truthy()? {
        let sentence = format!("Cannot cast array data from {} to float64", dtype.repr()?);
        return Err(pyo3::exceptions::PyTypeError::new_err(sentence));
    }
    let options = pyo3::types::PyDict::new(py);
    options.set_item("dtype", float)?;
    options.set_item("requirements", ["C", "A"])?;
    Ok(numpy.call_method("require", (array,), Some(&options))?.cast_into::<PyArray2<f64>>()?)
}

fn assign<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyArray2<f64>>,
    sense: Sense,
) -> PyResult<(Indices<'py>, Indices<'py>)> {
    if array.len() <= TINY_CELLS
        && let Ok(values) = array.to_vec()
        && let Ok(matrix) = ArrayView2::from_shape(array.dims(), &values)
    {
        return assign_here(py, matrix, sense);
    }
    let readonly = array.try_readonly()?;
    assign_view(py, readonly.as_array(), sense)
}

fn assign_view<'py>(
    py: Python<'py>,
    matrix: ArrayView2<'_, f64>,
    sense: Sense,
) -> PyResult<(Indices<'py>, Indices<'py>)> {
    let strict = Linear { require_full: true };
    let cells = matrix.len();
    if cells < FEW_CELLS {
        return assign_here(py, matrix, sense);
    }
    let solve = || {
        WORK.with_borrow_mut(|work| {
            let columns = strict.assign_matrix(matrix, sense, work)?;
            Ok(columns.map(|columns| pairs(columns, matrix.ncols())))
        })
    };
    let answer: homolog::Result<Option<(Vec<i64>, Vec<i64>)>> = if cells < MANY_CELLS {
        py.detach(solve)
    } else {
        run::run_borrowed(py, |control| {
            let mut work = Workspace::with_control(control);
            let columns = strict.assign_matrix(matrix, sense, &mut work)?;
            Ok(columns.map(|columns| pairs(columns, matrix.ncols())))
        })?
    };
    let (rows, columns) = answer.map_err(|error| as_scipy(py, &error))?.unwrap_or_default();
    Ok((PyArray1::from_slice(py, &rows), PyArray1::from_slice(py, &columns)))
}

/// On this thread, and straight into numpy's memory where rows are few.
fn assign_here<'py>(
    py: Python<'py>,
    matrix: ArrayView2<'_, f64>,
    sense: Sense,
) -> PyResult<(Indices<'py>, Indices<'py>)> {
    WORK.with_borrow_mut(|work| {
        let answer = Linear { require_full: true }.assign_matrix(matrix, sense, work);
        let columns = answer.map_err(|error| as_scipy(py, &error))?.unwrap_or_default();
        if columns.len() > FIRST_ROWS.len() || columns.len() > matrix.ncols() {
            let (rows, columns) = pairs(columns, matrix.ncols());
            return Ok((PyArray1::from_slice(py, &rows), PyArray1::from_slice(py, &columns)));
        }
        let mut found = FIRST_ROWS;
        for (found, &column) in found.iter_mut().zip(columns) {
            // Every row has one: a matching that is not full was refused.
            *found = column.map_or(-1, signed);
        }
        let count = columns.len();
        Ok((PyArray1::from_slice(py, &FIRST_ROWS[..count]), PyArray1::from_slice(py, &found[..count])))
    })
}

/// The rows of a small problem.
const FIRST_ROWS: [i64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The rows that have a column, and those columns.
fn pairs(columns: &[Option<usize>], count: usize) -> (Vec<i64>, Vec<i64>) {
    if columns.len() <= count {
        // Every row has one: a matching that is not full was refused.
        let rows = (0..signed(columns.len())).collect();
        return (rows, columns.iter().flatten().map(|&column| signed(column)).collect());
    }
    columns.iter().enumerate().filter_map(|(row, column)| Some((signed(row), signed((*column)?)))).unzip()
}

/// The message that scipy has for it.
fn as_scipy(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::NoFullMatching { .. } => raise_as(py, error, &format!("cost matrix is infeasible: {error}")),
        Error::BadCell { .. } => raise_as(py, error, &format!("matrix contains invalid numeric entries: {error}")),
        _ => raise(py, error),
    }
}

/// Rows and columns of every matrix in a list, or as two tables for a 3-D array; on all cores unless `jobs` says how many.
#[pyfunction]
#[pyo3(signature = (costs, maximize, jobs))]
pub(crate) fn linear_sum_assignment_batch<'py>(
    py: Python<'py>,
    costs: Costs<'py>,
    maximize: bool,
    jobs: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let sense = if maximize { Sense::Maximize } else { Sense::Minimize };
    match costs {
        Costs::Stack(stack) => {
            let stack = stack.as_array();
            let width = stack.shape()[1].min(stack.shape()[2]);
            let answers = solve_all(py, &stack.outer_iter().collect::<Vec<_>>(), sense, jobs)?;
            let (mut rows, mut columns) =
                (Array2::zeros((answers.len(), width)), Array2::zeros((answers.len(), width)));
            for (number, (row, column)) in answers.iter().enumerate() {
                rows.row_mut(number).assign(&ArrayView1::from(row));
                columns.row_mut(number).assign(&ArrayView1::from(column));
            }
            Ok((rows.into_pyarray(py), columns.into_pyarray(py)).into_pyobject(py)?.into_any())
        }
        Costs::List(list) => {
            let views: Vec<_> = list.iter().map(|matrix| matrix.as_array()).collect();
            let answers = solve_all(py, &views, sense, jobs)?;
            let pairs =
                answers.iter().map(|(row, column)| (PyArray1::from_slice(py, row), PyArray1::from_slice(py, column)));
            Ok(PyList::new(py, pairs.collect::<Vec<_>>())?.into_any())
        }
    }
}

/// Many problems: of one shape in one array, or of any shapes in a list.
#[derive(FromPyObject)]
pub(crate) enum Costs<'py> {
    Stack(PyReadonlyArray3<'py, f64>),
    List(Vec<PyReadonlyArray2<'py, f64>>),
}

fn solve_all(
    py: Python<'_>,
    matrices: &[ArrayView2<'_, f64>],
    sense: Sense,
    jobs: Option<usize>,
) -> PyResult<Vec<(Vec<i64>, Vec<i64>)>> {
    let pool = run::pool(jobs)?;
    let answers = run::run_borrowed(py, |control| {
        let strict = Linear { require_full: true };
        let solve = |work: &mut Workspace, matrix: &ArrayView2<'_, f64>| -> homolog::Result<(Vec<i64>, Vec<i64>)> {
            let columns = strict.assign_matrix(*matrix, sense, work)?;
            Ok(columns.map(|columns| pairs(columns, matrix.ncols())).unwrap_or_default())
        };
        // In chunks, so that small problems are not handed out one by one.
        let all = || {
            let each = matrices.par_iter().with_min_len(16);
            each.map_init(|| Workspace::with_control(control), solve).collect::<Vec<_>>()
        };
        Ok(pool.install(all))
    })?;
    let answers = answers.map_err(|error| raise(py, &error))?;
    let numbered = answers.into_iter().enumerate();
    numbered.map(|(number, answer)| answer.map_err(|error| in_problem(py, number, as_scipy(py, &error)))).collect()
}

/// Says which of many problems an exception is about.
fn in_problem(py: Python<'_>, number: usize, error: PyErr) -> PyErr {
    // An exception takes any attribute; if it did not, the message alone would do.
    let _ = error.value(py).setattr("index", number);
    error
}

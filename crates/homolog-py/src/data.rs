//! A data set of the library, held by Python: graphs, and pairs of them with their true matchings.

use crate::arrays::with_minus_one;
use crate::errors::{plain, raise};
use crate::graph::Graph;
use crate::pair_features::{self, PairFeatures};
use crate::run;
use homolog::data::dataset::{DataSet as Inner, LabelledPair, NamedGraph, Pairing, SplitBy, match_by_name};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::turntable::Turntable;
use homolog::data::{Loaded, Reader, Split};
use homolog::matching::{Constraint, Matching};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// Graphs, and pairs of them.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct DataSet {
    pub(crate) inner: Inner,
}

/// The columns that name graph and landmark, those that are attributes, and those to ignore.
type ReadColumns = (Option<String>, Option<String>, Vec<String>, Vec<String>);
/// Positions of two graphs; the right node of each left one (-1 none, -2 not known), or `None` for "the same names"; the split; features of pairs.
type GivenPair = (usize, usize, Option<Vec<i64>>, Option<String>, Option<Py<PairFeatures>>);
/// The same, as it is handed back.
type KnownPair<'py> = (usize, usize, Option<Bound<'py, PyArray1<i64>>>, Option<&'static str>, Option<PairFeatures>);

#[pymethods]
impl DataSet {
    /// Combines graphs and pairs. In a pair without a truth, equal names match.
    #[new]
    #[pyo3(signature = (graphs, pairs))]
    fn new(py: Python<'_>, graphs: Vec<(String, Py<Graph>)>, pairs: Vec<GivenPair>) -> PyResult<Self> {
        let named: Vec<NamedGraph> = graphs
            .into_iter()
            .map(|(id, graph)| NamedGraph { id, graph: Arc::clone(&graph.get().inner), image: None })
            .collect();
        let pairs = pairs.into_iter().map(|pair| labelled(py, &named, pair)).collect::<PyResult<Vec<_>>>()?;
        let inner = Inner::new(named, pairs).map_err(|error| raise(py, &error))?;
        Ok(Self { inner })
    }

    /// A data set from its text.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let text = text.to_string();
        Ok(Self { inner: run::run(py, Some(1), move |_| Inner::from_json(&text))? })
    }

    /// The graphs of a file, whatever it is; `beside` gives the beginning of another file by its name, or `None`. With what should be
    /// known about how it was read: whether it is a mere guess, and the sentence.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        name: String,
        bytes: PyBackedBytes,
        columns: ReadColumns,
        beside: Py<PyAny>,
    ) -> PyResult<(Self, Vec<(bool, String)>)> {
        let (graph, landmark, attributes, ignored) = columns;
        let reader = Reader { table: LandmarkTable { graph, landmark, attributes, ignored }, ..Reader::default() };
        let failed = Arc::new(Mutex::new(None));
        let raised = Arc::clone(&failed);
        let read = run::run(py, Some(1), move |_| {
            let bytes_of = |name: &str, most: usize| -> Option<Vec<u8>> {
                let given = Python::attach(|py| beside.call1(py, (name, most))?.extract(py));
                given.unwrap_or_else(|error: PyErr| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    None
                })
            };
            reader.read(&name, &bytes, &bytes_of)
        });
        if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let Loaded { data, notes } = read?;
        Ok((Self { inner: data }, notes.iter().map(|note| (note.is_guess(), note.to_string())).collect()))
    }

    /// The built-in sequence: node k is the same landmark in every frame.
    #[staticmethod]
    fn turntable(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { inner: Turntable::default().data_set().map_err(|error| raise(py, &error))? })
    }

    /// The picture of a frame of the built-in sequence, as rows of grey values.
    #[staticmethod]
    fn turntable_picture(py: Python<'_>, frame: usize) -> PyResult<Bound<'_, numpy::PyArray2<u8>>> {
        let picture = Turntable::default().render(frame).map_err(|error| raise(py, &error))?;
        let array = ndarray::Array2::from_shape_vec((picture.height, picture.width), picture.pixels);
        let array = array.map_err(|error| plain(py, &error.to_string()))?;
        Ok(numpy::PyArray2::from_owned_array(py, array))
    }

    /// The text of a data set.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.to_json().map_err(|error| raise(py, &error))
    }

    /// The graphs: id, graph, path of the picture.
    fn graphs(&self) -> Vec<(String, Graph, Option<String>)> {
        let graph = |named: &NamedGraph| (named.id.clone(), Graph::from(Arc::clone(&named.graph)), named.image.clone());
        self.inner.graphs().iter().map(graph).collect()
    }

    /// The pairs: left graph, right graph, truth, split, features of pairs.
    fn pairs<'py>(&self, py: Python<'py>) -> Vec<KnownPair<'py>> {
        let pair = |pair: &LabelledPair| {
            let truth = pair.truth.as_ref().map(|truth| {
                let array = with_minus_one(py, truth.left_to_right());
                let writable = numpy::PyArrayMethods::try_readwrite(&array);
                if let Ok(mut numbers) = writable
                    && let Ok(numbers) = numbers.as_slice_mut()
                {
                    pair.unknown.iter().for_each(|&left| numbers[left] = NOT_KNOWN);
                }
                array
            });
            let features = pair.features.as_ref().map(|inner| PairFeatures { inner: Arc::clone(inner) });
            (pair.left, pair.right, truth, pair.split.map(Split::name), features)
        };
        self.inner.pairs().iter().map(pair).collect()
    }

    /// The same graphs with pairs made of them: all if `None`, otherwise those this many places apart; nodes with the same name match.
    #[pyo3(signature = (baseline, split))]
    fn paired(&self, py: Python<'_>, baseline: Option<usize>, split: bool) -> PyResult<Self> {
        let pairing = baseline.map_or(Pairing::All, Pairing::Baseline);
        let by = if split { SplitBy::LeftGraph } else { SplitBy::None };
        let graphs = self.inner.graphs().to_vec();
        let inner = run::run(py, Some(1), move |control| Inner::paired_watched(graphs, pairing, by, control))?;
        Ok(Self { inner })
    }
}

/// For a left node about which nothing is known.
const NOT_KNOWN: i64 = -2;

fn labelled(
    py: Python<'_>,
    graphs: &[NamedGraph],
    (left, right, truth, split, features): GivenPair,
) -> PyResult<LabelledPair> {
    let features = pair_features::inner(features.as_ref());
    let (Some(from), Some(to)) = (graphs.get(left), graphs.get(right)) else {
        return Err(plain(py, "a pair of graphs that are not there"));
    };
    let split = match split.as_deref() {
        None => None,
        Some(name) => {
            let known = Split::ALL.into_iter().find(|split| split.name() == name);
            Some(known.ok_or_else(|| plain(py, &format!("there is no split {name:?}: train, validation, test")))?)
        }
    };
    let Some(numbers) = truth else {
        let truth = match_by_name(&from.graph, &to.graph);
        return Ok(LabelledPair { split, features, ..LabelledPair::new(left, right, truth) });
    };
    let partner = |&number: &i64| usize::try_from(number).ok();
    let map: Vec<Option<usize>> = numbers.iter().map(partner).collect();
    let unknown = (0..numbers.len()).filter(|&node| numbers[node] == NOT_KNOWN).collect();
    let truth = Matching::new(map, to.graph.node_count(), Constraint::OneToOne).map_err(|error| raise(py, &error))?;
    Ok(LabelledPair { unknown, split, features, ..LabelledPair::new(left, right, Some(truth)) })
}

//! A graph of the library, held by Python.

use crate::arrays::{index_pairs, table};
use crate::errors::raise;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::with_texts;
use homolog::graph::{Attributes, Direction, Graph as Inner};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

/// Points, names, attributes and edges, checked.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Graph {
    pub(crate) inner: Arc<Inner>,
    /// What is worth knowing about how it was made.
    notes: Vec<String>,
}

impl From<Arc<Inner>> for Graph {
    fn from(inner: Arc<Inner>) -> Self {
        Self { inner, notes: Vec::new() }
    }
}

type NamedTable<'py> = (Vec<String>, PyReadonlyArray2<'py, f64>);
type NamedArray<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (node_count, *, points = None, context = None, names = None, attributes = None, edges = None, directed = false, edge_attributes = None, image_size = None, texts = Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "one for each part of a graph, all by name")]
    fn new(
        py: Python<'_>,
        node_count: usize,
        points: Option<PyReadonlyArray2<'_, f64>>,
        context: Option<PyReadonlyArray2<'_, f64>>,
        names: Option<Vec<String>>,
        attributes: Option<NamedTable<'_>>,
        edges: Option<PyReadonlyArray2<'_, i64>>,
        directed: bool,
        edge_attributes: Option<NamedTable<'_>>,
        image_size: Option<(f64, f64)>,
        texts: Vec<(String, Vec<String>)>,
    ) -> PyResult<Self> {
        let mut notes = Vec::new();
        let build = || -> homolog::Result<Inner> {
            let mut graph = match &points {
                Some(points) => Inner::from_points(table(points))?,
                None => Inner::new(node_count),
            };
            if let Some(context) = &context {
                graph = graph.with_context(table(context))?;
            }
            if let Some(names) = names {
                graph = graph.with_names(names)?;
            }
            if let Some((names, values)) = attributes {
                graph = graph.with_node_attributes(Attributes::new(names, table(&values))?)?;
            }
            let texts = texts.iter().map(|(name, texts)| (name.as_str(), texts.as_slice()));
            graph = with_texts(graph, texts, &mut notes)?;
            if let Some((width, height)) = image_size {
                graph = graph.with_image_size(width, height)?;
            }
            let Some(edges) = &edges else { return Ok(graph) };
            let (edges, direction) =
                (index_pairs(edges.as_array()), if directed { Direction::Directed } else { Direction::Undirected });
            match edge_attributes {
                None => graph.with_edges(edges, direction),
                Some((names, values)) => {
                    graph.with_attributed_edges(edges, &Attributes::new(names, table(&values))?, direction)
                }
            }
        };
        let inner = Arc::new(build().map_err(|error| raise(py, &error))?);
        Ok(Self { inner, notes: notes.iter().map(ToString::to_string).collect() })
    }

    /// A graph from the text of a data set that contains just this one.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let data = DataSet::from_json(text).map_err(|error| raise(py, &error))?;
        match data.graphs() {
            [only] => Ok(Arc::clone(&only.graph).into()),
            others => Err(crate::errors::plain(py, &format!("expected one graph, found {}", others.len()))),
        }
    }

    /// The graph as the text of a data set.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let named = NamedGraph { id: "graph".to_string(), graph: Arc::clone(&self.inner), image: None };
        let data = DataSet::new(vec![named], vec![]).and_then(|data| data.to_json());
        data.map_err(|error| raise(py, &error))
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn node_count(&self) -> usize {
        self.inner.node_count()
    }

    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.inner.points().map(|points| PyArray2::from_array(py, &points))
    }

    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.inner.context().map(|points| PyArray2::from_array(py, &points))
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.inner.names().map(<[String]>::to_vec)
    }

    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> Option<NamedArray<'py>> {
        self.inner.node_attributes().map(|table| named_array(py, table))
    }

    /// The directed edges, one per row.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let ends = self.inner.edges().ends();
        let cell = |(row, column): (usize, usize)| crate::arrays::signed(ends[row][column]);
        PyArray2::from_owned_array(py, ndarray::Array2::from_shape_fn((ends.len(), 2), cell))
    }

    #[getter]
    fn edge_attributes<'py>(&self, py: Python<'py>) -> Option<NamedArray<'py>> {
        self.inner.edge_attributes().map(|table| named_array(py, table))
    }

    #[getter]
    fn image_size(&self) -> Option<(f64, f64)> {
        self.inner.image_size().map(|[width, height]| (width, height))
    }

    #[getter]
    fn scale(&self) -> Option<f64> {
        self.inner.scale()
    }

    #[getter]
    fn unit(&self) -> Option<&str> {
        self.inner.unit()
    }

    #[getter]
    fn time(&self) -> Option<f64> {
        self.inner.time()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

fn named_array<'py>(py: Python<'py>, table: &Attributes) -> NamedArray<'py> {
    (table.names().to_vec(), PyArray2::from_array(py, &table.values()))
}

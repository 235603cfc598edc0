//! The questions and answers of a labelling page as JSON. Points have two or three coordinates.

use super::{Candidates, Known, LabelledPart, Sight};
use crate::atlas::Presence;
use crate::data::dataset::{DataSet, NamedGraph};
use crate::graph::Graph;
use crate::specimens::check::Finding;
use crate::task::{Task, TaskReport};
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request, by its name: `{"propose": {...}}`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Request {
    /// Which library answers.
    Version {},
    /// A file with graphs, of any format, as a data set, with what should be known about it: its text, or else the bytes that come with
    /// the request; and the texts of files beside it that may belong to it, by name.
    Read {
        name: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        beside: BTreeMap<String, String>,
    },
    /// The corners of the picture whose grey levels come with the request.
    Detect { width: usize, height: usize, at_most: usize },
    /// The named points of a specimen, learned from labelled specimens: these as JSON, so that the same text is learned from only once.
    Propose { labelled: String, candidates: Candidates, known: Vec<(String, Vec<f64>)> },
    /// The points of a table named by a model that names, around the known ones; under a presence other than the model's, if one is given.
    Name {
        model: String,
        points: Vec<Vec<f64>>,
        known: Vec<(String, Vec<f64>)>,
        #[serde(default)]
        presence: Option<Presence>,
    },
    /// One naming of the points of several specimens without any labels.
    Join { specimens: Vec<Specimen> },
    /// What looks wrong in labelled specimens, surest first.
    Check { specimens: Vec<Labelled> },
    /// The share of wrong names when each labelled specimen is named from the others.
    Estimate { labelled: String, candidates: Vec<Candidates> },
    /// The error to expect on new specimens, from the shares of wrong proposals in labelled ones.
    Expect { errors: Vec<f64> },
    /// Looks at a labelled picture, whose grey levels come with the request, and keeps what it looks like under a key.
    See { key: String, specimen: Specimen, width: usize, height: usize },
    /// The named points of the picture whose grey levels come with the request, by what labelled pictures look like: these by their keys.
    /// `told` is what checked pictures said about confidences.
    Find {
        labelled: Vec<String>,
        width: usize,
        height: usize,
        known: Vec<(String, [f64; 2])>,
        #[serde(default)]
        told: Vec<(f64, bool)>,
    },
    /// The labels of a picture beside what other labelled pictures say.
    CheckPicture { labelled: Vec<String>, specimen: Specimen, width: usize, height: usize },
    /// A model that names points, from labelled specimens; with the keys of labelled pictures it also finds them in pictures. Quickly: from
    /// as many as a proposal, since a person waits.
    LearnNames {
        labelled: String,
        #[serde(default)]
        seen: Vec<String>,
        #[serde(default)]
        told: Vec<(f64, bool)>,
        #[serde(default)]
        quickly: bool,
    },
    /// A model from the labelled pairs of a data set, and its name.
    Learn { data: DataSet, features: Sight },
    /// A model from any task, with its report.
    Train(Box<Task>),
    /// Keeps a model that another session has learned; answers with its name.
    Keep { model: String },
    /// The matches of a pair, with how certain they are.
    Suggest { model: String, left: Specimen, right: Specimen, known: Vec<Known> },
    /// How certain the model is about many pairs (the least certain should be labelled next), and which labels it disputes.
    Review { model: String, specimens: Vec<Specimen>, pairs: Vec<LabelledPart> },
    /// A data set as a file.
    Write { data: DataSet, format: Format },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Format {
    DataSet,
    Landmarks,
    Matches,
    Tps,
}

/// Points, with their names if they have any.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Specimen {
    points: Vec<Vec<f64>>,
    #[serde(default)]
    names: Option<Vec<String>>,
}

/// A labelled specimen by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Labelled {
    id: String,
    points: Vec<Vec<f64>>,
    names: Vec<String>,
}

impl Labelled {
    pub(super) fn graph(self) -> Result<NamedGraph> {
        let graph = Specimen { points: self.points, names: Some(self.names) }.graph()?;
        Ok(NamedGraph { id: self.id, graph: Arc::new(graph), image: None })
    }
}

/// A finding of `check`, and what it says.
#[derive(Serialize)]
pub(super) struct Explained<'a> {
    pub(super) why: String,
    #[serde(flatten)]
    pub(super) finding: &'a Finding,
}

impl Specimen {
    pub(super) fn graph(self) -> Result<Graph> {
        let dimension = self.points.first().map_or(2, Vec::len);
        if let Some(point) = self.points.iter().find(|point| point.len() != dimension) {
            return Err(Error::Size { what: "coordinates of a point", expected: dimension, found: point.len() });
        }
        let points = Array2::from_shape_fn((self.points.len(), dimension), |(row, column)| self.points[row][column]);
        let graph = Graph::from_points(points)?;
        match self.names {
            Some(names) => graph.with_names(names),
            None => Ok(graph),
        }
    }

    /// Named points of a picture by name.
    pub(super) fn places(&self) -> BTreeMap<String, [f64; 2]> {
        let places = self.names.iter().flatten().zip(&self.points);
        places.filter_map(|(name, at)| Some((name.clone(), [*at.first()?, *at.get(1)?]))).collect()
    }
}

pub(super) fn read_specimens(text: &str) -> Result<Vec<Graph>> {
    let wrong = |error: serde_json::Error| Error::DataSet { place: "labelled".to_string(), reason: error.to_string() };
    let specimens: Vec<Specimen> = serde_json::from_str(text).map_err(wrong)?;
    specimens.into_iter().map(Specimen::graph).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer<T> {
    Ok(T),
    Error(String),
}

#[derive(Serialize)]
pub(super) struct Text {
    pub(super) text: String,
}

#[derive(Serialize)]
pub(super) struct Learned {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) error: Option<f64>,
    pub(super) unlearned: Option<f64>,
    pub(super) pairs: usize,
    pub(super) sentence: String,
    pub(super) weights: Vec<(String, f64)>,
}

#[derive(Serialize)]
pub(super) struct Trained {
    pub(super) model: String,
    pub(super) report: TaskReport,
}

#[derive(Serialize)]
pub(super) struct LearnedNames {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) strays: Vec<(String, f64)>,
    pub(super) sentence: String,
    /// Whether it is learned from all labelled specimens.
    pub(super) all: bool,
}

//! What the page may ask, and the answers.

use homolog::data::dataset::DataSet;
use homolog::data::{landmarks, matches, tps};
use homolog::geometry::{GreyImage, Susan};
use homolog::graph::{Graph, Pair};
use homolog::labelling::{self, Candidates, Known, LabelledPart, Proposer, Sight};
use homolog::model::Model;
use homolog::{Control, Error, Result};
use ndarray::Array2;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request, by its `op`.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// Which library answers.
    Version,
    /// A file with graphs, of any format, as a data set: its text, or else the bytes that come with the request; and the texts of files
    /// beside it that may belong to it, by name.
    Read {
        name: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        beside: BTreeMap<String, String>,
    },
    /// The corners of the picture whose grey levels come with the request.
    Detect { width: usize, height: usize, at_most: usize },
    /// Where the named points of a specimen are, learned from labelled specimens: these as JSON, so that the same text is learned from
    /// only once.
    Propose { labelled: String, candidates: Candidates, known: Vec<(String, [f64; 2])> },
    /// The share of wrong names when each labelled specimen is named from the others.
    Estimate { labelled: String, candidates: Vec<Candidates> },
    /// A model that names points, from labelled specimens.
    LearnNames { labelled: String },
    /// A model from the labelled pairs of a data set.
    Learn { data: Value, features: Sight },
    /// The matches of a pair, with how certain they are.
    Suggest { model: String, left: Specimen, right: Specimen, known: Vec<Known> },
    /// How certain the model is about many pairs (the least certain should be labelled next), and which labels it disputes.
    Review { model: String, specimens: Vec<Specimen>, pairs: Vec<LabelledPart> },
    /// A data set as a file.
    Write { data: Value, format: Format },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    DataSet,
    Landmarks,
    Matches,
    Tps,
}

/// Points, with their names if they have any.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Specimen {
    points: Vec<[f64; 2]>,
    #[serde(default)]
    names: Option<Vec<String>>,
}

impl Specimen {
    fn graph(self) -> Result<Graph> {
        let graph = Graph::from_points(table(&self.points))?;
        match self.names {
            Some(names) => graph.with_names(names),
            None => Ok(graph),
        }
    }
}

fn table(points: &[[f64; 2]]) -> Array2<f64> {
    Array2::from_shape_fn((points.len(), 2), |(row, column)| points[row][column])
}

fn graphs(specimens: Vec<Specimen>) -> Result<Vec<Graph>> {
    specimens.into_iter().map(Specimen::graph).collect()
}

fn read_specimens(text: &str) -> Result<Vec<Graph>> {
    let wrong = |error: serde_json::Error| Error::DataSet { place: "labelled".to_string(), reason: error.to_string() };
    graphs(serde_json::from_str(text).map_err(wrong)?)
}

thread_local! {
    /// What was last learned from: a person looks at one specimen after another while the labels stay the same.
    static LESSON: RefCell<Option<(String, Proposer)>> = const { RefCell::new(None) };
}

/// The answer to a request: `{"ok": ...}` or `{"error": "..."}`.
pub(crate) fn answer(json: &str, pixels: &[u8]) -> String {
    match serde_json::from_str(json) {
        Err(error) => failure(&format!("the request makes no sense: {error}")),
        Ok(request) => match run(request, pixels) {
            Ok(value) => json!({ "ok": value }).to_string(),
            Err(error) => failure(&error.to_string()),
        },
    }
}

pub(crate) fn failure(reason: &str) -> String {
    json!({ "error": reason }).to_string()
}

fn run(request: Request, pixels: &[u8]) -> Result<Value> {
    match request {
        Request::Version => Ok(json!({ "version": env!("CARGO_PKG_VERSION") })),
        Request::Read { name, text, beside } => read(&name, text.as_deref().map_or(pixels, str::as_bytes), &beside),
        Request::Detect { width, height, at_most } => {
            let corners = Susan::default().at_most(at_most, GreyImage::new(width, height, pixels)?)?;
            let points: Vec<[f64; 2]> = corners.points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
            Ok(json!({ "points": points }))
        }
        Request::Propose { labelled, candidates, known } => LESSON.with_borrow_mut(|lesson| {
            let proposer = match lesson.take() {
                Some((text, proposer)) if text == labelled => proposer,
                _ => Proposer::learn(&read_specimens(&labelled)?)?,
            };
            let proposal = proposer.propose(&candidates, &known);
            *lesson = Some((labelled, proposer));
            Ok(value(&proposal?))
        }),
        Request::Estimate { labelled, candidates } => {
            Ok(value(&labelling::estimate(&read_specimens(&labelled)?, &candidates)?))
        }
        Request::LearnNames { labelled } => {
            let learned = labelling::learn_names(&read_specimens(&labelled)?, &Control::new())?;
            let model = learned.model.to_json()?;
            Ok(json!({ "model": model, "strays": learned.strays, "sentence": learned.sentence }))
        }
        Request::Learn { data, features } => {
            let learned = labelling::learn(&DataSet::from_json(&data.to_string())?, features, &Control::new())?;
            Ok(json!({
                "model": learned.model.to_json()?,
                "error": learned.error,
                "unlearned": learned.unlearned_error,
                "pairs": learned.pairs,
                "sentence": learned.sentence,
                "weights": learned.model.weight_names().zip(learned.model.weights()).collect::<Vec<_>>(),
            }))
        }
        Request::Suggest { model, left, right, known } => {
            let pair = Pair::new(Arc::new(left.graph()?), Arc::new(right.graph()?));
            Ok(value(&labelling::suggest(&Model::from_json(&model)?, &pair, &known)?))
        }
        Request::Review { model, specimens, pairs } => {
            let graphs: Vec<Arc<Graph>> = graphs(specimens)?.into_iter().map(Arc::new).collect();
            Ok(json!({ "pairs": labelling::review(&Model::from_json(&model)?, &graphs, &pairs)? }))
        }
        Request::Write { data, format } => {
            let data = DataSet::from_json(&data.to_string())?;
            let text = match format {
                Format::DataSet => data.to_json()?,
                Format::Landmarks => landmarks::write(data.graphs())?,
                Format::Matches => matches::write(&data)?,
                Format::Tps => tps::write(data.graphs())?,
            };
            Ok(json!({ "text": text }))
        }
    }
}

fn read(name: &str, bytes: &[u8], beside: &BTreeMap<String, String>) -> Result<Value> {
    let loaded = homolog::data::read(name, bytes, &|name, _| beside.get(name).map(|text| text.clone().into_bytes()))?;
    let data: Value = serde_json::from_str(&loaded.data.to_json()?).unwrap_or(Value::Null);
    Ok(json!({ "data": data, "notes": loaded.notes.iter().map(ToString::to_string).collect::<Vec<_>>() }))
}

/// Results of the library can always be written.
fn value(result: &impl serde::Serialize) -> Value {
    serde_json::to_value(result).unwrap_or(Value::Null)
}

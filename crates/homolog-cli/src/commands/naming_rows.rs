//! What `evaluate` keeps of each specimen that a model names: a row, which can be written as it comes and read again by a run that continues.

use super::evaluate_rows::{format_of, rows_of, text};
use super::naming_report::Scope;
use crate::progress::Watch;
use crate::stream::{Resume, Sink, done};
use anyhow::{Context, Result, bail};
use homolog::Report;
use homolog::atlas::{Atlas, Naming};
use homolog::experiment::{Tally, Truth};
use homolog::graph::Graph;
use homolog::matching::{Constraint, Matching, Status, Workspace};
use homolog::model::{Model, in_order};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;

/// So many specimens per thread are named before any is written.
const PER_THREAD: usize = 8;
/// The first line of a table: the names of the fields.
const HEADER: &str = "specimen,error,proven,calls\n";

/// One specimen.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    specimen: String,
    error: f64,
    proven: bool,
    /// Points, the landmarks they were called, and the confidence in that: 3>5:0.97 4>0:0.81, both counted from 0.
    calls: String,
}

/// What came of one specimen.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) tally: Tally,
    pub(super) proven: bool,
    /// Confidence, and whether the name was right.
    pub(super) calls: Vec<(f64, bool)>,
    /// The landmark of each point.
    landmarks: Vec<Option<usize>>,
}

impl Named {
    /// The points of two specimens that were given the same name.
    pub(super) fn join(&self, other: &Self) -> Result<Matching> {
        let point = |landmark: usize| other.landmarks.iter().position(|&own| own == Some(landmark));
        let joined = self.landmarks.iter().map(|landmark| landmark.and_then(point)).collect();
        Ok(Matching::new(joined, other.landmarks.len(), Constraint::OneToOne)?)
    }

    /// From a row, and the names in the data.
    fn of(row: Row, names: &[String], atlas: &Atlas) -> Result<Self> {
        let truth: Vec<Truth> = names.iter().map(|name| Truth::of(name)).collect();
        let (mut landmarks, mut calls) = (vec![None; names.len()], Vec::new());
        for word in row.calls.split_whitespace() {
            let bad = || format!("{:?}: {word:?} is not a point, a landmark and a confidence", row.specimen);
            let (point, rest) = word.split_once('>').with_context(bad)?;
            let (landmark, confidence) = rest.split_once(':').with_context(bad)?;
            let (point, landmark): (usize, usize) =
                (point.parse().with_context(bad)?, landmark.parse().with_context(bad)?);
            let known = atlas.landmarks.get(landmark).with_context(bad)?;
            *landmarks.get_mut(point).with_context(bad)? = Some(landmark);
            if !confidence.is_empty() && truth[point] != Truth::Unknown {
                calls.push((confidence.parse().with_context(bad)?, names[point] == known.name));
            }
        }
        let given: Vec<Option<&str>> =
            landmarks.iter().map(|landmark| landmark.map(|at: usize| atlas.landmarks[at].name.as_str())).collect();
        let tally = Tally::of(&given, &truth);
        Ok(Self { id: row.specimen, tally, proven: row.proven, calls, landmarks })
    }
}

impl Row {
    fn new(specimen: &str, names: &[String], naming: &Naming, atlas: &Atlas) -> Result<Self> {
        let confidence = |share: Option<f64>| share.map_or_else(String::new, |share| share.to_string());
        let word =
            |call: &homolog::atlas::Call| format!("{}>{}:{}", call.point, call.landmark, confidence(call.confidence));
        let calls = naming.calls.iter().map(word).collect::<Vec<_>>().join(" ");
        let proven = naming.status == Status::Optimal;
        let row = |error: f64| Self { specimen: specimen.to_string(), error, proven, calls: calls.clone() };
        Ok(row(1.0 - Named::of(row(0.0), names, atlas)?.tally.found()))
    }
}

/// Names all specimens that have names and are wanted, in order on all cores; each is written as soon as it is named. One entry per graph.
pub(super) fn named(model: &Model, scope: &Scope<'_>, watch: &Watch) -> Result<Vec<Option<Named>>> {
    let Scope { input, wanted, output, resume } = scope;
    let (graphs, atlas) = (input.data.graphs(), model.atlas().context("the model has no atlas")?);
    let mut all: Vec<Option<Named>> = graphs.iter().map(|_| None).collect();
    let control = watch.control("");
    let names = |at: usize| graphs[at].graph.names().unwrap_or_default();
    let twins = wanted.windows(2).find(|two| graphs[two[0]].id == graphs[two[1]].id);
    if let Some(two) = twins.filter(|_| *resume) {
        bail!("--resume: two specimens in a row are called {:?}", graphs[two[0]].id);
    }
    let found = |path: &Path| {
        let expected = wanted.iter().map(|&at| [graphs[at].id.as_str()]);
        done(path, format_of(Some(path)), HEADER, ["specimen"], expected)
    };
    let resumed: Resume<'_> = if *resume { Some(&found) } else { None };
    let mut begun = 0;
    let mut sink = None;
    if let Some(path) = output {
        let count = resumed.map_or(Ok(None), |found| found(path))?.unwrap_or_default().1;
        for (row, &at) in rows_of::<Row>(path, count)?.into_iter().zip(*wanted) {
            all[at] = Some(Named::of(row, names(at), atlas)?);
        }
        let opened = Sink::open(Some(path), (format_of(Some(path)), "specimens"), HEADER, resumed)?;
        (sink, begun) = (Some(opened.0), opened.1);
    }
    let name = |(): &mut (), &at: &usize| -> Result<Option<Row>> {
        if watch.is_over() {
            return Ok(None);
        }
        let specimen = &graphs[at];
        let bare = without_names(&specimen.graph)?;
        let naming = model.name(&bare, &mut Workspace::with_control(&control));
        let naming = naming.with_context(|| format!("{:?}", specimen.id))?;
        // What was interrupted is not the answer that it would have been.
        if watch.is_over() {
            return Ok(None);
        }
        Row::new(&specimen.id, names(at), &naming, atlas).map(Some)
    };
    let mut taken = begun;
    let take = |row: Row| -> Result<ControlFlow<()>> {
        let at = wanted[taken];
        if let Some(sink) = &mut sink {
            sink.answer(&text(&row, *output)?, taken == 0)?;
            sink.tell(&control, &Report::new("naming specimens", taken + 1, Some(wanted.len())))?;
        }
        all[at] = Some(Named::of(row, names(at), atlas)?);
        taken += 1;
        Ok(ControlFlow::Continue(()))
    };
    in_order(wanted[begun..].iter().copied(), PER_THREAD * rayon::current_num_threads(), || (), name, take)?;
    sink.map(|sink| sink.end(taken == 0)).transpose()?;
    Ok(all)
}

/// The same points and attributes: who names must not see names.
fn without_names(graph: &Graph) -> Result<Graph> {
    let points = graph.points().context("there are no points")?.to_owned();
    let bare = Graph::from_points(points)?;
    Ok(match graph.node_attributes() {
        Some(attributes) => bare.with_node_attributes(attributes.clone())?,
        None => bare,
    })
}

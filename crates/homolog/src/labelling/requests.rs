//! [`Session`]: what a labelling page may ask, and the answers. One call, bytes in and JSON out, so that a program that serves the page
//! and a WebAssembly module inside it give the same answers.
//!
//! ```text
//! request   length of the JSON (4 bytes, little-endian), the JSON, the grey levels of a picture if the request is about one
//! answer    {"ok": ...} or {"error": "..."}
//! ```
//!
//! A model is sent once ([`Session`] keeps it under its name) and from then on only its name is.

use super::messages::{
    Answer, Explained, Format, Labelled, Learned, LearnedNames, Request, Specimen, Text, Trained, read_specimens,
};
use super::proposer::spread;
use super::seeing::Seeing;
use super::suggestion::{Depth, suggest_prepared};
use super::table::name_table;
use super::{Expected, Proposer, estimate, learn, learn_names, review};
use crate::atlas::{AtlasSettings, Presence, Search};
use crate::data::{self, matches};
use crate::geometry::{GreyImage, Susan};
use crate::graph::Graph;
use crate::model::{Model, Prepared};
use crate::specimens::check::check;
use crate::specimens::join::join;
use crate::{Control, Error, Result};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// So many models are kept: the page uses one with edges and one without, and learns them anew after each correction.
const MODELS: usize = 8;
/// A model that has prepared more specimens than this begins anew.
const SPECIMENS: usize = 1000;

/// What is kept between the requests of a page, which come one after the other.
///
/// ```
/// use homolog::{Control, labelling::Session};
///
/// let json = br#"{"version": {}}"#;
/// let request = [&u32::try_from(json.len())?.to_le_bytes()[..], json].concat();
/// let answer = Session::default().answer(&request, &Control::new());
/// assert_eq!(answer, format!(r#"{{"ok":{{"version":"{}"}}}}"#, env!("CARGO_PKG_VERSION")));
/// # Ok::<(), std::num::TryFromIntError>(())
/// ```
#[derive(Default)]
pub struct Session {
    /// What was last learned from: a person looks at one specimen after another while the labels stay the same.
    proposer: Option<(String, Proposer)>,
    /// Labelled pictures.
    seeing: Seeing,
    /// The last used last.
    models: Vec<Kept>,
}

/// A model and what it has seen of the specimens that it was asked about.
struct Kept {
    name: String,
    model: Model,
    prepared: Vec<Prepared>,
}

impl Session {
    /// Answers one request. Never panics, whatever it is given; an interrupted one answers with an error or with the best it has.
    #[must_use]
    pub fn answer(&mut self, request: &[u8], control: &Control) -> String {
        let parts = request.split_first_chunk::<4>().and_then(|(length, rest)| {
            let (json, pixels) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            Some((std::str::from_utf8(json).ok()?, pixels))
        });
        let Some((json, pixels)) = parts else { return failure("the request is cut off or is not UTF-8 text") };
        match serde_json::from_str(json) {
            Err(error) => failure(&format!("the request is not understood: {error}")),
            Ok(request) => self.run(request, pixels, control).unwrap_or_else(|error| failure(&error.to_string())),
        }
    }

    fn run(&mut self, request: Request, pixels: &[u8], control: &Control) -> Result<String> {
        match request {
            Request::Version {} => Ok(success(&serde_json::json!({ "version": env!("CARGO_PKG_VERSION") }))),
            Request::Read { name, text, beside } => {
                let bytes = text.as_deref().map_or(pixels, str::as_bytes);
                let loaded =
                    data::read(&name, bytes, &|name, _| beside.get(name).map(|text| text.clone().into_bytes()))?;
                let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
                Ok(success(&serde_json::json!({ "data": loaded.data, "notes": notes })))
            }
            Request::Detect { width, height, at_most } => {
                let corners = Susan::default().at_most(at_most, GreyImage::new(width, height, pixels)?)?;
                let points: Vec<[f64; 2]> =
                    corners.points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
                Ok(success(&serde_json::json!({ "points": points })))
            }
            Request::Propose { labelled, candidates, known } => {
                let proposer = match self.proposer.take() {
                    Some((text, proposer)) if text == labelled => proposer,
                    _ => Proposer::learn(&read_specimens(&labelled)?)?,
                };
                let proposal = proposer.propose(&candidates, &known);
                self.proposer = Some((labelled, proposer));
                Ok(success(&proposal?))
            }
            Request::Name { model, points, known, presence } => self.name(&model, &points, (&known, presence), control),
            Request::Check { specimens } => checked(specimens, control),
            Request::Join { specimens } => joined(specimens, control),
            Request::Estimate { labelled, candidates } => {
                Ok(success(&estimate(&read_specimens(&labelled)?, &candidates, control)?))
            }
            Request::Expect { errors } => Ok(success(&Expected::of(&errors))),
            Request::See { key, specimen, width, height } => {
                self.seeing.see(key, GreyImage::new(width, height, pixels)?, &specimen.graph()?)?;
                Ok(success(&serde_json::json!({})))
            }
            Request::Find { labelled, width, height, known, told } => {
                if let Some(missing) = self.missing(&labelled) {
                    return Ok(missing);
                }
                let picture = GreyImage::new(width, height, pixels)?;
                Ok(success(&self.seeing.propose(&labelled, picture, &known, &told, control)?))
            }
            Request::CheckPicture { labelled, specimen, width, height } => {
                if let Some(missing) = self.missing(&labelled) {
                    return Ok(missing);
                }
                let picture = GreyImage::new(width, height, pixels)?;
                Ok(success(&self.seeing.check(&labelled, picture, &specimen.places(), control)?))
            }
            Request::LearnNames { labelled, seen, told, quickly } => {
                self.learn_names(&labelled, (&seen, &told), quickly, control)
            }
            Request::Learn { data, features } => {
                let learned = learn(&data, features, control)?;
                let model = learned.model.to_json()?;
                let names = learned.model.weight_names().map(str::to_string);
                let weights = names.zip(learned.model.weights()).collect();
                Ok(success(&Learned {
                    name: self.keep(learned.model, &model),
                    model,
                    error: learned.error,
                    unlearned: learned.unlearned_error,
                    pairs: learned.pairs,
                    sentence: learned.sentence,
                    weights,
                }))
            }
            Request::Train(task) => {
                let outcome = task.run(control, None)?;
                Ok(success(&Trained { model: outcome.model.to_json()?, report: outcome.report }))
            }
            Request::Keep { model } => {
                let read = Model::from_json(&model)?;
                Ok(success(&serde_json::json!({ "name": self.keep(read, &model) })))
            }
            Request::Suggest { model, left, right, known } => {
                let (model, graphs) = self.prepared(&model, vec![left, right], control)?;
                Ok(success(&suggest_prepared(model, [&graphs[0], &graphs[1]], &known, Depth::Full, control)?))
            }
            Request::Review { model, specimens, pairs } => {
                let (model, graphs) = self.prepared(&model, specimens, control)?;
                let reviews = review(model, &graphs, &pairs, control)?;
                Ok(success(&serde_json::json!({ "pairs": reviews })))
            }
            Request::Write { data, format } => {
                let text = match format {
                    Format::DataSet => data.to_json()?,
                    Format::Landmarks => data::write(data::Format::Landmarks, data.graphs())?,
                    Format::Matches => matches::write(&data)?,
                    Format::Tps => data::write(data::Format::Tps, data.graphs())?,
                };
                Ok(success(&Text { text }))
            }
        }
    }

    /// The points of a table by a model that names.
    fn name(
        &mut self,
        model: &str,
        points: &[Vec<f64>],
        (known, presence): (&[(String, Vec<f64>)], Option<Presence>),
        control: &Control,
    ) -> Result<String> {
        let model = self.model(model)?;
        let atlas = model.atlas().ok_or(Error::Missing { what: "atlas", needed_by: "naming" })?;
        let presence = presence.unwrap_or(atlas.presence);
        Ok(success(&name_table((atlas, presence, &model.weights()), Search::Proof, points, known, control)?))
    }

    /// A model that names points, and finds them in pictures if some were seen.
    fn learn_names(
        &mut self,
        labelled: &str,
        (seen, told): (&[String], &[(f64, bool)]),
        quickly: bool,
        control: &Control,
    ) -> Result<String> {
        if let Some(missing) = self.missing(seen) {
            return Ok(missing);
        }
        let all = read_specimens(labelled)?;
        let few: Vec<Graph> = if quickly { spread(&all).into_iter().cloned().collect() } else { Vec::new() };
        let is_all = !quickly || few.len() == all.len();
        let mut learned = learn_names(if is_all { &all } else { &few }, control)?;
        if !seen.is_empty() {
            learned.model = learned.model.with_appearance(self.seeing.learned(seen, told)?)?;
        }
        let model = learned.model.to_json()?;
        let name = self.keep(learned.model, &model);
        Ok(success(&LearnedNames { name, model, strays: learned.strays, sentence: learned.sentence, all: is_all }))
    }

    /// What to answer if some labelled pictures were not sent yet: `{"missing": [their keys]}`.
    fn missing(&self, keys: &[String]) -> Option<String> {
        let missing = self.seeing.missing(keys);
        (!missing.is_empty()).then(|| success(&serde_json::json!({ "missing": missing })))
    }

    /// Keeps a model under a name that is a function of its text.
    fn keep(&mut self, model: Model, text: &str) -> String {
        let name = Sha256::digest(text).iter().take(8).fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
        self.models.retain(|other| other.name != name);
        self.models.push(Kept { name: name.clone(), model, prepared: Vec::new() });
        let surplus = self.models.len().saturating_sub(MODELS);
        self.models.drain(..surplus);
        name
    }

    fn model(&mut self, name: &str) -> Result<&Model> {
        self.kept(name).map(|kept| &kept.model)
    }

    /// A model, and the specimens as it sees them: described once, however often they are asked about.
    fn prepared(&mut self, name: &str, specimens: Vec<Specimen>, control: &Control) -> Result<(&Model, Vec<Prepared>)> {
        let Kept { model, prepared, .. } = self.kept(name)?;
        if prepared.len() > SPECIMENS {
            prepared.clear();
        }
        let graphs = specimens.into_iter().map(Specimen::graph).collect::<Result<Vec<_>>>()?;
        let is_known = |graph: &Graph, among: &[Prepared]| among.iter().any(|other| **other.graph() == *graph);
        let new: Vec<Arc<Graph>> =
            graphs.iter().filter(|graph| !is_known(graph, prepared)).cloned().map(Arc::new).collect();
        prepared.extend(model.prepare(&new, control)?);
        let of = |graph: &Graph| prepared.iter().find(|other| **other.graph() == *graph).cloned();
        let found = graphs.iter().map(|graph| of(graph).ok_or(Error::Interrupted)).collect::<Result<_>>()?;
        Ok((model, found))
    }

    fn kept(&mut self, name: &str) -> Result<&mut Kept> {
        let Some(at) = self.models.iter().position(|other| other.name == name) else {
            let known = self.models.iter().map(|other| other.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownName { what: "model", name: name.to_string(), known });
        };
        self.models[at..].rotate_left(1);
        let last = self.models.len() - 1;
        Ok(&mut self.models[last])
    }
}

/// What looks wrong in labelled specimens, each with what it says.
fn checked(specimens: Vec<Labelled>, control: &Control) -> Result<String> {
    let graphs = specimens.into_iter().map(Labelled::graph).collect::<Result<Vec<_>>>()?;
    let report = check(&graphs, control)?;
    let findings: Vec<Explained<'_>> =
        report.findings.iter().map(|finding| Explained { why: finding.to_string(), finding }).collect();
    Ok(success(
        &serde_json::json!({ "findings": findings, "suspects": report.suspects(), "expected": report.expected }),
    ))
}

/// The names, and for each specimen the name of each point.
fn joined(specimens: Vec<Specimen>, control: &Control) -> Result<String> {
    let graphs = specimens.into_iter().map(Specimen::graph).collect::<Result<Vec<_>>>()?;
    let joined = join(&graphs.iter().collect::<Vec<_>>(), &AtlasSettings::default(), None, control)?;
    let names: Vec<&String> = joined.names.iter().map(|one| &one.name).collect();
    Ok(success(&serde_json::json!({ "names": names, "points": joined.points })))
}

/// Results of the library can always be written.
fn success(result: &impl Serialize) -> String {
    serde_json::to_string(&Answer::Ok(result)).unwrap_or_else(|error| failure(&error.to_string()))
}

fn failure(reason: &str) -> String {
    serde_json::json!(Answer::<()>::Error(reason.to_string())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::DataSet;
    use serde_json::{Value, json};

    fn framed(json: &str) -> Vec<u8> {
        [&u32::try_from(json.len()).unwrap().to_le_bytes()[..], json.as_bytes()].concat()
    }

    fn ask(session: &mut Session, request: &Value) -> Value {
        serde_json::from_str(&session.answer(&framed(&request.to_string()), &Control::new())).unwrap()
    }

    fn pair_of_kites() -> Value {
        let points = json!([[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.5]]);
        json!({
            "format": { "kind": "homolog-data", "version": 1 },
            "graphs": [{ "id": "a", "points": points }, { "id": "b", "points": points }],
            "pairs": [{ "left": "a", "right": "b", "matches": [[0, 0], [1, 1], [2, 2], [3, 3]] }],
        })
    }

    #[test]
    fn a_request_that_is_cut_off_is_an_error() {
        let request = framed(r#"{"version":{}}"#);
        let mut session = Session::default();
        assert!(session.answer(&request, &Control::new()).starts_with(r#"{"ok":"#));
        for end in 0..request.len() {
            let answer = session.answer(&request[..end], &Control::new());
            assert!(answer.starts_with(r#"{"error":"#), "cut off at {end}: {answer}");
        }
        assert!(ask(&mut session, &json!({ "fly": {} }))["error"].is_string());
    }

    #[test]
    fn a_model_is_sent_once_and_then_named() {
        let (mut slow, mut quick) = (Session::default(), Session::default());
        let learned = ask(&mut slow, &json!({ "learn": { "data": pair_of_kites(), "features": "linear" } }));
        let (name, model) = (&learned["ok"]["name"], &learned["ok"]["model"]);
        let points = json!({ "points": [[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.5]] });
        let suggest = json!({ "suggest": { "model": name, "left": points, "right": points, "known": [] } });
        let suggested = ask(&mut slow, &suggest);
        assert_eq!(suggested["ok"]["matches"][2]["right"], 2, "{suggested}");
        // A newer question stops it; half an answer would look certain.
        let stop = Control::new().interrupted_by(|| true);
        let stopped = slow.answer(&framed(&suggest.to_string()), &stop);
        assert!(stopped.starts_with(r#"{"error":"#), "{stopped}");
        // Another session has not heard of it until it gets it.
        assert!(ask(&mut quick, &suggest)["error"].as_str().unwrap().contains("model"));
        assert_eq!(ask(&mut quick, &json!({ "keep": { "model": model } }))["ok"]["name"], *name);
        assert_eq!(ask(&mut quick, &suggest), suggested);
    }

    #[test]
    fn a_data_set_is_written_as_it_was_sent() {
        let mut session = Session::default();
        let written = ask(&mut session, &json!({ "write": { "data": pair_of_kites(), "format": "data-set" } }));
        let text = written["ok"]["text"].as_str().unwrap();
        let read = ask(&mut session, &json!({ "read": { "name": "kites.json", "text": text } }));
        assert_eq!(read["ok"]["data"], serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(DataSet::from_json(text).unwrap().to_json().unwrap(), text);
        let wrong = ask(&mut session, &json!({ "write": { "data": { "graphs": [] }, "format": "tps" } }));
        assert!(wrong["error"].as_str().unwrap().contains("format"), "{wrong}");
    }

    #[test]
    fn an_interrupted_request_ends() {
        let stop = Control::new().interrupted_by(|| true);
        let points = json!({ "points": [[0.0, 0.0], [2.0, 1.0], [0.0, 3.0]], "names": ["a", "b", "c"] });
        let labelled = json!([points, points]).to_string();
        let candidates = json!([{ "points": [[0.0, 0.0]], "own": true }, { "points": [[0.0, 0.0]], "own": true }]);
        let request = json!({ "estimate": { "labelled": labelled, "candidates": candidates } }).to_string();
        assert_eq!(Session::default().answer(&framed(&request), &stop), r#"{"error":"interrupted"}"#);
    }
}

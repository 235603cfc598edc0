//! The names of specimens as rows of a table, as JSON, as a line for people and as a picture: each by itself, ready to be written.

use crate::inputs::Input;
use anyhow::{Context, Result};
use homolog::atlas::{Atlas, Named as Words, NamedSet, Naming};
use homolog::data::dataset::NamedGraph;
use homolog::matching::Status;
use homolog_viz::{NamedPicture, NamedPoint, View};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Names less sure than this are to be looked at.
pub(super) const SURE: f64 = 0.9;

/// A specimen and its names.
pub(super) struct Answer<'a> {
    pub(super) specimen: &'a NamedGraph,
    pub(super) naming: Naming,
    pub(super) words: Words,
}

/// What is written about a specimen.
pub(super) struct Texts {
    pub(super) rows: String,
    /// Its names as JSON, over several lines and on one.
    pub(super) value: String,
    pub(super) line: String,
    pub(super) summary: String,
    pub(super) picture: Option<String>,
    fits_badly: bool,
    /// Level, what is guaranteed, and from how many specimens, of its sets of names.
    sets: Option<(f64, f64, usize)>,
}

/// What is said after the last specimen.
#[derive(Default)]
pub(super) struct End {
    /// Specimens unlike those the model was learned from.
    pub(super) odd: Vec<String>,
    /// The sets that guarantee least.
    sets: Option<(f64, f64, usize)>,
}

impl End {
    pub(super) fn add(&mut self, id: &str, texts: &Texts) {
        if texts.fits_badly {
            self.odd.push(id.to_string());
        }
        let is_least = |own: &(f64, f64, usize)| self.sets.is_none_or(|least| own.1 < least.1);
        self.sets = texts.sets.filter(is_least).or(self.sets);
    }

    pub(super) fn text(&self, path: &Path) -> Result<String> {
        let mut text = String::new();
        if let Some((level, guaranteed, count)) = self.sets {
            let share = 100.0 * level;
            write!(text, "Candidates hold the true name {share:.0} % of the time, as {count} left-out specimens show")?;
            if guaranteed < level {
                write!(text, "; so few guarantee only {:.0} %", 100.0 * guaranteed)?;
            }
            writeln!(text, ".")?;
        }
        writeln!(text, "Wrote {}.", path.display())?;
        Ok(text)
    }
}

/// The names that a point may have, in words.
fn candidates(set: &NamedSet) -> Vec<&str> {
    set.names.iter().map(String::as_str).chain(set.none.then_some("none")).collect()
}

/// The first line of the table.
pub(super) fn header(atlas: &Atlas, has_candidates: bool) -> String {
    let axes = ["x", "y", "z"][..atlas.dimension].join(",");
    format!("specimen,landmark,{axes},confidence,runner_up{}\n", if has_candidates { ",candidates" } else { "" })
}

impl Answer<'_> {
    /// Everything that is written about it; drawn if its place in the input is given.
    pub(super) fn texts(&self, atlas: &Atlas, place: Option<(&Input, usize)>) -> Result<Texts> {
        let value = self.value()?;
        let sets = self.words.sets.as_ref();
        Ok(Texts {
            rows: self.rows(atlas)?,
            value: serde_json::to_string_pretty(&value)?,
            line: serde_json::to_string(&value)? + "\n",
            summary: self.summary(atlas)?,
            picture: place.map(|place| self.drawn(atlas, place)).transpose()?,
            fits_badly: self.words.fits_badly,
            sets: sets.map(|sets| (sets.level, sets.guaranteed, sets.specimens)),
        })
    }

    /// The table that went in, with names.
    fn rows(&self, atlas: &Atlas) -> Result<String> {
        let Self { specimen, naming, words } = self;
        let mut writer = csv::Writer::from_writer(Vec::new());
        let Some(points) = specimen.graph.points() else { return Ok(String::new()) };
        for (row, point) in points.rows().into_iter().enumerate() {
            let call = naming.calls.iter().find(|call| call.point == row);
            let name = |landmark: usize| atlas.landmarks[landmark].name.clone();
            let mut record = vec![specimen.id.clone(), call.map(|call| name(call.landmark)).unwrap_or_default()];
            record.extend(point.iter().map(f64::to_string));
            record.push(call.and_then(|call| call.confidence).map_or_else(String::new, |share| format!("{share:.4}")));
            record.push(call.and_then(|call| call.runner_up).map(name).unwrap_or_default());
            record.extend(words.sets.iter().map(|sets| candidates(&sets.points[row]).join(";")));
            writer.write_record(record)?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    fn summary(&self, atlas: &Atlas) -> Result<String> {
        let Self { specimen, naming, words } = self;
        let mut text = String::new();
        let given = naming.matching.matched_count();
        write!(text, "{}: {given} of {} points named", specimen.id, naming.matching.right_count())?;
        let absent: Vec<&str> = naming.matching.unmatched_left().map(|at| atlas.landmarks[at].name.as_str()).collect();
        if !absent.is_empty() {
            write!(text, ", not found: {}", absent.join(", "))?;
        }
        let unsure: Vec<&str> = naming
            .calls
            .iter()
            .filter(|call| call.confidence.is_some_and(|confidence| confidence < SURE))
            .map(|call| atlas.landmarks[call.landmark].name.as_str())
            .collect();
        if !unsure.is_empty() {
            write!(text, ", check first: {}", unsure.join(", "))?;
        }
        if let Some(sets) = &words.sets {
            let open = sets.points.iter().filter(|set| candidates(set).len() > 1).count();
            write!(text, ", several candidates for {open}")?;
        }
        if let (true, Some(fit)) = (words.fits_badly, words.fit) {
            write!(text, ", unlike the training specimens (fit {fit:.2}): names are unreliable")?;
        }
        writeln!(text, "; {}", status(naming))?;
        Ok(text)
    }

    fn value(&self) -> Result<Value> {
        let mut named = serde_json::to_value(&self.words)?;
        named["specimen"] = json!(self.specimen.id);
        Ok(named)
    }

    fn drawn(&self, atlas: &Atlas, (input, at): (&Input, usize)) -> Result<String> {
        let Self { specimen, naming, words } = self;
        let points = specimen.graph.points().context("there are no points to draw")?;
        let mut known = vec![NamedPoint::default(); points.nrows()];
        for call in &naming.calls {
            known[call.point].name.clone_from(&atlas.landmarks[call.landmark].name);
            known[call.point].confidence = call.confidence;
        }
        for (known, set) in known.iter_mut().zip(words.sets.iter().flat_map(|sets| &sets.points)) {
            let names = candidates(set);
            if names.len() > 1 {
                known.name = names.join(" or ");
            }
        }
        let picture = input.picture(at)?;
        let points = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
        let view = View { caption: specimen.id.clone(), points, picture, ..View::default() };
        Ok(NamedPicture { title: String::new(), view, points: known }.to_svg())
    }
}

/// What is proven of a naming.
fn status(naming: &Naming) -> String {
    match (naming.status, naming.candidates) {
        (Status::Optimal, None) => "proven best in this pose".to_string(),
        (Status::Optimal, Some(count)) => format!("proven best in this pose among each landmark's {count} candidates"),
        _ => "not proven".to_string(),
    }
}

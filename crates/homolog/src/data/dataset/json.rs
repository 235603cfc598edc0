//! A data set as JSON and as JSON Lines.

use super::build::{Placed, build, graph_record, pair_records};
use super::record::{Format, GraphRecord, PairRecord};
use super::shape::{Capped, Object};
use super::{DataSet, FORMAT_VERSION, MAX_FILE_SIZE, MAX_GRAPHS, MAX_PAIRS};
use crate::{Control, Error, Result};
use serde::de::IgnoredAny;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const KIND: &str = "homolog-data";

/// Just enough of a text to tell what it is before the rest is parsed.
#[derive(Deserialize)]
struct Head {
    format: Option<Object<Format>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Object<Format>,
    graphs: Capped<Object<GraphRecord>, MAX_GRAPHS>,
    #[serde(default)]
    pairs: Option<Capped<Object<PairRecord>, MAX_PAIRS>>,
}

/// What a line contains, recognised by a field that only one kind of line has.
#[derive(Deserialize)]
struct LineKind {
    format: Option<IgnoredAny>,
    id: Option<IgnoredAny>,
    left: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadLine {
    format: Object<Format>,
}

impl File {
    fn build(self) -> Result<DataSet> {
        check_format(&self.format.0)?;
        let pairs = self.pairs.map_or_else(Vec::new, |Capped(pairs)| pairs);
        build(placed("graphs", self.graphs.0), placed("pairs", pairs))
    }
}

/// As part of a larger text: a task, a request. Errors carry the place as words.
impl<'de> Deserialize<'de> for DataSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Object(file) = Object::<File>::deserialize(deserializer)?;
        file.build().map_err(serde::de::Error::custom)
    }
}

impl Serialize for DataSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_struct("DataSet", 3)?;
        file.serialize_field("format", &head())?;
        file.serialize_field("graphs", &self.graphs().iter().map(graph_record).collect::<Vec<_>>())?;
        let pairs = pair_records(self, &Control::new()).map_err(serde::ser::Error::custom)?;
        file.serialize_field("pairs", &pairs.collect::<Vec<_>>())?;
        file.end()
    }
}

impl DataSet {
    /// Reads a data set from JSON.
    ///
    /// # Errors
    /// A text that is too long, not JSON, of another kind or a newer version, with fields this version does not know, or whose parts do
    /// not fit together: [`Error::DataSet`] with the place and the reason.
    pub fn from_json(text: &str) -> Result<Self> {
        let text = checked(text)?;
        let error = match parse::<Object<File>>(text, 1) {
            Ok(Object(file)) => return file.build(),
            Err(error) => error,
        };
        // A file of another kind or version is said to be that; what it cannot contain is no fault of it.
        match parse::<Object<Head>>(text, 1) {
            Err(_) => Err(error),
            Ok(Object(Head { format: Some(Object(format)) })) => Err(check_format(&format).err().unwrap_or(error)),
            Ok(Object(Head { format: None })) => {
                let reason = format!(
                    "there is no \"format\": {{\"kind\": \"{KIND}\", \"version\": {FORMAT_VERSION}}}, so it is not a data set"
                );
                Err(refused("line 1", reason))
            }
        }
    }

    /// Reads a data set from JSON Lines: a graph or a pair on each line, in any order. The first line may be the head, which is
    /// `{"format": ...}` as in JSON; empty lines are skipped.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn from_json_lines(text: &str) -> Result<Self> {
        let text = checked(text)?;
        let (mut graphs, mut pairs): (Vec<Placed<GraphRecord>>, Vec<Placed<PairRecord>>) = (Vec::new(), Vec::new());
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (position, (index, line)) in lines.enumerate() {
            let number = index + 1;
            let at = || format!("line {number}");
            let Object(kind) = parse::<Object<LineKind>>(line, number)?;
            match kind {
                LineKind { format: Some(_), .. } if position == 0 => {
                    let Object(head) = parse::<Object<HeadLine>>(line, number)?;
                    check_format(&head.format.0)?;
                }
                LineKind { format: Some(_), .. } => {
                    return Err(refused(&at(), "the head belongs on the first line".into()));
                }
                LineKind { id: Some(_), .. } => graphs.push((at(), parse::<Object<_>>(line, number)?.0)),
                LineKind { left: Some(_), .. } => pairs.push((at(), parse::<Object<_>>(line, number)?.0)),
                _ => {
                    return Err(refused(
                        &at(),
                        "neither a graph, which has \"id\", nor a pair, which has \"left\"".into(),
                    ));
                }
            }
            if graphs.len() > MAX_GRAPHS || pairs.len() > MAX_PAIRS {
                return Err(refused(&at(), format!("there are more than {MAX_GRAPHS} graphs or {MAX_PAIRS} pairs")));
            }
        }
        build(graphs, pairs)
    }

    /// The data set as JSON, with a graph or a pair on each line. It reads back equal.
    ///
    /// # Errors
    /// None in practice: every data set can be written.
    pub fn to_json(&self) -> Result<String> {
        self.to_json_watched(&Control::new())
    }

    /// [`Self::to_json`], told when to stop: large data take seconds.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn to_json_watched(&self, control: &Control) -> Result<String> {
        let mut text = format!("{{\n\"format\": {},\n\"graphs\": ", line(&head())?);
        push_list(&mut text, self.graphs().iter().map(graph_record), control)?;
        text += ",\n\"pairs\": ";
        push_list(&mut text, pair_records(self, control)?, control)?;
        text += "\n}\n";
        Ok(text)
    }

    /// The data set as JSON Lines, the head first. It reads back equal.
    ///
    /// # Errors
    /// None in practice: every data set can be written.
    pub fn to_json_lines(&self) -> Result<String> {
        let mut text = format!("{{\"format\":{}}}\n", line(&head())?);
        for named in self.graphs() {
            text += &(line(&graph_record(named))? + "\n");
        }
        for record in pair_records(self, &Control::new())? {
            text += &(line(&record)? + "\n");
        }
        Ok(text)
    }
}

fn head() -> Format {
    Format { kind: KIND.to_string(), version: FORMAT_VERSION }
}

fn line(record: &impl Serialize) -> Result<String> {
    serde_json::to_string(record).map_err(|error| refused("writing", error.to_string()))
}

/// A list with a record on each line.
fn push_list<T: Serialize>(text: &mut String, records: impl Iterator<Item = T>, control: &Control) -> Result<()> {
    let mut before = "[\n";
    for record in records {
        Error::if_interrupted(control)?;
        *text += before;
        *text += &line(&record)?;
        before = ",\n";
    }
    *text += if before == "[\n" { "[]" } else { "\n]" };
    Ok(())
}

fn placed<T>(list: &str, records: Vec<Object<T>>) -> Vec<Placed<T>> {
    records.into_iter().enumerate().map(|(index, Object(record))| (format!("{list}[{index}]"), record)).collect()
}

/// The text without a byte order mark, unless it is too long.
fn checked(text: &str) -> Result<&str> {
    if text.len() > MAX_FILE_SIZE {
        let reason = format!("{} bytes are more than the {MAX_FILE_SIZE} a data set may have", text.len());
        return Err(refused("the whole text", reason));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn check_format(format: &Format) -> Result<()> {
    let reason = if format.kind != KIND {
        format!("this is a {:?} file, not a {KIND:?} file", format.kind)
    } else if format.version == 0 || format.version > FORMAT_VERSION {
        format!("version {} is not known; this program reads up to {FORMAT_VERSION}", format.version)
    } else {
        return Ok(());
    };
    Err(refused("format", reason))
}

fn refused(place: &str, reason: String) -> Error {
    Error::DataSet { place: place.to_string(), reason }
}

/// Parses a text that starts at a given line of the file. Errors name the line, column and path.
fn parse<'de, T: Deserialize<'de>>(text: &'de str, first_line: usize) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let place = |error: &serde_json::Error, path: &str| {
        let at = format!("line {}, column {}", first_line + error.line().max(1) - 1, error.column());
        if path == "." { at } else { format!("{at} ({path})") }
    };
    let reason = |error: &serde_json::Error| {
        let line = text.lines().nth(error.line().max(1) - 1).unwrap_or_default();
        let word = line.get(error.column().max(1) - 1..).unwrap_or_default();
        if word.starts_with("NaN") || word.starts_with("Infinity") {
            // Python's json writes them anyway.
            return "NaN and Infinity are no numbers of JSON, nor of a graph".to_string();
        }
        let reason = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        reason.strip_suffix(&position).unwrap_or(&reason).to_string()
    };
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        refused(&place(error.inner(), &path), reason(error.inner()))
    })?;
    deserializer.end().map_err(|error| refused(&place(&error, "."), reason(&error)))?;
    Ok(value)
}

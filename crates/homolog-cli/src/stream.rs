//! Answers of a long run, written in order as they come: to a .csv or .jsonl file that a killed run can continue, printed, or kept until the
//! end for a format that is one value. `match`, `name` and `evaluate` all write through this.

use crate::files;
use crate::hints::advised;
use anyhow::{Context, Result};
use clap::ValueEnum;
use homolog::{Control, Report};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What was found is given to the system, and progress told, this often.
const BETWEEN_FLUSHES: Duration = Duration::from_millis(200);

/// How answers are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Csv,
    Json,
    // One answer per line.
    Jsonl,
}

/// Where answers go, and how they are written.
pub(crate) struct Sink {
    to: To,
    format: Format,
    /// What a JSON value calls the list of answers.
    list: &'static str,
    flushed: Instant,
}

enum To {
    File(BufWriter<File>),
    Memory(Vec<u8>),
    Printed,
}

/// How far a file of answers goes: the byte where the first incomplete one begins, and how many come before it.
pub(crate) type Done = Option<(u64, usize)>;
/// Tells how far a file goes, if a run is resumed.
pub(crate) type Resume<'a> = Option<&'a dyn Fn(&Path) -> Result<Done>>;

impl Sink {
    /// Writes to this place, after the header of a table. The number of answers that it has, if `resumed` can tell.
    pub(crate) fn open(
        output: Option<&Path>,
        (format, list): (Format, &'static str),
        header: &str,
        resumed: Resume<'_>,
    ) -> Result<(Self, usize)> {
        let (to, (at, done)) = match output {
            // JSON is one value, whole or not at all.
            Some(path) if format != Format::Json && !files::is_standard(path) => {
                let found = resumed.map_or(Ok(None), |done| done(path))?.unwrap_or_default();
                (To::file(path, found.0)?, found)
            }
            _ if resumed.is_some() => return Err(resume_without_file()),
            Some(path) if !files::is_standard(path) => (To::Memory(Vec::new()), (0, 0)),
            _ => (To::Printed, (0, 0)),
        };
        let mut sink = Self { to, format, list, flushed: Instant::now() };
        if at == 0 && format == Format::Csv {
            sink.write(header.as_bytes())?;
        }
        Ok((sink, done))
    }

    /// Keeps everything for [`Self::end`].
    pub(crate) fn in_memory(format: Format, list: &'static str, header: &str) -> Self {
        let begun = if format == Format::Csv { header.as_bytes().to_vec() } else { Vec::new() };
        Self { to: To::Memory(begun), format, list, flushed: Instant::now() }
    }

    /// An answer: tables have an empty line between them, and JSON is a list.
    pub(crate) fn answer(&mut self, text: &str, is_first: bool) -> Result<()> {
        match (self.format, is_first) {
            (Format::Json, _) => {
                let list = self.list;
                let before = if is_first { format!("{{\n  \"{list}\": [\n    ") } else { ",\n    ".to_string() };
                self.write((before + &text.replace('\n', "\n    ")).as_bytes())
            }
            (Format::Table, false) => self.write(format!("\n{text}").as_bytes()),
            _ => self.write(text.as_bytes()),
        }
    }

    /// From time to time, gives what was written to the system, and tells how far it is.
    pub(crate) fn tell(&mut self, control: &Control, report: &Report<'_>) -> Result<()> {
        if self.flushed.elapsed() >= BETWEEN_FLUSHES {
            self.flush()?;
            control.report(report);
            self.flushed = Instant::now();
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.to {
            To::File(file) => Ok(file.write_all(bytes)?),
            To::Memory(all) => {
                all.extend_from_slice(bytes);
                Ok(())
            }
            To::Printed if self.format == Format::Table => files::print(bytes),
            To::Printed => files::print_data(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if let To::File(file) = &mut self.to {
            file.flush()?;
        }
        Ok(())
    }

    /// All that was written, if that is in memory.
    pub(crate) fn end(mut self, is_empty: bool) -> Result<Option<Vec<u8>>> {
        if self.format == Format::Json {
            let empty = format!("{{\n  \"{}\": []\n}}\n", self.list);
            self.write(if is_empty { empty.as_bytes() } else { b"\n  ]\n}\n" })?;
        }
        self.flush()?;
        match self.to {
            To::File(file) => {
                // A pipe or a device has nothing to wait for.
                let _ = file.get_ref().sync_all();
                Ok(None)
            }
            To::Memory(all) => Ok(Some(all)),
            To::Printed => Ok(None),
        }
    }
}

impl To {
    /// A file from this byte on; what it has beyond is dropped.
    fn file(path: &Path, at: u64) -> Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        files::check_not_read(path)?;
        files::check_folder(path)?;
        let mut file = File::options().create(true).write(true).truncate(false).open(path).with_context(cannot)?;
        if file.metadata().is_ok_and(|about| about.is_file()) {
            file.set_len(at).with_context(cannot)?;
            file.seek(SeekFrom::Start(at)).with_context(cannot)?;
        }
        Ok(Self::File(BufWriter::with_capacity(1 << 16, file)))
    }
}

/// Appends a field to a row of a table, in quotes if it needs them: as the csv crate does, without its buffers.
pub(crate) fn push_field(text: &mut String, field: &str) {
    if !field.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        text.push_str(field);
        return;
    }
    text.push('"');
    for (number, part) in field.split('"').enumerate() {
        text.push_str(if number == 0 { "" } else { "\"\"" });
        text.push_str(part);
    }
    text.push('"');
}

/// How far a file of answers goes; `None` if there is none. Answers are known by some of their fields: the first of a row, or those of these
/// names in a line of JSON. They have to be the expected ones, in order.
pub(crate) fn done<'a, const K: usize>(
    path: &Path,
    format: Format,
    header: &str,
    fields: [&str; K],
    expected: impl Iterator<Item = [&'a str; K]>,
) -> Result<Done> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let mut file = BufReader::new(file);
    let found = match format {
        Format::Csv => rows_done(&mut file, header, expected),
        _ => lines_done(&mut file, fields, expected),
    };
    found.with_context(|| format!("cannot continue {}", path.display())).map(Some)
}

/// What a file has that is no beginning of the answers.
fn other(line: impl std::fmt::Display) -> anyhow::Error {
    let error = format!("line {line}: these are answers to other pairs or specimens, or written with other options");
    advised(error, "leave out --resume to start over")
}

/// What is wrong if there is no file to continue.
pub(crate) fn resume_without_file() -> anyhow::Error {
    advised("--resume continues a .csv or .jsonl file", "give one with `-o FILE`")
}

/// For lines of JSON, one per answer.
fn lines_done<'a, const K: usize>(
    file: &mut BufReader<File>,
    fields: [&str; K],
    mut expected: impl Iterator<Item = [&'a str; K]>,
) -> Result<(u64, usize)> {
    let (mut at, mut number, mut line) = (0, 0, Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap_or_default();
        let is_it = |names: [&str; K]| fields.iter().zip(names).all(|(field, name)| value[*field] == name);
        if !expected.next().is_some_and(is_it) {
            return Err(other(number + 1));
        }
        at += line.len() as u64;
        number += 1;
        line.clear();
    }
    Ok((at, number))
}

/// For rows, several per answer. The last answer may be incomplete: it is found again.
fn rows_done<'a, const K: usize>(
    file: &mut BufReader<File>,
    header: &str,
    mut expected: impl Iterator<Item = [&'a str; K]>,
) -> Result<(u64, usize)> {
    let mut first = vec![0; header.len()];
    let whole = last_line_end(file.get_mut())?;
    if whole < header.len() as u64 {
        return Ok((0, 0));
    }
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first)?;
    if first != header.as_bytes() {
        return Err(other(1));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.take(whole));
    let (mut last, mut start, mut number) = ([const { String::new() }; K], 0, 0);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        let mut names = [""; K];
        names.iter_mut().zip(record.iter()).for_each(|(name, field)| *name = field);
        if number > 0 && names == last.each_ref().map(String::as_str) {
            continue;
        }
        // Some answers, such as those to pairs of empty graphs, have no rows.
        let (line, byte) = record.position().map_or((0, 0), |at| (at.line(), at.byte()));
        let place = expected.position(|expected| expected == names);
        number += place.ok_or_else(|| other(line))? + 1;
        (last, start) = (names.map(str::to_string), byte);
    }
    Ok(if number == 0 { (header.len() as u64, 0) } else { (start, number - 1) })
}

/// Where the last line that has an end ends.
fn last_line_end(file: &mut File) -> Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = vec![0; 1 << 16];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start)?];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::push_field;

    #[test]
    fn fields_are_quoted_as_the_csv_crate_does() {
        let odd =
            ["", "plain", "a,b", "say \"x\"", "\"", "two\nlines", "cr\r", " spaced ", "ünïcode", "a;b", "'", "\\", "#"];
        for field in odd {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record([field, "1"]).unwrap();
            let mut own = String::new();
            push_field(&mut own, field);
            assert_eq!(own + ",1\n", String::from_utf8(writer.into_inner().unwrap()).unwrap());
        }
    }
}

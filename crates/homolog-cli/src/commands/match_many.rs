//! `homolog match` on all pairs of a data set: each graph is described once, pairs are matched in order on all cores, and answers are
//! written as they come. The output is the same bytes on any number of threads, and after a run that was killed and resumed.

use super::match_output::{Answer, Format, csv_header};
use super::matching::Arguments;
use crate::inputs::Input;
use crate::progress::{Watch, detail, stop_is_wanted};
use crate::shards::is_folder_of_shards;
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::Report;
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::graph::Pair;
use homolog::matching::Status;
use homolog::model::{Matched, Model, PairOf};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was found is given to the system, and progress told, this often.
const BETWEEN_FLUSHES: Duration = Duration::from_millis(200);

pub(super) fn run(arguments: &Arguments, model: Option<Model>, data: &Path) -> Result<Ending> {
    if is_folder_of_shards(data) {
        return run_shards(arguments, model, data);
    }
    if arguments.only.is_some() {
        bail!(
            "--only needs a folder of shards, and {} is not one; `homolog convert --shards` makes one",
            data.display()
        );
    }
    let all = Many::load(arguments, model, data)?;
    let (format, columns) = (arguments.format(), arguments.columns(&all.model));
    let header = if format == Format::Csv { csv_header(columns) } else { "" };
    let mut is_begun = false;
    let (to, done) = match &arguments.output {
        // JSON is one value, whole or not at all.
        Some(path) if format != Format::Json && !files::is_standard(path) => {
            let found = if arguments.resume { all.done(path, format, header)? } else { None };
            let (at, done) = found.unwrap_or_default();
            is_begun = at > 0;
            (To::file(path, at)?, done)
        }
        _ if arguments.resume => bail!("--resume continues a .csv or .jsonl file: give one with -o"),
        Some(_) => (To::Memory(Vec::new()), 0),
        None => (To::Printed, 0),
    };
    let mut sink = Sink { to, format };
    if !is_begun {
        sink.write(header.as_bytes())?;
    }
    let matched = all.write(arguments, done, &mut sink)?;
    if let (Some(text), Some(path)) = (sink.end(matched == 0)?, &arguments.output) {
        files::write(path, &text)?;
    }
    let left = all.count() - matched;
    if left > 0 {
        let hint = if arguments.output.is_some() && format != Format::Json { " Use --resume to continue." } else { "" };
        eprintln!("Stopped by Ctrl-C: {left} of {} pairs were not matched.{hint}", all.count());
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// A model and the pairs it is to match: those of the data set, or else all pairs of its graphs.
struct Many {
    model: Model,
    input: Input,
}

impl Many {
    fn load(arguments: &Arguments, model: Option<Model>, data: &Path) -> Result<Self> {
        let mut input = Input::load(data)?;
        let found = input.data.graphs().len();
        if input.data.pairs().is_empty() && found < 2 {
            bail!("{}: need at least two graphs to form a pair, found {found}", data.display());
        }
        if let Some(model) = &model {
            input = input.seen_by(&model.image_descriptors())?;
        }
        let graph = |at: usize| Arc::clone(&input.data.graphs()[at].graph);
        let pair =
            |of: PairOf| Pair { given: of.given, features: of.features, ..Pair::new(graph(of.left), graph(of.right)) };
        let unseen = model.is_none();
        let model = arguments.model(model, || pairs(&input).map(pair).collect())?;
        if unseen {
            input = input.seen_by(&model.image_descriptors())?;
        }
        Ok(Self { model, input })
    }

    fn count(&self) -> usize {
        let (graphs, listed) = (self.input.data.graphs().len(), self.input.data.pairs().len());
        if listed > 0 { listed } else { graphs * (graphs - 1) / 2 }
    }

    /// Matches all pairs from number `done` on and writes the answers; how many are done then.
    fn write(&self, arguments: &Arguments, done: usize, sink: &mut Sink) -> Result<usize> {
        let (format, columns) = (sink.format, arguments.columns(&self.model));
        let (count, limit) = (self.count(), arguments.limit()?);
        let watch = Watch::new(None);
        let (control, stopped) = (watch.control(""), watch.stop_control());
        // Only graphs that are in a pair are described.
        let graphs = self.input.data.graphs();
        let mut is_used = vec![self.input.data.pairs().is_empty(); graphs.len()];
        for pair in self.input.data.pairs().iter().skip(done) {
            (is_used[pair.left], is_used[pair.right]) = (true, true);
        }
        let used: Vec<usize> = (0..graphs.len()).filter(|&at| is_used[at]).collect();
        let mut place = vec![0; graphs.len()];
        used.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let list: Vec<_> = used.iter().map(|&at| Arc::clone(&graphs[at].graph)).collect();
        for of in pairs(&self.input).skip(done) {
            let pair = Pair::new(Arc::clone(&graphs[of.left].graph), Arc::clone(&graphs[of.right].graph));
            let about = || format!("{:?} and {:?}", graphs[of.left].id, graphs[of.right].id);
            self.model.check_size(&pair).with_context(about)?;
        }
        let prepared = match self.model.prepare(&list, &stopped) {
            Err(homolog::Error::Interrupted) => return Ok(done),
            Err(error) => {
                // Which one it was, by its id.
                for &at in &used {
                    let prepared = self.model.prepare_one(&graphs[at].graph, &control);
                    prepared.with_context(|| format!("{:?}", graphs[at].id))?;
                }
                return Err(error.into());
            }
            Ok(prepared) => prepared,
        };
        let each = || if limit.is_some() { watch.limited(limit).stop_control() } else { stopped.clone() };
        let make = |of: &PairOf, matched: Matched<'_>| -> Result<String> {
            let ends = [of.left, of.right].map(|at| &graphs[used[at]]);
            let is_early = matched.solution.status == Status::Limit && limit.is_some();
            let ended_by = is_early.then_some("the time limit");
            let certainty = arguments.certainty_of(&matched, &each())?;
            Answer::new(ends, &matched, certainty, ended_by)?.text(format, columns)
        };
        let mut taken = done;
        let mut flushed = Instant::now();
        let take = |text: String| -> Result<ControlFlow<()>> {
            sink.answer(&text, taken == 0)?;
            taken += 1;
            if flushed.elapsed() >= BETWEEN_FLUSHES {
                sink.flush()?;
                control.report(&Report::new("matching pairs", taken, Some(count)));
                flushed = Instant::now();
            }
            Ok(ControlFlow::Continue(()))
        };
        let placed = |of: PairOf| PairOf { left: place[of.left], right: place[of.right], ..of };
        let rest = pairs(&self.input).skip(done).map(placed);
        self.model.match_all(&prepared, rest, (&stopped, &each), make, take)?;
        watch.end();
        Ok(taken)
    }

    /// The offset of the first incomplete pair in a file of answers, and how many pairs come before it; `None` if there is no such file.
    fn done(&self, path: &Path, format: Format, header: &str) -> Result<Option<(u64, usize)>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        let cannot = || format!("cannot continue {}", path.display());
        let mut file = BufReader::new(file);
        let found = match format {
            Format::Csv => self.rows_done(&mut file, header),
            _ => self.lines_done(&mut file),
        };
        found.with_context(cannot).map(Some)
    }

    /// The same for lines of JSON, one for each pair.
    fn lines_done(&self, file: &mut BufReader<File>) -> Result<(u64, usize)> {
        let (graphs, mut expected) = (self.input.data.graphs(), pairs(&self.input));
        let (mut at, mut number, mut line) = (0, 0, Vec::new());
        while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let value: serde_json::Value = serde_json::from_slice(&line).unwrap_or_default();
            let is_it = |of: PairOf| value["left"] == graphs[of.left].id && value["right"] == graphs[of.right].id;
            if !expected.next().is_some_and(is_it) {
                bail!("line {}: {OTHER}", number + 1);
            }
            at += line.len() as u64;
            number += 1;
            line.clear();
        }
        Ok((at, number))
    }

    /// The same for rows, several for each pair. The last pair may be incomplete: it is matched again.
    fn rows_done(&self, file: &mut BufReader<File>, header: &str) -> Result<(u64, usize)> {
        let (graphs, mut expected) = (self.input.data.graphs(), pairs(&self.input));
        let mut first = vec![0; header.len()];
        let whole = last_line_end(file.get_mut())?;
        if whole < header.len() as u64 {
            return Ok((0, 0));
        }
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut first)?;
        if first != header.as_bytes() {
            bail!("line 1: {OTHER}");
        }
        file.seek(SeekFrom::Start(0))?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.take(whole));
        let (mut last, mut start, mut number) = ([String::new(), String::new()], 0, 0);
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            let ids = [0, 1].map(|field| record.get(field).unwrap_or_default());
            if number > 0 && ids == last.each_ref().map(String::as_str) {
                continue;
            }
            // Pairs of empty graphs have no rows.
            let is_it = |of: PairOf| ids == [of.left, of.right].map(|at| graphs[at].id.as_str());
            let (line, byte) = record.position().map_or((0, 0), |at| (at.line(), at.byte()));
            number += expected.position(is_it).with_context(|| format!("line {line}: {OTHER}"))? + 1;
            (last, start) = (ids.map(str::to_string), byte);
        }
        Ok(if number == 0 { (header.len() as u64, 0) } else { (start, number - 1) })
    }
}

/// What a file has that is no beginning of the answers.
const OTHER: &str =
    "these are answers to other pairs, or written with other options; leave out --resume to begin again";

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

/// The pairs of a data set, or all pairs of its graphs.
fn pairs(input: &Input) -> Box<dyn Iterator<Item = PairOf> + '_> {
    let (graphs, listed) = (input.data.graphs().len(), input.data.pairs());
    if listed.is_empty() {
        return Box::new(
            (0..graphs).flat_map(move |left| (left + 1..graphs).map(move |right| PairOf::new(left, right))),
        );
    }
    Box::new(listed.iter().map(|pair| PairOf {
        left: pair.left,
        right: pair.right,
        given: pair.given.clone(),
        features: pair.features.clone(),
    }))
}

/// Where answers go, and how they are written.
struct Sink {
    to: To,
    format: Format,
}

enum To {
    File(BufWriter<File>),
    Memory(Vec<u8>),
    Printed,
}

impl To {
    /// A file from this byte on; what it has beyond is dropped.
    fn file(path: &Path, at: u64) -> Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        files::check_folder(path)?;
        let mut file = File::options().create(true).write(true).truncate(false).open(path).with_context(cannot)?;
        if file.metadata().is_ok_and(|about| about.is_file()) {
            file.set_len(at).with_context(cannot)?;
            file.seek(SeekFrom::Start(at)).with_context(cannot)?;
        }
        Ok(Self::File(BufWriter::with_capacity(1 << 16, file)))
    }
}

impl Sink {
    /// An answer: tables have an empty line between them, and JSON is a list.
    fn answer(&mut self, text: &str, is_first: bool) -> Result<()> {
        match (self.format, is_first) {
            (Format::Json, _) => {
                let before = if is_first { "{\n  \"pairs\": [\n    " } else { ",\n    " };
                self.write((before.to_string() + &text.replace('\n', "\n    ")).as_bytes())
            }
            (Format::Table, false) => self.write(format!("\n{text}").as_bytes()),
            _ => self.write(text.as_bytes()),
        }
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
    fn end(mut self, is_empty: bool) -> Result<Option<Vec<u8>>> {
        if self.format == Format::Json {
            self.write(if is_empty { b"{\n  \"pairs\": []\n}\n".as_slice() } else { b"\n  ]\n}\n".as_slice() })?;
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

/// Answers shards into a folder: a file for each, whole or not at all, and a list of those that are done.
fn run_shards(arguments: &Arguments, model: Option<Model>, folder: &Path) -> Result<Ending> {
    let Some(answers) = &arguments.output else {
        bail!("the answers to a folder of shards are written to a folder: give one with -o")
    };
    let model = model.context("matching a folder of shards needs a model file")?;
    let manifest = Manifest::from_json(&files::read_text(&folder.join(MANIFEST))?)?;
    let format = if arguments.format() == Format::Csv { Format::Csv } else { Format::Jsonl };
    let ending = if format == Format::Csv { "csv" } else { "jsonl" };
    files::make_folder(answers)?;
    let shards: Vec<(PathBuf, PathBuf)> = manifest
        .shards
        .iter()
        .map(|shard| (folder.join(&shard.file), answers.join(Path::new(&shard.file).with_extension(ending))))
        .collect();
    let numbers = match arguments.only {
        Some(number) if number >= shards.len() => {
            bail!("--only {number}: there are {} shards, counted from 0", shards.len())
        }
        Some(number) => number..number + 1,
        None => 0..shards.len(),
    };
    for (shard, path) in &shards[numbers] {
        if path.is_file() {
            detail(&format!("{} already exists", path.display()));
            continue;
        }
        let all = Many::load(arguments, Some(model.clone()), shard)?;
        let mut sink = Sink { to: To::Memory(Vec::new()), format };
        if format == Format::Csv {
            sink.write(csv_header(arguments.columns(&all.model)).as_bytes())?;
        }
        if all.write(arguments, 0, &mut sink)? < all.count() {
            eprintln!("Stopped by Ctrl-C: {} was not answered.", shard.display());
            return Ok(Ending::Stopped);
        }
        files::write(path, &sink.end(false)?.unwrap_or_default())?;
        list_done(answers, &shards)?;
    }
    list_done(answers, &shards)?;
    Ok(Ending::Done)
}

/// Lists the shards whose answers are there. Others may write the same list: it is written until it says what is there.
fn list_done(answers: &Path, shards: &[(PathBuf, PathBuf)]) -> Result<()> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let list = || -> Result<String> {
        let one = |(shard, path): &(PathBuf, PathBuf)| json!({"shard": name(shard), "answers": path.is_file().then(|| name(path))});
        let done = shards.iter().filter(|(_, path)| path.is_file()).count();
        let format = json!({"kind": "homolog-answers", "version": 1});
        let value = json!({"format": format, "done": done, "of": shards.len(), "shards": shards.iter().map(one).collect::<Vec<_>>()});
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    };
    let mut now = list()?;
    loop {
        files::write(&answers.join(MANIFEST), now.as_bytes())?;
        let then = std::mem::replace(&mut now, list()?);
        if then == now {
            return Ok(());
        }
    }
}

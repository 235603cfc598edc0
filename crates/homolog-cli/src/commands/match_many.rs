//! `homolog match` on all pairs of a data set: each graph is described once, pairs are matched in order on all cores, and answers are
//! written as they come. The output is the same bytes on any number of threads, and after a run that was killed and resumed.

use super::match_output::{Answer, csv_header};
use super::matching::Arguments;
use crate::hints::advised;
use crate::inputs::Input;
use crate::progress::{Watch, detail, stop_is_wanted};
use crate::shards::is_folder_of_shards;
use crate::stream::{Done, Format, Resume, Sink, done};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::Report;
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::graph::Pair;
use homolog::matching::Status;
use homolog::model::{Matched, Model, PairOf};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn run(arguments: &Arguments, model: Option<Model>, data: &Path) -> Result<Ending> {
    if is_folder_of_shards(data) {
        return run_shards(arguments, model, data);
    }
    if arguments.only.is_some() {
        return Err(advised(
            format!("--only needs a folder of shards, and {} is not one", data.display()),
            "`homolog convert --shards` makes one",
        ));
    }
    let all = Many::load(arguments, model, data)?;
    let (format, columns) = (arguments.format(), arguments.columns(&all.model));
    let header = if format == Format::Csv { csv_header(columns) } else { String::new() };
    let header = header.as_str();
    let resumed = |path: &Path| all.done(path, format, header);
    let resumed: Resume<'_> = if arguments.resume { Some(&resumed) } else { None };
    let (mut sink, done) = Sink::open(arguments.output.as_deref(), (format, "pairs"), header, resumed)?;
    let matched = all.write(arguments, format, done, &mut sink)?;
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
    fn write(&self, arguments: &Arguments, format: Format, done: usize, sink: &mut Sink) -> Result<usize> {
        let columns = arguments.columns(&self.model);
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
            Err(error) if error.kind() == homolog::ErrorKind::Interrupted => return Ok(done),
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
            Answer::new(ends, &matched, certainty, (format, ended_by))?.text(format, columns)
        };
        let mut taken = done;
        let take = |text: String| -> Result<ControlFlow<()>> {
            sink.answer(&text, taken == 0)?;
            taken += 1;
            sink.tell(&control, &Report::new("matching pairs", taken, Some(count)))?;
            Ok(ControlFlow::Continue(()))
        };
        let placed = |of: PairOf| PairOf { left: place[of.left], right: place[of.right], ..of };
        let rest = pairs(&self.input).skip(done).map(placed);
        self.model.match_all(&prepared, rest, (&stopped, &each), make, take)?;
        watch.end();
        Ok(taken)
    }

    fn done(&self, path: &Path, format: Format, header: &str) -> Result<Done> {
        let graphs = self.input.data.graphs();
        let expected = pairs(&self.input).map(|of| [of.left, of.right].map(|at| graphs[at].id.as_str()));
        done(path, format, header, ["left", "right"], expected)
    }
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

/// Answers shards into a folder: a file for each, whole or not at all, and a list of those that are done.
fn run_shards(arguments: &Arguments, model: Option<Model>, folder: &Path) -> Result<Ending> {
    let Some(answers) = &arguments.output else {
        return Err(advised("answers to a folder of shards need a folder", "give one with `-o FOLDER`"));
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
        let mut sink = Sink::in_memory(format, "pairs", &csv_header(arguments.columns(&all.model)));
        if all.write(arguments, format, 0, &mut sink)? < all.count() {
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

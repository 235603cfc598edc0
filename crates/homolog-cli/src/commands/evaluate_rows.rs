//! What `evaluate` keeps of each pair: a row, which can be written as it comes and read again by a run that continues. All figures are
//! computed from rows, so that a run that was killed and resumed says what one that was not would have said.

use crate::inputs::{Input, extension};
use crate::stream::{Format, Resume, Sink, done};
use anyhow::{Context, Result};
use homolog::data::Split;
use homolog::learn::{ConfusionCounts, Evaluation, Example, LabelledPairs, MatchCounts, Prediction};
use homolog::matching::{Constraint, Matching, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    left_graph: String,
    right_graph: String,
    split: Option<Split>,
    loss: f64,
    proven: bool,
    /// Matches made, how many of them are true, and how many true ones there are.
    made: usize,
    right: usize,
    there_are: usize,
    /// Left nodes that went wrong and where they went: 3>5 7> if 7 stayed unmatched.
    wrong: String,
    /// The same with the weights before learning.
    loss_before: Option<f64>,
    made_before: Option<usize>,
    right_before: Option<usize>,
}

/// The first line of a table: the names of the fields.
const HEADER: &str =
    "left_graph,right_graph,split,loss,proven,made,right,there_are,wrong,loss_before,made_before,right_before\n";

/// All figures so far.
pub(super) struct Totals<'a> {
    input: &'a Input,
    pub(super) pairs: &'a LabelledPairs,
    /// The pair of the data set that each example is.
    numbers: &'a [usize],
    pub(super) all: Evaluation,
    /// Of each split, and of pairs without one: with the model's weights, and before learning.
    splits: [[Evaluation; 2]; 4],
    pub(super) confusions: ConfusionCounts,
    next: usize,
}

impl<'a> Totals<'a> {
    pub(super) fn new(input: &'a Input, pairs: &'a LabelledPairs, numbers: &'a [usize]) -> Self {
        let (all, splits, confusions) = Default::default();
        Self { input, pairs, numbers, all, splits, confusions, next: 0 }
    }

    /// How many pairs there are figures for.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    pub(super) fn splits(&self) -> impl Iterator<Item = (Option<Split>, &[Evaluation; 2])> {
        Split::ALL.map(Some).into_iter().chain([None]).zip(&self.splits)
    }

    fn ids(&self, number: usize) -> [&'a str; 2] {
        let data = &self.input.data;
        let pair = &data.pairs()[self.numbers[number]];
        [pair.left, pair.right].map(|graph| data.graphs()[graph].id.as_str())
    }

    /// The file that rows are written to; those that it has are added up if a run is resumed.
    pub(super) fn open(&mut self, path: Option<&Path>, resume: bool) -> Result<Sink> {
        let (numbers, format) = (0..self.pairs.len(), format_of(path));
        let found = |path: &Path| {
            let expected = numbers.clone().map(|number| self.ids(number));
            done(path, format, HEADER, ["left_graph", "right_graph"], expected)
        };
        let resumed: Resume<'_> = if resume { Some(&found) } else { None };
        let earlier = match (path, resumed) {
            (Some(path), Some(found)) => rows_of(path, found(path)?.unwrap_or_default().1)?,
            _ => Vec::new(),
        };
        let (sink, _) = Sink::open(path, (format, "pairs"), HEADER, resumed)?;
        earlier.iter().try_for_each(|row| self.add(row))?;
        Ok(sink)
    }

    /// The next pair, predicted, and predicted before learning.
    pub(super) fn row(&self, example: &Example, answer: &Prediction, before: Option<&Prediction>) -> Row {
        let [left_graph, right_graph] = self.ids(self.next).map(str::to_string);
        let one =
            |answer: &Prediction| Evaluation::of(std::slice::from_ref(example), &[Some(answer.clone())], |_| true);
        let (own, earlier) = (one(answer), before.map(one));
        let (_, truth, unknown) = self.pairs.labels(self.next);
        let is_wrong = |&i: &usize| !unknown.contains(&i) && answer.0.right_of(i) != truth.right_of(i);
        let word = |i: usize| format!("{i}>{}", answer.0.right_of(i).map_or_else(String::new, |k| k.to_string()));
        Row {
            left_graph,
            right_graph,
            split: self.input.data.pairs()[self.numbers[self.next]].split,
            loss: own.losses[0],
            proven: answer.1 == Status::Optimal,
            made: own.matches.made,
            right: own.matches.right,
            there_are: own.matches.there_are,
            wrong: (0..truth.left_count()).filter(is_wrong).map(word).collect::<Vec<_>>().join(" "),
            loss_before: earlier.as_ref().map(|one| one.losses[0]),
            made_before: earlier.as_ref().map(|one| one.matches.made),
            right_before: earlier.as_ref().map(|one| one.matches.right),
        }
    }

    /// Adds the next pair.
    pub(super) fn add(&mut self, row: &Row) -> Result<()> {
        let (number, specimens) = (self.next, vec![Some(self.pairs.specimens(self.next))]);
        let one = |loss: f64, proven: bool, made: usize, right: usize| Evaluation {
            losses: vec![loss],
            proven: usize::from(proven),
            examples: vec![0],
            matches: MatchCounts { made, right, there_are: row.there_are },
            specimens: specimens.clone(),
        };
        let own = one(row.loss, row.proven, row.made, row.right);
        let split = Split::ALL.iter().position(|&split| row.split == Some(split)).unwrap_or(Split::ALL.len());
        self.all.extend(number, &own);
        self.splits[split][0].extend(number, &own);
        if let (Some(loss), Some(made), Some(right)) = (row.loss_before, row.made_before, row.right_before) {
            self.splits[split][1].extend(number, &one(loss, false, made, right));
        }
        self.confusions.add(self.pairs, number, &self.predicted(row)?);
        self.next += 1;
        Ok(())
    }

    /// The prediction again, as far as it is known whether it is right.
    fn predicted(&self, row: &Row) -> Result<Matching> {
        let (_, truth, unknown) = self.pairs.labels(self.next);
        let mut right_of = truth.left_to_right().to_vec();
        unknown.iter().for_each(|&i| right_of[i] = None);
        for word in row.wrong.split_whitespace() {
            let bad = || format!("{word:?} is not a left node and a right one");
            let (left, right) = word.split_once('>').with_context(bad)?;
            let right = if right.is_empty() { None } else { Some(right.parse().with_context(bad)?) };
            let place = left.parse().ok().and_then(|left: usize| right_of.get_mut(left));
            *place.with_context(bad)? = right;
        }
        // Predictions may be many-to-one where the truth is not.
        Ok(Matching::new(right_of, truth.right_count(), Constraint::ManyToOne)?)
    }
}

/// A row as text.
pub(super) fn text(row: &impl Serialize, path: Option<&Path>) -> Result<String> {
    if format_of(path) == Format::Jsonl {
        return Ok(serde_json::to_string(row)? + "\n");
    }
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(row)?;
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// As the name of the file ends.
pub(super) fn format_of(path: Option<&Path>) -> Format {
    if path.is_some_and(|path| extension(path) == "jsonl") { Format::Jsonl } else { Format::Csv }
}

/// The first rows of a file.
pub(super) fn rows_of<R: DeserializeOwned>(path: &Path, count: usize) -> Result<Vec<R>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let cannot = || format!("cannot continue {}", path.display());
    let file = std::io::BufReader::new(std::fs::File::open(path).with_context(cannot)?);
    if format_of(Some(path)) == Format::Jsonl {
        let lines = std::io::BufRead::lines(file).take(count);
        return lines.map(|line| serde_json::from_str(&line?).with_context(cannot)).collect();
    }
    csv::Reader::from_reader(file).into_deserialize().take(count).map(|row| row.with_context(cannot)).collect()
}

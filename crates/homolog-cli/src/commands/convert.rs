//! `homolog convert`: landmark tables and the house files to a data set; a data set to tables.

use super::usage;
use crate::data_files::{read_house, read_landmarks};
use crate::inputs::{BUILT_IN, Input, extension};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph, Pairing};
use homolog::data::landmarks::{self, LandmarkTable};
use homolog::data::matches;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Turns landmark tables and the house files into a data set, and data sets into tables
#[derive(clap::Args)]
#[command(after_help = "Examples:
  Two tables of named landmarks, one per specimen, as a pair to train on:
    homolog convert wing1.csv wing2.csv -o wings.json
  A sequence of frames in one table, each frame paired with the tenth after it, in thirds for training, validation and test:
    homolog convert landmarks.csv --pairs 10 --split -o sequence.json
  The matches of a data set as a table:
    homolog convert wings.json --to matches -o matches.csv")]
pub(crate) struct Arguments {
    /// Landmark tables (.csv), data sets (.json, .jsonl), the house directory of the paper's authors, or the word turntable
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write; standard output if absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What the inputs are; by default what their names say
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<From>,
    /// What to write; by default what the name of the output says: .json, .jsonl, or .csv for landmarks
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Output>,
    /// Which graphs become pairs, where the input has no pairs: all, none, or N for each graph with the N-th
    /// after it [default: all, unless that makes more than 2000 pairs]
    #[arg(long, value_name = "all|none|N", value_parser = parse_pairing)]
    pairs: Option<Pairing>,
    /// Pairs are for training, validation and test in turn, by their left graph
    #[arg(long)]
    split: bool,
    /// The column of a table that names the graph [default: frame or image]
    #[arg(long, value_name = "COLUMN")]
    graph_column: Option<String>,
    /// The column of a table that names the landmark [default: landmark]
    #[arg(long, value_name = "COLUMN")]
    landmark_column: Option<String>,
    /// A column of a table that becomes a node attribute; may be given several times
    #[arg(long = "attribute", value_name = "COLUMN")]
    attributes: Vec<String>,
    /// A column of a table to leave out; may be given several times
    #[arg(long = "ignore", value_name = "COLUMN")]
    ignored: Vec<String>,
    /// Take the edges of the house's houseNNN.adj files
    #[arg(long)]
    house_edges: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum From {
    /// A table of landmarks
    Landmarks,
    /// The house directory of the paper's authors
    House,
    /// A data set (.json, .jsonl), a folder with landmarks.csv, or the word turntable for the built-in sequence
    DataSet,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// A data set as JSON
    Json,
    /// A data set as JSON Lines
    JsonLines,
    /// The landmarks as a table
    Landmarks,
    /// The matches as a table
    Matches,
}

fn parse_pairing(word: &str) -> Result<Pairing, String> {
    match (word, word.parse()) {
        ("all", _) => Ok(Pairing::All),
        ("none", _) => Ok(Pairing::None),
        (_, Ok(baseline)) => Ok(Pairing::Baseline(baseline)),
        _ => Err("it must be all, none or a whole number".to_string()),
    }
}

/// More pairs than this are made only when asked for.
const MOST_PAIRS: usize = 2000;

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let format = arguments.output_format();
    let inputs: Vec<&Path> = arguments.inputs.iter().map(PathBuf::as_path).collect();
    let outputs: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    files::check_outputs(&inputs, &outputs)?;
    let data = arguments.read()?;
    let text = match format {
        Output::Json => data.to_json()?,
        Output::JsonLines => data.to_json_lines()?,
        Output::Landmarks => landmarks::write(data.graphs())?,
        Output::Matches => matches::write(&data)?,
    };
    match &arguments.output {
        None => files::print(text.as_bytes())?,
        Some(path) => {
            files::write(path, text.as_bytes())?;
            let labelled = data.pairs().iter().filter(|pair| pair.truth.is_some()).count();
            let (graphs, pairs) = (data.graphs().len(), data.pairs().len());
            eprintln!("{}: {graphs} graphs, {pairs} pairs, {labelled} of them labelled", path.display());
        }
    }
    Ok(Ending::Done)
}

impl Arguments {
    fn output_format(&self) -> Output {
        let by_name = self.output.as_deref().map(extension);
        match (self.to, by_name.as_deref()) {
            (Some(format), _) => format,
            (None, None | Some("json")) => Output::Json,
            (None, Some("jsonl" | "ndjson")) => Output::JsonLines,
            (None, Some("csv")) => Output::Landmarks,
            (None, Some(_)) => usage("the name of the output does not say what to write; say --to".to_string()),
        }
    }

    /// All inputs as one data set.
    fn read(&self) -> Result<DataSet> {
        let (mut graphs, mut pairs): (Vec<NamedGraph>, Vec<LabelledPair>) = (Vec::new(), Vec::new());
        let mut ids = BTreeSet::new();
        let mut complete = false;
        for path in &self.inputs {
            let more = match self.input_format(path) {
                From::Landmarks => read_landmarks(path, &self.table())?,
                From::House => read_house(path, self.house_edges)?,
                From::DataSet => {
                    let Input { data, .. } = Input::load(path)?;
                    let first = graphs.len();
                    let moved = |pair: &LabelledPair| LabelledPair {
                        left: pair.left + first,
                        right: pair.right + first,
                        ..pair.clone()
                    };
                    pairs.extend(data.pairs().iter().map(moved));
                    complete = true;
                    data.graphs().to_vec()
                }
            };
            if let Some(twice) = more.iter().find(|named| ids.contains(&named.id)) {
                bail!("{}: an earlier input has a graph {:?} already", path.display(), twice.id);
            }
            if more.is_empty() {
                eprintln!("{}: there are no graphs in it", path.display());
            }
            ids.extend(more.iter().map(|named| named.id.clone()));
            graphs.extend(more);
        }
        match self.pairs {
            _ if !pairs.is_empty() && (self.pairs.is_some() || self.split) => {
                bail!("the input has pairs already: --pairs and --split are for graphs without any")
            }
            None if complete && !self.split => DataSet::new(graphs, pairs).context("the inputs together"),
            pairing => {
                let all = graphs.len() * graphs.len().saturating_sub(1) / 2;
                let default = if all <= MOST_PAIRS { Pairing::All } else { Pairing::None };
                if pairing.is_none() && all > MOST_PAIRS {
                    eprintln!(
                        "No pairs were made: all would be {all}. Say --pairs all, or --pairs N for each graph with the N-th after it."
                    );
                }
                DataSet::paired(graphs, pairing.unwrap_or(default), self.split).context("the inputs together")
            }
        }
    }

    fn input_format(&self, path: &Path) -> From {
        match (self.from, extension(path).as_str()) {
            (Some(format), _) => format,
            (None, _) if path.join("label").is_dir() => From::House,
            (None, _) if path.is_dir() || path == Path::new(BUILT_IN) => From::DataSet,
            (None, "csv" | "tsv") => From::Landmarks,
            (None, "json" | "jsonl" | "ndjson") => From::DataSet,
            (None, _) => usage(format!("what is {}? Its name does not say; say --from", path.display())),
        }
    }

    fn table(&self) -> LandmarkTable {
        LandmarkTable {
            graph: self.graph_column.clone(),
            landmark: self.landmark_column.clone(),
            attributes: self.attributes.clone(),
            ignored: self.ignored.clone(),
        }
    }
}

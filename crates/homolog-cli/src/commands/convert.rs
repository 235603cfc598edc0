//! `homolog convert`: files of every format to a data set, and a data set to tables, TPS, GraphML and TRC.

use super::usage;
use crate::counted::counted;
use crate::data_files::{self, GraphFormat, read_house};
use crate::inputs::{BUILT_IN, Input, Picture, SEED, extension, say_drawn};
use crate::progress::{note, say};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph, Pairing, SplitBy};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::{self, Format, matches};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Converts files of points and graphs to a data set, and data sets to tables, TPS, GraphML and TRC
#[derive(clap::Args)]
#[command(after_help = "Examples:
  Two tables of named landmarks, one per specimen, as a pair to train on:
    homolog convert wing1.csv wing2.csv -o wings.json
  A sequence of frames in one table, each frame paired with the tenth after it, in thirds for training, validation and test:
    homolog convert landmarks.csv --pairs 10 --split -o sequence.json
  Specimens of a TPS file, 500 pairs of them, no specimen both in training and in test:
    homolog convert wings.tps --pairs random:500 --split specimens -o wings.json
  A network as a list of edges with a table of nodes:
    homolog convert net.csv --nodes people.csv -o net.json
  Detections of a tracker with the truth beside them (seq.gt.txt), as pairs of frames up to 2 apart:
    homolog convert seq.det.txt --gap 2 -o seq.json
  A data set cut up into 64 files, to train on many machines:
    homolog convert wings.json --shards 64 -o wings/
  The matches of a data set as a table:
    homolog convert wings.json --to matches -o matches.csv")]
pub(crate) struct Arguments {
    /// Landmark tables (.csv), .tps, DeepLabCut and COCO files, networks (.graphml, .edges), motion capture (.trc, .c3d), detections (.txt), tables of pair features (.csv), data sets
    /// (.json, .jsonl), the house directory of the paper's authors, the word turntable, or - for standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Input format [default: from the names]
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<GraphFormat>,
    /// Output format [default: from the name of the output: .json, .jsonl, .csv for landmarks, .tps, .graphml, .trc]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Output>,
    /// Which graphs to pair if the input has no pairs: all; none; N: each graph with the N-th after it; random:N: N pairs drawn at random;
    /// template:ID: that graph with each other [default: all, or random:500 if that would be more than 2000]
    #[arg(long, value_name = "all|none|N|random:N|template:ID", value_parser = parse_pairing)]
    pairs: Option<PairChoice>,
    /// Split into training, validation and test: in turn by the left graph (pairs), or so that no graph is in two of them
    /// (specimens)
    #[arg(long, value_enum, value_name = "pairs|specimens", num_args = 0..=1, default_missing_value = "pairs", hide_possible_values = true)]
    split: Option<SplitChoice>,
    /// The column of a table that names the graph [default: frame, image, specimen, id or object]
    #[arg(long, value_name = "COLUMN")]
    graph_column: Option<String>,
    /// The column of a table that names the landmark [default: landmark]
    #[arg(long, value_name = "COLUMN")]
    landmark_column: Option<String>,
    /// A column of a table to read as a node attribute (repeatable)
    #[arg(long = "attribute", value_name = "COLUMN")]
    attributes: Vec<String>,
    /// A column of a table to leave out (repeatable)
    #[arg(long = "ignore", value_name = "COLUMN")]
    ignored: Vec<String>,
    /// The table of nodes of a network given by its edges: the first column names them [default: NAME.nodes.csv next to it, if it exists]
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Pairs of frames of detections that are up to N frames apart [default: 1]
    #[arg(long, value_name = "N")]
    gap: Option<usize>,
    /// Read the edges from the house's houseNNN.adj files
    #[arg(long)]
    house_edges: bool,
    /// Split the labelled pairs into this many shards in a new folder, for training on many machines
    #[arg(long, value_name = "N", requires = "output", conflicts_with = "to")]
    shards: Option<usize>,
}

#[derive(Clone)]
enum PairChoice {
    Ready(Pairing),
    Template(String),
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SplitChoice {
    Pairs,
    Specimens,
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
    /// The landmarks as a TPS file
    Tps,
    /// The graphs as GraphML
    Graphml,
    /// Markers in space as motion capture
    Trc,
}

fn parse_pairing(word: &str) -> Result<PairChoice, String> {
    let pairing = match (word, word.split_once(':'), word.parse()) {
        ("all", ..) => Pairing::All,
        ("none", ..) => Pairing::None,
        (_, Some(("template", id)), _) => return Ok(PairChoice::Template(id.to_string())),
        (_, Some(("random", count)), _) => match count.parse() {
            Ok(count) => Pairing::Random { count, seed: SEED },
            Err(_) => return Err(format!("{count:?} is not a number of pairs")),
        },
        (.., Ok(baseline)) => Pairing::Baseline(baseline),
        _ => return Err("it must be all, none, a whole number, random:N or template:ID".to_string()),
    };
    Ok(PairChoice::Ready(pairing))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    if let (Some(count), Some(folder)) = (arguments.shards, &arguments.output) {
        return arguments.cut(count, folder);
    }
    let format = arguments.output_format();
    let data = arguments.read()?;
    if data.take().is_some() && !matches!(format, Output::Json | Output::JsonLines | Output::Trc) {
        note("the times of the frames are not kept: .trc and .json keep them");
    }
    let text = match format {
        Output::Json => data.to_json()?,
        Output::JsonLines => data.to_json_lines()?,
        Output::Landmarks => data::write(Format::Landmarks, data.graphs())?,
        Output::Matches => matches::write(&data)?,
        Output::Tps => data::write(Format::Tps, data.graphs())?,
        Output::Graphml => data::write(Format::Graphml, data.graphs())?,
        Output::Trc => data::write(Format::Trc, data.graphs())?,
    };
    match &arguments.output {
        None => files::print_data(text.as_bytes())?,
        Some(path) if files::is_standard(path) => files::print_data(text.as_bytes())?,
        Some(path) => {
            files::write(path, text.as_bytes())?;
            let labelled = data.pairs().iter().filter(|pair| pair.truth.is_some()).count();
            let (graphs, pairs) = (counted(data.graphs().len(), "graph"), counted(data.pairs().len(), "pair"));
            let labelled =
                if data.pairs().is_empty() { String::new() } else { format!(", {labelled} of them labelled") };
            say(&format!("{}: {graphs}, {pairs}{labelled}", path.display()));
        }
    }
    Ok(Ending::Done)
}

impl Arguments {
    fn cut(&self, count: usize, folder: &Path) -> Result<Ending> {
        let data = self.read()?;
        let manifest = crate::shards::cut(&data, count, folder)?;
        let pairs: usize = manifest.shards.iter().map(|shard| shard.pairs).sum();
        let (files, left_out) = (manifest.shards.len(), data.pairs().len() - pairs);
        let examples = manifest.examples();
        say(&format!(
            "{}: {} in {}, {examples} of them to learn from; {left_out} without matches left out",
            folder.display(),
            counted(pairs, "pair"),
            counted(files, "file")
        ));
        Ok(Ending::Done)
    }

    fn output_format(&self) -> Output {
        let by_name = self.output.as_deref().map(extension);
        match (self.to, by_name.as_deref()) {
            (Some(format), _) => format,
            (None, None | Some("json")) => Output::Json,
            (None, Some("jsonl" | "ndjson")) => Output::JsonLines,
            (None, Some("csv")) => Output::Landmarks,
            (None, Some("tps")) => Output::Tps,
            (None, Some("graphml")) => Output::Graphml,
            (None, Some("trc")) => Output::Trc,
            (None, Some("")) if self.output.as_deref().is_some_and(files::is_standard) => Output::Json,
            (None, Some(_)) => usage("the name of the output does not say what to write; say --to".to_string()),
        }
    }

    /// All inputs as one data set.
    fn read(&self) -> Result<DataSet> {
        let (mut graphs, mut pairs): (Vec<NamedGraph>, Vec<LabelledPair>) = (Vec::new(), Vec::new());
        let mut ids = BTreeSet::new();
        let mut complete = false;
        for path in &self.inputs {
            let data = self.read_one(path)?;
            let first = graphs.len();
            let moved = |pair: &LabelledPair| LabelledPair {
                left: pair.left + first,
                right: pair.right + first,
                ..pair.clone()
            };
            pairs.extend(data.pairs().iter().map(moved));
            complete |= !data.pairs().is_empty();
            let more = data.graphs();
            if let Some(twice) = more.iter().find(|named| ids.contains(&named.id)) {
                bail!("{}: duplicate graph {:?}, also in an earlier input", path.display(), twice.id);
            }
            ids.extend(more.iter().map(|named| named.id.clone()));
            graphs.extend_from_slice(more);
        }
        if complete && (self.pairs.is_some() || self.split.is_some()) {
            bail!("the input already has pairs: --pairs and --split are for graphs without pairs");
        }
        if complete {
            return DataSet::new(graphs, pairs).context("the inputs together");
        }
        self.pair_up(graphs).context("the inputs together")
    }

    fn read_one(&self, path: &Path) -> Result<DataSet> {
        let is_house = self.from == Some(GraphFormat::House) || (self.from.is_none() && path.join("label").is_dir());
        if is_house {
            return Ok(DataSet::new(read_house(path, self.house_edges)?, vec![])?);
        }
        if path.is_dir() || (path == Path::new(BUILT_IN) && !path.exists()) {
            return self.with_pictures(&Input::load(path)?);
        }
        let data = data_files::read(path, self.from, (self.table(), self.gap), self.nodes.as_deref())?;
        self.with_pictures(&Input::of_file(data, path))
    }

    /// The data with its pictures, named as seen from the folder that the output is in.
    fn with_pictures(&self, input: &Input) -> Result<DataSet> {
        let to = self.output.as_deref().filter(|path| !files::is_standard(path)).map(files::folder_of);
        let mut graphs = input.data.graphs().to_vec();
        for (at, named) in graphs.iter_mut().enumerate() {
            if let (Picture::File(file), Some(to)) = (input.picture_of(at), to) {
                named.image = Some(files::seen_from(to, &file));
            }
        }
        Ok(DataSet::new(graphs, input.data.pairs().to_vec())?)
    }

    /// Pairs of graphs that have none; what is made is said.
    fn pair_up(&self, graphs: Vec<NamedGraph>) -> Result<DataSet> {
        let split = match self.split {
            None => SplitBy::None,
            Some(SplitChoice::Pairs) => SplitBy::LeftGraph,
            Some(SplitChoice::Specimens) => SplitBy::Specimens,
        };
        let pairing = match &self.pairs {
            Some(PairChoice::Ready(pairing)) => *pairing,
            Some(PairChoice::Template(id)) => {
                let template = graphs.iter().position(|named| named.id == *id);
                Pairing::Template(template.with_context(|| format!("--pairs: there is no graph {id:?}"))?)
            }
            None => {
                let pairing = Pairing::usual(graphs.len());
                say_drawn(graphs.len(), pairing.drawn(graphs.len()));
                pairing
            }
        };
        Ok(DataSet::paired(graphs, pairing, split)?)
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

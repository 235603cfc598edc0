//! `homolog match`: a model, or features alone, and two graphs, or all pairs of a data set, give matches.

use super::match_output::{Answer, Certainty, Columns, csv_header, status};
use super::{match_many, match_near, read_model, turned};
use crate::given::Given;
use crate::inputs::extension;
use crate::pair_input::PairInput;
use crate::progress::{Watch, say, stop_is_wanted};
use crate::stream::Format;
use crate::{Ending, figures, files, settings};
use anyhow::{Context, Result, bail};
use homolog::features::FeatureMap;
use homolog::geometry::Near;
use homolog::graph::Pair;
use homolog::matching::Workspace;
use homolog::model::{Matched, Model};
use homolog_viz::svg_to_png;
use std::path::{Path, PathBuf};

/// Matches two graphs, or all pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
The score of a match is its part of the total; its margin is how much the total falls if the match is forbidden: the smaller, the less
certain. Margins are exact without edges. With edges they need --margins and are upper bounds (\"at most\") unless the matcher proves them.
For networks --again 20 says how often each match is found again if a tenth of the edges is missing.
The matches of all pairs of a data set are written to a .csv or .jsonl file in order, as they are found; --resume continues an interrupted
run. The answers to a folder of shards (convert --shards) are written to a folder, one shard per job with --only.
--gate and --nearest match points by their distances alone, without a model and without a table of all pairs: exact, for any number of
points. The score of a match is then minus the distance.

Examples:
  homolog match model.json left.csv right.csv
  homolog match --features quadratic left.csv right.csv
  homolog match model.json --data faces.json anna bert --picture match.png
  homolog match model.json left.csv right.csv --seed nose=nose --forbid chin=brow
  homolog match --features graph --unmatched 0.6 a.graphml b.graphml
  homolog match --features graph a.graphml b.graphml --seed known.csv --again 20 -o alignment.csv --picture alignment.png
  homolog match model.json faces.json -o matches.csv
  homolog match model.json shards/ -o answers/ --only 3
  homolog match --gate 2 --unmatched 1.5 before.csv after.csv -o matches.csv")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Arguments {
    /// The model file (omit it with --features, --gate or --nearest), then the left and the right graph, each a file with one graph or an id in --data. To match
    /// all pairs of a data set, give the data set instead; a data set followed by two ids is the same as --data
    #[arg(value_names = ["MODEL", "LEFT", "RIGHT"], num_args = 1..=4, required = true)]
    names: Vec<String>,
    /// Match without a trained model, by these features: a set (see `homolog features`), JSON, or a file with it
    #[arg(long)]
    features: Option<String>,
    #[command(flatten)]
    near: match_near::Options,
    /// Matcher [default: the model's; without a model, the exact one for the features]
    #[arg(long)]
    matcher: Option<String>,
    /// Take the graphs from this data set or landmark table
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// For a model with an atlas: whether the specimens have every landmark and no other point [default: the model's setting]
    #[arg(long, value_enum)]
    presence: Option<super::PresenceOption>,
    /// For a model with an atlas: list with each match the points that include the true partner this often, such as 0.95
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    candidates: Option<f64>,
    #[command(flatten)]
    given: Given,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print JSON (same as --format json)
    #[arg(long)]
    json: bool,
    /// Write to a file: .csv for a table, .json or .jsonl for JSON, otherwise text as printed; for shards, a folder
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Compute how certain each match is, even if it takes long
    #[arg(long, conflicts_with = "no_margins")]
    margins: bool,
    /// Skip computing how certain each match is
    #[arg(long)]
    no_margins: bool,
    /// Match again this many times, each time without a random tenth of the edges: how often is each match found again?
    #[arg(long, value_name = "TIMES")]
    again: Option<std::num::NonZeroUsize>,
    /// Continue after the last pair in the output file
    #[arg(long, requires = "output")]
    pub(super) resume: bool,
    /// Match only this shard, counted from 0
    #[arg(long, value_name = "NUMBER", requires = "output")]
    pub(super) only: Option<usize>,
    /// Stop each match after this many seconds with the best so far and its bound
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Draw the match of two graphs into an .svg or .png file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

/// What to do if there is no model yet.
const WITHOUT_MODEL: &str = "the first file is the model; without one: homolog match --features linear LEFT RIGHT";
/// Without --margins, problems with more left nodes than this have none.
const QUICK_MARGINS: usize = 2000;

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    if let Some(near) = arguments.near.near(arguments.features.is_some())? {
        return arguments.run_near(near);
    }
    let (model, graphs) = match (&arguments.features, arguments.names.split_first()) {
        (None, Some((first, rest))) => {
            let model = read_model(Path::new(first));
            let is_json = extension(Path::new(first)) == "json";
            let model = if is_json { model } else { model.context(WITHOUT_MODEL) };
            let model = match arguments.presence {
                Some(presence) => model?.with_presence(presence.presence()).context("--presence")?,
                None => model?,
            };
            (Some(model), rest)
        }
        _ if arguments.presence.is_some() => bail!("--presence needs a model with an atlas"),
        _ => (None, &arguments.names[..]),
    };
    if let ([one], None) = (graphs, &arguments.data) {
        if arguments.picture.is_some() || !arguments.given.is_empty() {
            bail!("--picture, --seed and --forbid need two graphs, and {one} may have many");
        }
        return match_many::run(arguments, model, Path::new(one));
    }
    if arguments.resume || arguments.only.is_some() {
        bail!("--resume and --only need a data set, not two graphs");
    }
    arguments.run_pair(model, graphs)
}

impl Arguments {
    /// Matches two graphs.
    fn run_pair(&self, model: Option<Model>, names: &[String]) -> Result<Ending> {
        let limit = self.limit()?;
        let input = self.pair_input(names)?;
        let model = self.model(model, || vec![input.pair()])?;
        let input = input.seen_by(&model.image_descriptors())?;
        let pair = input.pair();
        let watch = Watch::new(None);
        watch.say(format!("matching {} and {}", input.left.id, input.right.id));
        let limited = watch.limited(limit);
        let control = limited.control("");
        let mut work = Workspace::with_control(&control);
        let about = || input.about();
        model.check_size(&pair).with_context(about)?;
        let [left, right] = [&pair.left, &pair.right].map(|graph| model.prepare_one(graph, &control));
        let (left, right) = (left.with_context(about)?, right.with_context(about)?);
        let matched = model.match_prepared(&left, &right, &pair, &mut work).with_context(about)?;
        let ended_by = limited.ended_by();
        let certainty = self.certainty_of(&matched, &control).with_context(about)?;
        let answer = Answer::new([&input.left, &input.right], &matched, certainty, (self.format(), ended_by))?;
        if pair.given.is_empty() {
            turned::note_for(&model, [&left, &right], &matched, &watch.control(""))?;
        }
        watch.end();
        // The edges of an atlas are between its landmarks, not in the specimens.
        let plain = FeatureMap::paper_linear();
        self.put_out(&input, &answer, if model.atlas().is_some() { &plain } else { &model.features })
    }

    /// Matches the points of two graphs by their distances alone.
    fn run_near(&self, near: Near) -> Result<Ending> {
        let limit = self.limit()?;
        let input = self.pair_input(&self.names)?;
        let watch = Watch::new(None);
        watch.say(format!("matching {} and {}", input.left.id, input.right.id));
        let limited = watch.limited(limit);
        let (problem, solution) = self.near.solve(&input, near, &limited.control("")).with_context(|| input.about())?;
        let ended_by = limited.ended_by();
        watch.end();
        let answer = Answer::of_list([&input.left, &input.right], &problem, solution, ended_by);
        self.put_out(&input, &answer, &FeatureMap::paper_linear())
    }

    /// Draws, writes and prints, as asked for; the picture shows the edges of these features.
    fn put_out(&self, input: &PairInput, answer: &Answer<'_>, features: &FeatureMap) -> Result<Ending> {
        if let Some(path) = &self.picture {
            draw(path, input, answer, features)?;
        }
        let format = self.format();
        let text = answer.text(format, answer.columns)?;
        let text = match format {
            Format::Csv => csv_header(answer.columns) + &text,
            Format::Json => text + "\n",
            _ => text,
        };
        match (&self.output, format) {
            (Some(path), _) => files::write(path, text.as_bytes())?,
            (None, Format::Table) => files::print(text.as_bytes())?,
            (None, _) => files::print_data(text.as_bytes())?,
        }
        Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
    }

    fn pair_input(&self, names: &[String]) -> Result<PairInput> {
        let (data, names) = match (&self.data, names) {
            (None, [data, left, right]) => (Some(PathBuf::from(data)), [left.clone(), right.clone()].to_vec()),
            (data, names) => (data.clone(), names.to_vec()),
        };
        let [left, right] = &names[..] else { bail!("need two graphs (LEFT and RIGHT), or one data set with pairs") };
        let mut input = PairInput::load(data.as_ref(), left, right)?;
        let (from, to) = (&input.left.graph, &input.right.graph);
        self.given.add_to(&mut input.given, |name| from.find_node(name), |name| to.find_node(name))?;
        Ok(input)
    }

    /// The model of the file, or one without learning whose spreads are those of the pairs; with the matcher of the command line.
    pub(super) fn model(&self, model: Option<Model>, pairs: impl FnOnce() -> Vec<Pair>) -> Result<Model> {
        let matcher = self.matcher.as_deref().map(settings::matcher).transpose()?;
        if let Some(mut model) = model {
            model.matcher = matcher.unwrap_or(model.matcher);
            return Ok(model);
        }
        let pairs = pairs();
        let features = settings::features(self.features.as_deref().unwrap_or_default(), &pairs)?;
        Ok(Model::unlearned_for(features, matcher, self.near.unmatched, &pairs)?)
    }

    /// Whether there are margins at all.
    fn has_margins(&self, model: &Model) -> bool {
        !self.no_margins && (self.margins || model.atlas().is_none() && model.features.edge.is_empty())
    }

    /// What a table says about how certain matches are.
    pub(super) fn columns(&self, model: &Model) -> Columns {
        let (found, candidates) = (self.again.is_some(), self.candidates.is_some());
        Columns { margins: self.has_margins(model), found, candidates }
    }

    /// How often matches are found again if that was asked for; margins if they were, or take no time that anybody would notice.
    pub(super) fn certainty_of(&self, matched: &Matched<'_>, control: &homolog::Control) -> homolog::Result<Certainty> {
        let is_quick = matched.solution.matching.left_count() <= QUICK_MARGINS;
        let is_wanted = self.has_margins(matched.model()) && (self.margins || is_quick);
        Ok(Certainty {
            margins: is_wanted.then(|| matched.margins(control)).transpose()?,
            found: self.again.map(|times| matched.found_again(times.get(), control)).transpose()?,
            candidates: self.candidates.map(|level| matched.candidates(level)).transpose()?,
        })
    }

    pub(super) fn limit(&self) -> Result<Option<std::time::Duration>> {
        self.time_limit.map(super::seconds).transpose()
    }

    /// How to write: as the name of the output file ends, or as asked for.
    pub(super) fn format(&self) -> Format {
        match self.output.as_deref().map(extension).unwrap_or_default().as_str() {
            "csv" => Format::Csv,
            "json" => Format::Json,
            "jsonl" => Format::Jsonl,
            _ if self.json => Format::Json,
            _ => self.format,
        }
    }
}

fn draw(path: &Path, input: &PairInput, answer: &Answer<'_>, features: &FeatureMap) -> Result<()> {
    let title = format!("{} matched to {}", input.left.id, input.right.id);
    let caption = status(&answer.solution, answer.tolerance, answer.ended_by);
    let rows = [(caption.as_str(), &answer.solution.matching)];
    let svg = figures::match_picture(&title, input, features, &rows, true)?;
    match extension(path).as_str() {
        "svg" => files::write(path, svg.as_bytes())?,
        "png" => files::write(path, &svg_to_png(&svg, 1.5)?)?,
        other => bail!("--picture {}: a picture ends in .svg or .png, not in {other:?}", path.display()),
    }
    say(&format!("Wrote {}.", path.display()));
    Ok(())
}

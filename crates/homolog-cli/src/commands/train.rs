//! `homolog train`: from labelled pairs to a model file.

mod from_shards;

use crate::hints::advised;
use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::reading::Reading;
use crate::training::FileKeeper;
use crate::{Ending, files, settings};
use anyhow::{Context, Result, bail};
use homolog::atlas::AtlasSettings;
use homolog::features::{Rotation, Turns};
use homolog::geometry::GreyImage;
use homolog::learn::{Centre, Clock, LearnerKind, Oracle};
use homolog::matching::LpRelaxation;
use homolog::task::{Outcome, Settings, Task};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Learns how to match from the labelled pairs of a data set
#[derive(clap::Args)]
#[command(after_help = "\
Without --features, every set of features that fits the data is tried and measured on the same held-out pairs.
Training uses the pairs of the split \"train\" (or of no split). Learner and λ are chosen on the pairs of the split \"validation\" or, if there
are none, by cross-validation over specimens. Unless λ is given, the initial weights stay if learning shows no clear gain on held-out pairs.
In a data set without pairs, all graphs whose nodes have the same names are paired. To train on several files, join them first with
`homolog convert a.csv b.csv -o data.json`.

Examples:
  homolog train faces.json -o faces.model.json
  homolog train wings.csv -o wings.model.json --features atlas
  homolog train walk.trc -o walker.model.json --features atlas --frames 20
  homolog train labelled.csv -o wings.model.json --features atlas --unlabelled others.csv
  homolog train wings.tps -o wings.model.json --features atlas --pictures
  homolog train landmarks.csv -o model.json --features quadratic --lambdas 1,0.1,0.01
  homolog train faces.json -o model.json --features quadratic --oracle relaxation --gap 0.01
  homolog train faces.json -o model.json --time-limit 60 --checkpoint run.json
  homolog train faces.json -o model.json --checkpoint run.json --resume
  homolog train shards/ -o model.json --features quadratic --lambda 0.1")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// Labelled graphs: a landmark table (.csv), TPS, TRC or any other file of docs/formats.md, a data set (.json, .jsonl), a folder of shards that `convert` made, or the word turntable
    data: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// auto, atlas (to name points), linear, quadratic, robust, attributes, graph, ... (see `homolog features`); a feature map as JSON or a
    /// file with one. auto tries the sets that fit the data and chooses on held-out pairs
    #[arg(long, default_value = "auto")]
    features: String,
    /// Learn an atlas from this many frames of a take, those that differ most [default: all]
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Also learn an atlas from these specimens, files or folders of files, ignoring any names; used only if held-out specimens become no less likely
    #[arg(long, value_name = "FILE", num_args = 1..)]
    unlabelled: Vec<PathBuf>,
    /// Allow left nodes to stay unmatched, at a learned cost
    #[arg(long)]
    unmatched: bool,
    /// Allowed rotation between graphs (tilted: up to 45°); every match searches for the best one [default: found from the labelled pairs for
    /// auto, otherwise as given]
    #[arg(long, value_enum)]
    pose: Option<super::PoseOption>,
    /// Treat mirror images as the same
    #[arg(long)]
    mirror: bool,
    /// For an atlas: whether new specimens have every landmark and no other point [default: auto, decided for each specimen]
    #[arg(long, value_enum)]
    presence: Option<super::PresenceOption>,
    /// Also compare the pictures around the points, and learn to find named points in new pictures
    #[arg(long)]
    pictures: bool,
    /// Matcher of the model: linear, exact, frank-wolfe, ...; or with settings as JSON [default: the exact one for its features]
    #[arg(long)]
    matcher: Option<String>,
    /// Matcher used during training, in the same form [default: linear, or frank-wolfe with edges]
    #[arg(long)]
    search: Option<String>,
    /// Learner: max-margin (the paper's), likelihood, groups (few factors, for few specimens), or auto (whichever does better on held-out pairs)
    #[arg(long, value_enum, default_value_t = LearnerOption::Auto)]
    learner: LearnerOption,
    /// Centre of the regularisation: the weights before learning, or zero (the paper's)
    #[arg(long, value_enum, default_value_t = CentreOption::Unlearned)]
    centre: CentreOption,
    /// Skip learning: write the model with its initial weights
    #[arg(long, conflicts_with_all = ["lambda", "lambdas", "checkpoint", "resume", "time_limit"])]
    unlearned: bool,
    /// Fix a weight, or all weights of a feature, at a value (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    fixed: Vec<String>,
    /// Keep these weights non-negative: names of weights or features, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    non_negative: Vec<String>,
    /// Finds the most violated constraint in training: a search, or the linear relaxation, which proves what is learned
    #[arg(long, value_enum, default_value_t = OracleName::Search)]
    oracle: OracleName,
    /// Loss: hamming, endpoint; or with settings as JSON
    #[arg(long, default_value = "hamming")]
    loss: String,
    /// Learn with this λ
    #[arg(long, conflicts_with = "lambdas", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Choose among these λ [default: found from the data]
    #[arg(long, value_delimiter = ',')]
    lambdas: Vec<f64>,
    /// Number of cross-validation folds if there are no validation pairs
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Stop when the gap between objective and bound is this small, relative to the objective
    #[arg(long, default_value_t = 1e-3, allow_negative_numbers = true)]
    gap: f64,
    /// Stop after this many seconds with the best so far [default: 60 for auto, otherwise none]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Save progress to FILE every ten seconds
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints
    #[arg(long, value_name = "SECONDS", default_value = "10", hide = true, value_parser = super::solve::parse_seconds)]
    checkpoint_every: Duration,
    /// Continue from the checkpoint, if it exists
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Print what was tried and chosen as JSON
    #[arg(long)]
    json: bool,
    /// Read DATA as a task: data and settings in one JSON file, the same that Python and the labelling page run
    #[arg(long, conflicts_with_all = ["checkpoint", "resume", "features", "lambda", "lambdas", "unlearned", "time_limit"])]
    task: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OracleName {
    Search,
    Relaxation,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LearnerOption {
    Auto,
    MaxMargin,
    Likelihood,
    Groups,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CentreOption {
    Unlearned,
    Zero,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let reading = Reading::within(arguments.time_limit.map(super::seconds).transpose()?);
    let task = arguments.task.then(|| files::read_text(&arguments.data)).transpose()?;
    let task =
        task.map(|text| Task::from_json(&text)).transpose().with_context(|| arguments.data.display().to_string())?;
    let settings = settings_of(arguments)?;
    settings.check()?;
    refuse_what_does_not_apply(arguments, &settings)?;
    let is_from_shards = task.is_none() && crate::shards::is_folder_of_shards(&arguments.data);
    let read = if task.is_some() || is_from_shards { None } else { Some(read(arguments, &settings)?) };
    // Until here Ctrl-C ends the program at once; from here on it asks for the best so far.
    drop(reading);
    let watch = Watch::new(None);
    let outcome = match (task, read) {
        (Some(task), _) => task.run(&watch.control(""), Some(&clock()))?,
        (None, Some((input, task))) => train(arguments, &input, &task, &watch)?,
        (None, None) => from_shards::train(arguments, &settings, &watch)?,
    };
    files::write(&arguments.output, outcome.model.to_json()?.as_bytes())?;
    watch.end();
    let text = if arguments.json {
        outcome.report.to_json()? + "\n"
    } else {
        format!("{}Wrote {}.\n", outcome.report, arguments.output.display())
    };
    files::print(text.as_bytes())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// The data, and the task that they are with these settings.
fn read(arguments: &Arguments, settings: &Settings) -> Result<(Input, Task)> {
    let descriptors = settings.image_descriptors();
    let input = Input::load(&arguments.data)?.seen_by(&descriptors)?;
    let task = Task { data: input.data.clone(), settings: settings.clone() };
    let mut more = Vec::new();
    for path in &arguments.unlabelled {
        more.extend(Input::load(path)?.seen_by(&descriptors)?.data.graphs().iter().cloned());
    }
    Ok((input, task.with_unlabelled(more)?))
}

/// Runs the task here, with a checkpoint if one is wanted.
fn train(arguments: &Arguments, input: &Input, task: &Task, watch: &Watch) -> Result<Outcome> {
    let control = watch.control("");
    let place = || arguments.data.display().to_string();
    let outcome = match arguments.checkpoint.as_deref() {
        None => task.run(&control, Some(&clock())).with_context(place)?,
        Some(path) => {
            let mut keeper = FileKeeper::new(Some(path), arguments.checkpoint_every);
            let name = task.fingerprint(&control).with_context(place)?;
            let mut run = keeper.begin(arguments.resume, name)?;
            task.resume(&control, Some(&clock()), Some((&mut run, &mut keeper))).with_context(place)?
        }
    };
    if task.settings.pictures && !stop_is_wanted() { seeing(outcome, input, task, watch) } else { Ok(outcome) }
}

/// The outcome, its model having also learned what the named points look like.
fn seeing(outcome: Outcome, input: &Input, task: &Task, watch: &Watch) -> Result<Outcome> {
    let mut pictures = Vec::new();
    for number in task.specimens() {
        pictures.extend(input.picture(number)?.map(|picture| (picture, &input.data.graphs()[number].graph)));
    }
    let mut specimens = Vec::new();
    for (picture, graph) in &pictures {
        specimens.push((GreyImage::new(picture.width, picture.height, &picture.pixels)?, &***graph));
    }
    Ok(outcome.seeing(&specimens, &watch.control("")))
}

fn clock() -> Clock {
    let start = Instant::now();
    Arc::new(move || start.elapsed().as_secs_f64())
}

/// Options that say nothing about what is to be learned.
fn refuse_what_does_not_apply(arguments: &Arguments, settings: &Settings) -> Result<()> {
    let about_pairs = [
        ("--checkpoint", arguments.checkpoint.is_some()),
        ("--fixed", !arguments.fixed.is_empty()),
        ("--non-negative", !arguments.non_negative.is_empty()),
        ("--matcher", arguments.matcher.is_some()),
        ("--lambda", arguments.lambda.is_some() || !arguments.lambdas.is_empty()),
    ];
    let given =
        |options: &[(&'static str, bool)]| options.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name);
    if !settings.is_atlas() && !arguments.unlabelled.is_empty() {
        return Err(advised("--unlabelled needs an atlas", "add `--features atlas`"));
    }
    if settings.is_atlas()
        && let Some(option) = given(&about_pairs)
    {
        bail!("{option} applies to models that match pairs, not to an atlas");
    }
    if arguments.frames.is_some() && !settings.is_atlas() {
        return Err(advised("--frames needs an atlas", "add `--features atlas`"));
    }
    if arguments.features == "auto"
        && !arguments.unlearned
        && let Some(option) = given(&about_pairs[..3])
    {
        return Err(advised(format!("{option} applies to one set of features"), "name the set with `--features`"));
    }
    Ok(())
}

/// The command line as settings.
fn settings_of(arguments: &Arguments) -> Result<Settings> {
    let mut fixed = BTreeMap::new();
    for text in &arguments.fixed {
        let (name, value) = text.rsplit_once('=').with_context(|| format!("--fixed {text}: expected NAME=VALUE"))?;
        let value: f64 =
            value.trim().parse().ok().with_context(|| format!("--fixed {text}: {value} is not a number"))?;
        fixed.insert(name.trim().to_string(), value);
    }
    let turns = arguments.pose.map(|pose| match pose {
        super::PoseOption::AsGiven => Turns::AsGiven,
        super::PoseOption::Tilted => Turns::Tilted,
        super::PoseOption::Any => Turns::Any,
    });
    let mirror = arguments.mirror;
    Ok(Settings {
        features: settings::features_or_name(&arguments.features)?,
        unmatched: arguments.unmatched,
        pose: (mirror || turns.is_some()).then(|| Rotation { turns: turns.unwrap_or_default(), mirror }),
        atlas: AtlasSettings {
            presence: arguments.presence.map(super::PresenceOption::presence),
            ..AtlasSettings::default()
        },
        frames: arguments.frames,
        pictures: arguments.pictures,
        unlearned: arguments.unlearned,
        learner: match arguments.learner {
            LearnerOption::Auto => LearnerKind::Auto,
            LearnerOption::MaxMargin => LearnerKind::MaxMargin,
            LearnerOption::Likelihood => LearnerKind::Likelihood,
            LearnerOption::Groups => LearnerKind::Groups,
        },
        centre: match arguments.centre {
            CentreOption::Unlearned => Centre::Unlearned,
            CentreOption::Zero => Centre::Zero,
        },
        matcher: arguments.matcher.as_deref().map(settings::matcher).transpose()?,
        search: arguments.search.as_deref().map(settings::matcher).transpose()?,
        oracle: match arguments.oracle {
            OracleName::Search => Oracle::Search,
            OracleName::Relaxation => Oracle::Relaxation(LpRelaxation::default()),
        },
        loss: settings::loss(&arguments.loss)?,
        lambdas: arguments.lambda.map_or_else(|| arguments.lambdas.clone(), |lambda| vec![lambda]),
        folds: arguments.folds,
        gap: arguments.gap,
        time_limit: arguments.time_limit.map(super::seconds).transpose()?.map(|limit| limit.as_secs_f64()),
        fixed,
        non_negative: arguments.non_negative.clone(),
        ..Settings::default()
    })
}

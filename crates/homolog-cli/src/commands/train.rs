//! `homolog train`: from labelled pairs to a model file.

mod atlas;
mod from_shards;

use super::short;
use crate::inputs::Input;
use crate::progress::{Watch, note, stop_is_wanted};
use crate::training::FileKeeper;
use crate::{Ending, files, selection, settings};
use anyhow::{Context, Result, bail};
use homolog::data::Split;
use homolog::features::{FeatureMap, Gradients, ImageDescriptor, Pose, Turns};
use homolog::learn::{
    Centre, Choice, Evaluation, Example, LearnerKind, Oracle, TEACHING_TURN, Trained, Trainer, TrainingSet,
    ValidatedBy, default_matcher, evaluate, fingerprint, weight_rules,
};
use homolog::loss::LossKind;
use homolog::matching::LpRelaxation;
use homolog::model::Model;
use homolog::optimize::Bundle;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Learns from the labelled pairs of a data set how to match
#[derive(clap::Args)]
#[command(after_help = "\
Without --features the sets that fit the data are tried, and the simplest of the best is taken.
Pairs of the split \"train\" (or of none) are learned from. Learner and λ are chosen by the pairs of the split \"validation\"; without any,
by cross-validation over specimens. Unless λ is given, the weights before learning are a candidate like the others: what is written is not
worse than they are, as far as the data can tell. A data set without pairs is taken as all pairs of graphs whose nodes have the same names. One file is learned
from; `homolog convert a.csv b.csv -o data.json` joins several.

Examples:
  homolog train faces.json -o faces.model.json
  homolog train wings.csv -o wings.model.json --features atlas
  homolog train landmarks.csv -o model.json --features quadratic --lambdas 1,0.1,0.01
  homolog train faces.json -o model.json --features quadratic --oracle relaxation --gap 0.01
  homolog train faces.json -o model.json --time-limit 60 --checkpoint run.json
  homolog train faces.json -o model.json --checkpoint run.json --resume
  homolog train shards/ -o model.json --features quadratic --lambda 0.1")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// A data set (.json, .jsonl), a landmark table (.csv), a folder of shards that `convert` made, or the word turntable
    data: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// auto, atlas (to name points), linear, quadratic, robust, attributes, graph, ... (see `homolog features`); a feature map as JSON or a
    /// file with one. auto tries what fits the data and takes the simplest of the best
    #[arg(long, default_value = "auto")]
    features: String,
    /// Left nodes may stay unmatched, at a price that is learned
    #[arg(long)]
    unmatched: bool,
    /// How far graphs may be turned against each other (tilted: up to 45°): the best turn is looked for in every match [default: for auto as
    /// far as the labelled pairs show, else as given]
    #[arg(long, value_enum)]
    pose: Option<PoseOption>,
    /// Mirror images are the same thing
    #[arg(long)]
    mirror: bool,
    /// Compare also what the pictures show around the points
    #[arg(long)]
    pictures: bool,
    /// How the model matches: linear, exact, frank-wolfe, ...; or with settings as JSON [default: exact for its features]
    #[arg(long)]
    matcher: Option<String>,
    /// The search during training, likewise [default: linear, or frank-wolfe with edges]
    #[arg(long)]
    search: Option<String>,
    /// Who learns: max-margin (the paper's), likelihood, or both, of which the better on held-out pairs is taken
    #[arg(long, value_enum, default_value_t = LearnerOption::Auto)]
    learner: LearnerOption,
    /// What λ draws the weights towards: those before learning, or zero (the paper's)
    #[arg(long, value_enum, default_value_t = CentreOption::Unlearned)]
    centre: CentreOption,
    /// Do not learn: write the model with the weights before learning
    #[arg(long, conflicts_with_all = ["lambda", "lambdas", "checkpoint", "resume", "time_limit"])]
    unlearned: bool,
    /// Hold weights at a value: the name of a weight or of a feature, = and the value; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    fixed: Vec<String>,
    /// Keep weights from being negative: names of weights or features, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    non_negative: Vec<String>,
    /// What training asks for the worst mistake: a search, or the linear relaxation, which proves what is learned
    #[arg(long, value_enum, default_value_t = OracleName::Search)]
    oracle: OracleName,
    /// hamming, endpoint; or with settings as JSON
    #[arg(long, default_value = "hamming")]
    loss: String,
    /// Learn with this λ
    #[arg(long, conflicts_with = "lambdas", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Learn with one of these λ [default: some that suit the data]
    #[arg(long, value_delimiter = ',')]
    lambdas: Vec<f64>,
    /// Parts for cross-validation where there are no validation pairs
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// End where objective and bound are this close, relative to the objective
    #[arg(long, default_value_t = 1e-3, allow_negative_numbers = true)]
    gap: f64,
    /// End after this many seconds with the best so far [default: 60 for auto, else none]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Write down every ten seconds how far training is
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, if it is there
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Print what was tried and chosen as JSON
    #[arg(long)]
    json: bool,
}

/// The word that stands for a choice of features.
const AUTO: &str = "auto";
/// Seconds for that choice, unless told otherwise.
const AUTO_SECONDS: f64 = 60.0;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OracleName {
    Search,
    Relaxation,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PoseOption {
    AsGiven,
    Tilted,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LearnerOption {
    Auto,
    MaxMargin,
    Likelihood,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CentreOption {
    Unlearned,
    Zero,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    if crate::shards::is_folder_of_shards(&arguments.data) {
        return from_shards::run(arguments);
    }
    let checkpoint = arguments.checkpoint.as_deref();
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let gradients = ImageDescriptor::Gradients(Gradients::default());
    let images = if arguments.pictures { vec![gradients] } else { Vec::new() };
    if arguments.features == "atlas" {
        return atlas::run(arguments, images, &Watch::new(limit));
    }
    let input = Input::load(&arguments.data)?.with_pairs()?;
    let mut loss = settings::loss(&arguments.loss)?;
    if let (true, LossKind::Hamming(hamming)) = (arguments.unmatched, &mut loss) {
        // Then it is a mistake to match a node that has no partner.
        hamming.unmatched_is_label = true;
    }
    let matcher = arguments.matcher.as_deref().map(settings::matcher).transpose()?;
    let is_auto = arguments.features == AUTO && !arguments.unlearned;
    let features = if is_auto { None } else { Some(features(arguments, &input, &images)?) };
    let input = input.seen_by(&features.as_ref().map_or(images.clone(), FeatureMap::image_descriptors))?;
    let of = |wanted: &[Option<Split>]| input.data.labelled(|pair| wanted.contains(&pair.split));
    let (training, validation) = (of(&[Some(Split::Train), None])?.0, of(&[Some(Split::Validation)])?.0);
    if training.is_empty() {
        bail!("{}: no pair with matches to learn from", arguments.data.display());
    }
    let Some(features) = features else {
        let named = [
            ("--checkpoint", checkpoint.is_some()),
            ("--fixed", !arguments.fixed.is_empty()),
            ("--non-negative", !arguments.non_negative.is_empty()),
        ];
        if let Some((option, _)) = named.into_iter().find(|(_, is_given)| *is_given) {
            bail!("{option} is about one set of features: name it with --features");
        }
        let trainer = Trainer { matcher, loss, ..trainer(arguments, None)? };
        let limit = limit.unwrap_or(Duration::from_secs_f64(AUTO_SECONDS));
        let unmatched = arguments.unmatched.then_some(true);
        let watch = Watch::new(None);
        let freedom = selection::Freedom { unmatched, pose: pose(arguments), images };
        let selected = selection::select(trainer, freedom, limit, &training, &validation, &watch)?;
        files::write(&arguments.output, Model::selected(&selected)?.to_json()?.as_bytes())?;
        watch.end();
        let text = if arguments.json { selection::json(&selected)? } else { selection::text(&selected)? };
        files::print(text.as_bytes())?;
        if !arguments.json {
            files::print(format!("Wrote {}.\n", arguments.output.display()).as_bytes())?;
        }
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    };
    let set = TrainingSet::new(&features, &loss, &training, &validation)?;
    if arguments.unlearned {
        let matcher = matcher.unwrap_or_else(|| default_matcher(&set.features));
        let model = Model::unlearned(set.features.clone(), matcher)?;
        files::write(&arguments.output, model.to_json()?.as_bytes())?;
        files::print(format!("Wrote {}, with the weights before learning.\n", arguments.output.display()).as_bytes())?;
        return Ok(Ending::Done);
    }
    note_left_out(&set);
    let trainer = Trainer { matcher, loss, ..trainer(arguments, Some(&set.features))? };
    let mut keeper = FileKeeper::new(checkpoint);
    let about = [serde_json::to_string(&trainer)?, serde_json::to_string(&set.features)?, input.data.to_json()?];
    let name = fingerprint(&about.each_ref().map(String::as_str));
    let mut run = keeper.begin(arguments.resume, name)?;
    let watch = Watch::new(limit);
    let control = watch.control("");
    let trained = trainer.resume(&set, &mut run, &control, &mut keeper)?;
    let model = Model::trained(&set, &trainer, &trained)?;
    files::write(&arguments.output, model.to_json()?.as_bytes())?;
    if arguments.json {
        watch.end();
        files::print(selection::json_of_one(&arguments.features, &trained)?.as_bytes())?;
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    }
    let text = summary(&trainer, &set, &trained, &watch)?;
    watch.end();
    files::print(format!("{text}Wrote {}.\n", arguments.output.display()).as_bytes())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// The features that were asked for, or the first that fit.
fn features(arguments: &Arguments, input: &Input, images: &[ImageDescriptor]) -> Result<FeatureMap> {
    let graphs = input.data.graphs().iter().map(|named| &*named.graph);
    let mut features = match arguments.features.as_str() {
        AUTO => settings::first_that_fits(graphs)?,
        features => settings::features(features, graphs)?,
    };
    features.unmatched |= arguments.unmatched;
    if let Some(pose) = pose(arguments) {
        features.pose = pose;
    }
    Ok(images.iter().fold(features, |features, &of| features.with_image(of)))
}

/// How graphs may be turned, where that was said.
fn pose(arguments: &Arguments) -> Option<Pose> {
    let turns = arguments.pose.map(|pose| match pose {
        PoseOption::AsGiven => Turns::AsGiven,
        PoseOption::Tilted => Turns::Tilted,
        PoseOption::Any => Turns::Any,
    });
    let mirror = arguments.mirror;
    (mirror || turns.is_some()).then(|| Pose { turns: turns.unwrap_or_default(), mirror })
}

/// How training is to be done.
fn trainer(arguments: &Arguments, features: Option<&FeatureMap>) -> Result<Trainer> {
    let mut fixed = Vec::new();
    for text in &arguments.fixed {
        let (name, value) = text.rsplit_once('=').with_context(|| format!("--fixed {text}: there is no ="))?;
        let value: f64 =
            value.trim().parse().ok().with_context(|| format!("--fixed {text}: {value} is not a number"))?;
        fixed.push((name.trim().to_string(), value));
    }
    let rules = match features {
        Some(features) if !(fixed.is_empty() && arguments.non_negative.is_empty()) => {
            weight_rules(features, &fixed, &arguments.non_negative)?
        }
        _ => Vec::new(),
    };
    Ok(Trainer {
        learner: match arguments.learner {
            LearnerOption::Auto => LearnerKind::Auto,
            LearnerOption::MaxMargin => LearnerKind::MaxMargin,
            LearnerOption::Likelihood => LearnerKind::Likelihood,
        },
        centre: match arguments.centre {
            CentreOption::Unlearned => Centre::Unlearned,
            CentreOption::Zero => Centre::Zero,
        },
        choice: Choice::OneStandardError,
        search: arguments.search.as_deref().map(settings::matcher).transpose()?,
        oracle: match arguments.oracle {
            OracleName::Search => Oracle::Search,
            OracleName::Relaxation => Oracle::Relaxation(LpRelaxation::default()),
        },
        lambdas: arguments.lambda.map_or_else(|| arguments.lambdas.clone(), |lambda| vec![lambda]),
        folds: arguments.folds,
        rules,
        bundle: Bundle { gap_tolerance: arguments.gap, ..Bundle::default() },
        ..Trainer::default()
    })
}

/// Says so where left nodes are not learned from.
fn note_left_out(set: &TrainingSet) {
    let left_out = |wanted: fn(&Example) -> usize| set.training.iter().map(wanted).sum::<usize>();
    let (all, unknown) = (left_out(Example::left_out), left_out(|example| example.unknown().len()));
    if all > unknown {
        note(&format!(
            "{} left nodes without a partner are not learned from; --unmatched lets the model leave nodes out, at a price it learns",
            all - unknown
        ));
    }
    let turned = set.turned.len();
    if turned > 0 {
        let all = turned + set.training.len();
        note(&format!(
            "{turned} of {all} pairs are turned by more than {TEACHING_TURN}° or mirrored, and are not learned from; --pose any turns them"
        ));
    }
    if unknown > 0 {
        note(&format!("{unknown} left nodes whose partner is not known are not learned from"));
    }
}

fn summary(trainer: &Trainer, set: &TrainingSet, trained: &Trained, watch: &Watch) -> Result<String> {
    let mut text = String::new();
    let by = match trained.by {
        ValidatedBy::Pairs { pairs } => format!("chosen by {pairs} validation pairs"),
        ValidatedBy::Specimens { folds } => format!("chosen by {folds}-fold cross-validation over specimens"),
        ValidatedBy::OnePair => "from one pair alone".to_string(),
        _ => "with nothing to choose by".to_string(),
    };
    let best = trained.best();
    let what = match best.lambda() {
        Some(lambda) => format!("{}, λ = {}", best.learner.name(), short(round(lambda))),
        None => "the weights before learning".to_string(),
    };
    writeln!(text, "{} pairs, {} weights: {what}, {by}.", trained.examples, best.weights.len())?;
    if trained.candidates.len() > 1 {
        writeln!(text, "\n  learner              λ   objective     gap   error on what was held out")?;
        for (number, candidate) in trained.candidates.iter().enumerate() {
            let mark = if number == trained.chosen { '*' } else { ' ' };
            let validation = candidate.validation.as_ref();
            let error = validation.map_or("-".to_string(), Evaluation::summary);
            let numbers = candidate.fit.as_ref().map_or(format!("{:>8} {:>11} {:>7}", "-", "-", "-"), |fit| {
                let minimum = &fit.minimum;
                // Below that it is rounding.
                let gap = if minimum.gap < 1e-12 { "0".to_string() } else { format!("{:.1e}", minimum.gap) };
                format!("{:>8} {:>11.5} {gap:>7}", short(round(minimum.lambda)), minimum.objective)
            });
            writeln!(text, "{mark} {:11} {numbers}   {error}", candidate.learner.name())?;
        }
        writeln!(text)?;
    }
    // Who asked to stop does not wait for an exact matcher. Examples in shards are not at hand.
    if !watch.is_over() && !set.training.is_empty() {
        let (matcher, control) = (trainer.matcher_for(set), watch.control("training pairs: "));
        let loss =
            |weights: &[f64]| evaluate(&set.training, matcher.matcher(), weights, &control).map(|all| all.mean());
        let (before, after) = (loss(&set.unlearned)?, loss(&best.weights)?);
        writeln!(text, "Loss on the training pairs: {before:.4} before learning, {after:.4} after.")?;
    }
    if !trained.complete {
        let ended_by = watch.ended_by().unwrap_or("a limit");
        writeln!(text, "Ended early by {ended_by}: not every λ was tried; this is the best of those that were.")?;
    }
    writeln!(text, "{}", trained.sentence())?;
    if let Some(fit) = trained.fit() {
        writeln!(text, "{}", fit.note())?;
    }
    Ok(text)
}

/// A λ to three digits.
fn round(lambda: f64) -> f64 {
    format!("{lambda:.2e}").parse().unwrap_or(lambda)
}

//! `homolog train`: from labelled pairs to a model file.

use super::short;
use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::training::{Keeper, Plan, Trained, examples};
use crate::{Ending, files, settings};
use anyhow::{Result, bail};
use homolog::data::dataset::DataSet;
use homolog::experiment::Split;
use homolog::features::FeatureMap;
use homolog::learn::{Example, MaxMargin, Oracle, evaluate, lambda_grid};
use homolog::loss::LossKind;
use homolog::matching::{LpRelaxation, Matching};
use homolog::model::{Model, TrainingRecord};
use homolog::optimize::Bundle;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Learns from the labelled pairs of a data set how to match
#[derive(clap::Args)]
#[command(after_help = "\
Pairs of the split \"train\" (or of none) are learned from. λ is chosen by the pairs of the split \"validation\"; without any, by
cross-validation. A data set without pairs is taken as all pairs of graphs whose nodes have the same names.

Examples:
  homolog train faces.json -o faces.model.json
  homolog train landmarks.csv -o model.json --features quadratic --lambdas 1,0.1,0.01
  homolog train faces.json -o model.json --features quadratic --oracle relaxation --gap 0.01
  homolog train faces.json -o model.json --time-limit 60 --checkpoint run.json
  homolog train faces.json -o model.json --checkpoint run.json --resume")]
pub(crate) struct Arguments {
    /// A data set (.json, .jsonl), a landmark table (.csv), or the word turntable
    data: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// linear, quadratic, geometry; a feature map as JSON or a file with one
    #[arg(long, default_value = "linear")]
    features: String,
    /// Left nodes may stay unmatched, at a price that is learned
    #[arg(long)]
    unmatched: bool,
    /// How the model matches: linear, exact, frank-wolfe, ...; or with settings as JSON [default: exact for its features]
    #[arg(long)]
    matcher: Option<String>,
    /// The search during training, likewise [default: linear, or frank-wolfe with edges]
    #[arg(long)]
    search: Option<String>,
    /// What training asks for the worst mistake: a search, or the linear relaxation, which proves what is learned
    #[arg(long, value_enum, default_value_t = OracleName::Search)]
    oracle: OracleName,
    /// hamming, endpoint; or with settings as JSON
    #[arg(long, default_value = "hamming")]
    loss: String,
    /// One λ instead of a choice
    #[arg(long, conflicts_with = "lambdas", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// The λ to choose from [default: seven decades that suit the data]
    #[arg(long, value_delimiter = ',')]
    lambdas: Vec<f64>,
    /// Parts for cross-validation where there are no validation pairs
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// End where objective and bound are this close, relative to the objective
    #[arg(long, default_value_t = 1e-3, allow_negative_numbers = true)]
    gap: f64,
    /// End after this many seconds with the best so far
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
    /// No line of progress
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OracleName {
    Search,
    Relaxation,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let checkpoint = arguments.checkpoint.as_deref();
    let outputs: Vec<&Path> = [Some(arguments.output.as_path()), checkpoint].into_iter().flatten().collect();
    files::check_outputs(&[&arguments.data], &outputs)?;
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let mut features = settings::features(&arguments.features)?;
    let mut loss = settings::loss(&arguments.loss)?;
    if arguments.unmatched {
        features.unmatched = true;
        // Then it is a mistake to match a node that has no partner.
        if let LossKind::Hamming(hamming) = &mut loss {
            hamming.unmatched_is_label = true;
        }
    }
    let or_default = |text: &Option<String>, default| text.as_deref().map_or(Ok(default), settings::matcher);
    let matcher = or_default(&arguments.matcher, settings::default_matcher(&features))?;
    let search = or_default(&arguments.search, settings::default_search(&features))?;
    let input = Input::load(&arguments.data)?.with_pairs()?;
    let of = |wanted: &[Option<Split>]| -> Result<Vec<Example>> {
        let pairs = input.data.pairs().iter().enumerate();
        let numbers: Vec<usize> = pairs.filter(|(_, pair)| wanted.contains(&pair.split)).map(|(n, _)| n).collect();
        examples(&input.data, &numbers, &features, &loss)
    };
    let training = of(&[Some(Split::Train), None])?;
    let validation = of(&[Some(Split::Validation)])?;
    if training.is_empty() {
        bail!("{}: no pair with matches to learn from", arguments.data.display());
    }
    note_partial_truths(&input.data, &features);
    let mut lambdas = match arguments.lambda {
        Some(lambda) => vec![lambda],
        None if arguments.lambdas.is_empty() => lambda_grid(&training, search.matcher())?,
        None => arguments.lambdas.clone(),
    };
    lambdas.sort_by(|a, b| b.total_cmp(a));
    let bundle = Bundle { gap_tolerance: arguments.gap, ..Bundle::default() };
    let oracle = match arguments.oracle {
        OracleName::Search => Oracle::Search,
        OracleName::Relaxation => Oracle::Relaxation(LpRelaxation::default()),
    };
    let learner = MaxMargin { bundle, oracle, ..MaxMargin::default() };
    let plan = Plan { features, search, matcher, loss, learner, lambdas, folds: arguments.folds };
    let mut keeper = Keeper::new(arguments.checkpoint.as_deref(), arguments.resume, &plan, &input.data)?;
    let watch = Watch::new(limit, arguments.quiet);
    let trained = plan.train(&training, &validation, &watch, &mut keeper)?;
    watch.say("loss on the training pairs".to_string());
    let text = summary(&plan, &trained, &training, &validation, watch.is_over())?;
    watch.end();
    let record = TrainingRecord::new(trained.fit(), plan.loss, training.len());
    let model = Model::new(plan.features.clone(), plan.matcher.clone(), &trained.fit().weights, Some(record))?;
    files::write(&arguments.output, model.to_json()?.as_bytes())?;
    files::print(format!("{text}Wrote {}.\n", arguments.output.display()).as_bytes())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// Says so where nodes without a partner have to be matched all the same.
fn note_partial_truths(data: &DataSet, features: &FeatureMap) {
    let lacks = |truth: &Matching| truth.matched_count() < truth.left_count().min(truth.right_count());
    let count = data.pairs().iter().filter(|pair| pair.truth.as_ref().is_some_and(lacks)).count();
    if count > 0 && !features.unmatched {
        eprintln!(
            "note: in {count} of {} pairs some nodes have no partner, but the model matches as many as it can; --unmatched lets it leave them out",
            data.pairs().len()
        );
    }
}

fn summary(
    plan: &Plan,
    trained: &Trained,
    training: &[Example],
    validation: &[Example],
    hurry: bool,
) -> Result<String> {
    let mut text = String::new();
    let folds = plan.folds.min(training.len());
    let by = match trained.validation.len() {
        _ if plan.lambdas.len() == 1 => "as given".to_string(),
        0 => "the middle one: there is nothing to choose by".to_string(),
        _ if validation.is_empty() => format!("chosen by {folds}-fold cross-validation"),
        _ => format!("chosen by {} validation pairs", validation.len()),
    };
    let fit = trained.fit();
    writeln!(
        text,
        "Learned {} weights from {} pairs; λ = {}, {by}.",
        fit.weights.len(),
        training.len(),
        short(fit.lambda)
    )?;
    if plan.lambdas.len() > 1 {
        writeln!(text, "\n         λ   objective     gap   validation loss")?;
        for (number, fit) in trained.fits.iter().enumerate() {
            let mark = if number == trained.chosen { '*' } else { ' ' };
            let validated = trained.validation.get(number);
            let loss = validated.map_or("-".to_string(), |v| format!("{:.4} ± {:.4}", v.mean(), v.standard_error()));
            writeln!(text, "{mark} {:>8} {:>11.5} {:>7.1e}   {loss}", short(fit.lambda), fit.objective, fit.gap)?;
        }
        writeln!(text)?;
    }
    if hurry {
        // Who asked to stop does not wait for an exact matcher.
        writeln!(text, "{}", fit.note())?;
        return Ok(text);
    }
    let matcher = plan.matcher.matcher();
    let before = evaluate(training, matcher, &plan.features.unlearned_weights())?;
    let after = evaluate(training, matcher, &fit.weights)?;
    writeln!(text, "Loss on the training pairs: {:.4} before learning, {:.4} after.", before.mean(), after.mean())?;
    if after.mean() > before.mean() {
        writeln!(
            text,
            "Warning: that is worse than without learning. Are the matches right, and do the features tell the nodes apart?"
        )?;
    }
    writeln!(text, "{}", fit.note())?;
    Ok(text)
}

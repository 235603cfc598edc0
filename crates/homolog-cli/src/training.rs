//! Training from a data set: examples, the choice of λ, checkpoints.

use crate::files;
use crate::progress::Watch;
use anyhow::{Context, Result, bail};
use homolog::data::dataset::DataSet;
use homolog::features::{Described, FeatureMap};
use homolog::learn::{Evaluation, Example, Fit, MaxMargin, Training, choose, evaluate};
use homolog::loss::LossKind;
use homolog::matching::Method;
use homolog::optimize::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A checkpoint is written this often, and at the end.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(10);

/// What is trained, and how.
#[derive(Serialize)]
pub(crate) struct Plan {
    pub(crate) features: FeatureMap,
    /// The search in training.
    pub(crate) search: Method,
    /// The matcher of the model, and of validation.
    pub(crate) matcher: Method,
    pub(crate) loss: LossKind,
    pub(crate) learner: MaxMargin,
    /// From large to small.
    pub(crate) lambdas: Vec<f64>,
    /// Parts for cross-validation where there are no validation examples; less than 2: none.
    pub(crate) folds: usize,
}

/// What came of it.
pub(crate) struct Trained {
    pub(crate) fits: Vec<Fit>,
    /// One for each λ that was validated.
    pub(crate) validation: Vec<Evaluation>,
    pub(crate) chosen: usize,
}

impl Trained {
    pub(crate) fn fit(&self) -> &Fit {
        &self.fits[self.chosen]
    }
}

/// The examples of these pairs of a data set; every graph is described once.
pub(crate) fn examples(
    data: &DataSet,
    pairs: &[usize],
    features: &FeatureMap,
    loss: &LossKind,
) -> Result<Vec<Example>> {
    let mut described: Vec<Option<Arc<Described>>> = vec![None; data.graphs().len()];
    let mut examples = Vec::new();
    for &index in pairs {
        let labelled = &data.pairs()[index];
        let Some(truth) = &labelled.truth else { continue };
        for graph in [labelled.left, labelled.right] {
            if described[graph].is_none() {
                let named = &data.graphs()[graph];
                let about = || format!("graph {:?}", named.id);
                described[graph] = Some(Arc::new(features.describe(&named.graph).with_context(about)?));
            }
        }
        let (Some(left), Some(right)) = (&described[labelled.left], &described[labelled.right]) else { continue };
        let instance = features.instance(left, right)?;
        let name = |graph: usize| data.graphs()[graph].id.as_str();
        let example = Example::new(instance, &data.pair(index)?, truth.clone(), loss.loss(), index as u64);
        let about = || format!("pair {index} ({:?}, {:?})", name(labelled.left), name(labelled.right));
        examples.push(example.with_context(about)?);
    }
    Ok(examples)
}

/// Everything that a run of training remembers, in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkpoint {
    /// What the run is about: another plan or other data do not fit.
    fingerprint: String,
    /// Training on all examples, then on all but one fold each.
    runs: Vec<Training>,
}

/// Where checkpoints go.
pub(crate) struct Keeper<'a> {
    path: Option<&'a Path>,
    checkpoint: Checkpoint,
    last: Instant,
}

impl<'a> Keeper<'a> {
    /// A new run, or the one in the file.
    pub(crate) fn new(path: Option<&'a Path>, resume: bool, plan: &Plan, data: &DataSet) -> Result<Self> {
        let plan_text = serde_json::to_string(plan)?;
        let fingerprint = format!("{:016x}", hash(plan_text.bytes().chain(data.to_json()?.bytes())));
        let mut checkpoint = Checkpoint { fingerprint: fingerprint.clone(), runs: Vec::new() };
        if let Some(path) = path.filter(|path| resume && path.exists()) {
            let text = files::read_text(path)?;
            checkpoint = serde_json::from_str(&text).with_context(|| format!("checkpoint {}", path.display()))?;
            if checkpoint.fingerprint != fingerprint {
                bail!(
                    "the checkpoint {} belongs to other data or other settings; leave out --resume to begin anew",
                    path.display()
                );
            }
        }
        Ok(Self { path, checkpoint, last: Instant::now() })
    }

    fn save(&mut self) -> Result<()> {
        if let Some(path) = self.path {
            files::write(path, serde_json::to_string(&self.checkpoint)?.as_bytes())?;
        }
        self.last = Instant::now();
        Ok(())
    }
}

impl Plan {
    /// Learns at every λ and chooses one: by the validation examples, or by cross-validation, or the middle one if there is nothing to
    /// choose by.
    pub(crate) fn train(
        &self,
        training: &[Example],
        validation: &[Example],
        watch: &Watch,
        keeper: &mut Keeper<'_>,
    ) -> Result<Trained> {
        if validation.is_empty() {
            return self.train_in_folds(training, watch, keeper);
        }
        let mut fits = Vec::new();
        let mut evaluations: Vec<Evaluation> = Vec::new();
        for count in 1..=self.lambdas.len() {
            fits = self.path(0, &self.lambdas[..count], training, "", watch, keeper)?;
            let Some(fit) = fits.get(count - 1) else { break };
            if watch.is_over() {
                break;
            }
            watch.say(format!("λ {:e}: validation", fit.lambda));
            let evaluation = evaluate(validation, self.matcher.matcher(), &fit.weights)?;
            // A smaller λ could only tie.
            let is_last = evaluation.mean() == 0.0 || fit.stop == StopReason::Interrupted;
            evaluations.push(evaluation);
            if is_last {
                break;
            }
        }
        // Stopped before anything was validated: the last λ begun.
        let chosen = if evaluations.is_empty() {
            fits.len().saturating_sub(1)
        } else {
            choose(&fits[..evaluations.len()], &evaluations)?
        };
        Ok(Trained { fits, validation: evaluations, chosen })
    }

    fn train_in_folds(&self, examples: &[Example], watch: &Watch, keeper: &mut Keeper<'_>) -> Result<Trained> {
        let fits = self.path(0, &self.lambdas, examples, "", watch, keeper)?;
        let folds = self.folds.min(examples.len());
        let mut losses: Vec<Vec<f64>> = vec![Vec::new(); fits.len()];
        let mut proven = vec![0; fits.len()];
        let chooses = folds >= 2 && self.lambdas.len() > 1;
        let mut done = 0;
        for fold in 0..if chooses { folds } else { 0 } {
            let pick = |wanted: bool| -> Vec<Example> {
                let of_fold = examples.iter().enumerate().filter(|(n, _)| (n % folds == fold) == wanted);
                of_fold.map(|(_, example)| example.clone()).collect()
            };
            let (rest, held_out) = (pick(false), pick(true));
            let about = format!("fold {} of {folds}, ", fold + 1);
            let fold_fits = self.path(fold + 1, &self.lambdas[..fits.len()], &rest, &about, watch, keeper)?;
            let complete =
                fold_fits.len() == fits.len() && fold_fits.iter().all(|fit| fit.stop != StopReason::Interrupted);
            if !complete || watch.is_over() {
                break;
            }
            for (n, fit) in fold_fits.iter().enumerate() {
                watch.say(format!("{about}λ {:e}: validation", fit.lambda));
                let part = evaluate(&held_out, self.matcher.matcher(), &fit.weights)?;
                proven[n] += part.proven;
                losses[n].extend(part.losses);
            }
            done += 1;
        }
        if done == 0 {
            let chosen = fits.len() / 2;
            return Ok(Trained { fits, validation: Vec::new(), chosen });
        }
        let validation: Vec<Evaluation> =
            losses.into_iter().zip(proven).map(|(losses, proven)| Evaluation { losses, proven }).collect();
        let chosen = choose(&fits, &validation)?;
        Ok(Trained { fits, validation, chosen })
    }

    /// One run along a path, continued from the checkpoint and written there now and then.
    fn path(
        &self,
        number: usize,
        lambdas: &[f64],
        examples: &[Example],
        about: &str,
        watch: &Watch,
        keeper: &mut Keeper<'_>,
    ) -> Result<Vec<Fit>> {
        let search = self.search.matcher();
        if keeper.checkpoint.runs.len() == number {
            keeper.checkpoint.runs.push(self.learner.start(examples, search, None)?);
        }
        loop {
            let due = keeper.path.map(|_| keeper.last + BETWEEN_CHECKPOINTS);
            let Some(run) = keeper.checkpoint.runs.get_mut(number) else { bail!("the checkpoint lacks run {number}") };
            let fits = self.learner.resume(run, lambdas, examples, search, &mut |step| {
                let flow = watch.step(about, step);
                if due.is_some_and(|due| Instant::now() >= due) { ControlFlow::Break(()) } else { flow }
            })?;
            let is_done = fits.len() == lambdas.len() && fits.iter().all(|fit| fit.stop != StopReason::Interrupted);
            keeper.save()?;
            if is_done || watch.is_over() {
                return Ok(fits);
            }
        }
    }
}

/// FNV-1a: tells one plan from another; no defence against ill will.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

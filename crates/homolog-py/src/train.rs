//! Training: settings and a data set in, a model and how it was obtained out.

use crate::data::DataSet;
use crate::errors::plain;
use crate::run;
use homolog::data::Split;
use homolog::features::{FeatureMap, FeatureSet};
use homolog::learn::{
    AutoTrainer, Evaluation, LabelledPairs, Oracle, Trained as Outcome, Trainer, TrainingSet, weight_rules,
};
use homolog::loss::LossKind;
use homolog::matching::{LpRelaxation, Method};
use homolog::model::Model;
use homolog::optimize::Bundle;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The settings of a matcher, as Python writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    features: Value,
    learner: Value,
    pose: Value,
    lambdas: Vec<f64>,
    unmatched: bool,
    matcher: Option<Method>,
    oracle: String,
    loss: Value,
    tolerance: f64,
    folds: usize,
}

/// A trained model, and how it was obtained.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct Trained {
    pub(crate) model: String,
    pub(crate) report: String,
}

#[pymethods]
impl Trained {
    /// The text of the model file.
    fn model_json(&self) -> &str {
        &self.model
    }

    /// What was tried and what was chosen.
    fn report_json(&self) -> &str {
        &self.report
    }
}

/// Learns. If Ctrl-C is pressed, raises, or with `keep` returns the best so far.
#[pyfunction]
#[pyo3(signature = (data, settings, importance, start, weights, fixed, jobs, callback, keep))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by the Python side")]
pub(crate) fn train(
    py: Python<'_>,
    data: &DataSet,
    settings: &str,
    importance: Option<Vec<f64>>,
    start: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    fixed: Option<BTreeMap<String, f64>>,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
    keep: bool,
) -> PyResult<Trained> {
    let settings = Settings::from_json(settings).map_err(|sentence| plain(py, &sentence))?;
    let task =
        Task::new(&settings, data, importance, start, weights, fixed).map_err(|sentence| plain(py, &sentence))?;
    let outcome = run::run_observed(py, jobs, callback, keep, move |control| task.run(control))?;
    match outcome.interrupted {
        Some(error) if !keep => Err(error),
        _ => Ok(outcome.value),
    }
}

/// What to learn, and how.
struct Task {
    /// The features have to be chosen; these are the ones that fit the data without further search.
    auto: bool,
    features: FeatureMap,
    trainer: Trainer,
    training: LabelledPairs,
    validation: LabelledPairs,
    importance: Option<Vec<f64>>,
    start: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    fixed: Vec<(String, f64)>,
}

impl Task {
    fn new(
        settings: &Settings,
        data: &DataSet,
        importance: Option<Vec<f64>>,
        start: Option<Vec<f64>>,
        weights: Option<Vec<f64>>,
        fixed: Option<BTreeMap<String, f64>>,
    ) -> Result<Self, String> {
        let sentence = |error: homolog::Error| error.to_string();
        let of = |wanted: &[Option<Split>]| data.inner.labelled(|pair| wanted.contains(&pair.split));
        let (training, positions) = of(&[Some(Split::Train), None]).map_err(sentence)?;
        let (validation, _) = of(&[Some(Split::Validation)]).map_err(sentence)?;
        if training.is_empty() {
            return Err("no pair has matches to learn from".to_string());
        }
        let trainer = settings.trainer()?;
        let graphs = || data.inner.graphs().iter().map(|named| &*named.graph);
        let features = settings.features(|name| {
            let map = match name {
                "auto" => FeatureSet::suited(graphs()).and_then(|set| set.features(graphs())),
                name => FeatureMap::named(name, graphs()),
            };
            map.map_err(sentence)
        })?;
        let importance = importance.map(|all| positions.iter().map(|&position| all[position]).collect());
        let fixed = fixed.unwrap_or_default().into_iter().collect();
        let auto = settings.features == "auto";
        Ok(Self { auto, features, trainer, training, validation, importance, start, weights, fixed })
    }

    /// Whether the features have to be chosen: anything said about weights refers to those of one set.
    fn is_auto(&self) -> bool {
        let is_plain = self.importance.is_none() && self.start.is_none() && self.weights.is_none();
        self.auto && is_plain && self.fixed.is_empty()
    }

    /// Tries the sets of features that fit the data and chooses the simplest of the best.
    fn select(self, control: &homolog::Control) -> homolog::Result<Trained> {
        let start = Instant::now();
        let auto = AutoTrainer {
            trainer: self.trainer,
            unmatched: self.features.unmatched.then_some(true),
            pose: Some(self.features.pose),
            // Atlases have their own class.
            atlas: false,
            images: Vec::new(),
            time_limit: Some(AUTO_SECONDS),
            clock: Arc::new(move || start.elapsed().as_secs_f64()),
        };
        let selected = auto.train(&self.training, &self.validation, control)?;
        let model = Model::selected(&selected)?;
        let mut fields = selected.trained().map_or_else(|| json!({}), |trained| report(&model, trained));
        fields["chosen"] = json!(selected.tried[selected.chosen].name);
        fields["skipped"] = json!(selected.skipped);
        fields["choice"] = json!(selected.sentence());
        Ok(Trained { model: model.to_json()?, report: fields.to_string() })
    }

    fn run(mut self, control: &homolog::Control) -> homolog::Result<Trained> {
        if self.is_auto() {
            return self.select(control);
        }
        let mut set = TrainingSet::new(&self.features, &self.trainer.loss, &self.training, &self.validation)?;
        if let Some(importance) = &self.importance {
            let all = importance.iter().enumerate();
            let kept = all.filter(|(number, _)| !set.turned.contains(number)).map(|(_, &count)| count);
            let examples = set.training.into_iter().zip(kept);
            set.training = examples.map(|(example, count)| example.with_importance(count)).collect::<Result<_, _>>()?;
        }
        if let Some(weights) = self.weights {
            let matcher = self.trainer.matcher_for(&set);
            let model = Model::new(set.features, matcher, &weights, None)?;
            return Ok(Trained {
                model: model.to_json()?,
                report: json!({"sentence": GIVEN, "complete": true}).to_string(),
            });
        }
        if !self.fixed.is_empty() {
            self.trainer.rules = weight_rules(&set.features, &self.fixed, &[])?;
        }
        if let Some(start) = self.start.filter(|start| start.len() == set.unlearned.len()) {
            set.unlearned = start;
        }
        let trained = self.trainer.train(&set, control)?;
        let model = Model::trained(&set, &self.trainer, &trained)?;
        Ok(Trained { model: model.to_json()?, report: report(&model, &trained).to_string() })
    }
}

/// Seconds for choosing the features, as in the program.
const AUTO_SECONDS: f64 = 60.0;
const GIVEN: &str = "The weights are as given; nothing was learned.";

impl Settings {
    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("settings: {error}"))
    }

    /// A set of features by its name, or a feature map.
    pub(crate) fn features(
        &self,
        named: impl FnOnce(&str) -> Result<FeatureMap, String>,
    ) -> Result<FeatureMap, String> {
        let map = match self.features.as_str() {
            Some(name) => named(name)?,
            None => serde_json::from_value(self.features.clone()).map_err(|error| format!("features: {error}"))?,
        };
        let mut map = posed(map, &self.pose)?;
        map.unmatched |= self.unmatched;
        Ok(map)
    }

    pub(crate) fn trainer(&self) -> Result<Trainer, String> {
        let mut loss: LossKind = named("loss", &self.loss)?;
        if let (true, LossKind::Hamming(hamming)) = (self.unmatched, &mut loss) {
            // Then matching a node that has no partner is a mistake.
            hamming.unmatched_is_label = true;
        }
        let oracle = match self.oracle.as_str() {
            "search" => Oracle::Search,
            "relaxation" => Oracle::Relaxation(LpRelaxation::default()),
            other => return Err(format!("oracle is {other:?}: there are search and relaxation")),
        };
        let learner = serde_json::from_value(self.learner.clone()).map_err(|error| format!("learner: {error}"))?;
        Ok(Trainer {
            learner,
            loss,
            matcher: self.matcher.clone(),
            oracle,
            lambdas: self.lambdas.clone(),
            folds: self.folds,
            bundle: Bundle { gap_tolerance: self.tolerance, ..Bundle::default() },
            ..Trainer::default()
        })
    }
}

/// The same features with poses other than as given, by name or with settings.
fn posed(features: FeatureMap, pose: &Value) -> Result<FeatureMap, String> {
    if pose == "as-given" {
        return Ok(features);
    }
    let refused = |error: serde_json::Error| format!("pose: {error}");
    let mut fields = serde_json::to_value(&features).map_err(refused)?;
    fields["pose"] = if pose.is_string() { json!({ "turns": pose }) } else { pose.clone() };
    serde_json::from_value(fields).map_err(refused)
}

/// Something that settings files refer to by name, alone or with settings.
fn named<T: serde::de::DeserializeOwned>(what: &str, given: &Value) -> Result<T, String> {
    let value = if given.is_string() { json!({ "name": given }) } else { given.clone() };
    serde_json::from_value(value).map_err(|error| format!("{what}: {error}"))
}

/// The model's training record, all candidates, and the sentences.
pub(crate) fn report(model: &Model, trained: &Outcome) -> Value {
    let mut report = json!(model.training);
    let fit = trained.fit();
    let mean = |evaluation: Option<&Evaluation>| evaluation.map(Evaluation::mean);
    let candidate = |(number, candidate): (usize, &homolog::learn::Candidate)| {
        let minimum = candidate.fit.as_ref().map(|fit| &fit.minimum);
        let validation = candidate.validation.as_ref();
        json!({
            "learner": candidate.learner,
            "chosen": number == trained.chosen,
            "lambda": candidate.lambda(),
            "objective": minimum.map(|minimum| minimum.objective),
            "gap": minimum.map(|minimum| minimum.gap),
            "error": mean(validation),
            "standard_error": validation.map(Evaluation::standard_error),
            "weights": candidate.weights,
        })
    };
    if let Value::Object(fields) = &mut report {
        let candidates: Vec<Value> = trained.candidates.iter().enumerate().map(candidate).collect();
        fields.insert("candidates".into(), json!(candidates));
        fields.insert("history".into(), json!(fit.map(|fit| &fit.minimum.history)));
        fields.insert("sentence".into(), json!(trained.sentence()));
        fields.insert("note".into(), json!(fit.map(homolog::learn::Fit::note)));
        fields.insert("complete".into(), json!(trained.complete));
        fields.insert("by".into(), json!(trained.by));
    }
    report
}

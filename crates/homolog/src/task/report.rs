//! [`TaskReport`]: how a model came about. As JSON it is the same for the same task, to the byte: what differs from run to run, the seconds
//! that a match takes, is not part of it. `text.rs` puts it into words.

use super::LeftOut;
use crate::Result;
use crate::atlas::{Pose, Presence};
use crate::learn::{
    Candidate, Chosen, Evaluation, Evidence, Fit, LearnerName, Selected, Skipped, Trained, Tried, ValidatedBy,
    expected_error,
};
use crate::model::{Model, TrainingRecord};
use crate::optimize::Step;
use serde::{Deserialize, Serialize};

pub(super) const GIVEN: &str = "The weights are as given; nothing was learned.";
pub(super) const UNLEARNED: &str = "The weights are those before learning.";

/// How a model came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskReport {
    /// The set of features that the model uses, or `atlas`.
    pub chosen: String,
    /// Every set that was tried, the simplest first; one if it was named.
    pub tried: Vec<Tried>,
    /// Sets that were not tried.
    pub skipped: Vec<Skipped>,
    /// Why this set, if there was a choice.
    pub choice: Option<String>,
    /// What learning achieved.
    pub sentence: String,
    /// What is proven about it.
    pub note: Option<String>,
    /// What candidates were compared by.
    pub by: Option<ValidatedBy>,
    /// The weights before learning, and those of every learner and λ.
    pub candidates: Vec<CandidateReport>,
    /// The steps of training at the chosen λ.
    pub history: Vec<Step>,
    /// How the weights came about, as the model file has it.
    pub training: Option<TrainingRecord>,
    /// What the atlas is, if the model is one.
    pub atlas: Option<AtlasReport>,
    /// What was not learned from.
    pub left_out: LeftOut,
    /// Attributes that all graphs have and that do not count: no feature compares them, or they tell nothing.
    pub unused: Vec<String>,
    /// How many pairs were drawn, of how many, if the data set listed none and there would have been too many.
    pub drawn: Option<[usize; 2]>,
    /// Whether everything was completed; `false` if a limit or an interrupt ended it.
    pub complete: bool,
    /// Seconds that a match takes for each set that was tried.
    #[serde(skip)]
    pub seconds: Vec<Option<f64>>,
}

/// Weights that training considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CandidateReport {
    /// Who learned them.
    pub learner: LearnerName,
    /// Whether they are the model's.
    pub chosen: bool,
    /// Their λ.
    pub lambda: Option<f64>,
    /// λ/2 |w - centre|² + risk.
    pub objective: Option<f64>,
    /// How far that may be from the least, relative to it.
    pub gap: Option<f64>,
    /// The mean loss on what was held out.
    pub error: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The error with how certain it is, in words.
    pub summary: Option<String>,
    /// The weights.
    pub weights: Vec<f64>,
}

/// What an atlas is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AtlasReport {
    /// How many landmarks it knows.
    pub landmarks: usize,
    /// How many edges.
    pub edges: usize,
    /// From how many specimens.
    pub specimens: usize,
    /// How specimens may be oriented.
    pub pose: Pose,
    /// Whether all landmarks are present.
    pub presence: Presence,
    /// How much each kind of evidence counts, by name.
    pub weights: Vec<(String, f64)>,
    /// Whether that was learned.
    pub learned: bool,
    /// Names given to left-out specimens: how many were right, and how many there were; `None` if nothing was left out.
    pub right: Option<[usize; 2]>,
}

impl TaskReport {
    fn new(chosen: &str, sentence: String) -> Self {
        Self {
            chosen: chosen.to_string(),
            tried: Vec::new(),
            skipped: Vec::new(),
            choice: None,
            sentence,
            note: None,
            by: None,
            candidates: Vec::new(),
            history: Vec::new(),
            training: None,
            atlas: None,
            left_out: LeftOut::default(),
            unused: Vec::new(),
            drawn: None,
            complete: true,
            seconds: Vec::new(),
        }
    }

    pub(super) fn as_given(name: &str, sentence: &str) -> Self {
        Self { tried: vec![Tried::named(name)], ..Self::new(name, sentence.to_string()) }
    }

    pub(super) fn of_training(name: &str, model: &Model, trained: &Trained) -> Self {
        let tried = Tried::of(name, trained.before(), trained.after());
        Self { tried: vec![tried], ..Self::of_weights(name, model, trained) }
    }

    pub(super) fn of_choice(model: &Model, selected: &Selected) -> Self {
        let name = &selected.tried[selected.chosen].name;
        let own = match &selected.outcome {
            Chosen::Weights { set, trained, .. } => {
                Self { left_out: set.left_out.clone(), ..Self::of_weights(name, model, trained) }
            }
            Chosen::Atlas { .. } => {
                let atlas = AtlasReport::of(model, false);
                Self { atlas, training: model.training.clone(), ..Self::new(name, selected.learning()) }
            }
        };
        Self {
            tried: selected.record(),
            skipped: selected.skipped.clone(),
            choice: Some(selected.sentence()),
            seconds: selected.tried.iter().map(|tried| tried.match_seconds).collect(),
            ..own
        }
    }

    fn of_weights(name: &str, model: &Model, trained: &Trained) -> Self {
        let candidates = trained.candidates.iter().enumerate();
        let fit = trained.fit();
        Self {
            note: fit.map(Fit::note),
            by: Some(trained.by),
            candidates: candidates.map(|(at, own)| CandidateReport::of(own, at == trained.chosen)).collect(),
            history: fit.map_or_else(Vec::new, |fit| fit.minimum.history.clone()),
            training: model.training.clone(),
            complete: trained.complete,
            ..Self::new(name, trained.sentence())
        }
    }

    pub(super) fn of_atlas(model: &Model, evidence: &Evidence, labelled: usize, is_stopped: bool) -> Self {
        let atlas = AtlasReport::of(model, evidence.is_learned);
        let mut tried = Tried::named("atlas");
        let right = atlas.as_ref().and_then(|atlas| atlas.right);
        // Names given to specimens without labels are not known to be right: from one labelled specimen nothing is known about new ones.
        tried.error = right.filter(|_| labelled > 1).map(|[right, names]| 1.0 - right as f64 / names.max(1) as f64);
        // Which specimens err is not recorded: the next one may not err at all.
        let errors = tried.error.map(|error| vec![error; labelled]);
        tried.interval = errors.and_then(|errors| expected_error(&errors)).map(|[_, high]| [0.0, high]);
        let complete = right.is_some() || !is_stopped;
        let sentence = match right {
            Some([right, names]) => format!(
                "Each specimen left out in turn and named by the others: {right} of {names} names right ({:.2} %).",
                100.0 * right as f64 / names.max(1) as f64
            ),
            None if is_stopped => {
                "Stopped before calibration: names have no confidence, and all evidence counts equally.".to_string()
            }
            None => "Names have no confidence: there is nothing to calibrate them by.".to_string(),
        };
        Self { tried: vec![tried], atlas, complete, ..Self::new("atlas", sentence) }
    }

    /// The report as JSON, the same for the same task.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map_err(|error| crate::Error::DataSet { place: "report".to_string(), reason: error.to_string() })
    }
}

impl CandidateReport {
    fn of(candidate: &Candidate, chosen: bool) -> Self {
        let minimum = candidate.fit.as_ref().map(|fit| &fit.minimum);
        let validation = candidate.validation.as_ref();
        Self {
            learner: candidate.learner,
            chosen,
            lambda: candidate.lambda(),
            objective: minimum.map(|minimum| minimum.objective),
            gap: minimum.map(|minimum| minimum.gap),
            error: validation.map(Evaluation::mean),
            standard_error: validation.map(Evaluation::standard_error),
            summary: validation.map(Evaluation::summary),
            weights: candidate.weights.clone(),
        }
    }
}

impl AtlasReport {
    fn of(model: &Model, learned: bool) -> Option<Self> {
        let atlas = model.atlas()?;
        Some(Self {
            landmarks: atlas.landmarks.len(),
            edges: atlas.edges.len(),
            specimens: atlas.specimens,
            pose: atlas.pose,
            presence: atlas.presence,
            weights: model.weight_names().map(str::to_string).zip(model.weights()).collect(),
            learned,
            right: atlas.calibration.as_ref().map(|names| [names.right, names.names]),
        })
    }
}

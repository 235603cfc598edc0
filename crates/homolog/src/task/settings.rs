//! [`Settings`]: everything that may be said about learning, with its defaults; what a setting implies is worked out here.

use crate::atlas::{AtlasSettings, Pose, Presence};
use crate::features::{Common, FeatureMap, FeatureSet, Gradients, ImageDescriptor, Rotation, Turns};
use crate::learn::{Centre, Choice, Clock, LearnerKind, Oracle, Trainer, weight_rules};
use crate::loss::LossKind;
use crate::matching::Method;
use crate::model::Model;
use crate::optimize::Bundle;
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The word for a choice among the sets that fit.
const AUTO: &str = "auto";
/// The word for a model that names points.
const ATLAS: &str = "atlas";
/// Seconds for that choice, unless told otherwise.
const SECONDS_TO_CHOOSE: f64 = 60.0;

/// A time limit that is shorter leaves so many seconds to describe the graphs: a limit of 0 asks for weights as they are before learning.
const SECONDS_TO_BEGIN: f64 = 1.0;

/// How to learn. The defaults are those of every shell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Settings {
    /// What is compared: `auto` (what fits the data is tried), `atlas`, the name of a [`FeatureSet`], or a feature map.
    pub features: Features,
    /// Left nodes may stay unmatched, at a learned cost. For `auto`, `false` means that both are tried if nodes lack partners.
    pub unmatched: bool,
    /// The price of leaving a node unmatched before learning: a cost per left node, or in networks the kept edges that each edge between
    /// such nodes counts. Nodes may then stay unmatched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// How graphs may be rotated against each other; `None`: for `auto` as far as the labelled pairs show, otherwise as given.
    pub pose: Option<Rotation>,
    /// What is about an atlas alone; its pose and presence follow from `pose` and `unmatched` if they are not given.
    pub atlas: AtlasSettings,
    /// For an atlas, learn only from this many specimens, those that differ most: frames of a take are many, and neighbours are alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<usize>,
    /// Learn an atlas also from graphs none of whose points has a name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unlabelled: bool,
    /// Compare also what the pictures show around the points. The caller has to give the graphs these numbers as attributes.
    pub pictures: bool,
    /// Do not learn: the weights before learning.
    pub unlearned: bool,
    /// Which learner.
    pub learner: LearnerKind,
    /// What λ pulls the weights towards.
    pub centre: Centre,
    /// How the model matches; `None`: exactly.
    pub matcher: Option<Method>,
    /// The search in training; `None`: the one that suits the features.
    pub search: Option<Method>,
    /// What max-margin learning asks for the worst violator.
    pub oracle: Oracle,
    /// What is minimised. If nodes may stay unmatched, the Hamming loss counts matching a node that has no partner as a mistake.
    pub loss: LossKind,
    /// λ to choose from; empty: some that suit the data.
    pub lambdas: Vec<f64>,
    /// The most folds of cross-validation, if there are no validation pairs.
    pub folds: usize,
    /// Training ends when objective and bound are this close, relative to the objective.
    pub gap: f64,
    /// Seconds, if the caller has a clock; `None`: 60 for `auto`, otherwise as long as it takes.
    pub time_limit: Option<f64>,
    /// Weights, or all weights of a feature, that are fixed at a value.
    pub fixed: BTreeMap<String, f64>,
    /// Weights, or features, that may not be negative.
    pub non_negative: Vec<String>,
    /// How often each pair of the data set counts; `None`: once.
    pub importance: Option<Vec<f64>>,
    /// The weights to start from instead of those before learning.
    pub start: Option<Vec<f64>>,
    /// Weights to use as they are: nothing is learned.
    pub weights: Option<Vec<f64>>,
}

/// A set of features by name, or a feature map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Features {
    /// `auto`, `atlas`, or the name of a [`FeatureSet`].
    Named(String),
    /// These.
    Map(Box<FeatureMap>),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            features: Features::Named(AUTO.to_string()),
            unmatched: false,
            price: None,
            pose: None,
            atlas: AtlasSettings::default(),
            frames: None,
            unlabelled: false,
            pictures: false,
            unlearned: false,
            learner: LearnerKind::default(),
            centre: Centre::default(),
            matcher: None,
            search: None,
            oracle: Oracle::default(),
            loss: LossKind::default(),
            lambdas: Vec::new(),
            folds: 5,
            gap: 1e-3,
            time_limit: None,
            fixed: BTreeMap::new(),
            non_negative: Vec::new(),
            importance: None,
            start: None,
            weights: None,
        }
    }
}

impl Settings {
    /// Whether every number is in its range, used or not.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<()> {
        Error::unless_at_least_0("price", self.price.unwrap_or(0.0).abs())?;
        self.lambdas.iter().try_for_each(|&lambda| Error::unless_positive("lambda", lambda))?;
        Error::unless_counted("frames", self.frames.unwrap_or(1))?;
        Error::unless_at_least_0("gap", self.gap)?;
        Error::unless_at_least_0("time_limit", self.time_limit.unwrap_or(0.0))
    }

    /// Whether points are to be named.
    #[must_use]
    pub fn is_atlas(&self) -> bool {
        self.is_named(ATLAS)
    }

    /// Whether sets of features are to be tried. What is said about weights is about one set, the one that suits the graphs.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        let is_plain = self.importance.is_none() && self.start.is_none() && self.weights.is_none();
        let is_free = self.fixed.is_empty() && self.non_negative.is_empty();
        self.is_named(AUTO) && is_plain && is_free && !self.unlearned
    }

    /// Whether the caller says how weights are learned, which no atlas could obey.
    pub(super) fn is_about_weights(&self) -> bool {
        let is_usual = self.learner == LearnerKind::default() && self.centre == Centre::default();
        !self.lambdas.is_empty() || !is_usual
    }

    fn is_named(&self, wanted: &str) -> bool {
        matches!(&self.features, Features::Named(name) if name == wanted)
    }

    /// The features for graphs and pairs that have this in common.
    ///
    /// # Errors
    /// No set of that name; graphs that lack what it is about.
    pub fn features(&self, common: &Common) -> Result<FeatureMap> {
        let mut map = match &self.features {
            Features::Map(map) => (**map).clone(),
            Features::Named(name) if name == AUTO => FeatureSet::suited_for(common)?.features_for(common)?,
            Features::Named(name) => FeatureSet::of_name(name)?.features_for(common)?,
        };
        map.check()?;
        if self.unmatched || self.price.is_some() {
            map = map.with_unmatched();
        }
        map.pose = self.pose.unwrap_or(map.pose);
        Ok(self.images().into_iter().fold(map, FeatureMap::with_image))
    }

    /// Reads settings as JSON; whatever is left out has its default.
    ///
    /// # Errors
    /// A text that is not JSON, or a setting that is not known or not of its kind, by name.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut reader);
        let settings: Self =
            read.map_err(|error| Error::Unreadable { format: "settings", reason: error.to_string() })?;
        settings.check()?;
        Ok(settings)
    }

    /// Attributes of all graphs that do not count in the model, because no feature compares them or because they tell nothing.
    pub(super) fn unused(&self, common: &Common, model: &Model) -> Vec<String> {
        let pictures: Vec<String> = self.images().iter().flat_map(ImageDescriptor::names).collect();
        let mut unused = match model.atlas() {
            Some(atlas) => {
                let used = atlas.attribute_names();
                common.node_attributes.iter().filter(|name| !used.contains(name)).cloned().collect()
            }
            None => model.features.unused_attributes(common),
        };
        let silent = model.weight_names().zip(model.weights()).filter(|&(_, weight)| weight == 0.0);
        unused.extend(silent.filter_map(|(name, _)| name.strip_prefix("attributes ")).map(str::to_string));
        unused.retain(|name| !pictures.contains(name));
        unused
    }

    /// What a report calls the features.
    pub(super) fn set_name(&self, common: &Common) -> String {
        match &self.features {
            Features::Map(_) => "features".to_string(),
            Features::Named(name) if name == AUTO => {
                FeatureSet::suited_for(common).map_or(AUTO, FeatureSet::name).to_string()
            }
            Features::Named(name) => name.clone(),
        }
    }

    /// How pictures are described, if they are.
    #[must_use]
    pub fn images(&self) -> Vec<ImageDescriptor> {
        if self.pictures { vec![ImageDescriptor::Gradients(Gradients::default())] } else { Vec::new() }
    }

    /// How pictures are described by whatever these settings may need: what a caller has to compute from them.
    #[must_use]
    pub fn image_descriptors(&self) -> Vec<ImageDescriptor> {
        let own = match &self.features {
            Features::Map(map) => map.image_descriptors(),
            Features::Named(_) => Vec::new(),
        };
        own.into_iter().chain(self.images()).collect()
    }

    /// How training is done, before rules for weights, which are about one set of features.
    #[must_use]
    pub fn trainer(&self) -> Trainer {
        let mut loss = self.loss;
        if let (true, LossKind::Hamming(hamming)) = (self.unmatched, &mut loss) {
            hamming.unmatched_is_label = true;
        }
        Trainer {
            learner: self.learner,
            centre: self.centre,
            choice: Choice::OneStandardError,
            loss,
            matcher: self.matcher.clone(),
            search: self.search.clone(),
            oracle: self.oracle.clone(),
            lambdas: self.lambdas.clone(),
            folds: self.folds,
            bundle: Bundle { gap_tolerance: self.gap, ..Bundle::default() },
            ..Trainer::default()
        }
    }

    /// The same with the rules for the weights of these features.
    ///
    /// # Errors
    /// A weight that the features do not have.
    pub fn trainer_for(&self, features: &FeatureMap) -> Result<Trainer> {
        if self.fixed.is_empty() && self.non_negative.is_empty() {
            return Ok(self.trainer());
        }
        let fixed: Vec<(String, f64)> = self.fixed.clone().into_iter().collect();
        Ok(Trainer { rules: weight_rules(features, &fixed, &self.non_negative)?, ..self.trainer() })
    }

    pub(super) fn atlas_settings(&self) -> AtlasSettings {
        let pose = self.pose.map(|pose| match pose {
            Rotation { mirror: true, .. } => Pose::Any,
            Rotation { turns: Turns::AsGiven, .. } => Pose::AsGiven,
            Rotation { turns: Turns::Tilted, .. } => Pose::Tilted,
            _ => Pose::Rotated,
        });
        let own = &self.atlas;
        AtlasSettings {
            pose: own.pose.or(pose),
            presence: own.presence.or(self.unmatched.then_some(Presence::Partial)),
            plain: own.plain || self.unlearned,
            images: own.images.iter().copied().chain(self.images()).collect(),
            ..own.clone()
        }
    }

    pub(super) fn seconds_to_choose(&self) -> f64 {
        self.time_limit.unwrap_or(SECONDS_TO_CHOOSE)
    }

    /// The caller's control, also ended by a time limit that was given: for what has to be done before there is an answer, which has at least
    /// [`SECONDS_TO_BEGIN`].
    pub(super) fn limited_to_begin(&self, control: &Control, clock: Option<&Clock>) -> Control {
        let (Some(seconds), Some(clock)) = (self.time_limit, clock) else { return control.clone() };
        let (clock, end) = (Arc::clone(clock), clock() + seconds.max(SECONDS_TO_BEGIN));
        control.clone().interrupted_by(move || clock() >= end)
    }

    /// The caller's control, also ended by the time limit. A choice among sets divides its time itself.
    #[must_use]
    pub fn limited(&self, control: &Control, clock: Option<&Clock>) -> Control {
        match (self.time_limit, clock) {
            (Some(seconds), Some(clock)) if !self.is_choice() => {
                let (clock, end) = (Arc::clone(clock), clock() + seconds);
                control.clone().interrupted_by(move || clock() >= end)
            }
            _ => control.clone(),
        }
    }
}

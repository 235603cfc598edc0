//! [`Model`]: features, matcher and weights, and how they were learned. A model file is JSON that a person can read and compare:
//! data, never code. Numbers come back bit for bit.

use crate::atlas::Atlas;
use crate::features::{Described, FeatureMap, Instance};
use crate::graph::{Graph, Pair};
use crate::learn::{
    Evaluation, LabelledPairs, LearnerName, Outcome, RelaxedProof, Selected, Trained, Trainer, TrainingSet, Tried,
    ValidatedBy,
};
use crate::loss::LossKind;
use crate::matching::{Compatibility, Method, Restrictions, RightOrder, Solution, Workspace};
use crate::optimize::StopReason;
use crate::{Control, Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of the file format that this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
/// No model file is longer than this, in bytes; a longer text is refused unread.
pub const MAX_FILE_SIZE: usize = 64 << 20;

/// Everything that is needed to match new graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: Format,
    /// The library that wrote the file; empty in older ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    library: String,
    /// What is compared.
    pub features: FeatureMap,
    /// How problems are solved.
    pub matcher: Method,
    /// One per feature, with its name beside it.
    weights: Vec<NamedWeight>,
    /// How the weights came about; `None` for a model without learning.
    pub training: Option<TrainingRecord>,
    /// Where each named point belongs, for a model that names points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) atlas: Option<Atlas>,
}

/// The first lines of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Format {
    kind: String,
    version: u32,
}

/// Just enough of a file to tell what it is before the rest is understood.
#[derive(Deserialize)]
struct Head {
    format: Format,
}

const KIND: &str = "homolog-model";
/// What a file says about who wrote it.
const LIBRARY: &str = concat!("homolog ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedWeight {
    name: String,
    weight: f64,
}

/// How weights came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecord {
    /// Who learned them; `unlearned`: learning did not help, and they are as before.
    #[serde(default)]
    pub learner: LearnerName,
    /// The loss that was trained against.
    pub loss: LossKind,
    /// How many examples there were.
    pub examples: usize,
    /// How weights before and after learning did on what was held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationRecord>,
    /// The regularisation.
    pub lambda: Option<f64>,
    /// λ/2 |w - centre|² + risk.
    pub objective: Option<f64>,
    /// The mean slack, or the mean of -log of the truth's share.
    pub risk: Option<f64>,
    /// A lower bound on the objective of any weights, if certified.
    pub bound: Option<f64>,
    /// (objective - bound) / objective.
    pub gap: Option<f64>,
    /// Whether bound and gap are proven.
    pub certified: bool,
    /// Why training ended.
    pub stop: Option<StopReason>,
    /// Evaluations of the risk at this λ.
    pub evaluations: usize,
    /// Problems solved, up to this λ on the path.
    pub solves: usize,
    /// What is proven besides, if it was trained against the linear relaxation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedProof>,
    /// The sets of features that were tried, where the features were not given; without times, which differ from run to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// The version of the library.
    pub version: String,
}

/// Errors on what was held out of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidationRecord {
    /// What was held out.
    pub by: ValidatedBy,
    /// The mean loss before learning, and its standard error.
    pub before: Option<[f64; 2]>,
    /// The mean loss with the weights taken, and its standard error.
    pub after: [f64; 2],
}

impl TrainingRecord {
    /// Of an atlas that was chosen among others: it has no weights that were learned.
    fn of_choice(specimens: usize, tried: Vec<Tried>) -> Self {
        Self {
            learner: LearnerName::Unlearned,
            loss: LossKind::default(),
            examples: specimens,
            validation: None,
            lambda: None,
            objective: None,
            risk: None,
            bound: None,
            gap: None,
            certified: false,
            stop: None,
            evaluations: 0,
            solves: 0,
            relaxed: None,
            tried,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }

    /// What is worth keeping of a run of training.
    #[must_use]
    pub fn new(trained: &Trained, loss: LossKind) -> Self {
        let numbers = |evaluation: &Evaluation| [evaluation.mean(), evaluation.standard_error()];
        let fit = trained.fit();
        let minimum = fit.map(|fit| &fit.minimum);
        Self {
            learner: trained.best().learner,
            loss,
            examples: trained.examples,
            validation: trained.after().map(|after| ValidationRecord {
                by: trained.by,
                before: trained.before().map(numbers),
                after: numbers(after),
            }),
            lambda: minimum.map(|minimum| minimum.lambda),
            objective: minimum.map(|minimum| minimum.objective),
            risk: minimum.map(|minimum| minimum.risk),
            bound: minimum.map(|minimum| minimum.bound),
            gap: minimum.map(|minimum| minimum.gap),
            certified: fit.is_some_and(|fit| fit.certified),
            stop: minimum.map(|minimum| minimum.stop),
            evaluations: minimum.map_or(0, |minimum| minimum.history.len()),
            solves: fit.map_or(0, |fit| fit.solves),
            relaxed: fit.and_then(|fit| fit.relaxed),
            tried: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

impl Model {
    /// Puts a model together.
    ///
    /// # Errors
    /// Weights too many, too few or not finite; features that make no sense.
    pub fn new(
        features: FeatureMap,
        matcher: Method,
        weights: &[f64],
        training: Option<TrainingRecord>,
    ) -> Result<Self> {
        let names = features.names();
        if names.len() != weights.len() {
            return Err(Error::Size { what: "weights of the model", expected: names.len(), found: weights.len() });
        }
        let weights = names.into_iter().zip(weights).map(|(name, &weight)| NamedWeight { name, weight }).collect();
        let format = Format { kind: KIND.to_string(), version: FORMAT_VERSION };
        let model = Self { format, library: LIBRARY.to_string(), features, matcher, weights, training, atlas: None };
        model.check()?;
        Ok(model)
    }

    /// Learns from labelled pairs how to match: the usual case in one call.
    ///
    /// ```
    /// use homolog::features::FeatureMap;
    /// use homolog::graph::Graph;
    /// use homolog::learn::{LabelledPairs, Trainer};
    /// use homolog::matching::{Matching, Workspace};
    /// use homolog::model::Model;
    /// use std::sync::Arc;
    ///
    /// let wing = |x: f64| Graph::from_points(ndarray::array![[0.0, 0.0], [4.0 + x, 0.5], [3.0, 2.0 - x], [1.0, 2.0]]).map(Arc::new);
    /// let (left, right) = (wing(0.0)?, wing(0.3)?);
    /// let mut pairs = LabelledPairs::new();
    /// pairs.add(&left, &right, Matching::identity(4))?;
    /// let model = Model::fit(&FeatureMap::paper_linear(), &pairs, &Trainer::default())?;
    /// let pair = homolog::graph::Pair::new(left, wing(0.1)?);
    /// let solution = model.solve(&pair, &mut Workspace::new())?;
    /// assert_eq!(solution.matching.matched_count(), 4);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// No pairs; a graph without the parts that features or loss need; a setting out of range.
    pub fn fit(features: &FeatureMap, pairs: &LabelledPairs, trainer: &Trainer) -> Result<Self> {
        let set = TrainingSet::new(features, &trainer.loss, pairs, &LabelledPairs::new())?;
        let trained = trainer.train(&set, &Control::new())?;
        Self::trained(&set, trainer, &trained)
    }

    /// The model that a run of training came to.
    ///
    /// # Errors
    /// Weights that are not those of the set's features.
    pub fn trained(set: &TrainingSet, trainer: &Trainer, trained: &Trained) -> Result<Self> {
        let record = TrainingRecord::new(trained, trainer.loss);
        Self::new(set.features.clone(), trainer.matcher_for(set), trained.weights(), Some(record))
    }

    /// The model that was selected among sets of features, with a record of what was tried.
    ///
    /// # Errors
    /// As [`Self::trained`].
    pub fn selected(selected: &Selected) -> Result<Self> {
        match &selected.outcome {
            Outcome::Weights { set, trainer, trained } => {
                let mut model = Self::trained(set, trainer, trained)?;
                if let Some(training) = &mut model.training {
                    training.tried = selected.record();
                }
                Ok(model)
            }
            Outcome::Atlas { atlas, weights } => {
                let mut model = Self::of_atlas((**atlas).clone(), weights)?;
                model.training = Some(TrainingRecord::of_choice(atlas.specimens, selected.record()));
                Ok(model)
            }
        }
    }

    /// Matching without learning: every weight is 1.
    ///
    /// # Errors
    /// Features that make no sense.
    pub fn unlearned(features: FeatureMap, matcher: Method) -> Result<Self> {
        let weights = features.unlearned_weights();
        Self::new(features, matcher, &weights, None)
    }

    /// The library that made the model, with its version; empty where its file does not say.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// The weights, in the order of the features.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.weights.iter().map(|entry| entry.weight).collect()
    }

    /// The names of the weights.
    pub fn weight_names(&self) -> impl Iterator<Item = &str> {
        self.weights.iter().map(|entry| entry.name.as_str())
    }

    /// Matches two graphs. With an atlas both are named and joined by their names, which proves nothing about the match. The right nodes are solved in a shuffled order, always the same, so ties are not broken towards equal
    /// numbers.
    ///
    /// # Errors
    /// A graph without the parts that the features need.
    pub fn solve(&self, pair: &Pair, work: &mut Workspace) -> Result<Solution> {
        if self.atlas.is_some() {
            return Ok(self.join_by_name(pair, work)?.0);
        }
        self.solve_described(&self.instance(pair)?, work)
    }

    /// [`Self::solve`] for graphs that are described already.
    ///
    /// # Errors
    /// Graphs that were described by another model.
    pub fn solve_described(&self, instance: &Instance, work: &mut Workspace) -> Result<Solution> {
        Ok(self.solve_instance(instance, work)?.0)
    }

    /// The solution, and the problem where a table of it was made: large linear ones are solved without.
    pub(crate) fn solve_instance(
        &self,
        instance: &Instance,
        work: &mut Workspace,
    ) -> Result<(Solution, Option<Compatibility>)> {
        let weights = self.weights();
        if let Method::Linear(linear) = self.matcher
            && instance.is_streamed()
        {
            let order = RightOrder::random(instance.right().node_count(), 0);
            return Ok((instance.solve_streamed(linear, &weights, &order, work)?, None));
        }
        let problem = instance.compatibility(&weights)?;
        let solution = self.solve_shuffled(&problem, work)?;
        Ok((solution, Some(problem)))
    }

    /// The problem of matching two graphs under this model.
    ///
    /// # Errors
    /// A graph without the parts that the features need; graphs too large for the matcher, which is seen before anything is computed.
    pub fn problem(&self, pair: &Pair) -> Result<(Instance, Compatibility)> {
        let instance = self.instance(pair)?;
        let problem = instance.compatibility(&self.weights())?;
        Ok((instance, problem))
    }

    /// The two graphs as the model sees them.
    pub(crate) fn instance(&self, pair: &Pair) -> Result<Instance> {
        let has_edges = !self.features.edge.is_empty();
        self.matcher.check_size(pair.left.node_count(), pair.right.node_count(), has_edges)?;
        // As given there is no turn to try.
        let posed = if self.features.pose.is_as_given() { pair } else { &self.posed(pair)? };
        let (left, right) = (Arc::new(self.describe(&posed.left)?), Arc::new(self.describe(&posed.right)?));
        self.features.instance(&left, &right)?.restricted(&pair.given)
    }

    /// What the model sees of a graph: computed once, for all the problems it is in.
    ///
    /// # Errors
    /// A graph without the parts that the features need.
    pub fn describe(&self, graph: &Graph) -> Result<Described> {
        self.features.describe(graph)
    }

    /// [`Self::problem`] of graphs that are described already.
    ///
    /// # Errors
    /// Graphs that were described by another model; seeds or forbidden pairs that cannot hold.
    pub fn problem_of(
        &self,
        left: &Arc<Described>,
        right: &Arc<Described>,
        given: &Restrictions,
    ) -> Result<(Instance, Compatibility)> {
        let instance = self.features.instance(left, right)?.restricted(given)?;
        let problem = instance.compatibility(&self.weights())?;
        Ok((instance, problem))
    }

    /// Solves a problem of this model with its right nodes in a shuffled order, always the same.
    pub(crate) fn solve_shuffled(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        let order = RightOrder::random(problem.right_count(), 0);
        let mut shuffled = Compatibility::linear(Array2::zeros((0, 0)));
        order.shuffle_into(problem, &mut shuffled)?;
        let mut solution = self.matcher.matcher().solve(&shuffled, work)?;
        order.carry_back_solution(&mut solution)?;
        Ok(solution)
    }

    /// The model as a file: indented JSON with a line feed at the end.
    ///
    /// # Errors
    /// None in practice: every model can be written.
    pub fn to_json(&self) -> Result<String> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| Error::ModelFile { reason: error.to_string() })?;
        Ok(text + "\n")
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// A text that is too long, not JSON, of another kind or a newer version, with fields this version does not know, or whose weights do
    /// not belong to its features; with line and column where that makes sense.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |reason: String| Error::ModelFile { reason };
        if text.len() > MAX_FILE_SIZE {
            return Err(bad(format!("{} bytes are more than the {MAX_FILE_SIZE} a model file may have", text.len())));
        }
        let head: Head = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if head.format.kind != KIND {
            return Err(bad(format!("this is a \"{}\" file, not a \"{KIND}\" file", head.format.kind)));
        }
        if head.format.version == 0 || head.format.version > FORMAT_VERSION {
            let version = head.format.version;
            return Err(bad(format!(
                "format version {version} is not known; this program reads up to {FORMAT_VERSION}"
            )));
        }
        let model: Self = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<()> {
        self.features.check()?;
        self.check_atlas()?;
        let names = self.features.names();
        if names.len() != self.weights.len() {
            let (expected, found) = (names.len(), self.weights.len());
            return Err(Error::Size { what: "weights of the model", expected, found });
        }
        for (index, (entry, name)) in self.weights.iter().zip(names).enumerate() {
            if entry.name != name {
                let reason = format!("weight {index} is called \"{}\" but the features call it \"{name}\"", entry.name);
                return Err(Error::ModelFile { reason });
            }
            if !entry.weight.is_finite() {
                return Err(Error::BadEntry { what: "weights", index, value: entry.weight });
            }
        }
        Ok(())
    }
}

//! [`Task`]: data and settings in, a model and a report out. Every decision that the program, the Python package, a labelling page or
//! shards would otherwise each make is made here: which pairs are learned from, which set of features, pose, atlas and price, what is
//! left out, and what is said about it. Both sides are JSON, and the same task gives the same bytes whoever runs it.
//!
//! ```
//! use homolog::Control;
//! use homolog::task::Task;
//!
//! let text = r#"{"data": {"format": {"kind": "homolog-data", "version": 1}, "graphs": [
//!     {"id": "a", "points": [[0, 0], [4, 0.5], [3, 2], [1, 2]], "names": ["p", "q", "r", "s"]},
//!     {"id": "b", "points": [[0, 0], [4.3, 0.5], [3, 1.7], [1, 2]], "names": ["p", "q", "r", "s"]}
//! ]}, "settings": {"features": "linear"}}"#;
//! let outcome = Task::from_json(text)?.run(&Control::new(), None)?;
//! assert_eq!(outcome.report.chosen, "linear");
//! assert_eq!(outcome.model.weights().len(), 60);
//! # Ok::<(), homolog::Error>(())
//! ```
//!
//! The library has no clock: a caller that brings none has no time limit.

mod from_shards;
mod losses;
mod pairing;
mod report;
mod seeing;
mod settings;
mod text;
mod unlabelled;

pub use from_shards::FromShards;
pub use losses::losses;
pub use pairing::paired;
pub(crate) use report::AtlasReport;
pub use report::TaskReport;
pub use settings::{Features, Settings};

use crate::data::Split;
use crate::data::dataset::DataSet;
use crate::graph::Graph;
pub(crate) use crate::learn::LeftOut;
use crate::learn::{AutoTrainer, Checkpoint, Clock, Keeper, LabelledPairs, TrainingSet, fingerprint};
use crate::matching::Compatibility;
use crate::model::Model;
use crate::specimens::unlabelled::fit as fit_with_unlabelled;
use crate::takes::differing_frames;
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What to learn from, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Graphs, and pairs with their matches. Without pairs: all pairs of graphs that share names, or some of them if there are many.
    pub data: DataSet,
    /// Everything else.
    #[serde(default)]
    pub settings: Settings,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The model.
    pub model: Model,
    /// How it came about.
    pub report: TaskReport,
}

/// Where a run of training is kept.
pub(crate) type Kept<'a> = (&'a mut Checkpoint, &'a mut dyn Keeper);

/// Pairs to learn from, with their positions in the data set, and to choose by.
struct Pairs {
    training: LabelledPairs,
    positions: Vec<usize>,
    validation: LabelledPairs,
}

impl Task {
    /// Reads a task.
    ///
    /// # Errors
    /// A text that is not a task.
    pub fn from_json(text: &str) -> Result<Self> {
        let wrong = |error: serde_json::Error| Error::DataSet { place: "task".to_string(), reason: error.to_string() };
        serde_json::from_str(text).map_err(wrong)
    }

    /// Learns. If interrupted, or if the time limit is over by the clock, the best of what is complete by then.
    ///
    /// # Errors
    /// A setting out of range; nothing to learn from; graphs that lack what the features need.
    pub fn run(&self, control: &Control, clock: Option<&Clock>) -> Result<Outcome> {
        self.resume(control, clock, None)
    }

    /// [`Self::run`] continued from a checkpoint, with identical results to the byte. A choice among sets of features has none.
    ///
    /// # Errors
    /// As [`Self::run`]; a checkpoint that does not fit.
    pub fn resume(&self, control: &Control, clock: Option<&Clock>, kept: Option<Kept<'_>>) -> Result<Outcome> {
        self.settings.check()?;
        // Until the graphs are described there is nothing to answer with.
        let begin = &self.settings.limited_to_begin(control, clock);
        let control = &self.settings.limited(control, clock);
        if self.settings.is_atlas() {
            let outcome = self.atlas(control)?;
            let unused = self.settings.unused(&self.data.common().unwrap_or_default(), &outcome.model);
            return Ok(Outcome { report: TaskReport { unused, ..outcome.report }, ..outcome });
        }
        let (data, drawn) = paired(&self.data, begin)?;
        check_sizes(&data)?;
        let pairs = Pairs::of(&data, begin)?;
        let outcome = if self.settings.is_choice() {
            self.choose(&pairs, control, clock)?
        } else {
            self.one_set(&data, &pairs, control, kept)?
        };
        let unused = self.settings.unused(&data.common()?, &outcome.model);
        Ok(Outcome { report: TaskReport { unused, drawn, ..outcome.report }, ..outcome })
    }

    /// What a checkpoint of this task belongs to.
    ///
    /// # Errors
    /// As [`Self::run`]; [`Error::Interrupted`].
    pub fn fingerprint(&self, control: &Control) -> Result<String> {
        let (data, _) = paired(&self.data, control)?;
        let features = self.settings.features(&data.common()?)?;
        let pairs: Vec<_> = Pairs::of(&data, control)?.training.iter().map(|(pair, ..)| pair).collect();
        let features = features.with_spread_watched(&pairs, control)?;
        let trainer = self.settings.trainer_for(&features)?;
        let json = |error: serde_json::Error| nothing(&error.to_string());
        let about = [
            serde_json::to_string(&trainer).map_err(json)?,
            serde_json::to_string(&features).map_err(json)?,
            data.to_json_watched(control)?,
        ];
        fingerprint(&about.each_ref().map(String::as_str), control)
    }

    /// Tries what fits.
    fn choose(&self, pairs: &Pairs, control: &Control, clock: Option<&Clock>) -> Result<Outcome> {
        let still: Clock = Arc::new(|| 0.0);
        let auto = AutoTrainer {
            trainer: self.settings.trainer(),
            unmatched: self.settings.unmatched.then_some(true),
            pose: self.settings.pose,
            atlas: (!self.settings.is_about_weights()).then(|| self.settings.atlas_settings()),
            images: self.settings.images(),
            time_limit: clock.map(|_| self.settings.seconds_to_choose()),
            clock: clock.map_or(still, Arc::clone),
        };
        let selected = auto.train(&pairs.training, &pairs.validation, control)?;
        let model = Model::selected(&selected)?;
        Ok(Outcome { report: TaskReport::of_choice(&model, &selected), model })
    }

    /// One set of features.
    fn one_set(&self, data: &DataSet, pairs: &Pairs, control: &Control, kept: Option<Kept<'_>>) -> Result<Outcome> {
        let settings = &self.settings;
        let common = data.common()?;
        let features = settings.features(&common)?;
        let name = settings.set_name(&common);
        let trainer = settings.trainer();
        let mut set = TrainingSet::new(&features, &trainer.loss, &pairs.training, &pairs.validation)?;
        if let Some(importance) = &settings.importance {
            set.training = with_importance(&set, importance, &pairs.positions, data.pairs().len())?;
        }
        let known = set.training.iter().map(|example| {
            let pairs = example.truth().pairs().map(|(i, k)| [i, k]);
            (example.instance(), if settings.unlearned { pairs.collect() } else { Vec::new() })
        });
        let unlearned = set.features.unlearned_weights_by(settings.price, &known.collect::<Vec<_>>())?;
        set.unlearned = unlearned;
        // Weights of other features are no start for these.
        if let Some(start) = settings.start.as_ref().filter(|start| start.len() == set.unlearned.len()) {
            set.unlearned.clone_from(start);
        }
        let left_out = set.left_out.clone();
        let given = match (&settings.weights, settings.unlearned) {
            (Some(weights), _) => Some((weights.clone(), report::GIVEN)),
            (None, true) => Some((set.unlearned.clone(), report::UNLEARNED)),
            (None, false) => None,
        };
        if let Some((weights, sentence)) = given {
            let model = Model::new(set.features.clone(), trainer.matcher_for(&set), &weights, None)?;
            return Ok(Outcome { report: TaskReport { left_out, ..TaskReport::as_given(&name, sentence) }, model });
        }
        let trainer = settings.trainer_for(&set.features)?;
        let trained = match kept {
            Some((checkpoint, keeper)) => trainer.resume(&set, checkpoint, control, keeper)?,
            None => trainer.train(&set, control)?,
        };
        let model = Model::trained(&set, &trainer, &trained)?;
        Ok(Outcome { report: TaskReport { left_out, ..TaskReport::of_training(&name, &model, &trained) }, model })
    }

    /// An atlas of all specimens that are not kept for testing.
    fn atlas(&self, control: &Control) -> Result<Outcome> {
        let specimens: Vec<&Graph> = self.specimens().into_iter().map(|at| &*self.data.graphs()[at].graph).collect();
        if specimens.is_empty() {
            return Err(nothing("no specimen has names to learn from"));
        }
        let specimens = match self.settings.frames {
            Some(count) => differing_frames(&specimens, count).into_iter().map(|at| specimens[at]).collect(),
            None => specimens,
        };
        let settings = self.settings.atlas_settings();
        let unlabelled = if self.settings.unlabelled { self.unlabelled() } else { Vec::new() };
        if unlabelled.is_empty() {
            let (model, evidence) = Model::fit_atlas(&specimens, &settings, control)?;
            let report = TaskReport::of_atlas(&model, &evidence, specimens.len(), control.interrupted());
            return Ok(Outcome { model, report });
        }
        let (model, evidence, brought) = fit_with_unlabelled(&specimens, &unlabelled, &settings, control)?;
        let report = TaskReport::of_atlas(&model, &evidence, specimens.len(), control.interrupted());
        let said = brought.sentence();
        // With the unlabelled, the names that the calibration rests on are not those of labelled specimens left out alone.
        let report = if brought.kept {
            TaskReport { sentence: said, ..report }
        } else {
            TaskReport { note: Some(said), ..report }
        };
        Ok(Outcome { model, report })
    }

    /// The positions of the specimens with names; those that only pairs of the split "test" have are for measuring.
    #[must_use]
    pub fn specimens(&self) -> Vec<usize> {
        let of = |is_wanted: &dyn Fn(Option<Split>) -> bool| -> BTreeSet<usize> {
            let pairs = self.data.pairs().iter().filter(|pair| is_wanted(pair.split));
            pairs.flat_map(|pair| [pair.left, pair.right]).collect()
        };
        let (tested, others) = (of(&|split| split == Some(Split::Test)), of(&|split| split != Some(Split::Test)));
        let is_held_out = |at: &usize| tested.contains(at) && !others.contains(at);
        let has_names = |at: &usize| is_named(&self.data.graphs()[*at].graph);
        (0..self.data.graphs().len()).filter(|at| !is_held_out(at)).filter(has_names).collect()
    }
}

/// Refuses graphs that are too large to be learned from, before anything is computed.
fn check_sizes(data: &DataSet) -> Result<()> {
    for pair in data.pairs() {
        let [left, right] = [pair.left, pair.right].map(|at| &data.graphs()[at]);
        let at = |error| Error::At { place: format!("pair {}, {}", left.id, right.id), error: Box::new(error) };
        Compatibility::check_size(left.graph.node_count(), right.graph.node_count()).map_err(at)?;
    }
    Ok(())
}

/// Whether a point has a name.
fn is_named(graph: &Graph) -> bool {
    graph.names().is_some_and(|names| names.iter().any(|name| !name.is_empty()))
}

fn nothing(reason: &str) -> Error {
    Error::DataSet { place: "pairs".to_string(), reason: reason.to_string() }
}

impl Pairs {
    /// Pairs of the split "train" or of none are learned from, those of the split "validation" are chosen by.
    fn of(data: &DataSet, control: &Control) -> Result<Self> {
        let of = |wanted: &[Option<Split>]| data.labelled(|pair| wanted.contains(&pair.split));
        let (training, positions) = of(&[Some(Split::Train), None]);
        let (validation, _) = of(&[Some(Split::Validation)]);
        if training.is_empty() {
            return Err(nothing("no pair has matches to learn from"));
        }
        let watched = |pairs: LabelledPairs| pairs.watched_by(control);
        Ok(Self { training: watched(training), positions, validation: watched(validation) })
    }
}

/// The examples, each counted as often as its pair is to.
fn with_importance(
    set: &TrainingSet,
    importance: &[f64],
    positions: &[usize],
    pairs: usize,
) -> Result<Vec<crate::learn::Example>> {
    if importance.len() != pairs {
        return Err(Error::Size { what: "importance of the pairs", expected: pairs, found: importance.len() });
    }
    let kept = positions.iter().enumerate().filter(|(number, _)| !set.turned.contains(number));
    let counts = kept.map(|(_, &position)| importance[position]);
    set.training.iter().cloned().zip(counts).map(|(example, count)| example.with_importance(count)).collect()
}

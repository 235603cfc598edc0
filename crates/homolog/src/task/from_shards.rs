//! [`FromShards`]: a task whose data set is cut up into shards. The same model and the same report as from the data set.

use super::{Outcome, Settings, TaskReport};
use crate::data::shards::Manifest;
use crate::features::FeatureMap;
use crate::learn::shards::Carry;
use crate::learn::{Checkpoint, Keeper, Trainer, fingerprint};
use crate::model::Model;
use crate::{Control, Error, Result};

/// Shards to learn from, and how.
#[derive(Debug, Clone)]
pub struct FromShards {
    manifest: Manifest,
    settings: Settings,
    features: FeatureMap,
    trainer: Trainer,
}

impl FromShards {
    /// A task with one set of features whose weights are learned.
    ///
    /// # Errors
    /// Settings that need the pairs at hand; features that the graphs do not have.
    pub fn new(manifest: Manifest, settings: Settings) -> Result<Self> {
        settings.check()?;
        let needs = [
            (settings.is_choice(), "the choice among sets of features; name one set"),
            (settings.is_atlas(), "an atlas"),
            (settings.unlearned || settings.weights.is_some(), "weights that are not learned"),
            (settings.importance.is_some(), "the importance of pairs"),
            (settings.start.is_some(), "weights to start from"),
        ];
        if let Some((_, what)) = needs.into_iter().find(|(is_asked, _)| *is_asked) {
            let reason = format!("this needs the graphs at hand, not shards: {what}");
            return Err(Error::Shard { file: "training from shards".to_string(), reason });
        }
        let features = settings.features(&manifest.graphs)?;
        let trainer = settings.trainer_for(&features)?;
        Ok(Self { manifest, settings, features, trainer })
    }

    /// What a checkpoint of this task belongs to.
    ///
    /// # Errors
    /// None in practice.
    pub fn fingerprint(&self) -> Result<String> {
        let json = |error: serde_json::Error| super::nothing(&error.to_string());
        let about = [
            serde_json::to_string(&self.trainer).map_err(json)?,
            serde_json::to_string(&self.features).map_err(json)?,
            self.manifest.to_json()?,
        ];
        fingerprint(&about.each_ref().map(String::as_str), &Control::new())
    }

    /// Learns, from a checkpoint on; `carry` brings orders to workers.
    ///
    /// # Errors
    /// As [`Trainer::train_from_shards`].
    pub fn run(
        &self,
        checkpoint: &mut Checkpoint,
        carry: Carry<'_>,
        control: &Control,
        keeper: &mut dyn Keeper,
    ) -> Result<Outcome> {
        let (features, trainer, shards) = (&self.features, &self.trainer, &self.manifest.shards);
        let (set, trained) = trainer.train_from_shards(features, shards, checkpoint, carry, control, keeper)?;
        let model = Model::trained(&set, trainer, &trained)?;
        let report = TaskReport::of_training(&self.settings.set_name(&self.manifest.graphs), &model, &trained);
        let unused = self.settings.unused(&self.manifest.graphs, &model);
        Ok(Outcome { report: TaskReport { left_out: set.left_out, unused, ..report }, model })
    }
}

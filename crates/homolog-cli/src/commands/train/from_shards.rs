//! Training from a folder of shards in this process.

use super::{Arguments, clock};
use crate::files;
use crate::progress::Watch;
use crate::training::FileKeeper;
use anyhow::{Result, bail};
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::learn::fingerprint;
use homolog::task::{Outcome, Settings, outcome_of};

pub(super) fn train(arguments: &Arguments, settings: &Settings, watch: &Watch) -> Result<Outcome> {
    let control = settings.limited(&watch.control(""), Some(&clock()));
    let folder = &arguments.data;
    if settings.is_choice() {
        bail!("training from shards tries no sets of features: name one with --features");
    }
    if settings.unlearned {
        bail!("--unlearned takes a data set, not shards: there is nothing to spread");
    }
    let text = files::read_text(&folder.join(MANIFEST))?;
    let manifest = Manifest::from_json(&text)?;
    let features = settings.features_for(&manifest.graphs)?;
    let trainer = settings.trainer_for(&features)?;
    let about = [serde_json::to_string(&trainer)?, serde_json::to_string(&features)?, text];
    let mut keeper = FileKeeper::new(arguments.checkpoint.as_deref());
    let mut run = keeper.begin(arguments.resume, fingerprint(&about.each_ref().map(String::as_str)))?;
    let mut carry = crate::shards::answer_here(folder, control.clone());
    let (set, trained) =
        trainer.train_from_shards(&features, &manifest.shards, &mut run, &mut carry, &control, &mut keeper)?;
    Ok(outcome_of(settings, &set, &trainer, &trained)?)
}

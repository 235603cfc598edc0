//! Training from a folder of shards in this process.

use super::{Arguments, clock};
use crate::files;
use crate::progress::Watch;
use crate::training::FileKeeper;
use anyhow::Result;
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::task::{FromShards, Outcome, Settings};

pub(super) fn train(arguments: &Arguments, settings: &Settings, watch: &Watch) -> Result<Outcome> {
    let control = settings.limited(&watch.control(""), Some(&clock()));
    let folder = &arguments.data;
    let manifest = Manifest::from_json(&files::read_text(&folder.join(MANIFEST))?)?;
    let task = FromShards::new(manifest, settings.clone())?;
    let mut keeper = FileKeeper::new(arguments.checkpoint.as_deref(), arguments.checkpoint_every);
    let mut run = keeper.begin(arguments.resume, task.fingerprint()?)?;
    let mut carry = crate::shards::answer_here(folder, control.clone());
    Ok(task.run(&mut run, &mut carry, &control, &mut keeper)?)
}

//! Training from a folder of shards, in this process or in all that mpirun started: the same weights, byte for byte.

use super::{Arguments, clock};
use crate::files;
use crate::progress::Watch;
use crate::shards::FolderWorker;
use crate::training::FileKeeper;
use anyhow::{Result, bail};
use homolog::Control;
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::learn::fingerprint;
use homolog::learn::shards::{Carry, Order, ShardCheckpoint, ShardTrainer};
use homolog::task::{Outcome, Settings, outcome_of};

pub(super) fn train(arguments: &Arguments, settings: &Settings, watch: &Watch) -> Result<Outcome> {
    if arguments.mpi {
        return with_mpi(arguments, settings, watch);
    }
    let control = settings.limited(&watch.control(""), Some(&clock()));
    let mut worker = FolderWorker::new(&arguments.data, control.clone());
    let mut carry = |orders: &[Order]| orders.iter().map(|order| worker.answer(order)).collect();
    carried(arguments, settings, &control, &mut carry)
}

#[cfg(feature = "mpi")]
fn with_mpi(arguments: &Arguments, settings: &Settings, watch: &Watch) -> Result<Outcome> {
    crate::mpi::run(&arguments.data, |carry| {
        let control = settings.limited(&watch.control(""), Some(&clock()));
        carried(arguments, settings, &control, carry)
    })
}

#[cfg(not(feature = "mpi"))]
fn with_mpi(_arguments: &Arguments, _settings: &Settings, _watch: &Watch) -> Result<Outcome> {
    bail!(
        "this homolog was built without MPI. Build it with `cargo install --path crates/homolog-cli --features mpi`, which takes an MPI library and libclang; docs/cluster.md has more"
    )
}

fn carried(arguments: &Arguments, settings: &Settings, control: &Control, carry: Carry<'_>) -> Result<Outcome> {
    let folder = &arguments.data;
    if !crate::shards::is_folder_of_shards(folder) {
        bail!("{} has no {MANIFEST}; `homolog convert DATA --shards 64 -o FOLDER` makes one", folder.display());
    }
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
    let shards = ShardTrainer { features, trainer };
    let mut keeper = FileKeeper::new(arguments.checkpoint.as_deref());
    let name = fingerprint(&about.each_ref().map(String::as_str));
    let mut run: ShardCheckpoint =
        keeper.begin(arguments.resume, name.clone(), |run: &ShardCheckpoint| &run.fingerprint, ShardCheckpoint::new)?;
    let outcome = shards.train(&manifest.shards, &mut run, carry, control, &mut |run| keeper.keep_if_due(run));
    // As far as it came, whether it failed or not.
    keeper.write(&run);
    let (set, trained) = outcome?;
    Ok(outcome_of(settings, &set, &shards.trainer, &trained)?)
}

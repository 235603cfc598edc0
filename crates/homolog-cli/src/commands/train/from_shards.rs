//! Training from a folder of shards, in this process or in all that mpirun started: the same weights, byte for byte.

use super::{AUTO, Arguments};
use crate::progress::{Watch, stop_is_wanted};
use crate::shards::FolderWorker;
use crate::training::FileKeeper;
use crate::{Ending, files, selection, settings};
use anyhow::{Result, bail};
use homolog::Control;
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::features::FeatureSet;
use homolog::learn::shards::{Carry, Order, ShardCheckpoint, ShardTrainer};
use homolog::learn::{Trainer, fingerprint};
use homolog::loss::LossKind;
use homolog::model::Model;

pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let limit = arguments.time_limit.map(super::super::seconds).transpose()?;
    if arguments.mpi {
        return with_mpi(arguments, limit);
    }
    let watch = Watch::new(limit);
    let control = watch.control("");
    let mut worker = FolderWorker::new(&arguments.data, control.clone());
    let mut carry = |orders: &[Order]| orders.iter().map(|order| worker.answer(order)).collect();
    train(arguments, &watch, &control, &mut carry)
}

#[cfg(feature = "mpi")]
fn with_mpi(arguments: &Arguments, limit: Option<std::time::Duration>) -> Result<Ending> {
    crate::mpi::run(&arguments.data, |carry| {
        let watch = Watch::new(limit);
        let control = watch.control("");
        train(arguments, &watch, &control, carry)
    })
}

#[cfg(not(feature = "mpi"))]
fn with_mpi(_arguments: &Arguments, _limit: Option<std::time::Duration>) -> Result<Ending> {
    bail!(
        "this homolog was built without MPI. Build it with `cargo install --path crates/homolog-cli --features mpi`, which takes an MPI library and libclang; docs/cluster.md has more"
    )
}

fn train(arguments: &Arguments, watch: &Watch, control: &Control, carry: Carry<'_>) -> Result<Ending> {
    let folder = &arguments.data;
    if !crate::shards::is_folder_of_shards(folder) {
        bail!("{} has no {MANIFEST}; `homolog convert DATA --shards 64 -o FOLDER` makes one", folder.display());
    }
    if arguments.features == AUTO {
        bail!("training from shards tries no sets of features: name one with --features");
    }
    if arguments.unlearned {
        bail!("--unlearned takes a data set, not shards: there is nothing to spread");
    }
    let text = files::read_text(&folder.join(MANIFEST))?;
    let manifest = Manifest::from_json(&text)?;
    let mut loss = settings::loss(&arguments.loss)?;
    if let (true, LossKind::Hamming(hamming)) = (arguments.unmatched, &mut loss) {
        hamming.unmatched_is_label = true;
    }
    let mut features = match FeatureSet::of_name(&arguments.features) {
        Ok(set) => set.features_for(&manifest.graphs)?,
        Err(_) => settings::features(&arguments.features, std::iter::empty())?,
    };
    features.unmatched |= arguments.unmatched;
    let matcher = arguments.matcher.as_deref().map(settings::matcher).transpose()?;
    let trainer = Trainer { matcher, loss, ..super::trainer(arguments, Some(&features))? };
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
    let model = Model::trained(&set, &shards.trainer, &trained)?;
    files::write(&arguments.output, model.to_json()?.as_bytes())?;
    if arguments.json {
        watch.end();
        files::print(selection::json_of_one(&arguments.features, &trained)?.as_bytes())?;
    } else {
        let text = super::summary(&shards.trainer, &set, &trained, watch)?;
        watch.end();
        files::print(format!("{text}Wrote {}.\n", arguments.output.display()).as_bytes())?;
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

//! Training from a folder of shards in this process.

use super::{AUTO, Arguments};
use crate::progress::{Watch, stop_is_wanted};
use crate::training::FileKeeper;
use crate::{Ending, files, selection, settings};
use anyhow::{Result, bail};
use homolog::data::shards::{MANIFEST, Manifest};
use homolog::features::FeatureSet;
use homolog::learn::{Trainer, fingerprint};
use homolog::loss::LossKind;
use homolog::model::Model;

pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let watch = Watch::new(arguments.time_limit.map(super::super::seconds).transpose()?);
    let control = watch.control("");
    let folder = &arguments.data;
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
    let mut keeper = FileKeeper::new(arguments.checkpoint.as_deref());
    let mut run = keeper.begin(arguments.resume, fingerprint(&about.each_ref().map(String::as_str)))?;
    let mut carry = crate::shards::answer_here(folder, control.clone());
    let (set, trained) =
        trainer.train_from_shards(&features, &manifest.shards, &mut run, &mut carry, &control, &mut keeper)?;
    let model = Model::trained(&set, &trainer, &trained)?;
    files::write(&arguments.output, model.to_json()?.as_bytes())?;
    if arguments.json {
        watch.end();
        files::print(selection::json_of_one(&arguments.features, &trained)?.as_bytes())?;
    } else {
        let text = super::summary(&trainer, &set, &trained, &watch)?;
        watch.end();
        files::print(format!("{text}Wrote {}.\n", arguments.output.display()).as_bytes())?;
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

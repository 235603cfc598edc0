//! Folders of shards: a data set cut up into files, and the worker that answers from them.

use crate::files;
use anyhow::{Context, Result, bail};
use homolog::data::dataset::DataSet;
use homolog::data::shards::{MANIFEST, Manifest, answer};
use homolog::learn::shards::Worker;
use homolog::{Control, Error};
use std::path::Path;

/// Examples and what searches remember are held up to so many bytes; what is beyond is read again when it is asked for.
const MOST_BYTES: usize = 4 << 30;

/// Whether a path is a folder of shards.
pub(crate) fn is_folder_of_shards(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Cuts up a data set into a new folder, which is there whole or not at all.
pub(crate) fn cut(data: &DataSet, count: usize, folder: &Path) -> Result<Manifest> {
    let cannot = || format!("cannot make the folder {}", folder.display());
    if folder.exists() {
        bail!("{}: shards need a new folder, and this one already exists", cannot());
    }
    let beside = files::folder_of(folder);
    let hidden = tempfile::Builder::new().prefix(files::UNFINISHED).tempdir_in(beside).with_context(cannot)?;
    // A temporary folder is private; the one inside has the permissions of any other new folder.
    let inside = hidden.path().join("shards");
    std::fs::create_dir(&inside).with_context(cannot)?;
    let mut write = |name: &str, text: &str| {
        std::fs::write(inside.join(name), text)
            .map_err(|error| Error::Shard { file: name.to_string(), reason: format!("cannot be written: {error}") })
    };
    let manifest = Manifest::cut(data, count, &mut write)?;
    write(MANIFEST, &manifest.to_json()?)?;
    std::fs::rename(&inside, folder).with_context(cannot)?;
    Ok(manifest)
}

/// Answers orders from the files of a folder, in this process.
pub(crate) fn answer_here(
    folder: &Path,
    control: Control,
) -> impl FnMut(&[(String, String)]) -> homolog::Result<Vec<String>> {
    let (folder, mut worker) = (folder.to_path_buf(), Worker::new(MOST_BYTES));
    move |orders| {
        let mut read = |file: &str| {
            files::read(&folder.join(file))
                .map_err(|error| Error::Shard { file: file.to_string(), reason: format!("{error:#}") })
        };
        orders.iter().map(|(_, order)| answer(&mut worker, order, &mut read, &control)).collect()
    }
}

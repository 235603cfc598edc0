//! What every measurement on specimens is asked for: how much, of which data, and where to write the cells.

use crate::clock::Budget;
use crate::never_worse::{Data, table};
use crate::{files, house};
use anyhow::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Asked {
    /// Fewer draws and conditions, within three minutes of processor time
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write all cells to a file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The folder with the data
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only data whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Tables of landmarks, or other files of specimens that the program reads, to measure instead of the given data
    tables: Vec<PathBuf>,
}

/// All cells, as they are written, and what else is known.
#[derive(Serialize)]
struct Report<'a, T, U> {
    cells: &'a [T],
    #[serde(flatten)]
    further: U,
}

/// Nothing else.
#[derive(Serialize)]
struct Nothing {}

impl Asked {
    fn folder(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| house::default_directory().join(".."))
    }

    /// What to measure: the tables, if there are any, otherwise what is stored next to the project.
    pub(crate) fn sets(&self, given: impl Fn(&Path) -> Result<Vec<Data>>) -> Result<Vec<Data>> {
        let tables =
            self.tables.iter().map(|path| table(path, &path.file_stem().unwrap_or_default().to_string_lossy()));
        let mut sets = if self.tables.is_empty() { given(&self.folder())? } else { tables.collect::<Result<_>>()? };
        sets.retain(|data| self.only.is_empty() || self.only.iter().any(|part| data.name.contains(part)));
        Ok(sets)
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.quick)
    }

    /// Writes what there is so far: a run may be long, and what is done is kept.
    pub(crate) fn write<T: Serialize>(&self, cells: &[T]) -> Result<()> {
        self.write_with(cells, Nothing {})
    }

    /// The same with further keys.
    pub(crate) fn write_with<T: Serialize>(&self, cells: &[T], further: impl Serialize) -> Result<()> {
        self.json.as_ref().map_or(Ok(()), |path| files::write_json(path, &Report { cells, further }))
    }
}

/// How the pose of specimens is called in every report.
pub(crate) fn pose(turned: bool) -> &'static str {
    if turned { "turned" } else { "as given" }
}

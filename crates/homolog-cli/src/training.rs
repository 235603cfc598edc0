//! Checkpoints of training in a file.

use crate::files;
use anyhow::{Context, Result, bail};
use homolog::learn::{Checkpoint, Keeper};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A checkpoint is written this often, and at the end.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(10);

/// Writes checkpoints to a file, if there is one to write to.
pub(crate) struct FileKeeper {
    path: Option<PathBuf>,
    last: Instant,
    has_failed: bool,
}

impl FileKeeper {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self { path: path.map(Path::to_path_buf), last: Instant::now(), has_failed: false }
    }

    /// The run in the file if it is to be gone on with and is there, else a new one; `about` reads what a run is about.
    pub(crate) fn begin<T: DeserializeOwned>(
        &self,
        resume: bool,
        fingerprint: String,
        about: impl Fn(&T) -> &String,
        new: impl Fn(String) -> T,
    ) -> Result<T> {
        let Some(path) = self.path.as_ref().filter(|path| resume && path.exists()) else {
            return Ok(new(fingerprint));
        };
        let text = files::read_text(path)?;
        let run: T = serde_json::from_str(&text).with_context(|| format!("checkpoint {}", path.display()))?;
        if *about(&run) != fingerprint {
            bail!(
                "the checkpoint {} belongs to other data or other settings; leave out --resume to start over",
                path.display()
            );
        }
        Ok(run)
    }

    /// Writes a run down.
    pub(crate) fn write(&mut self, run: &impl Serialize) {
        self.last = Instant::now();
        let Some(path) = &self.path else { return };
        let text = serde_json::to_string(run).context("the checkpoint cannot be written");
        let written = text.and_then(|text| files::write(path, text.as_bytes()));
        // A full disk must not cost the model.
        if let Err(error) = written
            && !self.has_failed
        {
            self.has_failed = true;
            eprintln!("warning: no checkpoint: {}; training goes on", files::visible(&format!("{error:#}")));
        }
    }

    /// Writes a run down if it is time to.
    pub(crate) fn keep_if_due(&mut self, run: &impl Serialize) {
        if self.path.is_some() && self.last.elapsed() >= BETWEEN_CHECKPOINTS {
            self.write(run);
        }
    }
}

impl Keeper for FileKeeper {
    fn is_due(&self) -> bool {
        self.path.is_some() && self.last.elapsed() >= BETWEEN_CHECKPOINTS
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.write(checkpoint);
    }
}

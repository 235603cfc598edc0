//! Checkpoints of training in a file.

use crate::files;
use crate::hints::advised;
use anyhow::{Context, Result};
use homolog::learn::{Checkpoint, Keeper};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Writes checkpoints to a file, if there is one to write to.
pub(crate) struct FileKeeper {
    path: Option<PathBuf>,
    /// A checkpoint is written this often, and at the end.
    every: Duration,
    last: Instant,
    has_failed: bool,
}

impl FileKeeper {
    pub(crate) fn new(path: Option<&Path>, every: Duration) -> Self {
        Self { path: path.map(Path::to_path_buf), every, last: Instant::now(), has_failed: false }
    }

    /// The run in the file if it is to be continued and is there, else a new one.
    pub(crate) fn begin(&self, resume: bool, fingerprint: String) -> Result<Checkpoint> {
        let Some(path) = self.path.as_ref().filter(|path| resume && path.exists()) else {
            return Ok(Checkpoint::new(fingerprint));
        };
        let text = files::read_text(path)?;
        let run: Checkpoint = serde_json::from_str(&text).with_context(|| format!("checkpoint {}", path.display()))?;
        if run.fingerprint != fingerprint {
            return Err(advised(
                format!("the checkpoint {} belongs to other data or other settings", path.display()),
                "leave out --resume to start over",
            ));
        }
        Ok(run)
    }
}

impl Keeper for FileKeeper {
    fn is_due(&self) -> bool {
        self.path.is_some() && self.last.elapsed() >= self.every
    }

    fn keep(&mut self, checkpoint: &Checkpoint) {
        self.last = Instant::now();
        let Some(path) = &self.path else { return };
        let text = serde_json::to_string(checkpoint).context("the checkpoint cannot be written");
        let written = text.and_then(|text| files::write(path, text.as_bytes()));
        // A full disk must not cost the model.
        if let Err(error) = written
            && !self.has_failed
        {
            self.has_failed = true;
            eprintln!(
                "warning: cannot write the checkpoint: {}; training continues",
                files::visible(&format!("{error:#}"))
            );
        }
    }
}

//! Files written whole or not at all.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// Writes a value as JSON: first next to the file, then moved over it, so that no reader ever sees half of it.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let moved = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // Nothing more can be done about a partial file that cannot be removed; the first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    moved.with_context(|| format!("writing {}", path.display()))
}

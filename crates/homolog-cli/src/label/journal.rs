//! The journal: every action of a person, one JSON object a line, in the order they were made. It only grows.
//!
//! A line is on the disk before the page hears that it is saved. A line that a crash cut off was never acknowledged; it is removed at
//! the next start. The version of a journal is the number of its entries: who writes says which version he has seen, so that two tabs
//! cannot write past each other. The file is locked while it is open.

use crate::hints::advised;
use anyhow::{Context, Result, bail};
use fs4::fs_std::FileExt;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The longest journal, in bytes: some million actions.
const MOST_BYTES: u64 = 256 << 20;
/// The longest entry, in bytes.
pub(super) const LONGEST_ENTRY: usize = 1 << 20;
const KIND: &str = "homolog-journal";
const VERSION: u64 = 1;

pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Up to here everything is acknowledged.
    length: u64,
    entries: Vec<Value>,
    /// Something failed that could not be undone: nothing more is written.
    broken: bool,
}

/// Why an entry was not written.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Someone else wrote in between.
    Conflict,
    /// The disk did not take it.
    Failed(String),
}

impl Journal {
    /// Opens a journal, or starts one. No one else can open it until it is dropped.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let cannot = || format!("cannot open the journal {}", path.display());
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let mut file = options.open(path).with_context(cannot)?;
        if !file.try_lock_exclusive().with_context(cannot)? {
            let error = format!("{} is open in another `homolog label`", path.display());
            return Err(advised(error, "close that one first"));
        }
        let mut bytes = Vec::new();
        (&mut file).take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(cannot)?;
        if bytes.len() as u64 > MOST_BYTES {
            bail!("{} is longer than {MOST_BYTES} bytes", path.display());
        }
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let entries = read(&bytes[..whole]).with_context(|| path.display().to_string())?;
        if whole < bytes.len() {
            file.set_len(whole as u64).with_context(cannot)?;
        }
        let mut journal =
            Self { file, path: path.to_path_buf(), length: whole as u64, entries: Vec::new(), broken: false };
        match entries {
            Some(entries) => journal.entries = entries,
            None => journal.start().with_context(cannot)?,
        }
        Ok(journal)
    }

    fn start(&mut self) -> Result<()> {
        let head = json!({ "format": { "kind": KIND, "version": VERSION } });
        if let Err(error) = self.write_line(&head.to_string()) {
            bail!("{error}");
        }
        // The file is new: its name must be on the disk as well.
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder).and_then(|folder| folder.sync_all()).or_else(unless_unsupported)?;
        }
        Ok(())
    }

    /// The number of entries.
    pub(super) fn version(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entries(&self) -> &[Value] {
        &self.entries
    }

    /// Appends an entry for somebody who has seen all entries up to `seen`.
    pub(super) fn append(&mut self, seen: usize, entry: Value) -> std::result::Result<usize, Refusal> {
        if seen != self.version() {
            return Err(Refusal::Conflict);
        }
        self.write_line(&entry.to_string()).map_err(Refusal::Failed)?;
        self.entries.push(entry);
        Ok(self.version())
    }

    /// Writes a line to the disk, or leaves the file as it was.
    fn write_line(&mut self, line: &str) -> std::result::Result<(), String> {
        if self.broken {
            return Err(format!("{} could not be written before; start the program again", self.path.display()));
        }
        if self.length + line.len() as u64 + 1 > MOST_BYTES {
            return Err(format!("{} would be longer than {MOST_BYTES} bytes", self.path.display()));
        }
        let bytes = format!("{line}\n");
        let written = self.file.write_all(bytes.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            let back = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::End(0)).map(|_| ()));
            self.broken = back.is_err();
            return Err(format!("cannot write {}: {error}", self.path.display()));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// A folder cannot be opened as a file everywhere; then there is nothing to flush.
fn unless_unsupported(error: std::io::Error) -> std::io::Result<()> {
    if cfg!(windows) { Ok(()) } else { Err(error) }
}

/// The entries of complete lines; `None` without even the head.
fn read(bytes: &[u8]) -> Result<Option<Vec<Value>>> {
    let text = std::str::from_utf8(bytes).context("it is not UTF-8 text")?;
    let mut lines = text.lines().enumerate();
    let Some((_, head)) = lines.next() else { return Ok(None) };
    let head: Value = serde_json::from_str(head).context("line 1")?;
    let format = &head["format"];
    if format["kind"] != KIND {
        bail!("line 1: this is not the head of a journal");
    }
    match format["version"].as_u64() {
        Some(1..=VERSION) => {}
        other => bail!("format version {other:?} is not known; this program reads up to {VERSION}"),
    }
    let entry = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("line {}: it is damaged", number + 1))
    };
    lines.map(entry).collect::<Result<Vec<Value>>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_is_there_again_whatever_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(journal.append(0, json!({"a": 1})).unwrap(), 1);
        assert_eq!(journal.append(1, json!({"b": "two\nlines"})).unwrap(), 2);
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').map(|at| at + 1).collect();
        // Killed while writing: the file may end anywhere, and loses only the line that ends there.
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = Journal::open(&path).unwrap();
            let complete = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!(journal.version(), complete.saturating_sub(1), "cut off at {cut}");
        }
    }

    #[test]
    fn who_has_not_seen_the_last_entry_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("journal.jsonl")).unwrap();
        assert_eq!(journal.append(0, json!(1)).unwrap(), 1);
        assert!(matches!(journal.append(0, json!(2)), Err(Refusal::Conflict)));
        assert!(matches!(journal.append(2, json!(2)), Err(Refusal::Conflict)));
        assert_eq!(journal.entries(), [json!(1)]);
    }

    #[test]
    fn a_journal_is_open_once_and_only_a_journal_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = Journal::open(&path).unwrap();
        assert!(Journal::open(&path).is_err());
        drop(first);
        assert!(Journal::open(&path).is_ok());
        for text in ["{}\n", "something else\n", "{\"format\":{\"kind\":\"homolog-journal\",\"version\":2}}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(Journal::open(&path).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "what is not understood is left alone");
        }
        std::fs::write(&path, "{\"format\":{\"kind\":\"homolog-journal\",\"version\":1}}\n{\"a\":\n{}\n").unwrap();
        let error = format!("{:#}", Journal::open(&path).err().unwrap());
        assert!(error.contains("line 2"), "{error}");
    }
}

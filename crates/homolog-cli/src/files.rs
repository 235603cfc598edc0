//! Reading with a limit, writing whole or not at all.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// No text file that the program reads is longer than this, in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// What was read, by its place: nothing of it is written over, whoever asks for it.
static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// What a run reads and writes again.
static OWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// The beginning of the names of files that are being written.
pub(crate) const UNFINISHED: &str = ".homolog-";
/// A file that is being written exists for as long as that takes; after so long no one is writing it.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// From here on a file may be read and written again: a checkpoint.
pub(crate) fn is_own(path: &Path) {
    if let Ok(mut own) = OWN.lock() {
        own.insert(place(path));
    }
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file: Box<dyn Read> = if is_standard(path) {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?)
    };
    if let Ok(mut read) = READ.lock() {
        read.insert(place(path));
    }
    // One more than allowed tells a file that is too long from one that just fits, whatever its length claims to be.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("{} is longer than {MOST_BYTES} bytes", path.display());
    }
    Ok(bytes)
}

/// The beginning of a file, at most so many bytes; `None` if there is no such file or it cannot be read.
pub(crate) fn read_beginning(path: &Path, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok().filter(|_| path.is_file())?;
    let most = u64::try_from(most).unwrap_or(u64::MAX).min(MOST_BYTES);
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The text of a file, without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    text_of(read(path)?, path)
}

/// The text that bytes of a file are, without a byte order mark.
pub(crate) fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String> {
    let text = String::from_utf8(bytes).ok();
    let text = text.with_context(|| format!("{} is not UTF-8 text; save it as UTF-8", path.display()))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// Writes a file whole or not at all: into a new file beside it, which then takes its place. A link stays a link
/// to what is written; what is not a file (a pipe, a device) is written to as it is; `-` is standard output.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_standard(path) {
        return print_data(bytes);
    }
    let cannot = || format!("cannot write {}", path.display());
    check_not_read(path)?;
    check_folder(path)?;
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        return std::fs::write(path, bytes).with_context(cannot);
    }
    if existing.as_ref().is_some_and(|existing| existing.permissions().readonly()) {
        bail!("cannot write {}: the file exists and is read-only", path.display());
    }
    let place = if path.is_symlink() { path.canonicalize().with_context(cannot)? } else { path.to_path_buf() };
    let folder = folder_of(&place);
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // A temporary file is private by default; a result has the permissions of any other new file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(UNFINISHED).tempfile_in(folder).with_context(cannot)?;
    file.write_all(bytes).with_context(cannot)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions()).with_context(cannot)?;
    }
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(&place).with_context(cannot)?;
    Ok(())
}

/// Refuses a place that was read from.
pub(crate) fn check_not_read(path: &Path) -> Result<()> {
    let holds = |paths: &Mutex<BTreeSet<PathBuf>>| paths.lock().is_ok_and(|paths| paths.contains(&place(path)));
    if holds(&READ) && !holds(&OWN) {
        bail!("refusing to overwrite {}: it is also an input", path.display());
    }
    Ok(())
}

/// Removes what a run that was killed left in a folder while it wrote there. What cannot be removed is left.
pub(crate) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED));
        // Six letters and digits, as they are made.
        let ours = ours.is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let Ok(metadata) = entry.metadata() else { continue };
        if !ours || !is_left_behind(&metadata) {
            continue;
        }
        // Shards are written into a folder inside a hidden one.
        let inside = metadata.is_dir().then(|| std::fs::read_dir(entry.path()).ok()).flatten();
        let mut inside = inside.into_iter().flatten().flatten().filter_map(|inner| inner.metadata().ok());
        let _ = match (metadata.is_dir(), metadata.is_file()) {
            (true, _) if inside.all(|inner| is_left_behind(&inner)) => std::fs::remove_dir_all(entry.path()),
            (_, true) => std::fs::remove_file(entry.path()),
            _ => Ok(()),
        };
    }
}

/// Whether something was last changed so long ago that no one is writing it.
fn is_left_behind(metadata: &std::fs::Metadata) -> bool {
    metadata.modified().ok().and_then(|when| when.elapsed().ok()).is_some_and(|age| age > LEFT_BEHIND)
}

/// Where a path leads, whether something is there or not.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        folder_of(path).canonicalize().unwrap_or_default().join(path.file_name().unwrap_or_default())
    })
}

/// Whether two paths lead to the same place.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    place(one) == place(other)
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The way to a file that exists from a folder that exists, with / between the names.
pub(crate) fn seen_from(folder: &Path, file: &Path) -> String {
    let (Ok(from), Ok(to)) = (folder.canonicalize(), file.canonicalize()) else { return file.display().to_string() };
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| "..".to_string());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Refuses a place that no file can be written to: before long work, not after it.
pub(crate) fn check_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    if !folder.is_dir() {
        bail!("cannot write {}: there is no folder {}", path.display(), folder.display());
    }
    Ok(())
}

/// Refuses outputs that are inputs or one another: nothing that was there is lost. What is not a file (a device, a pipe) may be both.
pub(crate) fn check_outputs(inputs: &[impl AsRef<Path>], outputs: &[impl AsRef<Path>]) -> Result<()> {
    let is_special = |path: &Path| path.exists() && !path.is_file() && !path.is_dir();
    for (number, output) in outputs.iter().map(AsRef::as_ref).enumerate() {
        check_folder(output)?;
        if is_special(output) {
            continue;
        }
        if inputs.iter().map(AsRef::as_ref).any(|input| input.exists() && same_place(input, output)) {
            bail!("refusing to overwrite {}: it is also an input", output.display());
        }
        if outputs[..number].iter().any(|other| same_place(other.as_ref(), output)) {
            bail!("{} would be written twice", output.display());
        }
    }
    Ok(())
}

/// Refuses a place for a folder that is taken by something else.
pub(crate) fn check_new_folder(path: &Path) -> Result<()> {
    if path.exists() && !path.is_dir() {
        bail!("cannot make the folder {}: there is a file of that name", path.display());
    }
    Ok(())
}

/// Makes a folder with all that lead to it.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Writes text for people to standard output. Control characters, which could be commands to a terminal, are written as JSON writes
/// them.
pub(crate) fn print(text: &[u8]) -> Result<()> {
    print_bytes(visible(&String::from_utf8_lossy(text)).as_bytes())
}

/// Writes data to standard output: as they are, but for control characters where they go to a terminal.
pub(crate) fn print_data(bytes: &[u8]) -> Result<()> {
    if std::io::stdout().is_terminal() { print(bytes) } else { print_bytes(bytes) }
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// A text whose control characters, but for the ends of lines and tabs, are written out: \u001b.
pub(crate) fn visible(text: &str) -> String {
    use std::fmt::Write;
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\n' && letter != '\t' {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether the reader of our output went away (`homolog … | head`), which is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

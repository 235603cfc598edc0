//! Reading with a limit, writing whole or not at all.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// No text file that the program reads is longer than this, in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?)
    };
    // One more than allowed tells a file that is too long from one that just fits, whatever its length claims to be.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("{} is longer than {MOST_BYTES} bytes", path.display());
    }
    Ok(bytes)
}

/// The text of a file, without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let text = String::from_utf8(read(path)?).ok().with_context(|| format!("{} is not UTF-8 text", path.display()))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// Writes a file so that it is there whole or not at all: into a new file beside it, which then takes its place. A link stays a link
/// to what is written; what is no file at all (a pipe, a device) is written to as it is.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    check_folder(path)?;
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        return std::fs::write(path, bytes).with_context(cannot);
    }
    if existing.as_ref().is_some_and(|existing| existing.permissions().readonly()) {
        bail!("cannot write {}: the file is there and may only be read", path.display());
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
    let mut file = builder.prefix(".homolog-").tempfile_in(folder).with_context(cannot)?;
    file.write_all(bytes).with_context(cannot)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions()).with_context(cannot)?;
    }
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(&place).with_context(cannot)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses a place for a file that does not exist; before long work, so that it is not in vain.
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

/// Refuses outputs that are inputs or one another: nothing that was there is lost.
pub(crate) fn check_outputs(inputs: &[&Path], outputs: &[&Path]) -> Result<()> {
    let place = |path: &Path| {
        path.canonicalize().unwrap_or_else(|_| {
            folder_of(path).canonicalize().unwrap_or_default().join(path.file_name().unwrap_or_default())
        })
    };
    for (number, output) in outputs.iter().enumerate() {
        check_folder(output)?;
        if inputs.iter().any(|input| input.exists() && place(input) == place(output)) {
            bail!("{} would be overwritten: it is what is read", output.display());
        }
        if outputs[..number].iter().any(|other| place(other) == place(output)) {
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

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Whether the reader of our output went away (`homolog … | head`), which is no error of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

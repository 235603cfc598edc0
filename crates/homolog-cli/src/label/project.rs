//! What is labelled: pictures of a folder, or a data set or landmark table with its pictures, or the built-in sequence; and the folder
//! that the journal and the results go to.

use crate::files;
use crate::hints::advised;
use crate::inputs::{BUILT_IN, Input, extension};
use anyhow::{Context, Result, bail};
use homolog::data::dataset::DataSet;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most specimens of a project.
const MOST_SPECIMENS: usize = 10_000;
/// The largest file of a picture, in bytes.
const LARGEST_PICTURE: u64 = 64 << 20;
/// Folders in a project folder that are searched for pictures.
const PICTURE_FOLDERS: [&str; 2] = ["", "images"];

pub(super) struct Project {
    /// What it is called in the page.
    pub(super) title: String,
    /// Journal and results.
    pub(super) labels: PathBuf,
    pub(super) specimens: Vec<Specimen>,
    /// Points, names and pairs that were there before, as a data set.
    pub(super) data: Option<DataSet>,
    source: Source,
}

/// Something with points on it.
#[derive(Serialize)]
pub(super) struct Specimen {
    id: String,
    /// Whether it has a picture, to be asked for by its number.
    picture: bool,
    /// Its path relative to the folder of the results, as a data set names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip)]
    path: Option<PathBuf>,
}

enum Source {
    /// Pictures are files under this folder and nowhere else.
    Folder(PathBuf),
    /// Pictures are drawn.
    Drawn(Box<Input>),
}

impl Project {
    /// Opens what a person wants to label.
    pub(super) fn open(path: &Path, labels: Option<&Path>) -> Result<Self> {
        let title = path.file_stem().or(path.file_name()).map(|name| name.to_string_lossy().into_owned());
        let title = title.filter(|title| !title.is_empty() && title != ".").unwrap_or_else(|| "labels".to_string());
        let built_in = path == Path::new(BUILT_IN) && !path.exists();
        let folder =
            if path.is_dir() { path.to_path_buf() } else { path.parent().map(Path::to_path_buf).unwrap_or_default() };
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let has_data = !path.is_dir() || path.join("landmarks.csv").is_file() || path.join("label").is_dir();
        let input = if has_data { Some(Input::load(path)?) } else { None };
        let labels = labels.map_or_else(|| default_labels(path), Path::to_path_buf);
        files::check_new_folder(&labels)?;
        files::make_folder(&labels)?;
        check_no_link(&labels.join("journal.jsonl"))?;
        let mut specimens = Vec::new();
        let mut used = BTreeSet::new();
        for named in input.iter().flat_map(|input| input.data.graphs()) {
            let path = named.image.as_ref().map(|image| folder.join(image)).filter(|path| path.is_file());
            used.extend(path.as_ref().and_then(|path| path.canonicalize().ok()));
            specimens.push(Specimen::new(named.id.clone(), path, built_in, &labels));
        }
        if path.is_dir() {
            for picture in pictures_of(path)? {
                let known = picture.canonicalize().is_ok_and(|place| used.contains(&place));
                let id = picture.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                if known || specimens.iter().any(|specimen| specimen.id == id && specimen.picture) {
                    continue;
                }
                specimens.push(Specimen::new(id, Some(picture), false, &labels));
            }
        }
        if specimens.is_empty() {
            bail!("{} has no pictures (PNG or JPEG) and no landmarks.csv", path.display());
        }
        if specimens.len() > MOST_SPECIMENS {
            bail!("{} has {} specimens, more than the limit of {MOST_SPECIMENS}", path.display(), specimens.len());
        }
        let mut ids = BTreeSet::new();
        if let Some(twice) = specimens.iter().find(|specimen| !ids.insert(specimen.id.clone())) {
            let error = format!("duplicate specimen {:?} in {}", twice.id, path.display());
            return Err(advised(error, "rename one of the files"));
        }
        let data = input.as_ref().map(|input| input.data.clone());
        let source = match input {
            Some(input) if built_in => Source::Drawn(Box::new(input)),
            _ => Source::Folder(folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?),
        };
        Ok(Self { title, labels, specimens, data, source })
    }

    /// A picture as it is, with its media type; `None` if there is none of that number.
    pub(super) fn picture(&self, number: usize) -> Result<Option<(&'static str, Vec<u8>)>> {
        let Some(specimen) = self.specimens.get(number).filter(|specimen| specimen.picture) else { return Ok(None) };
        match (&self.source, &specimen.path) {
            (Source::Drawn(input), _) => {
                let picture = input.picture(number)?.context("there is no picture")?;
                Ok(Some(("image/png", picture.to_png()?)))
            }
            (Source::Folder(folder), Some(path)) => {
                let place = path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
                // A link may lead out of the project; what it leads to is none of the page's business.
                if !place.starts_with(folder) {
                    return Ok(None);
                }
                let size = std::fs::metadata(&place)?.len();
                if size > LARGEST_PICTURE {
                    bail!("{} is larger than {LARGEST_PICTURE} bytes", path.display());
                }
                let kind = if extension(&place) == "png" { "image/png" } else { "image/jpeg" };
                Ok(Some((kind, files::read(&place)?)))
            }
            (Source::Folder(_), None) => Ok(None),
        }
    }

    /// Writes a result into the folder of the labels, whole or not at all.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Unwritten> {
        let path = self.labels.join(name);
        if name == "data.json"
            && let Err(error) = DataSet::from_json(text)
        {
            return Err(Unwritten::Refused(format!("what the page sent is not a data set: {error}")));
        }
        check_no_link(&path).map_err(|error| Unwritten::Refused(format!("{error:#}")))?;
        files::write(&path, text.as_bytes()).map_err(|error| Unwritten::Failed(format!("{error:#}")))?;
        Ok(path)
    }
}

/// Why a result was not written.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// It must not be.
    Refused(String),
    /// The disk did not take it.
    Failed(String),
}

/// Refuses to write through a link: whatever it leads to is not part of the project.
fn check_no_link(path: &Path) -> Result<()> {
    if path.is_symlink() {
        bail!("refusing to write {}: it is a symbolic link", path.display());
    }
    Ok(())
}

impl Specimen {
    fn new(id: String, path: Option<PathBuf>, drawn: bool, labels: &Path) -> Self {
        let image = path.as_deref().and_then(|path| relative(path, labels));
        Self { id, picture: drawn || path.is_some(), image, path }
    }
}

/// `labels` in a folder; beside a file a folder of its name.
fn default_labels(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("labels") } else { path.with_extension("labels") }
}

/// The way from the folder of the labels to a picture, where the one is beside or under the folder of the other.
fn relative(picture: &Path, labels: &Path) -> Option<String> {
    let (picture, labels) = (picture.canonicalize().ok()?, labels.canonicalize().ok()?);
    let mut up = String::new();
    for folder in labels.ancestors() {
        if let Ok(rest) = picture.strip_prefix(folder) {
            let parts: Vec<_> = rest.iter().map(|part| part.to_string_lossy()).collect();
            return Some(up + &parts.join("/"));
        }
        up.push_str("../");
    }
    None
}

/// The pictures of a folder, by name; numbers in names count as numbers.
fn pictures_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut pictures = Vec::new();
    for inner in PICTURE_FOLDERS {
        let folder = if inner.is_empty() { folder.to_path_buf() } else { folder.join(inner) };
        if !folder.is_dir() {
            continue;
        }
        let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
            if ["png", "jpg", "jpeg"].contains(&extension(&path).as_str()) && path.is_file() {
                pictures.push(path);
            }
        }
    }
    pictures.sort_by_key(|path| natural_key(&path.to_string_lossy()));
    Ok(pictures)
}

/// Sorts "frame 2" before "frame 10": digits run together as a number, padded.
fn natural_key(name: &str) -> String {
    let mut key = String::new();
    let mut digits = String::new();
    for character in name.chars().chain(['\0']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        if !digits.is_empty() {
            key.extend(std::iter::repeat_n('0', 20_usize.saturating_sub(digits.len())));
            key.push_str(&digits);
            digits.clear();
        }
        key.push(character);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["a10", "a9", "b", "a1b2", "a1b10"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["a1b2", "a1b10", "a9", "a10", "b"]);
    }

    #[test]
    fn a_link_out_of_the_folder_is_no_picture() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret.png");
        std::fs::write(&secret, b"secret").unwrap();
        std::fs::write(folder.path().join("a.png"), b"inside").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&secret, folder.path().join("b.png")).unwrap();
        let project = Project::open(folder.path(), None).unwrap();
        assert_eq!(project.picture(0).unwrap().unwrap().1, b"inside");
        assert!(project.picture(1).unwrap().is_none());
        assert!(project.picture(99).unwrap().is_none());
        assert_eq!(project.specimens[0].image.as_deref(), Some("../a.png"));
    }
}

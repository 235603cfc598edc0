//! Where graphs come from: files of every format, folders, the built-in sequence; and pairs where a file has none.

use crate::askew;
use crate::counted::counted;
use crate::data_files::{self, read_house};
use crate::hints::advised;
use crate::progress::{detail, note};
use anyhow::{Context, Result, bail};
use homolog::Control;
use homolog::data::ENDINGS;
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::turntable::Turntable;
use homolog::task::paired;
use homolog_viz::GreyPicture;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the built-in sequence where a file is asked for.
pub(crate) const BUILT_IN: &str = "turntable";
/// The seed of pairs that are drawn.
pub(crate) const SEED: u64 = 0;

/// Graphs and where they came from.
pub(crate) struct Input {
    pub(crate) data: DataSet,
    source: Source,
}

enum Source {
    /// Pictures stand relative to this folder.
    Folder(PathBuf),
    Turntable(Turntable),
    /// Each picture rotated.
    Askew(Turntable),
}

/// The picture that a graph was found in, not yet read.
pub(crate) enum Picture {
    None,
    File(PathBuf),
    Frame(Turntable, usize),
    /// As a camera in the hand sees it.
    Askew(Turntable, usize),
}

impl Picture {
    /// Reads it now; `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<GreyPicture>> {
        match self {
            Self::None => Ok(None),
            Self::File(path) => crate::pictures::read(path).map(Some),
            Self::Frame(turntable, frame) => {
                let picture = turntable.render(*frame)?;
                Ok(Some(GreyPicture { width: picture.width, height: picture.height, pixels: picture.pixels }))
            }
            Self::Askew(turntable, frame) => {
                let upright = Self::Frame(turntable.clone(), *frame).read()?;
                Ok(upright.map(|upright| askew::picture(*frame, &upright)))
            }
        }
    }
}

impl Input {
    /// Reads whatever the path is: a data set, a landmark table, a network, a folder with landmarks.csv, the authors' labels or
    /// other files, the word `turntable`, or - for standard input.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        if path == Path::new(BUILT_IN) && !path.exists() {
            return Self::turntable();
        }
        if path.is_dir() {
            return Self::folder(path);
        }
        let data = data_files::read(path, None, (LandmarkTable::default(), None), None)?;
        let (graphs, pairs) = (data.graphs().len(), data.pairs().len());
        detail(&format!("read {}: {}, {}", path.display(), counted(graphs, "graph"), counted(pairs, "pair")));
        Ok(Self::of_file(data, path))
    }

    /// The graphs of a file, whose pictures are next to it.
    pub(crate) fn of_file(data: DataSet, path: &Path) -> Self {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self { data, source: Source::Folder(folder) }
    }

    /// The built-in sequence: node k is the same landmark in every frame.
    pub(crate) fn turntable() -> Result<Self> {
        let turntable = Turntable::default();
        Ok(Self { data: turntable.data_set()?, source: Source::Turntable(turntable) })
    }

    /// The built-in sequence, each picture rotated.
    pub(crate) fn askew() -> Result<Self> {
        let turntable = Turntable::default();
        Ok(Self { data: askew::data_set(&turntable.data_set()?)?, source: Source::Askew(turntable) })
    }

    /// A folder with landmarks.csv, with the authors' labels, or with other files of graphs.
    fn folder(path: &Path) -> Result<Self> {
        let table = path.join("landmarks.csv");
        if table.is_file() {
            return Self::load(&table);
        }
        if !path.join("label").is_dir() {
            return Self::all_files(path);
        }
        let graphs = read_house(path, false)?;
        Ok(Self { data: DataSet::new(graphs, vec![])?, source: Source::Folder(path.to_path_buf()) })
    }

    /// Every file of a folder whose name ends as those of graphs do, in the order of their names.
    fn all_files(folder: &Path) -> Result<Self> {
        let cannot = || format!("cannot read {}", folder.display());
        let entries = std::fs::read_dir(folder).with_context(cannot)?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>().with_context(cannot)?;
        let is_of_graphs = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            // The table of nodes of a network belongs to its table of edges.
            file.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) && !name.ends_with(".nodes.csv")
        };
        files.retain(is_of_graphs);
        files.sort();
        if files.is_empty() {
            bail!(
                "{} has neither landmarks.csv nor label/house1, label/house2, ..., nor a file that ends in {}",
                folder.display(),
                ENDINGS.join(", ")
            );
        }
        let inputs = files.iter().map(|file| Self::load(file)).collect::<Result<Vec<_>>>()?;
        let graphs = inputs.iter().flat_map(|input| input.data.graphs().iter().cloned());
        let named = graphs.zip(distinct_ids(&files, &inputs)).map(|(graph, id)| NamedGraph { id, ..graph });
        Ok(Self { data: DataSet::new(named.collect(), vec![])?, source: Source::Folder(folder.to_path_buf()) })
    }

    /// The one graph of a file that should have just one.
    pub(crate) fn single(self, path: &Path) -> Result<(NamedGraph, Picture)> {
        let count = self.data.graphs().len();
        if count != 1 {
            let path = path.display();
            return Err(advised(
                format!("{path} has {count} graphs, and one is needed"),
                format!("use `--data {path}` and give the ids of the graphs"),
            ));
        }
        Ok((self.data.graphs()[0].clone(), self.picture_of(0)))
    }

    /// The position of the graph with an id.
    pub(crate) fn find(&self, id: &str) -> Result<usize> {
        let position = self.data.find(id);
        position.with_context(|| {
            let some: Vec<&str> = self.data.graphs().iter().take(5).map(|named| named.id.as_str()).collect();
            format!("no graph {id:?}; the {} graphs are {} ...", self.data.graphs().len(), some.join(", "))
        })
    }

    /// Where the picture of a graph is, if there is one.
    pub(crate) fn picture_of(&self, graph: usize) -> Picture {
        match (&self.source, &self.data.graphs()[graph].image) {
            (Source::Turntable(turntable), _) => Picture::Frame(turntable.clone(), graph),
            (Source::Askew(turntable), _) => Picture::Askew(turntable.clone(), graph),
            (Source::Folder(folder), Some(image)) if folder.join(image).is_file() => Picture::File(folder.join(image)),
            _ => Picture::None,
        }
    }

    /// The picture that a graph was found in, if there is one; an error if it cannot be read.
    pub(crate) fn picture(&self, graph: usize) -> Result<Option<GreyPicture>> {
        self.picture_of(graph).read()
    }

    /// The data set with pairs: its own, or else pairs of graphs whose nodes share names; what was made is said.
    pub(crate) fn with_pairs(mut self) -> Result<Self> {
        if !self.data.pairs().is_empty() {
            return Ok(self);
        }
        let (data, drawn) = paired(&self.data, &Control::new())?;
        say_drawn(data.graphs().len(), drawn);
        self.data = data;
        Ok(self)
    }
}

/// The ids of all graphs; those of several files that have the same are told apart by the file.
pub(crate) fn distinct_ids(files: &[PathBuf], inputs: &[Input]) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let of = inputs.iter().zip(files).flat_map(|(input, file)| input.data.graphs().iter().map(move |one| (one, file)));
    of.clone().for_each(|(one, _)| *count.entry(&one.id).or_insert(0) += 1);
    let name = |(one, file): (&NamedGraph, &PathBuf)| {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        if count.get(one.id.as_str()) > Some(&1) { format!("{stem}/{}", one.id) } else { one.id.clone() }
    };
    of.map(name).collect()
}

/// Says how many pairs were drawn of how many.
pub(crate) fn say_drawn(count: usize, drawn: Option<[usize; 2]>) {
    if let Some([drawn, all]) = drawn {
        note(&format!(
            "{count} graphs make {all} pairs; {drawn} of them were drawn. To choose: homolog convert DATA --pairs all, random:N, template:ID or N -o data.json"
        ));
    }
}

/// What the name of a file ends in, in small letters.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

//! Where graphs come from: data sets (JSON, JSON Lines), landmark tables (CSV), the authors' house folder, the built-in sequence.

use crate::data_files::read_house;
use crate::files;
use anyhow::{Context, Result, bail};
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph, match_by_name};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::turntable::Turntable;
use homolog::graph::Graph;
use homolog_viz::GreyPicture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the built-in sequence where a file is asked for.
pub(crate) const BUILT_IN: &str = "turntable";
/// The most pairs that are made of graphs whose nodes have the same names.
const MOST_PAIRS: usize = 2000;

/// Graphs and where they came from.
pub(crate) struct Input {
    pub(crate) data: DataSet,
    source: Source,
}

enum Source {
    /// Pictures stand relative to this folder.
    Folder(PathBuf),
    Turntable(Turntable),
}

impl Input {
    /// Reads whatever the path is: a data set, a landmark table, a folder with landmarks.csv or the authors' labels, or the word
    /// `turntable`.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        if path == Path::new(BUILT_IN) && !path.exists() {
            return Self::turntable();
        }
        if path.is_dir() {
            return Self::folder(path);
        }
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let data = match extension(path).as_str() {
            "json" => DataSet::from_json(&files::read_text(path)?),
            "jsonl" | "ndjson" => DataSet::from_json_lines(&files::read_text(path)?),
            "csv" => {
                let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                let graphs = LandmarkTable::default().read(&files::read_text(path)?, &id);
                let data = graphs.and_then(|graphs| DataSet::new(graphs, vec![]));
                Ok(with_pictures(&data.with_context(|| path.display().to_string())?, &folder)?)
            }
            _ if !path.exists() => bail!("there is no file or folder {}", path.display()),
            other => bail!(
                "{}: files that end in {other:?} are not known; a data set ends in .json or .jsonl, a landmark table in .csv",
                path.display()
            ),
        };
        let data = data.with_context(|| path.display().to_string())?;
        Ok(Self { data, source: Source::Folder(folder) })
    }

    /// The built-in sequence: node k is the same landmark in every frame.
    pub(crate) fn turntable() -> Result<Self> {
        let turntable = Turntable::default();
        let names: Vec<String> = Turntable::names().into_iter().map(String::from).collect();
        let mut graphs = Vec::new();
        for (frame, points) in turntable.landmarks()?.into_iter().enumerate() {
            let [width, height] = Turntable::IMAGE_SIZE;
            let graph = Graph::from_points(points)?.with_names(names.clone())?;
            let graph = Arc::new(graph.with_image_size(width as f64, height as f64)?);
            graphs.push(NamedGraph { id: (frame + 1).to_string(), graph, image: None });
        }
        Ok(Self { data: DataSet::new(graphs, vec![])?, source: Source::Turntable(turntable) })
    }

    /// A folder with landmarks.csv, or with the authors' labels.
    fn folder(path: &Path) -> Result<Self> {
        let table = path.join("landmarks.csv");
        if table.is_file() {
            return Self::load(&table);
        }
        if !path.join("label").is_dir() {
            bail!("{} has neither landmarks.csv nor label/house1, label/house2, ...", path.display());
        }
        let graphs = read_house(path, false)?;
        Ok(Self { data: DataSet::new(graphs, vec![])?, source: Source::Folder(path.to_path_buf()) })
    }

    /// The one graph of a file that should have just one.
    pub(crate) fn single(self, path: &Path) -> Result<(NamedGraph, Option<GreyPicture>)> {
        let count = self.data.graphs().len();
        if count != 1 {
            bail!("{} has {count} graphs; use --data {} and give their ids", path.display(), path.display());
        }
        let picture = self.picture(0)?;
        Ok((self.data.graphs()[0].clone(), picture))
    }

    /// The position of the graph with an id.
    pub(crate) fn find(&self, id: &str) -> Result<usize> {
        let position = self.data.find(id);
        position.with_context(|| {
            let some: Vec<&str> = self.data.graphs().iter().take(5).map(|named| named.id.as_str()).collect();
            format!("there is no graph {id:?}; there are {} graphs: {} ...", self.data.graphs().len(), some.join(", "))
        })
    }

    /// The picture that a graph was found in, if there is one and it can be read.
    pub(crate) fn picture(&self, graph: usize) -> Result<Option<GreyPicture>> {
        match &self.source {
            Source::Turntable(turntable) => {
                let picture = turntable.render(graph)?;
                Ok(Some(GreyPicture { width: picture.width, height: picture.height, pixels: picture.pixels }))
            }
            Source::Folder(folder) => match &self.data.graphs()[graph].image {
                Some(image) if folder.join(image).is_file() => {
                    crate::pictures::read(&folder.join(image)).map(|picture| Some(picture.into_viz()))
                }
                _ => Ok(None),
            },
        }
    }

    /// The data set with pairs: its own, or else all pairs of graphs whose nodes share names.
    pub(crate) fn with_pairs(mut self) -> Result<Self> {
        if !self.data.pairs().is_empty() {
            return Ok(self);
        }
        let graphs = self.data.graphs().to_vec();
        let mut pairs = Vec::new();
        for left in 0..graphs.len() {
            for right in left + 1..graphs.len() {
                if let Some(truth) = match_by_name(&graphs[left].graph, &graphs[right].graph) {
                    pairs.push(LabelledPair::new(left, right, Some(truth)));
                }
                if pairs.len() > MOST_PAIRS {
                    bail!(
                        "{} graphs whose nodes share names make more than {MOST_PAIRS} pairs; choose with `homolog convert DATA --pairs N -o data.json`",
                        graphs.len()
                    );
                }
            }
        }
        if graphs.len() < 2 {
            bail!("a pair takes two graphs, and here is {}", graphs.len());
        }
        if pairs.is_empty() {
            bail!("there are no pairs of graphs, and no two graphs have a node of the same name");
        }
        self.data = DataSet::new(graphs, pairs)?;
        Ok(self)
    }
}

/// A table has no pictures; a file `images/ID.png` (or .jpg, .jpeg) beside it belongs to the graph ID, and in the authors' folder
/// `images/house.seq(N-1).png` to frame N.
fn with_pictures(data: &DataSet, folder: &Path) -> Result<DataSet> {
    let picture = |named: &NamedGraph| {
        let mut names: Vec<String> = ["png", "jpg", "jpeg"].map(|end| format!("images/{}.{end}", named.id)).to_vec();
        let number: Option<usize> = named.id.parse().ok().filter(|&number| number > 0);
        names.extend(number.map(|number| format!("images/house.seq{}.png", number - 1)));
        // An id is a name, not a way to other folders.
        let plain = !named.id.contains(['/', '\\']);
        names.into_iter().find(|name| plain && folder.join(name).is_file())
    };
    let graphs = data.graphs().iter().map(|named| NamedGraph { image: picture(named), ..named.clone() }).collect();
    Ok(DataSet::new(graphs, data.pairs().to_vec())?)
}

/// What the name of a file ends in, in small letters.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

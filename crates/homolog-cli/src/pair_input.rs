//! The two graphs that `match` and `explain` are about: two files, or two graphs of a data set.

use crate::inputs::{Input, Picture};
use crate::progress::note;
use anyhow::Result;
use homolog::data::dataset::{NamedGraph, match_by_name};
use homolog::graph::{Pair, PairFeatures};
use homolog::matching::{Matching, Restrictions};
use homolog_viz::GreyPicture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Two graphs, where their pictures are, and the truth where it is known.
pub(crate) struct PairInput {
    pub(crate) left: NamedGraph,
    pub(crate) right: NamedGraph,
    pub(crate) truth: Option<Matching>,
    pub(crate) given: Restrictions,
    pub(crate) features: Option<Arc<PairFeatures>>,
    pub(crate) pictures: [Picture; 2],
}

impl PairInput {
    pub(crate) fn pair(&self) -> Pair {
        let (given, features) = (self.given.clone(), self.features.clone());
        Pair { given, features, ..Pair::new(Arc::clone(&self.left.graph), Arc::clone(&self.right.graph)) }
    }

    /// What an error is about.
    pub(crate) fn about(&self) -> String {
        format!("{:?} and {:?}", self.left.id, self.right.id)
    }

    /// Two files, or two graphs of `data` by their ids.
    pub(crate) fn load(data: Option<&PathBuf>, left: &str, right: &str) -> Result<Self> {
        let Some(data) = data else {
            let single = |path: &Path| Input::load(path)?.single(path);
            let (left, left_picture) = single(Path::new(left))?;
            let (right, right_picture) = single(Path::new(right))?;
            let truth = match_by_name(&left.graph, &right.graph);
            let pictures = [left_picture, right_picture];
            let given = Restrictions::default();
            return Ok(Self { left, right, truth, given, features: None, pictures });
        };
        let input = Input::load(data)?;
        let (left, right) = (input.find(left)?, input.find(right)?);
        Ok(Self::of(&input, left, right))
    }

    /// Two graphs of an input, by position.
    pub(crate) fn of(input: &Input, left: usize, right: usize) -> Self {
        let labelled = input.data.pairs().iter().find(|pair| (pair.left, pair.right) == (left, right));
        let graphs = input.data.graphs();
        let by_name = || match_by_name(&graphs[left].graph, &graphs[right].graph);
        Self {
            pictures: [input.picture_of(left), input.picture_of(right)],
            given: labelled.map(|pair| pair.given.clone()).unwrap_or_default(),
            features: labelled.and_then(|pair| pair.features.clone()),
            truth: labelled.map_or_else(by_name, |pair| pair.truth.clone()),
            left: graphs[left].clone(),
            right: graphs[right].clone(),
        }
    }

    /// The pictures, decoded now: they are large. One that cannot be read is said and left out.
    pub(crate) fn read_pictures(&self) -> [Option<GreyPicture>; 2] {
        self.pictures.each_ref().map(|picture| {
            picture.read().unwrap_or_else(|error| {
                note(&format!("{error:#}"));
                None
            })
        })
    }
}

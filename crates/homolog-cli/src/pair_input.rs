//! The two graphs that `match` and `explain` are about: two files, or two graphs of a data set.

use crate::inputs::Input;
use anyhow::Result;
use homolog::data::dataset::{NamedGraph, match_by_name};
use homolog::graph::Pair;
use homolog::matching::{Matching, Restrictions};
use homolog_viz::GreyPicture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Two graphs, their pictures, and the truth where it is known.
pub(crate) struct PairInput {
    pub(crate) left: NamedGraph,
    pub(crate) right: NamedGraph,
    pub(crate) pictures: [Option<GreyPicture>; 2],
    pub(crate) truth: Option<Matching>,
    pub(crate) given: Restrictions,
}

impl PairInput {
    pub(crate) fn pair(&self) -> Pair {
        Pair { given: self.given.clone(), ..Pair::new(Arc::clone(&self.left.graph), Arc::clone(&self.right.graph)) }
    }

    /// Two files, or two graphs of `data` by their ids.
    pub(crate) fn load(data: Option<&PathBuf>, left: &str, right: &str) -> Result<Self> {
        let Some(data) = data else {
            let single = |path: &Path| Input::load(path)?.single(path);
            let (left, left_picture) = single(Path::new(left))?;
            let (right, right_picture) = single(Path::new(right))?;
            let truth = match_by_name(&left.graph, &right.graph);
            let given = Restrictions::default();
            return Ok(Self { left, right, pictures: [left_picture, right_picture], truth, given });
        };
        let input = Input::load(data)?;
        let (left, right) = (input.find(left)?, input.find(right)?);
        Self::of(&input, left, right)
    }

    /// Two graphs of an input, by position.
    pub(crate) fn of(input: &Input, left: usize, right: usize) -> Result<Self> {
        let labelled = input.data.pairs().iter().find(|pair| (pair.left, pair.right) == (left, right));
        let graphs = input.data.graphs();
        let by_name = || match_by_name(&graphs[left].graph, &graphs[right].graph);
        Ok(Self {
            pictures: [input.picture(left)?, input.picture(right)?],
            given: labelled.map(|pair| pair.given.clone()).unwrap_or_default(),
            truth: labelled.map_or_else(by_name, |pair| pair.truth.clone()),
            left: graphs[left].clone(),
            right: graphs[right].clone(),
        })
    }
}

//! Rounds of naming and learning: an atlas improved by the specimens that it names.
//!
//! One round (expectation maximisation with hard names): every specimen is named by an atlas of the others, and these names make the
//! next atlases. A specimen never teaches the atlas that names it, so no wrong name confirms itself. To save time specimens are left
//! out by the tenth. If points may be missing, a name that lies far from where most of its group lie does not teach:
//!
//!   |x - median| > 3 · min(2 u, (r + u) / 2),   r = median distance in the group, u = median of r over all groups.

use crate::atlas::{Atlas, AtlasSettings, Presence, Search};
use crate::graph::Graph;
use crate::matching::{Constraint, Matching, Workspace};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The number of each point's name in each specimen; `None`: it has none.
pub(super) type Labels = Vec<Vec<Option<usize>>>;

/// At most this many atlases per round.
const FOLDS: usize = 10;
/// Names farther than this many typical distances do not teach.
const FAR: f64 = 3.0;

/// What the precision of a single specimen's atlas, which shows no spread, may be multiplied with.
const PRECISIONS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// The most likely of them is too small, because edges are counted as if they were independent: this many times as much matches better.
const MORE_PRECISE: f64 = 2.0;

/// The factor for the precisions of an atlas of one specimen if points may be missing: twice the one under which others are most likely, by
/// the sum of their scores.
pub(super) fn precision(score: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let mut best = (f64::NEG_INFINITY, 1.0);
    for factor in PRECISIONS {
        let score = score(factor)?;
        if score > best.0 {
            best = (score, factor);
        }
    }
    Ok(MORE_PRECISE * best.1)
}

/// Specimens, and how atlases of them are learned: pose and presence are settled.
pub(super) struct Rounds<'a> {
    pub(super) graphs: &'a [&'a Graph],
    pub(super) settings: AtlasSettings,
}

/// What a round came to.
pub(super) struct Named {
    pub(super) labels: Labels,
    /// The score of each specimen under the atlas of the others.
    pub(super) scores: Vec<f64>,
}

impl Named {
    pub(super) fn total(&self) -> f64 {
        self.scores.iter().sum()
    }
}

/// How poses are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Poses {
    /// All are searched.
    All,
    /// From the names of the round before.
    Near,
}

/// The names of an atlas as numbers.
pub(super) fn numbers(atlas: &Atlas) -> Vec<usize> {
    atlas.landmarks.iter().map(|landmark| landmark.name.parse().unwrap_or(usize::MAX)).collect()
}

/// Names as a matching of the landmarks of an atlas to points.
pub(super) fn matching_of(numbers: &[usize], labels: &[Option<usize>]) -> Result<Matching> {
    let mut to = vec![None; numbers.len()];
    for (point, label) in labels.iter().enumerate() {
        if let Some(at) = label.and_then(|label| numbers.iter().position(|&number| number == label)) {
            to[at] = Some(point);
        }
    }
    Matching::new(to, labels.len(), Constraint::OneToOne)
}

/// A naming as numbers of names.
pub(super) fn labels_of(numbers: &[usize], matching: &Matching) -> Vec<Option<usize>> {
    matching.right_to_left().iter().map(|landmark| landmark.map(|at| numbers[at])).collect()
}

/// How many points have each name.
pub(super) fn counts(labels: &Labels) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    labels.iter().flatten().flatten().for_each(|&label| *counts.entry(label).or_insert(0) += 1);
    counts
}

/// The graph with numbers as names.
pub(super) fn with_labels(graph: &Graph, labels: &[Option<usize>]) -> Result<Graph> {
    let name = |label: &Option<usize>| label.map_or_else(String::new, |label| label.to_string());
    graph.clone().with_names(labels.iter().map(name).collect())
}

impl Rounds<'_> {
    fn is_partial(&self) -> bool {
        self.settings.presence != Some(Presence::Complete)
    }

    pub(super) fn named(&self, labels: &Labels) -> Result<Vec<Graph>> {
        self.graphs.iter().zip(labels).map(|(graph, labels)| with_labels(graph, labels)).collect()
    }

    /// The atlas of some specimens; `None` if no point has a name, or if interrupted.
    pub(super) fn atlas(
        &self,
        named: &[Graph],
        is_taught: impl Fn(usize) -> bool,
        control: &Control,
    ) -> Result<Option<Atlas>> {
        let has_names = |graph: &Graph| graph.names().is_some_and(|names| names.iter().any(|name| !name.is_empty()));
        let teachers: Vec<&Graph> = (0..named.len()).filter(|&s| is_taught(s)).map(|s| &named[s]).collect();
        if !teachers.iter().any(|graph| has_names(graph)) {
            return Ok(None);
        }
        match Atlas::learn_watched(&teachers, &self.settings, control) {
            Err(Error::Interrupted) => Ok(None),
            learned => learned.map(Some),
        }
    }

    /// Names every specimen from number `from` on by an atlas of the others.
    pub(super) fn round(&self, labels: &Labels, from: usize, poses: Poses, control: &Control) -> Result<Named> {
        let count = self.graphs.len();
        let folds = FOLDS.min(count - from).max(1);
        let taught = self.trusted(labels, from, control)?;
        let named = self.named(&taught)?;
        let fold_of = |s: usize| (s >= from).then(|| (s - from) % folds);
        let atlases = (0..folds)
            .into_par_iter()
            .map(|fold| self.atlas(&named, |s| fold_of(s) != Some(fold), control))
            .collect::<Result<Vec<_>>>()?;
        let one = |s: usize| -> Result<(Vec<Option<usize>>, f64)> {
            let Some(atlas) = fold_of(s).and_then(|fold| atlases[fold].as_ref()) else {
                return Ok((labels[s].clone(), 0.0));
            };
            if control.interrupted() {
                return Ok((labels[s].clone(), 0.0));
            }
            let (numbers, weights) = (numbers(atlas), atlas.start_weights());
            let work = &mut Workspace::with_control(control);
            let (matching, score) = if poses == Poses::Near {
                atlas.name_near(self.graphs[s], &matching_of(&numbers, &labels[s])?, &weights, work)?
            } else {
                let naming = atlas.name_with(self.graphs[s], &weights, Search::Quick, work)?;
                (naming.matching, naming.score)
            };
            Ok((labels_of(&numbers, &matching), score))
        };
        let (labels, scores) = (0..count).into_par_iter().map(one).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Named { labels, scores })
    }

    /// The names that teach: if points may be missing, those that do not lie far from the others of their group.
    pub(super) fn trusted(&self, labels: &Labels, from: usize, control: &Control) -> Result<Labels> {
        if self.is_partial() { self.without_far(labels, from, control) } else { Ok(labels.clone()) }
    }

    /// The names without those that lie far from the others of their group; specimens before `from` keep all.
    fn without_far(&self, labels: &Labels, from: usize, control: &Control) -> Result<Labels> {
        let Some(atlas) = self.atlas(&self.named(labels)?, |_| true, control)? else { return Ok(labels.clone()) };
        let numbers = numbers(&atlas);
        let mut places: Vec<Vec<(usize, usize, Vec<f64>)>> = vec![Vec::new(); numbers.len()];
        for (s, graph) in self.graphs.iter().enumerate() {
            let matching = matching_of(&numbers, &labels[s])?;
            let Some(points) = graph.points() else { continue };
            let points = atlas.frame_by_names(graph, &matching)?.apply(points);
            matching.pairs().for_each(|(at, point)| places[at].push((s, point, points.row(point).to_vec())));
        }
        let distances: Vec<Vec<f64>> = places.iter().map(|own| from_the_median(own, atlas.dimension)).collect();
        let typical: Vec<Option<f64>> = distances.iter().map(|own| median(own.clone())).collect();
        let Some(usual) = median(typical.iter().flatten().copied().collect()) else { return Ok(labels.clone()) };
        let mut kept = labels.clone();
        for ((own, distances), typical) in places.iter().zip(&distances).zip(&typical) {
            let most = FAR * (2.0 * usual).min(f64::midpoint(typical.unwrap_or(usual), usual));
            for ((s, point, _), &distance) in own.iter().zip(distances) {
                if *s >= from && distance > most {
                    kept[*s][*point] = None;
                }
            }
        }
        Ok(kept)
    }
}

/// The distance of each place from the median of all, coordinate by coordinate.
fn from_the_median(places: &[(usize, usize, Vec<f64>)], dimension: usize) -> Vec<f64> {
    let middle: Vec<f64> =
        (0..dimension).map(|p| median(places.iter().map(|place| place.2[p]).collect()).unwrap_or(0.0)).collect();
    let square = |place: &[f64]| place.iter().zip(&middle).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
    places.iter().map(|place| square(&place.2).sqrt()).collect()
}

/// The middle value, the larger one of two; `None` if there is none.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

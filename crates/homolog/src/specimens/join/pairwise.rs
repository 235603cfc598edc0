//! Pairwise matchings of a sparse set of pairs: every specimen with each of some *hubs*, specimens spread evenly over the list. So any two
//! specimens are two matchings apart, by many ways that can be compared, and the number of pairs grows with the number of specimens.
//!
//! A pair is matched by naming the points of one specimen by an atlas of the other alone, so poses, missing points and attributes are
//! treated as everywhere else. One specimen shows no spread, but if points may be missing the spread decides what is matched: it is
//! chosen by a sample of pairs (`rounds::precision`). Nor does one specimen show which numbers of points tell anything: that is asked of the same
//! sample, matched without them. A model can give the matchings instead; then names are scored by its problems.
//!
//! Among many specimens only those of the first hub are matched in every pose. The two matchings with that hub suggest the pose of any other pair, and
//! only pairs that score less in it than three quarters of the pairs of the first hub are matched in every pose too.

use super::super::rounds::{Labels, labels_of, matching_of, numbers, precision, with_labels};
use super::MatchedPair;
use crate::atlas::{Atlas, AtlasSettings, Pose, Presence, Search};
use crate::graph::Graph;
use crate::matching::{Constraint, Matching, Restrictions, Workspace};
use crate::model::{Model, Prepared};
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// About so many pairs are matched; at least `FEWEST_HUBS` per specimen.
const PAIRS: usize = 400;
const FEWEST_HUBS: usize = 6;
/// The precision at which complete specimens are told from others.
const TELLING: f64 = 2.0;
/// So large a share of the points of complete specimens are matched.
const COMPLETE: f64 = 0.9;
/// Hubs and specimens of a sample.
const SAMPLE: [usize; 2] = [3, 12];

/// From so many specimens on, poses of pairs are suggested by the first hub.
pub(super) const MANY: usize = 40;

/// All specimens matched to one.
#[derive(Clone)]
pub(super) struct Star {
    pub(super) hub: usize,
    /// For each point the point of the hub that it is matched to.
    pub(super) labels: Labels,
    pub(super) score: f64,
    /// A quarter of its matchings score less.
    pub(super) low: f64,
}

impl Star {
    /// The points of a specimen that another one's points are matched to by way of this hub.
    fn by_way(&self, from: usize, to: usize) -> Result<Matching> {
        let there = &self.labels[to];
        let partner = |point: &Option<usize>| there.iter().position(|other| other.is_some() && other == point);
        Matching::new(self.labels[from].iter().map(partner).collect(), there.len(), Constraint::OneToOne)
    }
}

/// How pairs are matched.
pub(super) struct Pairwise<'a> {
    graphs: &'a [&'a Graph],
    settings: AtlasSettings,
    precision: f64,
    /// Specimens as a model sees them.
    model: Option<(&'a Model, Vec<Prepared>)>,
}

/// The hubs of so many specimens.
pub(super) fn hubs(count: usize, most: usize) -> Vec<usize> {
    let hubs = (PAIRS / count.max(1)).max(FEWEST_HUBS).min(most).min(count);
    (0..hubs).map(|at| at * count / hubs).collect()
}

impl<'a> Pairwise<'a> {
    /// Settles the pose, the presence and the precision by a sample of pairs.
    pub(super) fn new(
        graphs: &'a [&'a Graph],
        settings: &AtlasSettings,
        model: Option<&'a Model>,
        control: &Control,
    ) -> Result<Self> {
        let model = match model {
            Some(model) => {
                let shared: Vec<Arc<Graph>> = graphs.iter().map(|graph| Arc::new((*graph).clone())).collect();
                Some((model, model.prepare(&shared, control)?))
            }
            None => None,
        };
        let mut pairwise = Self { graphs, settings: settings.clone(), precision: 1.0, model };
        let alike = graphs.iter().all(|graph| graph.node_count() == graphs[0].node_count());
        let given = settings.presence.filter(|&presence| presence != Presence::Auto);
        let undecided = given.is_none() && alike;
        pairwise.settings.presence = given.or(Some(Presence::Partial));
        pairwise.settings.pose = settings.pose.or(Some(Pose::Rotated));
        pairwise.settings.attributes = pairwise.telling(control)?;
        if settings.pose.is_none() {
            pairwise.settings.pose = Some(pairwise.pose(control)?);
        }
        if undecided {
            pairwise.precision = TELLING;
            let (share, _) = pairwise.sample(control)?;
            if share >= COMPLETE {
                pairwise.settings.presence = Some(Presence::Complete);
            }
        }
        pairwise.precision = 1.0;
        if pairwise.settings.presence == Some(Presence::Partial) && pairwise.model.is_none() {
            let settings = &pairwise.settings;
            let tried = |precision: f64| Self { precision, settings: settings.clone(), graphs, model: None };
            pairwise.precision = precision(|factor| Ok(tried(factor).sample(control)?.1))?;
        }
        Ok(pairwise)
    }

    /// The mean score of the pairs that [`Self::score_of`] looks at as they were matched; `None` if an atlas matched them, which
    /// has no scores for pairs.
    pub(super) fn alone(&self, stars: &[Star]) -> Option<f64> {
        let stars = &stars[..self.scored().min(stars.len())];
        let mean = |star: &Star| star.score / (self.graphs.len() - 1) as f64;
        let has_scores = self.model.is_none() || self.scoring().is_some();
        has_scores.then(|| stars.iter().map(mean).sum::<f64>() / stars.len().max(1) as f64)
    }

    /// Scores are compared on so many stars.
    fn scored(&self) -> usize {
        (PAIRS / self.graphs.len()).max(SAMPLE[0])
    }

    /// The settings with what was settled.
    pub(super) fn settings(&self) -> &AtlasSettings {
        &self.settings
    }

    fn sampled(&self) -> Vec<usize> {
        hubs(self.graphs.len(), SAMPLE[0])
    }

    /// Specimens that a hub of the sample is matched to.
    fn others(&self) -> Vec<usize> {
        let count = self.graphs.len().min(SAMPLE[1]);
        (0..count).map(|at| at * self.graphs.len() / count).collect()
    }

    /// The attributes that tell which points belong together, unless the caller names them: an atlas of one specimen does not show it, so a sample of
    /// pairs is matched by positions alone, and those count that an atlas of some hub's matches uses.
    fn telling(&self, control: &Control) -> Result<Option<Vec<String>>> {
        let has_any = self.graphs.iter().all(|graph| graph.node_attributes().is_some());
        if self.settings.attributes.is_some() || !has_any {
            return Ok(self.settings.attributes.clone());
        }
        let settings = AtlasSettings { attributes: Some(Vec::new()), ..self.settings.clone() };
        let bare = Self { graphs: self.graphs, settings, precision: TELLING, model: None };
        let mut telling = BTreeSet::new();
        for hub in self.sampled() {
            let named = bare.named_by(hub, control)?;
            let atlas = Atlas::learn(&named.iter().collect::<Vec<_>>(), &self.settings)?;
            telling.extend(atlas.attributes.into_iter().map(|unit| unit.name));
        }
        Ok(Some(telling.into_iter().collect()))
    }

    /// Some specimens, their points named by those of a hub.
    fn named_by(&self, hub: usize, control: &Control) -> Result<Vec<Graph>> {
        let others = self.others();
        let star = self.star(hub, &others, None, control)?;
        others.into_iter().map(|s| with_labels(self.graphs[s], &star.labels[s])).collect()
    }

    /// As given if a rotated hub finds all specimens oriented alike.
    fn pose(&self, control: &Control) -> Result<Pose> {
        let undecided = AtlasSettings { pose: None, ..self.settings.clone() };
        for hub in self.sampled() {
            let named = self.named_by(hub, control)?;
            if Atlas::learn(&named.iter().collect::<Vec<_>>(), &undecided)?.pose == Pose::AsGiven {
                return Ok(Pose::AsGiven);
            }
        }
        Ok(Pose::Rotated)
    }

    /// The share of points that are matched in a sample of pairs, and the sum of scores.
    fn sample(&self, control: &Control) -> Result<(f64, f64)> {
        let (mut matched, mut possible, mut score) = (0, 0, 0.0);
        for hub in self.sampled() {
            let star = self.star(hub, &self.others(), None, control)?;
            score += star.score;
            for s in self.others().into_iter().filter(|&s| s != hub) {
                matched += star.labels[s].iter().flatten().count();
                possible += self.graphs[s].node_count().min(self.graphs[hub].node_count());
            }
        }
        Ok((matched as f64 / possible.max(1) as f64, score))
    }

    /// The stars of all hubs; those that were complete when the control said stop.
    pub(super) fn stars(&self, control: &Control) -> Result<Vec<Star>> {
        let all: Vec<usize> = (0..self.graphs.len()).collect();
        let hubs = hubs(self.graphs.len(), self.graphs.len());
        let mut stars: Vec<Star> = Vec::new();
        for (done, &hub) in hubs.iter().enumerate() {
            control.report(&Report::new("matching pairs", done, Some(hubs.len())));
            let first = stars.first().filter(|_| self.graphs.len() >= MANY);
            let star = self.star(hub, &all, first, control)?;
            if control.interrupted() {
                break;
            }
            stars.push(star);
        }
        Ok(stars)
    }

    /// Matches two specimens, left to right, without a model.
    pub(super) fn pair(&self, left: usize, right: usize, control: &Control) -> Result<MatchedPair> {
        let (atlas, other) = (self.atlas(left)?, self.graphs[right]);
        let weights = atlas.start_weights();
        let work = &mut Workspace::with_control(control);
        let naming = atlas.name_with(other, &weights, Search::Quick, work)?;
        let problem = atlas.instance_as(other, &naming.frame, naming.presence)?.compatibility(&weights)?;
        Ok(MatchedPair { matching: naming.matching, problem })
    }

    /// Matches some specimens to one, in the poses that another star suggests.
    fn star(&self, hub: usize, others: &[usize], known: Option<&Star>, control: &Control) -> Result<Star> {
        let own: Vec<Option<usize>> = (0..self.graphs[hub].node_count()).map(Some).collect();
        let mut labels: Labels = self.graphs.iter().map(|graph| vec![None; graph.node_count()]).collect();
        let atlas = self.atlas(hub)?;
        let (weights, numbers) = (atlas.start_weights(), numbers(&atlas));
        let one = |&s: &usize| -> Result<(Vec<Option<usize>>, f64)> {
            if s == hub || control.interrupted() {
                return Ok((labels[s].clone(), 0.0));
            }
            let work = &mut Workspace::with_control(control);
            if let Some((model, prepared)) = &self.model {
                let matched = model.match_prepared(&prepared[hub], &prepared[s], &Restrictions::default(), work)?;
                let solution = matched.solution;
                return Ok((solution.matching.right_to_left().to_vec(), solution.score));
            }
            let near = match known {
                Some(star) => Some(atlas.name_near(self.graphs[s], &star.by_way(hub, s)?, &weights, work)?),
                None => None,
            };
            let is_usual = |near: &(Matching, f64)| known.is_some_and(|star| near.1 >= star.low);
            if let Some((matching, score)) = near.filter(is_usual) {
                return Ok((labels_of(&numbers, &matching), score));
            }
            let naming = atlas.name_with(self.graphs[s], &weights, Search::Quick, work)?;
            Ok((labels_of(&numbers, &naming.matching), naming.score))
        };
        let found = others.par_iter().map(one).collect::<Result<Vec<_>>>()?;
        let score = found.iter().map(|(_, score)| score).sum();
        let mut scores: Vec<f64> =
            others.iter().zip(&found).filter(|(s, _)| **s != hub).map(|(_, (_, score))| *score).collect();
        scores.sort_by(f64::total_cmp);
        let low = scores.get(scores.len() / 4).copied().unwrap_or_default();
        others.iter().zip(found).for_each(|(&s, (found, _))| labels[s] = found);
        labels[hub] = own;
        Ok(Star { hub, labels, score, low })
    }

    /// How well the matches by name suit pairs that were matched, about `PAIRS` of the first stars: the mean of their scores, by the model that
    /// matched them, or each in the pose that the names determine. Minus infinity if the names leave out what has to be matched.
    pub(super) fn score_of(&self, stars: &[Star], labels: &Labels) -> Result<f64> {
        let of_hub = |star: &Star| -> Result<f64> {
            let sum = match self.scoring() {
                Some((model, prepared)) => self.by_model(model, prepared, star.hub, labels)?,
                None => self.by_positions(star.hub, labels)?,
            };
            Ok(sum / (self.graphs.len() - 1) as f64)
        };
        let scores = stars.par_iter().take(self.scored()).map(of_hub).collect::<Result<Vec<f64>>>()?;
        Ok(scores.iter().sum::<f64>() / scores.len().max(1) as f64)
    }

    /// The model whose scores pairs are compared by; an atlas has none for pairs.
    fn scoring(&self) -> Option<(&Model, &[Prepared])> {
        self.model
            .as_ref()
            .filter(|(model, _)| model.atlas().is_none())
            .map(|(model, prepared)| (*model, &prepared[..]))
    }

    fn by_positions(&self, hub: usize, labels: &Labels) -> Result<f64> {
        let atlas = self.atlas(hub)?;
        let (weights, own) = (atlas.start_weights(), numbered(&labels[hub]));
        let mut sum = 0.0;
        for (s, graph) in self.graphs.iter().enumerate().filter(|(s, _)| *s != hub) {
            let matching = matching_of(&own, &labels[s])?;
            if atlas.presence_in(graph) == Presence::Complete && matching.matched_count() < own.len() {
                return Ok(f64::NEG_INFINITY);
            }
            if matching.matched_count() > atlas.dimension {
                let frame = atlas.frame_by_names(graph, &matching)?;
                sum += atlas.instance(graph, &frame)?.compatibility(&weights)?.score(&matching)?;
            }
        }
        Ok(sum)
    }

    fn by_model(&self, model: &Model, prepared: &[Prepared], hub: usize, labels: &Labels) -> Result<f64> {
        let own = numbered(&labels[hub]);
        let mut sum = 0.0;
        for s in (0..self.graphs.len()).filter(|&s| s != hub) {
            let given = &Restrictions::default();
            let problem = model.problem_of(&prepared[hub], &prepared[s], given, &mut Workspace::new())?;
            let matching = matching_of(&own, &labels[s])?;
            let all = problem.left_count().min(problem.right_count());
            if problem.unmatched.is_none() && matching.matched_count() < all {
                return Ok(f64::NEG_INFINITY);
            }
            sum += match problem.score(&matching) {
                Err(Error::ForbiddenPair { .. }) => f64::NEG_INFINITY,
                score => score?,
            };
        }
        Ok(sum)
    }

    /// The atlas of one specimen: its landmarks are the points, in order.
    pub(super) fn atlas(&self, hub: usize) -> Result<Atlas> {
        let own: Vec<Option<usize>> = (0..self.graphs[hub].node_count()).map(Some).collect();
        let named = with_labels(self.graphs[hub], &own)?;
        Ok(Atlas::learn(&[&named], &self.settings)?.sharper(self.precision))
    }
}

/// Names as numbers; a point without a name has one that no other point has.
fn numbered(labels: &[Option<usize>]) -> Vec<usize> {
    labels.iter().enumerate().map(|(point, label)| label.unwrap_or(usize::MAX - point)).collect()
}

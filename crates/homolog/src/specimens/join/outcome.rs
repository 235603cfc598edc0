//! [`Joined`]: the names, how sure they are, the atlas, and a report.
//!
//! Each specimen is named once more, with proof, by an atlas of the others: that is its answer, unless these names suit the pairs worse than
//! those that they come from. How margins become confidences is learned from two atlases that share no specimen: each names the specimens of
//! the other, and a name counts as right if it is the final one. A point that the others call by another name than its final one with
//! confidence c has confidence 1 - c; one that they do not name, that of a margin of 0.

use super::super::rounds::{Labels, Rounds, counts, labels_of, numbers};
use super::pairwise::{Pairwise, Star};
use crate::atlas::{Atlas, Calibration, Clues, Naming, Pose, Presence, Search};
use crate::graph::Graph;
use crate::matching::{Compatibility, Linear, Matcher, Status, Workspace};
use crate::model::Model;
use crate::{Control, Error, Report, Result};
use ndarray::Array2;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Final namings are by so many atlases, each of the specimens that it does not name.
const FOLDS: usize = 10;

/// Specimens with one consistent naming.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Joined {
    /// The names, in order of first appearance.
    pub names: Vec<JoinedName>,
    /// For each specimen one for each point; `None`: it has no name.
    pub points: Vec<Vec<Option<JoinedPoint>>>,
    /// The atlas of all specimens, which names new ones.
    pub model: Model,
    /// How it came about.
    pub report: JoinReport,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JoinedName {
    /// A number, or what labelled specimens call it.
    pub name: String,
    /// How many specimens have it.
    pub specimens: usize,
}

/// The name of a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JoinedPoint {
    /// By position in the list of names.
    pub name: usize,
    /// The chance that it is right; `None` if interrupted before that was known.
    pub confidence: Option<f64>,
}

/// How specimens were joined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// How many specimens.
    pub specimens: usize,
    /// How many points they have.
    pub points: usize,
    /// How many of these have a name.
    pub named: usize,
    /// How many names there are.
    pub names: usize,
    /// The mean confidence of the names.
    pub confidence: Option<f64>,
    /// How specimens may be oriented.
    pub pose: Pose,
    /// Whether all points are present.
    pub presence: Presence,
    /// How many pairs were matched.
    pub pairs: usize,
    /// The share of pairwise matches whose two points have the same name.
    pub agreement: f64,
    /// The share of pairwise matches that are consistent with each other: of two steps that lead to a hub, those that lead to the point of
    /// the direct match.
    pub pairwise_consistency: f64,
    /// The log-likelihood per specimen of left-out specimens, by the groups that pairwise matches agree on and after the rounds; `None` if
    /// interrupted before.
    pub held_out: Option<[f64; 2]>,
    /// The mean score of pairs as they were matched alone, and of the matches by name; `None` if an atlas matched the pairs.
    pub pair_scores: Option<[f64; 2]>,
    /// Whether the names are those after the rounds; otherwise those that pairwise matches agree on, which suit the pairs better.
    pub improved: bool,
    /// Whether it could not be told which of the two are better: what pairwise matches agree on suits the pairs better, but hardly agrees with them
    /// more.
    pub undecided: bool,
    /// Rounds of naming and learning.
    pub rounds: usize,
    /// Specimens whose names are proven to be the best in their pose.
    pub proven: usize,
    /// Whether all of it was done; otherwise interrupted.
    pub complete: bool,
}

/// Names, and where they come from.
pub(super) struct Found {
    pub(super) labels: Labels,
    pub(super) held_out: [f64; 2],
    /// Of the pairs, by these names.
    pub(super) score: f64,
    pub(super) is_improved: bool,
    pub(super) is_undecided: bool,
    pub(super) rounds: usize,
    pub(super) stars: Vec<Star>,
}

impl Found {
    /// Final names, confidences, the atlas.
    pub(super) fn outcome(
        mut self,
        pairwise: &Pairwise<'_>,
        rounds: &Rounds<'_>,
        given: &[&Graph],
        control: &Control,
    ) -> Result<Joined> {
        let mut labels = self.labels.clone();
        let named = rounds.named(&labels)?;
        let folds = FOLDS.min(given.len());
        let finals = by_the_others(rounds, &named, folds, Search::Proof, &control.part(0, 2))?;
        let mut calibration = None;
        if let Some(finals) = &finals {
            let by_others: Labels = finals.iter().map(|final_one| final_one.labels.clone()).collect();
            let score = pairwise.score_of(&self.stars, &by_others)?;
            if score >= self.score {
                (labels, self.score) = (by_others, score);
            }
            if let Some(halves) = by_the_others(rounds, &named, 2, Search::Quick, &control.part(1, 2))? {
                let told: Vec<(f64, bool)> = halves
                    .iter()
                    .zip(&labels)
                    .flat_map(|(half, labels)| {
                        half.naming
                            .calls
                            .iter()
                            .map(|call| (call.margin, half.labels[call.point] == labels[call.point]))
                    })
                    .collect();
                calibration = Calibration::of_margins(&told);
            }
        }
        // A name that a single specimen has is none.
        let counts = counts(&labels);
        for label in labels.iter_mut().flatten() {
            label.take_if(|label| counts.get(label).is_some_and(|&count| count < 2));
        }
        let names = names_of(&labels, given)?;
        let confidence = |s: usize, point: usize| -> Option<f64> {
            let one = &finals.as_ref()?[s];
            let call = one.naming.calls.iter().find(|call| call.point == point);
            let own = calibration?.confidence(&Clues::of_margin(call.map_or(0.0, |call| call.margin)));
            let is_other = one.labels[point].is_some() && one.labels[point] != labels[s][point];
            Some(if is_other { 1.0 - own } else { own })
        };
        let points: Vec<Vec<Option<JoinedPoint>>> = labels
            .iter()
            .enumerate()
            .map(|(s, own)| {
                let one = |(point, label): (usize, &Option<usize>)| {
                    let name = names.iter().position(|(number, _)| Some(*number) == *label)?;
                    Some(JoinedPoint { name, confidence: confidence(s, point) })
                };
                own.iter().enumerate().map(one).collect()
            })
            .collect();
        let called = |label: &Option<usize>| {
            let name = names.iter().find(|(number, _)| Some(*number) == *label);
            name.map_or_else(String::new, |(_, name)| name.clone())
        };
        let named = rounds.graphs.iter().zip(&labels);
        let named: Vec<Graph> = named
            .map(|(graph, own)| (*graph).clone().with_names(own.iter().map(called).collect()))
            .collect::<Result<_>>()?;
        let mut atlas = Atlas::learn(&named.iter().collect::<Vec<_>>(), &rounds.settings)?;
        atlas.calibration = calibration;
        let weights = atlas.start_weights();
        let model = Model::of_atlas(atlas, &weights)?;
        let report = self.report(pairwise, rounds, &labels, &points, finals.as_deref(), calibration.is_some());
        let names = names.into_iter().map(|(number, name)| {
            let specimens = labels.iter().filter(|own| own.contains(&Some(number))).count();
            JoinedName { name, specimens }
        });
        Ok(Joined { names: names.collect(), points, model, report })
    }

    fn report(
        &self,
        pairwise: &Pairwise<'_>,
        rounds: &Rounds<'_>,
        labels: &Labels,
        points: &[Vec<Option<JoinedPoint>>],
        finals: Option<&[Final]>,
        complete: bool,
    ) -> JoinReport {
        let all = || points.iter().flatten();
        let sure: Vec<f64> = all().flatten().filter_map(|point| point.confidence).collect();
        let count = rounds.graphs.len();
        JoinReport {
            specimens: count,
            points: all().count(),
            names: counts(labels).len(),
            named: all().flatten().count(),
            confidence: (!sure.is_empty()).then(|| sure.iter().sum::<f64>() / sure.len() as f64),
            pose: rounds.settings.pose.unwrap_or(Pose::AsGiven),
            presence: rounds.settings.presence.unwrap_or(Presence::Partial),
            pairs: self.stars.len() * (count - 1),
            agreement: agreement(&self.stars, labels),
            pairwise_consistency: consistency(&self.stars),
            held_out: self.held_out.iter().all(|x| x.is_finite()).then(|| self.held_out.map(|x| x / count as f64)),
            pair_scores: pairwise
                .alone(&self.stars)
                .map(|alone| [alone, self.score])
                .filter(|_| self.score.is_finite()),
            improved: self.is_improved,
            undecided: self.is_undecided,
            rounds: self.rounds,
            proven: finals.unwrap_or_default().iter().filter(|one| one.naming.status == Status::Optimal).count(),
            complete,
        }
    }
}

/// A specimen named.
struct Final {
    labels: Vec<Option<usize>>,
    naming: Naming,
}

/// Every specimen named by an atlas of the other folds; `None` if interrupted.
fn by_the_others(
    rounds: &Rounds<'_>,
    named: &[Graph],
    folds: usize,
    search: Search,
    control: &Control,
) -> Result<Option<Vec<Final>>> {
    let atlases = (0..folds)
        .into_par_iter()
        .map(|fold| rounds.atlas(named, |s| s % folds != fold, control))
        .collect::<Result<Vec<_>>>()?;
    let one = |s: usize| -> Result<Option<Final>> {
        let Some(atlas) = atlases[s % folds].as_ref().filter(|_| !control.interrupted()) else { return Ok(None) };
        control.report(&Report::new("naming each specimen by the others", s, Some(named.len())));
        let work = &mut Workspace::with_control(control);
        let naming = atlas.name_with(rounds.graphs[s], &atlas.start_weights(), search, work)?;
        Ok(Some(Final { labels: labels_of(&numbers(atlas), &naming.matching), naming }))
    };
    let all = (0..named.len()).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(if control.interrupted() { None } else { all.into_iter().collect() })
}

/// The share of pairwise matches whose points have the same name.
fn agreement(stars: &[Star], labels: &Labels) -> f64 {
    let (mut same, mut all) = (0_u64, 0_u64);
    for star in stars {
        for (s, own) in star.labels.iter().enumerate().filter(|(s, _)| *s != star.hub) {
            for (point, partner) in own.iter().enumerate().filter_map(|(point, partner)| Some((point, (*partner)?))) {
                all += 1;
                same += u64::from(labels[s][point].is_some() && labels[s][point] == labels[star.hub][partner]);
            }
        }
    }
    same as f64 / all.max(1) as f64
}

/// The share of triangles of pairwise matches that close.
fn consistency(stars: &[Star]) -> f64 {
    let (mut closed, mut all) = (0_u64, 0_u64);
    for one in stars {
        for other in stars.iter().filter(|other| other.hub != one.hub) {
            for (s, own) in one.labels.iter().enumerate().filter(|(s, _)| *s != one.hub && *s != other.hub) {
                for (point, partner) in own.iter().enumerate() {
                    let Some(partner) = partner else { continue };
                    let (Some(there), Some(direct)) = (other.labels[one.hub][*partner], other.labels[s][point]) else {
                        continue;
                    };
                    all += 1;
                    closed += u64::from(there == direct);
                }
            }
        }
    }
    closed as f64 / all.max(1) as f64
}

/// Each group with its name: what labelled specimens call most of its points, each name once, and otherwise a number that none of them uses.
fn names_of(labels: &Labels, given: &[&Graph]) -> Result<Vec<(usize, String)>> {
    let mut groups: Vec<usize> = Vec::new();
    let mut seen = BTreeSet::new();
    labels.iter().flatten().flatten().for_each(|&label| {
        if seen.insert(label) {
            groups.push(label);
        }
    });
    let known: BTreeSet<&str> = given
        .iter()
        .flat_map(|graph| graph.names().unwrap_or_default())
        .map(String::as_str)
        .filter(|name| !name.is_empty())
        .collect();
    let known: Vec<&str> = known.into_iter().collect();
    let mut called: BTreeMap<usize, String> = BTreeMap::new();
    if !known.is_empty() && !groups.is_empty() {
        let mut votes = Array2::zeros((groups.len(), known.len()));
        for (own, graph) in labels.iter().zip(given) {
            for (label, name) in own.iter().zip(graph.names().unwrap_or_default()) {
                let group = label.and_then(|label| groups.iter().position(|&group| group == label));
                let name = known.binary_search(&name.as_str()).ok();
                if let (Some(group), Some(name)) = (group, name) {
                    votes[[group, name]] += 1.0;
                }
            }
        }
        let matching = Linear::default().solve(&Compatibility::linear(votes.clone()))?.matching;
        let voted = matching.pairs().filter(|&(group, name)| votes[[group, name]] > 0.0);
        called = voted.map(|(group, name)| (groups[group], known[name].to_string())).collect();
    }
    let mut numbers =
        (1_usize..).map(|number| number.to_string()).filter(|number| known.binary_search(&number.as_str()).is_err());
    let name = |group: usize| -> Option<String> { called.get(&group).cloned().or_else(|| numbers.next()) };
    let mut name = name;
    let named: Option<Vec<(usize, String)>> = groups.into_iter().map(|group| Some((group, name(group)?))).collect();
    named.ok_or(Error::Missing { what: "names", needed_by: "join" })
}

//! [`fit`]: an atlas of labelled specimens, improved by specimens without labels.
//!
//! The labelled specimens make an atlas, it names the others, and these teach it in turn (`rounds`), two or three times. Names that fit
//! badly do not teach if points may be missing. That can also do harm, so it is done only if held-out specimens do not become less likely
//! (the gate):
//!
//! * two or more labelled specimens: some of them are left out in turn, and the whole procedure is repeated without them. With g the gain of a
//!   left-out specimen, it is kept if Σ g >= sqrt(Σ g²), a standard error above 0, both for the log-likelihood of the true names and for the
//!   number of points that are named right, as the specimen is and in changed copies: with points removed and added if points may be missing,
//!   otherwise with all points moved. If no name changes, the likelihood alone decides;
//! * one labelled specimen: half of the unlabelled teach, and the log-likelihood of the other half has to gain as much, and the other way round.
//!
//! Frames of a take (graphs with increasing times) are named as a whole instead, and then teach like labelled specimens (`takes`).

use super::gate::Judged;
use super::rounds::{Labels, Poses, Rounds, labels_of, numbers, precision};
pub(crate) use super::takes::TakesBrought;
use super::takes::{takes_among, teaching_frames};
use super::told::{Margin, Told, likelihood};
use crate::atlas::{Atlas, AtlasSettings, Calibration, Presence, Search, Spoiling, Unnamed};
use crate::graph::Graph;
use crate::learn::Evidence;
use crate::matching::{Matching, Workspace};
use crate::model::Model;
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Rounds of naming and learning after the first naming.
const ROUNDS: usize = 3;
/// Labelled specimens are left out in at most so many parts.
const FOLDS: usize = 5;
/// A left-out specimen is also named in so many copies. If points may be missing, they lack this share of its points and have as many extra ones;
/// otherwise their points are moved by so many radii.
const COPIES: u64 = 6;
const CHANGED: f64 = 0.2;
const MOVED: [f64; 2] = [0.02, 0.08];

/// What unlabelled specimens brought.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Brought {
    /// Specimens with and without labels.
    pub specimens: [usize; 2],
    /// The log-likelihood per held-out specimen without and with the unlabelled; `None` if interrupted before.
    pub held_out: Option<[f64; 2]>,
    /// Left-out labelled points (and points of changed copies) that are not named right, without and with; `None` with one labelled specimen.
    pub wrong: Option<[usize; 2]>,
    /// Whether the model learned from the unlabelled.
    pub kept: bool,
    /// What takes brought; `None` if there are none.
    pub takes: Option<TakesBrought>,
}

impl Brought {
    fn nothing(labelled: usize, unlabelled: usize) -> Self {
        Self { specimens: [labelled, unlabelled], held_out: None, wrong: None, kept: false, takes: None }
    }

    /// In words.
    #[must_use]
    pub fn sentence(&self) -> String {
        let takes = self.takes.as_ref().map(TakesBrought::sentence);
        let single = (self.specimens[1] > 0 || takes.is_none()).then(|| self.of_single());
        takes.into_iter().chain(single).collect::<Vec<_>>().join(" ")
    }

    /// About specimens that are no frames.
    fn of_single(&self) -> String {
        let [labelled, unlabelled] = self.specimens;
        let specimens = if unlabelled == 1 { "specimen" } else { "specimens" };
        let Some([before, after]) = self.held_out else {
            return format!("Stopped before learning from {unlabelled} unlabelled {specimens}.");
        };
        let wrong = self.wrong.map_or_else(String::new, |[before, after]| {
            format!(", left-out labelled points not named right {before} to {after}")
        });
        let what = if labelled > 1 { "left-out labelled specimen" } else { "held-out specimen" };
        let kept = if self.kept { "Learned also from" } else { "Did not learn from" };
        format!(
            "{kept} {unlabelled} unlabelled {specimens}: log-likelihood per {what} {before:.1} to {after:.1}{wrong}."
        )
    }
}

/// Learns an atlas from labelled specimens as [`Model::fit_atlas`] does, and from unlabelled ones if that does no harm. Names that the
/// unlabelled have are ignored. If interrupted, the unlabelled are left out.
///
/// # Errors
/// As [`Model::fit_atlas`]; unlabelled specimens without points, or with points of another dimension.
pub fn fit(
    labelled: &[&Graph],
    unlabelled: &[&Graph],
    settings: &AtlasSettings,
    control: &Control,
) -> Result<(Model, Evidence, Brought)> {
    let (takes, single) = takes_among(unlabelled);
    if takes.is_empty() {
        return fit_single(labelled, unlabelled, settings, control);
    }
    let (model, evidence) = Model::fit_atlas(labelled, settings, &control.part(0, 4))?;
    let (frames, from_takes) = teaching_frames(&model, &takes, labelled, settings, &control.part(1, 4))?;
    let all: Vec<&Graph> = labelled.iter().copied().chain(frames.iter().filter(|_| from_takes.kept)).collect();
    let (model, evidence, brought) = if from_takes.kept || !single.is_empty() {
        fit_single(&all, &single, settings, &control.part(1, 2))?
    } else {
        (model, evidence, Brought::nothing(labelled.len(), 0))
    };
    Ok((model, evidence, Brought { kept: brought.kept || from_takes.kept, takes: Some(from_takes), ..brought }))
}

/// As [`fit`], without takes.
fn fit_single(
    labelled: &[&Graph],
    unlabelled: &[&Graph],
    settings: &AtlasSettings,
    control: &Control,
) -> Result<(Model, Evidence, Brought)> {
    let (model, evidence) = Model::fit_atlas(labelled, settings, &control.part(0, 3))?;
    let mut brought = Brought::nothing(labelled.len(), unlabelled.len());
    let Some(atlas) = model.atlas().filter(|_| !unlabelled.is_empty()) else { return Ok((model, evidence, brought)) };
    let is_odd = |graph: &&Graph| graph.node_count() != atlas.landmarks.len();
    let is_partial = unlabelled.iter().any(is_odd) || atlas.presence == Presence::Partial;
    let found = if is_partial { Presence::Partial } else { Presence::Complete };
    let presence = settings.presence.filter(|&given| given != Presence::Auto).unwrap_or(found);
    // Fewer specimens, such as one alone, do not show which numbers of points tell nothing: those that all the labelled together leave out stay out.
    let attributes = Some(atlas.attributes.iter().map(|unit| unit.name.clone()).collect());
    let (pose, presence) = (Some(atlas.pose), Some(presence));
    let fixed = AtlasSettings { pose, presence, attributes, plain: true, ..settings.clone() };
    let names: Vec<String> = atlas.landmarks.iter().map(|landmark| landmark.name.clone()).collect();
    let teaching = Teaching { names, labelled, unlabelled, settings: fixed };
    let gate = control.part(1, 3);
    let judged = if labelled.len() > 1 { teaching.leave_out_labelled(&gate)? } else { teaching.halves(&gate)? };
    if control.interrupted() {
        return Ok((model, evidence, brought));
    }
    brought.held_out = Some(judged.likelihood);
    brought.wrong = (labelled.len() > 1).then_some(judged.wrong);
    brought.kept = judged.is_better();
    if !brought.kept {
        return Ok((model, evidence, brought));
    }
    let everyone: Vec<usize> = (0..labelled.len()).collect();
    let all: Vec<usize> = (0..unlabelled.len()).collect();
    let Some(mut taught) = teaching.taught(&everyone, &all, &control.part(2, 3))?.filter(|_| !control.interrupted())
    else {
        brought.kept = false;
        return Ok((model, evidence, brought));
    };
    taught.calibration = Calibration::of_margins(&judged.margins).or(atlas.calibration);
    let weights = model.weights();
    let weights = if taught.features() == model.features { weights } else { taught.start_weights() };
    Ok((Model::of_atlas(taught, &weights)?, evidence, brought))
}

/// Labelled and unlabelled specimens.
struct Teaching<'a> {
    /// The names of the labelled, whose numbers are their positions here.
    names: Vec<String>,
    labelled: &'a [&'a Graph],
    unlabelled: &'a [&'a Graph],
    settings: AtlasSettings,
}

impl Teaching<'_> {
    /// A labelled specimen to be named: as it is and changed.
    fn copies(&self, s: usize) -> Result<Vec<Unnamed>> {
        let is_complete = self.settings.presence == Some(Presence::Complete);
        let copy = |at: u64| {
            let spoiling = match at {
                0 => Spoiling::default(),
                _ if is_complete => {
                    let share = (at - 1) as f64 / (COPIES - 1) as f64;
                    Spoiling { moved: MOVED[0] + share * (MOVED[1] - MOVED[0]), ..Spoiling::default() }
                }
                _ => Spoiling { missing: CHANGED, ..Spoiling::default() },
            };
            spoiling.spoil(self.labelled[s], at)
        };
        (0..=COPIES).map(copy).collect()
    }

    /// The numbers of the names of a labelled specimen.
    fn labels(&self, graph: &Graph) -> Vec<Option<usize>> {
        let number = |name: &String| self.names.iter().position(|known| known == name);
        graph.names().unwrap_or_default().iter().map(number).collect()
    }

    /// An atlas of labelled specimens alone, with numbers as names. The spread of a single one is chosen by the unlabelled (`precision`), if there
    /// are any.
    fn untaught(&self, rounds: &Rounds<'_>, labels: &Labels, count: usize, control: &Control) -> Result<Option<Atlas>> {
        let named = rounds.named(labels)?;
        let Some(atlas) = rounds.atlas(&named, |s| s < count, control)? else { return Ok(None) };
        if count > 1 || count == rounds.graphs.len() || self.settings.presence == Some(Presence::Complete) {
            return Ok(Some(atlas));
        }
        let factor = precision(|factor| {
            let sharper = atlas.sharper(factor);
            let weights = sharper.start_weights();
            let score = |graph: &&Graph| -> Result<f64> {
                Error::if_interrupted(control)?;
                let work = &mut Workspace::with_control(control);
                Ok(sharper.name_with(graph, &weights, Search::Quick, work)?.score)
            };
            Ok(rounds.graphs[count..].par_iter().map(score).collect::<Result<Vec<_>>>()?.into_iter().sum())
        });
        match factor {
            Err(Error::Interrupted) => Ok(None),
            factor => Ok(Some(atlas.sharper(factor?))),
        }
    }

    /// The atlas of some labelled specimens and some unlabelled ones; its names are the true ones.
    fn taught(&self, labelled: &[usize], unlabelled: &[usize], control: &Control) -> Result<Option<Atlas>> {
        let count = labelled.len();
        let teachers = labelled.iter().map(|&s| self.labelled[s]);
        let graphs: Vec<&Graph> = teachers.chain(unlabelled.iter().map(|&s| self.unlabelled[s])).collect();
        let rounds = Rounds { graphs: &graphs, settings: self.settings.clone() };
        let mut labels: Labels = labelled.iter().map(|&s| self.labels(self.labelled[s])).collect();
        labels.extend(unlabelled.iter().map(|&s| vec![None; self.unlabelled[s].node_count()]));
        let Some(atlas) = self.untaught(&rounds, &labels, count, control)? else { return Ok(None) };
        let (own, weights) = (numbers(&atlas), atlas.start_weights());
        let name = |graph: &&Graph| -> Result<Option<Vec<Option<usize>>>> {
            if control.interrupted() {
                return Ok(None);
            }
            let work = &mut Workspace::with_control(control);
            Ok(Some(labels_of(&own, &atlas.name_with(graph, &weights, Search::Quick, work)?.matching)))
        };
        let first = graphs[count..].par_iter().map(name).collect::<Result<Option<Vec<_>>>>()?;
        let Some(first) = first else { return Ok(None) };
        labels.splice(count.., first);
        for _ in 0..ROUNDS {
            if control.interrupted() {
                return Ok(None);
            }
            let next = rounds.round(&labels, count, Poses::Near, control)?.labels;
            let same = next == labels;
            labels = next;
            if same {
                break;
            }
        }
        let taught = rounds.trusted(&labels, count, control)?;
        Ok(rounds.atlas(&rounds.named(&taught)?, |_| true, control)?.map(|atlas| self.called(atlas)))
    }

    /// The same atlas with names for numbers.
    fn called(&self, mut atlas: Atlas) -> Atlas {
        for landmark in &mut atlas.landmarks {
            let name = landmark.name.parse().ok().and_then(|number: usize| self.names.get(number));
            landmark.name = name.cloned().unwrap_or_default();
        }
        atlas
    }

    /// The labelled specimens left out in parts.
    fn leave_out_labelled(&self, control: &Control) -> Result<Judged> {
        let count = self.labelled.len();
        let folds = FOLDS.min(count);
        let all: Vec<usize> = (0..self.unlabelled.len()).collect();
        let mut judged = Judged::default();
        for fold in 0..folds {
            if control.interrupted() {
                break;
            }
            control.report(&Report::new("leaving out labelled specimens", fold, Some(folds)));
            let (out, teachers): (Vec<usize>, Vec<usize>) = (0..count).partition(|s| s % folds == fold);
            let alone = self.taught(&teachers, &[], control)?;
            let (Some(alone), Some(taught)) = (alone, self.taught(&teachers, &all, control)?) else { continue };
            for s in out {
                let likelihoods = [likelihood(&alone, self.labelled[s])?, likelihood(&taught, self.labelled[s])?];
                judged.add_likelihood(likelihoods, count);
                let mut named = Vec::new();
                for copy in self.copies(s)? {
                    if control.interrupted() {
                        return Ok(judged);
                    }
                    let (before, after) = (Told::of(&alone, &copy, control)?, Told::of(&taught, &copy, control)?);
                    // New specimens are expected to lack points, but not to be moved.
                    if named.is_empty() || self.settings.presence != Some(Presence::Complete) {
                        judged.margins.extend(after.margins);
                    }
                    named.push([before.right, after.right]);
                }
                judged.add_names(&named);
            }
        }
        Ok(judged)
    }

    /// Each half of the unlabelled under the atlas that the other half taught. Names count as right if both agree.
    fn halves(&self, control: &Control) -> Result<Judged> {
        let count = self.unlabelled.len();
        let everyone: Vec<usize> = (0..self.labelled.len()).collect();
        let all: Vec<usize> = (0..count).collect();
        let mut judged = Judged::default();
        let (Some(alone), Some(full)) = (self.taught(&everyone, &[], control)?, self.taught(&everyone, &all, control)?)
        else {
            return Ok(judged);
        };
        for half in 0..2 {
            let (out, teachers): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&s| s % 2 == half);
            let Some(taught) = self.taught(&everyone, &teachers, control)? else { continue };
            let one = |&s: &usize| -> Result<([f64; 2], Vec<Margin>)> {
                Error::if_interrupted(control)?;
                let graph = self.unlabelled[s];
                let work = &mut Workspace::with_control(control);
                let mut name = |atlas: &Atlas| atlas.name_with(graph, &atlas.start_weights(), Search::Quick, work);
                let (before, after, best) = (name(&alone)?, name(&taught)?, name(&full)?);
                let called = |atlas: &Atlas, matching: &Matching| -> BTreeMap<usize, String> {
                    matching.pairs().map(|(at, point)| (point, atlas.landmarks[at].name.clone())).collect()
                };
                let (own, full) = (called(&taught, &after.matching), called(&full, &best.matching));
                let told = after.calls.iter().map(|call| (call.margin, own.get(&call.point) == full.get(&call.point)));
                Ok(([before.score, after.score], told.collect()))
            };
            let found = match out.par_iter().map(one).collect::<Result<Vec<_>>>() {
                Err(Error::Interrupted) => return Ok(judged),
                found => found?,
            };
            for (scores, told) in found {
                judged.add_likelihood(scores, count);
                judged.margins.extend(told);
            }
        }
        Ok(judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atlas::Truth;

    #[test]
    fn left_out_specimens_are_named_as_they_are_and_changed() {
        let points = ndarray::Array2::from_shape_fn((10, 2), |(at, axis)| ((7 * at + 3 * axis) % 11) as f64);
        let names: Vec<String> = (0..10).map(|at| format!("p{at}")).collect();
        let graph = Graph::from_points(points.clone()).unwrap().with_names(names.clone()).unwrap();
        let copies = |presence: Presence| {
            let settings = AtlasSettings { presence: Some(presence), ..AtlasSettings::default() };
            let labelled = [&graph];
            Teaching { names: names.clone(), labelled: &labelled, unlabelled: &[], settings }.copies(0).unwrap()
        };
        let (complete, partial) = (copies(Presence::Complete), copies(Presence::Partial));
        assert_eq!((complete.len(), partial.len()), (7, 7));
        for whole in [&complete[0], &partial[0]] {
            assert_eq!(whole.graph.points().unwrap(), points);
            assert!(whole.truth.iter().zip(&names).all(|(truth, name)| *truth == Truth::Name(name.clone())));
        }
        for copy in &complete[1..] {
            let off = &copy.graph.points().unwrap() - &points;
            assert!(off.iter().all(|x| *x != 0.0 && x.abs() < 2.0), "{off}");
            assert_eq!(copy.truth, complete[0].truth);
        }
        for (at, copy) in partial.iter().enumerate().skip(1) {
            // Two of ten are replaced by others, not the same in every copy, and the rest are where they were.
            let is_foreign: Vec<bool> = copy.truth.iter().map(|truth| *truth == Truth::Nobody).collect();
            assert_eq!((copy.graph.node_count(), is_foreign.iter().filter(|is| **is).count()), (10, 2));
            let own = copy.graph.points().unwrap();
            assert!((0..10).all(|row| is_foreign[row] || own.row(row) == points.row(row)));
            assert!(partial[1..at].iter().all(|before| before.graph.points().unwrap() != own));
        }
    }

    #[test]
    fn one_specimen_is_singular() {
        let brought = Brought { held_out: Some([1.0, 2.0]), kept: true, ..Brought::nothing(1, 1) };
        assert!(brought.sentence().starts_with("Learned also from 1 unlabelled specimen: "), "{}", brought.sentence());
        assert!(Brought::nothing(1, 2).sentence().contains("2 unlabelled specimens"));
    }
}

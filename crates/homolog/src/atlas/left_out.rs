//! How far names can be believed, from specimens that the atlas does not know: each training specimen is left out in turn and named by an atlas
//! of the others, as it is and in corrupted copies (points missing, extra, moved, or all tilted), since a new specimen may be unlike
//! the training ones. About sixty copies in all, fewer of large specimens.

use super::calibration::{Clues, Trust};
use super::coverage::{Coverage, TrueNames};
use super::spoiling::{Spoiling, Truth, Unnamed};
use super::{Atlas, AtlasSettings, Calibration, Naming, Presence, Search};
use crate::graph::Graph;
use crate::matching::Workspace;
use crate::{Control, Report, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Corrupted copies in all, and this many landmarks in all of them.
const COPIES: usize = 60;
const LANDMARKS: usize = 3000;
/// The most of the points that are removed, and added; how far points are moved (in radii), and specimens tilted (in radians).
const MOST_CHANGED: f64 = 0.35;
const MOVED: std::ops::Range<f64> = 0.02..0.15;
const TILTED: std::ops::Range<f64> = 0.2..1.0;
/// Kinds of copies, in turn, and those whose points are moved or tilted.
const KINDS: usize = 10;
const MOVED_KIND: usize = 4;
const TILTED_KIND: usize = 9;
/// What the copy of which coverage is measured lacks and has too much.
const TYPICAL: f64 = 0.2;

/// A name that was given, and whether it is right.
type Told = (Clues, bool);

/// What came of naming one copy.
struct Outcome {
    told: Vec<Told>,
    names: TrueNames,
}

/// A specimen, and an atlas of the others.
struct LeftOut<'a> {
    specimen: &'a Graph,
    atlas: Atlas,
    weights: Vec<f64>,
}

/// How a left-out specimen does as a complete and as a partial one.
#[derive(Default)]
struct Usual {
    strain: Option<f64>,
    evidence: [Option<f64>; 2],
}

impl Atlas {
    /// The same atlas with confidences and coverage for namings by these weights: each specimen is named by an atlas of the others. With a
    /// single specimen, or if interrupted early, it stays as it was.
    ///
    /// # Errors
    /// As [`Self::learn`] and [`Self::name`].
    pub fn calibrated(
        mut self,
        specimens: &[&Graph],
        settings: &AtlasSettings,
        weights: &[f64],
        control: &Control,
    ) -> Result<Self> {
        let fixed = AtlasSettings {
            pose: Some(self.pose),
            presence: Some(self.presence),
            attributes: Some(self.attribute_names()),
            ..settings.clone()
        };
        let count = specimens.len();
        let left_out = |at: usize| -> Result<Option<(LeftOut<'_>, Usual)>> {
            let others: Vec<&Graph> = (0..count).filter(|&s| s != at).map(|s| specimens[s]).collect();
            let has_names = |graph: &&Graph| graph.names().is_some_and(|names| !names.iter().all(String::is_empty));
            // One specimen alone may have all the names: then there is no atlas of the others.
            if control.interrupted() || !others.iter().any(has_names) {
                return Ok(None);
            }
            control.report(&Report::new("leaving out each specimen in turn", at, Some(count)));
            let atlas = Self::learn(&others, &fixed)?;
            // The kinds of evidence differ if an attribute is the same in all the others.
            let own = atlas.start_weights();
            let weights = if own.len() == weights.len() { weights.to_vec() } else { own };
            let left_out = LeftOut { specimen: specimens[at], atlas, weights };
            let usual = left_out.usual(control)?;
            Ok((!control.interrupted()).then_some((left_out, usual)))
        };
        let found = (0..count).into_par_iter().map(left_out).collect::<Result<Vec<_>>>()?;
        let (mut left_out, usual): (Vec<LeftOut<'_>>, Vec<Usual>) = found.into_iter().flatten().unzip();
        let trust = Trust::usual(&usual);
        for one in &mut left_out {
            one.atlas.calibration = Some(Calibration::unfitted(trust));
        }
        let clean: Vec<Outcome> = left_out
            .par_iter()
            .map(|one| one.outcome(&one.as_it_is()?, control))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        if left_out.is_empty() || clean.len() < left_out.len() {
            return Ok(self);
        }
        let all = COPIES.min(LANDMARKS / self.landmarks.len().max(1)).max(count.min(KINDS));
        let each = (all / left_out.len()).max(1);
        let step = (left_out.len() / all).max(1);
        let copies: Vec<(usize, usize)> =
            (0..left_out.len()).step_by(step).flat_map(|at| (0..each).map(move |copy| (at, copy))).collect();
        let corrupt = |&(at, copy): &(usize, usize)| -> Result<Option<Outcome>> {
            control.report(&Report::new("naming corrupted copies", at * each + copy, Some(left_out.len() * each)));
            left_out[at].outcome(&left_out[at].corrupted(at, copy)?, control)
        };
        let corrupted = copies.par_iter().map(corrupt).collect::<Result<Vec<_>>>()?;
        let typical = left_out.par_iter().enumerate().step_by(step).map(|(at, one)| {
            let spoiling = Spoiling { missing: TYPICAL, ..Spoiling::default() };
            one.outcome(&spoiling.spoil(one.specimen, at as u64)?, control)
        });
        let typical = typical.collect::<Result<Vec<_>>>()?;
        let of_clean: Vec<Told> = clean.iter().flat_map(|one| one.told.iter().copied()).collect();
        let is_usual = |&(at, copy): &(usize, usize)| ![MOVED_KIND, TILTED_KIND].contains(&kind(at, copy));
        let told_by = |wanted: bool| {
            let some = copies.iter().zip(&corrupted).filter(move |(copy, _)| is_usual(copy) == wanted);
            some.filter_map(|(_, outcome)| outcome.as_ref()).flat_map(|one| one.told.iter().copied())
        };
        let of_typical = typical.iter().flatten().flat_map(|one| one.told.iter().copied());
        let mut told: Vec<Told> = of_clean.iter().copied().chain(told_by(true)).chain(of_typical).collect();
        let usual = told.clone();
        told.extend(told_by(false));
        let right = of_clean.iter().filter(|told| told.1).count();
        self.calibration = Calibration::fit(&told, trust.usual_strain, trust.usual_evidence)
            .map(|calibration| Calibration { names: of_clean.len(), right, ..calibration.shifted_to(&usual) });
        self.coverage = Some(Coverage {
            as_given: clean.into_iter().map(|one| one.names).collect(),
            corrupted: typical.into_iter().flatten().map(|one| one.names).collect(),
        });
        Ok(self)
    }
}

impl Trust {
    /// What is usual among left-out specimens: medians.
    fn usual(specimens: &[Usual]) -> Self {
        let evidence = |at: usize| median(specimens.iter().filter_map(|one| one.evidence[at]).collect());
        Self {
            strain: 0.0,
            fit: 0.0,
            partial: 0.0,
            usual_strain: median(specimens.iter().filter_map(|one| one.strain).collect()),
            usual_evidence: [evidence(0), evidence(1)],
        }
    }
}

impl Calibration {
    /// Knows what is usual and nothing else.
    fn unfitted(trust: Trust) -> Self {
        Self { offset: 0.0, slope: 0.0, names: 0, right: 0, trust: Some(trust) }
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// How a copy is corrupted.
fn kind(at: usize, copy: usize) -> usize {
    (at + copy) % KINDS
}

impl LeftOut<'_> {
    fn name(&self, specimen: &Graph, presence: Presence, control: &Control) -> Result<Naming> {
        self.atlas.name_as(specimen, presence, &self.weights, Search::Quick, &mut Workspace::with_control(control))
    }

    /// Strain and evidence under each presence that the atlas allows.
    fn usual(&self, control: &Control) -> Result<Usual> {
        let bare = self.as_it_is()?.graph;
        let mut usual = Usual::default();
        for (at, presence) in [Presence::Complete, Presence::Partial].into_iter().enumerate() {
            let naming = self.name(&bare, presence, control)?;
            if naming.presence != presence {
                continue;
            }
            let own = self.atlas.under(presence);
            let evidence = own.evidence_per_point(&bare, &naming.frame, &naming.matching, &self.weights)?;
            usual.evidence[at] = Some(evidence);
            if presence == Presence::Complete {
                usual.strain = Some(naming.strain);
            }
        }
        Ok(usual)
    }

    fn as_it_is(&self) -> Result<Unnamed> {
        Spoiling::default().spoil(self.specimen, 0)
    }

    /// A copy that is corrupted in one of several ways, in turn.
    fn corrupted(&self, at: usize, copy: usize) -> Result<Unnamed> {
        let seed = (at * COPIES + copy) as u64;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut share = || random.random_range(0.0..MOST_CHANGED);
        let spoiling = match kind(at, copy) {
            0 | 5 => Spoiling { missing: share(), ..Spoiling::default() },
            1 | 6 => Spoiling { missing: share(), foreign: Some(share()), ..Spoiling::default() },
            2 | 7 => Spoiling { missing: share(), foreign: Some(0.0), ..Spoiling::default() },
            3 | 8 => Spoiling { foreign: Some(share()), ..Spoiling::default() },
            MOVED_KIND => Spoiling { moved: random.random_range(MOVED), ..Spoiling::default() },
            _ => Spoiling { tilted: random.random_range(TILTED), ..Spoiling::default() },
        };
        spoiling.spoil(self.specimen, seed)
    }

    /// The names of a copy; `None` if interrupted.
    fn outcome(&self, copy: &Unnamed, control: &Control) -> Result<Option<Outcome>> {
        if control.interrupted() {
            return Ok(None);
        }
        let naming = self.name(&copy.graph, self.atlas.presence, control)?;
        let landmarks = &self.atlas.landmarks;
        let is_right =
            |call: &super::Call| copy.truth[call.point] == Truth::Name(landmarks[call.landmark].name.clone());
        let is_known = |call: &&super::Call| copy.truth[call.point] != Truth::Unknown;
        let clues = |call: &super::Call| Clues {
            margin: call.margin,
            strain: call.strain,
            fit: naming.fit.unwrap_or(1.0),
            is_partial: naming.presence == Presence::Partial,
        };
        let told = naming.calls.iter().filter(is_known).map(|call| (clues(call), is_right(call))).collect();
        let row = |truth: &Truth| match truth {
            Truth::Name(name) => landmarks.iter().position(|landmark| landmark.name == *name),
            Truth::Nobody => Some(landmarks.len()),
            Truth::Unknown => None,
        };
        let cost = |(point, truth): (usize, &Truth)| Some(naming.falls.as_ref()?[[row(truth)?, point]]);
        let names = TrueNames::of(copy.truth.iter().enumerate().filter_map(cost));
        Ok((!control.interrupted()).then_some(Outcome { told, names }))
    }
}

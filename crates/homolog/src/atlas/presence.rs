//! [`Atlas::name`]: the names of a specimen's points, as a complete specimen or as one in which landmarks may be missing and points extra.
//!
//! Presence `auto` decides for each specimen. It is complete if it has as many points as there are landmarks and
//!
//!   the strain of the complete naming is at most twice what is usual (the median over left-out specimens), or
//!   the partial naming leaves nothing out either, or
//!   its score is at most 2 q per landmark behind that of the partial naming, or
//!   the attributes of every point alone tell its name: they are more likely by e² n than those of any point, for n landmarks
//!
//! and otherwise partial. Forcing all names onto a specimen with extra points strains edges far more than specimens vary; that there are
//! as many points as landmarks would then be a coincidence, which is what the 2 allow for. q is how much too narrow Gaussians from S
//! specimens are, about (t/z)² with the quantiles .995 of Student's distribution of S - 1 degrees of freedom and of the normal one:
//!
//!   q = 1 + 50 / max(S - 1, 2)²,   13 from three specimens, 4 from five, 1.6 from ten

use super::alternatives::falls;
use super::calibration::Clues;
use super::margin::margins;
use super::naming::{Call, Posed, in_order, prove, shuffled};
use super::{Atlas, Naming, Presence, Search};
use crate::Result;
use crate::features::Instance;
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::matching::{Matching, Workspace};
use ndarray::Array2;
use std::sync::Arc;

/// A complete naming is believed up to this many times the usual strain.
const MOST_STRAIN: f64 = 2.0;
/// And up to this much of the score behind the partial naming, for each landmark. On nine sets of specimens, ten of each, 2 to 4 keep F1
/// within .04 of the better of both namings in every condition; 0 does not.
const COINCIDENCE: f64 = 2.0;
/// Attributes tell a name if they are likelier by this, in logarithms, and the number of landmarks.
const TOLD: f64 = 2.0;
/// The usual strain, if no specimen was left out: somewhat below the Gaussians' own 1, as it is on most data.
const USUAL_STRAIN: f64 = 0.8;
/// Alternatives of no more cells than this are looked at.
const MOST_CELLS: usize = 250_000;

impl Atlas {
    /// Whether a specimen could be complete: if the atlas allows that and there are as many points as landmarks.
    #[must_use]
    pub fn presence_in(&self, specimen: &Graph) -> Presence {
        let is_possible = specimen.node_count() == self.landmarks.len() && self.presence != Presence::Partial;
        if is_possible { Presence::Complete } else { Presence::Partial }
    }

    /// The atlas of specimens that are named as complete or as partial.
    #[must_use]
    pub fn under(&self, presence: Presence) -> &Self {
        match &self.partial {
            Some(partial) if presence == Presence::Partial => partial,
            _ => self,
        }
    }

    /// Names the points of a specimen, with proof. `work` carries the caller's interrupt, which cuts short the proof, and the search only
    /// if there are more than 10,000 pairs of a landmark and a point.
    ///
    /// # Errors
    /// Points of another dimension, or without an attribute that the atlas uses; more than 2500 points.
    pub fn name(&self, specimen: &Graph, work: &mut Workspace) -> Result<Naming> {
        self.name_with(specimen, &self.start_weights(), Search::Proof, work)
    }

    /// The same with weights for the kinds of evidence, as [`Self::features`] lists them.
    ///
    /// # Errors
    /// As [`Self::name`]; too many, too few or non-finite weights.
    pub fn name_with(&self, specimen: &Graph, weights: &[f64], search: Search, work: &mut Workspace) -> Result<Naming> {
        self.name_as(specimen, self.presence, weights, search, work)
    }

    /// The same under a presence that may be another than the atlas's own. A specimen with more or fewer points than there are landmarks
    /// is always partial.
    ///
    /// # Errors
    /// As [`Self::name_with`].
    pub fn name_as(
        &self,
        specimen: &Graph,
        presence: Presence,
        weights: &[f64],
        search: Search,
        work: &mut Workspace,
    ) -> Result<Naming> {
        self.name_around(specimen, (presence, &[], weights), search, work)
    }

    /// The same around names that are known: landmark and point, no landmark and no point twice.
    pub(crate) fn name_around(
        &self,
        specimen: &Graph,
        (presence, known, weights): (Presence, &[(usize, usize)], &[f64]),
        search: Search,
        work: &mut Workspace,
    ) -> Result<Naming> {
        let order = shuffled(specimen.node_count());
        let specimen = &specimen.renumbered(&order)?;
        let place = |point: usize| order.iter().position(|&other| other == point).unwrap_or(point);
        let known: Vec<(usize, usize)> = known.iter().map(|&(landmark, point)| (landmark, place(point))).collect();
        let (presence, found) = self.decide(specimen, (presence, &known, weights), work)?;
        let (found, candidates) = if search == Search::Proof { prove(found, work)? } else { (found, None) };
        let own = self.under(presence);
        let Posed { placed, problem, solution } = found;
        let strains = own.strains(&placed.frame.apply(own.points_of(specimen)?), &solution.matching);
        let trust = self.calibration.and_then(|calibration| calibration.trust);
        let evidence = || own.evidence_per_point(specimen, &placed.frame, &solution.matching, weights);
        let fit = match trust {
            Some(trust) => trust.fit_of(evidence()?, presence),
            None => None,
        };
        let costs = (problem.node.len() <= MOST_CELLS).then(|| falls(&problem, &solution.matching));
        let mut calls = margins(&problem, &solution, work)?;
        for call in &mut calls {
            if let Some(costs) = &costs {
                tighten(call, costs);
            }
            let clues = Clues {
                margin: call.margin,
                strain: strains.own[call.landmark],
                fit: fit.unwrap_or(1.0),
                is_partial: presence == Presence::Partial,
            };
            call.confidence = self.calibration.map(|calibration| calibration.confidence(&clues));
            call.strain = clues.strain;
            call.point = order[call.point];
        }
        let back = |costs: Array2<f64>| {
            let mut ordered = Array2::zeros(costs.raw_dim());
            order.iter().zip(costs.columns()).for_each(|(&point, column)| ordered.column_mut(point).assign(&column));
            ordered
        };
        Ok(Naming {
            matching: in_order(&solution.matching, &order)?,
            calls,
            frame: placed.frame,
            score: solution.score,
            bound: solution.bound,
            status: solution.status,
            candidates,
            presence,
            fit,
            strain: strains.whole,
            falls: costs.map(back),
        })
    }

    /// The naming under the presence that suits.
    fn decide(
        &self,
        specimen: &Graph,
        (presence, known, weights): (Presence, &[(usize, usize)], &[f64]),
        work: &mut Workspace,
    ) -> Result<(Presence, Posed)> {
        let mut named = |presence: Presence| self.under(presence).search(specimen, (presence, known, weights), work);
        if presence == Presence::Partial || specimen.node_count() != self.landmarks.len() {
            return Ok((Presence::Partial, named(Presence::Partial)?));
        }
        let complete = named(Presence::Complete)?;
        let points = complete.placed.frame.apply(self.points_of(specimen)?);
        let strain = self.strains(&points, &complete.solution.matching).whole;
        let usual = self.calibration.and_then(|calibration| calibration.trust?.usual_strain).unwrap_or(USUAL_STRAIN);
        let is_usual = strain <= MOST_STRAIN * usual;
        if presence == Presence::Complete
            || is_usual
            || self.attributes_tell(specimen, weights, &complete.solution.matching)?
        {
            return Ok((Presence::Complete, complete));
        }
        let partial = named(Presence::Partial)?;
        let count = self.landmarks.len();
        let leaves_nothing = partial.solution.matching.matched_count() == count;
        let freedom = self.specimens.saturating_sub(1).max(2) as f64;
        let allowed = COINCIDENCE * (1.0 + 50.0 / (freedom * freedom)) * count as f64;
        let is_near = complete.solution.score >= partial.solution.score - allowed;
        Ok(if leaves_nothing || is_near { (Presence::Complete, complete) } else { (Presence::Partial, partial) })
    }

    /// Whether the attributes of every named point tell its name, whatever its position.
    fn attributes_tell(&self, specimen: &Graph, weights: &[f64], matching: &Matching) -> Result<bool> {
        let mut told = vec![0.0; self.landmarks.len()];
        for (weight, (_, members)) in weights[1..].iter().zip(self.groups()) {
            for at in members {
                let values = self.standardised(specimen, at)?;
                for (landmark, point) in matching.pairs() {
                    let own = &self.landmarks[landmark].attributes[at];
                    let (x, precision) = (values[point], own.precision[0]);
                    // The background is the normal distribution of all points.
                    told[landmark] += weight * 0.5 * (precision.ln() - precision * (x - own.mean[0]).powi(2) + x * x);
                }
            }
        }
        let least = TOLD + (self.landmarks.len() as f64).ln();
        Ok(!self.attributes.is_empty() && told.iter().all(|&own| own > least))
    }

    /// The problem of naming a specimen in a given pose: an ordinary instance with the atlas on the left; as a complete specimen if it
    /// could be one.
    ///
    /// # Errors
    /// As [`Self::name`].
    pub fn instance(&self, specimen: &Graph, frame: &Similarity) -> Result<Instance> {
        self.instance_as(specimen, frame, self.presence_in(specimen))
    }

    /// The same as a complete or as a partial specimen ([`Naming::presence`]).
    ///
    /// # Errors
    /// As [`Self::name`].
    pub fn instance_as(&self, specimen: &Graph, frame: &Similarity, presence: Presence) -> Result<Instance> {
        let own = self.under(presence);
        let features = own.features();
        let left = Arc::new(features.describe(&own.graph(presence)?)?);
        let right = Arc::new(features.describe(&own.specimen_graph(specimen, frame)?)?);
        features.instance(&left, &right)
    }
}

/// A margin is at most what the cheapest alternative costs: another landmark takes the point, none does, or the landmark takes a free one.
fn tighten(call: &mut Call, costs: &Array2<f64>) {
    let (none, point) = (costs.nrows() - 1, call.point);
    let others = (0..costs.nrows()).filter(|&row| row != call.landmark).map(|row| (costs[[row, point]], row));
    if let Some((cost, row)) = others.min_by(|a, b| a.0.total_cmp(&b.0))
        && cost < call.margin
    {
        (call.margin, call.runner_up) = (cost, (row < none).then_some(row));
    }
    let elsewhere = (0..costs.ncols()).filter(|&other| other != point).map(|other| costs[[call.landmark, other]]);
    let least = elsewhere.fold(f64::INFINITY, f64::min);
    if least < call.margin {
        (call.margin, call.runner_up) = (least, None);
    }
}

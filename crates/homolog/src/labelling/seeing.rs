//! [`Seeing`]: what a page's labelled pictures look like, each looked at once; the landmarks of another picture from any of them.
//!
//! A page sends a labelled picture once, under a key of its choice that changes with the labels; from then on only the key. Whoever asks
//! with keys that are not known is told which, and sends these.

use super::proposer::{Proposal, ProposedPoint};
use crate::appearance::{Appearance, FoundPoint, Learner};
use crate::atlas::Calibration;
use crate::geometry::GreyImage;
use crate::graph::Graph;
use crate::{Control, Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;

/// Keys beyond twice the number in use, and so many more, are forgotten.
const SPARE: usize = 40;

/// Labelled pictures that were looked at.
#[derive(Default)]
pub(super) struct Seeing {
    learner: Learner,
    /// In the order of learning.
    keys: Vec<String>,
    /// What was last asked for: a person looks at one picture after another while the labels stay the same.
    last: Option<(Vec<String>, Appearance)>,
}

/// How the labels of a picture compare with what the other pictures say.
#[derive(Serialize)]
pub(super) struct PictureCheck {
    /// Names that were compared.
    compared: usize,
    /// Names that the others would put elsewhere, with how far, in pixels.
    disputed: Vec<(String, f64)>,
    /// The evidence for each place, and whether it is right: what confidences are learned from.
    told: Vec<(f64, bool)>,
}

impl Seeing {
    /// Looks at a labelled picture.
    pub(super) fn see(&mut self, key: String, picture: GreyImage<'_>, specimen: &Graph) -> Result<()> {
        if !self.keys.contains(&key) {
            self.learner.add(picture, specimen)?;
            self.keys.push(key);
        }
        Ok(())
    }

    /// Those of the keys that are not known.
    pub(super) fn missing<'a>(&self, keys: &'a [String]) -> Vec<&'a String> {
        keys.iter().filter(|key| !self.keys.contains(key)).collect()
    }

    /// What these labelled pictures teach.
    fn appearance(&mut self, keys: &[String]) -> Result<&Appearance> {
        if self.last.as_ref().is_none_or(|(last, _)| last != keys) {
            self.tidy(keys);
            let numbers: Vec<usize> =
                keys.iter().filter_map(|key| self.keys.iter().position(|other| other == key)).collect();
            self.last = Some((keys.to_vec(), self.learner.appearance_of(&numbers)?));
        }
        self.last.as_ref().map(|(_, appearance)| appearance).ok_or(Error::NoExamples)
    }

    /// Forgets labels that were changed long ago.
    fn tidy(&mut self, keys: &[String]) {
        while self.keys.len() > 2 * keys.len() + SPARE {
            let Some(oldest) = self.keys.iter().position(|key| !keys.contains(key)) else { return };
            self.keys.remove(oldest);
            self.learner.forget(oldest);
        }
    }

    /// The landmarks of a picture around the known ones; with what checks of labelled pictures told, confidences are calibrated by that.
    pub(super) fn propose(
        &mut self,
        keys: &[String],
        picture: GreyImage<'_>,
        known: &[(String, [f64; 2])],
        told: &[(f64, bool)],
        control: &Control,
    ) -> Result<Proposal> {
        let found = self.appearance(keys)?.find(picture, known, control)?;
        let calibration = Calibration::of_margins(told);
        let point = |point: &FoundPoint| ProposedPoint {
            name: point.name.clone(),
            at: point.at.to_vec(),
            candidate: None,
            certainty: point.certainty_by(calibration.as_ref()),
            others: Vec::new(),
        };
        Ok(Proposal::of(found.iter().map(point).collect()))
    }

    /// The labels of a picture beside what others say.
    pub(super) fn check(
        &mut self,
        keys: &[String],
        picture: GreyImage<'_>,
        labels: &BTreeMap<String, [f64; 2]>,
        control: &Control,
    ) -> Result<PictureCheck> {
        let appearance = self.appearance(keys)?;
        let near = appearance.tolerance(labels)?;
        let found = appearance.find(picture, &[], control)?;
        let off = |point: FoundPoint| {
            let at = labels.get(&point.name)?;
            Some(((point.at[0] - at[0]).hypot(point.at[1] - at[1]), point))
        };
        let compared: Vec<(f64, FoundPoint)> = found.into_iter().filter_map(off).collect();
        let told = compared.iter().map(|(off, point)| (point.evidence, *off <= near)).collect();
        let wrong = compared.iter().filter(|(off, _)| *off > near);
        let disputed = wrong.map(|(off, point)| (point.name.clone(), *off)).collect();
        Ok(PictureCheck { compared: compared.len(), disputed, told })
    }

    /// What these labelled pictures teach, for a model file.
    pub(super) fn learned(&mut self, keys: &[String], told: &[(f64, bool)]) -> Result<Appearance> {
        Ok(self.appearance(keys)?.clone().calibrated_by(Calibration::of_margins(told)))
    }
}

//! Whether an atlas read from a file is valid.

use super::{Atlas, Presence, TrueNames, VERSION};
use crate::{Error, Result};
use std::collections::BTreeSet;

/// No atlas has more landmarks than this; naming would take too long and too much memory.
const MOST_LANDMARKS: usize = 100_000;

impl Atlas {
    /// Sizes agree, numbers are finite, precisions positive definite, names different, and edges join two landmarks.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<()> {
        let bad = |reason: String| Err(Error::ModelFile { reason });
        if self.version == 0 || self.version > VERSION {
            return bad(format!("atlas version {} is not known; this program reads up to {VERSION}", self.version));
        }
        if self.dimension != 2 && self.dimension != 3 {
            return bad(format!("an atlas has 2 or 3 dimensions, not {}", self.dimension));
        }
        if self.landmarks.is_empty() || self.landmarks.len() > MOST_LANDMARKS {
            return bad(format!("an atlas has from 1 to {MOST_LANDMARKS} landmarks, not {}", self.landmarks.len()));
        }
        let mut names = BTreeSet::new();
        for landmark in &self.landmarks {
            if landmark.name.is_empty() || !names.insert(&landmark.name) {
                return bad(format!("the name {:?} of a landmark is empty or occurs twice", landmark.name));
            }
            landmark.position.check("position of a landmark", self.dimension)?;
            if landmark.attributes.len() != self.attributes.len() {
                let (expected, found) = (self.attributes.len(), landmark.attributes.len());
                return Err(Error::Size { what: "attributes of a landmark", expected, found });
            }
            landmark.attributes.iter().try_for_each(|attribute| attribute.check("attribute of a landmark", 1))?;
        }
        let mut seen = BTreeSet::new();
        for edge in &self.edges {
            let [i, j] = edge.ends;
            if i >= self.landmarks.len() || j >= self.landmarks.len() || i == j || !seen.insert([i.min(j), i.max(j)]) {
                return bad(format!("the edge {i} to {j} does not join two landmarks, or is a duplicate"));
            }
            edge.displacement.check("displacement of an edge", self.dimension)?;
        }
        self.background.check("background", self.dimension)?;
        for unit in &self.attributes {
            if !(unit.mean.is_finite() && unit.deviation.is_finite() && unit.deviation > 0.0) {
                return bad(format!("the unit of the attribute {:?} is not positive and finite", unit.name));
            }
        }
        self.check_trust()?;
        let Some(partial) = &self.partial else { return Ok(()) };
        let names = |atlas: &Self| -> Vec<String> { atlas.landmarks.iter().map(|own| own.name.clone()).collect() };
        let is_alike = names(partial) == names(self) && partial.features() == self.features();
        if !is_alike || partial.dimension != self.dimension || partial.presence != Presence::Partial {
            return bad("the parts of the atlas for complete and for partial specimens do not agree".to_string());
        }
        if partial.partial.is_some() {
            return bad("the part of the atlas for partial specimens has parts of its own".to_string());
        }
        partial.check()
    }

    fn check_trust(&self) -> Result<()> {
        let bad = |reason: &str| Err(Error::ModelFile { reason: reason.to_string() });
        if let Some(calibration) = &self.calibration {
            let trust = calibration.trust.iter().flat_map(|trust| {
                let usual = trust.usual_evidence.into_iter().chain([trust.usual_strain]).flatten();
                [trust.strain, trust.fit, trust.partial].into_iter().chain(usual)
            });
            if [calibration.offset, calibration.slope].into_iter().chain(trust).any(|number| !number.is_finite()) {
                return bad("the calibration is not finite");
            }
        }
        let lists = self.coverage.iter().flat_map(|coverage| coverage.as_given.iter().chain(&coverage.corrupted));
        if lists.into_iter().all(TrueNames::check) { Ok(()) } else { bad("the coverage has costs that make no sense") }
    }
}

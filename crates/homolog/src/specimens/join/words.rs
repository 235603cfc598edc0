//! What is said about joined specimens, in words and as JSON.

use super::{JoinReport, Joined};
use crate::atlas::{Pose, Presence};
use crate::{Error, Result, counted};
use serde_json::{Value, json};
use std::fmt;

impl Joined {
    /// All of it as JSON, with the ids of the specimens; the same for the same specimens.
    ///
    /// # Errors
    /// More or fewer ids than specimens.
    pub fn to_json(&self, ids: &[String]) -> Result<String> {
        if ids.len() != self.points.len() {
            return Err(Error::Size { what: "ids of specimens", expected: self.points.len(), found: ids.len() });
        }
        let specimens = ids.iter().zip(&self.points).map(|(id, points)| {
            let named = points.iter().enumerate().filter_map(|(point, known)| {
                let known = (*known)?;
                Some(json!({ "point": point, "name": self.names[known.name].name, "confidence": known.confidence }))
            });
            let names: Vec<Value> = named.collect();
            let unnamed: Vec<usize> = (0..points.len()).filter(|&point| points[point].is_none()).collect();
            json!({ "specimen": id, "names": names, "unnamed": unnamed })
        });
        let value = json!({
            "names": self.names, "specimens": specimens.collect::<Vec<_>>(), "report": self.report
        });
        let text = serde_json::to_string_pretty(&value);
        text.map_err(|error| Error::DataSet { place: "joined specimens".to_string(), reason: error.to_string() })
    }
}

impl fmt::Display for JoinReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| 100.0 * share;
        let pose = match self.pose {
            Pose::AsGiven => "oriented as given",
            Pose::Tilted => "tilted",
            Pose::Rotated => "rotated",
            Pose::Any => "rotated or mirrored",
        };
        let presence = match self.presence {
            Presence::Complete => "every point in every specimen",
            Presence::Partial | Presence::Auto => "points may be missing or extra",
        };
        writeln!(to, "Joined {} ({pose}, {presence}).", counted(self.specimens, "specimen"))?;
        write!(to, "{}; {} of {} points have one", counted(self.names, "name"), self.named, self.points)?;
        match self.confidence {
            Some(confidence) => writeln!(to, ", mean confidence {confidence:.2}.")?,
            None => writeln!(to, "; no confidence was calibrated.")?,
        }
        writeln!(
            to,
            "{} matched: {:.0} % of the matches agree with the names. The names are consistent by construction; of the pairwise matches {:.0} % are consistent with each other.",
            counted(self.pairs, "pair"),
            percent(self.agreement),
            percent(self.pairwise_consistency)
        )?;
        match (self.held_out, self.improved) {
            (Some([before, after]), true) => writeln!(
                to,
                "{} of naming and learning: log-likelihood of left-out specimens {before:.1} to {after:.1}.",
                counted(self.rounds, "round")
            )?,
            (Some(_), false) => writeln!(
                to,
                "Rounds of naming and learning did not suit the pairs better: the names are those that pairwise matches agree on."
            )?,
            (None, _) => {}
        }
        if let Some([alone, joined]) = self.pair_scores {
            writeln!(to, "Mean score per pair: {alone:.1} matched alone, {joined:.1} by the names.")?;
        }
        if self.undecided {
            writeln!(
                to,
                "It could not be told whether joining is better than pairwise matching: groups that pairwise matches agree on have a higher score, but hardly agree with the pairs more."
            )?;
        }
        if self.proven > 0 {
            writeln!(to, "{} of {} specimens: names proven best in their pose.", self.proven, self.specimens)?;
        }
        if !self.complete {
            writeln!(to, "Stopped before the end: the names are the best so far.")?;
        }
        Ok(())
    }
}

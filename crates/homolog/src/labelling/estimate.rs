//! [`estimate`]: how wrong proposals are, found by naming each labelled specimen from the others.

use super::fitting::distance;
use super::proposer::{Candidates, Proposer, only_named};
use super::shape::extent;
use crate::graph::Graph;
use crate::{Control, Error, Result};
use serde::Serialize;

/// How often at most the others are learned from; with more specimens, several are left out together.
const FOLDS: usize = 10;
/// A point that is off by more than this share of the specimen's extent is wrong: 8 pixels in 400.
const WRONG: f64 = 0.02;

/// How wrong proposals are, by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The share of names that the other specimens put elsewhere; `None` if no name is in two specimens.
    pub error: Option<f64>,
    /// Those names for each specimen.
    pub disputed: Vec<Vec<String>>,
}

/// Names each labelled specimen from the others, in ten parts if there are more than ten. `candidates` are those of each specimen, as for
/// [`Proposer::propose`].
///
/// # Errors
/// As [`Proposer::learn`] and [`Proposer::propose`]; the numbers of candidates and specimens differ;
/// `control` stopped it.
pub fn estimate(labelled: &[Graph], candidates: &[Candidates], control: &Control) -> Result<Estimate> {
    if candidates.len() != labelled.len() {
        let (expected, found) = (labelled.len(), candidates.len());
        return Err(Error::Size { what: "specimens with candidates", expected, found });
    }
    let folds = labelled.len().min(FOLDS);
    let (mut wrong, mut all) = (0, 0);
    let mut disputed = vec![Vec::new(); labelled.len()];
    for fold in 0..folds {
        if control.interrupted() {
            return Err(Error::Interrupted);
        }
        let left_out = |number: usize| number % folds == fold;
        let others: Vec<Graph> =
            labelled.iter().enumerate().filter(|&(number, _)| !left_out(number)).map(|(_, one)| one.clone()).collect();
        let proposer = Proposer::learn(&others)?;
        for number in (0..labelled.len()).filter(|&number| left_out(number)) {
            let Some(own) = only_named(&labelled[number])? else { continue };
            let (Some(points), Some(names)) = (own.points(), own.names()) else { continue };
            let places: Vec<[f64; 2]> = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
            let tolerance = WRONG * extent(&places);
            for proposed in proposer.propose(&candidates[number], &[])?.points {
                let Some(at) = names.iter().position(|name| *name == proposed.name) else { continue };
                all += 1;
                if distance(proposed.at, places[at]) > tolerance {
                    disputed[number].push(proposed.name);
                }
            }
            wrong += disputed[number].len();
        }
    }
    Ok(Estimate { error: (all > 0).then(|| wrong as f64 / f64::from(all)), disputed })
}

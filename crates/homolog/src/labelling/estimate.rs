//! [`estimate`]: how wrong proposals are, found by naming each labelled specimen from the others; [`Expected`]: what that says about new
//! ones.

use super::proposer::{Candidates, Proposer, only_named};
use crate::graph::Graph;
use crate::learn::expected_error;
use crate::{Control, Error, Result};
use ndarray::{ArrayView1, ArrayView2};
use serde::Serialize;

/// How often at most the others are learned from; with more specimens, several are left out together.
const FOLDS: usize = 10;
/// A point of a picture that is off by more than this share of the specimen's extent is wrong: 8 pixels in 400.
const WRONG: f64 = 0.02;

/// How wrong proposals are, by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The share of names that the other specimens put elsewhere; `None` if no name is in two specimens.
    pub error: Option<f64>,
    /// That share for each specimen that has a name in common with others.
    pub errors: Vec<f64>,
    /// Those names for each specimen.
    pub disputed: Vec<Vec<String>>,
}

/// The error to expect of proposals for new specimens.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Expected {
    /// The mean over the labelled specimens, each proposed from the others.
    pub error: f64,
    /// Holds the error on new specimens nine times in ten (`learn/expected.rs`).
    pub interval: [f64; 2],
    /// How many labelled specimens it rests on.
    pub specimens: usize,
}

impl Expected {
    /// From the shares of wrong proposals in labelled specimens; `None` without any, or if one is no share.
    #[must_use]
    pub fn of(errors: &[f64]) -> Option<Self> {
        let interval = expected_error(errors)?;
        Some(Self { error: errors.iter().sum::<f64>() / errors.len() as f64, interval, specimens: errors.len() })
    }
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
    let mut errors = Vec::new();
    for fold in 0..folds {
        Error::if_interrupted(control)?;
        let left_out = |number: usize| number % folds == fold;
        let others: Vec<Graph> =
            labelled.iter().enumerate().filter(|&(number, _)| !left_out(number)).map(|(_, one)| one.clone()).collect();
        let proposer = Proposer::learn(&others)?;
        for number in (0..labelled.len()).filter(|&number| left_out(number)) {
            let Some(own) = only_named(&labelled[number])? else { continue };
            let (Some(points), Some(names)) = (own.points(), own.names()) else { continue };
            let tolerance = WRONG * extent(&points);
            let before = all;
            for proposed in proposer.propose(&candidates[number], &[])?.points {
                let Some(at) = names.iter().position(|name| *name == proposed.name) else { continue };
                all += 1;
                let off = points.row(at).iter().zip(&proposed.at).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                // In a table a point has a name or not; near is not enough.
                if off > tolerance || (candidates[number].own && proposed.candidate.is_none()) {
                    disputed[number].push(proposed.name);
                }
            }
            wrong += disputed[number].len();
            if all > before {
                errors.push(disputed[number].len() as f64 / f64::from(all - before));
            }
        }
    }
    Ok(Estimate { error: (all > 0).then(|| wrong as f64 / f64::from(all)), errors, disputed })
}

/// The diagonal of the box around some points.
fn extent(points: &ArrayView2<'_, f64>) -> f64 {
    let side = |column: ArrayView1<'_, f64>| {
        let (low, high) =
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        (high - low).max(0.0)
    };
    points.columns().into_iter().map(|column| side(column).powi(2)).sum::<f64>().sqrt()
}

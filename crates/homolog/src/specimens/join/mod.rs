//! [`join`]: one consistent naming for the points of specimens without labels.
//!
//! 1. Every specimen is matched with each of some others (`pairwise`), which settles pose and presence unless they are given.
//! 2. Groups of points that most of these matchings agree on (`consensus`), from each of the three best hubs, and the same groups after each
//!    specimen's names were put to the vote.
//! 3. Rounds of naming and learning (`rounds`) from each of the three; those after which left-out specimens are most likely. The gate: if the
//!    names after them contradict the matchings of step 1 clearly more than groups do (agreement lower by more than 0.1) and suit these pairs
//!    worse (a lower score), the groups with the highest score are kept instead. Likelihoods under atlases of different groupings do not tell:
//!    few groups of few points may be the most likely.
//! 4. Every specimen is named by an atlas of the others, with proof, and calibrated (`outcome`). If the pairs' score falls by it, the names stay
//!    as they were.
//!
//! Names are consistent by construction: points match if they have the same name. Processor time grows linearly with the number of
//! specimens up to a few hundred; aligning s specimens takes time s², which shows from a thousand on.

mod consensus;
mod outcome;
mod pairwise;
mod words;

pub(crate) use outcome::JoinReport;
pub use outcome::{Joined, JoinedPoint};

use super::rounds::{Labels, Poses, Rounds, counts};
use crate::atlas::AtlasSettings;
use crate::graph::Graph;
use crate::matching::{Compatibility, Matching};
use crate::model::Model;
use crate::{Control, Error, Report, Result};
use consensus::{consensus, voted};
use outcome::Found;
use pairwise::{Pairwise, Star};
use rayon::prelude::*;

/// Starts to choose from.
const STARTS: usize = 3;
/// Rounds of naming and learning; three or four are usual.
const ROUNDS: usize = 8;
/// A name has to occur in this share of the specimens, and in two.
const SHARE: f64 = 0.3;

/// Names after the rounds may agree with the pairwise matches by this much less than groups do, which are made from them. Chosen on 25 draws of five
/// sets of specimens (docs/notes/naming.md).
const CONTRADICTING: f64 = 0.1;

/// Joins specimens: graphs with points, in any order, of which some may have names. A model, if given, matches the pairs. If interrupted,
/// what is known by then.
///
/// ```
/// use homolog::{Control, atlas::AtlasSettings, graph::Graph, specimens::join::join};
/// let kite = ndarray::array![[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.5], [0.5, 1.2]];
/// let specimens = [&kite, &(&kite * 1.5), &(&kite + 4.0)].map(|points| Graph::from_points(points.clone()));
/// let specimens = specimens.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let joined = join(&specimens.iter().collect::<Vec<_>>(), &AtlasSettings::default(), None, &Control::new())?;
/// assert_eq!(joined.names.len(), 5);
/// assert!(joined.points.iter().all(|points| *points == joined.points[0]));
/// # Ok::<(), homolog::Error>(())
/// ```
///
/// # Errors
/// Fewer than two specimens; one without points, or with points of another dimension; no group of points that belong together; interrupted
/// before the first specimen was matched with all others.
pub fn join(
    specimens: &[&Graph],
    settings: &AtlasSettings,
    model: Option<&Model>,
    control: &Control,
) -> Result<Joined> {
    if specimens.len() < 2 {
        return Err(Error::Size { what: "specimens to join", expected: 2, found: specimens.len() });
    }
    let bare = |graph: &&Graph| (*graph).clone().with_names(vec![String::new(); graph.node_count()]);
    let bare = specimens.iter().map(bare).collect::<Result<Vec<Graph>>>()?;
    let graphs: Vec<&Graph> = bare.iter().collect();
    let settings = &AtlasSettings { plain: true, ..settings.clone() };
    let pairwise = Pairwise::new(&graphs, settings, model, &control.part(0, 5))?;
    let stars = pairwise.stars(&control.part(1, 5))?;
    if stars.is_empty() {
        return Err(Error::Interrupted);
    }
    let rounds = Rounds { graphs: &graphs, settings: pairwise.settings().clone() };
    let found = best_start(&pairwise, &rounds, stars, control)?;
    found.outcome(&pairwise, &rounds, specimens, &control.part(4, 5))
}

/// Two specimens matched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MatchedPair {
    /// Left points to right points.
    pub matching: Matching,
    /// The scores in the pose that was found.
    pub problem: Compatibility,
}

/// Pairs of specimens, by position, matched as [`join`] matches them before it joins anything.
///
/// # Errors
/// As [`join`].
pub fn match_pairs(
    specimens: &[&Graph],
    settings: &AtlasSettings,
    pairs: &[[usize; 2]],
    control: &Control,
) -> Result<Vec<MatchedPair>> {
    let pairwise = Pairwise::new(specimens, settings, None, control)?;
    pairs.par_iter().map(|&[left, right]| pairwise.pair(left, right, control)).collect()
}

/// The most likely names after rounds from the best hubs, unless they contradict the pairs clearly more than groups do.
fn best_start(pairwise: &Pairwise<'_>, rounds: &Rounds<'_>, mut stars: Vec<Star>, control: &Control) -> Result<Found> {
    stars.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.hub.cmp(&b.hub)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let fewest = ((SHARE * rounds.graphs.len() as f64).ceil() as usize).max(2);
    let mut best: Option<Improved> = None;
    let mut grouped: Vec<Labels> = Vec::new();
    for first in 0..STARTS.min(stars.len()) {
        control.part(2, 5).report(&Report::new("naming and learning in turn", first, Some(STARTS)));
        let mut order: Vec<&Star> = stars.iter().collect();
        order[..=first].rotate_right(1);
        let groups = consensus(&order, fewest);
        if groups.iter().flatten().all(Option::is_none) {
            continue;
        }
        let mut by_votes = voted(&order, groups.clone())?;
        dissolve(&mut by_votes, fewest);
        let improved = improve(rounds, groups.clone(), fewest, control)?;
        if best.as_ref().is_none_or(|best| improved.held_out[1] > best.held_out[1]) {
            best = Some(improved);
        }
        for labels in [groups, by_votes] {
            if !grouped.contains(&labels) {
                grouped.push(labels);
            }
        }
        if control.interrupted() {
            break;
        }
    }
    let Some(Improved { labels, held_out, rounds }) = best else {
        return Err(Error::Missing { what: "points that match in several specimens", needed_by: "join" });
    };
    let score = pairwise.score_of(&stars, &labels)?;
    let mut found = Found { labels, held_out, score, is_improved: rounds > 0, rounds, stars };
    let least = consensus::agreement_with(&found.stars, &found.labels) + CONTRADICTING;
    for labels in grouped {
        if consensus::agreement_with(&found.stars, &labels) <= least {
            continue;
        }
        let score = pairwise.score_of(&found.stars, &labels)?;
        if score > found.score {
            found = Found { labels, score, is_improved: false, ..found };
        }
    }
    Ok(found)
}

/// Names after rounds of naming and learning.
struct Improved {
    labels: Labels,
    /// The log-likelihood of left-out specimens in the first round and in the last one.
    held_out: [f64; 2],
    rounds: usize,
}

/// Rounds until the names stay.
fn improve(rounds: &Rounds<'_>, groups: Labels, fewest: usize, control: &Control) -> Result<Improved> {
    let mut improved = Improved { labels: groups, held_out: [f64::NEG_INFINITY; 2], rounds: 0 };
    let mut poses = Poses::All;
    for round in 0..ROUNDS {
        if control.interrupted() {
            break;
        }
        let named = rounds.round(&improved.labels, 0, poses, control)?;
        if control.interrupted() {
            break;
        }
        let same = named.labels == improved.labels;
        let total = named.total();
        let before = if round == 0 { total } else { improved.held_out[0] };
        (improved.held_out, improved.rounds, poses) = ([before, total], round + 1, Poses::Near);
        improved.labels = named.labels;
        dissolve(&mut improved.labels, fewest);
        if same {
            break;
        }
    }
    Ok(improved)
}

/// Takes away names that few specimens have.
fn dissolve(labels: &mut Labels, fewest: usize) {
    let counts = counts(labels);
    for label in labels.iter_mut().flatten() {
        label.take_if(|label| counts.get(label).is_some_and(|&count| count < fewest));
    }
}

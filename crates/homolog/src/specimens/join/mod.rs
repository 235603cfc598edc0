//! [`join`]: one consistent naming for the points of specimens without labels.
//!
//! 1. Every specimen is matched with each of some others (`pairwise`), which settles pose and presence unless they are given.
//! 2. Groups of points that most of these matchings agree on (`consensus`), from each of the three best hubs.
//! 3. Rounds of naming and learning (`rounds`) from each of the three, kept only if they make left-out specimens more likely than the groups
//!    alone do; the most likely of the three.
//! 4. Every specimen is named by an atlas of the others, with proof, and calibrated (`outcome`).
//!
//! Names are consistent by construction: points match if they have the same name. Processor time grows linearly with the number of
//! specimens up to a few hundred; aligning s specimens takes time s², which shows from a thousand on.

mod consensus;
mod outcome;
mod pairwise;
mod words;

pub use outcome::{JoinReport, Joined, JoinedName, JoinedPoint};

use super::rounds::{Labels, Poses, Rounds, counts};
use crate::atlas::AtlasSettings;
use crate::graph::Graph;
use crate::matching::Matching;
use crate::model::Model;
use crate::{Control, Error, Report, Result};
use consensus::consensus;
use outcome::Found;
use pairwise::{Pairwise, Star};
use rayon::prelude::*;

/// Starts to choose from.
const STARTS: usize = 3;
/// Rounds of naming and learning; three or four are usual.
const ROUNDS: usize = 8;
/// A name has to occur in this share of the specimens, and in two.
const SHARE: f64 = 0.3;

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
    let found = best_start(&rounds, stars, control)?;
    found.outcome(&rounds, specimens, &control.part(4, 5))
}

/// Pairs of specimens, by position, matched as [`join`] matches them before it joins anything: left points to right points.
///
/// # Errors
/// As [`join`].
pub fn match_pairs(
    specimens: &[&Graph],
    settings: &AtlasSettings,
    pairs: &[[usize; 2]],
    control: &Control,
) -> Result<Vec<Matching>> {
    let pairwise = Pairwise::new(specimens, settings, None, control)?;
    pairs.par_iter().map(|&[left, right]| pairwise.pair(left, right, control)).collect()
}

/// The most likely of the answers from the best hubs.
fn best_start(rounds: &Rounds<'_>, mut stars: Vec<Star>, control: &Control) -> Result<Found> {
    stars.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.hub.cmp(&b.hub)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let fewest = ((SHARE * rounds.graphs.len() as f64).ceil() as usize).max(2);
    let mut best: Option<Found> = None;
    for first in 0..STARTS.min(stars.len()) {
        control.part(2, 5).report(&Report::new("naming and learning in turn", first, Some(STARTS)));
        let mut order: Vec<&Star> = stars.iter().collect();
        order[..=first].rotate_right(1);
        let groups = consensus(&order, fewest);
        if groups.iter().flatten().all(Option::is_none) {
            continue;
        }
        let found = improve(rounds, groups, fewest, control)?;
        if best.as_ref().is_none_or(|best| found.likelihood() > best.likelihood()) {
            best = Some(found);
        }
        if control.interrupted() {
            break;
        }
    }
    let best = best.ok_or(Error::Missing { what: "points that match in several specimens", needed_by: "join" })?;
    Ok(Found { stars, ..best })
}

/// Rounds until the names stay; the groups themselves if no round makes left-out specimens more likely.
fn improve(rounds: &Rounds<'_>, groups: Labels, fewest: usize, control: &Control) -> Result<Found> {
    let (mut labels, mut poses) = (groups.clone(), Poses::All);
    let (mut before, mut after, mut done) = (None, f64::NEG_INFINITY, 0);
    for _ in 0..ROUNDS {
        if control.interrupted() {
            break;
        }
        let named = rounds.round(&labels, 0, poses, control)?;
        if control.interrupted() {
            break;
        }
        let same = named.labels == labels;
        (after, poses, done) = (named.total(), Poses::Near, done + 1);
        before = before.or(Some(after));
        labels = named.labels;
        dissolve(&mut labels, fewest);
        if same {
            break;
        }
    }
    let start = before.unwrap_or(f64::NEG_INFINITY);
    let is_improved = after >= start;
    let labels = if is_improved { labels } else { groups };
    Ok(Found { labels, held_out: [start, after], is_improved, rounds: done, stars: Vec::new() })
}

/// Takes away names that few specimens have.
fn dissolve(labels: &mut Labels, fewest: usize) {
    let counts = counts(labels);
    for label in labels.iter_mut().flatten() {
        label.take_if(|label| counts.get(label).is_some_and(|&count| count < fewest));
    }
}

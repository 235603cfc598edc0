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
//! If groups have the higher score but do not agree with the matchings clearly more, the gate cannot tell, and the report says so. With a model,
//! scores are those of its problems.
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
use crate::atlas::{AtlasSettings, MOST_LANDMARKS};
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

/// Names after the rounds may agree with the pairwise matches by this much less than groups do, which are made from them. Chosen on 31 draws of five
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
/// Fewer than two specimens; one without points, with too many, or with points of another dimension; no group of points that belong together; interrupted
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
    // Before anything is computed.
    let most = specimens.iter().map(|graph| graph.node_count()).max().unwrap_or(0);
    if most > MOST_LANDMARKS {
        let what = "points of a specimen to join, all pairs of which are compared";
        return Err(Error::TooLarge { what, limit: MOST_LANDMARKS, found: most });
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
    let suits = |labels: &Labels| -> Result<Suits> {
        let agreement = consensus::agreement_with(&stars, labels);
        Ok(Suits { agreement, score: pairwise.score_of(&stars, labels)? })
    };
    let names = suits(&labels)?;
    // Groups that agree with the pairs no more than the names do not speak against these.
    grouped.retain(|groups| consensus::agreement_with(&stars, groups) > names.agreement);
    let groups = grouped.iter().map(suits).collect::<Result<Vec<_>>>()?;
    let (instead, is_undecided) = gate(names, &groups);
    let (labels, score, is_improved) = match instead {
        Some(at) => (grouped.swap_remove(at), groups[at].score, false),
        None => (labels, names.score, rounds > 0),
    };
    Ok(Found { labels, held_out, score, is_improved, is_undecided, rounds, stars })
}

/// How far matches by name suit the pairs that were matched.
#[derive(Debug, Clone, Copy)]
struct Suits {
    agreement: f64,
    score: f64,
}

/// Which groups to keep instead of names after the rounds, if any; and whether that could not be told: these groups suit the pairs better, but do not
/// agree with them clearly more.
fn gate(names: Suits, groups: &[Suits]) -> (Option<usize>, bool) {
    let mut instead: Option<usize> = None;
    for (at, own) in groups.iter().enumerate() {
        let best = instead.map_or(names.score, |at| groups[at].score);
        if own.agreement > names.agreement + CONTRADICTING && own.score > best {
            instead = Some(at);
        }
    }
    let is_against = |own: &Suits| own.agreement > names.agreement && own.score > names.score;
    let is_undecided = names.score == f64::NEG_INFINITY || groups.iter().any(is_against);
    (instead, instead.is_none() && is_undecided)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_replace_names_only_if_they_agree_clearly_more_and_score_higher() {
        let suits = |agreement: f64, score: f64| Suits { agreement, score };
        let names = suits(0.5, 10.0);
        // Clearly more agreement and a higher score; the highest of several.
        assert_eq!(gate(names, &[suits(0.65, 11.0)]), (Some(0), false));
        assert_eq!(gate(names, &[suits(0.65, 11.0), suits(0.7, 13.0), suits(0.9, 12.0)]), (Some(1), false));
        // Higher by less than 0.1: that cannot be told.
        assert_eq!(gate(names, &[suits(0.59, 11.0)]), (None, true));
        assert_eq!(gate(names, &[suits(0.59, 99.0), suits(0.65, 11.0)]), (Some(1), false));
        // A lower score, however much they agree.
        assert_eq!(gate(names, &[suits(0.9, 9.0), suits(0.5, 11.0)]), (None, false));
        assert_eq!(gate(names, &[]), (None, false));
        // Names that leave out what has to be matched have no score.
        let partial = suits(0.5, f64::NEG_INFINITY);
        assert_eq!(gate(partial, &[suits(0.7, -5.0)]), (Some(0), false));
        assert_eq!(gate(partial, &[suits(0.7, f64::NEG_INFINITY)]), (None, true));
    }

    /// Made specimens with the same points in the same order.
    fn specimens(count: usize) -> Vec<Graph> {
        let shape = [[0.0, 0.0], [4.0, 0.5], [8.0, -0.7], [7.5, 3.0], [9.0, 6.0], [4.5, 7.0], [2.0, 5.0], [-1.5, 6.5]];
        let noise = |number: usize| ((number * 7919 + 13) % 101) as f64 / 101.0 - 0.5;
        let one = |s: usize| {
            let place = |(k, axis): (usize, usize)| shape[k][axis] + 0.3 * noise(37 * s + 5 * k + 3 * axis);
            let points = ndarray::Array2::from_shape_fn((shape.len(), 2), place);
            let names = vec![String::new(); shape.len()];
            Graph::from_points(points).unwrap().with_names(names).unwrap()
        };
        (0..count).map(one).collect()
    }

    /// Names that the others contradict: they give way to those of the others if these suit the pairs better, otherwise they stay, with little
    /// confidence.
    #[test]
    fn final_names_stay_unless_those_by_the_others_suit_the_pairs_better() {
        let specimens = specimens(8);
        let graphs: Vec<&Graph> = specimens.iter().collect();
        let pose = Some(crate::atlas::Pose::AsGiven);
        let settings = AtlasSettings { pose, presence: Some(crate::atlas::Presence::Complete), ..Default::default() };
        let control = Control::new();
        let pairwise = Pairwise::new(&graphs, &settings, None, &control).unwrap();
        let stars = pairwise.stars(&control).unwrap();
        let truth: Labels = graphs.iter().map(|graph| (0..graph.node_count()).map(Some).collect()).collect();
        let mut swapped = truth.clone();
        swapped[3].swap(1, 6);
        let own = pairwise.score_of(&stars, &swapped).unwrap();
        assert!(pairwise.score_of(&stars, &truth).unwrap() > own);
        let outcome = |score: f64| {
            let rounds = Rounds { graphs: &graphs, settings: pairwise.settings().clone() };
            let (labels, stars) = (swapped.clone(), stars.clone());
            let held_out = [0.0; 2];
            let found = Found { labels, held_out, score, is_improved: true, is_undecided: false, rounds: 1, stars };
            found.outcome(&pairwise, &rounds, &graphs, &control).unwrap()
        };
        let names = |joined: &Joined, s: usize| -> Vec<usize> {
            joined.points[s].iter().map(|point| point.unwrap().name).collect()
        };
        let mended = outcome(own);
        assert_eq!(names(&mended, 3), names(&mended, 0));
        let stayed = outcome(f64::INFINITY);
        let usual = names(&stayed, 0);
        let mut expected = usual.clone();
        expected.swap(1, 6);
        assert_eq!(names(&stayed, 3), expected);
        let sure = |s: usize, point: usize| stayed.points[s][point].unwrap().confidence.unwrap();
        assert!(sure(3, 1) < 0.5 && sure(3, 6) < 0.5, "{} {}", sure(3, 1), sure(3, 6));
        assert!((0..8).all(|s| s == 3 || sure(s, 1) > 0.5) && sure(3, 0) > 0.5);
    }
}

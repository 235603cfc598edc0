//! [`Atlas::name`]: the names of a specimen's points.
//!
//! 1. The poses that positions alone like best (`pose`).
//! 2. In each, the whole problem, edges included, is solved by a search (`climb`); the best is kept, its pose fitted to what it found, and
//!    solved again as long as that raises the score.
//! 3. On request [`Exact`] proves that no naming of these points in this pose scores more. To be fast it considers only each landmark's
//!    best candidates; [`Naming::candidates`] says so.
//! 4. The margins (`margin`): how much the score falls if a name is forbidden; what every other name would cost (`alternatives`); how well
//!    the specimen fits (`strain`).
//!
//! The points are shuffled first, always in the same way: ties must not favour the points listed first.

use super::climb::climb;
use super::pose::{Placed, Poser, keep_known};
use super::{Atlas, Pose, Presence};
use crate::features::FeatureMap;
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::matching::{Compatibility, Constraint, Exact, Matching, Solution, Status, Workspace};
use crate::{Error, Result};
use ndarray::Array2;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Poses examined with edges.
const POSES: usize = 4;
/// How often the best pose is fitted again.
const REFITS: usize = 3;
/// Candidates of each landmark in a proof.
const CANDIDATES: usize = 12;
/// Problems with no more cells than this are proven without leaving any out.
const FEW_CELLS: usize = 1000;
/// A proof is given up after this many steps of the relaxation, and after this many pairs of pairs examined in total: a few seconds.
/// What can be proven is usually proven in a tenth of that.
const MOST_STEPS: usize = 20_000;
const MOST_PAIRS: usize = 2_000_000_000;

/// All pairs of points are looked at: this many take 1.5 GB.
const MOST_POINTS: usize = 2500;
/// A search among no more cells than this is never cut short: only its proof is.
const SHORT_SEARCH: usize = 2_500;

/// How hard to look for the best naming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Search {
    /// A search that proves nothing, in milliseconds.
    Quick,
    /// A proof, in milliseconds to seconds.
    #[default]
    Proof,
}

/// The names of the points of a specimen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Naming {
    /// Landmarks of the atlas to points of the specimen.
    pub matching: Matching,
    /// For each landmark that has a point, in order of landmark: how certain that is.
    pub calls: Vec<Call>,
    /// What maps the specimen into the frame of the atlas.
    pub frame: Similarity,
    /// The score of the naming in that pose.
    pub score: f64,
    /// No naming in that pose scores more (among those the candidates allow).
    pub bound: f64,
    /// Whether that is proven.
    pub status: Status,
    /// How many candidates of each landmark were considered, if not all points: a proof holds among these.
    pub candidates: Option<usize>,
    /// Whether it was named as complete or as partial.
    pub presence: Presence,
    /// How well it fits: about 1 if it is like the training specimens, less the less it is; `None` if the atlas is not calibrated.
    pub fit: Option<f64>,
    /// How far the edges between named points are from usual: about 1 in a specimen like the training ones.
    pub strain: f64,
    /// How much the score falls if a landmark (row; the last one is for none) has a point (column); `None` if there are too many.
    pub falls: Option<Array2<f64>>,
}

/// A specimen with less than this fit is said to fit badly.
const BAD_FIT: f64 = 0.5;

impl Naming {
    /// Whether the specimen is so unlike the training ones that no name can be relied upon.
    #[must_use]
    pub fn fits_badly(&self) -> bool {
        self.fit.is_some_and(|fit| fit < BAD_FIT)
    }

    /// The naming as a solution of its problem.
    pub(crate) fn solution(&self, problem: &Compatibility) -> Result<Solution> {
        let (matching, score) = (self.matching.clone(), problem.score(&self.matching)?);
        let (bound, status) = (self.bound.max(score), self.status);
        Ok(Solution { matching, score, bound, status, iterations: 1, certificate: None, shortage: None, allowed: 0.0 })
    }

    /// The points of two specimens that have the same name: left to right.
    ///
    /// # Errors
    /// Namings by different atlases.
    pub fn join(&self, other: &Self) -> Result<Matching> {
        if self.matching.left_count() != other.matching.left_count() {
            let (expected, found) = (self.matching.left_count(), other.matching.left_count());
            return Err(Error::Size { what: "landmarks of the atlas", expected, found });
        }
        let partner = |landmark: Option<usize>| other.matching.right_of(landmark?);
        let joined = self.matching.right_to_left().iter().map(|&landmark| partner(landmark)).collect();
        Matching::new(joined, other.matching.right_count(), Constraint::OneToOne)
    }
}

/// A landmark and its point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The landmark, by position in the atlas.
    pub landmark: usize,
    /// The point of the specimen.
    pub point: usize,
    /// Its part of the score: its own likelihood and half of each edge's. The parts add up to the score.
    pub share: f64,
    /// How much the score falls if the landmark may not have this point; infinite if it has no other.
    pub margin: f64,
    /// The landmark that would have the point then; `None` if none would.
    pub runner_up: Option<usize>,
    /// How far the landmark's edges are from usual: about 1 in a specimen like the training ones.
    pub strain: f64,
    /// The probability that the name is right; `None` if the atlas is not calibrated.
    pub confidence: Option<f64>,
}

/// A problem in a pose, with its answer.
pub(super) struct Posed {
    pub(super) placed: Placed,
    pub(super) problem: Compatibility,
    pub(super) solution: Solution,
}

impl Atlas {
    /// The best naming that the quick search finds, under one presence, around known names, with these weights.
    pub(super) fn search(
        &self,
        specimen: &Graph,
        (presence, known, weights): (Presence, &[(usize, usize)], &[f64]),
        work: &mut Workspace,
    ) -> Result<Posed> {
        let found = specimen.node_count();
        if found > MOST_POINTS {
            let what = "points of a specimen to be named, all pairs of which are looked at";
            return Err(Error::TooLarge { what, limit: MOST_POINTS, found });
        }
        let whole = &mut Workspace::new();
        let work = if found * self.landmarks.len() <= SHORT_SEARCH { whole } else { work };
        Namer::new(self, specimen, presence, known, weights)?.search(work)
    }
}

/// Always the same order, which favours no point.
pub(super) fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
    order
}

/// A matching to reordered points, in terms of their original order.
pub(super) fn in_order(matching: &Matching, order: &[usize]) -> Result<Matching> {
    let back = matching.left_to_right().iter().map(|point| point.map(|point| order[point])).collect();
    Matching::new(back, order.len(), Constraint::OneToOne)
}

/// One specimen being named.
pub(super) struct Namer<'a> {
    atlas: &'a Atlas,
    specimen: &'a Graph,
    /// Landmarks whose point is known.
    known: &'a [(usize, usize)],
    weights: &'a [f64],
    features: FeatureMap,
    left: Arc<crate::features::Described>,
    complete: bool,
}

impl<'a> Namer<'a> {
    pub(super) fn new(
        atlas: &'a Atlas,
        specimen: &'a Graph,
        presence: Presence,
        known: &'a [(usize, usize)],
        weights: &'a [f64],
    ) -> Result<Self> {
        let features = atlas.features();
        let left = Arc::new(features.describe(&atlas.graph(presence)?)?);
        Ok(Self { atlas, specimen, known, weights, features, left, complete: presence == Presence::Complete })
    }

    /// The problem in a pose. In complete specimens nothing stays unmatched.
    fn problem(&self, frame: &Similarity) -> Result<Compatibility> {
        let right = Arc::new(self.features.describe(&self.atlas.specimen_graph(self.specimen, frame)?)?);
        let mut problem = self.features.instance(&self.left, &right)?.compatibility(self.weights)?;
        if self.complete {
            problem.unmatched = None;
        }
        keep_known(&mut problem, self.known);
        Ok(problem)
    }

    pub(super) fn solve(&self, placed: Placed, work: &mut Workspace) -> Result<Posed> {
        let problem = self.problem(&placed.frame)?;
        let solution = climb(&problem, &placed.matching, work)?;
        let placed = Placed { matching: solution.matching.clone(), ..placed };
        Ok(Posed { placed, problem, solution })
    }

    fn search(&self, work: &mut Workspace) -> Result<Posed> {
        let points = self.atlas.points_of(self.specimen)?;
        let poser = Poser::new(self.atlas, self.complete, self.known);
        let mut poses = poser.poses(points, &[], POSES, work)?.into_iter();
        let first = poses.next().unwrap_or_else(|| Placed::nothing(self.atlas, points.nrows()));
        let mut best = self.solve(first, work)?;
        for placed in poses {
            if work.interrupted() {
                break;
            }
            let posed = self.solve(placed, work)?;
            if posed.solution.score > best.solution.score {
                best = posed;
            }
        }
        self.refitted(best, work)
    }

    /// The pose fitted to the names that it led to, and solved again, as long as that raises the score.
    pub(super) fn refitted(&self, mut best: Posed, work: &mut Workspace) -> Result<Posed> {
        if self.complete && self.atlas.pose == Pose::AsGiven {
            return Ok(best);
        }
        let points = self.atlas.points_of(self.specimen)?;
        let poser = Poser::new(self.atlas, self.complete, self.known);
        for _ in 0..REFITS {
            if work.interrupted() {
                break;
            }
            let frame = poser.fit(points, &best.placed)?;
            let posed = self.solve(Placed { frame, ..best.placed.clone() }, work)?;
            if posed.solution.score <= best.solution.score {
                break;
            }
            best = posed;
        }
        Ok(best)
    }
}

/// Proves the best naming in its pose, or finds a better one.
pub(super) fn prove(found: Posed, work: &mut Workspace) -> Result<(Posed, Option<usize>)> {
    let mut problem = found.problem.clone();
    let all = problem.node.len() <= FEW_CELLS || problem.right_count() <= CANDIDATES;
    if !all {
        keep_candidates(&mut problem, &found.solution.matching, CANDIDATES);
    }
    let candidates = if all { problem.right_count() } else { CANDIDATES };
    let pairs = problem.edge.as_ref().map_or(1, |edge| edge.left_edges().len()) * candidates * candidates;
    let steps = (MOST_PAIRS / pairs.max(1)).clamp(1, MOST_STEPS);
    let mut solution = Exact { max_iterations: steps, ..Exact::default() }.prove(&problem, work)?;
    solution.score = found.problem.score(&solution.matching)?;
    if solution.score < found.solution.score {
        // Interrupted before it was as good; its bound still holds.
        solution.matching = found.solution.matching.clone();
        solution.score = found.solution.score;
        solution.bound = solution.bound.max(solution.score);
    }
    let placed = Placed { matching: solution.matching.clone(), ..found.placed };
    Ok((Posed { placed, problem: found.problem, solution }, (!all).then_some(CANDIDATES)))
}

/// Forbids all but the points with the best scores for each landmark itself, and the one it has.
fn keep_candidates(problem: &mut Compatibility, matching: &Matching, count: usize) {
    for (landmark, mut row) in problem.node.rows_mut().into_iter().enumerate() {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        for &point in &order[count.min(order.len())..] {
            if matching.right_of(landmark) != Some(point) {
                row[point] = f64::NEG_INFINITY;
            }
        }
    }
}

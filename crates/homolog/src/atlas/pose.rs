//! Where a new specimen lies in the frame of the atlas: many starts, each refined by alternately naming its points by their positions alone
//! (linear assignment) and fitting the similarity to that (Procrustes), from wide Gaussians down to their own width.
//!
//! Starts: the specimen normalised, in 24 rotations (in space: along each of its three main axes, both ways, 12 rolls), also mirrored
//! if that is allowed; if points may be missing, in 5 sizes and shifted to each side. All are scored cheaply (each landmark's
//! best point); the best of each turn, and of these the best, are refined. A pose is never proven: a naming is proven for the pose it has.

use super::align::{angle, fit, normalise};
use super::evidence::monomial_table;
use super::{Atlas, Pose, Presence};
use crate::Result;
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::linalg::main_axes;
use crate::matching::{Compatibility, Linear, Matching, Workspace};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Rotations to try in the plane, and rolls about an axis in space.
const TURNS: usize = 24;
const ROLLS: usize = 12;
/// Sizes and shifts to try if points may be missing: foreign points distort both centre and radius.
const SIZES: [f64; 5] = [1.0, 0.9, 1.12, 0.8, 1.25];
const SHIFT: f64 = 0.3;
/// Deviations added to every Gaussian in successive rounds.
const WIDTHS: [f64; 4] = [0.4, 0.2, 0.1, 0.0];
/// Specimens oriented alike are turned by no more than this (30°), tilted ones by no more than this (45°), in steps of 15°.
const LARGEST_TILT: f64 = std::f64::consts::FRAC_PI_6;
const LARGEST_TILTED: f64 = std::f64::consts::FRAC_PI_4;
const TILTS: [f64; 7] = [0.0, 1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0, 1.0, -1.0];
/// The fit of a tilted specimen may exceed 45° by this much: the limit is that of the truth, not of its estimate.
const TILT_SLACK: f64 = 0.05;
/// Starts that are refined.
const REFINED: usize = 24;
/// Rounds of naming and fitting at each width; it settles in two to five.
const ROUNDS: usize = 8;

/// A pose, and its score by positions alone.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) frame: Similarity,
    pub(super) matching: Matching,
    pub(super) score: f64,
}

impl Atlas {
    /// The mean positions of the landmarks in the frame, a row each.
    pub(crate) fn means(&self) -> Array2<f64> {
        let mut means = Array2::zeros((self.landmarks.len(), self.dimension));
        for (mut row, landmark) in means.rows_mut().into_iter().zip(&self.landmarks) {
            row.assign(&Array1::from_vec(landmark.position.mean.clone()));
        }
        means
    }

    /// The similarity that maps points of known landmarks onto their mean positions, with the best turn; a single point is not turned.
    pub(crate) fn frame_of(&self, landmarks: &[usize], points: ArrayView2<'_, f64>) -> Result<Similarity> {
        let pose = if landmarks.len() > 1 { Pose::Rotated } else { Pose::AsGiven };
        fit(points, self.means().select(Axis(0), landmarks).view(), None, pose, &normalise(points))
    }

    /// Poses in which many landmarks lie near points, the best first, by positions alone; landmarks may be missing, and most points may be
    /// no landmark. `further` poses are tried in addition to those that the points suggest.
    pub(crate) fn poses_among(
        &self,
        points: ArrayView2<'_, f64>,
        known: &[(usize, usize)],
        further: &[Similarity],
        count: usize,
    ) -> Result<Vec<(Similarity, Matching)>> {
        let found = Poser::new(self, false, known).poses(points, further, count, &mut Workspace::new())?;
        Ok(found.into_iter().map(|placed| (placed.frame, placed.matching)).collect())
    }
}

impl Placed {
    /// Nothing named, nothing moved.
    pub(super) fn nothing(atlas: &Atlas, point_count: usize) -> Self {
        let matching = Matching::empty(atlas.landmarks.len(), point_count);
        Self { frame: Similarity::identity(atlas.dimension), matching, score: 0.0 }
    }
}

/// Names by positions alone, in any pose.
pub(super) struct Poser<'a> {
    atlas: &'a Atlas,
    /// The coefficients at each width.
    tables: Vec<Array2<f64>>,
    means: Array2<f64>,
    complete: bool,
    /// Landmarks whose point is known.
    known: &'a [(usize, usize)],
}

impl<'a> Poser<'a> {
    pub(super) fn new(atlas: &'a Atlas, complete: bool, known: &'a [(usize, usize)]) -> Self {
        let tables = WIDTHS
            .iter()
            .map(|width| {
                atlas.position_table(width * width, if complete { Presence::Complete } else { Presence::Partial })
            })
            .collect();
        Self { atlas, tables, means: atlas.means(), complete, known }
    }

    /// The best poses, best first, all different in what they match. `further` poses to start from are tried in every turn.
    pub(super) fn poses(
        &self,
        points: ArrayView2<'_, f64>,
        further: &[Similarity],
        count: usize,
        work: &mut Workspace,
    ) -> Result<Vec<Placed>> {
        let mut turns = starts(self.atlas, points, self.complete);
        for start in further {
            turns.extend(turned(self.atlas, points, start).into_iter().map(|start| vec![start]));
        }
        if self.atlas.pose == Pose::AsGiven && self.complete {
            let starts = turns.into_iter().flatten();
            return starts.map(|frame| self.place(points, frame, WIDTHS.len() - 1, work)).collect();
        }
        // The best of each turn, so that one turn in many sizes does not crowd out the others.
        let of_each = REFINED.div_ceil(turns.len().max(1));
        let mut looks: Vec<(f64, Similarity)> = Vec::new();
        for turn in turns {
            looks.extend(best_first(turn.into_iter().map(|start| (self.look(points, &start), start))).take(of_each));
        }
        let mut found: Vec<Placed> = Vec::new();
        for (_, start) in best_first(looks.into_iter()).take(REFINED) {
            if work.interrupted() && !found.is_empty() {
                break;
            }
            let placed = self.refine(points, start, work)?;
            if found.iter().all(|other| other.matching != placed.matching) {
                found.push(placed);
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(count);
        Ok(found)
    }

    /// What a pose could be worth at the largest width: each landmark with its best point.
    fn look(&self, points: ArrayView2<'_, f64>, frame: &Similarity) -> f64 {
        let scores = self.scores(points, frame, 0);
        let floor = if self.complete { f64::NEG_INFINITY } else { 0.0 };
        scores.rows().into_iter().map(|row| row.iter().fold(floor, |best, &score| best.max(score))).sum()
    }

    fn scores(&self, points: ArrayView2<'_, f64>, frame: &Similarity, width: usize) -> Array2<f64> {
        self.tables[width].dot(&monomial_table(frame.apply(points).view()).t())
    }

    /// Names by positions at one width, without moving.
    fn place(
        &self,
        points: ArrayView2<'_, f64>,
        frame: Similarity,
        width: usize,
        work: &mut Workspace,
    ) -> Result<Placed> {
        let node = self.scores(points, &frame, width);
        let unmatched = (!self.complete).then(|| Array1::zeros(node.nrows()));
        let mut problem = Compatibility { unmatched, ..Compatibility::linear(node) };
        keep_known(&mut problem, self.known);
        let solution = Linear::default().solve_through(&problem, work)?;
        Ok(Placed { frame, matching: solution.matching, score: solution.score })
    }

    /// Alternates naming and fitting until nothing changes, from wide to narrow.
    fn refine(&self, points: ArrayView2<'_, f64>, start: Similarity, work: &mut Workspace) -> Result<Placed> {
        let mut placed = self.place(points, start, 0, work)?;
        for width in 0..WIDTHS.len() {
            for _ in 0..ROUNDS {
                let frame = self.fit(points, &placed)?;
                let next = self.place(points, frame, width, work)?;
                let same = next.matching == placed.matching;
                placed = next;
                if same {
                    break;
                }
            }
        }
        Ok(placed)
    }

    /// The similarity that fits a matching; unchanged if it matches too little to tell.
    pub(super) fn fit(&self, points: ArrayView2<'_, f64>, placed: &Placed) -> Result<Similarity> {
        let (landmarks, rows): (Vec<usize>, Vec<usize>) = placed.matching.pairs().unzip();
        if rows.len() <= self.atlas.dimension {
            return Ok(placed.frame.clone());
        }
        let (from, to) = (points.select(Axis(0), &rows), self.means.select(Axis(0), &landmarks));
        // Specimens oriented alike are still turned a little, which matters when the size and the position have to be fitted too.
        let most = match self.atlas.pose {
            Pose::AsGiven if !self.complete => Some(LARGEST_TILT),
            Pose::Tilted => Some(LARGEST_TILTED + TILT_SLACK),
            _ => None,
        };
        let pose = if most.is_some() { Pose::Rotated } else { self.atlas.pose };
        let mut frame = fit(from.view(), to.view(), None, pose, &placed.frame)?;
        if most.is_some_and(|most| angle(&frame.rotation) > most) {
            frame = fit(from.view(), to.view(), None, Pose::AsGiven, &placed.frame)?;
        }
        Ok(if frame.shift.iter().all(|x| x.is_finite()) { frame } else { placed.frame.clone() })
    }
}

impl Atlas {
    /// What maps a specimen whose names are known into the frame.
    ///
    /// # Errors
    /// Points of another dimension.
    pub fn frame_by_names(&self, specimen: &Graph, truth: &Matching) -> Result<Similarity> {
        let points = self.points_of(specimen)?;
        let placed = Placed { frame: normalise(points), matching: truth.clone(), score: 0.0 };
        let complete = self.presence_in(specimen) == Presence::Complete;
        if complete && self.pose == Pose::AsGiven {
            return Ok(placed.frame);
        }
        Poser::new(self, complete, &[]).fit(points, &placed)
    }
}

/// Leaves only matchings with the known names: a known landmark has its point, and no other landmark has it.
pub(super) fn keep_known(problem: &mut Compatibility, known: &[(usize, usize)]) {
    for &(landmark, point) in known {
        let own = problem.node[[landmark, point]];
        problem.node.row_mut(landmark).fill(f64::NEG_INFINITY);
        problem.node.column_mut(point).fill(f64::NEG_INFINITY);
        problem.node[[landmark, point]] = own;
        if let Some(unmatched) = &mut problem.unmatched {
            unmatched[landmark] = f64::NEG_INFINITY;
        }
    }
}

/// Largest first; among equals, in the given order.
fn best_first<T>(scored: impl Iterator<Item = (f64, T)>) -> impl Iterator<Item = (f64, T)> {
    let mut all: Vec<(f64, T)> = scored.collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter()
}

/// Every pose to start from: for each turn, in each size and position.
fn starts(atlas: &Atlas, points: ArrayView2<'_, f64>, complete: bool) -> Vec<Vec<Similarity>> {
    let d = points.ncols();
    let (sizes, shifts) = if complete { (&SIZES[..1], 1) } else { (&SIZES[..], 1 + 2 * d) };
    let mut starts = Vec::new();
    for start in turned(atlas, points, &normalise(points)) {
        let mut own = Vec::new();
        for &size in sizes {
            for shift in 0..shifts {
                let mut place = &start.shift * size;
                if shift > 0 {
                    place[(shift - 1) / 2] += if shift % 2 == 1 { SHIFT } else { -SHIFT };
                }
                own.push(Similarity { rotation: start.rotation.clone(), scale: start.scale * size, shift: place });
            }
        }
        starts.push(own);
    }
    starts
}

/// A pose in every turn that the atlas allows, about the origin of its frame.
fn turned(atlas: &Atlas, points: ArrayView2<'_, f64>, base: &Similarity) -> Vec<Similarity> {
    let d = points.ncols();
    let mut turns: Vec<Array2<f64>> = match atlas.pose {
        Pose::AsGiven => vec![Array2::eye(d)],
        Pose::Tilted => tilts(d),
        Pose::Rotated | Pose::Any if d == 2 => (0..TURNS).map(|turn| plane_turn(2, 0, 1, turn, TURNS)).collect(),
        Pose::Rotated | Pose::Any => space_turns(atlas, base.apply(points).view()),
    };
    if atlas.pose == Pose::Any {
        let mirrored: Vec<Array2<f64>> = turns.iter().map(mirror).collect();
        turns.extend(mirrored);
    }
    let turn = |turn: Array2<f64>| Similarity {
        shift: turn.dot(&base.shift),
        scale: base.scale,
        rotation: turn.dot(&base.rotation),
    };
    turns.into_iter().map(turn).collect()
}

/// No turn, and turns by up to 45° in each plane of two axes.
fn tilts(d: usize) -> Vec<Array2<f64>> {
    let mut turns = Vec::new();
    for (p, q) in (0..d).flat_map(|p| (p + 1..d).map(move |q| (p, q))) {
        let others = if turns.is_empty() { &TILTS[..] } else { &TILTS[1..] };
        turns.extend(others.iter().map(|share| plane_rotation(d, p, q, share * LARGEST_TILTED)));
    }
    turns
}

fn mirror(rotation: &Array2<f64>) -> Array2<f64> {
    let mut mirrored = rotation.clone();
    mirrored.row_mut(0).mapv_inplace(|x| -x);
    mirrored
}

/// A turn by `turn` of `count` parts of a full one, in the plane of two axes.
fn plane_turn(d: usize, p: usize, q: usize, turn: usize, count: usize) -> Array2<f64> {
    plane_rotation(d, p, q, std::f64::consts::TAU * turn as f64 / count as f64)
}

fn plane_rotation(d: usize, p: usize, q: usize, angle: f64) -> Array2<f64> {
    let (sine, cosine) = angle.sin_cos();
    let mut rotation = Array2::eye(d);
    (rotation[[p, p]], rotation[[q, q]], rotation[[p, q]], rotation[[q, p]]) = (cosine, cosine, -sine, sine);
    rotation
}

/// Rotations that map a main axis of the points onto the first one of the atlas, either way, in each of 12 rolls about it.
fn space_turns(atlas: &Atlas, points: ArrayView2<'_, f64>) -> Vec<Array2<f64>> {
    let axes = main_axes(&points.t().dot(&points));
    let back = main_axes(&atlas.background.covariance());
    let mirrored =
        |frame: &Array2<f64>| Similarity { rotation: frame.clone(), ..Similarity::identity(3) }.is_mirrored();
    let back = if mirrored(&back) { back * -1.0 } else { back };
    let mut turns = Vec::new();
    for first in 0..3 {
        for flip in [1.0, -1.0] {
            let x = axes.column(first).mapv(|value| flip * value);
            let y = axes.column((first + 1) % 3).to_owned();
            let z = ndarray::array![x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
            let mut onto = Array2::zeros((3, 3));
            [x, y, z].iter().enumerate().for_each(|(row, axis)| onto.row_mut(row).assign(axis));
            turns.extend((0..ROLLS).map(|roll| back.dot(&plane_turn(3, 1, 2, roll, ROLLS)).dot(&onto)));
        }
    }
    turns
}

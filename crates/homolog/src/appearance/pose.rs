//! Where the mean shape may be in a new picture, without a start: every landmark's template votes for it.
//!
//! At the coarsest level, for each scale and rotation of a grid around the labelled ones, r_i is computed over the whole picture, clipped
//! to [-0.1, 1] and replaced by its maximum within the spread of the landmark, and
//!
//!   vote(t) = Σ_i r_i(t + m_i) - ¼ Σ_k ((p_k - μ_k) / σ_k)²
//!
//! with p the place, the logarithm of the scale and the rotation, and μ, σ those of the labelled pictures (each σ² shrunk by three further
//! observations): where labelled pictures agree on a pose, it counts for something. Landmarks that are known vote for where they are. The
//! best few poses that differ go on to the refinement. O(poses · pixels · 225 L).

use super::descriptor::Fields;
use super::picture::{AT_A_TIME, Plane, Pyramid, Rectangle, listen};
use super::placement::Placement;
use super::shape::{Place, Shape};
use super::templates::Templates;
use crate::{Control, Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The steps of the grid: the logarithm of 1.18, and 12°.
const SCALE_STEP: f64 = 0.165_514_438_477_573;
const ROTATION_STEP: f64 = 12.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// The deviations of the three further observations: of the place as a share of the picture, of the logarithm of the scale, of the rotation.
const USUAL: [f64; 4] = [0.12, 0.12, 0.15, 10.0 * DEGREE];
const USUAL_COUNT: f64 = 3.0;
/// What counts of a response.
const LEAST_RESPONSE: f32 = -0.1;
const MOST_RESPONSE: f32 = 1.0;
/// How much the labelled poses count.
const POSE_WEIGHT: f64 = 0.5;
/// The deviation of a known landmark from where a pose on the grid puts it, as a share of the size.
const KNOWN_DEVIATION: f64 = 0.06;
/// How many poses are refined.
const POSES: usize = 3;
/// Poses closer than this are the same: the shift as a share of the size, the logarithm of the scale, the rotation.
const SAME: [f64; 3] = [0.1, 0.25, 0.3];
/// The vote of a place takes as long as so many multiplications.
const COST: usize = 64;
/// Larger views are not searched.
pub(super) const MOST_PIXELS: usize = 4_000_000;

/// How the labelled specimens lie in their pictures: mean, deviation, least and greatest of the place (as a share of width and height),
/// the logarithm of the scale against the mean shape, the rotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PosePrior {
    pub(super) x: Range,
    pub(super) y: Range,
    pub(super) log_scale: Range,
    pub(super) rotation: Range,
}

/// What was seen of a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Range {
    fn of(values: &[f64], usual: f64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let variance = (square + USUAL_COUNT * usual * usual) / (count - 1.0 + USUAL_COUNT);
        let fold = |start: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
        let (least, greatest) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
        Self { mean, deviation: variance.sqrt(), least, greatest }
    }

    fn penalty(&self, value: f64) -> f64 {
        0.5 * POSE_WEIGHT * ((value - self.mean) / self.deviation).powi(2)
    }

    /// From the least to the greatest in steps, and a step beyond.
    fn grid(&self, step: f64) -> Vec<f64> {
        let middle = f64::midpoint(self.least, self.greatest);
        let half = (self.greatest - self.least) / 2.0;
        let count = (1..=MOST_STEPS).take_while(|&k| f64::from(k) * step - half < 1.5 * step).count().max(1);
        let count = i32::try_from(count).unwrap_or(1);
        (-count..=count).map(|k| middle + step * f64::from(k)).collect()
    }

    fn is_valid(&self) -> bool {
        [self.mean, self.least, self.greatest].iter().all(|value| value.is_finite() && value.abs() < 1e3)
            && self.deviation.is_finite()
            && self.deviation > 0.0
    }
}

/// Scales from an eleventh to eleven times the middle; for rotations this is more than a full circle.
const MOST_STEPS: i32 = 15;

impl PosePrior {
    /// From where the mean is in each labelled picture, with the size of the picture.
    pub(super) fn learn(placements: &[Placement], sizes: &[[f64; 2]]) -> Self {
        let of = |value: &dyn Fn(&Placement, &[f64; 2]) -> f64, usual: f64| {
            let values: Vec<f64> =
                placements.iter().zip(sizes).map(|(placement, size)| value(placement, size)).collect();
            Range::of(&values, usual)
        };
        Self {
            x: of(&|placement, size| placement.shift[0] / size[0], USUAL[0]),
            y: of(&|placement, size| placement.shift[1] / size[1], USUAL[1]),
            log_scale: of(&|placement, _| placement.scale().ln(), USUAL[2]),
            rotation: of(&|placement, _| placement.angle(), USUAL[3]),
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        [self.x, self.y, self.log_scale, self.rotation].iter().all(Range::is_valid)
    }

    /// Rotations in a circle, each once.
    fn rotations(&self) -> Vec<f64> {
        let grid = self.rotation.grid(ROTATION_STEP);
        if grid.len() >= 29 {
            return (0..30).map(|k| ROTATION_STEP * f64::from(k)).collect();
        }
        grid
    }
}

/// A picture, what is known of it, and what was learned for the coarsest level.
pub(super) struct PoseSearch<'a> {
    pub(super) shape: &'a Shape,
    pub(super) prior: &'a PosePrior,
    pub(super) templates: &'a Templates,
    /// D at this level.
    pub(super) size: f64,
    pub(super) known: &'a [Option<Place>],
}

impl PoseSearch<'_> {
    /// The best poses, from this level's coordinates to the picture's. If interrupted, the best of those seen by then.
    ///
    /// # Errors
    /// A picture that is too large for its landmarks to be searched; [`Error::Interrupted`] before the first pose was.
    pub(super) fn run(&self, picture: &Pyramid, control: &Control) -> Result<Vec<Placement>> {
        let mut grid = Vec::new();
        for log_scale in self.prior.log_scale.grid(SCALE_STEP) {
            grid.extend(self.prior.rotations().into_iter().map(|rotation| (log_scale, rotation)));
        }
        // The most likely first: an interrupted search has seen these.
        let penalty = |&(log_scale, rotation): &(f64, f64)| {
            self.prior.log_scale.penalty(log_scale) + self.rotation_penalty(rotation)
        };
        grid.sort_by(|a, b| penalty(a).total_cmp(&penalty(b)));
        let one = |(at, pose): (usize, &(f64, f64))| match self.votes(picture, *pose, penalty(pose), control) {
            Err(Error::Interrupted) if at > 0 => Ok(Vec::new()),
            votes => votes,
        };
        let mut votes = grid.par_iter().enumerate().map(one).collect::<Result<Vec<_>>>()?.concat();
        votes.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut poses: Vec<Placement> = Vec::new();
        for (_, pose) in votes {
            if poses.iter().all(|other| self.differ(&pose, other)) {
                poses.push(pose);
            }
            if poses.len() == POSES {
                break;
            }
        }
        if poses.is_empty() {
            let reason = "the picture is too large for the size of the labelled specimens".to_string();
            return Err(Error::DataSet { place: "picture".to_string(), reason });
        }
        Ok(poses)
    }

    fn rotation_penalty(&self, rotation: f64) -> f64 {
        let off = rotation - self.prior.rotation.mean;
        // The short way round.
        let off = off.sin().atan2(off.cos());
        self.prior.rotation.penalty(self.prior.rotation.mean + off)
    }

    fn differ(&self, a: &Placement, b: &Placement) -> bool {
        let apart = (a.shift[0] - b.shift[0]).hypot(a.shift[1] - b.shift[1]) / b.scale();
        let turned = a.angle() - b.angle();
        apart > SAME[0] * self.size
            || (a.scale() / b.scale()).ln().abs() > SAME[1]
            || turned.sin().atan2(turned.cos()).abs() > SAME[2]
    }

    /// The best places for one scale and rotation: local maxima of the vote.
    fn votes(
        &self,
        picture: &Pyramid,
        (log_scale, rotation): (f64, f64),
        penalty: f64,
        control: &Control,
    ) -> Result<Vec<(f64, Placement)>> {
        let size = picture.size();
        let scale = log_scale.exp() * self.shape.diameter() / self.size;
        let factor = [scale * rotation.cos(), scale * rotation.sin()];
        let view = Placement { factor, shift: [size[0] / 2.0, size[1] / 2.0] };
        let rectangle = Rectangle::whole(size, &view);
        if rectangle.width().saturating_mul(rectangle.height()) > MOST_PIXELS {
            return Ok(Vec::new());
        }
        let fields = Fields::new(&picture.seen(&view, rectangle, control)?, rectangle, control)?;
        let (width, height) = (rectangle.width(), rectangle.height());
        let mut vote = Plane::zeros(width, height);
        let mean = self.shape.sized(self.size);
        for (landmark, response) in self.templates.respond(&fields, rectangle, control)?.iter().enumerate() {
            Error::if_interrupted(control)?;
            if self.known[landmark].is_some() {
                continue;
            }
            let radius = whole(self.shape.deviation(landmark) * self.size + 1.5).max(1).cast_unsigned();
            let clipped = response.map(|value| value.clamp(LEAST_RESPONSE, MOST_RESPONSE));
            add_shifted(&mut vote, &widened(&clipped, radius), mean[landmark].map(whole));
        }
        let mut places = Vec::new();
        let back = view.inverse();
        let known: Vec<Place> = (0..mean.len())
            .filter_map(|landmark| {
                let at = back.apply(self.known[landmark]?);
                Some([at[0] - mean[landmark][0], at[1] - mean[landmark][1]])
            })
            .collect();
        for y in 0..height {
            listen(y, AT_A_TIME / (COST * width.max(1)) + 1, control)?;
            for x in 0..width {
                let own = [rectangle.left + x.cast_signed(), rectangle.top + y.cast_signed()].map(|at| at as f64);
                let shift = view.apply(own);
                let usual = self.prior.x.penalty(shift[0] / size[0]) + self.prior.y.penalty(shift[1] / size[1]);
                let told = |at: &Place| (own[0] - at[0]).powi(2) + (own[1] - at[1]).powi(2);
                let told = known.iter().map(told).sum::<f64>() / (2.0 * (KNOWN_DEVIATION * self.size).powi(2));
                let value = f64::from(vote.values[y * width + x]) - usual - penalty - told;
                places.push((value, Placement { factor, shift }));
            }
        }
        // More than the best few that differ are never asked for; a hundred hold them in any vote.
        let kept = places.len().min(BEST_PLACES);
        if kept < places.len() {
            places.select_nth_unstable_by(kept, |a, b| b.0.total_cmp(&a.0));
            places.truncate(kept);
        }
        places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.shift[1].total_cmp(&b.1.shift[1])));
        Ok(places)
    }
}

/// Places kept for each scale and rotation.
const BEST_PLACES: usize = 400;

#[expect(clippy::cast_possible_truncation, reason = "a number of pixels")]
fn whole(value: f64) -> isize {
    value.round() as isize
}

/// vote(t) += r(t + m); what is outside of the picture counts nothing.
fn add_shifted(vote: &mut Plane, response: &Plane, [dx, dy]: [isize; 2]) {
    let (width, height) = (vote.width.cast_signed(), vote.height.cast_signed());
    for y in 0.max(-dy)..height.min(height - dy) {
        let (first, last) = (0.max(-dx), width.min(width - dx));
        if first >= last {
            return;
        }
        let from = &response.row((y + dy).cast_unsigned())[(first + dx).cast_unsigned()..(last + dx).cast_unsigned()];
        let start = (y * width + first).cast_unsigned();
        vote.values[start..].iter_mut().zip(from).for_each(|(to, value)| *to += value);
    }
}

/// The largest value within a square of this radius.
fn widened(plane: &Plane, radius: usize) -> Plane {
    let (width, height) = (plane.width, plane.height);
    let mut across = Plane::zeros(width, height);
    for y in 0..height {
        let row = plane.row(y);
        for x in 0..width {
            let near = &row[x.saturating_sub(radius)..(x + radius + 1).min(width)];
            across.values[y * width + x] = near.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
    }
    let mut both = across.clone();
    for y in 0..height {
        let out = &mut both.values[y * width..][..width];
        for near in y.saturating_sub(radius)..(y + radius + 1).min(height) {
            out.iter_mut().zip(across.row(near)).for_each(|(to, value)| *to = to.max(*value));
        }
    }
    both
}

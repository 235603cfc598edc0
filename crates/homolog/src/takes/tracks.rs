//! Tracks: unbroken runs of one point, found from motion alone, before anything has a name.
//!
//! A point of the next frame continues a track if it lies near where the track is predicted to be (constant velocity; a track of one
//! point moves like the tracks around it), if no other point is nearly as near, and if no other track is nearly as near to it:
//!
//!   r_tp = |x_p - (x_t + v_t)|,   r_tp <= GATE σ_t,   RATIO r_tp <= r_tq  for q ≠ p,   RATIO r_tp <= r_up  for u ≠ t
//!
//! σ_t is the track's own recent residual, shrunk towards the median of the take. A link that is not clear is not made: short tracks cost
//! little, because each gets its name from the body around it, while a wrong link names a whole stretch wrongly.

use super::points::{Place, Points, distance, median, squared_distance};
use crate::{Control, Error, Result};

/// Links within this many deviations are plausible.
const GATE: f64 = 6.0;
/// How many times nearer the linked point must be than any other.
const RATIO: f64 = 2.0;
/// How many residuals the median of the take is worth, and how fast older ones fade.
const PRIOR: f64 = 4.0;
const FADING: f64 = 0.9;
/// How many tracks nearby say how a new one moves.
const AROUND: usize = 4;
/// So many frames are linked between two questions whether to go on; fewer take a moment.
const AT_A_TIME: usize = 64;

/// An unbroken run of one point.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Track {
    /// Its first frame.
    pub(super) start: usize,
    /// Its point in that frame and those after it.
    pub(super) points: Vec<usize>,
}

impl Track {
    /// The frame after its last.
    pub(super) fn end(&self) -> usize {
        self.start + self.points.len()
    }

    pub(super) fn point(&self, frame: usize) -> usize {
        self.points[frame - self.start]
    }
}

/// The end of a track that may go on.
struct Head {
    point: usize,
    place: Place,
    velocity: Option<Place>,
    /// Sum of squared residuals, and their number, both fading.
    squares: f64,
    count: f64,
}

/// For each frame and point, its point in the frame before.
type Links = Vec<Vec<Option<usize>>>;

/// All tracks, each point in exactly one, in order of their first frame.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn link(points: &Points, control: &Control) -> Result<Vec<Track>> {
    let rough = spacing(points);
    // Residuals of clear links under a wide gate say how well motion predicts.
    let mut residuals = Vec::new();
    run(points, rough / (2.0 * GATE), false, &mut residuals, control)?;
    let usual = median(&mut residuals).unwrap_or(rough).max(rough * 1e-3);
    let usual = (1.5 * usual).min(rough / GATE);
    let forwards = run(points, usual, false, &mut Vec::new(), control)?;
    let backwards = run(points, usual, true, &mut Vec::new(), control)?;
    Ok(chains(points, &both(points, &forwards, &backwards)))
}

/// Links found forwards or backwards, unless the other way found another one. (Backwards, a point's link is to the frame after it.)
fn both(points: &Points, forwards: &Links, backwards: &Links) -> Links {
    let mut links: Links = points.frames.iter().map(|frame| vec![None; frame.len()]).collect();
    for frame in 1..points.len() {
        let mut after: Vec<Option<usize>> = vec![None; points.frames[frame - 1].len()];
        for (point, before) in forwards[frame].iter().enumerate() {
            before.iter().for_each(|&before| after[before] = Some(point));
        }
        let mut before: Vec<Option<usize>> = vec![None; points.frames[frame].len()];
        for (point, after) in backwards[frame - 1].iter().enumerate() {
            after.iter().for_each(|&after| before[after] = Some(point));
        }
        for (point, link) in links[frame].iter_mut().enumerate() {
            *link = match (forwards[frame][point], before[point]) {
                (Some(one), Some(other)) => (one == other).then_some(one),
                (Some(one), None) => backwards[frame - 1][one].is_none().then_some(one),
                (None, Some(other)) => after[other].is_none().then_some(other),
                (None, None) => None,
            };
        }
    }
    links
}

/// Links one after the other.
fn chains(points: &Points, links: &Links) -> Vec<Track> {
    let mut tracks: Vec<Track> = Vec::new();
    let mut before: Vec<usize> = Vec::new();
    for (frame, links) in links.iter().enumerate() {
        let mut own = Vec::with_capacity(points.frames[frame].len());
        for (point, link) in links.iter().enumerate() {
            let track = link.map_or(tracks.len(), |link| before[link]);
            if track == tracks.len() {
                tracks.push(Track { start: frame, points: Vec::new() });
            }
            tracks[track].points.push(point);
            own.push(track);
        }
        before = own;
    }
    tracks
}

/// How far apart neighbouring points of a frame are: the median distance to the nearest other.
fn spacing(points: &Points) -> f64 {
    let step = points.len().div_ceil(100).max(1);
    let mut all = Vec::new();
    for frame in points.frames.iter().step_by(step) {
        for (at, &place) in frame.iter().enumerate() {
            let others = frame.iter().enumerate().filter(|&(other, _)| other != at);
            let nearest = others.map(|(_, &other)| distance(place, other)).fold(f64::INFINITY, f64::min);
            all.push(nearest);
        }
    }
    median(&mut all).filter(|x| x.is_finite() && *x > 0.0).unwrap_or(1.0)
}

/// Clear links from frame to frame, forwards or backwards in time.
fn run(points: &Points, usual: f64, backwards: bool, residuals: &mut Vec<f64>, control: &Control) -> Result<Links> {
    let mut all: Links = vec![Vec::new(); points.len()];
    let mut heads: Vec<Head> = Vec::new();
    for step in 0..points.len() {
        if step % AT_A_TIME == AT_A_TIME - 1 {
            Error::if_interrupted(control)?;
        }
        let frame = if backwards { points.len() - 1 - step } else { step };
        let places = &points.frames[frame];
        let links = clear_links(&heads, places, usual);
        let mut next: Vec<Head> = Vec::with_capacity(places.len());
        for (point, &place) in places.iter().enumerate() {
            let Some((at, residual)) = links[point] else {
                next.push(Head { point, place, velocity: None, squares: 0.0, count: 0.0 });
                continue;
            };
            let head = &heads[at];
            let moved = [0, 1, 2].map(|axis| place[axis] - head.place[axis]);
            let known = f64::from(u8::from(head.velocity.is_some()));
            if known > 0.0 {
                residuals.push(residual);
            }
            let (squares, count) = (FADING * head.squares + known * residual * residual, FADING * head.count + known);
            next.push(Head { point, place, velocity: Some(moved), squares, count });
        }
        all[frame] = links.iter().map(|link| link.map(|(at, _)| heads[at].point)).collect();
        heads = next;
    }
    Ok(all)
}

/// For each point the head that clearly leads to it, and the residual.
fn clear_links(heads: &[Head], places: &[Place], usual: f64) -> Vec<Option<(usize, f64)>> {
    let predicted: Vec<Place> = heads.iter().map(|head| predict(head, heads)).collect();
    let deviation = |head: &Head| {
        let fresh = if head.velocity.is_none() { 2.0 } else { 1.0 };
        fresh * ((PRIOR * usual * usual + head.squares) / (PRIOR + head.count)).sqrt()
    };
    // The two smallest squared residuals of each head and of each point.
    let mut of_head = vec![(f64::INFINITY, f64::INFINITY, usize::MAX); heads.len()];
    let mut of_point = vec![(f64::INFINITY, f64::INFINITY, usize::MAX); places.len()];
    let note = |best: &mut (f64, f64, usize), value: f64, whose: usize| {
        if value < best.0 {
            *best = (value, best.0, whose);
        } else if value < best.1 {
            best.1 = value;
        }
    };
    for (h, &from) in predicted.iter().enumerate() {
        for (p, &to) in places.iter().enumerate() {
            let square = squared_distance(from, to);
            note(&mut of_head[h], square, p);
            note(&mut of_point[p], square, h);
        }
    }
    let link = |(p, &(square, second, h)): (usize, &(f64, f64, usize))| {
        let &(own, other, back) = of_head.get(h)?;
        let clear = back == p && own * RATIO * RATIO <= other && square * RATIO * RATIO <= second;
        (clear && square.sqrt() <= GATE * deviation(&heads[h])).then_some((h, square.sqrt()))
    };
    of_point.iter().enumerate().map(link).collect()
}

/// Where a track is expected in the next frame.
fn predict(head: &Head, heads: &[Head]) -> Place {
    let velocity = head.velocity.unwrap_or_else(|| {
        let mut near: Vec<(f64, Place)> = heads
            .iter()
            .filter_map(|other| Some((squared_distance(other.place, head.place), other.velocity?)))
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.truncate(AROUND);
        let axis = |axis: usize| median(&mut near.iter().map(|(_, velocity)| velocity[axis]).collect::<Vec<_>>());
        [0, 1, 2].map(|p| axis(p).unwrap_or(0.0))
    });
    [0, 1, 2].map(|axis| head.place[axis] + velocity[axis])
}

//! What the distances of the body say about each track, in pieces of ten frames: neighbouring frames say the same thing, so a piece counts
//! as one observation.

use super::body::{Body, Names};
use super::points::Points;
use super::tracks::Track;
use rayon::prelude::*;

/// Frames of a piece.
pub(super) const PIECE: usize = 10;
/// Frames of a piece that are looked at.
const LOOKED_AT: usize = 2;
/// A point that is no marker lies anywhere: what a marker's evidence has to exceed on average.
pub(super) const GHOST: f64 = 2.0;
/// Tracks no longer than this are short. What their evidence has to exceed in addition depends on how many of them are markers: see [`fleeting`].
const SHORT: usize = 3;
const LARGEST: f64 = 6.0;

/// The evidence for each name, for one track.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// The mean evidence of each piece: a row per piece, a number per marker.
    pub(super) pieces: Vec<Vec<f64>>,
    /// For the track as a whole, votes of the atlas included: more than 0 if it is more likely the marker than none.
    pub(super) total: Vec<f64>,
}

/// The frames of one piece of a track.
pub(super) fn frames_of(track: &Track, piece: usize) -> std::ops::Range<usize> {
    let first = track.start + piece * PIECE;
    first..(first + PIECE).min(track.end())
}

/// The piece of a track that a frame belongs to.
pub(super) fn piece_of(track: &Track, frame: usize) -> usize {
    (frame - track.start) / PIECE
}

/// What a point that appears for a moment has to bring in addition to be a marker: with a share π of short tracks that have a name, the
/// logarithm of (1 - π) / π, and a little more; between 0 and 6.
pub(super) fn fleeting(tracks: &[Track], given: &[Option<usize>]) -> f64 {
    let (mut all, mut named) = (1.0, 0.5);
    for (_, name) in tracks.iter().zip(given).filter(|(track, _)| track.points.len() <= SHORT) {
        all += 1.0;
        named += f64::from(u8::from(name.is_some()));
    }
    (2.0 + ((all - named) / named).ln()).clamp(0.0, LARGEST)
}

/// What is known when tracks are looked at.
pub(super) struct Known<'a> {
    pub(super) body: &'a Body,
    pub(super) points: &'a Points,
    pub(super) names: &'a Names,
    /// See [`fleeting`].
    pub(super) fleeting: f64,
}

/// Looks at every track; `None` if it was told to stop.
pub(super) fn weigh(
    known: &Known<'_>,
    tracks: &[Track],
    votes: &[Vec<f64>],
    stops: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Evidence>> {
    let one = |(track, votes): (&Track, &Vec<f64>)| if stops() { None } else { Some(weigh_one(known, track, votes)) };
    tracks.par_iter().zip(votes).map(one).collect()
}

fn weigh_one(known: &Known<'_>, track: &Track, votes: &[f64]) -> Evidence {
    let Known { body, points, names, .. } = known;
    let count = track.points.len().div_ceil(PIECE);
    let piece = |piece: usize| -> Vec<f64> {
        let frames = frames_of(track, piece);
        let looks = LOOKED_AT.min(frames.len());
        let at = |look: usize| frames.start + (2 * look + 1) * frames.len() / (2 * looks);
        let mean = |marker: usize| {
            let of = |look: usize| body.evidence(points, names, at(look), track.point(at(look)), marker);
            (0..looks).map(of).sum::<f64>() / looks as f64
        };
        (0..votes.len()).map(mean).collect()
    };
    let pieces: Vec<Vec<f64>> = (0..count).map(piece).collect();
    let length = track.points.len();
    let observations = 1.0 + length as f64 / PIECE as f64;
    let fleeting = known.fleeting / length.min(SHORT) as f64;
    let total = (0..votes.len())
        .map(|marker| {
            let mean = pieces.iter().map(|row| row[marker]).sum::<f64>() / count as f64;
            observations * (mean - GHOST) - fleeting + votes[marker]
        })
        .collect();
    Evidence { pieces, total }
}

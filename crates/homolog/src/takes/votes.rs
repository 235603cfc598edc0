//! What the atlas says: a few key frames are named as single frames, and every track that passes through one collects its name there.

use super::tracks::Track;
use crate::atlas::{Atlas, Naming, Pose, Presence, Search};
use crate::graph::Graph;
use crate::matching::Workspace;
use crate::{Control, Report, Result};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Key frames at least; at most this many and one more per this many frames.
const FEWEST: usize = 16;
const MOST: usize = 48;
const FRAMES_PER_KEY: usize = 50;
/// How many key frames a track should pass through, if it is long enough to matter.
const WANTED: usize = 5;
const LONG: usize = 10;
/// Key frames of one track are this far apart to count.
const APART: usize = 5;
/// A key frame must bring this many tracks nearer to what they want.
const WORTH: usize = 2;
/// What a unit of the margin counts beside the evidence of distances; margins are cut off at both ends.
const VOTE: f64 = 0.3;
const LEAST_MARGIN: f64 = 0.1;
const LARGEST_MARGIN: f64 = 10.0;
/// A key frame that scores less than the best by this share counts for a third; none counts for less than this.
const FALL: f64 = 0.1;
const LEAST_WEIGHT: f64 = 0.05;
/// Frames named first, in the orientation of the atlas and in any, to see which one the take has.
const TRIALS: usize = 5;
/// Another orientation scores more by this share.
const CLEARLY: f64 = 0.1;
/// A naming with less than this share of the best score is poor.
const POOR: f64 = 0.5;

/// How many frames may be named by the atlas.
pub(super) fn most_keys(frames: usize) -> usize {
    (MOST + frames / FRAMES_PER_KEY).min(frames)
}

/// Frames to be named by the atlas, in order: evenly spread, then those with most tracks that passed through too few.
pub(super) fn key_frames(tracks: &[Track], frames: usize) -> Vec<usize> {
    let first = if frames <= MOST { frames } else { FEWEST };
    let mut keys: Vec<usize> = (0..first).map(|k| (2 * k + 1) * frames / (2 * first)).collect();
    let long: Vec<&Track> = tracks.iter().filter(|track| track.points.len() >= LONG).collect();
    let passes = |track: &Track, key: usize| track.start <= key && key < track.end();
    let lack = |track: &&Track| {
        let wanted = WANTED.min(1 + track.points.len() / (4 * APART));
        wanted.saturating_sub(keys.iter().filter(|&&key| passes(track, key)).count())
    };
    let mut lacking: Vec<usize> = long.iter().map(lack).collect();
    let mut worth = vec![0; frames];
    for (track, &lack) in long.iter().zip(&lacking) {
        worth[track.start..track.end()].iter_mut().for_each(|worth| *worth += lack);
    }
    let near = |key: usize| key.saturating_sub(APART - 1)..(key + APART).min(frames);
    keys.iter().for_each(|&key| worth[near(key)].fill(0));
    while keys.len() < most_keys(frames) {
        let largest = worth.iter().enumerate().max_by_key(|&(at, &worth)| (worth, Reverse(at)));
        let Some((best, _)) = largest.filter(|&(_, &worth)| worth >= WORTH) else { break };
        keys.push(best);
        for (track, lack) in long.iter().zip(&mut lacking).filter(|(track, lack)| **lack > 0 && passes(track, best)) {
            *lack -= 1;
            worth[track.start..track.end()].iter_mut().for_each(|worth| *worth = worth.saturating_sub(1));
        }
        worth[near(best)].fill(0);
    }
    keys.sort_unstable();
    keys
}

/// Names frames by the atlas. Takes are often turned in other ways than the frames that the atlas was learned from, and people turn around.
pub(super) struct KeyNamer<'a> {
    as_learned: Atlas,
    rotated: Option<Atlas>,
    weights: &'a [f64],
    frames: &'a [&'a Graph],
    /// A naming in the orientation of the atlas that scores less than this is compared with one in any orientation.
    least: f64,
}

impl<'a> KeyNamer<'a> {
    pub(super) fn new(atlas: &Atlas, weights: &'a [f64], frames: &'a [&'a Graph]) -> Self {
        let full = frames.iter().filter(|frame| frame.node_count() == atlas.landmarks.len()).count();
        let complete = atlas.presence == Presence::Complete && full * 10 >= frames.len() * 9;
        let presence = if complete { Presence::Complete } else { Presence::Partial };
        let with = |pose: Pose| {
            let mut own = atlas.clone();
            (own.pose, own.presence) = (pose, presence);
            own.partial.iter_mut().for_each(|partial| partial.pose = pose);
            own
        };
        let rotated = (atlas.pose == Pose::AsGiven).then(|| with(Pose::Rotated));
        Self { as_learned: with(atlas.pose), rotated, weights, frames, least: f64::INFINITY }
    }

    /// Names frames, spread ones first; those that are not done when the control says stop are missing, but never all.
    pub(super) fn name(&mut self, keys: &[usize], control: &Control) -> Result<Vec<(usize, Naming)>> {
        let step = (keys.len() / TRIALS).max(1);
        let (first, rest): (Vec<usize>, Vec<usize>) = (0..keys.len()).partition(|at| at % step == 0);
        let mut named = self.all(&first, keys, 0, control)?;
        // If the first ones are all oriented as learned, the others are expected to be.
        if self.least == f64::INFINITY && named.iter().all(|(.., turned)| !turned) {
            let best = named.iter().map(|(_, naming, _)| naming.score).fold(f64::NEG_INFINITY, f64::max);
            self.least = POOR * best;
        }
        named.extend(self.all(&rest, keys, first.len(), control)?);
        named.sort_by_key(|(key, ..)| *key);
        Ok(named.into_iter().map(|(key, naming, _)| (key, naming)).collect())
    }

    fn all(
        &self,
        which: &[usize],
        keys: &[usize],
        before: usize,
        control: &Control,
    ) -> Result<Vec<(usize, Naming, bool)>> {
        let done = AtomicUsize::new(before);
        let one = |&at: &usize| -> Result<Option<(usize, Naming, bool)>> {
            if at > 0 && control.interrupted() {
                return Ok(None);
            }
            let (naming, turned) = self.one(keys[at], control)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            control.report(&Report::new("key frames", done, Some(keys.len())));
            Ok(Some((keys[at], naming, turned)))
        };
        which.par_iter().map(one).filter_map(Result::transpose).collect()
    }

    /// Names one frame, and says whether it is turned in another way than the atlas.
    fn one(&self, key: usize, control: &Control) -> Result<(Naming, bool)> {
        let name = |atlas: &Atlas| {
            atlas.name_with(self.frames[key], self.weights, Search::Quick, &mut Workspace::with_control(control))
        };
        let naming = name(&self.as_learned)?;
        let Some(rotated) = self.rotated.as_ref().filter(|_| naming.score < self.least && !control.interrupted())
        else {
            return Ok((naming, false));
        };
        let other = name(rotated)?;
        let turned = other.score > naming.score + CLEARLY * naming.score.abs();
        Ok(if turned { (other, true) } else { (naming, false) })
    }
}

/// For each track and marker the sum of what key frames say, those that fit best most: a row per track.
pub(super) fn votes(tracks: &[Track], named: &[(usize, Naming)], markers: usize) -> Vec<Vec<f64>> {
    let mut votes = vec![vec![0.0; markers]; tracks.len()];
    let best = named.iter().map(|(_, naming)| naming.score).fold(0.0, f64::max);
    for (key, naming) in named {
        let weight = if best > 0.0 { ((naming.score / best - 1.0) / FALL).exp().max(LEAST_WEIGHT) } else { 1.0 };
        let mut of = vec![None; naming.matching.right_count()];
        naming.calls.iter().for_each(|call| of[call.point] = Some((call.landmark, call.margin)));
        for (at, track) in tracks.iter().enumerate().filter(|(_, track)| track.start <= *key && *key < track.end()) {
            if let Some((marker, margin)) = of[track.point(*key)] {
                votes[at][marker] += VOTE * weight * margin.clamp(LEAST_MARGIN, LARGEST_MARGIN);
            }
        }
    }
    votes
}
